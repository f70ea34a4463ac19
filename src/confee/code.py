"""Which sources a result depends on: the modules it starts from and all they import in confee."""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

from confee import extra

PACKAGE = Path(__file__).parent


def source_file(module: str) -> Path | None:
    """The file of a module of confee, or of one's own beside it, if it is one."""
    if not module.startswith("confee."):
        return None
    package, _, name = module.rpartition(".")
    base = PACKAGE.joinpath(*module.split(".")[1:])
    own = [Path(folder) / f"{name}.py" for folder in extra.folders(package)]
    for file in (base.with_suffix(".py"), base / "__init__.py", *own):
        if file.is_file():
            return file
    return None


_IMPORT = re.compile(
    r"\bfrom\s+(confee[\w.]*)\s+import\s*(?:\(([^)]*)|([^\n;]*))|\bimport\s([^\n;]*)"
)


@functools.cache
def imports(module: str) -> frozenset[str]:
    """Modules of confee that `module` imports by name, at any depth of its text.

    Found by a pattern: a parser takes ten times as long, in every job. What it finds too much, in
    the text of a docstring, costs no more than a hash that changes with that module too.
    """
    file = source_file(module)
    assert file is not None, module
    names = set()
    text = re.sub(r"#.*|\\\n", "", file.read_text(encoding="utf-8"))
    for origin, *listed in _IMPORT.findall(text):
        named = {one.split()[0] for one in "".join(listed).split(",") if one.strip()}
        if not origin:
            names |= named
            continue
        parts = {f"{origin}.{name}" for name in named}
        modules = {name for name in parts if source_file(name)}
        names |= modules if modules == parts else modules | {origin}
    # Not `confee` itself: it only re-exports, and would tie every result to every file.
    return frozenset(n for n in names if n.startswith("confee.") and source_file(n))


@functools.cache
def closure(module: str) -> frozenset[str]:
    """`module` and all of confee that it imports, directly or not."""
    found, todo = set(), {module}
    while todo:
        found |= todo
        todo = set().union(*(imports(m) for m in todo)) - found
    return frozenset(found)


def code_hash(modules: Iterable[str], alone: Iterable[str] = ()) -> str:
    """A hash of the sources of `modules` and of all they import, and of modules taken `alone`."""
    return _hash_of(frozenset().union(alone, *(closure(m) for m in modules)))


@functools.cache
def _hash_of(modules: frozenset[str]) -> str:
    text = hashlib.sha256()
    for module in sorted(modules):
        text.update(module.encode() + b"\0" + _bytes(module) + b"\0")
    return text.hexdigest()[:16]


@functools.cache
def _bytes(module: str) -> bytes:
    file = source_file(module)
    assert file is not None, module
    return file.read_bytes()
