"""What an experiment has to play: cells, units of work, files, and the jobs that make them.

A unit is (cell, opponents, stage, seeds) and is one file, named after a hash of its canonical
parameters and of the code that makes it. Jobs are groups of units that are missing, so how units
are grouped can change neither a number nor what is played again.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from confee.core.errors import ConfeeError
from confee.core.size import Size
from confee.core.sources import code_hash
from confee.simulation.cells import Cell, Opponent, cell, family
from confee.simulation.grid import Grid, Place
from confee.simulation.needs import AXES, Draws, Needs
from confee.simulation.play import USUAL, Accounting

CHOOSE, ESTIMATE = "choose", "estimate"

MAKING = ("confee.simulation.play", "confee.simulation.turns", "confee.simulation.files")
"""What makes and writes the rows of every unit, whatever policies and adversaries they are of."""
AROUND = ("confee.workflow.jobs", "confee.simulation.calibrate")
"""What calls it: of these the modules alone, as they import what other units are made by."""

LARGEST_PLAN = 50_000
"""Units of a plan, and opponents at all its settings: planning alone takes half a minute then."""


@dataclass(frozen=True)
class Seeds:
    """Where seeds are spent: `choose` on every opponent, then on the `worst` few of them.

    Those get `estimate` fresh seeds, and as many again as they had, round after round, up to
    `most`, as long as the standard error of log R against the leading one is over `error`.
    """

    choose: int
    worst: int
    estimate: int
    most: int
    error: float

    def window(self, stage: str, turn: int) -> tuple[int, int]:
        """(first seed, number of seeds) of a stage; turn 0, 1, ... of the estimate."""
        if stage == CHOOSE:
            return 0, self.choose
        had = self.estimate * 2 ** (turn - 1) if turn else 0
        upto = min(self.most, max(self.estimate, 2 * had))
        return self.choose + had, upto - had

    def units(self, shard: int) -> int:
        """How many units a cell has in shards of so many seeds (0: all)."""
        counts = [self.window(*stage)[1] for stage in self.stages]
        return sum(math.ceil(count / (shard or count)) for count in counts if count)

    @property
    def turns(self) -> int:
        """How many rounds of fresh seeds there may be."""
        if not self.estimate:
            return 0
        return 1 + max(0, math.ceil(math.log2(self.most / self.estimate)))

    @property
    def stages(self) -> list[tuple[str, int]]:
        """(stage, turn), in order."""
        return [(CHOOSE, 0), *((ESTIMATE, turn) for turn in range(self.turns))]


@dataclass(frozen=True)
class Unit:
    """Seeds first .. first + count - 1 of one stage (and turn of it) of a cell."""

    cell: Cell
    opponents: tuple[Opponent, ...]
    stage: str
    turn: int
    first: int
    count: int
    seeds: Seeds
    accounting: Accounting = USUAL

    @cached_property
    def key(self) -> dict[str, Any]:
        """All that the unit's rows depend on."""
        modules = [f"confee.policies.{self.cell.policy}", *MAKING]
        modules += [f"confee.world.adversaries.{o.adversary}" for o in self.opponents]
        if self.cell.spec.calibrated:
            modules.append("confee.simulation.calibrate")
        key: dict[str, Any] = {
            "cell": self.cell.key,
            "opponents": [o.key for o in self.opponents],
            "stage": self.stage,
            "seeds": [self.first, self.count],
            "accounting": asdict(self.accounting),
            "code": code_hash(modules, AROUND),
        }
        if self.stage == ESTIMATE:  # which opponents it plays is decided by the choose stage
            key |= {"choose": self.seeds.choose, "worst": self.seeds.worst}
        if self.turn:  # whether it plays at all is decided by the turns before
            key |= {"estimate": self.seeds.estimate, "error": self.seeds.error}
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
        """All seeds of the unit's turn: the same however they are cut into shards."""
        first, count = self.seeds.window(self.stage, self.turn)
        if (first, count) == (self.first, self.count):
            return self
        return replace(self, first=first, count=count)

    @property
    def game(self) -> tuple:
        """What the units of a cell share, whatever their stage and seeds."""
        return self.cell, self.opponents, self.accounting

    @property
    def runs(self) -> int:
        """Runs it plays, about: most cells need a second turn of fresh seeds, few a third."""
        opponents = self.seeds.worst if self.stage == ESTIMATE else len(self.opponents)
        chance = 1 if self.turn < 2 else 0.2
        return math.ceil(chance * self.count * min(opponents, len(self.opponents)))

    @property
    def cost(self) -> float:
        """Queried rounds, about: what its time is proportional to."""
        share = 1e-3 if self.cell.spec.looks_at_nothing else 1
        return self.runs * (1e3 + share * self.cell.size.B * (1 + self.cell.size.K / 20))

    def describe(self) -> dict[str, Any]:
        """What a job file says of it; `unit` reads it back."""
        return {
            "cell": self.cell.key,
            "opponents": [[o.adversary, dict(o.resolved)] for o in self.opponents],
            "stage": self.stage,
            "turn": self.turn,
            "first": self.first,
            "count": self.count,
            "seeds": asdict(self.seeds),
            "accounting": asdict(self.accounting),
            "file": self.file.as_posix(),
        }


