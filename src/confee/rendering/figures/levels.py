"""Normalised regret along rays in B, at small and large V: flat where the rate holds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from confee.paper import theory
from confee.rendering import looks, numbers, style
from confee.rendering.catalogue import BASICS, Figure
from confee.rendering.figures.curves import worst_at
from confee.rendering.figures.panels import FLAT, NORMALISED

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Drawing

RAYS = "floor_"
"""What the names of its rays begin with; see the experiment `floor`."""


@style.styled
def draw(worst: pd.DataFrame, points: pd.DataFrame) -> Drawing:
    """Draw R / (T (K V/B)^{1/3}) against B, a panel per policy, with the factors by which it grows.

    Parameters
    ----------
    worst
        label, K, T, B, V, regret, se, seeds, saturated.
    points
        label, axis, point, K, T, B, V; axes that begin with RAYS are shown.
    """
    table = averaged(worst, points)
    if table.empty:
        return style.empty("No rays at several variations were played.")
    labels = looks.ordered(table["label"])
    columns = min(2, len(labels))
    lines = math.ceil(len(labels) / columns)
    fig = style.figure(0.3 + 2.1 * lines, style.COLUMN, w_pad=0.03, wspace=0.03)
    axes = fig.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
    kinds = sorted(table["V"].unique())
    for ax in axes.flat[len(labels) :]:
        ax.set_visible(False)
    for ax, label in zip(axes.flat, labels, strict=False):
        mine = table[table["label"] == label]
        for place, kind in enumerate(kinds):
            _line(ax, mine[mine["V"] == kind], place)
        flat = math.exp(np.log(mine.loc[mine["point"] == mine["point"].min(), "y"]).mean())
        ax.axhline(flat, zorder=1.5, **style.THEORY)
        ax.set_title(_title(label, mine), fontsize=8, pad=3)
        ax.set_xlabel("budget $B$")
    numbers.log_axis(axes[0, 0], "x", table["point"].min() / 1.5, table["point"].max() * 1.5, 4)
    numbers.log_axis(axes[0, 0], "y", table["y"].min() / 1.3, table["y"].max() * 1.3, 5)
    for ax in axes[:, 0]:
        ax.set_ylabel(NORMALISED)
    handles = [
        style.sample(
            color=looks.PALETTE[i], marker=looks.MARKERS[i], linewidth=1.1, label=f"$V$ = {kind:g}"
        )
        for i, kind in enumerate(kinds)
    ]
    handles.append(style.sample(label=FLAT, **style.THEORY))
    if table["saturated"].any():
        handles.append(style.point("saturated", markerfacecolor="white"))
    style.legend_below(fig, handles, 4)
    return fig


def _title(label: str, mine: pd.DataFrame) -> str:
    """Return the name, and the factors by which the flattest and the steepest line grow per 10x in
    B."""
    factors = [numbers.factor(10**row.slope) for row in _ends(mine)]
    if not factors:
        return looks.display(label)
    by = " to ".join(dict.fromkeys(factors))
    return f"{looks.display(label)}: \N{MULTIPLICATION SIGN} {by} per decade"


def _ends(mine: pd.DataFrame) -> list:
    """Return the flattest and the steepest line of a policy, or its only one: V, start, stop,
    factor, low, high between its first and last point that is not saturated."""
    import pandas as pd

    rows = []
    for V, line in mine[~mine["saturated"]].sort_values("point").groupby("V"):
        if len(line) < 2:
            continue
        first, last = line.iloc[0], line.iloc[-1]
        factor = last["y"] / first["y"]
        spread = math.exp(math.hypot(first["half"] / first["y"], last["half"] / last["y"]))
        slope = round(math.log(factor) / math.log(last["point"] / first["point"]), 9)
        rows.append(
            (V, first["point"], last["point"], factor, factor / spread, factor * spread, slope)
        )
    columns = ["V", "start", "stop", "factor", "low", "high", "slope"]
    growth = pd.DataFrame(rows, columns=columns).sort_values(["slope", "V"])
    return list(growth.itertuples())[:: max(len(growth) - 1, 1)]


def finding(worst: pd.DataFrame, points: pd.DataFrame) -> str:
    """Return by which factor normalised regret grows along the steepest line of each policy."""
    table = averaged(worst, points)
    clauses = []
    for label in looks.ordered(table["label"]):
        ends = _ends(table[table["label"] == label])
        if ends:
            row = ends[-1]
            span = f"$B = {_power(row.start)}$ to ${_power(row.stop)}$"
            clauses.append(
                f"{looks.display(label)}'s {_fold(row)} at $V = {row.V:g}$ (from {span})"
            )
    if not clauses:
        return "No line has two budgets at which regret is not saturated."
    ratio = (points["T"] / points["B"])[points["axis"].str.startswith(RAYS)].median()
    return f"At $T = {ratio:.3g}\\,B$ normalised regret grows at most: {'; '.join(clauses)}."


def _fold(row) -> str:
    """Return `4.0-fold [3.7, 4.3]`."""
    value, space, limits = numbers.factor(row.factor, row.low, row.high).partition(" ")
    return f"{value}-fold{space}{limits}"


def _power(B: float) -> str:
    return numbers.number(B).strip("$")


def _line(ax, rows: pd.DataFrame, place: int) -> None:
    rows = rows.sort_values("point")
    colour = looks.PALETTE[place]
    ax.errorbar(
        rows["point"],
        rows["y"],
        rows["half"].fillna(0),
        color=colour,
        linewidth=1.1,
        elinewidth=0.8,
        capsize=1.5,
    )
    for row in rows.itertuples():
        face = "white" if row.saturated else colour
        ax.plot(
            [row.point],
            [row.y],
            marker=looks.MARKERS[place],
            color=colour,
            markerfacecolor=face,
            linestyle="none",
        )


def averaged(worst: pd.DataFrame, points: pd.DataFrame) -> pd.DataFrame:
    """Return label, V, point, y, half (of the 95 % CI), saturated."""
    import pandas as pd

    names = {axis for axis in points["axis"] if axis.startswith(RAYS)}
    table = worst_at(worst, points, names)
    table = table[(table["regret"] > 0) & (table["V"] > 0) & (table["label"] != "uniform")]
    columns = ["label", "V", "point", "y", "half", "saturated"]
    if table.empty:
        return pd.DataFrame(columns=columns)
    rates = np.array([theory.rate(r.K, r.T, r.B, r.V) for r in table.itertuples()])
    table = table.assign(log=np.log(table["regret"] / rates), error=table["se"] / table["regret"])
    rows = []
    for (label, V, point), phases in table.groupby(["label", "V", "point"]):
        y = math.exp(phases["log"].mean())
        half = y * numbers.half_width(phases["error"], phases["seeds"])
        rows.append((label, V, float(point), y, half, phases["saturated"].mean() > 0.5))
    return pd.DataFrame(rows, columns=columns)


FIGURE = Figure(
    "levels",
    "Normalised regret at small and large V",
    section=BASICS,
    place=7,
    needs=("worst", "points"),
    axes=("floor_V4", "floor_V16"),
    claims=("hyque-floor", "hyque-rate"),
    draw=draw,
    finding=finding,
    reading=(
        "Normalised: divided by the paper's rate $T(KV/B)^{1/3}$, at which a line is flat. Bars: "
        "95 % CIs."
    ),
)
