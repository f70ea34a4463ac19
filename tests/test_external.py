"""Tables of regrets from other simulators: true, bent, false, short, uncontrolled, damaged."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from confee import fit
from confee.claims import fitting
from confee.core.errors import ConfeeError
from confee.workflow import cli
from support.regret_tables import BUDGETS, table

CLAIM = "B=-1/3 V=1/3"


def outcomes(found):
    return {one.id: one.as_printed for one in found.findings}


CONTROLS = {"holds": "kept", "fails": {"B": "flat in B", "V": "steep in V"}}


def test_a_true_law_is_consistent_and_a_false_one_fails():
    runs = table(["true", "kept", "flat in B", "steep in V", "NA"])
    found = fit(runs, CLAIM, **CONTROLS)
    assert outcomes(found) == {"true": "consistent", "NA": "fails"}
    assert all(one.as_expected for v in found.findings for one in v.controls)
    rows = found.exponents.set_index(["policy", "ray"])
    mine = rows.loc["true"]
    assert len(mine) == 2
    assert mine["exponent"].to_list() == pytest.approx([-1 / 3, 1 / 3], abs=0.02)
    assert mine["claimed"].to_list() == pytest.approx([-1 / 3, 1 / 3])


def test_a_true_law_that_is_not_straight_does_not_fail():
    found = fit(
        table(["bent", "kept", "flat in B", "steep in V"]), CLAIM, policy="bent", **CONTROLS
    )
    assert outcomes(found)["bent"] in ("undecided", "consistent")


def test_without_controls_nothing_is_decided():
    found = fit(table(["true", "NA"]), CLAIM)
    assert set(outcomes(found).values()) == {"undecided"}
    assert "there is no positive control" in found.report()


def test_a_control_that_does_not_come_out_decides_nothing():
    runs = table(["true", "kept", "NA"])
    assert outcomes(fit(runs, CLAIM, policy="NA", holds="kept", fails="true"))["NA"] == "undecided"


def test_controls_are_held_to_the_claim_whatever_they_are_called():
    """`sw_ucb` has a rate of its own in confee, and none in a table of somebody else's."""
    runs = table(["true", "kept", "flat in B", "steep in V"])
    named = runs.replace({"policy": {"kept": "sw_ucb"}})
    how = {"policy": "true", "fails": CONTROLS["fails"]}
    for claim in (CLAIM, "B=-0.45 V=1/3"):
        one, two = fit(runs, claim, holds="kept", **how), fit(named, claim, holds="sw_ucb", **how)
        assert outcomes(one) == outcomes(two)
    assert outcomes(one) == {"true": "undecided"}


def test_a_control_is_forgiven_no_logarithm_that_the_claim_does_not_name():
    """Its law misses B^-0.37 by 0.036, less than a factor sqrt(ln B) would forgive."""
    runs = table(["true", "kept", "flat in B"])
    controls = {"policy": "true", "holds": "kept", "fails": "flat in B"}
    (found,) = fit(runs, "B=-0.37", **controls).findings
    assert found.positive.as_expected is False
    (found,) = fit(runs, "B=-0.37 log=1/2", **controls).findings
    assert found.positive.as_expected is True


def test_an_axis_that_never_moves_is_not_taken_for_judged():
    runs = table(["true", "kept", "flat in B", "steep in V"], variations=[4])
    (found,) = fit(runs, CLAIM, policy="true", **CONTROLS).findings
    assert found.as_printed == "undecided"
    assert "cells in which only V changes" in found.decide


def test_short_tables_are_undecided():
    runs = table(["NA", "kept", "flat in B"], budgets=BUDGETS[:2], variations=[4])
    found = fit(runs, "B=-1/3", holds="kept", fails="flat in B")
    assert outcomes(found) == {"NA": "undecided"}
    assert "points enter, 4 are needed" in found.findings[0].why


def test_an_axis_that_is_not_named_is_not_judged():
    runs = table(["true", "kept", "flat in B", "steep in V"])
    (found,) = fit(runs, "B=-1/3", policy="true", **CONTROLS).findings
    assert found.as_printed == "consistent"
    assert [step.step for step in found.steps] == ["B at V=4, T/B=10"]


def test_the_worst_adversary_counts_and_none_measures_itself():
    runs = table(["true", "kept", "flat in B", "steep in V"])
    easy = runs.assign(adversary="easy", regret=runs["regret"] / 2)
    both = pd.concat([runs.assign(adversary="hard"), easy])
    alone, mixed = fit(runs, CLAIM, **CONTROLS), fit(both, CLAIM, **CONTROLS)
    assert outcomes(mixed) == outcomes(alone)
    assert set(mixed.worst["adversary"]) == {"hard"}
    assert mixed.worst["regret"].to_numpy() == pytest.approx(alone.worst["regret"].to_numpy())


def test_everybody_must_meet_the_same_adversaries():
    runs = table(["true", "NA"]).assign(adversary="easy")
    more = runs[runs["policy"] == "NA"].assign(adversary="hard")
    with pytest.raises(ConfeeError, match=r"policy=true has no run against adversary=hard"):
        fit(pd.concat([runs, more]), CLAIM)


def test_regret_of_one_round_is_refused():
    runs = table(["true"]).assign(regret=lambda t: t["regret"] / t["T"])
    with pytest.raises(ConfeeError, match=r"^table: regret: at most 1 in all rows"):
        fit(runs, CLAIM)


