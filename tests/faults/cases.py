"""The faults: each is a function that yields a Try for each time it was tried."""

from __future__ import annotations

import base64
import io
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count, cycle
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq
from folder import ADVICE, ROOT, TINY, Folder, Running, Said, differences

from confee.core import jit
from confee.core.errors import ConfeeError
from confee.simulation.files import read_table

ALIKE, LINE, BAD = "alike", "one line", "bad"

PICTURES = ("regret-T", "table1", "ledger")
UNITS, PLAYED, JUDGED = "nothing", "units", "verdicts"
"""What is there when a run begins: nothing, all units, all but pictures and report."""

CHAIN = 6
"""So many kills befall a folder before it is left to finish."""


class Try(NamedTuple):
    """How a try ended; what was seen, for who wants to know."""

    outcome: str
    note: str = ""


class Skipped(Exception):
    """A fault that cannot be had here, and why."""


START_TO_END = {UNITS: 1.0, PLAYED: 0.5, JUDGED: 0.35}
"""How much of a whole run's time is left from there, about."""


@dataclass
class Setting:
    """What all faults share: a place to work, a run without faults, and chance."""

    place: Path
    done: Folder
    reference: dict[str, str]
    seconds: float
    rng: random.Random
    tries: int
    name: str
    numbers: Iterator[int] = field(default_factory=count)
    starts: Iterator[str] = field(default_factory=lambda: cycle(START_TO_END))

    def path(self) -> Path:
        """Where nothing is yet."""
        return self.place / f"{self.name}-{next(self.numbers)}"

    def folder(self, **how) -> Folder:
        """An empty one."""
        return Folder(self.path(), **how)

    def copy(self) -> Folder:
        """One with the finished run in it, and Snakemake's records of it."""
        return self.folder().like(self.done, records=True)

    def at(self, start: str, place: Path | None = None) -> Folder:
        """One in which so much is there already."""
        folder = Folder(place) if place else self.folder()
        if start == UNITS:
            return folder
        folder.like(self.done)
        shutil.rmtree(folder.path / "figures")
        if start == PLAYED:
            shutil.rmtree(folder.path / "results/tiny")
        else:
            folder.remove(
                "results/tiny/report.html",
                "results/tiny/made/report.json",
                *(f"results/tiny/made/{name}.json" for name in PICTURES),
            )
        return folder


def ended(
    s: Setting,
    folder: Folder,
    said: Said,
    mend: Callable[[Said], object] | None = None,
    before: str = "",
    beside: str = "-",
) -> Try:
    """The outcome of a run. Where it gave a clear line, `mend` does what that asks for (by default,
    deletes the file that it names), and the same command has to finish."""
    lines: list[str] = []
    while said.code and said.clear and len(lines) < 8:
        lines += said.complaints
        if (mend or delete_named(folder))(said) is False:
            return Try(BAD, f"{before}: no advice to follow: {lines[-1]}")
        said = folder.run()
    if said.code or said.crashed:
        return Try(BAD, f"{before}: exit code {said.code}: {said.text}")
    if wrong := differences(folder, s.reference, beside=beside):
        return Try(BAD, f"{before}: {'; '.join(wrong)}")
    return Try(LINE if lines else ALIKE, " / ".join([before, *lines]))


def delete_named(folder: Folder) -> Callable[[Said], bool]:
    """Does what damaged files' errors ask for. False where there is nothing to do."""

    def mend(said: Said) -> bool:
        told = "\n".join(said.complaints)
        for name in ADVICE.findall(told):
            (folder.path / name).unlink(missing_ok=True)
        return "run snakemake again" in told

    return mend


# --------------------------------------------------------------------------- kills

Kill = Callable[[Running], str | None]
"""Ends a run; what is wrong with how it ended, "" if nothing; None if it was at its end anyway."""


def kills(s: Setting, kill: Kill, tries: int) -> Iterator[Try]:
    """`kill` at random moments, a few in each folder. A try is alike if what is there then is whole
    and what was complete before is untouched; the last of a folder is finished, too."""
    while tries:
        start = next(s.starts)
        folder, span = s.at(start), s.seconds * START_TO_END[start]
        kept = folder.units()
        killed: list[Try] = []
        while tries and len(killed) < CHAIN:
            process = folder.start()
            process.wait(s.rng.uniform(0, span * 0.4))
            fault, stage = kill(process), process.stage()
            if fault is None:
                break
            tries -= 1
            wrong = [fault] if fault else []
            wrong += differences(folder, s.reference, finished=False) + lost(kept, folder)
            kept |= folder.units()
            killed.append(Try(BAD if wrong else ALIKE, "; ".join([stage, *wrong])))
        last = ended(s, folder, folder.run(), mend=lambda _: False)
        if killed and (last.outcome != ALIKE or lost(kept, folder)):
            killed[-1] = Try(BAD, "; ".join([last.note, *lost(kept, folder)]))
        yield from killed
        if last.outcome == ALIKE:
            shutil.rmtree(folder.path)


