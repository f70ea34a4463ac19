"""The longest run of a block of BaQue against T/sqrt(B), and the lemma's bound on passing it."""

from __future__ import annotations

import math

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from confee import proofs
from confee.claims import query_runs
from confee.claims.judging import runs
from confee.rendering import numbers, style

LEAST = proofs.PROOF_CONSTANTS[0]
"""The lemma leaves its C open; this is the least of its proof, with which it claims least."""

EXPONENTS = {"idle": runs.EXPONENTS, "query": query_runs.EXPONENTS}
"""Of B = T^beta, for which it is claimed."""

LOOKS = (("#56B4E9", "s"), ("#0072B2", "o"))
"""Of the smallest and the largest horizon."""

READING = (
    "Blocks are drawn from BaQue's schedule alone, and counted back from the last one, which "
    "$T$ cuts; light is the smallest horizon, dark the largest. Above: the longest run of a block, "
    "the mean (line) and the most (shade); dashed is the length the lemma speaks of. Below: the "
    "share of blocks with a longer run; bars are 95 % limits for all blocks together, a hollow "
    "triangle is the upper limit where no such run was drawn (the smaller of the binomial one and "
    r"an exact union bound). Dotted: the lemma's $e^{-C B^{3/4}/\sqrt{T}}$ at $C = 1/2$, the least "
    "of its proof; blocks above it break it."
)


@style.styled
def draw(schedules: pd.DataFrame, kind: str = "idle") -> Figure:
    """A column for each B = T^beta: lengths above, chances of more than T/sqrt(B) rounds below.

    `schedules`: rows of the study of schedules (T, B, exponent, order, b, rounds, rates, quota,
    drawn, <kind>_mean, <kind>_max, <kind>_over_0.5). kind: idle or query.
    """
    table = _table(schedules, kind)
    if table.empty:
        return style.empty(f"no block was drawn that a long {kind} run fits into")
    betas = sorted(table["exponent"].unique())
    fig = style.figure(3.2, w_pad=0.03, wspace=0.02, h_pad=0.03)
    axes = fig.subplots(2, len(betas), sharex="all", squeeze=False, height_ratios=(1, 1.2))
    for (top, low), beta in zip(axes.T, betas, strict=True):
        mine = table[table["exponent"] == beta]
        for T, look in _ends(mine).items():
            part = mine[mine["T"] == T].sort_values("back")
            _lengths(top, part, look[0])
            _chances(low, part, *look)
        _scales(top, low, mine)
        top.set_title(numbers.budget(beta), pad=3)
        low.set_xlabel("blocks before the last")
    axes[0, 0].set_ylabel(f"longest {kind} run\nover $T/\\sqrt{{B}}$")
    axes[1, 0].set_ylabel("share of blocks with\none over $T/\\sqrt{B}$")
    axes[1, 0].set_xlim(table["back"].max() + 0.5, -0.5)
    style.legend_below(fig, _legend(table), 3)
    return fig


def finding(schedules: pd.DataFrame, kind: str = "idle") -> str:
    """How far the worst block is from the lemma, and which blocks keep to it."""
    table = _table(schedules, kind)
    if table.empty:
        return f"No block was drawn that a {kind} run over $T/\\sqrt{{B}}$ rounds fits into."
    last = table[table["T"] == table.groupby("exponent")["T"].transform("max")]
    broken = last[last["p_low"] > last["lemma"]]
    if broken.empty:
        return (
            f"In none of the {len(last)} kinds of blocks at the largest horizons are {kind} runs "
            "over $T/\\sqrt{B}$ rounds shown to be more frequent than the lemma allows at "
            "$C = 1/2$, there. (A claim also asks whether they get rarer as $T$ grows.)"
        )
    worst = broken.assign(times=broken["p"] / broken["lemma"]).sort_values(["times", "order"])
    worst = worst.iloc[-1]
    text = (
        f"At {numbers.budget(worst['exponent'])}, $T$ = {_number(worst['T'])}, "
        f"{worst['p']:.0%} [{worst['p_low']:.0%}, {worst['p_high']:.0%}] of {worst['drawn']:.0f} "
        f"draws of the {_which(worst['back'])} have a run of {kind} rounds over $T/\\sqrt{{B}}$; "
        f"the lemma allows {_number(worst['lemma'])}"
    )
    return f"{text}. {_kept(last)}"


def _kept(last: pd.DataFrame) -> str:
    """From where on back each budget's blocks are shown to keep to the lemma."""
    first = {}
    for beta, part in last.groupby("exponent"):
        off = part.loc[part["p_high"] > part["lemma"], "back"]
        first[beta] = int(off.max()) + 1 if len(off) else 0
    said = [f"{back} ({numbers.budget(beta)})" for beta, back in first.items()]
    return (
        f"It is shown to hold only from so many blocks before the last on back: {', '.join(said)}."
    )


