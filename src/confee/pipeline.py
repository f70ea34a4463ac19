"""What the Snakefile and the commands it runs share: an experiment's plan, jobs and files.

All files hang together by content: see "Files" in docs/design.md.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from confee import __version__, config, jit, schema
from confee.canonical import canonical, digest, dumps
from confee.errors import ConfeeError
from confee.rendering import FIGURES as DRAWN
from confee.simulation import files
from confee.simulation.calibrate import calibrate, calibrated
from confee.simulation.cells import Cell, Opponent
from confee.simulation.code import closure, code_hash, source_file
from confee.simulation.plan import CHOOSE, ESTIMATE, Plan, Unit, groups, plan, unit
from confee.simulation.play import Row, play_all

RESULTS = Path("results")
FIGURES = Path("figures")
LOCK = Path(".snakemake/confee.lock")
REMAKE = "delete it and run snakemake again"

_alive = None  # the lock file of this process's run: open as long as the process lives


def hold_lock() -> None:
    """Shows that a run is alive in this folder; the kernel drops the lock when it dies."""
    global _alive
    LOCK.parent.mkdir(exist_ok=True)
    _alive = LOCK.open("a")
    fcntl.flock(_alive, fcntl.LOCK_SH)


# --------------------------------------------------------------------------- calibration


def calibration_key(one: Cell) -> dict[str, Any]:
    """What a found scale depends on: not V."""
    code = code_hash(["confee.simulation.calibrate"])
    key = {name: one.key[name] for name in ("policy", "options", "K", "T", "B")}
    return canonical(key | {"code": code})


def calibration_file(one: Cell) -> Path:
    return RESULTS / "calibration" / f"{digest(calibration_key(one))}.json"


def find_scale(one: Cell) -> None:
    """Measures the scale of a calibrated policy at the cell's (K, T, B), and keeps it."""
    scale = calibrate(one.K, one.T, one.B, one.options)
    kept = {**calibration_key(one), "scale": scale}
    files.write_text(calibration_file(one), dumps(kept) + "\n")


def found_scale(one: Cell) -> float:
    """The scale that `find_scale` kept. Raises ConfeeError if it is missing or of another cell."""
    file = calibration_file(one)
    try:
        kept = json.loads(file.read_text())
        scale = kept.pop("scale")
    except FileNotFoundError:
        raise ConfeeError(f"{file}: missing; run snakemake again") from None
    except (OSError, ValueError, KeyError, AttributeError):
        raise ConfeeError(f"{file}: damaged; {REMAKE}") from None
    if canonical(kept) != calibration_key(one) or not isinstance(scale, int | float):
        raise ConfeeError(f"{file}: belongs to another cell; {REMAKE}")
    return float(scale)


# --------------------------------------------------------------------------- units


def worst_opponents(one: Unit, chosen_from: Sequence[str]) -> list[Opponent]:
    """The unit's opponents with the largest mean regret on the choosing seeds, in family order."""
    sums = dict.fromkeys((dumps(o.key) for o in one.opponents), 0.0)
    for name in chosen_from:
        for row in read_unit(name):
            sums[_opponent_of(row)] += row["regret"]
    ranked = sorted(one.opponents, key=lambda o: -sums[dumps(o.key)])
    keep = {dumps(o.key) for o in ranked[: one.seeds.worst]}
    return [o for o in one.opponents if dumps(o.key) in keep]


def _opponent_of(row: Row) -> str:
    prefix = "adversary."
    parameters = {
        name.removeprefix(prefix): value
        for name, value in row.items()
        if name.startswith(prefix) and value is not None
    }
    return dumps([row["adversary"], parameters])


def read_unit(name: str) -> list[Row]:
    """The rows of a unit's file. Raises ConfeeError if it is damaged or not what its name says."""
    table, about = files.read_table(RESULTS / name, REMAKE)
    if digest(about) != Path(name).stem:
        raise ConfeeError(f"{RESULTS / name}: holds another cell than its name says; {REMAKE}")
    return table.to_pylist()


def play_unit(one: Unit, chosen_from: Sequence[str], tick: Callable[[], None]) -> None:
    """Plays a unit and writes its file."""
    opponents = list(one.opponents)
    if one.stage == ESTIMATE:
        opponents = worst_opponents(one, chosen_from)
    scale = found_scale(one.cell) if one.cell.spec.calibrated else None
    options = calibrated(one.cell, scale)
    seeds = range(one.first, one.first + one.count)
    rows = play_all(one.cell, opponents, seeds, options, one.sampled, tick)
    files.write_table(RESULTS / one.file, rows, one.key)


