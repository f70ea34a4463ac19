"""A faster start: libraries that others import without need stay out, and garbage waits."""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def without(*modules: str) -> Iterator[None]:
    """Make `modules` look uninstalled to imports in this context, unless already imported."""
    hidden = [name for name in modules if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]


def collect_rarely() -> None:
    """Collect garbage after 200,000 new objects instead of 700.

    Imported objects stay as long as the process; looking for garbage among them takes a sixth of
    the start.
    """
    gc.set_threshold(200_000, 10, 10)
