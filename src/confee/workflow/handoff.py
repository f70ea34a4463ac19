"""What the rules of the workflow need to know, as plain data in a file.

Snakemake parses the Snakefile twice for each job on another machine. Reading this file there takes
no time; planning the experiment takes 4 to 8 CPU seconds. Light: imports nothing that plays or
plans.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

RESULTS = Path("results")
VARIABLE = "CONFEE_HANDOFF"
"""Names the file to the processes of a workflow. A process without it plans the experiment."""


@dataclass(frozen=True)
class Handoff:
    """What the rules need to know of a workflow.

    Parameters
    ----------
    name : the experiment's folder in results/ and figures/
    inputs : folder of the files that jobs read
    plan_file : the plan, which the stages read
    keys : stage -> its key
    due : the stages that have to be made again
    pictures, tables, studies : names of the figures, tables and studies
    measured : outputs of the stage `slopes`
    stamps : files that show that kernels are compiled
    done : files that show that nothing is missing
    needs : job -> the files it waits for
    rests_on : picture -> the results it shows
    """

    name: str
    inputs: str
    plan_file: str
    keys: Mapping[str, str]
    due: Collection[str]
    pictures: Sequence[str]
    tables: Sequence[str]
    studies: Sequence[str]
    measured: Sequence[str]
    stamps: Sequence[str]
    done: Sequence[str]
    needs: Mapping[str, Sequence[str]]
    rests_on: Mapping[str, Sequence[str]]

    def inputs_of(self, stage: str, *files: str) -> Any:
        """The inputs of a stage's rule.

        Dates of results decide nothing: an outdated stage has an input that is newer than all of
        them, and the inputs of other stages are ancient. An outdated stage's are not: Snakemake
        would not look at it if a stage that it rests on is made again.
        """
        from snakemake.io import ancient

        return [due_file(Path(self.inputs)), *files] if stage in self.due else ancient(files)

    def note(self, stage: str) -> str:
        """The note of a stage, which is an output of its rule."""
        return f"results/{self.name}/made/{stage}.json"

    @property
    def text(self) -> str:
        return json.dumps(asdict(self), sort_keys=True) + "\n"


def due_file(inputs: Path) -> str:
    """The input of all outdated stages."""
    return (inputs / "due").as_posix()


def read() -> Handoff | None:
    """The handoff of the workflow that started this process; None if there is none."""
    try:
        return Handoff(**json.loads(Path(os.environ[VARIABLE]).read_text(encoding="utf-8")))
    except (OSError, KeyError, TypeError, ValueError):
        return None
