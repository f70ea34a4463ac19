"""What an experiment has to play: cells, units of work, files, and the jobs that make them.

A unit is (cell, opponents, stage, seeds) and is one file, named after a hash of its canonical
parameters and of the code that makes it. Jobs are groups of units that are missing, so how units
are grouped can change neither a number nor what is played again.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from confee import theory
from confee.errors import ConfeeError
from confee.simulation.cells import Cell, Opponent, cell, family
from confee.simulation.code import code_hash
from confee.simulation.play import USUAL, Accounting

AXES = ("T", "B", "V", "K")
CHOOSE, ESTIMATE = "choose", "estimate"


@dataclass(frozen=True)
class Seeds:
    """How many seeds choose the worst opponents, how many opponents, how many fresh seeds."""

    choose: int
    worst: int
    estimate: int


@dataclass(frozen=True)
class Unit:
    """Seeds first .. first + count - 1 of one stage of a cell."""

    cell: Cell
    opponents: tuple[Opponent, ...]
    stage: str
    first: int
    count: int
    seeds: Seeds
    accounting: Accounting = USUAL

    @cached_property
    def key(self) -> dict[str, Any]:
        """All that the unit's rows depend on."""
        modules = [f"confee.policies.{self.cell.policy}", "confee.simulation.play"]
        modules += [f"confee.world.adversaries.{o.adversary}" for o in self.opponents]
        if self.cell.spec.calibrated:
            modules.append("confee.simulation.calibrate")
        key: dict[str, Any] = {
            "cell": self.cell.key,
            "opponents": [o.key for o in self.opponents],
            "stage": self.stage,
            "seeds": [self.first, self.count],
            "accounting": asdict(self.accounting),
            "code": code_hash(modules),
        }
        if self.stage == ESTIMATE:  # which opponents it plays is decided by the choose stage
            key |= {"choose": self.seeds.choose, "worst": self.seeds.worst}
        return key

    @cached_property
    def file(self) -> Path:
        """Relative to the results folder."""
        # All parts are canonical: this is `digest(self.key)`, which would take ten times as long.
        text = json.dumps(self.key, sort_keys=True, separators=(",", ":"))
        name = hashlib.sha256(text.encode()).hexdigest()[:16]
        return Path("cells") / self.cell.policy / f"{name}.parquet"

    @property
    def whole(self) -> Unit:
        """All seeds of the unit's stage: the same however they are cut into shards."""
        first, count = 0, self.seeds.choose
        if self.stage == ESTIMATE:
            first, count = self.seeds.choose, self.seeds.estimate
        if (first, count) == (self.first, self.count):
            return self
        return replace(self, first=first, count=count)

    @property
    def runs(self) -> int:
        opponents = self.seeds.worst if self.stage == ESTIMATE else len(self.opponents)
        return self.count * min(opponents, len(self.opponents))

    @property
    def cost(self) -> float:
        """Queried rounds, about: what its time is proportional to."""
        share = 1e-3 if self.cell.spec.control else 1
        return self.runs * (1e3 + share * self.cell.B * (1 + self.cell.K / 20))

    def describe(self) -> dict[str, Any]:
        """What a job file says of it; `unit` reads it back."""
        return {
            "cell": self.cell.key,
            "opponents": [o.key for o in self.opponents],
            "stage": self.stage,
            "first": self.first,
            "count": self.count,
            "seeds": [self.seeds.choose, self.seeds.worst, self.seeds.estimate],
            "accounting": asdict(self.accounting),
            "file": self.file.as_posix(),
        }


def unit(said: Mapping[str, Any]) -> Unit:
    """The unit that `describe` described. Raises ConfeeError if this code names it otherwise."""
    key = dict(said["cell"])
    conf = {"name": key["policy"], **key["options"]}
    one = Unit(
        cell=cell(conf, **{name: key[name] for name in "KTBV"}),
        opponents=tuple(Opponent(a, tuple(sorted(p.items()))) for a, p in said["opponents"]),
        stage=said["stage"],
        first=said["first"],
        count=said["count"],
        seeds=Seeds(*said["seeds"]),
        accounting=Accounting(**said["accounting"]),
    )
    if one.file.as_posix() != said["file"]:
        raise ConfeeError(f"{said['file']}: planned with other sources; run snakemake again")
    return one


def units(one: Cell, against: Sequence[Opponent], seeds: Seeds, shard: int, how: Accounting):
    """The units of a cell: all opponents on the choosing seeds, then the worst on fresh ones."""
    stages = [(CHOOSE, 0, seeds.choose)]
    if seeds.estimate and len(against) > 0:
        stages.append((ESTIMATE, seeds.choose, seeds.estimate))
    for stage, first, count in stages:
        step = shard or count
        for start in range(first, first + count, step):
            size = min(step, first + count - start)
            yield Unit(one, tuple(against), stage, start, size, seeds, how)


# --------------------------------------------------------------------------- the grid


@dataclass(frozen=True)
class Place:
    """A cell's place on an axis: its nominal value there, and which horizon of the octave it is."""

    axis: str
    point: float
    phase: int
    K: int
    T: int
    B: int
    V: float


