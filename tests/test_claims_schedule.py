"""Claims that the schedule alone decides, each with a twin that must fail and one that must hold.

The twin that must hold draws the proof's start rates, which are those of a small block in a large
one; the one that must fail starts nothing but the longest instance.
"""

from __future__ import annotations

import dataclasses
import json
import math
from functools import cache

import numpy as np
import pandas as pd
import pytest

from confee import claims, proofs, theory
from confee.claims import density, idle_runs, ledger, query_runs
from confee.claims.judging import runs
from confee.evidence import Evidence
from confee.simulation.studies import schedules

RUNS = [(idle_runs, "idle", runs.EXPONENTS), (query_runs, "query", query_runs.EXPONENTS)]


def evidence(rows, toy=False):
    empty = pd.DataFrame()
    return Evidence(empty, empty, empty, empty, toy, studies={runs.STUDY: pd.DataFrame(rows)})


@cache
def drawn(rates, horizons=(10**4, 10**6), draws=1000, work=100_000):
    """Drawn blocks along B = T^0.8, T^0.9 and T."""
    frames = [
        pd.DataFrame(schedules.run(**cell, draws=draws, work=work, rates=rates))
        for cell in runs.cells(horizons)
    ]
    return pd.concat(frames, ignore_index=True)


def everything():
    return pd.concat([drawn(rates) for rates in schedules.RATES], ignore_index=True)


def one(verdicts):
    assert len(verdicts) == 1
    return verdicts[0]


# ------------------------------------------------------------------ runs


@pytest.mark.parametrize(("module", "kind", "exponents"), RUNS)
def test_runs_fail_as_drawn_and_hold_with_the_proofs_rates(module, kind, exponents):
    found = one(claims.judge(evidence(everything()), [module.ID]))
    assert found.verdict == "fails"
    assert found.control["failed"] is True
    assert found.interval[1] < proofs.PROOF_CONSTANTS[0]
    assert "P rises where the bound falls" in found.why or "practically 0" in found.why
    assert {s["step"] for s in found.steps} >= {f"B = T^{beta:g}" for beta in exponents}
    assert found.numbers["draws"] > 20_000
    json.loads(ledger.to_json([found]))

    steep = [beta for beta in exponents if beta >= 0.9]
    twin = one(runs.judge(module.ID, kind, evidence(everything()), "", "", steep, rates="proof"))
    assert twin.verdict == "holds", twin.why
    assert twin.control["failed"] is True
    assert twin.interval[0] >= proofs.PROOF_CONSTANTS[0]
    assert twin.decide == ""
    shown = [s for s in found.steps if s["step"].startswith("the proof's") and "0.9" in s["step"]]
    assert [s["outcome"] for s in shown] == ["holds"]


@pytest.mark.parametrize(("module", "kind", "exponents"), RUNS)
def test_runs_without_their_control_are_vacuous(module, kind, exponents):
    found = one(claims.judge(evidence(drawn("paper")), [module.ID]))
    assert (found.verdict, found.control["failed"]) == ("vacuous", None)
    passing = pd.concat([drawn("paper"), drawn("proof").assign(rates="alone")])
    passing[f"{kind}_over_0.5"] = passing[f"{kind}_over_0.5"].where(passing["rates"] != "alone", 0)
    found = one(claims.judge(evidence(passing), [module.ID]))
    assert (found.verdict, found.control["failed"]) == ("vacuous", False)


def test_runs_are_judged_only_where_they_were_drawn():
    for id in ("idle-runs", "query-runs", "density"):
        assert claims.judge(evidence([]), [id]) == []
    full = one(claims.judge(evidence(everything(), toy=True), ["idle-runs"]))
    assert full.horizon.startswith("toy horizon")
    single = everything()
    single = single[single["T"] == 10**4]
    found = one(claims.judge(evidence(single), ["idle-runs"]))
    assert found.verdict == "vacuous"  # its control cannot fail at one horizon either
    assert runs.check(single[single["rates"] == "paper"], "idle").verdict == "undecided"


def synthetic(chances, drawn=20_000, T=(10**5, 10**8), beta=0.8):
    """Rows of one block order at each T, over T/sqrt(B) as often as P says."""
    rows = []
    for horizon, p in zip(T, chances, strict=True):
        B = math.floor(horizon**beta + 1e-6)
        n = theory.last_block(horizon, B)[0] - 1
        b = theory.slot_length(horizon, B)
        rows.append({"T": horizon, "B": B, "exponent": beta, "order": n, "b": b,
                     "rounds": b * 2**n, "rates": "paper", "quota": 1, "drawn": drawn,
                     "idle_over_0.5": round(p * drawn)})  # fmt: skip
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("chances", "expected"),
    [
        ((0.5, 0.9), "fails"),  # rises
        ((0.99, 0.99), "fails"),  # does not rise, but C is 0.003
        ((0.5, 0.5), "undecided"),  # C falls by half, as 1/x does
        ((0.9, 0.89), "undecided"),
        ((0.5, 0.5**2.2), "holds"),  # x doubles: C = 0.22 stays
        ((0.9, 0.9**2.2), "holds"),
        ((0.05, 0.03), "undecided"),  # C falls from 0.95 to 0.56
        ((0.05, 0.002), "holds"),  # C falls not beyond doubt, and is 0.98
    ],
)
def test_the_rule_looks_at_the_trend_of_C(chances, expected):
    found = runs.check(synthetic(chances), "idle")
    assert found.verdict == expected, found.why
    assert found.table["C"].to_numpy() == pytest.approx(
        [-math.log(p) / proofs.run_exponent(T, B) for p, T, B in
         zip(chances, found.table["T"], found.table["B"], strict=True)], rel=0.01
    )  # fmt: skip


