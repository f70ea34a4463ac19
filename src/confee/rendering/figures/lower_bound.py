"""Regret over the lower bound, a row per policy: how far above it the best cell of each lies."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from confee.claims.judging.hard_instance import CONTROL, runs_on_hard
from confee.claims.lower_bound import best_bound
from confee.paper import theory
from confee.rendering import looks, numbers, style
from confee.rendering.catalogue import VERDICTS, Figure
from confee.rendering.cells import CELL
from confee.rendering.figures.fits import listed
from confee.rendering.figures.panels import named

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

WORST, HARD = "worst", "hard"
MOST = 10
"""Policies shown: those that come nearest to the bound."""


@style.styled
def draw(worst: pd.DataFrame, regret: pd.DataFrame, points: pd.DataFrame, choose: int) -> Drawing:
    """Draw regret over the lower bound, a row per policy: the nearest and the farthest worst case,
    and the nearest point on the bound's own instance.

    `worst`: label, K, T, B, V, regret, se, seeds. `regret`: runs (policy, label, K, T, B, V,
    adversary, seed, regret, adversary.c, adversary.adaptive); of `hard` those with c = 1 and seeds
    below `choose` count, which every adversary got. `points`: label (those are shown).
    """
    table = ratios(worst, regret, points, choose)
    table = table[table["ratio"] > 0]
    if table.empty:
        return style.empty("no cell with regret in which the lower bound applies")
    every = _sorted(table)
    labels = every[:MOST]
    shown = table[table["label"].isin(labels)]
    fig = style.figure(0.55 + 0.19 * len(labels), style.COLUMN)
    ax = fig.subplots()
    drawn_as = looks.looks(labels)
    for row, label in enumerate(labels):
        for kind, mine in shown[shown["label"] == label].groupby("kind"):
            _row(ax, mine.sort_values("ratio"), row, drawn_as[label], filled=kind == WORST)
    ax.axvline(1, zorder=1.5, **style.BOUND)
    handles: list = [
        style.point("worst cases: the lowest; line: to the highest", markersize=4.5),
        style.point("lowest on the bound's own instance", markersize=4.5, markerfacecolor="white"),
        style.sample(label="lower bound as printed", **style.BOUND),
    ]
    best = table.loc[table["kind"] == WORST, "best"]
    if len(best):
        ax.axvspan(best.min(), best.max(), color=style.THEORY["color"], alpha=0.1, linewidth=0)
        handles.append(
            style.patch(
                facecolor=style.THEORY["color"], alpha=0.1, label="improved bound, over all cells"
            )
        )
    if len(every) > len(labels):
        more = len(every) - len(labels)
        handles.append(style.remark(f"not shown: {more} that lie higher"))
    ax.set_yticks(range(len(labels)), [named(label) for label in labels])
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="y", visible=False)
    low, high = shown[["low", "ratio"]].min(axis=None), shown["ratio"].max()
    numbers.log_axis(ax, "x", min(0.7, max(low, 0.1) / 1.2), 1.2 * max(high, 1), 6)
    ax.set_xlabel("regret over the lower bound")
    style.legend_below(fig, handles, 2)
    return fig


def finding(worst: pd.DataFrame, regret: pd.DataFrame, points: pd.DataFrame, choose: int) -> str:
    """Return whether a point is below the bound, how near the nearest policy comes, and which
    labels have points without regret."""
    table = ratios(worst, regret, points, choose)
    if table.empty:
        return "No cell in which the lower bound applies was played."
    below = table[(table["high"] < 1) | (table["high"].isna() & (table["ratio"] < 1))]
    count = f"{len(table)} points of {table['label'].nunique()} policies"
    if len(below):
        text = f"{len(below)} of {count} are below the lower bound"
    else:
        text = f"None of {count} is below the lower bound"
        unclear = int((table["low"] < 1).sum())
        text += f", though {unclear} intervals reach below it" if unclear else ""
    mine = table[table["kind"] == WORST]
    if len(mine):
        least = mine.loc[mine["ratio"].idxmin()]
        text += f"; the nearest worst case is that of {looks.display(least['label'])}, at "
        text += f"{least['ratio']:.3g}{_interval(least)} times the bound, and "
        text += f"{(mine['ratio'] / mine['best']).min():.3g} times the improved one"
    zeros = looks.ordered(table.loc[table["ratio"] <= 0, "label"])
    return f"{text}." + (f" Not drawn: points without regret, of {listed(zeros)}." if zeros else "")


def _interval(row: pd.Series) -> str:
    return "" if math.isnan(row["low"]) else f" [{row['low']:.3g}, {row['high']:.3g}]"


def ratios(
    worst: pd.DataFrame, regret: pd.DataFrame, points: pd.DataFrame, choose: int
) -> pd.DataFrame:
    """Return kind (worst, hard), CELL, ratio to the lower bound with low and high, best.

    For cells in which the proof's choices are possible; `best` is the best bound of the proof over
    the printed one.
    """
    import pandas as pd

    worst, regret = (rows[rows["label"].isin(points["label"])] for rows in (worst, regret))
    hard = runs_on_hard(regret, choose)
    hard = hard[np.isclose(hard["c"], 1)].groupby(CELL)["regret"].agg(["mean", "sem", "count"])
    hard = hard.reset_index().set_axis([*CELL, "regret", "se", "seeds"], axis=1)
    table = pd.concat([worst[hard.columns].assign(kind=WORST), hard.assign(kind=HARD)])
    table = table[table["label"] != CONTROL]
    settings = list(table[CELL[1:]].itertuples(index=False, name=None))
    bounds = {s: theory.lower_bound(*s) for s in settings if theory.lower_bound_applies(*s)}
    best = {s: best_bound(*s) / bound for s, bound in bounds.items()}
    columns = {"bound": map(bounds.get, settings), "best": map(best.get, settings)}
    table = table.assign(**{name: list(values) for name, values in columns.items()})
    table = table.dropna(subset="bound").reset_index(drop=True)
    half = table["se"] * [numbers.t_quantile(n - 1) for n in table["seeds"]]
    ends = {"ratio": 0, "low": -half, "high": half}
    scaled = {name: (table["regret"] + end) / table["bound"] for name, end in ends.items()}
    return table[["kind", *CELL, "best"]].assign(**scaled)


def _sorted(table: pd.DataFrame) -> list[str]:
    """Labels by their least ratio in the worst case; those without one come last."""
    least = table.groupby(["label", "kind"])["ratio"].min().unstack()
    return list(least.reindex(columns=[WORST, HARD]).sort_values([WORST, HARD]).index)


def _row(ax: Axes, mine: pd.DataFrame, middle: int, look: looks.Look, filled: bool) -> None:
    """Draw the least point of a policy with its interval, and a line to its greatest if filled."""
    least = mine.iloc[0]
    if filled:
        ends = [least["ratio"], mine["ratio"].iloc[-1]]
        ax.plot(ends, [middle] * 2, color=look.color, linewidth=2.2, alpha=0.4, zorder=2)
    interval = np.array([least["low"], least["high"]], dtype=float)
    if np.isfinite(interval).all():
        interval = np.maximum(interval, 1e-3 * least["ratio"])  # the axis is logarithmic
        ax.plot(interval, [middle] * 2, color=look.color, linewidth=0.9, zorder=3)
    ax.plot(
        [least["ratio"]],
        [middle],
        color=look.color,
        linestyle="none",
        marker="o",
        markersize=4.5,
        markerfacecolor=look.color if filled else "white",
        zorder=4,
    )


FIGURE = Figure(
    "lower_bound",
    "Regret over the lower bound",
    section=VERDICTS,
    place=8,
    needs=("worst", "regret", "points", "choose"),
    axes=("T",),
    claims=("lower-bound",),
    draw=draw,
    finding=finding,
    reading=(
        "A point below the dotted line would contradict the printed bound. The improved bound "
        "speaks of worst cases alone."
    ),
)
