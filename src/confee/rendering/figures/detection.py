"""The horizon at which HyQue's change tests can fire at all: thresholds against what is tested."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confee.claims import detection_horizon as horizon
from confee.paper import proofs
from confee.rendering import numbers, style
from confee.rendering.catalogue import MEANS, Figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

TESTS = {"mean": "test (ii), on all queries", "span": "test (i), on a span of rounds"}
COLOURS = dict(zip(TESTS, ("#0072B2", "#D55E00"), strict=True))

HORIZONS = tuple(round(10 ** (4 + step / 8)) for step in range(8 * 14 + 1))
"""Horizons at which thresholds are drawn."""

RUN, POSSIBLE = "#dddddd", "#e0f0d8"


@style.styled
def draw(thresholds: pd.DataFrame, first: pd.DataFrame, points: pd.DataFrame) -> Drawing:
    """Draw a panel for each B = T^beta: thresholds at scale 1 against T, and where they fall below
    1.

    `thresholds`: exponent, K, T, test (mean or span), threshold. `first`: exponent, K, test, T.
    `points`: label, T (the rows of hyque say what was run).
    """
    betas = sorted(thresholds["exponent"].unique(), reverse=True)
    fig = style.figure(2.5, width=style.COLUMN, w_pad=0.03, wspace=0.06)
    axes = fig.subplots(1, len(betas), sharex=True, sharey=True, squeeze=False)[0]
    run = points.loc[points["label"] == "hyque", "T"]
    low, high = thresholds["T"].min(), thresholds["T"].max()
    for ax, beta in zip(axes, betas, strict=True):
        if len(run):
            ax.axvspan(max(run.min(), low), run.max(), color=RUN, linewidth=0, zorder=0)
        ax.axhspan(1e-9, 1, color=POSSIBLE, linewidth=0, zorder=0)
        ax.axhline(1, zorder=1.5, **style.THEORY)
        for test, colour in COLOURS.items():
            mine = thresholds[(thresholds["exponent"] == beta) & (thresholds["test"] == test)]
            ends = mine.groupby("T")["threshold"].agg(["min", "max"])
            ax.fill_between(ends.index, ends["min"], ends["max"], color=colour, alpha=0.5)
        _mark(ax, first.loc[first["exponent"] == beta, "T"].min())
        ax.set_title(numbers.budget(beta), pad=4)
        ax.set_xlabel("horizon $T$")
        numbers.log_axis(ax, "x", low, high, 5)
        numbers.log_axis(ax, "y", 0.08, 2 * thresholds["threshold"].max(), 6)
    axes[0].set_ylabel("threshold of the test")
    arms = sorted(thresholds["K"].unique())
    style.legend_below(fig, _legend(arms, run), 2)
    return fig


def finding(thresholds: pd.DataFrame, first: pd.DataFrame, points: pd.DataFrame) -> str:
    """Return the first horizons of each budget, and how far the horizons played are from them."""
    parts = []
    for beta, mine in sorted(first.groupby("exponent"), reverse=True):
        parts.append(f"$T$ = {_number(mine['T'].min())} at {numbers.budget(beta)}")
    text = f"No change test of HyQue can fire before {', or '.join(parts)}"
    run = points[points["label"] == "hyque"].drop_duplicates(["K", "T", "B"])
    if run.empty:
        return f"{text}; HyQue as printed was not played."
    cells = list(run[["K", "T", "B"]].itertuples(index=False, name=None))
    possible = sum(min(horizon.thresholds(K, T, B).values()) < 1 for K, T, B in cells)
    return (
        f"{text}; at the horizons played, up to {_number(run['T'].max())}, one can fire in "
        f"{possible} of {len(cells)} cells."
    )


def _number(value: float) -> str:
    return numbers.number(float(f"{value:.2g}"))


def _mark(ax: Axes, earliest: float) -> None:
    """Mark the first horizon at which a test can fire."""
    ax.plot(earliest, 1, color=style.INK, marker="o", zorder=3)
    ax.annotate(
        _number(earliest), (earliest, 1), (-3, -3), textcoords="offset points", ha="right", va="top"
    )


def _legend(arms: list[int], run: pd.Series) -> list:
    handles: list = [
        style.patch(color=colour, alpha=0.5, label=f"{TESTS[test]}, $K$ = {arms[0]} to {arms[-1]}")
        for test, colour in COLOURS.items()
    ]
    handles.append(style.sample(label="largest value of the statistic", **style.THEORY))
    handles.append(style.patch(color=POSSIBLE, label="the test can fire"))
    if len(run):
        handles.append(style.patch(color=RUN, label="horizons played"))
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
        "A test fires only if its statistic, at most 1, exceeds its threshold: in the green area. "
        "Point: first such horizon, exact."
    ),
)
