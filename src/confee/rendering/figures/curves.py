"""What the pictures against an axis share: phases averaged, and a line for each label."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from confee import theory
from confee.rendering import looks, numbers, style
from confee.rendering.cells import CELL, keys

LEADERS = ("hyque", "hyque_calibrated", "baque", "odque", "rexp3b")
"""Whose first point the theory's line starts from: the first of these that is drawn."""

SYMBOLS = {"T": "horizon $T$", "B": "budget $B$", "V": "variation $V$", "K": "arms $K$"}

Scale = Callable[[float, float, float, float], float]
"""What regret is divided by: a function of (K, T, B, V)."""


def per_round(_K: float, T: float, _B: float, _V: float) -> float:
    """Regret a round."""
    return T


class Averaged(NamedTuple):
    """`curves`: label, x, y, low, high, eligible, guide, bound; and who had no regret to draw."""

    curves: pd.DataFrame
    zeros: list[str]


def averaged(worst: pd.DataFrame, points: pd.DataFrame, axis: str, scale: Scale) -> Averaged:
    """The geometric mean of regret / scale over the phases of each point, with 95 % intervals.

    The phases' spread is not noise (HyQue's last block moves regret by some 30 %), so intervals
    come from the seeds alone. `guide` and `bound` are the theory's rate and the lower bound at
    the same cells, averaged likewise: a line through them is free of the phases too. A point is
    eligible if half of its phases are, as in the fits.
    """
    columns = ["label", "x", "y", "low", "high", "eligible", "guide", "bound"]
    shown = worst[[*CELL, "regret", "se", "seeds", "eligible"]]
    table = worst_at(shown, points, [axis])
    zeros = looks.ordered(table.loc[~(table["regret"] > 0), "label"])
    table = table[~table["label"].isin(zeros)]
    if table.empty:
        return Averaged(pd.DataFrame(columns=columns), zeros)
    cells = [(row.K, row.T, row.B, row.V) for row in table.itertuples()]
    scales = np.array([scale(*cell) for cell in cells])
    log = np.log(table["regret"].to_numpy(float) / scales)
    relative = (table["se"] / table["regret"]).to_numpy(float)
    rates = np.array([math.log(theory.rate(*c) / s) if c[3] > 0 else math.nan
                      for c, s in zip(cells, scales, strict=True)])  # fmt: skip
    bounds = np.array([math.log(theory.LOWER_BOUND_CONSTANT) if theory.lower_bound_applies(*c)
                       else math.nan for c in cells])  # fmt: skip
    table = table.assign(
        log=log,
        variance=relative**2,
        guide=rates,
        bound=rates + bounds,
        eligible=table["eligible"].astype(bool),
    )
    rows = []
    for (label, x), group in table.groupby(["label", "point"], sort=True):
        middle, phases = group["log"].mean(), len(group)
        error = math.sqrt(group["variance"].sum(skipna=False)) / phases
        half = numbers.t_quantile(group["seeds"].sum() - phases) * error
        rows.append(
            (
                label,
                float(x),
                math.exp(middle),
                math.exp(middle - half),
                math.exp(middle + half),
                bool(group["eligible"].mean() >= 0.5),
                math.exp(group["guide"].mean(skipna=False)),
                math.exp(group["bound"].mean(skipna=False)),
            )
        )
    return Averaged(pd.DataFrame(rows, columns=columns), zeros)


def with_key(frame: pd.DataFrame) -> pd.DataFrame:
    """With the key of each cell, on which frames meet though V may have lost its last digit."""
    return frame.assign(key=keys(frame))


def worst_at(worst: pd.DataFrame, points: pd.DataFrame, axes: Collection[str]) -> pd.DataFrame:
    """The worst cases of the cells on some axes (or maps), with their `point`."""
    here = points.loc[points["axis"].isin(axes), [*CELL, "point"]].drop_duplicates()
    return with_key(here).merge(with_key(worst).drop(columns=CELL), on="key")


# ------------------------------------------------------------------ drawing


def panels(curves: pd.DataFrame) -> tuple[Figure, Axes, Axes | None]:
    """The figure, the axes of the curves, and those of the lower bound where it lies far below.

    The bound is two orders of magnitude below every policy: on one scale with them it would leave
    their slopes no room, so the axis is broken (and says so) when more than half of it were empty.
    """
    drawn = [curves[["y", "low"]].min(axis=None), curves[["y", "high"]].max(axis=None)]
    anchored = _anchored(curves)
    lowest, highest = min([*drawn, *anchored]), max([*drawn, *anchored])
    bound = curves["bound"].dropna()
    tall = 1.8 if curves["label"].nunique() <= 6 else 2.0
    if bound.empty or lowest / bound.max() < max(2.5, (highest / lowest) ** 0.4):
        fig = style.figure(tall + 0.55)
        ax = fig.subplots()
        values = [lowest, highest, *bound]
        numbers.log_axis(ax, "y", *_margins(min(values), max(values)), 6)
        return fig, ax, None
    upper = _margins(lowest, highest)
    lower = _margins(bound.min(), bound.max())
    middle, span = math.sqrt(lower[0] * lower[1]), math.log(upper[1] / upper[0])
    half = max(math.log(lower[1] / lower[0]), 0.2 * span) / 2
    lower = middle * math.exp(-half), middle * math.exp(half)
    # heights in proportion to the decades: slopes can be compared across the break
    fig = style.figure(tall * (1 + 2 * half / span) + 0.6, h_pad=0.02, hspace=0.02)
    ax, low = fig.subplots(2, 1, sharex=True, height_ratios=[span, 2 * half])
    numbers.log_axis(ax, "y", *upper, 6)
    numbers.log_axis(low, "y", *lower, max(2, round(6 * 2 * half / span)))
    _break(ax, low)
    return fig, ax, low


