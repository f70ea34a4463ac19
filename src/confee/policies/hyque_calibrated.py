"""HyQue with an honest scale on its change tests: the least that gives few false restarts.

The scale is measured on stationary paths, for each (K, T, B): see `confee.simulation.calibrate`.
"""

from __future__ import annotations

from dataclasses import dataclass

from confee.core import schema
from confee.policies import hyque
from confee.policies.base import Policy


@dataclass(frozen=True)
class Options:
    """buffer and quota as for `hyque`. The scale is found, not set."""

    buffer: str = schema.choice("body", "body", "appendix")
    quota: str = schema.choice("horizon", "horizon", "block")


@dataclass(frozen=True)
class Calibrated(Options):
    """The options with the scale that was found."""

    scale: float = schema.real(low=0, default=1.0)


POLICY = Policy(
    id="hyque_calibrated",
    summary="HyQue, the scale of its change tests set on stationary paths",
    kernel=hyque.play,
    options=Options,
    arguments=hyque.arguments,
    calibrated=True,
)
