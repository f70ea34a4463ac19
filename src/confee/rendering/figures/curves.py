"""What the pictures against an axis share: phases averaged, and a line for each label."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from confee.evidence.slopes import UPPER_POINTS
from confee.paper import theory
from confee.rendering import looks, numbers, style
from confee.rendering.cells import CELL, keys
from confee.rendering.figures import fits

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing
    from matplotlib.lines import Line2D

LEADERS = (
    "hyque",
    "hyque_oful",
    "hyque_glm_ucb",
    "hyque_falcon",
    "hyque_q_ucb",
    "hyque_calibrated",
    "baque",
    "odque",
    "rexp3b",
)
"""Whose first point the theory's line starts from: the first of these that is drawn."""

SETTINGS = {
    "arms": "arms",
    "linear": "linear bandits",
    "logistic": "logistic bandits",
    "contextual": "contextual bandits",
    "episodic": "episodic MDPs",
}
"""Settings in the order of their panels."""

ROW = 0.185
"""Inches: a policy's row beside the curves."""

SYMBOLS = {"T": "horizon $T$", "B": "budget $B$", "V": "variation $V$", "K": "arms $K$"}

LOGARITHMS = ("x", "y", "guide", "bound")
"""Columns of a point whose means over its phases are geometric."""


COLUMNS = ("label", "setting", *LOGARITHMS, "low", "high", "eligible", "at_limit")


class Averaged(NamedTuple):
    """The curves (COLUMNS), and the labels that have no regret to draw."""

    curves: pd.DataFrame
    zeros: list[str]


def averaged(worst: pd.DataFrame, points: pd.DataFrame, axis: str) -> Averaged:
    """Return the geometric mean of R/T over the phases of each point, with 95 % intervals.

    `guide` and `bound` are the theory's rate and the lower bound at the same cells, averaged
    likewise, so the lines through them are free of the phases too. The bound is one on policies of
    arms, and in other settings the rate does not depend on K as it does there: no rate along K.
    `points` may have a column `setting`.
    """
    import pandas as pd

    shown = worst[[*CELL, "regret", "se", "seeds", "eligible"]]
    shown = shown.assign(at_limit=worst.get("at_limit", False))
    table = worst_at(shown, points, [axis])
    zeros = looks.ordered(table.loc[~(table["regret"] > 0), "label"])
    table = table[~table["label"].isin(zeros)]
    if table.empty:
        return Averaged(pd.DataFrame(columns=COLUMNS), zeros)
    table = table.assign(setting=settings(points, table["label"]))
    cells = [(row.K, row.T, row.B, row.V) for row in table.itertuples()]
    arms = table["setting"] == "arms"
    rates = pd.Series(
        [math.log(theory.rate(*c) / c[1]) if c[3] > 0 else math.nan for c in cells], table.index
    )
    constant = math.log(theory.LOWER_BOUND_CONSTANT)
    bounds = [constant if theory.lower_bound_applies(*c) else math.nan for c in cells]
    table = table.assign(
        y=np.log(table["regret"].to_numpy(float) / table["T"]),
        error=table["se"] / table["regret"],
        guide=rates.where(arms | (axis != "K")),
        bound=(rates + bounds).where(arms),
    )
    curves = over_phases(table, ["label", "setting", "point"])
    return Averaged(curves.rename(columns={"point": "x"}).astype({"x": float}), zeros)


