"""Experiments: what Hydra composed, checked, and handed on as plain typed values."""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from confee.config import composition
from confee.config.conf_files import files
from confee.config.names import CLAIMS_ALONE, NAME, check_keys
from confee.core import schema
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
"""Folders of results/ and figures/ that are no experiment's."""


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
class _Ray:
    K: int = schema.whole(low=2, high=100_000)
    B: int = schema.whole(low=1, high=10**13)
    V: float = schema.real(low=0, high=1e15)
    ratio: float = schema.real(low=1, high=10**9)
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
    show: Sequence[str]
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
    values = composition.compose("config", overrides)
    named = {composition.key(override) for override in overrides}
    alone = bool(values.get("claims")) and any(re.match(r"claims\b", key) for key in named)
    if alone:
        values["figures"] = values["figures"] if "figures" in named else []
    expected = {
        "name",
        "toy",
        "policies",
        "plays",
        "family",
        "centre",
        "grid",
        "at",
        "phases",
        "maps",
        "rays",
        "seeds",
        "idle",
        "proxy",
        "claims",
        "figures",
        "show",
        "jobs",
    }
    check_keys(values, expected)
    values["name"] = _name(values["name"], overrides)
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
        if not any(label in one.policies for one in grid.maps.values())
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


def _name(said: Any, overrides: Sequence[str]) -> Any:
    """The name of an experiment. One that is built on another, and says no name of its own, is
    called as its file: it must not take the other's folder."""
    given = {composition.key(one): one.partition("=")[2].strip("'\" ") for one in overrides}
    chosen = given.get("experiment", "").rpartition("/")[2]
    if chosen and said != chosen and said in files("experiment"):
        if "name" in given:
            raise ConfeeError(f"name={said}: is another experiment's; must be one of its own")
        return chosen
    # A year, say, is a word that Hydra reads as a number.
    return str(said) if isinstance(said, int) and not isinstance(said, bool) else said


def _sizes(values: Mapping[str, Any], where: str) -> dict[str, Any]:
    fields = {f.name: f for f in dataclasses.fields(SizeRanges)}
    checked: dict[str, Any] = {}
    for name, value in values.items():
        if name not in fields:
            raise ConfeeError(
                f"{where}.{schema.show(name)}={schema.show(value)}: must be one of K, T, B, V"
            )
        rule = name == "B" and value is None
        checked[name] = None if rule else schema.check(fields[name], value, f"{where}.{name}")
    return checked


def _grid(values: Mapping[str, Any], phases: int) -> Grid:
    centre = _sizes(schema.mapping(values["centre"], "centre"), "centre")
    for name in "KTBV":
        if name not in centre:
            raise ConfeeError(f"centre.{name}: missing")
    fields = {f.name: f for f in dataclasses.fields(SizeRanges)}
    axes: dict[str, list[float]] = {}
    for axis, points in schema.mapping(values["grid"], "grid").items():
        if axis not in AXES:
            raise ConfeeError(
                f"grid.{schema.show(axis)}={schema.show(points)}: must be one of K, T, B, V"
            )
        points = points if isinstance(points, list) else [points]
        axes[axis] = [schema.check(fields[axis], p, f"grid.{axis}") for p in points]
    at = {}
    for axis, moved in schema.mapping(values["at"], "at").items():
        if axis not in AXES:
            raise ConfeeError(f"at.{schema.show(axis)}: must be one of K, T, B, V")
        at[axis] = _sizes(schema.mapping(moved, f"at.{axis}"), f"at.{axis}")
    return Grid(centre, axes, at, phases, _maps(values), _rays(values))


def _place(label: str, kind: str) -> str:
    """The key of a map or a ray. Raises ConfeeError if its name is no word."""
    if not NAME.fullmatch(label):
        raise ConfeeError(
            f"{kind}.{schema.show(label)}: must be a word of letters, digits, - and _"
        )
    return f"{kind}.{label}"


