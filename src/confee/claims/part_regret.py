"""The lemmas on parts of HyQue's regret: query, error and drift regret, each at its rate."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import TYPE_CHECKING

from confee.claims.base import Claim
from confee.claims.judging.exponents import Claimed
from confee.claims.judging.finding import UNDECIDED, Correction, Finding
from confee.claims.judging.rates import USUAL, VARIABLES, Controls, exponents_verdict, ray_checks
from confee.evidence.curve import budget_log
from confee.evidence.parts import part_worst
from confee.simulation.needs import Needs, Sweep

if TYPE_CHECKING:
    from confee.evidence import Evidence

PARTS = {"query-regret": "query", "error-regret": "error", "drift-regret": "drift"}

STATEMENTS = {
    "query": "regret over query rounds grows at most as K^(1/3) V^(1/3) B^(2/3)",
    "error": "error regret grows at most as K^(1/3) V^(1/3) T / B^(1/3)",
    "drift": "drift regret grows at most as K^(1/3) V^(1/3) T / B^(1/3)",
}
PER = {"query": "R_query/B", "error": "R_error per idle round", "drift": "R_drift per idle round"}
"""What is fitted, see confee.evidence.parts."""

AGE = Correction(
    place="Appendix B.2.3, fifth line, and B.2.4, display",
    printed=r"the environment's drift between query and non-query rounds costs at most "
    r"$\frac{T}{B^{2/3}} V_T$, as non-query segments are no longer than $T/B^{2/3}$",
    mended=r"an idle round repeats a query batch of its own instance, which spans up to $b2^n$ "
    r"rounds; a bound has to use the change tests",
    severity="gap",
    reason="the data that an idle round uses can be much older than the idle streak around it: "
    "without a restart, a share of a block's rounds that does not fall with B repeats a batch from "
    "before a change in the middle of the block",
    effect="Lemmas 4.10 and 4.11, and with them Theorem 4.1, need another argument for this step",
    outcome=UNDECIDED,
    shown="docs/what-it-found.md, claims=[hyque-floor]",
)
"""Of the lemmas on the error and the drift regret."""

PREDICTION = (
    "the exponent of {} is at most -1/3 in B at fixed T/B, at most 1/3 in V, and in K at most that "
    "of SW-UCB; at fixed B it grows with T only as the share of idle rounds grows; a factor "
    "sqrt(ln B) is allowed"
)


def controls(part: str) -> Controls:
    """The usual ones; along B a policy that fails in this part.

    HyQue's schedule with uniform arms fails in the parts in which arms occur. In the drift part
    only the rounds occur whose feedback is used: there it is UCB1, which never forgets any.
    """
    along_B = "ucb1" if part == "drift" else "hyque_blind"
    return dataclasses.replace(USUAL, negative={**USUAL.negative, "B": along_B})


def needs(id: str, toy: bool) -> Needs:
    """HyQue and the controls on all rays. Parts are measured on the choosing seeds, so the control
    along B needs no fresh ones."""
    tried = controls(PARTS[id])
    along_B = Sweep({"name": tried.negative["B"]}, rays=("B",), estimate=0)
    others = [sweep for sweep in tried.sweeps() if sweep.policy["name"] != tried.negative["B"]]
    return Needs(sweeps=(Sweep({"name": "hyque"}, rays=VARIABLES), *others, along_B))


def judge(id: str, evidence: Evidence, label: str = "hyque") -> list[Finding]:
    """Return the verdict on a part of a policy's regret; empty if no ray plays the policy."""
    part = PARTS[id]
    if evidence.regret.empty or not (evidence.points["label"] == label).any():
        return []
    tried = controls(part)
    worst, points = part_worst(evidence, part, {label, *tried.labels})
    checks = ray_checks(worst, points, label, Claimed(logs=budget_log), tried)
    if not checks:
        return []
    verdict = exponents_verdict(evidence, _claim(id).finding, checks)
    aged = (AGE,) if part in ("error", "drift") else ()
    return [dataclasses.replace(verdict, corrections=(*verdict.corrections, *aged))]


def _claim(id: str) -> Claim:
    part, number = PARTS[id], list(PARTS).index(id)
    return Claim(
        id=id,
        statement=f"HyQue, without logarithms: {STATEMENTS[part]}",
        place=f"Lemma on the {part} regret, without the logarithms that its O~ hides",
        prediction=PREDICTION.format(PER[part]),
        judge=partial(judge, id),
        needs=partial(needs, id),
        speaks_of=("hyque",),
        order=13 + number,
        group="Parts of HyQue's regret",
        statements=(f"Lemma 4.{9 + number}",),
    )


CLAIMS = tuple(map(_claim, PARTS))
