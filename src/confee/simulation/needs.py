"""What a claim needs to be judged: sweeps of the experiment's grid, cells of its own, studies."""

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
"""The maps on which policies are ranked: of worlds that change, of worlds that don't (V = 0), and
of policies under other query plans in both."""

Conf = Mapping[str, Any]
"""A policy or an adversary as conf says it: {"name": id, **options}."""


@dataclass(frozen=True)
class Sweep:
    """A policy on axes of the experiment's grid and on its rays, against the experiment's family.

    `rays`: the variables of the rays it is wanted on. `beside`: a label; where the experiment lists
    that policy, its axes and rays are meant instead. `estimate`: fresh seeds to begin with (None:
    the experiment's). Where the experiment lists the policy itself, what it says of it goes.
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
    """A cell of a claim's own, against adversaries of its own, seeds 0 .. seeds - 1.

    Its runs are rows of `asked.parquet`, with `tag` in the column `ask`. `against` is like an
    experiment's family: label -> conf, whose values may be lists, with `strength` in units of the
    critical gap. `proxy` as in Accounting.
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
        """All that its rows depend on."""
        code = code_hash([self.module, "confee.simulation.files"], ["confee.workflow.jobs"])
        return canonical({"study": self.name, "parameters": self.parameters, "code": code})

    @property
    def file(self) -> Path:
        """Relative to the results folder."""
        return Path("studies") / self.name / f"{digest(self.key)}.parquet"


@dataclass(frozen=True)
class Needs:
    sweeps: tuple[Sweep, ...] = ()
    asks: tuple[Ask, ...] = ()
    studies: tuple[Draws, ...] = ()


def octave(phase: int, phases: int) -> float:
    """Factors 2^(-1/2) < ... < 2^(1/2), spread evenly over one octave."""
    return 2 ** ((phase + 0.5) / phases - 0.5)


def union(needs: Iterable[Needs]) -> Needs:
    """All of them together, in order; duplicates are for the plan to find."""
    needs = list(needs)
    return Needs(
        tuple(s for n in needs for s in n.sweeps),
        tuple(a for n in needs for a in n.asks),
        tuple(s for n in needs for s in n.studies),
    )
