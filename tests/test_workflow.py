"""conf -> Snakemake -> results, on a few cells: what is made, made again, and never reused."""

import hashlib
import html
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pandas as pd
import pyarrow.parquet as pq
import pytest
import yaml

from confee import compare, load, simulate, worst_case
from confee.claims import CLAIMS
from confee.claims.schema import FILE, VERSION
from confee.rendering import exhibit
from confee.rendering.words import plain
from confee.workflow import comparing
from support.project import RESULTS, ROOT, SMALL, Project

JOBS_OF_SMALL = {
    "simulate": 1,
    "calibrate": 2,
    "regret": 1,
    "slopes": 1,
    "claims": 1,
    "figure": 2,
    "table": 2,
    "album": 1,
    "report": 1,
}


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A finished run: not to be changed, copy it."""
    project = Project.fresh(tmp_path_factory.mktemp("done"))
    assert project.dry().items() >= JOBS_OF_SMALL.items()
    project.before = project.looked
    assert not project.results.exists()
    project.said = project.run()
    return project


@pytest.fixture
def copy(done, tmp_path):
    """Its results in another folder, without Snakemake's metadata."""
    project = Project.fresh(tmp_path)
    shutil.copytree(done.folder / "results", tmp_path / "results")
    shutil.copytree(done.folder / "figures", tmp_path / "figures")
    return project


def test_a_run_makes_what_it_promises_and_shows_a_line_a_stage(done):
    for name in (*RESULTS, "claims.md", "report.html"):
        assert (done.results / name).stat().st_size > 0
    for name in ("block.pdf", "block.svg", "block.txt", "table1.csv", "table1.tex", "all.tex"):
        assert (done.folder / "figures" / "tiny.claims" / name).stat().st_size > 0
    lines = done.said.splitlines()
    assert "simulating: 1 job" in lines
    assert any(line.startswith("calibrating thresholds: 2 of 2 done") for line in lines)
    assert "lower-bound/measured" in done.said
    assert lines[-1].startswith("figures: figures/tiny.claims/ (all.tex")
    assert lines[-2].startswith("report: results/tiny.claims/")
    assert Path(done.folder, lines[-2].removeprefix("report: ")).exists()
    assert not list(done.folder.glob("results/**/.part-*"))
    said = json.loads((done.results / "claims.json").read_text())
    assert said["version"] == VERSION
    assert [claim["id"] for claim in said["claims"]] == ["lower-bound/measured"]


def test_the_report_shows_what_the_run_made(done):
    page = (done.results / "report.html").read_text()
    for said in (
        'id="claim-lower-bound/measured"',
        'id="figure-block"',
        'id="figure-regret-T"',
        'id="table-table1"',
        "<td>simulating</td>",
        'download="worst.csv"',
        "claims=[lower-bound/measured]",
    ):
        assert said in page
    assert str(done.folder) not in page


def test_a_second_run_does_nothing_whatever_pythons_hash(done):
    said = done.run("--cores", "1", PYTHONHASHSEED="1")
    assert "nothing to be done" in said
    assert said.splitlines()[-2:] == done.said.splitlines()[-2:]


@pytest.mark.parametrize("policy", ["hyque", "hyque_calibrated", "rexp3b", "uniform"])
def test_simulate_gives_the_rows_of_the_workflow(done, policy):
    runs = load("tiny.claims", results=done.folder / "results")
    runs = runs[(runs["policy"] == policy) & (runs["adversary"] == "switching")]
    for cell, rows in runs.groupby(["K", "T", "B", "V", "adversary.gap"]):
        K, T, B, V, gap = cell
        count = len(rows)
        assert sorted(rows["seed"]) == list(range(count))
        again = simulate(policy, "switching", gap=gap, K=K, T=T, B=B, V=V, seeds=count)
        rows = rows.sort_values("seed").reset_index(drop=True)
        assert rows[list(again)].equals(again)


