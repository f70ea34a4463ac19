"""Which policy to use, when the variation is known, unknown or zero, at which budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confee.rendering import looks, numbers
from confee.rendering.catalogue import WHO, Table
from confee.rendering.cells import all_variations

if TYPE_CHECKING:
    import pandas as pd

SITUATIONS = {"known": "known, above 0", "unknown": "unknown, above 0", "zero": "zero"}
CRITERIA = {"mean": "mean over adversaries", "worst": "worst adversary"}
MARKS = {"V": " (V)", "S": " (S)", "nothing": ""}
MOST = 4
"""Names shown of those that are as good as the best."""


def make(ranking: pd.DataFrame) -> pd.DataFrame:
    """Return text, a row for each situation and criterion, a column for each budget.

    `ranking`: columns of confee.evidence.ranking, for all V together or the one there is.
    """
    import pandas as pd

    ranking = all_variations(ranking)
    rows = []
    for situation, name in SITUATIONS.items():
        for by, criterion in CRITERIA.items():
            row = {"Variation $V_T$": name, "Least regret": criterion}
            for budget in sorted(ranking["budget"].unique()):
                at = ranking[(ranking["budget"] == budget) & (ranking["by"] == by)]
                row[numbers.budget(budget)] = _entry(at, situation)
            rows.append(row)
    sheet = pd.DataFrame(rows)
    budgets = len(sheet.columns) - 2
    sheet.attrs["widths"] = [0.1, 0.12, *[0.72 / max(budgets, 1)] * budgets]
    return sheet


def finding(ranking: pd.DataFrame) -> str:
    """Return the price of not knowing the variation: its range over the budgets."""
    ranking = all_variations(ranking)
    costs: list[str] = []
    names: list[str] = []
    for by, criterion in CRITERIA.items():
        rows = [_against_known(at) for _, at in ranking[ranking["by"] == by].groupby("budget")]
        known = [row for row in rows if row is not None]
        if known:
            ratios = [row["ratio"] for row in known]
            ends = dict.fromkeys(map(numbers.factor, (min(ratios), max(ratios))))
            whose = "" if costs else " the least regret of all"
            costs.append(f"{' to '.join(ends)} times{whose} by the {criterion}")
            names += [looks.display(row["label"]) for row in known]
    if not costs:
        return "No policy was ranked with the variation known and unknown."
    return (
        f"The best policy given only $T$ and $B$ ({numbers.listed(dict.fromkeys(names), 'or')}) "
        f"incurs {numbers.listed(costs)}."
    )


def _against_known(at: pd.DataFrame) -> pd.Series | None:
    """Return the row of the best policy for unknown variation where the variation is known, if
    any."""
    unknown = at[at["situation"] == "unknown"].sort_values(["ratio", "label"])
    if unknown.empty:
        return None
    known = at[(at["situation"] == "known") & (at["label"] == unknown["label"].iloc[0])]
    return known.iloc[0] if len(known) else None


def _entry(at: pd.DataFrame, situation: str) -> str:
    """Return `A 0.91 or B, C; then D, 12% worse`."""
    mine = at[at["situation"] == situation].sort_values(["ratio", "label"])
    if mine.empty:
        return "not played"
    best, *others = mine[mine["best"]].itertuples()
    text = f"{_name(best)} [{best.level:.3g}]"
    if others:
        names = [_name(row) for row in others[:MOST]]
        more = len(others) - len(names)
        text += " or " + ", ".join(names) + (f" and {more} more" if more else "")
    rest = mine[~mine["best"]]
    if len(rest):
        following = next(rest.itertuples())
        text += f"; then {_name(following)}, {_worse(following.ratio)}"
    if situation == "unknown":
        row = _against_known(at)
        if row is not None and row["ratio"] >= 1.005:
            text += f"; against known {row['ratio']:.2f} ({row['low']:.2f} to {row['high']:.2f})"
    return text


def _name(row) -> str:
    return looks.display(row.label) + MARKS.get(row.told, "")


def _worse(ratio: float) -> str:
    return f"{ratio - 1:.0%} worse" if ratio < 2 else f"{ratio:.1f} times"


TABLE = Table(
    "which_policy",
    "Which policy to use",
    section=WHO,
    place=1,
    needs=("ranking",),
    axes=("shootout",),
    make=make,
    finding=finding,
    reading=(
        "In brackets: regret over $T(KV_T/B)^{1/3}$, or $T(K/B)^{1/2}$ if stationary. 'Or': "
        "possibly the best. 'Then': the next. (V), (S): given $V_T$, the number of changes."
    ),
)
