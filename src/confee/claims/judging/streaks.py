"""The rule for long streaks: certified chances, and the constant C that they imply.

The paper says P(a streak over T B^-alpha rounds in a block) <= exp(-C x) with a universal C > 0 and
x = B^{1-alpha/2}/sqrt(T). So a chance P implies C <= -ln P / x. `confee.paper.streaks` gives P of
the largest complete block, which is the worst, exactly or between certified bounds, without draws.
Along B = T^beta, from the smallest to the largest T of `HORIZONS`, the statement

- `fails` if C at the largest T is certified to be under `FLOOR`, a hundredth of the least constant
  in the proof;
- `holds` if C at the largest T is certified to be at least that least constant, 1/2;
- is `undecided` otherwise.

The claim fails if it fails for any beta, and holds if it holds for all. The rule favours the claim:
it looks at a single block rather than a whole phase, and smaller T never count against it.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

from confee.claims.judging import blocks
from confee.claims.judging.finding import (
    ARITHMETIC,
    CONSISTENT,
    FAILS,
    HOLDS,
    UNDECIDED,
    Control,
    Correction,
    Finding,
    Step,
    apply_control,
    at_horizon,
)
from confee.paper import proofs, streaks, theory

if TYPE_CHECKING:
    import pandas as pd

    from confee.claims.base import Claim
    from confee.evidence import Evidence

HORIZONS = (10**4, 10**6, 10**8, 10**10, 10**12)
LEAST = proofs.PROOF_CONSTANTS[0]
FLOOR = LEAST / 100
"""A constant C below this is practically 0."""


@dataclass(frozen=True)
class Point:
    """The worst block at one (T, B): order, x, and bounds of P and of the implied C."""

    T: int
    B: int
    order: int
    x: float
    p: streaks.Chance

    @property
    def implied(self) -> tuple[float, float]:
        """The least and the largest C that P allows."""
        low, high = (abs(math.log(p)) / self.x if p else math.inf for p in self.p)
        return high, low

    @property
    def text(self) -> str:
        return f"P {self.chance}, C {self.constant}"

    @property
    def chance(self) -> str:
        """Return P in words: exact, between bounds, or all but 0 or 1."""
        if self.p.low > 0.9999:
            missing = math.ceil(math.log10(1 - self.p.low + streaks.ROUNDING))
            return f"at least 1 - 1e{missing}"
        if self.p.high < 1e-9:
            return "under 1e-9"
        return between(*self.p)

    @property
    def constant(self) -> str:
        """Return C in words."""
        low, high = self.implied
        return f"at most {high:.1g}" if high < FLOOR / 100 else between(low, high)

    def row(self) -> dict:
        """The point as plain numbers."""
        C_low, C_high = self.implied
        values = {
            "x": self.x,
            "p_low": self.p.low,
            "p_high": self.p.high,
            "C_low": C_low,
            "C_high": C_high,
        }
        # Digits beyond these depend on the machine's linear algebra where P is nearly 0 or 1.
        rounded = {name: float(f"{value:.2g}") for name, value in values.items()}
        return {"T": self.T, "B": self.B, "order": self.order, **rounded}


@dataclass(frozen=True)
class Trend:
    """The worst blocks along B = T^exponent, and what the rule says of them."""

    exponent: float
    outcome: str
    why: str
    points: tuple[Point, ...]

    def step(self, name: str) -> Step:
        """The trend as a step; its number is the largest C that the largest T allows."""
        largest = self.points[-1].implied[1]
        number = largest if math.isfinite(largest) else None
        return Step(f"{name}, B = T^{self.exponent:g}", self.outcome, number, self.why)


@dataclass(frozen=True)
class Outcome:
    """The rule's outcome over all exponents."""

    outcome: str
    trends: tuple[Trend, ...]

    @property
    def why(self) -> str:
        return "; ".join(t.why for t in self.trends if t.outcome == self.outcome)

    @property
    def worst(self) -> Point:
        """The largest T of the decisive trend, which allows the least C."""
        ends = [t.points[-1] for t in self.trends if t.outcome == self.outcome]
        return min(ends, key=lambda point: point.implied[::-1])


def check(
    kind: str,
    exponents: Sequence[float],
    alpha: float = 0.5,
    rates: str = "paper",
    horizons: Sequence[int] = HORIZONS,
) -> Outcome:
    """Return the rule's outcome along B = T^beta; the same for the paper and the controls."""
    trends = tuple(
        judge_points(beta, [point(kind, T, beta, alpha, rates) for T in horizons])
        for beta in exponents
    )
    outcomes = {t.outcome for t in trends}
    outcome = FAILS if FAILS in outcomes else HOLDS if outcomes == {HOLDS} else UNDECIDED
    return Outcome(outcome, trends)


