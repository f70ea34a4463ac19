"""The chance of a long streak in a block of BaQue, against its length and against the paper's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
"""Lengths over T/sqrt(B) at which the chance is computed."""

PANELS = {0.5: r"$T/\sqrt{B}$", 2 / 3: "$T/B^{2/3}$"}
LIMITS = {0.5: (0.11, 9.5), 2 / 3: (0.35, 600)}


@style.styled
def draw(schedules: pd.DataFrame, kind: str = "idle") -> Drawing:
    """Draw the chance that the longest streak is longer, against the length.

    Parameters
    ----------
    schedules : rows of the study of schedules, for the circles.
    kind : `idle` or `query`.
    """
    fig = style.figure(2.35, w_pad=0.03, wspace=0.03)
    axes = fig.subplots(1, len(PANELS), sharey=True)
    table, points = curves(kind), drawn(schedules, kind)
    for ax, (alpha, unit) in zip(axes, PANELS.items(), strict=True):
        for T, colour in zip(HORIZONS, COLOURS, strict=True):
            _horizon(ax, table[table["T"] == T], points[points["T"] == T], alpha, colour)
        ax.axvline(1, zorder=1, **style.THEORY)
        numbers.log_axis(ax, "x", *LIMITS[alpha], 5)
        ax.set_ylim(-0.03, 1.05)
        ax.set_xlabel(f"length in units of {unit}")
    axes[0].set_ylabel(f"chance of a longer\n{kind} streak")
    style.legend_below(fig, _legend(len(points) > 0), 3)
    return fig


def finding(schedules: pd.DataFrame, kind: str = "idle") -> str:
    """Return how likely a streak of the paper's length is at the largest horizon."""
    T, B = HORIZONS[-1], proofs.power_budget(HORIZONS[-1], EXPONENT)
    p = chances.streak_chance(kind, T, B).low
    text = "is all but certain" if p > 0.999 else f"has a chance of at least {p:.2g}"
    return (
        f"{kind.capitalize()} streaks over $T/\\sqrt{{B}}$ and $T/B^{{2/3}}$ rounds get likelier "
        f"as $T$ grows, where the paper's bounds fall: at $T$ = {numbers.number(T)} one {text}."
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


def _horizon(
    ax: Axes, table: pd.DataFrame, points: pd.DataFrame, alpha: float, colour: str
) -> None:
    """Draw one horizon into the panel whose lengths are over T B^-alpha."""
    B = table["B"].iloc[0]
    unit = B ** (alpha - 0.5)
    exact = table["high"] - table["low"] < 1e-9
    ax.fill_between(
        table["factor"] * unit,
        table["low"],
        table["high"],
        color=colour,
        alpha=0.0 if exact.all() else 0.3,
        linewidth=0,
    )
    for column in ("low", "high"):
        ax.plot(table["factor"] * unit, table[column], color=colour, linewidth=1.2)
    x = proofs.run_exponent(table["T"].iloc[0], B)
    lengths = np.geomspace(*LIMITS[alpha], 200)
    bound = np.exp(-LEAST * x * np.sqrt(lengths / unit))
    ax.plot(lengths, bound, **(style.BOUND | {"color": colour}))
    if len(points):
        spread = [points["p"] - points["p_low"], points["p_high"] - points["p"]]
        ax.errorbar(
            points["factor"] * unit,
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
    handles.append(style.sample(label="the paper's length", **style.THEORY))
    if points:
        handles.append(
            style.sample(
                color=style.GREY,
                marker="o",
                markerfacecolor="white",
                linestyle="none",
                label="drawn blocks",
            )
        )
    return handles


COMMON: dict[str, Any] = {
    "section": MEANS,
    "needs": ("schedules",),
    "axes": ("study:schedules",),
    "draw": draw,
    "finding": finding,
    "reading": (
        "Largest complete block, $B = T^{0.9}$. Lines: exact. Shades: between certified bounds. "
        "Circles: simulated blocks. Dotted: the paper's bound with the least constant of its "
        "proof."
    ),
}

FIGURES = (
    Figure(
        "idle_runs",
        "The longest idle streaks",
        place=3,
        fixed={"kind": "idle"},
        claims=("idle-runs",),
        **COMMON,
    ),
    Figure(
        "query_runs",
        "The longest query streaks",
        place=4,
        fixed={"kind": "query"},
        claims=("query-runs",),
        **COMMON,
    ),
)
