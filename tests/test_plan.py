"""What is to be played, and what a change of conf or code makes to be played again."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from confee.canonical import digest
from confee.errors import ConfeeError
from confee.simulation.code import closure
from confee.simulation.plan import unit
from confee.workflow.run import Run

ROOT = Path(__file__).parents[1]
TINY = "experiment=tiny claims=[lower-bound/measured] "


def files(overrides=""):
    return {u.file.as_posix(): u for u in Run({"overrides": TINY + overrides}).plan.units}


def touched(before, after):
    """(policy, K, T, B, V) of the cells that one of two plans has alone."""
    names = before.keys() ^ after.keys()
    cells = (({**before, **after})[name].cell for name in names)
    return {(c.policy, c.K, c.T, c.B, c.V) for c in cells}


def test_a_unit_is_named_after_its_key_and_read_back():
    for name, one in files().items():
        assert name.endswith(f"{digest(one.key)}.parquet")
        said = json.loads(json.dumps(one.describe()))
        assert unit(said) == one
        with pytest.raises(ConfeeError, match="planned with other sources"):
            unit(said | {"file": "cells/hyque/0.parquet"})


def test_one_value_of_conf_touches_its_cells_and_no_other():
    before = files()
    assert {p for p, *_ in touched(before, files("policies.hyque.scale=2"))} == {"hyque"}
    longer = touched(before, files("grid.T=[1e3,2e3,4e3]"))
    assert longer
    assert all(T > 3000 for _, _, T, _, _ in longer)
    assert touched(before, files("+plays.rexp3b.estimate=2")) <= {
        (c.policy, c.K, c.T, c.B, c.V) for c in (u.cell for u in before.values())
        if c.policy == "rexp3b"
    }  # fmt: skip
    for neutral in ("jobs.cells=1", "jobs.queries=1", "figures=[block]", "toy=false", "name=other"):
        assert not touched(before, files(neutral))


def test_shards_cut_seeds_and_say_the_same():
    whole, cut = (Run({"overrides": TINY + f"jobs.shard={n}"}) for n in (0, 1))
    assert cut.about == whole.about
    assert cut.keys == whole.keys
    assert len(cut.plan.units) > len(whole.plan.units)


def test_every_unit_is_in_one_job(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for how in ("", "jobs.shard=1", "jobs.cells=1", "jobs.shard=3 jobs.cells=2"):
        run = Run({"overrides": TINY + how})
        jobs = {name: json.loads(job.text) for name, job in run.jobs.items()}
        played = [u["file"] for job in jobs.values() if job["kind"] == "play" for u in job["units"]]
        assert sorted(played) == sorted(u.file.as_posix() for u in run.missing)
        for name, job in jobs.items():
            if job["kind"] == "play":
                mine = {u["file"] for u in job["units"]}
                before = {f for u in job["units"] for f in u["after"]} - mine
                waits = {Path(f).stem for f in run.needs(name) if f.endswith(".done")}
                made = {u["file"] for other in waits for u in jobs[other]["units"]}
                assert before <= made


def test_jobs_do_not_depend_on_pythons_hash():
    code = (
        "from confee.workflow.run import Run\n"
        f"run = Run({{'overrides': {TINY!r} + 'name=nowhere'}})\n"
        "print(sorted(run.jobs), run.plan_file, run.keys, [run.needs(n) for n in run.jobs])"
    )
    said = [
        subprocess.run(
            [sys.executable, "-c", code], env=environment(PYTHONHASHSEED=seed), cwd=ROOT,
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("1", "2")
    ]  # fmt: skip
    assert said[0] == said[1]


def environment(**more):
    return {**os.environ, **more}


def replay(source, cwd):
    """policy -> the files of its cells, as a process with the sources in `source` names them."""
    code = (
        "import json\nfrom confee.workflow.run import Run\n"
        "run = Run({'overrides': 'experiment=smoke claims=[lower-bound/measured] grid.T=[1e4] '\n"
        "           '+policy@policies.baque=baque'})\n"
        "print(json.dumps([u.file.as_posix() for u in run.plan.units]))"
    )
    env = environment(PYTHONPATH=str(source), CONFEE_CONF=str(ROOT / "conf"))
    done = subprocess.run([sys.executable, "-c", code], env=env, cwd=cwd, capture_output=True,
                          text=True, check=True)  # fmt: skip
    return set(json.loads(done.stdout))


def test_an_edited_module_touches_the_policies_that_use_it(tmp_path):
    source = tmp_path / "src"
    shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
    package = source / "confee"
    before = replay(source, tmp_path)

    def policies(*edited):
        kept = {file: (package / file).read_text() for file in edited}
        for file, text in kept.items():
            (package / file).write_text(text + "\n# edited\n")
        after = replay(source, tmp_path)
        for file, text in kept.items():
            (package / file).write_text(text)
        return {name.split("/")[1] for name in before ^ after}

    for file in package.rglob("*.py"):
        file.touch()
    assert policies() == set()
    assert policies("policies/rexp3b.py") == {"rexp3b"}
    assert policies("policies/hyque.py") == {"hyque", "hyque_calibrated", "baque"}
    assert policies("simulation/calibrate.py") == {"hyque_calibrated"}
    assert "uniform" in policies("world/game.py")
    assert policies("evidence/slopes.py", "workflow/results.py", "config.py") == set()


def test_a_module_depends_on_what_it_imports_and_not_on_the_package_around():
    assert "confee.policies.ucb" in closure("confee.policies.hyque")
    assert "confee.policies.rexp3b" not in closure("confee.policies.hyque")
    assert "confee.rendering.figures.pace" not in closure("confee.rendering.figures.axes")


def test_jobs_import_nothing_slow_that_they_do_not_need():
    code = "import sys, confee.cli, confee.workflow.jobs; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & {"hydra", "omegaconf", "pandas", "scipy.stats", "matplotlib", "snakemake"}


def test_a_plan_is_made_without_pandas_and_statistics():
    code = "import sys, confee.workflow.run; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & {"pandas", "scipy.stats", "statsmodels", "matplotlib", "seaborn"}
