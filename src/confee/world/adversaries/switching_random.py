"""`switching` at random times: as many changes as V pays for, anywhere in 2..T.

The m - 1 = min(T, 1 + floor(V/gap)) - 1 changes are distinct rounds drawn uniformly from 2..T, so
lengths of pieces are very unequal. This is the abruptly changing environment of Garivier and
Moulines (2011), with a uniform prior on its breakpoints. A change costs gap.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confee.core import schema
from confee.world.adversaries.base import (
    Adversary,
    batches,
    below_ceiling,
    one_good_arm,
    room,
    wandering_arm,
)

CEILING = 0.5


@dataclass(frozen=True)
class Options:
    """`gap`: the lead of the good arm over 1/2."""

    gap: float = schema.real(0.25, above=0, high=CEILING)


def resolve(options, size):
    return {"gap": below_ceiling("adversary.gap", options.gap, CEILING)}


def draw(resolved, K, T, V, rng):
    """Draw the times of changes, then the good arms, at 1/2 + gap against 1/2."""
    gap = resolved["gap"]
    m = batches(T, V, gap)
    room(m, K)
    changes = 2 + np.sort(rng.choice(T - 1, size=m - 1, replace=False))
    good = wandering_arm(m, K, rng)
    return one_good_arm(np.append(1, changes), good, K, T, low=0.5, high=0.5 + gap)


ADVERSARY = Adversary(
    id="switching_random",
    name="at random times",
    summary="as switching, but the good arm changes at random times",
    options=Options,
    resolve=resolve,
    draw=draw,
    ceiling=CEILING,
    place=2,
)
