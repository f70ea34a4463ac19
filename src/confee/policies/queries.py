"""Query schedules: in which rounds a policy queries, if it does not choose them itself.

    paced      query i = 0..B-1 in round floor(i T / B) + 1
    bernoulli  each round with probability B/T, while the budget lasts
    front      rounds 1..B
    batched    about sqrt(B) batches of equal length; each begins with its share of the B queries

In idle rounds the policy plays arms by their frequency in its current window of queries or, if it
draws arms from a distribution p (Exp3 and its variants), by p. The clock of such a policy counts
queries, so its horizon is Q = B.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from confee.core import schema
from confee.core.jit import inlined, leaf, njit

SCHEDULES = ("paced", "bernoulli", "front", "batched")
PACED, BERNOULLI, FRONT, BATCHED = range(4)

# A schedule is an array of integers: which one it is, T, B, the round of the last query; for
# `paced` T // B, T % B and the remainder carried; for `batched` the number of batches, the current
# batch and the round in which its queries end.
KIND, HORIZON, BUDGET, LAST, STEP, REMAINDER, CARRY, BATCHES, BATCH, END = range(10)


@dataclass(frozen=True)
class ScheduleOptions:
    """The option of a policy on a query schedule: which one."""

    plan: str = schema.choice("paced", *SCHEDULES, about="query schedule: when the policy queries")

    @property
    def in_step(self) -> bool:
        """Whether all runs query in the same rounds."""
        return self.plan != "bernoulli"


def schedule_kind(options: ScheduleOptions) -> int:
    """The number of the query schedule, as `new_schedule` takes it."""
    return SCHEDULES.index(options.plan)


@njit
def new_schedule(kind, T, B):
    """A query schedule before its first query."""
    schedule = np.zeros(10, dtype=np.int64)
    schedule[KIND], schedule[HORIZON], schedule[BUDGET] = kind, T, B
    schedule[STEP], schedule[REMAINDER] = T // B, T % B
    schedule[BATCHES] = int(math.sqrt(B))
    schedule[BATCH] = -1
    if kind == PACED:  # The first step leads from round 1 - T/B to round 1.
        schedule[LAST] = 1 - T // B
        schedule[CARRY] = -(T % B)
    return schedule


@inlined
def next_query(schedule, ledger, rng):
    """The round of the next query, or T + 1 if there is none. Queries beyond B are denied."""
    if schedule[KIND] == BERNOULLI:
        return next_drawn(schedule, ledger, rng)
    return next_due(schedule, ledger)


@inlined
def next_due(schedule, ledger):
    """`next_query` of a schedule that draws nothing: the rounds are the same in every run."""
    if schedule[KIND] != PACED:
        return next_batched(schedule, ledger)
    if ledger.queries >= schedule[BUDGET]:
        return schedule[HORIZON] + 1
    # The remainder of i T / B is carried: no product can overflow and no division is needed.
    t = schedule[LAST] + schedule[STEP]
    carry = schedule[CARRY] + schedule[REMAINDER]
    if carry >= schedule[BUDGET]:
        carry -= schedule[BUDGET]
        t += 1
    schedule[CARRY] = carry
    schedule[LAST] = t
    return t


@leaf
def next_drawn(schedule, ledger, rng):
    """`next_query` of `bernoulli`."""
    T, B = schedule[HORIZON], schedule[BUDGET]
    t = schedule[LAST] + 1 + failures(B / T, T, rng)
    while ledger.queries >= B and t <= T:
        ledger.denied += 1
        t += 1 + failures(B / T, T, rng)
    schedule[LAST] = min(t, T + 1)
    return schedule[LAST]


@leaf
def next_batched(schedule, ledger):
    """`next_query` of `batched` and of `front`."""
    T, B = schedule[HORIZON], schedule[BUDGET]
    t = schedule[LAST] + 1
    if ledger.queries >= B:
        t = T + 1
    elif schedule[KIND] == BATCHED and t > schedule[END]:
        schedule[BATCH] += 1
        batch, batches = schedule[BATCH], schedule[BATCHES]
        t = share(T, batch, batches) + 1
        queries = share(B, batch + 1, batches) - share(B, batch, batches)
        schedule[END] = min(t + queries - 1, share(T, batch + 1, batches))
    schedule[LAST] = min(t, T + 1)
    return schedule[LAST]


@leaf
def failures(chance, limit, rng):
    """Draw how many trials fail before one succeeds with probability `chance`; at most `limit`."""
    if chance >= 1.0:
        return 0
    return int(min(math.log(1.0 - rng.random()) / math.log1p(-chance), float(limit)))


@leaf
def share(total, part, parts):
    """floor(total part / parts), without the product of total and part."""
    return total // parts * part + total % parts * part // parts
