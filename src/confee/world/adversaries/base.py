"""What an adversary is: parameters, resolved to numbers for a cell, and a way to draw a path."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from confee.core.errors import ConfeeError
from confee.world.path import Environment, Path


@dataclass(frozen=True)
class Adversary:
    """A family of paths: adding one is adding a file with an `ADVERSARY`.

    Parameters
    ----------
    id, name, summary
        The id is the module's name; `name` is what figures say (the id if empty); `summary` is one
        line for `confee list`.
    options
        A dataclass of `confee.core.schema` fields: their defaults, ranges and descriptions.
    resolve
        `resolve(options, size)` gives the numbers that a path depends on, as a mapping.
    draw
        `draw(resolved, K, T, V, rng)` gives a path. It gets no B: paths are alike at all budgets.
    strength, ceiling
        The option that a grid of strengths sets, in units of the critical gap, and its largest
        value; None if there is no such option.
    widest
        No adversary of the setting could have a larger strength, as means lie in [0, 1], or theta
        in a ball.
    location
        A resolved parameter that says only where data lie: no number and no key depends on it.
    steady
        Whether the strength is the best arm's lead in every round, so that families compare by it;
        else it is the largest lead, or the size of a change, and compares within the family alone.
    others_alike
        Whether all arms but the best one have the same mean in each round.
    setting
        The game that its paths are for, one of `confee.world.settings`.
    place, variants
        Figures list adversaries by this number; `variants` are names of options of their own:
        `packed(hyque)`.
    """

    id: str
    summary: str
    options: type
    resolve: Callable[..., Mapping[str, Any]]
    draw: Callable[..., Environment]
    name: str = ""
    strength: str | None = "gap"
    ceiling: float = 0.5
    widest: float = 1.0
    location: str | None = None
    steady: bool = True
    others_alike: bool = True
    setting: str = "arms"
    place: int = 100
    variants: Mapping[str, str] = field(default_factory=dict)


def below_ceiling(name: str, value: float, ceiling: float) -> float:
    """`value`, if it is in (0, ceiling]. Raises ConfeeError otherwise."""
    if not 0 < value <= ceiling:
        raise ConfeeError(f"{name}={value:g}: must be a number in (0, {ceiling:g}]")
    return value


MOST_MEANS = 20_000_000
"""Of a path, segments times arms: some 2 GiB while it is drawn and played."""


def room(segments: float, K: int) -> None:
    """Raises ConfeeError if a path of so many segments does not fit into memory: before arrays are
    made of it, as an operating system may promise memory that it does not have."""
    if segments * K > MOST_MEANS:
        raise ConfeeError(
            f"path: V pays for {segments:.3g} segments; must be at most {MOST_MEANS // K:.3g} with "
            f"{K} means each (less V, or larger changes)"
        )


def batches(T: int, V: float, gap: float) -> int:
    """m = min(T, 1 + floor(V / gap)): as many batches as V pays for."""
    return int(min(T, 1 + (V / gap + 1e-9) // 1))


def equal_starts(T: int, m: int) -> np.ndarray:
    """First rounds floor(j T / m) + 1 of m equal batches, [m]."""
    j = np.arange(m, dtype=np.int64)
    return j * (T // m) + j * (T % m) // m + 1


def wandering_arm(m: int, K: int, rng: np.random.Generator) -> np.ndarray:
    """Good arms of m batches: the first uniform, each next one uniform among the others, [m]."""
    room(m, K)
    steps = rng.integers(1, K, size=m)
    steps[0] = rng.integers(0, K)
    return np.cumsum(steps) % K


def one_good_arm(
    starts: np.ndarray, good: np.ndarray, K: int, T: int, low: float, high: float
) -> Path:
    """Batches with the good arm at `high` and the rest at `low`."""
    mean = np.full((len(starts), K), low)
    mean[np.arange(len(starts)), good] = high
    return Path.steps(starts, mean, T)
