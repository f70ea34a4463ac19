"""The lemmas on parts of HyQue's regret: query, error and drift regret, each at its rate."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from confee.claims.judging.rates import (
    REQUIRED,
    control_sweeps,
    exponents_verdict,
    rate_checks,
)
from confee.claims.judging.verdict import (
    Verdict,
)
from confee.evidence.parts import REFERENCE, part_slopes
from confee.simulation.needs import Needs, Sweep

if TYPE_CHECKING:
    from confee.evidence import Evidence

PARTS = {"query-regret": "query", "error-regret": "error", "drift-regret": "drift"}
IDS = tuple(PARTS)
ABOUT = ("hyque",)

COMMON = {"K": "sw_ucb_copied", "V": "sw_ucb_misled"}
CONTROLS = {
    part: {"BT": label, **COMMON}
    for part, label in (("query", "hyque_blind"), ("error", "hyque_blind"), ("drift", "ucb1"))
}
"""What must fail on which axes. Uniform arms do not touch the drift part, in which no arm occurs:
only the rounds whose feedback is used do. There the control is a policy that never forgets any."""

IDEAL = "sw_ucb"
"""Told V, it forgets at the right pace: on these checks it holds (see the tests)."""

STATEMENTS = {
    "query": "HyQue: regret over query rounds grows at most as K^(1/3) V^(1/3) B^(2/3)",
    "error": "HyQue: error regret grows at most as K^(1/3) V^(1/3) T / B^(1/3)",
    "drift": "HyQue: drift regret grows at most as K^(1/3) V^(1/3) T / B^(1/3)",
}
PER = {"query": "R_query/B", "error": "R_error per idle round", "drift": "R_drift per idle round"}
"""What is fitted, see confee.evidence.parts."""

PREDICTION = (
    "exponents of {} at most -1/3 in B, 1/3 in V, 1/3 in K, 0 in T at fixed B; a factor sqrt(ln B) "
    "is forgiven"
)


def needs(id: str, toy: bool) -> Needs:
    """HyQue on every axis; the control and sw_ucb on those that carry the budget. Parts are
    measured on the choosing seeds, so those two need no fresh ones."""
    policies = (CONTROLS[PARTS[id]]["BT"], IDEAL)
    if toy:
        few = [Sweep({"name": p}, ("T",), largest_B=1e4, estimate=0) for p in policies]
        return Needs(sweeps=tuple(few))
    others = [Sweep({"name": p}, ("B", "T"), largest_B=7e5, estimate=0) for p in policies]
    others += [s for s in control_sweeps(COMMON) if s.policy["name"] != REFERENCE]
    return Needs(sweeps=(Sweep({"name": "hyque"}), *others))


def judge(evidence: Evidence) -> list[Verdict]:
    """One verdict a part: every axis together, and a control through the same checks."""
    return [v for id in IDS for v in judge_part(evidence, id)]


def judge_part(
    evidence: Evidence, id: str, label: str = "hyque", axes: Sequence[str] = REQUIRED
) -> list[Verdict]:
    """The verdict on one part of one policy's regret, none if the experiment does not play it."""
    if not (evidence.regret["label"] == label).any():
        return []
    part = PARTS[id]
    controls = {on: one for on, one in CONTROLS[part].items() if set(on) & set(axes)}
    found = part_slopes(evidence, part, (label, *controls.values(), REFERENCE))
    verdict = exponents_verdict(
        dataclasses.replace(evidence, slopes=found),
        id,
        STATEMENTS[part],
        f"Lemma on the {part} regret",
        PREDICTION.format(PER[part]),
        rate_checks(found, label, True, axes),
        controls,
        sqrt_log=True,
    )
    return [verdict]
