"""Least squares on (point, phase) cells, with an interval that trusts only the points.

A point of an axis is played at several phases: horizons spread over one octave, because where
HyQue's last block is cut moves its regret by some 30 %. The model is

    y = sum_j beta_j x_j + effect(phase) + ripple + error,

phase effects take out what the phases do to x and y alike; the ripple is two harmonics of the
place of the cut (they matter only where a phase of a point is missing: with all phases there
they are orthogonal to the slope).

Interval. The sources of scatter are the seeds (with known standard errors), the phases within a
point, and the points about the line (curvature, a coarse grid of strengths, higher harmonics). Only
the last says how far a slope can be off, and it contains the other two, so

    var(beta) = MS_points * w'w,   df = points - regressors - 1,

with MS_points the lack-of-fit mean square of the points and beta = w'y. This is exact for normal
errors with any point-to-point component; the scatter of all cells would treat four phases of one
point as four independent experiments. Points may not agree better than their seeds allow: where
MS_points is below the seeds' variance at the 1 % level, the seeds' variance takes its place. With
too few points for a lack of fit (two, for a local slope), the larger of the seeds' and the phases'
variance is used.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

GUARD_LEVEL = 0.01
HARMONICS = 2
SEPARATE = 0.01


@dataclass(frozen=True)
class Estimate:
    """Coefficients of interest: value, standard error, degrees of freedom, limits; shape (m,)."""

    value: np.ndarray
    se: np.ndarray
    df: np.ndarray
    low: np.ndarray
    high: np.ndarray


class Design:
    """The regressors of a fit, built once and used on any number of curves.

    Parameters
    ----------
    x
        Regressors of interest, shape (cells, regressors).
    point, phase
        Which point and which phase each cell belongs to, shape (cells,).
    cut
        Where HyQue's last block is cut, log2(slots + 1), shape (cells,); None for a policy without
        blocks.
    """

    def __init__(
        self, x: np.ndarray, point: np.ndarray, phase: np.ndarray, cut: np.ndarray | None = None
    ):
        x = np.asarray(x, dtype=float).reshape(len(point), -1)
        phases = _dummies(phase)
        full = np.column_stack([x - x.mean(axis=0), phases])
        if cut is not None and phases.shape[1] > 2:
            full = _extend(full, _harmonics(np.asarray(cut, dtype=float)))
        wide = _extend(full, _dummies(point))
        self.weights = np.linalg.pinv(full)[: x.shape[1]]
        self._hat = full @ np.linalg.pinv(full)
        self._wide_hat = wide @ np.linalg.pinv(wide)
        self.df_points = wide.shape[1] - full.shape[1]
        self.df_phases = len(full) - wide.shape[1]
        self.separated = [_separated(full, phases, j) for j in range(x.shape[1])]

    def project(self, y: np.ndarray) -> np.ndarray:
        """Return the coefficients of interest of an exact curve, shape (regressors,)."""
        return self.weights @ y

    def fit(
        self, y: np.ndarray, se: np.ndarray, seeds: np.ndarray, j: int = 0, level: float = 0.95
    ) -> Estimate:
        """Return coefficient j of m curves with its confidence interval.

        Parameters
        ----------
        y
            Curves, shape (cells, m) or (cells,).
        se
            Standard error of each y from its seeds, of the same shape; NaN counts as 0.
        seeds
            Number of seeds behind each standard error, shape (cells,).
        """
        from scipy import stats

        y, se = (np.asarray(a, dtype=float).reshape(len(self._hat), -1) for a in (y, se))
        w = self.weights[j]
        value = w @ y
        by_seeds = (w**2 @ np.nan_to_num(se) ** 2) / (w @ w)
        seeds_df = max(float(np.sum(np.maximum(np.asarray(seeds) - 1, 0))), 1.0)
        rest = np.sum((y - self._hat @ y) ** 2, axis=0)
        within = np.sum((y - self._wide_hat @ y) ** 2, axis=0)
        if self.df_points > 0:
            variance = np.maximum(rest - within, 0.0) / self.df_points
            df = np.full(variance.shape, float(self.df_points))
            least = stats.f.ppf(GUARD_LEVEL, self.df_points, seeds_df)
            lucky = variance < least * by_seeds
        else:
            variance = within / max(self.df_phases, 1)
            df = np.full(variance.shape, float(max(self.df_phases, 1)))
            lucky = variance < by_seeds
        variance = np.where(lucky, by_seeds, variance)
        if self.df_points + self.df_phases == 0:  # One seed and one phase: no scatter to see.
            variance = np.where(np.isnan(se).all(axis=0), np.nan, variance)
        df = np.where(lucky, seeds_df, df)
        error = np.sqrt(variance * (w @ w))
        half = stats.t.ppf(0.5 + level / 2, df) * error
        return Estimate(value, error, df, value - half, value + half)


def _dummies(label: np.ndarray) -> np.ndarray:
    """Indicator columns of the distinct labels, shape (cells, labels)."""
    return (np.asarray(label)[:, None] == np.unique(label)[None, :]).astype(float)


def _harmonics(cut: np.ndarray) -> np.ndarray:
    """cos and sin of the first harmonics of the place of the cut, shape (cells, 4)."""
    turns = 2 * np.pi * np.arange(1, HARMONICS + 1) * cut[:, None]
    return np.column_stack([np.cos(turns), np.sin(turns)])


def _extend(base: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the base extended by each column of which it leaves over 1 % unexplained.

    Horizons are whole numbers, so columns that are collinear on paper are so up to rounding only. A
    regressor that consists of rounding would cost a degree of freedom.
    """
    for column in columns.T:
        if _residual(column, base) > SEPARATE * float(column @ column):
            base = np.column_stack([base, column])
    return base


def _separated(full: np.ndarray, phases: np.ndarray, j: int) -> bool:
    """Whether regressor j moves by itself: the other regressors leave over 1 % of its variance."""
    left = _residual(full[:, j], np.delete(full, j, axis=1))
    return left > SEPARATE * _residual(full[:, j], phases) > 0


def _residual(x: np.ndarray, others: np.ndarray) -> float:
    """Sum of squares of x that a regression on the others leaves."""
    rest = x - others @ np.linalg.lstsq(others, x, rcond=None)[0]
    return float(rest @ rest)
