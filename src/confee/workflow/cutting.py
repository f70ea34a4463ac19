"""Cut the missing parts of a plan into jobs."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from confee.config.experiments import Jobs
from confee.simulation import files
from confee.simulation.cells import Cell
from confee.simulation.needs import Draws
from confee.simulation.plan import Plan
from confee.simulation.units import ESTIMATE, Unit, groups
from confee.workflow.jobs import RESULTS, calibration_file, has_scale, job_file, stamp

STUDY_SECONDS, STUDY_SECONDS_REMOTE = 20.0, 300.0
"""About how long a job of studies takes, here and on other machines."""


@dataclass(frozen=True)
class Job:
    """One job of a workflow.

    Parameters
    ----------
    name : stem of its file; Snakemake's wildcard
    kind : `play`, `study` or `calibrate`
    text : content of its file
    kernels : ids of the policies or studies whose kernels it needs
    work : what it makes: units, studies, or the cell whose scale it finds
    waits : files it waits for besides its kernels: scales and earlier jobs of its cells
    """

    name: str
    kind: str
    text: str
    kernels: frozenset[str]
    work: Sequence[Unit | Draws | Cell]
    waits: tuple[str, ...] = ()

    @property
    def stamps(self) -> list[str]:
        """The files that show that its kernels are compiled."""
        return sorted(stamp(kernel) for kernel in self.kernels)

    @property
    def done(self) -> str:
        """The file that shows that it has ended."""
        return done_file(self.name)


def done_file(job: str) -> str:
    """The file that shows that a job has ended."""
    return job_file(job).with_suffix(".done").as_posix()


@dataclass(frozen=True)
class Missing:
    """The parts of a plan that results/ lacks, each looked up when it is first needed."""

    plan: Plan

    @cached_property
    def units(self) -> list[Unit]:
        return [u for u in self.plan.everything if not files.is_whole(RESULTS / u.file)]

    @cached_property
    def studies(self) -> list[Draws]:
        return [s for s in self.plan.studies if not files.is_whole(RESULTS / s.file)]

    @cached_property
    def scales(self) -> dict[Path, Unit]:
        """Calibration files that are missing or damaged, each with a unit that needs it."""
        calibrated = (u for u in self.plan.everything if u.cell.spec.calibrated)
        needed = {calibration_file(u.cell): u for u in calibrated}
        return {file: u for file, u in needed.items() if not has_scale(u.cell)}


def cut(missing: Missing, how: Jobs, remote: bool) -> list[Job]:
    """Cut the missing parts into jobs.

    Parameters
    ----------
    how : the sizes of jobs
    remote : whether jobs run on other machines, where starting one costs several seconds
    """
    played = _playing(missing, (math.inf, how.remote) if remote else (how.cells, how.queries))
    calibrating = [
        _job("calibrate", {u.cell.policy}, [u.describe() | {"after": []}], [u.cell], name=file.stem)
        for file, u in missing.scales.items()
    ]
    seconds = STUDY_SECONDS_REMOTE if remote else STUDY_SECONDS
    drawing = [
        _job("study", {s.name for s in batch}, [_describe(s) for s in batch], batch)
        for batch in _by_time(missing.studies, seconds)
    ]
    return [*played, *calibrating, *drawing]


def _playing(missing: Missing, sizes: tuple[float, float]) -> list[Job]:
    """Return the jobs that play units. Later turns of a cell wait for earlier turns."""
    # Units that claims ask for have one turn. They may play the game of a cell on the grid, whose
    # turns must not wait for them.
    turns_of: dict[Any, dict[tuple[bool, int], list[str]]] = {}
    for u in missing.plan.units:
        turns_of.setdefault(u.game, {}).setdefault(_turn(u), []).append(u.file.as_posix())

    def earlier(u: Unit) -> list[str]:
        turns = turns_of.get(u.game, {}).items()
        return [file for turn, names in turns if turn < _turn(u) for file in names]

    bundles = groups(missing.units, *sizes)
    described = [[u.describe() | {"after": earlier(u)} for u in bundle] for bundle in bundles]
    names = [_name(_text("play", units)) for units in described]
    maker = {
        u.file.as_posix(): name for name, bundle in zip(names, bundles, strict=True) for u in bundle
    }
    jobs = []
    for name, bundle, units in zip(names, bundles, described, strict=True):
        scales = {calibration_file(u.cell) for u in bundle if u.cell.spec.calibrated}
        before = {maker[file] for u in units for file in u["after"] if file in maker} - {name}
        waits = [file.as_posix() for file in scales & missing.scales.keys()]
        waits = [*sorted(waits), *sorted(map(done_file, before))]
        jobs.append(_job("play", {u.cell.policy for u in bundle}, units, bundle, waits))
    return jobs


def _job(
    kind: str,
    kernels: set[str],
    described: list[Any],
    work: Sequence[Unit | Draws | Cell],
    waits: Iterable[str] = (),
    name: str = "",
) -> Job:
    text = _text(kind, described)
    return Job(name or _name(text), kind, text, frozenset(kernels), work, tuple(waits))


def _text(kind: str, described: list[Any]) -> str:
    return files.sealed({"kind": kind, "units": described})


def _name(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _turn(u: Unit) -> tuple[bool, int]:
    """Order the passes of a cell: choose, then the turns of the estimate."""
    return u.pass_ == ESTIMATE, u.turn


def _describe(study: Draws) -> dict[str, Any]:
    parameters = study.key["parameters"]
    return {"name": study.name, "parameters": parameters, "seconds": study.seconds}


def _by_time(studies: Sequence[Draws], seconds: float) -> list[list[Draws]]:
    """Studies in batches of about so many seconds, the longest first."""
    batches: list[list[Draws]] = []
    left = 0.0
    for study in sorted(studies, key=lambda s: -s.seconds):
        if left < study.seconds:
            batches.append([])
            left = seconds
        batches[-1].append(study)
        left -= study.seconds
    return batches
