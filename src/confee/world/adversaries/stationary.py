"""A path without changes, for false restarts and for the stationary row of Table 1.

One arm, drawn uniformly, has mean level + gap, the others have `level`. Nothing of V is spent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confee.core import schema
from confee.core.errors import ConfeeError
from confee.world.adversaries.base import Adversary, one_good_arm


@dataclass(frozen=True)
class Options:
    """`gap` between the good arm and the rest, which have mean `level`."""

    gap: float = schema.real(0.25, low=0, high=1)
    level: float = schema.real(0.5, low=0, high=1)


def resolve(options, size):
    if options.level + options.gap > 1:
        raise ConfeeError(f"adversary.gap={options.gap:g}: must be at most 1 - level")
    return {"gap": options.gap, "level": options.level}


def draw(resolved, K, T, V, rng):
    """Draw the good arm uniformly."""
    level = resolved["level"]
    good = rng.integers(0, K, size=1)
    return one_good_arm(np.ones(1), good, K, T, low=level, high=level + resolved["gap"])


ADVERSARY = Adversary(
    id="stationary",
    name="stationary",
    summary="no mean ever changes",
    options=Options,
    resolve=resolve,
    draw=draw,
    strength="gap",
    ceiling=1.0,
    place=13,
)
