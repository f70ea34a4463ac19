"""Exp3.S under a query schedule (Auer, Cesa-Bianchi, Freund, Schapire 2002, Section 8); told S.

w_i(t + 1) = w_i(t) exp(gamma xhat_i / K) + (e alpha / K) sum_j w_j(t): Exp3, with a share of all
weight for every arm after each query. alpha = 1 / Q and gamma = min{1, sqrt(K (S ln(K Q) + e) /
((e - 1) Q))}, Q = B, against any sequence of arms of hardness at most S (Corollary 8.3); S is that
of the best arms, 1 + how often they change. The share is of the sum before the query, and does not
grow with it, as printed; there are programs that share first and then let the arm's share grow too.
Sharing costs O(K), as does the draw: a query takes 0.9 times as long as UCB1's at K = 10.

All queries stay in use: the shares let old ones fade, but there is no window that they leave. Idle
rounds: p, see `confee.policies.exponential`.
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
    """Exp3.S on the clock of the queries."""
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
    """w_i times exp(nats), and each weight more by `part` of the old sum; returns the new one.

    So no weight is under about `part` of the sum, and no logarithms are needed.
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
    """alpha: how much weight is shared; 0 is 1 / Q."""

    alpha: float = schema.real(0, low=0, high=1, about="weight shared after each query; 0: 1 / B")


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
