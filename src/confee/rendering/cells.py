"""Which rows of a frame belong together: those of one cell, or of all variations."""

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


def all_variations(ranking: pd.DataFrame) -> pd.DataFrame:
    """The rows of a ranking for all variations together, or for the one there is."""
    alone = ranking.groupby("situation")["V"].transform("nunique") == 1
    return ranking[(ranking["V"] == "all") | alone]
