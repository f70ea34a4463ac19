"""The steps of docs/proofs/conversions.md: how many rounds HyQue converts at most.

Without restarts it converts at most B - floor(T/b) rounds, and some sizes attain this.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction as F

from confee.paper.checked.budget import EVERY, FULL, LARGEST, outcome, sizes
from confee.paper.checked.certify import everywhere, somewhere
from confee.paper.checked.schedules import Outcome, Rules
from confee.paper.checked.steps import Mutant, Proof, Step, changed, off

WITNESS = (7, 5)
"""(T, B) of the smallest size with B >= 2 and more than B - T/b conversions."""


def _bound(T: int, B: int, out: Outcome, rounding: str) -> F:
    """Return B - T/b with T/b rounded down, up or not at all."""
    if rounding == "none":
        return B - F(T, out.b)
    return F(B - (T // out.b if rounding == "down" else -(-T // out.b)))


def _uneven() -> Iterator[tuple[int, int]]:
    """Yield (T, B) with 2 <= B <= T <= LARGEST where b does not divide T."""
    for T in range(2, LARGEST + 1):
        for B in range(2, T + 1):
            if T % outcome(T, B).b:
                yield T, B


def baseline(
    least: F = F(1), most: F = F(1), rounding: str = "up", quota: str = "horizon", smallest: int = 1
) -> bool:
    """Every schedule makes floor(T/b) or ceil(T/b) baseline queries."""

    def holds(T: int, B: int) -> bool:
        out = outcome(T, B, Rules(quota=quota, least=smallest))
        low, high = T // out.b, -(-T // out.b) if rounding == "up" else T // out.b
        return least * low <= out.least_baseline and out.baseline <= most * high

    return everywhere(sizes(), holds)


def at_most(factor: F = F(1), rounding: str = "down") -> bool:
    """Every schedule makes at most B - floor(T/b) conversions."""

    def holds(T: int, B: int) -> bool:
        out = outcome(T, B)
        return out.conversions <= factor * _bound(T, B, out, rounding)

    return everywhere(sizes(), holds)


def attained(where: str = "somewhere", more: int = 0) -> bool:
    """Some size attains B - floor(T/b) > B - T/b."""

    def holds(T: int, B: int) -> bool:
        out = outcome(T, B)
        return out.conversions == _bound(T, B, out, "down") + more

    return (somewhere if where == "somewhere" else everywhere)(_uneven(), holds)


def witness(conversions: int = 3, b: int = 3, size: tuple[int, int] = WITNESS) -> bool:
    """T = 7, B = 5: b = 3 and 3 conversions, more than 5 - 7/3."""
    out = outcome(*size)
    return out.b == b and out.conversions == conversions > size[1] - F(size[0], b)


def counted(sizes_: int = 41, among: int = 285) -> bool:
    """41 of the 285 sizes with 2 <= B <= T <= 30 and b not dividing T attain B - floor(T/b)."""
    attained = [
        outcome(T, B).conversions == _bound(T, B, outcome(T, B), "down") for T, B in _uneven()
    ]
    return sum(attained) == sizes_ and len(attained) == among


PROOF = Proof(
    "conversions",
    "How many rounds HyQue converts",
    "conversions.md",
    (
        Step(
            "every schedule makes floor(T/b) or ceil(T/b) baseline queries",
            EVERY,
            "exhaustive",
            baseline,
            (
                *off("least", F(1), "more"),
                *off("most", F(1), "less"),
                changed(rounding="down"),
                changed(quota="block"),
            ),
            "Algorithm 1",
        ),
        Step(
            "every schedule makes at most B - floor(T/b) conversions",
            EVERY,
            "exhaustive",
            at_most,
            (
                *off("factor", F(1), "less"),
                changed(rounding="up"),
                Mutant("at most B - T/b", {"rounding": "none"}),
            ),
            FULL,
        ),
        Step(
            "some size attains B - floor(T/b) > B - T/b",
            f"2 <= B <= T <= {LARGEST}, b does not divide T",
            "exhaustive",
            attained,
            (changed(where="everywhere"), changed(more=1)),
            FULL,
        ),
        Step(
            "T = 7, B = 5: three conversions against 5 - 7/3",
            "one size, all schedules",
            "exhaustive",
            witness,
            (changed(conversions=2), changed(conversions=4), changed(b=2), changed(size=(7, 4))),
            FULL,
        ),
        Step(
            "41 of 285 sizes attain B - floor(T/b)",
            f"2 <= B <= T <= {LARGEST}, b does not divide T",
            "exhaustive",
            counted,
            (changed(sizes_=40), changed(sizes_=42), changed(among=284)),
            FULL,
        ),
    ),
)
