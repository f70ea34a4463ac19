"""Query plans: when a policy without a plan of its own looks.

    paced      query i = 0..B-1 in round floor(i T / B) + 1
    bernoulli  each round with probability B/T, while B lasts
    front      rounds 1..B
    batched    about sqrt(B) batches of equal length, each begun by its share of B

In between, arms are played by their frequency in the policy's current window of queries, or by the
distribution p that the policy would draw its next query's arm from, if it has one (Exp3's family).
A policy under a plan knows no other clock than its queries: Q = B of them are its horizon.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from confee.core import schema
from confee.core.jit import inlined, leaf, njit

PLANS = ("paced", "bernoulli", "front", "batched")
PACED, BERNOULLI, FRONT, BATCHED = range(4)

# A plan is an array of whole numbers: which one, T, B, the last query's round; T/B in whole rounds,
# the remainder and what is left of it (paced); how many batches, the current one and the round its
# queries end at (batched).
KIND, HORIZON, BUDGET, LAST, STEP, REST, CARRY, BATCHES, BATCH, END = range(10)


@dataclass(frozen=True)
class PlanOptions:
    """plan: when it looks."""

    plan: str = schema.choice("paced", *PLANS, about="or bernoulli, front, batched")

    @property
    def in_step(self) -> bool:
        """Whether all runs look in the same rounds."""
        return self.plan != "bernoulli"


def plan_of(options: PlanOptions) -> int:
    """The number of the plan, for `new_plan`."""
    return PLANS.index(options.plan)


@njit
def new_plan(kind, T, B):
    """A plan before its first query."""
    plan = np.zeros(10, dtype=np.int64)
    plan[KIND], plan[HORIZON], plan[BUDGET] = kind, T, B
    plan[STEP], plan[REST] = T // B, T % B
    plan[BATCHES] = int(math.sqrt(B))
    plan[BATCH] = -1
    if kind == PACED:  # as if a query had been in round 1 - T/B
        plan[LAST] = 1 - T // B
        plan[CARRY] = -(T % B)
    return plan


@inlined
def next_query(plan, ledger, rng):
    """The round of the next query; T + 1 if there is none. Wishes past B are denied."""
    if plan[KIND] == BERNOULLI:
        return next_drawn(plan, ledger, rng)
    return next_due(plan, ledger)


@inlined
def next_due(plan, ledger):
    """`next_query` of a plan that draws nothing: the same rounds in every run."""
    if plan[KIND] != PACED:
        return next_batched(plan, ledger)
    if ledger.queries >= plan[BUDGET]:
        return plan[HORIZON] + 1
    # The remainder of i T / B is carried, so that nothing overflows and nothing is divided.
    t = plan[LAST] + plan[STEP]
    carry = plan[CARRY] + plan[REST]
    if carry >= plan[BUDGET]:
        carry -= plan[BUDGET]
        t += 1
    plan[CARRY] = carry
    plan[LAST] = t
    return t


@leaf
def next_drawn(plan, ledger, rng):
    """`next_query` of `bernoulli`."""
    T, B = plan[HORIZON], plan[BUDGET]
    t = plan[LAST] + 1 + skip(B / T, T, rng)
    while ledger.queries >= B and t <= T:
        ledger.denied += 1
        t += 1 + skip(B / T, T, rng)
    plan[LAST] = min(t, T + 1)
    return plan[LAST]


@leaf
def next_batched(plan, ledger):
    """`next_query` of `batched`, and of `front`."""
    T, B = plan[HORIZON], plan[BUDGET]
    t = plan[LAST] + 1
    if ledger.queries >= B:
        t = T + 1
    elif plan[KIND] == BATCHED and t > plan[END]:
        plan[BATCH] += 1
        batch, batches = plan[BATCH], plan[BATCHES]
        t = share(T, batch, batches) + 1
        queries = share(B, batch + 1, batches) - share(B, batch, batches)
        plan[END] = min(t + queries - 1, share(T, batch + 1, batches))
    plan[LAST] = min(t, T + 1)
    return plan[LAST]


@leaf
def skip(chance, T, rng):
    """Failures before the next success of `chance` a round, at most T."""
    if chance >= 1.0:
        return 0
    return int(min(math.log(1.0 - rng.random()) / math.log1p(-chance), float(T)))


@leaf
def share(total, part, parts):
    """floor(total part / parts), without the product."""
    return total // parts * part + total % parts * part // parts
