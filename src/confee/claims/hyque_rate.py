"""HyQue's regret is O~(K^{1/3} V^{1/3} T / B^{1/3}) without knowing V."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confee.claims.rates import judge_rate
from confee.claims.verdict import Verdict

if TYPE_CHECKING:
    from confee.evidence import Evidence

LABELS = {"hyque-rate/theory": "hyque", "hyque-rate/calibrated": "hyque_calibrated"}
IDS = tuple(LABELS)

STATEMENT = "worst-case regret grows at most as K^(1/3) V^(1/3) T / B^(1/3), V unknown"
PLACE = "Theorem 4.1 (upper bound)"
PREDICTION = (
    "exponents of R/T at most -1/3 in B, 1/3 in V, 1/3 in K, 0 in T at fixed B (-1/3 in T at B = T)"
    "; a factor sqrt(ln B) is forgiven"
)


def judge(evidence: Evidence) -> list[Verdict]:
    """One verdict per scale of the thresholds; uniform play must fail."""
    verdicts = []
    for id, label in LABELS.items():
        scale = "thresholds as printed" if label == "hyque" else "calibrated thresholds"
        verdicts += judge_rate(
            evidence, id, label, f"HyQue ({scale}): {STATEMENT}", PLACE, PREDICTION,
            control="uniform", sqrt_log=True,
        )  # fmt: skip
    return verdicts
