"""The lower bound's instance (appendix, step 1), with its gap times c."""

from __future__ import annotations

import math
from dataclasses import dataclass

from confee import schema, theory
from confee.errors import ConfeeError
from confee.world.adversaries.base import Adversary, below_ceiling, equal_starts, one_good_arm

CEILING = 0.5


@dataclass(frozen=True)
class Options:
    """c: the gap in units of the proof's epsilon = (K V / (1920 B))^{1/3}."""

    c: float = schema.real(1.0, above=0)


def resolve(options, K, T, B, V):
    """Batches of Delta = ceil(gap T / V) rounds, at least two of them."""
    if V == 0:
        raise ConfeeError("V=0: adversary hard needs V > 0")
    gap = below_ceiling("adversary.c * epsilon", options.c * theory.hard_gap(K, B, V), CEILING)
    length = max(1, math.ceil(gap * T / V - 1e-9))
    if length >= T:
        raise ConfeeError(
            f"adversary.c={options.c:g}: a batch of gap T / V = {length} rounds fills T={T}; "
            f"must be under {options.c * V / gap:g}"
        )
    return {"c": options.c, "gap": gap, "length": length}


def draw(resolved, K, T, V, rng):
    """In each batch a good arm at 1/2 + gap, drawn uniformly (so it may stay); the rest at 1/2."""
    m = -(-T // resolved["length"])
    first = equal_starts(m * resolved["length"], m)
    return one_good_arm(first, rng.integers(0, K, size=m), K, T, 0.5, 0.5 + resolved["gap"])


ADVERSARY = Adversary(
    "hard", "the lower bound's instance, gap times c", Options, resolve, draw, None
)
