"""Exp3's weights (Auer, Cesa-Bianchi, Freund, Schapire 2002, Figure 1), for Exp3 and its kin.

p_i = (1 - gamma) w_i / sum_j w_j + gamma / K, and w_i grows by exp(gamma xhat_i / K), where xhat_i
= reward / p_i for the arm played and 0 for the others. An instance is an array [2, K] and a number:
the weights, up to a common factor, over their logarithms, and their sum. As xhat_i <= K / gamma no
step grows a weight by more than e, so it is enough to take the factor out now and then; the
logarithms keep what a weight too small for a double has earned, and it comes back when it is due.

Idle rounds play p, the last decision rule: it is a distribution, and drawing from it is playing the
arms by the frequency they are due. While means stand still the idle rounds after a query then cost
its expected regret each, so bounds on the regret of queries hold times T / B under the paced plan.
The frequency of past plays would average older rules instead, and Exp3.S has no window to take it
over. (Measured at K = 4, B = 40 000, T = 10 B: 2 to 3 times the regret, for Exp3 on stationary
paths, for Exp3.S with six changes.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from confee.core import schema
from confee.core.jit import inlined, leaf, njit
from confee.policies.queries import ScheduleOptions

WEIGHT, LOG = range(2)
LARGE = 1e100  # a sum over it has a common factor to take out; far from where doubles end


@dataclass(frozen=True)
class Exp3Options(ScheduleOptions):
    """gamma: exploration; 0 is the policy's formula."""

    gamma: float = schema.real(
        0, low=0, high=1, about="exploration; 0: min{1, sqrt(K ln K / ((e - 1) B))}"
    )


@leaf
def reset(w):
    """All weights are 1; returns their sum."""
    w[WEIGHT] = 1.0
    w[LOG] = 0.0
    return float(w.shape[1])


@inlined
def draw(w, total, gamma, rng):
    """(i, p_i): with chance gamma any arm, otherwise by weight; one draw for both."""
    K = w.shape[1]
    u = rng.random()
    if u < gamma:
        i = min(int(u / gamma * K), K - 1)
    else:
        left = (u - gamma) / (1.0 - gamma) * total
        i = 0
        while i < K - 1 and left >= w[WEIGHT, i]:
            left -= w[WEIGHT, i]
            i += 1
    return i, (1.0 - gamma) * w[WEIGHT, i] / total + gamma / K


@njit
def rule(w, total, gamma, p):
    """Fills `p` [K] with the chances of `draw`, and returns it."""
    K = w.shape[1]
    for i in range(K):
        p[i] = (1.0 - gamma) * w[WEIGHT, i] / total + gamma / K
    return p


@inlined
def grow(w, total, i, nats):
    """w_i times exp(nats), where nats = gamma xhat_i / K; returns the new sum."""
    w[LOG, i] += nats
    grown = math.exp(w[LOG, i])
    total += grown - w[WEIGHT, i]
    w[WEIGHT, i] = grown
    return rescale(w) if total > LARGE else total


@leaf
def rescale(w):
    """The same chances, with the largest weight 1; returns the new sum."""
    top, total = w[LOG, 0], 0.0
    for i in range(1, w.shape[1]):
        top = max(top, w[LOG, i])
    for i in range(w.shape[1]):
        w[LOG, i] -= top
        w[WEIGHT, i] = math.exp(w[LOG, i])
        total += w[WEIGHT, i]
    return total
