"""Configurations: composed by Hydra, checked here, and handed on as plain typed values."""

from __future__ import annotations

import dataclasses
import itertools
import math
import os
import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from confee import extra, schema
from confee.canonical import canonical
from confee.errors import ConfeeError
from confee.policies import POLICIES
from confee.schema import CLAIMS_ALONE, NAME
from confee.simulation.cells import Sizes, cell, family
from confee.simulation.needs import AXES
from confee.simulation.plan import LARGEST, Entrant, Grid, Map, Seeds
from confee.simulation.play import Accounting
from confee.world.adversaries import ADVERSARIES

RESERVED = ("calibration", "cells", "jobs", "logs", "reference", "studies")
"""Folders of results/ and figures/ that are no experiment's."""

CODED: dict[str, Collection[str]] = {"policy": POLICIES, "adversary": ADVERSARIES}
"""What has code; each also needs a file in its group of conf."""


CONF_GROUPS = ("policy", "adversary", "experiment")


def conf_folder() -> Path:
    """Where conf/ is: `CONFEE_CONF`, or beside src/ of this checkout."""
    named = os.environ.get("CONFEE_CONF")
    folder = Path(named) if named else Path(__file__).resolve().parents[2] / "conf"
    if not (folder / "config.yaml").is_file():
        raise ConfeeError(f"{folder}: no configuration there; CONFEE_CONF must name conf/")
    return folder.absolute()


def conf_files(group: str) -> dict[str, Path]:
    """Name -> file of a group of conf (policy, adversary or experiment), one's own among them.

    Raises ConfeeError if one's own has a name that is taken.
    """
    files = {file.stem: file for file in sorted((conf_folder() / group).glob("*.yaml"))}
    for file in sorted((_own_conf() / group).glob("*.yaml")) if extra.root() else ():
        if file.stem in files:
            raise ConfeeError(f"{file}: confee has a {group} {file.stem}; choose another name")
        files[file.stem] = file
    return dict(sorted(files.items()))


def _own_conf() -> Path:
    """conf/ of one's own folder."""
    return (extra.root() or Path()) / "conf"


def compose(name: str, overrides: Sequence[str]) -> dict[str, Any]:
    """conf/<name>.yaml with `overrides` in Hydra's syntax, as plain values.

    Raises ConfeeError in one line for what Hydra or YAML refuse, for a key given twice, and if a
    key of conf/<name>.yaml is gone.
    """
    keys = [_key(override) for override in overrides]
    for key in keys:
        if keys.count(key) > 1:
            shown = schema.show(key)
            raise ConfeeError(f"{shown}: given {keys.count(key)} times; must be given once")
    for key, override in zip(keys, overrides, strict=True):
        # Hydra would call a resolver as it looks for a file of that name.
        _check_interpolations(override.partition("=")[2], key)
    import hydra
    from hydra.core.global_hydra import GlobalHydra
    from hydra.errors import HydraException
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    GlobalHydra.instance().clear()
    try:
        with hydra.initialize_config_dir(str(conf_folder()), version_base="1.3"):
            try:
                config = hydra.compose(name, overrides=[*overrides, *_search()])
            except TypeError as error:  # Hydra's own, of groups that are no words
                raise ConfeeError(_one_line(error, overrides)) from None
            _check_interpolations(OmegaConf.to_container(config, resolve=False))
            values = OmegaConf.to_container(config, resolve=True)
    except (HydraException, OmegaConfBaseException, ValueError) as error:
        raise ConfeeError(_one_line(error, overrides)) from None
    except yaml.YAMLError as error:
        raise ConfeeError(_not_yaml(error)) from None
    except OSError as error:
        file = str(error.filename)
        shown = file if len(file) < 200 else schema.show(Path(file).name)
        raise ConfeeError(f"conf: {shown}: cannot be read: {error.strerror}") from None
    except RecursionError:
        raise ConfeeError(f"{_longest(overrides)}: too deep; must be nested less") from None
    if not isinstance(values, dict):
        raise ConfeeError(f"conf/{name}.yaml: must be a mapping")
    for key in _own_keys(name):
        if key not in values:
            raise ConfeeError(f"~{key}: must stay; set it to another value instead")
    return values  # type: ignore[return-value]