def test_a_missing_budget_is_the_horizon():
    runs = table(["true", "NA"], ratio=1)
    pd.testing.assert_frame_equal(fit(runs, CLAIM).worst, fit(runs.drop(columns="B"), CLAIM).worst)


def test_order_types_and_seeds_names_change_nothing():
    runs = table(["true", "kept", "flat in B", "steep in V"])
    other = runs.sample(frac=1, random_state=1).assign(seed=lambda t: 1000 + 7 * t["seed"])
    other = other.astype({"K": float, "V": np.float32, "T": str})
    one, two = fit(runs, CLAIM, **CONTROLS), fit(other, CLAIM, **CONTROLS)
    assert outcomes(one) == outcomes(two)
    assert two.worst["regret"].to_numpy() == pytest.approx(one.worst["regret"].to_numpy())


BAD = [
    ({"regret": math.nan}, "table: row 3: regret=nan: must be a finite number"),
    ({"regret": math.inf}, "table: row 3: regret=inf: must be a finite number"),
    ({"regret": "much"}, "table: row 3: regret=much: must be a finite number"),
    ({"K": 1}, "table: row 3: K=1: must be a whole number of at least 2"),
    ({"B": 0}, "table: row 3: B=0: must be a whole number of at least 1"),
    ({"B": 10**9}, "table: row 3: B=1000000000: must be at most T"),
    ({"T": 2.5}, "table: row 3: T=2.5: must be a whole number of at least 1"),
    ({"V": -1}, "table: row 3: V=-1: must be a finite number of at least 0"),
    ({"policy": ""}, "table: row 3: policy='': must be a word"),
    ({"policy": None}, "table: row 3: policy=None: must be a word"),
    ({"seed": 0}, "table: row 3: seed=0: must be a new one"),
]


@pytest.mark.parametrize(("values", "said"), BAD)
def test_a_bad_row_is_named(values, said):
    runs = table(["true"]).astype(object)
    for name, value in values.items():
        runs.loc[2, name] = value
    with pytest.raises(ConfeeError) as error:
        fit(runs, CLAIM)
    assert str(error.value).startswith(said)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"claim": ""}, "claim='': must name exponents of R/T"),
        ({"claim": "X=1"}, "claim: X=1: must be one of B=, V=, K=, log="),
        ({"claim": "B=1/0"}, "claim: B=1/0: must have a number in [-9, 9]"),
        ({"claim": "B=nan"}, "claim: B=nan: must have a number in [-9, 9]"),
        ({"claim": CLAIM, "policy": "nobody"}, "policy=nobody: not a policy of the table"),
        ({"claim": CLAIM, "fails": "nobody"}, "fails=nobody: not a policy of the table"),
        ({"claim": CLAIM, "fails": {"X": "true"}}, "fails=X=...: no such axis"),
        ({"claim": CLAIM, "holds": "true"}, "policy: must be given"),
        (
            {"claim": CLAIM, "policy": "true", "holds": "true"},
            "policy=true: must not be one of the controls",
        ),
        (
            {"claim": CLAIM, "holds": "true", "fails": "true"},
            "fails=true: must not be the positive control",
        ),
        ({"claim": "B=-1/3 B=-1/4"}, "claim: B: given twice"),
    ],
)
def test_a_bad_question_is_said_in_one_line(how, said):
    with pytest.raises(ConfeeError) as error:
        fit(table(["true"]), **how)
    assert str(error.value).startswith(said)


def test_missing_columns_and_empty_tables_are_said():
    with pytest.raises(ConfeeError, match=r"^table: no column seed, regret; it has policy, T"):
        fit(table(["true"]).drop(columns=["seed", "regret"]), CLAIM)
    with pytest.raises(ConfeeError, match=r"^table: 0 rows"):
        fit(table(["true"]).iloc[:0], CLAIM)
    with pytest.raises(ConfeeError, match=r"^policy=true: no exponent can be fitted"):
        fit(table(["true"], budgets=[], variations=[4]), CLAIM)


def test_the_command_judges_a_file_and_writes_a_report(tmp_path, capsys):
    file = tmp_path / "mine.csv"
    table(["NA", "kept", "flat in B", "steep in V"]).to_csv(file, index=False)
    words = [
        "fit",
        str(file),
        "--claim",
        CLAIM,
        "--holds",
        "kept",
        "--fails",
        "B=flat in B,V=steep in V",
        "--output",
        str(tmp_path / "out"),
    ]
    cli.main(words)
    assert "## NA: fails" in capsys.readouterr().out
    made = {one.name for one in (tmp_path / "out").iterdir()}
    assert made == {"report.md", "exponents.csv", "regret.pdf", "regret.png"}
    with pytest.raises(SystemExit, match=r"^confee: .*nothing.csv: no such file"):
        cli.main(["fit", str(tmp_path / "nothing.csv"), "--claim", CLAIM])


def test_a_file_is_read_whatever_its_kind(tmp_path):
    runs = table(["NA"])
    runs.to_parquet(tmp_path / "runs.parquet")
    runs.to_csv(tmp_path / "runs.csv", index=False)
    for kind in ("parquet", "csv"):
        read = fitting.read(tmp_path / f"runs.{kind}")
        assert set(read["policy"]) == {"NA"}
        assert fit(read, CLAIM).findings[0].id == "NA"
