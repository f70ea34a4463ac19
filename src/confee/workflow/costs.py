"""What jobs took: each leaves a record, by which `snakemake -n` tells the time of a run.

`results/logs/costs/<name>.json` holds a job's CPU seconds and those of its parts. CPU, not wall
clock: what others did on the machine meanwhile says nothing of the next run.
"""

from __future__ import annotations

import dataclasses
import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from confee.simulation import files
from confee.simulation.calibrate import LEVELS, RUNS
from confee.simulation.cells import Cell
from confee.simulation.needs import Draws
from confee.simulation.units import ESTIMATE, Unit

FOLDER = Path("results/logs/costs")
CALIBRATE, KERNELS = "calibrate", "kernels"
A_ROUND = 8e-8
"""CPU seconds of a queried round where nothing was timed yet: a core of a laptop."""
LATEST = 1000
"""So many records are read."""


@dataclass
class Part:
    """What is timed by itself: a unit that was played, a study or a scale.

    Of its `most` runs `runs` were needed, in a `turn` of fresh seeds; `rounds` are those that a run
    queries, its arms counted. A study is one run, of the rounds that fit in the time it is said to
    take.
    """

    what: str
    rounds: float
    turn: int = 0
    most: int = 1
    runs: int = 1
    cpu: float = 0.0

    @classmethod
    def of(cls, one: Unit | Draws | Cell) -> Part:
        """What is known of it before: all runs needed. A cell stands for its scale."""
        if isinstance(one, Draws):
            return cls(f"study {one.name}", one.seconds / A_ROUND)
        if isinstance(one, Cell):
            runs = len(LEVELS) * RUNS
            return cls(CALIBRATE, _rounds(one), most=runs, runs=runs)
        met = len(one.opponents)
        runs = one.count * (min(met, one.seeds.worst) if one.pass_ == ESTIMATE else met)
        return cls(one.cell.policy, _rounds(one.cell), one.turn, runs, runs)


def _rounds(one: Cell) -> float:
    alike = 0.1 if one.spec.looks_at_nothing else 1  # it looks at nothing
    return alike * one.size.B * (1 + one.size.K / 20)


@contextmanager
def timed(part: Part) -> Iterator[Part]:
    """Measures what is done inside; what was not needed of the part is for the inside to say."""
    before = time.process_time()
    yield part
    part.cpu = time.process_time() - before


def keep(name: str, parts: Sequence[Part] = (), cpu: float | None = None) -> None:
    """Leaves the record of a job: by default the CPU time of this process so far."""
    spent = time.process_time() if cpu is None else cpu
    said = {"cpu": spent, "parts": [dataclasses.asdict(part) for part in parts]}
    files.write_text(FOLDER / f"{name}.json", json.dumps(said) + "\n")


def read() -> dict[str, tuple[float, list[Part]]]:
    """Name -> (CPU seconds, parts) of the latest records, those that can be read."""
    made: dict[str, tuple[float, list[Part]]] = {}
    kept = sorted(FOLDER.glob("*.json"), key=_age)
    for file in kept[:LATEST]:
        try:
            said: dict[str, Any] = json.loads(files.content(file))
            made[file.stem] = float(said["cpu"]), [_checked(part) for part in said["parts"]]
        except (OSError, ValueError, KeyError, TypeError):
            continue  # a record is no result: without it the estimate rests on the others
    return made


def _age(file: Path) -> float:
    """Orders records, the latest first; one that is gone meanwhile comes last."""
    try:
        return -file.stat().st_mtime
    except OSError:
        return 0.0


def _checked(said: Mapping[str, Any]) -> Part:
    """A part of a record. Raises TypeError or ValueError if it makes no sense."""
    part = Part(**said)
    sane = isinstance(part.what, str) and 0 < part.rounds < math.inf and 0 <= part.cpu < math.inf
    if not (sane and part.turn >= 0 and 0 <= part.runs <= part.most and part.most >= 1):
        raise ValueError(said)
    return part
