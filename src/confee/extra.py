"""A folder of one's own: policies, adversaries and conf outside this checkout.

`CONFEE_EXTRA` names it. What is in `policies/` and `adversaries/` there is registered as if it lay
in `confee.policies` and `confee.world.adversaries`, and `conf/` is searched like this checkout's.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from confee.errors import ConfeeError

FOLDERS = {"confee.policies": "policies", "confee.world.adversaries": "adversaries"}
"""Package -> its folder in one's own."""


def root() -> Path | None:
    """One's own folder, if there is one."""
    named = os.environ.get("CONFEE_EXTRA")
    return Path(named).expanduser().absolute() if named else None


def folders(package: str) -> list[str]:
    """Where else to look for modules of `package`."""
    base = root()
    return [str(base / FOLDERS[package])] if base and package in FOLDERS else []


def registered(package: str, path: list[str], word: str, kind: Any) -> dict[str, Any]:
    """Id -> what the modules of `package` call `word`, of type `kind`; one's own after confee's.

    `path` is the package's `__path__`, to which one's own folder is added. Raises ConfeeError if a
    module there can't be imported, has a name that is taken, or an id that is not its name.
    """
    if (base := root()) and not base.is_dir():
        raise ConfeeError(f"CONFEE_EXTRA={base}: must be a folder")
    taken = {module.name for module in pkgutil.iter_modules(path)}
    added = folders(package)
    own = sorted(module.name for module in pkgutil.iter_modules(added))
    path.extend(added)
    found = {}
    for name in sorted(taken | set(own)):
        one = getattr(_imported(package, name, name in own, name in taken), word, None)
        if one is not None and not isinstance(one, kind):
            raise ConfeeError(f"{_file(package, name)}: {word} must be of type {kind.__name__}")
        if one is not None and one.id != name and name in own:
            raise ConfeeError(f"{_file(package, name)}: {word}.id={one.id}: must be {name}")
        if one is not None:
            found[one.id] = one
    return found


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


def _imported(package: str, name: str, own: bool, taken: bool) -> ModuleType:
    if own and taken:
        raise ConfeeError(f"{_file(package, name)}: confee has a {name}; choose another name")
    try:
        return importlib.import_module(f"{package}.{name}")
    except SyntaxError as error:
        if not own:
            raise
        raise ConfeeError(f"{error.filename}: line {error.lineno}: {error.msg}") from None
    except Exception as error:
        if said := place(error):
            raise ConfeeError(said) from None
        raise


def _file(package: str, name: str) -> Path:
    """The file of one's own that would be this module."""
    return Path(folders(package)[0]) / f"{name}.py"
