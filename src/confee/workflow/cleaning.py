"""Which result files experiments need, and the removal of the others.

`plan.json` of an experiment is the plan of its last workflow that made all stages. A workflow keeps
its plan in `begun/` until one has made all stages, so files of the last results and files of an
interrupted workflow both count as needed.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from confee.config.experiments import RESERVED
from confee.core.canonical import digest
from confee.core.errors import ConfeeError
from confee.simulation import files
from confee.workflow.jobs import AGAIN, REMAKE, RESULTS

BEGUN = "begun"
MADE = ("config.yaml", "points.csv", "regret.parquet", "claims.json", "report.html", "made")
"""A folder of results/ with one of these is an experiment's."""

PART = "half-written files"
_HASH, _PART = "[0-9a-f]{16}", r"\.part-[a-z0-9_]{8}(\.[a-z]+)?"
KINDS = {
    "cells": rf"cells/[^/]+/{_HASH}\.parquet",
    "studies": rf"studies/[^/]+/{_HASH}\.parquet",
    "scales": rf"calibration/{_HASH}\.json",
    "jobs": rf"jobs/(((plan-|handoff-|told-)?{_HASH}\.json)|due|{_HASH}\.(due|done)"
    r"|none\.compiled|[^/]+-kernels-[0-9a-f]+\.compiled)",
    "logs": rf"logs/(simulate|calibrate)/{_HASH}\.(log|tsv)",
    PART: rf"(.+/)?{_PART}",
}
"""What clean may remove: kind -> pattern of its path in results/. Only confee makes such names."""
FIGURES = Path("figures")


# --------------------------------------------------------------------------- plans


def begin(experiment: str, plan: str) -> None:
    """Keep the plan of a workflow that begins, beside the plan of the last that finished."""
    try:
        known = files.content(_last(experiment)) == plan.encode()
    except (OSError, ValueError):
        known = False
    if not known:
        files.write_text(_begun(experiment, plan), plan)


def settle(experiment: str, plan: str) -> None:
    """Make a plan the experiment's: all of its results are there."""
    files.write_text(_last(experiment), plan)
    _forget(_begun(experiment, plan))


def finish(experiment: str, plan: str) -> None:
    """Settle the plan of a workflow that finished, and forget the other plans that had begun."""
    settle(experiment, plan)
    _forget(*_all_begun(RESULTS / experiment))


def _last(experiment: str) -> Path:
    return RESULTS / experiment / "plan.json"


def _begun(experiment: str, plan: str) -> Path:
    return RESULTS / experiment / BEGUN / f"{digest(plan)}.json"


def _all_begun(folder: Path) -> list[Path]:
    """The plans that unfinished workflows of an experiment left."""
    plans = sorted((folder / BEGUN).glob("*.json"))
    return [file for file in plans if re.fullmatch(_HASH, file.stem)]


def _forget(*begun: Path) -> None:
    for file in begun:
        file.unlink(missing_ok=True)
        with suppress(OSError):  # the folder holds something else
            file.parent.rmdir()


def _plans() -> list[Path]:
    """The plans of all experiments. Raises ConfeeError if one has results and no plan."""
    plans: list[Path] = []
    for folder in sorted(RESULTS.glob("*/")):
        if folder.name in RESERVED:
            continue
        own = [file for file in (folder / "plan.json", *_all_begun(folder)) if file.exists()]
        if not own and any((folder / name).exists() for name in MADE):
            raise ConfeeError(
                f"{folder}: has no plan.json, which lists the files it needs; run its experiment "
                "again, or delete the folder"
            )
        plans += own
    return plans


def _needs(file: Path) -> set[Path]:
    """The cells, studies and scales of a plan. Raises ConfeeError if it is damaged."""
    plan = files.read_sealed(file, AGAIN, REMAKE)
    try:
        names = [name for _, name in [*plan["asked"], *plan["studies"]]]
        return {RESULTS / name for name in [*plan["units"], *names, *plan["calibrations"]]}
    except (KeyError, TypeError, ValueError):
        raise ConfeeError(f"{file}: damaged, or of another version; {REMAKE}") from None


# --------------------------------------------------------------------------- files


def unneeded() -> dict[str, list[Path]]:
    """Kind -> files that confee made and no plan needs. Links are not followed.

    Raises ConfeeError if a plan is missing or damaged, so that it is unknown what is needed.
    """
    if RESULTS.is_symlink():
        raise ConfeeError(f"{RESULTS}: must not be a symbolic link; clean follows none")
    ours = _ours()
    if not ours:
        return {}
    plans = _plans()
    if not plans:
        raise ConfeeError(
            f"{RESULTS}: has no experiment with a plan.json, which lists the files it needs; "
            "run an experiment, or delete the folder"
        )
    needed = set[Path]().union(*map(_needs, plans))
    removable: dict[str, list[Path]] = {}
    for kind, file in ours:
        if file not in needed:
            removable.setdefault(kind, []).append(file)
    return removable


def remove(files: Iterable[Path]) -> list[Path]:
    """Remove those files that are still unneeded, and return them."""
    removable = {file for kind in unneeded().values() for file in kind}
    removed = sorted(removable & {*files})
    for file in removed:
        try:
            file.unlink(missing_ok=True)
        except OSError as error:
            raise ConfeeError(f"{file}: cannot be removed: {error.strerror}") from None
    return removed


def _ours() -> list[tuple[str, Path]]:
    """(kind, file) of all that clean may remove."""
    ours = []
    own = {folder.name for folder in RESULTS.glob("*/") if _is_ours(folder)}
    for file in _below(RESULTS):
        name = file.relative_to(RESULTS).as_posix()
        if name.partition("/")[0] not in own:
            continue
        kinds = [kind for kind, named in KINDS.items() if re.fullmatch(named, name)]
        if kinds and not (kinds[0] == "jobs" and file.suffix == ".json" and not _is_sealed(file)):
            ours.append((kinds[0], file))
    if not FIGURES.is_symlink():
        files_of = (file for file in _below(FIGURES) if file.parent.name in own)
        ours += [(PART, file) for file in files_of if re.fullmatch(_PART, file.name)]
    return ours


def _is_ours(folder: Path) -> bool:
    """Whether a folder of results/ is an experiment's, or another one that confee makes."""
    marks = ("plan.json", BEGUN, *MADE)
    return folder.name in RESERVED or any((folder / name).exists() for name in marks)


def _is_sealed(file: Path) -> bool:
    """Whether confee wrote a file: a job, a plan, a handoff. An empty one counts, too."""
    try:
        text = files.content(file)
    except OSError:
        return False
    marks = files.SEAL.encode(), b'"plan_file"'
    return not text.strip() or (text.startswith(b'{"') and any(mark in text for mark in marks))


def _below(base: Path) -> Iterator[Path]:
    """The files below a folder, in order, without links and what lies behind them."""
    for place, folders, names in os.walk(base):
        folders.sort()
        for name in sorted(names):
            file = Path(place, name)
            with suppress(FileNotFoundError):
                if stat.S_ISREG(file.lstat().st_mode):
                    yield file
