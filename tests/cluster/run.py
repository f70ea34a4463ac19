"""Runs `smoke` in a Slurm brought up for it, and compares what it leaves with a local run's.

    python tests/cluster/run.py [FOLDER]

As root on Debian with slurm-wlm and munge, in an environment with confee[cluster]. Then a job is
cancelled in mid-run, and Snakemake itself is killed while jobs are queued: the same command has to
end with the same bytes. Prints a table; the exit code is 1 if anything in it failed. FOLDER keeps
what was made; by default it is a temporary one, removed if all went well.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from slurm import Slurm, lacking

ROOT = Path(__file__).parents[2]
SMOKE = "experiment=smoke jobs.remote=1e7"  # several jobs, where one would do
# What is killed: more jobs than the machine has cores, of some seconds each, and one figure.
SHORT = "experiment=smoke name=short claims=[hyque-budget] figures=[regret-T,block] jobs.remote=8e6"
LOCAL = ["--cores", str(os.cpu_count())]
# What a user types, and what is special here: no accounting, and jobs of seconds, not of minutes.
SLURM = [
    "--workflow-profile",
    "profiles/slurm",
    "--slurm-status-command",
    "squeue",
    "--seconds-between-status-checks",
    "2",
    "--slurm-init-seconds-before-status-checks",
    "2",
]
AWAY = ("kernels", "calibrate", "simulate")
TIMES = (
    r"results/jobs/.*|results/(.*/)?logs/.*|results/[^/]+/(report\.html|made/report\.json)"
    r"|.*/\.part-[^/]*"
)
"""What may differ: how work is cut into jobs, times, the page that shows them, and its hash; and
what a killed job was writing, which `confee clean` removes."""

STARTED: list[subprocess.Popen[str]] = []
"""Each leads a session of its own, so that a signal to this script leaves it alone."""


class Project:
    """A checkout without sources: the package is the one that this Python has."""

    def __init__(self, folder: Path, cache: Path, overrides: str) -> None:
        self.folder, self.overrides = folder, overrides
        folder.mkdir()
        shutil.copy(ROOT / "Snakefile", folder)
        for name in ("workflow", "profiles"):
            shutil.copytree(ROOT / name, folder / name)
        self.env = {**os.environ, "CONFEE_CONF": str(ROOT / "conf"), "CONFEE_CACHE": str(cache)}

    def start(self, *words: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "snakemake", *words]
        made = subprocess.Popen(
            [*command, "--config", f"overrides={self.overrides}"],
            cwd=self.folder,
            env=self.env,
            text=True,
            start_new_session=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        STARTED.append(made)
        return made

    def run(self, *words: str) -> tuple[int, str]:
        """(exit code, output)."""
        process = self.start(*words)
        said, _ = process.communicate(timeout=3600)
        with (self.folder / "said.txt").open("a") as log:
            log.write(said)
        return process.returncode, said

    def made(self) -> dict[str, str]:
        """File -> hash of its bytes: results and figures, but for what tells times; the report has
        to be there."""
        files = [f for top in ("results", "figures") for f in (self.folder / top).rglob("*")]
        names = {f.relative_to(self.folder).as_posix(): f for f in files if f.is_file()}
        made = {
            name: hashlib.sha256(f.read_bytes()).hexdigest()
            for name, f in names.items()
            if not re.fullmatch(TIMES, name)
        }
        return made | {name: "" for name in names if name.endswith("/report.html")}

    def cells(self) -> dict[str, int]:
        """Cell -> when it was written."""
        files = (self.folder / "results").glob("cells/*/*.parquet")
        return {f.name: f.stat().st_mtime_ns for f in files}


class Table:
    """What was looked at; `failed` once anything was not as it has to be."""

    def __init__(self) -> None:
        self.failed = False

    def row(self, what: str, good: bool, said: str) -> None:
        self.failed |= not good
        print(f"{'ok  ' if good else 'FAIL'}  {what:34}  {said}", flush=True)


def main(folder: Path) -> int:
    table = Table()
    caches = folder / "cache-local", folder / "cache-slurm"
    local = Project(folder / "local", caches[0], SMOKE)
    away = Project(folder / "slurm", caches[1], SMOKE)
    code, said = local.run(*LOCAL)
    table.row("smoke, local", code == 0, stages(said))
    with Slurm(folder / "daemons") as slurm:
        code, said = away.run(*SLURM)
        table.row("smoke, Slurm", code == 0, stages(said))
        compare(table, local.made(), away.made())
        in_slurm(table, said, slurm, away)
        local = Project(folder / "local-short", caches[0], SHORT)
        code, said = local.run(*LOCAL)
        table.row("a short run, local", code == 0, stages(said))
        cancelled(table, Project(folder / "cancelled", caches[1], SHORT), local.made())
        killed(table, Project(folder / "killed", caches[1], SHORT), local.made())
    return int(table.failed)


def stages(said: str) -> str:
    """How long each stage took, by what the run said."""
    found = re.findall(r"^([a-z ]+): (\d+) of \d+ done in ([\d:]+)", said, re.MULTILINE | re.I)
    total = re.findall(r"(\d+) of \d+ jobs done in ([\d:]+)", said)
    parts = [f"{what.split()[0]} {count} in {took}" for what, count, took in found]
    return ", ".join([*parts, *(f"all {count} in {took}" for count, took in total)]) or said[-300:]


def compare(table: Table, want: dict[str, str], got: dict[str, str]) -> None:
    differ = sorted(name for name in want.keys() | got.keys() if want.get(name) != got.get(name))
    kinds = sum(name.startswith("figures/") for name in want)
    said = f"{len(want)} files, {kinds} of them figures and tables"
    table.row("the same bytes", bool(want) and not differ, ", ".join(differ[:5]) or said)


def in_slurm(table: Table, said: str, slurm: Slurm, project: Project) -> None:
    """Each job of a remote rule is one that Slurm says it has completed, and what that cost."""
    labels = {"kernels": "compiling", "calibrate": "calibrating", "simulate": "simulating"}
    counts = [re.search(rf"^{labels[rule]}[a-z ]*: (\d+) of", said, re.MULTILINE) for rule in AWAY]
    asked = sum(int(found[1]) for found in counts if found)
    ended = [job for job in slurm.finished() if job["WorkDir"] == str(project.folder)]
    completed = [job for job in ended if job["JobState"] == "COMPLETED"]
    ids = [int(job["JobId"]) for job in completed]
    table.row(
        "jobs that Slurm completed",
        len(ended) == len(completed) == asked > 0,
        f"{len(ids)} of {asked}, ids {min(ids, default=0)} to {max(ids, default=0)}, "
        f"{', '.join(sorted({job['NodeList'] for job in completed}))}",
    )
    timed = [file for rule in AWAY for file in project.folder.glob(f"results/logs/{rule}/*.tsv")]
    inside = [float(file.read_text().splitlines()[1].split("\t")[0]) for file in timed]
    spent = [seconds(job) for job in completed if int(job["JobId"]) != min(ids)]  # it compiled
    more = (sum(spent) - sum(inside)) / max(len(inside), 1)
    table.row(
        "what a remote job costs beside",
        len(spent) == len(inside),
        f"{more:.1f} s of {sum(spent) / max(len(spent), 1):.1f} s, mean of {len(spent)}",
    )


def seconds(job: dict[str, str]) -> float:
    begun, ended = (datetime.fromisoformat(job[name]) for name in ("StartTime", "EndTime"))
    return (ended - begun).total_seconds()


def cancelled(table: Table, project: Project, whole: dict[str, str]) -> None:
    """Jobs cancelled in mid-run: a line each, and the same command goes on from there."""
    process = project.start(*SLURM)
    await_(lambda: project.cells() or process.poll() is not None)
    running = queue("RUNNING")
    subprocess.run(["scancel", *running], check=True)
    said, _ = process.communicate(timeout=3600)
    lines = [line for line in said.splitlines() if line.startswith("failed: ")]
    clear = all("CANCELLED" in line for line in lines)
    table.row(
        f"{len(running)} jobs cancelled in mid-run",
        process.returncode == 1
        and len(lines) == len(running)
        and clear
        and "Traceback" not in said,
        lines[0] if lines else said[-300:],
    )
    await_(lambda: not queue("RUNNING,PENDING,COMPLETING"))
    again(table, project, whole)


def killed(table: Table, project: Project, whole: dict[str, str]) -> None:
    """Snakemake killed with jobs queued: they live on, and harm nothing."""
    process = project.start(*SLURM)
    await_(lambda: (project.cells() and queue("PENDING")) or process.poll() is not None)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    left = queue("RUNNING,PENDING")
    table.row("Snakemake killed, -9", bool(left), f"{len(left)} jobs stay in Slurm's queue")
    again(table, project, whole)
    await_(lambda: not queue("RUNNING,PENDING,COMPLETING"))
    compare(table, whole, project.made())  # jobs that it left behind have ended since


def again(table: Table, project: Project, whole: dict[str, str]) -> None:
    """The same command: it ends, plays nothing twice, and leaves the bytes of a run in one go."""
    before = project.cells()
    code, said = project.run(*SLURM)
    table.row("the same command after it", code == 0, stages(said))
    compare(table, whole, project.made())
    after = project.cells()
    kept = sum(after.get(name) == date for name, date in before.items())
    table.row(
        "cells that were there are kept",
        bool(before) and kept == len(before),
        f"{kept} of {len(before)}; {len(after)} in the end",
    )


def queue(states: str) -> list[str]:
    """The ids of jobs in these states."""
    said = subprocess.run(
        ["squeue", "-h", "-t", states, "-o", "%i"], capture_output=True, text=True, check=True
    )
    return said.stdout.split()


def await_(there: Callable[[], object], limit: float = 1800) -> None:
    deadline = time.monotonic() + limit
    while not there():
        if time.monotonic() > deadline:
            raise RuntimeError("waited too long")
        time.sleep(0.1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, help="keeps what is made")
    given = parser.parse_args().folder
    if why := lacking():
        sys.exit(f"cannot run here: {why}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # so that daemons are taken down
    where = given.absolute() if given else Path(tempfile.mkdtemp(prefix="confee-cluster-"))
    where.mkdir(parents=True, exist_ok=True)
    try:
        failed = main(where)
    finally:
        for one in STARTED:
            if one.poll() is None:
                os.killpg(one.pid, signal.SIGKILL)  # SIGTERM would wait for jobs that are gone
    if failed or given:
        print(f"what was made is in {where}")
    else:
        shutil.rmtree(where)
    sys.exit(failed)
