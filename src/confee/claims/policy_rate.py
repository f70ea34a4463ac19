"""The rate that a policy declares: its worst-case regret grows at most so fast.

Such a policy is judged as HyQue is, by the same rule and against the same controls, or against
those that its `Rate` names. Each policy that declares a rate has a claim `policy-rate/<id>`.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from confee.claims.base import Claim
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


def needs(policy: str, toy: bool) -> Needs:
    """The policy and its controls on all rays."""
    sweeps = Sweep({"name": policy}, rays=VARIABLES), *_controls(_rate(policy)).sweeps()
    return Needs(sweeps=sweeps)


def judge(policy: str, evidence: Evidence) -> list[Finding]:
    """Return a verdict for each set of options with which the policy was played."""
    rate, points = _rate(policy), evidence.points
    findings = []
    for label in sorted(set(points.loc[points["policy"] == policy, "label"])):
        finding = partial(
            claim(policy).finding, id=f"{PREFIX}{label}", statement=_statement(label, rate)
        )
        findings += judge_rate(evidence, finding, label, claimed(rate), _controls(rate))
    return findings


def claim(policy: str) -> Claim:
    """The claim on the rate that a policy declares."""
    rate = _rate(policy)
    return Claim(
        id=f"{PREFIX}{policy}",
        statement=_statement(policy, rate),
        place=rate.statement or f"declared by the policy {policy}",
        prediction=f"the exponent of R/T is at most {rate.B:.3g} in B at fixed T/B, at most "
        f"{rate.V:.3g} in V, and in K at most {rate.K - 1 / 3:.3g} over that of SW-UCB; at fixed "
        f"B, "
        "R/T grows with T only as the share of idle rounds grows",
        judge=partial(judge, policy),
        needs=partial(needs, policy),
        speaks_of=(policy,),
    )


def _statement(label: str, rate: Rate) -> str:
    return f"{label}: worst-case regret grows at most as {rate.formula}"


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


CLAIMS = tuple(claim(id) for id in POLICIES.containing("rate=") if POLICIES[id].rate)
