"""Claims on the regret and its parts, each with a twin that must fail and one that must hold."""

from __future__ import annotations

import dataclasses
import math
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from confee import claims
from confee.claims import (
    decomposition,
    naive_allocation,
    on_demand_free,
    part_regret,
    rexp3b_finite,
)
from confee.claims.judging import ratios
from confee.core.size import Size
from confee.evidence import Evidence, slopes, worst_cases
from confee.evidence.parts import part_worst
from confee.paper import proofs, theory
from confee.simulation.cells import cell, family
from confee.simulation.grid import Ray
from confee.simulation.needs import Ask
from confee.simulation.play import Accounting, play_all
from support import curves
from support.curves import axis_of, power, rate, times

EMPTY = pd.DataFrame(columns=["policy", "label", "K", "T", "B", "V", "adversary", "seed"])


def play(asks) -> pd.DataFrame:
    """The runs of some asks, as in asked.parquet."""
    rows = []
    for ask in asks:
        one = cell(ask.policy, ask.size)
        against = family(ask.against, ask.size)
        how = Accounting(proxy=ask.proxy)
        found = play_all(one, against, range(ask.seeds), accounting=how)
        rows += [{**row, "ask": ask.tag} for row in found]
    return pd.DataFrame(rows)


@cache
def _toy(id):
    return play(claims.needs([id], toy=True).asks)


def toy(id):
    """The runs that a claim asks for in a toy experiment."""
    return _toy(id).copy()


def judged(id, asked=None, **frames):
    frames = {name: EMPTY for name in ("regret", "worst", "slopes", "points")} | frames
    verdicts = claims.judge(Evidence(**frames, asked=asked), [id])
    assert len(verdicts) == 1
    return verdicts[0]


NEW = ("decomposition", *part_regret.PARTS, "on-demand-free", "rexp3b-finite", "naive-allocation")


def test_needs_are_small_and_nothing_is_said_without_runs():
    cost = {True: 0.0, False: 0.0}
    for id in NEW:
        for small in cost:
            for ask in claims.needs([id], small).asks:
                runs = ask.seeds * len(family(ask.against, ask.size))
                cost[small] += runs * ask.size.B
        blank = Evidence(EMPTY, EMPTY, EMPTY, EMPTY)
        assert claims.judge(blank, [id]) == []
    assert cost[True] < 3e6  # queries, at some 200 ns
    assert cost[False] < 3e8


# ------------------------------------------------------------------ decomposition


def test_parts_add_up_under_either_proxy():
    found = judged("decomposition", toy("decomposition"))
    assert found.as_printed == "holds"
    assert found.control.as_expected is True
    assert found.control.value == pytest.approx(1)  # all arms alike: error against nothing


@pytest.mark.parametrize("part", decomposition.PARTS)
def test_parts_that_are_off_in_one_run_fail(part):
    runs = toy("decomposition")
    runs.loc[1, part] += 1e-6 * runs.loc[1, "regret"]
    found = judged("decomposition", runs)
    assert found.as_printed == "fails"
    assert found.numbers["largest_residual"]["means"] > decomposition.TOLERANCE


def test_decomposition_is_vacuous_without_the_other_proxy():
    runs = toy("decomposition")
    only = runs[runs["ask"] == "decomposition"]
    assert judged("decomposition", only).as_printed == "vacuous"
    same = pd.concat([only, only.assign(ask="decomposition/literal")])  # nothing to mix
    found = judged("decomposition", same)
    assert (found.as_printed, found.control.as_expected) == ("vacuous", False)


def test_the_printed_proxy_sees_drift_where_nothing_drifts():
    bias = judged("decomposition", toy("decomposition")).numbers["stationary_drift_per_idle_round"]
    for policy in decomposition.POLICIES:
        assert bias["means"][f"{policy}, gap 0"] == {"mean": 0.0, "se": 0.0}
        found = bias["literal"][f"{policy}, gap 0"]
        assert found["mean"] + 4 * found["se"] < 0


# ------------------------------------------------------------------ parts


PARTS = {"query-regret": "query", "error-regret": "error", "drift-regret": "drift"}
RAYS = {name: curves.RAYS[name] for name in ("V", "B, V=4", "K, B=1.3e5", "K, B=5e5", "T")}

OFF = {
    "V": power(V=0.15),
    "B": power(B=0.15),
    "K": power(K=0.15),
    "T": times(lambda K, T, B, V: (T / B) ** 0.3),
}


def low(law):
    """A law at a level at which nothing is saturated."""
    return times(lambda K, T, B, V: 0.1, law)


