"""Names of experiments and of their folders, unknown names, and the keys that conf must have."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Mapping
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


FEW = 12
"""So many names are all shown in a message."""


def close(name: Any, known: Iterable[str], most: int = 3) -> list[str]:
    """Return the names that `name` may stand for, the most likely first."""

    def plain(text: str) -> str:
        return re.sub(r"[-_ ]", "", text.casefold())

    wanted = plain(str(name)[:100])
    names = dict[str, str]()
    for other in known:
        names.setdefault(plain(other), other)
    if wanted in names or len(wanted) < 2:
        return [names[wanted]] if wanted in names else []
    begin = [x for x in names if x.startswith(wanted)] if len(wanted) > 2 else []
    alike = difflib.get_close_matches(wanted, names, most, 0.7)
    return [names[x] for x in dict.fromkeys([*begin, *alike])][:most]


def unknown(name: Any, known: Collection[str], listed: str, otherwise: str = "") -> str:
    """Return the end of a message that a name is unknown.

    Parameters
    ----------
    listed
        The command that lists all names, where these are too many for one line.
    otherwise
        What to add where no known name is similar.
    """
    if len(known) <= FEW:
        return f"unknown; known: {', '.join(known) or 'none'}{otherwise}"
    if names := close(name, known):
        meant = " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
        return f"unknown; did you mean {meant}? `{listed}` lists all"
    return f"unknown; must be one that `{listed}` lists{otherwise}"


def check_keys(values: Mapping[str, Any], expected: Collection[str]) -> None:
    """Raise ConfeeError if `values` lacks an expected key or has an unexpected one."""
    for key in sorted(values.keys() - set(expected), key=str):
        raise ConfeeError(f"{show(key)}={show(values[key])}: {no_key(key, expected)}")
    for key in sorted(set(expected) - values.keys()):
        raise ConfeeError(f"{key}: missing; must be given")


def no_key(key: Any, expected: Collection[str]) -> str:
    """Return the end of a message that there is no such key."""
    if meant := close(key, expected, 1):
        return f"no such key; did you mean {meant[0]}?"
    return f"no such key; known: {', '.join(sorted(expected))}"
