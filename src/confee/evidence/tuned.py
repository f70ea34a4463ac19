"""`hyque_tuned`: HyQue at the scale that would have been best, known only with hindsight.

It is no policy that could be played: the scale of its change tests is the one with the least
worst-case regret in the cell. It says what the tests could give at best.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from confee.evidence.columns import SIZE

if TYPE_CHECKING:
    import pandas as pd

OF = "hyque"
TUNED, NAME = "hyque_tuned", "HyQue, tuned"

TUNING = (5e-4, 2.5e-4)
"""Scales tried beside 1. Above 1e-3 no run restarts at the horizons run, so 1 stands for those; at
2.5e-4 each phase is short and regret larger than without any restart, and below worse still."""

_SCALED = re.compile(r"hyque(\(scale=([^,)]+)\))?")


def tuned_rows(worst: pd.DataFrame) -> pd.DataFrame:
    """The rows of `hyque_tuned`, one per setting played at two scales or more.

    The scale with the least `naive` (the maximum over the family on the choosing seeds) gives its
    row, with the regret that fresh seeds measured: no seed both chooses the scale and measures it.
    """
    import pandas as pd

    found = worst["label"].astype(str).map(_SCALED.fullmatch)
    rows = worst[found.notna()].copy()
    if rows.empty:
        return worst.iloc[:0]
    rows["scale"] = [float(m[2] or 1) for m in found.dropna()]
    counts = rows.groupby(SIZE)["scale"].transform("nunique")
    rows = rows[counts > 1]
    if rows.empty:
        return worst.iloc[:0]
    best = rows.sort_values("scale").groupby(SIZE)["naive"].idxmin()
    made = rows.loc[best].assign(policy=TUNED, label=TUNED)
    return pd.DataFrame(made)


def tuned_points(points: pd.DataFrame) -> pd.DataFrame:
    """The places of `hyque_tuned` on the axes: those of the scales tried, each once."""
    found = points["label"].astype(str).map(_SCALED.fullmatch)
    mine = points[[bool(m and m[2]) for m in found]]
    return mine.assign(label=TUNED, policy=TUNED).drop_duplicates(ignore_index=True)