def _margins(low: float, high: float) -> tuple[float, float]:
    margin = max((high / low) ** 0.06, 1.06)
    return low / margin, high * margin


def _break(top: Axes, bottom: Axes) -> None:
    """Mark that the vertical axis is broken between the two."""
    top.spines["bottom"].set_visible(False)
    top.tick_params(axis="x", which="both", length=0, labelbottom=False)
    mark: dict[str, Any] = {"marker": [(-1, -0.5), (1, 0.5)], "markersize": 6, "linestyle": "none",
            "color": style.INK, "mew": 0.8, "clip_on": False}  # fmt: skip
    top.plot([0], [0], transform=top.transAxes, **mark)
    bottom.plot([0], [1], transform=bottom.transAxes, **mark)


def lines(ax: Axes, curves: pd.DataFrame, drawn_as: Mapping[str, looks.Look] | None = None) -> None:
    """A line for each label with its intervals; hollow where a point enters no fit."""
    drawn_as = drawn_as or looks.looks(curves["label"])
    labels = looks.ordered(curves["label"])
    for rank, label in enumerate(labels):
        curve = curves[curves["label"] == label].sort_values("x")
        look = drawn_as[label]
        zorder = 4 - rank / len(labels)
        spread = [curve["y"] - curve["low"], curve["high"] - curve["y"]]
        ax.errorbar(
            curve["x"],
            curve["y"],
            yerr=np.nan_to_num(np.array(spread, dtype=float)),
            color=look.color,
            linestyle=look.linestyle,
            linewidth=look.linewidth,
            elinewidth=0.9,
            capsize=1.8,
            capthick=0.9,
            zorder=zorder,
        )
        for filled, group in curve.groupby("eligible"):
            ax.plot(
                group["x"],
                group["y"],
                linestyle="none",
                marker=look.marker,
                color=look.color,
                markerfacecolor=look.color if filled else "white",
                markeredgewidth=0.9,
                zorder=zorder + 0.01,
            )


def leader(curves: pd.DataFrame) -> str | None:
    """The label whose first point anchors the theory's line."""
    return next((label for label in LEADERS if (curves["label"] == label).any()), None)


def guide(ax: Axes, curves: pd.DataFrame) -> float | None:
    """The theory's rate, dashed, from the leader's first eligible point on. Returns its slope."""
    line = _anchored(curves)
    if line.empty:
        return None
    ax.plot(line.index, line, zorder=1.5, **style.THEORY)
    if len(line) < 2:
        return math.nan
    return float(np.polyfit(np.log(line.index), np.log(line), 1)[0])


def _anchored(curves: pd.DataFrame) -> pd.Series:
    """The theory's rate by x, scaled to pass through the leader's first eligible point."""
    curve = curves[(curves["label"] == leader(curves)) & curves["guide"].notna()].sort_values("x")
    if curve.empty:
        return pd.Series(dtype=float)
    first = curve.loc[curve["eligible"].idxmax()]
    return curve.set_index("x")["guide"] * (first["y"] / first["guide"])


def bound(ax: Axes, curves: pd.DataFrame) -> bool:
    """The lower bound, dotted, over the union of all points where its proof works."""
    line = curves.dropna(subset="bound").groupby("x")["bound"].mean()
    if line.empty:
        return False
    ax.plot(line.index, line, zorder=1.5, **style.BOUND)
    if len(line) == 1:
        ax.plot(line.index, line, marker="_", markersize=12, color=style.INK)
    return True


def horizontal(axes: list[Axes], curves: pd.DataFrame, axis: str) -> None:
    """The axis of the sweep, logarithmic, under the lowest of the axes."""
    places = sorted(set(curves["x"]))
    low, high = places[0], places[-1]
    margin = max((high / low) ** 0.04, 1.05)
    few = len(places) == 1 or (axis == "K" and len(places) <= 8)
    numbers.log_axis(axes[-1], "x", low / margin, high * margin, 8, ticks=places if few else None)
    axes[-1].set_xlabel(SYMBOLS[axis])


def handle(look: looks.Look, text: str) -> Line2D:
    """The legend's sample of a policy."""
    return Line2D(
        [], [], color=look.color, marker=look.marker, linestyle=look.linestyle,
        linewidth=look.linewidth, label=text,
    )  # fmt: skip


def hollow() -> Line2D:
    """The legend's sample of a point that enters no fit."""
    return Line2D(
        [], [], color=style.GREY, marker="o", linestyle="none", markerfacecolor="white",
        markeredgewidth=0.9, label="hollow: saturated or outside the fit",
    )  # fmt: skip


def remarks(curves: pd.DataFrame, zeros: list[str], bounded: bool) -> list[Line2D]:
    """The end of the legend: the bound, hollow points, and what the axes can't show."""
    said = (
        [Line2D([], [], label="lower bound, every policy of arms", **style.BOUND)]
        if bounded
        else []
    )
    if not curves["eligible"].all():
        said.append(hollow())
    said += style.no_regret(zeros)
    if curves["low"].isna().any():
        said.append(style.remark("no bar: no standard error"))
    return said
