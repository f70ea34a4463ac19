"""The best arm rises while a policy plays others that reached its level shortly before.

One arm leads at `level`, all others are at 0. At the round `start` T the others jump to `level`,
too. After another share `lag` of all rounds the first arm jumps by `height`, as far as V and 1
allow. The two jumps cost level + height.

After the first jump an index policy plays the others, whose confidence bounds are wide, and not the
arm that it has played for so long. So it does not see that arm rise, although its mean reward is
the largest. This path broke a version of `lookout` that looked only at arms with a smaller mean
than the largest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confee.core import schema
from confee.world.adversaries.base import Adversary, below_ceiling
from confee.world.path import Path

CEILING = 0.9


@dataclass(frozen=True)
class Options:
    """See the module."""

    level: float = schema.real(
        0.1, above=0, high=CEILING, about="mean of the first leader, reached by the others"
    )
    start: float = schema.real(0.36, above=0, high=0.9, about="when the others rise, in units of T")
    lag: float = schema.real(0.08, above=0, high=0.1, about="time until the leader rises, too")
    height: float = schema.real(1.0, above=0, high=1, about="largest rise of the leader")


def resolve(options, size):
    level = below_ceiling("adversary.level", options.level, CEILING)
    return {
        "level": level,
        "start": options.start,
        "lag": options.lag,
        "height": min(options.height, 1 - level),
    }


def draw(resolved, K, T, V, rng):
    """Draw the leader. Jumps that V does not pay for, or T has no rounds for, are left out."""
    level, start, lag = resolved["level"], resolved["start"], resolved["lag"]
    height = min(resolved["height"], V - level)
    first = 1 + int(start * T)
    starts = [1, first, first + max(1, int(lag * T))]
    leader = rng.integers(0, K)
    mean = np.zeros((3, K))
    mean[1:] = level
    mean[:, leader] = level
    mean[2, leader] += max(height, 0.0)
    jumps = 1 + (level <= V and 1 < first <= T)
    jumps += jumps == 2 and height > 0 and starts[2] <= T
    return Path.steps(np.array(starts[:jumps]), mean[:jumps], T)


ADVERSARY = Adversary(
    id="hidden_rise",
    name="hidden rise",
    summary="the best arm rises while others that reached its level are played",
    options=Options,
    resolve=resolve,
    draw=draw,
    strength="level",
    ceiling=CEILING,
    steady=False,
    others_alike=True,
    place=14,
)
