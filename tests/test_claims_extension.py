"""The claims of the extension section: twins that must fail and twins that must hold."""

from __future__ import annotations

import dataclasses
import json
from functools import cache
from itertools import pairwise

import jsonschema
import numpy as np
import pandas as pd
import pytest

from confee import claims
from confee.claims import alg_assumption, density, extension, ledger, schema
from confee.claims.judging import blocks, budget
from confee.core import jit
from confee.core.errors import ConfeeError
from confee.core.size import Size
from confee.evidence import Evidence
from confee.evidence.declared import growth
from confee.paper import theory
from confee.policies import POLICIES
from confee.policies.base import Known
from confee.policies.ucb import UCB1
from confee.simulation.cells import family
from confee.simulation.needs import Draws
from confee.simulation.play import draw_path
from confee.simulation.studies import STUDIES, assumption, near_stationary, schedules
from confee.workflow import jobs
from confee.world.path import known
from support import curves
from support.asked import EMPTY, played
from support.curves import flat, power, rate, times

CASES = list(extension.CASES.values())
TRIED = list(alg_assumption.TRIED.values())
ids = [case.id for case in CASES]
tried_ids = [one.id for one in TRIED]


def one_is_enough(all_of_them, fast):
    """All of them, those but one marked slow: each is played for real, for several seconds."""
    return [
        pytest.param(one, id=one.id, marks=() if one.id == fast else pytest.mark.slow)
        for one in all_of_them
    ]


def made(study: Draws) -> list[dict]:
    """The rows of a study, as its job makes them."""
    return STUDIES[study.name].run(**study.parameters)


# ------------------------------------------------------------------ extension: what is asked for


@pytest.mark.parametrize("case", CASES, ids=ids)
def test_needs_are_what_the_statement_is_about(case):
    asks = claims.needs([case.id], False).asks
    rays = case.rays(False)
    assert rays["B"].B[-1] / rays["B"].B[0] > 30
    assert len(rays["B"].B) >= 6
    assert len(rays["V"].V) >= 5
    for label, ray in rays.items():
        assert ray.variable == label
        places = list(ray.places(label))
        assert all(theory.theorem_range(*p.size) for p in places if p.size.V)
        assert sum(p.size.V == 0 for p in places) == (2 if label == "B" else 1)
        assert all(p.size.B <= 1.3e5 for p in places)
    for ray in case.rays(True).values():
        within = [theory.theorem_range(*p.size) for p in ray.places("") if p.size.V]
        assert np.mean(within) >= 0.5
    assert {a.policy["name"] for a in asks if a.tag != case.id} == {case.labels["restarted"]}
    names = {a.policy["name"] for a in asks}
    assert names == {one["name"] for one in case.policies.values()}
    assert names <= set(POLICIES)
    settings = {POLICIES[name].setting for name in names} - {"arms"}
    assert settings == {case.alg.setting.id}
    assert growth(case.labels["hyque"]).blocks == "slots"
    assert growth(case.uniform).claimed == "uniform"


@pytest.mark.parametrize("toy", [True, False])
def test_they_cost_minutes_and_seconds_in_a_toy(toy):
    """In seconds of HyQue's queries; the measured cost of each is in its case."""
    seconds = {}
    for case in CASES:
        queries = sum(
            a.seeds * a.size.B * len(family(a.against, a.size))
            for a in claims.needs([case.id], toy).asks
            if not a.policy["name"].startswith("uniform")
        )
        seconds[case.id] = queries * case.cost
    for one in TRIED:
        seconds[one.id] = sum(s.seconds for s in claims.needs([one.id], toy).studies)
    assert sum(seconds.values()) < (40 if toy else 1500), seconds


@pytest.mark.parametrize("case", CASES, ids=ids)
def test_the_schedule_has_the_ratios_of_rho(case):
    study = next(s for s in claims.needs([case.id], True).studies)
    chances = study.parameters["chances"]
    last, _ = theory.last_block(study.parameters["T"], study.parameters["B"])
    assert [len(some) for some in chances] == list(range(1, last + 2))
    path = draw_path(*opponent_of(case))
    told = known(path, case.alg.setting.id)
    for n, some in enumerate(chances):
        ratios = [case.alg.rho(2**n, told) / case.alg.rho(2**m, told) for m in range(n + 1)]
        assert some == pytest.approx(ratios, rel=1e-9)
        assert all(0 < a <= b <= 1 for a, b in pairwise(some))
    assert study.parameters["rates"] == case.alg.id


def opponent_of(case):
    """What a path of the case is drawn from, at sizes that are of no consequence."""
    size = Size(case.K, 2000, 900, 1.5)
    return family(case.adversaries([1]), size)[0], size, 7


