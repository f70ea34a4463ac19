"""The scale of hyque_calibrated: restarting at a scale is the run's largest ratio being over it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confee.core.canonical import stream
from confee.core.size import Size
from confee.policies import POLICIES, hyque
from confee.policies.base import Known
from confee.policies.hyque_calibrated import Calibrated
from confee.simulation import calibrate as calibration
from confee.simulation.calibrate import LEVELS, QUANTILE, calibrate, calibrated, largest_ratio
from confee.simulation.cells import cell
from confee.world.game import new_ledger, new_world, settle
from confee.world.path import Path

SPEC = POLICIES["hyque_calibrated"]
OPTIONS = SPEC.options()
K, T, B = 2, 3000, 900
RUNS = 40


def restarts(level, run, scale, options=OPTIONS, B=B):
    """Restarts of a calibration run that is played in earnest at `scale`."""
    path = Path.steps(np.ones(1), np.full((1, K), level), T)
    rng = stream("calibrate", K, T, B, dataclasses.asdict(options), level, run)
    ledger = new_ledger()
    chosen = Calibrated(buffer=options.buffer, scale=scale)
    hyque.play(new_world(path), ledger, K, T, B, *SPEC.kernel_arguments(K, T, B, 0, 1, chosen), rng)
    return settle(ledger, path)["restarts"]


@settings(max_examples=40, derandomize=True, deadline=None)
@given(
    level=st.sampled_from(LEVELS),
    run=st.integers(0, 99),
    buffer=st.sampled_from(["body", "appendix"]),
    budget=st.sampled_from([60, 900, T]),
)
def test_a_run_restarts_just_below_its_ratio_and_not_above(level, run, buffer, budget):
    options = SPEC.options(buffer=buffer)
    ratio = largest_ratio(K, T, budget, options, level, run)
    assert ratio > 0
    for factor in (1 + 1e-9, 1.01, 2, 100):
        assert restarts(level, run, ratio * factor, options, budget) == 0
    for factor in (1 - 1e-9, 0.99, 0.5, 0.01, 0):
        assert restarts(level, run, ratio * factor, options, budget) > 0


def test_scale_is_the_quantile_at_the_worst_level():
    scale = calibrate(K, T, B, OPTIONS, RUNS)
    ratios = np.array(
        [[largest_ratio(K, T, B, OPTIONS, level, r) for r in range(RUNS)] for level in LEVELS]
    )
    assert scale == np.quantile(ratios, QUANTILE, axis=1).max()
    # So at most 5 % of runs restart at any level, and as many at the worst.
    often = [np.mean([restarts(level, r, scale) > 0 for r in range(RUNS)]) for level in LEVELS]
    assert often == (ratios >= scale).mean(axis=1).tolist()
    assert max(often) == pytest.approx(1 - QUANTILE, abs=1 / RUNS)
    # No run restarts above the largest ratio of all, and that one does below it.
    i, r = np.unravel_index(ratios.argmax(), ratios.shape)
    above, below = ratios.max() * (1 + 1e-9), ratios.max() * (1 - 1e-9)
    assert not any(restarts(level, r, above) for level in LEVELS for r in range(RUNS))
    assert restarts(LEVELS[i], int(r), below) > 0


def test_share_of_runs_that_restart_falls_with_the_scale():
    scale = calibrate(K, T, B, OPTIONS, RUNS)
    shares = [
        np.mean([restarts(0.5, run, factor * scale) > 0 for run in range(RUNS)])
        for factor in (0.2, 0.6, 0.8, 0.9, 1, 1.2)
    ]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] == 1
    assert shares[-1] == 0


def test_same_scale_every_time_and_another_for_other_cells():
    one = calibrate(K, T, B, OPTIONS, 10)
    assert calibrate(K, T, B, OPTIONS, 10) == one
    others = [
        calibrate(K, T, B, OPTIONS, 20),
        calibrate(3, T, B, OPTIONS, 10),
        calibrate(K, T + 1, B, OPTIONS, 10),
        calibrate(K, T, B + 1, OPTIONS, 10),
        calibrate(K, T, B, SPEC.options(buffer="appendix"), 10),
    ]
    assert one not in others


def test_measuring_leaves_play_as_it_is():
    """Until something fires, and at no scale does it: the run of scale 1, reward for reward."""
    path = Path.steps(np.ones(1), np.array([[0.3, 0.7]]), T)
    rows = []
    for measure in (True, False):
        ledger = new_ledger()
        arguments = hyque.arguments(Known(K, T, B), hyque.Options(scale=1.0), measure=measure)
        scale = hyque.play(new_world(path), ledger, K, T, B, *arguments, np.random.default_rng(3))
        rows.append(settle(ledger, path))
        assert scale == 1.0  # it is only raised
    assert rows[0] == rows[1]
    assert rows[0]["restarts"] == 0


def test_options_a_cell_is_played_with(monkeypatch):
    one = cell({"name": "hyque_calibrated", "buffer": "appendix"}, Size(K=K, T=T, B=B, V=1))
    monkeypatch.setattr(calibration, "calibrate", lambda *arguments: 0.125)
    assert calibrated(one) == Calibrated(buffer="appendix", scale=0.125)
    assert calibrated(one, 0.5) == Calibrated(buffer="appendix", scale=0.5)
    plain = cell({"name": "hyque"}, Size(K=K, T=T, B=B, V=1))
    assert calibrated(plain) is plain.options
