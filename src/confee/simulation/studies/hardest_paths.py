"""Search for the paths that hurt a policy most, over the parameters of several adversaries.

The search plays candidates on a few seeds, keeps those with the most regret, and varies them. A
candidate is a place in a cube whose sides are the options of an adversary, on the log scale for
sizes. Each generation draws candidates near those kept. The few kept last are played on fresh
seeds, which chose nothing, so their regret is not biased by the search.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from confee.core.canonical import stream
from confee.core.size import Size
from confee.paper import theory
from confee.simulation.cells import Cell, cell, opponent
from confee.simulation.play import play_all
from confee.simulation.studies.base import Rows, Study
from confee.world.adversaries import adversary

SHARE = (0.02, 0.98)
SPACE: Mapping[str, Mapping[str, tuple[Any, ...]]] = {
    "excursions": {
        "size": (),
        "above": SHARE,
        "duty": SHARE,
        "climb": (0.0, 1.0),
        "span": (0.1, 1.0),
    },
    "flicker": {"dip": (), "times": (2.0, 14.0)},
    "hidden_rise": {"level": (), "start": (0.05, 0.8), "lag": (0.005, 0.1)},
    "shifts": {"step": (), "times": (0.3, 4.0)},
    "switching": {"gap": ()},
    "switching_centred": {"gap": ()},
    "switching_random": {"gap": ()},
    "packed": {"gap": ()},
    "fall": {"size": ()},
    "rise": {"size": ()},
    "drift": {"amplitude": ()},
    "sinusoid": {"amplitude": ()},
}
"""Adversary -> its options with their ranges; without one, from an eighth of the critical gap to
the largest value, on the log scale."""

GENERATIONS = (
    # candidates, seeds, kept, width of the variation
    (320, 2, 32, 0.0),
    (160, 2, 16, 0.15),
    (80, 4, 8, 0.08),
    (40, 8, 4, 0.04),
)
"""How the search narrows: the first generation is uniform, those kept stay candidates."""

SMALL = ((4, 1, 2, 0.0), (4, 1, 1, 0.1))
FRESH = 1000
"""The first seed that chooses nothing."""


@dataclass(frozen=True)
class Candidate:
    """A place in the cube of an adversary's options."""

    adversary: str
    place: tuple[float, ...]


def run(
    policy: Mapping[str, Any], K: int, T: int, B: int, V: float, start: str, toy: bool, seeds: int
) -> Rows:
    """Return one row per path kept, those that the search found worst first.

    Parameters
    ----------
    policy
        {"name": id, **options}.
    K, T, B, V
        The size, V > 0.
    start
        The adversary whose options are varied, or `all`.
    toy
        A search of a few candidates, to compile the kernels.
    seeds
        Fresh seeds of each path kept.

    Returns
    -------
    list of dict
        `regret` is the mean over fresh seeds of R / (T (K V/B)^{1/3}), with its standard error
        `se`; `adversary` and `parameters` (`size=0.3, above=0.5`) say which path it is, `tried` how
        many candidates were played, and `rank` the place in the search, from 0.
    """
    played = cell(policy, Size(K, T, B, V))
    names = tuple(SPACE) if start == "all" else (start,)
    rng = stream("study", "hardest_paths", dict(policy), K, T, B, V, start)
    kept: list[Candidate] = []
    tried = 0
    for number, seeds_each, keep, width in SMALL if toy else GENERATIONS:
        candidates = kept + [_drawn(rng, names, kept, width) for _ in range(number)]
        means = [_regrets(played, c, range(seeds_each)).mean() for c in candidates]
        tried += number
        order = np.argsort(means, kind="stable")[::-1]
        kept = [candidates[i] for i in order[:keep]]
    about = {"policy": played.label, "K": K, "T": T, "B": B, "V": V, "start": start}
    rows = []
    for rank, candidate in enumerate(kept):
        regrets = _regrets(played, candidate, range(FRESH, FRESH + seeds))
        rows.append(
            {**about, "rank": rank, "adversary": candidate.adversary}
            | {"parameters": _text(_options(candidate, played.size)), "tried": tried}
            | {"regret": float(regrets.mean()), "seeds": seeds}
            | {"se": float(regrets.std(ddof=1) / math.sqrt(seeds))}
        )
    return rows


STUDY = Study(
    "hardest_paths",
    run,
    {
        "policy": {"name": "uniform"},
        "K": 2,
        "T": 100,
        "B": 50,
        "V": 1.0,
        "start": "all",
        "toy": True,
        "seeds": 2,
    },
)


def _drawn(
    rng: np.random.Generator, names: tuple[str, ...], kept: list[Candidate], width: float
) -> Candidate:
    """Return a uniform candidate, or one near a uniform member of `kept`."""
    if not kept:
        name = names[rng.integers(len(names))]
        return Candidate(name, tuple(rng.random(len(SPACE[name]))))
    parent = kept[rng.integers(len(kept))]
    place = np.array(parent.place) + width * rng.standard_normal(len(parent.place))
    return Candidate(parent.adversary, tuple(np.clip(place, 0.0, 1.0)))


def _options(candidate: Candidate, size: Size) -> dict[str, float]:
    """Return the options at a place in the cube, rounded to three digits."""
    options = {}
    for (name, limits), share in zip(
        SPACE[candidate.adversary].items(), candidate.place, strict=True
    ):
        if limits:
            value = limits[0] + share * (limits[1] - limits[0])
        else:
            critical = theory.critical_gap(size.K, size.B, size.V)
            high = math.log(adversary(candidate.adversary).ceiling)
            low = min(math.log(critical / 8), high)
            value = math.exp(low + share * (high - low))
        options[name] = float(f"{value:.3g}")
    return options


def _regrets(played: Cell, candidate: Candidate, seeds: range) -> np.ndarray:
    """Return R / (T (K V/B)^{1/3}) of each seed."""
    size = played.size
    against = opponent({"name": candidate.adversary, **_options(candidate, size)}, size)
    rows = play_all(played, [against], seeds)
    return np.array([row["regret"] for row in rows]) / theory.rate(*size)


def _text(options: Mapping[str, float]) -> str:
    return ", ".join(f"{name}={value:g}" for name, value in options.items())
