"""The counting lemma of the lower bound's proof, at alpha = 5/4 and beta = 15."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from confee.claims.base import Claim
from confee.claims.judging.finding import (
    ARITHMETIC,
    FAILS,
    HOLDS,
    Control,
    Finding,
    Step,
    apply_control,
)
from confee.claims.judging.proof import ANY_HORIZON
from confee.paper import proofs

if TYPE_CHECKING:
    from confee.evidence import Evidence

ALPHA, BETA = Fraction(5, 4), Fraction(15)
CONTROL = Fraction(1)
SHOWN = (2, 3, 5, 10, 100, 1000)
Vectors = tuple[list[Fraction], list[Fraction]]


@dataclass(frozen=True)
class Decision:
    """Whether the lemma holds for every n >= 2; if not, the smallest n and a counterexample."""

    holds: bool
    n: int | None = None
    example: Vectors | None = None


def extremal(n: int, alpha: Fraction, beta: Fraction) -> Vectors:
    """x and y with sum 1 that break as many of the conditions as can be, at different indices.

    The first ceil(n / alpha) - 1 entries of x, and the last ceil(n / beta) - 1 of y, share the sum.
    """
    first = min(n, math.ceil(n / alpha) - 1)
    last = min(n, math.ceil(n / beta) - 1)
    x = [Fraction(k < first, max(first, 1)) for k in range(n)]
    y = [Fraction(k >= n - last, max(last, 1)) for k in range(n)]
    return x, y


def satisfying(x: list[Fraction], y: list[Fraction], alpha: Fraction, beta: Fraction) -> list[int]:
    """The indices k with x_k <= alpha / n and y_k <= beta / n."""
    n = len(x)
    return [k for k in range(n) if x[k] <= alpha / n and y[k] <= beta / n]


def decide(alpha: Fraction, beta: Fraction) -> Decision:
    """Decide the lemma exactly for all n >= 2.

    Fewer than n / alpha + n / beta indices break a condition. If 1 / alpha + 1 / beta <= 1, an
    index remains at every n. Otherwise n / alpha + n / beta - 2 >= n for all large n, so the search
    ends.
    """
    if 1 / alpha + 1 / beta <= 1:
        return Decision(True)
    n = 2
    while proofs.counting_lemma_holds(n, alpha, beta):
        n += 1
    example = extremal(n, alpha, beta)
    return Decision(bool(satisfying(*example, alpha, beta)), n, example)


def judge(evidence: Evidence) -> list[Finding]:
    """Arithmetic: the same whatever was run."""
    return [judged(ALPHA, BETA)]


def judged(alpha: Fraction, beta: Fraction) -> Finding:
    """The verdict on the lemma at (alpha, beta); at beta = 1 it must fail."""
    decision = decide(alpha, beta)
    control = decide(alpha, CONTROL)
    least = {str(n): float(proofs.least_beta(n, alpha)) for n in SHOWN}
    limit = alpha / (alpha - 1)
    total = float(1 / alpha + 1 / beta)
    return apply_control(
        CLAIM.finding(
            statement=_statement(alpha, beta),
            as_printed=HOLDS if decision.holds else FAILS,
            measured="such an arm exists at every n" if decision.holds else _shown(decision),
            horizon=ANY_HORIZON,
            basis=ARITHMETIC,
            controls=(
                Control(
                    what=f"beta = {CONTROL}: first n without such an index",
                    value=control.n,
                    as_expected=not control.holds,
                    note=_shown(control),
                ),
            ),
            numbers={"least_beta": least, "least_beta_for_all_n": float(limit), "sum": total},
            why=f"fewer than n (1/alpha + 1/beta) = {total:.3f} n indices can break a condition; "
            f"beta = {limit} is sufficient for every n, and no smaller beta is",
            number_of="1/alpha + 1/beta, the share of indices that can break a condition",
            steps=_steps(alpha, beta, limit),
        )
    )


def _steps(alpha: Fraction, beta: Fraction, limit: Fraction) -> tuple[Step, ...]:
    """The pair itself, its best and a slightly smaller beta, and the range that is stated."""
    general = [Fraction(i, 100) for i in range(101, 200)]
    cases = [
        (f"alpha = {alpha}, beta = {beta}", [(alpha, beta)]),
        (f"alpha = {alpha}, beta = {limit}", [(alpha, limit)]),
        (
            f"alpha = {alpha}, beta = {limit - Fraction(1, 100)}",
            [(alpha, limit - Fraction(1, 100))],
        ),
        (f"alpha = {alpha}, beta = {CONTROL}", [(alpha, CONTROL)]),
        ("alpha in (1, 2), beta = 3 alpha / (alpha - 1)", [(a, 3 * a / (a - 1)) for a in general]),
    ]
    return tuple(_step(name, pairs) for name, pairs in cases)


def _step(name: str, pairs: list[tuple[Fraction, Fraction]]) -> Step:
    """All pairs together; the number is the largest 1/alpha + 1/beta."""
    decisions = [decide(*pair) for pair in pairs]
    broken = next((d for d in decisions if not d.holds), None)
    return Step(
        step=name,
        outcome=FAILS if broken else HOLDS,
        number=float(max(1 / alpha + 1 / beta for alpha, beta in pairs)),
        note=_shown(broken) if broken else "1/alpha + 1/beta is at most 1",
    )


def _shown(decision: Decision) -> str:
    """`n = 2: x = (1, 0), y = (0, 1)`; long ones by their n alone."""
    if decision.example is None:
        return "none"
    x, y = ("(" + ", ".join(map(str, side)) + ")" for side in decision.example)
    text = f"no such index at n = {decision.n}"
    return f"{text}: x = {x}, y = {y}" if decision.n and decision.n <= 4 else text


def _statement(alpha: Fraction, beta: Fraction) -> str:
    return (
        f"of n >= 2 arms, at least one has at most {alpha} of the average plays and at most {beta} "
        "times the average queries"
    )


CLAIM = Claim(
    id="counting-lemma",
    statement=_statement(ALPHA, BETA),
    place="Lemma E.1, after Efroni et al. (proof of Theorem 5.1)",
    prediction="for every n, and all x and y, some index satisfies both conditions",
    judge=judge,
    order=19,
    group="Lower bound",
    statements=("Lemma E.1",),
)
