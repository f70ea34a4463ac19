"""What the claims on the lower bound share: regret on `hard` with limits, against a bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from confee.claims.judging.finding import CONSISTENT, FAILS, UNDECIDED
from confee.evidence.columns import SIZE
from confee.paper import theory

if TYPE_CHECKING:
    import pandas as pd

CONTROL = "oracle"
LEVEL = 0.05
"""Two-sided level of the limits of all cells together (Bonferroni)."""


def runs_on_hard(runs: pd.DataFrame, choose: int = 0) -> pd.DataFrame:
    """The runs on `hard` where the proof's choices are possible, with a numeric column `c`; not
    those where it adapts.

    With `choose`, only the seeds that every adversary got: the fresh ones depend on the outcome.
    """
    import pandas as pd

    if "adversary.c" not in runs:
        return runs.iloc[:0].assign(c=np.nan)
    runs = runs.assign(c=pd.to_numeric(runs["adversary.c"], errors="coerce"))
    mask = runs["adversary"] == "hard"
    if "adversary.adaptive" in runs:
        mask &= pd.to_numeric(runs["adversary.adaptive"], errors="coerce") != 1
    if choose:
        mask &= runs["seed"] < choose
    runs = runs[mask]
    valid = {
        s: theory.lower_bound_applies(*s)
        for s in set(runs[SIZE].itertuples(index=False, name=None))
    }
    keep = [valid[s] for s in runs[SIZE].itertuples(index=False, name=None)]
    return runs[np.array(keep, dtype=bool)]


def limits(runs: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Mean regret of each group, with limits for all but the oracle's at once.

    Columns: `by` (with policy among them), regret, low, high, seeds.
    """
    import pandas as pd
    from scipy import stats

    if runs.empty:
        return pd.DataFrame(columns=[*by, "regret", "low", "high", "seeds"])
    table = runs.groupby(by)["regret"].agg(["mean", "std", "count"]).reset_index()
    error = (table["std"] / np.sqrt(table["count"])).fillna(np.inf)
    tests = max(int((table["policy"] != CONTROL).sum()), 1)
    half = stats.t.isf(LEVEL / 2 / tests, np.maximum(table["count"] - 1, 1)) * error
    return table[by].assign(
        regret=table["mean"],
        low=table["mean"] - half,
        high=table["mean"] + half,
        seeds=table["count"],
    )


def over(table: pd.DataFrame, bound: list[float]) -> pd.DataFrame:
    """The table of `limits` with ratio, low and high in units of the bounds."""
    bounds = np.asarray(bound, dtype=float)
    scaled = {name: table[name] / bounds for name in ("regret", "low", "high")}
    return table.drop(columns="regret").assign(**scaled).rename(columns={"regret": "ratio"})


def outcome(ratios: pd.DataFrame) -> tuple[str, str]:
    """(verdict, what would decide): `fails` if an upper limit is under 1, `consistent` if no lower.

    The oracle takes no part.
    """
    real = ratios[ratios["policy"] != CONTROL]
    below = sorted(set(real.loc[real["high"] < 1, "label"]))
    unclear = sorted(set(real.loc[real["low"] < 1, "label"]))
    if below:
        return FAILS, f"below the bound: {', '.join(below)}"
    if unclear:
        return UNDECIDED, f"more seeds for {', '.join(unclear)}"
    return CONSISTENT, ""
