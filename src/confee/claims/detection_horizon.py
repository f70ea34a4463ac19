"""Whether a change test of HyQue can fire at all at the horizons that were run: arithmetic."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

from confee.claims.base import Claim
from confee.claims.judging.finding import (
    ARITHMETIC,
    CONSISTENT,
    FAILS,
    HOLDS,
    UNDECIDED,
    VACUOUS,
    Control,
    Correction,
    Finding,
    Step,
    apply_control,
    at_horizon,
)
from confee.evidence.columns import SIZE
from confee.paper import proofs, theory

if TYPE_CHECKING:
    from confee.evidence import Evidence

ID = "detection/horizon"

ARMS = (2, 5, 10)
BUDGETS = {"B=T": 1.0, "B=T^0.8": 0.8}
CONTROL_SCALE = 1e-5
"""A scale of the thresholds at which tests can fire everywhere."""

LOGARITHMS = {"log2 T + 1, else ln": (math.e, 2.0), "ln": (math.e, math.e), "log2": (2.0, 2.0)}
"""Bases of `log` in the threshold: all others, and of log T + 1. The first pair is what is run."""

DELTAS = {"delta=1/T": None, "delta=0.05": 0.05, "delta=1": 1.0}
RUN = ("log2 T + 1, else ln", "delta=1/T")

QUIET = Correction(
    place="Section 3.2.2, change tests",
    printed="HyQue restarts when the environment changes",
    mended="the same at horizons where a statistic can exceed its threshold",
    severity="horizon",
    reason="the statistic of a test is at most 1, and no threshold is below 1 at the horizons "
    "simulated",
    effect="none on the proof; no run of the algorithm as printed restarts at these horizons",
    outcome=VACUOUS,
)

Setting = tuple[int, int, int, float]


def thresholds(K: int, T: int, B: int) -> dict[str, float]:
    """Return the least threshold of each test: of test (ii) with all B queries in one block, of
    test (i) on the largest instance. No block has more queries, and no span is longer."""
    order = max(proofs.largest_order(T, B), 0)
    return {
        "mean": proofs.change_threshold(proofs.MEAN_TEST, T, B, K),
        "span": proofs.change_threshold(proofs.SPAN_TEST, T, 2**order, K),
    }


def can_fire(K: int, T: int, B: int, V: float, scale: float = 1.0) -> bool:
    """Whether a threshold is under 1, which is necessary for a restart in any block."""
    return scale * min(thresholds(K, T, B).values()) < 1


def premise(settings: set[Setting], scale: float = 1.0) -> tuple[str, float]:
    """Return `holds` if no test can fire at any size, else `fails`, and the share where one can."""
    share = sum(can_fire(*setting, scale=scale) for setting in settings) / max(len(settings), 1)
    return (FAILS if share else HOLDS), share


def table() -> dict[str, dict[str, dict[str, dict[str, int]]]]:
    """First T of each test: by reading, budget and K."""
    out: dict = {}
    readings = itertools.product(LOGARITHMS.items(), DELTAS.items())
    for (log, (base, orders_base)), (name, delta) in readings:
        reading = theory.Reading(delta, base, orders_base)
        out[f"{log}, {name}"] = {
            budget: {f"K={K}": proofs.first_horizons(K, exponent, reading) for K in ARMS}
            for budget, exponent in BUDGETS.items()
        }
    return out


def judge(evidence: Evidence) -> list[Finding]:
    """`vacuous` if no test can fire at any setting HyQue was run at, else `consistent`."""
    runs = evidence.regret
    runs = runs[runs["label"] == "hyque"] if "label" in runs else runs.iloc[:0]
    settings = set(runs[SIZE].itertuples(index=False, name=None)) if len(runs) else set()
    return [judged(settings, evidence.toy)]


def judged(settings: set[Setting], toy: bool = False) -> Finding:
    """The verdict on the premise that a change can be detected, at the settings given."""
    quiet, share = premise(settings)
    noisy, fired = premise(settings, CONTROL_SCALE)
    first = table()
    usual = first[", ".join(RUN)]
    earliest = _earliest(usual)
    kindest = min(map(_earliest, first.values()))
    if not settings:
        outcome, decide = UNDECIDED, "a horizon: HyQue was not simulated here"
    elif quiet == HOLDS:
        outcome = VACUOUS
        decide = f"a run at T above {earliest:.2g} (K = 2, B = T), where a test can fire first"
    else:
        outcome, decide = CONSISTENT, "whether they do fire is measured by detection/power"
    largest = max((setting[1] for setting in settings), default=0)
    verdict = CLAIM.finding(
        as_printed=outcome,
        prediction=f"the threshold 3 rho^ is below 1 first at T = "
        f"{usual['B=T']['K=2']['mean, whole budget']:.2g}, 9 "
        f"rho^ < 1 at {usual['B=T']['K=2']['span']:.2g} (K = 2, B = T); at B = T^0.8 "
        f"{usual['B=T^0.8']['K=2']['mean, whole budget']:.2g} and "
        f"{usual['B=T^0.8']['K=2']['span']:.2g}",
        measured=f"a test can fire in {share:.0%} of {len(settings)} settings run, up to "
        f"T = {largest:.3g}; first at T = {earliest:.2g}, or at {kindest:.2g} with the most "
        f"favourable logarithm and delta",
        horizon=at_horizon(largest, toy),
        controls=(
            Control(
                what=f"thresholds times {CONTROL_SCALE:g}, share of settings where one can fire",
                value=fired,
                as_expected=noisy == FAILS if settings else None,
            ),
        ),
        corrections=(QUIET,) if outcome == VACUOUS else (),
        basis=ARITHMETIC,
        numbers={"first_T": first, "share_of_settings": share, "largest_T": largest},
        decide=decide,
        why=f"the statistic of a test is at most 1; thresholds are below 1 at {share:.0%} of the "
        "settings",
        number_of="first T",
        steps=_steps(usual),
        evidence=("regret",),
    )
    return verdict if outcome in (UNDECIDED, VACUOUS) else apply_control(verdict)


def _earliest(by_budget: dict) -> int:
    """The first horizon at which any test can fire, over budgets and arms."""
    return min(min(tests.values()) for by_arms in by_budget.values() for tests in by_arms.values())


def _steps(usual: dict) -> tuple[Step, ...]:
    """The table as it is run, a line for each test."""
    return tuple(
        Step(step=f"{budget}, {K}: {test}", outcome="first T", number=T)
        for budget, by_arms in usual.items()
        for K, tests in by_arms.items()
        for test, T in tests.items()
    )


CLAIM = Claim(
    id=ID,
    statement="HyQue's change tests restart it when the environment changes",
    place="Section 3.2.2, change tests",
    judge=judge,
    speaks_of=("hyque",),
    order=24,
    group="Change tests",
    statements=("change tests",),
)
