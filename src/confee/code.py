"""Which sources a result depends on: the modules it starts from and all they import in confee."""

from __future__ import annotations

import ast
import functools
import hashlib
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


@functools.cache
def imports(module: str) -> frozenset[str]:
    """Modules of confee that `module` imports by name, at any depth of its text."""
    file = source_file(module)
    assert file is not None, module
    names = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            parts = {f"{node.module}.{alias.name}" for alias in node.names}
            modules = {name for name in parts if name.startswith("confee.") and source_file(name)}
            names |= modules if modules == parts else modules | {node.module}
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
