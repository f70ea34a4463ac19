"""Where regret comes from: the parts of the decomposition, policy by policy, at several budgets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from confee.paper import theory
from confee.rendering import looks, numbers, style
from confee.rendering.catalogue import WHY, Figure
from confee.rendering.cells import CELL, at, centre, chosen, keys
from confee.rendering.figures import fits
from confee.rendering.figures.panels import short_name

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing
    from matplotlib.lines import Line2D

# No dots: of those an SVG draws every one.
PARTS = {
    "regret_query": ("queries", "#0072B2", ""),
    "regret_error": ("idle rounds: estimation error", "#E69F00", "//////"),
    "regret_drift": ("idle rounds: drift of the means", "#CC79A7", r"\\\\\\"),
    "regret_no_data": ("idle rounds: no data", "#BBBBBB", "xxxxx"),
}

APART = 1.5
"""Budgets nearer than this ratio are shown once."""


NAMES = {
    "regret_query": "queries",
    "regret_error": "estimation error in idle rounds",
    "regret_drift": "drift in idle rounds",
    "regret_no_data": "idle rounds without data",
}

NOTHING = "No regret of known parts was measured at the centre."


@style.styled
def draw(regret: pd.DataFrame, worst: pd.DataFrame, points: pd.DataFrame, choose: int) -> Drawing:
    """Draw regret over the rate and the shares of R_query, R_error, R_drift and R_no_data in it, at
    the centre and at the smallest and the largest budget of the sweep or of a ray along B through
    it.

    `regret`: label, K, T, B, V, adversary, seed, regret, regret_query, regret_error, regret_drift,
    regret_no_data; those against the adversary chosen as worst are shown, phases and seeds
    averaged. `worst`, `points`, `choose` as for the landscape. A policy without regret has
    no parts.
    """
    table = parts(regret, worst, points, choose)
    table = table[table["sum"] > 0]
    if table.empty:
        return style.empty(NOTHING)
    labels, budgets = looks.ordered(table["label"]), sorted(table["budget"].unique())
    fig = style.figure(0.75 + 0.23 * len(labels), width=style.COLUMN, w_pad=0.03, wspace=0.0)
    grid = fig.subplots(
        1, 1 + len(budgets), sharey=True, squeeze=False, width_ratios=[1.3, *[1] * len(budgets)]
    )[0]
    handles = [
        *(
            style.patch(facecolor=color, hatch=hatch, edgecolor="white", linewidth=0.3, label=name)
            for name, color, hatch in PARTS.values()
        ),
        *_sums(grid[0], table, labels, budgets),
    ]
    for ax, budget in zip(grid[1:], budgets, strict=True):
        _shares(ax, table[table["budget"] == budget], labels)
        ax.set_title(f"$B$ = {numbers.number(budget)}", pad=3)
        ax.set_xlabel("share of regret")
    grid[0].set_yticks(range(len(labels)), [short_name(label) for label in labels], fontsize=9)
    grid[0].set_ylim(len(labels) - 0.5, -0.5)
    for ax in grid:
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="y", visible=False)
    style.legend_below(fig, handles, 3)
    return fig


def finding(regret: pd.DataFrame, worst: pd.DataFrame, points: pd.DataFrame, choose: int) -> str:
    """Return the largest part of the regret of the paper's policies at the centre."""
    table = parts(regret, worst, points, choose)
    table = table[table["sum"] > 0]
    if table.empty:
        return NOTHING
    table = table.assign(**shares(table))
    budget = next(b for b in budgets(points) if (table["budget"] == b).any())
    here = table[table["budget"] == budget].set_index("label")
    largest = here[list(PARTS)].idxmax(axis=1)
    words: dict[str, list[str]] = {}
    for label in fits.first(set(table["label"])):
        share = f"{looks.display(label)} ({100 * here.loc[label, largest[label]]:.0f} %)"
        words.setdefault(NAMES[largest[label]], []).append(share)
    largest_parts = [f"{part} for {numbers.listed(shares)}" for part, shares in words.items()]
    return (
        f"At $B$ = {numbers.number(budget)} the largest part of the regret is "
        f"{numbers.listed(largest_parts)}."
    )


def _sums(ax: Axes, table: pd.DataFrame, labels: list[str], budgets: list[float]) -> list[Line2D]:
    """Draw the sums with their intervals, a marker per budget; return their legend samples."""
    from matplotlib import colormaps

    handles = []
    for place, budget in enumerate(budgets):
        rows = table[table["budget"] == budget]
        shift = 0.17 * (place - (len(budgets) - 1) / 2)
        mark: dict[str, Any] = {
            "color": colormaps["viridis"](0.85 * place / max(len(budgets) - 1, 1)),
            "marker": looks.MARKERS[place],
            "markersize": 3.2,
            "linestyle": "none",
        }
        ax.errorbar(
            rows["sum"],
            [labels.index(name) + shift for name in rows["label"]],
            xerr=rows["half"].fillna(0),
            elinewidth=0.9,
            capsize=1.2,
            **mark,
        )
        handles.append(style.sample(label=f"$B$ = {numbers.number(budget)}", **mark))
    low, high = (table["sum"] - table["half"].fillna(0)), (table["sum"] + table["half"].fillna(0))
    least = low[low > 0].min() if (low > 0).any() else table["sum"].min()
    numbers.log_axis(ax, "x", least / 1.2, high.max() * 1.2, 4)
    ax.set_xlabel("normalised regret")
    return handles


