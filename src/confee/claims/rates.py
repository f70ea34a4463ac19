"""What the claims on rates share: the axes of one policy, and a control, as one verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from confee.claims.verdict import (
    FAILS,
    Check,
    Verdict,
    apply_control,
    at_horizon,
    check_axis,
    check_fixed_budget,
    combine,
)
from confee.evidence.slopes import axis_of

if TYPE_CHECKING:
    from confee.evidence import Evidence

REQUIRED = ("B", "V", "K", "T")


def judge_rate(
    evidence: Evidence,
    id: str,
    label: str,
    statement: str,
    place: str,
    prediction: str,
    control: str,
    sqrt_log: bool,
) -> list[Verdict]:
    """The verdict on one policy's rate, none if the experiment does not play the policy.

    Judged together: exponents in B, V, K and T, the coefficient of T at fixed B in the joint
    fit, and T along B = T where that was played. The control goes through the same checks.
    """
    if not (evidence.slopes["policy"] == label).any():
        return []
    checks = [check_axis(evidence.slopes, label, axis, sqrt_log) for axis in REQUIRED]
    checks.append(check_fixed_budget(evidence.slopes, label, sqrt_log))
    if axis_of(evidence.slopes, label, "T=B", "upper") is not None:
        checks.append(check_axis(evidence.slopes, label, "T=B", sqrt_log))
    joint = combine(checks)
    decisive = joint.decisive
    verdict = Verdict(
        id=id,
        statement=statement,
        place=place,
        verdict=joint.verdict,
        prediction=prediction,
        measured="; ".join(check.text for check in checks),
        horizon=at_horizon(max(c.horizon for c in checks), evidence.toy, _spans(checks)),
        control=control_check(evidence, control, sqrt_log),
        numbers={check.name: check.numbers() for check in checks},
        seeds=min((c.seeds for c in checks if c.seeds), default=0),
        interval=(decisive.excess_low, decisive.excess_high),
        decide=joint.decide,
        p_value=joint.p_value,
    )
    return [apply_control(verdict)]


def control_check(evidence: Evidence, label: str, sqrt_log: bool) -> dict:
    """The control through the same checks of B and T; `failed` is None if it was not played.

    Those two axes carry the budget: on V and K a policy that ignores feedback passes, rightly,
    as its regret does not grow there at all.
    """
    played = [axis for axis in ("B", "T")
              if axis_of(evidence.slopes, label, axis, "upper") is not None]  # fmt: skip
    if not played:
        return {"what": label, "value": None, "failed": None, "note": ""}
    joint = combine([check_axis(evidence.slopes, label, axis, sqrt_log) for axis in played])
    return {
        "what": f"{label}, exponent in {joint.decisive.name}",
        "value": joint.decisive.exponent,
        "verdict": joint.verdict,
        "failed": joint.verdict == FAILS,
        "note": joint.decide,
    }


def _spans(checks: Sequence[Check]) -> str:
    """How far each axis goes: `B 40x, V 12x`."""
    return ", ".join(f"{c.name} {c.span:.2g}x" for c in checks if c.span > 1 and c.name in REQUIRED)
