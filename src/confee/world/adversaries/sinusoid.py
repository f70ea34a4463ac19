"""The two arms of Besbes, Gur and Zeevi (2014): sines in antiphase that spend V over the horizon.

    mu^1 = 1/2 + a sin(pi V x / (2 a)),   mu^2 = 1/2 - a sin(pi V x / (2 a)),   x from 0 to 1

with a = `amplitude`/2. Both of their amplitudes are cases of this formula: a = 1/2 gives
sin(pi V t/T), and a = 3/10 gives sin(5 pi V t/(3T)). A quarter wave costs a, so V pays for V/a of
them. The last one ends where V is spent: the rest of V fixes the sine there, not the angle. x is
(t - 1)/(T - 1), so that rounds 1 and T are the ends. The two arms are drawn. The other K - 2 stay
at 1/2, where they tie with the best arm only as the sines cross.

Means are linear between knots, of which a quarter wave has `knots` (fewer if it has few rounds).
Extremes are knots, so the variation is that of the sine, V. The error of a mean is at most

    a (pi / knots)^2 / 32  +  3/2 a Theta / (T - 1),

where Theta is the phase of round T. The first term is the chord of a sine over an angle of
pi/(2 knots); the second is because knots move to whole rounds, by half a round, and by one more
where several fall in a round. All of V is spent unless V/a > T - 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from confee.core import schema
from confee.world.adversaries.base import Adversary, below_ceiling, room
from confee.world.adversaries.lines import through, whole_and_rest

CEILING = 1.0


@dataclass(frozen=True)
class Options:
    """`amplitude`: from the lowest mean to the highest, 2 a, the largest lead of the best arm.
    `knots`: of each quarter wave."""

    amplitude: float = schema.real(
        1.0,
        above=0,
        high=CEILING,
        about="highest minus lowest mean; V fixes the number of cycles, V / (2 amplitude)",
    )
    knots: int = schema.whole(
        8, low=1, high=1000, about="points of each quarter wave, joined by straight lines"
    )


def resolve(options, size):
    amplitude = below_ceiling("adversary.amplitude", options.amplitude, CEILING)
    return {"amplitude": amplitude, "knots": options.knots}


def phases(resolved, T, V):
    """Return phases of the knots in quarter waves, from 0, and sin(pi/2 phase) there."""
    waves, rest = whole_and_rest(min(2 * V / resolved["amplitude"], T - 1.0))
    knots = max(1, min(resolved["knots"], (T - 1) // (waves + 1)))
    room(waves * knots, 2)
    phase = np.arange(waves * knots + 1) / knots
    if rest:
        # Even quarter waves start at a zero of the sine, odd ones at an extreme.
        end = math.acos(1 - rest) if waves % 2 else math.asin(rest)
        end /= math.pi / 2
        inner = np.arange(1, knots) / knots
        phase = np.concatenate([phase, waves + inner[inner < end], [waves + end]])
    # Sines are computed per quarter wave, so that zeros and extremes are exact.
    quarter = np.minimum(phase.astype(np.int64), waves)
    angle = np.pi / 2 * (phase - quarter)
    inside = np.where(quarter % 2 == 0, np.sin(angle), np.cos(angle))
    return phase, np.where(quarter % 4 < 2, inside, -inside)


def draw(resolved, K, T, V, rng):
    """Draw the two arms uniformly; the first one rises."""
    phase, sine = phases(resolved, T, V)
    room(len(phase), K)
    up, down = rng.permutation(K)[:2]
    means = np.full((len(phase), K), 0.5)
    means[:, up] += resolved["amplitude"] / 2 * sine
    means[:, down] -= resolved["amplitude"] / 2 * sine
    return through(phase, means, T)


ADVERSARY = Adversary(
    id="sinusoid",
    name="sinusoid",
    summary="two arms move as sines in antiphase (Besbes et al. 2014)",
    options=Options,
    resolve=resolve,
    draw=draw,
    strength="amplitude",
    ceiling=CEILING,
    steady=False,
    place=9,
)