def lost(kept: Mapping[str, tuple[int, int]], folder: Folder) -> list[str]:
    """Units that were complete and are not what they were, file and date."""
    now = folder.units()
    return [f"{name}: was complete, was made again" for name in kept if now.get(name) != kept[name]]


def one_job(s: Setting) -> Iterator[Try]:
    """kill -9 of one job"""

    def kill(process: Running) -> str | None:
        process.wait(60, process.jobs)
        jobs = process.jobs()
        if not jobs:
            return None
        os.kill(s.rng.choice(jobs), signal.SIGKILL)
        said = process.end()
        if said.code == 0:  # it had done its work already
            return None
        return "" if said.clear and "SIGKILL" in said.text else f"no clear line: {said.text}"

    yield from kills(s, kill, s.tries)


def snakemake_alone(s: Setting) -> Iterator[Try]:
    """kill -9 of Snakemake alone, its jobs go on"""

    def kill(process: Running) -> str | None:
        if not process.alive():
            return None
        process.main.kill()
        process.main.wait()
        return ""

    yield from kills(s, kill, s.tries)


def whole_group(s: Setting) -> Iterator[Try]:
    """kill -9 of the whole group"""

    def kill(process: Running) -> str | None:
        if not process.alive():
            return None
        process.signal(signal.SIGKILL)
        process.main.wait()
        return ""

    yield from kills(s, kill, s.tries)


