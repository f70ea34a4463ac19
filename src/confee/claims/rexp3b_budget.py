"""Rexp3B uses at most B queries (as printed, ceil(T / Delta_T) Delta_B can be nearly 2 B)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from confee.claims.base import Claim
from confee.claims.judging import budget
from confee.claims.judging.finding import (
    COUNTED,
    FAILS,
    HOLDS,
    UNDECIDED,
    Control,
    Correction,
    Finding,
    apply_control,
    at_horizon,
    fewest_seeds,
)
from confee.core.size import Size
from confee.evidence.columns import SIZE
from confee.paper import theory
from confee.simulation.needs import Ask, Needs

if TYPE_CHECKING:
    import pandas as pd

    from confee.evidence import Evidence

ID = "rexp3b-budget"

BATCHES = Correction(
    place="Algorithm 3, line 2",
    printed=r"$\Delta_B = \lfloor \frac BT \Delta_T \rfloor$",
    mended=r"$\Delta_B = \lfloor B / \lceil T/\Delta_T \rceil \rfloor$",
    severity="rounding",
    reason="the last batch is shorter than the others and has as many queries, which adds as many "
    "as B queries where T is just above a multiple of the batch length",
    effect=r"Theorem C.1: a factor of at most $\sqrt 2$ in its constant",
    shown="arithmetic: ceil(x) floor(B / ceil(x)) <= B",
)

AGAINST = {"stationary": {"name": "stationary"}}


def needs(toy: bool) -> Needs:
    """Ask for a cell whose first batch ends just before T, so that a second batch starts."""
    size = Size(8, 50_000, 1_200, 1 / 8) if toy else Size(32, 10_000_000, 120_000, 1 / 32)
    return Needs(asks=(Ask(ID, {"name": "rexp3b"}, size, against=AGAINST, seeds=4),))


def printed_plan(K: int, T: int, B: int, V: float) -> int:
    """Return the queries that Rexp3B as printed plans: Delta_B per batch, the last cut at T."""
    length, queries = theory.rexp3b_batch(K, T, B, V)
    return (T // length) * queries + min(queries, T % length)


def judge(evidence: Evidence) -> list[Finding]:
    """Return `fails` if a run asks for more than B queries, `holds` if none does although the
    printed plan exceeds B, else `undecided`."""
    played = budget.played(evidence, ID)
    runs = played[played["label"] == "rexp3b"].reset_index(drop=True)
    if runs.empty:
        return []
    counts = budget.summary(runs)
    planned = _planned(runs)
    decide = ""
    if counts["overspending"]:
        outcome = FAILS
        decide = f"largest at {budget.place_text(counts['where'])}"
    elif planned <= 1:
        outcome = UNDECIDED
        decide = (
            "a cell with T just above a whole number of batches: none here plans more than "
            "B queries"
        )
    else:
        outcome = HOLDS
    verdict = CLAIM.finding(
        as_printed=outcome,
        prediction="no run asks for a query after its B-th (the printed plan has up to "
        f"{planned:.3g} B)",
        measured=f"{counts['overspending']} of {counts['runs']} runs ask for more than B queries, "
        f"up to {counts['largest_wished_over_B']:.3g} B in all",
        horizon=at_horizon(runs["T"].max(), evidence.toy),
        controls=_controls(runs),
        corrections=(BATCHES,) if outcome == FAILS else (),
        basis=COUNTED,
        numbers={**counts, "largest_planned_over_B": planned},
        seeds=fewest_seeds(runs),
        decide=decide,
        why=budget.reason(counts, outcome),
        evidence=("regret", "asked"),
    )
    return [apply_control(verdict)]


def _controls(runs: pd.DataFrame) -> tuple[Control, ...]:
    """Plans in the same cells: twice Delta_B must exceed B, the corrected Delta_B must not."""
    cells = set(runs[SIZE].itertuples(index=False, name=None))
    double = max(2 * printed_plan(K, T, B, V) / B for K, T, B, V in cells)
    corrected = max(_corrected_plan(K, T, B, V) / B for K, T, B, V in cells)
    return (
        Control("a plan with twice Delta_B, queries over B", FAILS, double > 1, double),
        Control(
            "the corrected plan with Delta_B = floor(B / ceil(T/Delta_T))",
            HOLDS,
            corrected <= 1,
            corrected,
        ),
    )


def _corrected_plan(K: int, T: int, B: int, V: float) -> int:
    """Return the queries planned with the corrected Delta_B, the last batch cut at T."""
    length, _ = theory.rexp3b_batch(K, T, B, V)
    queries = B // math.ceil(T / length)
    return (T // length) * min(queries, length) + min(queries, T % length)


def _planned(runs: pd.DataFrame) -> float:
    """Return the largest ratio of the printed plan's queries to B in the cells played."""
    cells = set(runs[SIZE].itertuples(index=False, name=None))
    return max(printed_plan(K, T, B, V) / B for K, T, B, V in cells)


CLAIM = Claim(
    id=ID,
    statement="Rexp3B uses at most B queries: it never asks for one after the B-th",
    place="Theorem C.1",
    judge=judge,
    needs=needs,
    speaks_of=("rexp3b",),
    order=21,
    group="Rexp3B",
    statements=("Theorem C.1",),
)
