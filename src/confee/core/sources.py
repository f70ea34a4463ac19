"""The sources that a result depends on: modules of confee and all that they import in confee.

Modules of the plugin folder are followed further, to all they import and read: see
`confee.core.following`.
"""

from __future__ import annotations

import functools
import hashlib
import platform
import re
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

from confee.core import plugins
from confee.core.errors import ConfeeError

PACKAGE = Path(__file__).parents[1]
COMPUTE = ("numpy", "numba")
"""Libraries that compute numbers: another version may give other numbers."""


def source_file(module: str) -> Path | None:
    """Return the file of a module of confee or of the plugin folder; None for other names."""
    if not module.startswith("confee."):
        return None
    candidates = [PACKAGE.joinpath(*module.split(".")[1:])]
    for package in plugins.FOLDERS:
        if module.startswith(f"{package}."):
            below = module.removeprefix(f"{package}.").split(".")
            candidates += [Path(folder, *below) for folder in plugins.folders(package)]
    for path in candidates:
        for file in (path.with_name(f"{path.name}.py"), path / "__init__.py"):
            if file.is_file():
                return file
    return None


def is_own(module: str) -> bool:
    """Return whether a module lies in the plugin folder."""
    file = source_file(module)
    return file is not None and not file.is_relative_to(PACKAGE)


_IMPORT = re.compile(
    r"\bfrom\s+(confee[\w.]*)\s+import\s*(?:\(([^)]*)|([^\n;]*))|\bimport\s([^\n;]*)"
)


@functools.cache
def imports(module: str) -> frozenset[str]:
    """Return the modules that `module` imports anywhere in its text.

    For modules of confee a pattern finds imports from confee: a parser takes ten times as long, in
    every job. If it also matches text in a docstring, the hash depends on one more module, which
    does no harm. Plugins are parsed, for all their imports.
    """
    file = source_file(module)
    if file is None or is_own(module):
        from confee.core import following

        return following.imports(module)
    names = set()
    text = re.sub(r"#.*|\\\n", "", file.read_text(encoding="utf-8"))
    for origin, *listed in _IMPORT.findall(text):
        named = {name.split()[0] for name in "".join(listed).split(",") if name.strip()}
        if not origin:
            names |= named
            continue
        parts = {f"{origin}.{name}" for name in named}
        modules = {name for name in parts if source_file(name)}
        names |= modules if modules == parts else modules | {origin}
    # `confee` itself only re-exports; it would make every result depend on every file.
    return frozenset(n for n in names if n.startswith("confee.") and source_file(n))


@functools.cache
def closure(module: str) -> frozenset[str]:
    """Return `module` and all modules that it imports, directly or not, see `imports`."""
    reached, todo = set(), {module}
    while todo:
        reached |= todo
        todo = set().union(*(imports(m) for m in todo)) - reached
    return frozenset(reached)


def code_hash(modules: Iterable[str], alone: Iterable[str] = ()) -> str:
    """Return a hash of the sources of `modules` and all they import, and of modules taken `alone`.

    It covers the versions of Python and of COMPUTE, and files that plugins read on import, too.
    """
    reached = frozenset().union(alone, *(closure(m) for m in modules))
    return _hash_of(reached, _data(reached))


@functools.cache
def package() -> tuple[str, ...]:
    """Return the names of all modules of confee itself."""
    names = (file.relative_to(PACKAGE).with_suffix("").parts for file in PACKAGE.rglob("*.py"))
    return tuple(sorted(".".join(("confee", *name)).removesuffix(".__init__") for name in names))


@functools.cache
def _hash_of(modules: frozenset[str], data: tuple[str, ...]) -> str:
    text = hashlib.sha256(repr((versions(COMPUTE), data)).encode())
    for module in sorted(modules):
        text.update(module.encode() + b"\0" + _source(module) + b"\0")
    return text.hexdigest()[:16]


@functools.cache
def versions(libraries: tuple[str, ...]) -> tuple[str, ...]:
    """Return the versions of Python and of `libraries`."""
    return platform.python_version(), *(f"{name} {metadata.version(name)}" for name in libraries)


def _data(modules: Iterable[str]) -> tuple[str, ...]:
    """Return names and hashes of the files that plugins among `modules` read on import."""
    if plugins.root() is None:
        return ()
    from confee.core import following

    return following.data(modules)


@functools.cache
def _source(module: str) -> bytes:
    """Return the text of a module, as far as numbers depend on it, see `plain`."""
    file = PACKAGE / "__init__.py" if module == "confee" else source_file(module)
    if file is None:
        from confee.core import following

        place = following.place(module)
        if not isinstance(place, Path):  # A library is known by its version.
            return str(place).encode()
        file = place
    _hashed[file] = file.read_bytes()
    return plain(_hashed[file])


_hashed: dict[Path, bytes] = {}
"""File -> its content when this process hashed it."""


# What an entry declares of how it is shown and judged: keyword arguments of POLICY or ADVERSARY, at
# an indentation of four blanks, on one line or up to their closing bracket.
def plain(text: bytes) -> bytes:
    """Return a text without what differs between systems: a byte-order mark, line ends, lines left
    blank at its end."""
    text = text.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return text.rstrip(b"\n") + b"\n"


def plugin_modules(*packages: str) -> tuple[str, ...]:
    """Return the names of all plugin modules of these packages."""
    return tuple(
        f"{package}.{name}"
        for package in packages
        for name in plugins.files_in(plugins.folders(package))
    )


def check() -> None:
    """Raise ConfeeError if a source changed since this process hashed it.

    What was computed since may come from either version.
    """
    looked_at = dict(_hashed)
    if plugins.root() is not None:
        from confee.core import following

        looked_at |= following.files_read()
    for file, content in looked_at.items():
        try:
            same = file.read_bytes() == content
        except OSError:
            same = False
        if not same:
            raise ConfeeError(f"{file}: changed while results were computed from it; run again")