@dataclass(frozen=True)
class Grid:
    """Sweeps around a centre. B = None is the rule B = T^0.8; `at` moves a sweep off the centre."""

    centre: Mapping[str, Any]
    axes: Mapping[str, Sequence[float]]
    at: Mapping[str, Mapping[str, Any]]
    phases: int

    def places(self) -> Iterator[Place]:
        """Every point of every axis, at `phases` horizons spread over one octave of B."""
        for axis in AXES:
            for point in self.axes.get(axis, ()):
                values = {**self.centre, **self.at.get(axis, {}), axis: point}
                for phase in range(self.phases):
                    yield self._place(axis, point, phase, values)

    def _place(self, axis: str, point: float, phase: int, values: Mapping[str, Any]) -> Place:
        octave = 2 ** ((phase + 0.5) / self.phases - 0.5)
        T, B = values["T"], values["B"]
        if B is None:  # an octave of B = T^0.8
            T = round(T * octave ** (1 / theory.MINIMAL_BUDGET_EXPONENT))
            B = math.ceil(T**theory.MINIMAL_BUDGET_EXPONENT)
        else:
            T, B = round(T * octave), round(B * octave)
        return Place(axis, point, phase, values["K"], T, B, values["V"])


@dataclass(frozen=True)
class Entrant:
    """A policy in an experiment: on which axes it is played, up to which budget, and on how many
    fresh seeds (None: the experiment's)."""

    conf: Mapping[str, Any]
    axes: Sequence[str] = AXES
    largest_B: float = math.inf
    estimate: int | None = None


@dataclass
class Plan:
    """All units of an experiment, and which place serves which cell."""

    units: list[Unit] = field(default_factory=list)
    points: list[dict[str, Any]] = field(default_factory=list)


def plan(
    entrants: Mapping[str, Entrant],
    entries: Mapping[str, Mapping[str, Any]],
    grid: Grid,
    seeds: Seeds,
    shard: int = 0,
    accounting: Accounting = USUAL,
    extra: Sequence[Mapping[str, Any]] = (),
) -> Plan:
    """The plan of an experiment. `extra` cells ({policy, K, T, B, V, axis}) are what claims ask for
    beside the grid: they meet the family's first opponent only, on the choosing seeds."""
    made = Plan()
    seen: set[Cell] = set()
    met: dict[tuple, list[Opponent]] = {}

    def opponents(K: int, T: int, B: int, V: float) -> list[Opponent]:
        if (K, T, B, V) not in met:
            met[K, T, B, V] = family(entries, K, T, B, V)
        return met[K, T, B, V]

    def add(one: Cell, against: Sequence[Opponent], how: Seeds) -> None:
        if one not in seen:
            seen.add(one)
            made.units.extend(units(one, against, how, shard, accounting))

    for label, entrant in entrants.items():
        fresh = seeds.estimate if entrant.estimate is None else entrant.estimate
        how = replace(seeds, estimate=fresh)
        for place in grid.places():
            if place.axis not in entrant.axes or entrant.largest_B < place.B:
                continue
            sizes: dict[str, Any] = {name: getattr(place, name) for name in "KTBV"}
            try:
                one = cell(entrant.conf, f"policies.{label}", **sizes)
                add(one, opponents(**sizes), how)
            except ConfeeError as error:
                raise ConfeeError(f"grid.{place.axis}={place.point:g}: {error}") from None
            said = {"label": one.label, "policy": one.policy, "axis": place.axis}
            made.points.append(said | {"point": float(place.point), "phase": place.phase, **sizes})
    for asked in extra:
        sizes = {name: asked[name] for name in "KTBV"}
        one = cell({"name": asked["policy"]}, **sizes)
        add(one, opponents(**sizes)[:1], Seeds(asked.get("seeds", seeds.choose), 0, 0))
        said = {"label": one.label, "policy": one.policy, "axis": asked["axis"]}
        made.points.append(said | {"point": float(one.T), "phase": 0, **sizes})
    return made


def groups(missing: Sequence[Unit], cells_per_job: int, cost_per_job: float) -> list[list[Unit]]:
    """Units in jobs: of one policy, whole cells while they fit, at most `cells_per_job` cells and
    about `cost_per_job` queried rounds. The costliest come first, so that none ends the run alone.

    Within a cell the order is choose before estimate; if shards split a cell over jobs, the jobs of
    the choose stage are apart (see `waits`).
    """
    made: list[list[Unit]] = []
    whole = not any(u.stage == CHOOSE and u.count < u.seeds.choose for u in missing)
    by: dict[Any, list[list[Unit]]] = {}
    bundles: dict[Any, list[Unit]] = {}
    for u in missing:
        if whole:
            bundles.setdefault((u.cell.policy, u.cell), []).append(u)
        else:
            bundles.setdefault((u.cell.policy, u.stage, u.file), []).append(u)
    for name, bundle in bundles.items():
        by.setdefault(name[0] if whole else name[:2], []).append(bundle)
    for batch in by.values():
        batch.sort(key=lambda b: -sum(u.cost for u in b))
        current: list[Unit] = []
        count, cost = 0, 0.0
        for bundle in batch:
            price = sum(u.cost for u in bundle)
            if current and (count >= cells_per_job or cost + price > cost_per_job):
                made.append(current)
                current, count, cost = [], 0, 0.0
            current = current + bundle
            count, cost = count + 1, cost + price
        if current:
            made.append(current)
    made.sort(key=lambda group: -sum(u.cost for u in group))
    return made
