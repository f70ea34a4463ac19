"""Steps of proofs, their mutants, and how both are judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

Certified = Literal["symbolic", "interval", "exhaustive", "cited"]
FIVE_PERCENT = Fraction(1, 20)


@dataclass(frozen=True)
class Mutant:
    """A step with something changed, which its check must reject.

    Attributes
    ----------
    name : str
        What is changed.
    changes : mapping
        Arguments of the step's claim that differ from the true ones.
    survives : str
        Why the changed statement is true or equivalent, if the check is known to accept it.
    """

    name: str
    changes: Mapping[str, Any]
    survives: str = ""


@dataclass(frozen=True)
class Step:
    """One step of a proof.

    Attributes
    ----------
    name : str
        The statement in one line.
    domain : str
        Where the statement is claimed and, for an enumeration, up to which size it is checked.
    certified : str
        "symbolic", "interval", "exhaustive", or "cited" for a theorem of the literature.
    claim : callable or None
        Builds the statement and returns whether it is certified. Its default arguments are the
        true constants and roles. None for a cited step.
    mutants : tuple of Mutant
    place : str
        The corresponding place in the paper.
    source : str
        The reference of a cited step.
    """

    name: str
    domain: str
    certified: Certified
    claim: Callable[..., bool] | None = None
    mutants: tuple[Mutant, ...] = ()
    place: str = ""
    source: str = ""

    def check(self) -> bool:
        """Return whether the step is certified.

        Raises
        ------
        ValueError
            If the step is cited: no machine checks it.
        """
        return self.with_changes({})

    def with_changes(self, changes: Mapping[str, Any]) -> bool:
        """Return whether the step with changed arguments is certified."""
        if self.claim is None:
            raise ValueError(f"{self.name}: cited, not checked ({self.source})")
        return self.claim(**changes)


@dataclass(frozen=True)
class Proof:
    """A proof of docs/proofs.

    Attributes
    ----------
    name : str
        Key in `PROOFS`.
    title : str
    page : str
        File name in docs/proofs.
    steps : tuple of Step
        In the order of the page.
    """

    name: str
    title: str
    page: str
    steps: tuple[Step, ...]

    @property
    def checked(self) -> tuple[Step, ...]:
        """The steps that a machine checks."""
        return tuple(step for step in self.steps if step.certified != "cited")

    @property
    def cited(self) -> tuple[Step, ...]:
        """The steps that rest on a theorem of the literature."""
        return tuple(step for step in self.steps if step.certified == "cited")


@dataclass(frozen=True)
class Score:
    """How many mutants of a proof the checks reject.

    Attributes
    ----------
    killed, total : int
    survivors : tuple of (str, str)
        (step, mutant) of each mutant that a check accepts.
    """

    killed: int
    total: int
    survivors: tuple[tuple[str, str], ...] = field(default=())


def judge(proof: Proof) -> list[tuple[str, bool]]:
    """Return (step name, whether it is certified) for each step that a machine checks."""
    return [(step.name, step.check()) for step in proof.checked]


def mutants(proof: Proof) -> Score:
    """Return how many mutants of the proof's checked steps are rejected."""
    survivors = tuple(
        (step.name, mutant.name)
        for step in proof.checked
        for mutant in step.mutants
        if step.with_changes(mutant.changes)
    )
    total = sum(len(step.mutants) for step in proof.checked)
    return Score(total - len(survivors), total, survivors)


def declared_survivors(proof: Proof) -> dict[tuple[str, str], str]:
    """Return (step, mutant) -> reason for the mutants that are known to be true or equivalent."""
    return {
        (step.name, mutant.name): mutant.survives
        for step in proof.checked
        for mutant in step.mutants
        if mutant.survives
    }


def off(argument: str, value: Fraction | int, direction: str, survives: str = "") -> list[Mutant]:
    """Return mutants whose constant is off by 5 %.

    Parameters
    ----------
    argument : str
        The claim's argument that holds the constant.
    value : Fraction or int
        Its true value.
    direction : {"less", "more", "both"}
        Which change makes the statement stronger; "both" for an identity.
    survives : str
        Why the mutants are true, if they are.
    """
    factors = {"less": [1 - FIVE_PERCENT], "more": [1 + FIVE_PERCENT]}
    factors["both"] = factors["less"] + factors["more"]
    return [
        Mutant(f"{argument} = {value} times {float(f):g}", {argument: value * f}, survives)
        for f in factors[direction]
    ]


def changed(survives: str = "", **changes: Any) -> Mutant:
    """Return a mutant named after the arguments that it changes."""
    name = ", ".join(f"{key}: {value}" for key, value in changes.items())
    return Mutant(name, changes, survives)
