"""One policy's worst-case regret along one ray, and what is measured on it.

A curve is a set of cells, each with log(R/T), its standard error and its place on the ray. Three
kinds, after what moves along the ray:

- B or V: y = log(R/T).
- K: y = log(R/T) minus that of a partner with a proved rate on the same cells. At few arms the
  regret of every index policy grows faster than its rate in K; in the difference this cancels.
- T at fixed B: y = log(R/T) - log(1 - B/T). With B fixed, the share of idle rounds grows with T, so
  R/T = (B/T) q + (1 - B/T) i grows too, at most as 1 - B/T, even if the regret per queried round q
  and per idle round i do not depend on T.

`measure` fits a line to y and says how straight it is. It knows no claim and no verdict.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from confee.evidence.columns import CELL, SIZE
from confee.evidence.declared import is_uniform
from confee.evidence.regression import Design
from confee.paper import theory

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.95
"""Of all intervals."""

MINIMAL_POINTS = 4
"""Fewer points than this decide nothing about a slope."""

BEND, BEND_LEVEL = 0.10, 0.05
"""Change of the slope along a ray from which on there is no line, and its two-sided level."""


@dataclass(frozen=True)
class Curve:
    """Cells of one policy along one ray; arrays of shape (cells,).

    Parameters
    ----------
    label, ray, variable
        The policy's label, the ray's, and what moves along it: B, V, K or T.
    K, T, B, V
        Sizes of the cells.
    point, phase
        The nominal value of the variable, and which phase of that point a cell is.
    y, se, seeds
        Logarithm as described above, its standard error (NaN if unknown), number of seeds.
    alone
        log(R/T) by itself: nothing is subtracted.
    reason
        Why a cell enters no fit; empty if it does.
    uniform
        log(R/T) of uniform play's worst case in the cell, NaN if unknown.
    at_limit
        Whether the worst adversary has the largest gap that its family offers.
    overhead
        Regret where nothing changes over the worst case, the largest of the ray's still cells; NaN
        if there are none.
    partner
        Label of the policy whose curve was subtracted; empty if none was.
    """

    label: str
    ray: str
    variable: str
    K: np.ndarray
    T: np.ndarray
    B: np.ndarray
    V: np.ndarray
    point: np.ndarray
    phase: np.ndarray
    y: np.ndarray
    alone: np.ndarray
    se: np.ndarray
    seeds: np.ndarray
    reason: np.ndarray
    uniform: np.ndarray
    at_limit: np.ndarray
    overhead: float = math.nan
    partner: str = ""

    @property
    def x(self) -> np.ndarray:
        """Logarithm of the variable."""
        return np.log(getattr(self, self.variable).astype(float))

    def only(self, mask: np.ndarray) -> Curve:
        """The curve of the cells in `mask`."""
        arrays = {
            name: value[mask] for name, value in vars(self).items() if isinstance(value, np.ndarray)
        }
        return replace(self, **arrays)

    def at_points(self, points: np.ndarray) -> Curve:
        """Return the curve at the given points."""
        return self.only(np.isin(self.point, points))

    def entering(self, reasons: tuple[str, ...] = ("",)) -> Curve:
        """The cells that enter a fit: of each point, if at least half of its phases do."""
        inside = np.isin(self.reason, reasons)
        whole = [inside[self.point == point].mean() >= 0.5 for point in self.point]
        return self.only(inside & np.array(whole, dtype=bool))

    @property
    def left_out(self) -> str:
        """`saturated: B=3.2e+04; out of range: B=1e+06 (1 of 2 phases)`; empty if nothing is."""
        parts = []
        for reason in sorted({*self.reason} - {""}):
            places = []
            for point in np.unique(self.point[self.reason == reason]):
                here = self.point == point
                out = int((here & (self.reason == reason)).sum())
                share = "" if out == here.sum() else f" ({out} of {here.sum()} phases)"
                places.append(f"{self.variable}={point:.3g}{share}")
            parts.append(f"{reason}: {', '.join(places)}")
        return "; ".join(parts)


def curve(
    worst: pd.DataFrame, points: pd.DataFrame, label: str, ray: str, partner: str = ""
) -> Curve | None:
    """The curve of a policy along a ray; None if it was not played there.

    Parameters
    ----------
    worst, points
        As from `worst_cases`, and as in points.csv.
    partner
        Label of a policy; cells that it did not play do not enter.
    """
    here = points[(points["axis"] == ray) & (points["label"] == label)]
    if here.empty:
        return None
    variable = str(here["variable"].iloc[0])
    here = here.drop_duplicates([*CELL, "point", "phase"])
    table = here.merge(worst.drop(columns="policy", errors="ignore"), on=CELL, how="left")
    still = ((table["V"] == 0) & bool((table["V"] > 0).any())).to_numpy()
    moving = table[~still].sort_values(["point", "phase"], ignore_index=True)
    regret = moving["regret"].to_numpy(float)
    T, B = moving["T"].to_numpy(float), moving["B"].to_numpy(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        alone, se = np.log(regret / T), moving["se"].to_numpy(float) / regret
        y = alone - np.log(1 - B / T) if variable == "T" else alone
    reason = reasons(moving)
    if variable == "T":
        reason = np.where(B >= T, "no idle rounds", reason)
    seeds = moving["seeds"].fillna(0).to_numpy(float)
    if partner:
        other = curve(worst, points, partner, ray)
        y, se, seeds, reason = _paired(moving, y, se, seeds, reason, partner, other)
    K, V = moving["K"].to_numpy(float), moving["V"].to_numpy(float)
    point, phase = moving["point"].to_numpy(float), moving["phase"].to_numpy()
    at_limit = moving["at_limit"].eq(True).to_numpy(bool)
    overhead = _overhead(table[still], moving)
    return Curve(
        label,
        ray,
        variable,
        K,
        T,
        B,
        V,
        point,
        phase,
        y,
        alone,
        se,
        seeds,
        reason,
        _uniform(worst, moving),
        at_limit,
        overhead,
        partner,
    )


def reasons(table: pd.DataFrame) -> np.ndarray:
    """Why each cell stays out of the fits, first reason that applies; empty if it enters."""
    free = is_uniform(table["policy"])

    def flag(name: str) -> pd.Series:
        return table[name].eq(True)

    rules = [
        (table["regret"].isna(), "not run"),
        (~flag("in_range"), "out of range"),
        (~(table["regret"] > 0), "no regret"),
        (flag("short_batch"), "batch under 4 queries"),
        (flag("saturated") & ~free, "saturated"),
        (flag("ceiling") & ~free, "at ceiling"),
        (flag("edge") & ~free, "grid edge"),
    ]
    return np.select([c.to_numpy() for c, _ in rules], [r for _, r in rules], default="")


def _paired(moving, y, se, seeds, reason, partner, other):
    """The difference to another curve, cell by cell; see `curve`."""
    if other is None or not len(other.y):
        return y, se, seeds, np.full(len(y), f"{partner} not played")
    place = {cell: i for i, cell in enumerate(zip(other.point, other.phase, strict=True))}
    cells = zip(moving["point"], moving["phase"], strict=True)
    at = np.array([place.get(cell, -1) for cell in cells], dtype=int)
    shared = (at >= 0) & (other.reason[at] == "")
    out = np.where((reason == "") & ~shared, f"{partner} does not enter", reason)
    both = np.where(shared, np.hypot(se, other.se[at]), se)
    return y - np.where(shared, other.y[at], 0.0), both, np.minimum(seeds, other.seeds[at]), out


def _uniform(worst: pd.DataFrame, moving: pd.DataFrame) -> np.ndarray:
    """log(R/T) of uniform play in the same settings, NaN where it was not played."""
    import pandas as pd

    played = worst[is_uniform(worst["policy"])].groupby(SIZE)["regret"].max()
    uniform = played.reindex(pd.MultiIndex.from_frame(moving[SIZE])).to_numpy(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(uniform / moving["T"].to_numpy(float))


def _overhead(still: pd.DataFrame, moving: pd.DataFrame) -> float:
    """The largest ratio of the regret at V = 0 to the worst case at the same K, T and B."""
    if still.empty:
        return math.nan
    pairs = still.merge(moving, on=["K", "T", "B"], suffixes=("_still", ""))
    ratio = (pairs["regret_still"] / pairs["regret"]).dropna()
    return float(ratio.max()) if len(ratio) else math.nan


# --------------------------------------------------------------------------- measuring


@dataclass(frozen=True)
class Measure:
    """A line through a curve, and how straight it is.

    Parameters
    ----------
    slope, low, high, se, df
        Slope of y in x with its 95 % limits; the interval rests on the points' scatter.
    bend, bend_p
        How much the slope changes from the first to the last point by the quadratic term, and the
        p-value of that term against the points' scatter; NaN below 5 points.
    end, end_low, end_high, end_df
        Slope of the quadratic fit between the last two points.
    growth, growth_low, growth_high, growth_df
        y at the last point minus y at the first, limits from the seeds and phases.
    halves
        (low, high) in each phase by itself: of the slope, or where there is no line of `end`.
    """

    slope: float
    low: float
    high: float
    se: float
    df: float
    bend: float = math.nan
    bend_p: float = math.nan
    end: float = math.nan
    end_low: float = math.nan
    end_high: float = math.nan
    end_df: float = math.nan
    growth: float = math.nan
    growth_low: float = math.nan
    growth_high: float = math.nan
    growth_df: float = math.nan
    halves: tuple[tuple[float, float], ...] = ()

    @property
    def straight(self) -> bool:
        """Whether there is a line: the slope does not change, or not significantly."""
        return not (abs(self.bend) > BEND and self.bend_p <= BEND_LEVEL)

    def less(self, slope: float, end: float, growth: float) -> Measure:
        """Return the measure of the difference to an exact curve.

        The exact curve has slope `slope`, slope `end` between its last two points, and growth
        `growth`. Each interval keeps its width, since an exact curve adds no scatter.
        """
        own = slope if self.straight else end
        return replace(
            self,
            slope=self.slope - slope,
            low=self.low - slope,
            high=self.high - slope,
            end=self.end - end,
            end_low=self.end_low - end,
            end_high=self.end_high - end,
            growth=self.growth - growth,
            growth_low=self.growth_low - growth,
            growth_high=self.growth_high - growth,
            halves=tuple((low - own, high - own) for low, high in self.halves),
        )


def measure(x, y, se, seeds, point, phase) -> Measure:
    """Fit a line, and a parabola where there are points enough, to a curve; see Measure.

    Arrays of shape (cells,). At least two points; with two or three there is no lack of fit to
    speak of, and the interval rests on the seeds and the phases.
    """
    line = Design(x, point, phase).fit(y, se, seeds, 0, LEVEL)
    estimates = {
        "slope": line.value,
        "low": line.low,
        "high": line.high,
        "se": line.se,
        "df": line.df,
    }
    values: dict[str, Any] = {name: float(array[0]) for name, array in estimates.items()}
    points = np.unique(point)
    if len(points) > MINIMAL_POINTS:
        values |= _parabola(x, y, se, seeds, point, phase)
    values |= _growth(y, se, seeds, point, phase)
    whole = Measure(**values)
    design = Design if whole.straight else _at_the_end
    least = MINIMAL_POINTS if whole.straight else MINIMAL_POINTS + 1
    halves = []
    for number in np.unique(phase) if len(np.unique(phase)) > 1 else ():
        mine = phase == number
        if len(np.unique(point[mine])) >= least:
            half = design(x[mine], point[mine], phase[mine])
            fit = half.fit(y[mine], se[mine], seeds[mine], 0, LEVEL)
            halves.append((float(fit.low[0]), float(fit.high[0])))
    return replace(whole, halves=tuple(halves))


def _parabola(x, y, se, seeds, point, phase) -> dict[str, float]:
    """What the quadratic term says: y = a + b u + c u^2 with u = x - (middle of the axis)."""
    from scipy import stats

    design = _at_the_end(x, point, phase)
    length = x[point == point.max()].mean() - x[point == point.min()].mean()
    square, slope = (design.fit(y, se, seeds, j, LEVEL) for j in (1, 0))
    curvature, error, df = float(square.value[0]), float(square.se[0]), float(square.df[0])
    p = float(2 * stats.t.sf(abs(curvature) / error, df)) if error > 0 else math.nan
    if error == 0:
        p = float(curvature == 0)
    return {
        "bend": 2 * curvature * length,
        "bend_p": p,
        "end": float(slope.value[0]),
        "end_low": float(slope.low[0]),
        "end_high": float(slope.high[0]),
        "end_df": float(slope.df[0]),
    }


def _at_the_end(x, point, phase) -> Design:
    """A parabola in u = x - (middle of the last two points): the coefficient of u is the slope
    there."""
    u = x - np.mean([x[point == last].mean() for last in np.unique(point)[-2:]])
    return Design(np.column_stack([u, u**2]), point, phase)


def project(x, known, point, phase, end: bool = False) -> float:
    """The slope that a fit of a curve without error finds, or that between its last two points."""
    design = _at_the_end(x, point, phase) if end else Design(x, point, phase)
    return float(design.project(known)[0])


@dataclass(frozen=True)
class Change:
    """By how much y differs between two points: value, standard error, degrees of freedom."""

    value: float
    se: float
    df: float


def change(y, se, seeds, point, phase) -> Change | None:
    """y at the last point minus y at the first, a mean over the phases that both have.

    Arrays of shape (cells,). None if the two points share no phase. The standard error is that of
    the seeds, or of the phases where these scatter by more; NaN if neither is known.
    """
    first, last = point == point.min(), point == point.max()
    shared = np.intersect1d(phase[first], phase[last])
    steps, variances, count, known = [], [], 0.0, False
    for number in shared:
        ends = [here & (phase == number) for here in (first, last)]
        steps.append(y[ends[1]].mean() - y[ends[0]].mean())
        variances.append(sum(float(np.sum(np.nan_to_num(se[e]) ** 2)) for e in ends))
        count += sum(float(np.sum(np.maximum(seeds[e] - 1, 0))) for e in ends)
        known |= any(bool(np.isfinite(se[e]).any()) for e in ends)
    if not steps:
        return None
    by_seeds = sum(variances) / len(steps) ** 2
    by_phases = float(np.var(steps, ddof=1)) / len(steps) if len(steps) > 1 else 0.0
    if by_seeds >= by_phases or len(steps) < 3:  # two phases tell little of their own scatter
        error, df = math.sqrt(max(by_seeds, by_phases)), max(count, 1.0)
    else:
        error, df = math.sqrt(by_phases), len(steps) - 1.0
    if not known and len(steps) < 2:
        error = math.nan
    return Change(float(np.mean(steps)), error, df)


def _growth(y, se, seeds, point, phase) -> dict[str, float]:
    """The growth of y from the first point to the last, with its limits, as fields of Measure."""
    from scipy import stats

    step = change(y, se, seeds, point, phase)
    if step is None:
        return {}
    half = float(stats.t.ppf(0.5 + LEVEL / 2, step.df)) * step.se
    return {
        "growth": step.value,
        "growth_low": step.value - half,
        "growth_high": step.value + half,
        "growth_df": step.df,
    }


def rate_of(cells: Curve, law: str | Mapping[str, float]) -> np.ndarray:
    """Logarithm of the rate of R/T in each cell, without logarithmic factors.

    `law`: its exponents, or a row of theory.EXPONENTS.
    """
    law = theory.EXPONENTS[law] if isinstance(law, str) else law
    V = np.log(np.where(cells.V > 0, cells.V, 1.0))
    return law["K"] * np.log(cells.K) + law["V"] * V + law["B"] * np.log(cells.B)


def budget_log(cells: Curve) -> np.ndarray:
    """Logarithm of a factor sqrt(ln B) in each cell."""
    return 0.5 * np.log(np.log(cells.B))
