"""HyQue at B = T, and the rows of Table 1: twins that must fail and twins that must hold."""

from __future__ import annotations

import json
from functools import cache

import jsonschema
import numpy as np
import pandas as pd
import pytest

from confee import claims, theory
from confee.claims import full_feedback, ledger, table_rows
from confee.claims.full_feedback import LINE, to_rival
from confee.claims.judging.lines import Line, exponents
from confee.evidence import Evidence
from confee.evidence.slopes import axis_of
from confee.policies import POLICIES
from confee.simulation.cells import cell, family
from confee.simulation.play import play_all

EMPTY = pd.DataFrame(columns=["policy", "label", "K", "T", "B", "V", "adversary", "seed", "axis",
                              "part"])  # fmt: skip
RATE, FLAT = theory.EXPONENTS["rate"], theory.EXPONENTS["uniform"]
STATIONARY = theory.EXPONENTS["stationary"]
NANOSECONDS = {"hyque": 170, "master": 190, "rexp3": 130, "cbm_ucb": 150, "uniform": 0}


def judged(id, asked, toy=False):
    found = claims.judge(Evidence(EMPTY, EMPTY, EMPTY, EMPTY, toy=toy, asked=asked), [id])
    assert len(found) == 1
    return found[0]


def played(asks):
    """The runs of some asks, as in asked.parquet; a cell that is asked for twice is played once."""
    rows, known = [], {}
    for ask in asks:
        sizes = {name: getattr(ask, name) for name in "KTBV"}
        key = (str(ask.policy), str(sizes), str(ask.against), ask.seeds)
        if key not in known:
            one = cell(ask.policy, **sizes)
            known[key] = play_all(one, family(ask.against, **sizes), range(ask.seeds))
        rows += [{**row, "ask": ask.tag} for row in known[key]]
    return pd.DataFrame(rows)


def law(tag, label, line, powers, constant=0.5, seeds=4, noise=0.01, seed=1, k_log_k=False):
    """Runs whose worst case is constant K^a V^b B^c T, on the second of three gaps."""
    rng = np.random.default_rng([seed, len(label)])
    rows = []
    for _, _, sizes in line.places():
        K = sizes["K"] * (np.log(sizes["K"]) if k_log_k else 1)
        share = constant * K ** powers["K"] * sizes["B"] ** powers["B"] * sizes["T"] ** powers["T"]
        share *= sizes["V"] ** powers["V"] if sizes["V"] else 1
        for gap, part in ((0.1, 0.7), (0.2, 1.0), (0.3, 0.8)):
            for s in range(seeds):
                regret = share * part * sizes["T"] * np.exp(noise * rng.standard_normal())
                rows.append({"ask": tag, "policy": label, "label": label, **sizes,
                             "adversary": "switching", "adversary.gap": gap, "seed": s,
                             "regret": regret})  # fmt: skip
    return pd.DataFrame(rows)


def together(*frames):
    return pd.concat(frames, ignore_index=True)


# ------------------------------------------------------------------ what is asked for


@pytest.mark.parametrize("toy", [True, False])
def test_both_claims_cost_minutes_and_seconds_in_a_toy(toy):
    seconds, cells = 0.0, {}
    for ask in claims.needs(["full-feedback", "table-rows"], toy).asks:
        sizes = {name: getattr(ask, name) for name in "KTBV"}
        name = ask.policy["name"]
        runs = ask.seeds * len(family(ask.against, **sizes))
        each = 2e-9 * ask.K**2 + 1e-7 if name not in NANOSECONDS else 1e-9 * NANOSECONDS[name]
        cells[name, tuple(sizes.values())] = runs * (1e-3 + ask.B * each)
    seconds = sum(cells.values())
    assert seconds < (2 if toy else 480), {name: sum(v for (n, _), v in cells.items() if n == name)
                                           for name, _ in cells}  # fmt: skip


def test_both_ask_for_the_same_cells_at_B_equal_T():
    cells = [{(a.policy["name"], a.T, a.B, a.V, a.seeds) for a in claims.needs([id], False).asks}
             for id in ("full-feedback", "table-rows")]  # fmt: skip
    assert cells[0] < cells[1]


def test_lines_have_the_spans_that_verdicts_need():
    for line in (LINE, table_rows.STATIONARY[0]):
        budgets = line.points[-5:]
        assert budgets[-1] / budgets[0] > 30
    assert {line.axis for line in table_rows.FULL} == {"T=B", "V", "K"}
    for line in table_rows.FULL:
        assert all(sizes["T"] == sizes["B"] for _, _, sizes in line.places())
    for tag, axis in table_rows.CONTROLS:
        lines = table_rows.FULL if tag == table_rows.ID else table_rows.STATIONARY
        assert axis in {line.axis for line in lines}


# ------------------------------------------------------------------ full feedback


