"""Verdicts: what they are, and what may take one back.

A control that must fail is put through the same check as the policy; if it passes, the check cannot
tell anything and the verdict is `vacuous`. How an exponent becomes a verdict is in `exponents`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

HOLDS, FAILS, CONSISTENT, UNDECIDED, VACUOUS = (
    "holds", "fails", "consistent", "undecided", "vacuous",
)  # fmt: skip

OUTCOMES = (HOLDS, FAILS, CONSISTENT, UNDECIDED, VACUOUS)

ALPHA = 0.025
"""One-sided level: 95 % two-sided limits."""


@dataclass(frozen=True)
class Verdict:
    """The outcome of one claim at the horizon run; the fields are those of claims.json.

    `why`: the rule that gave the verdict, with the numbers it was applied to, in one sentence.
    `interval_of` and `number_of` say what the interval and the steps' numbers are.
    `steps`: parts judged one by one, each {"step", "outcome", "number", "note"}. `evidence`: the
    frames it rests on: regret, worst, slopes, asked, or studies/<name>; none for arithmetic.
    """

    id: str
    statement: str
    place: str
    verdict: str
    prediction: str
    measured: str
    horizon: str
    control: dict = field(default_factory=dict)
    numbers: dict = field(default_factory=dict)
    seeds: int = 0
    interval: tuple[float, float] | None = None
    decide: str = ""
    p_value: float | None = None
    why: str = ""
    interval_of: str = ""
    steps: tuple[dict, ...] = ()
    number_of: str = ""
    evidence: tuple[str, ...] = ()


def apply_control(verdict: Verdict) -> Verdict:
    """`vacuous` where the control did not fail as it must (or was not played)."""
    if verdict.control.get("failed") is True:
        return verdict
    missing = verdict.control.get("failed") is None
    why = "was not played here" if missing else "did not fail the check it must fail"
    note = f" ({verdict.control['note']})" if verdict.control.get("note") else ""
    return dataclasses.replace(
        verdict,
        verdict=VACUOUS,
        p_value=None,
        decide=f"the control ({verdict.control.get('what', 'none')}) {why}{note}",
    )


def correct(verdicts: Iterable[Verdict], primary: Iterable[str]) -> list[Verdict]:
    """Holm's correction over the primary verdicts; one that does not survive is `undecided`."""
    from statsmodels.stats.multitest import multipletests

    verdicts, primary = list(verdicts), set(primary)
    family = [i for i, v in enumerate(verdicts) if v.id in primary and v.p_value is not None]
    if not family:
        return verdicts
    adjusted = multipletests([verdicts[i].p_value for i in family], ALPHA, method="holm")[1]
    for i, p in zip(family, adjusted, strict=True):
        numbers = {**verdicts[i].numbers, "p_holm": float(p)}
        change: dict = {"numbers": numbers}
        if verdicts[i].verdict in (HOLDS, CONSISTENT, FAILS) and p > ALPHA:
            change |= {
                "verdict": UNDECIDED,
                "decide": f"{verdicts[i].verdict} alone, but not after Holm's correction over "
                f"{len(family)} claims (p = {p:.2g}): more seeds",
            }
        verdicts[i] = dataclasses.replace(verdicts[i], **change)
    return verdicts


def fewest_seeds(runs: pd.DataFrame) -> int:
    """Seeds of the cell that has fewest; columns label, K, T, B, V, seed."""
    return int(runs.groupby(["label", "K", "T", "B", "V"])["seed"].nunique().min())


def at_horizon(T: float, toy: bool, extra: str = "") -> str:
    """`T up to 1e+08`, with a warning for a toy experiment."""
    text = f"T up to {T:.3g}" + (f", {extra}" if extra else "")
    return f"toy horizon ({text}): says nothing about larger ones" if toy else text
