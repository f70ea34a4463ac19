"""The horizon at which HyQue's change tests can fire at all: thresholds against what is tested."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from confee.claims import detection_horizon as horizon
from confee.rendering import looks, numbers, style

TESTS = {"mean": "test (ii), on all queries", "span": "test (i), on a span"}
WIDTHS = dict(zip(TESTS, (1.4, 0.7), strict=True))
MARKS = dict(zip(TESTS, ("o", "s"), strict=True))

RUN, POSSIBLE = "#d9e6f2", "#eaf4e4"

READING = (
    "What a test compares with its threshold is at most 1, so it can fire only where its "
    "threshold (of (ii) with all $B$ queries in one block, of (i) on the largest span that fits) "
    "is below 1, in the green; marks are the first such horizons, found exactly. This is "
    "necessary, not sufficient. Blue: the horizons at which HyQue was run. Arithmetic, so without "
    "intervals."
)


@style.styled
def draw(thresholds: pd.DataFrame, first: pd.DataFrame, points: pd.DataFrame) -> Figure:
    """A panel for each B = T^beta: thresholds at scale 1 against T, and where they pass 1.

    `thresholds`: exponent, K, T, test (mean or span), threshold. `first`: exponent, K, test, T.
    `points`: label, T (the rows of hyque say what was run).
    """
    betas = sorted(thresholds["exponent"].unique(), reverse=True)
    fig = style.figure(2.3, w_pad=0.03, wspace=0.03)
    axes = fig.subplots(1, len(betas), sharex=True, sharey=True, squeeze=False)[0]
    colours = dict(zip(sorted(thresholds["K"].unique()), looks.PALETTE, strict=False))
    run = points.loc[points["label"] == "hyque", "T"]
    low, high = thresholds["T"].min(), thresholds["T"].max()
    for ax, beta in zip(axes, betas, strict=True):
        if len(run):
            ax.axvspan(max(run.min(), low), run.max(), color=RUN, linewidth=0, zorder=0)
        ax.axhspan(1e-9, 1, color=POSSIBLE, linewidth=0, zorder=0)
        ax.axhline(1, zorder=1.5, **style.THEORY)
        for (K, test), mine in thresholds[thresholds["exponent"] == beta].groupby(["K", "test"]):
            ax.plot(mine["T"], mine["threshold"], color=colours[K], linewidth=WIDTHS[test])
        _marks(ax, first[first["exponent"] == beta], colours)
        ax.set_title(numbers.budget(beta), pad=3)
        ax.set_xlabel("horizon $T$")
        numbers.log_axis(ax, "x", low, high, 8)
        numbers.log_axis(ax, "y", 0.08, 2 * thresholds["threshold"].max(), 6)
    axes[0].set_ylabel("threshold")
    style.legend_below(fig, _legend(colours, run), 3)
    return fig


def finding(thresholds: pd.DataFrame, first: pd.DataFrame, points: pd.DataFrame) -> str:
    """The first horizons of each budget, and how far what was run is from them."""
    parts = []
    for beta, mine in sorted(first.groupby("exponent"), reverse=True):
        least = mine.loc[mine["T"].idxmin()]
        where = f"$T$ = {_number(least['T'])} at {numbers.budget(beta)}"
        parts.append(f"{where} ($K = {least['K']}$)")
    text = f"At scale 1 no change test can fire before {', or '.join(parts)}. "
    run = points[points["label"] == "hyque"].drop_duplicates(["K", "T", "B"])
    if run.empty:
        return f"{text}HyQue as printed is not among the policies shown."
    cells = list(run[["K", "T", "B"]].itertuples(index=False, name=None))
    least = [min(horizon.thresholds(K, T, B).values()) for K, T, B in cells]
    possible = sum(one < 1 for one in least)
    return (
        f"{text}HyQue was run up to $T$ = {_number(run['T'].max())}: one can fire in {possible} of "
        f"its {len(cells)} combinations of $K$, $T$ and $B$ on the axes. The lowest threshold "
        f"there is {min(least):.3g}; a statistic can reach 1."
    )


def _number(value: float) -> str:
    return numbers.number(float(f"{value:.2g}"))


def _marks(ax: Axes, first: pd.DataFrame, colours: dict[int, str]) -> None:
    """The first horizons, the earliest with its number."""
    for row in first.itertuples():
        ax.plot(
            row.T,
            1,
            color=colours[row.K],
            marker=MARKS[row.test],
            markeredgecolor="white",
            markeredgewidth=0.6,
            markersize=5,
            zorder=3,
        )
    earliest = first["T"].min()
    ax.annotate(
        _number(earliest),
        (earliest, 1),
        (-3, -3),
        textcoords="offset points",
        ha="right",
        va="top",
        fontsize=8,
    )


def _legend(colours: dict[int, str], run: pd.Series) -> list:
    handles: list = [
        Line2D([], [], color=color, label=f"$K = {K}$") for K, color in colours.items()
    ]
    handles += [
        Line2D([], [], color=style.GREY, linewidth=WIDTHS[test], marker=MARKS[test], label=name)
        for test, name in TESTS.items()
    ]
    handles.append(Line2D([], [], label="most a statistic can reach", **style.THEORY))
    handles.append(Patch(color=POSSIBLE, label="a test can fire"))
    if len(run):
        handles.append(Patch(color=RUN, label="HyQue was run"))
    return handles
