"""The claims on HyQue's change tests: false alarms and power, each with its twins."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from confee.claims import detection_power, false_alarms
from confee.claims.judging import change_tests
from confee.claims.judging.shares import limits
from confee.core.canonical import stream
from confee.evidence import Evidence
from confee.paper import proofs, theory
from confee.policies import hyque
from confee.policies.base import Known
from confee.simulation.cells import cell, family
from confee.simulation.play import play_all
from confee.simulation.studies import change_statistics
from confee.world.game import new_ledger, new_world


def evidence(asked, studies=None, toy=False):
    empty = pd.DataFrame()
    studies = {} if studies is None else {detection_power.STUDY: studies}
    return Evidence(empty, empty, empty, empty, toy, asked=asked, studies=studies)


def play(asks):
    """Real runs of the asks, without those that have to be calibrated."""
    rows = []
    for ask in asks:
        if ask.policy["name"] == change_tests.CALIBRATED:
            continue
        one = cell(ask.policy, ask.size)
        found = play_all(one, family(ask.against, ask.size), range(ask.seeds))
        rows += [row | {"ask": ask.tag} for row in found]
    return pd.DataFrame(rows)


# ------------------------------------------------------------------ what they share


def test_limits_are_clopper_and_pearsons():
    assert limits(0, 100) == (0.0, pytest.approx(1 - 0.025**0.01))
    assert limits(100, 100) == (pytest.approx(0.025**0.01), 1.0)
    low, high = limits(3, 20, 0.05)
    assert (low, high) == (pytest.approx(0.0321, abs=1e-4), pytest.approx(0.3789, abs=1e-4))


def test_first_horizon_is_that_of_the_page():
    """docs/reading-the-paper.md, test (ii): all queries in one block."""
    assert f"{change_tests.first_horizon(2, 1.0):.1e}" == "5.2e+10"
    assert f"{change_tests.first_horizon(10, 1.0):.1e}" == "3.8e+11"
    assert f"{change_tests.first_horizon(5, 0.8):.1e}" == "4.0e+14"
    assert change_tests.first_horizon(2, 1.0, proofs.SPAN_TEST) > change_tests.first_horizon(2, 1.0)


def test_possible_is_the_same_arithmetic():
    T = int(change_tests.first_horizon(2, 1.0))
    rows = pd.DataFrame({"K": 2, "T": [T // 2, 2 * T], "policy.scale": 1.0}).assign(
        B=lambda d: d["T"]
    )
    assert list(change_tests.possible(rows)) == [False, True]
    small = rows.assign(T=10**5, B=10**4, **{"policy.scale": [1.0, 1e-3]})
    assert list(change_tests.possible(small)) == [False, True]


@pytest.mark.parametrize("claim", [false_alarms, detection_power])
def test_asks_can_be_played(claim):
    for toy in (True, False):
        asks = claim.needs(toy).asks
        assert {a.tag for a in asks} == {claim.ID}
        twin = {detection_power.TWIN} if claim is detection_power else set()
        assert {a.policy["name"] for a in asks} == {"hyque", "hyque_calibrated"} | twin
        for a in asks:
            cell(a.policy, a.size)
            opponents = family(a.against, a.size)
            assert len(opponents) == (5 if claim is false_alarms else 4)
            assert a.size.B >= a.size.T**0.8 * 0.999
            assert a.size.B <= 10**5


# ------------------------------------------------------------------ false alarms


def alarms(shares, runs=60, T=10**5, B=10**4, K=2):
    """Runs at some scales, of which a share restarts."""
    rows = []
    for scale, share in shares.items():
        label = "hyque" if scale == 1 else f"hyque(scale={scale})"
        for i in range(runs):
            row = {"ask": false_alarms.ID, "policy": "hyque", "label": label, "seed": i}
            row |= {"K": K, "T": T, "B": B, "policy.scale": scale, "adversary": "stationary"}
            row |= {"adversary.gap": 0.0, "adversary.level": 0.5}
            rows.append(row | {"restarts": int(i < share * runs)})
    return pd.DataFrame(rows)


def alarm_verdict(asked, **rest):
    (verdict,) = false_alarms.judge(evidence(asked, **rest))
    return verdict


def test_false_alarms_on_real_runs_cannot_occur_at_scale_1_and_fail_at_the_control():
    found = alarm_verdict(play(false_alarms.needs(True).asks), toy=True)
    assert (found.id, found.as_printed) == (false_alarms.ID, "vacuous"), found.why
    assert found.control.as_expected is True
    assert found.control.value == 1.0
    assert {s.step: s.outcome for s in found.steps} == {
        "scale 1": "vacuous",
        "scale 1e-05": "fails",
    }
    assert found.horizon.startswith("toy horizon")


def test_false_alarms_twins():
    assert alarm_verdict(alarms({1: 0, 1e-5: 1})).as_printed == "vacuous"
    broken = alarms({1e-5: 1})  # a test that fires when nothing changes, in the place of scale 1
    broken = pd.concat([broken.assign(label="hyque"), broken])
    assert alarm_verdict(broken).as_printed == "fails"
    few = alarm_verdict(alarms({1: 0.05, 1e-5: 1}))  # 3 of 60
    assert few.as_printed == "fails"
    assert few.interval[0] == pytest.approx(limits(3, 60)[0])


def test_no_restart_proves_nothing_where_one_is_possible():
    T = 2 * int(change_tests.first_horizon(2, 1.0))
    found = alarm_verdict(alarms({1: 0, 1e-5: 1}, T=T, B=T))
    assert found.as_printed == "undecided"
    assert "60 runs show a share of at most" in found.decide


def test_one_restart_against_a_probability_that_allows_it_is_open():
    found = alarm_verdict(alarms({1: 1 / 60, 1e-5: 1}, T=1000, B=500))
    assert found.as_printed == "undecided"  # 1 of 60: at least 4e-4; 1/T is 1e-3


def test_false_alarms_are_vacuous_if_the_control_is_quiet_or_missing():
    assert alarm_verdict(alarms({1: 0, 1e-5: 0})).as_printed == "vacuous"
    found = alarm_verdict(alarms({1: 0, 1e-3: 1}))
    assert (found.as_printed, found.control.as_expected) == ("vacuous", None)
    assert false_alarms.judge(evidence(pd.DataFrame())) == []


def test_calibrated_is_held_against_its_nominal_share():
    for share, outcome in ((0.05, "consistent"), (0.3, "fails")):
        mine = alarms({1e-3: share}).assign(policy="hyque_calibrated", label="hyque_calibrated")
        found = alarm_verdict(pd.concat([alarms({1: 0, 1e-5: 1}), mine]))
        assert found.as_printed == "vacuous"
        step = found.steps[-1]
        assert (step.outcome, step.number) == (outcome, pytest.approx(share))


# ------------------------------------------------------------------ power


def jumps(after, still=0.0, scale=1e-3, runs=60, label="hyque", T=10**5, B=10**4):
    """Runs with a jump, of which a share restarts, and without one."""
    rows = []
    for adversary, time, share in (
        ("single_jump", "half", after),
        ("single_jump", "quarter", after),
        ("stationary", None, still),
    ):
        for i in range(runs):
            rows.append(
                {
                    "ask": detection_power.ID,
                    "policy": label.split("(")[0],
                    "label": label,
                    "K": 2,
                    "T": T,
                    "B": B,
                    "policy.scale": scale,
                    "seed": i,
                    "restarts": int(i < share * runs),
                    "adversary": adversary,
                    "adversary.time": time,
                }
            )
    return pd.DataFrame(rows)


def power_verdict(asked, **rest):
    (verdict,) = detection_power.judge(evidence(asked, **rest))
    return verdict


def test_power_twins():
    """A detector that answers the jump, and one that never fires at a scale where it could."""
    held = power_verdict(jumps(1.0))
    assert (held.id, held.as_printed) == (detection_power.ID, "holds"), held.why
    assert held.control.as_expected is True
    missed = power_verdict(jumps(0.0))
    assert missed.as_printed == "fails"
    assert missed.interval == (0.0, pytest.approx(limits(0, 120)[1]))


def test_power_is_open_in_between_and_on_few_runs():
    assert power_verdict(jumps(0.9)).as_printed == "undecided"
    assert power_verdict(jumps(1.0, runs=20)).as_printed == "undecided"
    assert power_verdict(jumps(0.5)).as_printed == "fails"


def test_power_is_vacuous_at_scale_1_and_says_where_it_would_matter():
    found = power_verdict(jumps(0.0, scale=1.0))
    assert found.as_printed == "vacuous"
    beta = math.log(10**4) / math.log(10**5)
    assert f"{change_tests.first_horizon(2, beta):.2g} for (ii)" in found.decide
    assert found.control.as_expected is True


def test_a_policy_that_restarts_anyway_detects_nothing():
    found = power_verdict(jumps(1.0, still=1.0))
    assert (found.as_printed, found.control.as_expected) == ("vacuous", False)
    only = jumps(1.0)
    found = power_verdict(only[only["adversary"] == "single_jump"])
    assert (found.as_printed, found.control.as_expected) == ("vacuous", None)


def test_power_on_real_runs():
    """Scale 1 does nothing; at 6e-5 HyQue restarts with and without a jump."""
    asks = [a for a in detection_power.needs(True).asks if a.policy["name"] == "hyque"]
    small = [
        a.__class__(**{**a.__dict__, "policy": {"name": "hyque", "scale": 6e-5}}) for a in asks
    ]
    found = power_verdict(play([*asks, *small]), toy=True)
    assert found.as_printed == "vacuous"
    outcomes = [(s.step, s.outcome, s.number) for s in found.steps]
    assert outcomes[0] == ("scale 1", "vacuous", 0.0)
    assert outcomes[1][0] == "scale 6e-05"
    assert abs(outcomes[1][2]) < 0.3


def statistics(ratios, runs=60):
    """Rows of the study with given ratios by (change, level, size)."""
    rows = []
    for (change, level, size), ratio in ratios.items():
        for i in range(runs):
            rows.append(
                {
                    "K": 2,
                    "T": 10**5,
                    "B": 10**4,
                    "change": change,
                    "level": level,
                    "size": size,
                    "at": 0.5,
                    "run": i,
                    "ratio": ratio,
                }
            )
    return pd.DataFrame(rows)


def test_what_the_best_scale_could_detect():
    quiet = {("none", 0.5, 0.0): 1.0, ("none", 0.5, 0.5): 0.1}
    seen = {("swap", 0.5, 0.5): 0.2, ("rise", 0.5, 0.5): 2.0}
    found = power_verdict(jumps(0.0), studies=statistics(quiet | seen))
    rise, swap = found.numbers["statistics"]
    assert (rise["honest"], rise["own"], rise["detected"]) == (1.0, 1.0, 1.0)
    assert (swap["honest"], swap["own"]) == (1.0, pytest.approx(0.1))
    assert (swap["detected"], swap["detected_at_own"]) == (0.0, 1.0)
    assert [s.outcome for s in found.steps[-2:]] == ["holds", "fails"]
    assert "studies/change_statistics" in found.evidence


def test_a_run_restarts_at_a_scale_up_to_its_largest_ratio():
    """The study's reading: ratio is the threshold between restarting and not, same draws."""
    about = {"K": 2, "T": 3000, "B": 700, "change": "fall", "level": 0.5, "size": 0.5, "at": 0.5}
    for row in change_statistics.run(**about, runs=3):
        for factor, restarts in ((0.999, True), (1.001, False)):
            options = hyque.Options(scale=factor * row["ratio"])
            ledger = new_ledger()
            world = new_world(change_statistics.path(2, 3000, "fall", 0.5, 0.5, 0.5))
            rng = stream("study", "change_statistics", about, row["run"])
            hyque.play(
                world, ledger, 2, 3000, 700, *hyque.arguments(Known(2, 3000, 700), options), rng
            )
            assert (ledger.restarts > 0) == restarts


@pytest.mark.parametrize("change", change_statistics.CHANGES)
def test_paths_of_the_statistics(change):
    path = change_statistics.path(3, 100, change, 0.5, 0.5, 0.5)
    assert path.variation() == (0.0 if change == "none" else 0.5)
    best = path.means().max(axis=1)
    ends = {"none": (1, 1), "swap": (1, 1), "fall": (1, 0.5), "rise": (0.5, 1)}[change]
    assert (best[0], best[-1]) == ends
    assert np.flatnonzero(np.abs(np.diff(path.means(), axis=0)).sum(axis=1)).tolist() in ([], [49])


def test_test_one_cannot_fire_at_a_calibrated_scale_of_these_sizes():
    calibrated = jumps(0.0, label="hyque_calibrated", scale=1.3e-3)
    found = power_verdict(pd.concat([jumps(0.0, scale=1.0), calibrated]))
    step = next(s for s in found.steps if s.step.startswith("test (i)"))
    order = theory.last_block(10**5, 10**4)[0]
    by_hand = 9 * 1.3e-3 * theory.rho_hat_factor(10**5) * theory.rho(2**order, 2)
    assert (step.outcome, step.number) == ("vacuous", pytest.approx(by_hand))
