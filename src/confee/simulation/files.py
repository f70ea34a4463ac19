"""Result files: written whole or not at all, and read only if they are what their name says.

pyarrow is imported when it is used, and its `array`, `to_numpy` and `compute` are not: they import
pandas, for 0.6 CPU s in each job.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from confee.core import schema
from confee.core.canonical import dumps
from confee.core.errors import ConfeeError

if TYPE_CHECKING:
    import pyarrow as pa

METADATA, ROWS = b"confee", b"confee.rows"
LARGEST = 2 * 10**8
"""The most values a table may have: compressed, a few bytes can stand for more than memory."""
SEAL = "sha256"
"""The key of a JSON file's own hash."""
MAGIC = b"PAR1"
"""The first and the last bytes of a parquet file."""


def write_whole(path: Path | str, write: Callable[[Path], Any]) -> None:
    """Call `write` on a temporary file beside `path`, then rename it in one step.

    The content is on the disk before the rename, so a file that survives a power cut is whole.
    Raises ConfeeError if the file cannot be written.
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
        reason = "there is a folder; delete it" if path.is_dir() else error.strerror or error
        raise ConfeeError(f"{path}: cannot be written: {reason}") from None
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink()


def check_writable(path: Path | str) -> None:
    """Raise ConfeeError before any work is done if `path` cannot be written."""
    path = Path(path)
    try:
        os.stat(path)
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:  # a name that no file can have
        reason = getattr(error, "strerror", None) or error
        raise ConfeeError(f"{schema.show(path)}: cannot be written: {reason}") from None
    if path.is_dir():
        raise ConfeeError(f"{path}: cannot be written: it is a folder")
    if not path.parent.is_dir():
        raise ConfeeError(f"{path}: cannot be written: there is no folder {path.parent}")
    if not os.access(path.parent, os.W_OK):
        raise ConfeeError(f"{path}: cannot be written: no permission in {path.parent}")


def write_text(path: Path | str, text: str) -> None:
    """Write `text` as the whole content of `path`."""
    write_whole(path, lambda part: part.write_text(text, encoding="utf-8"))


def write_table(path: Path | str, rows: Sequence[Mapping[str, Any]], about: Any) -> None:
    """Write `rows` as parquet, with `about` (canonical JSON) in the metadata."""
    import pyarrow as pa

    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = [_column([row.get(name) for row in rows]) for name in names]
    write_arrow(path, pa.Table.from_arrays(columns, names), about)


def _column(values: Sequence[Any]) -> pa.Array:
    """Return `pyarrow.array(values)`, without the import of pandas that it costs."""
    import pyarrow as pa

    present = [value for value in values if value is not None]
    filled: list[Any]
    if present and all(isinstance(value, str) for value in present):
        filled = [(value or "").encode() for value in values]
        ends = np.cumsum([0, *map(len, filled)], dtype=np.int32)
        type, buffers = pa.string(), [ends, b"".join(filled)]
    elif present and all(isinstance(v, int | float) and not isinstance(v, bool) for v in present):
        filled = [0 if value is None else value for value in values]
        whole = all(isinstance(value, int) for value in filled)
        type, number = (pa.int64(), np.int64) if whole else (pa.float64(), np.float64)
        buffers = [np.array(filled, number)]
    else:
        return pa.array(values)
    valid = None
    if len(present) < len(values):
        valid = np.packbits([value is not None for value in values], bitorder="little")
    parts = [b if b is None else pa.py_buffer(b) for b in (valid, *buffers)]
    return pa.Array.from_buffers(type, len(values), parts)


def rows_hash(table: pa.Table) -> bytes:
    """Return a hash of a table's content: parquet's own checks miss one flipped bit in twenty."""
    import pyarrow as pa

    text = hashlib.sha256()
    for name in table.column_names:
        column = table[name]
        text.update(f"{name}:{column.type}:{len(column)}:".encode())
        valid = [_valid(chunk) for chunk in column.chunks]
        text.update(b"".join(mask.tobytes() for mask in valid))
        if pa.types.is_floating(column.type) or pa.types.is_integer(column.type):
            for chunk, mask in zip(column.chunks, valid, strict=True):
                text.update(np.where(mask, _numbers(chunk), 0).tobytes())
        else:
            text.update("\0".join(map(str, column.to_pylist())).encode())
    return text.hexdigest().encode()


def _valid(chunk: pa.Array) -> np.ndarray:
    """Return a mask of the entries that are not null."""
    if chunk.null_count in (0, len(chunk)):
        return np.full(len(chunk), chunk.null_count == 0)
    bits = np.frombuffer(chunk.buffers()[0], np.uint8)
    return np.unpackbits(bits, bitorder="little")[chunk.offset :][: len(chunk)].astype(bool)


def _numbers(chunk: pa.Array) -> np.ndarray:
    """Return the numbers of a chunk; where an entry is null, the value is arbitrary."""
    kind = chunk.type.to_pandas_dtype()  # numpy's
    return np.frombuffer(chunk.buffers()[1], kind)[chunk.offset :][: len(chunk)]


def write_arrow(path: Path | str, table: pa.Table, about: Any) -> None:
    """Write an arrow table as parquet, with `about` and a hash of its rows in the metadata."""
    import pyarrow.parquet as pq

    table = table.replace_schema_metadata({METADATA: dumps(about).encode(), ROWS: rows_hash(table)})
    write_whole(path, lambda part: pq.write_table(table, part, compression="zstd"))


def content(path: Path | str) -> bytes:
    """Return the content of a file. Raises OSError if it is not a file or cannot be read."""
    _refuse_a_pipe(path)
    return Path(path).read_bytes()


def _refuse_a_pipe(path: Path | str) -> None:
    """Raise OSError if `path` exists and is not a file: opening a pipe could block for ever."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise OSError(errno.EINVAL, "not a file", str(path))


