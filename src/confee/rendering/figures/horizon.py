"""Normalised regret against the horizon: a flat line means that the rate holds."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from confee import theory
from confee.rendering import style
from confee.rendering.figures import curves as shared
from confee.rendering.figures import fits

READING = (
    "Left: worst-case regret over the rate $T(KV/B)^{1/3}$, flat where the rate holds; a point"
    " averages over cells whose horizons are cut at different places. Dotted: the lower bound."
    " Hollow: saturated or outside the range of a fit. Right: the exponent of the growth, fitted"
    " over the upper half of the axis, dashed: no growth; grey numbers rest on fewer points or a"
    " shorter span than a verdict does. Bars are 95 % intervals."
)


@style.styled
def draw(worst: pd.DataFrame, points: pd.DataFrame, slopes: pd.DataFrame | None = None) -> Figure:
    """R / (T (K V/B)^{1/3}) over the sweep of T, both logarithmic, and the exponent of its growth;
    a panel a setting.

    `worst`, `points` and `slopes` as for the pictures of the axes; cells with V = 0 have no rate.
    """
    table, zeros = _table(worst, points)
    if table.empty:
        return style.empty(shared.nothing("T", zeros))
    label = "$R\\;/\\;(T\\,(KV/B)^{1/3})$"
    found, lacking = fits.found(slopes, table, "T", growth=True), fits.lacking(slopes, "T")
    return shared.sweep(table, zeros, "T", label, found, lacking, "theory: flat")


def finding(worst: pd.DataFrame, points: pd.DataFrame, slopes: pd.DataFrame | None = None) -> str:
    """From what to what the paper's policies go, and whose growth is none within its interval."""
    table, zeros = _table(worst, points)
    if table.empty:
        return shared.nothing("T", zeros)
    labels = set(table["label"])
    found, lacking = fits.found(slopes, table, "T", growth=True), fits.lacking(slopes, "T")
    sentences = []
    for label in fits.first(labels):
        span = shared.said(table[table["label"] == label], "T", "regret over the rate")
        law = fits.none(label, lacking)
        if label in found:
            law = f"over the upper half it {fits.said(found[label], 'T', 'a flat line')}"
        sentences.append(f"{span}; {law}.")
    return " ".join([*sentences, *fits.others(found, labels, "A flat line")])


def _table(worst: pd.DataFrame, points: pd.DataFrame) -> shared.Averaged:
    return shared.averaged(worst[worst["V"] > 0], points, "T", theory.rate)
