"""Exp3's weights for many runs at once: `confee.policies.exponential` with arrays [2, K, L], sums
[L], lane by lane the same numbers from the same draws."""

from __future__ import annotations

import math

import numpy as np

from confee.core.jit import leaf
from confee.policies.exponential import LARGE, LOG, WEIGHT, rescale
from confee.world.streams import uniform


@leaf
def reset(w, total):
    """All weights are 1; `total` is their sums."""
    w[WEIGHT] = 1.0
    w[LOG] = 0.0
    total[:] = float(w.shape[1])


@leaf
def draw(w, total, gamma, arm, chance, room, streams):
    """Fills `arm` and `chance` [L] with (i, p_i) of `exponential.draw`. `room`: [2, L]."""
    K, L = w.shape[1], total.shape[0]
    u, left = room[0], room[1]
    for i in range(L):
        u[i] = uniform(streams, i)
    for i in range(L):
        arm[i] = -1 if u[i] < gamma else 0  # -1: any arm, by no weight; what is left is < 0 then
    for i in range(L):
        left[i] = (u[i] - gamma) / (1.0 - gamma) * total[i]
    for k in range(K - 1):
        weight = w[WEIGHT, k]
        for i in range(L):  # after the first weight that is too large, less than 0 is left
            arm[i] += 1 if left[i] >= weight[i] else 0
            left[i] -= weight[i]
    for i in range(L):
        u[i] = u[i] / gamma * K
    for i in range(L):
        any_arm = min(int(u[i]), K - 1)
        arm[i] = arm[i] if arm[i] >= 0 else any_arm
        chance[i] = w[WEIGHT, np.uint64(arm[i]), i]
    for i in range(L):
        chance[i] = (1.0 - gamma) * chance[i] / total[i] + gamma / K


@leaf
def rule(w, total, gamma, p):
    """Fills `p` [K, L] with the chances of `draw`."""
    K = w.shape[1]
    for k in range(K):
        weight, chances = w[WEIGHT, k], p[k]
        for i in range(total.shape[0]):
            chances[i] = (1.0 - gamma) * weight[i] / total[i] + gamma / K


@leaf
def grow(w, total, arm, chance, reward, gamma, room):
    """The weights after `reward` from `arm`, drawn with `chance` [L]; their sums with them."""
    K, L = w.shape[1], total.shape[0]
    nats, those = room[0], room[1]
    paid = 0
    for i in range(L):
        nats[i] = gamma * reward[i] / (chance[i] * K)
    for i in range(L):  # a list of those paid: a branch that goes either way is what costs
        those[paid] = i
        paid += 1 if reward[i] > 0.0 else 0
    for place in range(paid):
        i = int(those[place])
        k = np.uint64(arm[i])
        w[LOG, k, i] += nats[i]
        grown = math.exp(w[LOG, k, i])
        total[i] += grown - w[WEIGHT, k, i]
        w[WEIGHT, k, i] = grown
        if total[i] > LARGE:
            total[i] = rescale(w[:, :, i])
