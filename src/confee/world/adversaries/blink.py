"""An arm rises above a steady leader for a while and falls back, again and again.

One arm leads at 1/2 throughout, and the others lie at 1/2 - gap. The rounds are split into n equal
periods with one blink in the middle of each: an arm drawn uniformly from the others jumps to
1/2 + gap, stays there for a share `duty` of the period, and falls back. So the path begins and ends
with the leader on top, and the best arm leads by gap in every round.

A blink costs 4 gap of variation, 2 gap for each jump. The number of blinks, n, is what V pays for,
at most (T - 1)/2, as rounds must remain between two blinks. Where V pays for one jump only, an arm
rises for the last share `duty` of all rounds. Where V pays for less, nothing changes.

Old data are right again after each blink. A policy that forgets them pays to learn them again, and
one that keeps them does not see the next blink.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confee.core import schema
from confee.core.errors import ConfeeError
from confee.world.adversaries.base import Adversary, below_ceiling, room
from confee.world.adversaries.lines import on_rounds
from confee.world.path import Path

CEILING = 0.5


@dataclass(frozen=True)
class Options:
    """`gap`: the lead of the best arm. `duty`: the share of a period with the other arm up."""

    gap: float = schema.real(
        0.25, above=0, high=CEILING, about="lead of the best arm in every round"
    )
    duty: float = schema.real(
        0.25, above=0, high=1, about="share of a period in which the other arm is above the leader"
    )


def resolve(options, size):
    gap = below_ceiling("adversary.gap", options.gap, CEILING)
    if not 0 < options.duty < 1:
        raise ConfeeError(f"adversary.duty={options.duty:g}: must be a number in (0, 1)")
    return {"gap": gap, "duty": options.duty}


def starts(T: int, K: int, V: float, gap: float, duty: float) -> np.ndarray:
    """Return the first rounds of all segments: steady, up, steady, up, and so on.

    Jumps are rounded to whole rounds, or moved to the next free one where several fall in a round.
    """
    jumps = (V / gap + 1e-9) // 2
    blinks = int(max(0, min(jumps // 2, (T - 1) // 2)))
    room(2 * blinks + 1, K)
    edges = np.full(1 if jumps else 0, 1 - duty)
    if blinks:
        middle = np.arange(blinks)[:, None] + 0.5
        edges = ((middle + np.array([-duty, duty]) / 2) / blinks).ravel()
    return on_rounds(np.concatenate([[0.0], edges, [1.0]]), T + 1)[:-1]


def draw(resolved, K, T, V, rng):
    """Draw the leader, then the arm that is up in each second segment."""
    gap = resolved["gap"]
    start = starts(T, K, V, gap, resolved["duty"])
    leader = rng.integers(0, K)
    blinking = (leader + rng.integers(1, K, size=len(start) // 2)) % K
    mean = np.full((len(start), K), 0.5 - gap)
    mean[:, leader] = 0.5
    mean[np.arange(1, len(start), 2), blinking] = 0.5 + gap
    return Path.steps(start, mean, T)


ADVERSARY = Adversary(
    id="blink",
    name="blinks",
    summary="an arm rises above the best one for a while and falls back, again and again",
    options=Options,
    resolve=resolve,
    draw=draw,
    ceiling=CEILING,
    place=7,
    others_alike=False,
)
