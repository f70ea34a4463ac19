"""Control for exponents in V: sliding-window UCB that is given V = 1/K, whatever V is.

Its window does not shrink when changes become more frequent, so its regret grows with V instead of
V^{1/3}.
"""

from __future__ import annotations

from confee.policies import sw_ucb
from confee.policies.base import CONTROL, Policy

POLICY = Policy(
    id="sw_ucb_misled",
    name="SW-UCB, misled",
    summary="control: sliding-window UCB that is told V = 1/K, whatever V is",
    kernel=sw_ucb.play,
    arguments=lambda known, options: sw_ucb.arguments(
        known._replace(V=1 / known.K), sw_ucb.Options()
    ),
    role=CONTROL,
)
