"""The exponent of every decade of the horizon: where it settles, if it does."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from confee import proofs
from confee.evidence.decades import DRIFT, SETTLED, settling
from confee.rendering import looks, numbers, style
from confee.rendering.figures import curves as shared
from confee.rendering.figures import fits

READING = (
    "Left: a bar a decade of the horizon, at the exponent of worst-case $R/T$ in $T$ between its"
    " two ends, with a 95 % interval. Dashed: the paper's rate on the same cells; at 0 regret is"
    " linear in $T$. Right: from where on the exponents stand still (a change a decade that is none"
    f" within its limits, and less than {DRIFT} with them), and at which value."
)

WORDS = {"moving": "still moving", "open": "cannot be told"}
"""Of outcomes other than `settled`."""


NOTHING = "No decade of $T$ has both its ends in a fit."


@style.styled
def draw(slopes: pd.DataFrame, points: pd.DataFrame) -> Figure:
    """Exponents of R/T in T, a bar a decade, and from where on each policy's stand still.

    `slopes` (its rows `part` = decade on the axis T): policy, exponent, low, high, rate, se, df,
    start, stop; `points`: label, axis, K, T, B: whom to show (not what hindsight would have
    played), and of hyque where it can restart.
    """
    rows, found = _table(slopes, points)
    if rows.empty:
        return style.empty(NOTHING)
    labels = looks.ordered(rows["policy"])
    fig = style.figure(max(2.3, shared.ROW * len(labels) + 0.6), w_pad=0.02, wspace=0.0)
    grid = fig.add_gridspec(1, 3, width_ratios=[1, 0.09, 0.36])
    ax, key, side = (fig.add_subplot(grid[0, column]) for column in range(3))
    drawn_as = looks.looks(labels)
    for rank, label in enumerate(labels):
        shift = 10 ** (0.5 * ((rank + 0.5) / len(labels) - 0.5))
        _bars(ax, rows[rows["policy"] == label], drawn_as[label], shift)
    rate = rows.groupby("start")["rate"].mean()
    ends = pd.concat([rate, rate.set_axis(rate.index * 10)]).groupby(level=0).mean()
    ax.plot(ends.index, ends, zorder=1.5, **style.THEORY)
    ax.axhline(0, color=style.INK, linewidth=0.6, zorder=1)
    low, high = rows["start"].min(), rows["stop"].max()
    numbers.log_axis(ax, "x", low / 1.2, high * 1.2, 7)
    ax.yaxis.set_major_formatter(numbers.decimal)
    ax.set(xlabel="horizon $T$", ylabel="exponent of worst-case $R/T$ in $T$")
    _key(key, side, labels, drawn_as, found)
    style.legend_below(fig, [Line2D([], [], label="the rate's exponent", **style.THEORY)], 1)
    return fig


def _bars(ax: Axes, mine: pd.DataFrame, look: looks.Look, shift: float) -> None:
    """A policy's decades; intervals stand beside each other, shifted from the middle."""
    middle = np.sqrt(mine["start"] * mine["stop"]) * shift
    ax.hlines(mine["exponent"], mine["start"], mine["stop"], color=look.color, linewidth=0.6)
    half = [mine["exponent"] - mine["low"], mine["high"] - mine["exponent"]]
    ax.errorbar(middle, mine["exponent"], half, color=look.color, marker=look.marker,
                linestyle="none", elinewidth=0.9, capsize=1.8, zorder=3)  # fmt: skip


def _key(
    key: Axes, side: Axes, labels: list[str], drawn_as: dict[str, looks.Look], found: pd.DataFrame
) -> None:
    """A row a policy: what it is drawn with, its name, and what the rule says of it."""
    for y, label in enumerate(labels):
        look = drawn_as[label]
        key.plot([0.5], [y], color=look.color, marker=look.marker)
        weight = "bold" if label in fits.PAPER else "normal"
        side.text(0, y - 0.2, looks.display(label), va="center", fontsize=8, fontweight=weight)
        side.text(0, y + 0.22, _outcome(found, label), va="center", fontsize=7, color=style.GREY)
    for ax in (key, side):
        ax.set_axis_off()
        ax.set(xlim=(0, 1), ylim=(len(labels) - 0.4, -0.6))


