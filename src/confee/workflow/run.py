"""An experiment as Snakemake sees it: what is missing, and the jobs that make it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from confee import __version__, claims, config, schema
from confee.canonical import digest, dumps
from confee.errors import ConfeeError
from confee.rendering import FIGURES
from confee.simulation import files
from confee.simulation.code import code_hash
from confee.simulation.plan import CHOOSE, ESTIMATE, Plan, Unit, groups, plan
from confee.workflow import stages
from confee.workflow.jobs import RESULTS, calibration_file, job_file, stamp
from confee.workflow.pictures import SHOWN, TABLES

TOY_BUDGET = 40_000
"""Cells that claims ask for beside the grid are left out of a toy experiment above this budget."""


class Job(NamedTuple):
    """`kind`: play or calibrate. `text`: its file, which names the units to play."""

    kind: str
    policy: str
    text: str


class Run:
    """An experiment's plan, what of it is missing, and how Snakemake is to make it.

    Raises ConfeeError for whatever is wrong with the configuration.
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.experiment = e = config.experiment(_overrides(given))
        self.claims = _known("claims", e.claims, claims.CLAIMS)
        self.pictures = _known("figures", e.figures, FIGURES)
        played = {entrant.conf["name"] for entrant in e.entrants.values()}
        extra = [c for c in claims.extra_cells(self.claims) if c["policy"] in played]
        if e.toy:
            extra = [c for c in extra if c["B"] <= TOY_BUDGET]
        self.plan: Plan = plan(
            e.entrants, e.family, e.grid, e.seeds, e.jobs.shard, e.accounting, extra
        )
        self.jobs: dict[str, Job] = {}
        self._needs: dict[str, list[str]] = {}
        self._cut_jobs()

    @property
    def name(self) -> str:
        return self.experiment.name

    @cached_property
    def missing(self) -> list[Unit]:
        return [u for u in self.plan.units if not (RESULTS / u.file).exists()]

    # ---------------------------------------------------------------------- jobs

    def _cut_jobs(self) -> None:
        how = self.experiment.jobs
        bundles = groups(self.missing, how.cells, how.queries)
        sources: dict[Any, list[str]] = {}
        for u in self.plan.units:
            if u.stage == CHOOSE:
                sources.setdefault(u.cell, []).append(u.file.as_posix())
        made_by: dict[str, str] = {}
        waits: dict[str, set[str]] = {}
        scales: dict[Path, Unit] = {}
        for bundle in bundles:
            said = []
            for u in bundle:
                chosen_from = sources[u.cell] if u.stage == ESTIMATE else []
                said.append(u.describe() | {"chosen_from": chosen_from})
            name = self._add("play", bundle[0].cell.policy, said)
            made_by |= {u.file.as_posix(): name for u in bundle}
            waits[name] = {file for one in said for file in one["chosen_from"]}
            waits[name] -= {u.file.as_posix() for u in bundle}
            lacking = {calibration_file(u.cell): u for u in bundle if u.cell.spec.calibrated}
            lacking = {file: u for file, u in lacking.items() if not file.exists()}
            scales |= lacking
            self._needs[name] = sorted(file.as_posix() for file in lacking)
        for name, awaited in waits.items():
            done = {_done(made_by[file]) for file in awaited if file in made_by}
            self._needs[name] = [*self._needs[name], *sorted(done)]
        for file, u in scales.items():
            said = [u.describe() | {"chosen_from": []}]
            self._add("calibrate", u.cell.policy, said, file.stem)

    def _add(self, kind: str, policy: str, units: list[dict[str, Any]], name: str = "") -> str:
        job = {"kind": kind, "policy": policy, "units": units}
        text = json.dumps(job, sort_keys=True) + "\n"
        name = name or hashlib.sha256(text.encode()).hexdigest()[:16]
        self.jobs[name] = Job(kind, policy, text)
        return name

    @property
    def done(self) -> list[str]:
        """What shows that nothing is missing any more."""
        return [_done(name) for name, job in self.jobs.items() if job.kind == "play"]

    def needs(self, name: str) -> list[str]:
        """What a play job waits for: its kernel, found scales, jobs whose choice it builds on.

        A job of an earlier run (its file is there, no unit of it is missing) waits for nothing.
        """
        job = self.jobs.get(name)
        return [stamp(job.policy), *self._needs.get(name, [])] if job else []

    @property
    def stamps(self) -> list[str]:
        """What shows that the kernels of the missing units are compiled."""
        return sorted({stamp(u.cell.policy) for u in self.missing})

    # ---------------------------------------------------------------------- results

    @cached_property
    def about(self) -> dict[str, Any]:
        """What the experiment's results were made from; cores, shards and hosts are not in it."""
        whole = {u.whole.file.as_posix() for u in self.plan.units}
        code = digest(sorted(whole), 64)
        return {"config": self.experiment.resolved, "version": __version__, "code": code}

    @cached_property
    def plan_text(self) -> str:
        scales = {calibration_file(u.cell) for u in self.plan.units if u.cell.spec.calibrated}
        return dumps(
            {
                "about": self.about,
                "toy": self.experiment.toy,
                "choose": self.experiment.seeds.choose,
                "claims": self.claims,
                "points": self.plan.points,
                "units": [u.file.as_posix() for u in self.plan.units],
                "calibrations": sorted(f.relative_to(RESULTS).as_posix() for f in scales),
            }
        )

    @cached_property
    def plan_file(self) -> str:
        """What the commands after the jobs read. Its name holds a hash of its content, so that a
        dry run or a second run with other overrides does no harm."""
        return job_file(f"plan-{digest(self.plan_text)}").as_posix()

    @cached_property
    def keys(self) -> dict[str, str]:
        """Stage -> a hash of all that its files depend on."""
        # A module taken alone imports what belongs to other stages.
        collecting = code_hash((), ("confee.workflow.results", "confee.simulation.files"))
        made = {"regret": digest(["regret", self.about, collecting])}
        measuring = code_hash(["confee.evidence"])
        made["slopes"] = digest(["slopes", made["regret"], measuring])
        judging = code_hash(["confee.claims", "confee.claims.ledger"])
        made["claims"] = digest(["claims", made["slopes"], judging, self.claims])
        for name in (*FIGURES, *TABLES):
            modules = [*picture_modules(name), *SHOWN.get(name, ())]
            drawing = code_hash(modules, ("confee.workflow.pictures", "confee.rendering"))
            made[name] = digest([name, made["slopes"], drawing])
        return made

    def due(self, stage: str) -> str:
        """The input that tells Snakemake whether the files of a stage are still right."""
        return stages.due(self.keys[stage]).as_posix()

    def note(self, stage: str) -> str:
        """The output beside the files of a stage."""
        return stages.note(self.name, stage).as_posix()

    # ---------------------------------------------------------------------- on disk

    def prepare(self, dry: bool = False) -> None:
        """Writes what the jobs read. All of it is named after its content, but for the experiment's
        plan.json, by which `clean` knows what is needed: a `dry` run leaves that alone."""
        if not dry:
            _write(RESULTS / self.name / "plan.json", self.plan_text)
        _write(Path(self.plan_file), self.plan_text)
        for name, job in self.jobs.items():
            _write(job_file(name), job.text)
            if not dry:  # its units are missing, so whatever said that it was done is wrong
                Path(_done(name)).unlink(missing_ok=True)
        for stage, key in self.keys.items():
            stages.date(self.name, stage, key, missing=stage == "regret" and bool(self.missing))

    def close(self) -> None:
        """The end of a run: its verdicts in a short table."""
        from rich.console import Console

        from confee.workflow.results import ledger_table

        Console(stderr=True).print(ledger_table(self.name))


