"""HyQue with the smallest scale of its change tests that gives few false restarts.

The scale is measured on stationary paths, for each (K, T, B): see `confee.simulation.calibrate`.
"""

from __future__ import annotations

from dataclasses import dataclass

from confee.core import schema
from confee.policies import hyque
from confee.policies.base import PAPER, Policy
from confee.policies.growth import Growth
from confee.policies.look import DOT, Look


@dataclass(frozen=True)
class Options:
    """The options of `hyque` except the scale, which is measured."""

    buffer: str = schema.choice(
        "body", "body", "appendix", about="the body's on-demand buffer, or the appendix's"
    )
    quota: str = schema.choice(
        "horizon",
        "horizon",
        "block",
        about="active rounds that count towards a quota: up to the horizon T, or in all the block",
    )


@dataclass(frozen=True)
class Calibrated(Options):
    """The options with the measured scale."""

    scale: float = schema.real(low=0, default=1.0)


POLICY = Policy(
    id="hyque_calibrated",
    name="HyQue, calibrated",
    summary="HyQue with change tests calibrated on stationary paths",
    kernel=hyque.play,
    options=Options,
    arguments=hyque.arguments,
    calibrated=True,
    role=PAPER,
    look=Look("#332288", "s", DOT, 1.4, place=1),
    growth=Growth(claimed="rate", blocks="slots"),
)