def part_runs(label, part, law, rays=RAYS, seed=1, noise=0.005):
    """Runs whose part has a law on the worst of three gaps; their total is another's."""
    points = curves.points_of(rays, [label])
    runs = curves.runs_of(points, low(law), noise, seed)
    share = runs["B"] / runs["T"]
    scaled = runs["regret"] * (share if part == "query" else 1 - share)
    return runs.assign(**{f"regret_{part}": scaled}, regret=1 / runs["regret"]), points


def part_verdict(id, law=rate, changed=None, rays=RAYS, **rest):
    """The verdict on a part of a law beside its controls, on theirs."""
    part = PARTS[id]
    broken = {"hyque_blind": power(B=1 / 3), "ucb1": power(B=1 / 3)}
    laws = {**curves.IDEAL, **curves.BROKEN, **broken, **(changed or {})}
    some = part_regret.controls(part)
    labels = {*some.positive.values(), *some.negative.values()}
    laws = {"hyque": law, **{name: laws[name] for name in sorted(labels) if laws[name]}}
    made = [
        part_runs(label, part, one, rays, seed, **rest)
        for seed, (label, one) in enumerate(laws.items())
    ]
    runs, points = (pd.concat(some, ignore_index=True) for some in zip(*made, strict=True))
    evidence = Evidence(runs, EMPTY, EMPTY, points, choose=4)
    (found,) = part_regret.judge(id, evidence)
    return found


@pytest.mark.parametrize("id", PARTS)
def test_a_part_on_the_rate_is_consistent(id):
    found = part_verdict(id)
    assert found.as_printed == "consistent", found.why
    assert found.control.as_expected is True
    assert {step.outcome for step in found.steps} == {"holds"}
    assert len(found.steps) == 4


@pytest.mark.parametrize(
    ("id", "variable"),
    [("query-regret", "B"), ("query-regret", "K"), ("error-regret", "V"), ("drift-regret", "T")],
)
def test_a_part_that_is_off_in_one_exponent_fails(id, variable):
    found = part_verdict(id, OFF[variable])
    assert found.as_printed == "fails", found.measured
    assert found.steps[0].step.startswith(variable)


@pytest.mark.parametrize(
    ("id", "control"), [("error-regret", "hyque_blind"), ("drift-regret", "ucb1")]
)
def test_a_part_is_undecided_if_a_control_passes_or_is_missing(id, control):
    rays = {"B": curves.RAYS["B, V=4"]}
    for wrong in (rate, None):
        found = part_verdict(id, changed={control: wrong}, rays=rays)
        assert found.as_printed == "undecided"
        assert f"negative control {control}" in found.why
        found = part_verdict(id, changed={"sw_ucb": wrong and power(B=0.2)}, rays=rays)
        assert found.as_printed == "undecided"
        assert "positive control sw_ucb" in found.why


def test_a_part_is_undecided_if_noisy():
    noisy = part_verdict("error-regret", noise=0.4)
    assert noisy.as_printed == "undecided"
    assert "if the excess persists" in noisy.decide


def test_a_part_is_measured_on_its_own_worst_adversary_and_the_choosing_seeds():
    """The total is made to be worst elsewhere, and the fresh seeds to say something else."""
    runs, points = part_runs("hyque", "query", rate, {"B": RAYS["B, V=4"]}, noise=0.001)
    fresh = runs.assign(seed=runs["seed"] + 4, regret_query=1e9)
    both = pd.concat([runs, fresh], ignore_index=True)
    tables = [
        part_worst(Evidence(f, EMPTY, EMPTY, points, choose=4), "query") for f in (runs, both)
    ]
    for mine, its in zip(*tables, strict=True):
        pd.testing.assert_frame_equal(mine, its)
    row = axis_of(slopes(*tables[0]), "hyque", "B", "ray")
    assert row["exponent"] == pytest.approx(-1 / 3, abs=0.01)
    assert row["left_out"] == ""


def test_parts_have_no_points_where_idle_rounds_die_out():
    runs, points = part_runs("hyque", "error", rate, {"B": curves.RAYS["B=T, V=4"], **RAYS})
    _, there = part_worst(Evidence(runs, EMPTY, EMPTY, points, choose=4), "error")
    assert (2 * there["B"] <= there["T"]).all()
    assert set(there["axis"]) == set(RAYS)