def test_the_worst_cases_of_loaded_runs_are_those_of_the_workflow(done):
    runs = load("tiny.claims", results=done.folder / "results")
    found, kept = worst_case(runs), pd.read_csv(done.results / "worst.csv")
    assert len(found) == len(runs[["label", "K", "T", "B", "V"]].drop_duplicates()) == len(kept)
    pd.testing.assert_frame_equal(found[list(kept)], kept, check_dtype=False)


def test_the_configuration_is_kept_with_the_scales_that_were_found(done):
    kept = yaml.safe_load((done.results / "config.yaml").read_text())
    assert kept["grid"] == {"T": [1000]}
    assert "jobs" not in kept
    runs = load("tiny.claims", results=done.folder / "results")
    assert runs.attrs["confee"]["config"]["name"] == "tiny.claims"
    runs = runs[runs["policy"] == "hyque_calibrated"]
    found = {(s["K"], s["T"], s["B"]): s["scale"] for s in kept["scales"]}
    assert found.keys() == {tuple(cell) for cell in runs[["K", "T", "B"]].to_numpy()}
    for *cell, scale in runs[["K", "T", "B", "policy.scale"]].itertuples(index=False):
        assert scale == found[tuple(cell)]


def test_copied_results_are_reused_where_they_fit_and_nowhere_else(copy):
    assert copy.dry() == {}
    other = copy.dry(overrides=SMALL + " policies.hyque.scale=2")
    assert other["simulate"] == 1
    assert "calibrate" not in other
    below = ("regret", "slopes", "claims", "album", "report")
    assert other.items() >= {**dict.fromkeys(below, 1), "figure": 1, "table": 2}.items()
    # A dry run leaves no trace.
    assert copy.dry() == {}


def test_results_under_another_experiments_name_are_made_anew_from_the_cells(copy):
    shutil.copytree(copy.results, copy.folder / "results" / "other.claims")
    shutil.copytree(copy.folder / "figures/tiny.claims", copy.folder / "figures" / "other.claims")
    dry = copy.dry(overrides=SMALL + " name=other")
    assert "simulate" not in dry
    assert {"regret", "slopes", "claims", "figure", "table", "album", "report"} <= dry.keys()


def test_a_dry_run_tells_the_time_by_what_jobs_took(done, copy):
    kept = json.loads((done.folder / "results/logs/costs/tiny.claims.slopes.json").read_text())
    assert kept["cpu"] > 0
    played = [
        part
        for file in done.folder.glob("results/logs/costs/*.json")
        for part in json.loads(file.read_text())["parts"]
    ]
    assert {part["what"] for part in played} >= {"calibrate", "hyque", "rexp3b"}
    assert time_told(done.before).endswith("(rough: no such job was timed here yet)")
    copy.dry(overrides=SMALL + " policies.hyque.scale=2")
    assert time_told(copy.looked).endswith(" jobs timed here)")


def test_numbers_and_verdicts_are_those_of_the_stored_run(done):
    """Another machine, or another version of a library, may differ in the last digits alone.

    A change that is meant: copy claims.json, slopes.csv and worst.csv of a run of SMALL there.
    """
    found = compare(ROOT / "tests/tiny", done.results)
    assert found.same, "\n".join(comparing.lines(found))


def time_told(said):
    """What the last line of a dry run says."""
    found = re.fullmatch(r"time +about [\d.]+ (?:s|min) on 2 free cores(.*)", said.splitlines()[-1])
    return found[1]