def over_phases(cells: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Return the points of curves: means over the phases of each, with 95 % intervals.

    The spread of the phases is not noise (HyQue's last block moves regret by some 30 %), so the
    intervals come from the seeds alone. A point is eligible if half of its phases are, as in the
    fits.

    Parameters
    ----------
    cells
        LOGARITHMS, as far as there are any; error (of y), seeds, eligible, at_limit.
    by
        The columns that say which cells are the phases of one point.
    """
    import pandas as pd

    rows = []
    for place, phases in cells.groupby(by):
        means = {n: phases[n].mean(skipna=False) for n in LOGARITHMS if n in phases}
        half = numbers.half_width(phases["error"], phases["seeds"])
        ends = {"low": means["y"] - half, "high": means["y"] + half}
        shares = {n: bool(phases[n].mean() >= 0.5) for n in ("eligible", "at_limit")}
        logarithms = {name: math.exp(value) for name, value in (means | ends).items()}
        rows.append(dict(zip(by, place, strict=True)) | logarithms | shares)
    return pd.DataFrame(rows)


def settings(points: pd.DataFrame, labels: pd.Series) -> pd.Series:
    """Return the setting of each label's policy: column `setting` of the points, arms where it is
    not."""
    import pandas as pd

    if "setting" not in points:
        return pd.Series("arms", labels.index)
    return labels.map(points.drop_duplicates("label").set_index("label")["setting"])


def with_key(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with a column `key` of cells, by which frames are merged: V may differ in
    its last digit."""
    return frame.assign(key=keys(frame))


def worst_at(worst: pd.DataFrame, points: pd.DataFrame, axes: Collection[str]) -> pd.DataFrame:
    """Return the worst cases of the cells on some axes (or maps), with their `point`."""
    here = points.loc[points["axis"].isin(axes), [*CELL, "point"]].drop_duplicates()
    return with_key(here).merge(with_key(worst).drop(columns=CELL), on="key")


def nothing(axis: str, zeros: list[str]) -> str:
    """Return the finding where there is nothing to draw."""
    return f"No cell {'with regret ' if zeros else ''}was played on the axis of ${axis}$."


def said(curve: pd.DataFrame, axis: str, what: str) -> str:
    """Return the first and last value of a label's curve, as the beginning of a sentence."""
    curve = curve.sort_values("x")
    first, last = curve.iloc[0], curve.iloc[-1]
    text = f"{looks.display(first['label'])}'s {what} is {first['y']:.2g} at"
    text += f" ${axis}$ = {numbers.number(first['x'])}"
    if len(curve) == 1:
        return text
    return f"{text}, {last['y']:.2g} at {numbers.number(last['x'])}"


# ------------------------------------------------------------------ drawing


def sweep(
    curves: pd.DataFrame,
    axis: str,
    ylabel: str,
    fitted_lines: Mapping[str, fits.Fit],
    lacking: Mapping[str, str],
    law: str,
) -> Drawing:
    """Draw curves against an axis and, to their right, a row for each with its exponent (`found`,
    by label) beside the theory's, or why it has none (`lacking`). There is a panel per setting;
    `law` names the theory."""
    shown = [name for name in SETTINGS if (curves["setting"] == name).any()]
    parts = [curves[curves["setting"] == name] for name in shown]
    spans = [_spans(part) for part in parts]
    counts = [part["label"].nunique() for part in parts]
    heights = []
    for count, (upper, lower) in zip(counts, spans, strict=True):
        # heights in proportion to the decades: slopes can be compared across a break
        share = _decades(lower) / (_decades(upper) + _decades(lower)) if lower else 0.0
        whole = max(1.9 / (1 - share), ROW * count)
        heights.append([whole * (1 - share), *([max(whole * share, 0.36)] if lower else [])])
    fig = style.figure(
        sum(map(sum, heights)) + 0.55 * len(parts), h_pad=0.02, hspace=0.02, w_pad=0.02, wspace=0.0
    )
    grid = fig.add_gridspec(
        sum(map(len, heights)), 3, width_ratios=[1, 0.09, 0.34], height_ratios=list(chain(*heights))
    )
    line, bounded = 0, False
    for name, part, (upper, lower), tall in zip(shown, parts, spans, heights, strict=True):
        top = fig.add_subplot(grid[line, 0])
        low = fig.add_subplot(grid[line + 1, 0], sharex=top) if lower else None
        key = fig.add_subplot(grid[line : line + len(tall), 1])
        side = fig.add_subplot(grid[line : line + len(tall), 2], sharey=key)
        line += len(tall)
        numbers.log_axis(top, "y", *upper, 6)
        if low is not None and lower is not None:
            numbers.log_axis(low, "y", *lower, 2)
            _break(top, low)
        fitted(top, part, fitted_lines)
        guide(top, part)
        bounded |= bound(top if low is None else low, part)
        horizontal([top] if low is None else [top, low], part, axis)
        top.set_ylabel(ylabel)
        last = part.sort_values("x").groupby("label")["y"].last()
        fits.rows(key, side, last, fitted_lines, lacking, f"exponent in ${axis}$")
        if len(shown) > 1:
            top.set_title(SETTINGS[name], loc="left", fontsize=8, pad=3)
    handles = []
    if any(leader(part) for part in parts):
        handles.append(style.sample(label=law, **style.THEORY))
    style.legend_below(fig, handles + remarks(curves, bounded), 3)
    return fig


def _spans(curves: pd.DataFrame) -> tuple[numbers.Span, numbers.Span | None]:
    """Return the ranges of the curves' axis and, where the lower bound lies far below, of its own.

    The bound is two orders of magnitude below every policy: on one scale with them it would leave
    their slopes no room, so the axis is broken (and says so) when more than half of it were empty.
    """
    anchored = _anchored(curves)
    lowest = min([curves[["y", "low"]].min(axis=None), *anchored])
    highest = max([curves[["y", "high"]].max(axis=None), *anchored])
    bound = curves["bound"].dropna()
    if bound.empty or lowest / bound.max() < max(2.5, (highest / lowest) ** 0.4):
        values = [lowest, highest, *bound]
        return numbers.widened(min(values), max(values)), None
    upper = numbers.widened(lowest, highest)
    lower = numbers.widened(bound.min(), bound.max())
    middle = math.sqrt(lower[0] * lower[1])
    half = math.exp(max(_decades(lower), 0.2 * _decades(upper)) / 2)
    return upper, (middle / half, middle * half)


def _decades(span: numbers.Span) -> float:
    """Return the length of a span on a logarithmic axis."""
    return math.log(span[1] / span[0])


def _break(top: Axes, bottom: Axes) -> None:
    """Mark that the vertical axis is broken between the two."""
    top.spines["bottom"].set_visible(False)
    top.tick_params(axis="x", which="both", length=0, labelbottom=False)
    mark: dict[str, Any] = {
        "marker": [(-1, -0.5), (1, 0.5)],
        "markersize": 6,
        "linestyle": "none",
        "color": style.INK,
        "mew": 0.8,
        "clip_on": False,
    }
    top.plot([0], [0], transform=top.transAxes, **mark)
    bottom.plot([0], [1], transform=bottom.transAxes, **mark)


def lines(ax: Axes, curves: pd.DataFrame, drawn_as: Mapping[str, looks.Look] | None = None) -> None:
    """Draw the points of each label with their intervals, joined; hollow where a point enters no
    fit."""
    drawn_as = drawn_as or looks.looks(curves["label"])
    labels = looks.ordered(curves["label"])
    for rank, label in enumerate(labels):
        curve = curves[curves["label"] == label].sort_values("x")
        markers(ax, curve, drawn_as[label], 4 - rank / len(labels), joined=True)


def fitted(ax: Axes, curves: pd.DataFrame, fitted_lines: Mapping[str, fits.Fit]) -> None:
    """Points of each label with their intervals, and the line of its fit if it has one."""
    drawn_as = looks.looks(curves["label"])
    labels = looks.ordered(curves["label"])
    for rank, label in enumerate(labels):
        look, zorder = drawn_as[label], 4 - rank / len(labels)
        curve = curves[curves["label"] == label].sort_values("x")
        markers(ax, curve, look, zorder)
        fit = fitted_lines.get(label)
        if fit is None:
            continue
        inside = curve[curve["eligible"] & curve["x"].between(fit.start, fit.stop)]
        if len(inside):
            line(ax, inside, inside["x"].iloc[[0, -1]], fit.exponent, look, zorder - 0.5)


def line(
    ax: Axes, points: pd.DataFrame, x: pd.Series, exponent: float, look: looks.Look, zorder: float
) -> float:
    """Draw the line of a fit to `points` at these x; return where it begins."""
    middle = np.log(points[["x", "y"]]).mean()
    y = np.exp(middle["y"] + exponent * (np.log(x) - middle["x"]))
    ax.plot(x, y, zorder=zorder, **looks.stroke(look))
    return y.iloc[0]


def markers(
    ax: Axes, curve: pd.DataFrame, look: looks.Look, zorder: float, joined: bool = False
) -> None:
    """Draw the points of one label: x, y, low, high, eligible, and `at_limit` where it is known.

    A dot in the middle of a point says that the worst gap is the largest its family offers.
    """
    spread = [curve["y"] - curve["low"], curve["high"] - curve["y"]]
    ax.errorbar(
        curve["x"],
        curve["y"],
        yerr=np.nan_to_num(np.array(spread, dtype=float)),
        color=look.color,
        linestyle=look.linestyle if joined else "none",
        linewidth=look.linewidth,
        elinewidth=0.9,
        capsize=1.8,
        capthick=0.9,
        zorder=zorder,
    )
    for filled, group in curve.groupby("eligible"):
        ax.plot(
            group["x"],
            group["y"],
            linestyle="none",
            marker=look.marker,
            color=look.color,
            markerfacecolor=look.color if filled else "white",
            markeredgewidth=0.9,
            zorder=zorder + 0.01,
        )
        if not joined:
            at = group[group["at_limit"]]
            ax.plot(
                at["x"],
                at["y"],
                linestyle="none",
                marker=".",
                markersize=1.6,
                color="white" if filled else style.INK,
                zorder=zorder + 0.02,
            )


def leader(curves: pd.DataFrame) -> str | None:
    """Return the label whose first point anchors the theory's line: the paper's, else one that
    fits."""
    guided = curves[curves["guide"].notna()]
    first = [label for label in LEADERS if (guided["label"] == label).any()]
    return next(iter([*first, *looks.ordered(guided.loc[guided["eligible"], "label"])]), None)


def guide(ax: Axes, curves: pd.DataFrame) -> None:
    """Draw the theory's rate, dashed."""
    line = _anchored(curves)
    ax.plot(line.index, line, zorder=1.5, **style.THEORY)


def _anchored(curves: pd.DataFrame) -> pd.Series:
    """Return the theory's rate by x, scaled to pass through the leader's first point in the upper
    half."""
    import pandas as pd

    curve = curves[(curves["label"] == leader(curves)) & curves["guide"].notna()].sort_values("x")
    if curve.empty:
        return pd.Series(dtype=float)
    fit = curve[curve["eligible"]] if curve["eligible"].any() else curve
    first = fit.iloc[-max(math.ceil(len(fit) / 2), UPPER_POINTS) :].iloc[0]
    return curve.set_index("x")["guide"] * (first["y"] / first["guide"])


def bound(ax: Axes, curves: pd.DataFrame) -> bool:
    """Draw the lower bound, dotted, over all points where its proof applies; return whether there
    are any."""
    line = curves.dropna(subset="bound").groupby("x")["bound"].mean()
    if line.empty:
        return False
    ax.plot(line.index, line, zorder=1.5, **style.BOUND)
    if len(line) == 1:
        ax.plot(line.index, line, marker="_", markersize=12, color=style.INK)
    return True


def horizontal(axes: list[Axes], curves: pd.DataFrame, axis: str) -> None:
    """Make the axis of the sweep logarithmic, with ticks on the lowest of the axes."""
    places = sorted(set(curves["x"]))
    # The points played where their labels are short; round places where they are not.
    short = len(places) == 1 or not any("times" in numbers.number(place) for place in places)
    ticks = places[:: math.ceil(len(places) / 7)] if short else None
    ends = numbers.widened(places[0], places[-1], 0.04)
    numbers.log_axis(axes[-1], "x", *ends, 5, ticks=ticks)
    axes[-1].set_xlabel(SYMBOLS[axis])


def handle(look: looks.Look, text: str) -> Line2D:
    """Return the legend's sample of a policy."""
    return style.sample(marker=look.marker, label=text, **looks.stroke(look))


def hollow() -> Line2D:
    """Return the legend's sample of a point that enters no fit."""
    return style.point(
        "hollow: saturated or outside the fit", markerfacecolor="white", markeredgewidth=0.9
    )


def limit() -> Line2D:
    """Return the legend's sample of a point at a ceiling."""
    return style.point(
        "dotted: the worst gap is its family's largest", marker=r"$\odot$", markeredgewidth=0.3
    )


def remarks(curves: pd.DataFrame, bounded: bool) -> list[Line2D]:
    """Return the end of the legend: the bound, and points that are marked."""
    samples = (
        [style.sample(label="lower bound, every policy of arms", **style.BOUND)] if bounded else []
    )
    return samples + marks(curves)


def marks(curves: pd.DataFrame) -> list[Line2D]:
    """Return the legend's samples of points that are marked."""
    samples = []
    if not curves["eligible"].all():
        samples.append(hollow())
    if curves["at_limit"].any():
        samples.append(limit())
    if curves["low"].isna().any():
        samples.append(style.remark("no bar: no standard error"))
    return samples
