"""Claims that the schedule alone decides, each with a control that must fail and one that holds.

The control that must hold has the proof's start chances, which are those of a small block in a
large one; the one that must fail starts nothing but the longest instance.
"""

from __future__ import annotations

import dataclasses
import json
import math
from functools import cache
from pathlib import Path

import pandas as pd
import pytest

from confee import claims
from confee.claims import density, idle_runs, ledger, query_runs
from confee.claims.judging import blocks, streaks
from confee.evidence import Evidence
from confee.paper import proofs, theory
from confee.paper import streaks as chances
from confee.simulation.studies import schedules

IDS = (*(claim.id for claim in idle_runs.CLAIMS), query_runs.CLAIM.id)


def evidence(rows, toy=False):
    empty = pd.DataFrame()
    return Evidence(empty, empty, empty, empty, toy, studies={blocks.STUDY: pd.DataFrame(rows)})


@cache
def drawn(horizons=(10**4, 10**5), draws=1000, work=50_000):
    """Drawn blocks along B = T^0.8, T^0.9 and T."""
    frames = [
        pd.DataFrame(schedules.run(**cell, draws=draws, work=work))
        for cell in blocks.cells(horizons)
    ]
    return pd.concat(frames, ignore_index=True)


@cache
def judged(with_draws=True):
    rows = drawn() if with_draws else []
    return {found.id: found for found in claims.judge(evidence(rows), IDS)}


def one(findings):
    assert len(findings) == 1
    return findings[0]


# ------------------------------------------------------------------ streaks


@pytest.mark.parametrize("id", IDS)
@pytest.mark.parametrize("with_draws", [True, False])
def test_streaks_fail_as_printed_with_or_without_draws(id, with_draws):
    found = judged(with_draws)[id]
    assert found.as_printed == "fails"
    assert (found.control.as_expected, found.positive.as_expected) == (True, True)
    assert found.interval[1] < streaks.FLOOR
    assert "practically 0" in found.why
    assert found.mended == "consistent"
    assert found.severity == ("gap" if id == idle_runs.TWO_THIRDS.id else "logarithm")
    assert found.evidence == (("studies/schedules",) if with_draws else ())
    steps = {step.step: step.outcome for step in found.steps}
    assert steps.get("drawn blocks agree with the computed probabilities") == (
        "holds" if with_draws else None
    )
    json.loads(ledger.to_json([found]))


def test_the_chances_at_the_largest_horizon_are_certified():
    for id in IDS:
        worst = judged()[id].numbers["worst_blocks"]
        assert worst["B=T^0.9"][-1]["T"] == 10**12
        assert worst["B=T^0.9"][-1]["p_low"] > 0.9999
    assert judged()["query-runs"].numbers["worst_blocks"]["B=T^0.8"][-1]["p_low"] > 0.09


def test_a_logarithm_is_enough_for_the_lemma_and_not_for_the_remark():
    for kind in ("idle", "query"):
        factors = streaks.log_factors(kind)
        assert set(factors) == {"B=T^0.75", "B=T^0.8", "B=T^0.9", "B=T^1", "B=T-1"}
        assert 0.4 < min(factors.values()) < 0.7 < factors["B=T-1"] < 0.9
    medians = judged()[idle_runs.TWO_THIRDS.id].numbers["median_over_T/B^(2/3)"]
    assert medians[-1]["low"] > 20 * medians[0]["high"]
    assert medians[-1]["low"] > 5 * math.log(10**12)
    for row in medians:
        assert row["low"] < 4 * row["B^(1/6)"] < 16 * row["high"]
    step = next(s for s in judged()[idle_runs.TWO_THIRDS.id].steps if "bounded" in s.step)
    assert step.outcome == "fails"


def test_the_least_factor_of_the_logarithm_is_least():
    T, B = 10**6, 10**5
    b, (last, _) = theory.slot_length(T, B), theory.last_block(T, B)
    c = streaks.log_factor("idle", T, B)
    totals = [
        sum(
            chances.idle_streak_upper(n, b, f * math.log(T) * T / math.sqrt(B))
            for n in range(last + 1)
        )
        for f in (c, c - 0.01)
    ]
    assert totals[0] <= 1 / T < totals[1]


