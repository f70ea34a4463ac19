"""The configurations that Hydra composes: files in conf/ of this checkout and of the user's
folder, and the defaults of registered policies and adversaries."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import os
import re
import stat
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import yaml

from confee import policies
from confee.config import names as known_names
from confee.core import plugins
from confee.core.errors import ConfeeError
from confee.world import adversaries

GROUPS = ("policy", "adversary", "experiment")
"""Groups of configurations; an override `<group>=<name>` chooses one."""

PACKAGES = {"policy": policies, "adversary": adversaries}
REGISTERED: Mapping[str, Mapping[str, Any]] = {
    "policy": policies.POLICIES,
    "adversary": adversaries.ADVERSARIES,
}
"""Groups with registered members, each a configuration with its default options. A file of the
group gives a member other options under another name."""

LARGEST = 10**6
"""The largest file, in bytes."""
LONGEST = 10**5
"""The most values of a file, with its aliases expanded."""


def folder() -> Path:
    """Return conf/: `CONFEE_CONF`, or beside src/ of this checkout, or where pip installed it.

    Raises ConfeeError if there is none.
    """
    named = os.environ.get("CONFEE_CONF")
    place = Path(named) if named else Path(__file__).resolve().parents[3] / "conf"
    if not named and not place.is_dir():
        place = _installed() or place
    if not (place / "config.yaml").is_file():
        raise ConfeeError(
            f"{place}: no configuration there; CONFEE_CONF must name a folder like conf/"
        )
    return place.absolute()


@functools.cache
def _installed() -> Path | None:
    """Return conf/ of an installed confee, which its wheel brings along."""
    files = (file for wheel in metadata.distributions(name="confee") for file in wheel.files or ())
    primary = (file for file in files if file.as_posix().endswith("confee/conf/config.yaml"))
    return next((Path(str(file.locate())).resolve().parent for file in primary), None)


def own() -> Path | None:
    """Return conf/ of the user's folder, if there is one. Raises ConfeeError if it is a file."""
    base = plugins.root()
    if not base or not (base / "conf").exists():
        return None
    if not (base / "conf").is_dir():
        raise ConfeeError(f"{base / 'conf'}: must be a folder")
    return base / "conf"


def defaults(group: str, name: str) -> dict[str, Any]:
    """Return a policy's or an adversary's name and default options."""
    options = REGISTERED[group][name].options
    return {"name": name} | {field.name: field.default for field in dataclasses.fields(options)}


def names(group: str) -> list[str]:
    """Return what `<group>=` can name. Imports every module of the user's folder."""
    return sorted({*files(group), *REGISTERED.get(group, ())})


def unknown(group: str, name: Any) -> str:
    """Return the end of a message that a group has no member of this name."""
    base = plugins.root()
    if base and group in PACKAGES and re.fullmatch(r"[\w-]{1,100}", str(name)):
        file = base / plugins.FOLDERS[PACKAGES[group].__name__] / f"{name}.py"
        if file.is_file():
            return f"unknown; {file} must declare {group.upper()}"
    return known_names.unknown(name, names(group), f"confee list {group}", plugins.hint())


def has(group: str, name: str) -> bool:
    """Whether `<group>=<name>` names a configuration. Imports at most the module `name`."""
    return name in files(group) or name in REGISTERED.get(group, ())


def files(group: str) -> dict[str, Path]:
    """Return the files of a group by name, including those of the user's folder.

    Raises ConfeeError if a file of the user has a name that confee or a plugin module uses.
    """
    by_name = {file.stem: file for file in _visible(folder() / group)}
    base = own()
    for file in _visible(base / group) if base else ():
        if file.stem in by_name or _shipped(group, file.stem):
            raise ConfeeError(f"{file}: confee has a {group} {file.stem}; choose another name")
        if file.stem in REGISTERED.get(group, ()):
            raise ConfeeError(
                f"{file}: would replace the defaults of the {group} in {file.stem}.py; must have "
                f"another name, and may begin with `defaults: [{file.stem}, _self_]`"
            )
        by_name[file.stem] = file
    return dict(sorted(by_name.items()))


def _shipped(group: str, name: str) -> bool:
    """Whether a policy or an adversary of confee itself has this name."""
    package = PACKAGES.get(group)
    shipped = package and Path(package.__path__[0], f"{name}.py").is_file()
    return bool(shipped) and name in REGISTERED[group]


def _visible(place: Path) -> list[Path]:
    """Return the configuration files in `place` except hidden ones, which editors leave."""
    return sorted(file for file in place.glob("*.yaml") if not file.name.startswith("."))


