"""Normalised regret along rays, where T/B stays fixed: verdicts on rates rest on it.

A panel for each set of sizes. A policy at the paper's rate is a flat line. Each panel has a policy
whose rate is proved and one that is known to miss it: a method that cannot tell these two apart
says nothing about the others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from confee.claims.judging.rates import USUAL
from confee.evidence.curve import MINIMAL_POINTS, Curve, curve, measure, project, rate_of
from confee.rendering import looks, numbers, style
from confee.rendering.catalogue import VERDICTS, Figure
from confee.rendering.figures import curves as shared
from confee.rendering.figures import fits
from confee.rendering.figures.panels import HEAD, NORMALISED, Line, Words, beside, roles, short_name

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Drawing

LEFT_OUT = ("uniform", "oracle", "informed", "ucb1", "hyque_blind", "baque", "rexp3b(pool=set)")
"""Policies that a ray plays for other claims, or to tell which cells are saturated. What replaying
the set of arms does to Rexp3B is the subject of the figure `replay`."""


WORDS = {
    "B": Words("budget $B$", NORMALISED, HEAD),
    "V": Words("variation $V$", NORMALISED, HEAD),
    "K": Words(
        "arms $K$", "regret over\nSW-UCB's regret", HEAD, "flat: grows with $K$ as SW-UCB's"
    ),
    "T": Words(
        "$T/B$", "$R/(T-B)$ over its\nfirst value", "last over first\n[95 % CI]", "flat: no growth"
    ),
}

SLOPES = "The numbers are exponents of growth, 0 at the rate."

CLAIMS = ("hyque-rate", "rexp3b-rate")

NOTHING = "No ray along ${}$ was played."


@style.styled
def draw(worst: pd.DataFrame, points: pd.DataFrame, variable: str) -> Drawing:
    """Draw the rays along one variable, a row for each; columns as in docs/glossary.md.

    Parameters
    ----------
    variable
        B or V: normalised regret. K: its ratio to SW-UCB's. T: R/(T - B) over its value at the
        smallest T.
    """
    panels = lines(worst, points, variable)
    if not panels:
        return style.empty(NOTHING.format(variable))
    ratio = variable == "T"
    return beside(panels, WORDS[variable], roles(variable), ratio, ticks=variable != "B")


def finding(worst: pd.DataFrame, points: pd.DataFrame, variable: str) -> str:
    """Return the excess of the paper's policy over its rate, where it is largest, beside the
    positive control."""
    panels = lines(worst, points, variable)
    if not panels:
        return NOTHING.format(variable)
    every = [(title, line) for title, panel in panels.items() for line in panel if line.fit]
    controls = set(roles(variable))
    judged = [line.label for _, line in every if line.label not in controls]
    if not judged:
        return f"Along ${variable}$ only controls have points that lie on a line."
    first = fits.first(judged)[0]
    mine = [(title, line) for title, line in every if line.label == first]
    title, line = max(mine, key=lambda pair: _excess(pair[1]))
    control = USUAL.positive[variable]
    text = f"At {title}, {_law(line, variable)}"
    for where, other in every:
        if where == title and other.label == control:
            by = "by" if variable == "T" else "as"
            text += f"; the positive control {short_name(control)}'s {by} {value(other, variable)}"
    return f"{text}."


# --------------------------------------------------------------------------- what is drawn


def lines(worst: pd.DataFrame, points: pd.DataFrame, variable: str) -> dict[str, list[Line]]:
    """Return the title of each panel -> its policies.

    Rays that differ in their length alone share a panel; a policy that was played on several of
    them is shown on the longest.
    """
    if "variable" not in points:
        return {}
    mine = points[(points["variable"] == variable) & ~points["label"].isin(LEFT_OUT)]
    longest: dict[str, dict[str, tuple[int, str]]] = {}
    for (ray, label), cells in mine.groupby(["axis", "label"]):
        here = longest.setdefault(held(cells, variable), {})
        here[label] = max(here.get(label, (0, "")), (cells["point"].nunique(), ray))
    panels = {}
    for title, rays in sorted(longest.items(), key=lambda item: _order(mine, item[1])):
        drawn = [_line(worst, points, label, ray, variable) for label, (_, ray) in rays.items()]
        if shown := [line for line in drawn if line is not None and len(line.table) > 1]:
            panels[title] = shown
    return panels


def held(cells: pd.DataFrame, variable: str) -> str:
    """Return what stays fixed along a ray, as a formula."""
    cells = cells[cells["V"] > 0] if (cells["V"] > 0).any() else cells
    ratio = float((cells["T"] / cells["B"]).median())
    budget = math.exp(np.log(cells["B"]).mean())  # Phases are spread around it.
    fixed = {
        "K": f"$K = {cells['K'].iloc[0]}$",
        "V": f"$V = {cells['V'].iloc[0]:g}$",
        "B": f"$B$ = {numbers.number(float(f'{budget:.3g}'))}",
        "T": "$T = B$" if ratio == 1 else f"$T = {ratio:.3g}\\,B$",
    }
    return ", ".join(text for name, text in fixed.items() if name != variable)


def _order(points: pd.DataFrame, rays: Mapping[str, tuple[int, str]]) -> tuple[float, ...]:
    """Return a sort key: panels with idle rounds first, then small budgets, then small
    variations."""
    cells = points[points["axis"].isin([ray for _, ray in rays.values()])]
    return (float((cells["T"] == cells["B"]).all()), cells["B"].min(), cells["V"].max())


def _line(
    worst: pd.DataFrame, points: pd.DataFrame, label: str, ray: str, variable: str
) -> Line | None:
    """Return a policy along a ray; None if it has no regret there, or is the partner of a ratio."""
    partner = USUAL.partner if variable == "K" else ""
    cells = curve(worst, points, label, ray, partner) if label != partner else None
    if cells is None:
        return None
    table = _points(cells)
    return None if table.empty else Line(label, table, *_fit(cells))


def _rate(cells: Curve) -> np.ndarray:
    """Logarithm of the paper's rate of what is drawn, without logarithmic factors."""
    rate = rate_of(cells, "rate" if (cells.V > 0).any() else "stationary")
    return np.zeros_like(rate) if cells.partner else rate


