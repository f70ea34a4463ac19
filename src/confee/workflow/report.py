"""An experiment's report, gathered from its results, its pictures and what its jobs took."""

from __future__ import annotations

import csv
import io
import json
import math
import platform
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confee import __version__
from confee.config import conf_files, reproduce
from confee.core.errors import ConfeeError
from confee.rendering import TABLES, exhibit
from confee.simulation import files
from confee.simulation.needs import Draws
from confee.workflow import results
from confee.workflow.jobs import AGAIN, REMAKE, RESULTS, job_file

if TYPE_CHECKING:
    from confee.rendering.report import Frame, Shown, Times

FIGURES = Path("figures")

PACKAGES = (
    "numpy",
    "numba",
    "scipy",
    "pandas",
    "pyarrow",
    "statsmodels",
    "matplotlib",
    "snakemake",
    "hydra-core",
)

STAGES = {
    "calibrate": "calibrating",
    "simulate": "simulating",
    "regret": "measuring regret",
    "slopes": "fitting slopes",
    "claims": "judging claims",
    "pictures": "figures and tables",
}

TOLD = {"ledger"}
"""Tables that the page's scoreboard says anyway."""

SLOWEST = 5
"""Jobs that are named."""


def write(plan: Mapping[str, Any], names: Sequence[str]) -> list[Path]:
    """Writes report.html, with the figures and tables of these names."""
    from confee.claims import ledger
    from confee.rendering.report import Report, render

    names = [name for name in names if name not in TOLD]
    folder = results.folder(plan)
    findings, said = results.claims_file(folder.name)
    frames = _frames(plan, names)
    report = Report(
        experiment=folder.name,
        headline=conf_files.headline(plan["experiment"]),
        toy=plan["toy"],
        findings=findings,
        settle={v.id: ledger.settle(v, plan["overrides"], findings) for v in findings},
        evidence={one["id"]: one["evidence"] for one in said["claims"]},
        shown=[_shown(plan, name, frames) for name in names],
        frames=[frames[name] for name in sorted(frames)],
        command=reproduce.snakemake(plan["overrides"]),
        config=_text(folder / "config.yaml"),
        code=plan["about"]["code"],
        versions=versions(),
        seeds=_seeds(plan),
        times=times(plan, names),
    )
    files.write_text(folder / "report.html", render(report))
    return [folder / "report.html"]


def _bytes(file: Path) -> bytes:
    """What an earlier stage left. Raises ConfeeError if it is gone."""
    try:
        return files.content(file)
    except FileNotFoundError:
        raise ConfeeError(f"{file}: missing; {AGAIN}") from None
    except OSError:
        raise ConfeeError(f"{file}: damaged; {REMAKE}") from None


def _text(file: Path) -> str:
    """Likewise, as text. Raises ConfeeError if it is none, or empty."""
    try:
        text = _bytes(file).decode()
    except UnicodeDecodeError:
        text = ""
    if not text.strip():
        raise ConfeeError(f"{file}: damaged; {REMAKE}")
    return text


# --------------------------------------------------------------------------- figures, tables, data


def _shown(plan: Mapping[str, Any], name: str, frames: Mapping[str, Frame]) -> Shown:
    """A figure or a table as its own job left it."""
    from confee.rendering.report import Shown

    made = FIGURES / results.folder(plan).name / name
    kind = "csv" if name in TABLES else "svg"
    content = _text(made.with_name(f"{name}.{kind}"))
    caption = _text(made.with_name(f"{name}.txt")).strip()
    shown = exhibit(name)
    target = made.with_name(f"{name}.{'tex' if name in TABLES else 'pdf'}").as_posix()
    return Shown(
        name=name,
        title=shown.title,
        section=shown.section,
        finding=caption.removesuffix(shown.reading).strip(),
        reading=shown.reading,
        claims=shown.claims,
        command=reproduce.snakemake(plan["overrides"], target),
        frames=[frames[source].name for source in shown.sources if source in frames],
        svg=content.encode() if kind == "svg" else b"",
        rows=list(csv.reader(io.StringIO(content, newline=""))) if kind == "csv" else (),
    )


def _frames(plan: Mapping[str, Any], names: Sequence[str]) -> dict[str, Frame]:
    """The frames that figures and tables of these names were made from, and the findings."""
    import pandas as pd

    from confee.rendering.report import Frame
    from confee.workflow.frames import Frames

    folder, data = results.folder(plan), Frames(plan)
    judged = folder / "claims.json"
    count = len(json.loads(_text(judged))["claims"])
    frames = {"claims": Frame(judged.name, _bytes(judged), count)}
    arguments = {k: v for name in names for k, v in exhibit(name).arguments(data).items()}
    for name, frame in sorted(arguments.items()):
        if not isinstance(frame, pd.DataFrame) or name in frames:
            continue
        likely = (folder / f"{name}.csv", folder / f"{name}.parquet")
        source = next((file for file in likely if file.is_file()), folder).as_posix()
        content = frame.to_csv(index=False, lineterminator="\n").encode()
        frames[name] = Frame(f"{name}.csv", content, len(frame), source)
    return frames


