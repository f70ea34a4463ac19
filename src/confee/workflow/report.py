"""An experiment's report, from its results, its pictures and the times of its jobs."""

from __future__ import annotations

import csv
import io
import json
import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confee import __version__
from confee.config import conf_files, reproduce
from confee.core.errors import ConfeeError
from confee.rendering import TABLES, exhibit
from confee.simulation import files
from confee.workflow import costs, results
from confee.workflow.jobs import AGAIN, REMAKE
from confee.workflow.labels import LABELS

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

STAGES = ("calibrate", "simulate", "regret", "slopes", "claims", "figure", "table")
"""The stages whose times are shown: rules of the Snakefile."""

REPEATED = {"ledger"}
"""Tables that repeat the page's scoreboard."""

DESCRIBE = ("describe", "--always", "--abbrev=40", "--exclude=*", "--dirty")
GIT_SECONDS = 20
"""The arguments by which git names a commit, and how long it may take."""

SLOWEST = 5
"""How many of the slowest jobs are named."""


def write(plan: Mapping[str, Any], names: Sequence[str]) -> list[Path]:
    """Write report.html with the figures and tables of these names."""
    from confee.claims import ledger
    from confee.rendering.report import Report, render

    names = [name for name in names if name not in REPEATED]
    folder = results.folder(plan)
    findings, claims_json = results.claims_file(folder.name)
    frames = _frames(plan, names)
    report = Report(
        experiment=folder.name,
        headline=conf_files.headline(plan["experiment"]),
        toy=plan["toy"],
        findings=findings,
        settle={v.id: ledger.settle(v, plan["overrides"], findings) for v in findings},
        evidence={claim["id"]: claim["evidence"] for claim in claims_json["claims"]},
        shown=[_shown(plan, name, frames) for name in names],
        frames=[frames[name] for name in sorted(frames)],
        command=reproduce.snakemake(plan["overrides"]),
        config=_text(folder / "config.yaml"),
        code=plan["about"]["code"],
        versions=versions(),
        seeds=_seeds(plan),
        times=times(plan, names),
        commit=commit(),
    )
    files.write_text(folder / "report.html", render(report))
    return [folder / "report.html"]


def _bytes(file: Path) -> bytes:
    """The content of a result. Raises ConfeeError if it is missing or damaged."""
    try:
        return files.content(file)
    except FileNotFoundError:
        raise ConfeeError(f"{file}: missing; {AGAIN}") from None
    except OSError:
        raise ConfeeError(f"{file}: damaged; {REMAKE}") from None


def _text(file: Path) -> str:
    """The text of a result. Raises ConfeeError if it is missing, damaged or empty."""
    try:
        text = _bytes(file).decode()
    except UnicodeDecodeError:
        text = ""
    if not text.strip():
        raise ConfeeError(f"{file}: damaged; {REMAKE}")
    return text


# --------------------------------------------------------------------------- figures, tables, data


def _shown(plan: Mapping[str, Any], name: str, frames: Mapping[str, Frame]) -> Shown:
    """A figure or a table, read from the files of its job."""
    from confee.rendering.report import Shown

    file = FIGURES / results.folder(plan).name / name
    kind = "csv" if name in TABLES else "svg"
    content = _text(file.with_name(f"{name}.{kind}"))
    caption = _text(file.with_name(f"{name}.txt")).strip()
    shown = exhibit(name)
    target = file.with_name(f"{name}.{'tex' if name in TABLES else 'pdf'}").as_posix()
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
    """The frames that these figures and tables show, and the findings."""
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


# --------------------------------------------------------------------------- seeds and times


def versions() -> dict[str, str]:
    """The versions of confee, Python and the libraries."""
    here = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    known = {name: metadata.version(name) for name in PACKAGES}
    return {"confee": __version__, "Python": here, **known}


def commit() -> str:
    """The git commit of confee's files, with `-dirty` if tracked files differ from it.

    Empty if confee is not run from its own git repository, or git is not installed.
    """
    here = Path(__file__)
    try:
        for command in (["ls-files", "--error-unmatch", here.name], DESCRIBE):
            done = subprocess.run(
                ["git", "-C", str(here.parent), *command],
                capture_output=True,
                text=True,
                check=True,
                timeout=GIT_SECONDS,
            )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def _seeds(plan: Mapping[str, Any]) -> dict[str, str]:
    """What the seeds were for -> which were used."""
    seeds = plan["about"]["config"]["seeds"]
    played = results.runs(plan)["seed"]
    choose = seeds["choose"]
    fresh = "none" if played.empty or played.max() < choose else f"{choose} to {played.max()}"
    how = f"{fresh}: they estimate the regret against these adversaries; {seeds['estimate']}"
    if seeds["most"] > seeds["estimate"]:
        how += " at first, then more until the relative standard error is "
        how += f"{seeds['error']:.3g}, at most {seeds['most']}"
    return {
        "Choosing": f"0 to {choose - 1}: they choose the worst adversaries of a cell",
        "Estimating": how,
        "Runs": f"{len(played)} on the grid",
    }


def times(plan: Mapping[str, Any], names: Sequence[str]) -> Times:
    """The times of the jobs that played a plan's units, and of its stages."""
    from confee.rendering.report import Times

    wanted = {*plan["units"], *(file for _, file in [*plan["asked"], *plan["studies"]])}
    wanted |= set(plan["calibrations"])
    records = costs.read(latest=None)
    by_stage: dict[str, list[costs.Record]] = {stage: [] for stage in STAGES}
    for record in records.values():
        if not wanted.isdisjoint(record.outputs):
            scales = record.outputs[0].startswith("calibration/")
            by_stage["calibrate" if scales else "simulate"].append(record)
    played = by_stage["calibrate"] + by_stage["simulate"]
    outputs = {file for record in played for file in record.outputs}
    experiment = results.folder(plan).name
    for stage in ("regret", "slopes", "claims", *names):
        if kept := records.get(f"{experiment}.{stage}"):
            rule = stage if stage in STAGES else "table" if stage in TABLES else "figure"
            title = LABELS[rule] if rule == stage else exhibit(stage).title
            by_stage[rule].append(replace(kept, about=title))
    stages = [
        (LABELS[stage], len(jobs), sum(job.cpu for job in jobs), sum(job.wall for job in jobs))
        for stage, jobs in by_stage.items()
        if jobs
    ]
    everything = [job for jobs in by_stage.values() for job in jobs]
    slowest = sorted(everything, key=lambda job: -job.cpu)[:SLOWEST]
    known, strange = len(outputs & wanted), len(outputs - wanted)
    note = f"The times cover {known} of the {len(wanted)} files of runs, from all workflows"
    note += f", and {strange} files that this experiment does not need." if strange else "."
    if not wanted <= outputs:
        note += " Times of the other files are unknown: they were made elsewhere, or removed."
    return Times(stages, [(job.about, job.cpu, job.wall) for job in slowest], note)