@pytest.mark.slow
def test_snakemakes_report_shows_all_with_captions_and_changes_nothing(done, copy):
    before = {
        f: f.stat().st_mtime_ns
        for f in copy.folder.rglob("*")
        if f.is_file() and "jobs" not in f.parts
    }
    other = SMALL.replace("figures=[block,regret-T]", "figures=[block]")
    said = copy.run("--report", "other.html", overrides=other, fails=True)
    assert "missing, or of another configuration or code: regret, " in said
    assert not (copy.folder / "other.html").exists()
    copy.run("--report", "r.html")
    after = {f: f.stat().st_mtime_ns for f in before}
    assert after == before
    assert copy.dry() == {}
    text = (copy.folder / "r.html").read_text()
    for name in (
        "figures/tiny.claims/block.svg",
        "figures/tiny.claims/table1.csv",
        "results/tiny.claims/claims.md",
    ):
        assert f'"{name}"' in text
    said = (done.folder / "figures/tiny.claims/table1.txt").read_text()
    shown = html.escape(plain(said).strip()[:60])
    assert shown in text
    assert exhibit("block").section in text
    assert exhibit("block").title in text
    (copy.folder / "figures/tiny.claims/block.svg").unlink()
    said = copy.run("--report", "r.html", fails=True)
    assert "missing, or of another configuration or code: block; " in said


