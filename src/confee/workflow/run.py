"""An experiment as Snakemake sees it: what is missing, and the jobs that make it."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from confee import __version__, claims
from confee.config import experiments
from confee.core import schema
from confee.core.canonical import digest
from confee.core.errors import ConfeeError
from confee.core.sources import PACKAGE, is_own, versions
from confee.rendering import FIGURES, PAGE, TABLES, module_name
from confee.simulation import files
from confee.simulation.cells import Cell, label_of
from confee.simulation.grid import Grid
from confee.simulation.needs import Draws, Sweep
from confee.simulation.plan import Entrant, Plan, plan
from confee.simulation.units import ESTIMATE, Unit, groups
from confee.workflow import cleaning, stages
from confee.workflow.handoff import Told
from confee.workflow.jobs import RESULTS, calibration_file, compiled, has_scale, job_file, stamp
from confee.workflow.pictures import alone, rests_on_verdicts
from confee.workflow.results import RANKINGS, ranked

PICTURES = ["confee.rendering.figures", "confee.rendering.tables"]

MEANS = (
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
"""Libraries that evidence, verdicts and pictures are made by, beside those of the simulation."""

A_ROW, MANY_ROWS = 2800, 200_000
"""Bytes that a run takes in a job until it is written; how many of them a user is told of."""

STUDY_SECONDS, STUDY_SECONDS_REMOTE = 20.0, 300.0
"""Studies are cut into jobs of about so long."""


class Job(NamedTuple):
    """`kind`: play, study or calibrate. `stamps`: the kernels it needs. `text`: its file."""

    kind: str
    stamps: tuple[str, ...]
    text: str


class Run:
    """An experiment's plan, what of it is missing, and how Snakemake is to make it.

    `remote`: its jobs run on other machines, where starting one is dear. `inputs`: the folder of
    what jobs read. Raises ConfeeError for whatever is wrong with the configuration.
    """

    def __init__(
        self, given: Mapping[str, Any], remote: bool = False, inputs: Path = RESULTS / "jobs"
    ) -> None:
        self.remote, self.inputs = remote, inputs
        self.experiment = e = experiments.experiment(_overrides(given))
        named = _known("claims", e.claims, claims.CLAIMS)
        self.claims = named if e.claims else [id for id in named if self._speaks_of(id)]
        needs = claims.needs(self.claims, e.toy)
        figures = _known("figures", e.figures, FIGURES)
        entrants, grid = e.entrants, e.grid
        if e.claims:
            entrants, grid = _for_claims(e, figures if e.figures else [])
        self.plan: Plan = plan(
            _with_sweeps(entrants, e.entrants, needs.sweeps, grid),
            e.family,
            grid,
            e.seeds,
            e.jobs.shard,
            e.accounting,
            needs,
        )
        self.pictures = self._drawn(figures)
        there = self._played | self._judged
        sheets = TABLES if self.pictures or not e.claims else {}
        self.tables = [name for name, sheet in sheets.items() if there & set(sheet.axes)]
        self.jobs: dict[str, Job] = {}
        self.work: dict[str, Sequence[Unit | Draws | Cell]] = {}
        self._needs: dict[str, list[str]] = {}
        self.kernels: set[str] = set()
        self._cut_jobs()

    def _speaks_of(self, id: str) -> bool:
        """Whether a claim is about a policy that the experiment plays, or about none."""
        about = claims.about(id)
        return not about or any(e.conf["name"] in about for e in self.experiment.entrants.values())

    @property
    def _judged(self) -> set[str]:
        """What figures and tables of verdicts ask for."""
        return {"claims"} if self.claims else set()

    @property
    def _played(self) -> set[str]:
        """The axes, maps and rays that are played; of a ray also what moves along it."""
        axes = {point["axis"] for point in self.plan.points}
        return axes | {
            f"ray:{point['variable']}" for point in self.plan.points if point["variable"]
        }

    def _drawn(self, named: list[str]) -> list[str]:
        """The figures asked for; without any, all that there is something for but for those that
        show what another one shows, and none if claims are named alone."""
        there = self._played
        there |= {f"study:{name}" for name in self.studies} | self._judged
        there |= {f"label:{label_of(e.conf)}" for e in self.experiment.entrants.values()}
        there |= {f"asked:{tag.partition('/')[0]}" for tag, _ in self.plan.asked}
        if self.experiment.figures:
            for name in named:
                if lacking := sorted(set(FIGURES[name].axes) - there):
                    raise ConfeeError(
                        f"figures={name}: nothing to draw; this run has no {', '.join(lacking)}"
                    )
            return named
        if self.experiment.claims:
            return []
        drawn = [name for name in named if not FIGURES[name].named]
        return [name for name in drawn if set(FIGURES[name].axes) <= there]

    @property
    def name(self) -> str:
        return self.experiment.name

    @cached_property
    def missing(self) -> list[Unit]:
        return [u for u in self.plan.everything if not files.is_whole(RESULTS / u.file)]

    @cached_property
    def missing_studies(self) -> list[Draws]:
        return [s for s in self.plan.studies if not files.is_whole(RESULTS / s.file)]

    @cached_property
    def _missing_scales(self) -> dict[Path, Unit]:
        """Calibration files that are not there or damaged, each with a unit that it is for."""
        all_of_them = {calibration_file(u.cell): u for u in self._calibrated}
        return {file: u for file, u in all_of_them.items() if not has_scale(u.cell)}

    @property
    def _calibrated(self) -> list[Unit]:
        return [u for u in self.plan.everything if u.cell.spec.calibrated]

    @property
    def studies(self) -> list[str]:
        """The names of the studies, each of which becomes a table."""
        return sorted({s.name for s in self.plan.studies})

    # ---------------------------------------------------------------------- jobs

    def _cut_jobs(self) -> None:
        how = self.experiment.jobs
        sizes = (math.inf, how.remote) if self.remote else (how.cells, how.queries)
        bundles = groups(self.missing, *sizes)
        stages_of: dict[Any, dict[tuple, list[str]]] = {}
        for u in self.plan.everything:
            turns = stages_of.setdefault(u.game, {})
            turns.setdefault(_turn(u), []).append(u.file.as_posix())
        made_by: dict[str, str] = {}
        waits: dict[str, set[str]] = {}
        scales = self._missing_scales
        for bundle in bundles:
            said = []
            for u in bundle:
                all_turns = stages_of[u.game].items()
                after = [file for turn, some in all_turns if turn < _turn(u) for file in some]
                said.append(u.describe() | {"after": after})
            name = self._add("play", {u.cell.policy for u in bundle}, said)
            self.work[name] = bundle
            made_by |= {u.file.as_posix(): name for u in bundle}
            waits[name] = {file for one in said for file in one["after"]}
            waits[name] -= {u.file.as_posix() for u in bundle}
            scaled = {calibration_file(u.cell) for u in bundle if u.cell.spec.calibrated}
            self._needs[name] = sorted(file.as_posix() for file in scaled & scales.keys())
        for name, awaited in waits.items():
            done = {_done(made_by[file]) for file in awaited if file in made_by}
            self._needs[name] = [*self._needs[name], *sorted(done)]
        for file, u in scales.items():
            said = [u.describe() | {"after": []}]
            self._add("calibrate", {u.cell.policy}, said, file.stem)
            self.work[file.stem] = [u.cell]
        longest = STUDY_SECONDS_REMOTE if self.remote else STUDY_SECONDS
        for studies in _by_time(self.missing_studies, longest):
            said = [
                {"name": s.name, "parameters": s.key["parameters"], "seconds": s.seconds}
                for s in studies
            ]
            self.work[self._add("study", {s.name for s in studies}, said)] = studies

    def _add(self, kind: str, kernels: set[str], units: list[Any], name: str = "") -> str:
        text = files.sealed({"kind": kind, "units": units})
        name = name or hashlib.sha256(text.encode()).hexdigest()[:16]
        self.jobs[name] = Job(kind, tuple(sorted(stamp(kernel) for kernel in kernels)), text)
        self.kernels |= kernels
        return name

    @property
    def done(self) -> list[str]:
        """What shows that nothing is missing any more."""
        played = [_done(name) for name, job in self.jobs.items() if job.kind != "calibrate"]
        return [*played, *sorted(file.as_posix() for file in self._missing_scales)]

    def needs(self, name: str) -> list[str]:
        """What a job waits for: its kernels, found scales, jobs of earlier seeds of its cells.

        A job of an earlier run (its file is there, no unit of it is missing) waits for nothing.
        """
        job = self.jobs.get(name)
        return [*job.stamps, *self._needs.get(name, [])] if job else []

    @property
    def stamps(self) -> list[str]:
        """What shows that the kernels of all that is missing are compiled."""
        return sorted({one for job in self.jobs.values() for one in job.stamps})

    # ---------------------------------------------------------------------- results

    @property
    def measured(self) -> list[str]:
        """The tables of the stage `slopes`."""
        names = ["worst", "slopes", *(RANKINGS if ranked(self.plan.points) else ())]
        return [f"results/{self.name}/{name}.csv" for name in names]

    @cached_property
    def about(self) -> dict[str, Any]:
        """What the experiment's results were made from; cores, shards and hosts are not in it."""
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
    def plan_text(self) -> str:
        scales = {calibration_file(u.cell) for u in self._calibrated}
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
                "calibrations": sorted(f.relative_to(RESULTS).as_posix() for f in scales),
                "sources": self.sources,
                "below": {stage: self.below(stage) for stage in ("regret", "slopes", "claims")},
            }
        )

    @cached_property
    def plan_file(self) -> str:
        """What the commands after the jobs read. Its name holds a hash of its content, so that a
        dry run or a second run with other overrides does no harm."""
        return (self.inputs / f"plan-{digest(self.plan_text)}.json").as_posix()

    @cached_property
    def sources(self) -> dict[str, dict[str, Any]]:
        """Stage -> the code that its files are made by: all of confee but for what stands above the
        stage, and for other figures and tables than the one that is made."""
        own = [name for name in {m.__name__ for m in claims.CLAIMS.values()} if is_own(name)]
        made = {
            "regret": stages.code_of(["confee.claims", "confee.paper.checked", "confee.rendering"]),
            "claims": stages.code_of(["confee.rendering"], sorted(own)),
        }
        made["slopes"] = made["regret"]
        made["report"] = made["album"] = stages.code_of()
        for name in (*FIGURES, *TABLES):
            made[name] = stages.code_of(
                PICTURES, [module_name(name), "confee.rendering.tables.write"]
            )
        return made

    @cached_property
    def keys(self) -> dict[str, str]:
        """Stage -> a hash of all that its files depend on."""
        code = {stage: [of["hash"], versions(MEANS)] for stage, of in self.sources.items()}
        made = {"regret": digest(["regret", self.about, code["regret"]])}
        made["slopes"] = digest(["slopes", made["regret"], code["slopes"]])
        made["claims"] = digest(["claims", made["slopes"], code["claims"], self.claims])
        for name in (*FIGURES, *TABLES):
            above = [made["claims" if rests_on_verdicts(name) else "slopes"]]
            made[name] = digest([name, *([] if alone(name) else above), code[name]])
        shown = [*self.pictures, *self.tables]
        page = [stages.file_hash(PACKAGE / "rendering" / "report" / name) for name in PAGE]
        below = [made[name] for name in ("claims", *shown)]
        made["report"] = digest(["report", below, code["report"], page])
        bound = [[name, made[name]] for name in shown]
        made["album"] = digest(["album", bound, code["album"]])
        return made

    @property
    def warnings(self) -> list[str]:
        """What a user may not have meant: policies that play nowhere, jobs of much memory."""
        said = [
            f"policies.{label}: plays nowhere; name it in a map's policies"
            for label in self.experiment.unplayed
        ]
        rows = max((u.count * len(u.opponents) for u in self.missing), default=0)
        if rows > MANY_ROWS:
            size = f"{rows} runs at once, about {rows * A_ROW / 2**30:.1f} GB"
            said.append(f"seeds: a job holds up to {size}; jobs.shard=1000 cuts it by seeds")
        return said

    def below(self, stage: str) -> dict[str, str]:
        """The keys of the stages that rest on the files of `stage`."""
        pictures = [name for name in (*FIGURES, *TABLES) if not alone(name)]
        found = {
            "regret": ["slopes", "claims", *pictures],
            "slopes": ["claims", *pictures],
            "claims": [name for name in pictures if rests_on_verdicts(name)],
        }[stage]
        return {name: self.keys[name] for name in (*found, "report", "album")}

    def foreign(self) -> list[str]:
        """The stages whose files are missing, or not made from this configuration and code."""
        return [s for s in self._stages if not stages.fits(self.name, s, self.keys[s])]

    @cached_property
    def told(self) -> Told:
        """What the rules ask of it."""
        return Told(
            name=self.name,
            inputs=self.inputs.as_posix(),
            plan_file=self.plan_file,
            keys=self.keys,
            pictures=self.pictures,
            tables=self.tables,
            studies=self.studies,
            measured=self.measured,
            stamps=self.stamps,
            done=self.done,
            needs={name: self.needs(name) for name in self.jobs},
            rests_on={name: self.rests_on(name) for name in (*FIGURES, *TABLES)},
        )

    @property
    def told_file(self) -> str:
        return (self.inputs / f"told-{digest(self.told.text)}.json").as_posix()

    def rests_on(self, picture: str) -> list[str]:
        """The results that a figure or table is drawn from: none if it shows the code alone."""
        if alone(picture):
            return []
        return [
            f"results/{self.name}/{'claims.json' if rests_on_verdicts(picture) else 'slopes.csv'}"
        ]

    # ---------------------------------------------------------------------- on disk

    def prepare(self, dry: bool = False) -> None:
        """Writes what the jobs read. All of it is named after its content, but for the plans by
        which `clean` knows what is needed: a `dry` run leaves those alone."""
        if dry:
            latest = stages.latest(self.name)
        else:
            latest = 0.0
            stages.forget_the_future(self.name)
            cleaning.begin(self.name, self.plan_text)
            for file in self._missing_scales:
                file.unlink(missing_ok=True)
        _write(Path(self.plan_file), self.plan_text)
        _write(Path(self.told_file), self.told.text)
        for name, job in self.jobs.items():
            _write(self.inputs / f"{name}.json", job.text)
            if not dry:  # its units are missing, so whatever said that it was done is wrong
                Path(_done(name)).unlink(missing_ok=True)
        for kernel in self.kernels:
            if not dry and not compiled(kernel).exists():
                Path(stamp(kernel)).unlink(missing_ok=True)
        lacking = bool(self.missing or self.missing_studies)
        right = {stage for stage, key in self.keys.items() if stages.fits(self.name, stage, key)}
        right -= {"regret"} if lacking else set()
        for stage in self.keys:
            stages.date(Path(self.told.due(stage)), stage in right, latest)
        if not dry and right.issuperset(self._stages):
            cleaning.settle(self.name, self.plan_text)  # Snakemake will find nothing to be done

    @property
    def _stages(self) -> list[str]:
        """The stages of the experiment: those whose files a whole run makes."""
        shown = [*self.pictures, *self.tables]
        return ["regret", "slopes", "claims", "report", *shown, *(["album"] if shown else [])]

    def close(self) -> None:
        """The end of a run: its findings in a short table, and where to read on. If it was a whole
        one (not of one figure, say), its plan is the experiment's."""
        from rich.console import Console

        from confee.rendering import scoreboard
        from confee.workflow.results import findings

        if not self.foreign():
            cleaning.finish(self.name, self.plan_text)
        console = Console(stderr=True)
        width = console.width if console.is_terminal else 120
        if stages.fits(self.name, "claims", self.keys["claims"]):
            said: list[Any] = [*scoreboard.lines(findings(self.name), width)]
        else:  # a run of one picture, say
            said = ["claims: not judged by this run; what is there is of another"]
        if self.name != self.experiment.experiment:  # of claims alone
            ids = " ".join(self.claims)
            said.append(f"in full: confee claims {ids} --experiment {self.experiment.experiment}")
        for line in [*said, *self.read_on()]:
            console.print(line, soft_wrap=True, highlight=False, markup=False)

    def read_on(self) -> list[str]:
        """Where a finished run is to be read, as far as it is there."""
        report, album = f"results/{self.name}/report.html", f"figures/{self.name}/all.tex"
        first = report if Path(report).exists() else f"results/{self.name}/claims.md"
        said = {"report": first, "figures": f"{Path(album).parent}/ (all.tex has the experiment's)"}
        there = {"report": Path(first), "figures": Path(album)}
        return [f"{name}: {text}" for name, text in said.items() if there[name].exists()]


