"""The plan of an experiment: which cells its sweeps, rays and maps and its claims ask for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

from confee.core.errors import ConfeeError
from confee.simulation.cells import Cell, Opponent, cell, family
from confee.simulation.grid import Grid, Place
from confee.simulation.needs import AXES, Draws, Needs
from confee.simulation.play import USUAL, Accounting
from confee.simulation.units import Seeds, Unit, units

LARGEST_PLAN = 50_000
"""Units of a plan, and opponents at all its settings: planning alone takes half a minute then."""


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