def unit(said: Mapping[str, Any]) -> Unit:
    """The unit that `describe` described. Raises ConfeeError if this code names it otherwise."""
    key = dict(said["cell"])
    conf = {"name": key["policy"], **key["options"]}
    one = Unit(
        cell=cell(conf, Size(*(key[name] for name in Size._fields))),
        opponents=tuple(Opponent(a, tuple(sorted(p.items()))) for a, p in said["opponents"]),
        stage=said["stage"],
        turn=said["turn"],
        first=said["first"],
        count=said["count"],
        seeds=Seeds(**said["seeds"]),
        accounting=Accounting(**said["accounting"]),
    )
    if one.file.as_posix() != said["file"]:
        raise ConfeeError(f"{said['file']}: planned with other sources; run snakemake again")
    return one


def units(one: Cell, against: Sequence[Opponent], seeds: Seeds, shard: int, how: Accounting):
    """The units of a cell: all opponents on the choosing seeds, then the worst on fresh ones."""
    for stage, turn in seeds.stages:
        first, count = seeds.window(stage, turn)
        step = shard or count
        for start in range(first, first + count, step):
            size = min(step, first + count - start)
            yield Unit(one, tuple(against), stage, turn, start, size, seeds, how)


# --------------------------------------------------------------------------- the plan


@dataclass(frozen=True)
class Entrant:
    """A policy in an experiment: on which axes and rays it is played, up to which budget and number
    of arms, and on how many fresh seeds first (None: the experiment's)."""

    conf: Mapping[str, Any]
    axes: Sequence[str] = AXES
    _: KW_ONLY
    largest_B: float = math.inf
    largest_K: float = math.inf
    estimate: int | None = None

    def seeds(self, usual: Seeds) -> Seeds:
        """Where its seeds are spent."""
        start = usual.estimate if self.estimate is None else self.estimate
        return replace(usual, estimate=start, most=max(usual.most, start))


@dataclass
class Plan:
    """All work of an experiment, which place serves which cell, which file which claim."""

    units: list[Unit] = field(default_factory=list)
    points: list[dict[str, Any]] = field(default_factory=list)
    asked: list[tuple[str, Unit]] = field(default_factory=list)
    studies: list[Draws] = field(default_factory=list)

    @property
    def everything(self) -> list[Unit]:
        """The units of the grid and of what claims asked for, each once."""
        return list({u.file: u for u in [*self.units, *(u for _, u in self.asked)]}.values())


