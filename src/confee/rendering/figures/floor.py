"""Why HyQue without restarts misses the rate: a constant share of rounds uses stale data."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from confee.paper import theory
from confee.rendering import looks, numbers, style
from confee.rendering.catalogue import WHY, Figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Drawing
    from matplotlib.lines import Line2D

HYQUE = "hyque"


ORANGE = "#D55E00"


@style.styled
def draw(ages: pd.DataFrame, floor_runs: pd.DataFrame) -> Drawing:
    """Draw stale shares against B, and runs beside their floor.

    Parameters
    ----------
    ages
        Rows of the study of ages, of kind `stale`: T, B, changes, stale, stale_se, windowed.
    floor_runs
        Runs against one of these paths (label, K, T, B, V, regret, adversary.gap). Their floor is
        gap * stale * (share of the last block, one half) of a policy that learns at once.
    """
    stale = ages[ages["kind"] == "stale"]
    if stale.empty or floor_runs.empty:
        return style.empty("no schedules and runs for the floor")
    stale = stale.assign(count=stale["changes"].map(lambda text: len(json.loads(text))))
    fig = style.figure(2.6, width=style.COLUMN, w_pad=0.03, wspace=0.05)
    left, right = fig.subplots(1, 2)
    handles = _stale(left, stale, floor_runs) + _regret(right, stale, floor_runs)
    style.legend_below(fig, handles, 2)
    return fig


def _floor(stale: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Return B, low, error: the floor of R/T on the path of the runs, with `count` of changes and
    `gap`.

    Half of all rounds are in the last block.
    """
    import pandas as pd

    rows = stale[stale["count"] == _of_runs(runs)].sort_values("B")
    gap = float(runs["adversary.gap"].iloc[0])
    half = gap / 2
    return pd.DataFrame(
        {
            "B": rows["B"].astype(float),
            "low": half * rows["stale"],
            "error": numbers.t_quantile(1e6) * half * rows["stale_se"],
            "count": rows["count"],
            "gap": gap,
        }
    ).reset_index(drop=True)


def _of_runs(runs: pd.DataFrame) -> int:
    """Return how many changes the runs face: V over the gap."""
    return round(runs["V"].iloc[0] / runs["adversary.gap"].iloc[0])


def _means(runs: pd.DataFrame) -> pd.DataFrame:
    """Return label, K, T, B, V, mean and half (of the 95 % CI) of R/T, and rate: (K V/B)^{1/3}."""
    table = runs.assign(y=runs["regret"] / runs["T"]).groupby(["label", "K", "T", "B", "V"])["y"]
    table = table.agg(["mean", "sem", "count"]).reset_index().sort_values("B", ignore_index=True)
    table["half"] = table["count"].map(lambda n: numbers.t_quantile(n - 1)) * table["sem"]
    table["rate"] = [theory.rate(r.K, r.T, r.B, r.V) / r.T for r in table.itertuples()]
    return table


def finding(ages: pd.DataFrame, floor_runs: pd.DataFrame) -> str:
    """Return the share of the floor in HyQue's regret at the largest budget, and how both change
    with B."""
    stale = ages[ages["kind"] == "stale"]
    if stale.empty or floor_runs.empty:
        return "No schedules and runs for the floor were drawn."
    stale = stale.assign(count=stale["changes"].map(lambda text: len(json.loads(text))))
    table = _means(floor_runs)
    floor, mine = _floor(stale, floor_runs), table[table["label"] == HYQUE]
    if floor.empty or mine.empty:
        return "No schedules and runs for the floor were drawn."
    last, end = mine.iloc[-1], floor.iloc[-1]
    text = (
        f"With {_changes(floor)}, stale data alone cost HyQue {numbers.two(end['low'])} per round "
        f"at $B = {_power(end['B'])}$"
    )
    if _same(end["B"], last["B"]):
        text += f", {100 * end['low'] / last['mean']:.0f} % of its regret"
    if len(floor) < 2:
        return text + "."
    first = floor["B"].iloc[0]
    change = numbers.factor(end["low"] / floor["low"].iloc[0])
    rate = numbers.two((end["B"] / first) ** (1 / 3))
    return f"{text}, {change} times the cost at $B = {_power(first)}$; the rate falls {rate}-fold."


def _changes(floor: pd.DataFrame) -> str:
    count, gap = floor["count"].iloc[0], floor["gap"].iloc[0]
    return f"{count} change{'s' if count > 1 else ''} of {gap:g}"


def _same(B: float, beside: float) -> bool:
    return abs(B / beside - 1) < 0.01


