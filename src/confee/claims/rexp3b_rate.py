"""Rexp3B, which is told V, has regret O((K ln K)^{1/3} V^{1/3} T / B^{1/3})."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confee.claims.rates import judge_rate
from confee.claims.verdict import Verdict

if TYPE_CHECKING:
    from confee.evidence import Evidence

IDS = ("rexp3b-rate",)

STATEMENT = "Rexp3B: worst-case regret grows at most as (K ln K)^(1/3) V^(1/3) T / B^(1/3), V known"


def judge(evidence: Evidence) -> list[Verdict]:
    """One verdict; Rexp3B that replays the set of arms (as printed) must fail."""
    return judge_rate(
        evidence,
        IDS[0],
        "rexp3b",
        STATEMENT,
        "Theorem on Rexp3B (appendix)",
        "exponents of R/T at most -1/3 in B, 1/3 in V, 1/3 in K ln K, 0 in T at fixed B",
        control="rexp3b(pool=set)",
        sqrt_log=False,
    )
