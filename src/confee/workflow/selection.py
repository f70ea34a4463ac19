"""What an experiment plays, judges and shows: all of its configuration, or what is named of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from confee import claims
from confee.config.experiments import Experiment
from confee.config.names import unknown
from confee.core import schema
from confee.core.errors import ConfeeError
from confee.rendering import FIGURES, TABLES
from confee.simulation.cells import label_of
from confee.simulation.grid import Grid
from confee.simulation.needs import AXES, Sweep
from confee.simulation.plan import Entrant, Plan, plan


@dataclass(frozen=True)
class Selection:
    """The claims, figures and tables of an experiment, and the plan of what they need.

    Raises ConfeeError if a name is unknown, or a named figure has nothing to draw.
    """

    experiment: Experiment

    @cached_property
    def claims(self) -> list[str]:
        """The claims that are named; if none is, all about the experiment's policies."""
        named = _known("claims", self.experiment.claims, claims.CLAIMS)
        return named if self.experiment.claims else [id for id in named if self._concerns(id)]

    def _concerns(self, id: str) -> bool:
        """Whether a claim is about a policy that the experiment plays, or about none."""
        about = claims.CLAIMS[id].speaks_of
        entrants = self.experiment.entrants.values()
        return not about or any(entrant.conf["name"] in about for entrant in entrants)

    @cached_property
    def plan(self) -> Plan:
        """What has to be played."""
        e = self.experiment
        needs = claims.needs(self.claims, e.toy)
        entrants, grid = e.entrants, e.grid
        if e.claims:
            entrants, grid = _for_claims(
                e, _known("figures", e.figures, FIGURES) if e.figures else []
            )
        entrants = _with_sweeps(entrants, e.entrants, needs.sweeps, grid)
        return plan(entrants, e.family, grid, e.seeds, e.jobs.shard, e.accounting, needs)

    @cached_property
    def figures(self) -> list[str]:
        """The figures that are named. If none is: no figure where claims are named, else each that
        there are results for, without those that repeat another figure."""
        e = self.experiment
        named = _known("figures", e.figures, FIGURES)
        results = self._results
        if e.figures:
            for name in named:
                if lacking := sorted(set(FIGURES[name].axes) - results):
                    raise ConfeeError(
                        f"figures={name}: nothing to draw; the experiment {e.experiment} must have "
                        + ", ".join(map(wanted, lacking))
                    )
            return named
        if e.claims:
            return []
        return [x for x in named if not FIGURES[x].named and results.issuperset(FIGURES[x].axes)]

    @cached_property
    def tables(self) -> list[str]:
        """The tables that there are results for; none where only claims are named."""
        shown = TABLES if self.figures or not self.experiment.claims else {}
        return [name for name, sheet in shown.items() if not self._results.isdisjoint(sheet.axes)]

    @cached_property
    def _results(self) -> set[str]:
        """All that figures and tables may ask for by their `axes`, see `Exhibit`."""
        results = self._axes | {f"study:{study.name}" for study in self.plan.studies}
        results |= {f"label:{label_of(e.conf)}" for e in self.experiment.entrants.values()}
        return results | {f"asked:{tag.partition('/')[0]}" for tag, _ in self.plan.asked}

    @property
    def _axes(self) -> set[str]:
        """The axes, maps and rays that are played; of a ray also its variable; `claims` if any is
        judged."""
        points = self.plan.points
        axes = {point["axis"] for point in points}
        axes |= {f"ray:{point['variable']}" for point in points if point["variable"]}
        return axes | ({"claims"} if self.claims else set())


def _known(kind: str, named: Iterable[Any], known: Mapping[str, Any]) -> list[str]:
    """The names in the order of `known`; all of them if none is named."""
    chosen = [*named]
    for name in chosen:
        if name not in known:
            listed = f"confee list {kind.removesuffix('s')}"
            raise ConfeeError(f"{kind}={schema.show(name)}: {unknown(name, list(known), listed)}")
    return [name for name in known if name in chosen] if chosen else list(known)


def wanted(axis: str) -> str:
    """What a figure needs, in words."""
    kind, _, name = axis.rpartition(":")
    if axis in AXES:
        return f"several values in grid.{axis}"
    if axis == "claims":
        return "claims to judge"
    return {
        "": f"maps.{name} or rays.{name}",
        "ray": f"a ray along {name} (key rays)",
        "study": f"a claim that draws the study {name}",
        "label": f"the policy {name}",
        "asked": f"the claim {name}",
    }[kind]


def _for_claims(e: Experiment, figures: Sequence[str]) -> tuple[dict[str, Entrant], Grid]:
    """The entrants and the grid that are played besides the claims' own sweeps where claims are
    named: all if a named figure shows the grid, and the maps that figures show."""
    maps = {name for figure in figures for name in FIGURES[figure].maps}
    grid = replace(e.grid, maps={name: m for name, m in e.grid.maps.items() if name in maps})
    if any(_shows_grid(figure) for figure in figures):
        return dict(e.entrants), grid
    on_maps = {label for m in grid.maps.values() for label in m.policies}
    return {label: replace(e.entrants[label], axes=()) for label in on_maps}, grid


def _shows_grid(figure: str) -> bool:
    """Whether a figure shows the sweeps of the experiment's policies."""
    sweeps, shown = {"regret", "worst", "slopes", "part_worst"}, FIGURES[figure]
    return bool(sweeps & set(shown.needs)) and not shown.maps


def _with_sweeps(
    entrants: Mapping[str, Entrant], own: Mapping[str, Entrant], sweeps: Sequence[Sweep], grid: Grid
) -> dict[str, Entrant]:
    """Who plays the grid: `entrants`, and the policies that claims sweep.

    Where the experiment lists such a policy (`own`), its entry there goes before the claim's.
    """
    names = {label_of(entrant.conf): name for name, entrant in own.items()}
    players, swept = dict(entrants), dict[str, Entrant]()
    for sweep in sweeps:
        label = label_of(sweep.policy)
        if label in names:
            players[names[label]] = own[names[label]]
            continue
        nothing = Entrant(sweep.policy, (), largest_B=0, largest_K=0, estimate=sweep.estimate)
        before = swept.get(label, nothing)
        axes: Sequence[str] = (*sweep.axes, *grid.along(sweep.rays))
        if sweep.beside in names:
            axes = own[names[sweep.beside]].axes
        swept[label] = Entrant(
            sweep.policy,
            axes=tuple(dict.fromkeys((*before.axes, *axes))),
            largest_B=max(before.largest_B, sweep.largest_B),
            largest_K=max(before.largest_K, sweep.largest_K),
            estimate=before.estimate,
        )
    # An entry with the label as its name may be the policy with other options.
    renamed = {f"claims: {x}" if x in players else x: entrant for x, entrant in swept.items()}
    return players | renamed
