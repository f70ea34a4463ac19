"""BaQue's query streaks, where B is small against T."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confee.claims.base import Claim
from confee.claims.judging import blocks, streaks
from confee.claims.judging.finding import Correction, Finding

if TYPE_CHECKING:
    from confee.evidence import Evidence
    from confee.simulation.needs import Needs

EXPONENTS = tuple(beta for beta in blocks.EXPONENTS if beta < 1)
"""The remark is stated for B = o(T)."""

LONGER = Correction(
    place="Remark 4.5",
    printed=r"with $B = o(T)$, more than $T/\sqrt B$ queries in a row have probability at most "
    r"$\exp(-C B^{3/4}/\sqrt T)$",
    mended=r"more than $T\ln T/\sqrt B$ queries in a row in any block up to $T$ have probability "
    r"at most $1/T$",
    severity="logarithm",
    reason="as in Lemma 4.4: with the block's own start probabilities the union bound needs a "
    "factor ln T",
    effect="none: the budget up to the first restart is proved without it (docs/proofs/budget.md)",
    shown="docs/proofs/streaks.md",
)


def needs(toy: bool) -> Needs:
    """Return drawn blocks to compare the chances with."""
    return blocks.needs(toy)


def judge(evidence: Evidence) -> list[Finding]:
    """Judge T/sqrt(B) by certified chances (see `judging.streaks`)."""
    mended = streaks.with_logarithm("query")
    remark = streaks.check("query", EXPONENTS, 2 / 3)
    return [
        streaks.finding(
            streaks.check("query", EXPONENTS),
            evidence,
            CLAIM,
            kind="query",
            alpha=0.5,
            controls=streaks.controls("query", EXPONENTS),
            correction=LONGER.now(mended.outcome),
            numbers={"least_factor_of_ln_T": streaks.log_factors("query")},
            steps=(mended, *(trend.step("alpha = 2/3") for trend in remark.trends)),
        )
    ]


CLAIM = Claim(
    id="query-runs",
    statement="for B = o(T), a block of BaQue has more than T/sqrt(B) consecutive query rounds "
    "with "
    "probability at most exp(-C B^(3/4)/sqrt(T)), for a universal C > 0",
    place="Remark 4.5",
    judge=judge,
    needs=needs,
    speaks_of=("baque", "hyque"),
    order=10,
    group="HyQue's queries",
    statements=("Remark 4.5",),
)