def test_chances_of_square_roots_are_those_of_the_paper():
    """The study with chances given draws as the one without; only its stream differs."""
    how = {"T": 4000, "B": 700, "exponent": 0.8, "draws": 400, "work": 20_000}
    chances = [[2 ** ((m - n) / 2) for m in range(n + 1)] for n in range(12)]
    plain = pd.DataFrame(schedules.run(**how))
    given = pd.DataFrame(schedules.run(**how, rates="ucb1", chances=chances))
    assert (given["rates"] == "ucb1").all()
    assert "chances" not in given
    assert given["drawn"].tolist() == plain["drawn"].tolist()
    spread = plain["idle_mean"].to_numpy() * 0.1 + 1
    assert (abs(given["idle_mean"] - plain["idle_mean"]) < spread).all()
    once = [[float(m == n) for m in range(n + 1)] for n in range(12)]
    alone = pd.DataFrame(schedules.run(**how, rates="alone"))
    same = pd.DataFrame(schedules.run(**how, rates="one", chances=once))
    assert same["idle_max"].tolist() == alone["idle_max"].tolist()


# ------------------------------------------------------------------ extension: twins


@cache
def drawn(id):
    """Real blocks of the case's schedule, as a toy experiment draws them."""
    return pd.DataFrame([row for s in claims.needs([id], True).studies for row in made(s)])


def inside(rows):
    """The same blocks without a phase outside [B/2T, B/T), but for doubled quotas; enough."""
    mine = rows["quota"] == 1
    rows = rows.copy()
    rows.loc[mine, ["cut_below", "cut_above", "end_below", "end_above", "end_off"]] = 0
    return rows


def ideal(
    case, law=rate, broken=("hyque",), told=None, control=None, misled=None, denied=0, without=()
):
    """HyQue on the rate but for the `broken`, on `law`; what is told V on the rate, or on `told`;
    uniform play flat, or on `control`; the misled one off by 0.4 in V, or on `misled`. Just after
    blocks start there are as many runs as it takes."""
    rays, labels = case.rays(False), case.labels
    laws = {"hyque": rate, "narrow hyque": rate, **dict.fromkeys(broken, law)}
    laws |= dict.fromkeys(("restarted", "narrow restarted"), told or rate)
    laws |= {"uniform": control or flat(0.5), "misled": misled or power(V=0.4)}
    laws = {role: one for role, one in laws.items() if role not in without}
    frames = []
    for seed, (role, one) in enumerate(laws.items()):
        there = {"V": rays["V"]} if role == "misled" else rays
        scaled = one if role == "uniform" else times(lambda K, T, B, V: 0.2, one)
        runs = curves.runs_of(curves.points_of(there, [labels[role]]), scaled, seed=seed)
        name = case.policies["restarted" if role == "misled" else role]["name"]
        tag = f"{case.id}/misled" if role == "misled" else case.id
        runs = runs.assign(ask=tag, policy=name)
        frames.append(runs if role != "misled" else runs.assign(label=labels["restarted"]))
    for ask in budget.just_started(case.id, case.policies["hyque"], case.K, case.V, {}, False):
        sizes = ask.size._asdict()
        for gap in (0.05, 0.1, 0.15):
            frames.append(
                pd.DataFrame(
                    {
                        "ask": case.id,
                        "policy": labels["hyque"],
                        "label": labels["hyque"],
                        **sizes,
                        "adversary": "switching",
                        "adversary.gap": gap,
                        "seed": range(ask.seeds),
                        "regret": (0.1 + gap if gap == 0.1 else 0.1) * ask.size.T,
                    }
                )
            )
    asked = pd.concat(frames, ignore_index=True)
    asked["queries"], asked["denied"] = asked["B"], 0
    asked.loc[asked.index[-1], "denied"] = denied
    return asked


def judged(id, asked, studies=None, toy=False):
    studies = {} if studies is None else {blocks.STUDY: studies}
    evidence = Evidence(EMPTY, EMPTY, EMPTY, EMPTY, toy=toy, asked=asked, studies=studies)
    (found,) = claims.judge(evidence, [id])
    return found


@pytest.fixture(params=CASES, ids=ids)
def case(request):
    return request.param


@pytest.fixture
def first():
    """One case: from runs on, the cases share all that is judged."""
    return CASES[0]


def many(rows):
    """As if ten times as many blocks had been drawn."""
    return pd.concat([rows] * 10, ignore_index=True)


def outcomes(found):
    return {step.step: step.outcome for step in found.steps}


