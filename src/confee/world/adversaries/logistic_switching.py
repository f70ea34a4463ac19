"""Logistic bandits: theta jumps between directions of arms, in equal batches, as V pays for.

Features x_k are uniform directions in R^d; theta = c x_j for the good arm j, so that means are
1 / (1 + exp(-c <x_k, x_j>)). c = ln((1 + 2 gap) / (1 - 2 gap)), so that the best mean is 1/2 + gap;
an arm at a right angle to it has 1/2. At the ceiling 0.4 the norm of theta is ln 9 = 2.197, within
the bound that GLM-UCB is told by default.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from confee import schema
from confee.world.adversaries.base import (
    Adversary,
    batches,
    below_ceiling,
    equal_starts,
    wandering_arm,
)
from confee.world.structured import Structured, affordable, directions

CEILING = 0.4


@dataclass(frozen=True)
class Options:
    """gap: the best mean's lead over 1/2. d: length of features."""

    gap: float = schema.real(0.25, above=0, high=CEILING)
    d: int = schema.whole(4, low=2, high=100)


def resolve(options, K, T, B, V):
    return {"gap": below_ceiling("adversary.gap", options.gap, CEILING), "d": options.d}


def draw(resolved, K, T, V, rng):
    gap, d = resolved["gap"], resolved["d"]
    features = directions(K, d, rng)
    thetas = math.log((1 + 2 * gap) / (1 - 2 * gap)) * features
    visited = thetas[visits(thetas, T, V, rng)]
    return Structured.of(equal_starts(T, len(visited)), visited, features, T, link="logistic")


def visits(thetas, T, V, rng):
    """Good arms of as many batches as V pays for, T at most: the first uniform, each next one
    uniform among the others."""
    K = len(thetas)
    usual = math.sqrt(2) * float(np.linalg.norm(thetas[0]))  # a jump to a right angle
    arms = wandering_arm(batches(T, V, usual), K, rng)
    while len(arms) < T and affordable(thetas[arms], V) == len(arms):
        more = np.cumsum(rng.integers(1, K, size=len(arms)))
        arms = np.append(arms, (arms[-1] + more) % K)[:T]
    return arms[: affordable(thetas[arms], V)]


ADVERSARY = Adversary(
    "logistic_switching", "logistic bandits: theta jumps in equal batches", Options, resolve, draw,
    ceiling=CEILING, setting="logistic",
)  # fmt: skip
