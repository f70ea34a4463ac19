"""Each claim with its two twins, one that must fail and one that must not, and the ledger."""

from __future__ import annotations

import dataclasses
import json
import math

import jsonschema
import numpy as np
import pandas as pd
import pytest

from confee import claims, simulate
from confee.claims import hyque_budget, ledger, rexp3b_budget, schema
from confee.claims.judging import budget
from confee.claims.judging import finding as findings
from confee.evidence import Evidence
from confee.paper import theory
from confee.simulation import cells as simulated
from confee.simulation.play import play_all
from support import curves
from support.curves import power, rate, times


def evidence(worst=None, points=None, regret=None, **rest):
    """Evidence from worst cases or from runs."""
    empty = pd.DataFrame(columns=["policy"])
    blank = pd.DataFrame(columns=["label", "policy", "K", "T", "B", "V", "adversary", "seed"])
    return Evidence(
        regret=blank if regret is None else regret,
        worst=empty if worst is None else worst,
        slopes=empty,
        points=empty if points is None else points,
        **rest,
    )


def one(verdicts):
    assert len(verdicts) == 1
    return verdicts[0]


# ------------------------------------------------------------------ rates

RATES = {
    "hyque-rate/theory": "hyque",
    "hyque-rate/calibrated": "hyque_calibrated",
    "hyque-rate/tuned": "hyque_tuned",
    "rexp3b-rate": "rexp3b",
}

OFF = {
    "V": power(V=0.12),
    "B": power(B=0.12),
    "K": power(K=0.12),
    "T": times(lambda K, T, B, V: (T / B) ** 0.2),
}
"""Off the rate along one variable."""

FORGIVEN_ARMS = power(K=0.35)
"""Off along K by more than Rexp3B's theorem has by (ln K)^{1/3}: 0.18 from 2 to 32 arms."""

RAYS = {name: curves.RAYS[name] for name in ("V", "B, V=4", "K, B=1.3e5", "K, B=5e5", "T")}


def judged(id, law=rate, changed=None, **how):
    """The verdict on a policy of this law beside its controls, which have known ones."""
    tables = curves.played(RATES.get(id, "hyque"), law, RAYS, changed or {}, **how)
    return one(claims.judge(evidence(*tables), [id]))


@pytest.mark.parametrize("id", RATES)
def test_a_policy_on_the_rate_is_consistent(id):
    found = judged(id)
    assert (found.id, found.as_printed) == (id, "consistent"), found.why
    assert found.control.as_expected is True
    assert found.positive.as_expected is True
    assert found.interval[1] <= 0.03
    assert found.seeds == 16
    assert {name.partition(" ")[0] for name in found.numbers if name != "p_holm"} == {*"VBKT"}
    assert len(found.steps) == len(found.numbers) - 1 == 4
    assert found.numbers["p_holm"] == found.p_value < 0.025


@pytest.mark.parametrize(
    ("id", "variable", "law"),
    [
        *(("hyque-rate/theory", variable, law) for variable, law in OFF.items()),
        ("hyque-rate/calibrated", "B", OFF["B"]),
        ("hyque-rate/tuned", "V", OFF["V"]),
        ("rexp3b-rate", "B", OFF["B"]),
        ("rexp3b-rate", "K", FORGIVEN_ARMS),
    ],
)
def test_a_rate_fails_if_one_exponent_is_off(id, variable, law):
    found = judged(id, law)
    assert found.as_printed == "fails"
    assert found.interval[0] > 0.03
    assert found.steps[0].step.startswith(variable)
    assert found.control.as_expected is True


@pytest.mark.parametrize(("id", "law"), [("hyque-rate/theory", rate), ("rexp3b-rate", OFF["V"])])
@pytest.mark.parametrize(
    ("control", "wrong"), [("sw_ucb_misled", rate), ("sw_ucb", power(V=0.4, B=0.3))]
)
def test_a_rate_is_undecided_if_a_control_comes_out_wrong_or_is_missing(id, law, control, wrong):
    for changed in (wrong, None):
        found = judged(id, law, {control: changed})
        assert (found.as_printed, found.p_value) == ("undecided", None)
        assert control in found.why
        if control == "sw_ucb_misled":
            assert found.control.as_expected is (None if changed is None else False)


