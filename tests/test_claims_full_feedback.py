"""HyQue at B = T, and the rows of Table 1: twins that must fail and twins that must hold."""

from __future__ import annotations

import json

import jsonschema
import numpy as np
import pandas as pd
import pytest

from confee import claims
from confee.claims import ledger, schema, table_rows
from confee.claims.full_feedback import full_rays, to_rival
from confee.claims.judging.lines import asks
from confee.claims.judging.lines import curves as curves_of
from confee.claims.judging.rates import ray_checks
from confee.evidence import Evidence, slopes
from confee.paper import theory
from confee.simulation.cells import family
from confee.simulation.grid import Ray
from support import curves
from support.asked import EMPTY, played
from support.curves import axis_of, flat, power, rate, times


def nanoseconds(policy, K):
    """What a query takes, about."""
    return {"uniform": 0, "sw_ucb_copied": 40 + 1.3 * K**2}.get(policy, 30 + 2 * K)


def judged(id, asked=None, toy=False, worst=EMPTY, points=EMPTY, regret=EMPTY):
    found = claims.judge(Evidence(regret, worst, EMPTY, points, toy=toy, asked=asked), [id])
    assert len(found) == 1
    return found[0]


def together(*frames):
    return pd.concat(frames, ignore_index=True)


# ------------------------------------------------------------------ what is asked for


@pytest.mark.parametrize("toy", [True, False])
def test_the_table_costs_minutes_and_seconds_in_a_toy(toy):
    cells = {}
    for ask in claims.needs(["full-feedback", "table-rows"], toy).asks:
        name = ask.policy["name"]
        runs = ask.seeds * len(family(ask.against, ask.size))
        each = 1e-9 * nanoseconds(name, ask.size.K)
        cells[name, ask.size] = runs * (1e-3 + ask.size.B * each)
    seconds = sum(cells.values())
    assert seconds < (2 if toy else 480), {
        name: sum(v for (n, _), v in cells.items() if n == name) for name, _ in cells
    }


def test_full_feedback_rests_on_rays_that_the_table_rests_on_too():
    sweeps = [
        {(s.policy["name"], v) for s in claims.needs([id], False).sweeps for v in s.rays}
        for id in ("full-feedback", "table-rows")
    ]
    assert sweeps[0] <= sweeps[1]
    assert claims.needs(["full-feedback"], False).asks == ()


def test_rays_have_the_spans_and_the_places_that_verdicts_need():
    (still,) = table_rows.STILL_RAYS.values()
    assert still.B[-1] / still.B[0] > 30
    assert not any(still.V)
    for ray in table_rows.FULL.values():
        assert all(place.size.T == place.size.B for place in ray.places(""))
        assert all(theory.theorem_range(*place.size) for place in ray.places("") if place.size.V)
    budgets = [ray.B[0] for ray in table_rows.FULL.values() if ray.variable == "K"]
    assert len(budgets) == 2
    assert max(budgets) / min(budgets) == 4


# ------------------------------------------------------------------ full feedback

FULL = {name: curves.RAYS[name] for name in ("B=T, V=4", "B=T, V=64")}


def full(law=rate, changed=None, rivals=None, runs=None, **how):
    """The verdict on a policy of this law at B = T beside controls, and beside MASTER on its."""
    others = {"master": rate} if rivals is None else rivals
    tables = curves.played(
        "hyque", law, FULL | {"B": curves.RAYS["B, V=4"]}, {**others, **(changed or {})}, **how
    )
    if runs is None:
        runs = pairs_of(rate, noise=0.01)
    return judged("full-feedback", worst=tables[0], points=tables[1], regret=runs)


def pairs_of(law, ratio=0.8, noise=0.5, spread=0.05, seeds=8):
    """Runs of MASTER at B = T, and of HyQue with `ratio` times its regret on every path."""
    rng = np.random.default_rng(3)
    rival = curves.runs_of(curves.points_of(FULL, ["master"]), law, noise, seeds=seeds)
    factor = ratio * np.exp(spread * rng.standard_normal(len(rival)) - spread**2 / 2)
    mine = rival.assign(label="hyque", policy="hyque", regret=rival["regret"] * factor)
    return together(mine, rival)


