"""Positive control for exponents: UCB1 under a query schedule, restarted periodically; V is given.

UCB1 forgets everything every Delta = floor((K ln B)^{1/3} (B / V)^{2/3}) queries
(`theory.restart_period`), and never if V = 0. Standard arguments bound its regret by a constant
times T (K V / B)^{1/3} (ln B)^{1/3}, so an estimate of exponents must find the theorem's rate here.

Idle rounds play the arms by their frequency since the last restart. The policy forgets just before
the first query of a period, so the idle rounds that precede this query still play by the old
frequencies. The restarts are recorded as such: floor((Q - 1) / Delta) after Q queries.
"""

from __future__ import annotations

from confee.paper import theory
from confee.policies import ucb1
from confee.policies.base import CONTROL, Policy
from confee.policies.look import LONG, Look
from confee.policies.queries import schedule_kind


def arguments(known, options):
    K, B, V = known.K, known.B, known.V
    return schedule_kind(options), False, float(options.exploration), theory.restart_period(K, B, V)


POLICY = Policy(
    id="ucb1_restarted",
    name="UCB1, restarted",
    summary="control: UCB1 under a query schedule, restarted on a schedule, V known",
    kernel=ucb1.play,
    lanes=ucb1.play_lanes,
    known=("T", "B", "V"),
    options=ucb1.Options,
    arguments=arguments,
    role=CONTROL,
    look=Look("#7684E7", (5, 1, 0), LONG, place=23),
)
