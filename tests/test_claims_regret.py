"""Claims on the regret and its parts, each with a twin that must fail and one that must hold."""

from __future__ import annotations

import dataclasses
import math
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from confee import claims, proofs, theory
from confee.claims import (
    decomposition,
    naive_allocation,
    on_demand_free,
    part_regret,
    rexp3b_finite,
)
from confee.claims.judging import ratios
from confee.evidence import Evidence, worst_cases
from confee.evidence.parts import part_slopes
from confee.evidence.slopes import axis_of
from confee.simulation.cells import cell, family
from confee.simulation.needs import Ask
from confee.simulation.play import Accounting, play_all
from test_evidence import RATE, make_points, make_worst

EMPTY = pd.DataFrame(columns=["policy", "label", "K", "T", "B", "V", "adversary", "seed"])


def play(asks) -> pd.DataFrame:
    """The runs of some asks, as in asked.parquet."""
    rows = []
    for ask in asks:
        one = cell(ask.policy, K=ask.K, T=ask.T, B=ask.B, V=ask.V)
        against = family(ask.against, ask.K, ask.T, ask.B, ask.V)
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


NEW = ("decomposition", *part_regret.IDS, "on-demand-free", "rexp3b-finite", "naive-allocation")


def test_needs_are_small_and_nothing_is_said_without_runs():
    cost = {True: 0.0, False: 0.0}
    for id in NEW:
        for small in cost:
            for ask in claims.needs([id], small).asks:
                runs = ask.seeds * len(family(ask.against, ask.K, ask.T, ask.B, ask.V))
                cost[small] += runs * ask.B
        blank = Evidence(EMPTY, EMPTY, EMPTY, EMPTY)
        assert claims.judge(blank, [id]) == []
    assert cost[True] < 3e6  # queries, at some 200 ns
    assert cost[False] < 3e8


# ------------------------------------------------------------------ decomposition


def test_parts_add_up_under_either_proxy():
    found = judged("decomposition", toy("decomposition"))
    assert found.verdict == "holds"
    assert found.control["failed"] is True
    assert found.control["value"] == pytest.approx(1)  # all arms alike: error against nothing


@pytest.mark.parametrize("part", decomposition.PARTS)
def test_parts_that_are_off_in_one_run_fail(part):
    runs = toy("decomposition")
    runs.loc[1, part] += 1e-6 * runs.loc[1, "regret"]
    found = judged("decomposition", runs)
    assert found.verdict == "fails"
    assert found.numbers["largest_residual"]["means"] > decomposition.TOLERANCE


def test_decomposition_is_vacuous_without_the_other_proxy():
    runs = toy("decomposition")
    only = runs[runs["ask"] == "decomposition"]
    assert judged("decomposition", only).verdict == "vacuous"
    same = pd.concat([only, only.assign(ask="decomposition/literal")])  # nothing to mix
    found = judged("decomposition", same)
    assert (found.verdict, found.control["failed"]) == ("vacuous", False)


def test_the_printed_proxy_sees_drift_where_nothing_drifts():
    bias = judged("decomposition", toy("decomposition")).numbers["stationary_drift_per_idle_round"]
    for policy in decomposition.POLICIES:
        assert bias["means"][f"{policy}, gap 0"] == {"mean": 0.0, "se": 0.0}
        found = bias["literal"][f"{policy}, gap 0"]
        assert found["mean"] + 4 * found["se"] < 0


# ------------------------------------------------------------------ parts


PARTS = {"query-regret": "query", "error-regret": "error", "drift-regret": "drift"}
FLAT = theory.EXPONENTS["uniform"]


CENTRE = {"K": 2, "T": 2e6, "B": 5e5, "V": 2}


