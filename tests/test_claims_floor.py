"""The claim on HyQue's floor: its twins, both controls, and the schedules it rests on."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest

from confee import claims, simulate
from confee.claims import hyque_floor
from confee.core.canonical import canonical
from confee.evidence import Evidence
from confee.paper import theory
from confee.simulation.studies import ages
from support.floor import EMPTY, judged, stale_rows


@pytest.mark.parametrize(
    ("power", "error", "verdict"),
    [
        (0.0, 0.05, "fails"),
        (-1 / 3 + 0.08, 0.01, "fails"),
        (-1 / 3, 0.01, "consistent"),
        (-0.5, 0.05, "consistent"),
        (-0.3, 0.3, "undecided"),
    ],
)
def test_floor_twins(power, error, verdict):
    found = judged(stale_rows(power, error))
    assert found.as_printed == verdict
    assert found.why
    low, high = found.interval
    assert low <= power + 1 / 3 <= high
    assert len(found.steps) == len(hyque_floor.VARIATIONS)
    assert found.control.as_expected
    assert found.positive.as_expected
    assert found.positive.what.startswith(hyque_floor.WINDOW)
    assert (found.severity, found.ours) == ("horizon" if verdict == "fails" else "none", True)


@pytest.mark.parametrize("power", [0.0, -1 / 3])
@pytest.mark.parametrize("off", [{"window": -0.2}, {"outdated": -0.4}])
def test_a_control_that_does_not_come_out_leaves_the_claim_undecided(power, off):
    found = judged(stale_rows(power, 0.01, **off))
    assert found.as_printed == "undecided"
    kind, name = (
        ("positive", hyque_floor.WINDOW) if "window" in off else ("negative", hyque_floor.OUTDATED)
    )
    assert f"the {kind} control {name}" in found.why


def test_shares_that_are_never_stale_are_not_judged():
    rows = stale_rows(0.0)
    mine = rows["changes"] == json.dumps(canonical(list(hyque_floor.even(1))))
    found = judged(rows.assign(stale=rows["stale"].mask(mine, 0.0)))
    steps = {step.step: step.outcome for step in found.steps}
    assert steps["B at V=1, T/B=10"] == "undecided"
    assert steps["B at V=4, T/B=10"] == found.as_printed == "fails"
    assert hyque_floor.judge(Evidence(EMPTY, EMPTY, EMPTY, EMPTY)) == []


def test_floor_is_that_of_the_schedules():
    """Drawn blocks of HyQue: three rounds in twenty are stale at V = 4."""
    studies = claims.needs(["hyque-floor"], True).studies
    rows = pd.DataFrame([row for study in studies for row in ages.run(**study.parameters)])
    assert set(rows["T"]) == {hyque_floor.horizon(order)[0] for order in hyque_floor.TOY_ORDERS}
    found = judged(rows, toy=True)
    assert found.as_printed == "fails"
    assert found.horizon.startswith("toy horizon")
    last = rows[(rows["kind"] == "stale") & (rows["T"] == rows["T"].max())].set_index("changes")
    four, six = (
        last.loc[json.dumps(canonical(list(path)))]
        for path in (hyque_floor.even(4), hyque_floor.FRACTIONS)
    )
    assert four["stale"] == pytest.approx(0.15, abs=4 * four["stale_se"])
    # It is a lower estimate of what runs lose: perfect learning, nothing but old data.
    T, B = hyque_floor.horizon(9)
    runs = simulate("hyque", "packed", gap=0.5, K=8, T=T, B=B, V=3, seeds=8)
    assert runs["regret"].mean() / T > 0.5 * six["stale"] / 2


def test_the_window_is_a_policy_that_keeps_the_rate():
    """Its stale share at the claim's own sizes falls as B^(-1/3), at every V."""
    for path, V in hyque_floor.PATHS.items():
        shares = []
        for order in (hyque_floor.ORDERS[0], hyque_floor.ORDERS[-1]):
            T, B = hyque_floor.horizon(order)
            window = theory.window(hyque_floor.ARMS, B, V)
            shares.append(ages.windowed_share(window * T / B / (T / 2), path))
        power = math.log(shares[1] / shares[0]) / math.log(2**12)
        assert power == pytest.approx(-1 / 3, abs=0.01)


@pytest.mark.parametrize("order", [*hyque_floor.ORDERS, *hyque_floor.TOY_ORDERS])
def test_floor_horizons_end_a_block(order):
    T, B = hyque_floor.horizon(order)
    b = theory.slot_length(T, B)
    n, first = theory.last_block(T, B)
    assert (n, T - first + 1) == (order, b * 2**order)
    assert b * B == 2 * T
    assert T == 10 * B


def test_paths_are_those_of_changes_spread_over_all_rounds():
    """2 V changes of 1/2: those in the last half of the rounds, as fractions of that half."""
    for V in hyque_floor.VARIATIONS:
        places = 2 * np.arange(1, 2 * V + 1) / (2 * V + 1) - 1
        assert hyque_floor.even(V) == pytest.approx(places[places > 0])
