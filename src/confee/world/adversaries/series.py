"""A real series in a CSV file, read strictly and identified by its content.

The file has a header row. Its first column is time (numbers or ISO dates, increasing), each other
column is an arm, each row a time, and all cells are numbers. The encoding is UTF-8, with commas.
"""

from __future__ import annotations

import csv
import functools
import io
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from confee.core.canonical import digest
from confee.core.errors import ConfeeError
from confee.core.schema import show

KEY = "adversary.file"

LARGEST = 1e100
"""The largest number in a cell: sums and ratios of larger ones may not be finite."""


@dataclass(frozen=True)
class Series:
    """Series `names` with `values`, [rows, series].

    `digest` depends on names, times and values, not on how the file writes them.
    """

    names: tuple[str, ...]
    values: np.ndarray
    digest: str


def read(file: Path) -> Series:
    """Return the series in `file`; raise ConfeeError if it is invalid."""
    try:
        if file.exists() and not file.is_file():  # A pipe may never end.
            raise ConfeeError(f"{KEY}={file}: not a file; must be a CSV file")
        content = file.read_bytes()
    except FileNotFoundError:
        raise ConfeeError(f"{KEY}={file}: no such file") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfeeError(f"{KEY}={show(file)}: cannot be read: {reason}") from None
    return _parsed(file, content)


@functools.lru_cache(maxsize=16)
def planned(file: Path, digest: str) -> Series:
    """Return the series of `file`; raise ConfeeError unless it has the digest that was planned."""
    series = read(file)
    if series.digest != digest:
        raise ConfeeError(f"{KEY}={file}: changed since it was planned; run again")
    return series


@functools.lru_cache(maxsize=16)
def _parsed(file: Path, content: bytes) -> Series:
    def refuse(reason: str) -> ConfeeError:
        return ConfeeError(f"{KEY}={file}: {reason}")

    try:
        rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error):
        raise refuse("not a CSV file; must be text with commas") from None
    while rows and not any(cell.strip() for cell in rows[-1]):  # blank lines at the end
        rows.pop()
    if not rows:
        raise refuse("empty; must have a header row")
    names = [name.strip() for name in rows[0]]
    if len(names) < 3:
        raise refuse(f"{max(len(names) - 1, 0)} series; must have a time and at least 2")
    if "" in names[1:] or len(set(names)) < len(names):
        raise refuse("a column's name is missing or used twice")
    if len(rows) < 3:
        raise refuse(f"{len(rows) - 1} rows under the header; must be at least 2")
    for line, row in enumerate(rows, start=1):
        if len(row) != len(names):
            raise refuse(f"line {line} has {len(row)} cells; must have {len(names)}")
    times = _times([row[0].strip() for row in rows[1:]], refuse)
    for line, (before, after) in enumerate(itertools.pairwise(times), start=3):
        if not before < after:
            raise refuse(f"line {line}: time {rows[line - 1][0]} is not after the one before it")
    values = np.empty((len(rows) - 1, len(names) - 1))
    for i, row in enumerate(rows[1:]):
        for j, cell in enumerate(row[1:]):
            values[i, j] = _number(cell, f"line {i + 2}, {show(names[j + 1])}", refuse)
    values.flags.writeable = False
    content_read = [names[1:], [str(time) for time in times], values.tolist()]
    return Series(tuple(names[1:]), values, digest(content_read))


def _number(cell: str, where: str, refuse: Callable[[str], ConfeeError]) -> float:
    if not cell.strip():
        raise refuse(f"{where}: no value; must be a number")
    number = _float(cell)
    if number is None or abs(number) > LARGEST:
        raise refuse(f"{where}: {show(cell)}; must be a finite number")
    return number


def _float(cell: str) -> float | None:
    try:
        number = float(cell) if "_" not in cell else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _date(cell: str) -> datetime | None:
    try:
        return datetime.fromisoformat(cell)
    except ValueError:
        return None


def _times(cells: list[str], refuse: Callable[[str], ConfeeError]) -> list[Any]:
    """Return comparable times: numbers, or dates that all have a time zone or all have none."""
    for parse in (_float, _date):
        times = [parse(cell) for cell in cells]
        zones = {getattr(time, "tzinfo", None) is None for time in times}
        if None not in times and len(zones) == 1:
            return times
    raise refuse("its first column must be time: all numbers, or all ISO dates")