def _check_interpolations(value: Any, where: str = "") -> None:
    """Conf may name other keys, as in ${centre.T}. Raises ConfeeError if it calls a resolver: what
    an experiment is does not depend on the environment."""
    if isinstance(value, str) and re.search(r"\$\{.*:", value, re.DOTALL):
        raise ConfeeError(
            f"{where}={schema.show(value)}: must not call a resolver; ${{...}} may name another key"
        )
    if isinstance(value, dict | list):
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            _check_interpolations(one, f"{where}.{key}" if where else str(key))


def _longest(overrides: Sequence[str]) -> str:
    """What is to blame for a size: as a rule, where Python does not tell."""
    return schema.show(max(["conf", *overrides], key=len))


def _not_yaml(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    place = f"{mark.name}: line {mark.line + 1}" if mark else "conf"
    return f"{place}: not YAML: {getattr(error, 'problem', None) or error}"


def _search() -> list[str]:
    """Where else Hydra is to look, as an override of its own."""
    if not extra.root() or not _own_conf().is_dir():
        return []
    for group in CONF_GROUPS:
        for file in conf_files(group).values():  # a name that is taken would be passed over
            if file.is_relative_to(_own_conf()):
                _check_own(file)
    return [f"hydra.searchpath=['file://{_own_conf()}']"]


LONGEST = 10**5
"""Values in a file of conf, its aliases written out."""


def _check_own(file: Path) -> None:
    """Raises ConfeeError if aliases make a small file stand for one that fills the memory, or if it
    sets what is Hydra's."""
    counted: dict[int, float] = {}

    def values(node: Any) -> float:
        if id(node) not in counted:
            counted[id(node)] = math.inf  # if it is within itself
            below = node.value if isinstance(node, yaml.CollectionNode) else []
            counted[id(node)] = 1 + sum(
                map(
                    values, itertools.chain(*below) if isinstance(node, yaml.MappingNode) else below
                )
            )
        return counted[id(node)]

    found = yaml.compose(file.read_text(), yaml.SafeLoader)
    if found and values(found) > LONGEST:
        raise ConfeeError(f"{file}: too large with its aliases; must be at most {LONGEST} values")
    if isinstance(found, yaml.MappingNode) and any(key.value == "hydra" for key, _ in found.value):
        raise ConfeeError(f"{file}: hydra: no such key")


def _key(override: str) -> str:
    """The key of one override. Raises ConfeeError if it has none, or is of Hydra's own settings."""
    found = re.match(r"(?:(?:\+{1,2})?([A-Za-z_][^=\s]*)=|~([A-Za-z_][^=\s]*)(?:=|$))", override)
    if not found:
        shown = schema.show(override)
        raise ConfeeError(f"{shown}: not an override; must be key=value")
    key = found[1] or found[2]
    if re.match(r"hydra\b", key):
        raise ConfeeError(f"{schema.show(override)}: no such key")
    return key


def _own_keys(name: str) -> list[str]:
    said = yaml.safe_load((conf_folder() / f"{name}.yaml").read_text())
    return [key for key in said if key != "defaults"]


def _one_line(error: Exception, overrides: Sequence[str]) -> str:
    """Hydra's many lines, in one that names the key, the value and what is known."""
    from hydra.errors import OverrideParseException

    text = str(error)
    unknown = re.search(r"Could not (?:find|load) '/?([\w@.]+)/([^']*)'", text)
    if unknown:
        group = unknown[1]
        if group in CODED and unknown[2] in CODED[group]:
            return f"conf/{group}/{unknown[2]}.yaml: missing; must hold `name: {unknown[2]}`"
        return f"{group}={schema.show(unknown[2])}: unknown; known: {', '.join(conf_files(group))}"
    missing = re.search(r"You must specify '([\w/@.]+)'", text)
    if missing:
        return f"{missing[1]}: missing; known: {', '.join(conf_files(missing[1]))}"
    key = re.search(r"Could not override '([^']+)'", text)
    if key:
        given = next((o for o in overrides if o.lstrip("+").startswith(key[1])), key[1])
        return f"{schema.show(given)}: no such key"
    if gone := re.search(r"Could not delete from config\. '(.*)' does not exist", text, re.DOTALL):
        return f"~{schema.show(gone[1])}: no such key"
    if sweep := re.match(r"Sweep parameters '(.*)' requires", text, re.DOTALL):
        return f"{schema.show(sweep[1])}: a sweep; must be one value"
    if several := re.match(r"Ambiguous value for argument '(.*?)'\s*(?:\n|$)", text, re.DOTALL):
        shown = schema.show(several[1])
        return f"{shown}: Ambiguous value; must be one, or a list as in key=[1,2]"
    if twice := re.match(r"Multiple values for (\S+)\. To override", text):
        return f"{schema.show(twice[1])}: is there already; must be given without + to replace it"
    if text.startswith("Config group override must be") or isinstance(error, TypeError):
        groups = "|".join(CONF_GROUPS)
        named = [schema.show(o) for o in overrides if re.match(rf"[+~]*({groups})\b", o)]
        return f"{', '.join(named)}: must name a file of conf"
    header = re.search(r"(?:Expected header format: .*got|Too many components in) '(.*)'", text)
    if header:
        shown = schema.show(f"# {header[1]}")
        return f"conf: {shown}: not a header; must be # @package <where its keys belong>"
    if text.startswith("Unsupported type in defaults"):
        return "conf: defaults: an entry is none; must name files of conf"
    if text.startswith("Incompatible key type"):
        return "conf: a key is no word; must be words"
    if "integer string conversion" in text:
        return f"{_longest(overrides)}: has a number of thousands of digits; must be shorter"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if isinstance(error, OverrideParseException):
        reason = re.sub(r"^\w+Exception: .*", "", lines[0])
        reason = reason if len(reason) < 200 else f"{reason[:100]}..."
        return f"{schema.show(error.override)}: not in Hydra's syntax{reason and ': ' + reason}"
    cause = str(error.__cause__).splitlines()[0] if error.__cause__ else ""
    if merged := re.match(r"Error merging override (.*)", text, re.DOTALL):
        kind = "must be of the kind that is there, its keys words"
        return f"{schema.show(merged[1])}: does not fit; {kind}"
    if within := re.match(r"In '([^']*)': \w+ raised while composing config:", text):
        return f"conf/{within[1]}.yaml: does not fit; must be a mapping, its keys words"
    where = getattr(error, "full_key", None) or ""
    if "nterpolation" in text:
        blamed = where or _longest([o for o in overrides if "${" in o])
        said = "Recursive interpolation detected" if "Recursion" in text else lines[0]
        return f"{schema.show(blamed)}: {said}; ${{...}} must name another key"
    return ": ".join(filter(None, dict.fromkeys([where, *lines[:1], cause])))


def headline(experiment: str) -> str:
    """The first comment of an experiment's file that says something; empty if there is none."""
    file = conf_files("experiment").get(experiment)
    lines = file.read_text().splitlines() if file else []
    said = (line[2:] for line in lines if line.startswith("# ") and "@package" not in line)
    return next(said, "")


def _names(value: Any, where: str, known: Sequence[str] | None = None) -> list[str]:
    names = value if isinstance(value, list) else [value]
    for name in names:
        if not isinstance(name, str) or (known is not None and name not in known):
            allowed = f"among {', '.join(known)}" if known is not None else "names"
            raise ConfeeError(f"{where}={schema.show(name)}: must be {allowed}")
    return names


# --------------------------------------------------------------------------- one cell


@dataclass(frozen=True)
class Runs:
    seeds: int = schema.whole(16, low=1, high=10**7)
    first_seed: int = schema.whole(0, low=0, high=10**12)


# --------------------------------------------------------------------------- an experiment


@dataclass(frozen=True)
class _Seeds:
    choose: int = schema.whole(8, low=1, high=10**6)
    worst: int = schema.whole(3, low=1, high=100)
    estimate: int = schema.whole(16, low=0, high=10**6)
    most: int = schema.whole(256, low=0, high=10**6)
    error: float = schema.real(0.03, above=0)


@dataclass(frozen=True)
class _Map:
    K: int = schema.whole(low=2, high=100_000)
    T: int = schema.whole(low=1, high=10**15)
    beta: float = schema.real(above=0, high=1)
    V: float = schema.real(low=0)
    nu: float = schema.real(low=-1, high=1)
    phases: int = schema.whole(low=1, high=64)


@dataclass(frozen=True)
class Jobs:
    """How work is cut into jobs; no number depends on it."""

    shard: int = schema.whole(0, low=0)
    cells: int = schema.whole(24, low=1)
    queries: float = schema.real(1e8, above=0)
    remote: float = schema.real(3e9, above=0)


@dataclass(frozen=True)
class _Top:
    name: str = schema.text(pattern="a word of letters, digits, - and _, at most 100")
    toy: bool = schema.flag(False)
    phases: int = schema.whole(4, low=1, high=64)


@dataclass(frozen=True)
class _Play:
    largest_B: float = schema.real(float("inf"), above=0)
    largest_K: float = schema.real(float("inf"), above=0)
    estimate: int | None = schema.whole(None, low=0, high=10**6)


@dataclass(frozen=True)
class Experiment:
    """A checked experiment. `resolved` is its whole configuration but for `jobs`, canonical.

    `name` is that of its folder, see CLAIMS_ALONE. `unplayed`: policies on no axis and no map.
    """

    name: str
    experiment: str
    toy: bool
    entrants: Mapping[str, Entrant]
    family: Mapping[str, Mapping[str, Any]]
    grid: Grid
    seeds: Seeds
    accounting: Accounting
    jobs: Jobs
    claims: Sequence[str]
    figures: Sequence[str]
    resolved: Mapping[str, Any]
    unplayed: Sequence[str]
    overrides: str
    """What makes it again: what was given, but for `jobs`."""


def experiment(overrides: str | Sequence[str] = ()) -> Experiment:
    """The experiment of `overrides`: a list, or one string as a shell would split it.

    Raises ConfeeError.
    """
    if isinstance(overrides, str):
        try:
            overrides = shlex.split(overrides)
        except ValueError as error:
            reason = str(error).lower()
            raise ConfeeError(f"overrides={schema.show(overrides)}: {reason}") from None
    values = compose("config", overrides)
    named = {_key(override) for override in overrides}
    if alone := "claims" in named and bool(values.get("claims")):
        values["figures"] = values["figures"] if "figures" in named else []
    expected = {
        "name", "toy", "policies", "plays", "family", "centre", "grid", "at", "phases", "maps",
        "seeds", "idle", "proxy", "claims", "figures", "jobs",
    }  # fmt: skip
    schema.keys(values, expected)
    top = schema.build(_Top, {f.name: values[f.name] for f in dataclasses.fields(_Top)})
    if not NAME.fullmatch(top.name):
        raise ConfeeError(
            f"name={schema.show(top.name)}: must be a word of letters, digits, - and _, at most 100"
        )
    if top.name in RESERVED:
        raise ConfeeError(f"name={top.name}: must not be one of {', '.join(RESERVED)}")
    seeds = schema.build(_Seeds, schema.mapping(values["seeds"], "seeds"), "seeds")
    if seeds.most < seeds.estimate:
        raise ConfeeError(
            f"seeds.most={seeds.most}: must be at least seeds.estimate={seeds.estimate}"
        )
    entrants = _entrants(values)
    entries = schema.mapping(values["family"], "family")
    entries = {label: schema.mapping(entry, f"family.{label}") for label, entry in entries.items()}
    if not entrants:
        raise ConfeeError("policies={}: an experiment needs at least one policy")
    if not entries:
        raise ConfeeError("family={}: an experiment needs at least one adversary")
    grid = _grid({**values, "policies": entrants, "family": entries}, top.phases)
    centre = {**grid.centre, "B": grid.centre["B"] or round(grid.centre["T"] ** 0.8)}
    for label, entrant in entrants.items():
        cell(entrant.conf, f"policies.{label}", **{n: centre[n] for n in "KTBV"})
    family(entries, **{n: centre[n] for n in "KTBV"})
    if not any(grid.axes.values()) and not grid.maps:
        raise ConfeeError("grid={}: an experiment needs at least one point on an axis, or a map")
    unplayed = [
        label
        for label, entrant in entrants.items()
        if not any(label in one.policies for one in grid.maps.values())
        and not any(grid.axes.get(axis) for axis in entrant.axes)
    ]
    name = top.name + (CLAIMS_ALONE if alone else "")
    resolved = canonical({k: v for k, v in values.items() if k != "jobs"} | {"name": name})
    return Experiment(
        name=name,
        experiment=top.name,
        toy=top.toy,
        entrants=entrants,
        family=entries,
        grid=grid,
        seeds=Seeds(**dataclasses.asdict(seeds)),
        accounting=schema.build(Accounting, {n: values[n] for n in ("idle", "proxy")}),
        jobs=schema.build(Jobs, schema.mapping(values["jobs"], "jobs"), "jobs"),
        claims=_names(values["claims"], "claims"),
        figures=_names(values["figures"], "figures"),
        resolved=resolved,
        unplayed=unplayed,
        overrides=shlex.join(o for o in overrides if not _key(o).startswith("jobs")),
    )


def _sizes(values: Mapping[str, Any], where: str) -> dict[str, Any]:
    fields = {f.name: f for f in dataclasses.fields(Sizes)}
    checked: dict[str, Any] = {}
    for name, value in values.items():
        if name not in fields:
            raise ConfeeError(f"{where}.{name}={schema.show(value)}: must be one of K, T, B, V")
        rule = name == "B" and value is None
        checked[name] = None if rule else schema.check(fields[name], value, f"{where}.{name}")
    return checked


def _grid(values: Mapping[str, Any], phases: int) -> Grid:
    centre = _sizes(schema.mapping(values["centre"], "centre"), "centre")
    for name in "KTBV":
        if name not in centre:
            raise ConfeeError(f"centre.{name}: missing")
    fields = {f.name: f for f in dataclasses.fields(Sizes)}
    axes: dict[str, list[float]] = {}
    for axis, points in schema.mapping(values["grid"], "grid").items():
        if axis not in AXES:
            raise ConfeeError(f"grid.{axis}={schema.show(points)}: must be one of K, T, B, V")
        points = points if isinstance(points, list) else [points]
        axes[axis] = [schema.check(fields[axis], p, f"grid.{axis}") for p in points]
    at = {}
    for axis, moved in schema.mapping(values["at"], "at").items():
        if axis not in AXES:
            raise ConfeeError(f"at.{axis}: must be one of K, T, B, V")
        at[axis] = _sizes(schema.mapping(moved, f"at.{axis}"), f"at.{axis}")
    return Grid(centre, axes, at, phases, _maps(values))


def _maps(values: Mapping[str, Any]) -> dict[str, Map]:
    """Named maps: all combinations of K, T, beta and either V or nu.

    A map that names no policies is for all but those in `without`; and so with the family.
    """
    fields = {f.name: f for f in dataclasses.fields(_Map)}
    made = {}
    for label, said in schema.mapping(values["maps"], "maps").items():
        where = f"maps.{label}"
        if label in AXES:
            raise ConfeeError(f"{where}: must not be named after an axis")
        lists = dict(schema.mapping(said, where))
        everyone = [*values["policies"], *values["family"]]
        without = _names(lists.pop("without", []), f"{where}.without", everyone)
        policies, met = (
            _names(
                lists.pop(key, [entry for entry in values[key] if entry not in without]),
                f"{where}.{key}",
                list(values[key]),
            )
            for key in ("policies", "family")
        )
        checked: dict[str, list[Any]] = {}
        for name, points in lists.items():
            if name not in fields:
                known = ", ".join(["policies", "family", "without", *fields])
                raise ConfeeError(f"{where}.{name}={schema.show(points)}: must be one of {known}")
            points = points if isinstance(points, list) else [points]
            words = (LARGEST,) if name == "V" else ()
            checked[name] = [
                p if p in words else schema.check(fields[name], p, f"{where}.{name}")
                for p in points
            ]
        phases = checked.pop("phases", [values["phases"]])
        if len(phases) != 1:
            raise ConfeeError(f"{where}.phases={schema.show(phases)}: must be one whole number")
        for name in ("K", "T", "beta"):
            if not checked.get(name):
                raise ConfeeError(f"{where}.{name}: missing; must be a list of numbers")
        if not checked.get("V") and not checked.get("nu"):
            raise ConfeeError(f"{where}.V: missing; must be a list of numbers, or give nu")
        made[label] = Map(policies, **checked, phases=phases[0], family=met)
    return made


def _entrants(values: Mapping[str, Any]) -> dict[str, Entrant]:
    policies = schema.mapping(values["policies"], "policies")
    plays = schema.mapping(values["plays"], "plays")
    for label in plays:
        if label not in policies:
            known = ", ".join(policies)
            raise ConfeeError(f"plays.{label}: no such entry in policies; known: {known}")
    entrants = {}
    for label, conf in policies.items():
        how = dict(schema.mapping(plays.get(label, {}), f"plays.{label}"))
        axes = _names(how.pop("axes", list(AXES)), f"plays.{label}.axes", AXES)
        play = schema.build(_Play, how, f"plays.{label}")
        mapped = schema.mapping(conf, f"policies.{label}")
        entrants[label] = Entrant(mapped, axes, **dataclasses.asdict(play))
    return entrants