def test_the_statement_as_printed_is_undecided_along_B_whatever_is_measured():
    """Its hidden logarithms forgive too much there; along V, where none changes, it can fail."""
    for law in (rate, OFF["B"]):
        found = judged("hyque-rate/printed", law)
        assert found.as_printed == "undecided"
        assert "logarithms of the statement allow" in found.why
    assert judged("hyque-rate/printed", OFF["V"]).as_printed == "fails"


@pytest.mark.parametrize("id", ["hyque-rate/theory", "rexp3b-rate"])
def test_growth_below_the_lower_bounds_is_no_asymptotic_exponent(id):
    for law in (power(B=-0.15), power(V=-0.15)):
        found = judged(id, law)
        assert found.as_printed == "undecided"
        assert "pre-asymptotic" in found.why


def test_a_factor_sqrt_log_is_forgiven_to_hyque_only():
    """The local exponent of sqrt(ln B) is about 0.04 here, more than the margin of 0.03."""
    law = times(lambda K, T, B, V: np.sqrt(np.log(B)))
    assert judged("hyque-rate/theory", law).as_printed == "consistent"
    assert judged("rexp3b-rate", law).as_printed != "consistent"


def test_saturated_rays_are_undecided_and_name_the_budgets_it_takes():
    for id in ("hyque-rate/theory", "rexp3b-rate"):
        found = judged(id, curves.flat(), saturated=True)
        assert found.as_printed == "undecided"
        assert "saturated" in found.why
        assert "points with B over" in found.decide


def test_undecided_says_what_would_decide():
    worst, points = curves.played("hyque", rate, RAYS)
    lost = (worst["label"] == "hyque") & worst["V"].isin([1, 2, 32, 64])
    found = one(claims.judge(evidence(worst[~lost], points), ["hyque-rate/theory"]))
    assert found.as_printed == "undecided"
    assert "3 points enter, 4 are needed (left out: not run" in found.why
    found = judged("hyque-rate/theory", noise=0.1)
    assert found.as_printed == "undecided"
    assert "if the excess persists" in found.decide


def test_a_curve_that_rises_at_the_end_is_not_held():
    """On the rate on average, but the last two points say 0.2 more."""
    law = times(lambda K, T, B, V: np.exp(0.05 * np.log(np.maximum(V, 1) / 8) ** 2))
    found = judged("hyque-rate/theory", law)
    step = next(step for step in found.steps if step.step.startswith("V"))
    assert step.outcome != "holds"
    assert step.number == pytest.approx(0.17, abs=0.03)
    assert "bent" in step.note


def test_toy_experiments_say_so():
    toy = evidence(*curves.played("hyque", rate, RAYS), toy=True)
    found = one(claims.judge(toy, ["hyque-rate/theory"]))
    assert found.horizon.startswith("toy horizon")


def test_holm_takes_back_a_weak_verdict_among_many():
    weak = findings.Finding("a", "", "", "holds", "", "", "", p_value=0.02)
    strong = [
        findings.Finding(i, "", "", "fails", "", "", "", p_value=p)
        for i, p in (("b", 0.015), ("c", 1e-6))
    ]
    other = findings.Finding("other", "", "", "holds", "", "", "", p_value=0.02)
    after = findings.correct([weak, *strong, other], ["a", "b", "c"])
    assert [v.as_printed for v in after] == ["undecided", "undecided", "fails", "holds"]
    assert "Holm" in after[0].decide


# ------------------------------------------------------------------ budgets