def picture_modules(name: str) -> list[str]:
    """The modules that draw a figure or a table."""
    if name in TABLES:
        return [f"confee.rendering.tables.{name}", "confee.rendering.tables.write"]
    return [f"confee.rendering.figures.{'axes' if name.startswith('regret-') else name}"]


def _done(name: str) -> str:
    return job_file(name).with_suffix(".done").as_posix()


def _write(file: Path, text: str) -> None:
    try:
        same = file.read_text() == text
    except (OSError, ValueError):
        same = False
    if not same:
        files.write_text(file, text)


def _overrides(given: Mapping[str, Any]) -> str | list[str]:
    """The value of `--config overrides=...`; Snakemake reads it as YAML, so it may be a list."""
    for key, value in given.items():
        if key != "overrides":
            raise ConfeeError(f'{key}={schema.show(value)}: no such key; must be overrides="..."')
    said = given.get("overrides") or ""
    if isinstance(said, list) and all(isinstance(one, str) for one in said):
        return said
    if not isinstance(said, str):
        raise ConfeeError(
            f"overrides={schema.show(said)}: must be one string, as in "
            'overrides="experiment=smoke seeds.choose=4"'
        )
    return said


def _known(kind: str, named: Any, known: Mapping[str, Any]) -> list[str]:
    """The names asked for, in the order of `known`; all if none is named."""
    for name in named:
        if name not in known:
            raise ConfeeError(f"{kind}={schema.show(name)}: unknown; known: {', '.join(known)}")
    return [name for name in known if name in named] if named else list(known)