def read_job(name: str | Path) -> dict[str, Any]:
    """A job file that `Run` wrote. Raises ConfeeError if it is not one."""
    try:
        job = json.loads(Path(name).read_text())
        if not isinstance(job, dict) or job["kind"] not in ("play", "calibrate"):
            raise ValueError
    except FileNotFoundError:
        raise ConfeeError(f"{name}: missing; run snakemake again") from None
    except (OSError, ValueError, KeyError):
        raise ConfeeError(f"{name}: not a job file; {REMAKE}") from None
    return job


def do_job(name: str | Path, tick: Callable[[], None] = lambda: None) -> None:
    """Plays the units of a job file that are not there yet, or finds a scale."""
    job = read_job(name)
    for said in job["units"]:
        one = unit(said)
        if job["kind"] == "calibrate":
            find_scale(one.cell)
        elif not (RESULTS / one.file).exists():
            play_unit(one, said["chosen_from"], tick)


# --------------------------------------------------------------------------- a run


class Run:
    """An experiment as Snakemake sees it: what is missing, and the jobs that make it.

    Raises ConfeeError for whatever is wrong with the configuration.
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        for key in given:
            if key != "overrides":
                raise ConfeeError(
                    f'{key}={schema.show(given[key])}: no such key; must be overrides="..."'
                )
        overrides = given.get("overrides", "")
        if not isinstance(overrides, str):
            raise ConfeeError(f"overrides={schema.show(overrides)}: must be one string")
        from confee import claims

        self.experiment = config.experiment(overrides)
        for kind, named, known in (
            ("claims", self.experiment.claims, claims.CLAIMS),
            ("figures", self.experiment.figures, DRAWN),
        ):
            for name in named:
                if name not in known:
                    raise ConfeeError(f"{kind}={name}: unknown; known: {', '.join(known)}")
        self.claims = list(self.experiment.claims) or list(claims.CLAIMS)
        self.pictures = list(self.experiment.figures) or list(DRAWN)
        played = {entrant.conf["name"] for entrant in self.experiment.entrants.values()}
        extra = [c for c in claims.extra_cells(self.claims) if c["policy"] in played]
        if self.experiment.toy:
            extra = [c for c in extra if c["B"] <= 40_000]
        e = self.experiment
        self.plan: Plan = plan(
            e.entrants, e.family, e.grid, e.seeds, e.jobs.shard, e.sampled, extra
        )

    @property
    def name(self) -> str:
        return self.experiment.name

    @property
    def folder(self) -> Path:
        return RESULTS / self.name

    @cached_property
    def missing(self) -> list[Unit]:
        return [u for u in self.plan.units if not (RESULTS / u.file).exists()]

    @cached_property
    def about(self) -> dict[str, Any]:
        """What the experiment's results were made from; cores, shards and hosts are not in it."""
        return canonical(
            {
                "config": self.experiment.resolved,
                "version": __version__,
                "units": digest(sorted(u.file.as_posix() for u in self.plan.units), 64),
            }
        )

    def prepare(self) -> None:
        """Writes what the jobs read: the plan (if it differs from the one there) and job files."""
        self.folder.mkdir(parents=True, exist_ok=True)
        text = dumps(
            {
                "about": self.about,
                "toy": self.experiment.toy,
                "choose": self.experiment.seeds.choose,
                "claims": self.claims,
                "figures": self.pictures,
                "points": self.plan.points,
                "units": [u.file.as_posix() for u in self.plan.units],
                "calibrations": [
                    calibration_file(c).relative_to(RESULTS).as_posix() for c in self._calibrated
                ],
            }
        )
        file = self.folder / "plan.json"
        if not file.exists() or file.read_text() != text:
            files.write_text(file, text)
        for name, job in self.jobs.items():
            target = job_file(name)
            if not target.exists():
                files.write_text(target, dumps(job) + "\n")
            # Its units are missing, so whatever said that it was done is wrong.
            target.with_suffix(".done").unlink(missing_ok=True)

    @cached_property
    def _calibrated(self) -> list[Cell]:
        """One cell of each (K, T, B) at which a calibrated policy is played."""
        cells = {calibration_file(u.cell): u.cell for u in self.plan.units
                 if u.cell.spec.calibrated}  # fmt: skip
        return list(cells.values())

    @cached_property
    def jobs(self) -> dict[str, dict[str, Any]]:
        """Job name -> what its file says: `units`, and `needs`, the files it waits for."""
        how = self.experiment.jobs
        sources: dict[str, list[str]] = {}
        for u in self.plan.units:
            if u.stage == CHOOSE:
                sources.setdefault(digest(u.cell.key), []).append(u.file.as_posix())
        jobs: dict[str, dict[str, Any]] = {}
        made_by: dict[str, str] = {}
        wanted: set[Path] = set()
        bundles = groups(self.missing, how.cells, how.queries)
        names = [digest([u.file.as_posix() for u in bundle]) for bundle in bundles]
        for name, bundle in zip(names, bundles, strict=True):
            made_by |= {u.file.as_posix(): name for u in bundle}
        for name, bundle in zip(names, bundles, strict=True):
            said, needs = [], set()
            for u in bundle:
                chosen_from = sources[digest(u.cell.key)] if u.stage == ESTIMATE else []
                said.append(u.describe() | {"chosen_from": chosen_from})
                needs |= {job_file(made_by[f]).with_suffix(".done") for f in chosen_from
                          if made_by.get(f, name) != name}  # fmt: skip
                if u.cell.spec.calibrated:
                    needs.add(calibration_file(u.cell))
                    wanted.add(calibration_file(u.cell))
            jobs[name] = {
                "kind": "play",
                "policy": bundle[0].cell.policy,
                "units": said,
                "needs": sorted(file.as_posix() for file in needs),
            }
        for u in self.missing:
            if u.cell.spec.calibrated and calibration_file(u.cell) in wanted:
                wanted.remove(calibration_file(u.cell))
                if not calibration_file(u.cell).exists():
                    name = calibration_file(u.cell).stem
                    said = [u.describe() | {"chosen_from": []}]
                    jobs[name] = {"kind": "calibrate", "policy": u.cell.policy, "units": said,
                                  "needs": []}  # fmt: skip
        return jobs

    @property
    def done(self) -> list[str]:
        """What shows that nothing is missing any more."""
        return [
            job_file(name).with_suffix(".done").as_posix()
            for name, job in self.jobs.items()
            if job["kind"] == "play"
        ]

    def needs(self, name: str) -> list[str]:
        """What a play job waits for: its kernel, found scales, jobs whose choice it builds on.

        A job of an earlier run (its file is there, no unit of it is missing) waits for nothing.
        """
        job = self.jobs.get(name)
        return [stamp(job["policy"]), *job["needs"]] if job else []

    @property
    def stamps(self) -> list[str]:
        """What shows that the kernels of the missing units are compiled."""
        return sorted({stamp(u.cell.policy) for u in self.missing})