def make_runs(cells, denied=0, **columns):
    """The runs a cell asks for (or four), all B queries made and `denied` more asked for."""
    rows = []
    for cell in cells:
        for seed in range(cell.get("seeds", 4)):
            row = {name: cell[name] for name in ("policy", "K", "T", "B", "V")}
            wishes = denied(cell) if callable(denied) else denied
            rows.append(
                {
                    "label": cell["policy"],
                    **row,
                    "adversary": "switching",
                    "seed": seed,
                    "regret": 1.0,
                    "queries": cell["B"],
                    "denied": wishes,
                    "restarts": 0,
                }
            )
    return pd.DataFrame(rows).assign(**columns)


def asks(id, policy, toy=False):
    """The cells a claim asks of a policy, as dicts."""
    cells = [dataclasses.asdict(a) | a.size._asdict() for a in claims.needs([id], toy).asks]
    return [{**c, "policy": policy} for c in cells if simulated.label_of(c["policy"]) == policy]


def hyque_cells():
    return asks("hyque-budget", "hyque")


def test_asked_cells_are_cut_where_they_say_and_lie_in_the_theorems_range():
    shares = set()
    for c in hyque_cells():
        b = theory.slot_length(c["T"], c["B"])
        order, first = theory.last_block(c["T"], c["B"])
        assert 2 * c["T"] == b * c["B"]
        shares.add(round((c["T"] - first + 1) / (b * 2**order), 2))
        assert theory.theorem_range(c["K"], c["T"], c["B"], c["V"])
        assert 1e4 <= c["B"] <= 5e4
    assert shares == set(budget.FRACTIONS)
    assert rexp3b_budget.printed_plan(32, 10**7, 120_000, 1 / 32) / 120_000 == pytest.approx(
        1.97, abs=0.01
    )
    assert len(asks("hyque-budget", "hyque", toy=True)) < len(hyque_cells())
    assert len(claims.needs(["hyque-budget", "rexp3b-budget"], False).asks) == 17
    for cell in asks("rexp3b-budget", "rexp3b", toy=True):
        sizes = {name: cell[name] for name in "KTBV"}
        assert rexp3b_budget.printed_plan(**sizes) > 1.9 * cell["B"]


def hyque_runs(cells=None, **columns):
    """Runs of HyQue, and of the other quota, of which one exceeds B."""
    mine = make_runs(hyque_cells() if cells is None else cells, **columns)
    other = make_runs(asks("hyque-budget", "hyque(quota=block)"))
    other.loc[3, "denied"] = 7
    return pd.concat([mine, other], ignore_index=True)


def test_hyque_budget_twins():
    held = one(claims.judge(evidence(regret=hyque_runs()), ["hyque-budget"]))
    assert (held.id, held.as_printed) == ("hyque-budget", "holds")
    runs = hyque_runs()
    runs.loc[5, "denied"] = 660
    failed = one(claims.judge(evidence(regret=runs), ["hyque-budget"]))
    assert failed.as_printed == "fails"
    assert failed.numbers["overspending"] == 1
    assert failed.numbers["largest_denied_over_B"] == pytest.approx(660 / runs.loc[5, "B"])
    assert failed.numbers["where"]["seed"] == 5
    over = hyque_runs()
    over.loc[0, "queries"] += 1
    assert one(claims.judge(evidence(regret=over), ["hyque-budget"])).as_printed == "fails"


def test_hyque_budget_judges_the_default_quota_and_shows_the_other():
    default = make_runs(hyque_cells())
    other = make_runs(asks("hyque-budget", "hyque(quota=block)"))
    assert len(other) == len(default)
    other.loc[3, "denied"] = 7
    both = pd.concat([default, other], ignore_index=True)
    found = one(claims.judge(evidence(regret=both), ["hyque-budget"]))
    assert found.as_printed == "holds"
    assert found.control.as_expected is True
    assert found.numbers["runs"] == len(default)
    assert [(s.step, s.outcome) for s in found.steps] == [
        ("`quota: horizon`", "holds"),
        ("`quota: block`", "fails"),
    ]
    quiet = both.assign(denied=0)
    for runs, came in ((default, None), (quiet, False)):
        found = one(claims.judge(evidence(regret=runs), ["hyque-budget"]))
        assert (found.as_printed, found.control.as_expected) == ("vacuous", came)


