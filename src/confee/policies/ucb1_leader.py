"""`ucb1` whose idle rounds play the arm of the largest index, where it plays by frequency.

Frequency is what the paper does in idle rounds: a round then costs what exploring in the window
cost on average. The leading arm is what a query would play. The difference of the two is what that
choice is worth, whoever decides when to look.
"""

from __future__ import annotations

import functools

from confee.policies import ucb1
from confee.policies.base import Policy
from confee.policies.look import DOT, Look

POLICY = Policy(
    id="ucb1_leader",
    name="UCB1, leader",
    summary="UCB1 whose idle rounds play the leading arm",
    kernel=ucb1.play,
    options=ucb1.Options,
    arguments=functools.partial(ucb1.arguments, by_index=True),
    look=Look("#BF31FE", "$u$", DOT, place=19),
)
