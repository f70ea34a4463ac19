"""The probability that a block of BaQue has a streak longer than the paper's bounds allow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from confee.claims.judging import blocks
from confee.paper import proofs
from confee.paper import streaks as chances
from confee.rendering import numbers, style
from confee.rendering.catalogue import MEANS, Figure
from confee.simulation.studies.schedules import ALPHAS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

EXPONENT = 0.9
"""B = T^EXPONENT: inside the theorem's range, and o(T) as the remark on queries asks."""

HORIZONS = (10**4, 10**8, 10**12)
COLOURS = ("#56B4E9", "#0072B2", "#222222")
LEAST = proofs.PROOF_CONSTANTS[0]

FACTORS = tuple(2.0 ** (k / 4) for k in range(-13, 15))
"""Lengths over T/sqrt(B) at which the probability is computed."""

KINDS = ("idle", "query")
LIMITS = (0.009, 10)
"""Ends of the axis of lengths over T/sqrt(B)."""


@style.styled
def draw(schedules: pd.DataFrame) -> Drawing:
    """Draw the probability that the longest streak of a block is longer, against the length.

    Parameters
    ----------
    schedules : rows of the study of schedules, for the circles.
    """
    fig = style.figure(2.5, width=style.COLUMN, w_pad=0.03, wspace=0.06)
    axes = fig.subplots(1, len(KINDS), sharey=True)
    shown = False
    for ax, kind in zip(axes, KINDS, strict=True):
        table, points = curves(kind), drawn(schedules, kind)
        shown |= len(points) > 0
        for T, colour in zip(HORIZONS, COLOURS, strict=True):
            _horizon(ax, table[table["T"] == T], points[points["T"] == T], colour)
        ax.axvline(1, zorder=1, **style.THEORY)
        numbers.log_axis(ax, "x", *LIMITS, 5)
        ax.set_ylim(-0.03, 1.08)
        ax.set_xlabel(r"length over $T/\sqrt{B}$")
        ax.set_title(f"{kind} streaks", pad=4)
    axes[0].set_ylabel("probability of\na longer streak")
    style.legend_below(fig, _legend(shown), 3)
    return fig


def finding(schedules: pd.DataFrame) -> str:
    """Return how likely streaks of the paper's length are at the largest horizon."""
    T, B = HORIZONS[-1], proofs.power_budget(HORIZONS[-1], EXPONENT)
    probability = min(chances.streak_chance(kind, T, B).low for kind in KINDS)
    text = "almost surely" if probability > 0.999 else f"with probability {probability:.2g} or more"
    return (
        f"At $T$ = {numbers.number(T)} the longest idle streak and query streak of a block each "
        f"exceed $T/\\sqrt{{B}}$ {text}, where the paper's bound is almost 0."
    )


def curves(kind: str) -> pd.DataFrame:
    """Return the chances by length: T, B, factor (over T/sqrt(B)), low, high."""
    import pandas as pd

    rows = []
    for T in HORIZONS:
        B = proofs.power_budget(T, EXPONENT)
        for factor in FACTORS:
            p = chances.streak_chance(kind, T, B, factor)
            rows.append({"T": T, "B": B, "factor": factor, "low": p.low, "high": p.high})
    return pd.DataFrame(rows)


def drawn(schedules: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Return the shares of drawn blocks in the curves' blocks: T, B, factor, p, p_low, p_high."""
    import pandas as pd

    frames = [pd.DataFrame(columns=["T", "B", "factor", "p", "p_low", "p_high"])]
    rows = blocks.as_printed(schedules)
    if len(rows):
        for alpha in ALPHAS:
            table = blocks.shares(rows, kind, alpha)
            order = [
                proofs.largest_order(T, B) for T, B in zip(table["T"], table["B"], strict=True)
            ]
            kept = table["exponent"].eq(EXPONENT) & table["order"].eq(order)
            kept &= table["T"].isin(HORIZONS)
            frames.append(table[kept].assign(factor=table["B"] ** (0.5 - alpha)))
    return pd.concat([frame for frame in frames if len(frame)] or frames)


def _horizon(ax: Axes, table: pd.DataFrame, points: pd.DataFrame, colour: str) -> None:
    """Draw the probabilities, the paper's bound and the draws of one horizon."""
    B = table["B"].iloc[0]
    exact = table["high"] - table["low"] < 1e-9
    ax.fill_between(
        table["factor"],
        table["low"],
        table["high"],
        color=colour,
        alpha=0.0 if exact.all() else 0.3,
        linewidth=0,
    )
    for column in ("low", "high"):
        # A shorter length is exceeded at least as often, so the line starts at the axis.
        x, y = [LIMITS[0], *table["factor"]], [table[column].iloc[0], *table[column]]
        ax.plot(x, y, color=colour, linewidth=1.2)
    exponent = proofs.run_exponent(table["T"].iloc[0], B)
    lengths = np.geomspace(*LIMITS, 200)
    bound = np.exp(-LEAST * exponent * np.sqrt(lengths))
    ax.plot(lengths, bound, **(style.BOUND | {"color": colour}))
    ax.plot([B ** (-1 / 6)], [1.04], color=colour, marker="v", linestyle="none", clip_on=False)
    points = points[points["factor"].between(*LIMITS)]
    if len(points):
        spread = [points["p"] - points["p_low"], points["p_high"] - points["p"]]
        ax.errorbar(
            points["factor"],
            points["p"],
            spread,
            color=colour,
            marker="o",
            markersize=4,
            markerfacecolor="white",
            linestyle="none",
            zorder=3,
        )


def _legend(points: bool) -> list:
    handles: list = [
        style.sample(color=colour, linewidth=1.6, label=f"$T$ = {numbers.number(T)}")
        for T, colour in zip(HORIZONS, COLOURS, strict=True)
    ]
    handles.append(style.sample(label="the paper's bound", **style.BOUND))
    handles.append(style.sample(label=r"$T/\sqrt{B}$ rounds", **style.THEORY))
    handles.append(style.point(r"$T/B^{2/3}$ rounds", marker="v"))
    if points:
        handles.append(style.point("simulated blocks", markerfacecolor="white"))
    return handles


FIGURE = Figure(
    "streaks",
    "The longest streaks of idle rounds and of queries",
    section=MEANS,
    place=3,
    needs=("schedules",),
    axes=("study:schedules",),
    claims=("idle-runs", "query-runs"),
    draw=draw,
    finding=finding,
    reading=(
        "Lines: largest complete block at $B = T^{0.9}$; shaded between proved bounds. Dotted: "
        "the paper's bound, at its smallest constant. Triangles: the length used in the "
        "proofs of Lemmas 4.10 and 4.11."
    ),
)