def restarting(denied, scale=1e-4):
    """Runs with restarts at a scale where no test fires in a short block, and at one where some
    do; `denied` of the latter's first runs."""
    asks_ = [
        a for a in claims.needs([hyque_budget.RESTARTS], False).asks if a.policy["name"] == "hyque"
    ]
    rows = []
    for ask in asks_:
        for seed in range(len(ask.against) * ask.seeds):
            over = denied.get(ask.policy["scale"], 0) if seed == 0 else 0
            rows.append(
                {
                    "ask": ask.tag,
                    "policy": "hyque",
                    "label": f"hyque {ask.policy['scale']}",
                    "policy.scale": ask.policy["scale"],
                    **ask.size._asdict(),
                    "adversary": "stationary",
                    "seed": seed,
                    "queries": ask.size.B,
                    "denied": over,
                    "restarts": 5,
                    "regret": 1.0,
                }
            )
    return pd.DataFrame(rows)


def test_the_budget_with_restarts_is_vacuous_where_the_printed_thresholds_restart_nothing():
    for denied in ({}, {1e-5: 9}):
        asked = restarting(denied)
        found = one(claims.judge(evidence(asked=asked), ["hyque-budget/restarts"]))
        assert (found.as_printed, found.severity, found.breaks) == ("vacuous", "gap", True)
        steps = {step.step: step.outcome for step in found.steps}
        own = {name: outcome for name, outcome in steps.items() if "1e-05" in name}
        assert set(own.values()) == {"fails" if denied else "holds"}
        assert found.control.as_expected
    printed = make_runs(hyque_cells()).assign(restarts=1)
    for over, outcome in ((0, "holds"), (3, "fails")):
        printed.loc[0, "denied"] = over
        found = one(claims.judge(evidence(asked=asked, regret=printed), ["hyque-budget/restarts"]))
        assert found.as_printed == outcome


def test_phases_cut_by_hand_exceed_the_budget_even_in_long_blocks():
    assert hyque_budget.asked_if_cut(7, 6) == (889, 254, 260)
    assert hyque_budget.asked_if_cut(31, 8) == (15_841, 1022, 1102)


def test_small_thresholds_really_restart_in_short_blocks_and_exceed_the_budget():
    """K = 8, means 1 and 0: UCB1 plays bad arms first, so each block is cut early."""
    sizes = {"K": 8, "T": 20_000, "B": 2_000, "V": 0}
    runs = {
        scale: simulate(
            policy="hyque",
            options={"scale": scale},
            adversary="stationary",
            gap=1.0,
            level=0.0,
            seeds=4,
            **sizes,
        )
        for scale in (1e-4, 1e-5)
    }
    assert (runs[1e-4].restarts > 0).all()
    assert (runs[1e-4].denied == 0).all()
    assert (runs[1e-5].denied > 0.1 * sizes["B"]).all()


def test_hyque_budget_as_played():
    """In the toy's own cells the default keeps to B, and `quota: block` does not."""
    rows = []
    for ask in claims.needs(["hyque-budget"], True).asks:
        (against,) = simulated.family(ask.against, ask.size)
        rows += play_all(simulated.cell(ask.policy, ask.size), [against], range(ask.seeds))
    found = one(claims.judge(evidence(regret=pd.DataFrame(rows)), ["hyque-budget"]))
    assert [r.outcome for r in found.readings] == ["fails"]
    steps = {step.step: step for step in found.steps}
    assert steps["`quota: horizon`"].number == found.numbers["overspending"] == 0
    assert steps["`quota: block`"].outcome == "fails"
    assert found.control.as_expected is True


def test_hyque_budget_is_undecided_without_the_phases_that_would_show_it():
    found = one(claims.judge(evidence(regret=hyque_runs(hyque_cells()[2:4])), ["hyque-budget"]))
    assert found.as_printed == "undecided"
    assert "0.01, 0.02" in found.decide


