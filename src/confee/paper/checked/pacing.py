"""The steps of docs/proofs/pacing.md: the regret of a paced policy that repeats its last decision.

A policy for B rounds that sees each reward plays every (T/B)-th round, and each round in between
repeats the last decision. The regret is then at most ceil(T/B) times the regret over the B queried
rounds, plus 2 (ceil(T/B) - 1) V.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction as F
from itertools import pairwise, product

from confee.paper.checked.certify import everywhere, nonnegative, somewhere
from confee.paper.checked.steps import Mutant, Proof, Step, changed, off

HALVES = (F(0), F(1, 2), F(1))
Means = tuple[F, ...]
Path = tuple[Means, ...]


def _moved(before: Means, after: Means) -> F:
    """Return the largest change of a mean from one round to another."""
    return max(abs(b - a) for a, b in zip(before, after, strict=True))


def _variation(path: Sequence[Means]) -> F:
    return sum((_moved(a, b) for a, b in pairwise(path)), F(0))


def _gap(means: Means, arm: int) -> F:
    return max(means) - means[arm]


def _paths(rounds: int, values: Sequence[F] = HALVES, K: int = 2) -> Iterator[Path]:
    return product(product(values, repeat=K), repeat=rounds)


def _starts(T: int, B: int) -> list[int]:
    """Return the indices of the queried rounds, and T."""
    return [i * T // B for i in range(B + 1)]


def tiles(shortest: int = 0, longest: int = 0) -> bool:
    """Each stretch from one query to the next has floor(T/B) or ceil(T/B) rounds."""

    def holds(T: int, B: int) -> bool:
        lengths = [b - a for a, b in zip(_starts(T, B), _starts(T, B)[1:], strict=False)]
        inside = all(T // B + shortest <= n <= -(-T // B) - longest for n in lengths)
        return inside and sum(lengths) == T

    return everywhere(((T, B) for T in range(1, 61) for B in range(1, T + 1)), holds)


def one_round(factor: F = F(2), K: int = 2) -> bool:
    """The gap of a decision grows by at most 2 delta if no mean moves by more than delta."""

    def holds(path: Path, arm: int) -> bool:
        before, after = path
        return _gap(after, arm) <= _gap(before, arm) + factor * _moved(before, after)

    return everywhere(product(_paths(2, K=K), range(K)), holds)


def stretch(factor: F = F(2), fewer: int = 1, upto: str = "inside") -> bool:
    """A stretch of n rounds costs at most n times its first round plus 2 (n - 1) its variation."""

    def holds(path: Path, arm: int) -> bool:
        n = len(path)
        moved = _variation(path) if upto == "inside" else _moved(path[0], path[-1])
        cost = sum(_gap(means, arm) for means in path)
        return cost <= n * _gap(path[0], arm) + factor * (n - fewer) * moved

    return everywhere(
        ((path, arm) for n in range(1, 5) for path in _paths(n) for arm in range(2)), holds
    )


def whole(rounding: str = "up", factor: F = F(2), fewer: int = 1) -> bool:
    """The regret over T rounds is at most ceil(T/B) R_B + 2 (ceil(T/B) - 1) V."""

    def holds(path: Path, arms: tuple[int, ...]) -> bool:
        T, B = len(path), len(arms)
        starts = _starts(T, B)
        most = -(-T // B) if rounding == "up" else T // B
        queried = sum(_gap(path[t], arm) for t, arm in zip(starts, arms, strict=False))
        regret = sum(
            _gap(path[t], arm)
            for arm, first, after in zip(arms, starts, starts[1:], strict=False)
            for t in range(first, after)
        )
        return regret <= most * queried + factor * (most - fewer) * _variation(path)

    return everywhere(
        (
            (path, arms)
            for T in range(1, 6)
            for B in range(1, T + 1)
            for path in _paths(T, (F(0), F(1)))
            for arms in product(range(2), repeat=B)
        ),
        holds,
    )


def attained(factor: F = F(2)) -> bool:
    """At T = 2, B = 1, on the path from (1/2, 1/2) to (1, 0), arm 2 loses exactly 2 V."""

    def holds(path: Path) -> bool:
        cost = sum(_gap(means, 1) for means in path)
        return cost > 0 and cost == factor * _variation(path) + 2 * _gap(path[0], 1)

    return somewhere([(((F(1, 2), F(1, 2)), (F(1), F(0))),)], holds)


def sampled(share: F = F(1)) -> bool:
    """The means of the queried rounds vary by at most V."""

    def holds(path: Path, B: int) -> bool:
        queried = [path[t] for t in _starts(len(path), B)[:-1]]
        return _variation(queried) <= share * _variation(path)

    return everywhere(
        ((path, B) for T in range(1, 5) for B in range(1, T + 1) for path in _paths(T)), holds
    )


def small(largest: F = F(1), arms: int = 1) -> bool:
    """(T/B) V is at most T (K V / B)^{1/3}, that is V^2 <= K B^2, for V <= B and K >= 1."""
    import sympy as sp

    K, B, V, k, b = sp.symbols("K B V k b", nonnegative=True)
    return nonnegative(K * B**2 - V**2, [(B, V / largest + b), (K, arms + k)])


EVERY_PATH = "K = 2, means 0, 1/2, 1, every path and decision"

ASIDE = "Theorem 4.1, by another policy"

PROOF = Proof(
    "pacing",
    "A paced policy that repeats its last decision",
    "pacing.md",
    (
        Step(
            "stretches between queries have floor(T/B) or ceil(T/B) rounds",
            "1 <= B <= T <= 60",
            "exhaustive",
            tiles,
            (changed(shortest=1), changed(longest=1)),
            ASIDE,
        ),
        Step(
            "the gap of a decision grows by at most 2 delta if no mean moves by more than delta",
            f"{EVERY_PATH}, two rounds",
            "exhaustive",
            one_round,
            (*off("factor", F(2), "less"), changed(factor=F(1))),
            ASIDE,
        ),
        Step(
            "a stretch of n rounds costs at most n times its first round plus 2 (n - 1) V_i",
            f"{EVERY_PATH}, n <= 4",
            "exhaustive",
            stretch,
            (
                *off("factor", F(2), "less"),
                changed(fewer=2),
                Mutant("variation from the first to the last round alone", {"upto": "ends"}),
            ),
            ASIDE,
        ),
        Step(
            "R_T <= ceil(T/B) R_B + 2 (ceil(T/B) - 1) V",
            "K = 2, means 0 and 1, T <= 5, every B, path and decisions",
            "exhaustive",
            whole,
            (changed(rounding="down"), changed(fewer=2), changed(factor=F(1, 2))),
            ASIDE,
        ),
        Step(
            "the constant 2 is attained",
            "T = 2, B = 1",
            "exhaustive",
            attained,
            tuple(off("factor", F(2), "both")),
            ASIDE,
        ),
        Step(
            "the queried means vary by at most V",
            f"{EVERY_PATH}, T <= 4, every B",
            "exhaustive",
            sampled,
            tuple(off("share", F(1), "less")),
            ASIDE,
        ),
        Step(
            "(T/B) V <= T (K V / B)^{1/3}",
            "V <= B, K >= 1",
            "symbolic",
            small,
            (*off("largest", F(1), "more"), changed(arms=0)),
            ASIDE,
        ),
        Step(
            "META's regret over B rounds is at most O~((K V)^{1/3} B^{2/3} + sqrt(K B)), V unknown",
            "K-armed bandits that see each reward of the arm played",
            "cited",
            place=ASIDE,
            source="Suk and Kpotufe, COLT 2022, Corollary 2",
        ),
        Step(
            "MASTER over UCB1 has the same bound",
            "K-armed bandits that see each reward of the arm played",
            "cited",
            place=ASIDE,
            source="Wei and Luo 2021, Theorem 2 and Table 1",
        ),
    ),
)
