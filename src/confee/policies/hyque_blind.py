"""Control: HyQue's schedule with arms that pay no heed: every queried arm is drawn uniformly.

Rewards still enter the change tests; idle rounds play by frequency, as always.
"""

from __future__ import annotations

from functools import partial

from confee.policies import hyque
from confee.policies.base import Policy

POLICY = Policy(
    id="hyque_blind",
    summary="control: HyQue's schedule, queried arms uniform",
    kernel=hyque.play,
    options=hyque.Options,
    arguments=partial(hyque.arguments, feedback=hyque.BLIND),
)