def test_hyque_budget_is_undecided_on_few_runs():
    """About one run in ten passes B, so a handful of runs that do not says nothing."""
    few = hyque_runs([{**c, "seeds": 4} for c in hyque_cells()])
    found = one(claims.judge(evidence(regret=few), ["hyque-budget"]))
    assert found.as_printed == "undecided"
    assert f"{budget.RUNS} runs" in found.decide


def test_rexp3b_budget_twins():
    cells = asks("rexp3b-budget", "rexp3b")
    held = one(claims.judge(evidence(regret=make_runs(cells)), ["rexp3b-budget"]))
    assert (held.id, held.as_printed) == ("rexp3b-budget", "holds")
    failed = one(
        claims.judge(
            evidence(regret=make_runs(cells, lambda c: int(0.96 * c["B"]))), ["rexp3b-budget"]
        )
    )
    assert failed.as_printed == "fails"
    assert failed.numbers["largest_wished_over_B"] == pytest.approx(1.96, abs=0.01)
    assert failed.numbers["largest_planned_over_B"] == pytest.approx(1.97, abs=0.01)
    plain = [{**cells[0], "K": 2, "T": 10**6, "B": 10**5, "V": 0.0}]
    assert rexp3b_budget.printed_plan(2, 10**6, 10**5, 0.0) == 10**5
    assert (
        one(claims.judge(evidence(regret=make_runs(plain)), ["rexp3b-budget"])).as_printed
        == "undecided"
    )


def test_rexp3bs_plans_are_its_controls():
    """Twice the queries of a batch exceed B in some cell; the corrected number never does."""
    found = one(
        claims.judge(evidence(regret=make_runs(asks("rexp3b-budget", "rexp3b"))), ["rexp3b-budget"])
    )
    assert [c.as_expected for c in found.controls] == [True, True]
    assert found.controls[0].value == pytest.approx(2 * 1.97, abs=0.02)
    rng = np.random.default_rng(2)
    for K, T, B, V in zip(
        rng.integers(2, 40, 300),
        rng.integers(10**4, 10**6, 300),
        rng.integers(2000, 9000, 300),
        rng.random(300),
        strict=True,
    ):
        assert rexp3b_budget._corrected_plan(int(K), int(T), int(B), float(V)) <= B


# ------------------------------------------------------------------ registry and ledger


def test_registry():
    orders = [claim.order for claim in claims.CLAIMS.values()]
    assert orders == sorted(orders)
    of_the_paper = [order for order in orders if math.isfinite(order)]  # not what policies declare
    assert len(set(of_the_paper)) == len(of_the_paper)
    with pytest.raises(ValueError, match="unknown nonsense"):
        claims.judge(evidence(), ["nonsense"])


def some_verdicts():
    return claims.judge(evidence(regret=hyque_runs()), ["hyque-budget", "counting-lemma"])


@pytest.mark.parametrize(
    ("basis", "severity"), [("measured", "horizon"), ("counted", "false"), ("arithmetic", "false")]
)
def test_what_fails_is_never_counted_as_nothing_to_correct(basis, severity):
    typo = findings.Correction("p", "p", "m", "typo", "r", "e")
    for corrections in ((), (typo,)):
        odd = findings.Finding(
            "a", "s", "p", "fails", "p", "m", "h", basis=basis, corrections=corrections
        )
        assert findings.graded(odd).severity == severity
    constant = dataclasses.replace(typo, severity="constant")
    for other in (
        dataclasses.replace(odd, corrections=(constant,)),
        dataclasses.replace(odd, as_printed="undecided"),
    ):
        assert findings.graded(other) == other


