"""Control: HyQue that pays for on-demand queries and discards their feedback.

A converted query plays the index and is counted; it updates no instance, frequency or test.
"""

from __future__ import annotations

from functools import partial

from confee.policies import hyque
from confee.policies.base import CONTROL, Policy
from confee.policies.growth import Growth

POLICY = Policy(
    id="hyque_discarding",
    name="HyQue, discarding",
    summary="control: HyQue that discards the feedback of its on-demand queries",
    kernel=hyque.play,
    options=hyque.Options,
    arguments=partial(hyque.arguments, discards=True),
    role=CONTROL,
    growth=Growth(blocks="slots"),
)
