"""Which results of an experiment are up to date, and how Snakemake learns of it.

Stages come after the jobs: regret, slopes, claims, each figure and table, album, report. A stage's
note `results/<experiment>/made/<stage>.json` holds its key (see confee.workflow.keys) and the
hashes of its files, so copied results and lost metadata of Snakemake do no harm. Snakemake makes a
stage again if the stage has the input `due`, which only outdated stages have.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from confee.core import sources
from confee.core.errors import ConfeeError
from confee.simulation import files
from confee.workflow.handoff import RESULTS

FAR_FUTURE = 4_102_444_800
"""2100-01-01, later than any date of a result."""


# --------------------------------------------------------------------------- code


def code_of(apart: Sequence[str] = (), also: Sequence[str] = ()) -> dict[str, Any]:
    """The hash of confee's modules without the packages `apart`, but with the modules `also`.

    Plugin policies and adversaries are part of it, as stages read what these declare.
    """
    packages = tuple(f"{package}." for package in apart)
    modules = [name for name in sources.package() if not name.startswith(packages)]
    plugins = sources.plugin_modules("confee.policies", "confee.world.adversaries")
    hashed = sources.code_hash([*also, *plugins], alone=modules)
    return {"apart": [*apart], "also": [*also], "hash": hashed}


def check(planned: Mapping[str, Any]) -> None:
    """Raise ConfeeError if the code of a stage has changed since it was planned."""
    if code_of(planned["apart"], planned["also"]) != planned:
        raise ConfeeError("the code of confee changed while this workflow ran; run snakemake again")


# --------------------------------------------------------------------------- notes


def note(experiment: str, stage: str) -> Path:
    """The file that says what the files of a stage were made from."""
    return RESULTS / experiment / "made" / f"{stage}.json"


def keep_note(experiment: str, stage: str, key: str, outputs: Sequence[Path]) -> None:
    """Note the key of a stage and the hashes of its files."""
    hashes = {file.as_posix(): file_hash(file) for file in outputs}
    files.write_text(note(experiment, stage), json.dumps({"key": key, "files": hashes}) + "\n")


def fits(experiment: str, stage: str, key: str) -> bool:
    """Whether the files of a stage are whole and made from `key`."""
    kept = _read_note(note(experiment, stage))
    try:
        return kept.get("key") == key and all(
            file_hash(Path(file)) == hash for file, hash in kept["files"].items()
        )
    except (OSError, ValueError):
        return False


def drop_stale(experiment: str, keys: Mapping[str, str]) -> None:
    """Remove the files of stages that were made from another key than theirs in `keys`: nobody
    should read them beside results of other runs."""
    for stage, key in keys.items():
        kept = _read_note(note(experiment, stage))
        if kept.get("key") in (None, key):
            continue
        folders = RESULTS / experiment, Path("figures") / experiment
        for file in map(Path, kept["files"]):
            if file.parent in folders and not file.is_symlink():
                file.unlink(missing_ok=True)
        note(experiment, stage).unlink(missing_ok=True)


def is_as_made(file: Path) -> bool:
    """Whether a file of the stage of its name has the bytes that the stage wrote.

    It looks for the stage's note beside the file, because results may have been copied.
    """
    kept = _read_note(file.parent / "made" / f"{file.stem}.json")
    return bool(kept) and file_hash(file) in kept["files"].values()


def _read_note(file: Path) -> dict[str, Any]:
    """The content of a note; empty if it is missing or damaged."""
    try:
        kept = json.loads(files.content(file))
        return kept if isinstance(kept["files"], dict) and isinstance(kept["key"], str) else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def file_hash(file: Path) -> str:
    """The SHA-256 of a file's bytes."""
    return hashlib.sha256(files.content(file)).hexdigest()


# --------------------------------------------------------------------------- dates


def write_due(file: Path, executes: bool) -> None:
    """Write the input of outdated stages, which is newer than their files.

    Snakemake compares its content with the last one, too, so that differs each time. A Snakemake
    that executes jobs refuses outputs dated before an input; one that only looks cannot reset the
    dates of results, and these may lie in the future.
    """
    files.write_text(file, f"{time.time_ns()}\n")
    if not executes:
        os.utime(file, (FAR_FUTURE, FAR_FUTURE))


def reset_future_dates(experiment: str) -> None:
    """Date to now all inputs and outputs of rules that are dated later: the clock was set back."""
    now = time.time()
    for file in _dated(experiment):
        if file.stat().st_mtime > now:
            os.utime(file, (now - 1, now - 1))


def _dated(experiment: str) -> Iterator[Path]:
    """The inputs and outputs of rules."""
    own = RESULTS / experiment, Path("figures") / experiment
    for folder in (*own, RESULTS / "jobs", RESULTS / "calibration"):
        yield from (file for file in folder.rglob("*") if file.is_file())
