"""Normalised regret against T, B, V or K around the centre of an experiment's grid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from confee.rendering import looks, numbers, style
from confee.rendering.catalogue import BASICS, Figure
from confee.rendering.figures import curves as shared
from confee.rendering.figures import fits
from confee.rendering.figures.panels import HEAD, NORMALISED, Line, Words, beside, short_name

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Drawing


@style.styled
def draw(
    worst: pd.DataFrame, points: pd.DataFrame, axis: str, slopes: pd.DataFrame | None = None
) -> Drawing:
    """Draw R / (T (K V/B)^{1/3}) against T, B, V or K, with the exponent of each label; a panel per
    setting.

    A label whose points are all saturated is named in the legend only. Where the rate is unknown,
    along K in settings other than arms, R/T is drawn.

    `worst`: label, K, T, B, V, regret, se, seeds, eligible; `points`: label, axis, point, K, T, B,
    V, setting (arms if absent); `slopes` (its rows `part` = upper): policy, axis, exponent, low,
    high, rate, short.
    """
    table, zeros = shared.averaged(worst, points, axis)
    if table.empty:
        return style.empty(shared.nothing(axis, zeros))
    shown = table[table["label"].isin(table.loc[table["eligible"], "label"])]
    shown = shown if len(shown) else table
    fitted, lacking = fits.found(slopes, table, axis), fits.lacking(slopes, axis)
    panels = {}
    for setting, name in shared.SETTINGS.items():
        mine = _over_rate(shown[shown["setting"] == setting])
        lines = [
            Line(label, curve.sort_values("x"), fitted.get(label), lacking.get(label, "no fit"))
            for label, curve in mine.groupby("label")
        ]
        if lines:
            panels[name] = lines
    if len(panels) == 1:
        panels = {"": next(iter(panels.values()))}
    left_out = looks.ordered(set(table["label"]) - set(shown["label"]))
    remarks = [style.remark(_not_drawn(left_out))] if left_out else []
    up = NORMALISED if shown["guide"].notna().all() else "worst-case $R/T$, over its rate if known"
    return beside(panels, Words(shared.SYMBOLS[axis], up, HEAD), {}, ticks=True, remarks=remarks)


def _not_drawn(labels: list[str]) -> str:
    """Return `saturated, not drawn: A, B, C and 2 others`."""
    names = [short_name(label) for label in labels[:3]]
    more = len(labels) - len(names)
    text = numbers.listed([*names, *([f"{more} other{'s' * (more > 1)}"] if more else [])])
    return f"saturated, not drawn: {text}"


def _over_rate(curves: pd.DataFrame) -> pd.DataFrame:
    """Return the curves of a setting over the rate, or as they are where it is unknown."""
    rate = curves["guide"].fillna(1.0)
    return curves.assign(**{name: curves[name] / rate for name in ("y", "low", "high")})


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
    clauses = []
    for label in fits.first(labels):
        if label in fitted:
            clauses.append(f"{looks.display(label)}'s $R/T$ {fits.said(fitted[label], axis)}")
        else:
            span = shared.said(table[table["label"] == label], axis, "$R/T$")
            clauses.append(f"{span}: {fits.none(label, lacking)}")
    text = f"{'; '.join(clauses)}."
    return text + (f" Without regret: {numbers.listed(map(looks.display, zeros))}." * bool(zeros))


READING = (
    "At the rate a line is flat; the numbers are exponents over the upper half, minus the rate's."
)

COMMON: dict[str, Any] = {
    "section": BASICS,
    "needs": ("worst", "points", "slopes"),
    "claims": ("hyque-rate", "rexp3b-rate"),
    "draw": draw,
    "finding": finding,
}

MOVES = f"{READING} $T/B$ varies, so no verdict rests on them."

FIGURES = (
    Figure(
        "regret-T",
        "Normalised regret against T",
        place=1,
        fixed={"axis": "T"},
        axes=("T",),
        reading=MOVES,
        **COMMON,
    ),
    Figure(
        "regret-B",
        "Normalised regret against B",
        place=2,
        fixed={"axis": "B"},
        axes=("B",),
        reading=MOVES,
        **COMMON,
    ),
    Figure(
        "regret-V",
        "Normalised regret against V",
        place=3,
        fixed={"axis": "V"},
        axes=("V",),
        reading=READING,
        **COMMON,
    ),
    Figure(
        "regret-K",
        "Normalised regret against K",
        place=4,
        fixed={"axis": "K"},
        axes=("K",),
        reading=READING,
        **COMMON,
    ),
)
