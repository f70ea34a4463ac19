"""Logistic bandits: theta jumps between directions of arms, in equal batches, as V pays for.

Features x_k are uniform directions in R^d; theta = c x_j for the good arm j, so that means are
1 / (1 + exp(-c <x_k, x_j>)). c = ln((1 + 2 gap) / (1 - 2 gap)), so that the best mean is 1/2 + gap;
an arm at a right angle to it has 1/2. At the ceiling 0.4 the norm of theta is ln 9 = 2.197, within
the bound that GLM-UCB is told by default.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from confee.core import schema
from confee.world.adversaries.base import Adversary, below_ceiling, equal_starts
from confee.world.adversaries.linear_switching import visits
from confee.world.structured import Structured, directions

CEILING = 0.4


@dataclass(frozen=True)
class Options:
    """gap: the best mean's lead over 1/2. d: length of features."""

    gap: float = schema.real(0.25, low=1e-12, high=CEILING, about="the best mean is 1/2 + gap")
    d: int = schema.whole(4, low=2, high=100, about="length of features")


def resolve(options, size):
    return {"gap": below_ceiling("adversary.gap", options.gap, CEILING), "d": options.d}


def draw(resolved, K, T, V, rng):
    gap, d = resolved["gap"], resolved["d"]
    features = directions(K, d, rng)
    thetas = math.log((1 + 2 * gap) / (1 - 2 * gap)) * features
    visited = thetas[visits(thetas, T, V, rng)]
    return Structured.of(equal_starts(T, len(visited)), visited, features, T, link="logistic")


ADVERSARY = Adversary(
    id="logistic_switching",
    name="logistic switching",
    summary="logistic bandits: theta jumps in equal batches",
    options=Options,
    resolve=resolve,
    draw=draw,
    ceiling=CEILING,
    widest=CEILING,
    setting="logistic",
)
