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

from confee.core import schema
from confee.policies import scheduled
from confee.policies.base import CONTROL, Policy
from confee.policies.look import DOTS, Look
from confee.policies.queries import ScheduleOptions, schedule_kind
from confee.policies.ucb import UCB1


@dataclass(frozen=True)
class Options(ScheduleOptions):
    """rate_scale: times the order-optimal rate."""

    rate_scale: float = schema.real(
        1.0, low=0, high=1e6, about="times the order-optimal rate, sqrt((S - 1) / (B ln B)) a query"
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
