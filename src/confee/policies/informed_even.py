"""Control: like `informed`, with its queries spread evenly over each segment.

It makes as many queries as `informed` in each segment, at equal distances instead of at the start,
and plays the best arm so far in between. With equal knowledge and equally many queries, its extra
regret is the cost of spreading queries in time.
"""

from __future__ import annotations

import numpy as np

from confee.core.jit import njit
from confee.policies.base import ORACLE, Policy
from confee.policies.informed import commit, queries_of
from confee.policies.look import DOTS, Look
from confee.world.game import START, idle, locate, new_data, query


@njit
def play(world, ledger, K, T, B, rng):
    """In each segment: query the arms in turn at equal distances, play the best one in between."""
    for segment in range(world.shape[0] - 1):
        start, stop = int(world[segment, START]), int(world[segment + 1, START])
        locate(world, ledger, start)  # an adaptive adversary settles the segment now
        queries = queries_of(world, K, T, B, segment)
        data = new_data(K)
        plays, rewards, weights = np.zeros(K), np.zeros(K), np.ones(K)
        first = rng.integers(0, K)
        t = start
        for i in range(queries):
            due = start + i * (stop - start) // queries
            idle(world, ledger, data, t, due, weights, rng)
            arm = (first + i) % K
            rewards[arm] += query(world, ledger, data, due, arm, rng)
            plays[arm] += 1.0
            t = due + 1
            if i + 1 >= K:
                commit(rewards, plays, weights, rng)
        idle(world, ledger, data, t, stop, weights, rng)


POLICY = Policy(
    id="informed_even",
    name="informed_even",
    summary="control: `informed` with its queries spread evenly in time",
    kernel=play,
    known=("T", "B", "path"),
    role=ORACLE,
    look=Look("#BF9334", "$E$", DOTS, place=28),
)
