"""Which rows of two frames are of one cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

CELL = ["label", "K", "T", "B", "V"]


def keys(frame: pd.DataFrame) -> pd.Series:
    """A cell's key in which V may have lost its last digit to a CSV reader."""
    import pandas as pd

    keys = [f"{r.label}|{r.K}|{r.T}|{r.B}|{r.V:.12g}" for r in frame[CELL].itertuples()]
    return pd.Series(keys, index=frame.index, dtype=str)
