"""Every step and constant of the lower bound's proof as printed, and of the corrected proof.

Notation: m = ceil(T / Delta) batches, B_j queries in batch j, epsilon the gap. Printed steps are
judged by numbers where the choices of Delta and epsilon are possible, the ranges on all of the
printed range; a single number that breaks a step refutes it. The corrected proof is that of
docs/proofs/lower-bound.md, whose steps confee.paper.checked certifies.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from confee.claims.base import Claim
from confee.claims.judging.finding import (
    ARITHMETIC,
    FAILS,
    HOLDS,
    Control,
    Correction,
    Finding,
    Step,
    apply_control,
)
from confee.claims.judging.proof import ANY_HORIZON, Line, Sides, failing, judge_proof
from confee.paper import proofs, theory

if TYPE_CHECKING:
    from confee.evidence import Evidence
    from confee.paper.checked import Score

PLACE = "Appendix E"
CUBE_ROOT, CONTROL_EXPONENT = 1 / 3, 1 / 2
"""The exponent in epsilon = (K V / (1920 B))^{1/3}, and the one the control has instead."""

NO_EFFECT = "none: Theorem 5.1 keeps its constant"

GAP = Correction(
    place="Appendix E, step 3, first equality",
    printed=r"$\mathcal R_T(\mathcal A) = \sum_{j=1}^m \mathcal R_j$, where $\mathcal R_j$ is the "
    r"regret of batch $j$ under a $\nu'$ that differs from flat arms $\nu$ in that batch alone",
    mended=r"good arms $k_j$ drawn uniformly and independently, all expectations under that one "
    r"law; a batch with more than $4B_j$ queries, of probability at most $1/4$, counts as regret 0",
    severity="gap",
    reason="each R_j is an expectation under another law; on an instance with a good arm in every "
    "batch, observations in earlier batches can change the play in a later one",
    effect="none after the correction: Theorem 5.1 keeps its constant on all of its range",
    shown="docs/proofs/lower-bound.md",
    closed=True,
)
SLIPS = (
    Correction(
        place="Appendix E, step 1",
        printed=r"$m = \lceil T/\Delta \rceil$ batches, each of size $\Delta$ (except possibly the "
        r"last), of rounds $(j-1)\Delta + 1 \le t \le \min\{j\Delta, T\}$",
        mended=r"$\Delta$ rounded up to a whole number",
        severity="rounding",
        reason="where Delta is not a whole number, a round between two batches belongs to neither",
        effect=NO_EFFECT,
        shown="docs/proofs/lower-bound.md",
    ),
    Correction(
        place="Appendix E, step 3, first line of the sum",
        printed=r"$\mathcal R_j \ge \Delta\varepsilon (1 - \frac{5}{4K} - \dots)$ for $j \le m$",
        mended=r"$\mathcal R_j \ge \Delta_j\varepsilon (\dots)$ with the length $\Delta_j$ of "
        r"the batch",
        severity="rounding",
        reason="the last batch can be shorter than Delta",
        effect=NO_EFFECT,
        shown="docs/proofs/lower-bound.md",
    ),
    Correction(
        place="Appendix E, step 2, before Pinsker's inequality",
        printed=r"$\mathrm{KL}(\frac12, \frac12+\varepsilon) \le 2\varepsilon^2$ for "
        r"$\varepsilon \le \frac14$",
        mended=r"$\mathrm{KL}(\frac12, \frac12+\varepsilon) \le 4\varepsilon^2$",
        severity="constant",
        reason="the divergence over eps^2 grows from 2 to 2.30 at eps = 1/4, and the next display "
        "needs only 4",
        effect=NO_EFFECT,
        shown="docs/proofs/lower-bound.md",
    ),
    Correction(
        place="Appendix E, step 2, after the counting lemma",
        printed=r"$\Delta\varepsilon\sqrt{15 B_j/K}$",
        mended=r"$\Delta\varepsilon\sqrt{30 B_j/K}$",
        severity="typo",
        reason="a factor 2 under the root is missing, and the next display has it",
        effect=NO_EFFECT,
    ),
    Correction(
        place="Theorem 5.1 and Appendix E, step 3",
        printed=r"$V_T \in [K^{-1}, K^{-1}B]$ with $\Delta = (KT^3/1920V_T^2B)^{1/3}$",
        mended=r"$\Delta = 1$ where the formula is below 1, one batch where it is above $T$",
        severity="condition",
        reason="the formula gives a Delta in [1, T] only where K <= 1920 V^2 B and V <= "
        "(K T^3 / 1920 B)^(1/2)",
        effect=NO_EFFECT,
        shown="docs/proofs/lower-bound.md",
    ),
)
"""The other steps that are not true as printed."""

SMALL = 500
"""Largest T at which batches are counted round by round."""

GAPS = np.append(np.geomspace(1e-6, 0.25, 400)[:-1], 0.25)
"""Gaps of (0, 1/4] at which the divergence is looked at."""

INSTANCE, SINGLE, SUM = (f"{PLACE}, step {i}" for i in (1, 2, 3))


# ------------------------------------------------------------------ where it is checked


@dataclass(frozen=True)
class Cells:
    """Arrays of settings, with epsilon and the Delta it comes with."""

    K: np.ndarray
    T: np.ndarray
    B: np.ndarray
    V: np.ndarray
    gap: np.ndarray
    delta: np.ndarray

    def __getitem__(self, mask: np.ndarray) -> Cells:
        return Cells(*(getattr(self, name)[mask] for name in self.__dataclass_fields__))

    @property
    def batches(self) -> np.ndarray:
        """m = ceil(T / Delta)."""
        return np.ceil(self.T / self.delta * (1 - 1e-14))

    @property
    def last(self) -> np.ndarray:
        """Rounds that the last batch has."""
        return self.T - (self.batches - 1) * self.delta

    @property
    def possible(self) -> np.ndarray:
        """Whether 1 <= Delta < T and epsilon <= 1/4."""
        return (self.delta >= 1) & (self.delta < self.T) & (self.gap <= 0.25)


@cache
def settings() -> np.ndarray:
    """(K, T, B, V) all over V in [1/K, B/K], K <= B <= T, its ends and few batches included."""
    rows = []
    horizons = (10, 100, SMALL, 10**4, 10**6, 10**8)
    for K, T in itertools.product((2, 3, 5, 10, 16, 44, 100, 300), horizons):
        budgets = {K, 2 * K, round(T**0.5), round(T**0.75), round(T**0.8), T // 2, T}
        for B in sorted(B for B in budgets if K <= B <= T):
            unit = math.sqrt(K / (1920 * B))  # V = r^{3/2} of it makes T / Delta = r
            few = [r**1.5 * unit for r in (1.01, 1.5, 1.9, 1.99, 2.4, 2.99, 3.5, 7.9, 12.3)]
            spread = np.geomspace(1 / K, B / K, 9)
            rows += [(K, T, B, V) for V in (*spread, *few) if 1 / K <= V <= B / K]
    return np.array(rows, dtype=float)


def cells(exponent: float = CUBE_ROOT) -> Cells:
    """The settings with epsilon = (K V / (1920 B))^exponent and Delta = epsilon T / V."""
    K, T, B, V = settings().T
    gap = (K * V / (1920 * B)) ** exponent
    delta = gap * T / V
    return Cells(K, T, B, V, gap, delta)


def rounds_in_batches(T: int, delta: float) -> np.ndarray:
    """Whole t with (j - 1) Delta + 1 <= t <= min(j Delta, T), for j = 1..m."""
    j = np.arange(1, math.ceil(T / delta) + 1)
    slack = 1e-9  # j Delta may be a whole number that rounding misses
    first = np.ceil((j - 1) * delta + 1 - slack)
    return np.maximum(np.floor(np.minimum(j * delta, T) + slack) - first + 1, 0)


def covered(c: Cells) -> tuple[np.ndarray, np.ndarray]:
    """(T, rounds that the batches hold) at the small horizons."""
    small = c[c.T <= SMALL]
    counts = [
        rounds_in_batches(int(T), delta) for T, delta in zip(small.T, small.delta, strict=True)
    ]
    return small.T, np.array([n.sum() for n in counts])


# ------------------------------------------------------------------ small games, exact


@dataclass(frozen=True)
class Game:
    """One batch of LOOKS queries, two arms: stay on a success, else switch.

    Exact under nu (both arms at 1/2) and nu' (arm 0 at 1/2 + gap): the divergence, the total
    variation, and arm 0's mean number of plays under both.
    """

    divergence: float
    distance: float
    plays: float
    plays_good: float


LOOKS = 6
GAME_GAPS = (0.02, 0.08, 0.15, 0.25)


@cache
def game(gap: float) -> Game:
    """The game by its 2^LOOKS histories."""
    good, plays = [], []
    for rewards in itertools.product((0, 1), repeat=LOOKS):
        arm, count, chance = 0, 0, 1.0
        for reward in rewards:
            mean = 0.5 + gap if arm == 0 else 0.5
            count += arm == 0
            chance *= mean if reward else 1 - mean
            arm = arm if reward else 1 - arm
        good.append(chance)
        plays.append(count)
    q, n = np.array(good), np.array(plays)
    p = np.full(len(q), 0.5**LOOKS)
    distance = float(np.abs(p - q).sum()) / 2
    return Game(float((p * np.log(p / q)).sum()), distance, float(p @ n), float(q @ n))


# ------------------------------------------------------------------ steps that both proofs have


def _games() -> list[Game]:
    return [game(gap) for gap in GAME_GAPS]


def _chain_rule() -> Line:
    def sides() -> Sides:
        bound = [g.plays * proofs.kl_half(gap) for g, gap in zip(_games(), GAME_GAPS, strict=True)]
        return [g.divergence for g in _games()], bound

    note = "an adaptive policy of six queries by all its histories; with equality there"
    return Line(
        "KL of a batch <= E[queries of the good arm] KL(1/2, 1/2 + eps)", SINGLE, sides, note
    )


def _pinsker() -> Line:
    def sides() -> Sides:
        shift = [abs(g.plays_good - g.plays) for g in _games()]
        return shift, [LOOKS * math.sqrt(g.divergence / 2) for g in _games()]

    note = "for 0 <= f <= |f|, as it is used; an f of both signs would need 2 |f|"
    return Line("Pinsker: |E f - E' f| <= |f| sqrt(KL / 2)", SINGLE, sides, note)


def divergences() -> np.ndarray:
    """KL(1/2, 1/2 + gap) for each of GAPS."""
    return np.array([proofs.kl_half(gap) for gap in GAPS])


def kl_at_most(factor: float) -> Line:
    """KL <= factor eps^2 on (0, 1/4]. KL / eps^2 increases, so the last gap decides."""

    def sides() -> Sides:
        return divergences(), factor * GAPS**2

    return Line(f"KL(1/2, 1/2 + eps) <= {factor:g} eps^2", SINGLE, sides)


def _after_pinsker() -> Line:
    def sides() -> Sides:
        return np.sqrt(divergences() / 2), GAPS * math.sqrt(2)

    return Line("sqrt(KL / 2) <= eps sqrt(2) a query", SINGLE, sides, "has room for KL <= 4 eps^2")


def _covers(c: Cells) -> Line:
    def sides() -> Sides:
        return covered(c)

    note = "where Delta is not whole, batches may leave out a round between j Delta and j Delta + 1"
    return Line("the batches of size Delta hold all T rounds", INSTANCE, sides, note)


def _within_variation(c: Cells) -> Line:
    def sides() -> Sides:
        return (c.batches - 1) * c.gap, c.V

    return Line("variation (m - 1) eps <= V", INSTANCE, sides)


def _small_gap(c: Cells) -> Line:
    def sides() -> Sides:
        return c.gap, np.full(len(c.gap), 0.25)

    return Line("eps <= 1/4 in all of the range", SUM, sides, "it is at most 1920^(-1/3) = 0.08")


def _solved(c: Cells) -> tuple[Line, ...]:
    """The identities that define epsilon and Delta."""

    def balance() -> Sides:
        return c.gap * np.sqrt(30 * c.B * c.delta / (c.K * c.T)), np.full(len(c.gap), 1 / 8)

    def closed() -> Sides:
        return c.delta, (c.K * c.T**3 / (1920 * c.V**2 * c.B)) ** (1 / 3)

    return (
        Line("eps sqrt(30 B Delta / (K T)) = 1/8", SUM, balance, equal=True),
        Line("Delta = (K T^3 / (1920 V^2 B))^(1/3)", SUM, closed, equal=True),
    )


# ------------------------------------------------------------------ the proof as printed


def printed(exponent: float = CUBE_ROOT) -> tuple[Line, ...]:
    """Every step, in the proof's order."""
    everywhere = cells(exponent)
    c = everywhere[everywhere.possible]
    return (
        _covers(c),
        _total_variation(c),
        _within_variation(c),
        _chain_rule(),
        kl_at_most(2),
        _pinsker(),
        _after_pinsker(),
        _counting(),
        _substitution(),
        _last_batch(c),
        _one_law(),
        _second_line(c),
        _third_line(c),
        *_solved(c),
        _fractions(c),
        _constant(c),
        _small_gap(everywhere),
        _range(everywhere),
    )


