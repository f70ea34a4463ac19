"""Panels of curves on logarithmic axes: each line is named where it ends, beside its exponent."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from confee.claims.judging.rates import USUAL
from confee.rendering import looks, numbers, style
from confee.rendering.figures import curves, fits

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing
    from matplotlib.lines import Line2D

NORMALISED = "normalised regret\n$R\\,/\\,(T(KV/B)^{1/3})$"
"""The vertical axis on which a policy at the paper's rate is a flat line."""

HEAD = "growth exponent\n[95 % CI]"

FLAT = "flat: the paper's rate"

NAMES = {
    "random_restart": "random restarts",
    "sw_ucb_misled": "SW-UCB with a wrong $V$",
    "sw_ucb_copied": "SW-UCB with $K^2$ arms",
    "sw_ucb_overtold": "SW-UCB with $V$ too large",
    "rexp3b(pool=set)": "Rexp3B as printed",
    "hyque_blind": "HyQue, random queries",
}
"""Controls, by what is wrong with them."""

KNOWN = {"V": "$V$", "path": "path"}
"""What a policy may be given -> how its name says it."""

ROW, ROLE = 0.155, 0.115
"""Inches: a line's name, and the line below it that says what a control must do."""

SIZE, GAP = 8.5, 13
"""Points: of names, and from the axes to the names."""

BEYOND = 2.0
"""An interval is cut where it goes beyond all points by more than this factor."""

LEAST, ALONE = 1.35, 1.9
"""Inches: the least height of a panel, and of one that is alone."""


class Line(NamedTuple):
    """One policy in a panel.

    Parameters
    ----------
    label, table
        The policy's label, and its points: x, y, low, high, eligible, at_limit.
    fit, why
        Its exponent, or another number of which `fit.rate` is the claimed value; and why there is
        none.
    """

    label: str
    table: pd.DataFrame
    fit: fits.Fit | None
    why: str


class Words(NamedTuple):
    """The texts of a figure: its two axes, the heading of its numbers and its dashed line."""

    across: str
    up: str
    head: str
    flat: str = FLAT


def inside(table: pd.DataFrame) -> pd.DataFrame:
    """Return the points that enter a fit if any do."""
    return table[table["eligible"]] if table["eligible"].any() else table


def roles(variable: str) -> dict[str, str]:
    """Return label -> what it must do, for the controls along a variable."""
    return {
        USUAL.positive[variable]: "control: must hold",
        USUAL.negative[variable]: "control: must fail",
    }


def short_name(label: str) -> str:
    """Return the name of a policy: of a control what is wrong with it."""
    return NAMES.get(label) or looks.display(label)


def named(label: str) -> str:
    """Return the name of a policy, and whether it knows V or the path."""
    from confee.policies import POLICIES

    policy = POLICIES.get(label.partition("(")[0])
    if label in NAMES or policy is None:
        return short_name(label)
    known = next((f", knows {word}" for what, word in KNOWN.items() if what in policy.known), "")
    return looks.display(label) + known


