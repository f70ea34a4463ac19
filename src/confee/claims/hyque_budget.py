"""HyQue uses at most B queries, wherever its last block is cut, and whether or not it restarts."""

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
    VACUOUS,
    Control,
    Correction,
    Finding,
    Reading,
    Step,
    apply_control,
    at_horizon,
    fewest_seeds,
)
from confee.core.size import Size
from confee.paper import theory
from confee.simulation.cells import label_of
from confee.simulation.needs import Ask, Conf, Needs

if TYPE_CHECKING:
    import pandas as pd

    from confee.evidence import Evidence

ID, RESTARTS = "hyque-budget", "hyque-budget/restarts"
PLACE = "Theorem 4.1 and Lemma 4.7"

HORIZON = {"name": "hyque"}
BLOCK = {"name": "hyque", "quota": "block"}
"""The other reading of the quota: active rounds past T count as well."""

AGAINST = {"switching": {"name": "switching", "strength": 1}}

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

CUT_PHASES = Correction(
    place="Lemma 4.7, its proof (Appendix B.1.3)",
    printed="in each phase, HyQue maintains the query allocation within the proportion $B/T$ for "
    "every block except potentially the last one",
    mended="Algorithm 2 queries only while $B' < B$, as Section 2 demands of a feasible algorithm",
    severity="gap",
    reason="on-demand queries raise the count of queries to the pace tB/T, and a restart right "
    "after the next block's first 2^n queries then leaves it above this pace; the proof counts no "
    "on-demand queries in a phase that a restart cuts",
    effect="Theorem 4.1: at most $B$ queries are proved up to the first restart, and always with "
    "this cap; the regret of a policy whose cap binds is not examined",
    shown="docs/proofs/budget.md",
)

CUTS = ((7, 6), (31, 8))
"""(b, N) of the phases cut by hand: a restart in block N, then in each phase a restart in the first
block with 2^{n+1} > b."""


def needs(toy: bool) -> Needs:
    """Return cells just after a block starts, in both readings; one reading is the control."""
    asks = [
        ask
        for policy in (HORIZON, BLOCK)
        for ask in budget.just_started(ID, policy, 2, 2.0, AGAINST, toy)
    ]
    return Needs(asks=tuple(asks))


