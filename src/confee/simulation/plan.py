"""The plan of an experiment: which cells its sweeps, rays and maps and its claims ask for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

from confee.core.errors import ConfeeError
from confee.core.size import Size
from confee.simulation.cells import Cell, Opponent, cell, family
from confee.simulation.grid import Grid, Place
from confee.simulation.needs import AXES, Draws, Needs
from confee.simulation.play import USUAL, Accounting
from confee.simulation.units import Seeds, Unit, units_of

LARGEST_PLAN = 50_000
"""The most units of a plan, and opponents at all its sizes: that takes half a minute to plan."""


@dataclass(frozen=True)
class Entrant:
    """A policy in an experiment.

    It is played on `axes`, which also name rays, up to `largest_B` and `largest_K`, and first on
    `estimate` fresh seeds (None: as many as the experiment says).
    """

    conf: Mapping[str, Any]
    axes: Sequence[str] = AXES
    _: KW_ONLY
    largest_B: float = math.inf
    largest_K: float = math.inf
    estimate: int | None = None

    def seeds(self, usual: Seeds) -> Seeds:
        """Return the numbers of its seeds."""
        start = usual.estimate if self.estimate is None else self.estimate
        return replace(usual, estimate=start, most=max(usual.most, start))


@dataclass
class Plan:
    """All work of an experiment.

    `units` are those of the grid, `points` say which cell lies where on it, `asked` are the (tag,
    unit) that claims asked for, and `studies` the draws that they need.
    """

    units: list[Unit] = field(default_factory=list)
    points: list[dict[str, Any]] = field(default_factory=list)
    asked: list[tuple[str, Unit]] = field(default_factory=list)
    studies: list[Draws] = field(default_factory=list)

    @property
    def everything(self) -> list[Unit]:
        """The units of the grid and those that claims asked for, each once."""
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
    """Return the plan of an experiment, with the cells and studies that its claims need.

    Policies at one size face the union of the adversaries that its places there ask for, limited to
    games that each policy plays.

    Parameters
    ----------
    entrants, entries
        The policies and the adversaries of the experiment, by label.
    shard
        The most seeds of a unit; 0 for all.

    Raises
    ------
    ConfeeError
        A cell or an adversary is out of range, or the plan is larger than LARGEST_PLAN.
    """
    _check_length(entrants, entries, grid, seeds, shard)
    needs = needs or Needs()
    units, points = _on_grid(entrants, entries, grid, seeds, shard, accounting)
    asked = [
        (ask.tag, unit)
        for ask in needs.asks
        for unit in units_of(
            cell(ask.policy, ask.size),
            family(ask.against, ask.size),
            Seeds(ask.seeds, 0, 0, 0, 0),
            shard,
            replace(accounting, proxy=ask.proxy),
        )
    ]
    return Plan(units, points, asked, list({draws.file: draws for draws in needs.studies}.values()))


def _on_grid(
    entrants: Mapping[str, Entrant],
    entries: Mapping[str, Mapping[str, Any]],
    grid: Grid,
    seeds: Seeds,
    shard: int,
    accounting: Accounting,
) -> tuple[list[Unit], list[dict[str, Any]]]:
    """Return the units of all cells on the grid, and where each cell lies: the rows of points."""
    units: list[Unit] = []
    points: list[dict[str, Any]] = []
    planned: set[Cell] = set()
    opponents: dict[tuple[Size, str], list[Opponent]] = {}
    places = list(grid.places())
    wanted: dict[Size, set[str]] = {}
    for place in places:
        wanted.setdefault(place.size, set()).update(grid.met(place, entries))
    for label, entrant in entrants.items():
        for place in places:
            if not _plays(label, entrant, place, grid):
                continue
            try:
                planning = cell(entrant.conf, place.size, f"policies.{label}")
                game = place.size, planning.spec.setting
                if game not in opponents:
                    met = {e: conf for e, conf in entries.items() if e in wanted[place.size]}
                    opponents[game] = family(met, *game, who=label)
            except ConfeeError as error:
                raise ConfeeError(f"{grid.name(place)}={place.point:g}: {error}") from None
            if planning not in planned:
                planned.add(planning)
                own = entrant.seeds(seeds)
                units.extend(units_of(planning, opponents[game], own, shard, accounting))
            points.append(
                {
                    "label": planning.label,
                    "policy": planning.policy,
                    "axis": place.axis,
                    "variable": grid.variable(place),
                    "point": float(place.point),
                    "phase": place.phase,
                    **place.size._asdict(),
                }
            )
    return units, points


def _plays(label: str, entrant: Entrant, place: Place, grid: Grid) -> bool:
    """Whether a policy is played at a place: maps name their policies, policies their axes."""
    if place.axis in grid.maps:
        return label in grid.maps[place.axis].policies
    small = entrant.largest_B >= place.size.B and entrant.largest_K >= place.size.K
    return place.axis in entrant.axes and small


def _check_length(
    entrants: Mapping[str, Entrant],
    entries: Mapping[str, Mapping[str, Any]],
    grid: Grid,
    seeds: Seeds,
    shard: int,
) -> None:
    """Raise ConfeeError if there would be too many units or opponents to plan."""
    places = grid.most_places
    lists = [[len(v) for v in entry.values() if isinstance(v, list)] for entry in entries.values()]
    opponents = sum(places.values()) * sum(map(math.prod, lists))
    work = 0
    for label, entrant in entrants.items():
        own = [name for name, map in grid.maps.items() if label in map.policies]
        cells = sum(places.get(axis, 0) for axis in {*entrant.axes, *own})
        work += cells * entrant.seeds(seeds).units(shard)
    for what, count in (("units of work", work), ("opponents at all sizes", opponents)):
        if count > LARGEST_PLAN:
            raise ConfeeError(
                f"plan: {count} {what}; must be at most {LARGEST_PLAN}: take fewer points (grid, "
                "maps, phases), policies, family, or seeds, or a larger jobs.shard"
            )