@pytest.mark.slow
def test_what_was_touched_stays_and_what_was_damaged_or_deleted_is_made_anew(copy):
    before = copy.bytes()
    for file in sorted(copy.folder.rglob("*"), key=lambda file: file.stat().st_mtime_ns):
        file.touch()
    assert copy.dry() == {}
    below = {"claims", "figure", "table", "album", "report"}
    for name, rules in (
        ("regret.parquet", {"regret", "slopes", *below}),
        ("slopes.csv", {"slopes", *below}),
        ("claims.json", {"claims", "table", "album", "report"}),
        ("report.html", {"report"}),
    ):
        file = copy.results / name
        whole, date = file.read_bytes(), file.stat().st_mtime_ns
        file.write_bytes(whole[: len(whole) // 2])
        assert copy.dry().keys() == rules
        file.write_bytes(whole)
        os.utime(file, ns=(date, date))
        assert copy.dry() == {}
    (copy.results / "worst.csv").unlink()
    cell = next(iter(copy.cells()))
    (copy.folder / cell).unlink()
    assert copy.dry().keys() == {"simulate", "regret", "slopes", *below}
    copy.run()
    assert (copy.folder / cell).exists()
    assert copy.bytes() == before
    assert copy.dry() == {}


@pytest.mark.slow
def test_a_cell_cut_short_is_played_again_and_a_damaged_one_named_with_what_to_do(copy):
    before = copy.bytes()
    # of two policies: a job of the cell that was cut would read the other turns of that cell first
    there = [copy.folder / name for name in copy.cells()]
    cut, cell = (  # the largest: those of turns that were not needed have no rows to be damaged
        max((f for f in there if f.parent.name == who), key=lambda file: file.stat().st_size)
        for who in ("rexp3b", "uniform")
    )
    cut.write_bytes(cut.read_bytes()[:100])
    whole = cell.read_bytes()
    cell.write_bytes(whole[:-20] + b"x" + whole[-19:])
    (copy.results / "regret.parquet").unlink()
    said = copy.run(fails=True)
    name = cell.relative_to(copy.folder)
    assert f"failed: regret: confee: {name}: damaged or not confee's; delete it and run" in said
    assert "log: results/tiny.claims/logs/regret.log" in said
    cell.unlink()
    copy.run()
    assert copy.bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize("units", ["there", "gone"])
def test_damaged_scales_and_jobs_are_made_anew(copy, units):
    before = copy.bytes()
    scale, lost, *_ = copy.folder.glob("results/calibration/*.json")
    text = scale.read_text()
    scale.write_text(text.replace('"scale":', '"scale":1'))
    lost.unlink()
    assert copy.dry() == {}  # all that was made with them is there
    (copy.results / "regret.parquet").unlink()
    if units == "gone":
        for cell in copy.folder.glob("results/cells/hyque_calibrated/*"):
            cell.unlink()
    assert copy.dry()["calibrate"] == 1  # a damaged one goes as a run begins; -n touches nothing
    for job in copy.folder.glob("results/jobs/*.json"):
        job.write_text("")
    copy.run()
    assert scale.read_text() == text
    assert copy.bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize(
    "how",
    ["jobs.shard=1", "jobs.shard=3 jobs.cells=1", "jobs.cells=1", "jobs.queries=1 jobs.shard=2"],
)
def test_neither_shards_nor_jobs_nor_cores_change_a_byte(done, tmp_path, how):
    project = Project.fresh(tmp_path)
    project.run("--cores", "1" if "cells" in how else "3", overrides=f"{SMALL} {how}")
    assert project.bytes() == done.bytes()


@pytest.mark.slow
@pytest.mark.parametrize("whom", ["all", "snakemake"])
def test_a_killed_run_is_finished_by_the_same_command(done, tmp_path, whom):
    project = Project.fresh(tmp_path)
    how = SMALL + " jobs.cells=1"
    process = project.start("--cores", "2", overrides=how)
    project.wait_for_a_cell()
    if whom == "all":
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()
    early = project.cells()
    assert early
    said = project.run("--cores", "1", overrides=how)
    assert ("confee: waiting for jobs of a killed workflow" in said) == (whom == "snakemake")
    assert project.bytes() == done.bytes()
    kept = project.cells()
    assert all(kept[name] == date for name, date in early.items())


@pytest.mark.slow
def test_a_folder_has_one_run_at_a_time(done, tmp_path):
    project = Project.fresh(tmp_path)
    process = project.start("--cores", "1")
    project.wait_for_a_cell()
    told = f"confee: a workflow is running in this folder (process {process.pid} on "
    said = project.run("--cores", "1", overrides=SMALL + " name=other", fails=True)
    assert said.splitlines()[-1].startswith(told)
    clean = [sys.executable, "-m", "confee", "clean", "--yes"]
    refused = subprocess.run(clean, cwd=tmp_path, capture_output=True, text=True)
    assert (refused.returncode, refused.stderr) == (
        1,
        "confee: a workflow is running in this folder; wait for it or stop it\n",
    )
    # Looking at another plan meanwhile does the run no harm.
    assert project.dry("--nolock", overrides=SMALL + " seeds.choose=3")
    process.communicate(timeout=300)
    assert process.returncode == 0
    assert project.bytes() == done.bytes()


@pytest.mark.slow
def test_clean_removes_what_no_experiment_needs_and_only_that(copy):
    needed = set(copy.cells())
    copy.run(overrides=SMALL + " name=other policies.hyque.scale=2")
    more = set(copy.cells())
    assert more > needed
    copy.clean()
    assert set(copy.cells()) == more
    shutil.rmtree(copy.folder / "results" / "other.claims")
    copy.clean()
    assert set(copy.cells()) == needed
    assert not list(copy.folder.glob("results/jobs/*"))
    assert copy.dry() == {}


@pytest.mark.slow
def test_a_run_that_does_not_finish_owns_nothing_and_loses_nothing(copy):
    needed, plan = set(copy.cells()), copy.results / "plan.json"
    before = plan.read_bytes()
    other = SMALL + " policies.hyque.scale=2 jobs.cells=1"
    copy.run("--cores", "1", "results/nothing", overrides=other, fails=True)
    copy.clean()
    assert set(copy.cells()) == needed
    process = copy.start("--cores", "1", overrides=SMALL + " policies.hyque.scale=3")
    copy.wait(lambda: len(list(copy.results.glob("begun/[!.]*.json"))) == 2)
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=300)
    copy.clean()
    assert set(copy.cells()) >= needed
    process = copy.start("--cores", "1", overrides=other)
    copy.wait(lambda: set(copy.cells()) > needed)
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=300)
    played = set(copy.cells())
    copy.clean()
    assert set(copy.cells()) == played
    assert plan.read_bytes() == before
    assert copy.dry() == {}
    # A run with nothing to be done lets go of nothing, nor does one of a part.
    copy.run("--cores", "1")
    copy.run("--cores", "1", "results/tiny.claims/worst.csv", overrides=other)
    assert plan.read_bytes() == before
    assert len(list(copy.results.glob("begun/[!.]*.json"))) == 2
    copy.run(overrides=other)
    assert not (copy.results / "begun").exists()
    assert plan.read_bytes() != before
    copy.clean()
    assert not needed <= set(copy.cells())
    assert copy.dry(overrides=other) == {}


