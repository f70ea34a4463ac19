"""Where an experiment plays: sweeps around a centre, maps, and rays.

A *ray* is a set of cells along which one variable moves and T/B stays fixed, so that all of them
query the same share of rounds. Exponents are judged on rays alone. Along a fixed horizon or budget
that share changes, and the change of regret per round that it causes looks like an exponent.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from confee.core.errors import ConfeeError
from confee.core.size import Size
from confee.paper import theory
from confee.simulation.needs import AXES, octave


@dataclass(frozen=True)
class Place:
    """A size on an axis, map or ray: its nominal point there, and its phase in the octave."""

    axis: str
    point: float
    phase: int
    size: Size


LARGEST = "largest"

LARGEST_T = 10**15
"""The largest horizon of a cell."""


@dataclass(frozen=True)
class Map:
    """All combinations of K, T, beta and nu or V, with B = T^beta and V = B^nu.

    Parameters
    ----------
    policies
        Labels of the experiment's policies that play it.
    V
        Numbers, or `largest` for the upper end of the theorem's range, sqrt(B)/K.
    phases
        Each point is played at so many horizons, spread over one octave of B.
    family
        Entries of the experiment's family that are met; all if there are none.
    """

    policies: Sequence[str]
    K: Sequence[int]
    T: Sequence[int]
    beta: Sequence[float]
    V: Sequence[float | str] = ()
    nu: Sequence[float] = ()
    phases: int = 1
    family: Sequence[str] = ()

    @property
    def most_places(self) -> int:
        """The most places that it has."""
        variations = len(self.V) + len(self.nu)
        return len(self.K) * len(self.T) * len(self.beta) * self.phases * variations

    def places(self, label: str) -> Iterator[Place]:
        """Yield every place with B >= K."""
        points = itertools.product(self.K, self.T, self.beta, range(self.phases))
        for K, point, beta, phase in points:
            try:
                T = round(point * octave(phase, self.phases) ** (1 / beta))
            except OverflowError:
                raise ConfeeError(
                    f"maps.{label}.beta={beta:g}: makes T too large; must be larger, or phases 1"
                ) from None
            B = min(T, math.ceil(T**beta - 1e-9))
            variations = [math.sqrt(B) / K if V == LARGEST else V for V in self.V]
            for V in [*variations, *(B**nu for nu in self.nu)]:
                if B >= K:
                    yield Place(label, point, phase, Size(K, T, B, float(V)))


@dataclass(frozen=True)
class Ray:
    """Cells along one variable, with T = ratio * B everywhere.

    Parameters
    ----------
    K, B, V, ratio
        Lists, of which at most one has several values: the variable of the ray. `ratio` is T / B,
        at least 1; a ray along `ratio` is one along T at fixed B.
    phases
        Each point is played at so many budgets, spread over one octave. Each phase has its own
        seeds, so it replicates the others.
    family, still
        The entries of the experiment's family that are met, and those that are met at V = 0.

    At the first and the last point of a ray with V > 0 there is also a *still* cell: the same K, T
    and B with V = 0, in phase 0. It says how much of the regret is not caused by variation.
    """

    K: Sequence[int]
    B: Sequence[int]
    V: Sequence[float]
    ratio: Sequence[float]
    phases: int = 2
    family: Sequence[str] = ()
    still: Sequence[str] = ()

    @property
    def variable(self) -> str:
        """The variable of the ray, B, V, K or T; B if no list has several values."""
        lists = {"B": self.B, "V": self.V, "K": self.K, "T": self.ratio}
        return next((name for name, values in lists.items() if len(values) > 1), "B")

    @property
    def most_places(self) -> int:
        """The most places that it has."""
        points = len(self.K) * len(self.B) * len(self.V) * len(self.ratio)
        return points * self.phases + 2 * bool(self.still)

    def places(self, label: str) -> Iterator[Place]:
        """Yield every point in each phase, then the still cells."""
        sizes = list(itertools.product(self.K, self.B, self.V, self.ratio))
        for K, B, V, ratio in sizes:
            for phase in range(self.phases):
                yield self._place(label, K, B, V, ratio, phase)
        if self.still and self.variable != "T" and any(self.V):
            ends = dict.fromkeys((K, B, ratio) for K, B, _, ratio in (sizes[0], sizes[-1]))
            for K, B, ratio in ends:
                yield self._place(label, K, B, 0.0, ratio, 0)

    def _place(self, label: str, K: int, B: int, V: float, ratio: float, phase: int) -> Place:
        point = {"B": B, "V": V, "K": K, "T": ratio * B}[self.variable]
        budget = round(B * octave(phase, self.phases))
        T = round(ratio * budget)
        if budget < K:
            least = math.ceil((K - 0.5) / octave(0, self.phases))
            raise ConfeeError(
                f"rays.{label}.B={B:g}: must be at least {least}, so that each phase has K = {K} "
                "queries"
            )
        if T > LARGEST_T:
            most = LARGEST_T / (B * octave(self.phases - 1, self.phases))
            raise ConfeeError(
                f"rays.{label}.ratio={ratio:g}: must be at most {most:.3g} for B = {B:g}, as T is "
                f"at most {LARGEST_T:g}"
            )
        return Place(label, point, phase, Size(K, T, budget, float(V)))


@dataclass(frozen=True)
class Grid:
    """Sweeps around a centre, maps and rays.

    B = None in `centre` stands for B = T^0.8; `at` moves the centre of one sweep.
    """

    centre: Mapping[str, Any]
    axes: Mapping[str, Sequence[float]]
    at: Mapping[str, Mapping[str, Any]]
    phases: int
    maps: Mapping[str, Map] = field(default_factory=dict)
    rays: Mapping[str, Ray] = field(default_factory=dict)

    def places(self) -> Iterator[Place]:
        """Yield every point of every axis in each phase, then the places of maps and rays."""
        for axis in AXES:
            for point in self.axes.get(axis, ()):
                values = {**self.centre, **self.at.get(axis, {}), axis: point}
                for phase in range(self.phases):
                    yield self._place(axis, point, phase, values)
        for label, named in self._named.items():
            yield from named.places(label)

    @property
    def most_places(self) -> dict[str, int]:
        """The most places of each axis, map and ray."""
        axes = {axis: self.phases * len(points) for axis, points in self.axes.items()}
        return axes | {label: named.most_places for label, named in self._named.items()}

    @property
    def _named(self) -> dict[str, Map | Ray]:
        return {**self.maps, **self.rays}

    def met(self, place: Place, entries: Collection[str]) -> Collection[str]:
        """Return the entries of the family that are met at a place: those that its map or ray
        names, else all."""
        if place.axis in self.maps:
            return self.maps[place.axis].family or entries
        if place.axis in self.rays:
            ray = self.rays[place.axis]
            return (ray.still if place.size.V == 0 and ray.still else ray.family) or entries
        return entries

    def variable(self, place: Place) -> str:
        """Return the variable of the ray that a place lies on; empty if it lies on none."""
        return self.rays[place.axis].variable if place.axis in self.rays else ""

    def name(self, place: Place) -> str:
        """Return the key of conf that a place comes from."""
        kind = "rays" if place.axis in self.rays else "maps" if place.axis in self.maps else "grid"
        return f"{kind}.{place.axis}"

    def along(self, variables: Collection[str]) -> tuple[str, ...]:
        """Return the labels of the rays along some variables."""
        return tuple(label for label, ray in self.rays.items() if ray.variable in variables)

    def _place(self, axis: str, point: float, phase: int, values: Mapping[str, Any]) -> Place:
        factor = octave(phase, self.phases)
        T, B = values["T"], values["B"]
        if B is None:  # The octave is one of B, and B = T^0.8.
            T = round(T * factor ** (1 / theory.MINIMAL_BUDGET_EXPONENT))
            B = math.ceil(T**theory.MINIMAL_BUDGET_EXPONENT)
        else:
            T, B = round(T * factor), round(B * factor)
        return Place(axis, point, phase, Size(values["K"], T, B, values["V"]))
