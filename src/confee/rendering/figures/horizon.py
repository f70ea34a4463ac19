"""Regret over the rate along rays in B, where T/B stays fixed: a flat line is on the rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confee.paper import theory
from confee.rendering import looks, numbers, style
from confee.rendering.catalogue import BASICS, Figure
from confee.rendering.figures import fits, rays

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Drawing


LABELS = ("budget $B$", "$R\\;/\\;(T(KV/B)^{1/3})$", "exponent of growth in $B$")

NOTHING = "No ray along $B$ with idle rounds was played."


@style.styled
def draw(worst: pd.DataFrame, points: pd.DataFrame) -> Drawing:
    """Draw R / (T (K V/B)^{1/3}) against B, a panel for each V and T/B above 1.

    `worst` and `points` as in docs/design.md; of cells with V = 0 there is no rate.
    """
    panels = over_rate(worst, points)
    return rays.picture(panels, "B", LABELS) if panels else style.empty(NOTHING)


def finding(worst: pd.DataFrame, points: pd.DataFrame) -> str:
    """Return the first and last value of regret over the rate for the paper's policies."""
    panels = over_rate(worst, points)
    if not panels:
        return NOTHING
    labels = {line.label for lines in panels.values() for line in lines}
    sentences = []
    for label in fits.first(labels):
        mine = [
            (title, line)
            for title, lines in panels.items()
            for line in lines
            if line.label == label
        ]
        parts = [f"{_from_to(line.table)} at {_formula(title)}" for title, line in mine]
        sentences.append(f"{looks.display(label)}'s goes {' and '.join(parts)}")
    return f"Worst-case regret over the rate: {'; '.join(sentences)}."


def _formula(title: str) -> str:
    """Return a panel's title as one formula."""
    return title.replace("$, $", ",\\,")


def _from_to(table: pd.DataFrame) -> str:
    """Return `from 2.1 to 4.6`, of the points that enter a fit if any do."""
    inside = table[table["eligible"]] if table["eligible"].any() else table
    return f"from {numbers.two(inside['y'].iloc[0])} to {numbers.two(inside['y'].iloc[-1])}"


def over_rate(worst: pd.DataFrame, points: pd.DataFrame) -> dict[str, list[rays.Line]]:
    """Return the panels of `rays.lines` with idle rounds, all values over the rate."""
    if "variable" not in points:
        return {}
    cells = points[(points["variable"] == "B") & (points["V"] > 0) & (points["T"] > points["B"])]
    sizes = {rays.held(lines, "B"): lines.iloc[0] for _, lines in cells.groupby("axis")}
    panels = rays.lines(worst, cells, "B")
    return {
        title: [_over(line, sizes[title]["K"], sizes[title]["V"]) for line in lines]
        for title, lines in panels.items()
    }


def _over(line: rays.Line, K: int, V: float) -> rays.Line:
    """Return a line divided by the rate of K, V and its budgets."""
    rate = theory.critical_gap(K, line.table["x"], V)
    table = line.table.assign(guide=1.0)
    table[["y", "low", "high"]] = table[["y", "low", "high"]].div(rate, axis=0)
    fit = line.fit
    if fit is not None:
        less = theory.EXPONENTS["rate"]["B"]
        fit = fit._replace(
            exponent=fit.exponent - less, low=fit.low - less, high=fit.high - less, rate=0.0
        )
    return line._replace(table=table, fit=fit)


FIGURE = Figure(
    "horizon",
    "Regret over the rate against B, at a fixed T/B",
    section=BASICS,
    place=5,
    needs=("worst", "points"),
    axes=("ray:B",),
    claims=("hyque-rate", "rexp3b-rate"),
    named=True,
    draw=draw,
    finding=finding,
    reading=(
        "Regret over $T(KV/B)^{1/3}$. Solid: fits. Dashed: flat, as at the rate. Right: "
        "exponents of growth with 95 % CIs."
    ),
)
