"""All arms shift together, again and again, and the best arm never changes.

One arm leads, the others lie lower by times * step, at most by 1/2. All means move by `step` from
one of n + 1 equal batches to the next, up as long as they stay in [0, 1], then down, and so on. A
shift costs `step` of variation, which counts the largest change of any arm, so n = floor(V/step),
at most T - 1.

A policy that forgets its data at each shift compares all arms again, for little variation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confee.core import schema
from confee.world.adversaries.base import Adversary, batches, below_ceiling, equal_starts, room
from confee.world.path import Path

CEILING = 0.5


@dataclass(frozen=True)
class Options:
    """See the module."""

    step: float = schema.real(0.1, above=0, high=CEILING, about="by how much all means shift")
    times: float = schema.real(
        1.0, above=0, high=1000, about="gap between the leader and the other arms, in steps"
    )


def resolve(options, size):
    step = below_ceiling("adversary.step", options.step, CEILING)
    return {"step": step, "gap": min(options.times * step, 0.5)}


def draw(resolved, K, T, V, rng):
    """Draw the leader."""
    step, gap = resolved["step"], resolved["gap"]
    n = batches(T, V, step)
    room(n, K)
    steps_up = max(1, int((1 - gap) / step + 1e-9))
    place = np.arange(n) % (2 * steps_up)
    level = step * np.minimum(place, 2 * steps_up - place)
    mean = np.repeat(level[:, None], K, axis=1)
    mean[:, rng.integers(0, K)] += gap
    return Path.steps(equal_starts(T, n), mean, T)


ADVERSARY = Adversary(
    id="shifts",
    name="shifts of all arms",
    summary="all arms shift together, and the best arm never changes",
    options=Options,
    resolve=resolve,
    draw=draw,
    strength="step",
    ceiling=CEILING,
    steady=False,
    others_alike=True,
    place=14,
)
