"""The confee command: numbers out, or one line and exit code 1."""

import dataclasses
import io
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import jsonschema
import pyarrow.parquet as pq
import pytest

from confee import load, simulate
from confee.claims import CLAIMS, ledger, schema
from confee.claims.judging.finding import OUTCOMES, SEVERITIES, Control, Correction, Finding, Step
from confee.config import reproduce
from confee.core import jit
from confee.core.canonical import canonical
from confee.core.errors import ConfeeError
from confee.policies import POLICIES
from confee.rendering import FIGURES, TABLES
from confee.simulation.files import write_text
from confee.simulation.studies import STUDIES
from confee.workflow import cli, results, stages
from confee.workflow.reading import OTHER_VERSION
from confee.world.adversaries import ADVERSARIES
from confee.world.game import RECORDED

ROOT = Path(__file__).parents[1]
SIZES = ["K=2", "T=2000", "B=400", "V=2"]
CELL = ["policy=uniform", "adversary=switching", *SIZES]


def run(capsys, *arguments):
    cli.main(arguments)
    return capsys.readouterr().out


def refuse(capsys, *arguments):
    with pytest.raises(SystemExit) as stop:
        cli.main(arguments)
    said = str(stop.value.code)  # Python prints it on stderr and exits with 1
    assert said.startswith("confee: ")
    assert "\n" not in said
    assert capsys.readouterr().out == ""
    return said.removeprefix("confee: ")


def test_the_last_line_of_simulate_is_json_with_every_quantity(capsys):
    said = json.loads(run(capsys, "simulate", *CELL, "seeds=4").splitlines()[-1])
    assert tuple(said) == RECORDED
    for mean, error, low, high in said.values():
        assert low <= mean <= high
        assert error >= 0
    one = json.loads(run(capsys, "simulate", *CELL, "seeds=1"))
    assert one["regret"][1] is None


def test_parts_that_are_none_are_null(capsys):
    cell = ["policy=uniform_episodic", "adversary=episodic_switching", *SIZES]
    said = run(capsys, "simulate", *cell, "seeds=2")
    assert "NaN" not in said
    parts = json.loads(said)
    assert parts["regret_error"] is parts["regret_drift"] is parts["regret_no_data"] is None
    assert parts["regret"][0] > 0


def test_a_policy_and_an_adversary_of_two_settings(capsys):
    said = refuse(capsys, "simulate", "policy=oful", "adversary=switching", *SIZES)
    assert said == (
        "policy=oful, adversary=switching: the policy plays linear, the adversary offers arms; "
        "must agree"
    )


def test_output_holds_one_row_a_seed_equal_to_the_library(capsys, tmp_path):
    file = tmp_path / "cell.parquet"
    run(
        capsys, "simulate", *CELL, "adversary.gap=0.25", "seeds=3", "first_seed=2", f"output={file}"
    )
    rows = pq.read_table(file).to_pandas()
    assert list(rows["seed"]) == [2, 3, 4]
    assert {*RECORDED, "policy", "adversary", "K", "T", "B", "V", "adversary.gap"} <= {*rows}
    same = simulate(
        "uniform", "switching", gap=0.25, K=2, T=2000, B=400, V=2, seeds=3, first_seed=2
    )
    assert rows.equals(same[list(rows)])


