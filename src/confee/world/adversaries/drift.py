"""Triangle waves whose best arm crosses: `switching_centred` without jumps.

Means lie in [1/2 - A/2, 1/2 + A/2], where A = `amplitude`. In a half wave the arm on top falls to
the bottom while another one, uniform among the rest, rises from there to the top. They cross half
way, and all others wait at the bottom. A half wave costs A, so V pays for V/A of them, each of
A T/V rounds, and the period is 2 A T/V. The last half wave ends where V is spent. With K = 2 both
arms are triangle waves in antiphase: the example of Besbes, Gur and Zeevi (2014) with straight
lines for sines, see `sinusoid`.

All of V is spent unless V/A > T - 1, as a half wave takes at least a round.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confee.core import schema
from confee.world.adversaries.base import Adversary, below_ceiling, wandering_arm
from confee.world.adversaries.lines import through, whole_and_rest

CEILING = 1.0


@dataclass(frozen=True)
class Options:
    """`amplitude`: from the lowest mean to the highest, the largest lead of the best arm."""

    amplitude: float = schema.real(
        0.5,
        above=0,
        high=CEILING,
        about="highest minus lowest mean; V fixes the period, 2 amplitude T / V",
    )


def resolve(options, size):
    return {"amplitude": below_ceiling("adversary.amplitude", options.amplitude, CEILING)}


def draw(resolved, K, T, V, rng):
    """Draw arms g_j: g_j is on top in knot j, where a half wave ends or V is spent."""
    amplitude = resolved["amplitude"]
    waves, rest = whole_and_rest(min(V / amplitude, T - 1.0))
    good = wandering_arm(waves + 2, K, rng)
    height = np.zeros((waves + 1, K))
    height[np.arange(waves + 1), good[:-1]] = 1.0
    times = np.arange(waves + 1.0)
    if rest:
        end = height[-1].copy()
        end[good[-2:]] = 1 - rest, rest
        height, times = np.vstack([height, end]), np.append(times, waves + rest)
    return through(times, 0.5 + amplitude * (height - 0.5), T)


ADVERSARY = Adversary(
    id="drift",
    name="drift",
    summary="means move as triangle waves, so that the best arm changes gradually",
    options=Options,
    resolve=resolve,
    draw=draw,
    strength="amplitude",
    ceiling=CEILING,
    steady=False,
    place=8,
)