def _outcome(found: pd.DataFrame, label: str) -> str:
    """`from 10^6 on: −0.267 ± 0.004`, or what else the rule says."""
    rows = found[found["policy"] == label]
    if rows.empty:
        return "one decade"
    row = rows.iloc[0]
    if row["outcome"] != SETTLED:
        return WORDS[row["outcome"]]
    half = (row["high"] - row["low"]) / 2
    value = f"{numbers.signed(row['exponent'], 3)} \N{PLUS-MINUS SIGN} {half:.3f}"
    return f"from {numbers.number(row['start'])} on: {value}"


def finding(slopes: pd.DataFrame, points: pd.DataFrame) -> str:
    """The paper's policies decade by decade, where exponents stand still, and from which horizon on
    a change test of HyQue could fire on this axis."""
    rows, found = _table(slopes, points)
    if rows.empty:
        return NOTHING
    said = []
    for label in fits.first(set(rows["policy"])):
        mine = rows[rows["policy"] == label].sort_values("start")
        values = [numbers.exponent(r.exponent, r.low, r.high) for r in mine.itertuples()]
        span = f"from $T$ = {numbers.number(mine['start'].min())} to "
        span += numbers.number(mine["stop"].max())
        said.append(f"{looks.display(label)}'s exponents {span}, by decades: {', '.join(values)}.")
    said += [_settled(row) for row in found.itertuples()]
    return " ".join([*said, *_tests(points)])


def _settled(row) -> str:
    name = looks.display(row.policy).replace(", ", " ")
    drift = f"{numbers.exponent(row.drift, row.drift_low, row.drift_high)} a decade"
    if row.outcome != SETTLED:
        return f"{name}'s: {WORDS[row.outcome]} at $T$ = {numbers.number(row.stop)} ({drift})."
    inside = "inside" if row.low <= row.rate <= row.high else "outside"
    value, low, high, rate = (
        numbers.signed(one, 3) for one in (row.exponent, row.low, row.high, row.rate)
    )
    return (
        f"{name}'s stand still from $T$ = {numbers.number(row.start)} on, up to "
        f"{numbers.number(row.stop)}, at {value} [{low}, {high}]; the rate's {rate} is {inside}."
    )


def _tests(points: pd.DataFrame) -> list[str]:
    """From where on a change test could fire at scale 1, B being a power of T; arithmetic."""
    run = points[(points["label"] == "hyque") & (points["axis"] == "T")]
    if run.empty or run["K"].nunique() > 1:
        return []
    powers = np.log(run["B"].astype(float)) / np.log(run["T"].astype(float))
    beta = round(float(powers.median()), 2)
    if not np.allclose(powers, beta, atol=1e-3):
        return []
    K = int(run["K"].iloc[0])
    first = proofs.first_horizons(K, beta)
    where = numbers.number(float(f"{min(first.values()):.2g}"))
    return [f"At {numbers.budget(beta)} and $K$ = {K} no change test of HyQue can fire below "
            f"$T$ = {where}."]  # fmt: skip


def _table(slopes: pd.DataFrame, points: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The decades of the policies of `points`, each beginning where one ends, and what `settling`
    makes of them.

    Of decades that overlap (a grid finer than decades) those that end at the longest horizon, or a
    power of ten below it, are shown.
    """
    played = slopes[slopes["policy"].isin(points["label"])]
    rows = played[(played["part"] == "decade") & (played["axis"] == "T")]
    rows = rows.dropna(subset="exponent")
    if rows.empty:
        return rows, settling(played)
    offset = np.log10(rows["stop"]) - math.log10(rows["stop"].max())
    return rows[np.isclose(offset, offset.round(), atol=0.01)], settling(played)
