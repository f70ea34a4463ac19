"""Contextual bandits: the good action of each context follows a map that jumps, as V pays for.

`maps` random maps pi_i from contexts to actions, all different, make a class of regressors

    f_{i,l}(x, a) = low + gap (l / levels) 1[a = pi_i(x)],      l = 1..levels,

where low = 1/2, or 1 - gap if that is less.

The truth is at the top level and jumps among maps in equal batches, until V is spent: a jump from
i to j costs gap times the chance of a context on which they differ (see `Episodes.variation`). The
law of contexts is drawn once per path, uniformly among all (Dirichlet). The class has levels below
the truth because all regressors of one level have the same best value: with a single level, f*
would be known at the start.
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
    """`gap`: the lead of the good action. `contexts`, `maps`, `levels`: how many of each."""

    gap: float = schema.real(
        0.25,
        above=0,
        high=CEILING,
        about="lead of a context's good action over the others, whose means are 1/2",
    )
    contexts: int = schema.whole(8, low=1, high=1000)
    maps: int = schema.whole(
        16,
        low=2,
        high=1000,
        about="number of maps from contexts to good actions, of which one is true at a time",
    )
    levels: int = schema.whole(
        2, low=1, high=100, about="gaps in the class of regressors: gap l / levels, l = 1..levels"
    )


def resolve(options, size):
    K = size.K
    if options.maps > K**options.contexts:
        raise ConfeeError(
            f"adversary.maps={options.maps}: must be at most K^contexts={K**options.contexts}"
        )
    gap = below_ceiling("adversary.gap", options.gap, CEILING)
    return {name: getattr(options, name) for name in ("contexts", "maps", "levels")} | {"gap": gap}


def distinct_maps(count: int, contexts: int, K: int, rng: np.random.Generator) -> np.ndarray:
    """Return `count` different uniform maps from contexts to actions, [count, contexts]."""
    maps: dict[tuple[int, ...], None] = {}
    while len(maps) < count:
        maps[tuple(rng.integers(0, K, contexts))] = None
    return np.array(list(maps))


def walk(cost: np.ndarray, V: float, T: int, rng: np.random.Generator) -> list[int]:
    """Return the true map of each batch: the first uniform, each next one among the others.

    The walk ends before its jumps, of `cost` [maps, maps], add up to more than V.
    """
    visited, spent = [int(rng.integers(0, len(cost)))], 0.0
    while len(visited) < T:
        last = visited[-1]
        following = (last + int(rng.integers(1, len(cost)))) % len(cost)
        spent += cost[last, following]
        if spent > V * (1 + 1e-12):
            break
        visited.append(following)
    return visited


def draw(resolved, K, T, V, rng):
    """Draw the maps, the law of contexts, and the walk among maps."""
    gap, levels = resolved["gap"], resolved["levels"]
    maps = distinct_maps(resolved["maps"], resolved["contexts"], K, rng)
    first = rng.dirichlet(np.ones(resolved["contexts"]))
    good = maps[:, :, None] == np.arange(K)
    gaps = gap * np.arange(1, levels + 1) / levels
    regressors = min(0.5, 1 - gap) + gaps[:, None, None, None] * good
    differ = (maps[:, None] != maps) @ first
    # A lower bound on the number of batches: no jump costs more than the largest.
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
    summary="contextual bandits: good actions change at equal intervals",
    options=Options,
    resolve=resolve,
    draw=draw,
    ceiling=CEILING,
    setting="contextual",
)
