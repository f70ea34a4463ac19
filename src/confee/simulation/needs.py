"""What a claim needs: sweeps on the experiment's grid, cells of its own, and studies."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from confee.core.canonical import canonical, digest
from confee.core.size import Size
from confee.core.sources import code_hash

AXES = ("T", "B", "V", "K")

RANKED = ("shootout", "shootout_still", "shootout_plans", "shootout_plans_still")
"""The maps on which policies are ranked: worlds that change, worlds with V = 0, and policies under
other query schedules in both."""

Conf = Mapping[str, Any]
"""A policy or an adversary as conf says it: {"name": id, **options}."""


@dataclass(frozen=True)
class Sweep:
    """A policy on axes of the experiment's grid and on its rays, against the experiment's family.

    If the experiment lists the policy itself, the experiment's entry is used instead.

    Parameters
    ----------
    rays
        The variables of the rays on which it is wanted.
    beside
        A label. If the experiment lists that policy, its axes and rays are used instead.
    estimate
        Fresh seeds of the first turn; None for as many as the experiment says.
    """

    policy: Conf
    axes: tuple[str, ...] = ()
    _: KW_ONLY
    rays: tuple[str, ...] = ()
    beside: str = ""
    largest_B: float = math.inf
    largest_K: float = math.inf
    estimate: int | None = None


@dataclass(frozen=True)
class Ask:
    """A cell of a claim's own, against adversaries of its own, on the seeds 0 .. seeds - 1.

    Its runs are rows of `asked.parquet`, with `tag` in the column `ask`. `against` is like the
    family of an experiment, see `confee.simulation.cells.family`; `proxy` as in `Accounting`.
    """

    tag: str
    policy: Conf
    size: Size
    against: Mapping[str, Conf]
    seeds: int
    proxy: str = "means"


@dataclass(frozen=True)
class Draws:
    """The rows of the study `name` at some parameters.

    They become `studies/<name>.parquet`, together with those at other parameters. `seconds` is
    about what they take; jobs are cut by it.
    """

    name: str
    parameters: Mapping[str, Any]
    seconds: float = 1.0

    @property
    def module(self) -> str:
        return f"confee.simulation.studies.{self.name}"

    @cached_property
    def key(self) -> dict[str, Any]:
        """All that the rows depend on, canonical."""
        code = code_hash([self.module, "confee.simulation.files"], ["confee.workflow.jobs"])
        return canonical({"study": self.name, "parameters": self.parameters, "code": code})

    @property
    def file(self) -> Path:
        """The file of the rows, relative to the results folder."""
        return Path("studies") / self.name / f"{digest(self.key)}.parquet"


@dataclass(frozen=True)
class Needs:
    """All that a claim asks for."""

    sweeps: tuple[Sweep, ...] = ()
    asks: tuple[Ask, ...] = ()
    studies: tuple[Draws, ...] = ()


def octave(phase: int, phases: int) -> float:
    """Return the factor of a phase: 2^(-1/2) < ... < 2^(1/2), even on the log scale."""
    return 2 ** ((phase + 0.5) / phases - 0.5)


def union(needs: Iterable[Needs]) -> Needs:
    """Return all needs together, in order; the plan removes duplicates."""
    needs = list(needs)
    return Needs(
        tuple(sweep for n in needs for sweep in n.sweeps),
        tuple(ask for n in needs for ask in n.asks),
        tuple(draws for n in needs for draws in n.studies),
    )
