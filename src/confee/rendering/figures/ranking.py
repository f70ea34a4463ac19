"""Who is how far from the best: ratios of regret with intervals, in worlds that change or not."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from confee.rendering import looks, numbers, style
from confee.rendering.catalogue import WHO, Figure
from confee.rendering.cells import all_variations
from confee.rendering.figures.shootout import PAPERS, order
from confee.simulation.needs import RANKED

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Drawing

ROW = 0.142
"""Inches a row."""

WORLDS = {"known": "changing", "zero": "stationary"}
BY = {"mean": -0.25, "worst": 0.25}
"""Criterion -> where in its row it is drawn."""

BEST, BLIND = "#F2C14E", "#FBEBC3"
MOST = 3
"""Names that the finding lists at a budget."""


@style.styled
def draw(ranking: pd.DataFrame) -> Drawing:
    """Draw regret over that of the best policy that is not given the path, with 95 % intervals.

    A row is a policy, grouped by what it is given; a column is a world and a budget.

    Filled: the mean over adversaries. Hollow: the worst of them. Shaded: the set of the best.

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
    labels = order(shown[(shown["by"] == "mean") & (shown["situation"] == worlds[0])])
    labels += order(shown[~shown["label"].isin(labels)])
    fig = style.figure(len(labels) * ROW + 0.75, w_pad=0.02, wspace=0.015)
    axes = fig.subplots(1, len(columns), squeeze=False, sharey=True)[0]
    known = shown.drop_duplicates("label").set_index("label")["told"]
    for ax, (world, budget) in zip(axes, columns, strict=True):
        here = table[table["budget"] == budget]
        _shade(ax, here[here["situation"] == world], labels, BEST)
        if world == "known":
            _shade(ax, here[here["situation"] == "unknown"], labels, BLIND)
        _panel(ax, here[here["situation"] == world], labels, known)
        mine = shown[shown["situation"] == world]
        low, top = mine[["low", "ratio"]].min(axis=None), mine[["high", "ratio"]].max(axis=None)
        numbers.log_axis(ax, "x", low / 1.3, max(top, 2.0) * 1.3, 3)
        ax.set_title(f"{numbers.budget(budget)}\n{WORLDS[world]}", fontsize=8, pad=3)
        ax.tick_params(axis="x", labelsize=7)
    axes[0].set_yticks(range(len(labels)), [looks.display(n) for n in labels], fontsize=7)
    style.legend_below(fig, _legend(), 2, "regret over that of the best policy")
    return fig


def _shade(ax, mine: pd.DataFrame, labels: list[str], colour: str) -> None:
    """Shade half a row for each criterion by which a policy is possibly the best."""
    for row in mine[mine["best"].astype(bool)].itertuples():
        y = labels.index(row.label) + BY[row.by]
        under = 0 if colour == BEST else -1
        ax.axhspan(y - 0.25, y + 0.25, color=colour, linewidth=0, zorder=under)


def _panel(ax, mine: pd.DataFrame, labels: list[str], known: pd.Series) -> None:
    drawn_as = looks.looks(labels)
    for by, shift in BY.items():
        for row in mine[mine["by"] == by].itertuples():
            y, look = labels.index(row.label) + shift, drawn_as[row.label]
            if np.isfinite(row.low):
                ax.plot([row.low, row.high], [y, y], color=look.color, linewidth=0.9, zorder=2)
            ax.plot(
                [row.ratio],
                [y],
                marker="o",
                markersize=2.8,
                color=look.color,
                markerfacecolor=look.color if by == "mean" else "white",
                markeredgewidth=0.8,
                zorder=3,
            )
    for y, (above, below) in enumerate(pairwise(labels)):
        if known[above] != known[below]:
            ax.axhline(y + 0.5, color=style.INK, linewidth=0.8)
    ax.set_ylim(len(labels) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)


def _legend() -> list:
    dot: dict[str, Any] = {
        "color": style.INK,
        "marker": "o",
        "linestyle": "none",
        "markersize": 3.5,
    }
    return [
        style.sample(label="mean over adversaries", **dot),
        style.sample(label="worst adversary", markerfacecolor="white", **dot),
        style.patch(facecolor=BEST, label="possibly the best, or within 5% of it"),
        style.patch(facecolor=BLIND, label="... of those given $T$ and $B$ only"),
    ]


def finding(ranking: pd.DataFrame) -> str:
    """Return who may be the best, given T and B only and in stationary worlds; HyQue's ratio."""
    table = all_variations(ranking)
    mean = table[table["by"] == "mean"]
    sentences = []
    for situation, where in (
        (
            "unknown",
            "Among policies given neither $V$ nor $S$, the best by the mean over adversaries",
        ),
        ("zero", "In stationary worlds, the best"),
    ):
        mine = mean[mean["situation"] == situation]
        if mine["label"].nunique() < 2 or not mine["best"].any():
            continue
        text = f"{where} (or within 5% of it) can only be {_best(mine)}"
        for label in PAPERS:
            own = mine[mine["label"] == label].sort_values("budget")
            if len(own):
                times = [numbers.factor(r.ratio, r.low, r.high) for r in own.itertuples()]
                text += f"; {looks.display(label)} has {numbers.listed(times)} times the least"
        sentences.append(text + ".")
    return " ".join(sentences) or "No two policies were ranked."


def _best(mine: pd.DataFrame) -> str:
    """Return which policies are possibly the best, budget by budget."""
    parts = []
    for budget, rows in mine[mine["best"].astype(bool)].groupby("budget"):
        best = rows.sort_values(["ratio", "label"])["label"]
        names = [looks.display(label) for label in best[:MOST]]
        if len(best) > MOST:
            names.append(f"{len(best) - MOST} more")
        parts.append(f"{numbers.listed(names, 'or')} at {numbers.budget(budget)}")
    return numbers.listed(parts)


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
    reading=(
        "Geometric means over $K$ and $V$ with 95 % CIs over seeds, relative to the best policy "
        "that is not given the path. Filled: mean over adversaries; hollow: worst adversary. "
        "Shaded: possibly the best (within 5 %)."
    ),
)
