"""Less to do at a start: what others import without need, and looking for garbage in it."""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def without(*modules: str) -> Iterator[None]:
    """What is imported meanwhile finds these as if they were not installed, unless they are
    imported already."""
    hidden = [name for name in modules if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]


def collect_rarely() -> None:
    """Garbage is looked for after 200,000 new objects, not 700: among those that stay as long as
    the process, as what is imported does, it takes a sixth of the start."""
    gc.set_threshold(200_000, 10, 10)