def _total_variation(c: Cells) -> Line:
    def sides() -> Sides:
        return (c.batches - 1) * c.gap, c.T * c.gap / c.delta

    note = "printed as an equality, which needs the good arm to change every time"
    return Line("total variation (m - 1) eps <= T eps / Delta", INSTANCE, sides, note)


def _one_law() -> Line:
    """A policy that queries arm 0 once, in the first of m batches, and plays it for good after a
    reward of 1, arm 1 otherwise; arm 0 is good in every batch."""

    def sides() -> Sides:
        gaps, m = np.array(GAME_GAPS), 10
        separate = np.full(len(gaps), (m - 1) / 2)  # each later batch after a flat first one
        return separate, (m - 1) * (1 / 2 - gaps)

    note = "regret of the batches after the first, over Delta eps, at gaps up to 1/4"
    return Line("the regret of an instance is the sum of the R_j", SUM, sides, note)


def _counting() -> Line:
    def sides() -> Sides:
        pairs = [(n, Fraction(5, 4), Fraction(15)) for n in range(2, 400)]
        broken = [math.ceil(n / a) - 1 + math.ceil(n / b) - 1 for n, a, b in pairs]
        return broken, [n - 1 for n, _, _ in pairs]

    return Line("counting lemma at 5/4 and 15", SINGLE, sides, "see counting-lemma")


