"""`sw_ucb` whose idle rounds play the arm of the largest index, instead of playing by frequency.

The paper plays idle rounds by frequency, so an idle round costs what a query in the window cost on
average. The leading arm is the one that a query would play. The difference in regret shows the
value of this choice under any query schedule.
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
