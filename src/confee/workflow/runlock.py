"""One workflow at a time in a folder, by OS locks, which the kernel drops when a process dies.

A workflow locks one byte of the lock file for itself. Its jobs share a lock on another byte, so the
next workflow waits for jobs that outlived a killed one. On file systems without locks neither is
noticed, and Snakemake's own locks remain.
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
"""The lock file holds the host and the process id of the last workflow."""
LEFT = Path(".snakemake/locks"), Path(".snakemake/incomplete")
"""Snakemake's own locks, and its marks of unfinished jobs. Snakemake runs a marked job again, but
not the jobs that need its output. No mark is needed here: files are written whole or not at all."""
RECORDS = Path(".snakemake/metadata")
"""Snakemake's records of how files were made. It crashes when it reads a damaged one."""
RUN, JOBS = 0, 1
MINE = "CONFEE_RUN"
"""Environment variable with the host and the process id of a job's workflow."""
NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}

_held: IO[Any] | None = None  # this process's lock file: closing it would drop its locks


def hold() -> None:
    """Take the folder for the workflow of this process, until the process ends.

    Waits for jobs of a killed workflow, then removes LEFT and damaged RECORDS. Raises ConfeeError
    if another workflow is running.
    """
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
        raise ConfeeError(f"a workflow is running in this folder{whose}; wait for it or stop it")
    os.environ[MINE] = f"{os.uname().nodename} {os.getpid()}"
    try:  # before looking for jobs, so that a late job sees that its workflow has ended
        _held.truncate(0)
        _held.write(os.environ[MINE])
        _held.flush()
    except OSError as error:
        raise ConfeeError(f"{LOCK}: cannot be written: {error.strerror}") from None
    if mine:
        if not _lock(_held, JOBS, fcntl.LOCK_EX | fcntl.LOCK_NB):
            message = "waiting for jobs of a killed workflow that are still at work in this folder"
            print(f"confee: {message}", file=sys.stderr, flush=True)
            _lock(_held, JOBS, fcntl.LOCK_EX)
        _lock(_held, JOBS, fcntl.LOCK_UN)
        if host in ("", os.uname().nodename):  # locks of another host may be invisible here
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
    """Share the jobs' lock until this process ends.

    Raises ConfeeError if the job's workflow has ended and another has begun.
    """
    global _held
    with contextlib.suppress(OSError):  # no lock file: started by hand
        _held = _opened("r")
        locked = _lock(_held, JOBS, fcntl.LOCK_SH)
        run = os.environ.get(MINE, "")
        here = run.partition(" ")[0] == os.uname().nodename  # other hosts may see the file late
        if locked and here and _held.read() != run:
            raise ConfeeError("the workflow of this job has ended, and another has begun")


def alive() -> bool:
    """Whether a workflow is running in this folder, or a job that outlived one."""
    try:
        with _opened("r+") as file:
            free = [_lock(file, byte, fcntl.LOCK_EX | fcntl.LOCK_NB) for byte in (RUN, JOBS)]
    except FileNotFoundError:
        return False
    return False in free


def _opened(mode: str) -> IO[Any]:
    """The lock file. Raises ConfeeError if it is a link: its target would be overwritten."""

    def no_link(path: str, flags: int) -> int:
        return os.open(path, flags | os.O_NOFOLLOW, 0o666)

    try:
        return open(LOCK, mode, encoding="utf-8", errors="replace", opener=no_link)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise ConfeeError(f"{LOCK}: must not be a symbolic link; delete it") from None


def _lock(file: IO[Any], byte: int, how: int) -> bool | None:
    """Whether this process got the lock; None on a file system without locks."""
    try:
        fcntl.lockf(file, how, 1, byte)
    except OSError as error:
        if error.errno in NO_LOCKS:
            return None
        if error.errno in (errno.EACCES, errno.EAGAIN):
            return False
        raise
    return True
