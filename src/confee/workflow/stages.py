"""Which results of an experiment are still right: each stage keeps a note of what it was made from.

Snakemake goes by dates, which say nothing once results were copied or their metadata is lost. So a
note `results/<experiment>/made/<stage>.json` holds the stage's key (plan and code) and the hashes
of its files. A rule's input `results/jobs/<key>.due` is dated now if they don't fit, else long ago.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from confee.core import sources
from confee.core.errors import ConfeeError
from confee.simulation import files
from confee.workflow.handoff import RESULTS, note

LONG_AGO = 1_000_000_000


def code_of(apart: Sequence[str] = (), also: Sequence[str] = ()) -> dict[str, Any]:
    """The code that a stage's files are made by: all of confee, but for what is only in packages
    `apart`, which that code does not import, and but for what is `also` used of those."""
    modules = [m for m in sources.package() if not m.startswith(tuple(f"{one}." for one in apart))]
    return {"apart": [*apart], "also": [*also], "hash": sources.code_hash(also, alone=modules)}


def check(planned: Mapping[str, Any]) -> None:
    """Raises ConfeeError if the code that makes a stage's files is no more what was planned."""
    if code_of(planned["apart"], planned["also"]) != planned:
        raise ConfeeError("confee changed since this run was planned; run snakemake again")


def keep_note(experiment: str, stage: str, key: str, made: Sequence[Path]) -> None:
    """Says that `made` are the files of the stage, and what they were made from."""
    text = json.dumps({"key": key, "files": {file.as_posix(): file_hash(file) for file in made}})
    files.write_text(note(experiment, stage), text + "\n")


def drop_stale(experiment: str, wanted: Mapping[str, str]) -> None:
    """Removes the files of stages that were made from something else than their key in `wanted`:
    they are not to be read beside those that rest on other runs."""
    for stage, key in wanted.items():
        said = _note(experiment, stage)
        if said.get("key") in (None, key):
            continue
        own = RESULTS / experiment, Path("figures") / experiment
        for file in map(Path, said["files"]):
            if file.parent in own and not file.is_symlink():
                file.unlink(missing_ok=True)
        note(experiment, stage).unlink(missing_ok=True)


def _note(experiment: str, stage: str) -> dict[str, Any]:
    """What a stage's note says; nothing if there is none, or it is damaged."""
    try:
        said = json.loads(files.content(note(experiment, stage)))
        return said if isinstance(said["files"], dict) and isinstance(said["key"], str) else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def fits(experiment: str, stage: str, key: str) -> bool:
    """Whether the stage's files are there, whole, and made from what `key` stands for."""
    said = _note(experiment, stage)
    try:
        return said.get("key") == key and all(
            file_hash(Path(file)) == hash for file, hash in said["files"].items()
        )
    except (OSError, ValueError):
        return False


def date(due: Path, right: bool, latest: float = 0.0) -> None:
    """Dates the `due` file of a stage whose files are `right`, or not, for Snakemake.

    `latest`: of the dates that Snakemake compares, if some may be dated after now.
    """
    file = due
    if not right:
        files.write_text(file, f"{time.time_ns()}\n")  # another content: Snakemake compares it, too
        if latest > time.time():
            os.utime(file, (latest + 1, latest + 1))
    elif not file.exists() or file.stat().st_mtime > LONG_AGO:
        files.write_text(file, "\n")
        os.utime(file, (LONG_AGO, LONG_AGO))


def latest(experiment: str) -> float:
    """The latest date of what Snakemake compares the dates of: a dry run may not change any."""
    dates = (file.stat().st_mtime for file in _dated(experiment) if file.suffix != ".due")
    return max(dates, default=0.0)


def forget_the_future(experiment: str) -> None:
    """Dates alike all that Snakemake compares the dates of, if some is dated after now: the clock
    was moved back, and Snakemake refuses a file that is older than what it is made from. The notes
    say what is right, whatever the dates."""
    there = _dated(experiment)
    now = time.time()
    if any(file.stat().st_mtime > now for file in there):
        for file in there:
            os.utime(file, (now - 1, now - 1))


def _dated(experiment: str) -> list[Path]:
    """What Snakemake compares the dates of."""
    folders = [RESULTS / experiment, RESULTS / "jobs", RESULTS / "calibration"]
    folders.append(Path("figures") / experiment)
    return [file for folder in folders for file in folder.rglob("*") if file.is_file()]


def file_hash(file: Path) -> str:
    """The SHA-256 of a file's bytes."""
    return hashlib.sha256(files.content(file)).hexdigest()
