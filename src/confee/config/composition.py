"""Hydra: conf/ and overrides composed to plain values; what it refuses, in one line."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from confee.config import conf_files
from confee.core import plugins, schema
from confee.core.errors import ConfeeError


def compose(name: str, overrides: Sequence[str]) -> dict[str, Any]:
    """conf/<name>.yaml with `overrides` in Hydra's syntax, as plain values.

    Raises ConfeeError in one line for what Hydra or YAML refuse, for a key given twice, and if a
    key of conf/<name>.yaml is gone.
    """
    keys = [key(override) for override in overrides]
    for one in keys:
        if keys.count(one) > 1:
            raise ConfeeError(
                f"{schema.show(one)}: given {keys.count(one)} times; must be given once"
            )
    for one, override in zip(keys, overrides, strict=True):
        value = override.partition("=")[2]
        _check_interpolations(value, one)
        if _of_group(one) and re.search(r"[\[{,]", value):
            raise ConfeeError(_no_file([override]))
    from hydra.errors import HydraException
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    try:
        try:
            config = _composed(name, [*overrides, *_search()])
        except TypeError:  # Hydra's own
            raise ConfeeError(_no_file(overrides)) from None
        _check_interpolations(OmegaConf.to_container(config, resolve=False))
        values = OmegaConf.to_container(config, resolve=True)
    except (HydraException, OmegaConfBaseException, ValueError) as error:
        raise ConfeeError(_one_line(error, overrides)) from None
    except yaml.YAMLError as error:
        raise ConfeeError(conf_files.not_yaml(error)) from None
    except OSError as error:
        file = str(error.filename)
        shown = file if len(file) < 200 else schema.show(Path(file).name)
        raise ConfeeError(f"conf: {shown}: cannot be read: {error.strerror}") from None
    except RecursionError:
        raise ConfeeError(f"{_longest(overrides)}: too deep; must be nested less") from None
    if not isinstance(values, dict):
        raise ConfeeError(f"conf/{name}.yaml: must be a mapping")
    for one in _own_keys(name):
        if one not in values:
            raise ConfeeError(f"~{one}: must stay; set it to another value instead")
    return values  # type: ignore[return-value]


def key(override: str) -> str:
    """The key of one override. Raises ConfeeError if it has none, or is of Hydra's own settings."""
    found = re.match(r"(?:(?:\+{1,2})?([A-Za-z_][^=\s]*)=|~([A-Za-z_][^=\s]*)(?:=|$))", override)
    if not found:
        shown = schema.show(override)
        raise ConfeeError(f"{shown}: not an override; must be key=value")
    named = found[1] or found[2]
    if re.match(r"hydra\b", named):
        raise ConfeeError(f"{schema.show(override)}: no such key")
    return named


class _Registered(dict):
    """The policies or adversaries as a group of Hydra's ConfigStore: file name -> node.

    Nodes are made on demand, so that composing imports only the policies it needs. A name that
    also has a file is left out: Hydra would take the node for the schema of the file.
    """

    def __init__(self, group: str) -> None:
        self.group, self.files = group, conf_files.files(group)

    def __contains__(self, file: Any) -> bool:
        name = str(file).removesuffix(".yaml")
        return name not in self.files and name in conf_files.REGISTERED[self.group]

    def __getitem__(self, file: str) -> Any:
        from hydra.core.config_store import ConfigNode
        from omegaconf import OmegaConf

        values = conf_files.defaults(self.group, file.removesuffix(".yaml"))
        return ConfigNode(file, OmegaConf.create(values), self.group, None, "confee")

    def keys(self) -> Any:
        return [f"{name}.yaml" for name in conf_files.REGISTERED[self.group]]


_lock = threading.Lock()


@contextlib.contextmanager
def _hydra() -> Iterator[None]:
    """Set Hydra's globals for composing, and put the caller's back afterwards.

    The version to be compatible with and the ConfigStore exist once per process.
    """
    from hydra import version
    from hydra.core.config_store import ConfigStore

    with _lock:
        base, store = version.VersionBase.instance(), ConfigStore.instance()
        callers = base.version_base, store.repo
        version.setbase("1.3")
        groups = {group: _Registered(group) for group in conf_files.REGISTERED}
        store.repo = {**store.repo, **groups}
        try:
            yield
        finally:
            base.version_base, store.repo = callers


def _composed(name: str, overrides: list[str]) -> Any:
    """Compose as `hydra.compose` does, which needs a global object that the caller may own."""
    from hydra._internal.config_loader_impl import ConfigLoaderImpl
    from hydra._internal.utils import create_config_search_path
    from hydra.types import RunMode
    from omegaconf import open_dict

    with _hydra():
        loader = ConfigLoaderImpl(create_config_search_path(str(conf_files.folder())))
        config = loader.load_configuration(name, overrides, RunMode.RUN, from_shell=False)
    with open_dict(config):
        del config["hydra"]
    return config


def _own_keys(name: str) -> list[str]:
    said = yaml.safe_load(conf_files.text(conf_files.folder() / f"{name}.yaml"))
    return [one for one in said or () if one != "defaults"]


def _search() -> list[str]:
    """Where else Hydra is to look, as an override of its own."""
    conf_files.check_own()  # a name that is taken would be passed over
    # Between single quotes Hydra takes a backslash as it is, but before a quote.
    place = re.sub(r"(\\*)'", r"\1\1\\'", str(conf_files.own() or ""))
    return [f"hydra.searchpath=['file://{place}']"] if place else []


