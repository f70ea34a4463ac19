"""Control: HyQue whose queries play an arm drawn uniformly.

Rewards still enter the change tests, and idle rounds play by frequency as in HyQue.
"""

from __future__ import annotations

import math

from confee.core.jit import njit, over
from confee.policies import hyque
from confee.policies.base import CONTROL, Policy
from confee.policies.growth import Growth
from confee.policies.ucb import MEAN, PLAYS, WIDTH


@njit
def draw(ucb, tau, known, exploration, rng):
    """(arm, optimistic value) as `act` returns them, of an arm drawn uniformly."""
    arm = int(rng.integers(0, ucb.shape[1]))
    if ucb[PLAYS, arm] == 0.0:
        return arm, 1.0
    return arm, min(1.0, ucb[MEAN, arm] + math.sqrt(exploration * math.log(tau)) * ucb[WIDTH, arm])


POLICY = Policy(
    id="hyque_blind",
    name="HyQue, blind",
    summary="control: HyQue whose queries play uniformly random arms",
    kernel=over(hyque.play, __name__, act=draw),
    options=hyque.Options,
    arguments=hyque.arguments,
    role=CONTROL,
    growth=Growth(blocks="slots"),
)
