"""A block of BaQue has no idle run over T/sqrt(B) rounds but by chance exp(-C B^{3/4}/sqrt(T))."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confee.claims.judging import runs
from confee.claims.judging.finding import Finding

if TYPE_CHECKING:
    from confee.evidence import Evidence
    from confee.simulation.needs import Needs

ID = "idle-runs"
IDS = (ID,)
ABOUT = ("baque", "hyque")


def needs(id: str, toy: bool) -> Needs:
    """Drawn blocks of every order at several (T, B)."""
    return runs.needs(toy)


def judge(evidence: Evidence) -> list[Finding]:
    """By the trend in T of the constant that the drawn blocks imply (see `runs`)."""
    statement = (
        "with a universal C > 0, a block of BaQue has more than T/sqrt(B) idle rounds "
        "in a row with probability at most exp(-C B^(3/4)/sqrt(T))"
    )
    place = "Lemma on consecutive non-query rounds, and its proof"
    return runs.judge(ID, "idle", evidence, statement, place, runs.EXPONENTS)