def test_the_mended_length_narrows_the_range_of_V():
    """V L = K^{1/3} V^{1/3} T / B^{1/3} at both ends of the range."""
    K, T, B = 4, 10**7, 10**6
    largest = idle_runs.largest_variations(K, T, B)
    for name, length in (("printed", T / B ** (2 / 3)), ("mended", T * math.log(T) / B**0.5)):
        V = largest[name]
        assert V * length == pytest.approx((K * V / B) ** (1 / 3) * T)
    assert largest["mended"] < largest["mended_without_logarithm"] < largest["theorem"]


def test_the_pages_say_what_is_certified():
    docs = Path(__file__).parents[1] / "docs"
    page = " ".join((docs / "proofs" / "streaks.md").read_text().split())
    ends = {kind: streaks.log_factors(kind) for kind in ("idle", "query")}
    for factors in ends.values():
        printed = sorted(f"{value:.2f}" for name, value in factors.items() if name != "B=T-1")
        assert f"{printed[0]} to {printed[-1]}" in page
        assert f"{factors['B=T-1']:.2f}" in page
    first = [streaks.point("idle", 10**4, beta).p for beta in blocks.EXPONENTS]
    printed = sorted(f"{p.low:.2f}" for p in first if p.exact)
    assert f"over $`T/\\sqrt B`$ is {printed[0]} to {printed[-1]} at" in page
    rows = {
        kind: [streaks.point(kind, T, 0.9).p for T in (10**4, 10**8, 10**12)]
        for kind in ("idle", "query")
    }
    for p in rows.values():
        assert p[-1].low > 1 - 1e-11
    assert rows["idle"][1].low > 0.9999
    assert (
        f"| {rows['query'][0].low:.4f} | over {math.floor(100 * rows['query'][1].low) / 100}"
        in page
    )
    depths = [
        streaks.safe_orders("idle", 10**8, proofs.power_budget(10**8, beta))
        for beta in blocks.EXPONENTS
    ]
    assert "at least {}, {} and {} orders below".format(*depths) in page
    largest = idle_runs.largest_variations(4, 10**7, 10**6)
    assert f" {largest['theorem']:.0f}" in page
    assert f" {largest['mended']:.2f}" in page


def points(chance, T=(10**4, 10**8), beta=0.8):
    """The worst blocks at two horizons, with these bounds of P."""
    return [
        dataclasses.replace(streaks.point("idle", horizon, beta), p=chances.Chance(*p))
        for horizon, p in zip(T, chance, strict=True)
    ]


@pytest.mark.parametrize(
    ("chance", "expected"),
    [
        (((0.5, 0.5), (0.9, 1.0)), "undecided"),  # rises, as C = 0.01 would let it
        (((0.99, 0.99), (0.985, 0.99)), "fails"),  # C is under 0.003
        (((0.5, 0.6), (0.55, 1.0)), "undecided"),
        (((0.5, 0.5), (0.3, 0.4)), "undecided"),  # C is 0.15 to 0.19
        (((0.5, 0.5), (0.0, 0.04)), "holds"),  # C is at least 0.51
        (((0.5, 0.5), (0.0, 1.0)), "undecided"),  # nothing is known
    ],
)
def test_the_rule_looks_at_the_largest_horizon(chance, expected):
    trend = streaks.judge_points(0.8, points(chance))
    assert trend.outcome == expected, trend.why


def test_a_point_says_what_the_chance_implies():
    low, high = points(((0.5, 0.5), (0.2, 0.4)))
    assert low.implied[0] == low.implied[1] == pytest.approx(math.log(2) / low.x)
    least, largest = (-math.log(p) / high.x for p in (0.4, 0.2))
    assert high.implied == pytest.approx((least, largest))
    assert low.text.startswith("P 0.5, C 0.2")
    impossible, _ = points(((0.0, 0.0), (0.5, 1.0)))
    assert impossible.implied == (math.inf, math.inf)
    assert points(((0.0, 0.0), (1 - 1e-7, 1.0)))[1].text == "P at least 1 - 1e-6, C at most 2e-08"


def test_draws_that_contradict_the_chances_leave_the_claim_open():
    rows = drawn().assign(**{"idle_over_0.5": 0})
    found = one(claims.judge(evidence(rows), ["idle-runs"]))
    assert found.as_printed == "undecided"
    assert "contradict" in found.decide
    assert found.corrections == ()
    step = next(s for s in found.steps if s.step.startswith("drawn"))
    assert (step.outcome, step.number > 5) == ("fails", True)