def test_one_number_has_many_spellings(capsys):
    said = {
        run(
            capsys,
            "simulate",
            "policy=uniform",
            "adversary=switching",
            "K=2",
            f"T={T}",
            f"B={B}",
            f"V={V}",
        )
        for T, B, V in (("10000", "400", "2"), ("1e4", "4e2", "2.0"), ("10000.0", "400.0", "2e0"))
    }
    assert len(said) == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("sedes=3", "sedes=3: no such key"),
        ("seeds=abc", "seeds=abc: must be a whole number in [1, 1e+07]"),
        ("seeds=-1", "seeds=-1: must be a whole number in [1, 1e+07]"),
        ("seeds=true", "seeds=True: must be"),
        ("first_seed=-1", "first_seed=-1: must be a whole number in [0, 1e+12]"),
        ("K=1", "K=1: must be a whole number in [2, 100000]"),
        ("T=0", "T=0: must be a whole number in [1, 1e+15]"),
        ("T=1e400", "T=inf: must be"),
        ("T=1e18", "T=1e+18: must be"),
        ("T=null", "T=None: must be"),
        ("T=${T}", "T=${T}: Recursive interpolation detected"),
        ("B=1", "B=1: must be a whole number in [K, T] = [2, 2000]"),
        ("B=2001", "B=2001: must be a whole number in [K, T] = [2, 2000]"),
        ("B=400.5", "B=400.5: must be a whole number"),
        ("V=-2", "V=-2: must be a number in [0, 1e+15]"),
        ("V=nan", "V=nan: must be"),
        ("V=.inf", "V=.inf: must be"),
        ("policy=hyqe", "policy=hyqe: unknown; did you mean hyque"),
        ("policy=HyQue", "policy=HyQue: unknown; did you mean hyque? `confee list policy`"),
        ("policy=sw-ucb", "policy=sw-ucb: unknown; did you mean sw_ucb?"),
        ("policy=paper", "policy=paper: unknown; must be one that `confee list policy` lists"),
        ("adversary=swiching", "adversary=swiching: unknown; did you mean switching"),
        ("k=3", "k=3: no such key; did you mean K?"),
        ("seed=3", "seed=3: no such key; did you mean seeds?"),
        ("gap=0.2", "gap=0.2: no such key; did you mean adversary.gap?"),
        ("experiment=tiny", "experiment=tiny: no such key; known: B, K, T, V, adversary"),
        ("tiny", "tiny: not an override; must be key=value, as in experiment=tiny"),
        ("idle=sampled,proxy=means", "idle=sampled,proxy=means: not in Hydra's syntax: overrides"),
        ("policy.pool=set", "policy.pool=set: no such key"),
        ("+policy.pool=set", "policy.pool=set: no such key; known: none"),
        ("adversary.gap=0.7", "adversary.gap=0.7: must be a number in (0, 0.5]"),
        ("adversary.jitter=3", "adversary.jitter=3: must be true or false"),
        ("idle=never", "idle=never: must be one of expected, sampled"),
        ("+sede=7", "sede=7: no such key"),
        ("idle=a\nb", "idle=a b: not in Hydra's syntax"),
        ("output=x.csv", "output=x.csv: must end in .parquet"),
        ("output=/nowhere/x.parquet", "/nowhere/x.parquet: cannot be written"),
        ("output=/proc/x.parquet", "/proc/x.parquet: cannot be written"),
        ("~seeds", "~seeds: must not be deleted"),
        ("~", "~: not an override"),
        ("=3", "=3: not an override"),
        ("", "'': not an override"),
        ("hydra.run.dir=x", "hydra.run.dir=x: no such key"),
        ('idle="expected', "idle=\"expected: not in Hydra's syntax"),
        ("seeds=[1]", "seeds=[1]: must be"),
        ("seeds={a: 1}", "seeds={'a': 1}: must be"),
    ],
)
def test_bad_input_is_refused_in_one_line(capsys, change, said):
    key = change.lstrip("+~").split("=")[0]
    kept = [c for c in CELL if c.split("=")[0] != key]
    assert refuse(capsys, "simulate", *kept, change).startswith(said)


PLUGIN = "from confee.policies.uniform import POLICY as U; from dataclasses import replace\n"
CLAIM = "from confee.claims import idle_runs; from dataclasses import replace\n"


