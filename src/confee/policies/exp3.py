"""Exp3 under a query schedule (Auer, Cesa-Bianchi, Freund, Schapire 2002, Figure 1); B is given.

gamma = min{1, sqrt(K ln K / ((e - 1) g))} with g = Q = B, the largest reward of one arm in Q
queries (Corollary 3.2). As printed, gamma is both the learning rate and the share of uniform play;
other texts separate the two. Idle rounds play p, see `confee.policies.exponential`.
"""

from __future__ import annotations

import numpy as np

from confee.core.jit import njit
from confee.paper import theory
from confee.policies.base import Policy
from confee.policies.exponential import Exp3Options, draw, grow, reset, rule
from confee.policies.exponential_lanes import draw as draw_all
from confee.policies.exponential_lanes import grow as grow_all
from confee.policies.exponential_lanes import reset as reset_all
from confee.policies.exponential_lanes import rule as rule_all
from confee.policies.look import LONG, Look
from confee.policies.queries import new_schedule, next_due, next_query, schedule_kind
from confee.world.game import idle, new_data, query
from confee.world.lanes import idle as all_idle
from confee.world.lanes import query as query_all


@njit
def play(world, ledger, K, T, B, kind, gamma, rng):
    """Play Exp3 on the clock of queries; all of them stay in use."""
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
        if reward > 0.0:
            total = grow(w, total, i, gamma * reward / (chance * K))
        after = t + 1
        t = next_query(schedule, ledger, rng)
        if t > after:
            idle(world, ledger, data, after, t, rule(w, total, gamma, p), rng)


@njit
def play_lanes(lanes, ledger, K, T, B, kind, gamma):
    """Play many runs at once, as `play` plays each."""
    L = lanes.now.shape[1]
    w, total, room, p = np.empty((2, K, L)), np.empty(L), np.empty((2, L)), np.ones((K, L))
    i, chance, reward = np.zeros(L, dtype=np.int64), np.empty(L), np.empty(L)
    reset_all(w, total)
    schedule = new_schedule(kind, T, B)
    t = next_due(schedule, ledger)
    all_idle(lanes, ledger, 1, t, p)
    while t <= T:
        draw_all(w, total, gamma, i, chance, room, lanes.streams)
        query_all(lanes, ledger, t, i, reward)
        grow_all(w, total, i, chance, reward, gamma, room)
        after = t + 1
        t = next_due(schedule, ledger)
        if t > after:
            rule_all(w, total, gamma, p)
            all_idle(lanes, ledger, after, t, p)


def arguments(known, options):
    K, B = known.K, known.B
    return schedule_kind(options), float(options.gamma or theory.exp3_rate(K, B))


POLICY = Policy(
    id="exp3",
    name="Exp3",
    summary="Exp3 under a query schedule",
    kernel=play,
    lanes=play_lanes,
    options=Exp3Options,
    arguments=arguments,
    look=Look("#C65D3E", "H", LONG, place=9),
)
