"""Control: given the borders and the gap of every segment, it explores evenly and then commits.

It shows what an allocation of queries to segments can reach if nothing has to be detected, and so
how loose the lower bound may be.
"""

from __future__ import annotations

import math

import numpy as np

from confee.core.jit import njit
from confee.policies.base import ORACLE, Policy
from confee.policies.look import DOTS, Look
from confee.world.game import BEST, MEANS, START, idle, locate, new_data, query


@njit
def queries_of(world, K, T, B, segment):
    """The queries of a segment: those that explore-then-commit needs, at most its share of B.

    For a known gap and rewards of variance 1/4, explore-then-commit needs ln(rounds gap^2) / gap^2
    plays of each arm (Garivier, Kaufmann, Lattimore 2016).
    """
    start, stop = int(world[segment, START]), int(world[segment + 1, START])
    best = int(world[segment, BEST])
    gap = 1.0
    for k in range(K):
        if k != best:
            gap = min(gap, world[segment, MEANS + best] - world[segment, MEANS + k])
    share = (stop - 1) * (B / T) - (start - 1) * (B / T)
    spread = gap * gap + 1e-18  # Without a gap, use the whole share.
    wanted = K * float(math.ceil(max(1.0, math.log((stop - start) * spread)) / spread))
    return int(min(share, wanted))


@njit
def commit(rewards, plays, weights, rng):
    """Put all weight on the arm with the largest mean so far; ties are broken at random."""
    arm, top, ties = 0, -1.0, 0
    for k in range(rewards.shape[0]):
        if rewards[k] / plays[k] > top:
            arm, top, ties = k, rewards[k] / plays[k], 1
        elif rewards[k] / plays[k] == top:
            ties += 1
            if rng.random() * ties < 1.0:
                arm = k
    weights[:] = 0.0
    weights[arm] = 1.0


@njit
def play(world, ledger, K, T, B, rng):
    """In each segment: query the arms in turn, then play the best of them."""
    for segment in range(world.shape[0] - 1):
        start, stop = int(world[segment, START]), int(world[segment + 1, START])
        locate(world, ledger, start)  # an adaptive adversary settles the segment now
        queries = queries_of(world, K, T, B, segment)
        data = new_data(K)
        plays, rewards, weights = np.zeros(K), np.zeros(K), np.ones(K)
        first = rng.integers(0, K)
        for i in range(queries):
            arm = (first + i) % K
            rewards[arm] += query(world, ledger, data, start + i, arm, rng)
            plays[arm] += 1.0
        if queries >= K:
            commit(rewards, plays, weights, rng)
        idle(world, ledger, data, start + queries, stop, weights, rng)


POLICY = Policy(
    id="informed",
    name="informed",
    summary="control: knows when the path changes and by how much",
    kernel=play,
    known=("T", "B", "path"),
    role=ORACLE,
    look=Look("#4A2A0A", "p", DOTS, place=27),
)
