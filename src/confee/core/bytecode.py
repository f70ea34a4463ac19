"""Bytecode that is checked against the content of its source, not against its date.

Python trusts the bytecode of a module if it records the size and date of the source. Archives and
`touch -r` can give an edited file the size and date of the old one; then the old code would run,
and its numbers would be kept under the hash of the new code. So bytecode of confee and of the
plugin folder holds the hash of its source, which Python can compare (PEP 552) but by default does
not.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    SourceFileLoader,
)
from pathlib import Path
from typing import Any

CHECKED = (3).to_bytes(4, "little")
"""Flags of bytecode that holds the hash of its source and is checked against it."""
HEAD = 16
"""Bytes before the code: a magic number, the flags, then the hash, or the date and size."""


class Loader(SourceFileLoader):
    """Python's loader, which here neither reads nor writes bytecode that is checked by date."""

    def get_data(self, path: str) -> bytes:
        data = super().get_data(path)
        if path == self.path:
            self._hash = importlib.util.source_hash(data)
        elif data[4:8] != CHECKED:
            raise OSError(f"{path}: is checked by date")
        return data

    def set_data(self, path: str, data: Any, *, _mode: int = 0o666) -> None:
        super().set_data(path, data[:4] + CHECKED + self._hash + data[HEAD:], _mode=_mode)


def by_hash(*folders: Path) -> None:
    """Load modules in these folders, at any depth, by `Loader` from now on.

    Packages installed below them, as in a checkout's own environment, are loaded as usual.
    """
    roots = [folder.resolve() for folder in folders]

    def in_folders(entry: str) -> bool:
        place = Path(entry).resolve()
        installed = {"site-packages", "dist-packages"} & {*place.parts}
        return not installed and any(place.is_relative_to(root) for root in roots)

    def hook(entry: str) -> FileFinder:
        if not os.path.isdir(entry) or not in_folders(entry):
            raise ImportError(entry)
        compiled = ExtensionFileLoader, EXTENSION_SUFFIXES
        return FileFinder(entry, compiled, (Loader, SOURCE_SUFFIXES))

    sys.path_hooks.insert(0, hook)
    for entry in filter(in_folders, [*sys.path_importer_cache]):
        del sys.path_importer_cache[entry]
