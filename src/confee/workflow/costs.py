"""What jobs took: each leaves a record, by which `snakemake -n` tells the time of a run.

`results/logs/costs/<name>.json` holds a job's CPU seconds and those of its parts. CPU, not wall
clock: what others did on the machine meanwhile says nothing of the next run.
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from confee.simulation import files
from confee.simulation.calibrate import LEVELS, RUNS
from confee.simulation.cells import Cell
from confee.simulation.needs import Study
from confee.simulation.plan import ESTIMATE, Unit

FOLDER = Path("results/logs/costs")
CALIBRATE, KERNELS = "calibrate", "kernels"
A_RUN = 12e3
"""What a run takes beside its queries, in queried rounds: its path, its random stream, its row."""
LATEST = 1000
"""So many records are read."""


@dataclass
class Part:
    """A unit that was played, a study or a scale: `work` is about what its time is proportional to,
    in queried rounds (of a study: the seconds it was said to take). Of `most` runs `runs` were
    needed."""

    what: str
    work: float
    K: int = 0
    B: int = 0
    turn: int = 0
    most: int = 1
    runs: int = 1
    cpu: float = 0.0

    @classmethod
    def of(cls, one: Unit | Study | Cell) -> Part:
        """What is known of it before: the most that it can be. A cell stands for its scale."""
        if isinstance(one, Study):
            return cls(f"study {one.name}", one.seconds)
        if isinstance(one, Cell):
            return cls(CALIBRATE, float(len(LEVELS) * RUNS * one.B), one.K, one.B)
        met = len(one.opponents)
        most = one.count * (min(met, one.seeds.worst) if one.stage == ESTIMATE else met)
        K, B = one.cell.K, one.cell.B
        work = most * (
            1e3 + B * (1 + K / 20)
        )  # as Unit.cost: a run has its own cost, an arm little
        return cls(one.cell.policy, work, K, B, one.turn, most, most)


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
    kept = sorted(FOLDER.glob("*.json"), key=lambda file: -file.stat().st_mtime)
    for file in kept[:LATEST]:
        try:
            said: dict[str, Any] = json.loads(file.read_text())
            made[file.stem] = float(said["cpu"]), [Part(**part) for part in said["parts"]]
        except (OSError, ValueError, KeyError, TypeError):
            continue  # a record is no result: without it the estimate rests on the others
    return made