def _grids(figure: str) -> bool:
    """Whether a figure shows the sweeps of the experiment's policies."""
    needs, recipe = {"regret", "worst", "slopes", "part_worst"}, FIGURES[figure]
    return bool(needs & set(recipe.needs)) and not recipe.maps


def _for_claims(
    e: experiments.Experiment, figures: Sequence[str]
) -> tuple[dict[str, Entrant], Grid]:
    """Who of an experiment plays what of its grid where claims are named, beside their sweeps: all
    of it if a named figure shows it, and the maps figures show."""
    everyone = any(_grids(n) for n in figures)
    shown = {name for one in figures for name in FIGURES[one].maps}
    grid = replace(e.grid, maps={m: one for m, one in e.grid.maps.items() if m in shown})
    if everyone:
        return dict(e.entrants), grid
    on_maps = {label for one in grid.maps.values() for label in one.policies}
    return {m: replace(e.entrants[m], axes=()) for m in on_maps}, grid


def _with_sweeps(
    entrants: Mapping[str, Entrant], own: Mapping[str, Entrant], sweeps: Sequence[Sweep], grid: Grid
) -> dict[str, Entrant]:
    """Who plays the grid: `entrants`, and the policies that claims sweep.

    Where the experiment lists such a policy (`own`), what it says of it goes before what the claim
    says.
    """
    names = {label_of(entrant.conf): name for name, entrant in own.items()}
    made, swept = dict(entrants), dict[str, Entrant]()
    for sweep in sweeps:
        label = label_of(sweep.policy)
        if label in names:
            made[names[label]] = own[names[label]]
            continue
        nothing = Entrant(sweep.policy, (), largest_B=0, largest_K=0, estimate=sweep.estimate)
        before = swept.get(label, nothing)
        axes: Sequence[str] = (*sweep.axes, *grid.along(sweep.rays))
        if sweep.beside in names:
            axes = own[names[sweep.beside]].axes
        swept[label] = Entrant(
            sweep.policy,
            axes=tuple(dict.fromkeys((*before.axes, *axes))),
            largest_B=max(before.largest_B, sweep.largest_B),
            largest_K=max(before.largest_K, sweep.largest_K),
            estimate=before.estimate,
        )
    # An entry of that name may be another policy: `hyque` with options of one's own is no `hyque`.
    return made | {f"claims: {x}" if x in made else x: one for x, one in swept.items()}


def _turn(u: Unit) -> tuple[bool, int]:
    """Orders the stages of a cell: choose, then the turns of the estimate."""
    return u.pass_ == ESTIMATE, u.turn


def _by_time(studies: Sequence[Draws], seconds: float) -> list[list[Draws]]:
    """Studies in jobs of about so many seconds, the longest first."""
    made: list[list[Draws]] = []
    left = 0.0
    for study in sorted(studies, key=lambda s: -s.seconds):
        if left < study.seconds:
            made.append([])
            left = seconds
        made[-1].append(study)
        left -= study.seconds
    return made


def _done(name: str) -> str:
    return job_file(name).with_suffix(".done").as_posix()


def _write(file: Path, text: str) -> None:
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
