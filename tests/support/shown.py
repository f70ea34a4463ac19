"""Figures and tables drawn from any data that have the attributes they need."""

from __future__ import annotations

import re
from typing import Any

from confee.rendering import exhibit


def arguments(name: str, data: Any) -> dict[str, Any]:
    """The arguments of an exhibit; attributes of `data` replace what it makes itself."""
    shown = exhibit(name)
    given = {key: getattr(data, key) for key in (*shown.own, *shown.fixed) if hasattr(data, key)}
    needed = {key: getattr(data, key) for key in shown.needs}
    own = {key: make() for key, make in shown.own.items() if key not in given}
    return {**shown.fixed, **needed, **own, **given}


def figure(name: str, data: Any) -> Any:
    return exhibit(name).draw(**arguments(name, data))


def table(name: str, data: Any) -> Any:
    return exhibit(name).make(**arguments(name, data))


MOST = 60
"""Words that a caption may have."""


def caption(name: str, data: Any) -> str:
    return exhibit(name).caption(arguments(name, data))


def words(text: str) -> int:
    """The number of words of a caption; a formula is one."""
    return len(re.sub(r"\$[^$]*\$", "X", text).split())
