"""Normalised regret against the horizon: a flat line means that the rate holds."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from confee import theory
from confee.rendering import looks, style
from confee.rendering.figures import curves as shared


@style.styled
def draw(worst: pd.DataFrame, points: pd.DataFrame) -> Figure:
    """R / (T (K V/B)^{1/3}) over the sweep of T, both logarithmic: a line a label.

    `worst` and `points` as for the pictures of the axes; cells with V = 0 have no rate.
    """
    table, zeros = shared.averaged(worst[worst["V"] > 0], points, "T", theory.rate)
    if table.empty:
        return style.empty(f"no cell {'with regret ' if zeros else ''}on the axis of T")
    fig, top, low = shared.panels(table)
    shared.lines(top, table)
    flat = shared.guide(top, table)
    bounded = shared.bound(low if low is not None else top, table)
    shared.horizontal([top] if low is None else [top, low], table, "T")
    top.set_ylabel("$R\\;/\\;(T\\,(KV/B)^{1/3})$")

    drawn_as = looks.looks(table["label"])
    handles = [
        shared.handle(drawn_as[label], looks.display(label))
        for label in looks.ordered(table["label"])
    ]
    if flat is not None:
        handles.append(Line2D([], [], label="theory: flat", **style.THEORY))
    handles += shared.remarks(table, zeros, bounded)
    style.legend_below(fig, handles, 3)
    return fig
