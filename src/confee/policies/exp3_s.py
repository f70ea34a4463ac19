"""Exp3.S under a query schedule (Auer, Cesa-Bianchi, Freund, Schapire 2002, Section 8); S is given.

    w_i(t + 1) = w_i(t) exp(gamma xhat_i / K) + (e alpha / K) sum_j w_j(t)

is Exp3 in which every arm gets a share of all weight after each query. alpha = 1 / Q and gamma =
min{1, sqrt(K (S ln(K Q) + e) / ((e - 1) Q))} with Q = B, against any sequence of arms of hardness
at most S (Corollary 8.3). The hardness of the best arms is 1 + the number of times the best arm
changes. As printed, the share is taken from the sum before the query; some programs share first and
then multiply the share of the played arm, too. Sharing costs O(K), as does the draw: a query takes
0.9 times as long as UCB1's at K = 10.

All queries stay in use: the shares let old queries fade, but no window drops them. Idle rounds play
p, see `confee.policies.exponential`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from confee.core import schema
from confee.core.jit import leaf, njit
from confee.policies.base import Policy
from confee.policies.exponential import LARGE, WEIGHT, Exp3Options, draw, reset, rule
from confee.policies.look import DOT, Look
from confee.policies.queries import new_schedule, next_query, schedule_kind
from confee.world.game import idle, new_data, query


@njit
def play(world, ledger, K, T, B, kind, alpha, gamma, rng):
    """Play Exp3.S on the clock of queries."""
    w = np.empty((2, K))
    total = reset(w)
    p = np.ones(K)
    data = new_data(K)
    schedule = new_schedule(kind, T, B)
    t = next_query(schedule, ledger, rng)
    idle(world, ledger, data, 1, t, p, rng)
    while t <= T:
        i, chance = draw(w, total, gamma, rng)
        reward = query(world, ledger, data, t, i, rng)
        nats = gamma * reward / (chance * K)
        total = grow_and_share(w, total, i, nats, math.e * alpha / K)
        after = t + 1
        t = next_query(schedule, ledger, rng)
        if t > after:
            idle(world, ledger, data, after, t, rule(w, total, gamma, p), rng)


@leaf
def grow_and_share(w, total, i, nats, part):
    """Multiply w_i by exp(nats), add `part` of the old sum to each weight, return the new sum.

    No weight falls below about `part` of the sum, so no logarithms of weights are needed.
    """
    K = w.shape[1]
    share = part * total
    if nats > 0.0:
        grown = w[WEIGHT, i] * math.exp(nats)
        total += grown - w[WEIGHT, i]
        w[WEIGHT, i] = grown
    for k in range(K):
        w[WEIGHT, k] += share
    total += K * share
    if total > LARGE:
        for k in range(K):
            w[WEIGHT, k] /= total
        total = 1.0
    return total


@dataclass(frozen=True)
class Options(Exp3Options):
    """The options of Exp3.S: Exp3's, and the weight shared (0 stands for 1 / Q)."""

    alpha: float = schema.real(
        0, low=0, high=1, about="alpha, the weight shared after each query; 0 means 1/B"
    )


def arguments(known, options):
    K, B, S = known.K, known.B, known.S
    rate = math.sqrt(K * (S * math.log(K * B) + math.e) / ((math.e - 1) * B))
    return (
        schedule_kind(options),
        float(options.alpha or 1 / B),
        float(options.gamma or min(1.0, rate)),
    )


POLICY = Policy(
    id="exp3_s",
    name="Exp3.S",
    summary="Exp3.S under a query schedule, S known",
    kernel=play,
    known=("T", "B", "S"),
    options=Options,
    arguments=arguments,
    look=Look("#241B4D", (6, 1, 0), DOT, place=10),
)