def point(kind: str, T: int, beta: float, alpha: float = 0.5, rates: str = "paper") -> Point:
    """Return the worst block at T and B = T^beta."""
    B = proofs.power_budget(T, beta)
    chance = streaks.streak_chance(kind, T, B, 1.0, alpha, rates=rates)
    x = proofs.run_exponent(T, B, alpha)
    return Point(T, B, proofs.largest_order(T, B), x, chance)


def judge_points(beta: float, points: Sequence[Point]) -> Trend:
    """Apply the rule of the module to the points along one B = T^beta."""
    last = points[-1]
    text = f"B = T^{beta:g}, T = {last.T:.0e}: {last.text}"
    if last.implied[1] < FLOOR:
        outcome, why = FAILS, f"{text}, practically 0 (< {FLOOR:g})"
    elif last.implied[0] >= LEAST:
        outcome, why = HOLDS, f"{text}, at least {LEAST:g}"
    else:
        outcome, why = UNDECIDED, f"{text}, which does not decide"
    return Trend(beta, outcome, why, tuple(points))


def between(low: float, high: float) -> str:
    """Return one number where it is exact, else [low, high]."""
    return f"{low:.3g}" if low == high else f"[{low:.3g}, {high:.3g}]"


def controls(
    kind: str, exponents: Sequence[float], alpha: float = 0.5, sure: Sequence[float] = ()
) -> tuple[Control, Control]:
    """Return the control that must fail and the one that must hold.

    sure : exponents at which the lemma's own argument is enough with the proof's start chances;
        all by default.
    """
    alone = check(kind, exponents, alpha, "alone")
    proof = check(kind, sure or exponents, alpha, "proof")
    return (
        Control(
            what="blocks in which only the longest instance starts",
            as_expected=alone.outcome == FAILS,
            value=alone.worst.p.low,
            note="certified probability of such a streak",
        ),
        Control(
            what="blocks with the start probabilities of the proof, 2^((m-M)/2) for every order",
            expected=HOLDS,
            as_expected=proof.outcome == HOLDS,
            value=proof.worst.p.high,
            note="certified upper bound of the probability of such a streak",
        ),
    )


# ------------------------------------------------------------------ what is true instead


def log_factor(kind: str, T: int, B: int) -> float:
    """Return the least c for which the union bound certifies c T ln(T)/sqrt(B).

    That is, with probability 1 - 1/T no block of a phase up to T has a longer streak. Blocks of all
    orders that begin by T are counted in full.
    """
    b, (last, _) = theory.slot_length(T, B), theory.last_block(T, B)
    upper = streaks.idle_streak_upper if kind == "idle" else streaks.query_streak_upper

    def enough(c: float) -> bool:
        length = c * math.log(T) * proofs.run_length(T, B)
        return sum(upper(n, b, length) for n in range(last + 1)) <= 1 / T

    low, high = 0.0, 1.0
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1e-3:
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


LOG_HORIZONS = (10**4, 10**5, 10**6, 10**8, 10**10, 10**12, 10**15, 10**18)
LOG_EXPONENTS = (0.75, 0.8, 0.9, 1.0)


@cache
def log_factors(kind: str) -> dict[str, float]:
    """Return `log_factor` along budgets: the largest over `LOG_HORIZONS`.

    B = T - 1 is the worst budget: b = ceil(2T/B) is then 3, half as much again as 2T/B.
    """
    budgets = {
        f"B=T^{beta:g}": [proofs.power_budget(T, beta) for T in LOG_HORIZONS]
        for beta in LOG_EXPONENTS
    }
    budgets["B=T-1"] = [T - 1 for T in LOG_HORIZONS]
    return {
        name: max(log_factor(kind, T, B) for T, B in zip(LOG_HORIZONS, Bs, strict=True))
        for name, Bs in budgets.items()
    }


@cache
def with_logarithm(kind: str) -> Step:
    """Judge streaks up to T ln(T)/sqrt(B), the corrected length, by the largest factor."""
    factor = max(log_factors(kind).values())
    return Step(
        "at most T ln(T)/sqrt(B), all blocks up to T, with probability 1 - 1/T",
        CONSISTENT if factor <= 1 else UNDECIDED,
        factor,
        f"union bound at {len(LOG_HORIZONS)} T up to {LOG_HORIZONS[-1]:.0e}, B from "
        f"T^{LOG_EXPONENTS[0]:g} to T; the number is the least factor of ln T that it certifies",
    )


FACTORS = tuple(2.0 ** (k / 4) for k in range(-12, 45))


def median(kind: str, T: int, B: int, alpha: float) -> tuple[float, float]:
    """Return certified bounds of the median of the longest streak over T B^-alpha.

    In the largest complete block, on a grid of factors 2^{1/4} apart.
    """

    def chance(index: int) -> streaks.Chance:
        return streaks.streak_chance(kind, T, B, FACTORS[index], alpha, work=0)

    indices = range(len(FACTORS))
    short = bisect_left(indices, True, key=lambda i: chance(i).low < 0.5)
    long = bisect_left(indices, True, key=lambda i: chance(i).high <= 0.5)
    low = FACTORS[short - 1] if short else 0.0
    high = FACTORS[long] if long < len(FACTORS) else math.inf
    return low, high


