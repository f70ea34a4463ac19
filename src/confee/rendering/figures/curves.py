"""What the pictures against an axis share: phases averaged, and a line for each label."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from confee.paper import theory
from confee.rendering import looks, numbers, style
from confee.rendering.cells import CELL, keys

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

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

LOGARITHMS = ("x", "y", "guide")
"""Columns of a point whose means over its phases are geometric."""


COLUMNS = ("label", "setting", *LOGARITHMS, "low", "high", "eligible", "at_limit")


class Averaged(NamedTuple):
    """The curves (COLUMNS), and the labels that have no regret to draw."""

    curves: pd.DataFrame
    zeros: list[str]


def averaged(worst: pd.DataFrame, points: pd.DataFrame, axis: str) -> Averaged:
    """Return the geometric mean of R/T over the phases of each point, with 95 % intervals.

    `guide` is the paper's rate at the same cells, averaged likewise, so their ratio is free of the
    phases too. In settings other than arms the rate does not depend on K as it does there: there
    is no rate along K.
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
    table = table.assign(
        y=np.log(table["regret"].to_numpy(float) / table["T"]),
        error=table["se"] / table["regret"],
        guide=rates.where(arms | (axis != "K")),
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


def lines(ax: Axes, curves: pd.DataFrame, drawn_as: Mapping[str, looks.Look] | None = None) -> None:
    """Draw the points of each label with their intervals, joined; hollow where a point enters no
    fit."""
    drawn_as = drawn_as or looks.looks(curves["label"])
    labels = looks.ordered(curves["label"])
    for rank, label in enumerate(labels):
        curve = curves[curves["label"] == label].sort_values("x")
        markers(ax, curve, drawn_as[label], 4 - rank / len(labels), joined=True)


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


def dots(ax: Axes, curve: pd.DataFrame) -> None:
    """Draw a dot in the points of one label whose worst gap is the largest possible."""
    for filled, at in curve[curve["at_limit"]].groupby("eligible"):
        ax.plot(
            at["x"],
            at["y"],
            linestyle="none",
            marker=".",
            markersize=1.6,
            color="white" if filled else style.INK,
            zorder=5,
        )


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
    return style.point("dot: worst at the largest gap", marker=r"$\odot$", markeredgewidth=0.3)


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