def _substitution() -> Line:
    def sides() -> Sides:
        return math.sqrt(2 * 15), math.sqrt(15)

    name = "sqrt(2 y) <= sqrt(15 B_j / K) at y = 15 B_j / K"
    return Line(name, SINGLE, sides, "the display after it has it right")


def _last_batch(c: Cells) -> Line:
    """Against uniform play, which pays (1 - 1/K) eps in each of the last batch's rounds."""

    def sides() -> Sides:
        return c.delta * (1 - 5 / (4 * c.K)), c.last * (1 - 1 / c.K)

    note = "the last batch has fewer rounds than Delta; uniform play without a query there"
    name = "R_j >= Delta eps (1 - 5 / (4 K) - ...) in every batch"
    return Line(name, SUM, sides, note)


def _second_line(c: Cells) -> Line:
    """The m batches of the first line share B evenly, which makes that line smallest.

    The first line has m full terms, so the one that the second line leaves out pays for
    sqrt(m T / Delta) <= m.
    """

    def sides() -> Sides:
        m, free = c.batches, 1 - 5 / (4 * c.K)
        second = (m - 1) * (free - c.gap * np.sqrt(30 * c.B * c.delta / (c.K * c.T)))
        first = m * free - c.gap * np.sqrt(30 * m * c.B / c.K)
        return second, first

    return Line("sum over batches, second line from the first", SUM, sides)


