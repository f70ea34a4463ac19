"""Control for exponents in V: sliding-window UCB that is told V = 1/K, whatever V is.

Its window stays as it is while changes come more often, so its regret grows with V, not V^{1/3}.
"""

from __future__ import annotations

from confee.policies import sw_ucb
from confee.policies.base import Policy

POLICY = Policy(
    id="sw_ucb_misled",
    summary="control: sliding-window UCB that is told V = 1/K, whatever V is",
    kernel=sw_ucb.play,
    arguments=lambda K, T, B, V, options: sw_ucb.arguments(K, T, B, 1 / K, sw_ucb.Options()),
)