@pytest.mark.parametrize(("K", "T", "B", "V"), [(2, 1e6, 1e5, 3), (16, 1e5, 3e4, 0.5)])
def test_the_query_rate_times_T_over_B_is_the_rate(K, T, B, V):
    assert proofs.query_rate(K, B, V) * T / B == pytest.approx(theory.rate(K, T, B, V))
    assert proofs.query_rate(K, B, V) == pytest.approx(K ** (1 / 3) * V ** (1 / 3) * B ** (2 / 3))


@cache
def played_ray():
    """sw_ucb and its controls, really played along B on a short ray."""
    rays = {"B": Ray([2], [1000 * 2**k for k in range(6)], [2], [4], still=curves.STILL)}
    strengths = {
        "switching": {"name": "switching", "strength": [0.5, 1, 2, 4]},
        "centred": {"name": "switching_centred", "strength": "ceiling"},
    }
    still = {"stationary": {"name": "stationary", "gap": [0.02, 0.05, 0.1]}}
    points = curves.points_of(rays, ["sw_ucb", "ucb1_restarted", "hyque_blind", "ucb1"])
    rows = []
    for label, *values in points[["label", "K", "T", "B", "V"]].itertuples(index=False):
        sizes = dict(zip("KTBV", values, strict=True))
        against = strengths if sizes["V"] else still
        rows.append(play([Ask("", {"name": label}, Size(**sizes), against=against, seeds=4)]))
    return pd.concat(rows, ignore_index=True), points


@pytest.mark.parametrize("id", PARTS)
def test_sw_ucb_keeps_the_rate_along_B_and_the_control_fails_on_real_runs(id):
    runs, points = played_ray()
    evidence = Evidence(runs, EMPTY, EMPTY, points, choose=4)
    (found,) = part_regret.judge(id, evidence, "sw_ucb")
    assert found.interval[1] <= 0.03, found.measured
    assert found.control.as_expected is True, found.control
    (numbers,) = found.numbers.values()
    assert numbers["controls"]["positive"]["verdict"] != "fails"
    assert found.as_printed in ("consistent", "undecided")


# ------------------------------------------------------------------ on demand


def test_conversions_pass_half_of_B_where_B_is_just_under_T():
    found = judged("on-demand-free", toy("on-demand-free"))
    assert found.as_printed == "fails"
    steps = {step.step: step for step in found.steps}
    assert steps["conversions at most B/2"].outcome == "fails"
    assert steps["conversions at most B/2"].number == pytest.approx(2 / 3, abs=0.03)
    assert found.control.as_expected is True


@cache
def _divisible():
    against = {"switching": {"name": "switching", "strength": [2, "ceiling"]}}
    asks = [
        Ask("on-demand-free", {"name": p}, Size(4, 16_000, 4_000, 2.0), against, 32)
        for p in ("hyque", "baque", "odque", "hyque_blind", "hyque_discarding")
    ]
    return play(asks)


def test_on_demand_is_free_where_B_divides_2T_and_is_at_most_a_quarter():
    found = judged("on-demand-free", _divisible())
    assert found.as_printed == "holds", found.decide
    assert found.interval is None
    assert [step.outcome for step in found.steps[:2]] == ["holds", "holds"]


def test_on_demand_is_not_free_for_arms_that_pay_no_heed():
    runs = _divisible()
    blind = runs[runs["label"] == "hyque_blind"].assign(label="hyque")
    found = judged("on-demand-free", pd.concat([runs[runs["label"] != "hyque"], blind]))
    assert found.as_printed == "fails"
    assert found.steps[0].outcome == "holds"
    assert found.steps[1].outcome == "fails"
    # What simulations say of regret is never refuted by counting.
    assert (found.basis, found.severity, found.breaks) == ("measured", "horizon", False)


def test_on_demand_is_undecided_on_few_runs_and_vacuous_without_controls():
    runs = _divisible()
    few = judged("on-demand-free", runs[(runs["seed"] < 4)])
    assert few.as_printed == "undecided"
    assert f"{on_demand_free.RUNS} runs" in few.decide
    alone = runs[runs["label"].isin(["hyque", "baque"])]
    assert judged("on-demand-free", alone).as_printed == "vacuous"


# ------------------------------------------------------------------ Rexp3B's bound


