"""Why HyQue without restarts has a floor: how much of a block is played on old data."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from confee import theory
from confee.rendering import looks, numbers, style

SHOWN = 8
"""Orders below the block's own that are shown."""


@style.styled
def draw(ages: pd.DataFrame, floor_runs: pd.DataFrame) -> Figure:
    """Left: R/T against T beside its floor. Right: who plays a block, on data how old.

    `ages`: rows of the study of ages, of kind `stale` (T, B, changes, stale, stale_se) and `age`
    (T, j, share, age). `floor_runs`: HyQue against the same changes (K, T, B, V, regret,
    adversary.gap); the floor is gap * stale * (share of the last block, one half) of a policy that
    learns at once.
    """
    stale = ages[ages["kind"] == "stale"]
    if stale.empty or floor_runs.empty:
        return style.empty("no schedules and runs for the floor")
    fig = style.figure(2.35, w_pad=0.04, wspace=0.04)
    left, right = fig.subplots(1, 2, width_ratios=(1.15, 1))
    handles = _regret(left, stale, floor_runs)
    _block(right, ages[ages["kind"] == "age"])
    style.legend_below(fig, handles, 3)
    return fig


def _regret(ax, stale: pd.DataFrame, runs: pd.DataFrame) -> list[Line2D]:
    changes = stale["changes"].map(lambda text: len(json.loads(text)))
    rows = stale[changes == changes.max()].sort_values("T")
    gap = float(runs["adversary.gap"].iloc[0])
    T = rows["T"].to_numpy(float)
    low = gap * rows["stale"].to_numpy(float) / 2
    error = numbers.t_quantile(1e6) * gap * rows["stale_se"].to_numpy(float) / 2
    look = looks.looks(["hyque"])["hyque"]
    table = runs.assign(y=runs["regret"] / runs["T"]).groupby(["K", "T", "B", "V"])["y"]
    table = table.agg(["mean", "sem", "count"]).reset_index().sort_values("T")
    half = [
        numbers.t_quantile(n - 1) * se for n, se in zip(table["count"], table["sem"], strict=True)
    ]
    ax.errorbar(table["T"], table["mean"], half, color=look.color, marker=look.marker,
                linewidth=look.linewidth, capsize=1.5, elinewidth=0.8)  # fmt: skip
    ax.fill_between(T, 0.3 * low.min(), low, color="#D55E00", alpha=0.15, linewidth=0)
    ax.errorbar(T, low, error, color="#D55E00", marker="_", linewidth=1.3, elinewidth=0.8)
    rates = np.array([theory.rate(*cell) / cell[1]
                      for cell in table[["K", "T", "B", "V"]].itertuples(index=False)])  # fmt: skip
    guide = table["mean"].iloc[0] * rates / rates[0]
    ax.plot(table["T"], guide, **style.THEORY)
    ax.set_xscale("log")
    top = max(table["mean"].max(), low.max())
    numbers.log_axis(ax, "y", min(low.min(), guide.min()) / 1.6, top * 1.4, 4)
    ax.set(xlabel="horizon $T$", ylabel="$R/T$")
    ax.set_title(f"{changes.max()} changes of {gap:g} in the last block", fontsize=8, pad=3)
    return [
        Line2D([], [], color=look.color, marker=look.marker, linewidth=look.linewidth,
               label="HyQue, no restart"),
        Line2D([], [], color="#D55E00", linewidth=1.3, label="floor: stale data alone"),
        Line2D([], [], label=r"the rate, $\propto (KV/B)^{1/3}$", **style.THEORY),
    ]  # fmt: skip


def _block(ax, ages: pd.DataFrame) -> None:
    """Shares of the orders at the smallest and the largest horizon, and the ages there."""
    horizons = sorted(ages["T"].unique())
    ends = [horizons[0], horizons[-1]] if len(horizons) > 1 else horizons
    width = 0.8 / len(ends)
    for place, T in enumerate(ends):
        mine = ages[(ages["T"] == T) & (ages["j"] < SHOWN)].sort_values("j")
        x = mine["j"].to_numpy() + (place - (len(ends) - 1) / 2) * width
        colour = ("#56B4E9", "#0072B2")[place]
        name = numbers.number(float(f"{T:.1g}"))
        bars = ax.bar(x, mine["share"], width, color=colour, label=f"$T$ = {name}")
        if place == len(ends) - 1:
            for bar, age in zip(bars, mine["age"], strict=True):
                ax.annotate(f"{age:.0%}" if age >= 0.01 else f"{age:.1%}",
                            (bar.get_x(), bar.get_height()), (0, 2),
                            textcoords="offset points", ha="center", fontsize=6)  # fmt: skip
    ax.set(xlabel="orders below the block's own", ylabel="share of the block")
    ax.set_xticks(range(min(SHOWN, int(ages["j"].max()) + 1)))
    ax.set_title("who plays, and the age of its data", fontsize=8, pad=3)
    ax.set_ylim(0, 1.3 * ages.loc[ages["j"] < SHOWN, "share"].max())
    ax.legend(loc="upper right", fontsize=7, handlelength=1.0)
    ax.grid(axis="x", visible=False)
