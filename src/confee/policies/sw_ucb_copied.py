"""Control for exponents in K: sliding-window UCB that takes each arm for K different ones.

It learns K^2 arms where there are K, so a check of the exponent in K must see about twice that of
`sw_ucb`.
"""

from __future__ import annotations

import numpy as np

from confee.core.jit import njit
from confee.paper import theory
from confee.policies.base import CONTROL, Policy
from confee.policies.queries import PACED
from confee.policies.sw_ucb import play as play_arms
from confee.world.game import BEST, MEANS, slope_of


@njit
def play(world, ledger, K, T, B, kind, by_index, window, xi, rng):
    """`sw_ucb` on a world with K copies of each arm."""
    wide = np.zeros((world.shape[0], MEANS + 3 * K * K))
    wide[:, :MEANS] = world[:, :MEANS]
    for s in range(world.shape[0]):
        wide[s, BEST] = world[s, BEST] * K
        for k in range(K * K):
            wide[s, MEANS + k] = world[s, MEANS + k // K]
            wide[s, slope_of(K * K, k)] = world[s, slope_of(K, k // K)]
    play_arms(wide, ledger, K * K, T, B, kind, by_index, window, xi, rng)


def arguments(known, options):
    K, B, V = known.K, known.B, known.V
    return PACED, False, min(max(theory.window(K * K, B, V), K * K), B), 0.5


POLICY = Policy(
    id="sw_ucb_copied",
    name="SW-UCB, copied",
    summary="control: sliding-window UCB that takes each arm for K copies",
    kernel=play,
    known=("T", "B", "V"),
    arguments=arguments,
    role=CONTROL,
)
