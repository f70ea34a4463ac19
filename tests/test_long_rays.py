"""The experiments `horizon` and `floor` share cells with `paper`, so that they cannot disagree."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from confee.paper import proofs
from confee.workflow.planning import Workflow


@cache
def planned(name):
    """File -> unit, of all that the grid of an experiment plays."""
    return {unit.file: unit for unit in Workflow({"overrides": f"experiment={name}"}).plan.units}


def on_rays(name, labels):
    """The units of some policies in the sizes of the rays of `horizon` and `floor`."""
    return {
        file: unit
        for file, unit in planned(name).items()
        if unit.cell.label in labels
        and unit.cell.size.V > 0
        and unit.cell.size.K == 4
        and round(10 * unit.cell.size.B) == unit.cell.size.T
    }


def settings(units):
    """(label, B, V) of units."""
    return {(unit.cell.label, unit.cell.size.B, unit.cell.size.V) for unit in units.values()}


@pytest.mark.parametrize(
    ("name", "other", "labels"),
    [
        ("horizon", "paper", ("hyque", "rexp3b", "sw_ucb", "random_restart", "uniform")),
        ("floor", "paper", ("hyque", "sw_ucb", "uniform")),
        ("floor", "horizon", ("hyque", "sw_ucb", "uniform")),
    ],
)
def test_cells_of_the_same_sizes_are_the_same_cells(name, other, labels):
    mine, its = on_rays(name, labels), on_rays(other, labels)
    both = settings(mine) & settings(its)
    for label in labels:
        assert len({B for who, B, _ in both if who == label}) >= 12, label
    for units, others in ((mine, its), (its, mine)):
        shared = {
            file
            for file, unit in units.items()
            if (unit.cell.label, unit.cell.size.B, unit.cell.size.V) in both
        }
        assert shared
        assert shared <= set(others)


def test_the_page_says_from_which_horizon_on_a_test_can_fire():
    """3 rho^ of all queries falls below 1 there, at K = 4 and T = 10 B."""
    page = (Path(__file__).parents[1] / "docs" / "horizon.md").read_text(encoding="utf-8")
    T = float(re.search(r"can fire below T = ([\d.e]+)", page)[1])
    least = [proofs.change_threshold(proofs.MEAN_TEST, t, t / 10, 4) for t in (T, 1.1 * T)]
    assert least[0] > 1 > least[1]


def test_rays_reach_as_far_as_the_pages_say():
    largest = {
        label: max(unit.cell.size.B for unit in on_rays("horizon", (label,)).values())
        for label in ("hyque", "rexp3b", "sw_ucb", "random_restart")
    }
    assert largest["hyque"] == largest["rexp3b"] == round(1.6384e7 * 2**0.25)
    assert largest["random_restart"] == round(4.096e6 * 2**0.25)
    variations = {V for _, _, V in settings(on_rays("floor", ("hyque",)))}
    assert variations == {1, 4, 16, 64}
