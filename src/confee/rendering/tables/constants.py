"""Constants of the minimax regret: what is proved from both sides, and what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confee.evidence.columns import SIZE
from confee.paper import proofs, theory
from confee.paper.checked import rexp3b
from confee.rendering.catalogue import VERDICTS, Table
from confee.rendering.looks import display

if TYPE_CHECKING:
    import pandas as pd

ARMS = (2, 4, 10, 32)
FOUND = ("sw_ucb", "rexp3b", "glr_ucb", "hyque", "baque")
"""Policies whose worst case is shown."""

RATIO = 10
"""T/B of the worst cases."""


def make(worst: pd.DataFrame) -> pd.DataFrame:
    """Return text, a row per K.

    `worst`: label, K, T, B, V, regret, in_range, saturated.
    """
    import pandas as pd

    at = (worst["T"] == RATIO * worst["B"]) & (worst["V"] > 0)
    cells = worst[worst["in_range"].astype(bool) & at]
    rates = [theory.rate(*s) for s in cells[SIZE].itertuples(index=False, name=None)]
    largest = (cells["regret"] / rates).groupby([cells["label"], cells["K"]]).max()
    labels = [label for label in FOUND if label in set(cells["label"])]
    rows = []
    for K in ARMS:
        row = {
            "$K$": str(K),
            "Proved: lower bound, printed": f"{theory.LOWER_BOUND_CONSTANT:.4f}",
            "Proved: lower bound, improved": f"{proofs.unconditional_constant(K)[1]:.4f}",
            "Proved: upper bound, Rexp3B": f"{rexp3b.constant(K):.2f}",
        }
        for label in labels:
            value = largest.get((label, K))
            shown = "\N{EN DASH}" if value is None else f"{value:.2f}"
            row[f"Largest found: {display(label)}"] = shown
        rows.append(row)
    return pd.DataFrame(rows)


def finding(worst: pd.DataFrame) -> str:
    """Return how far apart the proved constants are."""
    low, high = proofs.unconditional_constant(2)[1], rexp3b.constant(2)
    return (
        f"At two arms the proved constants are a factor of {high / low:.0f} apart: "
        f"{low:.3f} from below, {high:.2f} from above."
    )


TABLE = Table(
    "constants",
    "Constants from both sides",
    section=VERDICTS,
    place=3,
    needs=("worst",),
    axes=("ray:K",),
    claims=("lower-bound",),
    make=make,
    finding=finding,
    reading=(
        "All are multiples of $T(KV_T/B)^{1/3}$. For large $B$ every policy incurs at least the "
        "lower bound, and Rexp3B, which knows $V_T$, at most the upper one. The largest worst "
        f"cases found, at $T/B = {RATIO}$, prove nothing."
    ),
)