def _third_line(c: Cells) -> Line:
    def sides() -> Sides:
        return c.T / 2, (c.batches - 1) * c.delta

    return Line("(m - 1) Delta >= T / 2", SUM, sides, "where Delta < T")


def _fractions(c: Cells) -> Line:
    def sides() -> Sides:
        return np.full(len(c.K), 0.25), 1 - 5 / (4 * c.K) - 1 / 8

    return Line("1 - 5 / (4 K) - 1/8 >= 1/4 for K >= 2", SUM, sides)


def _constant(c: Cells) -> Line:
    def sides() -> Sides:
        rate = c.T * np.cbrt(c.K * c.V / c.B)
        return theory.LOWER_BOUND_CONSTANT * rate, c.T * c.gap / 8

    return Line("T eps / 8 = T (K V / B)^(1/3) / (8 * 1920^(1/3))", SUM, sides, equal=True)


def _range(c: Cells) -> Line:
    """Delta >= 1 and Delta <= T, without which there are no such batches, on the printed range."""

    def sides() -> Sides:
        return np.append(np.ones(len(c.delta)), c.delta), np.append(c.delta, c.T)

    note = (
        "a Delta in [1, T] needs V <= sqrt(K T^3 / (1920 B)) and K <= 1920 V^2 B, which the range "
        "[1/K, B/K] of V does not give"
    )
    return Line("Delta in [1, T] on the range of V", SUM, sides, note)


