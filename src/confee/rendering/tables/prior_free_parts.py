"""What each part of a policy is worth: regret with the part changed over regret as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from confee.claims.prior_free import ID
from confee.rendering import numbers
from confee.rendering.catalogue import WHO, Table
from confee.rendering.looks import display, kind_name

if TYPE_CHECKING:
    import pandas as pd


def make(claims: pd.DataFrame) -> pd.DataFrame:
    """Return text, a row per change, a column per V.

    `claims`: id, numbers.
    """
    import pandas as pd

    parts = _parts(claims)
    rows = []
    for policy, change in dict.fromkeys((part["policy"], part["change"]) for part in parts):
        mine = [part for part in parts if (part["policy"], part["change"]) == (policy, change)]
        row = {"Policy": display(policy), "Changed": change}
        for part in mine:
            row[_size(part)] = _limits(part, "")
        top = max(mine, key=lambda part: part["most_ratio"])
        row["Largest on one adversary"] = (
            f"{_limits(top, 'most_')} ({kind_name(top['most_against'])}, {_size(top)})"
        )
        rows.append(row)
    table = pd.DataFrame(rows)
    table.attrs["widths"] = [0.1, 0.18, 0.15, 0.15, 0.15, 0.24]
    return table


def finding(claims: pd.DataFrame) -> str:
    """Return the change that costs most in the worst case, of the first policy."""
    parts = _parts(claims)
    if not parts:
        return "No parts of a policy were compared."
    first = [part for part in parts if part["policy"] == parts[0]["policy"]]
    top = max(first, key=lambda part: part["ratio"])
    return (
        f"{top['change'].capitalize()} costs {display(top['policy'])} most: {top['ratio']:.2f} "
        f"times its worst-case regret at {_size(top)}."
    )


def _parts(claims: pd.DataFrame) -> list[dict[str, Any]]:
    judged = claims[claims["id"].str.startswith(f"{ID}/")]
    return [
        part | {"policy": row.id.removeprefix(f"{ID}/")}
        for row in judged.itertuples()
        for part in row.numbers["parts"]
    ]


def _size(part: dict[str, Any]) -> str:
    return f"$K = {part['K']:g}$, $V = {part['V']:g}$, $T/B = {part['T'] / part['B']:g}$"


def _limits(part: dict[str, Any], before: str) -> str:
    return numbers.factor(*(part[f"{before}{name}"] for name in ("ratio", "low", "high")))


TABLE = Table(
    "prior_free_parts",
    "What each part of a policy is worth",
    section=WHO,
    place=4,
    needs=("claims",),
    axes=(f"asked:{ID}",),
    claims=(ID,),
    make=make,
    finding=finding,
    reading=(
        "Regret of the changed policy over that of the policy on the same seeds, with 95 % CIs. "
        "Worst case: both at their own worst adversary. Last column: the adversary whose ratio is "
        "largest, intervals for all adversaries together."
    ),
)
