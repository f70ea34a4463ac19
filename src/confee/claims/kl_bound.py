"""KL(1/2, 1/2 + eps) <= 2 eps^2 for eps <= 1/4, as the lower bound's proof has it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from confee import proofs
from confee.claims.judging.finding import (
    FAILS,
    Control,
    Finding,
    apply_control,
)
from confee.claims.judging.proof import ANY_HORIZON, Line, Sides, judge_proof, judge_step

if TYPE_CHECKING:
    from confee.evidence import Evidence

IDS = ("kl-bound",)
PLACE = "appendix, proof of the lower bound, before Pinsker's inequality"
PRINTED, NEEDED = 2.0, 4.0
"""The factor of eps^2 that is printed, and the one that the next display uses."""

LARGEST = 0.25
GAPS = np.append(np.geomspace(1e-6, LARGEST, 400)[:-1], LARGEST)


def divergences(gaps=GAPS) -> np.ndarray:
    """KL(1/2, 1/2 + gap) for each gap."""
    return np.array([proofs.kl_half(gap) for gap in gaps])


def bounded_by(factor: float) -> Line:
    """KL <= factor eps^2 on (0, 1/4]. KL / eps^2 increases, so the grid's last point decides."""

    def sides() -> Sides:
        return divergences(), factor * GAPS**2

    return Line(f"KL <= {factor:g} eps^2", PLACE, sides, mend="4 eps^2, all the next display uses")


def judge(evidence: Evidence) -> list[Finding]:
    """Arithmetic: the same whatever was run."""
    return [judged(PRINTED)]


def judged(factor: float) -> Finding:
    """The verdict on KL <= factor eps^2; with half the printed factor it must fail."""
    steps = [bounded_by(factor), bounded_by(NEEDED), _increasing()]
    outcome, _ = judge_proof(steps[:1])
    control = judge_step(bounded_by(PRINTED / 2))
    largest = -math.log(1 - 4 * LARGEST**2) / 2 / LARGEST**2
    return apply_control(
        Finding(
            id=IDS[0],
            statement=f"the divergence of Bernoulli(1/2) from Bernoulli(1/2 + eps) is at most "
            f"{factor:g} eps^2 for eps up to 1/4",
            place=PLACE,
            as_printed=outcome,
            prediction=f"KL / eps^2 at most {factor:g} on (0, 1/4]",
            measured=f"KL / eps^2 is over 2, and rises to {largest:.4f} at eps = 1/4",
            horizon=ANY_HORIZON,
            controls=(
                Control(
                    what=f"KL <= {PRINTED / 2:g} eps^2, largest KL over it",
                    value=control.number,
                    as_expected=control.outcome == FAILS,
                ),
            ),
            numbers={"infimum": 2.0, "largest": largest, "least_factor": largest},
            decide=f"wrong by up to {largest / factor - 1:.0%}, most at eps = 1/4; with "
            f"{NEEDED:g} eps^2 the proof goes on unchanged"
            if outcome == FAILS
            else "",
            why=f"KL = -ln(1 - 4 eps^2) / 2 is a series in eps^2 with positive coefficients, so "
            f"KL / eps^2 is in (2, {largest:.4f}], against {factor:g}",
            number_of="left side over right side where that is worst",
            steps=tuple(map(judge_step, steps)),
        )
    )


def _increasing() -> Line:
    """So that the end of the range decides."""

    def sides() -> Sides:
        ratio = divergences() / GAPS**2
        return ratio[:-1], ratio[1:] * (1 + 1e-9)  # for rounding where eps^2 is tiny

    return Line("KL / eps^2 increases", PLACE, sides)