def beside(
    panels: Mapping[str, Sequence[Line]],
    words: Words,
    controls: Mapping[str, str],
    ratio: bool = False,
    ticks: bool = False,
    dots: bool = True,
    remarks: Sequence[Line2D] = (),
) -> Drawing:
    """Draw a row for each panel: its curves, and to their right the names and exponents.

    Parameters
    ----------
    panels
        Title -> the lines.
    controls
        Label -> what a control must do.
    ratio
        Show `fit.exponent` itself; otherwise its excess over `fit.rate`.
    ticks
        Label the horizontal axis at the points if their labels are short; otherwise at round
        numbers.
    dots
        Mark points whose worst gap is the largest possible.
    remarks
        Further lines of the legend.
    """
    least = LEAST if len(panels) > 1 else ALONE
    heights = [
        max(least, sum(_height(line.label, controls) for line in panel) + 0.1)
        for panel in panels.values()
    ]
    fig = style.figure(
        sum(heights) + 0.25 * len(panels) + 0.45, style.COLUMN, h_pad=0.02, w_pad=0.02
    )
    axes = fig.subplots(len(panels), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    for ax, (title, panel), height in zip(axes, panels.items(), heights, strict=True):
        _panel(ax, panel)
        ax.set_title(title, loc="left", fontsize=SIZE, pad=3)
        for line in panel if dots else ():
            curves.dots(ax, line.table)
        _names(fig, ax, panel, controls, height, ratio, words.head if ax is axes[0] else "")
    _across(axes[-1], panels, words.across, ticks)
    _named(fig, words.up)
    style.legend_below(fig, [*_legend(panels, words, dots), *remarks], 2)
    return fig


def grid(
    panels: Mapping[str, Sequence[Line]], words: Words, controls: Mapping[str, str]
) -> Drawing:
    """Draw two panels in a row, which share both axes; a legend names the lines."""
    rows = math.ceil(len(panels) / 2)
    fig = style.figure(1.75 * rows + 0.35, style.COLUMN, h_pad=0.02, w_pad=0.02, wspace=0.02)
    axes = fig.subplots(rows, 2, sharex=True, sharey=True, squeeze=False)
    for ax in axes.flat[len(panels) :]:
        ax.set_visible(False)
        axes[-2, 1].tick_params(axis="x", labelbottom=True)
    for ax, (title, panel) in zip(axes.flat, panels.items(), strict=False):
        _panel(ax, panel)
        ax.set_title(title, loc="left", fontsize=SIZE, pad=3)
        if ax is axes.flat[len(panels) - 1] or ax in axes[-1]:
            ax.set_xlabel(words.across)
    _named(fig, words.up)
    every = [line for panel in panels.values() for line in panel]
    _up(axes[0, 0], every)
    _across(axes[0, 0], panels, "", ticks=False)
    last = {line.label: line.table["y"].iloc[-1] for line in every}
    drawn_as = looks.looks(last)
    # Controls come last: their long names then share a column.
    order = sorted(last, key=lambda label: (label in controls, -last[label]))
    handles = [
        curves.handle(
            drawn_as[label], named(label) + (f" ({controls[label]})" if label in controls else "")
        )
        for label in order
    ]
    style.legend_below(fig, handles + _legend(panels, words, dots=False), 2)
    for text in fig.legends[0].get_texts():
        if text.get_text() in {named(label) for label in fits.PAPER}:
            text.set_fontweight("bold")
    return fig


# --------------------------------------------------------------------------- curves


def _panel(ax: Axes, panel: Sequence[Line]) -> None:
    """Draw the lines of a panel, and a flat line from where the first of them begins."""
    labels = looks.ordered(line.label for line in panel)
    drawn_as = looks.looks(labels)
    for line in panel:
        rank = 4 - labels.index(line.label) / len(labels)
        curves.markers(ax, line.table, drawn_as[line.label], rank, joined=True)
    lead = next(line for line in panel if line.label == fits.first(labels)[0])
    ax.axhline(inside(lead.table)["y"].iloc[0], zorder=1.5, **style.THEORY)
    _up(ax, panel)


def _up(ax: Axes, panel: Sequence[Line]) -> None:
    """Give the vertical axis the range of these lines."""
    import pandas as pd
    from matplotlib.ticker import MaxNLocator

    every = pd.concat([line.table for line in panel])
    least, most = every["y"].min(), every["y"].max()
    # Intervals may leave the panel: one that is wide would flatten all lines.
    low = max(every[["y", "low"]].min(axis=None), least / BEYOND)
    high = min(every[["y", "high"]].max(axis=None), most * BEYOND)
    low, high = numbers.widened(low, high, least=1.1)
    near = high / low < 4  # Then few powers of ten and their halves lie between the two.
    places = MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    ticks = [float(place) for place in places if low <= place <= high] if near else None
    numbers.log_axis(ax, "y", low, high, 5, ticks=ticks)


def _named(fig: Drawing, up: str) -> None:
    """Name the vertical axis, once for all panels."""
    fig.supylabel(up, fontsize=9, linespacing=1.4, multialignment="center")


def _across(ax: Axes, panels: Mapping[str, Sequence[Line]], name: str, ticks: bool) -> None:
    """Give the horizontal axis, which all panels share, the range of all lines."""
    every = [x for panel in panels.values() for line in panel for x in line.table["x"]]
    places = sorted({float(f"{x:.3g}") for x in every})
    short = not any("times" in numbers.number(place) for place in places)
    shown = places[:: math.ceil(len(places) / 7)] if ticks and short else None
    numbers.log_axis(ax, "x", *numbers.widened(min(every), max(every), 0.04), 4, ticks=shown)
    if name:
        ax.set_xlabel(name)


def _legend(panels: Mapping[str, Sequence[Line]], words: Words, dots: bool) -> list[Line2D]:
    import pandas as pd

    table = pd.concat([line.table for panel in panels.values() for line in panel])
    if not dots:
        table = table.assign(at_limit=False)
    return [style.sample(label=words.flat, **style.THEORY), *curves.marks(table)]


# --------------------------------------------------------------------------- names


def _height(label: str, controls: Mapping[str, str]) -> float:
    return ROW + ROLE * (label in controls)


def _names(
    fig: Drawing,
    ax: Axes,
    panel: Sequence[Line],
    controls: Mapping[str, str],
    height: float,
    ratio: bool,
    head: str,
) -> None:
    """Write the name and the exponent of each line to the right, as near as possible to its end."""
    from matplotlib.transforms import offset_copy

    drawn_as = looks.looks(line.label for line in panel)
    below, above = np.log(ax.get_ylim())
    ends = [math.log(line.table["y"].iloc[-1]) for line in panel]
    order = sorted(range(len(panel)), key=lambda i: -ends[i])
    wanted = [(ends[i] - below) / (above - below) * height for i in order]
    sizes = [_height(panel[i].label, controls) for i in order]
    texts = {line.label: named(line.label) for line in panel}
    room = max(
        *(_points(text, label in fits.PAPER) for label, text in texts.items()),
        *(_points(role, False) for label, role in controls.items() if label in texts),
        0.0,
    )
    at, numbers_at = (
        offset_copy(ax.transAxes, fig, x=x, units="points") for x in (GAP, GAP + room + 7)
    )
    for i, y in zip(order, spread(wanted, sizes, height), strict=True):
        line = panel[i]
        role = controls.get(line.label, "")
        ax.annotate(
            texts[line.label] + f"\n{role}" * bool(role),
            (line.table["x"].iloc[-1], line.table["y"].iloc[-1]),
            (1, y / height),
            textcoords=at,
            va="center",
            fontsize=SIZE,
            linespacing=0.95,
            fontweight="bold" if line.label in fits.PAPER else "normal",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": drawn_as[line.label].color,
                "linewidth": 0.6,
                "shrinkA": 0,
                "shrinkB": 3,
                "relpos": (0, 0.5),
            },
        )
        ax.text(
            1,
            y / height,
            _number(line, ratio),
            transform=numbers_at,
            va="center",
            fontsize=SIZE,
            color=style.GREY if line.fit is None or line.fit.short else style.INK,
        )
    if head:
        ax.text(
            1,
            1,
            head,
            transform=offset_copy(numbers_at, fig, y=4, units="points"),
            va="bottom",
            linespacing=1.0,
            fontsize=SIZE - 1,
            color=style.GREY,
        )


