"""A worst arm rises above the rest, again and again: the arm that was best has not changed.

The levels of `fall`: top = 1/2 + size/2, middle = 1/2, low = 1/2 - size/2. An arm leads from the
middle, the rest are low. Rises start n + 1 equal batches:

- rise (costs `size`): a low arm, uniform among them, jumps to the top. The arm that led stays in
  the middle, unmoved, and is second.
- half a batch later (costs `size`/2): the new leader sinks to the middle, and the old one to low.
  The best arm stays. Without it there would be no room above. After the last rise there is none.

So the best arm leads by size/2 at all times. Costs and number of events are those of `fall`.

A policy that watches only the arm it plays sees nothing of a rise: it must look at the others, or
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
    """size: how high an arm rises, twice its lead."""

    size: float = schema.real(
        0.5, above=0, high=CEILING, about="how high an arm rises, twice its lead"
    )


def resolve(options, size):
    return {"size": below_ceiling("adversary.size", options.size, CEILING)}


def draw(resolved, K, T, V, rng):
    """Arm g_j leads batch j; in the batch's first half g_{j-1} is still in the middle."""
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
    summary="a worst arm rises above the rest",
    options=Options,
    resolve=resolve,
    draw=draw,
    strength="size",
    ceiling=CEILING,
    steady=False,
    place=6,
)
