"""Policies that know K, T and B alone: their constants and rates, and what they lose at V = 0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from confee.claims.prior_free import AT_REST, CONSTANT, ID, tally
from confee.rendering.catalogue import WHO, Table
from confee.rendering.looks import display

if TYPE_CHECKING:
    import pandas as pd


def make(claims: pd.DataFrame) -> pd.DataFrame:
    """Return text, a row per policy, the smallest constant first.

    `claims`: id, as_printed, numbers.
    """
    import pandas as pd

    judged = [row for row in claims.itertuples() if row.id.startswith(f"{ID}/")]
    judged.sort(key=lambda row: _most(row.numbers["cells"])["ratio"])
    rows = [
        {
            "Policy": display(row.id.removeprefix(f"{ID}/")),
            "Largest, $T/B \\ge 10$": _shown(row.numbers["cells"], idle=True),
            "Largest, $T = B$": _shown(row.numbers["cells"], idle=False),
            "Rate in $B$": _rates(row.numbers["rates"], "B"),
            "Rate in $V$": _rates(row.numbers["rates"], "V"),
            "$V = 0$, over UCB1": _still(row.numbers["worst_still"]),
            "Verdict": row.as_printed,
        }
        for row in judged
    ]
    table = pd.DataFrame(rows)
    table.attrs["widths"] = [0.2, 0.14, 0.14, 0.16, 0.14, 0.14, 0.08]
    return table


def finding(claims: pd.DataFrame) -> str:
    """Return which policies meet the target, and their constants."""
    judged = claims[claims["id"].str.startswith(f"{ID}/")]
    good = judged[judged["as_printed"] == "consistent"]
    largest = {row.id: _most(row.numbers["cells"])["ratio"] for row in judged.itertuples()}
    named = [f"{display(id.removeprefix(f'{ID}/'))} {largest[id]:.2f}" for id in good["id"]]
    if not named:
        return (
            "No policy that is given $K$, $T$ and $B$ alone keeps the rate with regret of at most "
            f"{CONSTANT:g} $T(KV/B)^{{1/3}}$ in every cell."
        )
    return (
        f"Worst-case regret over $T(KV/B)^{{1/3}}$ is at most {CONSTANT:g} in every cell, and the "
        f"rate holds, for: {', '.join(named)} (largest value)."
    )


def _most(cells: list[dict[str, Any]]) -> dict[str, Any]:
    return max(cells, key=lambda cell: cell["ratio"])


def _shown(cells: list[dict[str, Any]], idle: bool) -> str:
    """Return the largest value of the cells with or without idle rounds, and where it is."""
    cells = [cell for cell in cells if (cell["T"] > cell["B"]) == idle]
    if not cells:
        return "not played"
    top = _most(cells)
    return f"{top['ratio']:.2f} ($K = {top['K']:g}$, $V = {top['V']:g}$)"


def _rates(rates: dict[str, dict[str, Any]], variable: str) -> str:
    """Return how many rays along a variable hold, fail and are undecided."""
    return tally(
        check["outcome"] for name, check in rates.items() if name.startswith(f"{variable} ")
    )


def _still(rows: list[dict[str, Any]]) -> str:
    """Return the ratio to UCB1 at the worst gap of each size."""
    return ", ".join(f"{row['ratio']:.2f}" for row in rows) or "not played"


TABLE = Table(
    "prior_free",
    "Policies that do not know V",
    section=WHO,
    place=3,
    needs=("claims",),
    axes=(f"asked:{ID}",),
    claims=(ID,),
    make=make,
    finding=finding,
    reading=(
        "Largest: worst-case regret over $T(KV/B)^{1/3}$. Rates: rays judged. $V = 0$: regret over "
        "that of UCB1 with the same constant, both at their worst gaps, for each size; at most "
        f"{AT_REST:g} is asked for. HyQue is the negative control."
    ),
)