def full(powers, control=FLAT, **others):
    frames = [law("full-feedback", "hyque", LINE, powers),
              law("full-feedback", "uniform", LINE, control, 0.3)]  # fmt: skip
    frames += [law("full-feedback", name, LINE, how) for name, how in others.items()]
    return together(*frames)


def test_hyque_on_the_rate_holds():
    found = judged("full-feedback", full(RATE, rexp3=RATE, master=RATE))
    assert found.verdict == "holds", found.decide
    assert found.control["failed"] is True
    assert [step["outcome"] for step in found.steps] == ["holds"] * 3
    assert found.interval[1] <= 0.03


def test_hyque_off_by_a_tenth_fails():
    found = judged("full-feedback", full({**RATE, "B": RATE["B"] + 0.16}))
    assert found.verdict == "fails", found.measured


def test_a_factor_sqrt_log_is_forgiven():
    runs = full(RATE)
    mine = runs["label"] == "hyque"
    runs.loc[mine, "regret"] *= np.sqrt(np.log(runs.loc[mine, "B"]))
    assert judged("full-feedback", runs).verdict == "holds"


def test_full_feedback_is_vacuous_if_the_control_passes_or_is_missing():
    assert judged("full-feedback", full(RATE, control=RATE)).verdict == "vacuous"
    alone = full(RATE)
    found = judged("full-feedback", alone[alone["label"] == "hyque"])
    assert (found.verdict, found.control["failed"]) == ("vacuous", None)
    assert "master was not played" in found.measured


@cache
def real(labels=("rexp3b", "uniform")):
    """Real runs along B = T at short horizons."""
    line = Line("T=B", (4e3, 9.5e3, 2.3e4, 5.4e4, 1.3e5), V=2, phases=2)
    asks = line.asks("full-feedback", dict.fromkeys(labels, 4), full_feedback.against)
    return line, played(asks)


def test_rexp3_holds_and_uniform_play_fails_on_real_runs(monkeypatch):
    """The policy that must hold, put in HyQue's place: Rexp3 if there is one, else Rexp3B, which
    is it at B = T but for the rounding of its batch."""
    name = "rexp3" if "rexp3" in POLICIES else "rexp3b"
    line, runs = real((name, "uniform"))
    runs = runs.replace({"label": {name: "hyque"}, "policy": {name: "hyque"}})
    monkeypatch.setattr(full_feedback, "LINE", line)
    found = judged("full-feedback", runs)
    assert found.control["failed"] is True, found.control
    assert found.verdict == "holds", found.measured


def test_the_ratio_is_paired_by_path_and_measured_where_it_was_not_chosen():
    """HyQue pays 0.8 times MASTER's regret on every path, give or take 5 %; what a path costs
    varies by half."""
    rng = np.random.default_rng(3)
    rival = law("full-feedback", "master", LINE, RATE, seeds=8, noise=0.5)
    mine = rival.assign(label="hyque", policy="hyque")
    mine["regret"] = 0.8 * mine["regret"] * np.exp(0.05 * rng.standard_normal(len(mine)))
    runs = together(mine, rival)
    found = to_rival(runs, exponents(runs, [LINE])[0], LINE)
    assert [float(point) for point in found] == list(LINE.points)
    for one in found.values():
        assert one["low"] < 0.8 < one["high"] < one["low"] + 0.12
        assert one["worst_over_worst"] == pytest.approx(0.8, abs=0.15)
        assert one["seeds"] == 4 * 8


def test_the_ratio_carries_no_optimism_of_a_maximum():
    """Three adversaries of which none is worse: a maximum on the same seeds would say over 1."""
    rng = np.random.default_rng(4)
    rival = law("full-feedback", "master", LINE, FLAT, seeds=8, noise=0.0)
    rival["regret"] = 1.0 * rival["T"]
    mine = rival.assign(label="hyque", policy="hyque")
    mine["regret"] = mine["regret"] * np.exp(0.3 * rng.standard_normal(len(mine)) - 0.045)
    runs = together(mine, rival)
    found = to_rival(runs, exponents(runs, [LINE])[0], LINE)
    assert np.mean([one["ratio"] for one in found.values()]) == pytest.approx(1, abs=0.05)
    assert all(one["low"] < 1 < one["high"] for one in found.values())


# ------------------------------------------------------------------ the rows of the table


