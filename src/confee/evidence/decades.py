"""Where the exponents of decades settle.

The exponents e_1, ..., e_D of an axis in T (part `decade` of slopes.csv), each decade beginning
where one ends and the last ending at the longest horizon, are looked at from decade d on, d = 1,
..., D - 1. Their *drift* is the slope of the least-squares line through e_d, ..., e_D: how much the
exponent changes with a decade. Its limits hold for all d together (Bonferroni, 95 %).

- `settled` from the first d on from which the drift is none within its limits, these lie within
  DRIFT, and e_d, ..., e_D scatter around one value by no more than their errors (Cochran's Q). From
  there the exponent is their mean.
- `moving` if there is no such d, and the limits of the drift from d = 1 on leave 0 out.
- `open` else: the intervals cannot tell.

What is said of scatter was added after the first long run, see docs/horizon.md: exponents that go
up and down have no drift, and do not stand still.

Neighbouring decades share a point, so the errors of e_i and e_{i+1} are correlated: by NEIGHBOURS,
the points being equally well known. Limits reach at least ROUNDING: policies without noise have
none.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

DRIFT = 0.05
"""An exponent that changes by less than this a decade stands still: HyQue's would need five decades
to get from the rate's, -0.27 along B = T^0.8, to a floor's, 0."""

LEVEL = 0.05

ROUNDING = 1e-3
"""Horizons and budgets are whole numbers."""

NEIGHBOURS = -0.5
"""How errors of neighbouring decades are correlated."""

SETTLED, MOVING, OPEN = "settled", "moving", "open"

COLUMNS = [
    "policy", "outcome", "start", "stop", "decades", "exponent", "low", "high", "rate",
    "drift", "drift_low", "drift_high",
]  # fmt: skip


def settling(slopes: pd.DataFrame, axis: str = "T") -> pd.DataFrame:
    """A row a policy with two decades or more: the outcome of the rule above.

    `start`, `stop`: the horizons between which the exponents were looked at (`settled`: from where
    they stand still); `exponent` with `low`, `high` (95 %) their mean there, `rate` that of the
    paper's rate on the same cells; `drift` with its simultaneous limits.
    """
    import pandas as pd

    there = slopes[(slopes["part"] == "decade") & (slopes["axis"] == axis)]
    there = there.replace([math.inf, -math.inf], math.nan)  # known no better than not at all
    rows = []
    for label, mine in there.groupby("policy", sort=True):
        chain = _chain(mine)
        if len(chain) > 1:
            rows.append({"policy": label, **_outcome(chain)})
    return pd.DataFrame(rows, columns=COLUMNS)


def _chain(mine: pd.DataFrame) -> pd.DataFrame:
    """The last unbroken chain of decades with an exponent, each beginning where one ends, back from
    the longest horizon; none if the last has no exponent."""
    end = mine["stop"].max()
    mine = mine.dropna(subset="exponent").sort_values("start")
    kept: list[int] = []
    for at in reversed(range(len(mine))):
        if math.isclose(mine["stop"].iloc[at], end):
            kept.insert(0, at)
            end = mine["start"].iloc[at]
    return mine.iloc[kept]


def _outcome(chain: pd.DataFrame) -> dict:
    """The rule on the decades of one policy."""
    count = len(chain)
    level = LEVEL / (count - 1)
    drifts = [_drift(chain.iloc[first:], level) for first in range(count - 1)]
    still = [first for first, (_, low, high) in enumerate(drifts)
             if -DRIFT <= low <= 0 <= high <= DRIFT
             and _chance(chain.iloc[first:]) > level]  # fmt: skip
    first = still[0] if still else 0
    drift, low, high = drifts[first]
    outcome = SETTLED if still else MOVING if low > 0 or high < 0 else OPEN
    part = chain.iloc[first:]
    mean, mean_low, mean_high = _contrast(part, np.full(len(part), 1 / len(part)), LEVEL)
    return {
        "outcome": outcome, "start": part["start"].iloc[0], "stop": part["stop"].iloc[-1],
        "decades": len(part), "exponent": mean, "low": mean_low, "high": mean_high,
        "rate": part["rate"].mean(), "drift": drift, "drift_low": low, "drift_high": high,
    }  # fmt: skip


def _drift(part: pd.DataFrame, level: float) -> tuple[float, float, float]:
    """Slope of the exponents against the number of the decade, with limits."""
    place = np.arange(len(part)) - (len(part) - 1) / 2
    return _contrast(part, place / (place @ place), level)


def _chance(part: pd.DataFrame) -> float:
    """Of a scatter as wide as that of the exponents around one value, were it all error: by
    Cochran's Q over its degrees of freedom, as an F where errors are estimated."""
    from scipy import stats

    exponents = part["exponent"].to_numpy(float)
    errors = np.maximum(part["se"].to_numpy(float), ROUNDING)
    covariance = np.diag(errors**2)
    for one in range(len(errors) - 1):
        shared = NEIGHBOURS * errors[one] * errors[one + 1]
        covariance[one, one + 1] = covariance[one + 1, one] = shared
    if not np.isfinite(covariance).all():
        return math.nan
    weights = np.linalg.inv(covariance)
    off = exponents - (weights @ exponents).sum() / weights.sum()
    count = len(exponents) - 1
    return float(stats.f.sf(off @ weights @ off / count, count, part["df"].min()))


def _contrast(part: pd.DataFrame, weights: np.ndarray, level: float) -> tuple[float, float, float]:
    """A weighted sum of the exponents with its limits: Student's t at the least degrees of freedom
    of all of them."""
    from scipy import stats

    scaled = weights * part["se"].to_numpy(float)
    # A variance of rounding is none.
    variance = max(float(scaled @ scaled + 2 * NEIGHBOURS * (scaled[1:] @ scaled[:-1])), 0.0)
    half = float(stats.t.isf(level / 2, part["df"].min())) * math.sqrt(variance)
    half = max(half, ROUNDING)
    value = float(weights @ part["exponent"].to_numpy(float))
    return value, value - half, value + half
