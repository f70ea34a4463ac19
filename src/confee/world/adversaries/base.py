"""What an adversary is: its options, the numbers they resolve to, and how it draws a path."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from confee.core.errors import ConfeeError
from confee.world.path import Environment, Path


@dataclass(frozen=True)
class Adversary:
    """A family of paths. To add one, add a file with an `ADVERSARY` to this folder.

    Parameters
    ----------
    id, name, summary
        The id is the name of the module; figures show `name` (the id if empty), and `confee list`
        shows `summary`, one line.
    options
        A dataclass of `confee.core.schema` fields: their defaults, ranges and descriptions.
    resolve
        `resolve(options, size)` returns the numbers that a path depends on, as a mapping, for a
        `Size`.
    draw
        `draw(resolved, K, T, V, rng)` returns a random path. It gets no B, as a path must not
        depend on the budget.
    strength, ceiling
        The option that a grid of strengths sets, in units of the critical gap, or None; and its
        largest value.
    widest
        The largest strength of any adversary in the setting, as means lie in [0, 1], or theta in a
        ball.
    location
        The resolved parameter that tells where data lie, on which no number and no key depends.
    steady
        Whether the strength is the lead of the best arm in every round, so that families compare by
        it. Otherwise it is the largest lead, or the size of a change, and compares within the
        family only.
    others_alike
        Whether all arms but the best one have the same mean in each round.
    setting
        The game that its paths are for, one of `confee.world.settings`.
    place, variants
        Figures list adversaries in the order of `place`. `variants` names choices of options that
        have a name of their own, as `packed(hyque)`.
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
    """Return `value` if it is in (0, ceiling]; raise ConfeeError otherwise."""
    if not 0 < value <= ceiling:
        raise ConfeeError(f"{name}={value:g}: must be a number in (0, {ceiling:g}]")
    return value


MOST_MEANS = 20_000_000
"""The most segments times arms of a path: some 2 GiB while it is drawn and played."""


def room(segments: float, K: int) -> None:
    """Raise ConfeeError if a path of so many segments does not fit into memory.

    This comes before its arrays are made, as an operating system may promise memory that it lacks.
    """
    if segments * K > MOST_MEANS:
        raise ConfeeError(
            f"path: V pays for {segments:.3g} segments; must be at most {MOST_MEANS // K:.3g} with "
            f"{K} means each (less V, or larger changes)"
        )


def batches(T: int, V: float, gap: float) -> int:
    """Return m = min(T, 1 + floor(V / gap)), the batches that V pays for at `gap` a change."""
    return int(min(T, 1 + (V / gap + 1e-9) // 1))


def equal_starts(T: int, m: int) -> np.ndarray:
    """Return the first rounds floor(j T / m) + 1 of m equal batches, [m]."""
    j = np.arange(m, dtype=np.int64)
    return j * (T // m) + j * (T % m) // m + 1


def wandering_arm(m: int, K: int, rng: np.random.Generator) -> np.ndarray:
    """Return good arms of m batches, [m]: the first uniform, each next one among the others."""
    room(m, K)
    steps = rng.integers(1, K, size=m)
    steps[0] = rng.integers(0, K)
    return np.cumsum(steps) % K


def one_good_arm(
    starts: np.ndarray, good: np.ndarray, K: int, T: int, *, low: float, high: float
) -> Path:
    """Return a path with batches from `starts`, [m], whose arms `good`, [m], have mean `high`.

    All other arms have mean `low`.
    """
    mean = np.full((len(starts), K), low)
    mean[np.arange(len(starts)), good] = high
    return Path.steps(starts, mean, T)