@pytest.mark.slow
def test_a_dry_run_tells_the_truth_of_results_that_are_dated_after_now(copy):
    later = time.time() + 1e6
    for file in copy.folder.rglob("*"):
        if file.is_file():
            os.utime(file, (later, later))
    dates = {
        file: file.stat().st_mtime_ns
        for file in copy.folder.rglob("*")
        if file.is_file() and file.suffix != ".due"
    }
    assert copy.dry() == {}
    drawn = SMALL + " seeds.estimate=3"
    assert copy.dry(overrides=drawn).keys() >= {"simulate", "regret", "slopes", "claims", "figure"}
    (copy.results / "claims.json").write_text("{}")
    os.utime(copy.results / "claims.json", (later, later))
    assert copy.dry().keys() == {"claims", "table", "album", "report"}
    assert {file: file.stat().st_mtime_ns for file in dates} == dates
    copy.run()
    assert copy.dry() == {}


@pytest.mark.slow
def test_what_plays_nothing_changes_no_plan_and_takes_no_lock(copy):
    copy.run()  # it takes the copied results for its own
    plan = (copy.results / "plan.json").read_bytes()
    cells = copy.cells()
    other = SMALL + " policies.hyque.scale=2"
    lock = copy.folder / ".snakemake" / "confee.lock"
    held = lock.stat().st_mtime_ns
    looks = (
        "--dag",
        "--rulegraph",
        "--filegraph",
        "--summary",
        "-D",
        "--list-rules",
        "--touch",
        "--unlock",
        "-n",
    )
    for option in looks:
        before = {f: f.stat().st_mtime_ns for f in (copy.folder / "results").rglob("*")}
        copy.look(option, "--cores", "2", overrides=other)
        assert (copy.results / "plan.json").read_bytes() == plan, option
        after = {f: f.stat().st_mtime_ns for f in (copy.folder / "results").rglob("*")}
        assert after == before or option == "--touch", option
    assert lock.stat().st_mtime_ns == held
    copy.clean()
    assert copy.cells() == cells
    assert copy.dry() == {}


@pytest.mark.slow
def test_one_figure_can_be_asked_for(copy):
    shutil.rmtree(copy.folder / "figures")
    assert copy.dry("figures/tiny.claims/block.pdf") == {"figure": 1}
    copy.run("--cores", "1", "figures/tiny.claims/block.pdf")
    made = {f.name for f in (copy.folder / "figures/tiny.claims").iterdir()}
    assert made == {"block.pdf", "block.png", "block.svg", "block.txt"}


@pytest.mark.slow
def test_what_rests_on_other_runs_goes_with_them(copy):
    """After one figure of another configuration no verdicts of the first lie beside it."""
    figures = copy.folder / "figures" / "tiny.claims"
    other = SMALL + " centre.V=1"
    copy.run("--cores", "2", "results/tiny.claims/slopes.csv", overrides=other)
    assert "V: 1\n" in (copy.results / "config.yaml").read_text()
    for name in ("claims.json", "claims.md", "report.html"):
        assert not (copy.results / name).exists()
    assert {f.name for f in figures.iterdir()} == {
        f"block.{kind}" for kind in ("pdf", "png", "svg", "txt")
    }
    copy.run()
    assert copy.dry() == {}
    assert (copy.results / "claims.json").exists()


