"""A folder with a run of its own, and whether it holds what an undisturbed run leaves."""

from __future__ import annotations

import fcntl
import hashlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

from confee.workflow import runlock

ROOT = Path(__file__).resolve().parents[2]
TINY = "experiment=tiny figures=[regret-T] jobs.cells=12"
PATIENCE = 600
"""Seconds after which a run hangs."""

EXCEPTED = {
    "results/*/report.html": "tells how long jobs took",
    "results/*/made/report.json": "holds its hash",
    "results/logs/*": "messages and times of jobs",
    "results/*/logs/*": "messages and times of stages",
    "results/jobs/*": "lists of work, named by their content, and dates",
    "*/.part-*": "what a killed job was writing; `confee clean` removes it",
}
"""What is not compared, of all files below results/ and figures/, and why."""

ADVICE = re.compile(r"(\S+): [^:;]*; delete it and run snakemake again")
COMPLAINT = re.compile(r"(failed|error|confee|warning): ")
CRASH = re.compile(r"Traceback|File \"|\b[A-Z]\w*(Error|Exception)\b|\[Errno|SIGSEGV|Segmentation")
NAMES = re.compile(r"^failed: [\w./-]+: \S|\S[/=]\S|process \d|'\.snakemake'")
"""A complaint that names a job, a file, a key or a process."""


class Said(NamedTuple):
    """How a run ended."""

    code: int
    text: str
    seconds: float

    @property
    def complaints(self) -> list[str]:
        """Its lines that say what is wrong."""
        return list(dict.fromkeys(x for x in self.text.splitlines() if COMPLAINT.match(x)))

    @property
    def crashed(self) -> bool:
        """Whether it shows an exception of Python's, or a job that died of one."""
        return CRASH.search(self.text) is not None

    @property
    def clear(self) -> bool:
        """Whether it failed as is promised: exit code 1, no crash, lines that name a file or
        a job: one for each job that was at work (two at most), one of Snakemake's, one of ours."""
        lines = [line for line in self.complaints if not line.startswith("warning: ")]
        told = not self.crashed and all(NAMES.search(line) for line in lines)
        kinds = Counter(line.partition(":")[0] for line in lines)
        told &= bool(kinds) and all(n <= (2 if k == "failed" else 1) for k, n in kinds.items())
        return self.code == 1 and told


class Folder:
    """A checkout without sources: they are those of this one, or of another `root`."""

    def __init__(self, path: Path, root: Path = ROOT, overrides: str = TINY, **env: str) -> None:
        self.path, self.overrides = path, overrides
        self.env = env | {"PYTHONPATH": str(root / "src")}
        path.mkdir(parents=True, exist_ok=True)
        for name in ("Snakefile", "conf", "workflow", "profiles"):
            if not (path / name).exists():
                (path / name).symlink_to(root / name)

    def like(self, other: Folder, records: bool = False) -> Folder:
        """Takes over the results and figures of another folder, dates kept; `records`: and
        Snakemake's."""
        for name in ("results", "figures", *[".snakemake"] * records):
            if (other.path / name).exists():
                shutil.copytree(other.path / name, self.path / name)
        return self

    def remove(self, *patterns: str) -> Folder:
        """Deletes files."""
        for pattern in patterns:
            found = list(self.path.glob(pattern))
            assert found, f"{pattern}: nothing to delete"
            for file in found:
                file.unlink()
        return self

    # ------------------------------------------------------------------ running

    def start(self, *options: str, cores: int = 2, overrides: str = "", **how) -> Running:
        """Begins `snakemake`, in a session of its own."""
        words = ["-m", "snakemake", "--cores", str(cores), *options]
        words += ["--config", f"overrides={overrides or self.overrides}"]
        return Running([sys.executable, *words], cwd=self.path, env=os.environ | self.env, **how)

    def run(self, *options: str, **how) -> Said:
        """The same, to its end."""
        return self.start(*options, **how).end()

    # ------------------------------------------------------------------ looking

    def files(self) -> dict[str, Path]:
        """Name -> file, of all that is compared."""
        every = (f for top in ("results", "figures") for f in (self.path / top).rglob("*"))
        named = {file.relative_to(self.path).as_posix(): file for file in every if file.is_file()}
        return {n: f for n, f in named.items() if not any(fnmatch(n, no) for no in EXCEPTED)}

    def hashes(self) -> dict[str, str]:
        """Name -> SHA-256, of all that is compared."""
        return {name: sha256(file) for name, file in self.files().items()}

    def units(self) -> dict[str, tuple[int, int]]:
        """Name -> (inode, date) of complete units."""
        kinds = ("results/cells/", "results/calibration/", "results/studies/")
        stats = {n: f.stat() for n, f in self.files().items() if n.startswith(kinds)}
        return {name: (stat.st_ino, stat.st_mtime_ns) for name, stat in stats.items()}

    def at_work(self) -> bool:
        """Whether a job shows that it is at work here."""
        try:
            with (self.path / runlock.LOCK).open("a") as file:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, runlock.JOBS)
        except OSError:
            return (self.path / runlock.LOCK).exists()
        return False

    def one(self, rng: random.Random, pattern: str) -> Path:
        """A file by chance."""
        return rng.choice(sorted(self.path.glob(pattern)))


