"""Rexp3 (Besbes, Gur, Zeevi 2014, Theorem 2): Exp3 restarted in batches; V is given.

Batches of Delta = ceil((K ln K)^{1/3} (T / V)^{2/3}) rounds, in [1, T], and one batch where V = 0;
gamma = min{1, sqrt(K ln K / ((e - 1) Delta))}. At B = T that is the paper's policy. At B < T it
plays on the clock of its queries: its horizon is Q = B, over which the means vary by V as well, so
Delta = ceil((K ln K)^{1/3} (B / V)^{2/3}) queries. (Rexp3B's Delta_B is the same except for two
floors; Rexp3B queries at the start of a batch.)

Idle rounds play p, see `confee.policies.exponential`; after the last query of a batch they play its
p until the next batch begins. As for Rexp3B, the end of a batch does not count as a restart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from confee.core import schema
from confee.core.jit import njit
from confee.paper import theory
from confee.policies.base import Policy
from confee.policies.exponential import Exp3Options, draw, grow, reset, rule
from confee.policies.exponential_lanes import draw as draw_all
from confee.policies.exponential_lanes import grow as grow_all
from confee.policies.exponential_lanes import reset as reset_all
from confee.policies.exponential_lanes import rule as rule_all
from confee.policies.growth import Growth
from confee.policies.look import DOTS, Look
from confee.policies.queries import new_schedule, next_due, next_query, schedule_kind
from confee.world.game import idle, new_data, query
from confee.world.lanes import forget
from confee.world.lanes import idle as all_idle
from confee.world.lanes import query as query_all


@njit
def play(world, ledger, K, T, B, kind, batch, gamma, rng):
    """Restart Exp3 after every `batch` queries; the data in use are those of the batch."""
    w = np.empty((2, K))
    total = reset(w)
    p = np.ones(K)
    data = new_data(K)
    schedule = new_schedule(kind, T, B)
    left = batch
    t = next_query(schedule, ledger, rng)
    idle(world, ledger, data, 1, t, p, rng)
    while t <= T:
        if left == 0:
            total = reset(w)
            data[:] = 0.0
            left = batch
        left -= 1
        i, chance = draw(w, total, gamma, rng)
        reward = query(world, ledger, data, t, i, rng)
        if reward > 0.0:
            total = grow(w, total, i, gamma * reward / (chance * K))
        after = t + 1
        t = next_query(schedule, ledger, rng)
        if t > after:
            idle(world, ledger, data, after, t, rule(w, total, gamma, p), rng)


@njit
def play_lanes(lanes, ledger, K, T, B, kind, batch, gamma):
    """Play many runs at once, as `play` plays each."""
    L = lanes.now.shape[1]
    w, total, room, p = np.empty((2, K, L)), np.empty(L), np.empty((2, L)), np.ones((K, L))
    i, chance, reward = np.zeros(L, dtype=np.int64), np.empty(L), np.empty(L)
    reset_all(w, total)
    schedule = new_schedule(kind, T, B)
    left = batch
    t = next_due(schedule, ledger)
    all_idle(lanes, ledger, 1, t, p)
    while t <= T:
        if left == 0:
            reset_all(w, total)
            forget(lanes)
            left = batch
        left -= 1
        draw_all(w, total, gamma, i, chance, room, lanes.streams)
        query_all(lanes, ledger, t, i, reward)
        grow_all(w, total, i, chance, reward, gamma, room)
        after = t + 1
        t = next_due(schedule, ledger)
        if t > after:
            rule_all(w, total, gamma, p)
            all_idle(lanes, ledger, after, t, p)


@dataclass(frozen=True)
class Options(Exp3Options):
    """The options of Rexp3: Exp3's, and the factor of the batch Delta."""

    batch_scale: float = schema.real(
        1.0,
        above=0,
        high=1e6,
        about="multiplies the batch Delta = ceil((K ln K)^(1/3) (B / V)^(2/3))",
    )


def batch_length(K: int, Q: int, V: float, scale: float = 1.0) -> int:
    """Delta = ceil(scale (K ln K)^{1/3} (Q / V)^{2/3}) in [1, Q]."""
    if V == 0:
        return Q
    return max(1, math.ceil(min(scale * (K * math.log(K)) ** (1 / 3) * (Q / V) ** (2 / 3), Q)))


def arguments(known, options):
    K, B, V = known.K, known.B, known.V
    batch = batch_length(K, B, V, options.batch_scale)
    return schedule_kind(options), batch, float(options.gamma or theory.exp3_rate(K, batch))


POLICY = Policy(
    id="rexp3",
    name="Rexp3",
    summary="Rexp3: Exp3 restarted in batches of queries, V known",
    kernel=play,
    lanes=play_lanes,
    known=("T", "B", "V"),
    options=Options,
    arguments=arguments,
    look=Look("#1C1AD0", ">", DOTS, place=8),
    growth=Growth(claimed="rate", k_log_k=True, in_range=lambda size: theory.rexp3b_range(*size)),
)