def test_rexp3b_bound_is_that_of_the_proof():
    K, T, B, V = 4, 10**6, 10**5, 0.25
    length, queries = theory.rexp3b_batch(K, T, B, V)
    assert (length, queries) == (96_090, 9_609)
    root = math.sqrt((math.e - 1) * K * math.log(K))
    expected = (T / length + 1) * 2 * root * math.sqrt(queries) + 2 * queries * V
    expected += 6 * V * length + 2 * T * root / math.sqrt(queries)
    assert proofs.rexp3b_bound(K, T, B, V) == pytest.approx(expected)
    assert proofs.rexp3b_bound(K, T, B, V) == pytest.approx(217_000, rel=0.02)
    # Its main terms scale as the theorem says.
    big = [proofs.rexp3b_bound(4, 10**12, B, 1.0) for B in (10**9, 8 * 10**9)]
    assert big[0] / big[1] == pytest.approx(2, rel=0.01)


def test_rexp3b_is_below_its_bound_and_the_set_of_arms_is_not():
    found = judged("rexp3b-finite", toy("rexp3b-finite"))
    assert found.as_printed == "holds"
    assert found.control.as_expected is True
    assert found.control.value > 1.2


def test_rexp3b_over_its_bound_fails_however_the_cell_came_in():
    runs = toy("rexp3b-finite")
    mine = runs["label"] == "rexp3b"
    scale = 1.5 * proofs.rexp3b_bound(4, 10**6, 50_000, 0.25) / runs.loc[mine, "regret"].mean()
    runs.loc[mine, "regret"] *= scale
    assert judged("rexp3b-finite", runs).as_printed == "fails"
    grid = worst_cases(runs[mine].assign(T=2 * 10**6), choose=0)
    grid["regret"] *= 2
    found = judged("rexp3b-finite", toy("rexp3b-finite"), worst=grid)
    assert (found.as_printed, found.numbers["cells"]) == ("fails", 2)


def test_rexp3b_bound_is_undecided_on_noise_and_vacuous_if_the_control_passes():
    runs = toy("rexp3b-finite")
    mine = runs["label"] == "rexp3b"
    bound = proofs.rexp3b_bound(4, 10**6, 50_000, 0.25)
    runs.loc[mine, "regret"] = bound * np.resize([0.5, 1.2], mine.sum())
    found = judged("rexp3b-finite", runs)
    assert found.as_printed == "undecided"
    assert "more seeds" in found.decide
    assert judged("rexp3b-finite", toy("rexp3b-finite")[mine]).as_printed == "vacuous"
    runs = toy("rexp3b-finite")
    runs.loc[~mine, "regret"] *= 0.1
    assert judged("rexp3b-finite", runs).as_printed == "vacuous"


# ------------------------------------------------------------------ naive allocation


SEEDS = 8


def allocation_runs(spread=0.03, uniform=9.0, **ratio):
    """Runs on one wide instance; regret as a multiple of the informed policy's."""
    rng = np.random.default_rng(4)
    rows = []
    for label, share in {"informed": 1.0, "uniform": uniform, **ratio}.items():
        for c, wide in ((1.0, 0.2), (16.0, 1.0)):
            for seed in range(2 * SEEDS if label == "informed" else SEEDS):
                noise = np.exp(spread * rng.standard_normal())
                regret = 1000 * wide * (share if wide == 1 else 1) * noise
                rows.append(
                    {
                        "policy": label,
                        "label": label,
                        "K": 2,
                        "T": 10**5,
                        "B": 10**4,
                        "V": 2.0,
                        "adversary": "hard",
                        "adversary.c": c,
                        "seed": seed,
                        "adversary.gap": 0.01 * c,
                        "regret": regret,
                        "ask": "naive-allocation",
                    }
                )
    return pd.DataFrame(rows)


def test_naive_allocations_that_cost_more_hold():
    found = judged("naive-allocation", allocation_runs(greedy_spend=8, sw_ucb=2, ucb1=9))
    assert (found.as_printed, found.positive.as_expected) == ("consistent", True)
    assert [r.outcome for r in found.readings] == ["fails"]  # evenly over the batches
    assert found.control.as_expected is True
    assert found.control.value == pytest.approx(1, abs=0.05)
    assert [step.outcome for step in found.steps] == ["holds", "holds"]
    assert found.steps[1].number == pytest.approx(2, rel=0.05)
    low, high = found.numbers["on_the_proofs_instance"]["greedy_spend"]
    assert low == high == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize(
    "ratio", [{"greedy_spend": 1.2, "sw_ucb": 3}, {"greedy_spend": 8, "sw_ucb": 1.3, "ucb1": 9}]
)
def test_a_naive_allocation_that_costs_little_fails(ratio):
    found = judged("naive-allocation", allocation_runs(**ratio))
    assert found.as_printed == "fails"
    assert "least at K=2" in found.decide


