"""An arm rises above a steady leader for a while and falls back, with every proportion free.

`blink` is the case `above` = 1/2, `climb` = 0, `span` = 1. The highest mean is 1/2 + size/2 and the
lowest 1/2 - size/2. One arm leads at a steady mean in between. In an excursion an arm, uniform
among the others, goes from the lowest mean to the highest, `above` size over the leader, and jumps
back. It climbs in a straight line for a share `climb` of the excursion. All other arms are lowest.

An excursion costs 2 size, so V pays for n = floor(V / (2 size)) of them, at most T/6. The last
`span` T rounds are split into n equal periods with an excursion in the middle of each, which takes
a share `duty` of its period. If V pays for one rise only, that arm does not fall back.

The search for paths that hurt a policy most (`confee.simulation.studies.hardest_paths`) varies
these proportions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confee.core import schema
from confee.core.errors import ConfeeError
from confee.world.adversaries.base import Adversary, below_ceiling, room
from confee.world.adversaries.lines import through

CEILING = 1.0


@dataclass(frozen=True)
class Options:
    """See the module."""

    size: float = schema.real(0.5, above=0, high=CEILING, about="height of an excursion")
    above: float = schema.real(
        0.5, above=0, high=1, about="share of the height that lies above the leader"
    )
    duty: float = schema.real(
        0.25, above=0, high=1, about="share of a period that an excursion takes"
    )
    climb: float = schema.real(
        0.0, low=0, high=1, about="share of an excursion in which the arm climbs; 0: it jumps"
    )
    span: float = schema.real(
        1.0, above=0, high=1, about="share of all rounds, at the end, that has excursions"
    )


def resolve(options, size):
    height = below_ceiling("adversary.size", options.size, CEILING)
    if options.duty == 1:
        raise ConfeeError("adversary.duty=1: must be a number in (0, 1)")
    return {
        "size": height,
        "above": options.above,
        "duty": options.duty,
        "climb": options.climb,
        "span": options.span,
    }


def draw(resolved, K, T, V, rng):
    """Draw the leader, then the arm of each excursion."""
    size, above, duty, climb, span = (
        resolved[name] for name in ("size", "above", "duty", "climb", "span")
    )
    moves = int(V / size + 1e-9)
    n = min(max(moves // 2, 1 if moves else 0), max(1, T // 6))
    room(4 * n + 2, K)
    leader = rng.integers(0, K)
    arms = (leader + rng.integers(1, K, size=n)) % K
    low = 0.5 - size / 2
    means = np.full((4 * n + 2, K), low)
    means[:, leader] += (1 - above) * size
    peaks = 1 + 4 * np.arange(n)[:, None] + np.array([1, 2])
    means[peaks, arms[:, None]] = low + size

    middle = (np.arange(n)[:, None] + 0.5) / max(n, 1)
    ends = duty * np.array([-0.5, -0.5 + climb, 0.5, 0.5]) / max(n, 1)
    knots = (1 - span) + span * (middle + ends)
    times = np.concatenate([[0.0], knots.ravel(), [1.0]])
    if moves == 1:  # The arm that rose stays up.
        times, means = times[[0, 1, 2, 5]], means[[0, 1, 2, 2]]
        times[1:3] += times[3] - times[1] - span * duty
    return through(times, means, T)


ADVERSARY = Adversary(
    id="excursions",
    name="excursions",
    summary="an arm rises above the best for a while, with every proportion free",
    options=Options,
    resolve=resolve,
    draw=draw,
    strength="size",
    ceiling=CEILING,
    steady=False,
    place=14,
    others_alike=False,
)
