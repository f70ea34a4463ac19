"""Names of experiments and of their folders, and the keys that conf must have."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from confee.core.errors import ConfeeError
from confee.core.schema import show

NAME = re.compile(r"[A-Za-z0-9][\w-]{0,99}", re.ASCII)
"""The name of an experiment, which its folders bear."""

CLAIMS_ALONE = ".claims"
"""Suffix of the folder in which only the claims named in the overrides are judged. It lies beside
the folder of the whole experiment, whose results stay unchanged."""


def folder_name(name: Any, where: str) -> str:
    """Return `name` if it can name a folder of results; raise ConfeeError otherwise."""
    if not isinstance(name, str) or not NAME.fullmatch(name.removesuffix(CLAIMS_ALONE)):
        raise ConfeeError(f"{where}={show(name)}: must be the name of an experiment")
    return name


def check_keys(values: Mapping[str, Any], expected: Collection[str]) -> None:
    """Raise ConfeeError if `values` lacks an expected key or has an unexpected one."""
    for key in sorted(values.keys() - set(expected), key=str):
        raise ConfeeError(f"{show(key)}={show(values[key])}: no such key")
    for key in sorted(set(expected) - values.keys()):
        raise ConfeeError(f"{key}: missing; must be given")
