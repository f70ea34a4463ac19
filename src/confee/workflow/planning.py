"""An experiment as a Snakemake workflow: its plan, its missing jobs, its outdated stages."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from confee import __version__
from confee.config import experiments
from confee.core import schema
from confee.core.canonical import digest
from confee.core.errors import ConfeeError
from confee.rendering import FIGURES, TABLES, exhibit
from confee.simulation import files
from confee.simulation.cells import label_of
from confee.simulation.plan import Unit
from confee.workflow import cleaning, stages
from confee.workflow.cutting import Missing, cut
from confee.workflow.handoff import Handoff, due_file
from confee.workflow.jobs import RESULTS, calibration_file, compiled, stamp
from confee.workflow.keys import Stages
from confee.workflow.results import RANKINGS, ranked
from confee.workflow.selection import Selection

BYTES_PER_RUN, MANY_RUNS = 2800, 200_000
"""Memory that a run takes in a job until it is written; from how many runs on a user is warned."""


class Workflow:
    """An experiment's plan, its missing parts, and how Snakemake makes them.

    Raises ConfeeError if the configuration is invalid.

    Parameters
    ----------
    given : Snakemake's `config`
    remote : whether jobs run on other machines
    inputs : folder for the files that jobs read
    """

    def __init__(
        self, given: Mapping[str, Any], remote: bool = False, inputs: Path = RESULTS / "jobs"
    ) -> None:
        self.remote, self.inputs = remote, inputs
        self.experiment = experiments.experiment(_overrides(given))
        self.name = self.experiment.name
        selection = Selection(self.experiment)
        self.claims, self.plan = selection.claims, selection.plan
        self.pictures, self.tables = selection.figures, selection.tables
        self._missing = Missing(self.plan)
        self.jobs = {x.name: x for x in cut(self._missing, self.experiment.jobs, remote)}

    # ---------------------------------------------------------------------- jobs

    @property
    def missing(self) -> list[Unit]:
        """The units that have to be played."""
        return self._missing.units

    @property
    def kernels(self) -> set[str]:
        """The policies and studies whose kernels the jobs need."""
        return {kernel for job in self.jobs.values() for kernel in job.kernels}

    @property
    def stamps(self) -> list[str]:
        """The files that show that those kernels are compiled."""
        return sorted(map(stamp, self.kernels))

    @property
    def done(self) -> list[str]:
        """The files that show that nothing is missing any more."""
        played = [job.done for job in self.jobs.values() if job.kind != "calibrate"]
        return [*played, *sorted(file.as_posix() for file in self._missing.scales)]

    def needs(self, name: str) -> list[str]:
        """The files that a job waits for; none for a job of an earlier workflow."""
        job = self.jobs.get(name)
        return [*job.stamps, *job.waits] if job else []

    # ---------------------------------------------------------------------- results

    @property
    def studies(self) -> list[str]:
        """The names of the studies, each of which becomes a table."""
        return sorted({s.name for s in self.plan.studies})

    @property
    def measured(self) -> list[str]:
        """The tables of the stage `slopes`."""
        names = ["worst", "slopes", *(RANKINGS if ranked(self.plan.points) else ())]
        return [f"results/{self.name}/{name}.csv" for name in names]

    @cached_property
    def about(self) -> dict[str, Any]:
        """The inputs of the results, except those that change no number: cores, shards, hosts."""
        p = self.plan
        played = [
            sorted({u.whole.file.as_posix() for u in p.units}),
            sorted({(tag, u.whole.file.as_posix()) for tag, u in p.asked}),
            sorted({s.file.as_posix() for s in p.studies}),
            p.points,
        ]
        code = digest(played, 64)
        return {"config": self.experiment.resolved, "version": __version__, "code": code}

    @cached_property
    def stages(self) -> Stages:
        return Stages(self.name, self.about, self.claims, [*self.pictures, *self.tables])

    @property
    def keys(self) -> dict[str, str]:
        """Stage -> its key."""
        return self.stages.keys

    @cached_property
    def due(self) -> set[str]:
        """The stages that have to be made again."""
        return self.stages.due(regret=bool(self.missing or self._missing.studies))

    def foreign(self) -> list[str]:
        """The stages whose files are missing, or not made from this configuration and code."""
        return [stage for stage in self.stages.wanted if not self.stages.fits(stage)]

    # ---------------------------------------------------------------------- files

    @cached_property
    def plan_text(self) -> str:
        """The plan as the stages read it."""
        calibrated = (u.cell for u in self.plan.everything if u.cell.spec.calibrated)
        scales = {calibration_file(cell).relative_to(RESULTS).as_posix() for cell in calibrated}
        entrants = self.experiment.entrants
        return files.sealed(
            {
                "about": self.about,
                "overrides": self.experiment.overrides,
                "toy": self.experiment.toy,
                "experiment": self.experiment.experiment,
                "choose": self.experiment.seeds.choose,
                "claims": self.claims,
                "pictures": [*self.pictures, *self.tables],
                "points": self.plan.points,
                "shown": sorted(
                    label_of(entrants[name].conf) for name in self.experiment.show or entrants
                ),
                "units": [u.file.as_posix() for u in self.plan.units],
                "asked": [[tag, u.file.as_posix()] for tag, u in self.plan.asked],
                "studies": [[s.name, s.file.as_posix()] for s in self.plan.studies],
                "calibrations": sorted(scales),
                "sources": self.stages.sources,
                "above": {x: self.stages.above(x) for x in ("regret", "slopes", "claims")},
            }
        )

    @cached_property
    def plan_file(self) -> str:
        """The plan's file, named by its content, so that plans do not overwrite each other."""
        return (self.inputs / f"plan-{digest(self.plan_text)}.json").as_posix()

    @cached_property
    def handoff(self) -> Handoff:
        """What the rules need to know."""
        return Handoff(
            name=self.name,
            inputs=self.inputs.as_posix(),
            plan_file=self.plan_file,
            keys=self.keys,
            due=sorted(self.due),
            pictures=self.pictures,
            tables=self.tables,
            studies=self.studies,
            measured=self.measured,
            stamps=self.stamps,
            done=self.done,
            needs={name: self.needs(name) for name in self.jobs},
            rests_on={name: self._rests_on(name) for name in (*FIGURES, *TABLES)},
        )

    @property
    def handoff_file(self) -> str:
        return (self.inputs / f"handoff-{digest(self.handoff.text)}.json").as_posix()

    def _rests_on(self, picture: str) -> list[str]:
        """The results that a figure or table shows."""
        if not exhibit(picture).shows_results:
            return []
        file = "claims.json" if exhibit(picture).shows_verdicts else "slopes.csv"
        return [f"results/{self.name}/{file}"]

    def prepare(self, dry: bool = False) -> None:
        """Write the files that jobs and rules read; with `dry`, change nothing else."""
        if not dry:
            stages.reset_future_dates(self.name)
            cleaning.begin(self.name, self.plan_text)
            self._drop_untrue_marks()
        _write(Path(self.plan_file), self.plan_text)
        _write(Path(self.handoff_file), self.handoff.text)
        for name, job in self.jobs.items():
            _write(self.inputs / f"{name}.json", job.text)
        if self.due:
            looks = self.inputs != RESULTS / "jobs"
            stages.write_due(Path(due_file(self.inputs)), executes=not looks)
        if not dry and self.due.isdisjoint(self.stages.wanted):
            cleaning.settle(self.name, self.plan_text)  # Snakemake will find nothing to be done

    def _drop_untrue_marks(self) -> None:
        """Remove files that Snakemake would take for the result of a job that has to run."""
        untrue = [*self._missing.scales, *(Path(job.done) for job in self.jobs.values())]
        lacking = [kernel for kernel in self.kernels if not compiled(kernel).exists()]
        for file in [*untrue, *(Path(stamp(kernel)) for kernel in lacking)]:
            file.unlink(missing_ok=True)

    # ---------------------------------------------------------------------- messages

    @property
    def warnings(self) -> list[str]:
        """What a user may not have meant: policies that play nowhere, jobs of much memory."""
        warnings = [
            f"policies.{label}: plays no cell; give it axes or rays in plays.{label}.axes, or name "
            "it in the policies of a map"
            for label in self.experiment.unplayed
        ]
        runs = max((u.count * len(u.opponents) for u in self.missing), default=0)
        if runs > MANY_RUNS:
            size = f"{runs} runs at once, about {runs * BYTES_PER_RUN / 2**30:.1f} GB"
            warnings.append(f"seeds: a job keeps up to {size}; jobs.shard=1000 splits it by seeds")
        return warnings

    def close(self) -> None:
        """End a workflow that succeeded: print its findings and where to read on. If it made all
        stages (not one figure, say), its plan becomes that of the experiment."""
        from rich.console import Console

        from confee.rendering import scoreboard
        from confee.workflow.results import findings

        if not self.foreign():
            cleaning.finish(self.name, self.plan_text)
        console = Console(stderr=True)
        width = console.width if console.is_terminal else 120
        if self.stages.fits("claims"):
            lines: list[Any] = [*scoreboard.lines(findings(self.name), width)]
        else:  # only one figure was asked for, say
            lines = [
                "claims: this workflow judged none; verdicts in the folder are of an earlier one"
            ]
        if self.name != self.experiment.experiment:  # of claims alone
            ids = " ".join(self.claims)
            lines.append(f"in full: confee claims {ids} --experiment {self.experiment.experiment}")
        for line in [*lines, *self.read_on()]:
            console.print(line, soft_wrap=True, highlight=False, markup=False)

    def read_on(self) -> list[str]:
        """The lines that name the report and the figures, if they exist."""
        report, album = f"results/{self.name}/report.html", f"figures/{self.name}/all.tex"
        page = report if Path(report).exists() else f"results/{self.name}/claims.md"
        lines = []
        if Path(page).exists():
            lines.append(f"report: {page}")
        if Path(album).exists():
            lines.append(f"figures: {Path(album).parent}/ (all.tex includes them all)")
        return lines


def _write(file: Path, text: str) -> None:
    """Write a file, unless it has this content already."""
    try:
        same = files.content(file) == text.encode()
    except (OSError, ValueError):
        same = False
    if not same:
        files.write_text(file, text)


def _overrides(given: Mapping[str, Any]) -> str | list[str]:
    """The value of `--config overrides=...`; Snakemake reads it as YAML, so it may be a list."""
    for key, value in given.items():
        if key != "overrides":
            raise ConfeeError(f'{key}={schema.show(value)}: no such key; must be overrides="..."')
    overrides = given.get("overrides") or ""
    if isinstance(overrides, list) and all(isinstance(word, str) for word in overrides):
        return overrides
    if not isinstance(overrides, str):
        raise ConfeeError(
            f"overrides={schema.show(overrides)}: must be one string, as in "
            'overrides="experiment=smoke seeds.choose=4"'
        )
    return overrides