@pytest.mark.slow
def test_a_failed_job_says_why_and_the_others_go_on(tmp_path):
    project = Project.fresh(tmp_path)
    apart = SMALL + " jobs.cells=1"
    project.dry(overrides=apart)
    (tmp_path / "results/cells").mkdir(parents=True)
    (tmp_path / "results/cells/rexp3b").write_text("a file where a folder should be")
    said = project.run("--cores", "1", "--keep-going", overrides=apart, fails=True)
    assert "confee: results/cells/rexp3b/" in said
    assert "cannot be written: " in said
    assert "log: results/logs/simulate/" in said
    played = {name.parent.name for name in project.cells()}
    assert played == {"hyque", "hyque_calibrated", "informed", "oracle", "uniform"}
    there = project.cells()
    project.clean()
    assert project.cells() == there
    (tmp_path / "results/cells/rexp3b").unlink()
    project.run()


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        ("experiment=tiny seeds.chose=3", "confee: seeds.chose=3: no such key"),
        ("experiment=tiny 'x", "confee: overrides=experiment=tiny 'x: no closing quotation"),
        ("{a: 1}", "confee: overrides={'a': '1'}: must be one string"),
    ],
)
def test_bad_overrides_end_a_run_in_one_line(tmp_path, overrides, said):
    project = Project.fresh(tmp_path)
    lines = project.look("-n", overrides=overrides, fails=True).splitlines()
    assert [line for line in lines if not line.startswith("Using workflow")] == [lines[-1]]
    assert lines[-1].startswith(said)
    assert not (tmp_path / "results").exists()


def test_snakemakes_lint_asks_for_nothing_but_an_environment_a_rule(tmp_path):
    """Jobs run in the environment of Snakemake itself: one made for a rule would have no confee."""
    said = Project.fresh(tmp_path).look("--lint", fails=True)
    assert set(re.findall(r"\* (.+?):", said)) == {
        "Specify a conda environment or container for each rule."
    }


def test_regret_holds_no_trace_of_where_and_how_it_was_made(done):
    about = pq.read_schema(done.results / "regret.parquet").metadata
    assert set(about) == {b"confee", b"confee.rows"}
    said = json.loads(about[b"confee"])
    assert said.keys() == {"config", "version", "code", "scales"}
    assert str(done.folder).encode() not in (done.results / "regret.parquet").read_bytes()


@pytest.mark.slow
def test_smoke_judges_every_claim_in_the_form_of_the_schema(tmp_path):
    project = Project.fresh(tmp_path)
    project.run("--cores", "2", overrides="experiment=smoke")
    results = tmp_path / "results" / "smoke"
    said = json.loads((results / "claims.json").read_text())
    jsonschema.validate(said, json.loads(FILE.read_text()))
    # Those are of policies that `smoke` does not play.
    others = ("extension/", "alg-assumption/", "policy-rate/", "prior-free")
    assert [claim["id"] for claim in said["claims"]] == [
        id for id in CLAIMS if not id.startswith(others)
    ]
    text = (results / "claims.md").read_text()
    for claim in said["claims"]:
        assert claim["why"], claim["id"]
        assert claim["controls"], claim["id"]
        assert "toy horizon" in claim["horizon"] or not claim["evidence"], claim["id"]
        assert f"## {claim['id']}: {claim['as_printed']}" in text
        for file in claim["evidence"]:
            content = (tmp_path / file["file"]).read_bytes()
            assert hashlib.sha256(content).hexdigest() == file["sha256"]
    assert project.dry(overrides="experiment=smoke") == {}


@pytest.mark.slow
def test_one_claim_alone_is_planned_played_and_judged(tmp_path):
    project = Project.fresh(tmp_path)
    overrides = "experiment=smoke claims=[idle-runs,counting-lemma]"
    project.run("--cores", "2", overrides=overrides)
    results = tmp_path / "results" / "smoke.claims"
    said = json.loads((results / "claims.json").read_text())
    assert [claim["id"] for claim in said["claims"]] == ["idle-runs", "counting-lemma"]
    assert not list(tmp_path.glob("results/cells/*/*.parquet"))
    assert not (tmp_path / "figures").exists()
    assert pq.read_table(results / "regret.parquet").num_rows == 0
    assert pq.read_table(results / "studies" / "schedules.parquet").num_rows > 0