def needs_of_restarts(toy: bool) -> Needs:
    """Return cells with thresholds so small that HyQue restarts."""
    sizes = [(T // 20, B // 20) for T, B in SIZES] if toy else SIZES
    asks = [
        Ask(
            RESTARTS,
            {"name": "hyque", "scale": scale},
            Size(ARMS, T, B, 2.0),
            WORLDS,
            4 if toy else 25,
        )
        for T, B in sizes
        for scale in SCALES
    ]
    return Needs(asks=tuple(asks))


def judge(evidence: Evidence) -> list[Finding]:
    """`fails` if a run asks for more than B queries, `holds` if none does at any of those places.

    Judge the default reading of the quota; the other reading is a step.
    """
    played = budget.played(evidence, ID)
    runs = _runs(played, HORIZON)
    if runs.empty:
        return []
    outcome, numbers, decide = budget.spent_on(runs)
    restarting = int((runs["restarts"] > 0).sum())
    numbers["restarting"] = restarting
    finding = CLAIMS[0].finding(
        as_printed=outcome,
        measured=f"{budget.summary_text(numbers)}; {restarting or 'none'} of them restart"
        + "s" * (not restarting or restarting == 1),
        horizon=at_horizon(runs["T"].max(), evidence.toy),
        controls=(_control(played),),
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


def judge_restarts(evidence: Evidence) -> list[Finding]:
    """`fails` if a run that restarts at the printed thresholds asks for more than B queries; where
    none restarts, `vacuous`. Runs at smaller thresholds and phases cut by hand are steps."""
    played = evidence.asked_for(RESTARTS)
    if played.empty or not (played["policy"] == "hyque").any():
        return []
    printed = _runs(budget.played(evidence, ID), HORIZON)
    if len(printed):
        printed = printed[printed["restarts"] > 0].reset_index(drop=True)
    runs = played[(played["policy"] == "hyque") & (played["restarts"] > 0)].reset_index(drop=True)
    if runs.empty:
        return []
    outcome = VACUOUS
    if len(printed):
        outcome = _outcome(printed)
    counts, cuts = budget.summary(runs), [_cut_step(b, N) for b, N in CUTS]
    control = Control(
        what="restarts forced right after long batches, queries asked for over B",
        as_expected=all(step.outcome == FAILS for step in cuts),
        value=max(step.number or 0.0 for step in cuts),
    )
    gap = counts["overspending"] > 0 or any(step.outcome == FAILS for step in cuts)
    finding = CLAIMS[1].finding(
        as_printed=outcome,
        measured=f"{len(printed) or 'no'} run{'s' * (len(printed) > 1)} at the printed thresholds "
        f"restart{'s' * (len(printed) < 2)}; at smaller ones {budget.summary_text(counts)}",
        horizon=at_horizon(runs["T"].max(), evidence.toy),
        controls=(control,),
        corrections=(CUT_PHASES,) if gap else (),
        basis=COUNTED,
        numbers={**counts, "restarts_per_run": float(runs["restarts"].mean())},
        seeds=fewest_seeds(runs),
        decide="a run at a horizon where a change test can fire would decide"
        if outcome == VACUOUS
        else "",
        why="no change test can fire at the printed thresholds, so no run restarts"
        if outcome == VACUOUS
        else f"{len(printed)} runs restart at the printed thresholds",
        number_of="share of runs, or queries asked for over B",
        steps=(
            *(
                _scale_step(part, scale, T, B)
                for (scale, T, B), part in runs.groupby(["policy.scale", "T", "B"])
            ),
            *cuts,
        ),
        evidence=("regret", "asked"),
    )
    return [apply_control(finding)]


def _control(played: pd.DataFrame) -> Control:
    """HyQue whose instances count rounds past T in their quotas: must exceed B."""
    runs = _runs(played, BLOCK)
    over = budget.overspends(runs) if len(runs) else None
    return Control(
        what="HyQue with quotas that count rounds past T",
        value=None if over is None else float(over.mean()),
        as_expected=None if over is None else bool(over.any()),
        note="share of runs that exceed B",
    )


def _outcome(runs: pd.DataFrame) -> str:
    """Return `fails` if a run asks for more than B queries, `holds` if RUNS and more do not."""
    if budget.overspends(runs).any():
        return FAILS
    return HOLDS if len(runs) >= budget.RUNS else UNDECIDED


def asked_if_cut(b: int, N: int) -> tuple[int, int, int]:
    """(T, B, queries asked for) where restarts come right after the batches of chosen blocks.

    T = b (2^{N+1} - 1) and B = 2 T / b. Each block has its one order-n instance, which some
    schedules do. The first restart comes after the 2^N queries of block N, the later ones after
    those of the first block with 2^{n+1} > b.
    """
    T = b * (2 ** (N + 1) - 1)
    B = 2 * T // b
    first = next(n for n in range(N + 1) if 2 ** (n + 1) > b)
    t = asked = n = phase = 0
    while t < T:
        rounds = min(b * 2**n, T - t)
        quota = max(1, rounds // b)
        cut = quota == 2**n and n == (N if phase == 0 else first)
        for i in range(rounds):
            t += 1
            buffer = min(T / math.sqrt(B), 2**n, T - t)
            asked += i < quota or asked < t * B / T - buffer
            if cut and i + 1 == quota:
                break
        phase, n = (phase + 1, 0) if cut else (phase, n + 1)
    return T, B, asked


def _cut_step(b: int, N: int) -> Step:
    """Phases cut by hand: whether they ask for more than B queries."""
    T, B, asked = asked_if_cut(b, N)
    name = f"restarts forced in blocks with 2^(n+1) > b only, T={T}, B={B}, b={b}"
    note = f"{asked} queries asked for; whether tests fire there is not tested"
    return Step(name, FAILS if asked > B else HOLDS, asked / B, note)


def _runs(played: pd.DataFrame, policy: Conf) -> pd.DataFrame:
    return played[played["label"] == label_of(policy)].reset_index(drop=True)


def _readings(played: pd.DataFrame, outcome: str) -> tuple[Reading, ...]:
    """Return the other reading of the quota if its outcome differs."""
    step = _step(BLOCK, played)
    if step.outcome in (outcome, UNDECIDED):
        return ()
    choice = "an instance's quota counts its active rounds past T as well"
    return (Reading(choice, step.outcome, step.note),)


def _step(policy: Conf, played: pd.DataFrame) -> Step:
    """Return the outcome of a reading of the quota."""
    step = f"`quota: {policy.get('quota', 'horizon')}`"
    runs = _runs(played, policy)
    if runs.empty:
        return Step(step=step, outcome=UNDECIDED, note="not played")
    outcome, counts, _ = budget.spent_on(runs)
    return Step(step, outcome, counts["share"], budget.summary_text(counts))


def _scale_step(runs: pd.DataFrame, scale: float, T: int, B: int) -> Step:
    """Return the outcome of the runs at one scale of the thresholds and one size."""
    runs = runs.reset_index(drop=True)
    counts = budget.summary(runs)
    name = f"thresholds times {scale:g}, T={T:.6g}, B={B:.6g}, b={theory.slot_length(T, B)}"
    note = f"{budget.summary_text(counts)}; {runs['restarts'].mean():.3g} restarts per run"
    return Step(name, FAILS if counts["overspending"] else HOLDS, counts["share"], note)


CLAIMS = (
    Claim(
        id=ID,
        statement="HyQue uses at most B queries: it never asks for one after the B-th",
        place=PLACE,
        prediction="no run asks for a query after its B-th, wherever T cuts the last block",
        judge=judge,
        needs=needs,
        speaks_of=("hyque",),
        order=6,
        group="HyQue's queries",
        statements=("Theorem 4.1", "Lemma 4.7"),
    ),
    Claim(
        id=RESTARTS,
        statement="HyQue uses at most B queries however often it restarts",
        place=PLACE,
        prediction="no run asks for a query after its B-th",
        judge=judge_restarts,
        needs=needs_of_restarts,
        speaks_of=("hyque",),
        order=7,
        group="HyQue's queries",
        statements=("Lemma 4.7",),
    ),
)
