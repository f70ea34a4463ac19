"""Result files: written whole or not at all, and read only if they are what their name says."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from confee.canonical import dumps
from confee.errors import ConfeeError

METADATA, ROWS = b"confee", b"confee.rows"
MAGIC = b"PAR1"
"""Begins and ends a parquet file."""


def write_whole(path: Path | str, write: Callable[[Path], Any]) -> None:
    """Calls `write` on a temporary file beside `path`, then puts it in place in one step.

    It is on the disk by then: a name that outlives a power cut has its content.
    """
    path = Path(path)
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(suffix=path.suffix, prefix=".part-", dir=path.parent)
        os.close(handle)
        temporary = Path(name)
        write(temporary)
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        os.replace(temporary, path)
    except OSError as error:
        raise ConfeeError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink()


def check_writable(path: Path | str) -> None:
    """Raises ConfeeError now, not after the work, if `path` could not be written."""
    path = Path(path)
    if path.is_dir():
        raise ConfeeError(f"{path}: cannot be written: it is a folder")
    if not path.parent.is_dir():
        raise ConfeeError(f"{path}: cannot be written: there is no folder {path.parent}")
    if not os.access(path.parent, os.W_OK):
        raise ConfeeError(f"{path}: cannot be written: no permission in {path.parent}")


def write_text(path: Path | str, text: str) -> None:
    """`text` as the whole content of `path`."""
    write_whole(path, lambda part: part.write_text(text))


def write_table(path: Path | str, rows: Sequence[Mapping[str, Any]], about: Any) -> None:
    """`rows` as parquet, with `about` (canonical JSON) in its metadata."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = pa.table({name: [row.get(name) for row in rows] for name in names})
    write_arrow(path, table, about)


def rows_hash(table: pa.Table) -> bytes:
    """A hash of a table's content: parquet's own checks let one flipped bit in twenty pass."""
    text = hashlib.sha256()
    for name in table.column_names:
        column = table[name]
        text.update(f"{name}:{column.type}:{len(column)}:".encode())
        text.update(column.is_valid().to_numpy().tobytes())
        if pa.types.is_floating(column.type) or pa.types.is_integer(column.type):
            text.update(column.fill_null(0).to_numpy().tobytes())
        else:
            text.update("\0".join(map(str, column.to_pylist())).encode())
    return text.hexdigest().encode()


def write_arrow(path: Path | str, table: pa.Table, about: Any) -> None:
    """An arrow table as parquet, with `about` and the hash of its rows in its metadata."""
    table = table.replace_schema_metadata({METADATA: dumps(about).encode(), ROWS: rows_hash(table)})
    write_whole(path, lambda part: pq.write_table(table, part, compression="zstd"))


def is_whole(path: Path | str) -> bool:
    """Whether a table is there from its first byte to its last. One that is empty or was cut short
    is not; what else may be wrong with it is for `read_table` to see."""
    try:
        with open(path, "rb") as file:
            head, size = file.read(len(MAGIC)), file.seek(0, os.SEEK_END)
            file.seek(max(size - 8, 0))
            footer, tail = int.from_bytes(file.read(4), "little"), file.read()
    except OSError:
        return False
    return head == tail == MAGIC and footer + 12 <= size


def read_table(path: Path | str, remake: str, missing: str = "") -> tuple[pa.Table, Any]:
    """(table, what its metadata says). `remake` tells how to make it anew, `missing` for once.

    Raises ConfeeError, naming the file, if it is missing or damaged.
    """
    try:
        table = pq.ParquetFile(path).read()
        said = table.schema.metadata or {}
        about = json.loads(said[METADATA])
        if said.get(ROWS) not in (None, rows_hash(table)):  # none: of an earlier version
            raise ValueError
    except FileNotFoundError:
        raise ConfeeError(f"{path}: missing; {missing or remake}") from None
    except PermissionError:
        raise ConfeeError(f"{path}: cannot be read: permission denied") from None
    except (OSError, pa.ArrowException, KeyError, ValueError):
        raise ConfeeError(f"{path}: damaged or not confee's; {remake}") from None
    return table, about


def read_json(path: Path | str, missing: str, remake: str) -> Any:
    """The content of a JSON file.

    Raises ConfeeError, naming the file, if it is missing, unreadable or damaged.
    """
    try:
        return json.loads(Path(path).read_text())
    except FileNotFoundError:
        raise ConfeeError(f"{path}: missing; {missing}") from None
    except PermissionError:
        raise ConfeeError(f"{path}: cannot be read: permission denied") from None
    except (OSError, ValueError):
        raise ConfeeError(f"{path}: damaged; {remake}") from None