def safe_orders(kind: str, T: int, B: int) -> int:
    """Return how far below the largest complete block C >= 1/2 is certified for all blocks."""
    allowed = math.exp(-LEAST * proofs.run_exponent(T, B))
    order = top = proofs.largest_order(T, B)
    while order >= 0 and streaks.streak_chance(kind, T, B, order=order, work=0).high > allowed:
        order -= 1
    return top - order


# ------------------------------------------------------------------ draws beside it

CHECK_WORK = 2**24
"""Largest 4^n * length of a drawn block whose chance is computed exactly for comparison."""


def drawn_step(rows: pd.DataFrame, kind: str, exponents: Sequence[float]) -> Step | None:
    """Compare the drawn blocks with the chances; None if none was drawn."""
    table = blocks.shares(rows[rows["exponent"].isin(exponents)], kind) if len(rows) else rows
    if table.empty:
        return None
    off = exact = 0
    for row in table.itertuples():
        p = streaks.streak_chance(kind, row.T, row.B, order=row.order, work=CHECK_WORK)
        exact += p.exact
        off += row.p_low > p.high or row.p_high < p.low
    note = (
        f"{len(table)} kinds of blocks, {int(table['drawn'].sum())} draws; the probabilities of "
        f"{exact} kinds are exact, the others have bounds; for {off} kinds the draws contradict "
        f"them"
    )
    return Step(
        "drawn blocks agree with the computed probabilities", FAILS if off else HOLDS, off, note
    )


# ------------------------------------------------------------------ the finding


def finding(
    outcomes: Outcome,
    evidence: Evidence,
    claim: Claim,
    *,
    kind: str,
    alpha: float,
    controls: tuple[Control, Control],
    correction: Correction,
    numbers: dict,
    steps: tuple[Step, ...] = (),
) -> Finding:
    """Return the finding on streaks over T B^-alpha rounds.

    It is undecided if the control that must hold does not, or if drawn blocks contradict the
    chances: then these are not to be trusted.
    """
    exponents = [trend.exponent for trend in outcomes.trends]
    agree = drawn_step(blocks.drawn(evidence), kind, exponents)
    positive = next(c for c in controls if c.expected == HOLDS)
    trusted = bool(positive.as_expected) and (agree is None or agree.outcome == HOLDS)
    outcome = outcomes.outcome if trusted else UNDECIDED
    worst = outcomes.worst
    rate = f"B^{1 - alpha / 2:.3g}/sqrt(T)"
    result = claim.finding(
        as_printed=outcome,
        prediction=f"-ln P divided by {rate}, where P is the probability in the worst block, stays "
        f"above a constant as T grows (the proof's constants: {LEAST:g} to "
        f"{proofs.PROOF_CONSTANTS[1]:.2f})",
        measured=f"{kind} streak over T/B^({_power(alpha)}): probability {worst.chance}; "
        f"in the largest complete block at T = {worst.T:.0e}, B = {worst.B:.3g}; C is "
        f"{worst.constant}",
        horizon=at_horizon(
            worst.T, False, "drawn blocks at a toy horizon" if agree and evidence.toy else ""
        ),
        controls=controls,
        corrections=(correction,) if outcome == FAILS else (),
        basis=ARITHMETIC,
        numbers={
            "worst_blocks": {
                f"B=T^{t.exponent:g}": [p.row() for p in t.points] for t in outcomes.trends
            },
            **numbers,
        },
        interval=worst.implied,
        interval_of="the C that the worst block at the largest T allows",
        why=outcomes.why,
        decide=_decide(outcomes, trusted),
        number_of="the largest C that the largest T allows, unless the step says otherwise",
        steps=(
            *(trend.step(f"over T B^-{alpha:.3g} rounds") for trend in outcomes.trends),
            *steps,
            *([agree] if agree else []),
        ),
        evidence=(f"studies/{blocks.STUDY}",) if agree else (),
    )
    return apply_control(result)


def _decide(outcomes: Outcome, trusted: bool) -> str:
    if not trusted:
        return "the computed probabilities: a control or the drawn blocks contradict them"
    if outcomes.outcome == UNDECIDED:
        return "larger T, or tighter bounds of the probabilities"
    worst = outcomes.worst
    return (
        f"worst at B = {worst.B:.3g}, block order {worst.order}"
        if outcomes.outcome == FAILS
        else ""
    )


def _power(alpha: float) -> str:
    """`1/2`, `2/3`."""
    return str(Fraction(alpha).limit_denominator(12))