def is_whole(path: Path | str) -> bool:
    """Return whether a table has its first and its last bytes: an empty or truncated one has not.

    `read_table` finds other damage.
    """
    try:
        _refuse_a_pipe(path)
        with open(path, "rb") as file:
            head, size = file.read(len(MAGIC)), file.seek(0, os.SEEK_END)
            file.seek(max(size - 8, 0))
            footer, tail = int.from_bytes(file.read(4), "little"), file.read()
    except OSError:
        return False
    return head == tail == MAGIC and footer + 12 <= size


def read_table(path: Path | str, remake: str, missing: str = "") -> tuple[pa.Table, Any]:
    """Return a table and the content of its metadata.

    Parameters
    ----------
    remake, missing
        End the message: how to make the file again, and how to make it if it is missing.

    Raises
    ------
    ConfeeError
        If the file is missing or damaged; the message names it.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        _refuse_a_pipe(path)
        file = pq.ParquetFile(path)
        metadata = file.schema_arrow.metadata or {}
        about = json.loads(metadata[METADATA])
        if file.metadata.num_rows * file.metadata.num_columns > LARGEST or not all(
            _is_plain(field) for field in file.schema_arrow
        ):
            raise ValueError
        table = file.read()
        if table.schema.metadata != metadata:  # parquet has two copies; this reads the other one
            raise ValueError
        # Without metadata: to_pandas would look up types and indices by the names given there.
        table = table.replace_schema_metadata(None)
        if metadata.get(ROWS) not in (None, rows_hash(table)):  # earlier versions wrote no hash
            raise ValueError
    except FileNotFoundError:
        raise ConfeeError(f"{_named(path)}: missing; {missing or remake}") from None
    except PermissionError:
        raise ConfeeError(f"{_named(path)}: cannot be read: permission denied") from None
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError, RecursionError):
        raise ConfeeError(f"{_named(path)}: damaged or not confee's; {remake}") from None
    return table, about


def _is_plain(field: pa.Field) -> bool:
    """Return whether a column holds numbers or words, and no extension type."""
    from pyarrow import types

    kinds = (types.is_integer, types.is_floating, types.is_string, types.is_boolean, types.is_null)
    return not field.metadata and any(kind(field.type) for kind in kinds)


def read_json(path: Path | str, missing: str, remake: str) -> Any:
    """Return the content of a JSON file.

    Raises ConfeeError, naming the file, if it is missing, unreadable or damaged.
    """
    try:
        return json.loads(content(path))
    except FileNotFoundError:
        raise ConfeeError(f"{_named(path)}: missing; {missing}") from None
    except PermissionError:
        raise ConfeeError(f"{_named(path)}: cannot be read: permission denied") from None
    except (OSError, ValueError, RecursionError):
        raise ConfeeError(f"{_named(path)}: damaged; {remake}") from None


def _named(path: Path | str) -> str:
    """Return a path as messages show it: shortened if it is very long."""
    return str(path) if len(str(path)) <= 200 else schema.show(path)


def sealed(values: Mapping[str, Any]) -> str:
    """Return `values` as JSON text that holds its own hash, see `read_sealed`."""
    return _compact({**values, SEAL: _hash(values)}) + "\n"


def read_sealed(path: Path | str, missing: str, remake: str) -> dict[str, Any]:
    """Return what `sealed` wrote to a file.

    Raises ConfeeError as `read_json` does, and if the content does not fit its hash.
    """
    values = read_json(path, missing, remake)
    seal = values.pop(SEAL, None) if isinstance(values, dict) else None
    if seal is None or seal != _hash(values):
        raise ConfeeError(f"{_named(path)}: damaged, or of another version; {remake}")
    return values


def _compact(values: Mapping[str, Any]) -> str:
    return json.dumps(values, sort_keys=True, separators=(",", ":"))


def _hash(values: Mapping[str, Any]) -> str:
    return hashlib.sha256(_compact(values).encode()).hexdigest()[:16]
