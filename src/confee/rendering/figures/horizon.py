"""Normalised regret against B, where T/B stays fixed, a panel per V: flat where the rate holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confee.rendering import looks, numbers, style
from confee.rendering.catalogue import VERDICTS, Figure
from confee.rendering.figures import fits, rays
from confee.rendering.figures.panels import beside, grid, inside, roles, short_name

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Drawing

    from confee.rendering.figures.panels import Line

NOTHING = "No ray along $B$ with idle rounds was played."


@style.styled
def draw(worst: pd.DataFrame, points: pd.DataFrame) -> Drawing:
    """Draw R / (T (K V/B)^{1/3}) against B, a panel for each V and T/B above 1.

    docs/glossary.md has the columns. Cells with V = 0 have no rate and are left out. A single panel
    names its lines where they end, beside their exponents.
    """
    panels = over_rate(worst, points)
    if not panels:
        return style.empty(NOTHING)
    if len(panels) > 1:
        return grid(panels, rays.WORDS["B"], roles("B"))
    return beside(panels, rays.WORDS["B"], roles("B"), dots=False)


def finding(worst: pd.DataFrame, points: pd.DataFrame) -> str:
    """Return by which factor normalised regret grows for the paper's first policy and for the
    controls, where that policy's grows most."""
    panels = over_rate(worst, points)
    if not panels:
        return NOTHING
    first = fits.first({line.label for panel in panels.values() for line in panel})[0]
    growth = {
        title: next((_growth(line.table) for line in panel if line.label == first), 0.0)
        for title, panel in panels.items()
    }
    title = max(growth, key=lambda title: growth[title])
    shown = {line.label: line for line in panels[title]}
    parts = [f"{_from_to(shown[first])} for {looks.display(first)}"]
    for label, role in roles("B").items():
        if label in shown and label != first:
            kind = "rate proved" if role.endswith("hold") else "rate missed"
            parts.append(f"{_from_to(shown[label])} for {short_name(label)} ({kind})")
    return f"At {title}, normalised regret goes {numbers.listed(parts)}."


def _growth(table: pd.DataFrame) -> float:
    y = inside(table)["y"]
    return float(y.iloc[-1] / y.iloc[0])


def _from_to(line: Line) -> str:
    """Return `from 2.1 to 4.6`."""
    y = inside(line.table)["y"]
    return f"from {numbers.two(y.iloc[0])} to {numbers.two(y.iloc[-1])}"


def over_rate(worst: pd.DataFrame, points: pd.DataFrame) -> dict[str, list[Line]]:
    """Return the panels of `rays.lines` along B with idle rounds and changes."""
    if "variable" not in points:
        return {}
    cells = points[(points["variable"] == "B") & (points["V"] > 0) & (points["T"] > points["B"])]
    return rays.lines(worst, cells, "B")


FIGURE = Figure(
    "horizon",
    "Normalised regret against B, at a fixed T/B",
    section=VERDICTS,
    place=0,
    needs=("worst", "points"),
    axes=("ray:B",),
    claims=("hyque-rate", "rexp3b-rate"),
    draw=draw,
    finding=finding,
    reading=(
        "Normalised: divided by the paper's rate $T(KV/B)^{1/3}$, at which a line is flat "
        "(dashed). Bars: 95 % CIs."
    ),
)
