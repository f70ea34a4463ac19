"""Rexp3B (Algorithm 3, appendix): Exp3 restarted in batches, told V."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confee import schema, theory
from confee.jit import njit
from confee.policies.base import Policy
from confee.policies.exponential import draw, grow, reset
from confee.world.game import idle, new_data, query


@njit
def play(world, ledger, K, T, B, batch, batch_queries, gamma, distinct, rng):
    """Batches of `batch` rounds: Exp3 in the first `batch_queries`, then replay (lines 4-14).

    distinct: replay the distinct arms of the batch alike, as printed, instead of its rounds.
    """
    weights = np.empty((2, K))
    plays = np.empty(K)
    in_use = np.ones(K)  # the last play frequencies in use; uniform before there are any
    data = new_data(K)
    start = 1
    while start <= T:
        stop = min(start + batch, T + 1)
        wished = min(batch_queries, stop - start)
        granted = min(wished, B - ledger.queries)
        ledger.denied += wished - granted
        total = reset(weights)  # line 3, anew in each batch
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


@dataclass(frozen=True)
class Options:
    """pool: idle rounds replay query rounds (multiset), or the distinct arms, as printed (set)."""

    pool: str = schema.choice("multiset", "multiset", "set")


def arguments(K, T, B, V, options):
    batch, queries = theory.rexp3b_batch(K, T, B, V)
    return batch, queries, theory.exp3_rate(K, queries), options.pool == "set"


POLICY = Policy(
    id="rexp3b",
    summary="Rexp3B (Algorithm 3): Exp3 restarted in batches, V known",
    kernel=play,
    told=("T", "B", "V"),
    options=Options,
    arguments=arguments,
)