def test_the_parts_of_a_finding_that_follow_from_others():
    def made(*outcomes, severity="constant", **fields):
        parts = [findings.Correction("p", "p", "m", severity, "r", "e", o) for o in outcomes]
        return findings.Finding(
            "a", "s", "p", "fails", "p", "m", "h", corrections=tuple(parts), **fields
        )

    order = ("fails", "vacuous", "undecided", "consistent", "holds")
    for i in range(len(order)):
        assert made(*reversed(order[i:])).mended == order[i]
    assert made("undecided", severity="horizon").mended == ""
    bare = findings.apply_control(made("holds"))
    assert (bare.as_printed, bare.corrections) == ("vacuous", ())
    good, bad = (findings.Control("c", as_expected=came) for came in (True, False))
    assert findings.apply_control(made("holds", controls=(good,))).as_printed == "fails"
    assert findings.apply_control(made("holds", controls=(good, bad))).as_printed == "vacuous"
    held = findings.Control("c", "holds", False)
    assert findings.apply_control(made("holds", controls=(good, held))).as_printed == "fails"
    weak = dataclasses.replace(made("holds"), p_value=0.02)
    for outcome in ("fails", "holds", "consistent"):
        pair = [dataclasses.replace(weak, id=id, as_printed=outcome) for id in "ab"]
        pair[1] = dataclasses.replace(pair[1], p_value=0.9)
        first = findings.correct(pair, ["a", "b"])[0]
        assert (first.as_printed, first.corrections) == ("undecided", ())


def test_ledger_is_stable_plain_json():
    text = ledger.to_json(some_verdicts())
    assert text == ledger.to_json(some_verdicts())
    data = json.loads(text)
    back = ledger.from_dict(data)
    assert [(v.id, v.as_printed, v.interval) for v in back] == [
        (c["id"], c["as_printed"], c["interval"] and tuple(c["interval"])) for c in data["claims"]
    ]
    with pytest.raises(ValueError, match="version=1: must be 3"):
        ledger.from_dict(data | {"version": 1})
    assert data["version"] == schema.VERSION
    assert [c["id"] for c in data["claims"]] == ["hyque-budget", "counting-lemma"]
    keys = [
        "id",
        "statement",
        "place",
        "as_printed",
        "prediction",
        "measured",
        "horizon",
        "controls",
        "corrections",
        "readings",
        "basis",
    ]
    for claim in data["claims"]:
        assert list(claim)[: len(keys)] == keys
    values = {"nan": np.nan, "np": np.float64(1 / 3), "int": np.int64(4), "bool": np.bool_(True)}
    strange = findings.Finding("a", "", "", "holds", "", "", "", numbers=values)
    numbers = ledger.to_dict([strange])["claims"][0]["numbers"]
    assert numbers == {"nan": None, "np": 0.333333, "int": 4, "bool": True}
    json.dumps(numbers)


def test_ledger_follows_its_schema():
    assert schema.FILE.read_text(encoding="utf-8") == schema.text(), (
        "python -m confee.claims.schema"
    )
    validator = jsonschema.Draft202012Validator(schema.schema())
    validator.check_schema(validator.schema)
    about = {"experiment": "made-up", "toy": False, "code": "0" * 64}
    files = {"regret": {"file": "results/x/regret.parquet", "sha256": "a" * 64}}
    data = ledger.to_dict(some_verdicts(), about, files)
    validator.validate(data)
    for broken in ({"as_printed": "true"}, {"p_value": 2}, {"colour": "red"}, {"severity": "mild"}):
        wrong = {**data, "claims": [{**data["claims"][0], **broken}]}
        assert list(validator.iter_errors(wrong)), broken
        with pytest.raises(TypeError):
            ledger.from_dict(wrong)


def test_ledger_for_readers():
    verdicts = some_verdicts()
    text = ledger.to_markdown(verdicts, "Claims of `made-up`")
    assert text.startswith("# Claims of `made-up`\n")
    for v in verdicts:
        assert f"## {v.id}: {v.as_printed}" in text
        assert v.measured in text
    assert "fails, as expected" in text
    assert "plays nothing" in ledger.to_markdown([])
