"""Contextual bandits: the good action of each context follows a map that jumps, as V pays for.

`maps` random maps pi_i from contexts to actions, no two alike, make a class of regressors

    f_{i,l}(x, a) = low + gap (l / levels) 1[a = pi_i(x)],      l = 1..levels,

low = 1/2, or 1 - gap where that is less.

The truth is at the top level and jumps among maps in equal batches, while V pays: from i to j that
costs gap times the chance of a context on which they differ, see `Episodes.variation`. The law of
contexts is drawn once a path, uniformly among all (Dirichlet). The levels below the truth are there
because with a single one all regressors have the same best value: f* would be known at the start.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confee.core import schema
from confee.core.errors import ConfeeError
from confee.world.adversaries.base import Adversary, below_ceiling, equal_starts, room
from confee.world.mdp import Episodes

CEILING = 1.0


@dataclass(frozen=True)
class Options:
    """gap: the good action's lead. contexts, maps: how many. levels: of gaps in class."""

    gap: float = schema.real(
        0.25,
        above=0,
        high=CEILING,
        about="the good action of a context is at 1/2 + gap, the others at 1/2",
    )
    contexts: int = schema.whole(8, low=1, high=1000)
    maps: int = schema.whole(
        16, low=2, high=1000, about="from contexts to actions, of which one is true at a time"
    )
    levels: int = schema.whole(2, low=1, high=100, about="of gaps in the class: gap / 2 and gap")


def resolve(options, size):
    K = size.K
    if options.maps > K**options.contexts:
        raise ConfeeError(
            f"adversary.maps={options.maps}: must be at most K^contexts={K**options.contexts}"
        )
    gap = below_ceiling("adversary.gap", options.gap, CEILING)
    return {name: getattr(options, name) for name in ("contexts", "maps", "levels")} | {"gap": gap}


def distinct_maps(count: int, contexts: int, K: int, rng: np.random.Generator) -> np.ndarray:
    """`count` maps from contexts to actions, uniform among those that are no two alike,
    [count, contexts]."""
    found: dict[tuple[int, ...], None] = {}
    while len(found) < count:
        found[tuple(rng.integers(0, K, contexts))] = None
    return np.array(list(found))


def walk(cost: np.ndarray, V: float, T: int, rng: np.random.Generator) -> list[int]:
    """Which map is true in each batch: the first uniform, each next one uniform among the others,
    while their cost [maps, maps] adds up to V at most."""
    visited, spent = [int(rng.integers(0, len(cost)))], 0.0
    while len(visited) < T:
        here = visited[-1]
        there = (here + int(rng.integers(1, len(cost)))) % len(cost)
        spent += cost[here, there]
        if spent > V * (1 + 1e-12):
            break
        visited.append(there)
    return visited


def draw(resolved, K, T, V, rng):
    gap, levels = resolved["gap"], resolved["levels"]
    maps = distinct_maps(resolved["maps"], resolved["contexts"], K, rng)
    first = rng.dirichlet(np.ones(resolved["contexts"]))
    good = maps[:, :, None] == np.arange(K)
    gaps = gap * np.arange(1, levels + 1) / levels
    regressors = min(0.5, 1 - gap) + gaps[:, None, None, None] * good
    differ = (maps[:, None] != maps) @ first
    # The least there can be: a jump costs at most the largest.
    room(min(T, V / (gap * differ.max())), resolved["contexts"] * K)
    visited = walk(gap * differ, V, T, rng)
    return Episodes.contexts(
        equal_starts(T, len(visited)),
        first,
        regressors[-1, visited],
        regressors.reshape(-1, *good.shape[1:]),
        T,
    )


ADVERSARY = Adversary(
    id="contextual_switching",
    name="contextual switching",
    summary="contextual bandits: the good actions jump in equal batches",
    options=Options,
    resolve=resolve,
    draw=draw,
    ceiling=CEILING,
    setting="contextual",
)
