"""Exponents along rays in B, one for each factor of 8: from which budget on they are constant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from confee.evidence.settling import SETTLED, SPAN, settling
from confee.evidence.slopes import STEP
from confee.rendering import looks, numbers, style
from confee.rendering.catalogue import BASICS, Figure
from confee.rendering.figures import fits
from confee.rendering.figures.rays import LEFT_OUT, held

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing


SHOWN = ("uniform",)
"""Of LEFT_OUT those that are shown: regret of uniform play grows as T, whatever the budget."""

WORDS = {"moving": "still changing", "open": "undecided"}
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
    from matplotlib.ticker import MaxNLocator

    rows, settled = steps(slopes, points)
    if rows.empty:
        return style.empty(NOTHING)
    rays = list(dict.fromkeys(rows["axis"]))
    heights = [max(1.7, 0.37 * rows[rows["axis"] == ray]["label"].nunique()) for ray in rays]
    fig = style.figure(
        sum(heights) + 0.25 * len(rays) + 0.35,
        width=style.COLUMN,
        w_pad=0.02,
        wspace=0.0,
        h_pad=0.02,
    )
    grid = fig.add_gridspec(len(rays), 3, width_ratios=[1, 0.11, 0.78], height_ratios=heights)
    middles = np.sqrt(rows["start"] * rows["stop"])
    low, high = numbers.widened(middles.min(), middles.max())
    for place, ray in enumerate(rays):
        ax, key, side = (fig.add_subplot(grid[place, column]) for column in range(3))
        mine, last = rows[rows["axis"] == ray], place == len(rays) - 1
        labels = looks.ordered(mine["label"])
        drawn_as = looks.looks(labels)
        for label in labels:
            _steps(ax, mine[mine["label"] == label], drawn_as[label])
        rate = mine.groupby(np.sqrt(mine["start"] * mine["stop"]))["rate"].mean()
        ax.plot(
            [low, *rate.index, high],
            [rate.iloc[0], *rate, rate.iloc[-1]],
            zorder=1.5,
            **style.THEORY,
        )
        numbers.log_axis(ax, "x", low, high, 5)
        ax.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
        ax.yaxis.set_major_formatter(numbers.decimal)
        ax.tick_params(axis="x", labelbottom=last)
        ax.set(
            xlabel=f"budget $B$, middle of a factor of {STEP:g}" if last else "",
            ylabel="exponent of $R/T$ in $B$",
        )
        ax.set_title(held(points[points["axis"] == ray], "B"), loc="left", pad=3)
        _key(key, side, labels, drawn_as, settled[settled["axis"] == ray])
    style.legend_below(fig, [style.sample(label="the paper's rate", **style.THEORY)], 1)
    return fig


def _steps(ax: Axes, mine: pd.DataFrame, look: looks.Look) -> None:
    """Draw the steps of one policy, each at its middle, with their limits as a band."""
    middle = np.sqrt(mine["start"] * mine["stop"])
    ax.fill_between(middle, mine["low"], mine["high"], color=look.color, alpha=0.18, linewidth=0)
    ax.plot(middle, mine["exponent"], marker=look.marker, zorder=3, **looks.stroke(look))


def _key(
    key: Axes, side: Axes, labels: list[str], drawn_as: dict[str, looks.Look], settled: pd.DataFrame
) -> None:
    """Draw a row for each policy: its look, its name, and what the rule says of its exponents."""
    for y, label in enumerate(labels):
        look = drawn_as[label]
        key.plot([0, 1], [y, y], **looks.stroke(look))
        key.plot([0.5], [y], color=look.color, marker=look.marker)
        weight = "bold" if label in fits.PAPER else "normal"
        side.text(0.06, y - 0.2, looks.display(label), va="center", fontweight=weight)
        text = _outcome(settled, label)
        side.text(0.06, y + 0.22, text, va="center", fontsize=7.5, color=style.GREY)
    for ax in (key, side):
        ax.set_axis_off()
        ax.set(xlim=(0, 1), ylim=(max(len(labels), 4) - 0.4, -0.6))


def _outcome(settled: pd.DataFrame, label: str) -> str:
    """Return `from B = 10^6: −0.267 [−0.271, −0.263]`, or the rule's other outcome."""
    rows = settled[settled["label"] == label]
    if rows.empty:
        return "too few points"
    row = rows.iloc[0]
    if row["outcome"] != SETTLED:
        return WORDS[row["outcome"]]
    start = numbers.number(float(f"{row['start']:.2g}"))
    return f"from $B$ = {start}: {_mean(row)}"


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
            word = "too few points" if here.empty else WORDS[here["outcome"].iloc[0]]
            ends = mine[mine["axis"] == ray].sort_values("start")
            span = " to ".join(numbers.signed(e) for e in ends["exponent"].iloc[[0, -1]])
            parts.append(f"goes from {span} at {where} ({word})")
        else:
            row = here.iloc[0]
            start = numbers.number(float(f"{row['start']:.2g}"))
            parts.append(f"is {_mean(row)} at {where}, constant from $B$ = {start} on")
    text = f"{looks.display(label)}'s exponent {'; '.join(parts)}."
    rays = points.loc[points["variable"] == "B", "label"]
    if short := (set(rays) & set(fits.PAPER)) - set(rows["label"]):
        text += f" Too few points: {fits.listed(looks.ordered(short))}."
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
    "How the exponent in B changes with B",
    section=BASICS,
    place=6,
    needs=("slopes", "points"),
    axes=("ray:B",),
    claims=("hyque-rate", "rexp3b-rate"),
    named=True,
    draw=draw,
    finding=finding,
    reading=(
        f"Points: exponents of $R/T$ over a factor of {STEP:g} in $B$. Shaded: 95 % CIs, widened "
        "where points scatter more. Right: mean from where it is constant."
    ),
)
