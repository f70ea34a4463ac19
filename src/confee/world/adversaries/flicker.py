"""All arms dip together and recover, near the bound 1, and the best arm never changes.

One arm leads at 1. The others lie lower by times * dip, at most by 1 - dip. For the last half of
each of n equal periods all means are lower by `dip`; with `together=false` only the leader's. A
period costs 2 dip of variation, the last one dip, so n = floor((V / dip + 1) / 2), at most T/4.

Near 1 the variance of rewards is small, and tests for rewards in {0, 1} see even a small dip soon.
A policy that forgets its data at each alarm has to compare all arms again, although nothing has
changed that matters. A policy that uses a window, or a test for variance 1/4, is not hurt.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confee.core import schema
from confee.world.adversaries.base import Adversary, below_ceiling, equal_starts, room
from confee.world.path import Path

CEILING = 0.5


@dataclass(frozen=True)
class Options:
    """See the module."""

    dip: float = schema.real(0.05, above=0, high=CEILING, about="by how much means fall")
    times: float = schema.real(
        4.0, above=1, high=1000, about="gap between the leader and the other arms, in dips"
    )
    together: bool = schema.flag(True, about="whether all arms dip, or the leader alone")


def resolve(options, size):
    dip = below_ceiling("adversary.dip", options.dip, CEILING)
    gap = min(options.times * dip, 1 - dip)
    return {"dip": dip, "gap": gap, "together": int(options.together)}


def draw(resolved, K, T, V, rng):
    """Draw the leader."""
    dip = resolved["dip"]
    halves = max(1, 2 * int(min((V / dip + 1 + 1e-9) // 2, T // 4)))
    room(halves, K)
    mean = np.full((halves, K), 1.0 - resolved["gap"])
    leader = rng.integers(0, K)
    mean[:, leader] = 1.0
    mean[1::2, slice(None) if resolved["together"] else leader] -= dip
    return Path.steps(equal_starts(T, halves), mean, T)


ADVERSARY = Adversary(
    id="flicker",
    name="flicker",
    summary="all arms dip together near the bound 1, and the best arm never changes",
    options=Options,
    resolve=resolve,
    draw=draw,
    strength="dip",
    ceiling=CEILING,
    steady=False,
    others_alike=True,
    place=14,
)
