"""Negative control for the exponent in T: sliding-window UCB that is told too large a V.

It is told V (T / (8 B))^3 instead of V (less than V where T < 8 B). At fixed B its window then
shrinks as (T / B)^{-2}, and its regret per round grows in proportion to T until the window reaches
its least length, K queries. So a check that R/T does not grow with T at fixed B must fail here.
"""

from __future__ import annotations

from confee.policies import sw_ucb
from confee.policies.base import Policy


def arguments(K, T, B, V, options):
    # The window is clipped to [K, B], and as long as it is K no larger V would change it.
    return sw_ucb.arguments(K, T, B, min(V * (T / (8 * B)) ** 3, B / K), sw_ucb.Options())


POLICY = Policy(
    id="sw_ucb_overtold",
    summary="control: sliding-window UCB that is told V (T / (8 B))^3",
    kernel=sw_ucb.play,
    told=("T", "B", "V"),
    arguments=arguments,
)