def _power(B: float) -> str:
    return numbers.number(float(f"{B:.2g}")).strip("$")


def _stale(ax, stale: pd.DataFrame, runs: pd.DataFrame) -> list[Line2D]:
    """Draw the stale share of each path but that of the runs, and a window's; return legend
    samples."""
    shown = stale[stale["count"] != _of_runs(runs)]
    shown = stale if shown.empty else shown
    for place, (count, rows) in enumerate(shown.groupby("count")):
        rows, colour = rows.sort_values("B"), looks.PALETTE[place % len(looks.PALETTE)]
        ax.errorbar(
            rows["B"],
            rows["stale"],
            2 * rows["stale_se"],
            color=colour,
            linewidth=1.1,
            marker=looks.MARKERS[place % len(looks.MARKERS)],
            elinewidth=0.8,
        )
        if "windowed" in rows:
            ax.plot(rows["B"], rows["windowed"], color=colour, linewidth=0.9, linestyle=":")
        ax.annotate(
            f"{count}",
            (rows["B"].iloc[-1], rows["stale"].iloc[-1]),
            (6, 0),
            va="center",
            textcoords="offset points",
            fontsize=9,
            color=colour,
        )
    values = [shown["stale"], *([shown["windowed"]] if "windowed" in shown else [])]
    low, high = min(v.min() for v in values), max(v.max() for v in values)
    _budgets(ax, shown["B"])
    numbers.log_axis(ax, "y", low / 1.3, high * 1.3, 4)
    ax.set(xlabel="budget $B$", ylabel="share of rounds on stale data")
    ends = sorted({shown["count"].min(), shown["count"].max()})
    ax.set_title(f"{' to '.join(map(str, ends))} changes", pad=4)
    return [
        style.sample(color=style.GREY, marker="o", linewidth=1.1, label="HyQue's stale data"),
        style.sample(
            color=style.GREY, linewidth=0.9, linestyle=":", label="stale data of a sliding window"
        ),
    ]


def _budgets(ax, B: pd.Series) -> None:
    """Make the axis of budgets logarithmic, with room for a number at its end."""
    numbers.log_axis(ax, "x", B.min() / 1.6, B.max() * 3, 4)


def _regret(ax, stale: pd.DataFrame, runs: pd.DataFrame) -> list[Line2D]:
    """Draw R/T of each policy, the floor, and the rate from HyQue's first point; return legend
    samples."""
    floor, table = _floor(stale, runs), _means(runs)
    handles = []
    for label in looks.ordered(table["label"]):
        mine, look = table[table["label"] == label], looks.looks([label])[label]
        ax.errorbar(
            mine["B"],
            mine["mean"],
            mine["half"].fillna(0),
            marker=look.marker,
            capsize=1.5,
            elinewidth=0.8,
            **looks.stroke(look),
        )
        text = f"{looks.display(label)}'s $R/T$"
        handles.append(style.sample(marker=look.marker, label=text, **looks.stroke(look)))
    first = table[table["label"] == HYQUE] if (table["label"] == HYQUE).any() else table
    guide = first["mean"].iloc[0] * first["rate"] / first["rate"].iloc[0]
    ax.plot(first["B"], guide, **style.THEORY)
    low = min([table["mean"].min(), guide.min(), *floor["low"]])
    ax.fill_between(floor["B"], 0.3 * low, floor["low"], color=ORANGE, alpha=0.15, linewidth=0)
    ax.errorbar(
        floor["B"],
        floor["low"],
        floor["error"],
        color=ORANGE,
        marker="_",
        linewidth=1.3,
        elinewidth=0.8,
    )
    _budgets(ax, table["B"])
    numbers.log_axis(ax, "y", low / 1.4, max([table["mean"].max(), *floor["low"]]) * 1.4, 4)
    ax.set(xlabel="budget $B$", ylabel="$R/T$")
    if len(floor):
        ax.set_title(_changes(floor), pad=4)
    return [
        *handles,
        style.sample(color=ORANGE, linewidth=1.3, label="cost of stale data alone"),
        style.sample(label=r"rate, $\propto (KV/B)^{1/3}$", **style.THEORY),
    ]


FIGURE = Figure(
    "floor",
    "Why HyQue without restarts misses the rate",
    section=WHY,
    place=2,
    needs=("ages", "floor_runs"),
    axes=("study:ages",),
    claims=("hyque-floor",),
    draw=draw,
    finding=finding,
    reading=(
        "Data from before the last change are stale. Left: share of rounds that use them, by "
        "changes in the last block. Right: $R/T$ and their cost."
    ),
)
