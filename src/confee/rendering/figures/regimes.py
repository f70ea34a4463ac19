"""Normalised regret over the plane of budgets and variations: where the rate holds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from confee.paper import theory
from confee.rendering import looks, numbers, style
from confee.rendering.catalogue import BASICS, Figure
from confee.rendering.figures.curves import worst_at
from confee.rendering.figures.panels import named

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.colors import LogNorm
    from matplotlib.figure import Figure as Drawing

RANGE = "#D55E00"
SATURATED = "#d9d9d9"
COLOURS, DARK = "Blues", 0.55
"""The colour map, from light to dark, and the position in it from which numbers are white."""


@style.styled
def draw(worst: pd.DataFrame, points: pd.DataFrame, name: str = "regimes") -> Drawing:
    """Draw a panel per policy over (ln B / ln T, ln V / ln B): worst-case regret over T (K
    V/B)^{1/3}.

    Where the rate holds, the number does not change along a row or a column. Saturated cells
    (regret above half of uniform play's worst case) are grey: the number falls there because
    regret cannot grow. The frame is the range of Theorem 4.1, and the title says from where to
    where the number goes inside it.

    `worst`: label, K, T, B, V, regret, se, saturated; `points`: label, axis (`name`), K, T, B, V.
    One K and one nominal T; phases are averaged.
    """
    from matplotlib.colors import LogNorm

    table = _table(worst, points, name)
    if table.empty:
        return style.empty("no map of regimes was played")
    labels = looks.ordered(table["label"])
    xs, ys = sorted(table["beta"].unique()), sorted(table["nu"].unique())
    fig = style.figure(
        0.6 + (0.35 + 0.17 * len(ys)) * len(labels), style.COLUMN, h_pad=0.03, w_pad=0.02
    )
    axes = fig.subplots(len(labels), 1, sharex=True, squeeze=False)[:, 0]
    open_ = table.loc[~table["saturated"], "ratio"]
    ends = open_ if len(open_) else table["ratio"]
    scale = LogNorm(ends.min() / 1.3, ends.max() * 1.01, clip=True)
    for ax, label in zip(axes, labels, strict=True):
        mine = table[table["label"] == label]
        _heat(ax, mine, xs, ys, scale)
        _region(ax, mine, xs, ys)
        inside = _within(mine)
        span = f": {' to '.join(_span(inside))} in the frame" if len(inside) else ""
        ax.set_title(named(label) + span, fontsize=8.5, loc="left", pad=4)
        ax.set_ylabel(r"$\nu$, where $V=B^{\nu}$")
    axes[-1].set_xlabel(r"$\beta$, where $B=T^{\beta}$")
    _bar(fig, list(axes), scale)
    handles = [
        style.sample(color=RANGE, linewidth=1.6, label="frame: range of Theorem 4.1"),
        style.patch(facecolor=SATURATED, label="grey: saturated"),
    ]
    style.legend_below(fig, handles, 2)
    return fig


def _bar(fig: Drawing, axes: list, scale: LogNorm) -> None:
    """Add the colour bar of all panels."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter

    bar = fig.colorbar(ScalarMappable(scale, COLOURS), ax=axes, aspect=35, pad=0.02)
    bar.set_label("normalised regret $R\\,/\\,(T(KV/B)^{1/3})$")
    bar.outline.set_visible(False)
    bar.ax.yaxis.set_major_locator(FixedLocator(numbers.log_ticks(*bar.ax.get_ylim(), 6)))
    bar.ax.yaxis.set_major_formatter(FuncFormatter(numbers.number))
    bar.ax.yaxis.set_minor_formatter(NullFormatter())


def _within(mine: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of the theorem's range that are not saturated."""
    inside = [theory.theorem_range(r.K, r.T, r.B, r.V) for r in mine.itertuples()]
    return mine[np.array(inside, dtype=bool) & ~mine["saturated"]]


def _span(mine: pd.DataFrame) -> list[str]:
    """Return the least and the greatest number, or the only one."""
    return list(dict.fromkeys([numbers.two(mine["ratio"].min()), numbers.two(mine["ratio"].max())]))


def finding(worst: pd.DataFrame, points: pd.DataFrame, name: str = "regimes") -> str:
    """Return by which factor normalised regret varies inside the theorem's range."""
    table = _table(worst, points, name)
    parts, errors = [], []
    for label in looks.ordered(table["label"]):
        mine = table[table["label"] == label]
        inside = _within(mine)
        if inside.empty:
            continue
        ratios = inside["ratio"]
        parts.append(
            f"{numbers.factor(ratios.max() / ratios.min())} for {looks.display(label)} "
            f"({' to '.join(_span(inside))})"
        )
        errors.append(inside["error"].max())
    if not parts:
        return "No cell within the range of Theorem 4.1 was played without being saturated."
    text = "In the range of Theorem 4.1 normalised regret varies by a factor of "
    noise = np.nanmax(errors) if np.isfinite(errors).any() else math.nan
    noted = f"; standard errors are at most {noise:.0%}" if noise > 0 else ""
    return f"{text}{numbers.listed(parts)}{noted}."


def _table(worst: pd.DataFrame, points: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return a row per cell, averaged over phases: label, K, T, B, V (of one phase), beta, nu
    (rounded), ratio (a geometric mean), error (of its logarithm), saturated (most of the phases).
    """
    import pandas as pd

    columns = ["label", "K", "T", "B", "V", "beta", "nu", "ratio", "error", "saturated"]
    table = worst_at(worst, points, [name])
    table = table[(table["regret"] > 0) & (table["V"] > 0)]
    if table.empty:
        return pd.DataFrame(columns=columns)
    rates = np.array([theory.rate(r.K, r.T, r.B, r.V) for r in table.itertuples()])
    table = table.assign(
        log=np.log(table["regret"] / rates),
        variance=(table["se"] / table["regret"]) ** 2,
        beta=(np.log(table["B"]) / np.log(table["T"])).round(3),
        nu=(np.log(table["V"]) / np.log(table["B"])).round(3),
    )
    cells = table.groupby(["label", "beta", "nu"])
    rows = cells[["K", "T", "B", "V"]].first()
    rows["ratio"] = np.exp(cells["log"].mean())
    rows["error"] = np.sqrt(cells["variance"].sum()) / cells.size()
    rows["saturated"] = cells["saturated"].mean() > 0.5
    return rows.reset_index()[columns]


def _heat(ax, mine: pd.DataFrame, xs: list[float], ys: list[float], scale: LogNorm) -> None:
    """Draw coloured cells with their numbers; saturated ones are grey."""
    table = mine.assign(text=mine["ratio"].map(numbers.two)).pivot(index="nu", columns="beta")
    names = ("ratio", "text", "saturated")
    ratio, texts, grey = (table[name].reindex(ys, columns=xs) for name in names)
    style.squares(ax, ratio, texts, scale, grey.eq(True), SATURATED, 7.5, COLOURS, DARK)
    ax.set_xticklabels([f"{x:.3g}" for x in xs])
    ax.set_yticklabels([numbers.signed(y, 1) for y in ys])
    ax.invert_yaxis()


def _region(ax, mine: pd.DataFrame, xs: list[float], ys: list[float]) -> None:
    """Draw the border between cells inside the theorem's range and those outside."""
    inside = {
        (xs.index(r.beta) + 0.5, ys.index(r.nu) + 0.5)
        for r in mine.itertuples()
        if theory.theorem_range(r.K, r.T, r.B, r.V)
    }
    for x, y in inside:
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            if (x + dx, y + dy) in inside:
                continue
            across = (x + dx / 2 - abs(dy) / 2, x + dx / 2 + abs(dy) / 2)
            up = (y + dy / 2 - abs(dx) / 2, y + dy / 2 + abs(dx) / 2)
            ax.plot(
                across,
                up,
                color=RANGE,
                linewidth=1.6,
                solid_capstyle="round",
                clip_on=False,
                zorder=4,
            )


FIGURE = Figure(
    "regimes",
    "Where the rate holds: budgets and variations",
    section=BASICS,
    place=8,
    needs=("worst", "points"),
    axes=("regimes",),
    maps=("regimes",),
    claims=("hyque-rate", "rexp3b-rate"),
    draw=draw,
    finding=finding,
    reading=(
        "Each square is a worst case over $T(KV/B)^{1/3}$: equal numbers mean that the rate holds."
    ),
)
