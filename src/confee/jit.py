"""numba, with a cache folder whose name holds a hash of the kernels' sources.

numba's cache notices an edit of a function's own file only: a cached kernel that calls an edited
helper in another file would run the old code. So every version of the kernels has a folder of its
own. `CONFEE_CACHE` names the root; otherwise it is the user's cache folder, or a temporary one
where that can't be written.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
import time
from pathlib import Path

import numba

PACKAGE = Path(__file__).parent


def source_hash() -> str:
    """A hash of every file that kernels are compiled from."""
    text = hashlib.sha256()
    for folder in ("world", "policies", "simulation/studies"):
        for file in sorted((PACKAGE / folder).rglob("*.py")):
            text.update(file.relative_to(PACKAGE).as_posix().encode() + b"\0" + file.read_bytes())
    return text.hexdigest()[:16]


def _root() -> Path:
    if os.environ.get("CONFEE_CACHE"):
        candidates = [Path(os.environ["CONFEE_CACHE"])]
    else:
        home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
        candidates = [Path(home).expanduser() / "confee"]
    candidates.append(Path(tempfile.gettempdir()) / f"confee-{os.getuid()}")
    for root in candidates:
        try:
            root.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=root):
                return root
        except OSError:
            continue
    return Path(tempfile.mkdtemp(prefix="confee-"))


CACHE = _root() / f"kernels-{source_hash()}"
CACHE.mkdir(exist_ok=True)
with contextlib.suppress(OSError):  # another user's, perhaps
    os.utime(CACHE)  # its date says when it was last used, see `prune`
# Both: numba reads the variable when it is imported, and again whenever the environment changes.
os.environ["NUMBA_CACHE_DIR"] = numba.config.CACHE_DIR = str(CACHE)  # type: ignore[attr-defined]

njit = numba.njit(cache=True, error_model="numpy")
"""The decorator of every kernel: nopython, cached in `CACHE`, x / 0.0 as in numpy."""


def prune(unused_days: float = 7) -> list[Path]:
    """Removes the cache folders that no process has used for so many days; returns them.

    The root is shared by all checkouts of a user, and a run elsewhere may need its kernels now: so
    age alone decides, never which kernels are ours.
    """
    limit = time.time() - unused_days * 86400
    old = [f for f in CACHE.parent.glob("kernels-*") if f != CACHE and f.stat().st_mtime < limit]
    for folder in old:
        shutil.rmtree(folder, ignore_errors=True)
    return old
