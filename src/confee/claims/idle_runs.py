"""BaQue's idle streaks: the lemma's T/sqrt(B) rounds, and the remark's T/B^{2/3}.

The proofs of the error and drift lemmas use the second length, not the first.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

from confee.claims.base import Claim
from confee.claims.judging import blocks, streaks
from confee.claims.judging.finding import (
    FAILS,
    HOLDS,
    UNDECIDED,
    Correction,
    Finding,
    Reading,
    Step,
)
from confee.paper import proofs

if TYPE_CHECKING:
    from confee.evidence import Evidence
    from confee.simulation.needs import Needs

LONGER = Correction(
    place="Lemma 4.4",
    printed=r"more than $T/\sqrt B$ idle rounds in a row in a block have probability at most "
    r"$\exp(-C B^{3/4}/\sqrt T)$",
    mended=r"more than $T \ln T/\sqrt B$ idle rounds in a row in any block up to $T$ have "
    r"probability at most $1/T$",
    severity="logarithm",
    reason="the proof uses the start probabilities of a block of about T/sqrt(B) rounds in place "
    "of the block's own; with the block's own, the union bound needs a factor ln T",
    effect="none by itself: the proofs of Lemmas 4.10 and 4.11 use the length of Remark B.2 with "
    "alpha = 2/3",
    shown="docs/proofs/streaks.md",
)

MENDED_LENGTH = Correction(
    place="Remark B.2 with alpha = 2/3, whose length stands in the fifth line of Appendix B.2.3 "
    "and in the display of B.2.4",
    printed=r"more than $T/B^{2/3}$ idle rounds in a row in a block have probability at most "
    r"$\exp(-C B^{2/3}/\sqrt T)$",
    mended=r"more than $T\ln T/\sqrt B$ idle rounds in a row in any block up to $T$ have "
    r"probability at most $1/T$",
    severity="gap",
    reason="the longest streak is of order T/sqrt(B) for every alpha, which is B^(1/6) times "
    "T/B^{2/3}, and no logarithm makes up for this factor",
    effect=r"with the true length both proofs have a term $V_T T\ln T/\sqrt B$, which is within "
    r"$\tilde{\mathcal O}(K^{1/3}V_T^{1/3}T/B^{1/3})$ for $V_T \le K^{1/2}B^{1/4}$ only, while "
    r"Theorem 4.1 allows $V_T \le \sqrt B/K$; the same step has another gap, the age of the data",
    shown="docs/proofs/streaks.md",
)


def needs(toy: bool) -> Needs:
    """Return drawn blocks to compare the chances with."""
    return blocks.needs(toy)


def judge(evidence: Evidence) -> list[Finding]:
    """Judge the length of Lemma 4.4 by certified chances (see `judging.streaks`)."""
    exponents = blocks.EXPONENTS
    mended = streaks.with_logarithm("idle")
    T, B = streaks.HORIZONS[-1], proofs.power_budget(streaks.HORIZONS[-1], 0.9)
    verdict = streaks.finding(
        streaks.check("idle", exponents),
        evidence,
        LEMMA,
        kind="idle",
        alpha=0.5,
        controls=streaks.controls("idle", exponents),
        correction=LONGER.now(mended.outcome),
        numbers={
            "least_factor_of_ln_T": streaks.log_factors("idle"),
            "largest_T_of_these": streaks.LOG_HORIZONS[-1],
            "median_over_T/sqrt(B)": streaks.median("idle", T, B, 0.5),
            "median_at": {"T": T, "B": B},
            "orders_down_to_C_of_one_half": {
                f"T={T:.0e}, B=T^{beta:g}": streaks.safe_orders(
                    "idle", T, proofs.power_budget(T, beta)
                )
                for T in streaks.HORIZONS
                for beta in exponents
            },
        },
        steps=(mended,),
    )
    return [dataclasses.replace(verdict, readings=_readings(verdict))]


def _readings(finding: Finding) -> tuple[Reading, ...]:
    """The lemma for blocks up to the order M that its proof calls characteristic."""
    sizes = [
        (T, proofs.power_budget(T, beta)) for T in streaks.HORIZONS for beta in blocks.EXPONENTS
    ]
    kept = [
        proofs.largest_order(T, B) - streaks.safe_orders("idle", T, B) >= proofs.proof_order(T, B)
        for T, B in sizes
    ]
    if finding.as_printed != FAILS or not all(kept):
        return ()
    measured = f"C >= 1/2 is certified at all {len(kept)} sizes, T up to {streaks.HORIZONS[-1]:.0e}"
    choice = "only blocks of order at most M = floor(log2(T/sqrt B)), which the proof models"
    return (Reading(choice, HOLDS, measured),)


def judge_two_thirds(evidence: Evidence) -> list[Finding]:
    """Judge the length of Remark B.2 with alpha = 2/3 in the same way."""
    exponents, alpha = blocks.EXPONENTS, 2 / 3
    verdict = streaks.finding(
        streaks.check("idle", exponents, alpha),
        evidence,
        TWO_THIRDS,
        kind="idle",
        alpha=alpha,
        # The lemma's argument needs x well above ln T, which B = T alone gives here.
        controls=streaks.controls("idle", exponents, alpha, sure=(1.0,)),
        correction=MENDED_LENGTH.now(streaks.with_logarithm("idle").outcome),
        numbers={
            "median_over_T/B^(2/3)": [
                {"T": T, "B": B, "low": low, "high": high, "B^(1/6)": B ** (1 / 6)}
                for T in streaks.HORIZONS
                for B in (proofs.power_budget(T, 0.9),)
                for low, high in (streaks.median("idle", T, B, alpha),)
            ],
            "largest_V": largest_variations(4, 10**7, 10**6),
        },
        steps=(_excess(alpha),),
    )
    return [verdict]


def largest_variations(K: int, T: int, B: int) -> dict[str, float]:
    """Return the largest V for which the drift term is within the rate, printed and corrected.

    V L <= K^{1/3} V^{1/3} T / B^{1/3}, L the length of an idle streak, holds up to
    V = K^{1/2} (T/L)^{3/2} / B^{1/2}: K^{1/2} B^{1/2} for L = T/B^{2/3}, and
    K^{1/2} B^{1/4} / (ln T)^{3/2} for L = T ln(T)/sqrt(B). The theorem asks for V <= sqrt(B)/K.
    """
    root = math.sqrt(K)
    return {
        "K": K,
        "T": T,
        "B": B,
        "theorem": math.sqrt(B) / K,
        "printed": root * math.sqrt(B),
        "mended": root * B**0.25 / math.log(T) ** 1.5,
        "mended_without_logarithm": root * B**0.25,
    }


def _excess(alpha: float) -> Step:
    """The median of the longest streak over T B^-alpha, from the smallest to the largest T."""
    first, last = streaks.HORIZONS[0], streaks.HORIZONS[-1]
    B, most = proofs.power_budget(first, 0.9), proofs.power_budget(last, 0.9)
    (low, high), (least, largest) = (
        streaks.median("idle", first, B, alpha),
        streaks.median("idle", last, most, alpha),
    )
    exponent = math.log(least / high) / math.log(most / B)
    return Step(
        "the median longest streak over T/B^(2/3), B = T^0.9, is bounded",
        FAILS if exponent > 0 else UNDECIDED,
        least,
        f"in [{low:.3g}, {high:.3g}] at T = {first:.0e} and in [{least:.3g}, {largest:.3g}] at "
        f"T = {last:.0e}: at least like B^{exponent:.2f}; the number is its least at the end",
    )


LEMMA = Claim(
    id="idle-runs",
    statement="a block of BaQue has more than T/sqrt(B) consecutive idle rounds with probability "
    "at most exp(-C B^(3/4)/sqrt(T)), for a universal C > 0",
    place="Lemma 4.4 and its proof",
    judge=judge,
    needs=needs,
    speaks_of=("baque", "hyque"),
    order=8,
    group="HyQue's queries",
    statements=("Lemma 4.4",),
)
TWO_THIRDS = Claim(
    id="idle-runs/two-thirds",
    statement="a block of BaQue has more than T/B^(2/3) consecutive idle rounds with probability "
    "at most exp(-C B^(2/3)/sqrt(T)), for a universal C > 0",
    place="Remark B.2 with alpha = 2/3; used in Appendix B.2.3 and B.2.4",
    judge=judge_two_thirds,
    needs=needs,
    speaks_of=("baque", "hyque"),
    order=9,
    group="HyQue's queries",
    statements=("Remark B.2",),
)
CLAIMS = (LEMMA, TWO_THIRDS)
