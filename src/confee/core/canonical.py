"""Canonical values, stable hashes and random streams keyed on them.

1e4, 10000 and 10000.0 are one value, mappings are sorted, and Python's own `hash` is never used. So
a cell has the same file name and the same random numbers in every process.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from confee.core.errors import ConfeeError


def canonical(value: Any, where: str = "") -> Any:
    """Return `value` in JSON types, with whole floats as integers and mappings sorted by key.

    Raises ConfeeError on NaN, infinity and types that JSON lacks; `where` is the key it names.

    >>> canonical({"T": 1e4, "B": 500.0})
    {'B': 500, 'T': 10000}
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ConfeeError(f"{where and where + '='}{value}: must be a finite number")
        return int(value) if value.is_integer() else value
    if isinstance(value, Mapping):
        return {
            str(key): canonical(value[key], f"{where}.{key}" if where else str(key))
            for key in sorted(value, key=str)
        }
    if isinstance(value, Sequence):
        return [canonical(item, where) for item in value]
    kinds = "a number, a word, a list or a mapping"
    raise ConfeeError(f"{where and where + '='}{value!r}: must be {kinds}")


def dumps(value: Any) -> str:
    """Return canonical JSON of `value`: equal values give equal text."""
    return json.dumps(canonical(value), sort_keys=True, separators=(",", ":"))


def digest(value: Any, length: int = 16) -> str:
    """Return the first `length` hex digits of the SHA-256 of the canonical JSON of `value`."""
    return hashlib.sha256(dumps(value).encode()).hexdigest()[:length]


def stream(*key: Any) -> np.random.Generator:
    """Return the random stream (PCG64) of `key`; different keys have independent streams."""
    entropy = int.from_bytes(hashlib.sha256(dumps(key).encode()).digest(), "big")
    return np.random.Generator(np.random.PCG64(entropy))
