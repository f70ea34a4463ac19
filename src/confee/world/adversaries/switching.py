"""One good arm that jumps between equal batches, as often as V pays for.

Batch j = 0..m-1 is the rounds floor(jT/m) + 1 .. floor((j+1)T/m). Its good arm has mean 1/2 + gap,
the others 1/2. The first good arm is uniform, each next one uniform among the others. A change
costs gap of variation, as one arm rises by gap while another falls by it, so m is
min(T, 1 + floor(V/gap)). With `jitter` each change moves by up to an eighth of a batch either way.
"""

from __future__ import annotations

from dataclasses import dataclass

from confee.core import schema
from confee.world.adversaries.base import (
    Adversary,
    batches,
    below_ceiling,
    equal_starts,
    one_good_arm,
    wandering_arm,
)

CEILING = 0.5


@dataclass(frozen=True)
class Options:
    """`gap`: the lead of the good arm. `jitter`: whether changes move within a quarter batch."""

    gap: float = schema.real(0.25, above=0, high=CEILING)
    jitter: bool = schema.flag(False)


def resolve(options, size):
    gap = below_ceiling("adversary.gap", options.gap, CEILING)
    return {"gap": gap, "jitter": int(options.jitter)}


def starts(resolved, m, T, rng):
    """Return the first rounds of the batches, [m]."""
    first = equal_starts(T, m)
    reach = T // m // 8
    if resolved["jitter"] and reach > 0:
        first[1:] += rng.integers(-reach, reach + 1, size=m - 1)
    return first


def draw(resolved, K, T, V, rng):
    """Draw good arms, then the jitter."""
    m = batches(T, V, resolved["gap"])
    good = wandering_arm(m, K, rng)
    first = starts(resolved, m, T, rng)
    return one_good_arm(first, good, K, T, low=0.5, high=0.5 + resolved["gap"])


ADVERSARY = Adversary(
    id="switching",
    name="equal changes",
    summary="one arm is good, at 1/2 + gap; another becomes good at equal intervals",
    options=Options,
    resolve=resolve,
    draw=draw,
    place=0,
)
