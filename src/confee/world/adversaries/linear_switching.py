"""Linear bandits: theta jumps between directions of arms, in equal batches, as V pays for.

Arms x_k = (1, u_k) / sqrt 2, the u_k uniform directions in R^{d-1}; theta = sqrt 2 (1/2, gap v), v
the direction of one arm. So means are 1/2 + gap <u_k, v>, the best one 1/2 + gap.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import pdist

from confee import schema
from confee.world.adversaries.base import (
    Adversary,
    batches,
    below_ceiling,
    equal_starts,
    wandering_arm,
)
from confee.world.structured import Structured, affordable, directions

CEILING = 0.5


@dataclass(frozen=True)
class Options:
    """gap: the best mean's lead over 1/2. d: length of features, a constant one included."""

    gap: float = schema.real(0.25, above=0, high=CEILING)
    d: int = schema.whole(4, low=2, high=100)


def resolve(options, K, T, B, V):
    return {"gap": below_ceiling("adversary.gap", options.gap, CEILING), "d": options.d}


def draw(resolved, K, T, V, rng):
    gap, d = resolved["gap"], resolved["d"]
    towards = directions(K, d - 1, rng)
    features = np.hstack([np.ones((K, 1)), towards]) / np.sqrt(2)
    thetas = np.hstack([np.full((K, 1), 0.5), gap * towards]) * np.sqrt(2)
    nearest = pdist(thetas).min()
    visited = thetas[wandering_arm(batches(T, V, nearest), K, rng)]
    m = affordable(visited, V)
    return Structured.of(equal_starts(T, m), visited[:m], features, T)


ADVERSARY = Adversary(
    "linear_switching", "linear bandits: theta jumps in equal batches", Options, resolve, draw,
    widest=CEILING, setting="linear",
)  # fmt: skip
