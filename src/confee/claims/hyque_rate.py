"""HyQue's regret is O~(K^{1/3} V^{1/3} T / B^{1/3}) without knowing V."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confee.claims.judging.rates import control_sweeps, judge_rate
from confee.claims.judging.verdict import Verdict
from confee.evidence.tuned import TUNED, TUNING
from confee.simulation.needs import AXES, Needs, Sweep

if TYPE_CHECKING:
    from confee.evidence import Evidence

LABELS = {
    "hyque-rate/theory": "hyque",
    "hyque-rate/calibrated": "hyque_calibrated",
    "hyque-rate/tuned": TUNED,
}
IDS = tuple(LABELS)
ABOUT = ("hyque",)

CONTROLS = {"BT": "uniform", "K": "sw_ucb_copied", "V": "sw_ucb_misled"}

STATEMENT = "worst-case regret grows at most as K^(1/3) V^(1/3) T / B^(1/3), V unknown"
PLACE = "Theorem 4.1 (upper bound)"
PREDICTION = (
    "exponents of R/T at most -1/3 in B, 1/3 in V, 1/3 in K, 0 in T at fixed B (-1/3 in T at B = T)"
    "; a factor sqrt(ln B) is forgiven"
)
SCALES = {
    "hyque": "thresholds as printed",
    "hyque_calibrated": "calibrated thresholds",
    TUNED: "thresholds tuned with hindsight",
}


def needs(id: str, toy: bool) -> Needs:
    """The policy on all axes and the controls on theirs; for `tuned` the
    scale at which restarts set in, and on T those below it, which are worse throughout."""
    sweeps = [Sweep({"name": "hyque"}), *control_sweeps(CONTROLS)]
    if id == "hyque-rate/calibrated":
        sweeps[0] = Sweep({"name": "hyque_calibrated"}, largest_B=4e5)
    if id == "hyque-rate/tuned":
        axes = ("T",) if toy else AXES
        sweeps.append(Sweep({"name": "hyque", "scale": TUNING[0]}, axes, largest_B=4e5))
        for scale in () if toy else TUNING[1:]:
            sweeps.append(Sweep({"name": "hyque", "scale": scale}, ("T",), largest_B=4e5))
    return Needs(sweeps=tuple(sweeps))


def judge(evidence: Evidence) -> list[Verdict]:
    """One verdict per scale of the thresholds; each axis' control must fail on it."""
    verdicts = []
    for id, label in LABELS.items():
        verdicts += judge_rate(
            evidence, id, label, f"HyQue ({SCALES[label]}): {STATEMENT}", PLACE, PREDICTION,
            controls=CONTROLS, sqrt_log=True,
        )  # fmt: skip
    return verdicts