def _number(line: Line, ratio: bool) -> str:
    """Return the number of a line with its 95 % CI, or why it has none."""
    if line.fit is None:
        return line.why.replace("batch under 4 queries", "short batches") or "no fit"
    fit = line.fit
    less = 0.0 if ratio or math.isnan(fit.rate) else fit.rate
    return numbers.exponent(fit.exponent - less, fit.low - less, fit.high - less)


def spread(wanted: Sequence[float], sizes: Sequence[float], whole: float) -> list[float]:
    """Return places for texts of these sizes, none over another, near the places that are wanted.

    Parameters
    ----------
    wanted
        From the highest to the lowest.
    whole
        The places lie between 0 and this.

    Examples
    --------
    >>> spread([2.0, 1.9, 0.0], [1.0, 1.0, 1.0], 4.0)
    [2.5, 1.5, 0.5]
    """
    from scipy.optimize import isotonic_regression

    offsets = np.cumsum(sizes) - np.asarray(sizes) / 2
    # With the sizes above each added, the places may coincide but not cross: an isotonic fit.
    level = isotonic_regression(np.asarray(wanted) + offsets, increasing=False).x
    clipped = np.clip(level, float(np.sum(sizes)), whole)
    return [round(float(place), 6) for place in clipped - offsets]


def _points(text: str, bold: bool) -> float:
    """Return the width of a text in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

    weight = "bold" if bold else "normal"
    font = FontProperties(family=style.RC["font.family"], size=SIZE, weight=weight)
    return TextToPath().get_text_width_height_descent(text, font, ismath="$" in text)[0]
