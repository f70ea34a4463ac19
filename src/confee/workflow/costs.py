"""What jobs took. Each leaves a record: `snakemake -n` estimates a workflow by them, and the report
shows them.

Estimates go by CPU seconds, as seconds by the clock depend on what else the machine did.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from confee.simulation import files
from confee.simulation.calibrate import LEVELS, RUNS
from confee.simulation.cells import Cell
from confee.simulation.needs import Draws
from confee.simulation.units import ESTIMATE, Unit

FOLDER = Path("results/logs/costs")
CALIBRATE, KERNELS = "calibrate", "kernels"
CPU_PER_ROUND = 8e-8
"""CPU seconds of a queried round where nothing has been timed yet: a core of a laptop."""
LATEST = 1000
"""How many records an estimate reads."""

_BEGIN = time.monotonic()


@dataclass
class Part:
    """A part of a job that is timed by itself: a unit, a study or a scale.

    Parameters
    ----------
    what : id of the policy; `study <name>`; `calibrate`
    rounds : rounds a run queries, weighted by the number of arms; for a study, the rounds that fit
        in the time it is expected to take
    turn : turn of fresh seeds
    most, runs : runs at most; runs that were needed
    cpu : CPU seconds
    """

    what: str
    rounds: float
    turn: int = 0
    most: int = 1
    runs: int = 1
    cpu: float = 0.0

    @classmethod
    def of(cls, work: Unit | Draws | Cell) -> Part:
        """The part as planned, with all its runs. A cell stands for its scale."""
        if isinstance(work, Draws):
            return cls(f"study {work.name}", work.seconds / CPU_PER_ROUND)
        if isinstance(work, Cell):
            runs = len(LEVELS) * RUNS
            return cls(CALIBRATE, _rounds(work), most=runs, runs=runs)
        opponents = len(work.opponents)
        if work.pass_ == ESTIMATE:
            opponents = min(opponents, work.seeds.worst)
        runs = work.count * opponents
        return cls(work.cell.policy, _rounds(work.cell), work.turn, runs, runs)


def _rounds(cell: Cell) -> float:
    weight = 0.1 if cell.spec.looks_at_nothing else 1
    return weight * cell.size.B * (1 + cell.size.K / 20)


@dataclass
class Record:
    """What one job took.

    Parameters
    ----------
    cpu, wall : CPU seconds; seconds by the clock
    about : what it did, in words
    outputs : the files it made, below results/
    parts : the parts that were timed by themselves
    """

    cpu: float
    wall: float = 0.0
    about: str = ""
    outputs: list[str] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)


@contextmanager
def timed(part: Part) -> Iterator[Part]:
    """Measure the CPU time of what is done inside."""
    before = time.process_time()
    yield part
    part.cpu = time.process_time() - before


def keep(
    name: str,
    parts: Iterable[Part] = (),
    cpu: float | None = None,
    about: str = "",
    outputs: Iterable[str] = (),
) -> None:
    """Leave the record of a job; by default it took the CPU time of this process so far."""
    spent = time.process_time() if cpu is None else cpu
    record = Record(spent, time.monotonic() - _BEGIN, about, [*outputs], [*parts])
    files.write_text(FOLDER / f"{name}.json", json.dumps(asdict(record)) + "\n")


def read(latest: int | None = LATEST) -> dict[str, Record]:
    """Name -> record of the latest jobs. Damaged records are left out."""
    records: dict[str, Record] = {}
    for file in sorted(FOLDER.glob("*.json"), key=_age)[:latest]:
        try:
            records[file.stem] = _checked(json.loads(files.content(file)))
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return records


def _age(file: Path) -> float:
    """Order records, the latest first; one that has just been removed comes last."""
    try:
        return -file.stat().st_mtime
    except OSError:
        return 0.0


def _checked(kept: Mapping[str, Any]) -> Record:
    """A record. Raises TypeError or ValueError if its values make no sense."""
    record = Record(**{**kept, "parts": [Part(**part) for part in kept["parts"]]})
    texts = [record.about, *record.outputs, *(part.what for part in record.parts)]
    if not (_are_times(record.cpu, record.wall) and all(isinstance(x, str) for x in texts)):
        raise ValueError(kept)
    for part in record.parts:
        counts = part.turn >= 0 and 0 <= part.runs <= part.most and part.most >= 1
        if not (counts and 0 < part.rounds < math.inf and _are_times(part.cpu)):
            raise ValueError(part)
    return record


def _are_times(*seconds: float) -> bool:
    return all(0 <= x < math.inf for x in seconds)
