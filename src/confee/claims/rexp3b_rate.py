"""Rexp3B, which knows V, has regret O((K ln K)^{1/3} V^{1/3} T / B^{1/3})."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from confee.claims.base import Claim
from confee.claims.judging.exponents import Claimed, arms_log
from confee.claims.judging.finding import FAILS, Finding, Reading
from confee.claims.judging.rates import USUAL, VARIABLES, judge_rate
from confee.paper import proofs
from confee.simulation.needs import Needs, Sweep

if TYPE_CHECKING:
    from confee.evidence import Evidence

SET = "rexp3b(pool=set)"
CONTROLS = dataclasses.replace(
    USUAL, negative={**USUAL.negative, "B": SET, "T=B": USUAL.negative["B"]}
)

CLAIMED = Claimed(
    logs=arms_log,
    explicit=True,
    bound=lambda K, T, B, V: proofs.rexp3b_bound(int(K), int(T), int(B), V) / T,
)
"""Its theorem has no logarithm but ln K, and a bound with constants."""


def needs(toy: bool) -> Needs:
    """Rexp3B on all rays, and the controls on theirs."""
    sweeps = (Sweep({"name": "rexp3b"}, rays=VARIABLES, estimate=4), *CONTROLS.sweeps())
    return Needs(sweeps=sweeps)


def judge(evidence: Evidence) -> list[Finding]:
    """Return the verdict; along B the control is Rexp3B that replays the set, as printed."""
    verdicts = judge_rate(evidence, CLAIM.finding, "rexp3b", CLAIMED, CONTROLS)
    return [dataclasses.replace(verdict, readings=_readings(verdict)) for verdict in verdicts]


def _readings(finding: Finding) -> tuple[Reading, ...]:
    """Rexp3B with the set of its last line taken literally, where it is the control that fails."""
    control = finding.control
    if control is None or SET not in control.what or not control.as_expected:
        return ()
    measured = f"exponent {control.value:+.3f} of R/T" if control.value is not None else ""
    choice = (
        "the set in the last line of Algorithm 3 taken literally: each distinct arm equally often"
    )
    return (Reading(choice, FAILS, measured),)


CLAIM = Claim(
    id="rexp3b-rate",
    statement="Rexp3B: worst-case regret grows at most as (K ln K)^(1/3) V^(1/3) T / B^(1/3), "
    "V given",
    place="Theorem C.1",
    prediction="the exponent of R/T is at most -1/3 in B at fixed T/B, at most 1/3 in V, and in "
    "K ln K at most that of SW-UCB in K; at fixed B, R/T grows with T only as the share of idle "
    "rounds grows",
    judge=judge,
    needs=needs,
    speaks_of=("rexp3b",),
    primary=True,
    order=20,
    group="Rexp3B",
    statements=("Theorem C.1",),
)
