"""`hyque_tuned`: HyQue at the best scale of its change tests, known only with hindsight.

It cannot be played. Its scale is the one with the least worst-case regret in the cell, so it shows
what the tests could achieve at best.
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
"""Scales beside 1. Above 1e-3 no run restarts at the horizons played, so 1 stands for those. At
2.5e-4 phases are short and regret is larger than without restarts; below it is larger still."""

_SCALED = re.compile(r"hyque(\(scale=([^,)]+)\))?")


def tuned_rows(worst: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `hyque_tuned`, one per size that was played at two scales or more.

    The scale with the least `naive` (the maximum over the family on the choosing seeds) gives its
    row, with the regret that fresh seeds measured: no seed both chooses the scale and measures it.
    """
    import pandas as pd

    matches = worst["label"].astype(str).map(_SCALED.fullmatch)
    rows = worst[matches.notna()].copy()
    if rows.empty:
        return worst.iloc[:0]
    rows["scale"] = [float(m[2] or 1) for m in matches.dropna()]
    counts = rows.groupby(SIZE)["scale"].transform("nunique")
    rows = rows[counts > 1]
    if rows.empty:
        return worst.iloc[:0]
    best = rows.sort_values("scale").groupby(SIZE)["naive"].idxmin()
    return pd.DataFrame(rows.loc[best].assign(policy=TUNED, label=TUNED))


def tuned_points(points: pd.DataFrame) -> pd.DataFrame:
    """Return the places of `hyque_tuned` on the axes: all places at which scales were tried."""
    matches = points["label"].astype(str).map(_SCALED.fullmatch)
    mine = points[[bool(m and m[2]) for m in matches]]
    return mine.assign(label=TUNED, policy=TUNED).drop_duplicates(ignore_index=True)
