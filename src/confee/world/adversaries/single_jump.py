"""One change: the good arm, at 1/2 + size against 1/2, moves once, which costs `size` of variation.

It moves in round T/4 + 1 or T/2 + 1, or as HyQue's last block begins.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confee.core import schema
from confee.core.errors import ConfeeError
from confee.paper import theory
from confee.world.adversaries.base import Adversary, below_ceiling, one_good_arm, wandering_arm

CEILING = 0.5


@dataclass(frozen=True)
class Options:
    """`size`: the lead of the good arm, and the variation spent. `time`: when it moves."""

    size: float = schema.real(0.25, above=0, high=CEILING)
    time: str = schema.choice(
        "half",
        "quarter",
        "half",
        "last_block",
        about="when the change comes: at T/4, T/2, or at the start of HyQue's last block",
    )


def resolve(options, size):
    T, B, V = size.T, size.B, size.V
    jump = below_ceiling("adversary.size", options.size, CEILING)
    if jump > V * (1 + 1e-9):
        raise ConfeeError(f"adversary.size={jump:g}: must be at most V={V:g}")
    at = {"quarter": T // 4 + 1, "half": T // 2 + 1, "last_block": theory.last_block(T, B)[1]}
    return {"size": jump, "time": options.time, "at": max(2, at[options.time])}


def draw(resolved, K, T, V, rng):
    """Draw a good arm, and another one from round `at` on."""
    good = wandering_arm(2, K, rng)
    first = np.array([1, resolved["at"]])
    return one_good_arm(first, good, K, T, low=0.5, high=0.5 + resolved["size"])


ADVERSARY = Adversary(
    id="single_jump",
    name="single jump",
    summary="the good arm moves once: at T/4, T/2, or the start of HyQue's last block",
    options=Options,
    resolve=resolve,
    draw=draw,
    strength="size",
    place=4,
    others_alike=False,
)