def test_few_draws_decide_nothing():
    assert runs.check(synthetic((0.6, 0.8), drawn=15), "idle").verdict == "undecided"
    assert runs.check(synthetic((0.9, 0.9**2.2), drawn=15), "idle").verdict == "undecided"


def test_the_limits_are_exact_and_parts_of_a_study_add_up():
    """Those of another library at 5 % over the number of blocks, and none where it must not be."""
    from statsmodels.stats.proportion import proportion_confint

    for chances in ((0.0, 1.0), (0.3, 0.004)):
        found = runs.limits(synthetic(chances, drawn=500), "idle")
        hits = found["idle_over_0.5"].to_numpy()
        low, high = proportion_confint(hits, 500, alpha=runs.LEVEL / 2, method="beta")
        assert found["p_low"].to_numpy() == pytest.approx(low)
        assert found["p_high"].to_numpy() == pytest.approx(high)
    assert found["C_low"].to_numpy() == pytest.approx(-np.log(high) / found["x"].to_numpy())
    assert found["C_high"].to_numpy() == pytest.approx(-np.log(low) / found["x"].to_numpy())
    twice = runs.limits(pd.concat([synthetic((0.5, 0.9))] * 2), "idle")
    assert twice["drawn"].tolist() == [40_000, 40_000]
    assert twice["p"].tolist() == pytest.approx([0.5, 0.9])


def test_blocks_too_short_for_such_a_run_do_not_count():
    rows = drawn("paper")
    table = runs.limits(rows, "idle")
    kept = set(table[["T", "B", "order"]].itertuples(index=False, name=None))
    for row in rows.itertuples():
        fits = row.rounds > proofs.run_length(row.T, row.B)
        assert ((row.T, row.B, row.order) in kept) <= fits
    assert 0 < len(table) < len(rows)


def test_orders_down_to_a_constant_of_one_half():
    rows = pd.DataFrame(
        {"T": 100, "B": 10, "order": [3, 4, 5, 6], "C_low": [0.9, 0.6, 0.1, 0.7]}
    )  # fmt: skip
    assert runs.safe_orders(rows) == {"T=1e+02, B=10": 2}
    assert runs.safe_orders(rows[:2]) == {"T=1e+02, B=10": 0}


# ------------------------------------------------------------------ density


@cache
def phases():
    """Blocks at b = 20 (B | 2T) and b = 3 (B = T - 1), single and doubled quotas."""
    cells = [{"T": 10**4, "B": 1000, "exponent": 0.75}, {"T": 10**4, "B": 9999, "exponent": 0.99}]
    return pd.concat([
        pd.DataFrame(schedules.run(**cell, draws=400, work=40_000, quota=quota))
        for cell in cells for quota in (1, 2)
    ], ignore_index=True)  # fmt: skip


def test_density_fails_as_printed_and_holds_for_complete_blocks_where_B_divides_2T():
    found = one(claims.judge(evidence(phases()), ["density"]))
    assert found.verdict == "fails"
    assert found.control["failed"] is True
    outcomes = {step["step"]: step["outcome"] for step in found.steps}
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
    assert (found.verdict, found.control["failed"]) == ("holds", True)
    assert found.decide == ""
    few = rows.assign(drawn=rows["drawn"].clip(upper=1))
    found = one(claims.judge(evidence(few), ["density"]))
    assert found.verdict == "undecided"
    found = one(claims.judge(evidence(rows[rows["quota"] == 1]), ["density"]))
    assert (found.verdict, found.control["failed"]) == ("vacuous", None)


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
    """b >= 2^{n+1} (passes it if b is larger: W5 of docs/reading-the-paper.md)."""
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
    needed = module.needs(module.ID, toy).studies
    assert {s.name for s in needed} == {runs.STUDY}
    assert sum(s.seconds for s in needed) < (2 if toy else 60)
    fields = {p.get("rates", "paper") for p in (s.parameters for s in needed)}
    assert fields == ({"paper"} if module is density else set(schedules.RATES))
    for s in needed:
        assert s.parameters["B"] <= s.parameters["T"]


def test_toy_needs_settle_the_machinery():
    """What smoke draws gives a verdict for each of the three, with controls that fail."""
    rows = []
    modules = (idle_runs, density)  # the needs of query_runs are those of idle_runs
    studies = {str(s): s for m in modules for s in m.needs(m.ID, toy=True).studies}
    for study in studies.values():
        rows += schedules.run(**study.parameters)
    toy = dataclasses.replace(evidence(rows), toy=True)
    found = claims.judge(toy, ["idle-runs", "query-runs", "density"])
    assert [v.id for v in found] == ["idle-runs", "query-runs", "density"]
    assert all(v.control["failed"] for v in found)
    assert all(v.horizon.startswith("toy horizon") for v in found)
