"""Regret over the rate, all over the plane of budgets and variations: where the rate holds."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from confee import theory
from confee.rendering import looks, style
from confee.rendering.figures.curves import worst_at

COLOURS = "cividis_r"


@style.styled
def draw(worst: pd.DataFrame, points: pd.DataFrame, name: str = "regimes") -> Figure:
    """A panel a policy over (ln B / ln T, ln V / ln B): worst-case regret over T (K V/B)^{1/3}.

    Where the rate holds, the number does not change along a row or a column. Saturated cells
    (regret above half of uniform play's worst case) are hatched: the number falls there because
    regret cannot grow. The line bounds Theorem 4.1: B >= T^0.8, V from 1/K to sqrt(B)/K.

    `worst`: label, K, T, B, V, regret, saturated; `points`: label, axis (`name`), K, T, B, V. One
    K and one nominal T; phases are averaged.
    """
    table = _table(worst, points, name)
    if table.empty:
        return style.empty("no map of regimes was played")
    labels = looks.ordered(table["label"])
    columns = min(3, len(labels))
    rows = math.ceil(len(labels) / columns)
    fig = style.figure(0.45 + 2.2 * rows, w_pad=0.02, wspace=0.02)
    axes = fig.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    scale = LogNorm(table["ratio"].min(), table["ratio"].max())
    xs, ys = sorted(table["beta"].unique()), sorted(table["nu"].unique())
    for place, ax in enumerate(axes.flat):
        if place >= len(labels):
            ax.set_visible(False)
            continue
        mine = table[table["label"] == labels[place]]
        _heat(ax, mine, xs, ys, scale)
        _region(ax, mine, xs, ys)
        ax.set_title(looks.display(labels[place]), fontsize=8, pad=3)
    for ax in axes[-1]:
        ax.set_xlabel(r"$\ln B\,/\,\ln T$")
    for ax in axes[:, 0]:
        ax.set_ylabel(r"$\ln V\,/\,\ln B$")
    handles = [
        Line2D([], [], color="#D55E00", linewidth=1.6, label="range of Theorem 4.1"),
        Patch(facecolor="white", edgecolor=style.GREY, hatch="////", label="saturated"),
        style.remark("numbers: $R\\;/\\;(T\\,(KV/B)^{1/3})$"),
    ]
    style.legend_below(fig, handles, 3)
    return fig


def _table(worst: pd.DataFrame, points: pd.DataFrame, name: str) -> pd.DataFrame:
    """label, K, T, B, V, beta, nu (rounded), ratio, saturated."""
    table = worst_at(worst, points, [name])
    if table.empty:
        return pd.DataFrame(columns=[*table, "beta", "nu", "ratio"])
    rates = [theory.rate(r.K, r.T, r.B, r.V) for r in table.itertuples()]
    table["ratio"] = table["regret"] / rates
    table["beta"] = (np.log(table["B"]) / np.log(table["T"])).round(3)
    table["nu"] = (np.log(table["V"]) / np.log(table["B"])).round(3)
    return table[table["ratio"] > 0]


def _heat(ax, mine: pd.DataFrame, xs: list[float], ys: list[float], scale: LogNorm) -> None:
    """Coloured cells with their numbers; saturated ones are hatched."""
    from matplotlib import colormaps

    for (beta, nu), cells in mine.groupby(["beta", "nu"]):
        x, y = xs.index(beta), ys.index(nu)
        ratio = float(np.exp(np.log(cells["ratio"]).mean()))
        colour = colormaps[COLOURS](scale(ratio))
        hatch = "////" if cells["saturated"].mean() > 0.5 else None
        ax.add_patch(_square(x, y, facecolor=colour, edgecolor="white", linewidth=0.6))
        if hatch:
            ax.add_patch(
                _square(x, y, facecolor="none", edgecolor="white", hatch=hatch, linewidth=0)
            )
        dark = np.dot(colour[:3], (0.299, 0.587, 0.114)) < 0.55
        ink = "white" if dark else style.INK
        ax.text(x, y, f"{ratio:.2g}", ha="center", va="center", fontsize=6, color=ink,
                bbox={"facecolor": colour, "edgecolor": "none", "pad": 0.6})  # fmt: skip
    ax.set_xticks(range(len(xs)), [f"{x:.3g}" for x in xs], fontsize=7)
    ax.set_yticks(range(len(ys)), [f"{y:.2g}" for y in ys], fontsize=7)
    ax.set(xlim=(-0.5, len(xs) - 0.5), ylim=(-0.5, len(ys) - 0.5))
    ax.grid(False)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)


def _square(x: float, y: float, **how):
    from matplotlib.patches import Rectangle

    return Rectangle((x - 0.5, y - 0.5), 1, 1, **how)


def _region(ax, mine: pd.DataFrame, xs: list[float], ys: list[float]) -> None:
    """The border between cells inside the theorem's range and those outside."""
    inside = {
        (xs.index(r.beta), ys.index(r.nu))
        for r in mine.itertuples()
        if theory.theorem_range(r.K, r.T, r.B, r.V)
    }
    for x, y in inside:
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            if (x + dx, y + dy) in inside:
                continue
            across = (x + dx / 2 - abs(dy) / 2, x + dx / 2 + abs(dy) / 2)
            up = (y + dy / 2 - abs(dx) / 2, y + dy / 2 + abs(dx) / 2)
            ax.plot(across, up, color="#D55E00", linewidth=1.6, solid_capstyle="round",
                    clip_on=False, zorder=4)  # fmt: skip
