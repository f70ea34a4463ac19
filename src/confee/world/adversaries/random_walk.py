"""Means that walk at random in [0, 1] (Slivkins, Upfal 2008, the discrete walk).

Each arm starts uniform in [0, 1] and moves by +`step` or -`step`, a fair coin each; a step that
would leave [0, 1] goes the other way (reflection). In between means are linear, steps take equal
times. As every arm moves by `step`, a step costs exactly that, and V pays for V/step of them, the
last one cut where V is spent. Over the horizon an arm thus wanders by about sqrt(V step).

The walk has at most `knots` steps, however large V and T are: `step` grows to V/knots if need be,
and to V/(T - 1), as a step takes a round at least; no step is over 1/2, so that one way is always
free. All of V is spent, unless V > (T - 1)/2; if V > knots/2 there are 2 V steps of 1/2.
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
    """step: by how much each mean moves at a time, at least. knots: at most so many steps."""

    step: float = schema.real(
        0.05,
        above=0,
        high=LARGEST,
        about="by how much each mean moves at a time; a step costs as much of V",
    )
    knots: int = schema.whole(
        1000,
        low=1,
        high=10**6,
        about="at most so many steps: larger ones where V would pay for more",
    )


def resolve(options, size):
    T, V = size.T, size.V
    step = max(options.step, V / min(options.knots, max(T - 1, 1)))
    return {"step": min(step, LARGEST)}


def draw(resolved, K, T, V, rng):
    """A knot a step; the last step may be a part of one."""
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
    summary="means that walk at random (Slivkins, Upfal 2008)",
    options=Options,
    resolve=resolve,
    draw=draw,
    strength=None,
    steady=False,
    place=10,
)
