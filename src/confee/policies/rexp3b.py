"""Rexp3B (Algorithm 3, appendix): Exp3 restarted in batches; V is given."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confee.core import schema
from confee.core.jit import leaf, njit
from confee.paper import theory
from confee.policies.base import PAPER, Policy
from confee.policies.exponential import draw, grow, reset
from confee.policies.exponential_lanes import draw as draw_all
from confee.policies.exponential_lanes import grow as grow_all
from confee.policies.exponential_lanes import reset as reset_all
from confee.policies.growth import Growth
from confee.policies.look import DOT, SOLID, Look
from confee.world.game import idle, new_data, query
from confee.world.lanes import forget
from confee.world.lanes import idle as all_idle
from confee.world.lanes import query as query_all


@njit
def play(world, ledger, K, T, B, batch, batch_queries, gamma, distinct, rng):
    """Play Exp3 in the first `batch_queries` rounds of each batch, then replay (lines 4-14).

    `batch` is the number of rounds in a batch. If `distinct`, idle rounds play the distinct arms of
    the batch alike, as printed; otherwise they play its query rounds at random.
    """
    weights = np.empty((2, K))
    plays = np.empty(K)
    in_use = np.ones(K)  # the last play frequencies in use; uniform before there are any
    data = new_data(K)
    start = 1
    while start <= T:
        if ledger.queries == B:  # All further batches are idle.
            data[:] = 0.0
            ledger.denied += wishes(start, T, batch, batch_queries)
            idle(world, ledger, data, start, T + 1, in_use, rng)
            break
        stop = min(start + batch, T + 1)
        wished = min(batch_queries, stop - start)
        granted = min(wished, B - ledger.queries)
        ledger.denied += wished - granted
        total = reset(weights)  # line 3, in each batch
        plays[:] = 0.0
        data[:] = 0.0
        for t in range(start, start + granted):
            arm, chance = draw(weights, total, gamma, rng)  # lines 7-8
            reward = query(world, ledger, data, t, arm, rng)
            plays[arm] += 1.0
            if reward > 0.0:  # lines 9-11: only the played arm's estimate is not 0
                total = grow(weights, total, arm, gamma * reward / (chance * K))
        if granted > 0:
            for k in range(K):
                in_use[k] = min(plays[k], 1.0) if distinct else plays[k]
        idle(world, ledger, data, start + granted, stop, in_use, rng)
        start = stop


@leaf
def wishes(start, T, batch, batch_queries):
    """Count the queries that batches from round `start` on would make up to T."""
    batches, rest = (T + 1 - start) // batch, (T + 1 - start) % batch
    return batches * min(batch, batch_queries) + min(rest, batch_queries)


@njit
def play_lanes(lanes, ledger, K, T, B, batch, batch_queries, gamma, distinct):
    """Play many runs at once, as `play` plays each."""
    L = lanes.now.shape[1]
    weights, total, room = np.empty((2, K, L)), np.empty(L), np.empty((2, L))
    arm, chance, reward = np.zeros(L, dtype=np.int64), np.empty(L), np.empty(L)
    plays, in_use = np.empty((K, L)), np.ones((K, L))
    start = 1
    while start <= T:
        if ledger.queries == B:
            forget(lanes)
            ledger.denied += wishes(start, T, batch, batch_queries)
            all_idle(lanes, ledger, start, T + 1, in_use)
            break
        stop = min(start + batch, T + 1)
        wished = min(batch_queries, stop - start)
        granted = min(wished, B - ledger.queries)
        ledger.denied += wished - granted
        reset_all(weights, total)
        plays[:] = 0.0
        forget(lanes)
        for t in range(start, start + granted):
            draw_all(weights, total, gamma, arm, chance, room, lanes.streams)
            query_all(lanes, ledger, t, arm, reward)
            for i in range(L):
                plays[arm[i], i] += 1.0
            grow_all(weights, total, arm, chance, reward, gamma, room)
        if granted > 0:
            for k in range(K):
                for i in range(L):
                    in_use[k, i] = min(plays[k, i], 1.0) if distinct else plays[k, i]
        all_idle(lanes, ledger, start + granted, stop, in_use)
        start = stop


@dataclass(frozen=True)
class Options:
    """The option of Rexp3B: what idle rounds replay."""

    pool: str = schema.choice(
        "multiset",
        "multiset",
        "set",
        about="arms that idle rounds draw from: the batch's plays, or its distinct arms as printed",
    )


def arguments(known, options):
    K, T, B, V = known.K, known.T, known.B, known.V
    batch, queries = theory.rexp3b_batch(K, T, B, V)
    return batch, queries, theory.exp3_rate(K, queries), options.pool == "set"


def short_batch(size):
    """Whether a batch has fewer than 4 queries: rounding then leaves up to 43 % of B unused."""
    return theory.rexp3b_batch(*size)[1] < 4


POLICY = Policy(
    id="rexp3b",
    name="Rexp3B",
    summary="Rexp3B (Algorithm 3): Exp3 restarted in batches, V known",
    kernel=play,
    lanes=play_lanes,
    known=("T", "B", "V"),
    options=Options,
    arguments=arguments,
    role=PAPER,
    look=Look("#D55E00", "D", SOLID, 1.8, place=4),
    variants={"rexp3b(pool=set)": Look("#E69F00", "d", DOT, place=5)},
    growth=Growth(
        claimed="rate",
        k_log_k=True,
        in_range=lambda size: theory.rexp3b_range(*size),
        distorted=short_batch,
    ),
)
