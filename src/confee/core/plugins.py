"""The plugin folder: your own policies, adversaries, claims and conf outside this checkout.

The environment variable `CONFEE_EXTRA` names it. Modules in its folders `policies/`, `adversaries/`
and `claims/` are registered as if they lay in `confee.policies`, `confee.world.adversaries` and
`confee.claims`, and its `conf/` is searched like that of this checkout.
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
"""Names of modules in the plugin folder, which YAML and Hydra must read as words, too."""

FOLDERS = {
    "confee.policies": "policies",
    "confee.world.adversaries": "adversaries",
    "confee.claims": "claims",
}
"""Package -> its folder in the plugin folder."""


def root() -> Path | None:
    """Return the plugin folder, if any. Raises ConfeeError if `~user` cannot be resolved."""
    named = os.environ.get("CONFEE_EXTRA")
    try:
        return Path(named).expanduser().absolute() if named else None
    except RuntimeError:
        raise ConfeeError(f"CONFEE_EXTRA={named}: must be a folder") from None


def hint() -> str:
    """Return the end of a message that a name is unknown, where no plugin folder is set."""
    if root():
        return ""
    return "; yours are found once CONFEE_EXTRA names their folder (docs/add-a-policy.md)"


def folders(package: str) -> list[str]:
    """Return where else modules of `package` may lie: its folder in the plugin folder, if any."""
    base = root()
    return [str(base / FOLDERS[package])] if base and package in FOLDERS else []


class Registry(MutableMapping[str, T]):
    """Id -> the object called `word` in the module of that name in `package`.

    A module is imported when its id is looked up. Whether a module of confee has the object is
    read from its text, without import; plugin modules are imported, so that their errors show.

    Parameters
    ----------
    package, path
        The name of the package and its `__path__`, to which the plugin folder is added.
    word, kind
        The name of the object in each module, and its type.

    Raises
    ------
    ConfeeError
        If the plugin folder does not exist or has a module whose name is invalid or taken; and, on
        look-up of a plugin module, if it cannot be imported or its object has a wrong type or id.
    """

    def __init__(self, package: str, path: list[str], word: str, kind: type[T]) -> None:
        if base := root():
            if not base.is_dir():
                raise ConfeeError(f"CONFEE_EXTRA={base}: must be a folder")
            from confee.core import following

            following.watch()
        self._package, self._word, self._kind = package, word, kind
        self._shipped, self._own = files_in(path), files_in(folders(package))
        for name in self._own:
            if not WORD.fullmatch(name):
                raise ConfeeError(
                    f"{self._own[name]}: its name must be a word of letters, digits, - and _ that "
                    "begins with a letter and is no value as true, null and nan are"
                )
            if name in self._shipped:
                raise ConfeeError(f"{self._own[name]}: confee has a {name}; choose another name")
        path.extend(folders(package))
        self._found: dict[str, T | None] = {}

    @cached_property
    def _ids(self) -> frozenset[str]:
        """Ids of confee's modules with the object: a line of their text begins with the word."""
        declared = re.compile(rf"^{self._word}\b", re.MULTILINE)
        texts = {id: file.read_text(encoding="utf-8") for id, file in self._shipped.items()}
        return frozenset(id for id, text in texts.items() if declared.search(text))

    def containing(self, text: str) -> list[str]:
        """Return the ids whose module contains `text`, so that no other need be imported."""
        files = {**self._shipped, **self._own}
        ids = (id for id, file in files.items() if text in file.read_text(encoding="utf-8"))
        return sorted(id for id in ids if id in self)

    def _find(self, id: str) -> T | None:
        """Return the object of a module; None if there is no such module or object."""
        if id not in self._found and (id in self._ids or id in self._own):
            self._found[id] = self._imported(id)
        return self._found.get(id)

    def _imported(self, id: str) -> T | None:
        own = id in self._own
        entry = getattr(_module(f"{self._package}.{id}", self._own.get(id)), self._word, None)
        if entry is None:
            return None
        file = (self._own if own else self._shipped)[id]
        if not isinstance(entry, self._kind):
            raise ConfeeError(f"{file}: {self._word} must be of type {self._kind.__name__}")
        if entry.id != id:
            raise ConfeeError(f"{file}: {self._word}.id={entry.id}: must be {id}")
        return entry

    def __getitem__(self, id: str) -> T:
        entry = self._find(id)
        if entry is None:
            raise KeyError(id)
        return entry

    def __setitem__(self, id: str, entry: T) -> None:
        self._found[id] = entry

    def __delitem__(self, id: str) -> None:
        del self._found[id]

    def __contains__(self, id: Any) -> bool:
        return id in self._ids or self._find(id) is not None

    def __iter__(self) -> Iterator[str]:
        return (id for id in sorted({*self._ids, *self._own, *self._found}) if id in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def modules(package: str, taken: Iterable[str] = ()) -> list[ModuleType]:
    """Import and return the plugin modules of `package`.

    Raises ConfeeError if a name is `taken` or a module cannot be imported.
    """
    files = files_in(folders(package))
    for name, file in files.items():
        if name in taken:
            raise ConfeeError(f"{file}: confee has a {name}; choose another name")
    if files:
        from confee.core import following

        following.watch()
        sys.modules[package].__path__.extend(folders(package))
    return [_module(f"{package}.{name}", file) for name, file in files.items()]


def place(error: BaseException) -> str:
    """Return where in the plugin folder an exception was raised, and it, in one line.

    The place is the innermost line in the plugin folder. The text is empty if there is none.
    """
    base = root()
    frames = traceback.extract_tb(error.__traceback__) if base else ()
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(str(base))]
    if not own:
        return ""
    reason = " ".join(str(error).split())
    return f"{own[-1].filename}: line {own[-1].lineno}: {type(error).__name__}: {reason}"


def _module(name: str, own: Path | None) -> ModuleType:
    """Import and return a module; `own` is its file if it is a plugin."""
    try:
        return importlib.import_module(name)
    except KeyboardInterrupt:
        raise
    except SyntaxError as error:
        if not own:
            raise
        where = f"{error.filename}: line {error.lineno}" if error.filename else own
        raise ConfeeError(f"{where}: {error.msg}") from None
    except BaseException as error:  # A plugin may raise anything, even SystemExit.
        if line := place(error):
            raise ConfeeError(line) from None
        raise


def files_in(folders: list[str]) -> dict[str, Path]:
    """Return name -> file of the modules in `folders`."""
    files = (file for folder in folders for file in sorted(Path(folder).glob("*.py")))
    files = (file for file in files if file.stem != "__init__" and not file.name.startswith("."))
    return {file.stem: file for file in files if file.is_file()}
