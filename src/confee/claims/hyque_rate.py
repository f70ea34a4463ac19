"""HyQue's regret is O~(K^{1/3} V^{1/3} T / B^{1/3}) without knowing V.

`hyque-rate/printed` judges the printed statement: its O~ hides all logarithms that the proof
multiplies together. The other three ids judge the rate without logarithms at the horizons
simulated, where only a factor sqrt(ln B) is allowed: for the thresholds of the change tests as
printed, calibrated, and tuned in hindsight.
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

STATEMENT = "worst-case regret grows at most as K^(1/3) V^(1/3) T / B^(1/3), V not given"
PLACE = "Theorem 4.1 (upper bound)"
WITHOUT_LOGS = "Theorem 4.1 (upper bound), without the logarithms that its O~ hides"
PREDICTION = (
    "the exponent of R/T is at most -1/3 in B at fixed T/B, at most 1/3 in V, and in K at most "
    "that "
    "of SW-UCB; at fixed B, R/T grows with T only as the share of idle rounds grows; "
)
FORGIVEN = {
    PRINTED: "all logarithms of the proof are allowed",
    "hyque-rate/theory": "a factor sqrt(ln B) is allowed",
}
OURS = ("hyque-rate/calibrated", "hyque-rate/tuned")
"""Thresholds that the paper does not have."""

NAMES = {
    PRINTED: "HyQue, up to logarithms (O~)",
    "hyque-rate/theory": "HyQue, without logarithms (O)",
    "hyque-rate/calibrated": "HyQue with calibrated test thresholds, without logarithms",
    "hyque-rate/tuned": "HyQue with test thresholds tuned in hindsight, without logarithms",
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
