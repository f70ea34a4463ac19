"""Which sources a result depends on: the modules it starts from and all they import in confee.

One's own modules are followed further, to what they import and read: see confee.core.following.
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
"""Libraries that numbers are computed by: of another version they may be others."""


def source_file(module: str) -> Path | None:
    """The file of a module of confee, or of one's own beside it, if it is one."""
    if not module.startswith("confee."):
        return None
    places = [PACKAGE.joinpath(*module.split(".")[1:])]
    for package in plugins.FOLDERS:
        if module.startswith(f"{package}."):
            below = module.removeprefix(f"{package}.").split(".")
            places += [Path(folder, *below) for folder in plugins.folders(package)]
    for place in places:
        for file in (place.with_name(f"{place.name}.py"), place / "__init__.py"):
            if file.is_file():
                return file
    return None


def is_own(module: str) -> bool:
    """Whether a module lies in a folder of one's own."""
    file = source_file(module)
    return file is not None and not file.is_relative_to(PACKAGE)


_IMPORT = re.compile(
    r"\bfrom\s+(confee[\w.]*)\s+import\s*(?:\(([^)]*)|([^\n;]*))|\bimport\s([^\n;]*)"
)


@functools.cache
def imports(module: str) -> frozenset[str]:
    """Modules that `module` imports, at any depth of its text: of confee, and of one's own.

    Found by a pattern: a parser takes ten times as long, in every job. What it finds too much, in
    the text of a docstring, costs no more than a hash that changes with that module too. One's own
    are parsed.
    """
    file = source_file(module)
    if file is None or not file.is_relative_to(PACKAGE):
        from confee.core import following

        return following.imports(module)
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
    """`module` and all of confee and of one's own that it imports, directly or not."""
    found, todo = set(), {module}
    while todo:
        found |= todo
        todo = set().union(*(imports(m) for m in todo)) - found
    return frozenset(found)


def code_hash(modules: Iterable[str], alone: Iterable[str] = ()) -> str:
    """A hash of the sources of `modules` and of all they import, and of modules taken `alone`; and
    of the versions of Python and COMPUTE."""
    found = frozenset().union(alone, *(closure(m) for m in modules))
    return _hash_of(found, _data(found))


@functools.cache
def package() -> tuple[str, ...]:
    """All modules of confee itself."""
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
    """The versions of Python and of some libraries."""
    return platform.python_version(), *(f"{one} {metadata.version(one)}" for one in libraries)


def _data(modules: Iterable[str]) -> tuple[str, ...]:
    """What modules of one's own read when they were imported: names and hashes."""
    if plugins.root() is None:
        return ()
    from confee.core import following

    return following.data(modules)


@functools.cache
def _source(module: str) -> bytes:
    """The text of a module, in the line ends that every system can read."""
    file = PACKAGE / "__init__.py" if module == "confee" else source_file(module)
    if file is None:
        from confee.core import following

        found = following.place(module)
        if not isinstance(found, Path):  # of a library, the version
            return str(found).encode()
        file = found
    _hashed[file] = file.read_bytes()
    return plain(_hashed[file])


_hashed: dict[Path, bytes] = {}
"""What this process took for the content of sources."""


_DECLARED = re.compile(rb"^(?:POLICY|ADVERSARY) = \w+\(\n.*?^\)", re.MULTILINE | re.DOTALL)
_SHOWN = re.compile(
    rb"^    (?:name|summary|role|look|variants|growth|rate|place)=[^\n]*"
    rb"(?:[(\[{]\n.*?^    [)\]}])?,\n",
    re.MULTILINE | re.DOTALL,
)


def plain(text: bytes) -> bytes:
    """A text without what changes no number: a byte-order mark, line ends, lines left blank at its
    end, and what a policy or an adversary declares of how it is shown and judged."""
    text = text.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    text = _DECLARED.sub(lambda declared: _SHOWN.sub(b"", declared[0]), text)
    return text.rstrip(b"\n") + b"\n"


def check() -> None:
    """Raises ConfeeError if a source is no more what it was when this process looked at it: what
    was computed meanwhile may be of either."""
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
            raise ConfeeError(f"{file}: changed while it was at work; run it again")
