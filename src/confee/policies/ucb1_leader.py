"""`ucb1` whose idle rounds play the arm of the largest index, instead of playing by frequency.

The paper plays idle rounds by frequency, so an idle round costs what a query in the window cost on
average. The leading arm is the one that a query would play. The difference in regret shows the
value of this choice under any query schedule.
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
