"""Rows of a frame that belong together: those of a cell, of the centre, of all variations."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

CELL = ["label", "K", "T", "B", "V"]


def keys(frame: pd.DataFrame) -> pd.Series:
    """Return the key of each row's cell, rounded where a CSV reader may have changed V."""
    import pandas as pd

    cells = frame[CELL].drop_duplicates()
    keys = [f"{r.label}|{r.K}|{r.T}|{r.B}|{r.V:.12g}" for r in cells.itertuples()]
    which = frame.groupby(CELL, sort=False).ngroup()
    return pd.Series([keys[place] for place in which], index=frame.index, dtype=str)


def centre(points: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of all labels at the sizes where most axes and rays meet, in all phases.

    Rays also share cells with V = 0; a centre has V > 0 where anything has. Of several such places
    it is the one with the largest budget; the phases of a place lie within an octave.
    """
    if (points["V"] > 0).any():
        points = points[points["V"] > 0]
    counts = points.groupby(CELL[1:])["axis"].nunique().rename("axes").reset_index()
    middle = counts.loc[counts["axes"] == counts["axes"].max(), CELL[1:]]
    middle = middle[2 * middle["B"] > middle["B"].max()]
    return points[CELL].drop_duplicates().merge(middle, on=CELL[1:])


def at(frame: pd.DataFrame, cells: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a frame that belong to these cells."""
    return frame[keys(frame).isin(set(keys(cells)))]


def chosen(rows: pd.DataFrame, worst: pd.DataFrame, choose: int) -> pd.DataFrame:
    """Return the rows against the adversary chosen as worst for their cell, at the chosen gap.

    Fresh seeds (from `choose` on) where there are any; policies without randomness have none.
    """
    from confee.evidence.strength import gaps

    names = ["key", "adversary"]
    picks = worst.assign(key=keys(worst))[[*names, "gap"]].rename(columns={"gap": "pick"})
    rows = rows.assign(key=keys(rows)).merge(picks, on=names)
    gap, pick = gaps(rows), rows["pick"]
    rows = rows[gap.isna() | pick.isna() | ((gap / pick - 1).abs() < 1e-9)]
    fresh = rows["seed"] >= choose
    rows = rows[fresh | ~fresh.groupby(rows["key"]).transform("any")]
    return rows.drop(columns=["key", "pick"])


def all_variations(ranking: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a ranking over all variations, or over the only one."""
    alone = ranking.groupby("situation")["V"].transform("nunique") == 1
    return ranking[(ranking["V"] == "all") | alone]
