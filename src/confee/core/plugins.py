"""A folder of one's own: policies, adversaries and conf outside this checkout.

`CONFEE_EXTRA` names it. What is in `policies/`, `adversaries/` and `claims/` there is registered as
if it lay in `confee.policies`, `confee.world.adversaries` and `confee.claims`, and `conf/` is
searched like this checkout's.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
import traceback
from collections.abc import Iterable, Iterator, MutableMapping
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol, TypeVar

from confee.core.errors import ConfeeError


class _Named(Protocol):
    @property
    def id(self) -> str: ...


T = TypeVar("T", bound=_Named)

WORD = re.compile(r"(?!(?i:null|true|false|nan|inf|yes|no|on|off)\Z)[A-Za-z][\w-]{0,99}", re.ASCII)
"""What a module of one's own may be called: YAML and Hydra read it as a word, too."""

FOLDERS = {
    "confee.policies": "policies",
    "confee.world.adversaries": "adversaries",
    "confee.claims": "claims",
}
"""Package -> its folder in one's own."""


def root() -> Path | None:
    """One's own folder, if there is one. Raises ConfeeError if it is that of no user."""
    named = os.environ.get("CONFEE_EXTRA")
    try:
        return Path(named).expanduser().absolute() if named else None
    except RuntimeError:
        raise ConfeeError(f"CONFEE_EXTRA={named}: must be a folder") from None


def hint() -> str:
    """Ends the message that something is unknown: it may lie in a folder that is not named."""
    said = "; CONFEE_EXTRA is not set: it names the folder of your own policies and adversaries"
    return "" if root() else said


def folders(package: str) -> list[str]:
    """Where else to look for modules of `package`."""
    base = root()
    return [str(base / FOLDERS[package])] if base and package in FOLDERS else []


class Registry(MutableMapping[str, T]):
    """Id -> what the module of that name in `package` calls `word`, of type `kind`; one's own too.

    A module is imported when its id is asked for, all of them for their values. Of confee's modules
    the text says whether they have one; one's own are imported for that, to be told what is wrong.
    `path` is the package's `__path__`, to which one's own folder is added.

    Raises ConfeeError if one's own folder is not there or has a module whose name is taken; and,
    when such a module is looked at, if it can't be imported or its id is not its name.
    """

    def __init__(self, package: str, path: list[str], word: str, kind: type[T]) -> None:
        if base := root():
            if not base.is_dir():
                raise ConfeeError(f"CONFEE_EXTRA={base}: must be a folder")
            from confee.core import following

            following.watch()
        self._package, self._word, self._kind = package, word, kind
        self._shipped, self._own = _modules(path), _modules(folders(package))
        for name in self._own:
            if not WORD.fullmatch(name):
                raise ConfeeError(
                    f"{self._own[name]}: must be named by a word of letters, digits, - and _ that "
                    "begins with a letter and is not read as a value, as true, null and nan are"
                )
            if name in self._shipped:
                raise ConfeeError(f"{self._own[name]}: confee has a {name}; choose another name")
        path.extend(folders(package))
        self._seen: dict[str, T | None] = {}

    @cached_property
    def _ids(self) -> frozenset[str]:
        """Confee's own: a line of the module begins with the word."""
        says = re.compile(rf"^{self._word}\b", re.MULTILINE)
        texts = {id: file.read_text(encoding="utf-8") for id, file in self._shipped.items()}
        return frozenset(id for id, text in texts.items() if says.search(text))

    def saying(self, words: str) -> list[str]:
        """Ids whose module's text has these words, one's own and shipped ones: none of the others
        need be imported for what the words are about."""
        files = {**self._shipped, **self._own}
        found = (id for id, file in files.items() if words in file.read_text(encoding="utf-8"))
        return sorted(id for id in found if id in self)

    def _find(self, id: str) -> T | None:
        """What the module has; None if there is no such module, or nothing in it."""
        if id not in self._seen and (id in self._ids or id in self._own):
            self._seen[id] = self._imported(id)
        return self._seen.get(id)

    def _imported(self, id: str) -> T | None:
        own = id in self._own
        one = getattr(_module(f"{self._package}.{id}", self._own.get(id)), self._word, None)
        if one is None:
            return None
        file = (self._own if own else self._shipped)[id]
        if not isinstance(one, self._kind):
            raise ConfeeError(f"{file}: {self._word} must be of type {self._kind.__name__}")
        if one.id != id:
            raise ConfeeError(f"{file}: {self._word}.id={one.id}: must be {id}")
        return one

    def __getitem__(self, id: str) -> T:
        one = self._find(id)
        if one is None:
            raise KeyError(id)
        return one

    def __setitem__(self, id: str, one: T) -> None:
        self._seen[id] = one

    def __delitem__(self, id: str) -> None:
        del self._seen[id]

    def __contains__(self, id: Any) -> bool:
        return id in self._ids or self._find(id) is not None

    def __iter__(self) -> Iterator[str]:
        return (id for id in sorted({*self._ids, *self._own, *self._seen}) if id in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def modules(package: str, taken: Iterable[str] = ()) -> list[ModuleType]:
    """One's own modules of `package`, imported.

    Raises ConfeeError if one has a name that is `taken`, or can't be imported.
    """
    found = _modules(folders(package))
    for name, file in found.items():
        if name in taken:
            raise ConfeeError(f"{file}: confee has a {name}; choose another name")
    if found:
        from confee.core import following

        following.watch()
        sys.modules[package].__path__.extend(folders(package))
    return [_module(f"{package}.{name}", file) for name, file in found.items()]


def place(error: BaseException) -> str:
    """Where in one's own folder an exception came from, in one line; empty if it is not from there.

    The innermost line of one's own: what it called is confee's, numpy's or Python's.
    """
    base = root()
    frames = traceback.extract_tb(error.__traceback__) if base else ()
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(str(base))]
    if not own:
        return ""
    reason = " ".join(str(error).split())
    return f"{own[-1].filename}: line {own[-1].lineno}: {type(error).__name__}: {reason}"


def _module(name: str, own: Path | None) -> ModuleType:
    """The module; `own`: its file, if it is one's own."""
    try:
        return importlib.import_module(name)
    except KeyboardInterrupt:
        raise
    except SyntaxError as error:
        if not own:
            raise
        where = f"{error.filename}: line {error.lineno}" if error.filename else own
        raise ConfeeError(f"{where}: {error.msg}") from None
    except BaseException as error:  # what a module of one's own may raise is its own choice
        if said := place(error):
            raise ConfeeError(said) from None
        raise


def _modules(where: list[str]) -> dict[str, Path]:
    """Name -> file of the modules in these folders."""
    files = (file for folder in where for file in sorted(Path(folder).glob("*.py")))
    files = (file for file in files if file.stem != "__init__" and not file.name.startswith("."))
    return {file.stem: file for file in files if file.is_file()}
