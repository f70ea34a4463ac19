"""The two arms of Besbes, Gur, Zeevi (2014): sines in antiphase that spend V over the horizon.

    mu^1 = 1/2 + a sin(pi V x / (2 a)),   mu^2 = 1/2 - a sin(pi V x / (2 a)),   x from 0 to 1

with a = `amplitude`/2. Both amplitudes in use are this formula: a = 1/2 gives sin(pi V t/T), and
a = 3/10 gives sin(5 pi V t/(3T)). A quarter wave costs a, and V is spent in V/a of them. If V/a is
not whole, the last quarter ends where V is spent (what is left fixes the sine of its end, not the
angle). x is (t - 1)/(T - 1), so that rounds 1 and T are the ends. Which two arms move is drawn; the
further K - 2 stay at 1/2, never better than the best but where the sines cross.

Between knots, `knots` to a quarter wave (fewer if rounds are short), means are linear. Extremes are
knots, so the variation is the sine's own, V. The error of a mean is at most

    a (pi / knots)^2 / 32  +  3/2 a Theta / (T - 1)

with Theta the phase of round T: the chord of a sine over an angle of pi/(2 knots), and knots that
move to whole rounds: by half a round, and by one more where they are crowded. All of V is spent,
unless V/a > T - 1.
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
    """amplitude: from the lowest mean to the highest, 2 a; the best arm's largest lead.
    knots: of each quarter wave."""

    amplitude: float = schema.real(
        1.0,
        above=0,
        high=CEILING,
        about="from the lowest mean to the highest; V then fixes the cycles, V/(2 amplitude)",
    )
    knots: int = schema.whole(
        8,
        low=1,
        high=1000,
        about="of each quarter wave, linear in between: off by at most 0.5 % of the amplitude/2",
    )


def resolve(options, size):
    amplitude = below_ceiling("adversary.amplitude", options.amplitude, CEILING)
    return {"amplitude": amplitude, "knots": options.knots}


def phases(resolved, T, V):
    """Phases of the knots in quarter waves, increasing from 0, and sin(pi/2 phase) there."""
    waves, rest = whole_and_rest(min(2 * V / resolved["amplitude"], T - 1.0))
    knots = max(1, min(resolved["knots"], (T - 1) // (waves + 1)))
    room(waves * knots, 2)
    phase = np.arange(waves * knots + 1) / knots
    if rest:
        # A rising quarter (0 to 1, -1 to 0 ...) starts even; one from an extreme starts odd.
        end = math.acos(1 - rest) if waves % 2 else math.asin(rest)
        end /= math.pi / 2
        inner = np.arange(1, knots) / knots
        phase = np.concatenate([phase, waves + inner[inner < end], [waves + end]])
    # By quarters, so that zeros and extremes are exact.
    quarter = np.minimum(phase.astype(np.int64), waves)
    angle = np.pi / 2 * (phase - quarter)
    inside = np.where(quarter % 2 == 0, np.sin(angle), np.cos(angle))
    return phase, np.where(quarter % 4 < 2, inside, -inside)


def draw(resolved, K, T, V, rng):
    """Two arms drawn uniformly, the first rising; the rest at 1/2."""
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
    summary="two sines in antiphase (Besbes et al. 2014)",
    options=Options,
    resolve=resolve,
    draw=draw,
    strength="amplitude",
    ceiling=CEILING,
    steady=False,
    place=9,
)
