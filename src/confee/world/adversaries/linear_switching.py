"""Linear bandits: theta jumps between directions of arms, in equal batches, as V pays for.

Arms are x_k = (1, u_k) / sqrt 2 with uniform directions u_k in R^{d-1}, and theta = sqrt 2 (1/2,
gap v), where v is the direction of one arm. So means are 1/2 + gap <u_k, v>, the best one is
1/2 + gap, and ||theta|| <= 1. A jump from v to v' costs sqrt 2 gap ||v - v'||. d is at least 3, as
with d = 2 the directions would be copies of two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from confee.core import schema
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
    """`gap`: the lead of the best mean over 1/2. `d`: features, with the constant one."""

    gap: float = schema.real(0.25, low=1e-12, high=CEILING, about="lead of the best mean over 1/2")
    d: int = schema.whole(4, low=3, high=100, about="length of the feature vectors")


def resolve(options, size):
    return {"gap": below_ceiling("adversary.gap", options.gap, CEILING), "d": options.d}


def features_of(towards):
    """Return (1, u) / sqrt 2 for each direction u of `towards`, [K, d - 1]."""
    return np.hstack([np.ones((len(towards), 1)), towards]) / math.sqrt(2)


def theta_of(gap, towards):
    """Return sqrt 2 (1/2, gap v) for each direction v of `towards`, [m, d - 1]."""
    return np.hstack([np.full((len(towards), 1), 0.5), gap * towards]) * math.sqrt(2)


def visits(thetas, T, V, rng):
    """Return good arms of as many batches as V pays for, T at most.

    The first is uniform, each next one uniform among the others. While arm k is good, theta is
    `thetas[k]`, [K, d]; all have one norm.
    """
    K = len(thetas)
    typical = math.sqrt(2) * float(np.linalg.norm(thetas[0]))  # a jump to a right angle
    arms = wandering_arm(batches(T, V, typical), K, rng)
    while len(arms) < T and affordable(thetas[arms], V) == len(arms):
        more = np.cumsum(rng.integers(1, K, size=len(arms)))
        arms = np.append(arms, (arms[-1] + more) % K)[:T]
    return arms[: affordable(thetas[arms], V)]


def draw(resolved, K, T, V, rng):
    """Draw the directions of arms, then the good arms."""
    towards = directions(K, resolved["d"] - 1, rng)
    gap = resolved["gap"]
    good = visits(math.sqrt(2) * gap * towards, T, V, rng)  # the part of theta that moves
    thetas = theta_of(gap, towards[good])
    return Structured.of(equal_starts(T, len(good)), thetas, features_of(towards), T)


ADVERSARY = Adversary(
    id="linear_switching",
    name="linear switching",
    summary="linear bandits: the parameter theta jumps at equal intervals",
    options=Options,
    resolve=resolve,
    draw=draw,
    widest=CEILING,
    steady=False,
    setting="linear",
)