def _maps(values: Mapping[str, Any]) -> dict[str, Map]:
    """Named maps: all combinations of K, T, beta and either V or nu.

    A map that names no policies is for all but those in `without`; and so with the family.
    """
    fields = {f.name: f for f in dataclasses.fields(_Map)}
    made = {}
    for label, said in schema.mapping(values["maps"], "maps").items():
        where = _place(label, "maps")
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
                raise ConfeeError(
                    f"{where}.{schema.show(name)}={schema.show(points)}: must be one of {known}"
                )
            points = points if isinstance(points, list) else [points]
            word = LARGEST if name == "V" else ""
            checked[name] = [schema.check(fields[name], p, f"{where}.{name}", word) for p in points]
        phases = checked.pop("phases", [values["phases"]])
        if len(phases) != 1:
            raise ConfeeError(f"{where}.phases={schema.show(phases)}: must be one whole number")
        for name in ("K", "T", "beta"):
            if not checked.get(name):
                raise ConfeeError(f"{where}.{name}: missing; must be a list of numbers")
        if not checked.get("V") and not checked.get("nu"):
            raise ConfeeError(f"{where}.V: missing; must be a list of numbers, or give nu")
        made[label] = Map(policies, **checked, phases=phases[0], family=met)
        if next(made[label].places(label), None) is None:
            raise ConfeeError(f"{where}: has no place; B = T^beta must be at least K somewhere")
    return made


def _rays(values: Mapping[str, Any]) -> dict[str, Ray]:
    """Named rays: lists of K, B, V and T/B, with several values in at most one.

    A ray meets the whole family but for stationary worlds; its still cells meet those alone.
    """
    fields = {f.name: f for f in dataclasses.fields(_Ray)}
    made = {}
    for label, given in schema.mapping(values["rays"], "rays").items():
        where = _place(label, "rays")
        if label in (*AXES, *values["maps"]):
            raise ConfeeError(
                f"{where}: must not be named like an axis ({', '.join(AXES)}) or a map"
            )
        lists = dict(schema.mapping(given, where))
        still = [
            entry for entry, conf in values["family"].items() if conf.get("name") == "stationary"
        ]
        moving = [entry for entry in values["family"] if entry not in still]
        named = lists.pop("family", moving)
        met = _names(named, f"{where}.family", list(values["family"]))
        checked: dict[str, list[Any]] = {}
        for name, points in lists.items():
            if name not in fields:
                known = ", ".join(["family", *fields])
                raise ConfeeError(
                    f"{where}.{schema.show(name)}={schema.show(points)}: must be one of {known}"
                )
            points = points if isinstance(points, list) else [points]
            found = [schema.check(fields[name], p, f"{where}.{name}") for p in points]
            checked[name] = sorted(set(found))
        phases = checked.pop("phases", [2])
        if len(phases) != 1:
            raise ConfeeError(f"{where}.phases={schema.show(phases)}: must be one whole number")
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
        made[label] = Ray(**checked, phases=phases[0], family=met, still=still)
        for _ in made[label].places(label):  # each of them is checked
            pass
    return made


def _entrants(values: Mapping[str, Any]) -> dict[str, Entrant]:
    policies = schema.mapping(values["policies"], "policies")
    plays = schema.mapping(values["plays"], "plays")
    axes_known = [*AXES, *schema.mapping(values["rays"], "rays")]
    for label in plays:
        if label not in policies:
            known = ", ".join(policies)
            raise ConfeeError(
                f"plays.{schema.show(label)}: no such entry in policies; known: {known}"
            )
    entrants = {}
    for label, conf in policies.items():
        how = dict(schema.mapping(plays.get(label, {}), f"plays.{label}"))
        axes = _names(how.pop("axes", axes_known), f"plays.{label}.axes", axes_known)
        play = schema.build(_Play, how, f"plays.{label}")
        mapped = schema.mapping(conf, f"policies.{label}")
        entrants[label] = Entrant(mapped, axes, **dataclasses.asdict(play))
    return entrants
