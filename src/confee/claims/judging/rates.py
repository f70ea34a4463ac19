"""What the claims on rates share: the axes of one policy, and a control, as one verdict."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from confee.claims.judging.verdict import (
    FAILS,
    HOLDS,
    MARGIN,
    Check,
    Joint,
    Verdict,
    apply_control,
    at_horizon,
    check_axis,
    check_fixed_budget,
    combine,
)
from confee.evidence.slopes import axis_of
from confee.simulation.needs import Sweep

if TYPE_CHECKING:
    import pandas as pd

    from confee.evidence import Evidence

REQUIRED = ("B", "V", "K", "T")


def judge_rate(
    evidence: Evidence,
    id: str,
    label: str,
    statement: str,
    place: str,
    prediction: str,
    controls: Mapping[str, str],
    sqrt_log: bool,
) -> list[Verdict]:
    """The verdict on one policy's rate, none if the experiment does not play the policy.

    Judged together: exponents in B, V, K and T, the coefficient of T at fixed B in the joint
    fit, and T along B = T where that was played. `controls`: axes -> the policy that must fail
    their checks (one of B and T will do: both carry the budget). A claim that fails on an axis
    needs that axis' control; else all count.
    """
    if not (evidence.slopes["policy"] == label).any():
        return []
    checks = rate_checks(evidence.slopes, label, sqrt_log)
    if axis_of(evidence.slopes, label, "T=B", "upper") is not None:
        checks.append(check_axis(evidence.slopes, label, "T=B", sqrt_log))
    verdict = exponents_verdict(
        evidence, id, statement, place, prediction, checks, controls, sqrt_log, _spans(checks)
    )
    return [dataclasses.replace(verdict, evidence=("regret", "worst", "slopes"))]


def exponents_verdict(
    evidence: Evidence,
    id: str,
    statement: str,
    place: str,
    prediction: str,
    checks: Sequence[Check],
    controls: Mapping[str, str],
    sqrt_log: bool,
    spans: str = "",
) -> Verdict:
    """The verdict on a claim whose parts are exponents, each axis with its control."""
    joint = combine(checks)
    decisive = joint.decisive
    tried = {axes: control_check(evidence, axes, label, sqrt_log)
             for axes, label in controls.items()}  # fmt: skip
    verdict = Verdict(
        id=id,
        statement=statement,
        place=place,
        verdict=joint.verdict,
        prediction=prediction,
        measured="; ".join(check.text for check in checks),
        horizon=at_horizon(max(c.horizon for c in checks), evidence.toy, spans),
        control=chosen_control(tried, joint),
        numbers={check.name: check.numbers() for check in checks} | {"controls": tried},
        seeds=min((c.seeds for c in checks if c.seeds), default=0),
        interval=(decisive.excess_low, decisive.excess_high),
        interval_of=f"excess of the exponent in {decisive.name}, margin {MARGIN}",
        decide=joint.decide,
        p_value=joint.p_value,
        why=reason(joint, checks),
        number_of="excess of the exponent",
        steps=tuple(check.step() for check in checks),
        evidence=("regret",),
    )
    return apply_control(verdict)


def rate_checks(
    slopes: pd.DataFrame, label: str, sqrt_log: bool, axes: Sequence[str] = REQUIRED
) -> list[Check]:
    """The exponents of one policy on `axes`, and the coefficient of T at fixed B."""
    checks = [check_axis(slopes, label, axis, sqrt_log) for axis in axes]
    return [*checks, check_fixed_budget(slopes, label, sqrt_log)]


def control_sweeps(controls: Mapping[str, str]) -> list[Sweep]:
    """Each control on the axes it is for, and uniform play: it tells which cells are saturated."""
    axes = {"uniform": "BT"} | {label: some for some, label in controls.items()}
    made = []
    for label, some in axes.items():
        policy: dict[str, Any] = {"name": label.split("(")[0]}
        if label == "rexp3b(pool=set)":
            policy["pool"] = "set"
        # Copies cost K^2 arms, and past 16 of them the control is saturated anyway.
        most = 16 if label == "sw_ucb_copied" else math.inf
        made.append(Sweep(policy, tuple(some), largest_B=7e5, largest_K=most, estimate=4))
    return made


def chosen_control(tried: Mapping[str, dict], joint: Joint) -> dict:
    """The control of the axis on which a claim fails; else the first that did not fail, if any.

    Its note names the others.
    """
    own = [one for axes, one in tried.items() if joint.decisive.name[0] in axes]
    counted = own if joint.verdict == FAILS else list(tried.values())
    control = next((one for one in counted if one["failed"] is not True), counted[0])
    others = [f"{one['what']}: {'failed' if one['failed'] else 'did not fail'}"
              for one in tried.values() if one is not control]  # fmt: skip
    return {**control, "note": "; ".join(filter(None, [control["note"], *others]))}


def reason(joint: Joint, checks: Sequence[Check]) -> str:
    """The rule that gave the verdict, with its numbers."""
    one = joint.decisive
    if joint.verdict == FAILS and one.growth is not None:
        return f"{one.name} is saturated and normalised regret grows {one.growth:.2f}x per 30x in B"
    if joint.verdict == FAILS:
        return (f"{one.name} alone fails: its excess is {one.excess:+.3f}, at least "
                f"{one.excess_low:+.3f}, over the margin {MARGIN}")  # fmt: skip
    if joint.verdict == HOLDS:
        return (f"on all of {', '.join(c.name for c in checks)} the excess is at most "
                f"{one.excess_high:+.3f}, within the margin {MARGIN}")  # fmt: skip
    open_ones = [c.name for c in checks if c.verdict != HOLDS]
    return f"not shown on either side of the margin {MARGIN}: {', '.join(open_ones)}"


def control_check(evidence: Evidence, axes: Sequence[str], label: str, sqrt_log: bool) -> dict:
    """A control through the checks of its axes; `failed` is None if it was played on none."""
    slopes = evidence.slopes
    played = [axis for axis in axes if axis_of(slopes, label, axis, "upper") is not None]
    if not played:
        what = f"{label}, exponent in {' or '.join(axes)}"
        return {"what": what, "value": None, "failed": None, "note": ""}
    joint = combine([check_axis(slopes, label, axis, sqrt_log) for axis in played])
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
