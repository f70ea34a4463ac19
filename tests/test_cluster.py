"""What changes where jobs run on other machines: their size, what they are told, their kernels."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numba
import pytest
import yaml

from confee.core import jit
from confee.workflow import handoff
from confee.workflow.planning import Workflow

ROOT = Path(__file__).parents[1]
TINY = "experiment=tiny claims=[hyque-budget] figures=[regret-T] name=nowhere "
OTHER = {"NUMBA_CPU_NAME": "generic"}
"""As if this were another kind of CPU, whatever it is."""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_jobs_are_larger_on_other_machines_and_play_the_same():
    here, away = (
        Workflow({"overrides": TINY + "jobs.cells=1"}),
        Workflow({"overrides": TINY}, remote=True),
    )
    split = Workflow({"overrides": TINY + "jobs.remote=1e5"}, remote=True)
    kinds = [[job.kind for job in run.jobs.values()].count("play") for run in (here, away, split)]
    assert kinds[1] == 1 < kinds[2] < kinds[0]
    units = [
        {u["file"] for job in run.jobs.values() for u in json.loads(job.text)["units"]}
        for run in (here, away, split)
    ]
    assert units[0] == units[1] == units[2]
    assert here.keys == away.keys
    assert here.plan_file == away.plan_file


def test_a_job_elsewhere_is_told_what_the_run_knows(monkeypatch):
    run = Workflow({"overrides": TINY}, remote=True)
    run.prepare(dry=True)
    monkeypatch.setenv(handoff.VARIABLE, run.handoff_file)
    assert handoff.read().text == run.handoff.text
    monkeypatch.setenv(handoff.VARIABLE, "results/jobs/handoff-gone.json")
    assert handoff.read() is None
    monkeypatch.delenv(handoff.VARIABLE)
    assert handoff.read() is None


def test_what_it_is_told_needs_nothing_that_plays_or_plans():
    code = (
        "import sys, confee.workflow.handoff, confee.workflow.captions, confee.rendering\n"
        "heavy = 'numba', 'hydra', 'pyarrow', 'confee.workflow.planning'\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_each_kind_of_cpu_has_its_own_kernels(monkeypatch):
    mine = jit._cpu()
    assert jit.HERE.name == mine
    assert jit.folder("confee.policies.uniform").parent == jit.HERE
    monkeypatch.setattr(numba.config, "CPU_FEATURES", "+none-that-exists")
    features = jit._cpu()
    monkeypatch.setattr(numba.config, "CPU_NAME", "generic")
    assert len({mine, features, jit._cpu()}) == 3


def played(names, folder, **env):
    """What two processes print that do two jobs at the same time, and the bytes they leave."""
    run = [sys.executable, "-m", "confee", "do"]
    handoff = {**os.environ, "CONFEE_CONF": str(ROOT / "conf"), "NUMBA_DEBUG_CACHE": "1", **env}
    both = [
        subprocess.Popen(
            [*run, f"results/jobs/{name}.json"],
            env=handoff,
            text=True,
            cwd=folder,
            stdout=subprocess.PIPE,
        )
        for name in names
    ]
    said = [one.communicate(timeout=300)[0] for one in both]
    assert [one.returncode for one in both] == [0, 0]
    return "".join(said), {file.name: file.read_bytes() for file in folder.glob("**/*.parquet")}


@pytest.mark.slow
def test_two_jobs_on_another_kind_of_node_compile_once_and_play_the_same(tmp_path):
    run = Workflow({"overrides": TINY + "jobs.cells=1"})
    names = [name for name, job in run.jobs.items() if "uniform" in "".join(job.stamps)][:2]
    made = []
    for where, env in (("here", {}), ("other", {**OTHER, "CONFEE_CACHE": str(tmp_path / "cache")})):
        (tmp_path / where / "results" / "jobs").mkdir(parents=True)
        for name in names:
            (tmp_path / where / "results" / "jobs" / f"{name}.json").write_text(run.jobs[name].text)
        made.append(played(names, tmp_path / where, **env))
    saved = re.findall(r"data saved to '(.*)'", made[1][0])
    assert saved
    assert len(set(saved)) == len(saved)
    assert all("/generic-" in file for file in saved)
    assert made[0][1] == made[1][1] != {}


def test_the_profile_for_slurm_keeps_what_the_default_one_needs():
    default, slurm = (
        yaml.safe_load((ROOT / "profiles" / name / "config.yaml").read_text())
        for name in ("default", "slurm")
    )
    but_for = {"latency-wait"}  # longer: files come over the network
    assert {k: slurm[k] for k in default.keys() - but_for} == {
        k: default[k] for k in default.keys() - but_for
    }
    assert slurm["latency-wait"] >= default["latency-wait"]


@pytest.mark.slow
def test_smoke_through_slurm_leaves_the_bytes_of_a_local_run():
    sys.path.insert(0, str(ROOT / "tests" / "cluster"))
    from slurm import lacking

    if why := lacking():
        pytest.skip(why)
    if not importlib.util.find_spec("snakemake_executor_plugin_slurm"):
        pytest.skip("no snakemake-executor-plugin-slurm: pip install -e .[cluster]")
    done = subprocess.run(
        [sys.executable, ROOT / "tests/cluster/run.py"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