def sha256(file: Path) -> str:
    """The SHA-256 of a file's bytes."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def differences(
    folder: Folder, reference: Mapping[str, str], finished: bool = True, beside: str = "-"
) -> list[str]:
    """What is not as in the reference: other bytes, files that lack (where it is `finished`) or
    that nobody asked for. Units of other configurations may lie there, and what is `beside`; until
    it is finished the plan of a run that began, too."""
    found = folder.hashes()
    begun = "-" if finished else "results/*/begun/*"
    units = ("results/cells/", "results/calibration/", "results/studies/")
    more = [
        f"{n}: should not be there"
        for n in sorted(found.keys() - reference.keys())
        if not (n.startswith(units) or fnmatch(n, beside) or fnmatch(n, begun))
    ]
    other = [
        f"{name}: other bytes"
        for name, hash in sorted(reference.items())
        if name in found and found[name] != hash
    ]
    gone = [f"{name}: missing" for name in sorted(reference.keys() - found.keys()) if finished]
    page = folder.path / "results/tiny/report.html"
    if finished and not (page.exists() and page.read_text().rstrip().endswith("</html>")):
        gone.append("results/tiny/report.html: missing or cut short")
    return other + more + gone


class Running:
    """A process of Snakemake and its jobs: one session."""

    def __init__(self, words: list[str], **how) -> None:
        # Not in the folder: its disk may be full.
        self.out = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self.since = time.monotonic()
        self.main = subprocess.Popen(
            words,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=self.out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            **how,
        )

    def alive(self) -> bool:
        return self.main.poll() is None

    def session(self) -> Iterator[int]:
        """The ids of all its processes, orphans too."""
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                pid, rest = int(stat.parent.name), stat.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(rest[3]) == self.main.pid and rest[0] != "Z":
                yield pid

    def jobs(self) -> list[int]:
        """The ids of its jobs' Python."""
        found = []
        for pid in self.session():
            try:
                words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if words[1:3] == [b"-m", b"confee"]:
                found.append(pid)
        return sorted(found)

    def wait(self, seconds: float, until: Callable[[], object] = lambda: False) -> bool:
        """Lets it run so long, or `until` something is so; whether it is still alive."""
        deadline = time.monotonic() + seconds
        while self.alive() and time.monotonic() < deadline and not until():
            time.sleep(0.01)
        return self.alive()

    def text(self) -> str:
        size = os.fstat(self.out.fileno()).st_size
        return os.pread(self.out.fileno(), size, 0).decode(errors="replace")

    def stage(self) -> str:
        """What it was about, by the last stage that it told of."""
        told = re.findall(r"^([a-zLT ]+): \d+ jobs?$", self.text(), re.MULTILINE)
        return told[-1] if told else "starting"

    def signal(self, kill: int) -> None:
        """Sends a signal to all of it."""
        for pid in self.session():
            try:
                os.kill(pid, kill)
            except ProcessLookupError:
                continue

    def end(self) -> Said:
        """Waits for its end; a run that hangs is killed, and its code is no exit code."""
        try:
            self.main.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.signal(signal.SIGKILL)
        code = self.main.wait()
        return Said(code, self.text(), time.monotonic() - self.since)
