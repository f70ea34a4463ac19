"""HyQue uses at most B queries, wherever its last block is cut."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from confee import theory
from confee.claims.judging import budget
from confee.claims.judging.verdict import (
    FAILS,
    HOLDS,
    UNDECIDED,
    Verdict,
    apply_control,
    at_horizon,
)
from confee.simulation.needs import Ask, Needs

if TYPE_CHECKING:
    import pandas as pd

    from confee.evidence import Evidence

ID = "hyque-budget"
IDS = (ID,)
ABOUT = ("hyque",)

AGAINST = {"switching": {"name": "switching", "strength": 1}}

FRACTIONS = (0.01, 0.02, 0.04, 0.08)
"""Shares of the last block that T leaves; just after its start is where wishes pass B."""

RUNS = 60
"""Runs at each of these shares without which none past B means nothing: about 1 in 10 is."""

BLOCKS = ((8, 13), (20, 14))
"""(b, order of the last block) of the extra cells."""


def needs(id: str, toy: bool) -> Needs:
    """Cells at T = b (2^n - 1) + f b 2^n, B | 2T; without the last budgets for a toy."""
    asks = []
    for b, order in BLOCKS[:1] if toy else BLOCKS:
        for f in FRACTIONS:
            slots = 2**order - 1 + round(f * 2**order)
            sizes = {"K": 2, "T": b * slots, "B": 2 * slots, "V": 2.0, "against": AGAINST}
            asks.append(Ask(ID, {"name": "hyque"}, **sizes, seeds=RUNS // len(BLOCKS) + 1))
    control = dataclasses.replace(asks[0], policy={"name": budget.CONTROL})
    return Needs(asks=(*asks, control))


def judge(evidence: Evidence) -> list[Verdict]:
    """`fails` if any run wished past B, `holds` if none did at any of the phases above."""
    played = budget.played(evidence, ID)
    runs = played[played["label"] == "hyque"].reset_index(drop=True)
    if runs.empty:
        return []
    counts = budget.summary(runs)
    missing = _missing_fractions(runs)
    decide = ""
    if counts["overspending"]:
        outcome = FAILS
        decide = f"largest at {budget.place_text(counts['where'])}"
    elif missing:
        outcome = UNDECIDED
        decide = f"{RUNS} runs at shares {', '.join(map(str, missing))} of the last block"
    else:
        outcome = HOLDS
    by_cut = runs.assign(over=budget.overspends(runs), cut=_cut(runs))
    near = by_cut[by_cut["cut"] <= 1.2 * max(FRACTIONS)]
    numbers = {
        **counts,
        "share_just_after_a_block_starts": float(near["over"].mean()) if len(near) else None,
        "upper_limit_of_share": 3 / counts["runs"] if not counts["overspending"] else None,
    }
    verdict = Verdict(
        id=ID,
        statement="HyQue uses at most B queries: no query is wished once B are spent",
        place="Theorem 4.1 and the lemma on feasibility",
        verdict=outcome,
        prediction="no run with a denied wish, at every phase of the last block",
        measured=f"{counts['overspending']} of {counts['runs']} runs wished past B, by up to "
        f"{counts['largest_denied_over_B']:.2%} of B",
        horizon=at_horizon(runs["T"].max(), evidence.toy),
        control=budget.control(played, runs),
        numbers=numbers,
        seeds=int(runs["seed"].nunique()),
        decide=decide,
        why=budget.reason(counts, outcome),
        evidence=("regret", "asked"),
    )
    return [apply_control(verdict)]


def _cut(runs: pd.DataFrame) -> pd.Series:
    """Share of its last block that each run's horizon leaves, if nothing restarts it."""
    import pandas as pd

    shares = {}
    for T, B in set(runs[["T", "B"]].itertuples(index=False, name=None)):
        order, first = theory.last_block(T, B)
        shares[T, B] = (T - first + 1) / (theory.slot_length(T, B) * 2**order)
    return pd.Series([shares[key] for key in zip(runs["T"], runs["B"], strict=True)], runs.index)


def _missing_fractions(runs: pd.DataFrame) -> list[float]:
    """Which of FRACTIONS fewer than RUNS runs come within a fifth of."""
    cuts = _cut(runs)
    return [f for f in FRACTIONS if ((cuts / f - 1).abs() < 0.2).sum() < RUNS]
