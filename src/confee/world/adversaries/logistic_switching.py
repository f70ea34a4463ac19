"""Logistic bandits: theta jumps between directions of arms, in equal batches, as V pays for.

Features x_k are uniform directions in R^d, and theta = c x_j for the good arm j, so means are
1 / (1 + exp(-c <x_k, x_j>)). With c = ln((1 + 2 gap) / (1 - 2 gap)) the best mean is 1/2 + gap; an
arm at a right angle to the best has 1/2. A jump from j to j' costs c ||x_j - x_j'||. At the ceiling
of gap, 0.4, ||theta|| is ln 9 = 2.197, within the bound that GLM-UCB knows by default.
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
    """`gap`: the lead of the best mean over 1/2. `d`: the number of features."""

    gap: float = schema.real(0.25, low=1e-12, high=CEILING, about="lead of the best mean over 1/2")
    d: int = schema.whole(4, low=2, high=100, about="length of the feature vectors")


def resolve(options, size):
    return {"gap": below_ceiling("adversary.gap", options.gap, CEILING), "d": options.d}


def draw(resolved, K, T, V, rng):
    """Draw the features, then the good arms."""
    gap, d = resolved["gap"], resolved["d"]
    features = directions(K, d, rng)
    thetas = math.log((1 + 2 * gap) / (1 - 2 * gap)) * features
    visited = thetas[visits(thetas, T, V, rng)]
    return Structured.of(equal_starts(T, len(visited)), visited, features, T, link="logistic")


ADVERSARY = Adversary(
    id="logistic_switching",
    name="logistic switching",
    summary="logistic bandits: the parameter theta jumps at equal intervals",
    options=Options,
    resolve=resolve,
    draw=draw,
    ceiling=CEILING,
    widest=CEILING,
    setting="logistic",
)