@cache
def part_runs(label, part, exponents, axes="TBVK", seed=1, se=0.005, constant=0.3):
    """Runs whose part is a power law on the worst of three gaps; their total is another's."""
    points = make_points(label, label, axes=axes)
    smooth = points.assign(policy="")  # no ripple of blocks
    powers = dict(zip("KTBV", exponents, strict=True))
    law = make_worst(smooth, powers, constant, se, seed).assign(policy=label)
    unit = [theory.critical_gap(*row) for row in law[["K", "B", "V"]].itertuples(index=False)]
    law = law[["policy", "label", "K", "T", "B", "V", "regret"]].assign(
        adversary="switching", queries=law["B"]
    )
    shares = {1.0: 0.7, 2.0: 1.0, 4.0: 0.8}
    runs = pd.concat(
        [law.assign(regret=share * law["regret"], seed=s, **{"adversary.gap": np.multiply(c, unit)})
         for c, share in shares.items() for s in range(4)], ignore_index=True,
    )  # fmt: skip
    value = runs["regret"] * np.exp(se * np.random.default_rng(seed).standard_normal(len(runs)))
    scaled = value * (runs["B"] / runs["T"] if part == "query" else 1 - runs["B"] / runs["T"])
    return runs.assign(**{f"regret_{part}": scaled}, regret=1 / value), points


def part_verdict(id, exponents, control=FLAT, label="hyque", **rest):
    part = PARTS[id]
    mine = part_runs(label, part, tuple(exponents[name] for name in "KTBV"), **rest)
    steep = {"BT": control, "K": {**RATE, "K": 2 / 3}, "V": {**RATE, "V": 1.0}}
    its = []
    for place, (axes, name) in enumerate(part_regret.CONTROLS[part].items()):
        powers = tuple((RATE if control is RATE else steep[axes])[n] for n in "KTBV")
        low = {"constant": 0.1} if axes == "V" else {}  # so that nothing is saturated
        its.append(part_runs(name, part, powers, axes.replace("BT", "TB"), 2 + place, **low))
    frames = zip(mine, *its, strict=True)
    runs, points = (pd.concat(some, ignore_index=True) for some in frames)
    evidence = Evidence(runs, EMPTY, EMPTY, points, choose=4)
    (found,) = part_regret.judge_part(evidence, id, label)
    return found


@pytest.mark.parametrize("id", PARTS)
def test_a_part_on_the_rate_holds(id):
    found = part_verdict(id, RATE)
    assert found.verdict == "holds", found.decide
    assert found.control["failed"] is True
    assert {step["outcome"] for step in found.steps} == {"holds"}


@pytest.mark.parametrize(
    ("id", "axis"),
    [("query-regret", "B"), ("query-regret", "K"), ("error-regret", "V"), ("drift-regret", "T")],
)
def test_a_part_off_by_015_in_one_exponent_fails(id, axis):
    constant = 0.3 / CENTRE[axis] ** 0.15  # so that nothing is saturated
    found = part_verdict(id, {**RATE, axis: RATE[axis] + 0.15}, constant=constant)
    assert found.verdict == "fails", found.measured


def test_a_part_is_vacuous_if_the_control_passes_and_undecided_if_noisy():
    assert part_verdict("drift-regret", RATE, control=RATE).verdict == "vacuous"
    noisy = part_verdict("error-regret", RATE, se=0.4)
    assert noisy.verdict == "undecided"
    assert "excess" in noisy.decide or "local slope" in noisy.decide


def test_a_part_is_measured_on_its_own_worst_adversary_and_the_choosing_seeds():
    """The total is made to be worst elsewhere, and the fresh seeds to say something else."""
    runs, points = part_runs("hyque", "query", tuple(RATE[n] for n in "KTBV"), "TB", 1, 0.001)
    fresh = runs.assign(seed=runs["seed"] + 4, regret_query=1e9)
    both = pd.concat([runs, fresh], ignore_index=True)
    tables = [part_slopes(Evidence(f, EMPTY, EMPTY, points, choose=4), "query")
              for f in (runs, both)]  # fmt: skip
    pd.testing.assert_frame_equal(*tables)
    row = axis_of(tables[0], "hyque", "B", "upper")
    assert row["exponent"] == pytest.approx(-1 / 3, abs=0.01)
    assert row["left_out"] == ""


@pytest.mark.parametrize(("K", "T", "B", "V"), [(2, 1e6, 1e5, 3), (16, 1e5, 3e4, 0.5)])
def test_the_query_rate_times_T_over_B_is_the_rate(K, T, B, V):
    assert proofs.query_rate(K, B, V) * T / B == pytest.approx(theory.rate(K, T, B, V))
    assert proofs.query_rate(K, B, V) == pytest.approx(K ** (1 / 3) * V ** (1 / 3) * B ** (2 / 3))


