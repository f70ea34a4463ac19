"""Regret along rays, where T/B stays fixed: the quantity on which a verdict on a rate rests.

A panel for each set of sizes; in it each policy with its fitted line, where its points lie on one,
and the paper's rate from where that line begins. At the right the exponents with their intervals.
Each panel has a policy whose rate is proved and one that is known to break it: a method that cannot
tell these two apart says nothing about the others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from confee.claims.judging.rates import USUAL
from confee.evidence.curve import MINIMAL_POINTS, Curve, curve, measure, project, rate_of
from confee.rendering import looks, numbers, style
from confee.rendering.catalogue import VERDICTS, Figure
from confee.rendering.figures import curves as shared
from confee.rendering.figures import fits

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing
    from matplotlib.lines import Line2D

LEFT_OUT = ("uniform", "oracle", "informed", "ucb1", "hyque_blind", "baque", "rexp3b(pool=set)")
"""Policies that a ray plays for other claims, or to tell which cells are saturated. What replaying
the set of arms does to Rexp3B is the subject of the figure `replay`."""

BELOW = 2.0
"""A level at V = 0 that is lower than all points by more than this factor is out of sight."""

APART = 0.01
"""Along T points are few and lie near each other: shift between two policies, of the axis."""

LABELS = {
    "B": ("budget $B$", "worst-case $R/T$", "exponent in $B$"),
    "V": ("variation $V$", "worst-case $R/T$", "exponent in $V$"),
    "K": ("arms $K$", "$R$ / SW-UCB's $R$", "exponent in $K$"),
    "T": ("$T/B$", "$R/T$ / its first value", "growth / mixing"),
}
"""Names of the horizontal axis, of the vertical one and of what the intervals are of."""

READING = (
    "Solid: fits, where the points lie on a line. Dashed: the paper's rate. Right: exponents with "
    "95 % CIs."
)

CLAIMS = ("hyque-rate", "rexp3b-rate")

NOTHING = "No ray along ${}$ was played."


class Line(NamedTuple):
    """One policy along a ray.

    Parameters
    ----------
    label, table
        The policy's label, and its points: x, y, low, high, eligible, at_limit and guide, the
        paper's rate.
    fit, why
        The exponent, or along T the growth beyond mixing; and why there is none.
    still
        Regret per round where nothing changes; NaN if unknown.
    """

    label: str
    table: pd.DataFrame
    fit: fits.Fit | None
    why: str
    still: float


@style.styled
def draw(worst: pd.DataFrame, points: pd.DataFrame, variable: str) -> Drawing:
    """Draw the rays along one variable, a row for each; `worst` and `points` as in docs/design.md.

    Parameters
    ----------
    variable
        B or V: worst-case R/T. K: its ratio to SW-UCB's. T: R/T over its value at the smallest T.
    """
    panels = lines(worst, points, variable)
    return picture(panels, variable) if panels else style.empty(NOTHING.format(variable))


def picture(
    panels: Mapping[str, Sequence[Line]], variable: str, labels: tuple[str, str, str] | None = None
) -> Drawing:
    """Draw a row for each panel, see `lines`; `labels` are those of LABELS by default."""
    import pandas as pd

    across, up, beside = labels or LABELS[variable]
    heights = [max(1.3, shared.ROW * len(panel)) for panel in panels.values()]
    fig = style.figure(sum(heights) + 0.25 * len(panels) + 0.4, h_pad=0.02, w_pad=0.02, wspace=0.0)
    grid = fig.add_gridspec(len(panels), 3, width_ratios=[1, 0.09, 0.36], height_ratios=heights)
    span, sides = _span(panels), []
    for row, (title, panel) in enumerate(panels.items()):
        ax, key = (fig.add_subplot(grid[row, column]) for column in (0, 1))
        side = fig.add_subplot(grid[row, 2], sharey=key)
        last = row == len(panels) - 1
        _panel(ax, panel, variable)
        ax.set_title(title, loc="left", fontsize=8, pad=3)
        _horizontal(ax, panel, variable, span, last)
        ax.set(xlabel=across if last else "", ylabel=up)
        ends = pd.Series({line.label: line.table["y"].iloc[-1] for line in panel})
        fitted = {line.label: line.fit for line in panel if line.fit is not None}
        lacking = {line.label: line.why for line in panel if line.fit is None}
        fits.rows(
            key,
            side,
            ends,
            fitted,
            lacking,
            beside,
            _roles(list(ends.index), variable),
            numbers.exponent,
        )
        sides.append(side)
    _aligned([side for side in sides if side.axison])
    style.legend_below(fig, _legend(panels, variable), 3)
    return fig


def finding(worst: pd.DataFrame, points: pd.DataFrame, variable: str) -> str:
    """Return the excess of the paper's policy over its rate, where it is largest, beside the
    positive control."""
    panels = lines(worst, points, variable)
    if not panels:
        return NOTHING.format(variable)
    every = [(title, line) for title, panel in panels.items() for line in panel if line.fit]
    controls = {USUAL.positive[variable], USUAL.negative[variable]}
    judged = [line.label for _, line in every if line.label not in controls]
    if not judged:
        return f"Along ${variable}$ no policy's points lie on a line, but for controls."
    first = fits.first(judged)[0]
    mine = [(title, line) for title, line in every if line.label == first]
    title, line = max(mine, key=lambda pair: _excess(pair[1]))
    control = USUAL.positive[variable]
    beside = [other for where, other in every if where == title and other.label == control]
    text = f"{looks.display(line.label)}'s {_law(line, variable)} at {title}"
    for other in beside:
        name = looks.display(control).replace(", ", " ")
        text += f"; {name}'s, whose rate is proved, {value(other, variable)}"
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
    if table.empty:
        return None
    here = points[(points["axis"] == ray) & (points["label"] == label) & (points["V"] == 0)]
    resting = worst.merge(here[shared.CELL].drop_duplicates(), on=shared.CELL)
    still = float((resting["regret"] / resting["T"]).mean()) if variable == "V" else math.nan
    fit, why = _fit(cells)
    return Line(label, table, fit, why, still)


def _rate(cells: Curve) -> np.ndarray:
    """Logarithm of the paper's rate of what is drawn, without logarithmic factors."""
    rate = rate_of(cells, "rate" if (cells.V > 0).any() else "stationary")
    return np.zeros_like(rate) if cells.partner else rate


