"""HyQue's regret is O~(K^{1/3} V^{1/3} T / B^{1/3}) without knowing V.

Two statements, two verdicts. As printed, `hyque-rate/printed`, the O~ hides logarithms that the
proof multiplies together. The other three ids judge the rate itself at the horizons that can be
run, and forgive sqrt(ln B): for the thresholds of the change tests as printed,
calibrated, and tuned with hindsight.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from confee.claims.base import Claim
from confee.claims.judging.exponents import Claimed, proof_logs
from confee.claims.judging.finding import Finding
from confee.claims.judging.rates import USUAL, VARIABLES, judge_rate
from confee.evidence.curve import budget_log
from confee.evidence.tuned import TUNED, TUNING
from confee.simulation.needs import Needs, Sweep

if TYPE_CHECKING:
    from confee.evidence import Evidence

PRINTED = "hyque-rate/printed"
LABELS = {
    PRINTED: "hyque",
    "hyque-rate/theory": "hyque",
    "hyque-rate/calibrated": "hyque_calibrated",
    "hyque-rate/tuned": TUNED,
}

STATEMENT = "worst-case regret grows at most as K^(1/3) V^(1/3) T / B^(1/3), V unknown"
PLACE = "Theorem 4.1 (upper bound)"
WITHOUT_LOGS = "Theorem 4.1 (upper bound), without the logarithms that its O~ hides"
PREDICTION = (
    "exponents of R/T at most -1/3 in B at a fixed T/B, 1/3 in V, in K that of SW-UCB, no growth "
    "in T at fixed B beyond mixing; "
)
FORGIVEN = {
    PRINTED: "all logarithms of the proof are forgiven",
    "hyque-rate/theory": "a factor sqrt(ln B) is forgiven",
}
OURS = ("hyque-rate/calibrated", "hyque-rate/tuned")
"""Thresholds that the paper does not have."""

NAMES = {
    PRINTED: "HyQue, as printed (O~)",
    "hyque-rate/theory": "HyQue, the rate at these horizons",
    "hyque-rate/calibrated": "HyQue with calibrated thresholds, the rate at these horizons",
    "hyque-rate/tuned": "HyQue with thresholds tuned with hindsight, the rate at these horizons",
}


def needs(id: str, toy: bool) -> Needs:
    """The policy and the controls on all rays; for `tuned` HyQue at the scales tried as well."""
    policy = "hyque_calibrated" if id == "hyque-rate/calibrated" else "hyque"
    sweeps = [Sweep({"name": policy}, rays=VARIABLES), *USUAL.sweeps()]
    if id == "hyque-rate/tuned":
        sweeps += [
            Sweep({"name": "hyque", "scale": scale}, rays=("V", "B"), beside="hyque_calibrated")
            for scale in TUNING
        ]
    return Needs(sweeps=tuple(sweeps))


def judge(id: str, evidence: Evidence) -> list[Finding]:
    """Return the verdict on the rate of one policy, if the experiment plays it on a ray."""
    claimed = Claimed(logs=proof_logs if id == PRINTED else budget_log)
    return judge_rate(evidence, _claim(id).finding, LABELS[id], claimed)


def _claim(id: str) -> Claim:
    return Claim(
        id=id,
        statement=f"{NAMES[id]}: {STATEMENT}",
        place=PLACE if id == PRINTED else WITHOUT_LOGS,
        prediction=PREDICTION + FORGIVEN.get(id, FORGIVEN["hyque-rate/theory"]),
        judge=partial(judge, id),
        needs=partial(needs, id),
        speaks_of=("hyque",),
        primary=True,
        ours=id in OURS,
        order=1 + list(LABELS).index(id),
        group="HyQue's rate",
        statements=("Theorem 4.1", "Remark 4.3") if id == PRINTED else (),
        nearby=() if id == PRINTED else ("Theorem 4.1",),
    )


CLAIMS = tuple(map(_claim, LABELS))
