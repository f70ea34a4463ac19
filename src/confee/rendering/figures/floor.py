"""Why HyQue without restarts has a floor: how much of a block is played on old data."""

from __future__ import annotations

import json

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from confee import theory
from confee.rendering import looks, numbers, style

SHOWN = 8
"""Orders below the block's own that are shown."""


READING = (
    "Left: HyQue's $R/T$ with 95% intervals; shaded, its floor: what a policy that learns at once "
    "and perfectly from its queries pays for those made before the latest change, half of the "
    "rounds being in the last block. Dashed: the rate, from the first point. Right, drawn from "
    "schedules alone: the share of a block's rounds that each order plays, and over the bars "
    "the mean age of their data at the larger horizon, over the length of the block."
)

ORANGE = "#D55E00"


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


def _floor(stale: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """T, low, error: the floor of R/T of the schedule with the most changes, and `changes`, `gap`;
    half of all rounds are in the last block."""
    changes = stale["changes"].map(lambda text: len(json.loads(text)))
    rows = stale[changes == changes.max()].sort_values("T")
    gap = float(runs["adversary.gap"].iloc[0])
    half = gap / 2
    return pd.DataFrame({
        "T": rows["T"].astype(float), "low": half * rows["stale"],
        "error": numbers.t_quantile(1e6) * half * rows["stale_se"],
        "changes": changes.max(), "gap": gap,
    }).reset_index(drop=True)  # fmt: skip


def _means(runs: pd.DataFrame) -> pd.DataFrame:
    """K, T, B, V, mean and half (of the 95 % interval) of R/T, and rate: (K V/B)^{1/3}."""
    table = runs.assign(y=runs["regret"] / runs["T"]).groupby(["K", "T", "B", "V"])["y"]
    table = table.agg(["mean", "sem", "count"]).reset_index().sort_values("T", ignore_index=True)
    table["half"] = table["count"].map(lambda n: numbers.t_quantile(n - 1)) * table["sem"]
    table["rate"] = [theory.rate(r.K, r.T, r.B, r.V) / r.T for r in table.itertuples()]
    return table


def finding(ages: pd.DataFrame, floor_runs: pd.DataFrame) -> str:
    """What part of HyQue's regret at the largest horizon is its floor, and how each moves."""
    stale = ages[ages["kind"] == "stale"]
    if stale.empty or floor_runs.empty:
        return "No schedules and runs for the floor were drawn."
    floor, table = _floor(stale, floor_runs), _means(floor_runs)
    first, last, end = table.iloc[0], table.iloc[-1], floor.iloc[-1]
    ends = last["mean"] - last["half"], last["mean"] + last["half"]
    measured = numbers.factor(last["mean"], *ends)
    text = (
        f"With {_changes(floor)} in HyQue's last block, stale data alone cost "
        f"{numbers.two(end['low'])} a round at $T = {_power(end['T'])}$"
    )
    if _same(end["T"], last["T"]):
        text += f", {end['low'] / last['mean']:.0%} of its $R/T$ of {measured}"
    if len(table) < 2 or len(floor) < 2:
        return text + "."
    return (
        f"{text}. From $T = {_power(first['T'])}$ on that floor changes by a factor of "
        f"{numbers.factor(end['low'] / floor['low'].iloc[0])}, $R/T$ by "
        f"{numbers.two(last['mean'] / first['mean'])}, the rate by "
        f"{numbers.two(last['rate'] / first['rate'])}."
    )


def _changes(floor: pd.DataFrame) -> str:
    count, gap = floor["changes"].iloc[0], floor["gap"].iloc[0]
    return f"{count} change{'s' if count > 1 else ''} of {gap:g}"


def _same(one: float, other: float) -> bool:
    return abs(one / other - 1) < 0.01


def _power(T: float) -> str:
    return numbers.number(float(f"{T:.2g}")).strip("$")


def _regret(ax, stale: pd.DataFrame, runs: pd.DataFrame) -> list[Line2D]:
    floor, table = _floor(stale, runs), _means(runs)
    T, low = floor["T"], floor["low"]
    look = looks.looks(["hyque"])["hyque"]
    ax.errorbar(table["T"], table["mean"], table["half"], color=look.color, marker=look.marker,
                linewidth=look.linewidth, capsize=1.5, elinewidth=0.8)  # fmt: skip
    ax.fill_between(T, 0.3 * low.min(), low, color=ORANGE, alpha=0.15, linewidth=0)
    ax.errorbar(T, low, floor["error"], color=ORANGE, marker="_", linewidth=1.3, elinewidth=0.8)
    guide = table["mean"].iloc[0] * table["rate"] / table["rate"].iloc[0]
    ax.plot(table["T"], guide, **style.THEORY)
    ax.set_xscale("log")
    top = max(table["mean"].max(), low.max())
    numbers.log_axis(ax, "y", min(low.min(), guide.min()) / 1.6, top * 1.4, 4)
    ax.set(xlabel="horizon $T$", ylabel="$R/T$")
    ax.set_title(f"{_changes(floor)} in the last block", fontsize=8, pad=3)
    return [
        Line2D([], [], color=look.color, marker=look.marker, linewidth=look.linewidth,
               label="HyQue, no restart"),
        Line2D([], [], color=ORANGE, linewidth=1.3, label="floor: stale data alone"),
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
        name = _power(T)
        bars = ax.bar(x, mine["share"], width, color=colour, label=f"$T = {name}$")
        if place == len(ends) - 1:
            for bar, age, j in zip(bars, mine["age"], mine["j"], strict=True):
                high = ages.loc[(ages["j"] == j) & ages["T"].isin(ends), "share"].max()
                ax.annotate(f"{age:.0%}" if age >= 0.01 else f"{age:.1%}",
                            (bar.get_x() + width / 2, high), (0, 2),
                            textcoords="offset points", ha="center", fontsize=6.5)  # fmt: skip
    ax.set(xlabel="orders below the block's own", ylabel="share of the block")
    ax.set_xticks(range(min(SHOWN, int(ages["j"].max()) + 1)))
    ax.set_title("who plays, and how old its data are", fontsize=8, pad=3)
    ax.set_ylim(0, 1.3 * ages.loc[ages["j"] < SHOWN, "share"].max())
    ax.legend(loc="upper right", fontsize=7, handlelength=1.0)
    ax.grid(axis="x", visible=False)