def test_hyque_on_the_rate_is_consistent():
    found = full()
    assert found.as_printed == "consistent", found.why
    assert found.control.as_expected is True
    assert [step.outcome for step in found.steps] == ["holds"] * 4  # two are MASTER's
    assert found.interval[1] <= 0.03
    assert {name for name in found.numbers if name[0] == "B"} == {"B at V=4, T=B", "B at V=64, T=B"}


def test_only_rays_at_B_equal_T_count():
    """Off the rate at T/B = 10 alone."""
    law = times(lambda K, T, B, V: np.where(T > B, (B / 1e5) ** 0.3, 1.0))
    assert full(law).as_printed == "consistent"
    _, points = curves.played("hyque", rate)
    assert full_rays(points) == ["B=T, V=4", "B=T, V=64"]


def test_hyque_off_by_012_beyond_the_log_fails():
    """A factor sqrt(ln B), which is forgiven, is 0.04 of these."""
    found = full(power(B=0.16))
    assert found.as_printed == "fails", found.measured
    assert found.control.as_expected is True


def test_a_factor_sqrt_log_is_forgiven():
    assert full(times(lambda K, T, B, V: np.sqrt(np.log(B)))).as_printed == "consistent"


@pytest.mark.parametrize(("control", "wrong"), [("sw_ucb", power(B=0.3)), ("random_restart", rate)])
def test_full_feedback_is_undecided_if_a_control_comes_out_wrong_or_is_missing(control, wrong):
    for changed in (wrong, None):
        for law in (rate, power(B=0.2)):
            found = full(law, {control: changed})
            assert found.as_printed == "undecided"
            assert control in found.why
    alone = full(rivals={}, runs=EMPTY)
    assert "master was not simulated" in alone.measured


def test_rexp3_keeps_the_rate_and_the_controls_come_out_on_real_runs():
    rays = {"B": Ray([2], [4000 * 2**k for k in range(6)], [2], [1], still=("still",))}
    labels = dict.fromkeys(("rexp3", "sw_ucb", "random_restart", "uniform"), 4)
    worst, points = curves_of(played(asks(rays, "x", labels, table_rows.against)), rays)
    (check,) = ray_checks(worst, points, "rexp3", table_rows.ROWS["Besbes et al. 2014"].claimed)
    assert check.exponent == pytest.approx(-1 / 3, abs=0.05), check.text
    assert check.controls["positive"]["verdict"] == "holds", check.why
    assert check.controls["negative"]["verdict"] == "fails", check.why
    assert check.verdict != "fails"


def test_the_ratio_is_paired_by_path_and_measured_where_it_was_not_chosen():
    """HyQue pays 0.8 times MASTER's regret on every path, give or take 5 %; what a path costs
    varies by half."""
    points = curves.points_of(FULL, ["hyque", "master"])
    found = to_rival(pairs_of(rate), points, list(FULL))
    assert list(found) == [f"V={ray.V[0]}, T={B:.3g}" for ray in FULL.values() for B in ray.B]
    for one in found.values():
        assert one["low"] < 0.8 < one["high"] < one["low"] + 0.12
        assert one["seeds"] == 2 * 8


def test_the_ratio_carries_no_optimism_of_a_maximum():
    """Three adversaries of which none is worse: a maximum on the same seeds would say over 1."""
    runs = pairs_of(rate, ratio=1.0, noise=0.0, spread=0.3)
    runs["regret"] /= runs.groupby(["K", "T", "B", "V", "adversary.gap"])["regret"].transform("max")
    rival = runs[runs["label"] == "master"].assign(regret=1.0)
    rng = np.random.default_rng(4)
    noise = np.exp(0.3 * rng.standard_normal(len(rival)) - 0.045)
    mine = rival.assign(label="hyque", policy="hyque", regret=noise)
    points = curves.points_of(FULL, ["hyque", "master"])
    found = to_rival(together(mine, rival), points, list(FULL))
    assert np.mean([one["ratio"] for one in found.values()]) == pytest.approx(1, abs=0.05)
    assert all(one["low"] < 1 < one["high"] for one in found.values())


# ------------------------------------------------------------------ the rows of the table


