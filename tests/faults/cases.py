"""The faults: each is a function that yields a Try for each time it was tried."""

from __future__ import annotations

import os
import random
import shutil
import signal
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count, cycle
from pathlib import Path
from typing import NamedTuple

from folder import ADVICE, Folder, Running, Said, differences

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

    def folder(self, **how) -> Folder:
        """An empty one."""
        return Folder(self.place / f"{self.name}-{next(self.numbers)}", **how)

    def copy(self, records: bool = True, **how) -> Folder:
        """One with the finished run in it, and Snakemake's records of it."""
        return self.folder(**how).like(self.done, records)

    def at(self, start: str) -> Folder:
        """One in which so much is there already."""
        if start == UNITS:
            return self.folder()
        folder = self.copy(records=False)
        shutil.rmtree(folder.path / "figures")
        if start == PLAYED:
            shutil.rmtree(folder.path / "results/tiny")
        else:
            folder.remove("results/tiny/report.html", "results/tiny/made/report.json",
                          *(f"results/tiny/made/{name}.json" for name in PICTURES))  # fmt: skip
        return folder


def ended(s: Setting, folder: Folder, said: Said, mend: Callable[[Said], object] | None = None,
          beside: str = "-", **how) -> Try:  # fmt: skip
    """The outcome of a run. Where it gave a clear line, `mend` does what that asks for (by default,
    deletes the file that it names), and the same command has to finish."""
    lines: list[str] = []
    while said.code and said.clear and len(lines) < 8:
        lines += said.complaints
        if (mend or delete_named(folder))(said) is False:
            return Try(BAD, f"no advice to follow: {lines[-1]}")
        said = folder.run(**how)
    if said.code:
        return Try(BAD, f"exit code {said.code}: {said.text[-2000:]}")
    if wrong := differences(folder, s.reference, beside=beside):
        return Try(BAD, "; ".join(wrong))
    return Try(LINE if lines else ALIKE, " / ".join(lines))


def delete_named(folder: Folder) -> Callable[[Said], bool]:
    """Does what damaged files' errors ask for. False where there is nothing to do."""

    def mend(said: Said) -> bool:
        named = [folder.path / name for name in ADVICE.findall("\n".join(said.complaints))]
        for file in named:
            file.unlink(missing_ok=True)
        return bool(named)

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
            moment = s.rng.uniform(0, span * 0.6)
            process.wait(moment)
            stage, fault = process.stage(), kill(process)
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


FAULTS = {f.__name__: f for f in (one_job, snakemake_alone, whole_group, control_c, terminated)}
