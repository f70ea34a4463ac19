"""Worst-case regret against one axis: does it fall, or grow, at the claimed exponent?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from confee.rendering import looks, style
from confee.rendering.catalogue import BASICS, Figure
from confee.rendering.figures import curves as shared
from confee.rendering.figures import fits

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Drawing


@style.styled
def draw(
    worst: pd.DataFrame, points: pd.DataFrame, axis: str, slopes: pd.DataFrame | None = None
) -> Drawing:
    """Draw R/T against T, B, V or K, both logarithmic, beside the exponent of each label and the
    rate's; a panel per setting.

    `worst`: label, K, T, B, V, regret, se, seeds, eligible; `points`: label, axis, point, K, T, B,
    V, setting (arms if absent); `slopes` (its rows `part` = upper): policy, axis, exponent, low,
    high, rate, short.
    """
    table, zeros = shared.averaged(worst, points, axis)
    if table.empty:
        return style.empty(shared.nothing(axis, zeros))
    law = "theory: $R/T \\propto (KV/B)^{1/3}$"
    fitted, lacking = fits.found(slopes, table, axis), fits.lacking(slopes, axis)
    return shared.sweep(table, axis, "worst-case $R/T$", fitted, lacking, law)


def finding(
    worst: pd.DataFrame, points: pd.DataFrame, axis: str, slopes: pd.DataFrame | None = None
) -> str:
    """Return the exponents of the paper's policies beside the rate's, and which labels have no
    regret to draw."""
    table, zeros = shared.averaged(worst, points, axis)
    if table.empty:
        return shared.nothing(axis, zeros)
    labels, fitted = set(table["label"]), fits.found(slopes, table, axis)
    lacking = fits.lacking(slopes, axis)
    sentences = []
    for label in fits.first(labels):
        if label in fitted:
            sentences.append(f"{looks.display(label)}'s $R/T$ {fits.said(fitted[label], axis)}.")
        else:
            span = shared.said(table[table["label"] == label], axis, "$R/T$")
            sentences.append(f"{span}; {fits.none(label, lacking)}.")
    if axis in ("T", "B"):
        sentences.append("$T/B$ changes along this axis, so no verdict rests on it.")
    if zeros:
        sentences.append(f"No regret, so not drawn: {fits.listed(zeros)}.")
    return " ".join(sentences)


COMMON: dict[str, Any] = {
    "section": BASICS,
    "needs": ("worst", "points", "slopes"),
    "claims": ("hyque-rate", "rexp3b-rate"),
    "draw": draw,
    "finding": finding,
    "reading": (
        "Solid: fits. Dashed: the rate $(KV/B)^{1/3}$. Dotted: the lower bound. Right: exponents "
        "over the upper half, 95 % CIs."
    ),
}

FIGURES = (
    Figure(
        "regret-T",
        "Worst-case regret against T",
        place=1,
        fixed={"axis": "T"},
        axes=("T",),
        **COMMON,
    ),
    Figure(
        "regret-B",
        "Worst-case regret against B",
        place=2,
        fixed={"axis": "B"},
        axes=("B",),
        **COMMON,
    ),
    Figure(
        "regret-V",
        "Worst-case regret against V",
        place=3,
        fixed={"axis": "V"},
        axes=("V",),
        **COMMON,
    ),
    Figure(
        "regret-K",
        "Worst-case regret against K",
        place=4,
        fixed={"axis": "K"},
        axes=("K",),
        **COMMON,
    ),
)
