"""Who is how far from the best: ratios of regret with intervals, in worlds that change or not."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from confee.rendering import looks, numbers, style
from confee.rendering.catalogue import WHO, Figure
from confee.rendering.cells import all_variations
from confee.rendering.figures.shootout import PAPERS, behind, name, order, where_of
from confee.simulation.needs import RANKED

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Drawing

ROW = 0.16
"""Inches a row."""

WORLDS = {"known": "changing", "zero": "stationary"}
BY = {"worst": 0.13, "mean": -0.13}
"""Criterion -> where in its row it is drawn, in the order of drawing."""

BEST, BLIND, OTHER = "#D55E00", "#0072B2", "#999999"
"""Colours of the best policies, of the best of those that are given T and B only, and of others."""

MEANINGS = {
    BEST: "possibly the best, or within 5 % of it",
    BLIND: "the same, among those given only $T$ and $B$",
}
"""Colours of points -> what they mean."""

GIVEN = {
    "nothing": "given only $T$ and $B$",
    "S": "given number\nof changes",
    "V": "given $V$",
    "path": "path",
}
"""What a policy is given beside K, T and B -> how the figure says it."""

WHOSE = {"unknown": "Of the policies given only $T$ and $B$", "zero": "In stationary worlds"}
"""Situations, of which the finding reports the first with a ranking -> how it begins."""

MOST = 2
"""Names that the finding lists at a budget."""


@style.styled
def draw(ranking: pd.DataFrame) -> Drawing:
    """Draw regret over that of the best policy that is not given the path, with 95 % intervals.

    A row is a policy, grouped by what it is given; a column is a world and a budget.

    Filled: the mean over adversaries. Hollow: the worst of them. Coloured: the set of the best.
    Policies with options of their own are shown where they are in it.

    `ranking`: situation, V, budget, by, label, told, ratio, low, high, best.
    """
    table = all_variations(ranking)
    shown = table[table["situation"].isin(WORLDS)]
    if shown.empty:
        return style.empty("no policies were ranked")
    worlds = [w for w in WORLDS if w in set(shown["situation"])]
    columns = [
        (w, b)
        for w in worlds
        for b in sorted(shown.loc[shown["situation"] == w, "budget"].unique())
    ]
    plain = ~shown["label"].str.contains("(", regex=False)
    shown = shown[plain | shown["label"].isin(shown.loc[shown["best"].astype(bool), "label"])]
    labels = order(shown[(shown["by"] == "mean") & (shown["situation"] == worlds[0])])
    labels += order(shown[~shown["label"].isin(labels)])
    fig = style.figure(len(labels) * ROW + 0.75, w_pad=0.02, wspace=0.03)
    colours: set[str] = set()
    axes = fig.subplots(1, len(columns), squeeze=False, sharey=True)[0]
    known = shown.drop_duplicates("label").set_index("label")["told"]
    for ax, (world, budget) in zip(axes, columns, strict=True):
        mine = shown[(shown["situation"] == world) & (shown["budget"] == budget)]
        blind = table[(table["situation"] == "unknown") & (table["budget"] == budget)]
        colours |= _panel(ax, mine, blind if world == "known" else blind[:0], labels, known)
        mine = shown[shown["situation"] == world]
        low, top = mine[["low", "ratio"]].min(axis=None), mine[["high", "ratio"]].max(axis=None)
        numbers.log_axis(ax, "x", low / 1.3, max(top, 2.0) * 1.3, 3)
        ax.set_title(f"{numbers.budget(budget)}\n{WORLDS[world]}", pad=3)
    names = axes[0].set_yticks(range(len(labels)), [looks.display(n) for n in labels])
    for label, tick in zip(labels, names, strict=True):
        tick.label1.set_fontweight("bold" if label in PAPERS else "normal")
    _groups(axes[-1], [known[label] for label in labels])
    style.legend_below(fig, _legend(colours), 2, "regret over that of the best policy")
    return fig


def _panel(
    ax, mine: pd.DataFrame, blind: pd.DataFrame, labels: list[str], known: pd.Series
) -> set[str]:
    """Draw a row per policy, and return the colours of its points.

    `blind`: the ranking of those that are given T and B only.
    """
    colours = set()
    best = blind.loc[blind["best"].astype(bool), ["label", "by"]]
    blindly = set(best.itertuples(index=False, name=None))
    for by, shift in BY.items():
        for row in mine[mine["by"] == by].itertuples():
            y = labels.index(row.label) + shift
            colour = BEST if row.best else BLIND if (row.label, by) in blindly else OTHER
            colours.add(colour)
            if np.isfinite(row.low):
                ax.plot([row.low, row.high], [y, y], color=colour, linewidth=0.9, zorder=2)
            ax.plot(
                [row.ratio],
                [y],
                marker="o",
                markersize=3.6,
                color=colour,
                markerfacecolor=colour if by == "mean" else "white",
                markeredgewidth=0.9,
                zorder=4 if row.best else 3,
            )
    for y, (above, below) in enumerate(pairwise(labels)):
        if known[above] != known[below]:
            ax.axhline(y + 0.5, color=style.INK, linewidth=0.8)
    ax.set_ylim(len(labels) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    return colours


def _groups(ax, known: list[str]) -> None:
    """Write at the right what the policies between two lines are given."""
    for group in dict.fromkeys(known):
        rows = [y for y, given in enumerate(known) if given == group]
        ax.text(
            1.03,
            (rows[0] + rows[-1]) / 2,
            GIVEN[group],
            transform=ax.get_yaxis_transform(),
            rotation=270,
            fontsize=7.5,
            linespacing=0.9,
            ha="left",
            va="center",
            multialignment="center",
        )


def _legend(colours: set[str]) -> list:
    """Return the legend's samples; of the colours those that a point has."""
    return [
        style.point("mean over adversaries"),
        style.point("worst adversary", markerfacecolor="white"),
        *(
            style.point(text, color=colour)
            for colour, text in MEANINGS.items()
            if colour in colours
        ),
    ]


def finding(ranking: pd.DataFrame) -> str:
    """Return who may be the best, given T and B only and in stationary worlds; HyQue's ratio."""
    table = all_variations(ranking)
    mean = table[table["by"] == "mean"]
    for situation, whose in WHOSE.items():
        mine = mean[mean["situation"] == situation]
        if mine["label"].nunique() < 2 or not mine["best"].any():
            continue
        ratio = mine.sort_values("budget").set_index(["label", "budget"])["ratio"]
        return (
            f"{whose}, the least regret (within 5 %) can only be that of {_best(mine)}"
            f"{behind(ratio)}."
        )
    return "No two policies were ranked."


def _best(mine: pd.DataFrame) -> str:
    """Return which policies are possibly the best, and at which budgets."""
    parts: dict[str, list[str]] = {}
    for budget, rows in mine[mine["best"].astype(bool)].groupby("budget"):
        best = rows.sort_values(["ratio", "label"])["label"]
        names = [name(label) for label in best[:MOST]]
        if len(best) > MOST:
            names.append(f"{len(best) - MOST} more")
        parts.setdefault(numbers.listed(names, "or"), []).append(numbers.budget(budget))
    return numbers.listed(f"{names} {where_of(at, parts)}" for names, at in parts.items())


FIGURE = Figure(
    "ranking",
    "Who is how far from the best",
    section=WHO,
    place=2,
    needs=("ranking",),
    axes=("shootout",),
    maps=RANKED,
    draw=draw,
    finding=finding,
    reading=("Geometric means over $K$ and $V$, with 95 % CIs. Right: what policies are given."),
)
