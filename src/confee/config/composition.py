"""Compose conf/ and overrides with Hydra to plain values; show its errors in one line each."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from confee.config import conf_files, names
from confee.core import schema
from confee.core.errors import ConfeeError


def compose(name: str, overrides: Sequence[str]) -> dict[str, Any]:
    """Return conf/<name>.yaml with `overrides` in Hydra's syntax, as plain values.

    An override may set a key that conf lacks; checking keys is up to the caller, who knows which
    ones there are.

    Raises
    ------
    ConfeeError
        In one line, for what Hydra or YAML refuse, for a key given twice, and if a key of
        conf/<name>.yaml is deleted.
    """
    from hydra.errors import HydraException
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    keys = [key(override) for override in overrides]
    for repeated in (key for key in keys if keys.count(key) > 1):
        count = keys.count(repeated)
        raise ConfeeError(f"{schema.show(repeated)}: given {count} times; must be given once")
    try:
        config = _composed(name, [*map(_checked, overrides), *_search_path()])
        _check_interpolations(OmegaConf.to_container(config, resolve=False))
        values = OmegaConf.to_container(config, resolve=True)
    except (HydraException, OmegaConfBaseException, ValueError) as error:
        raise ConfeeError(_one_line(error, name, overrides)) from None
    except yaml.YAMLError as error:
        raise ConfeeError(conf_files.not_yaml(error)) from None
    except OSError as error:
        path = str(error.filename)
        shown = path if len(path) < 200 else schema.show(Path(path).name)
        raise ConfeeError(f"conf: {shown}: cannot be read: {error.strerror}") from None
    except RecursionError:
        longest = schema.show(max(["conf", *overrides], key=len))
        raise ConfeeError(f"{longest}: nested too deeply") from None
    if not isinstance(values, dict):
        raise ConfeeError(f"conf/{name}.yaml: must be a mapping")
    for missing in (key for key in _primary_keys(name) if key not in values):
        raise ConfeeError(f"~{missing}: must not be deleted; give it another value instead")
    return values  # type: ignore[return-value]


def key(override: str) -> str:
    """Return the key of an override.

    Raises ConfeeError if there is none, or if it belongs to Hydra's own settings.
    """
    match = re.match(r"(?:(?:\+{1,2})?([A-Za-z_][^=\s]*)=|~([A-Za-z_][^=\s]*)(?:=|$))", override)
    if not match:
        as_in = f", as in experiment={override}" if conf_files.has("experiment", override) else ""
        raise ConfeeError(f"{schema.show(override)}: not an override; must be key=value{as_in}")
    name = match[1] or match[2]
    if re.match(r"hydra\b", name):
        raise ConfeeError(f"{schema.show(override)}: no such key; Hydra's own cannot be set here")
    return name


def _checked(override: str) -> str:
    """Return an override as Hydra is to read it. Raises ConfeeError for what only this one tells.

    A value is forced upon keys that conf lacks, as with `++`: confee's own checks name the known
    keys, which Hydra's do not.
    """
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    shown, group = schema.show(override), key(override).partition("@")[0]
    _check_interpolations(override.partition("=")[2], key(override))
    try:
        parsed = OverridesParser.create().parse_override(override)
        value = parsed.value()
    except HydraException as error:
        reason = re.sub(
            r"^\w+Exception(: .*| while evaluating '.*': )", "", _first_line(str(error))
        )
        reason = reason if len(reason) < 200 else f"{reason[:100]}..."
        reason = _slip(override) or reason
        raise ConfeeError(f"{shown}: not in Hydra's syntax{reason and ': ' + reason}") from None
    except ValueError:
        raise ConfeeError(f"{shown}: a number has too many digits") from None
    if parsed.is_sweep_override():
        raise ConfeeError(f"{shown}: must be one value; a list is written key=[1,2]")
    if group in conf_files.GROUPS:
        if not parsed.is_delete() and not isinstance(value, str):
            raise ConfeeError(f"{shown}: {conf_files.unknown(group, value)}")
        return override
    return override if parsed.is_delete() else f"++{override.lstrip('+')}"


def _slip(override: str) -> str:
    """Return which slip makes an override one that Hydra cannot read; empty for others."""
    if re.search(r",[+~]*[A-Za-z_][\w.@/]*=", re.sub(r"[\[{].*?[]}]", "", override)):
        return "overrides are separated by blanks, not by commas"
    if any(override.count(a) != override.count(b) for a, b in ("[]", "{}", "()")):
        return "a bracket is not closed, or closed twice"
    return ""


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


HYDRAS = ("hydra", "_dummy_empty_config_.yaml")
"""What Hydra itself keeps in its ConfigStore."""

_lock = threading.RLock()


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
        # Without what the caller stored: a node of his called `cell` would be merged with ours.
        store.repo = {name: store.repo[name] for name in HYDRAS if name in store.repo} | groups
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


def _primary_keys(name: str) -> list[str]:
    values = yaml.safe_load(conf_files.text(conf_files.folder() / f"{name}.yaml"))
    return [key for key in values or () if key != "defaults"]


def _search_path() -> list[str]:
    """Return an override of Hydra's that adds conf/ of the user's folder, if there is one."""
    conf_files.check_own()  # Hydra would silently skip a file whose name is taken
    # In single quotes Hydra takes a backslash literally unless a quote follows.
    place = re.sub(r"(\\*)'", r"\1\1\\'", str(conf_files.own() or ""))
    return [f"hydra.searchpath=['file://{place}']"] if place else []


def _check_interpolations(value: Any, where: str = "") -> None:
    """Raise ConfeeError if a value calls a resolver.

    Resolvers would make an experiment depend on the environment. Naming another key, as in
    ${centre.T}, is fine.
    """
    if isinstance(value, str) and re.search(r"\$\{.*:", value, re.DOTALL):
        raise ConfeeError(
            f"{where}={schema.show(value)}: must not call a resolver; ${{key}} may only name "
            "another key"
        )
    if isinstance(value, dict | list):
        for name, item in value.items() if isinstance(value, dict) else enumerate(value):
            _check_interpolations(item, f"{where}.{name}" if where else str(name))


# --------------------------------------------------------------------------- Hydra's errors


REASONS = {
    "RecursionError": "refers to itself; ${...} must name another key",
    "Incompatible key type": "a key is not a word; must be one",
    "Multiple values for": "is set already; must be given without + to replace it",
    "Could not delete from config": "no such key, so there is nothing to delete",
    "Cannot merge DictConfig with": "must be a mapping of names to values, as in {a: 1}",
}
"""Words of an error that do not help a user of confee, and the reason to give instead."""


MEMBERS = {"policy": "policies", "adversary": "family"}
"""Group -> the key of an experiment that holds members of it."""


def _one_line(error: Exception, name: str, overrides: Sequence[str]) -> str:
    """Return the first lines of Hydra's error and its cause, after the override to blame."""
    text, cause = str(error), str(error.__cause__ or "")
    if match := re.match(r".*?Could not (?:find|load) '/?([\w@.]+)/([^']*)'", text, re.DOTALL):
        return f"{match[1]}={schema.show(match[2])}: {conf_files.unknown(match[1], match[2])}"
    groups = {"cell": ("policy", "adversary")}.get(name, conf_files.GROUPS)
    known = {*_primary_keys(name), *groups}
    if match := re.match(r"Could not override '(policy|adversary|experiment)'", text):
        group = match[1]
        (given,) = (o for o in overrides if key(o) == group)
        if group not in MEMBERS:
            return f"{schema.show(given)}: {names.no_key(group, known)}"
        member = schema.show(given.partition("=")[2])
        return (
            f"{schema.show(given)}: no such key of an experiment; "
            f"+{group}@{MEMBERS[group]}.<name>={member} adds one to it"
        )
    if match := re.match(r".*?You must specify '([\w/@.]+)'", text, re.DOTALL):
        for override in overrides:  # it may have been given under a wrong name
            if (first := re.split(r"[.@]", key(override))[0]) not in known:
                return f"{schema.show(override)}: {names.no_key(first, known)}"
        return f"{match[1]}: missing; {_choice(match[1])}"
    where = getattr(error, "full_key", None) or "conf"
    words = {where, *(word.strip("':.") for word in text.split())}
    blamed = next((schema.show(o) for o in overrides if key(o) in words), where)
    if match := re.match("Error merging override (.*)", text):
        blamed, text = schema.show(match[1].removeprefix("++")), cause
    reason = next((reason for word, reason in REASONS.items() if word in text + cause), "")
    return ": ".join(dict.fromkeys([blamed, reason or _first_line(text) or _first_line(cause)]))


def _choice(group: str) -> str:
    """Return how to give a member of a group."""
    return f"give {group}=<name>; `confee list {group}` lists the names"


def _first_line(text: str) -> str:
    """The first line that is not blank."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
