"""Worst-case regret against one axis: does it fall, or grow, at the claimed exponent?"""

from __future__ import annotations

import math

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from confee.rendering import looks, numbers, style
from confee.rendering.figures import curves as shared


@style.styled
def draw(
    worst: pd.DataFrame, points: pd.DataFrame, axis: str, slopes: pd.DataFrame | None = None
) -> Figure:
    """R/T against T, B, V or K, both logarithmic: a line a label, with the theory's slope.

    `worst`: label, K, T, B, V, regret, se, seeds, eligible; `points`: label, axis, point, K, T, B,
    V; `slopes` (its rows `part` = upper go into the legend): policy, axis, exponent, low, high.
    """
    table, zeros = shared.averaged(worst, points, axis, shared.per_round)
    if table.empty:
        return style.empty(f"no cell {'with regret ' if zeros else ''}on the axis of {axis}")
    fig, top, low = shared.panels(table)
    shared.lines(top, table)
    theory = shared.guide(top, table)
    bounded = shared.bound(low if low is not None else top, table)
    shared.horizontal([top] if low is None else [top, low], table, axis)
    top.set_ylabel("worst-case $R/T$")

    drawn_as = looks.looks(table["label"])
    found = _exponents(slopes, axis)
    handles = []
    for label in looks.ordered(table["label"]):
        text = f"{looks.display(label)}  {found.get(label, 'no fit' if found else '')}".strip()
        handles.append(shared.handle(drawn_as[label], text))
    if theory is not None:
        text = r"theory, $\propto (KV/B)^{1/3}$"
        text += "" if math.isnan(theory) else f": {numbers.signed(theory)}"
        handles.append(Line2D([], [], label=text, **style.THEORY))
    handles += shared.remarks(table, zeros, bounded)
    title = f"exponent of $R/T$ in ${axis}$ over the upper half of the axis, 95 % interval"
    style.legend_below(fig, handles, 2, title if found else None)
    return fig


def _exponents(slopes: pd.DataFrame | None, axis: str) -> dict[str, str]:
    """Label -> its exponent on this axis, as text; labels without a fit are left out."""
    if slopes is None or slopes.empty:
        return {}
    rows = slopes[(slopes["axis"] == axis) & (slopes["part"] == "upper")].dropna(subset="exponent")
    return {
        row.policy: numbers.exponent(row.exponent, row.low, row.high) for row in rows.itertuples()
    }
