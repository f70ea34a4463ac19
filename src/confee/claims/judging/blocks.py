"""Drawn blocks of BaQue: which are needed, and how many of them have a long streak."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from confee.claims.judging.shares import LEVEL, limits
from confee.simulation.needs import Draws, Needs

if TYPE_CHECKING:
    import pandas as pd

    from confee.evidence import Evidence

STUDY = "schedules"
BLOCK = ["exponent", "T", "B", "order"]

HORIZONS, TOY_HORIZONS = (10**4, 10**5, 10**6, 10**7, 10**8), (2000, 20_000)
EXPONENTS = (0.8, 0.9, 1.0)
DRAWS, WORK, TOY_DRAWS, TOY_WORK = 30_000, 1_500_000, 400, 20_000


def cells(horizons: Sequence[int]) -> list[dict]:
    """Return T, B = floor(T^beta) and the label beta, which is what the study takes."""
    return [
        {"T": T, "B": math.floor(T**beta + 1e-6), "exponent": beta}
        for T in horizons
        for beta in EXPONENTS
    ]


def needs(toy: bool) -> Needs:
    """Return the studies that draw blocks of every order at several (T, B)."""
    draws, work = (TOY_DRAWS, TOY_WORK) if toy else (DRAWS, WORK)
    drawn = {"draws": draws, "work": work}
    horizons = TOY_HORIZONS if toy else HORIZONS
    return Needs(
        studies=tuple(Draws(STUDY, cell | drawn, 0.03 if toy else 2.5) for cell in cells(horizons))
    )


def drawn(evidence: Evidence) -> pd.DataFrame:
    """Return the study's rows with the paper's start rates and quotas."""
    return as_printed(evidence.study(STUDY))


def as_printed(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the study of schedules with the paper's start rates and quotas."""
    return rows[(rows["rates"] == "paper") & (rows["quota"] == 1)] if len(rows) else rows


def shares(rows: pd.DataFrame, kind: str, alpha: float = 0.5) -> pd.DataFrame:
    """Return the share of complete blocks with a streak over T B^-alpha rounds, with its limits.

    Parameters
    ----------
    rows : of the study of schedules; those of one block, from several studies, count together.
    kind : `idle` or `query`.
    alpha : one of the study's `ALPHAS`.

    Returns
    -------
    Columns exponent, T, B, order, drawn, p, p_low, p_high: 95 % Clopper-Pearson limits for all
    blocks together.
    """
    over = f"{kind}_over_{alpha:g}"
    rows = rows[rows["rounds"] == rows["b"] * 2.0 ** rows["order"]]
    table = rows.groupby(BLOCK, as_index=False)[["drawn", over]].sum()
    hits, draws = table[over].to_numpy(), table["drawn"].to_numpy()
    low, high = limits(hits, draws, LEVEL / max(len(table), 1))
    return table[[*BLOCK, "drawn"]].assign(p=hits / draws, p_low=low, p_high=high)
