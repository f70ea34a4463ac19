"""Rexp3B, which is told V, has regret O((K ln K)^{1/3} V^{1/3} T / B^{1/3})."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confee.claims.judging.rates import control_sweeps, judge_rate
from confee.claims.judging.verdict import Verdict
from confee.simulation.needs import Needs, Sweep

if TYPE_CHECKING:
    from confee.evidence import Evidence

IDS = ("rexp3b-rate",)
ABOUT = ("rexp3b",)

SET = "rexp3b(pool=set)"
CONTROLS = {"BT": SET, "K": "sw_ucb_copied", "V": "sw_ucb_misled"}

STATEMENT = "Rexp3B: worst-case regret grows at most as (K ln K)^(1/3) V^(1/3) T / B^(1/3), V known"


def needs(id: str, toy: bool) -> Needs:
    """Rexp3B on all axes, the controls on theirs, and uniform play to tell what is saturated."""
    return Needs(sweeps=(Sweep({"name": "rexp3b"}), *control_sweeps(CONTROLS)))


def judge(evidence: Evidence) -> list[Verdict]:
    """One verdict; Rexp3B that replays the set of arms (as printed) must fail in B and T."""
    return judge_rate(
        evidence,
        IDS[0],
        "rexp3b",
        STATEMENT,
        "Theorem on Rexp3B (appendix)",
        "exponents of R/T at most -1/3 in B, 1/3 in V, 1/3 in K ln K, 0 in T at fixed B",
        controls=CONTROLS,
        sqrt_log=False,
    )
