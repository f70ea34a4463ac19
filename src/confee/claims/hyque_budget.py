"""HyQue uses at most B queries, wherever its last block is cut."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from confee.claims.judging import budget
from confee.claims.judging.finding import (
    UNDECIDED,
    Finding,
    Step,
    apply_control,
    at_horizon,
    fewest_seeds,
)
from confee.simulation.cells import label_of
from confee.simulation.needs import Conf, Needs

if TYPE_CHECKING:
    import pandas as pd

    from confee.evidence import Evidence

ID = "hyque-budget"
IDS = (ID,)
ABOUT = ("hyque",)

HORIZON = {"name": "hyque"}
BLOCK = {"name": "hyque", "quota": "block"}
"""The other reading of the quota: active rounds past T count as well."""

AGAINST = {"switching": {"name": "switching", "strength": 1}}


def needs(id: str, toy: bool) -> Needs:
    """Cells just after a block starts, in both readings, and the control in the first of them."""
    asks = [
        ask
        for policy in (HORIZON, BLOCK)
        for ask in budget.just_started(ID, policy, 2, 2.0, AGAINST, toy)
    ]
    control = dataclasses.replace(asks[0], policy={"name": budget.CONTROL})
    return Needs(asks=(*asks, control))


def judge(evidence: Evidence) -> list[Finding]:
    """`fails` if any run asks for more than B, `holds` if none does at any of those places.

    Judges the default reading of the quota; the other one is a step beside it.
    """
    played = budget.played(evidence, ID)
    runs = _runs(played, HORIZON)
    if runs.empty:
        return []
    outcome, numbers, decide = budget.spent_on(runs)
    verdict = Finding(
        id=ID,
        statement="HyQue uses at most B queries: no query is wished once B are spent",
        place="Theorem 4.1 and the lemma on feasibility",
        as_printed=outcome,
        prediction="no run with a denied wish, at every phase of the last block",
        measured=budget.said(numbers),
        horizon=at_horizon(runs["T"].max(), evidence.toy),
        controls=(budget.control(played, runs),),
        numbers=numbers,
        seeds=fewest_seeds(runs),
        decide=decide,
        why=budget.reason(numbers, outcome),
        number_of="share of runs",
        steps=tuple(_step(policy, played) for policy in (HORIZON, BLOCK)),
        evidence=("regret", "asked"),
    )
    return [apply_control(verdict)]


def _runs(played: pd.DataFrame, policy: Conf) -> pd.DataFrame:
    return played[played["label"] == label_of(policy)].reset_index(drop=True)


def _step(policy: Conf, played: pd.DataFrame) -> Step:
    """One reading of the quota."""
    step = f"`quota: {policy.get('quota', 'horizon')}`"
    runs = _runs(played, policy)
    if runs.empty:
        return Step(step=step, outcome=UNDECIDED, number=None, note="not played")
    outcome, counts, _ = budget.spent_on(runs)
    return Step(step, outcome, counts["share"], budget.said(counts))