def test_a_control_that_does_not_come_out_leaves_the_claim_open(monkeypatch):
    checked = streaks.check

    def lenient(kind, exponents, alpha=0.5, rates="paper"):
        return checked(kind, exponents, alpha, "proof" if rates == "alone" else rates)

    monkeypatch.setattr(streaks, "check", lenient)
    assert one(claims.judge(evidence([]), ["query-runs"])).as_printed == "vacuous"

    def strict(kind, exponents, alpha=0.5, rates="paper"):
        return checked(kind, exponents, alpha, "alone" if rates == "proof" else rates)

    monkeypatch.setattr(streaks, "check", strict)
    assert one(claims.judge(evidence([]), ["query-runs"])).as_printed == "undecided"


def test_the_limits_of_shares_are_exact_and_parts_of_a_study_add_up():
    """At each limit the tail that starts at the count has half of the level, over all blocks."""
    from scipy.stats import binom

    rows = drawn((10**4,))
    table = blocks.shares(rows, "idle")
    complete = rows[rows["complete"] == 1]
    hits = complete.groupby(blocks.BLOCK)["idle_over_0.5"].sum().to_numpy()
    draws, half = table["drawn"].to_numpy(), blocks.LEVEL / 2 / len(table)
    above = binom.sf(hits - 1, draws, table["p_low"])
    below = binom.cdf(hits, draws, table["p_high"])
    assert above[hits > 0] == pytest.approx(half)
    assert below[hits < draws] == pytest.approx(half)
    assert (table["p_low"][hits == 0] == 0).all()
    assert (table["p_high"][hits == draws] == 1).all()
    twice = blocks.shares(pd.concat([rows, rows]), "idle")
    assert twice["drawn"].tolist() == (2 * table["drawn"]).tolist()
    assert twice["p"].tolist() == table["p"].tolist()


def test_blocks_far_below_the_last_keep_to_the_lemma():
    T, B = 10**8, proofs.power_budget(10**8, 0.9)
    depth = streaks.safe_orders("idle", T, B)
    top = proofs.largest_order(T, B)
    allowed = math.exp(-streaks.LEAST * proofs.run_exponent(T, B))
    assert 0 < depth < top
    assert chances.streak_chance("idle", T, B, order=top - depth, work=0).high <= allowed
    assert chances.streak_chance("idle", T, B, order=top - depth + 1, work=0).high > allowed


# ------------------------------------------------------------------ density


@cache
def phases():
    """Blocks at b = 20 (B | 2T) and b = 3 (B = T - 1), single and doubled quotas."""
    cells = [{"T": 10**4, "B": 1000, "exponent": 0.75}, {"T": 10**4, "B": 9999, "exponent": 0.99}]
    return pd.concat(
        [
            pd.DataFrame(schedules.run(**cell, draws=400, work=40_000, quota=quota))
            for cell in cells
            for quota in (1, 2)
        ],
        ignore_index=True,
    )


def test_density_fails_as_printed_and_holds_for_complete_blocks_where_B_divides_2T():
    found = one(claims.judge(evidence(phases()), ["density"]))
    assert found.as_printed == "fails"
    assert found.control.as_expected is True
    outcomes = {step.step: step.outcome for step in found.steps}
    assert outcomes == {
        "any T, cut after a query": "fails",
        "any T, complete blocks": "fails",
        "B | 2T, cut after a query": "fails",
        "B | 2T, cut after a query, blocks with b < 2^(n+1)": "holds",
        "B | 2T, complete blocks": "holds",
        "complete blocks have density 1/b": "holds",
    }
    assert found.numbers["lowest"]["b"] == 3
    assert found.numbers["lowest"]["over_B_over_T"] == pytest.approx(1 / 3, abs=0.01)
    assert found.numbers["highest"]["b"] == 20
    assert found.numbers["highest"]["over_B_over_T"] == pytest.approx(
        found.numbers["highest"]["largest_possible"]
    )
    json.loads(ledger.to_json([found]))


