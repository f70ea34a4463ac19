"""Edited kernels never run as they were: numba's cache has a folder for each version."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CELL = ["policy=ucb1", "adversary=switching", "K=2", "T=2000", "B=400", "V=2", "seeds=2"]


def play(source, **more):
    env = {**os.environ, "PYTHONPATH": str(source), "CONFEE_CONF": str(ROOT / "conf"), **more}
    command = [sys.executable, "-m", "confee", "simulate", *CELL]
    done = subprocess.run(command, env=env, capture_output=True, text=True, cwd=source.parent)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def source(tmp_path):
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "src"


def edit(file, old, new):
    text = file.read_text()
    assert text.count(old) == 1, (file, old)
    file.write_text(text.replace(old, new))


@pytest.mark.slow
def test_an_edit_of_a_policy_or_of_a_shared_kernel_changes_the_numbers(source, tmp_path):
    cache = {"CONFEE_CACHE": str(tmp_path / "cache")}
    first = play(source, **cache)
    assert play(source, **cache) == first

    policy = source / "confee/policies/ucb1.py"
    edit(policy, "choose(ucb, tau, exploration, rng)", "choose(ucb, tau, 9.0 * exploration, rng)")
    second = play(source, **cache)
    assert second != first

    # Called from the policy's kernel, in a file that numba's own cache does not watch.
    edit(source / "confee/world/game.py", "1.0 if rng.random() < mean else 0.0",
         "1.0 if rng.random() < 0.5 * mean else 0.0")  # fmt: skip
    third = play(source, **cache)
    assert third not in (first, second)
    assert len(list((tmp_path / "cache").glob("kernels-*"))) == 3

    edit(source / "confee/world/game.py", "0.5 * mean else", "mean else")
    edit(policy, "9.0 * exploration", "exploration")
    assert play(source, **cache) == first


@pytest.mark.slow
def test_a_read_only_install_without_a_home_works(source, tmp_path):
    where = tmp_path / "no-home"
    where.write_text("a file, so that no folder can be made in it")
    env = {"HOME": str(where), "XDG_CACHE_HOME": "", "CONFEE_CACHE": "", "TMPDIR": str(tmp_path),
           "PYTHONDONTWRITEBYTECODE": "1"}  # fmt: skip
    for folder in [source, *(f for f in source.rglob("*") if f.is_dir())]:
        folder.chmod(0o555)
    assert play(source, **env) == play(source, **env)
    assert list(tmp_path.glob("confee-*/kernels-*"))
    for folder in [source, *(f for f in source.rglob("*") if f.is_dir())]:
        folder.chmod(0o755)
    assert not list(source.rglob("__pycache__"))


def test_the_cache_folder_is_named_after_the_kernels_sources():
    from confee import jit

    assert jit.source_hash() in jit.CACHE.name
    assert os.environ["NUMBA_CACHE_DIR"] == str(jit.CACHE)


def test_old_cache_folders_go_and_young_ones_stay(tmp_path, monkeypatch):
    from confee import jit

    monkeypatch.setattr(jit, "CACHE", tmp_path / "kernels-current")
    for age, name in enumerate(["current", "young", "old", "older"]):
        folder = tmp_path / f"kernels-{name}"
        folder.mkdir()
        os.utime(folder, (1e9 - age, 1e9 - age) if name != "young" else None)
    gone = jit.prune()
    assert {f.name for f in gone} == {"kernels-old", "kernels-older"}
    assert jit.CACHE.exists()