@pytest.mark.parametrize(
    ("files", "words", "said"),
    [
        ({"claims/mine.py": "CLAIMS = 3"}, ["list"], "mine.py: CLAIMS=3: must be a tuple of Claim"),
        ({"claims/mine.py": "CLAIMS = [3]"}, ["list"], "mine.py: CLAIMS=[3]: must be a tuple"),
        ({"claims/mine.py": "CLAIM = 3"}, ["claims"], "mine.py: CLAIM=3: must be of type Claim"),
        (
            {"claims/mine.py": f"{CLAIM}CLAIM = replace(idle_runs.CLAIMS[0], id='a b')"},
            ["list"],
            "mine.py: id=a b: must be words of letters",
        ),
        (
            {"claims/mine.py": f"{CLAIM}CLAIM = replace(idle_runs.CLAIMS[0], id=3)"},
            ["list"],
            "mine.py: id=3: must be words of letters",
        ),
        (
            {
                "policies/mine.py": f"{PLUGIN}POLICY = replace(U, id='mine')",
                "conf/policy/mine.yaml": "name: uniform",
            },
            ["simulate", "policy=uniform", *CELL[1:]],
            "mine.yaml: would replace the defaults of the policy in mine.py; must have another",
        ),
        (
            {"policies/mine.py": "x = 1"},
            ["simulate", "policy=mine", *CELL[1:]],
            "mine.py must declare POLICY",
        ),
        (
            {"conf/experiment/mine.yaml": "defaults: [tiny]"},
            ["config", "experiment=mine"],
            "must begin with the line # @package _global_",
        ),
    ],
)
def test_a_mistake_in_a_plugin_folder_is_one_line(tmp_path, files, words, said):
    for name, text in files.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    env = os.environ | {"CONFEE_EXTRA": str(tmp_path)}
    command = [sys.executable, "-m", "confee", *words]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_what_is_missing_is_named(capsys):
    assert refuse(capsys, "simulate", *CELL[:-1]) == "V: missing; give V=..."
    assert refuse(capsys, "simulate", *CELL[1:]).startswith("policy: missing; give policy=")
    assert refuse(capsys, "simulate", *CELL, "K=3") == "K: given 2 times; must be given once"
    assert refuse(capsys, "simulate", *CELL, "--fast").startswith("unrecognized arguments: --fast")
    assert refuse(capsys, "simulate", "polcy=hyque", "K=2").startswith("polcy=hyque: no such key")
    assert refuse(capsys, "simulate", "experiment=tiny").startswith("experiment=tiny: no such key")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "no command given; must be one of simulate, list"),
        (["--verison"], "unrecognized arguments: --verison; see confee --help"),
        (["frobnicate"], "frobnicate: no such command; must be one of simulate"),
        (["simulte"], "simulte: no such command; did you mean simulate?"),
        (["make-nothing"], "make-nothing: no such command;"),
        (["experiment=tiny"], "experiment=tiny: needs a command; type: snakemake"),
        (["list", "hyque", "ucb1"], "unrecognized arguments: ucb1; see confee list --help"),
        (["list", "hyqe"], "list hyqe: unknown; did you mean hyque"),
        (["list", ""], "list '': unknown"),
        (["claims", "experiment=tiny"], "experiment=tiny: is an experiment, not a claim; must be"),
        (["claims", "tiny"], "tiny: is an experiment, not a claim; must be given as --experiment"),
        (["claims", "hyque-rate"], "claim=hyque-rate: unknown; did you mean hyque-rate/"),
        (["config", "--experiment", "tiny"], "unrecognized arguments: --experiment"),
        (["compare", "results/tiny/x.json", "tiny"], "results/tiny/x.json: no such folder"),
        (["compare", "tiny", "nope"], "tiny: has no results to compare"),
        (["fit", "x.csv", "--claim", "B=-1/3"], "x.csv: no such file; must be a CSV"),
    ],
)
def test_a_wrong_command_line_is_refused_in_one_line(capsys, tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    line = refuse(capsys, *words)
    assert line.startswith(said)
    assert not any(
        f"{hidden}'" in line or f" {hidden}," in line for hidden in ("do", "make-claims")
    )


def test_a_path_too_large_for_memory_is_said_in_one_line(capsys):
    cell = ["policy=uniform", "adversary=switching", "K=2", "T=1e15", "B=400", "V=1e13"]
    said = refuse(capsys, "simulate", *cell)
    assert said.startswith("path: V pays for 4e+13 segments; must be at most 1e+07 with 2 means")


def test_list_names_what_there_is(capsys):
    lines = run(capsys, "list").splitlines()
    kinds = {line.split()[0]: line.split()[1] for line in lines}
    assert kinds["hyque"] == "policy"
    assert kinds["switching"] == "adversary"
    assert kinds["paper"] == "experiment"
    assert kinds["hyque-budget"] == "claim"
    ends = {line.split()[0]: line.rpartition(" [")[2] for line in lines if line.endswith("]")}
    assert ends["hyque"] == "arms; given T, B]"
    assert ends["oful_restarted"] == "linear; given T, B, V]"
    assert (ends["switching"], ends["linear_switching"]) == ("arms]", "linear]")
    for plural, kind in cli.PLURALS.items():
        some = {line.split()[0] for line in run(capsys, "list", kind).splitlines()}
        assert run(capsys, "list", plural) == run(capsys, "list", kind)
        assert some == {line.split()[0] for line in lines if line.split()[1] == kind}


def test_marks_that_an_encoding_does_not_know_stop_nothing(monkeypatch):
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    cli.main(["list", "table1"])
    print("\N{CHECK MARK}", flush=True)
    lines = sys.stdout.buffer.getvalue().decode("ascii").splitlines()
    assert lines[0].startswith("table1  table ")
    assert lines[-1] == "?"


def test_list_explains_one(capsys):
    text = run(capsys, "list", "hyque_oful")
    assert "\nsetting:   linear; decision: arm\nrole:      a policy of the literature" in text
    assert "\ngiven:     features [K, d]; T, B\nalgorithm: OFUL\nsource:    /" in text
    assert "/policies/hyque_oful.py\n" in text
    assert "\n  scale=1  (a number in [0, inf))\n      multiplies rho^ in the change tests;" in text
    text = run(capsys, "list", "linear_switching")
    assert "setting:   linear;" in text
    assert "strength:  set by gap, at most" in text
    assert "given" not in text
    assert "algorithm:" not in run(capsys, "list", "ucb1")
    assert "regressors" in run(capsys, "list", "uniform_contextual")
    assert run(capsys, "list", "uniform").endswith("\nno options\n")
    assert run(capsys, "list", "regret-T").startswith("regret-T  figure ")
    for name, kinds in (("horizon", ["experiment", "figure"]), ("table1", ["table"])):
        head, _, more = run(capsys, "list", name).partition("\n\n")
        assert [line.split()[1] for line in head.splitlines()] == kinds
        assert f"figures/<experiment>/{name}." in more
    assert "/studies/schedules.py" in run(capsys, "list", "schedules")
    several = run(capsys, "list", "hyque-rate").splitlines()
    assert {line.split()[0].partition("/")[0] for line in several} == {"hyque-rate"}


@pytest.mark.parametrize("name", [*FIGURES, *TABLES, *STUDIES])
def test_list_explains_every_figure_table_and_study(capsys, name):
    assert len(run(capsys, "list", name).splitlines()) > 2


@pytest.mark.parametrize("id", CLAIMS)
def test_list_explains_every_claim(capsys, monkeypatch, tmp_path, id):
    """By its fields and its module's text; and names results that have a verdict on it."""
    monkeypatch.chdir(tmp_path)
    claim, text = CLAIMS[id], run(capsys, "list", id)
    for part in (claim.statement, claim.place, claim.prediction, f"claims=[{id}]"):
        assert part in text
    assert "docs/what-it-found.md" in text
    leave_ledger(monkeypatch, tmp_path, (id, "fails", "gap"))
    text = run(capsys, "list", id)
    assert "results/paper: as printed fails, severity gap" in text
    (finding,) = results.findings("paper")
    for control in finding.controls:
        assert ledger.control_text(control) in text
    assert f"confee claims {id} --experiment paper" in text


@pytest.mark.parametrize("group", [POLICIES, ADVERSARIES], ids=["policy", "adversary"])
def test_list_explains_every_option(capsys, group):
    """With its default and what it may be; what it does stands in the dataclass."""
    for name, spec in group.items():
        text = run(capsys, "list", name)
        for field in dataclasses.fields(spec.options):
            assert f"\n  {field.name}={canonical(field.default)}  (" in text
            assert field.metadata["about"] in text


def examples(command):
    """The command lines in the help of a command; of confee itself if that is empty."""
    parser = cli._parser()
    text = (cli._commands(parser)[command] if command else parser).format_help()
    return [line.strip() for line in text.partition("\nexamples:\n")[2].splitlines()]


@pytest.mark.parametrize("command", ["simulate", "list", "config"])
def test_examples_in_a_help_work_as_pasted(capsys, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    assert examples(command)
    for line in examples(command):
        assert run(capsys, *shlex.split(line)[1:])


@pytest.mark.slow
def test_examples_on_results_work_as_pasted(tmp_path):
    """In a checkout without results, as one script."""
    for part in ("Snakefile", "conf", "workflow", "profiles", "src", "pyproject.toml"):
        (tmp_path / part).symlink_to(ROOT / part)
    lines = dict.fromkeys(
        line for c in ("", "claims", "fit", "compare", "clean") for line in examples(c)
    )
    script = "\n".join(["set -e", *lines]).replace("confee clean", "confee clean --yes")
    env = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    env |= {"PYTHONPATH": str(ROOT / "src"), "CONFEE_CACHE": str(jit.ROOT)}
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_command_has_an_example():
    (commands,) = (a for a in cli._parser()._actions if isinstance(a.choices, dict))
    shown = [choice.dest for choice in commands._choices_actions]
    assert shown == list(cli.EXAMPLES)
    for command in shown:
        assert any(line.startswith(f"confee {command}") for line in examples(command))


def test_config_prints_what_it_resolves_to(capsys):
    import yaml

    said = yaml.safe_load(run(capsys, "config", "experiment=tiny", "grid.T=[1e4]"))
    assert said["name"] == "tiny"
    assert said["grid"]["T"] == [10000]
    assert refuse(capsys, "config", "experiment=tiny", "grd.T=[1e4]") == (
        "grd={'T': [10000.0]}: no such key; did you mean grid?"
    )


def test_results_that_are_not_there_are_named_with_how_to_make_them(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = refuse(capsys, "claims", "--experiment", "tiny")
    assert said.startswith("results/tiny/claims.json: missing; run: snakemake")
    missing = "results/tiny/regret.parquet: missing; looked for in .*; run: snakemake"
    with pytest.raises(ConfeeError, match=missing):
        load("tiny")
    # Nothing can make these: no command is advised.
    said = [refuse(capsys, "claims", "--experiment", name) for name in ("nope", "nope.claims")]
    with pytest.raises(ConfeeError) as caught:
        load("nope")
    for text in (*said, str(caught.value)):
        assert "no experiment is called nope; known: " in text
        assert "snakemake" not in text
    folder = tmp_path / "results" / "tiny"
    folder.mkdir(parents=True)
    for name, text in (("claims.json", "{"), ("regret.parquet", "PAR1")):
        (folder / name).write_text(text)
    assert "results/tiny/claims.json: damaged" in refuse(capsys, "claims", "--experiment", "tiny")
    with pytest.raises(ConfeeError, match=r"results/tiny/regret.parquet: damaged"):
        load("tiny")


def test_a_reader_that_goes_away_is_no_error():
    command = [sys.executable, "-m", "confee", "list"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.wait()


# --------------------------------------------------------------------------- the ledger


def leave_ledger(monkeypatch, tmp_path, *findings):
    monkeypatch.chdir(tmp_path)
    made = [
        Finding(
            id,
            "a statement",
            "Theorem 1",
            outcome,
            "a prediction",
            "a number",
            "T up to 10",
            controls=(Control("uniform", "fails", True, 1.0),),
            numbers={"runs": 3},
            why="the rule",
            seeds=4,
            interval=(0.1, 0.2),
            basis="counted",
            steps=(Step("part one", outcome, 0.5, "n"),),
            corrections=tuple(
                Correction("Lemma 4", "$a$", "$b$", word, "b is meant", "none")
                for word in severities
            ),
        )
        for id, outcome, *severities in findings
    ]
    about = {"experiment": "paper", "toy": False, "code": "0"}
    write_text("results/paper/claims.json", ledger.to_json(made, about))


LEDGER = (
    ("query-runs", "fails", "rounding", "gap"),
    ("idle-runs", "undecided"),
    ("density", "holds", "typo"),
)


def test_claims_lists_and_explains(capsys, monkeypatch, tmp_path):
    leave_ledger(monkeypatch, tmp_path, *LEDGER)
    shown = run(capsys, "claims")
    assert "3 claims: 1 none (1 not settled), 1 typo, 1 gap, 0 false" in shown
    assert "as printed: 1 fails, 1 undecided, 1 holds" in shown
    rows = {line.split()[0]: line.split()[1:5] for line in shown.splitlines()}
    assert rows["query-runs"][1:3] == ["fails", "gap"]
    assert rows["idle-runs"][1:3] == ["undecided", "none"]
    assert rows["density"][1:3] == ["holds", "typo"]
    one = run(capsys, "claims", "query-runs")
    for text in (
        "a statement",
        "Theorem 1",
        "a prediction",
        "the rule",
        "(1): fails, as expected",
        "[0.1, 0.2]",
        "part one",
        "fails (not true as printed)  severity: gap",
        "Lemma 4. Printed: a. Corrected: b (holds). rounding: b is meant. Effect: none",
        "claims=[query-runs]",
    ):
        assert text in one, text
    assert "idle-runs" not in one
    assert '"runs": 3' not in one
    assert '"runs": 3' in run(capsys, "claims", "query-runs", "--numbers")


def test_fail_on_takes_outcomes_and_severities_and_gives_an_exit_code(
    capsys, monkeypatch, tmp_path
):
    leave_ledger(monkeypatch, tmp_path, *LEDGER)
    for words in ("vacuous", "false,condition", "rounding"):  # the gravest severity counts
        assert "density" in run(capsys, "claims", "--fail-on", words)
    assert "density" in run(capsys, "claims", "density", "--fail-on", "fails,gap")
    for words, found in (
        ("fails,undecided", "query-runs, idle-runs"),
        ("gap,false,undecided", "query-runs, idle-runs"),
        ("typo", "density"),
    ):
        with pytest.raises(SystemExit) as stop:
            cli.main(["claims", "--fail-on", words])
        assert stop.value.code == 2
        out = capsys.readouterr()
        assert out.err == f"confee: --fail-on={words}: {found}\n"
        assert "density" in out.out


def test_claims_refuses_what_it_does_not_know(capsys, monkeypatch, tmp_path):
    leave_ledger(monkeypatch, tmp_path, *LEDGER)
    assert refuse(capsys, "claims", "nonsense").startswith("claim=nonsense: unknown; must be one")
    said = refuse(capsys, "claims", "hyque-budget")
    assert said.startswith(
        "claim=hyque-budget: not judged in paper; judged are query-runs, idle-runs, density; run: "
    )
    assert "claims=[hyque-budget]" in said
    said = refuse(capsys, "claims", "--fail-on", "bad")
    words = [word for word in (*OUTCOMES, *SEVERITIES, "closed") if word != "none"]
    assert said == f"--fail-on=bad: must be among {', '.join(words)}"
    assert refuse(capsys, "claims", "--fail-on", "gap,none").startswith("--fail-on=none: must be")
    file = tmp_path / "results/paper/claims.json"
    text = file.read_text()
    old = {"version": 2, "claims": [{"id": "density", "verdict": "fails"}]}
    file.write_text(json.dumps(old))
    command = reproduce.snakemake("experiment=paper")
    told = refuse(capsys, "claims")
    assert OTHER_VERSION in told
    assert "damaged" not in told
    assert told.endswith(f"; run: {command}")
    file.write_text(text.replace('"why"', '"because"'))
    assert f"claims.json: damaged, or {OTHER_VERSION}; run:" in refuse(capsys, "claims")
    stages.keep_note("paper", "claims", "key", [Path("results/paper/claims.json")])
    assert f"claims.json: {OTHER_VERSION}; run:" in refuse(capsys, "claims")  # not damaged


@pytest.mark.parametrize(
    "change",
    [
        {"as_printed": "great"},
        {"as_printed": None},
        {"id": 3},
        {"controls": None},
        {"steps": [1]},
        {"controls": [{"what": "a", "as_expected": "maybe"}]},
        {"interval": ["a", "b"]},
        {"interval": [1]},
        {"why": 3},
        {"steps": [{}]},
        {"controls": [{"what": "a", "value": "x"}]},
        {"why": "\x1b[31m"},
        {"measured": None},
        {"seeds": "x"},
        {"id": "density"},
        {"corrections": []},
        {"severity": "typo"},
        {"mended": "fails"},
        {"breaks": False},
        {"gloss": ""},
        {"reason": "another"},
        {"basis": "measured"},
    ],
)
def test_a_ledger_with_wrong_things_inside_is_damaged_in_one_line(
    capsys, monkeypatch, tmp_path, change
):
    leave_ledger(monkeypatch, tmp_path, *LEDGER)
    file = tmp_path / "results/paper/claims.json"
    said = json.loads(file.read_text())
    said["claims"][0] |= change
    file.write_text(json.dumps(said))
    for arguments in ((), ("query-runs",)):
        assert "claims.json: damaged" in refuse(capsys, "claims", *arguments)


def test_a_ledger_follows_its_schema(monkeypatch, tmp_path):
    validator = jsonschema.Draft202012Validator(schema.schema())
    validator.check_schema(validator.schema)
    claim = validator.schema["properties"]["claims"]["items"]
    names = [field.name for field in dataclasses.fields(Finding)]
    assert list(claim["properties"]) == [*names, *schema.DERIVED]
    assert set(claim["required"]) == set(claim["properties"])
    for name, kind in ledger.PARTS.items():
        fields = [field.name for field in dataclasses.fields(kind)]
        assert list(claim["properties"][name]["items"]["properties"]) == fields
    assert claim["properties"]["as_printed"]["enum"] == list(OUTCOMES)
    assert claim["properties"]["severity"]["enum"] == list(SEVERITIES)
    leave_ledger(monkeypatch, tmp_path, *LEDGER)
    said = json.loads((tmp_path / "results/paper/claims.json").read_text())
    validator.validate(said)
    first = said["claims"][0]
    for broken in (
        {"as_printed": "true"},
        {"severity": "bad"},
        {"p_value": 2},
        {"colour": "red"},
        {"verdict": "fails"},
        {"basis": "guessed"},
        {"gloss": "?"},
        {"ours": 1},
        {"breaks": None},
        {"controls": [{**first["controls"][0], "failed": True}]},
        {"corrections": [{**first["corrections"][0], "severity": "bad"}]},
        {"readings": [{"choice": "a"}]},
        {"steps": [{"step": "a", "outcome": "b"}]},
    ):
        assert list(validator.iter_errors({**said, "claims": [{**first, **broken}]})), broken
    assert list(validator.iter_errors({**said, "version": 2}))


@pytest.mark.parametrize("name", ["../paper", "/etc", "", ".", "paper/", "a b"])
def test_an_experiment_is_named_by_a_word(capsys, name):
    assert "must be the name of an experiment" in refuse(capsys, "claims", "--experiment", name)


@pytest.mark.parametrize("words", ["", ",", "fails,"])
def test_fail_on_takes_words_only(capsys, monkeypatch, tmp_path, words):
    leave_ledger(monkeypatch, tmp_path, *LEDGER)
    assert refuse(capsys, "claims", f"--fail-on={words}").startswith("--fail-on='': must be among")


def test_without_a_fit_there_is_no_interval(capsys, monkeypatch, tmp_path):
    nan = float("nan")
    leave_ledger(monkeypatch, tmp_path, ("density", "undecided"))
    odd = Finding(
        "density",
        "s",
        "p",
        "undecided",
        "p",
        "m",
        "T",
        interval=(nan, nan),
        controls=(Control("x", "fails", False, nan, "why"),),
        steps=(Step("a", "holds", nan),),
    )
    write_text("results/paper/claims.json", ledger.to_json([odd]))
    shown = run(capsys, "claims", "density")
    assert "Interval" not in shown
    assert "nan" not in shown + ledger.to_markdown([odd])
    assert "x: does not fail, but should (why)" in shown


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
def test_a_closed_stream_stops_nothing(tmp_path, closed):
    """`confee ... >&-` writes nowhere; a result still reaches a stream that is open, and a file."""
    asked = (
        "simulate policy=ucb1 adversary=switching adversary.gap=0.2 K=2 T=1000 B=200 V=1 "
        "seeds=2 output=cell.parquet"
    )
    words = f"{shlex.quote(sys.executable)} -m confee {asked} {closed}"
    done = subprocess.run(["sh", "-c", words], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert (tmp_path / "cell.parquet").stat().st_size > 1000
    if ">&-" not in closed.replace("2>&-", ""):
        assert len(json.loads(done.stdout.splitlines()[-1])["regret"]) == 4
    wrong = words.replace("K=2", "K=0")
    assert subprocess.run(["sh", "-c", wrong], cwd=tmp_path, capture_output=True).returncode == 1