def headline(experiment: str) -> str:
    """Return the first comment of an experiment's file except `@package`, or an empty string."""
    file = files("experiment").get(experiment)
    lines = text(file).splitlines() if file else []
    return next(
        (line[2:] for line in lines if line.startswith("# ") and "@package" not in line), ""
    )


def text(file: Path) -> str:
    """Return the text of a file of conf. Raises ConfeeError if it cannot be read.

    Only regular files are opened: reading a pipe would block, and a device never ends.
    """
    try:
        status = file.stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST:
            raise ConfeeError(f"{file}: must be a file of at most {LARGEST} bytes")
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfeeError(f"{file}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfeeError(not_yaml(error, str(file))) from None


def check_own() -> None:
    """Check the user's files before Hydra reads any.

    Raises ConfeeError if a file cannot be read, sets Hydra's own settings, or is too large with its
    aliases expanded; and if a file of a group is no mapping or has a name that is taken.
    """
    mine = {file.resolve() for group in GROUPS for file in files(group).values()}
    named = [own(), folder() if os.environ.get("CONFEE_CONF") else None]
    for base in filter(None, named):
        for file in _below(base):
            _check(file, must=file.resolve() in mine)


def _below(base: Path) -> Iterator[Path]:
    """Yield the configuration files that Hydra can reach from `base`, also through links."""
    seen = set()
    for place, folders, names in os.walk(base, followlinks=True):
        seen.add(os.path.realpath(place))
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and os.path.realpath(Path(place, name)) not in seen
        )
        for name in sorted(names):
            if name.endswith(".yaml") and not name.startswith("."):
                yield Path(place, name)


def not_yaml(error: yaml.YAMLError | UnicodeDecodeError, file: str = "") -> str:
    """Return an error message with its place. `file` names the file if the error does not."""
    mark = getattr(error, "problem_mark", None)
    reason = getattr(error, "problem", None) or getattr(error, "reason", None) or error
    place = f"{file or mark.name}: line {mark.line + 1}" if mark else file or "conf"
    return f"{place}: not YAML: {reason}"


def _check(file: Path, must: bool) -> None:
    """Check one file. If it `must` be a mapping, one that is not, or is no YAML, is an error.

    Hydra reports other such files when they are used.
    """
    counted: dict[int, float] = {}

    def values(node: Any) -> float:
        if id(node) not in counted:
            counted[id(node)] = math.inf  # stays if the node contains itself
            below = node.value if isinstance(node, yaml.CollectionNode) else []
            if isinstance(node, yaml.MappingNode):
                below = itertools.chain(*below)
            counted[id(node)] = 1 + sum(map(values, below))
        return counted[id(node)]

    source = text(file)
    if source.startswith("\ufeff"):  # hides a header from Hydra
        raise ConfeeError(f"{file}: begins with a byte-order mark; must have none")
    try:
        root = yaml.compose(source, yaml.SafeLoader)
    except yaml.YAMLError as error:
        if must:
            raise ConfeeError(not_yaml(error, str(file))) from None
        return
    if not root:
        return
    if must and not isinstance(root, yaml.MappingNode):
        raise ConfeeError(f"{file}: must be a mapping")
    if values(root) > LONGEST:
        raise ConfeeError(f"{file}: too large with its aliases; must be at most {LONGEST} values")
    if re.search(r"@package\b.*\bhydra\b", _header(source)):
        raise ConfeeError(f"{file}: # @package hydra: must not be Hydra's own settings")
    for key, value in root.value if isinstance(root, yaml.MappingNode) else ():
        keys = [key.value]
        if key.value == "defaults" and isinstance(value, yaml.SequenceNode):
            for entry in value.value:
                if isinstance(entry, yaml.MappingNode):
                    keys += [group.value for group, _ in entry.value]
                elif isinstance(entry, yaml.ScalarNode):
                    keys.append(entry.value)
            # Hydra resolves this list while it composes; other values are checked afterwards.
            if re.search(r"\$\{[^}]*[:$]", yaml.serialize(value)):
                raise ConfeeError(
                    f"{file}: defaults: must not call a resolver, as ${{name:...}} does"
                )
        if any(re.match(r"(override\s+)?/?hydra\b|.*@(.*\.)?hydra\b", str(key)) for key in keys):
            raise ConfeeError(f"{file}: hydra: no such key")


def _header(source: str) -> str:
    """Return the lines in which Hydra looks for a package."""
    lines = map(str.strip, source.splitlines())
    return "\n".join(itertools.takewhile(lambda x: not x or re.match(r"#\s*@", x), lines))