# --------------------------------------------------------------------------- how it was made


def versions() -> dict[str, str]:
    """What is installed here."""
    here = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    known = {name: metadata.version(name) for name in PACKAGES}
    return {"confee": __version__, "Python": here, **known}


def _seeds(plan: Mapping[str, Any]) -> dict[str, str]:
    """Which seeds were played, and what for."""
    seeds = plan["about"]["config"]["seeds"]
    played = results.runs(plan)["seed"]
    choose = seeds["choose"]
    fresh = "none" if played.empty or played.max() < choose else f"{choose} to {played.max()}"
    how = f"{fresh}: fresh ones, {seeds['estimate']}"
    if seeds["most"] > seeds["estimate"]:
        how += " at first, then more in turns until the relative standard error is "
        how += f"{seeds['error']:.3g}, at most {seeds['most']}"
    return {
        "Choosing": f"0 to {choose - 1}: they choose the worst adversaries of a cell",
        "Measuring": how,
        "Runs": f"{len(played)} on the grid",
    }


class Job:
    """What one job was about and took, by Snakemake's benchmark file."""

    def __init__(self, stage: str, what: str, made: set[str], file: Path) -> None:
        self.stage, self.what, self.made = stage, what, made
        (row,) = csv.DictReader(file.read_text(encoding="utf-8").splitlines(), delimiter="\t")
        self.clock, self.cpu = float(row["s"]), float(row["cpu_time"])
        if not (0 <= self.clock < math.inf and 0 <= self.cpu < math.inf):
            raise ValueError(row)


def times(plan: Mapping[str, Any], names: Sequence[str]) -> Times:
    """What the jobs took that made the units of a plan, and the stages after them."""
    from confee.rendering.report import Times

    wanted = {*plan["units"], *(file for _, file in [*plan["asked"], *plan["studies"]])}
    wanted |= set(plan["calibrations"])
    jobs = [job for job in _jobs() if job.made & wanted]
    known = {file for job in jobs for file in job.made}
    jobs += _stages(results.folder(plan) / "logs", names)
    by_stage: dict[str, list[Job]] = defaultdict(list)
    for job in jobs:
        by_stage[job.stage].append(job)
    stages = [
        (STAGES[stage], len(some), sum(j.cpu for j in some), sum(j.clock for j in some))
        for stage, some in sorted(by_stage.items(), key=lambda one: list(STAGES).index(one[0]))
    ]
    slowest = sorted(jobs, key=lambda job: -job.cpu)[:SLOWEST]
    strange = len(known - wanted)
    note = f"Jobs of whichever run made them: {len(known & wanted)} of {len(wanted)} files of units"
    note += f", and {strange} that this experiment does not need." if strange else "."
    if known & wanted != wanted:
        note += " What the other jobs took is not known here: they ran elsewhere, or were removed."
    return Times(stages, [(job.what, job.cpu, job.clock) for job in slowest], note)


def _jobs() -> Iterable[Job]:
    """Jobs that made units: those whose file and whose benchmark are both still there."""
    for stage in ("calibrate", "simulate"):
        for timed in sorted((RESULTS / "logs" / stage).glob("*.tsv")):
            file = job_file(timed.stem)
            if file.is_file():
                try:
                    what = _about(files.read_json(file, AGAIN, REMAKE), timed.stem)
                except (
                    ConfeeError,
                    ImportError,
                    AssertionError,
                    LookupError,
                    TypeError,
                    ValueError,
                ):
                    continue  # a job of another version: of times alone, which say what is unknown
                yield from _read(stage, *what, timed)


def _about(job: Mapping[str, Any], name: str) -> tuple[str, set[str]]:
    """What a job's file says that it does, in words, and the files it makes."""
    units = job["units"]
    if job["kind"] == "study":
        made = {Draws(one["name"], one["parameters"]).file.as_posix() for one in units}
        return "study of " + ", ".join(sorted({one["name"] for one in units})), made
    cells = [one["cell"] for one in units]
    players = Counter(cell["policy"] for cell in cells)
    who = ", ".join(name for name, _ in players.most_common(3)) + ", ..." * (len(players) > 3)
    at = f"T up to {max(cell['T'] for cell in cells):.3g}"
    if job["kind"] == "calibrate":
        return f"scale of {who}, {at}", {f"calibration/{name}.json"}
    return f"{who}: {len(units)} units, {at}", {one["file"] for one in units}


def _stages(logs: Path, names: Sequence[str]) -> Iterable[Job]:
    """The jobs after those."""
    for stage in ("regret", "slopes", "claims"):
        yield from _read(stage, STAGES[stage], set(), logs / f"{stage}.tsv")
    for name in names:
        yield from _read("pictures", exhibit(name).title, set(), logs / f"{name}.tsv")


def _read(stage: str, what: str, made: set[str], timed: Path) -> Iterable[Job]:
    """The job of a benchmark; none if it took no note (NA), or there is no such file."""
    try:
        yield Job(stage, what, made, timed)
    except (OSError, ValueError, KeyError, TypeError, csv.Error):
        return