def _shares(ax: Axes, table: pd.DataFrame, labels: list[str]) -> None:
    """Draw a bar per label: its parts in proportion to their sizes, negative ones left of zero."""
    sizes = shares(table)
    place = [labels.index(name) for name in table["label"]]
    right, left = np.zeros(len(table)), np.zeros(len(table))
    for part, (_, color, hatch) in PARTS.items():
        width = sizes[part].to_numpy()
        ax.barh(
            place,
            width,
            left=np.where(width >= 0, right, left),
            height=0.7,
            color=color,
            hatch=hatch,
            edgecolor="white",
            linewidth=0.3,
        )
        right, left = right + np.maximum(width, 0), left + np.minimum(width, 0)
    for y in sorted(set(range(len(labels))) - set(place)):
        ax.text(0.5, y, "not played", ha="center", va="center", color=style.GREY, style="italic")
    if left.min() < 0:
        ax.axvline(0, color=style.INK, linewidth=0.6)
    ax.set_xlim(left.min(), 1)
    ax.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])


def shares(table: pd.DataFrame) -> pd.DataFrame:
    """Return the parts over the sum of their absolute values."""
    return table[list(PARTS)].div(table[list(PARTS)].abs().sum(axis=1), axis=0)


def parts(
    regret: pd.DataFrame, worst: pd.DataFrame, points: pd.DataFrame, choose: int
) -> pd.DataFrame:
    """Return a row per budget and label: budget, label, B, sum, half (of its 95 % interval over
    seeds) and PARTS, all over the rate, averaged over phases."""
    import pandas as pd

    tables = []
    for budget, cells in budgets(points).items():
        rows = at(regret, cells).dropna(subset=["regret_error"])  # none where rules are played
        rows = chosen(rows[rows["V"] > 0], at(worst, cells), choose)
        if not rows.empty:
            tables.append(_averaged(rows).assign(budget=budget))
    columns = ["label", "sum", "half", *PARTS, "budget"]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=columns)


def budgets(points: pd.DataFrame) -> dict[float, pd.DataFrame]:
    """Return budget -> its cells: the centre's, and the smallest and the largest of the sweep of B
    or of the longest ray along B through the centre, if they are APART."""
    middle = centre(points)
    if middle.empty:
        return {}
    cells = {float(f"{np.exp(np.log(middle['B']).mean()):.2g}"): middle}
    sweep = _along_B(points, middle)
    places = sorted(sweep["point"].unique())
    for place in [places[0], places[-1]] if places else []:
        if all(max(place / other, other / place) > APART for other in cells):
            settings = sweep.loc[sweep["point"] == place, CELL[1:]].drop_duplicates()
            cells[float(place)] = points[CELL].drop_duplicates().merge(settings, on=CELL[1:])
    return cells


def _along_B(points: pd.DataFrame, middle: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of the sweep of B, else those with V > 0 of a ray along B through the
    centre."""
    sweep = points[points["axis"] == "B"]
    if len(sweep) or "variable" not in points:
        return sweep
    rays = points[(points["variable"] == "B") & (points["V"] > 0)]
    through = rays.merge(middle[CELL[1:]].drop_duplicates(), on=CELL[1:])["axis"]
    return rays[rays["axis"] == through.mode().iloc[0]] if len(through) else sweep


def _averaged(rows: pd.DataFrame) -> pd.DataFrame:
    rate = [theory.rate(*cell) for cell in rows[CELL[1:]].itertuples(index=False)]
    values = rows[["regret", *PARTS]].div(rate, axis=0).assign(key=keys(rows), label=rows["label"])
    cells = values.groupby(["label", "key"])
    error = (cells["regret"].var() / cells.size()).groupby("label").agg(_all)
    means = cells.mean().groupby("label").mean().rename(columns={"regret": "sum"})
    count = cells.size().groupby("label").size()
    free = cells.size().groupby("label").sum() - count
    half = np.sqrt(error) / count * [numbers.t_quantile(number) for number in free]
    return means.assign(half=half).reset_index()


def _all(values: pd.Series) -> float:
    """Return the sum; NaN if a value is NaN."""
    return values.sum(skipna=False)


FIGURE = Figure(
    "decomposition",
    "The parts of regret",
    section=WHY,
    place=3,
    needs=("regret", "worst", "points", "choose"),
    claims=("query-regret", "error-regret", "drift-regret", "decomposition"),
    draw=draw,
    finding=finding,
    reading=(
        "Left: worst case over $T(KV/B)^{1/3}$, with 95 % CIs. Right: its parts. Estimation error: "
        "the arm played against the best one when its data were collected; drift: that one against "
        "the best now."
    ),
)
