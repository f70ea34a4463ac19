"""The horizon at which HyQue's change tests can fire at all: thresholds against what is tested."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confee.claims import detection_horizon as horizon
from confee.paper import proofs
from confee.rendering import looks, numbers, style
from confee.rendering.catalogue import MEANS, Figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

TESTS = {"mean": "test (ii), on all queries", "span": "test (i), on a span"}
WIDTHS = dict(zip(TESTS, (1.4, 0.7), strict=True))
MARKS = dict(zip(TESTS, ("o", "s"), strict=True))

HORIZONS = tuple(round(10 ** (4 + step / 8)) for step in range(8 * 14 + 1))
"""Horizons at which thresholds are drawn."""

RUN, POSSIBLE = "#d9e6f2", "#eaf4e4"


@style.styled
def draw(thresholds: pd.DataFrame, first: pd.DataFrame, points: pd.DataFrame) -> Drawing:
    """Draw a panel for each B = T^beta: thresholds at scale 1 against T, and where they fall below
    1.

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
    """Return the first horizons of each budget, and how far the horizons played are from them."""
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
    possible = sum(threshold < 1 for threshold in least)
    return (
        f"{text}HyQue was played up to $T$ = {_number(run['T'].max())}, where one can fire in "
        f"{possible} of its {len(cells)} cells (lowest threshold {min(least):.3g})."
    )


def _number(value: float) -> str:
    return numbers.number(float(f"{value:.2g}"))


def _marks(ax: Axes, first: pd.DataFrame, colours: dict[int, str]) -> None:
    """Draw the first horizons, the earliest with its number."""
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
    handles: list = [style.sample(color=color, label=f"$K = {K}$") for K, color in colours.items()]
    handles += [
        style.sample(color=style.GREY, linewidth=WIDTHS[test], marker=MARKS[test], label=name)
        for test, name in TESTS.items()
    ]
    handles.append(style.sample(label="most a statistic can reach", **style.THEORY))
    handles.append(style.patch(color=POSSIBLE, label="a test can fire"))
    if len(run):
        handles.append(style.patch(color=RUN, label="HyQue was run"))
    return handles


def thresholds_drawn() -> pd.DataFrame:
    """Return the thresholds at scale 1: exponent (B = T^exponent), K, T, test, threshold."""
    import pandas as pd

    rows = [
        (exponent, K, T, test, value)
        for exponent in horizon.BUDGETS.values()
        for K in horizon.ARMS
        for T in HORIZONS
        for test, value in horizon.thresholds(K, T, proofs.power_budget(T, exponent)).items()
    ]
    return pd.DataFrame(rows, columns=["exponent", "K", "T", "test", "threshold"])


def first_horizons() -> pd.DataFrame:
    """Return exponent, K, test and T: the first horizon at which that threshold is below 1."""
    import pandas as pd

    rows = []
    for exponent in horizon.BUDGETS.values():
        for K in horizon.ARMS:
            horizons = proofs.first_horizons(K, exponent)
            rows.append((exponent, K, "mean", horizons["mean, whole budget"]))
            rows.append((exponent, K, "span", horizons["span"]))
    return pd.DataFrame(rows, columns=["exponent", "K", "test", "T"])


FIGURE = Figure(
    "detection",
    "When HyQue's change tests can fire",
    section=MEANS,
    place=5,
    needs=("points",),
    own={"thresholds": thresholds_drawn, "first": first_horizons},
    claims=("detection/horizon",),
    draw=draw,
    finding=finding,
    reading=(
        "Threshold below 1 (green): a test can fire. Marks: the first such horizons, exact. "
        "Blue: horizons played."
    ),
)
