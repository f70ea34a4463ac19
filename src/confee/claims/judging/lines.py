"""Rays that a claim asks for beside those of the experiment: their cells and worst cases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from confee.evidence.columns import CELL, SIZE
from confee.evidence.worst import worst_cases
from confee.simulation.grid import Ray
from confee.simulation.needs import Ask, Conf

if TYPE_CHECKING:
    import pandas as pd

    from confee.evidence import Evidence

Rays = Mapping[str, Ray]

STILL = ("still",)
"""What a claim's ray names as `still`, to have cells with V = 0 as well; see `asks`."""


def asks(
    rays: Rays, tag: str, policies: Mapping[str, int], against: Callable[..., Mapping[str, Conf]]
) -> Iterator[Ask]:
    """Cells of `policies` (id -> seeds) on the rays, against `against(**sizes)`."""
    for label, ray in rays.items():
        for place in ray.places(label):
            sizes = place.size._asdict()
            for name, seeds in policies.items():
                yield Ask(tag, {"name": name}, place.size, against=against(**sizes), seeds=seeds)


def curves(runs: pd.DataFrame, rays: Rays) -> tuple[pd.DataFrame, pd.DataFrame]:
    """(worst, points) of runs that were asked for on `rays`, as of a grid.

    Where rays cross, a run may be there twice and counts once. All seeds met all adversaries; they
    are cut in two halves, and each half measures the adversary that was worst in the other half
    (see worst_cases).
    """
    import pandas as pd

    own = [c for c in runs if c == "adversary" or c.startswith("adversary.")]
    worst = worst_cases(runs.drop_duplicates([*CELL, *own, "seed"]), choose=0)
    played: dict[tuple, set[tuple]] = {(row.label, row.policy): set() for row in worst.itertuples()}
    for row in worst.itertuples():
        played[row.label, row.policy].add((row.K, row.T, row.B, row.V))
    points = []
    for (label, policy), cells in played.items():
        for axis, ray in rays.items():
            for place in ray.places(axis):
                if place.size in cells:
                    points.append(
                        {
                            "label": label,
                            "policy": policy,
                            "axis": axis,
                            "variable": ray.variable,
                            "point": float(place.point),
                            "phase": place.phase,
                            **place.size._asdict(),
                        }
                    )
    columns = ["label", "policy", "axis", "variable", "point", "phase", *SIZE]
    return worst, pd.DataFrame(points, columns=columns)


def asked_curves(evidence: Evidence, tag: str, rays: Rays) -> tuple[pd.DataFrame, pd.DataFrame]:
    """(worst, points) of all that was asked for with `tag`; empty if nothing was."""
    return curves(evidence.asked_for(tag), rays)
