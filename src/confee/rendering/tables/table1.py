"""The paper's Table 1, with its verdicts and the measured exponents."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from confee.claims.judging.verdict import FAILS, VACUOUS
from confee.rendering import numbers
from confee.rendering.verdicts import MARKS, NONE, counted


class Row(NamedTuple):
    """A row: as printed, the policy that stands for it, and who judged its bounds.

    `upper`, `lower`: a claim, and the first words of the step of it that is about this row alone.
    """

    paper: str
    setting: str
    variation: str
    constrained: str
    rate: str
    policy: str
    upper: tuple[str, str]
    lower: tuple[str, str] = ("", "")


FULL = "K^{1/3} V_T^{1/3} T^{2/3}"
QUERIED = "K^{1/3} V_T^{1/3} T / B^{1/3}"
STATIONARY = "K^{1/2} T / B^{1/2}"
TABLE = "table-rows"
LOWER, PROOF = ("lower-bound/measured", ""), "lower-bound/algebra"

ROWS = (
    Row("Besbes et al. (2014)", "non-stationary", "known", "no", FULL, "rexp3",
        (TABLE, "Besbes")),
    Row("Wei and Luo (2021)", "non-stationary", "unknown", "no", FULL, "master",
        (TABLE, "Wei")),
    Row("Efroni et al. (2021)", "stationary", "none", "yes", STATIONARY, "cbm_ucb",
        (TABLE, "Efroni")),
    Row("This work: HyQue", "non-stationary", "unknown", "yes", QUERIED, "hyque",
        ("hyque-rate/theory", ""), LOWER),
    Row("This work: Rexp3B", "non-stationary", "known", "yes", QUERIED, "rexp3b",
        ("rexp3b-rate", ""), LOWER),
)  # fmt: skip

NO_CLAIM, NOT_RUN = "no claim", "not run"

READING = (
    "Table 1 of the paper, with verdicts on its bounds and exponents of $R/T$ measured on "
    "worst-case regret (upper half of each axis, 95% intervals). $T$ horizon, $K$ arms, $V_T$ "
    "variation, $B$ queries; where feedback is not constrained $T$ grows with $B = T$, else along "
    "the experiment's own budgets. Rexp3B is the paper's appendix; the lower bound of both is "
    "Theorem 5.1. No claim: nothing here judges it. Not run: its policy did not play."
)


def make(
    slopes: pd.DataFrame, claims: pd.DataFrame, axes: Sequence[str] = ("T", "B", "V", "K")
) -> pd.DataFrame:
    """Text, a row for each row of the paper's table and one for Rexp3B.

    `slopes`: policy, axis, exponent, low, high, part (`upper` rows are shown); `claims`: id,
    verdict, steps, numbers. What `table-rows` fitted itself stands where slopes have nothing. A
    policy without any fit is `not run`; one that ran but has none on an axis is `no fit`.
    """
    rows = []
    for one in ROWS:
        row = {
            "Paper": one.paper,
            "Setting": one.setting,
            "Variation $V_T$": one.variation,
            "Constrained feedback": one.constrained,
            "Upper bound: rate": f"$O~({one.rate})$",
            "Upper bound: verdict": outcome(claims, *one.upper),
            "Lower bound: rate": f"$\\Omega({one.rate})$",
            "Lower bound: verdict": outcome(claims, *one.lower),
        }
        fits = _fits(slopes, claims, one.policy)
        for axis in axes:
            text = NOT_RUN if fits is None else _interval(fits.get(axis))
            row[f"Measured exponent of $R/T$: ${axis}$"] = text
        rows.append(row)
    return pd.DataFrame(rows)


def finding(slopes: pd.DataFrame, claims: pd.DataFrame) -> str:
    """The verdicts on the upper bounds, that on the lower one, and HyQue's exponents."""
    uppers = {one.paper: outcome(claims, *one.upper) for one in ROWS}
    judged = {paper: word for paper, word in uppers.items() if word in MARKS}
    if not judged:
        return "No upper bound of the table was judged."
    failing = [paper.removeprefix("This work: ") for paper, word in judged.items() if word == FAILS]
    text = f"Of {len(ROWS)} upper bounds: {counted(judged.values())}"
    if missing := len(ROWS) - len(judged):
        text += f", {missing} without a verdict"
    if failing:
        text += f" (what fails: {', '.join(failing)})"
    text += f". The lower bound of this work: {outcome(claims, *LOWER)}; its printed proof: "
    text += f"{outcome(claims, PROOF)}."
    fits = _fits(slopes, claims, "hyque") or {}
    powers = [
        f"${axis}^{{{value:.2f}}}$ [{numbers.signed(low)}, {numbers.signed(high)}]"
        for axis, (value, low, high) in fits.items()
    ]
    return text + (f" HyQue's $R/T$ goes as {', '.join(powers)}." * bool(powers))


def outcome(claims: pd.DataFrame, id: str, step: str = "") -> str:
    """The verdict of a claim, or of that step of it; a vacuous claim has no better steps."""
    if not id:
        return NO_CLAIM
    found = claims[claims["id"] == id]
    if found.empty:
        return NOT_RUN
    row = found.iloc[0]
    if not step or row["verdict"] == VACUOUS:
        return MARKS[row["verdict"]].word
    for one in row["steps"]:
        if one["step"].startswith(step) and one["note"] != "not played":
            return MARKS.get(one["outcome"], MARKS[NONE]).word
    return NOT_RUN


def _fits(
    slopes: pd.DataFrame, claims: pd.DataFrame, policy: str
) -> dict[str, tuple[float, float, float]] | None:
    """Axis -> exponent and limits, from the experiment's slopes, else from what `table-rows` fitted
    itself; None for a policy that did not play."""
    mine = slopes[(slopes["policy"] == policy) & (slopes["part"] == "upper")]
    fits = {row.axis: (row.exponent, row.low, row.high) for row in mine.itertuples()}
    if not fits:
        for fitted in claims.loc[claims["id"] == TABLE, "numbers"]:
            for axis, fit in fitted.get(policy, {}).items():
                three = [fit.get(name, math.nan) for name in ("exponent", "low", "high")]
                fits[axis.partition("=")[0]] = (three[0], three[1], three[2])
    return {axis: fit for axis, fit in fits.items() if fit[0] == fit[0]} if fits else None


def _interval(fit: tuple[float, float, float] | None) -> str:
    if fit is None:
        return "no fit"
    value, low, high = map(_short, fit)
    return f"{value} [{low}, {high}]"


def _short(value: float) -> str:
    text = f"{value:.2f}"
    return text.lstrip("-") if float(text) == 0 else text
