"""The proofs of docs/proofs, step by step, checked by machine.

`PROOFS` maps a name to a `Proof`. `judge` returns which of its steps are certified. `mutants`
returns how many changed steps the checks reject; a mutant has a constant off by 5 %, swapped roles
or quantifiers, or a dropped term. `python -m confee.paper.checked` prints both.

A step is certified by an exact identity or a polynomial argument ("symbolic"), by interval
arithmetic ("interval") or by enumeration of all cases up to a stated size ("exhaustive"). Theorems
of the literature are "cited" and are not counted as checked.

Examples
--------
>>> all(ok for _, ok in judge(PROOFS["conversions"]))
True
"""

from __future__ import annotations

from confee.paper.checked import budget, conversions, density, looks, lower_bound, pacing, rexp3b
from confee.paper.checked.steps import (
    Mutant,
    Proof,
    Score,
    Step,
    declared_survivors,
    judge,
    mutants,
)

__all__ = [
    "PROOFS",
    "Mutant",
    "Proof",
    "Score",
    "Step",
    "declared_survivors",
    "judge",
    "mutants",
    "published",
]

PROOFS: dict[str, Proof] = {
    module.PROOF.name: module.PROOF
    for module in (lower_bound, rexp3b, budget, conversions, density, pacing, looks)
}
"""The proofs by name, in the order of docs/proofs/README.md."""


def published(proof: Proof, score: Score | None = None) -> str:
    """Return the line that the page of a proof publishes, in Markdown.

    Parameters
    ----------
    proof : Proof
    score : Score, optional
        Computed if it is not given.
    """
    score = mutants(proof) if score is None else score
    kinds = [step.certified for step in proof.checked]
    counts = ", ".join(
        f"{kinds.count(kind)} {kind}"
        for kind in ("symbolic", "interval", "exhaustive")
        if kind in kinds
    )
    share = f"{score.killed} of {score.total} mutants rejected"
    cited = f"; {len(proof.cited)} cited" if proof.cited else ""
    return f"Steps checked by machine: {len(kinds)} ({counts}){cited}. {share}."