def still_rate(K, T, B, V):
    """2 sqrt(K/B), the stationary row."""
    return 2 * np.sqrt(K / B)


LAWS = {"rexp3": rate, "master": rate, "hyque": rate, "cbm_ucb": still_rate, "ucb1": still_rate}


def table(changed=None, variables="VBKT"):
    """The verdict on a table whose rows are on their laws but for `changed`: label -> a law, or
    None to leave it out. `variables`: along which the experiment has rays."""
    laws = {**LAWS, **curves.IDEAL, **curves.BROKEN, **(changed or {})}
    asked, asks_of = [], {}
    for ask in claims.needs(["table-rows"], False).asks:
        asks_of.setdefault((ask.tag, ask.policy["name"]), {})[ask.size] = ask.seeds
    for (tag, label), cells in asks_of.items():
        if laws[label]:
            points = pd.DataFrame([size._asdict() for size in cells])
            points = points.assign(label=label, policy=label)
            scale = 1.0 if label == "uniform" or tag != "table-rows" else 0.1
            law = times(lambda K, T, B, V, scale=scale: scale, laws[label])
            asked.append(curves.runs_of(points, law, seeds=2).assign(ask=tag))
    rays = {name: ray for name, ray in curves.RAYS.items() if ray.variable in variables}
    rivals = {name: laws[name] for name in (*curves.IDEAL, *curves.BROKEN, "rexp3", "master")}
    frames = [curves.played("hyque", laws["hyque"], rays, rivals)] if laws["hyque"] else []
    worst, points = frames[0] if frames else (EMPTY, EMPTY)
    return judged("table-rows", together(*asked), worst=worst, points=points)


def rows_of(found):
    """Policy -> the outcome of its row."""
    titles = {step.step.partition(": ")[2].partition(",")[0]: step for step in found.steps}
    names = {row.name.partition(",")[0]: row.policy for row in table_rows.ROWS.values()}
    return {names[title]: step.outcome for title, step in titles.items()}


@pytest.fixture
def fires(monkeypatch):
    """As if MASTER's tests could fire at the horizons of the table."""
    monkeypatch.setattr(table_rows, "master_fires", lambda checks: True)


def test_a_table_on_its_rates_is_open_where_nothing_can_be_judged():
    """MASTER's tests cannot fire, and what O~ hides forgives too much along B and K."""
    found = table()
    assert found.as_printed == "undecided"
    assert rows_of(found) == {
        "rexp3": "consistent",
        "master": "vacuous",
        "cbm_ucb": "consistent",
        "hyque": "undecided",
    }
    assert "MASTER over UCB1: no change test can fire below" in found.decide
    open_ones = {
        name: numbers["why"]
        for name, numbers in found.numbers["hyque"].items()
        if numbers["verdict"] != "holds"
    }
    assert {name[0] for name in open_ones} == {"B", "K"}
    assert all("logarithms of the statement allow" in why for why in open_ones.values())


def test_a_table_on_its_rates_is_consistent_where_all_can_be_judged(fires, monkeypatch):
    along_V = {name: ray for name, ray in table_rows.FULL.items() if ray.variable == "V"}
    monkeypatch.setattr(table_rows, "FULL", along_V)
    found = table(variables="V")
    assert found.as_printed == "consistent", (found.decide, found.why)
    assert set(rows_of(found).values()) == {"consistent"}
    assert found.control.as_expected is True


SLOW_BANDIT = times(lambda K, T, B, V: (B / 1e4) ** 0.2, still_rate)


@pytest.mark.parametrize(
    ("policy", "law"),
    [
        ("rexp3", power(B=0.16)),
        ("rexp3", power(V=0.16)),
        ("rexp3", power(K=0.6)),
        ("master", power(V=0.16)),
        ("cbm_ucb", SLOW_BANDIT),
        ("hyque", power(V=0.16)),
    ],
)
def test_one_exponent_off_fails_its_row_and_the_table(fires, policy, law):
    found = table({policy: law})
    assert found.as_printed == "fails", found.measured
    outcomes = rows_of(found)
    assert outcomes.pop(policy) == "fails"
    assert "fails" not in outcomes.values()
    name = next(row.name for row in table_rows.ROWS.values() if row.policy == policy)
    assert found.why.startswith(name)
    assert found.control.as_expected is True


