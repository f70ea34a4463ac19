"""Exponents along rays in B, one for each step of a factor of 8: where they stand still."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from confee.evidence.settling import SETTLED, SPAN, settling
from confee.evidence.slopes import STEP
from confee.rendering import looks, numbers, style
from confee.rendering.catalogue import BASICS, Figure
from confee.rendering.figures import curves as shared
from confee.rendering.figures import fits
from confee.rendering.figures.rays import LEFT_OUT, held

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing


SHOWN = ("uniform",)
"""Of LEFT_OUT those that are shown: regret of uniform play grows as T, whatever the budget."""

WORDS = {"moving": "still moving", "open": "undecided"}
"""Of outcomes other than `settled`."""

NOTHING = f"No ray along $B$ has steps over a factor of {STEP**SPAN:g}."


@style.styled
def draw(slopes: pd.DataFrame, points: pd.DataFrame) -> Drawing:
    """Draw exponents of R/T in B between points a factor of 8 apart, a panel for each long ray.

    Parameters
    ----------
    slopes
        Its rows of part `step`: label, axis (the ray), exponent, low, high, rate, se, df, start,
        stop.
    points
        label, axis, variable, K, T, B, V: whom to show, and the sizes of each ray.
    """
    rows, settled = steps(slopes, points)
    if rows.empty:
        return style.empty(NOTHING)
    rays = list(dict.fromkeys(rows["axis"]))
    heights = [max(1.6, shared.ROW * rows[rows["axis"] == ray]["label"].nunique()) for ray in rays]
    fig = style.figure(sum(heights) + 0.25 * len(rays) + 0.35, w_pad=0.02, wspace=0.0, h_pad=0.02)
    grid = fig.add_gridspec(len(rays), 3, width_ratios=[1, 0.09, 0.42], height_ratios=heights)
    low, high = rows["start"].min(), rows["stop"].max()
    for place, ray in enumerate(rays):
        ax, key, side = (fig.add_subplot(grid[place, column]) for column in range(3))
        mine, last = rows[rows["axis"] == ray], place == len(rays) - 1
        labels = looks.ordered(mine["label"])
        drawn_as = looks.looks(labels)
        for rank, label in enumerate(labels):
            shift = STEP ** (0.2 * ((rank + 0.5) / len(labels) - 0.5))
            _steps(ax, mine[mine["label"] == label], drawn_as[label], shift)
        rate = mine.groupby(np.sqrt(mine["start"] * mine["stop"]))["rate"].mean()
        ax.plot(
            [low, *rate.index, high],
            [rate.iloc[0], *rate, rate.iloc[-1]],
            zorder=1.5,
            **style.THEORY,
        )
        numbers.log_axis(ax, "x", low / 1.1, high * 1.1, 6)
        ax.yaxis.set_major_formatter(numbers.decimal)
        ax.tick_params(axis="x", labelbottom=last)
        ax.set(xlabel="budget $B$" if last else "", ylabel="exponent in $B$")
        ax.set_title(held(points[points["axis"] == ray], "B"), loc="left", fontsize=8, pad=3)
        _key(key, side, labels, drawn_as, settled[settled["axis"] == ray])
    style.legend_below(fig, [style.sample(label="the rate's exponent", **style.THEORY)], 1)
    return fig


def _steps(ax: Axes, mine: pd.DataFrame, look: looks.Look, shift: float) -> None:
    """Draw the steps of one policy, each at its middle; policies stand side by side."""
    middle = np.sqrt(mine["start"] * mine["stop"]) * shift
    half = [mine["exponent"] - mine["low"], mine["high"] - mine["exponent"]]
    ax.errorbar(
        middle,
        mine["exponent"],
        half,
        color=look.color,
        marker=look.marker,
        linestyle="none",
        elinewidth=0.9,
        capsize=1.8,
        zorder=3,
    )


def _key(
    key: Axes, side: Axes, labels: list[str], drawn_as: dict[str, looks.Look], settled: pd.DataFrame
) -> None:
    """Draw a row for each policy: its look, its name, and what the rule says of its exponents."""
    for y, label in enumerate(labels):
        look = drawn_as[label]
        key.plot([0.5], [y], color=look.color, marker=look.marker)
        weight = "bold" if label in fits.PAPER else "normal"
        side.text(0, y - 0.2, looks.display(label), va="center", fontsize=8, fontweight=weight)
        side.text(0, y + 0.22, _outcome(settled, label), va="center", fontsize=7, color=style.GREY)
    for ax in (key, side):
        ax.set_axis_off()
        ax.set(xlim=(0, 1), ylim=(max(len(labels), 5) - 0.4, -0.6))


def _outcome(settled: pd.DataFrame, label: str) -> str:
    """Return `from 10^6 on: −0.267 [−0.271, −0.263]`, or the rule's other outcome."""
    rows = settled[settled["label"] == label]
    if rows.empty:
        return "too few steps"
    row = rows.iloc[0]
    if row["outcome"] != SETTLED:
        return WORDS[row["outcome"]]
    return f"from $B$ = {numbers.number(row['start'])} on: {_mean(row)}"


