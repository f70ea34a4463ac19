"""The scale of `hyque_calibrated`, from how large its change tests' statistics get by chance.

A run restarts at scale s if and only if the largest ratio of a statistic to its threshold at scale
1 is at least s. So runs on stationary paths give the scale at which 5 % of them would restart.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from confee.core.canonical import stream
from confee.policies.base import Known
from confee.simulation.cells import Cell
from confee.world.game import new_ledger, new_world
from confee.world.path import Path

LEVELS = (0.05, 0.5, 0.95)
RUNS = 100
QUANTILE = 0.95


def largest_ratio(K: int, T: int, B: int, options: Any, level: float, run: int) -> float:
    """Return the largest ratio in one run, where all arms have mean `level`."""
    from confee.policies import hyque
    from confee.policies.hyque_calibrated import Calibrated

    path = Path.steps(np.ones(1), np.full((1, K), level), T)
    rng = stream("calibrate", K, T, B, dataclasses.asdict(options), level, run)
    trial = Calibrated(**dataclasses.asdict(options), scale=0.0)
    arguments = hyque.arguments(Known(K, T, B), trial, measure=True)
    kernel: Callable[..., float] = hyque.play
    return kernel(new_world(path), new_ledger(), K, T, B, *arguments, rng)


def calibrate(K: int, T: int, B: int, options: Any, runs: int = RUNS) -> float:
    """Return the 95 % quantile of the largest ratio over runs, at the worst level of LEVELS."""
    ratios = [
        [largest_ratio(K, T, B, options, level, run) for run in range(runs)] for level in LEVELS
    ]
    return float(np.quantile(ratios, QUANTILE, axis=1).max())


def calibrated(cell: Cell, scale: float | None = None) -> Any:
    """Return the options that a cell is played with: its own, and the scale of a calibrated
    policy, which is measured here unless it is given."""
    if not cell.spec.calibrated:
        return cell.options
    from confee.policies.hyque_calibrated import Calibrated

    if scale is None:
        scale = calibrate(*cell.size[:3], cell.options)
    return Calibrated(**dataclasses.asdict(cell.options), scale=scale)
