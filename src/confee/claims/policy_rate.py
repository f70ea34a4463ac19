"""The rate that a policy declares: its worst-case regret grows at most so fast.

A policy of one's own is judged as HyQue is, by the same rule and against the same controls, or
those that its `Rate` names. There is a claim `policy-rate/<id>` for each policy that declares one.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from confee.claims.judging.exponents import Claimed
from confee.claims.judging.finding import Finding
from confee.claims.judging.rates import USUAL, VARIABLES, Controls, judge_rate
from confee.core.size import Size
from confee.evidence.curve import Curve, budget_log
from confee.evidence.declared import rate_declared
from confee.policies import POLICIES
from confee.policies.rate import Rate
from confee.simulation.needs import Needs, Sweep

if TYPE_CHECKING:
    from confee.evidence import Evidence

PREFIX = "policy-rate/"
ABOUT = {f"{PREFIX}{id}": (id,) for id in POLICIES.saying("rate=") if POLICIES[id].rate}
IDS = tuple(ABOUT)


def needs(id: str, toy: bool) -> Needs:
    """The policy and its controls on all rays."""
    policy = id.removeprefix(PREFIX)
    sweeps = Sweep({"name": policy}, rays=VARIABLES), *_controls(_rate(policy)).sweeps()
    return Needs(sweeps=sweeps)


def judge(evidence: Evidence) -> list[Finding]:
    """One verdict for each policy that declares a rate, with each of its options played."""
    played = evidence.points[["label", "policy"]].drop_duplicates().sort_values("label")
    findings = []
    for label, policy in played.itertuples(index=False):
        if f"{PREFIX}{policy}" not in IDS:
            continue
        rate = _rate(policy)
        findings += judge_rate(
            evidence,
            f"{PREFIX}{label}",
            label,
            f"{label}: worst-case regret grows at most as {rate.formula}",
            rate.statement or f"declared by the policy {policy}",
            f"exponents of R/T at most {rate.B:.3g} in B at a fixed T/B, {rate.V:.3g} in V, in K "
            f"{rate.K - 1 / 3:.3g} over that of SW-UCB, no growth in T at fixed B beyond mixing",
            claimed(rate),
            _controls(rate),
        )
    return findings


def _rate(policy: str) -> Rate:
    rate = POLICIES[policy].rate
    assert rate is not None, policy
    return rate


def claimed(rate: Rate) -> Claimed:
    """What is judged of a policy that declares this rate."""

    def logs(curve: Curve) -> np.ndarray:
        cells = zip(*(getattr(curve, name).tolist() for name in "KTBV"), strict=True)
        return np.log([rate.log(Size(int(K), int(T), int(B), V)) for K, T, B, V in cells])

    return Claimed(rate.law, logs=logs, explicit=True, positive=_of_control)


def _of_control(label: str) -> Claimed:
    """A control that must hold keeps its own rate, whatever is claimed of another policy."""
    own = rate_declared(label.partition("(")[0])
    return claimed(own) if own else Claimed(logs=budget_log)


def _controls(rate: Rate) -> Controls:
    return dataclasses.replace(
        USUAL,
        positive={**USUAL.positive, **rate.positive},
        negative={**USUAL.negative, **rate.negative},
    )
