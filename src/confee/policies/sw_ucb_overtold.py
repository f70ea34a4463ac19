"""Negative control for the exponent in T: sliding-window UCB that is given too large a V.

It is given V (T / (8 B))^3 instead of V (less than V where T < 8 B). At fixed B its window then
shrinks as (T / B)^{-2}, and its regret per round grows in proportion to T until the window reaches
its least length, K queries. So a check that R/T does not grow with T at fixed B must fail here.
"""

from __future__ import annotations

from confee.policies import sw_ucb
from confee.policies.base import CONTROL, Policy
from confee.policies.look import DOT, Look


def arguments(known, options):
    K, T, B, V = known.K, known.T, known.B, known.V
    # The window is clipped to [K, B]: no V larger than B / K would change it.
    too_large = min(V * (T / (8 * B)) ** 3, B / K)
    return sw_ucb.arguments(known._replace(V=too_large), sw_ucb.Options())


POLICY = Policy(
    id="sw_ucb_overtold",
    name="SW-UCB, overtold",
    summary="control: sliding-window UCB that is told V (T / (8 B))^3 instead of V",
    kernel=sw_ucb.play,
    known=("T", "B", "V"),
    arguments=arguments,
    role=CONTROL,
    look=Look("#8A13AC", "$O$", DOT, place=24),
)
