"""BaQue alone (Algorithm 1 in Algorithm 2's blocks): on-demand off, change tests on."""

from __future__ import annotations

from functools import partial

from confee.policies import hyque
from confee.policies.base import PAPER, Policy
from confee.policies.growth import Growth
from confee.policies.look import SOLID, Look

POLICY = Policy(
    id="baque",
    name="BaQue",
    summary="BaQue (Algorithm 1): HyQue without on-demand queries",
    kernel=hyque.play,
    options=hyque.BaqueOptions,
    arguments=partial(hyque.arguments, on_demand=False),
    role=PAPER,
    look=Look("#56B4E9", "v", SOLID, place=2),
    growth=Growth(blocks="slots"),
)
