"""The paper's statements, who implies whom, and which claims speak of each.

Names and places are the paper's own; where it gives no number, a name in small letters. An arrow is
there where the paper says, in words or by a reference, that a proof uses a statement. Remarks that
only say again what another statement says (4.2, 5.2, B.1, D.1) are left out. Lemma B.4 has no
claim: what is measured of it, that nothing fires while nothing changes, is about the change tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from confee.claims.judging.finding import BREAKING
from confee.rendering.verdicts import CLOSED, standing

if TYPE_CHECKING:
    import pandas as pd


class Statement(NamedTuple):
    """What it says in two or three words, where it stands, the claims that speak of it."""

    title: str
    place: str
    claims: tuple[str, ...]
    judged_by: tuple[str, ...] = ()
    """Those of `claims` that judge it as printed; all if empty. The others judge something nearby,
    such as a rate without the logarithms that O~ hides."""


class Arrow(NamedTuple):
    """`premise` is used in the proof of `conclusion`, as `place` says."""

    premise: str
    conclusion: str
    place: str


STATEMENTS = {
    "Theorem 4.1": Statement(
        "HyQue: rate and budget",
        "Section 4",
        (
            "hyque-rate/printed",
            "hyque-rate/theory",
            "hyque-rate/calibrated",
            "hyque-rate/tuned",
            "hyque-floor",
            "hyque-budget",
        ),
        ("hyque-rate/printed", "hyque-budget"),
    ),
    "Remark 4.3": Statement(
        "the case $B = T$",
        "Section 4",
        ("full-feedback", "hyque-rate/printed"),
        ("hyque-rate/printed",),
    ),
    "Lemma 4.4": Statement("runs of idle rounds", "Section 4.1.1, Appendix B.1.1", ("idle-runs",)),
    "Remark 4.5": Statement("runs of queries", "Section 4.1.1", ("query-runs",)),
    "Lemma 4.6": Statement("density of queries", "Section 4.1.1, Appendix B.1.2", ("density",)),
    "Lemma 4.7": Statement(
        "at most $B$ queries",
        "Section 4.1.1, Appendix B.1.3",
        ("hyque-budget", "hyque-budget/restarts"),
    ),
    "Lemma 4.8": Statement(
        "three parts of regret", "Section 4.1.2, Appendix B.2.1", ("decomposition",)
    ),
    "Lemma 4.9": Statement("query regret", "Section 4.1.3, Appendix B.2.2", ("query-regret",)),
    "Lemma 4.10": Statement("error regret", "Section 4.1.3, Appendix B.2.3", ("error-regret",)),
    "Lemma 4.11": Statement("drift regret", "Section 4.1.3, Appendix B.2.4", ("drift-regret",)),
    "on demand": Statement(
        "at most $B/2$, for free", "Section 4.1.3, Appendix B.2.5", ("on-demand-free",)
    ),
    "change tests": Statement(
        "restart on a change",
        "Section 3.2.2",
        ("detection/horizon", "detection/false-alarms", "detection/power"),
    ),
    "Remark B.2": Statement(r"runs, any $\alpha$", "Appendix B.1.1", ("idle-runs/two-thirds",)),
    "Lemma B.3": Statement("UCB1, nearly still", "Appendix B.2.2", ("ucb-near-stationary",)),
    "Lemma B.4": Statement("one block", "Appendix B.2.2", ()),
    "Table 1": Statement("rates, row by row", "Section 1", ("table-rows",)),
    "Theorem 5.1": Statement("lower bound", "Section 5", ("lower-bound/measured",)),
    "naive plans": Statement(
        "cost much more", "Section 5, after Theorem 5.1", ("naive-allocation",)
    ),
    "steps 1 to 3": Statement("proof of 5.1", "Appendix E", ("lower-bound/algebra",)),
    "Lemma E.1": Statement("counting arms", "Appendix E, step 2", ("counting-lemma",)),
    "Theorem C.1": Statement("Rexp3B", "Appendix C.1", ("rexp3b-rate", "rexp3b-budget")),
    "step 3 of C.2": Statement("explicit bound", "Appendix C.2, step 3", ("rexp3b-finite",)),
    "Assumption D.2": Statement(
        "what ALG gives",
        "Appendix D.3",
        (
            "alg-assumption/oful",
            "alg-assumption/glm_ucb",
            "alg-assumption/falcon",
            "alg-assumption/q_ucb",
        ),
    ),
    "implication": Statement(
        "with any such ALG",
        "Appendix D.3, after Assumption D.2",
        ("extension/linear", "extension/logistic", "extension/contextual", "extension/episodic"),
    ),
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

GROUPS = {
    "HyQue's rate": ("hyque-rate", "hyque-floor", "full-feedback", "table-rows"),
    "HyQue's queries": ("hyque-budget", "idle-runs", "query-runs", "density", "on-demand-free"),
    "Parts of HyQue's regret": (
        "decomposition",
        "query-regret",
        "error-regret",
        "drift-regret",
        "ucb-near-stationary",
    ),
    "Change tests": ("detection",),
    "Lower bound": ("lower-bound", "counting-lemma", "naive-allocation"),
    "Rexp3B": ("rexp3b-rate", "rexp3b-budget", "rexp3b-finite"),
    "Other base algorithms": ("extension", "alg-assumption"),
}
"""Claims that belong together, by their ids or first words; in each group as in the ledger."""


def premises(name: str) -> set[str]:
    """All statements that one rests on, near and far."""
    near = {arrow.premise for arrow in ARROWS if arrow.conclusion == name}
    return near.union(*(premises(one) for one in near))


class Standing(NamedTuple):
    """What is left of a statement: a key of verdicts.ALL, and whether what rests on it loses its
    support."""

    word: str
    breaks: bool


def standings(claims: pd.DataFrame) -> dict[str, Standing]:
    """What the claims about each statement leave of it; our own questions say nothing about it.

    `claims`: id, as_printed, severity, breaks, ours.
    """
    claims = claims[~claims["ours"].astype(bool)]
    found = {}
    for name, statement in STATEMENTS.items():
        rows = claims[claims["id"].isin(statement.judged_by or statement.claims)]
        word = standing(rows["severity"], rows["as_printed"])
        breaks = bool(rows["breaks"].any())
        found[name] = Standing(CLOSED if word in BREAKING and not breaks else word, breaks)
    return found


def group(id: str) -> str:
    """The group of a claim, the last one for a claim of one's own."""
    first = id.partition("/")[0]
    return next((name for name, ids in GROUPS.items() if first in ids), "Others")
