"""How large HyQue's change tests get in a run, with a change and without one.

A run restarts at scale s exactly if its largest statistic, over its threshold at scale 1, is at
least s. So one run tells of every scale, where playing at one scale tells of that scale only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from confee.core.canonical import stream
from confee.policies import hyque
from confee.policies.base import Known
from confee.simulation.studies.base import Rows, Study
from confee.world.game import new_ledger, new_world
from confee.world.path import Path

CHANGES = ("none", "swap", "fall", "rise")


def run(
    K: int, T: int, B: int, change: str, level: float, size: float, at: float, runs: int
) -> Rows:
    """One row a run: `ratio`, the largest statistic over its threshold at scale 1.

    at: the share of T after which it changes.
    """
    about: dict[str, Any] = {"K": K, "T": T, "B": B, "change": change, "level": level}
    about |= {"size": size, "at": at}
    world = new_world(path(K, T, change, level, size, at))
    arguments = hyque.arguments(Known(K, T, B), hyque.Options(scale=0.0), measure=True)
    kernel: Callable[..., float] = hyque.play
    rows = []
    for i in range(runs):
        rng = stream("study", "change_statistics", about, i)
        ratio = kernel(world, new_ledger(), K, T, B, *arguments, rng)
        rows.append({**about, "run": i, "ratio": float(ratio)})
    return rows


STUDY = Study(
    "change_statistics",
    run,
    {"K": 2, "T": 64, "B": 16, "change": "swap", "level": 0.5, "size": 0.5, "at": 0.5, "runs": 1},
)


def path(K: int, T: int, change: str, level: float, size: float, at: float) -> Path:
    """One arm at `level` + `size`, the rest at `level`, and one change of `size`.

    none: no change. swap: another arm is the good one. fall: the good arm comes down to the rest.
    rise: all are at `level` until it comes up.
    """
    mean = np.full((2, K), level)
    mean[0, 0] += size * (change != "rise")
    after = {"none": 0, "swap": 1, "fall": None, "rise": 0}[change]
    if after is not None:
        mean[1, after] += size
    return Path.steps(np.array([1, int(at * T) + 1]), mean, T).checked(T, size)
