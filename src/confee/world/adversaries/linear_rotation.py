"""Linear bandits: theta turns steadily in a plane, `linear_switching` without jumps.

Arms and theta are as there: means are 1/2 + gap <u_k, v> for a direction v in R^{d-1}. Here v turns
in the plane of the first two coordinates, as in the slow change of Russac, Vernade and Cappe
(2019). As the u_k are uniform, any plane and any start would do.

The arc is a chain of m equal chords, each of an angle alpha, which v moves along in equal times:

    m = ceil(knots W),    W = V / (2 pi sqrt 2 gap) turns that V pays for on the circle itself,
    alpha = 2 arcsin(V / (2 sqrt 2 gap m)),    since a chord costs 2 sqrt 2 gap sin(alpha / 2).

There are at most T - 1 chords, one a round. So all of V is spent unless T is too short for it. On a
chord, ||v|| is at least cos(alpha / 2), which is .995 with 32 knots.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from confee.core import schema
from confee.world.adversaries import lines
from confee.world.adversaries.base import Adversary, below_ceiling, room
from confee.world.adversaries.linear_switching import CEILING, features_of, theta_of
from confee.world.structured import Structured, directions


@dataclass(frozen=True)
class Options:
    """`gap`: the largest possible lead over 1/2. `d`: features, with the constant one. `knots`: of
    each turn."""

    gap: float = schema.real(
        0.25, low=1e-12, high=CEILING, about="largest lead of the best mean over 1/2"
    )
    d: int = schema.whole(4, low=3, high=100, about="length of the feature vectors")
    knots: int = schema.whole(
        32, low=4, high=10_000, about="points of each turn, joined by straight lines"
    )


def resolve(options, size):
    gap = below_ceiling("adversary.gap", options.gap, CEILING)
    return {"gap": gap, "d": options.d, "knots": options.knots}


def angles(resolved, T, V):
    """Return the angles of the knots, from 0 at equal distances."""
    radius = math.sqrt(2) * resolved["gap"]
    turns = V / (2 * math.pi * radius)
    chords = int(min(T - 1, max(1, math.ceil(resolved["knots"] * turns))))
    room(chords, 2)
    return np.arange(chords + 1) * 2 * math.asin(min(1.0, V / (2 * radius * chords)))


def draw(resolved, K, T, V, rng):
    """Draw the directions of arms; theta is not random."""
    towards = directions(K, resolved["d"] - 1, rng)
    features = features_of(towards)
    angle = angles(resolved, T, V)
    room(len(angle), K)
    circle = np.zeros((len(angle), resolved["d"] - 1))
    circle[:, 0], circle[:, 1] = np.cos(angle), np.sin(angle)
    thetas = theta_of(resolved["gap"], circle)
    rounds = lines.on_rounds(np.linspace(0, 1, len(angle)), T)
    start = lines.split(rounds, thetas @ features.T).start
    first, last = (between(rounds, thetas, at) for at in (start[:-1], start[1:] - 1))
    return Structured.of(start[:-1], first, features, T, end=last)


def between(rounds, thetas, at):
    """Return theta in rounds `at`, linear between the knots in `rounds`."""
    return np.column_stack([np.interp(at, rounds, column) for column in thetas.T])


ADVERSARY = Adversary(
    id="linear_rotation",
    name="linear rotation",
    summary="linear bandits: the parameter theta turns steadily in a plane",
    options=Options,
    resolve=resolve,
    draw=draw,
    widest=CEILING,
    steady=False,
    setting="linear",
)
