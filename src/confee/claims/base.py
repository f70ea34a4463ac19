"""What a claim module declares: one `Claim`, or several that share their code."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from confee.claims.judging.finding import Finding
from confee.simulation.needs import Needs

if TYPE_CHECKING:
    from confee.evidence import Evidence

OTHERS = "Others"
"""The group of claims that name none."""


def nothing(toy: bool) -> Needs:
    """Return the needs of a claim that plays nothing of its own."""
    return Needs()


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, and what would settle it.

    Parameters
    ----------
    id
        Its name in `claims=[...]` and in claims.json.
    statement, place
        The claim in our words, and where the paper makes it.
    judge
        Function that returns the findings, built by `finding`, for an experiment's evidence. The
        list is empty if the experiment plays nothing that the claim is about.
    prediction
        What the claim predicts; empty if that depends on the evidence.
    needs
        Returns the cells and studies that settle the claim, small ones for a toy experiment.
    speaks_of
        Policies that the claim is about. An experiment that plays none of them judges the claim
        only if it names it. Without any, the claim belongs to every experiment.
    primary
        Whether the outcome rests on an interval, and is corrected by Holm's method.
    ours
        Whether the question is this project's own and the paper promises nothing.
    order
        Rank in lists of claims. Claims without a rank come last, by id.
    group
        The heading under which the scoreboard lists it.
    statements
        Statements of the paper (keys of rendering.statements.STATEMENTS) that it judges as printed.
    nearby
        Statements whose wording it does not judge: it judges something close to them, such as a
        rate without the logarithms that O~ hides.
    """

    id: str
    statement: str
    place: str
    judge: Callable[[Evidence], list[Finding]]
    prediction: str = ""
    needs: Callable[[bool], Needs] = nothing
    speaks_of: tuple[str, ...] = ()
    primary: bool = False
    ours: bool = False
    order: float = math.inf
    group: str = OTHERS
    statements: tuple[str, ...] = ()
    nearby: tuple[str, ...] = ()

    def finding(self, **values: Any) -> Finding:
        """Return a finding about this claim.

        Parameters
        ----------
        **values
            Fields of `Finding`. `id`, `statement`, `place`, `prediction` and `ours` are those of
            the claim unless they are given.
        """
        shared = ("id", "statement", "place", "prediction", "ours")
        return Finding(**({name: getattr(self, name) for name in shared} | values))