@cache
def played_sweeps():
    """sw_ucb and both controls, really played along T on a small grid."""
    rows, points = [], []
    strengths = {
        "switching": {"name": "switching", "strength": [0.5, 1, 2, 4]},
        "centred": {"name": "switching_centred", "strength": "ceiling"},
    }
    for policy in ("sw_ucb", "hyque_blind", "ucb1"):
        for point in (3e3, 8e3, 2.4e4, 7e4, 2.2e5):
            for phase, factor in enumerate((0.8, 1.25)):
                T = round(point * factor)
                sizes = {"K": 2, "T": T, "B": math.ceil(T**0.8), "V": 2.0}
                rows.append(play([Ask("", {"name": policy}, **sizes, against=strengths, seeds=4)]))
                points.append({"label": policy, "policy": policy, "axis": "T",
                               "point": point, "phase": phase, **sizes})  # fmt: skip
    return pd.concat(rows, ignore_index=True), pd.DataFrame(points)


@pytest.mark.parametrize("id", PARTS)
def test_sw_ucb_holds_along_T_and_the_controls_fail_on_real_runs(id):
    runs, points = played_sweeps()
    evidence = Evidence(runs, EMPTY, EMPTY, points, choose=4)
    (found,) = part_regret.judge_part(evidence, id, "sw_ucb", ("T",))
    assert found.control["failed"] is True, found.control
    assert found.steps[0]["outcome"] == "holds", found.measured


# ------------------------------------------------------------------ on demand


def test_conversions_pass_half_of_B_where_B_is_just_under_T():
    found = judged("on-demand-free", toy("on-demand-free"))
    assert found.verdict == "fails"
    steps = {step["step"]: step for step in found.steps}
    assert steps["conversions at most B/2"]["outcome"] == "fails"
    assert steps["conversions at most B/2"]["number"] == pytest.approx(2 / 3, abs=0.03)
    assert found.control["failed"] is True


@cache
def _divisible():
    against = {"switching": {"name": "switching", "strength": [2, "ceiling"]}}
    asks = [Ask("on-demand-free", {"name": p}, 4, 16_000, 4_000, 2.0, against, 32)
            for p in ("hyque", "baque", "odque", "hyque_blind", "hyque_discarding")]  # fmt: skip
    return play(asks)


def test_on_demand_is_free_where_B_divides_2T_and_is_at_most_a_quarter():
    found = judged("on-demand-free", _divisible())
    assert found.verdict == "holds", found.decide
    assert found.interval is None
    assert [step["outcome"] for step in found.steps[:2]] == ["holds", "holds"]


def test_on_demand_is_not_free_for_arms_that_pay_no_heed():
    runs = _divisible()
    blind = runs[runs["label"] == "hyque_blind"].assign(label="hyque")
    found = judged("on-demand-free", pd.concat([runs[runs["label"] != "hyque"], blind]))
    assert found.verdict == "fails"
    assert found.steps[0]["outcome"] == "holds"
    assert found.steps[1]["outcome"] == "fails"


def test_on_demand_is_undecided_on_few_runs_and_vacuous_without_controls():
    runs = _divisible()
    few = judged("on-demand-free", runs[(runs["seed"] < 4)])
    assert few.verdict == "undecided"
    assert f"{on_demand_free.RUNS} runs" in few.decide
    alone = runs[runs["label"].isin(["hyque", "baque"])]
    assert judged("on-demand-free", alone).verdict == "vacuous"


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
    assert found.verdict == "holds"
    assert found.control["failed"] is True
    assert found.control["value"] > 1.2


def test_rexp3b_over_its_bound_fails_however_the_cell_came_in():
    runs = toy("rexp3b-finite")
    mine = runs["label"] == "rexp3b"
    scale = 1.5 * proofs.rexp3b_bound(4, 10**6, 50_000, 0.25) / runs.loc[mine, "regret"].mean()
    runs.loc[mine, "regret"] *= scale
    assert judged("rexp3b-finite", runs).verdict == "fails"
    grid = worst_cases(runs[mine].assign(T=2 * 10**6), choose=0)
    grid["regret"] *= 2
    found = judged("rexp3b-finite", toy("rexp3b-finite"), worst=grid)
    assert (found.verdict, found.numbers["cells"]) == ("fails", 2)


