"""Whether a run is alive in this folder: an OS lock tells, which the kernel drops at its death.

A run locks the byte of the lock file whose number is its process id. `python -m confee.runlock`
exits with 0 if no run is alive, else with a line and 1.
"""

from __future__ import annotations

import fcntl
import os
import sys
from pathlib import Path

LOCK = Path(".snakemake/confee.lock")

_held = None  # the open lock file of this process's run: closing it would drop the lock


def hold() -> None:
    """Shows, as long as this process lives, that a run is alive in this folder."""
    global _held
    LOCK.parent.mkdir(exist_ok=True)
    _held = LOCK.open("a")
    fcntl.lockf(_held, fcntl.LOCK_EX, 1, os.getpid())


def alive(besides: int = 0) -> bool:
    """Whether a run is alive here, other than that of process `besides`."""
    if not LOCK.exists():
        return False
    with LOCK.open("a") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, besides or 1, 0)
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 0, besides + 1)
        except OSError:
            return True
    return False


def main() -> int:
    """The exit code."""
    if alive():
        print("confee: a run is alive in this folder; wait for it or stop it", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
