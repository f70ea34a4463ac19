"""A worst arm rises above the rest, again and again, while the arm that was best does not change.

Levels are those of `fall`: top = 1/2 + size/2, middle = 1/2 and low = 1/2 - size/2. One arm leads
from the middle, and the rest are low. Rises start n + 1 equal batches:

- A rise costs `size`: a low arm, uniform among them, jumps to the top. The arm that led stays in
  the middle, unmoved, and is second.
- Half a batch later, at a cost of size/2, the new leader sinks to the middle, and the old one to
  low. The best arm stays. Without this step the next arm could not rise above. It does not follow
  the last rise.

So the best arm always leads by size/2. V pays for as many rises as `fall` has falls.

A policy that watches only the arm it plays sees nothing of a rise. It must query the other arms, or
it follows half a batch later.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confee.core import schema
from confee.world.adversaries.base import Adversary, below_ceiling, wandering_arm
from confee.world.adversaries.fall import events
from confee.world.path import Path

CEILING = 1.0


@dataclass(frozen=True)
class Options:
    """`size`: the height of a rise, twice the lead."""

    size: float = schema.real(
        0.5, above=0, high=CEILING, about="height of a rise, twice the lead of the arm that rose"
    )


def resolve(options, size):
    return {"size": below_ceiling("adversary.size", options.size, CEILING)}


def draw(resolved, K, T, V, rng):
    """Draw arms g_j: g_j leads batch j, in whose first half g_{j-1} is still in the middle."""
    size = resolved["size"]
    n, start = events(T, V, size)
    good = wandering_arm(n + 1, K, rng)
    segment = np.arange(len(start))
    batch, risen = (segment + 1) // 2, segment % 2 == 1
    mean = np.full((len(start), K), 0.5 - size / 2)
    mean[segment, good[batch]] = np.where(risen, 0.5 + size / 2, 0.5)
    passed = segment[risen]
    mean[passed, good[batch[passed] - 1]] = 0.5
    return Path.steps(start, mean, T)


ADVERSARY = Adversary(
    id="rise",
    name="worst arm rises",
    summary="a worst arm rises above all others, again and again",
    options=Options,
    resolve=resolve,
    draw=draw,
    strength="size",
    ceiling=CEILING,
    steady=False,
    place=6,
)
