"""Random restarts of UCB1 (Gerogiannis, Huang, Veeravalli 2025, Algorithm 2).

A control that tests whether detection helps at all. Before each query but the first, UCB1 restarts
with probability `rate`, independently of the rewards.

The order-optimal rate (Theorem 11) is sqrt(eta) over a power of ln T, where eta is the probability
of a change in a round. Their code has sqrt(eta / ln T). Here the clock counts queries: B takes the
place of T, and eta = (S - 1) / B, because S segments have S - 1 changes. So the policy is given S;
on a stationary path it is UCB1. The rate of `random_restart_unaware` does not depend on S.

Their code restarts klUCB but keeps the logarithm of all rounds so far. Here UCB1 restarts as a
black box, so its logarithm is that of the queries since the restart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from confee.core import schema
from confee.policies import scheduled
from confee.policies.base import CONTROL, Policy
from confee.policies.look import DOTS, Look
from confee.policies.queries import ScheduleOptions, schedule_kind
from confee.policies.ucb import UCB1


@dataclass(frozen=True)
class Options(ScheduleOptions):
    """The options: the query schedule, and the factor of the order-optimal rate."""

    rate_scale: float = schema.real(
        1.0,
        low=0,
        high=1e6,
        about="multiplies the order-optimal restart rate per query, sqrt((S - 1) / (B ln B))",
    )


def arguments(known, options):
    K, T, B, S = known.K, known.T, known.B, known.S
    optimal = math.sqrt((S - 1) / (B * math.log(B)))
    rate = min(1.0, options.rate_scale * optimal)
    return UCB1.constants(K, T, options), schedule_kind(options), rate


POLICY = Policy(
    id="random_restart",
    name="random restart",
    summary="UCB1 under a query schedule, restarted at random",
    kernel=scheduled.play,
    known=("T", "B", "S"),
    options=Options,
    arguments=arguments,
    role=CONTROL,
    look=Look("#24D7A9", "$R$", DOTS, place=18),
)