def test_naive_allocation_is_undecided_at_the_margin_or_where_one_is_not_played():
    near = judged("naive-allocation", allocation_runs(greedy_spend=8, sw_ucb=1.5, spread=0.1))
    assert near.as_printed == "undecided"
    assert "more seeds" in near.decide
    alone = judged("naive-allocation", allocation_runs(greedy_spend=8))
    assert alone.as_printed == "undecided"
    assert "informed_even, sw_ucb, ucb1" in alone.decide
    idle = judged("naive-allocation", allocation_runs(uniform=1, greedy_spend=8, sw_ucb=2))
    assert (idle.as_printed, idle.positive.as_expected) == ("undecided", False)


def test_greedy_spend_costs_more_on_real_runs_and_informed_does_not():
    runs = toy("naive-allocation")
    found = judged("naive-allocation", runs)
    assert found.steps[0].outcome == "holds", found.measured
    assert found.control.as_expected is True, found.control
    # Told to be its own rival it is seen not to cost more; ten times as costly it is.
    dear = runs.assign(regret=runs["regret"].where(runs["seed"] % 2 == 0, 10 * runs["regret"]))
    assert naive_allocation.reference_check(dear)[0] != "fails"
    # The informed policy's queries are spread evenly over batches too: no batch gets more.
    assert "evenly" in found.control.note


# ------------------------------------------------------------------ ratios


def test_fieller_limits_invert_the_t_test_of_the_difference():
    rng = np.random.default_rng(5)
    y = rng.uniform(1, 2, 20)
    x = 1.3 * y + 0.2 * rng.standard_normal(20)
    found = ratios.paired(x, y, tests=3)
    assert found["low"] < found["ratio"] < found["high"]
    for limit in (found["low"], found["high"]):
        p = stats.ttest_1samp(x - limit * y, 0).pvalue
        assert p == pytest.approx(ratios.LEVEL / 3, rel=1e-6)
    assert ratios.fieller(1.0, 0.1, 0.01, 0.01, 0.0, 2.0) == (-math.inf, math.inf)
    assert ratios.fieller(1.0, 1.0, math.nan, 0.01, 0.0, 2.0) == (-math.inf, math.inf)
    assert ratios.fieller(2.0, 2.0, 0.1, 0.1, 0.1, 2.0) == pytest.approx((1, 1))


def test_limits_of_several_ratios_cover_them_all_together():
    rng, misses = np.random.default_rng(6), 0
    for _ in range(400):
        pairs = [np.exp(0.2 * rng.standard_normal((2, 12))) for _ in range(4)]
        limits = [ratios.paired(*pair, tests=4) for pair in pairs]
        misses += any(not r["low"] <= 1 <= r["high"] for r in limits)
    assert stats.binomtest(misses, 400, 0.05, "greater").pvalue > 0.01


def test_one_sided_rules_on_ratios():
    def table(*limits):
        return pd.DataFrame(limits, columns=["low", "high"])

    assert ratios.at_most(table((0.5, 0.9), (0.8, 1.0)), 1) == "holds"
    assert ratios.at_most(table((0.5, 0.9), (0.9, 1.1)), 1) == "undecided"
    assert ratios.at_most(table((0.5, 0.9), (1.1, 1.2)), 1) == "fails"
    assert ratios.above(table((1.1, 2.0), (1.2, 3.0)), 1) == "holds"
    assert ratios.above(table((1.1, 2.0), (0.9, 3.0)), 1) == "undecided"
    assert ratios.above(table((1.1, 2.0), (0.8, 1.0)), 1) == "fails"
    assert ratios.at_most(table(), 1) == ratios.above(table(), 1) == "undecided"
    assert ratios.together(["holds", "undecided"]) == "undecided"
    assert ratios.together(["holds", "fails"]) == "fails"
    assert ratios.together(["holds", "holds"]) == "holds"


def test_toy_verdicts_say_so():
    blank = Evidence(EMPTY, EMPTY, EMPTY, EMPTY, asked=toy("decomposition"))
    (found,) = decomposition.judge(dataclasses.replace(blank, toy=True))
    assert found.horizon.startswith("toy horizon")
    assert rexp3b_finite.judge(blank) == []


@pytest.mark.parametrize("id", ["error-regret", "drift-regret"])
def test_the_age_of_data_is_a_gap_of_both_lemmas_that_use_it(id):
    found = part_verdict(id)
    assert (found.severity, found.breaks) == ("gap", True)
    assert "claims=[hyque-floor]" in found.corrections[-1].shown
    assert not part_verdict("query-regret").breaks
