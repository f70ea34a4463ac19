"""From runs to evidence: worst cases, then exponents, as plain DataFrames.

`gather` makes all of it from the runs and the plan; claims read the `Evidence` it returns.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from confee.evidence.slopes import slopes
from confee.evidence.tuned import tuned_points, tuned_rows
from confee.evidence.worst import worst_cases

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Evidence", "gather", "slopes", "worst_cases"]


@dataclass(frozen=True)
class Evidence:
    """What a claim may look at; docs/glossary.md has the columns of the frames.

    `toy` marks an experiment whose horizon is too short to say anything about an asymptotic
    statement (smoke, tiny); `choose` is the number of seeds that chose the adversaries. `asked`
    holds the runs of cells that claims asked for (column `ask` is the tag), `studies` the rows of
    each study by name.
    """

    regret: pd.DataFrame
    worst: pd.DataFrame
    slopes: pd.DataFrame
    points: pd.DataFrame
    toy: bool = False
    choose: int = 0
    asked: pd.DataFrame | None = None
    studies: Mapping[str, pd.DataFrame] = field(default_factory=dict)

    def asked_for(self, tag: str) -> pd.DataFrame:
        """The runs of a claim's own cells, empty if there are none."""
        import pandas as pd

        if self.asked is None or self.asked.empty:
            return pd.DataFrame(columns=["ask"])
        return self.asked[self.asked["ask"] == tag].reset_index(drop=True)

    def study(self, name: str) -> pd.DataFrame:
        """The rows of a study, empty if there are none."""
        import pandas as pd

        return self.studies.get(name, pd.DataFrame())


def gather(
    regret: pd.DataFrame, points: pd.DataFrame, choose: int, toy: bool = False, **more: Any
) -> Evidence:
    """Evidence of an experiment from its runs (`regret.parquet`) and its plan (`points.csv`).

    `more`: asked, studies.
    """
    import pandas as pd

    worst = worst_cases(regret, choose)
    hindsight = tuned_rows(worst)
    if len(hindsight):
        worst = pd.concat([worst.assign(scale=math.nan), hindsight], ignore_index=True)
        points = pd.concat([points, tuned_points(points)], ignore_index=True)
    return Evidence(regret, worst, slopes(worst, points), points, toy, choose, **more)
