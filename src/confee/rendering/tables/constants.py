"""Constants of the minimax regret: what is proved from both sides, and what was found."""

from __future__ import annotations

import pandas as pd

from confee import proofs, theory
from confee.evidence.worst import SETTING
from confee.rendering.looks import display

ARMS = (2, 4, 10, 32)
FOUND = ("sw_ucb", "rexp3b", "glr_ucb", "hyque", "baque")
"""Policies whose worst case is shown."""

RATIO = 10
"""T/B, at which Rexp3B's constant is given and worst cases are taken."""

READING = (
    r"In units of $T (K V_T/B)^{1/3}$. Proved: no policy has less for all paths, and Rexp3B, told "
    rf"$V_T$, has at most that at $T/B = {RATIO}$ for large $B$. Largest found: the worst case of "
    "a policy in these runs, which bounds nothing."
)


def make(worst: pd.DataFrame) -> pd.DataFrame:
    """Text, a row for each K.

    `worst`: label, K, T, B, V, regret, in_range, saturated.
    """
    cells = worst[worst["in_range"].astype(bool) & (worst["T"] == RATIO * worst["B"])]
    rates = [theory.rate(*s) for s in cells[SETTING].itertuples(index=False, name=None)]
    found = (cells["regret"] / rates).groupby([cells["label"], cells["K"]]).max()
    labels = [label for label in FOUND if label in set(cells["label"])]
    rows = []
    for K in ARMS:
        row = {
            "$K$": str(K),
            "Proved: lower bound, printed": f"{theory.LOWER_BOUND_CONSTANT:.4f}",
            "Proved: lower bound, improved": f"{proofs.unconditional_constant(K)[1]:.4f}",
            "Proved: upper bound, Rexp3B": f"{proofs.rexp3b_constant(K, 1 / RATIO):.1f}",
        }
        for label in labels:
            value = found.get((label, K))
            shown = "\N{EN DASH}" if value is None else f"{value:.2f}"
            row[f"Largest found: {display(label)}"] = shown
        rows.append(row)
    return pd.DataFrame(rows)


def finding(worst: pd.DataFrame) -> str:
    """How far apart the proved constants are."""
    low, high = proofs.unconditional_constant(2)[1], proofs.rexp3b_constant(2, 1 / RATIO)
    return (
        f"At two arms the proved constants are a factor of {high / low:.0f} apart: "
        f"{low:.3f} from below, {high:.1f} from above."
    )