def plan(
    entrants: Mapping[str, Entrant],
    entries: Mapping[str, Mapping[str, Any]],
    grid: Grid,
    seeds: Seeds,
    shard: int = 0,
    accounting: Accounting = USUAL,
    needs: Needs | None = None,
) -> Plan:
    """The plan of an experiment, with the cells and studies that claims ask for.

    What is played at a setting (K, T, B, V) is the same for all policies and all places there: what
    any of them is about, as far as it is a game that the policy plays.
    """
    _check_size(entrants, entries, grid, seeds, shard)
    made = Plan()
    seen: set[Cell] = set()
    met: dict[tuple, list[Opponent]] = {}
    places = list(grid.places())
    about: dict[tuple, set[str]] = {}
    for place in places:
        about.setdefault(place.size, set()).update(grid.met(place, entries))
    for label, entrant in entrants.items():
        how = entrant.seeds(seeds)
        for place in places:
            if not _plays(label, entrant, place, grid):
                continue
            try:
                one = cell(entrant.conf, place.size, f"policies.{label}")
                game = place.size, one.spec.setting
                if game not in met:
                    named = {e: said for e, said in entries.items() if e in about[place.size]}
                    met[game] = family(named, place.size, one.spec.setting, label)
            except ConfeeError as error:
                raise ConfeeError(f"{grid.name(place)}={place.point:g}: {error}") from None
            if one not in seen:
                seen.add(one)
                made.units.extend(units(one, met[game], how, shard, accounting))
            said = {"label": one.label, "policy": one.policy, "axis": place.axis}
            where_on = {"point": float(place.point), "phase": place.phase}
            made.points.append(
                said | {"variable": grid.variable(place)} | where_on | place.size._asdict()
            )
    for asked in needs.asks if needs else ():
        one = cell(asked.policy, asked.size)
        how = Seeds(asked.seeds, 0, 0, 0, 0)
        proxy = replace(accounting, proxy=asked.proxy)
        for u in units(one, family(asked.against, asked.size), how, shard, proxy):
            made.asked.append((asked.tag, u))
    made.studies = list({s.file: s for s in (needs.studies if needs else ())}.values())
    return made


def _plays(label: str, entrant: Entrant, place: Place, grid: Grid) -> bool:
    """Whether a policy is played at a place: maps name their policies, policies their axes."""
    if place.axis in grid.maps:
        return label in grid.maps[place.axis].policies
    small = entrant.largest_B >= place.size.B and entrant.largest_K >= place.size.K
    return place.axis in entrant.axes and small


def _check_size(
    entrants: Mapping[str, Entrant],
    entries: Mapping[str, Mapping[str, Any]],
    grid: Grid,
    seeds: Seeds,
    shard: int,
) -> None:
    """Raises ConfeeError if the plan would be too large to be made."""
    places = grid.sizes
    lists = [[len(v) for v in entry.values() if isinstance(v, list)] for entry in entries.values()]
    opponents = sum(places.values()) * sum(map(math.prod, lists))
    work = 0
    for label, entrant in entrants.items():
        own = [m for m, one in grid.maps.items() if label in one.policies]
        cells = sum(places.get(axis, 0) for axis in {*entrant.axes, *own})
        work += cells * entrant.seeds(seeds).units(shard)
    for what, count in (("units of work", work), ("opponents at all settings", opponents)):
        if count > LARGEST_PLAN:
            raise ConfeeError(
                f"plan: {count} {what}; must be at most {LARGEST_PLAN}: take fewer points (grid, "
                "maps, phases), policies, family, or seeds, or a larger jobs.shard"
            )


def groups(missing: Sequence[Unit], cells_per_job: float, cost_per_job: float) -> list[list[Unit]]:
    """Units in jobs: whole cells while they fit, at most `cells_per_job` cells and about
    `cost_per_job` queried rounds. The costliest come first, so that none ends the run alone.

    A job is of one policy but for its ends: what is left of one is filled up with the next. Within
    a cell the order is choose before estimate; if shards split a cell over jobs, the jobs of each
    stage are apart (see `waits`).
    """
    whole = all(u.whole is u for u in missing)
    bundles: dict[Any, list[Unit]] = {}
    for u in missing:
        bundles.setdefault(((), u.cell) if whole else ((u.stage, u.turn), u.file), []).append(u)
    by: dict[Any, list[list[Unit]]] = {}
    for (stage, _), bundle in bundles.items():
        by.setdefault(stage, []).append(bundle)
    made: list[list[Unit]] = []
    for batch in by.values():
        batch.sort(key=lambda b: (b[0].cell.policy, -sum(u.cost for u in b)))
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
