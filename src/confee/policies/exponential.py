"""Exp3's weights (Auer, Cesa-Bianchi, Freund, Schapire 2002, Figure 1), for Exp3 and its variants.

    p_i = (1 - gamma) w_i / sum_j w_j + gamma / K,    w_i <- w_i exp(gamma xhat_i / K),

where xhat_i = reward / p_i for the arm played and 0 for the others. An instance is an array [2, K]
(the weights up to a common factor, and their logarithms) and the sum of the weights. Because
xhat_i <= K / gamma, no step multiplies a weight by more than e, so it is enough to divide by a
common factor now and then. The logarithms keep weights that are too small for a double.

Idle rounds play p, the last decision rule. On a stretch with constant means each idle round then
costs the expected regret of the last query, so bounds on the regret of queries hold times T / B
under the schedule `paced`. Playing by the frequency of past plays would average over older rules,
and Exp3.S has no window to average over. (At K = 4, B = 40 000 and T = 10 B that had 2 to 3 times
the regret, for Exp3 on stationary paths and for Exp3.S with six changes.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from confee.core import schema
from confee.core.jit import inlined, leaf, njit
from confee.policies.queries import ScheduleOptions

WEIGHT, LOG = range(2)
LARGE = 1e100  # Weights are rescaled when their sum exceeds it, far below the largest double.


@dataclass(frozen=True)
class Exp3Options(ScheduleOptions):
    """The options of Exp3 and its variants: exploration (0 stands for the policy's formula)."""

    gamma: float = schema.real(
        0,
        low=0,
        high=1,
        about="exploration rate; 0 means the value of the policy's theorem, see its docstring",
    )


@leaf
def reset(w):
    """Set all weights to 1 and return their sum."""
    w[WEIGHT] = 1.0
    w[LOG] = 0.0
    return float(w.shape[1])


@inlined
def draw(w, total, gamma, rng):
    """Draw (i, p_i): with probability gamma any arm, otherwise by weight; one draw serves both."""
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
    """Fill `p` [K] with the probabilities of `draw` and return it."""
    K = w.shape[1]
    for i in range(K):
        p[i] = (1.0 - gamma) * w[WEIGHT, i] / total + gamma / K
    return p


@inlined
def grow(w, total, i, nats):
    """Multiply w_i by exp(nats), nats = gamma xhat_i / K, and return the new sum of weights."""
    w[LOG, i] += nats
    grown = math.exp(w[LOG, i])
    total += grown - w[WEIGHT, i]
    w[WEIGHT, i] = grown
    return rescale(w) if total > LARGE else total


@leaf
def rescale(w):
    """Scale the weights so that the largest is 1 and return the new sum."""
    top, total = w[LOG, 0], 0.0
    for i in range(1, w.shape[1]):
        top = max(top, w[LOG, i])
    for i in range(w.shape[1]):
        w[LOG, i] -= top
        w[WEIGHT, i] = math.exp(w[LOG, i])
        total += w[WEIGHT, i]
    return total
