"""The kind and the strength of each run's adversary."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from confee.paper import theory
from confee.world.adversaries import ADVERSARIES

if TYPE_CHECKING:
    import pandas as pd


FORMS = ("target", "adaptive")
"""Parameters that make another kind of adversary, not another strength of it."""


def kinds(runs: pd.DataFrame) -> list[str]:
    """Return the kind of each run's adversary: its id and form, as `packed(rexp3b)`."""
    forms = [f"adversary.{name}" for name in FORMS if f"adversary.{name}" in runs]
    words = ["".join(map(_word, row)) for row in runs[forms].itertuples(index=False)]
    return [f"{a}({word})" if word else a for a, word in zip(runs["adversary"], words, strict=True)]


def _word(value: object) -> str:
    """`rexp3b`, or `adaptive` for a flag that is up; nothing where an adversary has no form."""
    if isinstance(value, str):
        return value
    return "adaptive" if value == 1 else ""


def gaps(runs: pd.DataFrame) -> pd.Series:
    """Return the strength of each run's adversary: the parameter that it declares as such, or c
    times the lower bound's epsilon; NaN for adversaries without one.

    `runs` has the columns adversary, K, B, V and adversary.*.
    """
    import pandas as pd

    gap = pd.Series(np.nan, index=runs.index)
    for spec in ADVERSARIES.values():
        column = f"adversary.{spec.strength}"
        if column in runs:
            strength = pd.to_numeric(runs[column], errors="coerce")
            gap = gap.mask(runs["adversary"] == spec.id, strength)
    if "adversary.c" in runs:
        unit = [
            theory.hard_gap(k, b, v) for k, b, v in runs[["K", "B", "V"]].itertuples(index=False)
        ]
        c = pd.to_numeric(runs["adversary.c"], errors="coerce")
        gap = gap.fillna((c * unit).clip(upper=0.5))
    return gap
