"""BaQue alone (Algorithm 1 in Algorithm 2's blocks): on-demand off, change tests on."""

from __future__ import annotations

from functools import partial

from confee.policies import hyque
from confee.policies.base import Policy

POLICY = Policy(
    id="baque",
    summary="BaQue (Algorithm 1): HyQue without on-demand queries",
    kernel=hyque.play,
    options=hyque.BaqueOptions,
    arguments=partial(hyque.arguments, on_demand=False),
)
