"""Fitted exponents next to the theory's, and in words."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, NamedTuple

from confee.rendering import looks, numbers

if TYPE_CHECKING:
    import pandas as pd

PAPER = ("hyque", "rexp3b")
"""The paper's own policies: they come first in words, and in bold."""


NOT_STRAIGHT = "not straight"
"""Why a policy has no exponent whose slope changes along its ray."""


class Fit(NamedTuple):
    """An exponent, its 95 % CI, what the paper's rate gives on the same cells, and whether it rests
    on fewer points or a shorter span than a verdict does. `start` and `stop` are the first and the
    last point of the fit."""

    exponent: float
    low: float
    high: float
    rate: float
    short: bool = False
    start: float = -math.inf
    stop: float = math.inf


def found(slopes: pd.DataFrame | None, curves: pd.DataFrame, axis: str) -> dict[str, Fit]:
    """Return the fit of each label over the upper half of this axis; labels without one are absent.

    A fit has no rate where the curves have no `guide`.
    """
    if slopes is None or slopes.empty:
        return {}
    rows = slopes[(slopes["axis"] == axis) & (slopes["part"] == "upper")].dropna(subset="exponent")
    guided = set(curves.loc[curves["guide"].notna(), "label"])
    return {
        row.label: Fit(
            row.exponent,
            row.low,
            row.high,
            row.rate if row.label in guided else math.nan,
            bool(row.short),
            getattr(row, "start", -math.inf),
            getattr(row, "stop", math.inf),
        )
        for row in rows[rows["label"].isin(curves["label"])].itertuples()
    }


def lacking(slopes: pd.DataFrame | None, axis: str) -> dict[str, str]:
    """Return why each label without a fit on this axis has none: the main reason in `left_out` of
    slopes.csv."""
    if slopes is None or slopes.empty:
        return {}
    upper = slopes[(slopes["axis"] == axis) & (slopes["part"] == "upper")]
    reasons = {}
    for row in upper[upper["exponent"].isna()].itertuples():
        reason = main_reason(str(row.left_out or ""))
        if reason and row.points < 2:
            reasons[row.label] = reason
    return reasons


def main_reason(left_out: str) -> str:
    """Return the reason for most omitted points in a text like `saturated: B=1e+03, B=2e+03; grid
    edge: ...`."""
    parts = [part.partition(": ") for part in left_out.split("; ")]
    counts = {reason: points.count(",") + 1 for reason, _, points in parts if points}
    return max(counts, key=lambda reason: counts[reason], default="")


def none(label: str, lacking: Mapping[str, str]) -> str:
    """Return why a label has no fit, in words."""
    why = f" (most of the others: {lacking[label]})" if label in lacking else ""
    return f"too few of its points enter a fit{why}"


def said(fit: Fit, axis: str) -> str:
    """Return what follows a policy's name: its law, and the rate's exponent on the same cells. The
    rate is an upper bound, so a lower exponent keeps it."""
    verb = "falls" if fit.high < 0 else "grows" if fit.low > 0 else "scales"
    value = numbers.signed(fit.exponent).replace("\N{MINUS SIGN}", "-")
    text = f"{verb} as ${axis}^{{{value}}}$ [{numbers.signed(fit.low)}, {numbers.signed(fit.high)}]"
    text += " by a short fit" if fit.short else ""
    return text if math.isnan(fit.rate) else f"{text} (rate: at most {numbers.signed(fit.rate)})"


def first(labels: Collection[str]) -> list[str]:
    """Return the labels reported with numbers: the paper's policies, else the first label."""
    return [label for label in PAPER if label in labels] or looks.ordered(labels)[:1]


def listed(labels: Collection[str]) -> str:
    """Return the names joined as in: A, B and C."""
    return numbers.listed(looks.display(label).replace(", ", " ") for label in labels)
