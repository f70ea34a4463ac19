"""Random restarts (Gerogiannis, Huang, Veeravalli 2025, Algorithm 2): UCB1, forgetting by chance.

The control that asks whether detection helps at all. Before each query but the first, UCB1 starts
anew with probability `rate`, independently of what it saw; its clock is the queries since.

The order-optimal rate (Theorem 11): sqrt(eta) over a power of ln T, eta being the chance of a
change in a round. Their code has sqrt(eta / ln T), taken here on the clock of queries: T = B, and
eta = (S - 1) / B, as S pieces are S - 1 changes. So it is told S; where nothing changes it is UCB1.
`random_restart_unaware` has a rate that makes no use of S.

Their code restarts klUCB with the logarithm of all rounds so far; here it is UCB1, started anew, as
a black box is: the logarithm is of the queries since.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from confee import schema
from confee.jit import njit
from confee.policies.base import Policy
from confee.policies.plans import PlanOptions, new_plan, next_query, plan_of, skip
from confee.policies.ucb import PLAYS, choose, new_ucb, reset, update
from confee.world.game import idle, new_data, query


@njit
def play(world, ledger, K, T, B, kind, rate, rng):
    """Idle rounds: arms by their frequency since the restart; any arm before the first query."""
    ucb = new_ucb(K)
    plays = ucb[PLAYS]
    data = new_data(K)
    plan = new_plan(kind, T, B)
    restart = next_restart(0, rate, B, rng)
    start = 0
    t = next_query(plan, ledger, rng)
    idle(world, ledger, data, 1, t, np.ones(K), rng)
    while t <= T:
        if ledger.queries == restart:
            reset(ucb)
            data[:] = 0.0
            start = restart
            ledger.restarts += 1
            restart = next_restart(start, rate, B, rng)
        arm, _ = choose(ucb, ledger.queries - start, 2.0, rng)
        reward = query(world, ledger, data, t, arm, rng)
        update(ucb, arm, reward)
        after = t + 1
        t = next_query(plan, ledger, rng)
        idle(world, ledger, data, after, t, plays, rng)


@njit
def next_restart(start, rate, B, rng):
    """How many queries will have been made at the next restart: geometric; B + 1 if never."""
    return start + 1 + skip(rate, B, rng) if rate > 0.0 else B + 1


@dataclass(frozen=True)
class Options(PlanOptions):
    """rate_scale: times the order-optimal rate."""

    rate_scale: float = schema.real(1.0, low=0, high=1e6)


def arguments(K, T, B, V, options, S):
    optimal = math.sqrt((S - 1) / (B * math.log(B)))
    return plan_of(options), min(1.0, options.rate_scale * optimal)


POLICY = Policy(
    id="random_restart",
    summary="UCB1 under a query plan, restarted at random",
    kernel=play,
    told=("T", "B", "S"),
    options=Options,
    arguments=arguments,
)
