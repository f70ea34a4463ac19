"""From which budget on the exponents of a ray stand still.

A *step* is a pair of points of a ray along B, a factor of 8 apart (part `step` of slopes.csv). Its
exponent e_i is that of R/T in B between the two. The steps of one policy on one ray overlap where
the ray has points in between; all of them are used. The rule considers the steps from step d on,
for every d from which the budgets span two whole steps, a factor of 64.

The *drift* from step d on is the slope of the least-squares line through e_d, e_{d+1}, ..., against
log_8 of the budget: by how much the exponent changes while B grows by a factor of 8. Its limits
hold for all d together (Bonferroni, 95 %). Then the exponents are

- `settled` from the first d on whose drift has 0 within its limits, these limits lie within DRIFT,
  and e_d, e_{d+1}, ... scatter around one value by no more than their errors (Cochran's Q, tested
  at the same level). From there on the exponent is their mean;
- `moving` if there is no such d, and the limits of the drift over all steps exclude 0;
- `open` otherwise: the intervals cannot tell.

*Widening.* The errors of the steps come from seeds and phases. They ignore that the worst adversary
is only the worst of a few tried. Where exponents scatter by more than their errors, all errors of
the fit are multiplied by sqrt(Q / df), as in Birge (1932) and by the Particle Data Group. Q is that
of the fit in question: around a line for the drift, around one value for the mean. Errors are never
made smaller.

If one step ends where another begins, their errors are correlated by SHARED, the correlation if all
points have equal errors. Errors are at least ROUNDING, because policies without noise have none.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from confee.evidence.slopes import STEP

if TYPE_CHECKING:
    import pandas as pd

DRIFT = 0.05
"""An exponent that changes by less than this per step stands still: from the rate's, -1/3, to a
floor's, 0, it would need a factor of 8^7 in B."""

LEVEL = 0.05

ROUNDING = 1e-3
"""Horizons and budgets are whole numbers."""

SHARED = -0.5
"""Correlation of the errors of two steps if one begins where the other ends."""

SPAN = 2.0
"""Whole steps that the budgets must span."""

SETTLED, MOVING, OPEN = "settled", "moving", "open"

COLUMNS = [
    "label",
    "axis",
    "outcome",
    "start",
    "stop",
    "steps",
    "exponent",
    "low",
    "high",
    "widened",
    "rate",
    "drift",
    "drift_low",
    "drift_high",
    "drift_widened",
]


def settling(slopes: pd.DataFrame, widen: bool = True) -> pd.DataFrame:
    """Apply the rule above to each policy on each ray whose steps span a factor of 64.

    Parameters
    ----------
    slopes
        As from `slopes`; rows of part `step` are used.
    widen
        Whether errors are widened by the scatter; without it only to see what it does.

    Returns
    -------
    DataFrame
        One row per policy and ray. `start`, `stop`: the budgets between which the exponents were
        looked at (`settled`: from where they stand still). `exponent` with `low`, `high` (95 %):
        their mean there, and `rate` the exponent of the paper's rate on the same cells. `drift`
        with its simultaneous limits. `widened`, `drift_widened`: the factors by which the errors
        of the mean and of the drift were multiplied, 1 if they were not.
    """
    import pandas as pd

    steps = slopes[slopes["part"] == "step"]
    steps = steps.replace([math.inf, -math.inf], math.nan)  # an infinite error says nothing
    rows = []
    for (label, ray), mine in steps.groupby(["label", "axis"], sort=True):
        chain = _unbroken(mine)
        if len(chain) and _places(chain)[-1] + 1 >= SPAN - 0.01:
            rows.append({"label": label, "axis": ray, **_outcome(chain, widen)})
    return pd.DataFrame(rows, columns=COLUMNS)


def _unbroken(mine: pd.DataFrame) -> pd.DataFrame:
    """The steps after the last one that has no exponent, in the order of their budgets."""
    mine = mine.sort_values("start", ignore_index=True)
    missing = np.flatnonzero(mine["exponent"].isna())
    return mine.iloc[missing[-1] + 1 :] if len(missing) else mine