def _mean(row) -> str:
    value, low, high = (numbers.signed(row[name], 3) for name in ("exponent", "low", "high"))
    return f"{value} [{low}, {high}]"


def finding(slopes: pd.DataFrame, points: pd.DataFrame) -> str:
    """Return where the exponents of the paper's first policy settle, if they do, and which rays are
    too short to say."""
    rows, settled = steps(slopes, points)
    if rows.empty:
        return NOTHING
    label = fits.first(set(rows["label"]))[0]
    mine = rows[rows["label"] == label]
    parts = []
    for ray in dict.fromkeys(mine["axis"]):
        here = settled[(settled["label"] == label) & (settled["axis"] == ray)]
        where = held(points[points["axis"] == ray], "B")
        if here.empty or here["outcome"].iloc[0] != SETTLED:
            word = "there are too few" if here.empty else WORDS[here["outcome"].iloc[0]]
            ends = mine[mine["axis"] == ray].sort_values("start")
            span = " to ".join(numbers.signed(e) for e in ends["exponent"].iloc[[0, -1]])
            parts.append(f"{span} at {where} ({word})")
        else:
            row = here.iloc[0]
            ends = " to ".join(
                numbers.number(float(f"{row[end]:.3g}")) for end in ("start", "stop")
            )
            parts.append(f"{_mean(row)} at {where}, where they stand still from $B$ = {ends}")
    text = f"{looks.display(label)}'s exponents are {'; '.join(parts)}."
    rays = points.loc[points["variable"] == "B", "label"]
    if short := (set(rays) & set(fits.PAPER)) - set(rows["label"]):
        text += f" Rays too short to be judged: {fits.listed(looks.ordered(short))}'s."
    return text


def steps(slopes: pd.DataFrame, points: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the steps of the policies of `points` on rays long enough to be judged, with widened
    limits, and the outcomes of `settling`."""
    hidden = slopes["label"].isin(LEFT_OUT) & ~slopes["label"].isin(SHOWN)
    shown = slopes["label"].isin(points["label"]) & ~hidden
    settled = settling(slopes[shown])
    rows = slopes[shown & (slopes["part"] == "step") & slopes["axis"].isin(settled["axis"])]
    rows = rows.merge(settled[["label", "axis", "drift_widened"]], on=["label", "axis"], how="left")
    wide = rows["drift_widened"].fillna(1.0)
    rows = rows.assign(
        **{end: rows["exponent"] + wide * (rows[end] - rows["exponent"]) for end in ("low", "high")}
    )
    variation = points.groupby("axis")["V"].max()
    rows = rows.assign(V=rows["axis"].map(variation)).dropna(subset="exponent")
    return rows.sort_values(["V", "axis", "label", "start"], ignore_index=True), settled


FIGURE = Figure(
    "decades",
    "Exponents in B, step by step",
    section=BASICS,
    place=6,
    needs=("slopes", "points"),
    axes=("ray:B",),
    claims=("hyque-rate", "rexp3b-rate"),
    named=True,
    draw=draw,
    finding=finding,
    reading=(
        f"Points: exponents of $R/T$ in $B$ over a factor of {STEP:g} with 95 % CIs, widened "
        "where they scatter more. Dashed: the rate's exponent. Right: the budget from which they "
        "are constant, and their mean."
    ),
)
