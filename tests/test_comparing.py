"""Two runs side by side."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from confee import compare
from confee.claims import ledger
from confee.claims.judging.finding import Finding
from confee.config import reproduce
from confee.core.errors import ConfeeError
from confee.workflow import cli
from confee.workflow.reading import OTHER_VERSION


def left(folder: Path, outcome="holds", exponent=-0.3, regret=10.0, policies=("ucb1", "NA")):
    """The files of a run that are compared."""
    found = Finding("idle-runs", "s", "p", outcome, "", "m", "h")
    folder.mkdir(parents=True)
    (folder / "claims.json").write_text(
        ledger.to_json([found], {"experiment": "x", "toy": False, "code": "", "overrides": ""}, {}),
        encoding="utf-8",
    )
    slopes = [(p, "B_at_V4", "ray", exponent, 0.01) for p in policies]
    columns = ["label", "axis", "part", "exponent", "se"]
    pd.DataFrame(slopes, columns=columns).to_csv(folder / "slopes.csv", index=False)
    cells = [(p, 2, 1000, 100, 1.0, regret) for p in policies]
    columns = ["label", "K", "T", "B", "V", "regret"]
    pd.DataFrame(cells, columns=columns).to_csv(folder / "worst.csv", index=False)
    return folder


def test_equal_runs_do_not_differ(tmp_path, capsys):
    a, b = left(tmp_path / "a"), left(tmp_path / "b")
    assert compare(a, b).same
    cli.main(["compare", str(a), str(b)])
    assert capsys.readouterr().out == "no difference\n"


def test_what_differs_is_named_with_an_interval(tmp_path, capsys):
    a, b = left(tmp_path / "a"), left(tmp_path / "b", "fails", -0.2, 10.5)
    found = compare(a, b)
    assert found.verdicts[["claim", "a", "b"]].to_numpy().tolist() == [
        ["idle-runs", "holds, none", "fails, none"]
    ]
    one = found.exponents.set_index("label").loc["NA"]
    assert one["difference"] == pytest.approx(0.1)
    half = 1.96 * 0.01 * 2**0.5
    assert [one["low"], one["high"]] == pytest.approx([0.1 - half, 0.1 + half])
    assert set(found.cells["label"]) == {"ucb1", "NA"}
    with pytest.raises(SystemExit) as end:
        cli.main(["compare", str(a), str(b)])
    assert end.value.code == 2
    assert "differ: 1 verdicts, 2 exponents, 2 cells" in capsys.readouterr().out


def test_numbers_alone_do_not_count_where_verdicts_are_asked_for(tmp_path):
    a, b = left(tmp_path / "a"), left(tmp_path / "b", regret=10.5)
    cli.main(["compare", "--verdicts", str(a), str(b)])
    with pytest.raises(SystemExit) as end:
        cli.main(["compare", str(a), str(b)])
    assert end.value.code == 2


def test_a_policy_of_one_run_alone_is_a_difference(tmp_path):
    a, b = left(tmp_path / "a"), left(tmp_path / "b", policies=("ucb1",))
    assert compare(a, b).cells["label"].to_list() == ["NA"]


def test_what_is_no_run_is_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    a = left(tmp_path / "results" / "tiny")
    assert compare("tiny", a).same
    with pytest.raises(ConfeeError, match=r"^nope: has no results"):
        compare("tiny", "nope")
    (a / "claims.json").write_text(json.dumps({"version": 1}), encoding="utf-8")
    with pytest.raises(ConfeeError, match=r"claims.json: "):
        compare("tiny", "tiny")


def test_a_table_of_another_version_is_named_with_the_command_that_makes_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    place = left(tmp_path / "results" / "tiny")
    (place / "worst.csv").write_text("policy,regret\nucb1,3\n", encoding="utf-8")
    with pytest.raises(ConfeeError) as caught:
        compare("tiny", "tiny")
    assert OTHER_VERSION in str(caught.value)
    assert reproduce.snakemake("experiment=tiny") in str(caught.value)
