"""The steps of docs/proofs/budget.md: HyQue makes at most B queries if nothing restarts.

Notation of the page: b = ceil(2T/B), B' queries before round t, X the on-demand buffer, a and a'
active rounds of an instance before and after a conversion. Sizes are 1 <= B <= T.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction as F
from functools import cache
from math import ceil

import numpy as np

from confee.paper.checked.certify import everywhere, exact, nonnegative
from confee.paper.checked.schedules import AS_PRINTED, Outcome, Rules, owners, play, slot_length
from confee.paper.checked.steps import Mutant, Proof, Step, changed, off

LARGEST = 30
"""Every schedule is played up to this horizon, where blocks have at most 8 slots."""

MOST_SLOTS = 15
"""Slots of the blocks of order 0 to 3 together."""

LONG = ((304, 7), (152, 7), (61, 10), (90, 12))
"""Longer horizons that end in a block of at most 4 slots, mostly just after it began."""


def sizes(rules: Rules = AS_PRINTED) -> Iterator[tuple[int, int]]:
    """Yield (T, B) of the enumeration, without sizes at which a mutant has too many slots."""
    yield from LONG
    for T in range(1, LARGEST + 1):
        for B in range(1, T + 1):
            if slot_length(T, B, rules) * MOST_SLOTS >= T:
                yield T, B


@cache
def outcome(T: int, B: int, rules: Rules = AS_PRINTED) -> Outcome:
    """Return what all schedules of one size have in common, played once."""
    return play(T, B, rules)


# ------------------------------------------------------------------ baseline queries that remain


def spent(factor: F = F(1), whole_slot: bool = True) -> bool:
    """Check max(1, floor((a + a') / b)) - a <= a' / b for a below the quota and a + a' >= b."""
    cases = ((b, a, c) for b in range(1, 13) for a in range(25) for c in range(25))

    def holds(b: int, a: int, c: int) -> bool:
        quota = max(1, (a + c) // b)
        if a >= quota or a + c == 0 or (whole_slot and a + c < b):
            return True
        return (quota - a) * b <= factor * c

    return everywhere(cases, holds)


def without_floor(below: bool = True, queried: F = F(1)) -> bool:
    """Check (a + a') / b - a <= a' / b for b >= 1."""
    import sympy as sp

    a, c, b, y = sp.symbols("a c b y", nonnegative=True)
    slack = c / b - ((a + c) / b - exact(queried) * a)
    return nonnegative(slack if below else -slack, [(b, 1 + y)])


def one_exception(most: int = 1, slot: F = F(1)) -> bool:
    """At most one instance has between 1 and b - 1 active rounds in [T]: it owns the last slot."""
    cases = (
        (n, b, rounds) for n in range(4) for b in range(2, 5) for rounds in range(1, (b << n) + 1)
    )

    def holds(n: int, b: int, rounds: int) -> bool:
        owner = owners(n)
        slots = owner.shape[1]
        lengths = np.clip(rounds - b * np.arange(slots), 0, b)
        active = np.stack(
            [np.where(owner == s, lengths, 0).sum(axis=1) for s in range(slots)], axis=1
        )
        short = (active > 0) & (active < slot * b)
        partial = (rounds - 1) // b
        return bool(
            (short.sum(axis=1) <= most * (rounds % b > 0)).all()
            and (short.sum(axis=1) == short[:, partial]).all()
        )

    return everywhere(cases, holds)


def remaining(factor: F = F(1), rounding: str = "up", quota: str = "horizon") -> bool:
    """After a conversion in round t at most ceil((T - t) / b) baseline queries remain."""

    def holds(T: int, B: int) -> bool:
        out = outcome(T, B, Rules(quota=quota))
        most = {
            t: -(-(T - t) // out.b) if rounding == "up" else (T - t) // out.b for t in out.remaining
        }
        return all(left <= factor * most[t] for t, left in out.remaining.items())

    return everywhere(sizes(), holds)


# ------------------------------------------------------------------ counting to B


def buffer(least: F = F(1), last: int = -1) -> bool:
    """min{T / sqrt(B), 2^n, T - t} >= 1 for t < T and B <= T."""
    cases = (
        (T, B, t) for T in range(1, 26) for B in range(1, T + 1) for t in range(1, T + last + 1)
    )

    def holds(T: int, B: int, t: int) -> bool:
        return least**2 * B <= T * T and all(2**n >= least for n in range(6)) and T - t >= least

    return everywhere(cases, holds)


def after_the_last(least: F = F(1), bound: F = F(1), half: F = F(1, 2), converted: int = 1) -> bool:
    """tB/T - X + 1 + (T - t)/b + 1 <= B + 1 for X >= 1 and b >= 2T/B."""
    import sympy as sp

    T, B, t, X, y, z = sp.symbols("T B t X y z", nonnegative=True)
    most = t * B / T - X + converted + exact(half) * (T - t) * B / T + 1
    shifts = [(X, exact(least) + y), (t, T - z)]
    # z <= T: the slack is linear in z, so its two ends decide.
    slack = B + exact(bound) - most
    return all(nonnegative(slack, [*shifts, (z, end)]) for end in (0, T))


def whole_numbers(factor: F = F(1), strict: bool = True, slot: F = F(2), buffer: F = F(1)) -> bool:
    """B' + 1 + ceil((T - t) / b) <= B for all whole B' < tB/T - min{T / sqrt(B), 1, T - t}."""
    cases = ((T, B, t) for T in range(1, 41) for B in range(1, T + 1) for t in range(1, T + 1))

    def holds(T: int, B: int, t: int) -> bool:
        b = ceil(slot * T / B)
        limit = F(t * B, T) - buffer * min(1, T - t)  # T / sqrt(B) >= 1
        used = ceil(limit) - 1 if strict else ceil(limit)
        return used < 0 or used + 1 - (-(T - t) // b) <= factor * B

    return everywhere(cases, holds)


def no_conversion(factor: F = F(1), more: int = 1, length: F = F(2)) -> bool:
    """floor(T / b) + 1 <= B for 1 <= B <= T."""
    cases = ((T, B) for T in range(1, 151) for B in range(1, T + 1))

    def holds(T: int, B: int) -> bool:
        return T // ceil(length * T / B) + more <= factor * B

    return everywhere(cases, holds)


def all_schedules(factor: F = F(1), **rules) -> bool:
    """No schedule queries more than B rounds."""
    changed_rules = Rules(**rules)

    def holds(T: int, B: int) -> bool:
        return outcome(T, B, changed_rules).queries <= factor * B

    return everywhere(sizes(changed_rules), holds)


EVERY = f"all schedules of all sizes with 1 <= B <= T <= {LARGEST}, and of (T, B) = " + ", ".join(
    map(str, LONG)
)
ENOUGH = "true: slots of more than T/B rounds are enough to keep the budget"
FULL = "Lemma 4.7 and its proof"

PROOF = Proof(
    "budget",
    "HyQue keeps its budget",
    "budget.md",
    (
        Step(
            "at most one instance has 1 to b - 1 active rounds, and it owns the last slot",
            "all schedules of a block, n <= 3, 2 <= b <= 4, every cut",
            "exhaustive",
            one_exception,
            (changed(most=0), *off("slot", F(1), "more")),
            "Algorithm 1",
        ),
        Step(
            "(a + a') / b - a <= a' / b",
            "b >= 1",
            "symbolic",
            without_floor,
            (
                changed(below=False),
                Mutant("the rounds before t are not queried", {"queried": F(0)}),
            ),
            "Algorithm 1",
        ),
        Step(
            "max(1, floor((a + a') / b)) - a <= a' / b if a + a' >= b",
            "a, a' <= 24, b <= 12",
            "exhaustive",
            spent,
            (*off("factor", F(1), "less"), changed(whole_slot=False)),
            "Algorithm 1",
        ),
        Step(
            "at most ceil((T - t) / b) baseline queries remain after a conversion",
            EVERY,
            "exhaustive",
            remaining,
            (*off("factor", F(1), "less"), changed(rounding="down"), changed(quota="block")),
            FULL,
        ),
        Step(
            "the buffer is at least 1 for t < T",
            "1 <= B <= T <= 25, t < T",
            "exhaustive",
            buffer,
            (*off("least", F(1), "more"), changed(last=0)),
            "Algorithm 2",
        ),
        Step(
            "tB/T - X + 2 + (T - t)/b <= B + 1",
            "X >= 1, b >= 2T/B, 0 <= t <= T",
            "symbolic",
            after_the_last,
            (
                *off("least", F(1), "less"),
                *off("bound", F(1), "less"),
                changed(converted=2),
                *off("half", F(1, 2), "more", ENOUGH),
            ),
            FULL,
        ),
        Step(
            "B' + 1 + ceil((T - t) / b) <= B",
            "1 <= B <= T <= 40, t <= T, all whole B'",
            "exhaustive",
            whole_numbers,
            (
                *off("factor", F(1), "less"),
                *off("buffer", F(1), "less"),
                changed(strict=False),
                *off("slot", F(2), "less", ENOUGH),
                changed(slot=F(9, 10)),
            ),
            FULL,
        ),
        Step(
            "floor(T / b) + 1 <= B without a conversion",
            "1 <= B <= T <= 150",
            "exhaustive",
            no_conversion,
            (
                *off("factor", F(1), "less"),
                changed(more=2),
                changed(length=F(1)),
                *off("length", F(2), "less", ENOUGH),
            ),
            FULL,
        ),
        Step(
            "no schedule queries more than B rounds",
            EVERY,
            "exhaustive",
            all_schedules,
            (
                *off("factor", F(1), "less"),
                changed(quota="block"),
                changed(buffer=(0, 1)),
                changed(slot=F(9, 10)),
                *off("slot", F(2), "less", ENOUGH),
                changed(ENOUGH, round_down=True),
            ),
            FULL,
        ),
    ),
)
