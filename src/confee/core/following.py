"""What modules of one's own (`CONFEE_EXTRA`) depend on: what they import, and files they read.

Imports are read from the text, at any depth: relative ones, those through `PYTHONPATH`, and
`importlib.import_module("...")` with the name written out. Of an installed library the version
counts. Files that a module opens while it is imported count by their content. What can't be
followed is refused: a module whose name is computed, and a file that is read later.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from importlib.machinery import PathFinder
from pathlib import Path
from types import FrameType
from typing import Any

from confee.core import bytecode, plugins, sources
from confee.core.errors import ConfeeError

_NAMES = ("stdlib", "platstdlib", "purelib", "platlib")
_INSTALLED = {Path(sysconfig.get_path(name)) for name in _NAMES}
LIBRARIES = tuple(f"{folder}{os.sep}" for one in _INSTALLED for folder in (one, one.resolve()))
NO_DATA = (".pyc", ".so")
SOURCES = ("linecache.py", "tokenize.py", "inspect.py")
"""Python's own readers of sources: for tracebacks, and for numba."""
BY_NAME = ("import_module", "__import__")
UNSEEN = ("exec", "eval", "spec_from_file_location", "SourceFileLoader", "run_path", "run_module")
"""Calls of which nobody can tell what code they run."""
PROGRAMS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork")
SYSTEM = ("/proc/", "/dev/", "/sys/", "/etc/", "/usr/")


# --------------------------------------------------------------------------- what is imported


@functools.cache
def imports(module: str) -> frozenset[str]:
    """The modules that one of one's own imports and that are not Python's. Raises ConfeeError if
    their names can't be read from its text."""
    file = sources.source_file(module) or place(module)
    if not isinstance(file, Path) or file.suffix != ".py":
        return frozenset()
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    try:
        tree = ast.parse(file.read_bytes(), str(file))
    except (SyntaxError, ValueError):  # who imports it is told
        return frozenset()
    called = {  # local name -> what it is, for what is imported under another one
        one.asname or one.name: one.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for one in node.names
    }
    nodes = [*ast.walk(tree)]
    names = {name for node in nodes for name in _named(node, package, file, called)}
    return frozenset(name for name in names if _is_followed(name))


def _named(node: ast.AST, package: str, file: Path, called: Mapping[str, str]) -> Iterator[str]:
    """The names of modules, or of what is in them, that a statement imports."""
    match node:
        case ast.Import(names=names):
            for one in names:
                yield from _with_parents(one.name)
        case ast.ImportFrom(module=origin, names=names, level=level):
            base = importlib.util.resolve_name("." * level + (origin or ""), package)
            yield from _with_parents(base)
            yield from (f"{base}.{one.name}" for one in names)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            what = called.get(name, name) if isinstance(node.func, ast.Name) else name
            where = f"{file}: line {node.lineno}: {what}"
            if what in UNSEEN:
                raise ConfeeError(f"{where} must not be called: an edit of its code is not seen")
            if what in BY_NAME:
                given = [*node.args, *(one.value for one in node.keywords if one.arg == "name")]
                if len(given) != 1 or not isinstance(given[0], ast.Constant):
                    raise ConfeeError(
                        f"{where} must be given a name that is written out: an edit of that module "
                        "would not be seen"
                    )
                name = importlib.util.resolve_name(str(given[0].value), package)
                yield from _with_parents(name)


def _with_parents(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[: i + 1]) for i in range(len(parts))]


def _is_followed(name: str) -> bool:
    if name.startswith("confee.") or name == "confee":
        return sources.source_file(name) is not None
    return name.partition(".")[0] not in sys.stdlib_module_names and place(name) is not None


@functools.cache
def place(module: str) -> Path | str | None:
    """Where a module outside confee is: its file; of an installed one, its library's version; None
    if there is no such module, or it is a folder alone."""
    top = module.partition(".")[0]
    try:
        spec = importlib.util.find_spec(top)
        for part in _with_parents(module)[1:]:
            spec = spec and PathFinder.find_spec(part, spec.submodule_search_locations)
    except (ImportError, ValueError):
        return None
    if spec is None or not spec.origin or not spec.has_location:
        return None
    file = Path(spec.origin).resolve()
    return _version(top) if _is_librarys(spec.origin) or _is_librarys(str(file)) else file


def _is_librarys(file: str) -> bool:
    """Whether it is Python's, or installed."""
    return file.startswith(LIBRARIES) or bool(re.search(r"/(site|dist)-packages/", file))