def _points(cells: Curve) -> pd.DataFrame:
    """Return the points of a curve over its rate: means over their phases on the logarithmic
    scale."""
    import pandas as pd

    x, y = cells.x, cells.y - _rate(cells)
    if cells.variable == "T":  # cells.y is R/(T - B).
        x, y = np.log(cells.T / cells.B), cells.y
    frame = pd.DataFrame(
        {
            "point": cells.point,
            "x": x,
            "y": y,
            "error": cells.se,
            "seeds": cells.seeds,
            "eligible": cells.reason == "",
            "at_limit": cells.at_limit,
        }
    )
    table = shared.over_phases(frame[np.isfinite(frame["y"])], ["point"])
    if cells.variable == "T" and len(table):
        first = table.loc[table["eligible"].idxmax(), "y"]
        table[["y", "low", "high"]] /= first
    return table


def _fit(cells: Curve) -> tuple[fits.Fit | None, str]:
    """Return the fit of the cells that enter, and why there is none."""
    entering = cells.entering()
    count = len(np.unique(entering.point))
    if count < 2:
        return None, fits.main_reason(cells.left_out) or "one point"
    where = entering.point, entering.phase
    measured = measure(entering.x, entering.y, entering.se, entering.seeds, *where)
    if cells.variable == "T":
        value, low, high = map(
            math.exp, (measured.growth, measured.growth_low, measured.growth_high)
        )
        return fits.Fit(value, low, high, rate=1.0), ""
    if not measured.straight:
        return None, fits.NOT_STRAIGHT
    rate = project(entering.x, _rate(entering), *where)
    return fits.Fit(measured.slope, measured.low, measured.high, rate, count < MINIMAL_POINTS), ""


# --------------------------------------------------------------------------- in words


def _excess(line: Line) -> float:
    """Return how far the interval lies above the rate; negative if it does not."""
    return line.fit.low - line.fit.rate if line.fit else -math.inf


def _law(line: Line, variable: str) -> str:
    """Return `HyQue's normalised regret scales as $B^{0.16}$ [0.15, 0.18], that is $R/T$ as
    $B^{-0.17}$ (rate: at most $B^{-0.33}$)`."""
    assert line.fit is not None
    name = looks.display(line.label)
    if variable == "T":
        return f"{name}'s $R/(T-B)$ grows by a factor of {value(line, variable)}"
    if variable == "K":
        return f"{name}'s regret over SW-UCB's scales as {value(line, variable)}"
    own, rate = (_power(variable, number) for number in (line.fit.exponent, line.fit.rate))
    return (
        f"{name}'s normalised regret scales as {value(line, variable)}, that is $R/T$ as {own} "
        f"(rate: at most {rate})"
    )


def value(line: Line, variable: str) -> str:
    """Return the exponent beyond the rate's, or along T the factor, with its 95 % CI."""
    assert line.fit is not None
    fit = line.fit
    less = 0.0 if variable == "T" else fit.rate
    limits = f"[{numbers.signed(fit.low - less)}, {numbers.signed(fit.high - less)}]"
    number = fit.exponent - less
    return f"{numbers.signed(number) if variable == 'T' else _power(variable, number)} {limits}"


def _power(variable: str, number: float) -> str:
    """Return an exponent as a formula."""
    return f"${variable}^{{{numbers.signed(number)}}}$".replace("\N{MINUS SIGN}", "-")


COMMON: dict[str, Any] = {
    "section": VERDICTS,
    "needs": ("worst", "points"),
    "draw": draw,
    "finding": finding,
}

FIGURES = (
    Figure(
        "ray-V",
        "Normalised regret against V, at fixed T and B",
        place=3,
        fixed={"variable": "V"},
        axes=("ray:V",),
        claims=CLAIMS,
        reading=f"A policy at the rate is a flat line. {SLOPES}",
        **COMMON,
    ),
    Figure(
        "ray-B",
        "Normalised regret against B, at a fixed T/B",
        place=4,
        fixed={"variable": "B"},
        axes=("ray:B",),
        claims=(*CLAIMS, "full-feedback", "table-rows"),
        reading=f"A policy at the rate is a flat line. {SLOPES}",
        **COMMON,
    ),
    Figure(
        "ray-K",
        "Regret over SW-UCB's regret against K",
        place=6,
        fixed={"variable": "K"},
        axes=("ray:K",),
        claims=CLAIMS,
        reading=(
            "Both play the same cells. A policy whose regret grows with $K$ as SW-UCB's is a flat "
            "line. The numbers are exponents of growth."
        ),
        **COMMON,
    ),
    Figure(
        "ray-T",
        "Regret per idle round against T, at fixed B",
        place=7,
        fixed={"variable": "T"},
        axes=("ray:T",),
        claims=CLAIMS,
        reading=(
            "A flat line means that $R/T$ grows only because the share of idle rounds, "
            "$1 - B/T$, does. The numbers compare both ends."
        ),
        **COMMON,
    ),
)
