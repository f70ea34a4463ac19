"""The paper's statements, which proof uses which, and what the claims leave of each.

Names and places are the paper's own. A statement without a number has a name in small letters. An
arrow means that the paper says, in words or by a reference, that a proof uses a statement. Remarks
that repeat another statement (4.2, 5.2, B.1, D.1) are left out. No claim judges Lemma B.4: the part
of it that is measured, that no test fires while nothing changes, belongs to the change tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from confee.claims import CLAIMS
from confee.claims.base import OTHERS
from confee.claims.judging.finding import BREAKING
from confee.rendering.verdicts import CLOSED, standing

if TYPE_CHECKING:
    import pandas as pd


class Statement(NamedTuple):
    """What a statement says in two or three words, and where it stands."""

    title: str
    place: str


class Arrow(NamedTuple):
    """`premise` is used in the proof of `conclusion`, as `place` says."""

    premise: str
    conclusion: str
    place: str


STATEMENTS = {
    "Theorem 4.1": Statement("HyQue: rate and budget", "Section 4"),
    "Remark 4.3": Statement("the case $B = T$", "Section 4"),
    "Lemma 4.4": Statement("idle streaks", "Section 4.1.1, Appendix B.1.1"),
    "Remark 4.5": Statement("query streaks", "Section 4.1.1"),
    "Lemma 4.6": Statement("density of queries", "Section 4.1.1, Appendix B.1.2"),
    "Lemma 4.7": Statement("at most $B$ queries", "Section 4.1.1, Appendix B.1.3"),
    "Lemma 4.8": Statement("three parts of regret", "Section 4.1.2, Appendix B.2.1"),
    "Lemma 4.9": Statement("query regret", "Section 4.1.3, Appendix B.2.2"),
    "Lemma 4.10": Statement("error regret", "Section 4.1.3, Appendix B.2.3"),
    "Lemma 4.11": Statement("drift regret", "Section 4.1.3, Appendix B.2.4"),
    "on demand": Statement("at most $B/2$, for free", "Section 4.1.3, Appendix B.2.5"),
    "change tests": Statement("restart on a change", "Section 3.2.2"),
    "Remark B.2": Statement(r"streaks, any $\alpha$", "Appendix B.1.1"),
    "Lemma B.3": Statement("UCB1, nearly still", "Appendix B.2.2"),
    "Lemma B.4": Statement("one block", "Appendix B.2.2"),
    "Table 1": Statement("rates, row by row", "Section 1"),
    "Theorem 5.1": Statement("lower bound", "Section 5"),
    "naive plans": Statement("cost much more", "Section 5, after Theorem 5.1"),
    "steps 1 to 3": Statement("proof of 5.1", "Appendix E"),
    "Lemma E.1": Statement("counting arms", "Appendix E, step 2"),
    "Theorem C.1": Statement("Rexp3B", "Appendix C.1"),
    "step 3 of C.2": Statement("explicit bound", "Appendix C.2, step 3"),
    "Assumption D.2": Statement("what ALG gives", "Appendix D.3"),
    "implication": Statement("with any such ALG", "Appendix D.3, after Assumption D.2"),
}

ARROWS = (
    Arrow("Lemma B.3", "Lemma B.4", "Appendix B.2.2: blocks keep what UCB1 has"),
    Arrow("Lemma B.4", "Lemma 4.9", "Appendix B.2.2, after Lemma B.4"),
    Arrow("change tests", "Lemma 4.9", "Section 4.1.3, after Lemma 4.9; Appendix B.2.2"),
    Arrow("Lemma 4.4", "Remark 4.5", "Remark 4.5: the same analysis"),
    Arrow("Lemma 4.4", "Remark B.2", "Remark B.2: more generally"),
    Arrow("Lemma 4.4", "Lemma 4.10", "Appendix B.2.3, first sentence"),
    Arrow("Remark 4.5", "Lemma 4.7", "Appendix B.1.3: the buffer"),
    Arrow("Lemma 4.6", "Lemma 4.7", "Appendix B.1.3: the ratio in each phase"),
    Arrow("Remark B.2", "Lemma 4.10", "Appendix B.2.3, fifth line"),
    Arrow("Remark B.2", "Lemma 4.11", "Appendix B.2.4, (i): T / B^(2/3) is alpha = 2/3"),
    Arrow("Lemma 4.9", "Lemma 4.10", "Appendix B.2.3, fourth line"),
    Arrow("Lemma 4.7", "Theorem 4.1", "Section 4.1.1: feasibility"),
    Arrow("Lemma 4.8", "Theorem 4.1", "Section 4.1.2"),
    Arrow("Lemma 4.9", "Theorem 4.1", "Section 4.1.3, end; Figure 2"),
    Arrow("Lemma 4.10", "Theorem 4.1", "Section 4.1.3, end; Figure 2"),
    Arrow("Lemma 4.11", "Theorem 4.1", "Section 4.1.3, end; Figure 2"),
    Arrow("on demand", "Theorem 4.1", "Section 4.1.3, end; Appendix B.2.5"),
    Arrow("Theorem 4.1", "Remark 4.3", "Section 4, after Theorem 4.1"),
    Arrow("Theorem 4.1", "Table 1", "Table 1, last row, upper bound"),
    Arrow("Theorem 5.1", "Table 1", "Table 1, last row, lower bound"),
    Arrow("Theorem 4.1", "implication", "Appendix D.3: the entire analysis"),
    Arrow("Assumption D.2", "implication", "Appendix D.3"),
    Arrow("Lemma E.1", "steps 1 to 3", "Appendix E, step 2"),
    Arrow("steps 1 to 3", "Theorem 5.1", "Appendix E"),
    Arrow("Theorem 5.1", "naive plans", "Section 5, after Theorem 5.1"),
    Arrow("Lemma 4.8", "step 3 of C.2", "Appendix C.2, first sentence"),
    Arrow("step 3 of C.2", "Theorem C.1", "Appendix C.2, end"),
)

GROUPS = (
    "HyQue's rate",
    "HyQue's queries",
    "Parts of HyQue's regret",
    "Change tests",
    "Lower bound",
    "Rexp3B",
    "Other base algorithms",
    "Policies that do not know V",
)
"""The headings under which claims are listed, in this order; each claim names its own."""


def judges_of(name: str) -> list[str]:
    """Return the ids of the claims that judge a statement as printed."""
    return [id for id, claim in CLAIMS.items() if name in claim.statements]


def claims_on(name: str) -> list[str]:
    """Return the ids of all claims on a statement, those that judge something nearby included."""
    return [id for id, c in CLAIMS.items() if name in (*c.statements, *c.nearby)]


def premises(name: str) -> set[str]:
    """Return all statements that a statement rests on, directly or through others."""
    direct = {arrow.premise for arrow in ARROWS if arrow.conclusion == name}
    return direct.union(*map(premises, direct))


class Standing(NamedTuple):
    """What is left of a statement: a key of verdicts.ALL, and whether the statements that rest on
    it lose their support."""

    word: str
    breaks: bool


def standings(claims: pd.DataFrame) -> dict[str, Standing]:
    """Return what the findings leave of each statement; this project's own questions do not count.

    `claims` has columns id, as_printed, severity, breaks, ours.
    """
    claims = claims[~claims["ours"].astype(bool)]
    result = {}
    for name in STATEMENTS:
        rows = claims[claims["id"].isin(judges_of(name))]
        word = standing(rows["severity"], rows["as_printed"])
        breaks = bool(rows["breaks"].any())
        result[name] = Standing(CLOSED if word in BREAKING and not breaks else word, breaks)
    return result


def group(id: str) -> str:
    """Return the group of a finding. Its id may hold a policy's options: `policy-rate/x(y=2)`."""
    claim = CLAIMS.get(id.partition("(")[0])
    return claim.group if claim else OTHERS
