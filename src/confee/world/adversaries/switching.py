"""One good arm that jumps between equal batches, as often as V pays for."""

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
    """gap: the good arm's lead over 1/2. jitter: each change moves within a quarter batch."""

    gap: float = schema.real(0.25, above=0, high=CEILING)
    jitter: bool = schema.flag(False)


def resolve(options, size):
    gap = below_ceiling("adversary.gap", options.gap, CEILING)
    return {"gap": gap, "jitter": int(options.jitter)}


def starts(resolved, m, T, rng):
    """First rounds of the batches, moved by up to an eighth batch either way if `jitter`."""
    first = equal_starts(T, m)
    reach = T // m // 8
    if resolved["jitter"] and reach > 0:
        first[1:] += rng.integers(-reach, reach + 1, size=m - 1)
    return first


def draw(resolved, K, T, V, rng):
    """Batch j is rounds floor(jT/m)+1 .. floor((j+1)T/m); means 1/2 + gap and 1/2."""
    m = batches(T, V, resolved["gap"])
    good = wandering_arm(m, K, rng)
    return one_good_arm(starts(resolved, m, T, rng), good, K, T, 0.5, 0.5 + resolved["gap"])


ADVERSARY = Adversary(
    id="switching",
    name="equal changes",
    summary="one good arm at 1/2 + gap, jumping in equal batches",
    options=Options,
    resolve=resolve,
    draw=draw,
    place=0,
)