def ray_step(case, role, variable, found):
    """The step of a role's ray along a variable."""
    start = f"{case.labels[role]}, {variable} at"
    (step,) = (step for step in found.steps if step.step.startswith(start))
    return step


def test_all_on_the_rate_holds(case):
    found = judged(case.id, ideal(case), many(inside(drawn(case.id))))
    assert found.as_printed == "holds", (found.decide, found.measured)
    assert found.control.as_expected is True
    assert all(one["as_expected"] for one in found.numbers["controls"].values())
    assert outcomes(found)["budget"] == "holds"
    for role in ("hyque", "narrow hyque"):
        for variable in "BV":
            step = ray_step(case, role, variable, found)
            assert step.outcome == "holds", step.note
            assert "positive control" in step.note
            assert "negative control" in step.note
    assert found.seeds > 0
    assert found.interval[1] <= 0.03


def test_an_exponent_off_fails(case):
    """0.2 beyond the rate in B: a factor sqrt(ln B), 0.05, is forgiven."""
    found = judged(case.id, ideal(case, power(B=0.2)), inside(drawn(case.id)))
    assert (found.as_printed, found.control.as_expected) == ("fails", True), found.measured
    assert (found.severity, found.gloss) == ("horizon", "not met at the horizons simulated")
    assert found.control.what.startswith(f"{case.labels['uniform']}, B at")
    assert found.why.startswith(f"{case.labels['hyque']}: B at")
    assert ray_step(case, "narrow hyque", "B", found).outcome == "holds"


@pytest.mark.parametrize("broken", ["hyque", "narrow hyque"])
def test_an_exponent_off_in_V_fails(first, broken):
    found = judged(first.id, ideal(first, power(V=0.2), (broken,)), inside(drawn(first.id)))
    assert (found.as_printed, found.control.as_expected) == ("fails", True), found.measured
    assert found.control.what.startswith(f"{first.labels['misled']}, V at")
    assert found.why.startswith(f"{first.labels[broken]}: V at")


@pytest.mark.parametrize("law", [rate, power(B=0.2)])
def test_where_what_is_told_V_fails_as_well_nothing_is_shown(first, law):
    asked = ideal(first, law, told=power(B=0.2))
    found = judged(first.id, asked, many(inside(drawn(first.id))))
    assert (found.as_printed, found.control.as_expected) == ("undecided", True), found.measured
    assert f"the positive control {first.labels['restarted']} is fails" in found.why
    for role in ("hyque", "narrow hyque"):
        assert ray_step(first, role, "B", found).outcome == "undecided"
        assert ray_step(first, role, "V", found).outcome == "holds"
    told = [s for s in found.steps if s.step.startswith("for comparison: ")]
    assert any(first.labels["restarted"] in s.step for s in told)


def test_one_wish_past_the_budget_fails(first):
    found = judged(first.id, ideal(first, denied=3), many(inside(drawn(first.id))))
    assert (found.as_printed, found.control.as_expected) == ("fails", True)
    assert "more than B queries" in found.why
    assert found.numbers["budget"]["overspending"] == 1


def test_one_phase_outside_fails(first):
    rows = many(inside(drawn(first.id)))
    rows.loc[rows.index[(rows["quota"] == 1) & (rows["order"] > 2)][0], "cut_below"] = 1
    found = judged(first.id, ideal(first), rows)
    assert (found.as_printed, found.control.as_expected) == ("fails", True)
    assert "phases outside" in found.why


def test_it_is_open_without_enough_phases_and_vacuous_without_doubled_quotas(first):
    found = judged(first.id, ideal(first))
    assert found.as_printed == "vacuous"  # no doubled quotas
    few = inside(drawn(first.id))
    found = judged(first.id, ideal(first), few[few["order"] == 1])
    assert found.as_printed == "undecided"
    assert "phases" in found.decide


@pytest.mark.parametrize(("role", "law"), [("control", rate), ("misled", rate)])
def test_it_is_open_where_a_control_of_its_exponents_passes_or_is_missing(first, role, law):
    name = {"control": "uniform"}.get(role, role)
    for how in ({role: law}, {"without": (name,)}):
        found = judged(first.id, ideal(first, **how), many(inside(drawn(first.id))))
        assert found.as_printed == "undecided"
        assert f"the negative control {first.labels[name]}" in found.why


def test_nothing_is_said_without_runs():
    for id in (*extension.CASES, *alg_assumption.TRIED):
        assert claims.judge(Evidence(EMPTY, EMPTY, EMPTY, EMPTY), [id]) == []
        assert claims.CLAIMS[id].speaks_of[0].startswith("hyque_")


