"""What claims on ratios share: limits on a ratio of means (Fieller), and one verdict of many."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from confee.claims.judging.finding import FAILS, HOLDS, UNDECIDED

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.05
"""Two-sided level of the limits of all cells of a check together (Bonferroni)."""


def fieller(x: float, y: float, var_x: float, var_y: float, cov: float, t: float):
    """(low, high): the ratios r at which x - r y is within t standard errors of 0 (Fieller 1954).

    x and y are means, with the variances of these means. Infinite where y is not clearly over 0.
    """
    a = y * y - t * t * var_y
    b = x * y - t * t * cov
    c = x * x - t * t * var_x
    root = b * b - a * c
    if not (a > 0 and root >= 0):  # also where a variance is unknown
        return -math.inf, math.inf
    return (b - math.sqrt(root)) / a, (b + math.sqrt(root)) / a


def paired(x: np.ndarray, y: np.ndarray, tests: int) -> dict[str, float]:
    """mean(x) / mean(y) of pairs [n], with limits that hold for `tests` such ratios together."""
    from scipy import stats

    n = len(x)
    if n < 2:
        low, high = -math.inf, math.inf
    else:
        cov = np.cov(x, y) / n
        t = float(stats.t.isf(LEVEL / 2 / tests, n - 1))
        low, high = fieller(x.mean(), y.mean(), cov[0, 0], cov[1, 1], cov[0, 1], t)
    return {"ratio": float(x.mean() / y.mean()), "low": low, "high": high, "seeds": n}


def at_worst(table: pd.DataFrame, by: str, columns: Sequence[str]) -> np.ndarray:
    """Return `columns` of one cell [n, len(columns)], each half of the seeds on the adversary that
    the other half finds worst.

    Parameters
    ----------
    table
        A row per run: seed, entry (the adversary), and the columns.
    by
        The column whose mean is largest at the worst adversary.
    """
    half = table["seed"] % 2
    picked = []
    for fold in (0, 1):
        rest = table[half != fold].groupby("entry")[by].mean()
        if len(rest):
            own = table[(half == fold) & (table["entry"] == rest.idxmax())]
            picked.append(own[[*columns]].to_numpy())
    return np.concatenate(picked) if picked else np.empty((0, len(columns)))


def at_most(ratios: pd.DataFrame, limit: float) -> str:
    """`fails` if some lower limit is over `limit`, `holds` if no upper one is, else `undecided`."""
    if (ratios["low"] > limit).any():
        return FAILS
    return HOLDS if len(ratios) and (ratios["high"] <= limit).all() else UNDECIDED


def above(ratios: pd.DataFrame, limit: float) -> str:
    """`holds` if all lower limits are above `limit`, `fails` if some upper one is not, else
    `undecided`."""
    if (ratios["high"] <= limit).any():
        return FAILS
    return HOLDS if len(ratios) and (ratios["low"] > limit).all() else UNDECIDED


def together(outcomes: Iterable[str]) -> str:
    """The verdict of a claim whose steps must all hold."""
    outcomes = list(outcomes)
    if FAILS in outcomes:
        return FAILS
    return HOLDS if outcomes and set(outcomes) == {HOLDS} else UNDECIDED
