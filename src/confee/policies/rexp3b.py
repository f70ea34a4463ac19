"""Rexp3B (Algorithm 3, appendix): Exp3 restarted in batches, told V."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from confee import schema, theory
from confee.jit import njit
from confee.policies.base import Policy
from confee.world.game import idle, new_data, query


@njit
def play(world, ledger, K, T, B, batch, batch_queries, gamma, distinct, rng):
    """Batches of `batch` rounds: Exp3 in the first `batch_queries`, then replay (lines 4-14).

    distinct: replay the distinct arms of the batch alike, as printed, instead of its rounds.
    """
    weights = np.empty(K)
    plays = np.empty(K)
    in_use = np.ones(K)  # the last play frequencies in use; uniform before there are any
    data = new_data(K)
    start = 1
    while start <= T:
        stop = min(start + batch, T + 1)
        wished = min(batch_queries, stop - start)
        granted = min(wished, B - ledger.queries)
        ledger.denied += wished - granted
        weights[:] = 1.0  # line 3, anew in each batch
        plays[:] = 0.0
        data[:] = 0.0
        total = float(K)
        for t in range(start, start + granted):
            # Lines 7-8: with chance gamma any arm, otherwise by weight; one draw for both.
            u = rng.random()
            if u < gamma:
                arm = min(int(u / gamma * K), K - 1)
            else:
                left = (u - gamma) / (1.0 - gamma) * total
                arm = 0
                while arm < K - 1 and left >= weights[arm]:
                    left -= weights[arm]
                    arm += 1
            chance = (1.0 - gamma) * weights[arm] / total + gamma / K
            reward = query(world, ledger, data, t, arm, rng)
            plays[arm] += 1.0
            if reward > 0.0:
                # Lines 9-11: only the played arm's estimate is not 0.
                grown = weights[arm] * math.exp(gamma * reward / (chance * K))
                total += grown - weights[arm]
                weights[arm] = grown
                if total > 1e100:  # the same chances, out of the way of overflow
                    top = weights.max()
                    total = 0.0
                    for k in range(K):
                        weights[k] /= top
                        total += weights[k]
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
