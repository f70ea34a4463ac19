"""UCB1's index for many runs at once: `confee.policies.ucb` with arrays [5, K, L], lane by lane the
same numbers from the same draws."""

from __future__ import annotations

import math

import numpy as np

from confee.core.jit import larger, leaf, njit
from confee.policies.ucb import MEAN, ORDER, PLAYS, REWARDS, WIDTH, tied
from confee.world.lanes import zeros
from confee.world.streams import integer


@njit
def new_ucbs(K, L):
    """Instances without observations."""
    ucb = zeros((5, K, L))
    reset(ucb)
    return ucb


@leaf
def reset(ucb):
    """Forget everything."""
    for k in range(ucb.shape[1]):
        ucb[PLAYS, k] = 0.0
        ucb[REWARDS, k] = 0.0
        ucb[ORDER, k] = k


@leaf
def choose(ucb, tau, exploration, arm, room, streams):
    """Fill `arm` [L] with the arms that `ucb.choose` returns; `room` [2, L] is scratch."""
    if tau < ucb.shape[1]:
        first(ucb, tau, arm, streams)
    else:
        lead(ucb, math.sqrt(exploration * math.log(tau)), arm, room, streams)


@leaf
def first(ucb, tau, arm, streams):
    """Draw arms that were not played in the first `tau` observations, which were one per arm."""
    for i in range(arm.shape[0]):
        pick = integer(streams, i, tau, ucb.shape[1])
        arm[i] = int(ucb[ORDER, pick, i])
        ucb[ORDER, pick, i] = ucb[ORDER, tau, i]
        ucb[ORDER, tau, i] = arm[i]


@leaf
def lead(ucb, root, arm, room, streams):
    """The arms with the largest mean + root / sqrt(plays); ties are broken at random."""
    K, top, those = ucb.shape[1], room[0], room[1]
    find_largest(ucb, root, top)
    find_those(ucb, root, top, those)
    for i in range(arm.shape[0]):
        arm[i] = int(those[i]) - K * K
        if arm[i] >= K:
            arm[i] = tied(ucb[:, :, i], root, top[i], integer(streams, i, 0, arm[i] // (K * K) + 1))


@leaf
def find_largest(ucb, root, top):
    """The largest index."""
    top[:] = -1.0
    for k in range(ucb.shape[1]):
        mean, width = ucb[MEAN, k], ucb[WIDTH, k]
        for i in range(top.shape[0]):
            index = mean[i] + root * width[i]
            top[i] = larger(index, top[i])


@leaf
def find_those(ucb, root, top, those):
    """The sum of K^2 + k over the arms k whose index is `top`: their number and, if one, which."""
    those[:] = 0.0
    for k in range(ucb.shape[1]):
        mean, width = ucb[MEAN, k], ucb[WIDTH, k]
        term = float(ucb.shape[1] * ucb.shape[1] + k)
        for i in range(top.shape[0]):
            those[i] += term if mean[i] + root * width[i] == top[i] else 0.0


@leaf
def update(ucb, arm, reward, room):
    """Add observations: `reward` [L] from `arm` [L]."""
    plays, total = room[0], room[1]
    for i in range(arm.shape[0]):
        k = np.uint64(arm[i])
        plays[i] = ucb[PLAYS, k, i] + 1.0
        total[i] = ucb[REWARDS, k, i] + reward[i]
        ucb[PLAYS, k, i] = plays[i]
        ucb[REWARDS, k, i] = total[i]
    for i in range(arm.shape[0]):
        total[i] /= plays[i]
        plays[i] = 1.0 / math.sqrt(plays[i])
    for i in range(arm.shape[0]):
        k = np.uint64(arm[i])
        ucb[MEAN, k, i], ucb[WIDTH, k, i] = total[i], plays[i]