def _points(cells: Curve) -> pd.DataFrame:
    """Return the points of a curve, means over their phases on the logarithmic scale."""
    import pandas as pd

    x, y, guide = cells.x, cells.y, _rate(cells)
    if cells.variable == "T":
        mixing = np.log(1 - np.minimum(cells.B / cells.T, 1 - 1e-12))
        x, y, guide = np.log(cells.T / cells.B), y + mixing, mixing
    frame = pd.DataFrame(
        {
            "point": cells.point,
            "x": x,
            "y": y,
            "error": cells.se,
            "seeds": cells.seeds,
            "eligible": cells.reason == "",
            "at_limit": cells.at_limit,
            "guide": guide,
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
        return None, "no line"
    rate = project(entering.x, _rate(entering), *where)
    return fits.Fit(measured.slope, measured.low, measured.high, rate, count < MINIMAL_POINTS), ""


# --------------------------------------------------------------------------- drawing


def _panel(ax: Axes, panel: Sequence[Line], variable: str) -> None:
    """Draw the policies of a ray, their lines and the rate."""
    import pandas as pd
    from matplotlib.ticker import MaxNLocator

    labels = looks.ordered(line.label for line in panel)
    drawn_as = looks.looks(labels)
    still = _levels(panel)
    for line in panel:
        look, table, rank = drawn_as[line.label], line.table, labels.index(line.label)
        beside = table
        if variable == "T":
            shift = (table["x"].max() / table["x"].min()) ** (APART * (rank - (len(panel) - 1) / 2))
            beside = table.assign(x=table["x"] * shift)
        shared.markers(ax, beside, look, 4 - rank / len(panel))
        if variable != "T":
            _fitted(ax, line, look)
        if line.label in still:
            ax.axhline(line.still, color=look.color, linewidth=0.7, zorder=1)
    if variable == "T":
        _mixing(ax, panel)
    every = pd.concat([line.table for line in panel])
    low = min([every[["y", "low"]].min(axis=None), *still.values()])
    high = every[["y", "high"]].max(axis=None)
    low, high = numbers.widened(low, high, least=1.03)
    near = high / low < 5  # Then few powers of ten and their halves lie between the two.
    places = MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    ticks = [float(place) for place in places if low <= place <= high] if near else None
    numbers.log_axis(ax, "y", low, high, 5, ticks=ticks)


def _levels(panel: Sequence[Line]) -> dict[str, float]:
    """Return the levels at V = 0 to draw: those in sight, but for negative controls."""
    lowest = min(line.table["y"].min() for line in panel)
    shown = [line for line in panel if line.label not in USUAL.negative.values()]
    return {line.label: line.still for line in shown if line.still > lowest / BELOW}


def _fitted(ax: Axes, line: Line, look: looks.Look) -> None:
    """Draw the line of a fit, and the paper's rate from where it begins, or from the first
    point."""
    inside = line.table[line.table["eligible"]]
    if inside.empty:
        return
    start = inside["y"].iloc[0]
    if line.fit is not None:
        start = shared.line(ax, inside, inside["x"], line.fit.exponent, look, 2)
    guide = inside["guide"] * (start / inside["guide"].iloc[0])
    ax.plot(inside["x"], guide, zorder=1.5, **style.THEORY)


def _aligned(sides: Sequence[Axes]) -> None:
    """Give the intervals of all panels one scale, labelled on the lowest panel."""
    from matplotlib.ticker import MaxNLocator

    ends = np.array([side.get_xlim() for side in sides])
    for side in sides:
        side.set_xlim(ends[:, 0].min(), ends[:, 1].max())
        side.xaxis.set_major_locator(MaxNLocator(2, steps=[1, 2, 5, 10]))
        side.tick_params(axis="x", labelbottom=side is sides[-1])
        if side is not sides[-1]:
            side.set_xlabel("")


def _mixing(ax: Axes, panel: Sequence[Line]) -> None:
    """Draw the mixing curve from the first point of all: it is the same for every policy."""
    table = max((line.table for line in panel), key=lambda table: table["x"].max())
    start = table.loc[table["eligible"].idxmax(), "x"]
    x = np.geomspace(start, table["x"].max(), 50)
    ax.plot(x, (1 - 1 / x) / (1 - 1 / start), zorder=1.5, **style.THEORY)


def _span(panels: Mapping[str, Sequence[Line]]) -> tuple[float, float]:
    """Return the least and the largest x of all panels, which share their horizontal axis."""
    import pandas as pd

    every = pd.concat([line.table["x"] for panel in panels.values() for line in panel])
    return every.min(), every.max()


def _horizontal(
    ax: Axes, panel: Sequence[Line], variable: str, span: tuple[float, float], last: bool
) -> None:
    places = sorted({float(f"{x:.3g}") for line in panel for x in line.table["x"]})
    ticks = places if variable != "B" and len(places) <= 10 else None
    numbers.log_axis(ax, "x", *numbers.widened(*span, 0.04), 6, ticks=ticks)
    ax.tick_params(axis="x", labelbottom=last)


def _roles(labels: Sequence[str], variable: str) -> dict[str, str]:
    """Return label -> its name with its role, for controls."""
    known = {USUAL.positive[variable]: "must hold", USUAL.negative[variable]: "must fail"}
    return {label: f"{looks.display(label)} ({known[label]})" for label in labels if label in known}


def _legend(panels: Mapping[str, Sequence[Line]], variable: str) -> list[Line2D]:
    import pandas as pd

    every = [line for panel in panels.values() for line in panel]
    law = "mixing alone" if variable == "T" else "the paper's rate"
    handles = [style.sample(label=law, **style.THEORY)]
    if any(map(_levels, panels.values())):
        handles.append(style.sample(color=style.GREY, linewidth=0.7, label="level at $V = 0$"))
    table = pd.concat([line.table for line in every])
    return handles + shared.marks(table)


# --------------------------------------------------------------------------- in words


def _excess(line: Line) -> float:
    """Return how far the interval lies above the rate; negative if it does not."""
    return line.fit.low - line.fit.rate if line.fit else -math.inf


def _law(line: Line, variable: str) -> str:
    """Return `regret over SW-UCB's scales as $K^{0.14}$ [0.11, 0.17] (rate: at most 0.00)`."""
    if variable == "T":
        return f"$R/T$ grows {value(line, variable)} times as much as mixing"
    what = "$R/T$" if variable != "K" else "regret over SW-UCB's"
    assert line.fit is not None
    return (
        f"{what} scales as {value(line, variable)} (rate: at most {numbers.signed(line.fit.rate)})"
    )


def value(line: Line, variable: str) -> str:
    """Return the exponent, or the factor, with its 95 % CI."""
    assert line.fit is not None
    limits = f"[{numbers.signed(line.fit.low)}, {numbers.signed(line.fit.high)}]"
    exponent = numbers.signed(line.fit.exponent)
    if variable == "T":
        return f"{exponent} {limits}"
    return f"${variable}^{{{exponent}}}$ {limits}".replace("\N{MINUS SIGN}", "-", 1)


COMMON: dict[str, Any] = {
    "section": VERDICTS,
    "needs": ("worst", "points"),
    "draw": draw,
    "finding": finding,
}

FIGURES = (
    Figure(
        "ray-V",
        "Regret against V, at fixed T and B",
        place=3,
        fixed={"variable": "V"},
        axes=("ray:V",),
        claims=CLAIMS,
        reading=(
            "Solid: fits, where the points lie on a line. Dashed: the paper's rate. Thin: level at "
            "$V = 0$. Right: exponents with 95 % CIs."
        ),
        **COMMON,
    ),
    Figure(
        "ray-B",
        "Regret against B, at a fixed T/B",
        place=4,
        fixed={"variable": "B"},
        axes=("ray:B",),
        claims=(*CLAIMS, "full-feedback", "table-rows"),
        reading=READING,
        **COMMON,
    ),
    Figure(
        "ray-K",
        "Regret over SW-UCB's against K",
        place=6,
        fixed={"variable": "K"},
        axes=("ray:K",),
        claims=CLAIMS,
        reading=READING,
        **COMMON,
    ),
    Figure(
        "ray-T",
        "Regret against T, at fixed B: growth beyond mixing",
        place=7,
        fixed={"variable": "T"},
        axes=("ray:T",),
        claims=CLAIMS,
        reading=(
            "Dashed: mixing, $1 - B/T$, the growth of $R/T$ at constant regret per idle round. "
            "Right: growth over mixing between the ends, with 95 % CIs."
        ),
        **COMMON,
    ),
)
