"""Random restarts of UCB1 at a fixed rate (Gerogiannis, Huang, Veeravalli 2025).

Unlike that of `random_restart`, the rate does not depend on the number of changes. Their
experiments have 0.05 per round. On the clock of queries this would give instances of 20 queries, so
the default is 0.001.
"""

from __future__ import annotations

from dataclasses import dataclass

from confee.core import schema
from confee.policies import scheduled
from confee.policies.base import CONTROL, Policy
from confee.policies.look import DOTS, Look
from confee.policies.queries import ScheduleOptions, schedule_kind
from confee.policies.ucb import UCB1


@dataclass(frozen=True)
class Options(ScheduleOptions):
    """The options: the query schedule, and the probability of a restart before a query."""

    rate: float = schema.real(
        0.001, low=0, high=1, about="probability of a restart before each query"
    )


POLICY = Policy(
    id="random_restart_unaware",
    name="random restart, unaware",
    summary="UCB1 under a query schedule, restarted at random at a fixed rate",
    kernel=scheduled.play,
    options=Options,
    arguments=lambda known, options: (
        UCB1.constants(known.K, known.T, options),
        schedule_kind(options),
        float(options.rate),
    ),
    role=CONTROL,
    look=Look("#47B3C6", "$U$", DOTS, place=21),
)
