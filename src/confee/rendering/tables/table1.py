"""The paper's Table 1, with a column for each measured exponent."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

FULL = "K^{1/3} V_T^{1/3} T^{2/3}"
QUERIED = "K^{1/3} V_T^{1/3} T / B^{1/3}"
STATIONARY = "K^{1/2} T / B^{1/2}"

ROWS = [
    ("Besbes et al. (2014)", "non-stationary", "known", "no", FULL, "rexp3"),
    ("Wei and Luo (2021)", "non-stationary", "unknown", "no", FULL, "master"),
    ("Efroni et al. (2021)", "stationary", "none", "yes", STATIONARY, "cbm_ucb"),
    ("This work: HyQue", "non-stationary", "unknown", "yes", QUERIED, "hyque"),
    ("This work: Rexp3B", "non-stationary", "known", "yes", QUERIED, "rexp3b"),
]
"""Paper, setting, variation, constrained feedback, rate, and the policy that stands for it."""

READING = (
    "Table 1 of the paper, with exponents of $R/T$ measured on worst-case regret "
    "(upper half of each axis, 95% intervals). $T$ horizon, $K$ arms, $V_T$ variation, "
    "$B$ queries. Rexp3B is the paper's appendix; a policy that this experiment does not play "
    "is marked as not run."
)


def make(slopes: pd.DataFrame, axes: Sequence[str] = ("B", "V", "K")) -> pd.DataFrame:
    """Text, a row for each row of the paper's table and one for Rexp3B.

    `slopes`: policy, axis, exponent, low, high, part (`upper` rows are shown). A policy without
    any slope is `not run`; one that ran but has no fit on an axis is `no fit`.
    """
    rows = []
    for paper, setting, variation, constrained, rate, policy in ROWS:
        row = {
            "Paper": paper,
            "Setting": setting,
            "Variation $V_T$": variation,
            "Constrained feedback": constrained,
            "Upper bound": f"$O~({rate})$",
            "Lower bound": f"$\\Omega({rate})$",
        }
        for axis in axes:
            row[f"Measured exponent of $R/T$: ${axis}$"] = _measured(slopes, policy, axis)
        rows.append(row)
    return pd.DataFrame(rows)


def _measured(slopes: pd.DataFrame, policy: str, axis: str) -> str:
    mine = slopes[slopes["policy"] == policy]
    if mine.empty:
        return "not run"
    fit = mine[(mine["axis"] == axis) & (mine["part"] == "upper")].dropna(subset="exponent")
    if fit.empty:
        return "no fit"
    row = fit.iloc[0]
    return f"{_short(row['exponent'])} [{_short(row['low'])}, {_short(row['high'])}]"


def _short(value: float) -> str:
    text = f"{value:.2f}"
    return text.lstrip("-") if float(text) == 0 else text
