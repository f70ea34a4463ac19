"""What the claims on rates share: the rays of one policy with their controls, as one verdict."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from confee.claims.judging.exponents import (
    MARGIN,
    Check,
    Claimed,
    judge_arms,
    judge_ray,
    least,
    with_controls,
)
from confee.claims.judging.finding import (
    ALPHA,
    CONSISTENT,
    FAILS,
    HOLDS,
    UNDECIDED,
    Control,
    Correction,
    Finding,
    at_horizon,
)
from confee.evidence.curve import Curve, curve
from confee.simulation.needs import Sweep

if TYPE_CHECKING:
    import pandas as pd

    from confee.evidence import Evidence

VARIABLES = ("V", "B", "K", "T")
"""The order in which rays are judged: T and B are fixed along V, so no logarithm moves there."""

IDEAL, IDEAL_ARMS = "sw_ucb", "ucb1_restarted"
"""Policies with a proved rate: positive controls, and the partner along K."""


FULL = {"T=B": "B"}
"""The name of a variable on rays without idle rounds -> the variable."""


@dataclass(frozen=True)
class Controls:
    """Variable -> the policies that must hold and must fail along it.

    `T=B` stands for B on rays without idle rounds, where it is named.
    """

    positive: Mapping[str, str] = field(
        default_factory=lambda: {"V": IDEAL, "B": IDEAL, "K": IDEAL_ARMS, "T": IDEAL}
    )
    negative: Mapping[str, str] = field(
        default_factory=lambda: {
            "V": "sw_ucb_misled",
            "B": "random_restart",
            "K": "sw_ucb_copied",
            "T": "sw_ucb_overtold",
        }
    )
    partner: str = IDEAL
    others: Sequence[str] = (IDEAL, IDEAL_ARMS)
    """Policies with a proved rate, to replace a control that is the judged policy."""

    @property
    def labels(self) -> set[str]:
        """All policies that serve as controls, including the partner along K."""
        return {self.partner, *self.positive.values(), *self.negative.values()}

    def choose(self, label: str, variable: str, full: bool) -> tuple[str, str, str]:
        """Choose the controls of one ray of the policy `label`.

        A policy never controls itself; another policy with a proved rate replaces it, or `none`.

        Parameters
        ----------
        full
            Whether every round of the ray may be queried (T = B).

        Returns
        -------
        The partner along K (else empty), the positive control, the negative control.
        """
        partner = ""
        if variable == "K":
            partner = self._other_than({label}, self.partner)
        positive = self._other_than({label, partner}, self.positive.get(variable, ""))
        negative = self.negative.get(variable, "none")
        if full and variable == "B":
            negative = self.negative.get("T=B", negative)
        return partner, positive, negative

    def _other_than(self, labels: Collection[str], wanted: str) -> str:
        return next((name for name in (wanted, *self.others) if name not in labels), "none")

    def sweeps(self) -> list[Sweep]:
        """Each control on the rays it is for, and uniform play: it tells which cells are
        saturated."""
        along: dict[str, set[str]] = {"uniform": set(VARIABLES), self.partner: {"K"}}
        for mapping in (self.positive, self.negative):
            for variable, label in mapping.items():
                along.setdefault(label, set()).add(FULL.get(variable, variable))
        return [
            Sweep(
                policy_of(label),
                rays=tuple(sorted(variables)),
                # Copies make K^2 arms of K, and past 16 of them regret is saturated anyway.
                largest_K=16 if label == "sw_ucb_copied" else math.inf,
                estimate=None if label == "random_restart" else 4,
            )
            for label, variables in along.items()
        ]


USUAL = Controls()


def policy_of(label: str) -> dict[str, Any]:
    """The policy of a control's label, whose only option may be a word: `rexp3b(pool=set)`."""
    name, _, options = label.rstrip(")").partition("(")
    return {"name": name, **dict(part.split("=") for part in options.split(", ") if part)}


@dataclass(frozen=True)
class Joint:
    """The verdict of several rays, with its p-value, the ray that decided, and what would."""

    verdict: str
    p_value: float | None
    decisive: Check
    decide: str


