"""The same as `idle-runs` for query rounds, where B is small against T."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confee.claims.judging import runs
from confee.claims.judging.finding import Finding

if TYPE_CHECKING:
    from confee.evidence import Evidence
    from confee.simulation.needs import Needs

ID = "query-runs"
IDS = (ID,)
ABOUT = ("baque", "hyque")

EXPONENTS = tuple(beta for beta in runs.EXPONENTS if beta < 1)
"""The remark is stated for B = o(T)."""


def needs(id: str, toy: bool) -> Needs:
    """Drawn blocks of every order at several (T, B)."""
    return runs.needs(toy)


def judge(evidence: Evidence) -> list[Finding]:
    """By the trend in T of the constant that the drawn blocks imply (see `runs`)."""
    statement = (
        "with a universal C > 0 and B = o(T), a block of BaQue has more than "
        "T/sqrt(B) query rounds in a row with probability at most exp(-C B^(3/4)/sqrt(T))"
    )
    place = "Remark after the lemma on consecutive non-query rounds"
    return runs.judge(ID, "query", evidence, statement, place, EXPONENTS)
