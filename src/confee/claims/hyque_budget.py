"""HyQue uses at most B queries, wherever its last block is cut, and whether or not it restarts."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from confee import proofs, theory
from confee.claims.judging import budget
from confee.claims.judging.finding import (
    CONSISTENT,
    COUNTED,
    FAILS,
    HOLDS,
    UNDECIDED,
    Correction,
    Finding,
    Reading,
    Step,
    apply_control,
    at_horizon,
    fewest_seeds,
)
from confee.simulation.cells import label_of
from confee.simulation.needs import Ask, Conf, Needs

if TYPE_CHECKING:
    import pandas as pd

    from confee.evidence import Evidence

ID, RESTARTS = "hyque-budget", "hyque-budget/restarts"
IDS = (ID, RESTARTS)
ABOUT = ("hyque",)
PLACE = "Theorem 4.1 and Lemma 4.7"

HORIZON = {"name": "hyque"}
BLOCK = {"name": "hyque", "quota": "block"}
"""The other reading of the quota: active rounds past T count as well."""

AGAINST = {"switching": {"name": "switching", "strength": 1}}

SIZED = ["K", "T", "B", "policy.scale"]

SCALES = (1e-4, 1e-5)
"""Scales of the thresholds at which the change tests fire."""

ARMS = 8
SIZES = ((200_000, 20_000), (120_000, 80_000))
"""(T, B) with b = 20 and b = 3."""

WORLDS: dict[str, Conf] = {
    "apart": {"name": "stationary", "gap": 1.0, "level": 0.0},
    "near": {"name": "stationary", "gap": 0.9, "level": 0.1},
    "changing": {"name": "switching", "gap": 0.5},
}
"""UCB1 plays bad arms first, so small thresholds are passed early in each block."""

SHORT_BLOCKS = Correction(
    place="Lemma 4.7 and its proof (Appendix B.1.3)",
    printed="each phase that a restart ends keeps the proportion $B/T$, so all phases together do",
    mended="the same where no test can fire in a block with $2^{n+1} \\le b$",
    severity="gap",
    reason="a restart can cut a short block right after its queries, at a density of up to 2/b, "
    "and the proof counts no on-demand queries in a phase that is cut; the printed thresholds let "
    "no test fire in so short a block, but the proof does not use that",
    effect="Theorem 4.1: at most B queries are proved up to the first restart, and always if "
    "Algorithm 2 queries only while $B' < B$",
    shown="docs/proofs/budget.md",
)


def needs(id: str, toy: bool) -> Needs:
    """Cells just after a block starts, in both readings; cells with restarts; and the control."""
    if id == RESTARTS:
        sizes = [(T // 20, B // 20) for T, B in SIZES] if toy else SIZES
        seeds = 4 if toy else 25
        asks = [
            Ask(RESTARTS, {"name": "hyque", "scale": scale}, ARMS, T, B, 2.0, WORLDS, seeds)
            for T, B in sizes
            for scale in SCALES
        ]
        control = dataclasses.replace(asks[0], policy={"name": budget.CONTROL}, seeds=2)
        return Needs(asks=(*asks, control))
    asks = [
        ask
        for policy in (HORIZON, BLOCK)
        for ask in budget.just_started(ID, policy, 2, 2.0, AGAINST, toy)
    ]
    control = dataclasses.replace(asks[0], policy={"name": budget.CONTROL})
    return Needs(asks=(*asks, control))


def judge(evidence: Evidence) -> list[Finding]:
    """Counts runs that ask for more than B queries, at the printed thresholds and with restarts."""
    return [*_printed(evidence), *_with_restarts(evidence)]


def _printed(evidence: Evidence) -> list[Finding]:
    """`fails` if a run asks for more than B queries, `holds` if none does at any of those places.

    Judges the default reading of the quota; the other one is a step beside it.
    """
    played = budget.played(evidence, ID)
    runs = _runs(played, HORIZON)
    if runs.empty:
        return []
    outcome, numbers, decide = budget.spent_on(runs)
    restarting = int((runs["restarts"] > 0).sum())
    numbers["restarting"] = restarting
    finding = Finding(
        id=ID,
        statement="HyQue uses at most B queries: it asks for none once B are spent",
        place=PLACE,
        as_printed=outcome,
        prediction="no run asks for a query once B are spent, wherever T cuts the last block",
        measured=f"{budget.said(numbers)}; {restarting or 'none'} of them restart"
        + "s" * (not restarting or restarting == 1),
        horizon=at_horizon(runs["T"].max(), evidence.toy),
        controls=(budget.control(played, runs),),
        readings=_readings(played, outcome),
        basis=COUNTED,
        numbers=numbers,
        seeds=fewest_seeds(runs),
        decide=decide,
        why=budget.reason(numbers, outcome),
        number_of="share of runs",
        steps=tuple(_step(policy, played) for policy in (HORIZON, BLOCK)),
        evidence=("regret", "asked"),
    )
    return [apply_control(finding)]


def _with_restarts(evidence: Evidence) -> list[Finding]:
    """`fails` if a run that restarts asks for more than B queries, `holds` if none of many does."""
    played = evidence.asked_for(RESTARTS)
    if played.empty or not (played["policy"] == "hyque").any():
        return []
    runs = played[(played["policy"] == "hyque") & (played["restarts"] > 0)].reset_index(drop=True)
    if runs.empty:
        return []
    counts = budget.summary(runs)
    kept = [_none_in_short(*sizes) for sizes in runs[SIZED].itertuples(index=False, name=None)]
    late = runs[np.array(kept)].reset_index(drop=True)
    outcome = FAILS if counts["overspending"] else HOLDS
    mended = _outcome(late)
    finding = Finding(
        id=RESTARTS,
        statement="HyQue uses at most B queries however often it restarts",
        place=PLACE,
        as_printed=outcome,
        prediction="no run asks for a query once B are spent, at thresholds at which tests fire",
        measured=f"{budget.said(counts)}; where no test can fire in a block with 2^(n+1) <= b, "
        + (budget.said(budget.summary(late)) if len(late) else "no run was played"),
        horizon=at_horizon(runs["T"].max(), evidence.toy),
        controls=(budget.control(played, runs),),
        corrections=(SHORT_BLOCKS.now(mended),) if outcome == FAILS else (),
        basis=COUNTED,
        numbers={**counts, "restarts_per_run": float(runs["restarts"].mean())},
        seeds=fewest_seeds(runs),
        decide=f"largest at {budget.place_text(counts['where'])}" if outcome == FAILS else "",
        why=budget.reason(counts, outcome),
        number_of="share of runs",
        steps=tuple(
            _scale_step(part, scale, T, B)
            for (scale, T, B), part in runs.groupby(["policy.scale", "T", "B"])
        ),
        evidence=("asked",),
    )
    return [apply_control(finding)]


def _none_in_short(K: int, T: int, B: int, scale: float) -> bool:
    """Whether no test can fire in a block with 2^{n+1} <= b, with thresholds at this scale.

    Such a block is b 2^n rounds long, and queries b of them at most when on demand keeps the pace
    of B/T, so the least threshold there is that of b queries.
    """
    b = theory.slot_length(T, B)
    return scale * proofs.change_threshold(proofs.MEAN_TEST, T, b, K) >= 1


def _outcome(runs: pd.DataFrame) -> str:
    """`fails` if a run asks for more than B queries, `consistent` if none of RUNS and more does."""
    if len(runs) and budget.overspends(runs).any():
        return FAILS
    return CONSISTENT if len(runs) >= budget.RUNS else UNDECIDED


def _runs(played: pd.DataFrame, policy: Conf) -> pd.DataFrame:
    return played[played["label"] == label_of(policy)].reset_index(drop=True)


def _readings(played: pd.DataFrame, outcome: str) -> tuple[Reading, ...]:
    """The other reading of the quota, where the outcome is another one."""
    step = _step(BLOCK, played)
    if step.outcome in (outcome, UNDECIDED):
        return ()
    choice = "an instance's quota counts its active rounds past T as well"
    return (Reading(choice, step.outcome, step.note),)


def _step(policy: Conf, played: pd.DataFrame) -> Step:
    """One reading of the quota."""
    step = f"`quota: {policy.get('quota', 'horizon')}`"
    runs = _runs(played, policy)
    if runs.empty:
        return Step(step=step, outcome=UNDECIDED, note="not played")
    outcome, counts, _ = budget.spent_on(runs)
    return Step(step, outcome, counts["share"], budget.said(counts))


def _scale_step(runs: pd.DataFrame, scale: float, T: int, B: int) -> Step:
    """The runs at one scale of the thresholds and one size."""
    runs = runs.reset_index(drop=True)
    counts = budget.summary(runs)
    name = f"thresholds times {scale:g}, T={T:.6g}, B={B:.6g}, b={theory.slot_length(T, B)}"
    note = f"{budget.said(counts)}; {runs['restarts'].mean():.3g} restarts a run"
    return Step(name, FAILS if counts["overspending"] else HOLDS, counts["share"], note)
