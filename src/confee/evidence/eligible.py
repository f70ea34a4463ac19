"""Flags that say why a cell may not enter a fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from confee.core.size import Size
from confee.evidence.columns import SIZE
from confee.evidence.declared import growth, is_uniform
from confee.world.adversaries import ADVERSARIES

if TYPE_CHECKING:
    import pandas as pd

FLAGS = ["edge", "ceiling", "at_limit", "saturated", "in_range", "short_batch", "eligible"]


def flags(worst: pd.DataFrame, entries: pd.DataFrame) -> pd.DataFrame:
    """Return the columns FLAGS of each cell.

    `edge`, `ceiling` and `at_limit` say that the worst gap is at an end of the gaps that were
    tried; `saturated` that regret is over half of uniform play's; `in_range` that the policy's
    theorem covers the size; `short_batch` that its rounding there is coarse. A cell is `eligible`
    if it is in range and neither saturated, nor at an edge or a ceiling, nor of short batches.

    Parameters
    ----------
    worst
        One row per cell, with its size, `policy`, `regret` and `entry`, the worst adversary's.
    entries
        One row per cell and adversary: `cell`, `adversary` and `gap`.
    """
    columns = _grid_ends(entries, worst["entry"])
    columns["saturated"] = worst["regret"] > 0.5 * _uniform_play(worst, entries)
    sizes = [
        (growth(policy), Size(*size))
        for policy, *size in worst[["policy", *SIZE]].itertuples(index=False, name=None)
    ]
    columns["in_range"] = [bool(curve.in_range(size)) for curve, size in sizes]
    columns["short_batch"] = [curve.distorted(size) for curve, size in sizes]
    flawed = columns[["saturated", "edge", "ceiling", "short_batch"]].any(axis=1)
    columns["eligible"] = columns["in_range"] & ~flawed
    return columns


def _grid_ends(entries: pd.DataFrame, chosen: pd.Series) -> pd.DataFrame:
    """Return `ceiling`, `edge` and `at_limit`: whether the chosen gap is at an end of those tried.

    `at_limit` says that the gap is its adversary's largest, whatever other adversaries have.

    The largest gap tried is at a ceiling if its adversary has no larger gap, else at an edge. The
    smallest gap tried is at an edge. The setting's own largest gap (1 for arms, since means lie in
    [0, 1]) is neither, because no adversary could offer more, so the grid does not cut the worst
    case short. The largest gap of a steady adversary is neither if another steady adversary was
    tried with larger gaps. Cells at V = 0 and adversaries without a strength have no ends.
    """
    import pandas as pd

    scale = entries["adversary"].mask(_steady(entries["adversary"]), "gap")
    ends = entries.groupby(["cell", scale])["gap"].agg(["min", "max"])
    family = entries.loc[chosen.to_numpy()]
    ends = ends.reindex([*zip(family["cell"], scale.loc[family.index], strict=True)])
    gap = family["gap"].to_numpy()
    limit = _of_adversary(family, "ceiling")
    inside = gap < _of_adversary(family, "widest") * (1 - 1e-9)
    top = np.isclose(gap, ends["max"].to_numpy(), rtol=1e-9) & inside
    bottom = np.isclose(gap, ends["min"].to_numpy(), rtol=1e-9)
    ceiling = top & (gap >= limit * (1 - 1e-9))
    edge = (top | bottom) & ~ceiling & inside
    at_limit = gap >= limit * (1 - 1e-9)
    columns = {"ceiling": ceiling, "edge": edge, "at_limit": at_limit}
    return pd.DataFrame(columns, index=chosen.index)


def _steady(adversary: pd.Series) -> pd.Series:
    """Whether each adversary's strength is a lead that stays open, see Adversary."""
    return adversary.isin([a.id for a in ADVERSARIES.values() if a.steady])


def _of_adversary(family: pd.DataFrame, name: str) -> np.ndarray:
    """A number of each row's adversary."""
    numbers = {a.id: getattr(a, name) for a in ADVERSARIES.values()}
    return family["adversary"].map(numbers).to_numpy(float)


def _uniform_play(worst: pd.DataFrame, entries: pd.DataFrame) -> np.ndarray:
    """Worst case of uniform play in each cell's setting, rounds of regret, shape (cells,).

    Measured where the policy `uniform` played the setting; else (1 - 1/K) g T, exact for every
    family whose gap stays open, with g the largest gap of such a family in the cell.
    """
    import pandas as pd

    played = worst[is_uniform(worst["policy"])].groupby(SIZE)["regret"].max()
    measured = played.reindex(pd.MultiIndex.from_frame(worst[SIZE])).to_numpy(dtype=float)
    alike = {a.id for a in ADVERSARIES.values() if a.others_alike}
    open_gap = entries[_steady(entries["adversary"]) & entries["adversary"].isin(alike)]
    largest = open_gap.groupby("cell")["gap"].max().reindex(worst.index)
    largest = largest.fillna(entries.groupby("cell")["gap"].max().reindex(worst.index))
    formula = (1 - 1 / worst["K"]) * largest * worst["T"]
    return np.where(np.isnan(measured), formula.to_numpy(dtype=float), measured)