def judge_rate(
    evidence: Evidence,
    finding: Callable[..., Finding],
    label: str,
    claimed: Claimed,
    controls: Controls = USUAL,
    rays: Collection[str] | None = None,
) -> list[Finding]:
    """Return the verdict on one policy's rate along all its rays, or those named by `rays`.

    The list is empty if the experiment plays the policy on none. The outcome is `fails` if one ray
    fails at a level divided by the number of rays. It is `consistent` if all rays but that along T
    hold: a finite family of adversaries never shows a supremum over paths.

    Parameters
    ----------
    finding
        Makes a finding of the claim, as `Claim.finding` does.
    """
    checks = ray_checks(evidence.worst, evidence.points, label, claimed, controls, rays)
    if not checks:
        return []
    verdict = exponents_verdict(evidence, finding, checks)
    return [dataclasses.replace(verdict, evidence=("regret", "worst", "points"))]


def ray_checks(
    worst: pd.DataFrame,
    points: pd.DataFrame,
    label: str,
    claimed: Claimed,
    controls: Controls = USUAL,
    rays: Collection[str] | None = None,
) -> list[Check]:
    """Return a check for each ray of a policy, and a joint check along K, with their controls."""
    rows = points[(points["label"] == label) & points["variable"].isin(VARIABLES)]
    if rays is not None:
        rows = rows[rows["axis"].isin(rays)]
    moving = dict(zip(rows["axis"], rows["variable"], strict=True))
    checks = []
    for variable in VARIABLES:
        labels = [ray for ray, moves in moving.items() if moves == variable]
        partner, *_ = controls.choose(label, variable, full=False)
        curves = (curve(worst, points, label, ray, partner) for ray in labels)
        for group in _groups([ray_curve for ray_curve in curves if ray_curve is not None]):
            check = judge(group, claimed)
            full = all((ray_curve.T == ray_curve.B).all() for ray_curve in group)
            _, positive, negative = controls.choose(label, variable, full)
            tried = [
                (name, _control(worst, points, name, group, claimed, free))
                for name, free in ((positive, False), (negative, True))
            ]
            checks.append(with_controls(check, *tried))
    return distinct(checks)


def _groups(curves: Sequence[Curve]) -> list[list[Curve]]:
    """Curves that are judged together: along K those that differ in their budgets alone."""
    groups: dict[Any, list[Curve]] = {}
    for ray_curve in curves:
        fixed = (float(ray_curve.V[0]), round(float((ray_curve.T / ray_curve.B).mean())))
        groups.setdefault(fixed if ray_curve.variable == "K" else ray_curve.ray, []).append(
            ray_curve
        )
    return list(groups.values())


def distinct(checks: Sequence[Check]) -> list[Check]:
    """Return the checks, with the ray's label added to names that occur twice."""
    names = [check.name for check in checks]
    return [
        dataclasses.replace(c, name=f"{c.name} ({c.ray})") if names.count(c.name) > 1 else c
        for c in checks
    ]


def judge(curves: Sequence[Curve], claimed: Claimed, free: bool = False) -> Check:
    """Judge a ray, or all rays along K together, before controls."""
    if curves[0].variable == "K":
        return judge_arms(curves, claimed, free)
    return judge_ray(curves[0], claimed, free)


def _control(
    worst: pd.DataFrame,
    points: pd.DataFrame,
    label: str,
    curves: Sequence[Curve],
    claimed: Claimed,
    free: bool,
) -> Check | None:
    """A control through the check of these curves, on their points."""
    same = []
    for ray_curve in curves:
        own = curve(worst, points, label, ray_curve.ray, ray_curve.partner)
        if own is None:
            continue
        # Where the policy itself is not judged, neither is its control.
        inside = np.unique(ray_curve.entering().point)
        judged = len(inside) >= least(ray_curve.variable)[0]
        same.append(own.at_points(inside if judged else ray_curve.point))
    same = [ray_curve for ray_curve in same if len(ray_curve.y)]
    if not same:
        return None
    return judge(same, claimed, free) if free else judge(same, claimed.of_control(label))


