"""Python runs what a source file of confee says now, whatever dates its bytecode has.

Python takes a module's bytecode for right if it tells the size and date of the source. Archives
and `touch -r` give an edited file those of the one before; then the old code would run, and its
numbers would be kept under the hash of the new. So bytecode of confee and of one's own folder holds
the hash of its source, which Python can compare (PEP 552) but by default does not.
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
"""The flags of bytecode that holds a hash of its source, to be compared with it."""
HEAD = 16
"""Bytes before the code itself: a magic number, the flags, then the hash, or date and size."""


class Loader(SourceFileLoader):
    """Python's own, but for bytecode that goes by dates: it is not read, and none is written."""

    def get_data(self, path: str) -> bytes:
        data = super().get_data(path)
        if path == self.path:
            self._hash = importlib.util.source_hash(data)
        elif data[4:8] != CHECKED:
            raise OSError(f"{path}: goes by dates")
        return data

    def set_data(self, path: str, data: Any, *, _mode: int = 0o666) -> None:
        super().set_data(path, data[:4] + CHECKED + self._hash + data[HEAD:], _mode=_mode)


def by_hash(*folders: Path) -> None:
    """From now on modules in these folders, at any depth, are loaded by `Loader`; but not what is
    installed there, as in a checkout's own environment."""
    roots = [folder.resolve() for folder in folders]

    def concerned(entry: str) -> bool:
        place = Path(entry).resolve()
        installed = {"site-packages", "dist-packages"} & {*place.parts}
        return not installed and any(place.is_relative_to(root) for root in roots)

    def hook(entry: str) -> FileFinder:
        if not os.path.isdir(entry) or not concerned(entry):
            raise ImportError(entry)
        compiled = ExtensionFileLoader, EXTENSION_SUFFIXES
        return FileFinder(entry, compiled, (Loader, SOURCE_SUFFIXES))

    sys.path_hooks.insert(0, hook)
    for entry in filter(concerned, [*sys.path_importer_cache]):
        del sys.path_importer_cache[entry]