def _check_interpolations(value: Any, where: str = "") -> None:
    """Conf may name other keys, as in ${centre.T}. Raises ConfeeError if it calls a resolver: what
    an experiment is does not depend on the environment."""
    if isinstance(value, str) and re.search(r"\$\{.*:", value, re.DOTALL):
        raise ConfeeError(
            f"{where}={schema.show(value)}: must not call a resolver; ${{...}} may name another key"
        )
    if isinstance(value, dict | list):
        for one, below in value.items() if isinstance(value, dict) else enumerate(value):
            _check_interpolations(below, f"{where}.{one}" if where else str(one))


# --------------------------------------------------------------------------- what was refused


def _one_line(error: Exception, overrides: Sequence[str]) -> str:
    """Hydra's many lines, in one that names the key, the value and what is known."""
    text = str(error)
    for pattern, said in REFUSED.items():
        if found := re.match(pattern, text, re.DOTALL):
            return (
                said.format(*map(schema.show, found.groups()))
                if isinstance(said, str)
                else said(found, overrides)
            )
    where = getattr(error, "full_key", None) or ""
    if "nterpolation" in text:
        return _interpolation(text, where, overrides)
    if override := getattr(error, "override", None):  # OverrideParseException
        return _syntax(text, override)
    cause = str(error.__cause__) if error.__cause__ else ""
    return ": ".join(filter(None, dict.fromkeys([where, _first(text), _first(cause)])))


def _unknown_file(found: re.Match[str], overrides: Sequence[str]) -> str:
    group, name = found.groups()
    asked = [o for o in overrides if key(o).partition("@")[0] == group]
    asked = [o for o in asked if re.sub(r"[\\'\"]", "", o.partition("=")[2]).strip() == name]
    given = schema.show(asked[0]) if name and asked else f"{group}={schema.show(name)}"
    return f"{given}: unknown; known: {', '.join(conf_files.names(group))}{plugins.hint()}"


def _no_choice(found: re.Match[str], overrides: Sequence[str]) -> str:
    # It may have been given under a wrong name.
    known = {*_own_keys("cell"), *_own_keys("config"), *conf_files.GROUPS}
    for override in overrides:
        if re.split(r"[.@]", key(override))[0] not in known:
            return f"{schema.show(override)}: no such key"
    return f"{found[1]}: missing; known: {', '.join(conf_files.names(found[1]))}"


def _no_key(found: re.Match[str], overrides: Sequence[str]) -> str:
    given = next((o for o in overrides if key(o) == found[1]), found[1])
    return f"{schema.show(given)}: no such key"


def _digits(_: re.Match[str], overrides: Sequence[str]) -> str:
    return f"{_longest(overrides)}: has a number of thousands of digits; must be shorter"


def _no_file(overrides: Sequence[str]) -> str:
    groups = [o for o in overrides if _of_group(key(o))]
    return f"{', '.join(map(schema.show, groups))}: must name a file of conf"


def _of_group(key: str) -> bool:
    return key.partition("@")[0] in conf_files.GROUPS


REFUSED: Mapping[str, str | Callable[[re.Match[str], Sequence[str]], str]] = {
    r".*?Could not (?:find|load) '/?([\w@.]+)/([^']*)'": _unknown_file,
    r".*?You must specify '([\w/@.]+)'": _no_choice,
    r".*?Could not override '([^']+)'": _no_key,
    r".*?Could not delete from config\. '(.*)' does not exist": "~{}: no such key",
    r"Sweep parameters '(.*)' requires": "{}: a sweep; must be one value",
    r"Ambiguous value for argument '(.*?)'\s*(?:\n|$)": (
        "{}: Ambiguous value; must be one, or a list as in key=[1,2]"
    ),
    r"Multiple values for (\S+)\. To override": (
        "{}: is there already; must be given without + to replace it"
    ),
    r"Config group override must be": lambda _, overrides: _no_file(overrides),
    r".*?(?:Expected header format: .*got|Too many components in) '(.*)'": (
        "conf: # {}: not a header; must be # @package <where its keys belong>"
    ),
    r"Unsupported type in defaults": "conf: defaults: an entry is none; must name files of conf",
    r".*?Error resolving interpolation '(.*?)', possible": (
        "conf: {}: no such key there; must name another key, and call no resolver"
    ),
    r"Incompatible key type": "conf: a key is no word; must be words",
    r".*?integer string conversion": _digits,
    r"Error merging override (.*)": (
        "{}: does not fit; must be of the kind that is there, its keys words"
    ),
    r"In '([^']*)': \w+ raised while composing config:": (
        "conf/{}.yaml: does not fit; must be a mapping, its keys words"
    ),
}
"""What Hydra and OmegaConf say -> what we say: a text with what was found in it, or a function."""


def _interpolation(text: str, where: str, overrides: Sequence[str]) -> str:
    blamed = where or _longest([o for o in overrides if "${" in o])
    said = "Recursive interpolation detected" if "Recursion" in text else _first(text)
    return f"{schema.show(blamed)}: {said}; ${{...}} must name another key"


def _syntax(text: str, override: str) -> str:
    reason = re.sub(r"^\w+Exception: .*", "", _first(text))
    reason = reason if len(reason) < 200 else f"{reason[:100]}..."
    return f"{schema.show(override)}: not in Hydra's syntax{reason and ': ' + reason}"


def _longest(overrides: Sequence[str]) -> str:
    """What is to blame for a size: as a rule, where Python does not tell."""
    return schema.show(max(["conf", *overrides], key=len))


def _first(text: str) -> str:
    """The first line that says something."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