def test_the_same_verdict_holds_where_the_lemma_does():
    """B | 2T and no block so short that 2^n queries in a row reach 2/b; doubled quotas fail."""
    rows = density.long_enough(density.even(phases()))
    found = one(claims.judge(evidence(rows), ["density"]))
    assert (found.as_printed, found.control.as_expected) == ("holds", True)
    assert found.decide == ""
    few = rows.assign(drawn=rows["drawn"].clip(upper=1))
    found = one(claims.judge(evidence(few), ["density"]))
    assert found.as_printed == "undecided"
    found = one(claims.judge(evidence(rows[rows["quota"] == 1]), ["density"]))
    assert (found.as_printed, found.control.as_expected) == ("vacuous", None)


def test_one_phase_outside_refutes_a_density():
    rows = density.long_enough(density.even(phases()))
    rows = rows[rows["quota"] == 1]
    for column in ("cut_below", "cut_above"):
        broken = rows.copy()
        broken.loc[broken.index[-1], column] = 1
        assert density.check(broken).verdict == "fails"
        assert density.check(broken, "end").verdict == "holds"
    assert density.check(phases()[phases()["quota"] == 2], "end").verdict == "fails"


def test_phases_reach_2_over_b_only_where_arithmetic_lets_them():
    """b >= 2^{n+1} (passes it if b is larger: see docs/proofs/density.md)."""
    rows = density.even(phases())
    rows = rows[(rows["quota"] == 1) & (rows["order"] > 0)]
    above = rows["cut_above"] > 0
    assert (rows["b"] >= 2.0 ** (rows["order"] + 1))[above].all()
    assert set(rows[above]["order"]) >= {1, 2}
    for n, b in ((1, 20), (3, 20), (4, 20), (3, 16)):
        assert (proofs.densest_phase(n, b) >= 2 / b) == (b >= 2 ** (n + 1))


# ------------------------------------------------------------------ needs


@pytest.mark.parametrize("toy", [True, False])
@pytest.mark.parametrize("module", [idle_runs, query_runs, density])
def test_needs_are_cells_the_study_takes(module, toy):
    needed = module.needs(toy).studies
    assert {s.name for s in needed} == {blocks.STUDY}
    assert sum(s.seconds for s in needed) < (2 if toy else 60)
    for s in needed:
        assert s.parameters["B"] <= s.parameters["T"]
        assert "rates" not in s.parameters


def test_toy_needs_settle_the_machinery():
    """What smoke draws gives an outcome for each claim, with controls that fail."""
    rows = []
    modules = (idle_runs, density)  # the needs of query_runs are those of idle_runs
    studies = {str(s): s for m in modules for s in m.needs(toy=True).studies}
    for study in studies.values():
        rows += schedules.run(**study.parameters)
    toy = dataclasses.replace(evidence(rows), toy=True)
    found = {f.id: f for f in claims.judge(toy, [*IDS, "density"])}
    assert list(found) == ["idle-runs", "idle-runs/two-thirds", "query-runs", "density"]
    assert all(f.control.as_expected for f in found.values())
    assert found["density"].horizon.startswith("toy horizon")
    assert found["idle-runs"].horizon.startswith("T up to 1e+12, drawn blocks at a toy horizon")


def test_both_ends_of_the_density_are_mended_by_what_is_drawn():
    rows = phases()
    rows = rows[rows["quota"] == 1].reset_index(drop=True)
    lower, upper = density.corrections_of(rows)
    assert (lower.outcome, upper.outcome) == ("holds", "holds")
    long = rows.index[(rows["order"] > 0) & (rows["b"] < 2.0 ** (rows["order"] + 1))][0]
    sparse = rows.assign(cut_least=rows["cut_least"].where(rows.index != long, 0.01))
    assert density.corrections_of(sparse)[0].outcome == "fails"
    dense = rows.assign(cut_above=rows["cut_above"].where(rows.index != long, 1))
    assert density.corrections_of(dense)[1].outcome == "fails"
    short = rows.index[(rows["order"] > 0) & (rows["b"] >= 2.0 ** (rows["order"] + 1))][0]
    dense = rows.assign(cut_above=rows["cut_above"].where(rows.index != short, 1))
    assert density.corrections_of(dense)[1].outcome == "holds"
    assert density.corrections_of(rows.assign(drawn=1))[1].outcome == "undecided"