def test_a_row_of_a_policy_whose_tests_cannot_fire_never_fails():
    assert rows_of(table({"master": power(B=0.3, V=0.3)}))["master"] == "vacuous"


@pytest.mark.parametrize(
    ("control", "wrong", "row"),
    [
        ("ucb1", flat(0.1), "cbm_ucb"),
        ("uniform", still_rate, "cbm_ucb"),
        ("sw_ucb", power(V=0.4, B=0.3), "rexp3"),
        ("sw_ucb_misled", rate, "rexp3"),
    ],
)
def test_a_row_is_undecided_if_a_control_comes_out_wrong_or_is_missing(control, wrong, row):
    for changed in (wrong, None):
        found = table({control: changed}, variables="V")
        assert rows_of(found)[row] == "undecided"
        policy = next(one.policy for one in table_rows.ROWS.values() if one.policy == row)
        whys = [numbers["why"] for numbers in found.numbers[policy].values()]
        assert any(control in why for why in whys)


def test_the_table_is_undecided_without_a_row():
    found = table({"cbm_ucb": None})
    assert found.as_printed == "undecided"
    assert "CBM-UCB, our constants was not simulated" in found.decide


def test_without_a_wide_gap_uniform_play_would_pass_on_the_stationary_row():
    """What a grid in units of sqrt(K / B) hides, and why WIDEST is in it."""
    (ray,) = table_rows.STILL_RAYS.items()
    rays = dict([ray])
    uniform = played(asks(rays, table_rows.STATIONARY, {"uniform": 2}, table_rows.against))
    unit = np.sqrt(uniform["K"] / uniform["B"])
    narrow = uniform[uniform["adversary.gap"] < 5.5 * unit]
    for runs, exponent in ((uniform, 0), (narrow, -0.5)):
        row = axis_of(slopes(*curves_of(runs, rays)), "uniform", ray[0], "ray")
        assert row["exponent"] == pytest.approx(exponent, abs=0.01)
        assert row["rate"] == pytest.approx(-0.5)


def test_cells_without_variation_are_held_to_the_stationary_row():
    """Where nothing else is played; beside other V they say what overhead is."""
    rays = {"B": table_rows.STILL_RAYS["B at V=0"], "V": table_rows.FULL["V at T=B"]}
    frames = [
        curves.runs_of(curves.points_of({name: ray}, [label]), law).assign(ask="x")
        for name, ray, label, law in (
            ("B", rays["B"], "cbm_ucb", still_rate),
            ("V", rays["V"], "master", rate),
        )
    ]
    fitted = slopes(*curves_of(together(*frames), rays))
    row = axis_of(fitted, "cbm_ucb", "B", "ray")
    assert [row["rate"], row["theory"]] == pytest.approx([-0.5] * 2, abs=0.001)
    assert row["exponent"] == pytest.approx(-0.5, abs=0.02)
    row = axis_of(fitted, "master", "V", "ray")
    assert (row["points"], row["left_out"]) == (7, "")
    assert row["exponent"] == pytest.approx(1 / 3, abs=0.03)


# ------------------------------------------------------------------ for real, at toy size


def test_toy_runs_are_judged_in_the_form_of_the_schema():
    runs = played(claims.needs(["full-feedback", "table-rows"], True).asks)
    found = judged("table-rows", runs, toy=True)
    assert "toy horizon" in found.horizon
    about = {"experiment": "made-up", "toy": True, "code": "0" * 64}
    names = ("asked", "worst", "points")
    files = {name: {"file": name, "sha256": "a" * 64} for name in names}
    validator = jsonschema.Draft202012Validator(schema.schema())
    validator.validate(
        json.loads(
            ledger.to_json(
                [found, full()], about, files | {"regret": {"file": "regret", "sha256": "a" * 64}}
            )
        )
    )


def test_nothing_is_said_without_runs():
    for id in ("full-feedback", "table-rows"):
        assert claims.judge(Evidence(EMPTY, EMPTY, EMPTY, EMPTY), [id]) == []
