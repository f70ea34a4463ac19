"""Worst cases of one part of the regret: over query rounds, by error, by drift."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from confee.evidence.worst import worst_cases

if TYPE_CHECKING:
    import pandas as pd

    from confee.evidence import Evidence

REFERENCE = "uniform"
"""The policy whose worst case defines saturation; its whole regret counts, not a part."""


def part_worst(
    evidence: Evidence, part: str, labels: Collection[str] | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return (worst, points) of a part of the regret, in the form of those of the whole regret.

    The worst adversary for a part may differ from the worst for the regret, which is all that the
    fresh seeds played. So only seeds below `choose` count, since they met the whole family. They
    are cut in two folds; each fold measures the adversary that the other fold chose (see
    worst_cases).

    R_query, claimed to be of order K^{1/3} V^{1/3} B^{2/3}, is taken times T/B: then the claim is
    the rate K^{1/3} V^{1/3} T / B^{1/3} of the other parts, on the same cells. It is also what
    the query rounds would cost if there were T of them.

    Error and drift are sums over idle rounds, taken times T / (idle rounds). Cells with B > T/2,
    where idle rounds die out, are no points of any part.

    A cell is saturated where the part, so scaled, is above half of uniform play's *whole* worst
    case. Uniform play has neither query rounds nor data, so it has no part and no points here.

    Parameters
    ----------
    evidence
        Its `regret`, `points` and `choose`.
    part
        query, error or drift.
    labels
        The policies wanted, all by default.
    """
    runs, points = evidence.regret, evidence.points
    points = points[(points["policy"] != REFERENCE) & (2 * points["B"] <= points["T"])]
    if labels is not None:
        runs = runs[runs["label"].isin([*labels, REFERENCE])]
        points = points[points["label"].isin(labels)]
    if evidence.choose:
        runs = runs[runs["seed"] < evidence.choose]
    value = runs[f"regret_{part}"].astype(float)
    if part == "query":
        value = value * (runs["T"] / runs["B"])
    else:
        value = value * (runs["T"] / (runs["T"] - runs["queries"]).clip(lower=1))
    value = value.where(runs["policy"] != REFERENCE, runs["regret"])
    return worst_cases(runs.assign(regret=value), choose=0), points