# ------------------------------------------------------------------ extension: for real


@pytest.mark.parametrize("case", one_is_enough(CASES, "extension/episodic"))
def test_a_toy_is_played_and_judged_in_the_form_of_the_schema(case):
    asks = claims.needs([case.id], True).asks
    toy = [a for a in asks if a.size.B < 1500 or a.size.V == case.V / 4]
    asked = played([dataclasses.replace(a, seeds=2, against=fewer(a.against)) for a in toy])
    found = judged(case.id, asked, drawn(case.id), toy=True)
    assert "toy horizon" in found.horizon
    assert found.numbers["budget"]["runs"] > 0
    assert set(found.numbers["over_the_rate"]) == {"B", "V"}
    about = {"experiment": "made-up", "toy": True, "code": "0" * 64}
    files = {name: {"file": name, "sha256": "a" * 64} for name in ("asked", "studies/schedules")}
    validator = jsonschema.Draft202012Validator(schema.schema())
    validator.validate(json.loads(ledger.to_json([found], about, files)))


def test_the_picture_shows_each_setting_and_role(first):
    from confee.rendering.figures import extensions

    assert {one.alg.setting.id for one in CASES} == set(extensions.BASES)
    asked = ideal(first)
    worst, points = extension.drawn_from(asked, False)
    assert set(worst["setting"]) == set(points["setting"]) == {first.alg.setting.id}
    assert {"hyque", "narrow hyque", "restarted", "uniform"} <= set(worst["role"])
    assert set(points["axis"]) == {"B", "V"}
    assert len(extensions.draw(worst, points).axes) == 2


def fewer(against):
    return {label: {**conf, "strength": ["ceiling"]} for label, conf in against.items()}


def test_kernels_are_compiled_by_toys_of_the_setting(case):
    """What a job does before it plays: see workflow.jobs."""
    for role in case.policies:
        jobs._compile(case.policies[role]["name"])
    jobs._compile(case.tried.study)


def test_misled_is_the_restarted_algorithm_told_the_least_V(case):
    """The numbers of its kernel are those of the policy told that V."""
    tag = f"{case.id}/misled"
    asks = [a for a in claims.needs([case.id], False).asks if a.tag == tag]
    restarted = POLICIES[case.labels["restarted"]]
    least = case.rays(False)["V"].V[0]
    path = assumption.nearly_still(case.alg, 10, "equal", 0.5, 0.0, case.tried.sizes[0])[0]
    told = known(path, case.alg.setting.id)
    for a in asks:
        options = {name: value for name, value in a.policy.items() if name != "name"}
        _, T, B, V = a.size
        found = restarted.arguments(Known(told, T, B, V), restarted.options(**options))
        options["rate_scale"] = 1.0
        same = restarted.arguments(Known(told, T, B, least), restarted.options(**options))
        assert found[-1] == pytest.approx(same[-1])
        assert found[-1] < 1
    assert len({a.size.V for a in asks}) >= 5


# ------------------------------------------------------------------ the assumption: the study


@pytest.mark.parametrize("world", assumption.WORLDS)
@pytest.mark.parametrize("one", TRIED, ids=tried_ids)
def test_worlds_are_what_they_say_and_meet_the_premise_at_every_round(one, world):
    gap, T = (0.1 if world in ("better", "overtaken") else 0.0), 3000
    for sizes in one.sizes:
        path, spent = assumption.nearly_still(one.alg, T, world, 0.5, gap, sizes)
        told = known(path, one.alg.setting.id)
        rho = one.alg.rho(T, told)
        if world in ("equal", "better"):
            assert path.variation() == 0
        else:
            full = rho if rho < 0.3 else 0.3  # or all that the level or the gap has
            assert 0.3 * full < path.variation() <= rho * (1 + 1e-9)
        assert spent[-1] == path.variation()
        assert (np.diff(spent) >= 0).all()
        assert len(spent) == len(path.start) - 1
        top = path.top if hasattr(path, "top") else path.mean.max(axis=1)
        if world == "exchange":
            assert np.ptp(top) < 1e-9
        if world in ("fall", "drop"):
            assert (np.diff(top) < 0).all()
        if world == "better":
            assert top[0] == pytest.approx(0.6)


@cache
def over_ucb1():
    return jit.over(assumption.watch, __name__, **UCB1.calls)


