"""Exponents of R/T along an experiment's axes and rays, with intervals, next to the theory's."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from confee.evidence.columns import CELL
from confee.evidence.curve import (
    LEVEL,
    MINIMAL_POINTS,
    Curve,
    budget_log,
    change,
    curve,
    measure,
    project,
    rate_of,
    reasons,
)
from confee.evidence.declared import growth
from confee.evidence.regression import Design
from confee.paper import theory
from confee.policies.growth import Growth

if TYPE_CHECKING:
    import pandas as pd

VARIABLES = ("T", "B", "V", "K")

AXES = ("T", "B", "V", "K")
"""Axes of the grid, and what may move along a ray. Other axes of a plan are maps."""

SPANNING = ("T", "B")
"""Axes along which the budget must span a ratio."""

UPPER_POINTS = 5
"""The upper half has at least this many, where the axis has them: with 4 points the interval has
2 degrees of freedom, and only 7 of 10 true claims are recognised
(docs/reports/rules-on-known-curves.md)."""

MINIMAL_SPAN = 30.0
"""Ratio of budgets the upper half of an axis T or B must span."""

STEP = 8.0
"""Ratio of the two budgets of a step: three doublings."""

COLUMNS = [
    "label",
    "axis",
    "exponent",
    "low",
    "high",
    "theory",
    "points",
    "horizon",
    "part",
    "span",
    "rate",
    "sqrt_log",
    "se",
    "df",
    "cells",
    "seeds",
    "short",
    "left_out",
    "start",
    "stop",
    "bend",
]


def slopes(worst: pd.DataFrame, points: pd.DataFrame, level: float = 0.95) -> pd.DataFrame:
    """Return fitted exponents of R/T, one row per (policy label, axis or ray, part).

    y = log(R/T) is regressed on the logarithm of the variable as each cell has it, see
    confee.evidence.regression for phases and interval. Parts:

    - `ray`: a whole ray, see confee.evidence.curve. Verdicts rest on these. NaN where there is no
      line: `bend`, the change of the slope along the ray, is then over 0.1 and significant.
    - `upper`: the upper half of an axis of the grid, at least 5 points and, on T and B, budgets
      over a ratio of 30; all there are where that cannot be had, marked `short` below 4 points or
      that ratio.
    - `all`: the whole axis. `local`: its last two points.
    - `step`: two points of a ray along B, a factor of 8 apart; a row for each such pair, NaN where
      either point does not enter.

    Only eligible cells enter. `rate` is the exponent of the paper's rate *on the same cells by
    the same fit*: -1/3 on B, but 0.8 * (-1/3) on T when that axis runs along B = T^0.8. `theory` is
    what is claimed of this policy (NaN if nothing is). `sqrt_log` is likewise what a factor
    sqrt(ln B) would add. `span` is a ratio of budgets on T and B, else of the axis' variable, and
    `start` and `stop` the first and the last point of the fit. `left_out` says what was left out
    and why. A policy that was played at V = 0 alone is held to the stationary row of Table 1,
    T sqrt(K / B); beside other V, such cells are out of range.

    Parameters
    ----------
    worst
        One row per cell, as from worst_cases.
    points
        One row per (cell, axis), columns as in docs/glossary.md.
    """
    import pandas as pd

    plan = points[points["axis"].isin(AXES)].drop_duplicates([*CELL, "axis", "point", "phase"])
    table = plan.merge(worst.drop(columns="policy", errors="ignore"), on=CELL, how="left")
    table["reason"] = reasons(table)
    rows: list[dict] = []
    for label, group in table.groupby("label", sort=True):
        own = group.copy()
        model = growth(str(own["policy"].iloc[0]))
        if (own["V"] > 0).any():
            own.loc[own["V"] == 0, "reason"] = "out of range"
        for axis in AXES:
            here = own[own["axis"] == axis]
            if not here.empty:
                rows += _axis_rows(str(label), axis, here, model, level)
    if "variable" in points:
        on_rays = points[points["variable"].isin(AXES)]
        for (ray, label), here in on_rays.groupby(["axis", "label"], sort=True):
            whole = curve(worst, points, str(label), str(ray))
            if whole is not None:
                model = growth(str(here["policy"].iloc[0]))
                rows.append(_ray_row(whole, model))
                rows += _step_rows(whole, model)
    return pd.DataFrame(rows, columns=COLUMNS)


def _ray_row(whole: Curve, model: Growth) -> dict:
    """Return the row of a ray, with its line if the ray is straight."""
    entering = whole.entering()
    points = np.unique(entering.point)
    row: dict = {
        "label": whole.label,
        "axis": whole.ray,
        "part": "ray",
        "points": len(points),
        "cells": len(entering.y),
        "horizon": int(whole.T.max()),
        "left_out": whole.left_out,
        "short": len(points) < MINIMAL_POINTS,
        "seeds": int(entering.seeds.min()) if len(points) else 0,
    }
    if len(points) < 2:
        return row
    cells = entering.x, entering.point, entering.phase
    fit = measure(cells[0], entering.y, entering.se, entering.seeds, *cells[1:])
    row |= {
        "start": points[0],
        "stop": points[-1],
        "span": float(points[-1] / points[0]),
        "bend": fit.bend,
    }
    stationary = not (entering.V > 0).any()
    rate = rate_of(entering, "stationary" if stationary else "rate")
    logs = {"rate": rate, "sqrt_log": budget_log(entering)}
    if model.claimed is not None:
        logs["theory"] = rate_of(entering, model.claimed)
    row |= {name: _tidy(project(cells[0], known, *cells[1:])) for name, known in logs.items()}
    if fit.straight:
        row |= {
            "exponent": _tidy(fit.slope),
            "low": _tidy(fit.low),
            "high": _tidy(fit.high),
            "se": _tidy(fit.se),
            "df": fit.df,
        }
    return row


def _step_rows(whole: Curve, model: Growth) -> list[dict]:
    """Return a row for each two points of a ray along B that are a factor of STEP apart."""
    if whole.variable != "B":
        return []
    entering, rows = whole.entering(), []
    pairs = itertools.combinations(np.unique(whole.point), 2)
    for start, stop in pairs:
        if not math.isclose(stop, STEP * start, rel_tol=0.01):
            continue
        ends = entering.at_points(np.array([start, stop]))
        row: dict = {
            "label": whole.label,
            "axis": whole.ray,
            "part": "step",
            "start": start,
            "stop": stop,
            "span": float(stop / start),
            "points": len({*ends.point}),
            "cells": len(ends.y),
            "seeds": 0,
            "horizon": int(whole.T.max()),
            "left_out": whole.left_out,
            "short": False,
        }
        rows.append(row)
        between = _between(ends, model) if row["points"] == 2 else {}
        if between:
            row |= between | {"seeds": int(ends.seeds.min())}
    return rows


def _between(ends: Curve, model: Growth) -> dict:
    """Return the exponent between two points, and what the rate gives there; empty if the points
    share no phase."""
    from scipy import stats

    cells = ends.point, ends.phase
    none = np.zeros(len(ends.y))
    fit = change(ends.y, ends.se, ends.seeds, *cells)
    if fit is None:
        return {}

    def grown(known: np.ndarray) -> float:
        exact = change(known, none, none, *cells)
        assert exact is not None
        return exact.value

    length = grown(ends.x)
    half = float(stats.t.ppf(0.5 + LEVEL / 2, fit.df)) * fit.se / length
    value = fit.value / length
    law = "rate" if (ends.V > 0).any() else "stationary"
    row = {
        "exponent": value,
        "low": value - half,
        "high": value + half,
        "se": fit.se / length,
        "rate": grown(rate_of(ends, law)) / length,
        "sqrt_log": grown(budget_log(ends)) / length,
    }
    if model.claimed is not None:
        row["theory"] = grown(rate_of(ends, model.claimed)) / length
    return {name: _tidy(number) for name, number in row.items()} | {"df": fit.df}


def _left_out(cells: pd.DataFrame) -> str:
    """`grid edge: T=1e+05; saturated: T=1e+04 (2 of 8 phases), T=3e+04`."""
    parts: list[str] = []
    out = cells[(cells["reason"] != "").to_numpy()]
    if out.empty:
        return ""
    for reason, group in out.groupby("reason", sort=True):
        places = []
        for (axis, point), left in group.groupby(["axis", "point"], sort=True):
            whole = ((cells["axis"] == axis) & (cells["point"] == point)).sum()
            share = "" if len(left) == whole else f" ({len(left)} of {whole} phases)"
            places.append(f"{axis}={point:.3g}{share}")
        parts.append(f"{reason}: {', '.join(places)}")
    return "; ".join(parts)


def _variables(cells: pd.DataFrame, model: Growth) -> dict[str, np.ndarray]:
    """Logarithms of T, B, V and K (or K ln K) of each cell."""
    T, B, V, K = (cells[name].to_numpy(dtype=float) for name in "TBVK")
    return {
        "T": np.log(T),
        "B": np.log(B),
        "V": np.log(np.where(V > 0, V, 1.0)),
        "K": np.log(K * np.log(K)) if model.k_log_k else np.log(K),
    }


def _curve(logs: dict[str, np.ndarray], exponents: Mapping[str, float]) -> np.ndarray:
    """Logarithm of the power law with these exponents, shape (cells,)."""
    return np.sum([exponents[name] * logs[name] for name in VARIABLES], axis=0)


def _design(cells: pd.DataFrame, x: np.ndarray, point: np.ndarray, model: Growth) -> Design:
    cut = None
    if model.blocks == "queries":
        cut = np.log2(cells["B"].to_numpy(dtype=float) + 1)
    if model.blocks == "slots":
        slots = [
            t / theory.slot_length(int(t), int(b))
            for t, b in cells[["T", "B"]].itertuples(index=False)
        ]
        cut = np.log2(np.array(slots) + 1)
    return Design(x, point, cells["phase"].to_numpy(), cut)


def _fit_rows(
    cells: pd.DataFrame, design: Design, model: Growth, names: list[str], common: dict, level: float
) -> list[dict]:
    """One row per regressor of a design."""
    logs = _variables(cells, model)
    regret = cells["regret"].to_numpy(dtype=float)
    y = np.log(regret / cells["T"].to_numpy(dtype=float))
    se = cells["se"].to_numpy(dtype=float) / regret
    seeds = cells["seeds"].to_numpy(dtype=float)
    row_of_table = "rate" if (cells["V"].to_numpy() > 0).all() else "stationary"
    rate = design.project(_curve(logs, theory.EXPONENTS[row_of_table]))
    root = design.project(0.5 * np.log(np.log(cells["B"].to_numpy(dtype=float))))
    if model.claimed is None:
        claimed = np.full(len(names), math.nan)
    else:
        law = model.claimed
        law = theory.EXPONENTS[law] if isinstance(law, str) else law
        claimed = design.project(_curve(logs, law))
    points = len({*zip(cells["axis"], cells["point"], strict=True)})
    rows = []
    for j, name in enumerate(names):
        row = {
            **common,
            "axis": name,
            "points": points,
            "cells": len(cells),
            "horizon": int(cells["T"].max()),
            "seeds": int(seeds.min()),
        }
        if design.separated[j]:
            fit = design.fit(y, se, seeds, j, level)
            row |= {
                "exponent": _tidy(fit.value[0]),
                "low": _tidy(fit.low[0]),
                "high": _tidy(fit.high[0]),
                "se": _tidy(fit.se[0]),
                "df": float(fit.df[0]),
                "theory": _tidy(claimed[j]),
                "rate": _tidy(rate[j]),
                "sqrt_log": _tidy(root[j]),
            }
        else:
            note = f"{name} is not separated from the other variables"
            row["left_out"] = "; ".join(filter(None, [common["left_out"], note]))
        rows.append(row)
    return rows


def _tidy(value: float) -> float:
    """12 decimals, no minus zero: takes off rounding noise, which differs between machines."""
    return round(float(value), 12) + 0.0


def _axis_rows(
    label: str, axis: str, cells: pd.DataFrame, model: Growth, level: float
) -> list[dict]:
    """Rows of one axis: upper, all, local."""
    left_out = _left_out(cells)
    entering = _whole_points(cells, cells["reason"] == "")
    parts = [("upper", _upper(entering, axis)), ("all", entering), ("local", _last(entering, 2))]
    rows = []
    for part, chosen in parts:
        span = _span(chosen, axis)
        count = chosen["point"].nunique()
        short = count < MINIMAL_POINTS or (axis in SPANNING and span < MINIMAL_SPAN)
        common = {
            "label": label,
            "part": part,
            "span": span,
            "left_out": left_out,
            "short": bool(short and part != "local"),
            "start": chosen["point"].min(),
            "stop": chosen["point"].max(),
        }
        if count < 2:
            rows.append(
                {
                    **common,
                    "axis": axis,
                    "points": count,
                    "cells": len(chosen),
                    "seeds": 0,
                    "horizon": int(cells["T"].max()),
                }
            )
            continue
        x = _variables(chosen, model)[axis]
        design = _design(chosen, x, chosen["point"].to_numpy(), model)
        rows += _fit_rows(chosen, design, model, [axis], common, level)
    return rows


def _whole_points(cells: pd.DataFrame, mask: pd.Series) -> pd.DataFrame:
    """The cells of the mask whose point keeps at least half of its phases."""
    if mask.all():
        return cells
    kept = mask.groupby(cells["point"]).transform("mean") >= 0.5
    return cells[mask & kept]


def _budgets(cells: pd.DataFrame) -> pd.Series:
    """Typical budget of each point (geometric mean over its phases), in the axis' order."""
    return np.exp(np.log(cells["B"].astype(float)).groupby(cells["point"]).mean())


def _span(cells: pd.DataFrame, axis: str) -> float:
    """Ratio the points span: of budgets on T and B, else of the axis' variable; NaN if empty."""
    if cells.empty:
        return math.nan
    if axis in SPANNING:
        typical = _budgets(cells)
        return float(typical.max() / typical.min())
    variable = cells[axis]
    return float(variable.max() / variable.min())


def _last(cells: pd.DataFrame, count: int) -> pd.DataFrame:
    """The cells of the last `count` points of an axis."""
    return cells[cells["point"].isin(np.sort(cells["point"].unique())[-count:])]


def _upper(cells: pd.DataFrame, axis: str) -> pd.DataFrame:
    """The upper half of an axis, grown downwards until it has the points and the span needed."""
    total = cells["point"].nunique()
    count = min(max(math.ceil(total / 2), UPPER_POINTS), total)
    while count < total and axis in SPANNING and _span(_last(cells, count), axis) < MINIMAL_SPAN:
        count += 1
    return _last(cells, count)
