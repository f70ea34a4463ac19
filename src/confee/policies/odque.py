"""OdQue: Algorithm 2 with every baseline quota 0, on-demand queries only."""

from __future__ import annotations

from functools import partial

from confee.policies import hyque
from confee.policies.base import Policy

POLICY = Policy(
    id="odque",
    summary="HyQue without baseline batches: on-demand queries only",
    kernel=hyque.play,
    options=hyque.OdqueOptions,
    arguments=partial(hyque.arguments, baseline=False),
)
