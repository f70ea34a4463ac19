"""`switching` around 1/2: means are 1/2 + gap/2 and 1/2 - gap/2, so the gap may be as large as 1.

A change still costs gap of variation: one arm falls by it while another rises.
"""

from __future__ import annotations

from dataclasses import dataclass

from confee.core import schema
from confee.world.adversaries import switching
from confee.world.adversaries.base import (
    Adversary,
    batches,
    below_ceiling,
    one_good_arm,
    wandering_arm,
)

CEILING = 1.0


@dataclass(frozen=True)
class Options:
    """`gap`: the lead of the good arm. `jitter`: whether changes move within a quarter batch."""

    gap: float = schema.real(0.25, above=0, high=CEILING)
    jitter: bool = schema.flag(False)


def resolve(options, size):
    gap = below_ceiling("adversary.gap", options.gap, CEILING)
    return {"gap": gap, "jitter": int(options.jitter)}


def draw(resolved, K, T, V, rng):
    """Draw a path as `switching` does."""
    gap = resolved["gap"]
    m = batches(T, V, gap)
    good = wandering_arm(m, K, rng)
    first = switching.starts(resolved, m, T, rng)
    return one_good_arm(first, good, K, T, low=0.5 - gap / 2, high=0.5 + gap / 2)


ADVERSARY = Adversary(
    id="switching_centred",
    name="centred",
    summary="as switching, with means 1/2 + gap/2 and 1/2 - gap/2",
    options=Options,
    resolve=resolve,
    draw=draw,
    ceiling=CEILING,
    place=1,
)