def _places(part: pd.DataFrame) -> np.ndarray:
    """Where each step begins: log_8 of the budget, from 0."""
    start = part["start"].to_numpy(float)
    return np.log(start / start[0]) / math.log(STEP)


def _outcome(chain: pd.DataFrame, widen: bool) -> dict:
    """Apply the rule to the steps of a policy."""
    begins = _places(chain)
    firsts = np.flatnonzero(begins[-1] + 1 - begins >= SPAN - 0.01)
    level = LEVEL / len(firsts)
    parts = [chain.iloc[first:] for first in firsts]
    drifts = [_drift(part, level, widen) for part in parts]
    still = [
        first
        for first, (drift, part) in enumerate(zip(drifts, parts, strict=True))
        if -DRIFT <= drift[1] <= 0 <= drift[2] <= DRIFT and _chance(part) > level
    ]
    first = still[0] if still else 0
    part, (drift, low, high, drift_widened) = parts[first], drifts[first]
    outcome = SETTLED if still else MOVING if low > 0 or high < 0 else OPEN
    constant = np.ones((len(part), 1))
    mean, mean_low, mean_high, widened = _fitted(part, constant, LEVEL, widen)
    return {
        "outcome": outcome,
        "start": part["start"].iloc[0],
        "stop": part["stop"].iloc[-1],
        "steps": len(part),
        "exponent": mean,
        "low": mean_low,
        "high": mean_high,
        "widened": widened,
        "rate": part["rate"].mean(),
        "drift": drift,
        "drift_low": low,
        "drift_high": high,
        "drift_widened": drift_widened,
    }


def _drift(part: pd.DataFrame, level: float, widen: bool) -> tuple[float, float, float, float]:
    """Slope of the exponents against the place of the step: value, limits, widening."""
    places = _places(part)
    return _fitted(
        part, np.column_stack([places - places.mean(), np.ones(len(part))]), level, widen
    )


def _fitted(
    part: pd.DataFrame, regressors: np.ndarray, level: float, widen: bool
) -> tuple[float, float, float, float]:
    """The first coefficient of an unweighted fit: value, limits, and by what its error was widened.

    Student's t at the least degrees of freedom of all steps.
    """
    from scipy import stats

    weights = np.linalg.pinv(regressors)[0]
    value = float(weights @ part["exponent"].to_numpy(float))
    covariance = _covariance(part)
    if not np.isfinite(covariance).all():
        return value, math.nan, math.nan, 1.0
    factor = 1.0
    df = len(part) - regressors.shape[1]
    if widen and df > 0:
        factor = max(1.0, math.sqrt(_scatter(part, regressors) / df))
    error = factor * math.sqrt(max(float(weights @ covariance @ weights), 0.0))
    half = max(float(stats.t.isf(level / 2, part["df"].min())) * error, ROUNDING)
    return value, value - half, value + half, factor


def _chance(part: pd.DataFrame) -> float:
    """The chance of at least this scatter around one value, if all of it is error.

    By Cochran's Q over its degrees of freedom, as an F where errors are estimated.
    """
    from scipy import stats

    if not np.isfinite(_covariance(part)).all():
        return math.nan
    df = len(part) - 1
    q = _scatter(part, np.ones((len(part), 1)))
    return float(stats.f.sf(q / df, df, part["df"].min()))


def _scatter(part: pd.DataFrame, regressors: np.ndarray) -> float:
    """Cochran's Q around a fit: the least sum of squared errors, in units of the errors."""
    root = np.linalg.inv(np.linalg.cholesky(_covariance(part)))
    exponents, known = root @ part["exponent"].to_numpy(float), root @ regressors
    off = exponents - known @ np.linalg.lstsq(known, exponents, rcond=None)[0]
    return float(off @ off)


def _covariance(part: pd.DataFrame) -> np.ndarray:
    """Covariance of the errors of the steps."""
    errors = np.maximum(part["se"].to_numpy(float), ROUNDING)
    starts, stops = part["start"].to_numpy(float), part["stop"].to_numpy(float)
    touching = np.isclose(stops[:, None], starts[None, :], rtol=0.01)
    correlation = np.eye(len(part)) + SHARED * (touching | touching.T)
    return correlation * np.outer(errors, errors)
