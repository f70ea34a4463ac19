"""Rexp3B whose idle rounds replay the set of arms it queried, as printed, or the multiset."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from confee.paper import proofs
from confee.rendering import looks, numbers, style
from confee.rendering.catalogue import MEANS, Figure
from confee.rendering.cells import CELL
from confee.rendering.figures import curves

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Drawing
    from matplotlib.lines import Line2D

SET, MULTISET = "rexp3b(pool=set)", "rexp3b"
UNIFORM = "uniform"
PAIR = (MULTISET, SET)
LABELS = (*PAIR, UNIFORM)
NAMES = {
    SET: "Rexp3B as printed (set)",
    MULTISET: "Rexp3B corrected (rounds)",
    UNIFORM: "uniform play",
}
NOTHING = "No cell was played with both ways of replaying."

AXES = ("B", "T")
"""Axes of which the first is drawn along which both were played."""


@style.styled
def draw(worst: pd.DataFrame, points: pd.DataFrame) -> Drawing:
    """Draw worst-case R/T of both against B, or else T, with the proof's bound and uniform play.

    Along B it is the sweep of the grid, or the longest ray with idle rounds.

    `worst`: label, K, T, B, V, regret, se, seeds, eligible; `points`: label, axis, point, K, T, B,
    V. Only points at which both were played.
    """
    axis, table = _shown(worst, points)
    if table.empty:
        return style.empty(NOTHING)
    fig = style.figure(2.5, width=style.COLUMN, w_pad=0.03)
    ax = fig.subplots()
    curves.lines(ax, table)
    line = table.drop_duplicates("x").sort_values("x")
    ax.plot(line["x"], line["proved"], zorder=1.5, **style.BOUND)
    margin = (line["x"].max() / line["x"].min()) ** 0.04 * 1.02
    numbers.log_axis(ax, "x", line["x"].min() / margin, margin * line["x"].max(), 6)
    low, high = table[["y", "low"]].min(axis=None), table[["y", "high", "proved"]].max(axis=None)
    numbers.log_axis(ax, "y", low / 1.15, 1.15 * high, 6)
    ax.set(xlabel=curves.SYMBOLS[axis], ylabel="worst-case $R/T$")
    style.legend_below(fig, _legend(table), 2)
    return fig


def finding(worst: pd.DataFrame, points: pd.DataFrame) -> str:
    """Return the ratio of regret, set over multiset, and at how many points each exceeds the
    proof's bound."""
    axis, table = _shown(worst, points)
    if table.empty:
        return NOTHING
    over = {label: _over(table[table["label"] == label]) for label in PAIR}
    return (
        f"Rexp3B as printed has {_ratio(table, axis, table['x'].max())} times the regret of "
        f"the corrected one, and exceeds the bound of its proof at {over[SET]} points (corrected: "
        f"{over[MULTISET]})."
    )


def _shown(worst: pd.DataFrame, points: pd.DataFrame) -> tuple[str, pd.DataFrame]:
    """Return the axis that is drawn, and its points: none if there is no such axis."""
    tables = [(axis, _table(worst, points, axis)) for axis in AXES]
    return next((pair for pair in tables if len(pair[1])), tables[0])


def _ratio(table: pd.DataFrame, axis: str, x: float) -> str:
    """Return set over multiset at a point, with the 95 % interval of independent seeds."""
    at = table[table["x"] == x].set_index("label")
    over = math.log(at.loc[SET, "y"] / at.loc[MULTISET, "y"])
    half = math.hypot(*(math.log(at.loc[label, "high"] / at.loc[label, "y"]) for label in PAIR))
    limits = f" [{math.exp(over - half):.3g}, {math.exp(over + half):.3g}]"
    where = f"(at ${axis}$ = {numbers.number(float(f'{x:.2g}'))})"
    return f"{math.exp(over):.3g}{'' if math.isnan(half) else limits} {where}"


def _over(mine: pd.DataFrame) -> str:
    """Return at how many points a policy's whole interval lies above the bound."""
    return f"{(mine['low'].fillna(mine['y']) > mine['proved']).sum()} of {len(mine)}"


def _table(worst: pd.DataFrame, points: pd.DataFrame, axis: str) -> pd.DataFrame:
    """Return the points of the axis as `curves.averaged` does, with `proved`: the bound over T.

    Of the cells at which both were played: only there do their phases agree.
    """
    points = _along(points[points["label"].isin(LABELS)], axis)
    mine = _with_setting(points)
    both = mine[mine["label"].isin(PAIR)].groupby("setting")["label"].nunique() == len(PAIR)
    mine = mine[mine["setting"].isin(both[both].index)]
    table, _ = curves.averaged(worst[worst["label"].isin(LABELS)], mine, axis)
    pairs = table[table["label"].isin(PAIR)]["x"].value_counts()
    table = table[table["x"].map(pairs) == len(PAIR)]
    cells = mine.drop_duplicates("setting")
    bounds = [math.log(proofs.rexp3b_bound(c.K, c.T, c.B, c.V) / c.T) for c in cells.itertuples()]
    proved = cells.assign(log=bounds).groupby("point")["log"].mean().map(math.exp)
    return table.assign(proved=table["x"].map(proved))


def _along(points: pd.DataFrame, axis: str) -> pd.DataFrame:
    """Return the cells of an axis of the grid, else of the longest ray with T > B that both were
    played on, as cells of that axis."""
    sweep = points[points["axis"] == axis]
    if len(sweep) or "variable" not in points:
        return sweep
    rays = points[(points["variable"] == axis) & (points["T"] > points["B"]) & (points["V"] > 0)]
    rays = (
        rays[rays["label"].isin(PAIR)]
        .groupby("axis")
        .filter(lambda cells: cells["label"].nunique() == len(PAIR))
    )
    if rays.empty:
        return sweep
    longest = rays.groupby("axis")["point"].nunique().idxmax()
    mine = points[(points["axis"] == longest) & (points["V"] > 0)]
    return mine.assign(axis=axis)


def _with_setting(points: pd.DataFrame) -> pd.DataFrame:
    return points.assign(setting=list(points[CELL[1:]].itertuples(index=False, name=None)))


def _legend(every: pd.DataFrame) -> list[Line2D]:
    shown = looks.looks(every["label"])
    handles = [curves.handle(shown[label], NAMES[label]) for label in LABELS if label in shown]
    handles.append(style.sample(label="bound of the proof", **style.BOUND))
    return handles + ([] if every["eligible"].all() else [curves.hollow()])


FIGURE = Figure(
    "replay",
    "What Rexp3B's idle rounds replay",
    section=MEANS,
    place=6,
    needs=("worst", "points"),
    axes=("T", "label:rexp3b", "label:rexp3b(pool=set)"),
    claims=("rexp3b-finite",),
    draw=draw,
    finding=finding,
    reading=(
        "As printed, an idle round draws from the set of queried arms; corrected, a queried "
        "round, whose arm it repeats. 95 % CIs; hollow: saturated."
    ),
)
