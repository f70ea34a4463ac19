"""The worst cases of the frame that `confee.load` returns."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING

from confee.core import schema
from confee.core.errors import ConfeeError
from confee.evidence.columns import CELL
from confee.evidence.worst import worst_cases

if TYPE_CHECKING:
    import pandas as pd


def worst_case(runs: pd.DataFrame, choose: int | None = None) -> pd.DataFrame:
    """Return the worst case of each cell over its adversaries.

    Parameters
    ----------
    runs
        All runs of an experiment; filter the rows of the result instead, since uniform play says
        which cells are saturated.
    choose
        Seeds below this met every adversary; by default as in the experiment of `load`.

    Returns
    -------
    DataFrame
        One row per label, K, T, B and V. `adversary`, `gap` and `adversary.*` say which adversary
        was chosen. `regret` is the mean over `seeds` runs that did not help to choose it; `se` is
        its standard error, `low` and `high` its 95 % confidence interval. A cell without fresh
        seeds has `split` false and the largest mean of all its runs. The other columns are those
        of worst.csv (docs/glossary.md).

    Raises
    ------
    ConfeeError
        A column or `choose` is missing or out of range.
    """
    from scipy import stats

    lacking = {"policy", *CELL, "adversary", "seed", "regret"} - set(runs.columns)
    if lacking:
        raise ConfeeError(f"runs: no column {', '.join(sorted(lacking))}")
    if choose is None:
        about = runs.attrs.get("confee")
        if about is None:
            raise ConfeeError(
                "choose: missing; give the number of seeds that met every adversary, or a frame of "
                "confee.load, which knows it"
            )
        choose = int(about["config"]["seeds"]["choose"])
    if isinstance(choose, bool) or not isinstance(choose, Integral) or choose < 1:
        raise ConfeeError(f"choose={schema.show(choose)}: must be a whole number of at least 1")
    worst = worst_cases(runs, int(choose), whole=True)
    half = stats.t.ppf(0.975, worst["seeds"].astype(float) - 1) * worst["se"]
    after = worst.columns.to_list().index("se") + 1
    worst.insert(after, "high", worst["regret"] + half)
    worst.insert(after, "low", worst["regret"] - half)
    return worst
