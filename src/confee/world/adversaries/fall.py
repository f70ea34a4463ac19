"""The best arm falls below the rest, again and again, while the second best arm does not change.

There are three levels: top = 1/2 + size/2, middle = 1/2 and low = 1/2 - size/2. One arm leads from
the top, its heir waits in the middle, and the rest are low. Falls start n + 1 equal batches:

- A fall costs `size`: the leader drops from top to low. Its heir, unmoved, is the best arm.
- Half a batch later, at a cost of size/2, the new leader rises to the top, and a new heir, uniform
  among all others, from low to the middle. The best arm stays. Without this step the levels would
  sink by size/2 with each fall and leave [0, 1]. It does not follow the last fall.

So the best arm always leads by size/2. As n falls cost n size + (n - 1) size/2, V pays for
n = floor((2 V/size + 1)/3) of them, at most T/2 - 1.

A policy that watches the arm it plays sees each fall at once. `rise` is the converse.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confee.core import schema
from confee.world.adversaries.base import (
    Adversary,
    below_ceiling,
    equal_starts,
    room,
    wandering_arm,
)
from confee.world.path import Path

CEILING = 1.0


@dataclass(frozen=True)
class Options:
    """`size`: the depth of a fall, twice the lead."""

    size: float = schema.real(
        0.5, above=0, high=CEILING, about="depth of a fall, twice the lead of the arm that falls"
    )


def resolve(options, size):
    return {"size": below_ceiling("adversary.size", options.size, CEILING)}


def events(T: int, V: float, size: float) -> tuple[int, np.ndarray]:
    """Return n, the number of falls or rises, and the first rounds of segments.

    Segment 0 is the first batch; 2 j - 1 starts with event j, and 2 j half a batch later.
    """
    n = int(max(0, min(T // 2 - 1, (2 * V / size + 1 + 1e-9) // 3)))
    room(2 * n + 2, 2)
    halves = equal_starts(T, 2 * n + 2)
    return n, np.append(1, halves[2 : 2 * n + 1])


def draw(resolved, K, T, V, rng):
    """Draw arms g_j: g_j leads batch j, and g_{j+1} is its heir."""
    size = resolved["size"]
    n, start = events(T, V, size)
    good = wandering_arm(n + 2, K, rng)
    segment = np.arange(len(start))
    batch, fallen = (segment + 1) // 2, segment % 2 == 1
    mean = np.full((len(start), K), 0.5 - size / 2)
    mean[segment, good[batch]] = np.where(fallen, 0.5, 0.5 + size / 2)
    waiting = segment[~fallen]
    mean[waiting, good[batch[waiting] + 1]] = 0.5
    return Path.steps(start, mean, T)


ADVERSARY = Adversary(
    id="fall",
    name="best arm falls",
    summary="the best arm falls below all others, again and again",
    options=Options,
    resolve=resolve,
    draw=draw,
    strength="size",
    ceiling=CEILING,
    steady=False,
    place=5,
)