def test_over_ucb1_it_is_the_study_of_the_lemma():
    """The same kernel but for the algorithm, which near_stationary calls by other names; that one
    is tested against a plain second writing."""
    for world, gap in (("equal", 0.0), ("drop", 0.0), ("overtaken", 0.1), ("exchange", 0.0)):
        path, spent = assumption.nearly_still(UCB1, 2000, world, 0.5, gap, {"K": 3})
        rows = UCB1.setting.game.new_world(path)
        tops = np.append(path.mean.max(axis=1), 0.0)
        mine = over_ucb1()(
            rows, assumption.new_ledger(), 3, 2.0, tops, spent, 2000, np.random.default_rng(5)
        )
        theirs = near_stationary.watch(rows, 3, 2000, 2.0, np.random.default_rng(5))
        assert mine == pytest.approx(theirs, rel=1e-9, abs=1e-9)
        assert mine[-1] == 2000


def test_rounds_with_more_variation_than_rho_are_not_looked_at():
    pieces = [assumption.Piece(1, 0.5), assumption.Piece(500, 0.1)]
    path = assumption.arms(pieces, 2000, 2)
    rows = UCB1.setting.game.new_world(path)
    found = over_ucb1()(
        rows,
        assumption.new_ledger(),
        2,
        2.0,
        np.array([0.5, 0.1, 0.0]),
        np.array([0.0, 0.4]),
        2000,
        np.random.default_rng(0),
    )
    assert theory.rho(500, 2) < 0.4
    assert found[-1] == 499


@pytest.mark.parametrize("one", TRIED, ids=tried_ids)
def test_a_study_says_where_it_was_made_and_draws_the_same_again(one):
    study = claims.needs([one.id], True).studies[0]
    parameters = {**study.parameters, "T": 200, "runs": 2}
    rows = made(Draws(study.name, parameters))
    assert rows == made(Draws(study.name, parameters))
    assert [row["run"] for row in rows] == [0, 1]
    assert all(study.parameters["sizes"].items() <= row.items() for row in rows)
    assert all(row["rounds"] == 200 for row in rows)
    with pytest.raises(ConfeeError, match=r"options\.nonsense"):
        made(Draws(study.name, {**parameters, "options": {"nonsense": 1}}))


# ------------------------------------------------------------------ the assumption: twins


@cache
def watched(id):
    """Real draws, as a toy experiment makes them."""
    return pd.DataFrame([row for s in claims.needs([id], True).studies for row in made(s)])


def verdict(one, rows, **rest):
    evidence = Evidence(EMPTY, EMPTY, EMPTY, EMPTY, toy=True, studies={one.study: rows})
    found = alg_assumption.judge(one, evidence, **rest)
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize("one", TRIED, ids=tried_ids)
def test_with_a_large_constant_it_holds_on_real_draws(one):
    found = verdict(one, watched(one.id), constant=40.0)
    assert (found.as_printed, found.decide) == ("holds", ""), found.measured
    assert found.control.as_expected is True
    assert all(step.outcome == "holds" for step in found.steps if "rho(t)" in step.step)
    assert found.numbers["needed"] > 0


@pytest.mark.parametrize("one", one_is_enough(TRIED, "alg-assumption/q_ucb"))
def test_without_bonus_it_fails(one):
    rows = watched(one.id)
    bare, wide = (rows[rows["variant"] == name] for name in ("bare", "wide"))
    found = verdict(one, pd.concat([bare.assign(variant="theory"), bare, wide]), constant=40.0)
    assert found.as_printed == "fails"
    assert found.numbers["first"]["outcome"] == "fails"
    assert "first inequality fails" in found.decide


@pytest.mark.parametrize("one", TRIED, ids=tried_ids)
def test_more_excess_than_the_constant_fails(one):
    rows = watched(one.id)
    found = verdict(one, rows.assign(needed=rows["needed"] + 50), constant=40.0)
    assert found.as_printed == "fails"
    assert "no constant up to" in found.decide


@pytest.mark.parametrize("one", TRIED, ids=tried_ids)
def test_it_is_vacuous_without_its_control_and_open_on_few_runs(one):
    rows = watched(one.id)
    found = verdict(one, rows[rows["variant"] != "bare"], constant=40.0)
    assert (found.as_printed, found.control.as_expected) == ("vacuous", None)
    found = verdict(one, rows.assign(short=-1.0), constant=40.0)
    assert (found.as_printed, found.control.as_expected) == ("vacuous", False)
    found = verdict(one, rows[rows["variant"] != "wide"], constant=40.0)
    assert (found.as_printed, found.controls[1].as_expected) == ("vacuous", None)
    few = rows[(rows["run"] < 10) | rows["variant"].isin(["bare", "wide"])]
    assert verdict(one, few, constant=40.0).as_printed == "undecided"


def test_density_of_nothing_is_open():
    assert density.NOTHING.verdict == "undecided"
