"""HyQue uses at most B queries, wherever its last block is cut."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from confee.claims.judging import budget
from confee.claims.judging.verdict import Verdict, apply_control, at_horizon, fewest_seeds
from confee.simulation.needs import Needs

if TYPE_CHECKING:
    from confee.evidence import Evidence

ID = "hyque-budget"
IDS = (ID,)
ABOUT = ("hyque",)

AGAINST = {"switching": {"name": "switching", "strength": 1}}


def needs(id: str, toy: bool) -> Needs:
    """Cells just after a block starts, and the control in the first of them."""
    asks = [*budget.just_started(ID, {"name": "hyque"}, 2, 2.0, AGAINST, toy)]
    control = dataclasses.replace(asks[0], policy={"name": budget.CONTROL})
    return Needs(asks=(*asks, control))


def judge(evidence: Evidence) -> list[Verdict]:
    """`fails` if any run wished past B, `holds` if none did at any of the phases above."""
    played = budget.played(evidence, ID)
    runs = played[played["label"] == "hyque"].reset_index(drop=True)
    if runs.empty:
        return []
    outcome, numbers, decide = budget.spent_on(runs)
    verdict = Verdict(
        id=ID,
        statement="HyQue uses at most B queries: no query is wished once B are spent",
        place="Theorem 4.1 and the lemma on feasibility",
        verdict=outcome,
        prediction="no run with a denied wish, at every phase of the last block",
        measured=budget.said(numbers),
        horizon=at_horizon(runs["T"].max(), evidence.toy),
        control=budget.control(played, runs),
        numbers=numbers,
        seeds=fewest_seeds(runs),
        decide=decide,
        why=budget.reason(numbers, outcome),
        evidence=("regret", "asked"),
    )
    return [apply_control(verdict)]
