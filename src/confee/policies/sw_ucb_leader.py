"""`sw_ucb` whose idle rounds play the arm of the largest index, where it plays by frequency.

Frequency is what the paper does in idle rounds: a round then costs what exploring in the window
cost on average. The leading arm is what a query would play. The difference of the two is what that
choice is worth, whoever decides when to look.
"""

from __future__ import annotations

import functools

from confee.policies import sw_ucb
from confee.policies.base import Policy
from confee.policies.look import DOT, Look

POLICY = Policy(
    id="sw_ucb_leader",
    name="SW-UCB, leader",
    summary="sliding-window UCB whose idle rounds play the leading arm",
    kernel=sw_ucb.play,
    known=("T", "B", "V"),
    options=sw_ucb.Options,
    arguments=functools.partial(sw_ucb.arguments, by_index=True),
    look=Look("#35A756", "$L$", DOT, place=20),
)
