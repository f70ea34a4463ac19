"""Means that walk at random in [0, 1] (the discrete walk of Slivkins and Upfal 2008).

Each arm starts uniformly in [0, 1] and moves by +`step` or -`step` with equal chances; a step that
would leave [0, 1] goes the other way. Steps take equal times, and means are linear in between. As
every arm moves by `step`, a step costs exactly that, so V pays for V/step of them, and the last one
ends where V is spent. Over the horizon an arm thus wanders by about sqrt(V step).

The walk has at most `knots` steps, however large V and T are, and at most one a round: `step` grows
to V/knots or V/(T - 1) if need be, up to 1/2, so that one direction is always free. All of V is
spent unless V > (T - 1)/2. If V > knots/2 there are 2 V steps of 1/2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confee.core import schema
from confee.world.adversaries.base import Adversary, room
from confee.world.adversaries.lines import through, whole_and_rest

LARGEST = 0.5


@dataclass(frozen=True)
class Options:
    """`step`: the least move of a mean in a step. `knots`: the most steps."""

    step: float = schema.real(
        0.05, above=0, high=LARGEST, about="size of a step of each mean, and its cost in V"
    )
    knots: int = schema.whole(
        1000,
        low=1,
        high=10**6,
        about="largest number of steps; where V pays for more, they are larger",
    )


def resolve(options, size):
    T, V = size.T, size.V
    step = max(options.step, V / min(options.knots, max(T - 1, 1)))
    return {"step": min(step, LARGEST)}


def draw(resolved, K, T, V, rng):
    """Draw the first means and the direction of every step."""
    step = resolved["step"]
    steps, rest = whole_and_rest(min(V / step, T - 1.0))
    room(steps, K)
    sizes = np.append(np.full(steps, step), [rest * step] if rest else [])
    means = np.empty((len(sizes) + 1, K))
    means[0] = rng.random(K)
    moves = rng.choice([-1.0, 1.0], size=(len(sizes), K))
    for i, size in enumerate(sizes):
        moved = means[i] + moves[i] * size
        outside = (moved < 0) | (moved > 1)
        means[i + 1] = np.where(outside, means[i] - moves[i] * size, moved)
    times = np.append(np.arange(steps + 1.0), [steps + rest] if rest else [])
    return through(times, means, T)


ADVERSARY = Adversary(
    id="random_walk",
    name="random walk",
    summary="means move as random walks (Slivkins, Upfal 2008)",
    options=Options,
    resolve=resolve,
    draw=draw,
    strength=None,
    steady=False,
    place=10,
)
