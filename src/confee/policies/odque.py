"""OdQue: Algorithm 2 with every baseline quota 0, on-demand queries only."""

from __future__ import annotations

from functools import partial

from confee.policies import hyque
from confee.policies.base import PAPER, Policy
from confee.policies.growth import Growth
from confee.policies.look import SOLID, Look

POLICY = Policy(
    id="odque",
    name="OdQue",
    summary="HyQue without baseline batches: on-demand queries only",
    kernel=hyque.play,
    options=hyque.OdqueOptions,
    arguments=partial(hyque.arguments, baseline=False),
    role=PAPER,
    look=Look("#CC79A7", "^", SOLID, place=3),
    growth=Growth(blocks="slots"),
)
