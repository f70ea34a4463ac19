"""`python -m confee.runlock`: exit code 0 if no run is alive in this folder, else a line and 1."""

from __future__ import annotations

import fcntl
import sys
from pathlib import Path


def main() -> int:
    """Tries the lock that a run holds (see `confee.pipeline.hold_lock`), without heavy imports."""
    lock = Path(".snakemake/confee.lock")
    if not lock.exists():
        return 0
    with lock.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            print("confee: a run is alive in this folder; wait for it or stop it", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
