"""What plugins (`CONFEE_EXTRA`) depend on: the modules they import, and the files they read.

Imports are found anywhere in the text: relative ones, those through `PYTHONPATH`, and
`importlib.import_module("...")` with the name as a constant. An installed library counts by its
version, a file that a module opens while it is imported by its content. What cannot be followed is
refused: a module whose name is computed, and a file that is read later.
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
LIBRARIES = tuple(f"{folder}{os.sep}" for path in _INSTALLED for folder in (path, path.resolve()))
NO_DATA = (".pyc", ".so")
SOURCES = ("linecache.py", "tokenize.py", "inspect.py")
"""Modules of Python that read sources, for tracebacks and for numba."""
BY_NAME = ("import_module", "__import__")
UNSEEN = ("exec", "eval", "spec_from_file_location", "SourceFileLoader", "run_path", "run_module")
"""Calls that run code which cannot be followed."""
PROGRAMS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork")
SYSTEM = ("/proc/", "/dev/", "/sys/", "/etc/", "/usr/")


# --------------------------------------------------------------------------- what is imported


@functools.cache
def imports(module: str) -> frozenset[str]:
    """Return the modules outside the standard library that a plugin imports.

    Raises ConfeeError if their names cannot be read from its text.
    """
    file = sources.source_file(module) or place(module)
    if not isinstance(file, Path) or file.suffix != ".py":
        return frozenset()
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    try:
        tree = ast.parse(file.read_bytes(), str(file))
    except (SyntaxError, ValueError):  # Importing the module reports the error.
        return frozenset()
    nodes = [*ast.walk(tree)]
    originals = {  # local name -> the name it was imported by
        alias.asname or alias.name: alias.name
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    names = {name for node in nodes for name in _named(node, package, file, originals)}
    return frozenset(name for name in names if _is_followed(name))


def _named(node: ast.AST, package: str, file: Path, originals: Mapping[str, str]) -> Iterator[str]:
    """Yield the names that a statement imports: of modules, or of objects in them."""
    match node:
        case ast.Import(names=names):
            for alias in names:
                yield from _with_parents(alias.name)
        case ast.ImportFrom(module=origin, names=names, level=level):
            base = importlib.util.resolve_name("." * level + (origin or ""), package)
            yield from _with_parents(base)
            yield from (f"{base}.{alias.name}" for alias in names)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            function = originals.get(name, name) if isinstance(node.func, ast.Name) else name
            where = f"{file}: line {node.lineno}: {function}"
            if function in UNSEEN:
                raise ConfeeError(
                    f"{where} must not be called: confee would not notice that its code changed"
                )
            if function in BY_NAME:
                given = [*node.args, *(word.value for word in node.keywords if word.arg == "name")]
                if len(given) != 1 or not isinstance(given[0], ast.Constant):
                    raise ConfeeError(
                        f"{where} must be given a name that is written out, so that confee notices "
                        "when that module changes"
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
    """Return the file of a module outside confee, or the version of the library it belongs to.

    None if there is no such module, or only a folder of that name.
    """
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
    return _version(top) if _is_installed(spec.origin) or _is_installed(str(file)) else file


def _is_installed(file: str) -> bool:
    """Return whether a file belongs to Python or to an installed library."""
    return file.startswith(LIBRARIES) or bool(re.search(r"/(site|dist)-packages/", file))


@functools.cache
def _version(top: str) -> str:
    try:
        return metadata.version(top)
    except metadata.PackageNotFoundError:
        owners = metadata.packages_distributions().get(top, [])
        return " ".join(metadata.version(owner) for owner in owners)


# --------------------------------------------------------------------------- what is read

_read: dict[str, dict[Path, bytes]] = {}
"""Module -> the files that it read while it was imported, with their content."""
_compiled: set[str] = set()
"""Modules with compiled kernels, and all they import."""


def data(modules: Iterable[str]) -> tuple[str, ...]:
    """Return names and hashes of the files that `modules` read on import."""
    files = [file for module in sorted(modules) for file in _read.get(module, {}).items()]
    return tuple(f"{file.name} {hashlib.sha256(text).hexdigest()}" for file, text in files)


def files_read() -> dict[Path, bytes]:
    """Return every file that plugins read on import, with its content."""
    return {file: text for files in _read.values() for file, text in files.items()}


def compiled(module: str) -> None:
    """Note that a kernel of `module` is about to be compiled.

    The cache folder of the kernel could not depend on files that the module reads after this.
    """
    _compiled.update(sources.closure(module))


@functools.cache
def watch() -> None:
    """From now on note the files that plugins read, and check their bytecode by content.

    ConfeeError is raised where a plugin opens a file that cannot become part of a result's key.
    """
    own = [Path(entry or ".") for entry in sys.path]
    own = [entry for entry in own if not _is_installed(f"{entry.resolve()}{os.sep}")]
    base = plugins.root()
    bytecode.by_hash(*own, *([base] if base else []))
    sys.addaudithook(_opened)


def _opened(event: str, arguments: tuple[Any, ...]) -> None:
    if event in PROGRAMS and (starter := _reader(sys._getframe(1))):
        raise ConfeeError(
            f"{starter.f_code.co_filename}: line {starter.f_lineno}: starts a program; must not, "
            "as confee would not notice that the program changed"
        )
    if event != "open" or not isinstance(arguments[0], str | os.PathLike):
        return
    path, mode, flags = arguments
    if mode:
        writes = any(letter in mode for letter in "wax")
    else:
        writes = bool(flags & (os.O_WRONLY | os.O_TRUNC))
    file = Path(path).absolute()
    apart = str(file).startswith((*SYSTEM, str(sources.PACKAGE))) or _is_installed(str(file))
    # A folder is opened to make a temporary file in it, as numba does; that reads no data.
    if writes or apart or file.suffix in NO_DATA or file.is_dir():
        return
    reader = _reader(sys._getframe(1))
    if reader is None:
        return
    known = any(file in files for files in _read.values())
    where = f"{reader.f_code.co_filename}: line {reader.f_lineno}: reads {file}"
    module = _importing(reader)
    if module is None:
        if not known:
            raise ConfeeError(
                f"{where} while it plays; must be read at the top of the module, so that confee "
                "notices when the file changes"
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
    """Return the innermost frame outside libraries, if it is a plugin's and is no import."""
    while frame:
        name = frame.f_code.co_filename
        if name.startswith(("<frozen importlib", str(sources.PACKAGE))) or name.endswith(SOURCES):
            return None
        if not name.startswith("<") and not _is_installed(name):
            return frame if _is_own(frame) else None
        frame = frame.f_back
    return None


def _is_own(frame: FrameType) -> bool:
    """Return whether a frame is of a plugin, or of a module that a plugin imports."""
    module = frame.f_globals.get("__name__", "")
    base = plugins.root()
    if base and Path(frame.f_code.co_filename).is_relative_to(base):
        return True
    plugin_modules = [name for name in [*sys.modules] if sources.is_own(name)]
    return any(module in sources.closure(name) for name in plugin_modules)


def _importing(frame: FrameType | None) -> str | None:
    """Return the name of the innermost plugin module that is being imported, if any."""
    while frame:
        if frame.f_code.co_name == "<module>" and _is_own(frame):
            return str(frame.f_globals.get("__name__"))
        frame = frame.f_back
    return None
