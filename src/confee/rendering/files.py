"""Writing a picture or a table whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A temporary path beside `path`, of this process only; moved onto `path` on success."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def origin(provenance: Mapping[str, str]) -> str:
    """One ASCII line that says where a file comes from: JSON with sorted keys."""
    return json.dumps(dict(provenance), sort_keys=True)
