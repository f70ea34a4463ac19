"""Experiments: composed configurations, checked and turned into typed values."""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from confee.config import composition
from confee.config.conf_files import REGISTERED, files
from confee.config.names import CLAIMS_ALONE, NAME, check_keys, unknown
from confee.core import plugins, schema
from confee.core.canonical import canonical
from confee.core.errors import ConfeeError
from confee.core.size import Size
from confee.simulation.cells import SizeRanges, cell, family
from confee.simulation.grid import LARGEST, Grid, Map, Ray
from confee.simulation.needs import AXES
from confee.simulation.plan import Entrant
from confee.simulation.play import Accounting
from confee.simulation.units import Seeds

RESERVED = ("calibration", "cells", "jobs", "logs", "reference", "studies")
"""Folders of results/ and figures/ that belong to no experiment."""


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
    """The seeds first_seed, ..., first_seed + seeds - 1 of a cell."""

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
class _Ray:
    K: int = schema.whole(low=2, high=100_000)
    B: int = schema.whole(low=1, high=10**13)
    V: float = schema.real(low=0, high=1e15)
    ratio: float = schema.real(low=1, high=10**9)
    phases: int = schema.whole(low=1, high=64)


@dataclass(frozen=True)
class Jobs:
    """How units of work are grouped into jobs; no result depends on it."""

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
    """A checked experiment.

    Parameters
    ----------
    name
        The name of its folder, which may end in CLAIMS_ALONE; `experiment` never does.
    resolved
        Its whole configuration except `jobs`, canonical.
    unplayed
        Labels of policies on no axis, map or ray.
    overrides
        The overrides that it was made from, except those of `jobs`.
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
    show: Sequence[str]
    resolved: Mapping[str, Any]
    unplayed: Sequence[str]
    overrides: str


KEYS = {"name", "toy", "policies", "plays", "family", "centre", "grid", "at", "phases", "maps"} | {
    "rays",
    "seeds",
    "idle",
    "proxy",
    "claims",
    "figures",
    "show",
    "jobs",
}
"""What conf/config.yaml must set."""


def experiment(overrides: str | Sequence[str] = ()) -> Experiment:
    """Return the experiment of `overrides`: a list, or one string as a shell would split it.

    Raises ConfeeError if Hydra cannot compose it or a value is not allowed.
    """
    if isinstance(overrides, str):
        try:
            overrides = shlex.split(overrides)
        except ValueError as error:
            reason = str(error).lower()
            raise ConfeeError(
                f"overrides={schema.show(overrides)}: {reason}; must be as in a shell"
            ) from None
    values = composition.compose("config", overrides)
    given = {composition.key(override) for override in overrides}
    alone = bool(values.get("claims")) and any(re.match(r"claims\b", key) for key in given)
    if alone and "figures" not in given:
        values["figures"] = []
    if "experiment" in values:  # its file did not put its keys where they belong
        raise ConfeeError(
            f"experiment={schema.show(values['experiment'])}: no such key; the file of an "
            "experiment must begin with the line # @package _global_"
        )
    check_keys(values, KEYS)
    values["name"] = _name(values["name"], overrides)
    top = schema.build(_Top, {f.name: values[f.name] for f in dataclasses.fields(_Top)})
    if not NAME.fullmatch(top.name):
        raise ConfeeError(
            f"name={schema.show(top.name)}: must be a word of letters, digits, - and _, with at "
            "most 100 of them"
        )
    if top.name in RESERVED:
        raise ConfeeError(
            f"name={top.name}: must not be one of {', '.join(RESERVED)}, folders of confee itself"
        )
    seeds = schema.build(_Seeds, schema.mapping(values["seeds"], "seeds"), "seeds")
    if seeds.most < seeds.estimate:
        raise ConfeeError(
            f"seeds.most={seeds.most}: must be at least seeds.estimate={seeds.estimate}"
        )
    entrants = _entrants(values)
    entries = schema.mapping(values["family"], "family")
    entries = {label: schema.mapping(entry, f"family.{label}") for label, entry in entries.items()}
    for label, entry in entries.items():
        _check_name("adversary", entry, f"family.{label}", entries)
    if not entrants:
        raise ConfeeError("policies={}: an experiment needs at least one policy")
    if not entries:
        raise ConfeeError("family={}: an experiment needs at least one adversary")
    grid = _grid({**values, "policies": entrants, "family": entries}, top.phases)
    centre = {**grid.centre, "B": grid.centre["B"] or round(grid.centre["T"] ** 0.8)}
    size = Size(*(centre[name] for name in Size._fields))
    for label, entrant in entrants.items():
        cell(entrant.conf, size, f"policies.{label}")
    family(entries, size)
    if not any(grid.axes.values()) and not grid.maps and not grid.rays:
        raise ConfeeError(
            "grid={}: an experiment needs at least one point on an axis, or a map, or a ray"
        )
    unplayed = [
        label
        for label, entrant in entrants.items()
        if not any(label in played.policies for played in grid.maps.values())
        and not any(grid.axes.get(axis) or axis in grid.rays for axis in entrant.axes)
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
        show=_names(values["show"], "show", list(entrants)),
        resolved=resolved,
        unplayed=unplayed,
        overrides=shlex.join(o for o in overrides if not composition.key(o).startswith("jobs")),
    )


def _name(name: Any, overrides: Sequence[str]) -> Any:
    """Return the name of an experiment. Raises ConfeeError if it belongs to another experiment.

    An experiment that is built on another and sets no name is called like its file, so that it does
    not take the folder of the other.
    """
    given = {composition.key(o): o.partition("=")[2].strip("'\" ") for o in overrides}
    chosen = given.get("experiment", "").rpartition("/")[2]
    if chosen and name != chosen and name in files("experiment"):
        if "name" in given:
            raise ConfeeError(
                f"name={name}: is another experiment's, whose results it would replace; must be "
                "a new name"
            )
        return chosen
    # Hydra reads some names, years for example, as numbers.
    return str(name) if isinstance(name, int) and not isinstance(name, bool) else name


def _sizes(values: Mapping[str, Any], where: str) -> dict[str, Any]:
    fields = {f.name: f for f in dataclasses.fields(SizeRanges)}
    checked: dict[str, Any] = {}
    for name, value in values.items():
        if name not in fields:
            raise ConfeeError(
                f"{where}.{schema.show(name)}={schema.show(value)}: no such key; must be one of "
                "K, T, B, V"
            )
        rule = name == "B" and value is None
        checked[name] = None if rule else schema.check(fields[name], value, f"{where}.{name}")
    return checked


def _grid(values: Mapping[str, Any], phases: int) -> Grid:
    centre = _sizes(schema.mapping(values["centre"], "centre"), "centre")
    for name in "KTBV":
        if name not in centre:
            raise ConfeeError(f"centre.{name}: missing; must be given")
    fields = {f.name: f for f in dataclasses.fields(SizeRanges)}
    axes: dict[str, list[float]] = {}
    for axis, points in schema.mapping(values["grid"], "grid").items():
        if axis not in AXES:
            raise ConfeeError(
                f"grid.{schema.show(axis)}={schema.show(points)}: no such axis; must be one of "
                "K, T, B, V"
            )
        points = points if isinstance(points, list) else [points]
        axes[axis] = [schema.check(fields[axis], p, f"grid.{axis}") for p in points]
    at = {}
    for axis, moved in schema.mapping(values["at"], "at").items():
        if axis not in AXES:
            raise ConfeeError(f"at.{schema.show(axis)}: no such axis; must be one of K, T, B, V")
        at[axis] = _sizes(schema.mapping(moved, f"at.{axis}"), f"at.{axis}")
    return Grid(centre, axes, at, phases, _maps(values), _rays(values))


def _where(label: str, kind: str) -> str:
    """Return the key of a map or a ray. Raises ConfeeError if its name is not a word."""
    if not NAME.fullmatch(label):
        raise ConfeeError(
            f"{kind}.{schema.show(label)}: must be a word of letters, digits, - and _"
        )
    return f"{kind}.{label}"


def _lists(
    cls: type, lists: Mapping[str, Any], where: str, others: Sequence[str], **words: str
) -> dict[str, list[Any]]:
    """Return the values of a map or a ray as lists, each value checked by its field of `cls`.

    `others` are further keys that it may have; `words` maps a field to a word that it may also be.
    """
    fields = {field.name: field for field in dataclasses.fields(cls)}
    checked: dict[str, list[Any]] = {}
    for name, points in lists.items():
        if name not in fields:
            known = ", ".join([*others, *fields])
            raise ConfeeError(
                f"{where}.{schema.show(name)}={schema.show(points)}: no such key; must be one of "
                f"{known}"
            )
        points = points if isinstance(points, list) else [points]
        key, word = f"{where}.{name}", words.get(name, "")
        checked[name] = [schema.check(fields[name], point, key, word) for point in points]
    if len(checked.get("phases", [1])) != 1:
        shown = schema.show(checked["phases"])
        raise ConfeeError(f"{where}.phases={shown}: must be one whole number")
    return checked


def _maps(values: Mapping[str, Any]) -> dict[str, Map]:
    """Return the maps by name: all combinations of K, T, beta and either V or nu.

    A map that names no policies has all except those in `without`; likewise for the family.
    """
    maps = {}
    for label, entry in schema.mapping(values["maps"], "maps").items():
        where = _where(label, "maps")
        if label in AXES:
            raise ConfeeError(f"{where}: must not be named after an axis")
        lists = dict(schema.mapping(entry, where))
        labels = [*values["policies"], *values["family"]]
        without = _names(lists.pop("without", []), f"{where}.without", labels)
        policies, met = (
            _names(
                lists.pop(key, [label for label in values[key] if label not in without]),
                f"{where}.{key}",
                list(values[key]),
            )
            for key in ("policies", "family")
        )
        checked = _lists(_Map, lists, where, ["policies", "family", "without"], V=LARGEST)
        (phases,) = checked.pop("phases", [values["phases"]])
        for name in ("K", "T", "beta"):
            if not checked.get(name):
                raise ConfeeError(f"{where}.{name}: missing; must be a list of numbers")
        if not checked.get("V") and not checked.get("nu"):
            raise ConfeeError(f"{where}.V: missing; must be a list of numbers, or give nu")
        maps[label] = Map(policies, **checked, phases=phases, family=met)
        if next(maps[label].places(label), None) is None:
            raise ConfeeError(f"{where}: has no valid cell; B = T^beta must be at least K")
    return maps


def _rays(values: Mapping[str, Any]) -> dict[str, Ray]:
    """Return the rays by name: lists of K, B, V and T/B, with several values in at most one.

    A ray meets the whole family except stationary adversaries; its still cells meet only those.
    """
    rays = {}
    family = values["family"]
    still = [label for label, conf in family.items() if conf.get("name") == "stationary"]
    moving = [label for label in family if label not in still]
    for label, entry in schema.mapping(values["rays"], "rays").items():
        where = _where(label, "rays")
        if label in (*AXES, *values["maps"]):
            raise ConfeeError(
                f"{where}: must not be named like an axis ({', '.join(AXES)}) or a map"
            )
        lists = dict(schema.mapping(entry, where))
        met = _names(lists.pop("family", moving), f"{where}.family", list(family))
        checked = _lists(_Ray, lists, where, ["family"])
        checked = {name: sorted(set(points)) for name, points in checked.items()}
        (phases,) = checked.pop("phases", [2])
        for name in ("K", "B", "V", "ratio"):
            if not checked.get(name):
                raise ConfeeError(f"{where}.{name}: missing; must be a number or a list of numbers")
        several = [name for name, points in checked.items() if len(points) > 1]
        if len(several) > 1:
            raise ConfeeError(
                f"{where}.{several[1]}={schema.show(checked[several[1]])}: must be one number, as "
                f"{several[0]} has several"
            )
        if len(checked["V"]) > 1 and 0 in checked["V"]:
            raise ConfeeError(f"{where}.V=0: must be over 0, as V has several values")
        rays[label] = Ray(**checked, phases=phases, family=met, still=still)
        for _ in rays[label].places(label):  # each place is checked when it is made
            pass
    return rays


def _check_name(group: str, entry: Mapping[str, Any], where: str, entries: Collection[str]) -> None:
    """Raise ConfeeError if an entry of policies or family names no policy or adversary."""
    known, name = REGISTERED[group], entry.get("name")
    if name is None:
        others = ", ".join(x for x in entries if not where.endswith(f".{x}")) or "none"
        raise ConfeeError(
            f"{where}: has no name; must be one of {others}, or added: +{group}@{where}=<{group}>"
        )
    if not isinstance(name, str) or name not in known:
        ending = unknown(name, sorted(known), f"confee list {group}", plugins.hint())
        raise ConfeeError(f"{where}.name={schema.show(name)}: {ending}")


def _entrants(values: Mapping[str, Any]) -> dict[str, Entrant]:
    policies = schema.mapping(values["policies"], "policies")
    plays = schema.mapping(values["plays"], "plays")
    all_axes = [*AXES, *schema.mapping(values["rays"], "rays")]
    for label in plays:
        if label not in policies:
            known = ", ".join(policies)
            raise ConfeeError(
                f"plays.{schema.show(label)}: no such entry in policies; known: {known}"
            )
    entrants = {}
    for label, conf in policies.items():
        limits = dict(schema.mapping(plays.get(label, {}), f"plays.{label}"))
        axes = _names(limits.pop("axes", all_axes), f"plays.{label}.axes", all_axes)
        play = schema.build(_Play, limits, f"plays.{label}")
        conf = schema.mapping(conf, f"policies.{label}")
        _check_name("policy", conf, f"policies.{label}", policies)
        entrants[label] = Entrant(conf, axes, **dataclasses.asdict(play))
    return entrants
