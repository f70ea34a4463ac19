"""Control: plays the best arm of every round. With regret 0 it breaks every lower bound."""

from __future__ import annotations

import numpy as np

from confee.core.jit import njit
from confee.policies.base import ORACLE, Policy
from confee.policies.look import DOTS, Look
from confee.world.game import BEST, START, idle, locate, new_data


@njit
def play(world, ledger, K, T, B, rng):
    """Play the best arm of each segment, without queries."""
    data = new_data(K)
    for segment in range(world.shape[0] - 1):
        start, stop = int(world[segment, START]), int(world[segment + 1, START])
        locate(world, ledger, start)  # an adaptive adversary settles the segment now
        weights = np.zeros(K)
        weights[int(world[segment, BEST])] = 1.0
        idle(world, ledger, data, start, stop, weights, rng)


POLICY = Policy(
    id="oracle",
    name="oracle",
    summary="control: plays the best arm in every round",
    kernel=play,
    known=("path",),
    role=ORACLE,
    look=Look("#000000", "*", DOTS, place=26),
)
