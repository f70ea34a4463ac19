"""The steps of docs/proofs/density.md: the share of baseline queries in a phase.

Notation of the page: r rounds of a phase up to a cut, r' of them in its last block, of order n.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction as F
from functools import cache
from math import ceil

import numpy as np

from confee.paper.checked.certify import everywhere, exact, identity, nonnegative
from confee.paper.checked.schedules import Rules, owners, quotas
from confee.paper.checked.steps import Proof, Step, changed, off


def _blocks() -> Iterator[tuple[int, int, int]]:
    """Yield (n, b, rounds of the block in [T])."""
    for n in range(4):
        for b in range(2, 5):
            for rounds in range(1, (b << n) + 1):
                yield n, b, rounds


@cache
def asked(n: int, b: int, rounds: int, rules: Rules) -> np.ndarray:
    """Return whether each round of a block is a baseline query, shape (patterns, rounds)."""
    owner = owners(n)
    left = quotas(owner, b, rounds, rules).copy()
    rows = np.arange(len(owner))
    out = np.zeros((len(owner), rounds), dtype=bool)
    for r in range(rounds):
        active = owner[:, r // b]
        out[:, r] = left[rows, active] > 0
        left[rows, active] -= out[:, r]
    return out


def at_the_horizon(
    factor: F = F(1), rounding: str = "down", least: int = 1, alone: bool = True
) -> bool:
    """A block that T cuts after r' rounds has floor(r'/b) queries.

    It has one more if the owner of the partial slot owns no other slot.
    """

    def holds(n: int, b: int, rounds: int) -> bool:
        queries = asked(n, b, rounds, Rules(least=least)).sum(axis=1)
        partial = (rounds - 1) // b
        owner = owners(n)[:, : partial + 1]
        only = ((owner == owner[:, -1:]).sum(axis=1) == 1) & (rounds % b > 0)
        base = F(rounds // b) if rounding == "down" else F(rounds, b)
        return bool((queries == factor * base + only * alone).all())

    return everywhere(_blocks(), holds)


def lower_end(factor: F = F(1), rounding: str = "down", quota: str = "horizon") -> bool:
    """A phase that T cuts after r rounds has at least floor(r/b) baseline queries."""

    def holds(n: int, b: int, rounds: int) -> bool:
        r = b * (2**n - 1) + rounds
        queries = 2**n - 1 + asked(n, b, rounds, Rules(quota=quota)).sum(axis=1)
        return bool((queries >= factor * (r // b if rounding == "down" else F(r, b))).all())

    return everywhere(_blocks(), holds)


def complete(factor: F = F(1)) -> bool:
    """A complete block of order n makes exactly 2^n baseline queries."""

    def holds(n: int, b: int) -> bool:
        return bool((asked(n, b, b << n, Rules()).sum(axis=1) == factor * 2**n).all())

    return everywhere(((n, b) for n in range(4) for b in range(2, 5)), holds)


def at_a_restart(factor: F = F(1), cut: str = "restart", conversion: int = 1) -> bool:
    """Where a restart can cut a phase of r rounds, the phase has at least r/b queries.

    A restart can cut after any query or at the end of a slot. The baseline queries of the phase
    count, and so does the conversion after which it is cut.
    """

    def holds(n: int, b: int, rounds: int) -> bool:
        base = asked(n, b, rounds, Rules())
        queries = 2**n - 1 + base.cumsum(axis=1)
        r = b * (2**n - 1) + np.arange(1, rounds + 1)
        least = factor.numerator * r
        by_query = (queries + conversion * ~base) * b * factor.denominator >= least
        if cut == "restart":  # after a baseline query or a conversion
            ends = queries[:, b - 1 :: b] * b * factor.denominator >= least[b - 1 :: b]
            return bool(by_query.all() and ends.all())
        return bool((queries * b * factor.denominator >= least).all())  # anywhere

    return everywhere(_blocks(), holds)


def denser(below: bool = True) -> bool:
    """(A + q) / (b A + q) increases in q for b >= 1."""
    import sympy as sp

    A, b, q, y = sp.symbols("A b q y", positive=True)
    rate = sp.together(sp.diff((A + q) / (b * A + q), q))
    return nonnegative(rate if below else -rate, [(b, 1 + y)])


def threshold(power: F = F(2), numerator: F = F(2)) -> bool:
    """2/b - (2N - 1) / (b (N - 1) + N) = (2N - b) / (b (b (N - 1) + N)), N = 2^n."""
    import sympy as sp

    b, N = sp.symbols("b N", positive=True)
    bottom = b * (N - 1) + N
    left = exact(numerator) / b - (2 * N - 1) / bottom
    return identity(left, (exact(power) * N - b) / (b * bottom))


def largest(factor: F = F(1), at: str = "query") -> bool:
    """The largest density at a cut is (2^{n+1} - 1) / (b (2^n - 1) + 2^n), and it is attained."""

    def holds(n: int, b: int) -> bool:
        queries = 2**n - 1 + asked(n, b, b << n, Rules()).cumsum(axis=1)
        r = b * (2**n - 1) + np.arange(1, (b << n) + 1)
        if at == "end":
            queries, r = queries[:, -1:], r[-1:]
        top = max(F(int(q), int(x)) for q, x in zip(queries.max(axis=0), r, strict=True))
        return top == factor * F(2 ** (n + 1) - 1, b * (2**n - 1) + 2**n)

    return everywhere(((n, b) for n in range(4) for b in range(2, 7)), holds)


def below_pace(factor: F = F(1), rounding: str = "up") -> bool:
    """2/b <= B/T for b = ceil(2T/B)."""
    cases = ((T, B) for T in range(1, 101) for B in range(1, T + 1))

    def holds(T: int, B: int) -> bool:
        b = ceil(F(2 * T, B)) if rounding == "up" else 2 * T // B
        return factor * 2 * T <= b * B

    return everywhere(cases, holds)


def strictly_below(order: int = 1, reach: int = 0) -> bool:
    """The largest density is below B/T at every size with b < 2^{n+1}."""

    def holds(T: int, B: int, n: int) -> bool:
        b = -(-2 * T // B)
        if b >= 2 ** (n + order) + reach:
            return True
        return F(2 ** (n + 1) - 1, b * (2**n - 1) + 2**n) < F(B, T)

    cases = ((T, B, n) for T in range(1, 61) for B in range(1, T + 1) for n in range(1, 7))
    return everywhere(cases, holds)


CUTS = "all schedules, n <= 3, 2 <= b <= 4, every cut"
LEMMA = "Lemma 4.6"

PROOF = Proof(
    "density",
    "The density of queries in a phase",
    "density.md",
    (
        Step(
            "a block that T cuts after r' rounds has floor(r'/b) queries, or 1 more",
            CUTS,
            "exhaustive",
            at_the_horizon,
            (
                *off("factor", F(1), "both"),
                changed(rounding="none"),
                changed(least=0),
                changed(alone=False),
            ),
            LEMMA,
        ),
        Step(
            "a phase that T cuts after r rounds has at least floor(r/b) baseline queries",
            CUTS,
            "exhaustive",
            lower_end,
            (*off("factor", F(1), "more"), changed(rounding="none")),
            LEMMA,
        ),
        Step(
            "a complete block makes exactly 2^n baseline queries",
            "all schedules, n <= 3, 2 <= b <= 4",
            "exhaustive",
            complete,
            tuple(off("factor", F(1), "both")),
            LEMMA,
        ),
        Step(
            "a phase that a restart cuts after r rounds has at least r/b queries",
            CUTS,
            "exhaustive",
            at_a_restart,
            (*off("factor", F(1), "more"), changed(cut="anywhere"), changed(conversion=0)),
            LEMMA,
        ),
        Step(
            "(A + q) / (b A + q) increases in q",
            "A > 0, b >= 1",
            "symbolic",
            denser,
            (changed(below=False),),
            LEMMA,
        ),
        Step(
            "the largest density is (2^(n+1) - 1) / (b (2^n - 1) + 2^n)",
            "all schedules of complete blocks, n <= 3, 2 <= b <= 6",
            "exhaustive",
            largest,
            (*off("factor", F(1), "both"), changed(at="end")),
            LEMMA,
        ),
        Step(
            "the largest density is below 2/b if and only if b < 2^(n+1)",
            "b >= 1, n >= 1",
            "symbolic",
            threshold,
            (*off("power", F(2), "both"), *off("numerator", F(2), "both")),
            LEMMA,
        ),
        Step(
            "2/b <= B/T",
            "1 <= B <= T <= 100",
            "exhaustive",
            below_pace,
            (*off("factor", F(1), "more"), changed(rounding="down")),
            LEMMA,
        ),
        Step(
            "the largest density is below B/T if b < 2^(n+1)",
            "1 <= B <= T <= 60, 1 <= n <= 6",
            "exhaustive",
            strictly_below,
            (changed(order=2), changed(reach=1)),
            LEMMA,
        ),
    ),
)
