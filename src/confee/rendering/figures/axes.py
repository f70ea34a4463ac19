"""Worst-case regret against one axis: does it fall, or grow, at the claimed exponent?"""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from confee.rendering import looks, numbers, style
from confee.rendering.figures import curves as shared
from confee.rendering.figures import fits

READING = (
    "Left: worst-case regret a round; a point averages over cells whose horizons are cut at"
    " different places. Dashed: the paper's rate $(KV/B)^{1/3}$ without logarithms, through where"
    " HyQue's fit begins (another policy's where HyQue is not played). Dotted: the lower bound."
    " Hollow: saturated or outside the range of a fit. Right: the exponent of $R/T$ fitted over the"
    " upper half of the axis, dashed what the rate gives on the same cells; grey numbers rest on"
    " fewer points or a shorter span than a verdict does. Bars are 95 % intervals."
)


@style.styled
def draw(
    worst: pd.DataFrame, points: pd.DataFrame, axis: str, slopes: pd.DataFrame | None = None
) -> Figure:
    """R/T against T, B, V or K, both logarithmic, and the exponent of each label next to the
    theory's; a panel a setting.

    `worst`: label, K, T, B, V, regret, se, seeds, eligible; `points`: label, axis, point, K, T, B,
    V, setting (arms if absent); `slopes` (its rows `part` = upper): policy, axis, exponent, low,
    high, rate, short.
    """
    table, zeros = shared.averaged(worst, points, axis, shared.per_round)
    if table.empty:
        return style.empty(shared.nothing(axis, zeros))
    law = "theory: $R/T \\propto (KV/B)^{1/3}$"
    found, lacking = fits.found(slopes, table, axis), fits.lacking(slopes, axis)
    return shared.sweep(table, zeros, axis, "worst-case $R/T$", found, lacking, law)


def finding(
    worst: pd.DataFrame, points: pd.DataFrame, axis: str, slopes: pd.DataFrame | None = None
) -> str:
    """The exponents of the paper's policies, and where the rate's lies in the others' intervals."""
    table, zeros = shared.averaged(worst, points, axis, shared.per_round)
    if table.empty:
        return shared.nothing(axis, zeros)
    labels, found = set(table["label"]), fits.found(slopes, table, axis)
    lacking = fits.lacking(slopes, axis)
    sentences = []
    for label in fits.first(labels):
        if label in found:
            asked = f"the rate's {numbers.signed(found[label].rate)}"
            law = fits.said(found[label], axis, asked)
            sentences.append(f"{looks.display(label)}'s $R/T$ {law}.")
        else:
            span = shared.said(table[table["label"] == label], axis, "$R/T$")
            sentences.append(f"{span}; {fits.none(label, lacking)}.")
    return " ".join([*sentences, *fits.others(found, labels, "The rate's exponent")])
