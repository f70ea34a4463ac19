"""The instance of the lower bound (appendix, step 1), with its gap multiplied by c.

Batches have Delta = ceil(gap T / V) rounds, with one good arm at 1/2 + gap and the rest at 1/2,
where gap = c epsilon and epsilon = (K V / (1920 B))^{1/3}. As in the proof, the good arm of each
batch is drawn uniformly, so it may stay. V pays for a change in every batch.

With `adaptive`, only the first good arm is drawn. Each later one is the arm played least in the
batch before, which is settled during the run (see `confee.world.game.adapt`; idle rounds count by
their weights). This is the adversary of a minimax argument, not a path of the worst case that other
families estimate.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

from confee.core import schema
from confee.core.errors import ConfeeError
from confee.paper import theory
from confee.world.adversaries.base import (
    Adversary,
    below_ceiling,
    equal_starts,
    one_good_arm,
    room,
    wandering_arm,
)

CEILING = 0.5


@dataclass(frozen=True)
class Options:
    """`c`: the gap in units of epsilon. `adaptive`: good arms are those played least, not drawn."""

    c: float = schema.real(1.0, above=0, about="the gap in units of the lower bound's epsilon")
    adaptive: bool = schema.flag(
        False, about="whether a batch's good arm is the one played least before; else it is drawn"
    )


def resolve(options, size):
    """Fix the length of batches; raise ConfeeError if there would be only one."""
    K, T, B, V = size
    if V == 0:
        raise ConfeeError("V=0: must be over 0 for the adversary hard")
    gap = below_ceiling("adversary.c * epsilon", options.c * theory.hard_gap(K, B, V), CEILING)
    length = max(1, math.ceil(gap * T / V - 1e-9))
    if length >= T:
        raise ConfeeError(
            f"adversary.c={options.c:g}: a batch of gap T / V = {length:.6g} rounds fills T={T}; "
            f"must be under {options.c * V / gap:g}"
        )
    resolved = {"c": options.c, "gap": gap, "length": length}
    # `adaptive` is a key only if it is on, so that other instances keep their random numbers.
    return resolved | ({"adaptive": 1} if options.adaptive else {})


def draw(resolved, K, T, V, rng):
    """Draw a good arm for each batch.

    On an adaptive path all but the first are replaced during the run. They differ from batch to
    batch, so a policy that knows S knows the number of batches.
    """
    m = -(-T // resolved["length"])
    room(m, K)
    first = equal_starts(m * resolved["length"], m)
    adaptive = "adaptive" in resolved
    good = wandering_arm(m, K, rng) if adaptive else rng.integers(0, K, size=m)
    path = one_good_arm(first, good, K, T, low=0.5, high=0.5 + resolved["gap"])
    return dataclasses.replace(path, adaptive=adaptive)


ADVERSARY = Adversary(
    id="hard",
    name="hard",
    summary="the instance of the lower bound's proof, with its gap multiplied by c",
    options=Options,
    resolve=resolve,
    draw=draw,
    strength=None,
    place=12,
    variants={"hard(adaptive)": "hard, adaptive"},
)