def job_file(name: str) -> Path:
    return RESULTS / "jobs" / f"{name}.json"


def stamp(policy: str) -> str:
    """Lies in the cache folder: they are lost together."""
    return (jit.CACHE / f"{policy}.compiled").as_posix()


def compile_kernels(stamps: Sequence[str]) -> None:
    """Plays a toy cell of each policy, so that its kernel is in the cache. One process at a time."""
    from confee.api import simulate

    with (jit.CACHE / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for file in stamps:
            name = Path(file).stem
            simulate(name, "switching", gap=0.25, K=2, T=64, B=16, V=1, seeds=1)
            files.write_text(file, "")
    jit.prune()


# --------------------------------------------------------------------------- results


def sources(module: str) -> list[str]:
    """The files of confee that `module` is made of: an edit of one makes its results anew."""
    root = Path.cwd()
    files_of = (source_file(name) for name in sorted(closure(module)))
    return [f.relative_to(root).as_posix() if f.is_relative_to(root) else f.as_posix()
            for f in files_of]  # fmt: skip


def figure_module(name: str) -> str:
    """The module that draws a figure."""
    return f"confee.rendering.figures.{'axes' if name.startswith('regret-') else name}"


def close(experiment: str) -> None:
    """The end of a run: its verdicts in a short table."""
    from rich.console import Console

    Console(stderr=True).print(ledger_table(experiment))


def read_plan(experiment: str) -> dict[str, Any]:
    """The plan of an experiment. Raises ConfeeError if there is none."""
    file = RESULTS / experiment / "plan.json"
    try:
        return json.loads(file.read_text())
    except FileNotFoundError:
        raise ConfeeError(
            f'{file}: missing; run snakemake with --config overrides="experiment={experiment}"'
        ) from None
    except (OSError, ValueError):
        raise ConfeeError(f"{file}: damaged; {REMAKE}") from None


def current(experiment: str) -> Any:
    """All runs of an experiment as a frame. Raises ConfeeError if they belong to another plan."""
    file = RESULTS / experiment / "regret.parquet"
    table, about = files.read_table(file, REMAKE)
    kept = {k: v for k, v in about.items() if k != "scales"}
    if kept != read_plan(experiment)["about"]:
        raise ConfeeError(f"{file}: made from another configuration; {REMAKE}")
    return table.to_pandas()


def collect(experiment: str) -> None:
    """Puts the runs of all units into one sorted table, beside the configuration and the points."""
    import pandas as pd
    import pyarrow as pa
    import yaml

    said = read_plan(experiment)
    rows = [row for name in said["units"] for row in read_unit(name)]
    frame = pd.DataFrame(rows)
    identity = ["policy", "label", "K", "T", "B", "V", "adversary", "seed"]
    parameters = sorted(c for c in frame if c.startswith(("adversary.", "policy.")))
    quantities = [c for c in frame if c not in identity and c not in parameters]
    frame = frame[identity + quantities + parameters]
    order = identity[:-1] + [c for c in parameters if c.startswith("adversary.")] + ["seed"]
    frame = frame.sort_values(order, ignore_index=True, kind="stable")
    scales = [json.loads((RESULTS / name).read_text()) for name in said["calibrations"]]
    about = said["about"] | {"scales": scales} if scales else said["about"]
    folder = RESULTS / experiment
    shown = {**said["about"]["config"], "version": said["about"]["version"]}
    if scales:
        shown["scales"] = scales
    files.write_text(folder / "config.yaml", yaml.safe_dump(shown, sort_keys=True))
    points = pd.DataFrame(said["points"])
    files.write_text(folder / "points.csv", points.to_csv(index=False))
    table = pa.Table.from_pandas(frame, preserve_index=False)
    files.write_arrow(folder / "regret.parquet", table, about)


def gather(experiment: str) -> Any:
    """The evidence of an experiment, computed anew from its runs."""
    from confee import evidence
    from confee.world.adversaries import ADVERSARIES

    said = read_plan(experiment)
    ceilings = {a.id: a.ceiling for a in ADVERSARIES.values()}
    import pandas as pd

    points = pd.DataFrame(said["points"])
    frame = current(experiment)
    return evidence.gather(frame, points, said["choose"], said["toy"], ceilings)


def measure(experiment: str) -> None:
    """Writes worst.csv and slopes.csv."""
    found = gather(experiment)
    folder = RESULTS / experiment
    files.write_text(folder / "worst.csv", found.worst.to_csv(index=False))
    files.write_text(folder / "slopes.csv", found.slopes.to_csv(index=False))


def judge(experiment: str) -> None:
    """Writes claims.json and claims.md."""
    from confee import claims
    from confee.claims import ledger

    verdicts = claims.judge(gather(experiment), read_plan(experiment)["claims"])
    folder = RESULTS / experiment
    files.write_text(folder / "claims.md", ledger.to_markdown(verdicts, f"Claims: {experiment}"))
    files.write_text(folder / "claims.json", ledger.to_json(verdicts))


def ledger_table(experiment: str) -> Any:
    """The short table of an experiment's verdicts. Raises ConfeeError if there are none."""
    from confee.claims import ledger
    from confee.claims.verdict import Verdict

    file = RESULTS / experiment / "claims.json"
    try:
        said = json.loads(file.read_text())
        return ledger.table([Verdict(**verdict) for verdict in said["claims"]])
    except FileNotFoundError:
        raise ConfeeError(
            f'{file}: missing; run snakemake with --config overrides="experiment={experiment}"'
        ) from None
    except (OSError, ValueError, KeyError, TypeError):
        raise ConfeeError(f"{file}: damaged; {REMAKE}") from None


def clean() -> list[Path]:
    """Removes what the last plan of no experiment needs; returns what went."""
    needed: set[Path] = set()
    for file in RESULTS.glob("*/plan.json"):
        said = read_plan(file.parent.name)
        needed |= {RESULTS / name for name in said["units"] + said["calibrations"]}
    made = [*RESULTS.glob("cells/*/*.parquet"), *RESULTS.glob("calibration/*.json")]
    made += [*RESULTS.glob("jobs/*"), *RESULTS.glob("**/.part-*")]
    gone = [file for file in made if file not in needed]
    for file in gone:
        file.unlink(missing_ok=True)
    return gone + jit.prune(keep=1, older_than_days=0)


def writable(path: str | os.PathLike[str]) -> None:
    """Raises ConfeeError now, not after the work, if `path` could not be written."""
    folder = Path(path).parent
    if Path(path).is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise ConfeeError(f"{path}: cannot be written: no such folder, or not writable")
