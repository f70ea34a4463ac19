"""The stages of a workflow: what each rests on, and its key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from confee import claims
from confee.core.canonical import digest
from confee.core.sources import PACKAGE, is_own, versions
from confee.rendering import FIGURES, PAGE, TABLES, exhibit, module_name
from confee.workflow.stages import code_of, file_hash, fits

PICTURES = ["confee.rendering.figures", "confee.rendering.tables"]

LIBRARIES = (
    "pandas",
    "pyarrow",
    "scipy",
    "statsmodels",
    "sympy",
    "matplotlib",
    "seaborn",
    "jinja2",
    "latex2mathml",
)
"""Libraries that stages use, beside those of the simulation."""


@dataclass(frozen=True)
class Stages:
    """The stages of an experiment.

    Parameters
    ----------
    experiment : name of its folder in results/
    about : what the runs are made from
    claims : ids of the claims that are judged
    pictures : names of the figures and tables that are shown
    """

    experiment: str
    about: Mapping[str, Any]
    claims: Sequence[str]
    pictures: Sequence[str]

    @cached_property
    def wanted(self) -> list[str]:
        """The stages that a whole workflow makes."""
        album = ["album"] if self.pictures else []
        return ["regret", "slopes", "claims", "report", *self.pictures, *album]

    @cached_property
    def rests_on(self) -> dict[str, list[str]]:
        """Stage -> the stages whose files it reads; a stage comes after those it rests on."""
        drawn = {
            name: [source(name)] if exhibit(name).shows_results else []
            for name in (*FIGURES, *TABLES)
        }
        return {
            "regret": [],
            "slopes": ["regret"],
            "claims": ["slopes"],
            **drawn,
            "album": [*self.pictures],
            "report": ["claims", *self.pictures],
        }

    def above(self, stage: str) -> dict[str, str]:
        """The keys of the stages that rest on `stage`, directly or not."""
        resting = {stage}
        for name, below in self.rests_on.items():
            if not resting.isdisjoint(below):
                resting.add(name)
        return {name: self.keys[name] for name in self.rests_on if name in resting - {stage}}

    @cached_property
    def sources(self) -> dict[str, dict[str, Any]]:
        """Stage -> the code that makes its files: all of confee but what stands above the stage,
        and for a picture without the modules of the others."""
        judges = sorted(name for name in set(claims.MODULES.values()) if is_own(name))
        measuring = code_of(["confee.claims", "confee.paper.checked", "confee.rendering"])
        everything = code_of()
        return {
            "regret": measuring,
            "slopes": measuring,
            "claims": code_of(["confee.rendering"], judges),
            "album": everything,
            "report": everything,
        } | {
            name: code_of(PICTURES, [module_name(name), "confee.rendering.tables.write"])
            for name in (*FIGURES, *TABLES)
        }

    @cached_property
    def keys(self) -> dict[str, str]:
        """Stage -> a hash of all that its files depend on."""
        libraries = versions(LIBRARIES)
        own: dict[str, Any] = {
            "regret": self.about,
            "claims": self.claims,
            "album": self.pictures,
            "report": [
                self.pictures,
                [file_hash(PACKAGE / "rendering" / "report" / name) for name in PAGE],
            ],
        }
        keys: dict[str, str] = {}
        for stage, below in self.rests_on.items():
            code = self.sources[stage]["hash"]
            keys[stage] = digest([stage, [keys[x] for x in below], code, libraries, own.get(stage)])
        return keys

    def fits(self, stage: str) -> bool:
        """Whether the files of a stage are whole and made from its key."""
        return fits(self.experiment, stage, self.keys[stage])

    def due(self, regret: bool) -> set[str]:
        """The stages to make again: those that do not fit, and all that rest on them.

        Parameters
        ----------
        regret : whether the regret has to be measured again whatever its note says
        """
        due = {"regret"} if regret else set()
        for stage, below in self.rests_on.items():
            if not due.isdisjoint(below) or not self.fits(stage):
                due.add(stage)
        return due


def source(picture: str) -> str:
    """The stage whose results a figure or table shows."""
    return "claims" if exhibit(picture).shows_verdicts else "slopes"