def table(broken=None, by=0.16, controls=True, without=()):
    """Every row on its rate and every control off it; `broken` is (policy, axis)."""
    frames = []
    off = {"T=B": "B", "B": "B", "V": "V", "K": "K"}
    middle = {"B": 1e5, "V": 4.0, "K": 4.0}  # where a broken law meets the other one
    for tag, lines, base in (("table-rows", table_rows.FULL, RATE),
                             (table_rows.STILL, table_rows.STATIONARY, STATIONARY)):  # fmt: skip
        for line in lines:
            for row in table_rows.ROWS.values():
                if row.tag != tag or line.axis not in row.axes or row.policy in without:
                    continue
                how, constant = dict(base), 0.5 if tag == "table-rows" else 2.0
                if broken is not None and broken[0] == row.policy:
                    how[off[broken[1]]] += by
                    constant /= middle[off[broken[1]]] ** by
                k_log_k = row.policy == "rexp3"
                frames.append(law(tag, row.policy, line, how, constant, k_log_k=k_log_k))
            name = table_rows.CONTROLS[tag, line.axis]
            frames.append(law(tag, "uniform", line, FLAT if controls else base))
            if name != "uniform":
                steep = off[line.axis] if controls else "T"
                frames.append(law(tag, name, line, {**base, steep: base[steep] + 1 / 3}, 0.05))
    return together(*frames)


def test_a_table_on_its_rates_holds():
    found = judged("table-rows", table())
    assert found.verdict == "holds", (found.decide, found.measured)
    assert [step["outcome"] for step in found.steps] == ["holds"] * 4
    assert found.control["failed"] is True
    assert all(one["failed"] for one in found.numbers["controls"].values())


@pytest.mark.parametrize(
    ("policy", "axis"),
    [("rexp3", "T=B"), ("rexp3", "K"), ("master", "V"), ("master", "T=B"), ("cbm_ucb", "B"),
     ("cbm_ucb", "K"), ("hyque", "T=B")],
)  # fmt: skip
def test_one_exponent_off_fails_its_row_and_the_table(policy, axis):
    found = judged("table-rows", table((policy, axis)))
    assert found.verdict == "fails", found.measured
    outcomes = {step["step"].split(": ")[1].split(",")[0]: step["outcome"] for step in found.steps}
    assert outcomes.pop(policy) == "fails"
    assert set(outcomes.values()) == {"holds"}
    assert f"({policy})" in found.why
    assert axis in found.control["what"]
    assert found.control["failed"] is True


def test_the_table_is_vacuous_if_controls_pass_and_undecided_without_a_row():
    found = judged("table-rows", table(controls=False))
    assert (found.verdict, found.control["failed"]) == ("vacuous", False)
    found = judged("table-rows", table(without=("cbm_ucb",)))
    assert found.verdict == "undecided"
    assert "cbm_ucb was not played" in found.decide


def test_without_a_wide_gap_uniform_play_would_pass_on_the_stationary_row():
    """What a grid in units of sqrt(K / B) hides, and why WIDEST is in it."""
    line = table_rows.STATIONARY[0]
    uniform = played(line.asks(table_rows.STILL, {"uniform": 2}, table_rows.stationary))
    unit = np.sqrt(uniform["K"] / uniform["B"])
    narrow = uniform[uniform["adversary.gap"] < 5.5 * unit]
    for runs, exponent in ((uniform, 0), (narrow, -0.5)):
        _, found = exponents(runs, [line])
        row = axis_of(found, "uniform", "B", "upper")
        assert row["exponent"] == pytest.approx(exponent, abs=0.01)
        assert row["rate"] == pytest.approx(-0.5)


def test_cells_without_variation_are_held_to_the_stationary_row():
    """And beside others they are out of range: log V would not be a number."""
    lines = table_rows.STATIONARY
    runs = together(*(law("x", "cbm_ucb", line, STATIONARY, 2.0) for line in lines))
    _, found = exponents(runs, lines)
    for axis, exponent in (("B", -0.5), ("K", 0.5)):
        row = axis_of(found, "cbm_ucb", axis, "upper")
        assert [row["rate"], row["theory"]] == pytest.approx([exponent] * 2, abs=0.001)
        assert row["exponent"] == pytest.approx(exponent, abs=0.02)
    mixed = (Line("V", (0, 1, 2, 4, 8), T=1e5, B=1e5),)
    _, found = exponents(law("x", "master", mixed[0], RATE), mixed)
    row = axis_of(found, "master", "V", "upper")
    assert (row["points"], row["left_out"]) == (4, "out of range: V=0")
    assert row["exponent"] == pytest.approx(1 / 3, abs=0.03)


# ------------------------------------------------------------------ for real, at toy size


def test_toy_runs_are_judged_in_the_form_of_the_schema():
    runs = played(claims.needs(["full-feedback", "table-rows"], True).asks)
    found = [judged(id, runs, toy=True) for id in ("full-feedback", "table-rows")]
    assert all("toy horizon" in one.horizon for one in found)
    about = {"experiment": "made-up", "toy": True, "code": "0" * 64}
    files = {name: {"file": name, "sha256": "a" * 64} for name in ("asked", "slopes")}
    validator = jsonschema.Draft202012Validator(json.loads(ledger.SCHEMA.read_text()))
    validator.validate(json.loads(ledger.to_json(found, about, files)))


def test_nothing_is_said_without_runs():
    for id in ("full-feedback", "table-rows"):
        assert claims.judge(Evidence(EMPTY, EMPTY, EMPTY, EMPTY), [id]) == []