def _which(back: int) -> str:
    return "last block" if back == 0 else f"block that is {back} before the last"


def _number(value: float) -> str:
    return numbers.number(float(f"{value:.2g}"))


def _table(schedules: pd.DataFrame, kind: str) -> pd.DataFrame:
    """The table of `runs.limits` for the smallest and the largest horizon along each B = T^beta.

    Further columns: back (blocks before the last), mean and most (runs over T/sqrt(B)), lemma.
    """
    rows = schedules
    if len(rows):
        rows = rows[(rows["rates"] == "paper") & (rows["quota"] == 1)]
        rows = rows[rows["exponent"].isin(EXPONENTS[kind])]
    if rows.empty:
        return pd.DataFrame(columns=["exponent", "T", "back"])
    last = rows.groupby(["T", "B"])["order"].max().rename("last")
    seen = rows.assign(sum=rows[f"{kind}_mean"] * rows["drawn"]).groupby(runs.BLOCK)
    seen = seen.agg(sum=("sum", "sum"), n=("drawn", "sum"), most=(f"{kind}_max", "max"))
    table = runs.limits(rows, kind).join(seen, on=runs.BLOCK).join(last, on=["T", "B"])
    length = proofs.run_length(table["T"], table["B"])
    table = table.assign(
        back=table["last"] - table["order"],
        mean=table["sum"] / table["n"] / length,
        most=table["most"] / length,
        lemma=[math.exp(-LEAST * x) for x in table["x"]],
    )
    ends = table.groupby("exponent")["T"].transform
    return table[(table["T"] == ends("min")) | (table["T"] == ends("max"))]


def _ends(mine: pd.DataFrame) -> dict[int, tuple[str, str]]:
    """Horizon -> (colour, marker); a lone horizon is the largest."""
    horizons = sorted(mine["T"].unique())
    return dict(zip(horizons, LOOKS[-len(horizons) :], strict=True))


def _lengths(ax: Axes, part: pd.DataFrame, color: str) -> None:
    ax.fill_between(part["back"], part["mean"], part["most"], color=color, alpha=0.25, linewidth=0)
    ax.plot(part["back"], part["mean"], color=color)
    ax.axhline(1, zorder=1.5, **style.THEORY)


def _chances(ax: Axes, part: pd.DataFrame, color: str, marker: str) -> None:
    drawn, none = part[part["p"] > 0], part[part["p"] == 0]
    ax.plot(part["back"], _shown(part), color=color, linewidth=0.8)
    spread = [drawn["p"] - drawn["p_low"], drawn["p_high"] - drawn["p"]]
    ax.errorbar(drawn["back"], drawn["p"], spread, color=color, marker=marker, markersize=3.4,
                linestyle="none", elinewidth=0.9, capsize=1.8)  # fmt: skip
    ax.plot(none["back"], none["p_high"], color=color, marker="v", linestyle="none",
            markersize=3.8, markerfacecolor="white")  # fmt: skip
    ax.axhline(part["lemma"].iloc[0], zorder=1.5, **(style.BOUND | {"color": color}))


def _shown(part: pd.DataFrame) -> pd.Series:
    """The share of blocks, or its upper limit where none was drawn."""
    return part["p"].where(part["p"] > 0, part["p_high"])


def _scales(top: Axes, low: Axes, mine: pd.DataFrame) -> None:
    numbers.log_axis(top, "y", mine["mean"].min() / 1.3, mine["most"].max() * 1.3, 5)
    floor, last = mine["lemma"].min(), mine[mine["back"] == mine["back"].min()]
    bottom, top_most = min(floor**1.3 / 3, _shown(last).min() / 3), 1.4 / floor**0.05
    step = math.ceil(-math.log10(bottom) / 4)
    few = [10.0**power for power in range(0, math.floor(math.log10(bottom)), -step)]
    ticks = numbers.log_ticks(bottom, 1, 5) if bottom > 1e-3 else few
    numbers.log_axis(low, "y", bottom, top_most, 5, ticks)
    low.xaxis.set_major_locator(MaxNLocator(5, integer=True))


def _legend(table: pd.DataFrame) -> list:
    horizons = _ends(table)
    handles: list = [
        Line2D([], [], color=color, marker=marker, label=f"$T$ = {_number(T)}")
        for T, (color, marker) in horizons.items()
    ]
    handles.append(Line2D([], [], label="$T/\\sqrt{B}$", **style.THEORY))
    none = style.remark("none drawn, at most")
    none.set(color=style.GREY, marker="v", markerfacecolor="white")
    handles.append(none)
    handles.append(Patch(color=style.GREY, alpha=0.3, label="mean to longest drawn"))
    handles.append(Line2D([], [], label="the lemma, $C = 1/2$", **style.BOUND))
    return handles
