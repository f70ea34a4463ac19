"""What the rules ask of a run, as plain data in a file: a job on another machine reads it.

There Snakemake is started twice a job, and would plan the experiment each time: 4 to 8 CPU seconds
where this takes none. Light: imports nothing of what plays or plans.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

RESULTS = Path("results")
VARIABLE = "CONFEE_TOLD"
"""Names the file to the processes that a run starts; without it they plan for themselves."""


def note(experiment: str, stage: str) -> Path:
    """The file beside those of a stage that says what they were made from."""
    return RESULTS / experiment / "made" / f"{stage}.json"


@dataclass(frozen=True)
class Told:
    """`inputs`: the folder of what jobs read. `needs`: job -> what it waits for. `rests_on`:
    picture -> the results it is drawn from."""

    name: str
    inputs: str
    plan_file: str
    keys: Mapping[str, str]
    pictures: Sequence[str]
    tables: Sequence[str]
    studies: Sequence[str]
    measured: Sequence[str]
    stamps: Sequence[str]
    done: Sequence[str]
    needs: Mapping[str, Sequence[str]]
    rests_on: Mapping[str, Sequence[str]]

    def due(self, stage: str) -> str:
        """The input that tells Snakemake whether the files of a stage are still right."""
        return f"{self.inputs}/{self.keys[stage]}.due"

    def note(self, stage: str) -> str:
        """The output beside the files of a stage."""
        return note(self.name, stage).as_posix()

    @property
    def text(self) -> str:
        return json.dumps(asdict(self), sort_keys=True) + "\n"


def read() -> Told | None:
    """What the run that started this process told; None if it told nothing, or not here."""
    try:
        return Told(**json.loads(Path(os.environ[VARIABLE]).read_text(encoding="utf-8")))
    except (OSError, KeyError, TypeError, ValueError):
        return None