def combine(checks: Sequence[Check]) -> Joint:
    """Return the joint verdict of several rays."""
    tested = [c for c in checks if c.p_fails is not None]
    failing = [c for c in tested if c.verdict == FAILS]
    if failing:
        worst = min(failing, key=lambda c: (c.p_fails, VARIABLES.index(c.variable)))
        p = min(1.0, len(tested) * (worst.p_fails or 0.0))
        if p <= ALPHA:
            return Joint(FAILS, p, worst, "")
    needed = [c for c in checks if c.variable != "T"]
    if needed and all(c.verdict == HOLDS for c in needed):
        p = max(c.p_holds or 0.0 for c in needed)
        return Joint(CONSISTENT, p, max(needed, key=lambda c: c.excess_high), "")
    open_ones = [c for c in checks if c.verdict != HOLDS]
    reasons = [f"{c.name}: {c.decide}" for c in open_ones if c.decide]
    reasons += [
        f"{c.name}: fails if tested alone, but not as one of {len(tested)} tests" for c in failing
    ]
    if not needed:
        reasons.append("rays along V, B or K")
    return Joint(UNDECIDED, None, (open_ones or list(checks))[0], "; ".join(reasons))


RATE = (
    r"$\mathcal R_T \le \mathcal O(K^{1/3} V_T^{1/3} T / B^{1/3})$, the bound without its "
    "logarithms"
)

RULED_OUT = Correction(
    place="",
    printed=RATE,
    mended="no change; the rate may appear at longer horizons, or with the logarithms of its "
    r"$\tilde{\mathcal O}$",
    severity="horizon",
    reason="the rate without its logarithms is not met at the horizons simulated, and a simulation "
    "refutes no asymptotic statement",
    effect="none on the proof",
    outcome=UNDECIDED,
)
"""The correction of a rate that fails in simulations."""


def exponents_verdict(
    evidence: Evidence, finding: Callable[..., Finding], checks: Sequence[Check]
) -> Finding:
    """Return the verdict on a claim whose parts are rays, the deciding one first.

    Parameters
    ----------
    finding
        Makes a finding of the claim, as `Claim.finding` does.
    """
    joint = combine(checks)
    decisive = joint.decisive
    ordered = [decisive, *(c for c in checks if c is not decisive)]
    verdict = finding(
        as_printed=joint.verdict,
        measured="; ".join(check.text for check in ordered),
        horizon=at_horizon(max(c.horizon for c in checks), evidence.toy),
        controls=controls_of(decisive),
        numbers={check.name: check.numbers() for check in ordered},
        seeds=min((c.seeds for c in checks if c.seeds), default=0),
        interval=(decisive.excess_low, decisive.excess_high),
        interval_of=f"excess of the exponent of {decisive.name}, margin {MARGIN}",
        decide=joint.decide,
        p_value=joint.p_value,
        why=reason(joint, checks),
        number_of="excess of the exponent",
        steps=tuple(check.step() for check in ordered),
        evidence=("regret",),
    )
    if joint.verdict != FAILS:
        return verdict
    ruled_out = dataclasses.replace(RULED_OUT, place=verdict.place)
    return dataclasses.replace(verdict, corrections=(ruled_out,))


def controls_of(check: Check) -> tuple[Control, ...]:
    """Return the negative and the positive control of a ray, as far as it has them."""
    result = []
    for kind, expected in (("negative", FAILS), ("positive", HOLDS)):
        if (entry := check.controls.get(kind)) is not None:
            played = entry["verdict"] != "not played"
            good = entry["verdict"] == expected if played else None
            result.append(Control(f"{entry['what']}, {check.name}", expected, good, entry["value"]))
    return tuple(result)


def reason(joint: Joint, checks: Sequence[Check]) -> str:
    """The step of the rule that gave the verdict, with its numbers."""
    ray = joint.decisive
    if joint.verdict == CONSISTENT:
        return f"all of {', '.join(c.name for c in checks if c.verdict == HOLDS)} hold: {ray.why}"
    if joint.verdict == FAILS:
        ceiling = f"; {limit_text(ray)}" if ray.at_limit > 0 else ""
        return f"{ray.name}: {ray.why}{ceiling}"
    open_ones = [f"{c.name}: {c.why}" for c in checks if c.verdict != HOLDS]
    return "; ".join(open_ones) or f"{ray.name} alone does not decide: {ray.why}"


def limit_text(check: Check) -> str:
    """How often the worst gap is the largest of its family."""
    return (
        f"in {check.at_limit:.0%} of the cells the worst adversary has the largest gap of its "
        f"family"
    )
