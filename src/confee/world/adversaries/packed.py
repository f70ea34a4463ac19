"""All changes where they hurt most: in HyQue's last block, or right after Rexp3B's query batches.

An adversary knows both times: the grid of blocks depends on T and B only, the batches on V, too.
One arm is good, at 1/2 + gap against 1/2, and a change costs gap. V pays for floor(V/gap) changes,
of which at most `jumps` are made, at most 6 against HyQue, and at most one in a batch of Rexp3B.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confee.core import schema
from confee.paper import theory
from confee.world.adversaries.base import (
    Adversary,
    below_ceiling,
    equal_starts,
    one_good_arm,
    room,
    wandering_arm,
)

FRACTIONS = (0.1, 0.2, 1 / 3, 0.45, 0.6, 0.8)
CEILING = 0.5


@dataclass(frozen=True)
class Options:
    """`gap`: the lead of the good arm. `jumps`: the most changes (0: as many as V pays for).
    `target`: the policy whose weak times are used."""

    gap: float = schema.real(0.25, above=0, high=CEILING)
    jumps: int = schema.whole(
        0, low=0, about="largest number of changes; 0 means as many as V pays for"
    )
    target: str = schema.choice(
        "hyque", "hyque", "rexp3b", about="the policy whose blind spot gets all changes"
    )


def resolve(options, size):
    """Return what fixes `times`: the first round of the last block, or the batches."""
    K, T, B, V = size
    gap = below_ceiling("adversary.gap", options.gap, CEILING)
    jumps = int(V / gap + 1e-9)
    if options.jumps:
        jumps = min(jumps, options.jumps)
    resolved = {"gap": gap, "target": options.target}
    if options.target == "hyque":
        _, first = theory.last_block(T, B)
        return resolved | {"jumps": min(jumps, len(FRACTIONS)), "first": first}
    batch, queries = theory.rexp3b_batch(K, T, B, V)
    return resolved | {"jumps": min(jumps, max(0, T // batch)), "batch": batch, "first": queries}


def times(resolved, T):
    """Return the rounds in which the path changes, increasing, all in 2..T."""
    jumps, first = resolved["jumps"], resolved["first"]
    if resolved["target"] == "hyque":
        at = first + np.array(FRACTIONS[:jumps]) * (T - first)
    else:
        # Batches with a change are spread evenly over the horizon.
        batch = resolved["batch"]
        at = (equal_starts(T // batch, jumps) - 1) * batch + first + 1 if jumps else np.empty(0)
    at = np.unique(at.astype(np.int64))
    return at[(at > 1) & (at <= T)]


def draw(resolved, K, T, V, rng):
    """Draw a good arm for round 1, and another one from each of `times` on."""
    room(resolved["jumps"], K)
    first = np.append(1, times(resolved, T))
    good = wandering_arm(len(first), K, rng)
    return one_good_arm(first, good, K, T, low=0.5, high=0.5 + resolved["gap"])


ADVERSARY = Adversary(
    id="packed",
    name="packed",
    summary="all changes fall in HyQue's last block, or right after Rexp3B's query batches",
    options=Options,
    resolve=resolve,
    draw=draw,
    place=3,
    variants={"packed(hyque)": "packed for HyQue", "packed(rexp3b)": "packed for Rexp3B"},
)