def test_rexp3b_bound_is_undecided_on_noise_and_vacuous_if_the_control_passes():
    runs = toy("rexp3b-finite")
    mine = runs["label"] == "rexp3b"
    bound = proofs.rexp3b_bound(4, 10**6, 50_000, 0.25)
    runs.loc[mine, "regret"] = bound * np.resize([0.5, 1.2], mine.sum())
    found = judged("rexp3b-finite", runs)
    assert found.verdict == "undecided"
    assert "more seeds" in found.decide
    assert judged("rexp3b-finite", toy("rexp3b-finite")[mine]).verdict == "vacuous"
    runs = toy("rexp3b-finite")
    runs.loc[~mine, "regret"] *= 0.1
    assert judged("rexp3b-finite", runs).verdict == "vacuous"


# ------------------------------------------------------------------ naive allocation


SEEDS = 8


def allocation_runs(spread=0.03, **ratio):
    """Runs on one wide instance; regret as a multiple of the informed policy's."""
    rng = np.random.default_rng(4)
    rows = []
    for label, share in {"informed": 1.0, **ratio}.items():
        for c, wide in ((1.0, 0.2), (16.0, 1.0)):
            for seed in range(2 * SEEDS if label == "informed" else SEEDS):
                noise = np.exp(spread * rng.standard_normal())
                regret = 1000 * wide * (share if wide == 1 else 1) * noise
                rows.append({"policy": label, "label": label, "K": 2, "T": 10**5, "B": 10**4,
                             "V": 2.0, "adversary": "hard", "adversary.c": c, "seed": seed,
                             "adversary.gap": 0.01 * c, "regret": regret,
                             "ask": "naive-allocation"})  # fmt: skip
    return pd.DataFrame(rows)


def test_naive_allocations_that_cost_more_hold():
    found = judged("naive-allocation", allocation_runs(greedy_spend=8, sw_ucb=2, ucb1=9))
    assert found.verdict == "holds"
    assert found.control["failed"] is True
    assert found.control["value"] == pytest.approx(1, abs=0.05)
    assert [step["outcome"] for step in found.steps] == ["holds", "holds"]
    assert found.steps[1]["number"] == pytest.approx(2, rel=0.05)
    low, high = found.numbers["on_the_proofs_instance"]["greedy_spend"]
    assert low == high == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize(
    "ratio", [{"greedy_spend": 1.2, "sw_ucb": 3}, {"greedy_spend": 8, "sw_ucb": 1.3, "ucb1": 9}]
)
def test_a_naive_allocation_that_costs_little_fails(ratio):
    found = judged("naive-allocation", allocation_runs(**ratio))
    assert found.verdict == "fails"
    assert "least at K=2" in found.decide


def test_naive_allocation_is_undecided_at_the_margin_or_where_one_is_not_played():
    near = judged("naive-allocation", allocation_runs(greedy_spend=8, sw_ucb=1.5, spread=0.1))
    assert near.verdict == "undecided"
    assert "more seeds" in near.decide
    alone = judged("naive-allocation", allocation_runs(greedy_spend=8))
    assert alone.verdict == "undecided"
    assert "sw_ucb, ucb1" in alone.decide


def test_greedy_spend_costs_more_on_real_runs_and_informed_does_not():
    runs = toy("naive-allocation")
    found = judged("naive-allocation", runs)
    assert found.steps[0]["outcome"] == "holds", found.measured
    assert found.control["failed"] is True, found.control
    # Told to be its own rival it is seen not to cost more; ten times as costly it is.
    dear = runs.assign(regret=runs["regret"].where(runs["seed"] % 2 == 0, 10 * runs["regret"]))
    assert naive_allocation.reference_check(dear)[0] != "fails"
    # The informed policy's queries are spread evenly over batches too: no batch gets more.
    assert "evenly" in found.control["note"]


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
