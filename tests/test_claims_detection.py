"""The claims on HyQue's change tests."""

from __future__ import annotations

import itertools

import pandas as pd
import pytest

from confee import claims
from confee.claims import detection_horizon, detection_power
from confee.evidence import Evidence
from confee.paper import proofs
from confee.simulation.cells import cell, family
from confee.simulation.play import play_all

BLANK = pd.DataFrame(columns=["label", "policy", "K", "T", "B", "V", "adversary", "seed"])


def horizon(*cells, **rest):
    """The verdict on detection/horizon where HyQue ran at (K, T, B)."""
    rows = [
        {
            "label": "hyque",
            "policy": "hyque",
            "K": K,
            "T": T,
            "B": B,
            "V": 1.0,
            "adversary": "switching",
            "seed": 0,
        }
        for K, T, B in cells
    ]
    regret = pd.DataFrame(rows) if rows else BLANK
    found = claims.judge(Evidence(regret, BLANK, BLANK, BLANK, **rest), ["detection/horizon"])
    assert len(found) == 1
    return found[0]


def test_horizon_twins():
    short = horizon((2, 10**8, 10**8), (4, 10**6, 63_096))
    assert (short.as_printed, short.control.as_expected) == ("vacuous", True)
    assert "5.2e+10" in short.decide
    assert short.numbers["share_of_settings"] == 0
    long = horizon((2, 10**14, 10**14), (4, 10**6, 63_096))
    assert (long.as_printed, long.control.as_expected) == ("consistent", True)
    assert long.numbers["share_of_settings"] == 0.5
    assert (
        horizon((2, 10**12, round(1e12**0.8))).as_printed == "vacuous"
    )  # the budget counts, not T


def test_horizon_is_undecided_without_runs_of_hyque():
    found = horizon()
    assert found.as_printed == "undecided"
    assert "not simulated" in found.decide
    assert len(found.steps) == 18


def test_horizon_looks_at_scale_one_only():
    """A calibrated HyQue does fire: its rows are not this claim's."""
    rows = BLANK.copy()
    rows.loc[0] = ["hyque(scale=1e-05)", "hyque", 2, 10**14, 10**14, 1.0, "switching", 0]
    found = claims.judge(Evidence(rows, BLANK, BLANK, BLANK), ["detection/horizon"])
    assert found[0].as_printed == "undecided"


def test_first_horizons_are_first():
    """One round earlier the condition is not met, nor anywhere on a grid of 0.1 % before it."""
    for K, exponent in itertools.product((2, 10), (1.0, 0.8)):
        whole, last, span = proofs.first_horizons(K, exponent).values()

        def mean(T, K=K, exponent=exponent):
            queries = proofs.last_block_queries(T, proofs.power_budget(T, exponent))
            return proofs.change_threshold(3, T, queries, K)

        def order(T, exponent=exponent):
            return proofs.largest_order(T, proofs.power_budget(T, exponent))

        assert mean(last) < 1 <= mean(last - 1)
        steps = [round(whole * 1.001**i) for i in range(5000)]
        assert all(mean(T) >= 1 for T in itertools.takewhile(last.__gt__, steps))
        assert order(span) == order(span - 1) + 1
        assert proofs.change_threshold(9, span, 2.0 ** order(span), K) < 1
        assert proofs.change_threshold(9, span, 2.0 ** order(span - 1), K) > 1
        budget = proofs.power_budget(whole, exponent)
        assert proofs.change_threshold(3, whole, budget, K) < 1


def test_readings_of_the_logarithms_are_in_order():
    """Natural logarithms and a larger delta make the thresholds smaller."""
    table = detection_horizon.table()
    for budget, K in itertools.product(("B=T", "B=T^0.8"), ("K=2", "K=5", "K=10")):
        for test in ("mean, whole budget", "mean, last block", "span"):
            first = {name: rows[budget][K][test] for name, rows in table.items()}
            for delta in ("delta=1/T", "delta=1"):
                ordered = [
                    first[f"{log}, {delta}"] for log in ("ln", "log2 T + 1, else ln", "log2")
                ]
                assert ordered == sorted(ordered)
            assert first["ln, delta=1"] < first["ln, delta=1/T"]


@pytest.mark.parametrize("scale", [1.0, 1e-5])
def test_premise_is_one_check_for_both_scales(scale):
    outcome, share = detection_horizon.premise({(2, 10**6, 10**6, 1.0)}, scale)
    assert (outcome, share) == (("holds", 0.0) if scale == 1 else ("fails", 1.0))


# ------------------------------------------------------------------ power, by a policy that has it


def played(*names):
    """Real runs of detection/power's toy asks of these policies."""
    rows = []
    for ask in detection_power.needs(True).asks:
        if ask.policy["name"] in names:
            against = family(ask.against, ask.size)
            found = play_all(cell(ask.policy, ask.size), against, range(ask.seeds))
            rows += [row | {"ask": ask.tag} for row in found]
    return pd.DataFrame(rows)


def power(asked):
    (found,) = detection_power.judge(Evidence(BLANK, BLANK, BLANK, BLANK, True, asked=asked))
    return found


def twin_step(found):
    (step,) = (s for s in found.steps if s.step == "glr_ucb, which must hold")
    return step


def test_power_can_hold_and_the_twin_shows_it():
    """The same check on the same paths: HyQue at scale 1 cannot fire, GLR-UCB answers the jump."""
    runs = played("hyque", "glr_ucb")
    found = power(runs)
    assert found.as_printed == "vacuous"
    step = twin_step(found)
    assert (step.outcome, step.number) == ("holds", 1.0), step.note
    check = found.numbers["twin"]["glr_ucb"]
    assert (check["restarting"], check["runs"]) == (120, 120)
    assert (check["still"], check["control"]) == (0.0, "fails")
    alone = power(runs[runs["policy"] == "hyque"])  # the twin moves nothing but its own step
    assert (alone.as_printed, alone.interval, alone.why) == (
        found.as_printed,
        found.interval,
        found.why,
    )
    assert alone.numbers["twin"] == {}
    assert alone.steps == tuple(s for s in found.steps if s is not step)


def test_the_twin_meets_what_hyque_meets():
    for toy in (True, False):
        asks = detection_power.needs(toy).asks
        where = {
            name: {a.size for a in asks if a.policy["name"] == name}
            for name in ("hyque", "glr_ucb")
        }
        assert where["hyque"] == where["glr_ucb"]
        assert all(a.against is detection_power.AGAINST for a in asks)


@pytest.mark.parametrize(
    ("restarts", "outcome"),
    [
        (0, "fails"),  # a test that never fires is not excused as HyQue's is
        (1, "vacuous"),  # and one that fires anyway detects nothing
    ],
)
def test_a_twin_that_does_not_detect_does_not_hold(restarts, outcome):
    runs = played("hyque", "glr_ucb")
    runs.loc[runs["policy"] == "glr_ucb", "restarts"] = restarts
    assert twin_step(power(runs)).outcome == outcome