# ------------------------------------------------------------------ finding


def judge(evidence: Evidence) -> list[Finding]:
    """Arithmetic: the same whatever was run."""
    return [judged(printed())]


@cache
def corrected_proof() -> tuple[tuple[Step, ...], Score]:
    """Return the steps of the corrected proof with their outcomes, and its score on mutants."""
    from confee.paper import checked

    proof = checked.PROOFS["lower-bound"]
    certified = {name: HOLDS if ok else FAILS for name, ok in checked.judge(proof)}
    certified |= {step.name: step.certified for step in proof.cited}
    rows = tuple(
        Step(
            step=f"corrected: {step.name}",
            outcome=certified[step.name],
            note="; ".join(filter(None, [step.place, step.domain, step.certified])),
        )
        for step in proof.steps
    )
    return rows, checked.mutants(proof)


def judged(lines: Sequence[Line]) -> Finding:
    """Return `holds` if every printed line holds. Two controls must fail: the lines with another
    exponent, and mutants of the corrected proof."""
    outcome, rows = judge_proof(lines)
    corrected_rows, score = corrected_proof()
    survives = FAILS if failing(corrected_rows) else HOLDS
    wrong = failing(rows)
    usual, other = (judge_proof(printed(e))[1] for e in (CUBE_ROOT, CONTROL_EXPONENT))
    broken = set(failing(other)) - set(failing(usual))
    return apply_control(
        CLAIM.finding(
            as_printed=outcome,
            measured=f"{len(rows) - len(wrong)} of {len(rows)} steps hold; a corrected proof of "
            f"{len(corrected_rows)} steps {'holds' if survives == HOLDS else 'fails'}, with the "
            "printed constant and on all of the printed range",
            horizon=ANY_HORIZON,
            controls=(
                Control(
                    what="printed proof with another eps, (K V / (1920 B))^(1/2): further steps "
                    "that "
                    "fail",
                    value=len(broken),
                    as_expected=bool(broken),
                    note=", ".join(sorted(broken)),
                ),
                Control(
                    what="corrected proof with one deliberate error, share rejected",
                    value=score.killed / score.total,
                    as_expected=score.killed == score.total,
                    note=f"{score.killed} of {score.total}",
                ),
            ),
            corrections=tuple(c.now(survives) for c in (GAP, *SLIPS)) if outcome == FAILS else (),
            basis=ARITHMETIC,
            numbers={"cells": len(settings()), "wrong": wrong, "mended": survives},
            decide=f"steps that are not true as printed: {'; '.join(wrong)}"
            if outcome == FAILS
            else "",
            why=f"{len(wrong)} steps have a left side larger than the right one somewhere"
            if wrong
            else "no step has a left side larger than the right one",
            number_of="left side over right side where that is worst",
            steps=(*rows, *corrected_rows),
        )
    )


CLAIM = Claim(
    id="lower-bound/algebra",
    statement="every step, constant and range in the proof of the lower bound is correct",
    place=PLACE,
    prediction="left side over right side is at most 1 in every step",
    judge=judge,
    order=17,
    group="Lower bound",
    statements=("steps 1 to 3",),
)
