"""Who is at work in this folder: OS locks tell, which the kernel drops when a process dies.

A run locks one byte of the lock file for itself; its jobs share another, so that the next run knows
of those that outlived a killed one. Where locks can't be had (some network file systems) nobody is
seen, and Snakemake's own locks stand.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import itertools
import json
import os
import shutil
import sys
from pathlib import Path
from typing import IO, Any

from confee.core.errors import ConfeeError

LOCK = Path(".snakemake/confee.lock")
"""It holds host and process id of the last run."""
LEFT = Path(".snakemake/locks"), Path(".snakemake/incomplete")
"""Snakemake's own locks, and its marks of jobs that were at work. A marked job it runs again, and
then forgets those that wait for its files; but files here are written whole or not at all."""
RECORDS = Path(".snakemake/metadata")
"""Snakemake's notes of what files were made by. It falls over one that is not as it writes them."""
RUN, JOBS = 0, 1
MINE = "CONFEE_RUN"
"""The environment's variable that tells jobs the host and process id of their run."""
NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}

_held: IO[Any] | None = None  # this process's lock file: closing it would drop its locks


def hold() -> None:
    """Shows, as long as this process lives, that a run is alive in this folder. Raises ConfeeError
    if another one is. Waits for jobs that a killed run left, removes its LEFT, and RECORDS that are
    damaged."""
    global _held
    try:
        LOCK.parent.mkdir(exist_ok=True)
        _held = _opened("a+")
    except OSError as error:
        raise ConfeeError(f"{LOCK}: cannot be written: {error.strerror}") from None
    _held.seek(0)
    host, _, process = _held.read().partition(" ")
    mine = _lock(_held, RUN, fcntl.LOCK_EX | fcntl.LOCK_NB)
    if mine is False:
        whose = f" (process {process} on {host})" if process else ""
        raise ConfeeError(f"a run is alive in this folder{whose}; wait for it or stop it")
    os.environ[MINE] = f"{os.uname().nodename} {os.getpid()}"
    try:  # before it looks for jobs: one that begins later sees that its run is over
        _held.truncate(0)
        _held.write(os.environ[MINE])
        _held.flush()
    except OSError as error:
        raise ConfeeError(f"{LOCK}: cannot be written: {error.strerror}") from None
    if mine:
        if not _lock(_held, JOBS, fcntl.LOCK_EX | fcntl.LOCK_NB):
            said = "waiting for jobs of a killed run that are still at work in this folder"
            print(f"confee: {said}", file=sys.stderr, flush=True)
            _lock(_held, JOBS, fcntl.LOCK_EX)
        _lock(_held, JOBS, fcntl.LOCK_UN)
        if host in ("", os.uname().nodename):  # elsewhere, locks may not be seen from here
            own = [folder for folder in LEFT if not folder.is_symlink()]
            for left in itertools.chain(*(folder.glob("*") for folder in own)):
                shutil.rmtree(left) if left.is_dir() and not left.is_symlink() else left.unlink()
            records = [] if RECORDS.is_symlink() else RECORDS.rglob("*")
            for record in filter(Path.is_file, records):
                if not _is_record(record):
                    record.unlink()


def _is_record(file: Path) -> bool:
    from snakemake.persistence import MetadataRecord

    try:
        MetadataRecord.model_validate(json.loads(file.read_bytes()))
    except ValueError:  # no text, no JSON, or of other types
        return False
    return True


def work() -> None:
    """Shows, as long as this process lives, that a job is at work in this folder.

    Raises ConfeeError if its run is over and another has begun.
    """
    global _held
    with contextlib.suppress(OSError):  # not a job of a run, then
        _held = _opened("r")
        locked = _lock(_held, JOBS, fcntl.LOCK_SH)
        run = os.environ.get(MINE, "")
        here = run.partition(" ")[0] == os.uname().nodename  # elsewhere the file may be seen late
        if locked and here and _held.read() != run:
            raise ConfeeError("the run of this job is over, and another has begun")


def alive() -> bool:
    """Whether a run is alive here, or a job that outlived one."""
    try:
        with _opened("r+") as file:
            free = [_lock(file, byte, fcntl.LOCK_EX | fcntl.LOCK_NB) for byte in (RUN, JOBS)]
    except FileNotFoundError:
        return False
    return False in free


def _opened(mode: str) -> IO[Any]:
    """The lock file. Raises ConfeeError if a link stands in its place: what that leads to would be
    written over."""

    def no_link(path: str, flags: int) -> int:
        return os.open(path, flags | os.O_NOFOLLOW, 0o666)

    try:
        return open(LOCK, mode, encoding="utf-8", errors="replace", opener=no_link)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise ConfeeError(f"{LOCK}: is a symbolic link; delete it") from None


def _lock(file: IO[Any], byte: int, how: int) -> bool | None:
    """Whether the lock is had; None where there are no locks."""
    try:
        fcntl.lockf(file, how, 1, byte)
    except OSError as error:
        if error.errno in NO_LOCKS:
            return None
        if error.errno in (errno.EACCES, errno.EAGAIN):
            return False
        raise
    return True
