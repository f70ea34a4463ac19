"""Who is how far from the best: ratios of regret with intervals, in worlds that change or not."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from confee.evidence.ranking import MARGIN
from confee.rendering import looks, numbers, style
from confee.rendering.cells import all_variations
from confee.rendering.figures.shootout import order

ROW = 0.135
"""Inches a row."""

WORLDS = {"known": "changing", "zero": "stationary"}


@style.styled
def draw(ranking: pd.DataFrame) -> Figure:
    """A row a policy, grouped by what it is told; regret over that of the best policy not told the
    path, with 95 % intervals over seeds, for each budget (columns) and world (rows of panels).

    Filled: the mean over adversaries. Hollow: the worst of them.

    `ranking`: situation, V, budget, by, label, told, ratio, low, high.
    """
    table = all_variations(ranking[ranking["situation"].isin(WORLDS)])
    if table.empty:
        return style.empty("no policies were ranked")
    worlds = [w for w in WORLDS if w in set(table["situation"])]
    budgets = sorted(table["budget"].unique())
    mean = table[table["by"] == "mean"].assign(norm=lambda rows: rows["ratio"])
    rows = [order(mean[mean["situation"] == world]) for world in worlds]
    heights = [len(labels) * ROW + 0.3 for labels in rows]
    fig = style.figure(sum(heights) + 0.35, w_pad=0.03, wspace=0.02, h_pad=0.02, hspace=0.02)
    axes = fig.subplots(len(worlds), len(budgets), squeeze=False, sharex=True,
                        height_ratios=heights)  # fmt: skip
    low, top = table[["low", "ratio"]].min(axis=None), table[["high", "ratio"]].max(axis=None)
    told = table.drop_duplicates("label").set_index("label")["told"]
    for line, world, labels in zip(axes, worlds, rows, strict=True):
        for ax, budget in zip(line, budgets, strict=True):
            mine = table[(table["situation"] == world) & (table["budget"] == budget)]
            _panel(ax, mine, labels, told)
            first = ax is line[0]
            ax.set_yticks(range(len(labels)), [looks.display(n) for n in labels] if first else [],
                          fontsize=7)  # fmt: skip
            ax.set_title(f"{WORLDS[world]}, {numbers.budget(budget)}", fontsize=8, pad=3)
            numbers.log_axis(ax, "x", low / 1.1, top * 1.15, 4)
            if world == worlds[-1]:
                ax.set_xlabel("regret over the best", fontsize=8)
    handles = [
        Line2D([], [], color=style.INK, marker="o", linestyle="none",
               label="mean over adversaries"),
        Line2D([], [], color=style.INK, marker="o", markerfacecolor="white", linestyle="none",
               label="worst adversary"),
        Patch(facecolor="#dddddd", label="within 5%"),
        style.remark("lines part what is told: $T, B$; $S$; $V$"),
    ]  # fmt: skip
    style.legend_below(fig, handles, 4)
    return fig


def _panel(ax, mine: pd.DataFrame, labels: list[str], told: pd.Series) -> None:
    drawn_as = looks.looks(labels)
    ax.axvspan(1, MARGIN, color="#dddddd", linewidth=0, zorder=0)
    for by, shift, face in (("mean", -0.17, None), ("worst", 0.17, "white")):
        for row in mine[mine["by"] == by].itertuples():
            y, look = labels.index(row.label) + shift, drawn_as[row.label]
            if np.isfinite(row.low):
                ax.plot([row.low, row.high], [y, y], color=look.color, linewidth=0.9, zorder=2)
            ax.plot([row.ratio], [y], marker="o", markersize=3, color=look.color,
                    markerfacecolor=face or look.color, markeredgewidth=0.8, zorder=3)  # fmt: skip
    for y, (one, other) in enumerate(pairwise(labels)):
        if told[one] != told[other]:
            ax.axhline(y + 0.5, color=style.INK, linewidth=0.8)
    ax.set_ylim(len(labels) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