@functools.cache
def _version(top: str) -> str:
    try:
        return metadata.version(top)
    except metadata.PackageNotFoundError:
        owners = metadata.packages_distributions().get(top, [])
        return " ".join(metadata.version(one) for one in owners)


# --------------------------------------------------------------------------- what is read

_read: dict[str, dict[Path, bytes]] = {}
"""Module -> files that it read while it was imported, and what was in them."""
_compiled: set[str] = set()
"""Modules that a kernel was compiled for, and all they import."""


def data(modules: Iterable[str]) -> tuple[str, ...]:
    """Names and hashes of the files that modules read when they were imported."""
    found = [(file.name, text) for m in sorted(modules) for file, text in _read.get(m, {}).items()]
    return tuple(f"{name} {hashlib.sha256(text).hexdigest()}" for name, text in found)


def files_read() -> dict[Path, bytes]:
    """Every file that was read, and what was in it."""
    return {file: text for said in _read.values() for file, text in said.items()}


def compiled(module: str) -> None:
    """Says that a kernel of `module` is about to be compiled: what it reads after that would not be
    part of the kernel's place in the cache."""
    _compiled.update(sources.closure(module))


@functools.cache
def watch() -> None:
    """From now on notes what modules of one's own read, and loads them by what is in their files.

    Raises ConfeeError, where the file is opened, if that can't be part of a result's key.
    """
    own = [Path(entry or ".") for entry in sys.path]
    own = [entry for entry in own if not _is_librarys(f"{entry.resolve()}{os.sep}")]
    base = plugins.root()
    bytecode.by_hash(*own, *([base] if base else []))
    sys.addaudithook(_opened)


def _opened(event: str, arguments: tuple[Any, ...]) -> None:
    if event in PROGRAMS and (starter := _reader(sys._getframe(1))):
        raise ConfeeError(
            f"{starter.f_code.co_filename}: line {starter.f_lineno}: starts a program; must not: "
            "an edit of what that does is not seen"
        )
    if event != "open" or not isinstance(arguments[0], str | os.PathLike):
        return
    path, mode, flags = arguments
    if mode:
        writes = any(letter in mode for letter in "wax")
    else:
        writes = bool(flags & (os.O_WRONLY | os.O_TRUNC))
    file = Path(path).absolute()
    apart = str(file).startswith((*SYSTEM, str(sources.PACKAGE))) or _is_librarys(str(file))
    if writes or apart or file.suffix in NO_DATA:
        return
    reader = _reader(sys._getframe(1))
    if reader is None:
        return
    known = any(file in said for said in _read.values())
    where = f"{reader.f_code.co_filename}: line {reader.f_lineno}: reads {file}"
    module = _importing(reader)
    if module is None:
        if not known:
            raise ConfeeError(
                f"{where} while it plays; must be read at the top of the module, where an edit of "
                "it is seen"
            )
    elif module in _compiled and file not in _read.get(module, {}):
        raise ConfeeError(f"{where} below a compiled function; must be read above it")
    elif file.is_file():
        _read.setdefault(module, {})[file] = _content(file)


def _content(file: Path) -> bytes:
    descriptor = os.open(file, os.O_RDONLY)
    with os.fdopen(descriptor, "rb") as opened:
        return opened.read()


def _reader(frame: FrameType | None) -> FrameType | None:
    """The innermost frame that is not a library's, if it is of one's own and imports nothing."""
    while frame:
        name = frame.f_code.co_filename
        if name.startswith(("<frozen importlib", str(sources.PACKAGE))) or name.endswith(SOURCES):
            return None
        if not name.startswith("<") and not _is_librarys(name):
            return frame if _is_own(frame) else None
        frame = frame.f_back
    return None


def _is_own(frame: FrameType) -> bool:
    """Whether a frame is of a module of one's own folder, or of one that such a module imports."""
    module = frame.f_globals.get("__name__", "")
    base = plugins.root()
    if base and Path(frame.f_code.co_filename).is_relative_to(base):
        return True
    return any(module in sources.closure(one) for one in _own_modules())


def _own_modules() -> list[str]:
    """Modules of one's own folder that were imported."""
    return [name for name in [*sys.modules] if sources.is_own(name)]


def _importing(frame: FrameType | None) -> str | None:
    """The module that is being imported: the innermost whose own lines are at work."""
    while frame:
        if frame.f_code.co_name == "<module>" and _is_own(frame):
            return str(frame.f_globals.get("__name__"))
        frame = frame.f_back
    return None