def control_c(s: Setting) -> Iterator[Try]:
    """Ctrl-C"""
    stop = stopped(lambda process: process.signal(signal.SIGINT))
    yield from kills(s, stop, max(s.tries // 3, 1))


def terminated(s: Setting) -> Iterator[Try]:
    """SIGTERM to Snakemake"""
    stop = stopped(lambda process: process.main.terminate())
    yield from kills(s, stop, max(s.tries // 3, 1))


def stopped(ask: Callable[[Running], object]) -> Kill:
    """Asks a run to stop; if it does, it says so and shows no traceback."""

    def kill(process: Running) -> str | None:
        # Before it read the Snakefile it is Python's own imports that are interrupted.
        process.wait(60, lambda: process.stage() != "starting")
        if not process.alive():
            return None
        ask(process)
        said = process.end()
        if said.code == 0:
            return None
        good = "Traceback" not in said.text and "stopp" in said.text
        return "" if good else f"stopped without saying so: {said.text}"

    return kill


# --------------------------------------------------------------------------- disks


def as_root(*words: object) -> None:
    """Runs a command of the system. Raises Skipped where that is not allowed."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode:
        raise Skipped(f"wants root: {' '.join(done.stderr.split())}")


@contextmanager
def mounted(place: Path, *words: object) -> Iterator[None]:
    place.mkdir(exist_ok=True)
    as_root("mount", *words, place)
    try:
        yield
    finally:
        as_root("umount", "--lazy", place)


def full_disk(s: Setting) -> Iterator[Try]:
    """disk full: a tmpfs with little room left"""
    rooms = [(UNITS, 60, 0), (UNITS, 200, 0), (PLAYED, 0, 0), (PLAYED, 160, 0), (JUDGED, 0, 0)]
    rooms += [(JUDGED, 40, 0), (JUDGED, 240, 0), (PLAYED, 1000, 30), (UNITS, 1000, 10)]
    for start, kilobytes, files in rooms:
        place = s.path()
        with mounted(place, "-t", "tmpfs", "tmpfs"):
            folder = s.at(start, place)
            there = os.statvfs(place)
            used = (there.f_blocks - there.f_bfree) * there.f_frsize + kilobytes * 1024
            limits = f"size={used}"
            if files:
                limits += f",nr_inodes={there.f_files - there.f_ffree + files}"
            as_root("mount", "-o", f"remount,{limits}", place)

            def mend(said: Said, place: Path = place) -> None:
                as_root("mount", "-o", "remount,size=1g,nr_inodes=100000", place)

            left = f"{start}, {kilobytes} kB" + f", {files} files" * bool(files)
            yield ended(s, folder, folder.run(), mend, before=left)


def full_cache(s: Setting) -> Iterator[Try]:
    """disk full: that of compiled kernels"""
    place = s.path()
    with mounted(place, "-t", "tmpfs", "-o", "size=400k", "tmpfs"):
        folder = s.folder(CONFEE_CACHE=str(place))

        def mend(said: Said) -> None:
            as_root("mount", "-o", "remount,size=1g", place)

        yield ended(s, folder, folder.run(), mend)


def read_only(s: Setting) -> Iterator[Try]:
    """read-only results, figures, all of it"""
    for name in ("results", "figures", "."):
        folder = s.at(PLAYED)
        place = folder.path / name
        place.mkdir(exist_ok=True)
        with mounted(place, "--bind", place):
            as_root("mount", "-o", "remount,ro,bind", place)

            def mend(said: Said, place: Path = place) -> None:
                as_root("mount", "-o", "remount,rw,bind", place)

            yield ended(s, folder, folder.run(), mend, before=name)


NOBODY = {"user": 65534, "group": 65534, "extra_groups": []}


def can_run(program: str) -> bool:
    """Whether a user without rights can run a program."""
    with suppress(PermissionError):
        return subprocess.run([program, "-c", ""], **NOBODY).returncode == 0
    return False


def anothers(s: Setting) -> Iterator[Try]:
    """a folder of another user"""
    if os.geteuid() or not can_run(sys.executable):
        raise Skipped("wants root, and a Python that others may run")
    folder = s.at(JUDGED)
    home = s.path()
    home.mkdir()
    home.chmod(0o777)
    os.chmod(s.place, 0o755)
    usual = dict(folder.env)
    folder.env |= {"HOME": str(home), "CONFEE_CACHE": str(home)}
    said = folder.run(**NOBODY)
    folder.env = usual
    yield ended(s, folder, said, lambda said: None)


# --------------------------------------------------------------------------- damage

DAMAGE: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "cut short": lambda data, rng: data[: rng.randrange(1, len(data))],
    "empty": lambda data, rng: b"",
    "a bit flipped": lambda data, rng: flipped(data, rng.randrange(8 * len(data))),
}


def flipped(data: bytes, bit: int) -> bytes:
    """The same with another bit."""
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def damage(s: Setting, files: Sequence[Path], first: int) -> None:
    """Damages files, the kinds of damage in turn, from the `first` on."""
    kinds = list(DAMAGE.values())
    for at, file in enumerate(files, first):
        if data := file.read_bytes():
            file.write_bytes(kinds[at % len(kinds)](data, s.rng))


def damaged(
    s: Setting, *patterns: str, gone: Sequence[str] = (), all_of: bool = True
) -> Iterator[Try]:
    """Files of a finished run damaged, of each pattern all or one; three times, so that each file
    is cut short, emptied, and has a bit flipped. What is made from them is `gone`: they are read.
    """
    for first in range(len(DAMAGE)):
        folder = s.copy().remove(*gone)
        found = [sorted(f for f in folder.path.glob(p) if f.is_file()) for p in patterns]
        chosen = [file for some in found for file in (some if all_of else [s.rng.choice(some)])]
        damage(s, chosen, first)
        said = folder.run()
        undo_what_is_not_read(s, folder, chosen)
        yield ended(s, folder, said, before=f"{len(chosen)} files")


MADE = ("results/tiny/regret.parquet", "results/tiny/asked.parquet")


def damaged_unit(s: Setting) -> Iterator[Try]:
    """damaged: a unit of each policy"""
    each = [f"results/cells/{name}/*" for name in ("hyque", "rexp3b", "hyque_calibrated")]
    yield from damaged(s, *each, gone=MADE, all_of=False)


def damaged_earlier(s: Setting) -> Iterator[Try]:
    """damaged: units that missing ones wait for"""
    folder = s.copy().remove(*MADE)
    units = sorted(folder.path.glob("results/cells/*/*"))
    s.rng.shuffle(units)
    for file in units[len(units) // 2 :]:
        file.unlink()
    hurt = units[: len(units) // 4]
    damage(s, hurt, 0)
    said = folder.run()
    undo_what_is_not_read(s, folder, hurt)
    yield ended(s, folder, said)


def undo_what_is_not_read(s: Setting, folder: Folder, hurt: Sequence[Path]) -> None:
    """A bit of a table that no reader reads harms nothing, and stays: it does not count."""
    for file in hurt:
        whole = s.done.path / file.relative_to(folder.path)
        if file.suffix == ".parquet" and same_rows(file, whole):
            shutil.copy2(whole, file)


def same_rows(file: Path, other: Path) -> bool:
    """Whether confee reads the same from two tables."""
    try:
        (mine, said), (theirs, also) = (read_table(one, "") for one in (file, other))
    except ConfeeError:
        return False
    return mine.equals(theirs) and said == also


def damaged_tables(s: Setting) -> Iterator[Try]:
    """damaged: regret.parquet and asked.parquet"""
    yield from damaged(s, *MADE)


def damaged_evidence(s: Setting) -> Iterator[Try]:
    """damaged: worst.csv, slopes.csv, points.csv, config.yaml"""
    yield from damaged(s, "results/tiny/*.csv", "results/tiny/config.yaml")


def damaged_verdicts(s: Setting) -> Iterator[Try]:
    """damaged: claims.json, claims.md"""
    yield from damaged(s, "results/tiny/claims.*")


def damaged_pictures(s: Setting) -> Iterator[Try]:
    """damaged: figures, tables, captions, the report"""
    yield from damaged(s, "figures/tiny/*", "results/tiny/report.html")


def damaged_notes(s: Setting) -> Iterator[Try]:
    """damaged: notes of what stages were made from"""
    yield from damaged(s, "results/tiny/made/*")


def damaged_plans(s: Setting) -> Iterator[Try]:
    """damaged: plans, lists of work, records of times"""
    half = ("results/cells/rexp3b/*", *MADE)
    what = ("results/tiny/plan.json", "results/jobs/*", "results/logs/**/*")
    yield from damaged(s, *what, gone=half)


def damaged_scales(s: Setting) -> Iterator[Try]:
    """damaged: calibrated scales"""
    for more in ((), ("results/cells/hyque_calibrated/*",)):
        folder = s.copy().remove(*MADE, *more)
        damage(s, sorted(folder.path.glob("results/calibration/*")), 0)
        yield ended(s, folder, folder.run(), before="units gone" if more else "units there")


def damaged_kernels(s: Setting) -> Iterator[Try]:
    """damaged: compiled kernels"""
    for first in range(len(DAMAGE)):
        cache = shutil.copytree(jit.ROOT, s.path())
        damage(s, sorted([*cache.rglob("rexp3b*.nb?"), *cache.rglob("uniform*.nb?")]), first)
        folder = s.folder(CONFEE_CACHE=str(cache))
        yield ended(s, folder, folder.run(), before=list(DAMAGE)[first])


def damaged_records(s: Setting) -> Iterator[Try]:
    """damaged: Snakemake's own records"""
    yield from damaged(s, ".snakemake/metadata/*", gone=MADE)


# --------------------------------------------------------------------------- dates

DAYS = 400 * 86400


def date_ahead(folder: Folder) -> None:
    """Dates all that is there so far after now as if the clock had been moved back."""
    for file in (*folder.path.rglob("results/**/*"), *folder.path.rglob("figures/**/*")):
        with suppress(FileNotFoundError):  # a run may be alive
            stat = file.stat()
            os.utime(file, (stat.st_atime + DAYS, stat.st_mtime + DAYS))


def clock_back(s: Setting) -> Iterator[Try]:
    """clock moved back: after a run, a kill, during a run"""
    folder = s.copy()
    date_ahead(folder)
    yield ended(s, folder, folder.run(), before="finished")
    folder = s.copy()
    date_ahead(folder)
    for name in ("results/tiny/claims.json", "figures/tiny/regret-T.png"):
        file = folder.path / name
        date = file.stat().st_mtime
        file.write_bytes(file.read_bytes()[:-9])
        os.utime(file, (date, date))
    yield ended(s, folder, folder.run(), before="damaged")
    for start in (UNITS, PLAYED, JUDGED):
        folder = s.at(start)
        process = folder.start()
        process.wait(s.rng.uniform(0.2, 0.6) * s.seconds * START_TO_END[start])
        stage = process.stage()
        process.signal(signal.SIGKILL)
        process.main.wait()
        date_ahead(folder)
        yield ended(s, folder, folder.run(), before=f"killed, {stage}")
    for start in (UNITS, PLAYED):
        folder = s.at(start)
        process = folder.start()
        process.wait(s.rng.uniform(0.2, 0.8) * s.seconds * START_TO_END[start])
        stage = process.stage()
        date_ahead(folder)
        yield ended(s, folder, process.end(), lambda said: None, before=f"running, {stage}")


# --------------------------------------------------------------------------- two at once


def doubled(s: Setting) -> Iterator[Try]:
    """two runs at once, of one experiment"""
    for start, later in ((PLAYED, 0.0), (JUDGED, 0.7), (UNITS, s.rng.uniform(0.1, 0.7))):
        folder = s.at(start)
        first = folder.start()
        first.wait(later * s.seconds * START_TO_END[start] if later != 0.7 else later)
        second = folder.start()
        yield both(s, folder, first.end(), second.end(), f"{start}, {first.stage()}")


def beside(s: Setting) -> Iterator[Try]:
    """two runs at once, of two experiments"""
    folder = s.at(PLAYED)
    first = folder.start()
    first.wait(s.rng.uniform(0, 0.2) * s.seconds)
    second = folder.start(overrides=f"{folder.overrides} name=other")
    yield both(s, folder, first.end(), second.end(), PLAYED, beside="*/other/*")


def both(s: Setting, folder: Folder, one: Said, two: Said, before: str, beside: str = "-") -> Try:
    """The outcome of two runs: one finishes, the other does, too, or says who is in its way."""
    for refused in (one, two):
        told = refused.clear and "a workflow is running in this folder" in refused.text
        if refused.code and not told:
            return Try(BAD, f"{before}: {refused.text}")
    if one.code and two.code:
        return Try(BAD, f"{before}: both refused")
    whole = one if two.code else two
    found = ended(s, folder, whole, beside=beside, before=before)
    if found.outcome == ALIKE and (one.code or two.code):
        return Try(LINE, f"{before}: {[*one.complaints, *two.complaints][-1]}")
    return found


# --------------------------------------------------------------------------- other versions

BACK = 40


def older(s: Setting) -> Iterator[Try]:
    """results of an older version (40 commits back)"""
    root = s.path()
    root.mkdir()
    packed = subprocess.run(["git", "archive", f"HEAD~{BACK}"], cwd=ROOT, capture_output=True)
    if packed.returncode:
        raise Skipped("wants the history, by git")
    subprocess.run(["tar", "x", "-C", root], input=packed.stdout, check=True)
    old = s.folder(root=root)
    said = old.run()
    if said.code:
        yield Try(BAD, f"the older version fails by itself: {said.text}")
        return
    folder = s.folder().like(old, records=True)
    kept = folder.units()
    found = ended(s, folder, folder.run())
    same = len(kept.keys() & s.reference.keys())
    yield Try(found.outcome, f"{same} of {len(kept)} units still fit; {found.note}")


OTHER = f"{TINY} policies.hyque.scale=2"


def changed(s: Setting) -> Iterator[Try]:
    """configuration changed after a kill, and back"""
    clean = s.folder()
    clean.run(overrides=OTHER)
    others = clean.hashes()
    for start in (UNITS, PLAYED):
        folder = s.at(start)
        process = folder.start()
        process.wait(s.rng.uniform(0.2, 0.7) * s.seconds * START_TO_END[start])
        stage = process.stage()
        process.main.kill()  # its jobs go on
        said = folder.run(overrides=OTHER)
        if said.code or (wrong := differences(folder, others)):
            yield Try(BAD, f"{stage}: {said.text if said.code else wrong}")
        else:
            yield ended(s, folder, folder.run(), before=stage)
    folder = s.copy()
    marked = folder.path / ".snakemake/incomplete"
    marked.mkdir(parents=True, exist_ok=True)
    for stamp in folder.path.glob("results/jobs/*.compiled"):  # killed just before it was noted
        name = str(stamp.relative_to(folder.path)).encode()
        (marked / base64.b64encode(name).decode()).touch()
    said = folder.run(overrides=OTHER)
    if said.code or (wrong := differences(folder, others)):
        yield Try(BAD, f"marked: {said.text if said.code else wrong}")
    else:
        yield ended(s, folder, folder.run(), before="kernels marked as incomplete")
    for shown in (False, True):
        yield outlived(s, others, shown)


def outlived(s: Setting, others: Mapping[str, str], shown: bool) -> Try:
    """A job of a killed run that would write after the next run, of another configuration. That
    waits for it if it has `shown` that it is at work; else it ends where it would show it."""
    before = f"jobs outlived their run, {'shown' if shown else 'not shown'}"
    for _ in range(9):
        folder = s.at(JUDGED)
        process = folder.start()
        process.wait(60, folder.at_work if shown else process.jobs)
        process.signal(signal.SIGSTOP)
        if process.jobs() and folder.at_work() is shown:
            break
        process.signal(signal.SIGKILL)
    else:
        return Try(BAD, f"{before}: none was caught so")
    process.main.kill()
    second = folder.start(overrides=OTHER)
    second.wait(60, lambda: "waiting for jobs" in second.text())
    waits = second.alive()
    process.signal(signal.SIGCONT)
    said = second.end()
    deadline = time.monotonic() + 30
    while (living := process.jobs()) and time.monotonic() < deadline:
        time.sleep(0.1)
    if living or waits is not shown:
        return Try(BAD, f"{before}: {len(living)} live on; the next run waits: {waits}")
    if said.code or (wrong := differences(folder, others)):
        return Try(BAD, f"{before}: {said.text if said.code else wrong}")
    return ended(s, folder, folder.run(), before=before)


def cores(s: Setting) -> Iterator[Try]:
    """cores 1 and 4, shards of one seed (the run without faults: 2)"""
    for many in (1, 4):
        folder = s.folder()
        yield ended(s, folder, folder.run(cores=many), before=str(many))
    folder = s.folder()
    said = folder.run(overrides=f"{TINY} jobs.shard=1")
    # A file of one seed has another name than one of many; all that is made of them is the same.
    cut = ("results/cells/", "results/tiny/plan.json")
    wrong = [one for one in differences(folder, s.reference) if not one.startswith(cut)]
    good = not said.code and not wrong
    yield Try(ALIKE if good else BAD, f"shards: {said.text if said.code else wrong}")


# --------------------------------------------------------------------------- controls


def control_byte(s: Setting) -> Iterator[Try]:
    """control: a byte changed, and no run after it"""
    folder = s.copy()
    for name in sorted(s.reference):
        file = folder.path / name
        data = file.read_bytes()
        file.write_bytes(flipped(data, s.rng.randrange(8 * len(data))))
        found = differences(folder, s.reference) == [f"{name}: other bytes"]
        file.write_bytes(data)
        if not found:
            yield Try(BAD, f"{name}: not found")
            return
    yield Try(ALIKE, f"found in each of {len(s.reference)} files")


def control_gullible(s: Setting) -> Iterator[Try]:
    """control: a version that takes damaged units"""
    root = s.path()
    for name in ("Snakefile", "conf", "workflow", "profiles", "src"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        root.mkdir(exist_ok=True)
        copy(ROOT / name, root / name)
    reader = root / "src/confee/simulation/files.py"
    check = "said.get(ROWS) not in (None, rows_hash(table))"
    assert check in reader.read_text()
    reader.write_text(reader.read_text().replace(check, "False"))
    folder = s.folder(root=root).like(s.at(PLAYED))
    unit = folder.one(s.rng, "results/cells/uniform/*")
    unit.write_bytes(unseen_damage(unit.read_bytes(), s.rng))
    said = folder.run()
    wrong = differences(folder, s.reference)
    found = said.code == 0 and "results/tiny/regret.parquet: other bytes" in wrong
    yield Try(ALIKE if found else BAD, "found" if found else f"not found: {said.text} {wrong}")


def unseen_damage(data: bytes, rng: random.Random) -> bytes:
    """A table with a bit flipped that parquet reads without complaint, to other numbers."""

    def regret(data: bytes) -> list[float] | None:
        try:
            return pq.ParquetFile(io.BytesIO(data)).read()["regret"].to_pylist()
        except Exception:  # whatever parquet thinks of it
            return None

    whole = regret(data)
    while True:
        changed = flipped(data, rng.randrange(8 * len(data)))
        if regret(changed) not in (None, whole):
            return changed


KILLS = (one_job, snakemake_alone, whole_group, control_c, terminated)
DISKS = (full_disk, full_cache, read_only, anothers)
DAMAGES = (
    damaged_unit,
    damaged_earlier,
    damaged_tables,
    damaged_evidence,
    damaged_verdicts,
    damaged_pictures,
    damaged_notes,
    damaged_plans,
    damaged_scales,
    damaged_kernels,
    damaged_records,
)
RUNS = (clock_back, doubled, beside, older, changed, cores)
CONTROLS = (control_byte, control_gullible)
FAULTS = {f.__name__: f for f in (*KILLS, *DISKS, *DAMAGES, *RUNS, *CONTROLS)}
