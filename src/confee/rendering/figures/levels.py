"""Normalised regret against the horizon, at small and large V: flat where the rate holds."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from confee import theory
from confee.rendering import looks, numbers, style
from confee.rendering.figures.curves import worst_at

LARGEST = "$\\sqrt{B}/K$"

MAPS = ("floor", "billion")
"""Of experiment `floor`."""


@style.styled
def draw(worst: pd.DataFrame, points: pd.DataFrame, names: tuple[str, ...] = MAPS) -> Figure:
    """A panel a policy: R / (T (K V/B)^{1/3}) against T, a line for each V, phases averaged.

    `worst`: label, K, T, B, V, regret, se, seeds, saturated; `points`: label, axis (one of
    `names`), point, K, T, B, V. Saturated points are hollow.
    """
    table = _table(worst, points, names)
    if table.empty:
        return style.empty("no map of horizons and variations was played")
    labels = [name for name in looks.ordered(table["label"]) if name != "uniform"]
    fig = style.figure(2.3, w_pad=0.03, wspace=0.03)
    axes = fig.subplots(1, len(labels), sharex=True, sharey=True, squeeze=False)[0]
    kinds = sorted(table["kind"].unique(), key=lambda kind: (kind == LARGEST, _value(kind)))
    for ax, label in zip(axes, labels, strict=True):
        mine = table[table["label"] == label]
        for place, kind in enumerate(kinds):
            _line(ax, mine[mine["kind"] == kind], place)
        ax.set_title(looks.display(label), fontsize=8, pad=3)
        ax.set_xlabel("horizon $T$")
    drawn = table[table["label"].isin(labels)]
    numbers.log_axis(axes[0], "x", drawn["point"].min() / 1.5, drawn["point"].max() * 1.5, 6)
    numbers.log_axis(axes[0], "y", drawn["y"].min() / 1.3, drawn["y"].max() * 1.3, 5)
    axes[0].set_ylabel("$R\\;/\\;(T\\,(KV/B)^{1/3})$")
    handles = [
        Line2D([], [], color=looks.PALETTE[i], marker=looks.MARKERS[i], linewidth=1.1,
               label=f"$V$ = {kind}")
        for i, kind in enumerate(kinds)
    ]  # fmt: skip
    handles.append(Line2D([], [], color=style.GREY, marker="o", markerfacecolor="white",
                          linestyle="none", label="saturated"))  # fmt: skip
    style.legend_below(fig, handles, 3)
    return fig


def _line(ax, rows: pd.DataFrame, place: int) -> None:
    rows = rows.sort_values("point")
    colour = looks.PALETTE[place]
    ax.errorbar(rows["point"], rows["y"], rows["half"], color=colour, linewidth=1.1,
                elinewidth=0.8, capsize=1.5)  # fmt: skip
    for row in rows.itertuples():
        face = "white" if row.saturated else colour
        ax.plot([row.point], [row.y], marker=looks.MARKERS[place], color=colour,
                markerfacecolor=face, linestyle="none")  # fmt: skip


def _value(kind: str) -> float:
    return math.inf if kind == LARGEST else float(kind)


def _table(worst: pd.DataFrame, points: pd.DataFrame, names: tuple[str, ...]) -> pd.DataFrame:
    """label, kind (of V), point, y, half (of the 95 % interval), saturated."""
    table = worst_at(worst, points, names)
    table = table[table["regret"] > 0]
    if table.empty:
        return pd.DataFrame(columns=["label", "kind", "point", "y", "half", "saturated"])
    rates = np.array([theory.rate(r.K, r.T, r.B, r.V) for r in table.itertuples()])
    top = np.isclose(table["V"], np.sqrt(table["B"].astype(float)) / table["K"], rtol=1e-6)
    table = table.assign(
        log=np.log(table["regret"] / rates),
        error=(table["se"] / table["regret"]).fillna(0.0),
        kind=np.where(top, LARGEST, table["V"].map(lambda v: f"{v:g}")),
    )
    rows = []
    for (label, kind, point), some in table.groupby(["label", "kind", "point"]):
        y = math.exp(some["log"].mean())
        error = math.sqrt((some["error"] ** 2).sum()) / len(some)
        half = y * numbers.t_quantile(max(some["seeds"].sum() - len(some), 1)) * error
        rows.append((label, kind, float(point), y, half, some["saturated"].mean() > 0.5))
    return pd.DataFrame(rows, columns=["label", "kind", "point", "y", "half", "saturated"])
