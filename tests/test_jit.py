"""Edited kernels never run as they were: numba's cache has a folder for each version."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from confee.core import jit
from confee.core.errors import ConfeeError

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


@pytest.mark.skipif(jit.disabled(), reason="nothing is compiled")
def test_a_kernels_file_that_is_damaged_is_not_read(tmp_path):
    """At the only place where numba reads: what comes of it would be run."""
    file = jit._Sealed(str(tmp_path), "kernel", "stamp")
    file.save("key", b"code")
    assert file.load("key") == b"code"
    for path in map(Path, (file._index_path, file._data_path("kernel.1.nbc"))):
        whole = path.read_bytes()
        cut = [whole[:n] for n in range(len(whole))]
        bits = [
            (whole[: n // 8] + bytes([whole[n // 8] ^ 1 << n % 8]) + whole[n // 8 + 1 :])
            for n in range(8 * len(whole))
        ]
        for damaged in (*cut, *bits):
            path.write_bytes(damaged)
            assert file.load("key") is None
        file.save("key", b"code")
        assert path.read_bytes() == whole


@pytest.mark.skipif(jit.disabled(), reason="nothing is compiled")
def test_damaged_kernels_are_compiled_anew(tmp_path):
    cache = {"CONFEE_CACHE": str(tmp_path)}
    first = play(ROOT / "src", **cache)
    kept = sorted(f for kind in ("i", "c") for f in tmp_path.rglob(f"ucb1.play*.nb{kind}"))
    assert len(kept) >= 2
    for file in kept:
        file.write_bytes(file.read_bytes()[:100])
    assert play(ROOT / "src", **cache) == first
    assert all(jit._whole(file) for file in kept)


@pytest.mark.slow
def test_an_edit_of_a_policy_or_of_a_shared_kernel_changes_the_numbers(source, tmp_path):
    cache = {"CONFEE_CACHE": str(tmp_path / "cache")}
    first = play(source, **cache)
    assert play(source, **cache) == first

    policy = source / "confee/policies/ucb1.py"
    edit(policy, "update(ucb, arm, reward)", "update(ucb, arm, 1.0 - reward)")
    second = play(source, **cache)
    assert second != first

    # Called from the policy's kernel, in a file that numba's own cache does not watch.
    edit(
        source / "confee/world/game.py",
        "1.0 if rng.random() < mean else 0.0",
        "1.0 if rng.random() < 0.5 * mean else 0.0",
    )
    third = play(source, **cache)
    assert third not in (first, second)

    edit(source / "confee/world/game.py", "0.5 * mean else", "mean else")
    edit(policy, "1.0 - reward", "reward")
    assert play(source, **cache) == first


@pytest.mark.slow
def test_a_read_only_install_without_a_home_works(source, tmp_path):
    where = tmp_path / "no-home"
    where.write_text("a file, so that no folder can be made in it")
    env = {
        "HOME": str(where),
        "XDG_CACHE_HOME": "",
        "CONFEE_CACHE": "",
        "TMPDIR": str(tmp_path),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    for folder in [source, *(f for f in source.rglob("*") if f.is_dir())]:
        folder.chmod(0o555)
    assert play(source, **env) == play(source, **env)
    assert list(tmp_path.glob("confee-*/*/kernels-*"))
    for folder in [source, *(f for f in source.rglob("*") if f.is_dir())]:
        folder.chmod(0o755)
    assert not list(source.rglob("__pycache__"))


def test_a_cache_in_a_temporary_folder_is_this_users_alone(tmp_path, monkeypatch):
    """Compiled kernels are code: nobody else's are read, whoever made the folder first."""
    from confee.core import jit

    (tmp_path / "no-home").write_text("a file, so that no folder can be made in it")
    for name, value in (
        ("HOME", str(tmp_path / "no-home")),
        ("XDG_CACHE_HOME", ""),
        ("CONFEE_CACHE", ""),
    ):
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(jit.tempfile, "tempdir", str(tmp_path))
    usual = tmp_path / f"confee-{os.getuid()}"
    assert jit._root() == jit._root() == usual
    assert usual.stat().st_mode & 0o777 == 0o700

    usual.chmod(0o777)
    assert jit._root() not in (usual, jit._root())
    usual.rename(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").chmod(0o700)
    usual.symlink_to(tmp_path / "elsewhere")
    assert jit._root() != usual
    usual.unlink()
    usual.mkdir(0o700)
    monkeypatch.setattr(jit.os, "getuid", lambda: os.lstat(usual).st_uid)
    assert jit._root() == usual
    monkeypatch.setattr(jit.os, "getuid", lambda: 4711)
    assert not jit._ours(usual)


def test_a_cache_that_everybody_can_write_is_not_used_unless_it_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(jit.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("CONFEE_CACHE", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    usual = tmp_path / "xdg" / "confee"
    assert jit._root() == usual
    usual.chmod(0o770)
    assert jit._root() == usual
    assert usual.stat().st_mode & 0o777 == 0o750
    usual.chmod(0o777)
    assert jit._root() == tmp_path / f"confee-{os.getuid()}"
    monkeypatch.setenv("CONFEE_CACHE", str(usual))
    assert jit._root() == usual


def test_the_cache_that_is_named_may_begin_with_a_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CONFEE_CACHE", "~/x")
    assert jit._root() == tmp_path / "x"
    monkeypatch.setenv("CONFEE_CACHE", "~no-such-user/x")
    with pytest.raises(ConfeeError, match=r"^CONFEE_CACHE=~no-such-user/x: must be a folder"):
        jit._root()


def test_a_user_without_a_home_has_a_temporary_cache(tmp_path, monkeypatch):
    """As in a container whose user id is in no list."""
    import pwd

    def unknown(_):
        raise KeyError

    for name in ("HOME", "XDG_CACHE_HOME", "CONFEE_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    monkeypatch.setattr(jit.tempfile, "tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert jit._root() == tmp_path / f"confee-{os.getuid()}"
    assert not (tmp_path / "~").exists()


@pytest.mark.skipif(jit.disabled(), reason="nothing is compiled")
def test_kernels_are_compiled_on_a_disk_without_locks(monkeypatch):
    import errno

    from confee.workflow import jobs

    compiled = []
    monkeypatch.setattr(jobs, "compiled", lambda name: Path(f"/no/such/{name}"))
    monkeypatch.setattr(jobs, "_compile", compiled.append)
    monkeypatch.setattr(Path, "touch", lambda *_: None)
    monkeypatch.setattr(jobs.costs, "keep", lambda *_, **__: None)

    def without(number):
        def flock(*_):
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(jobs.fcntl, "flock", flock)

    without(errno.ENOSYS)
    jobs.compile_lacking(["ucb1"])
    assert compiled == ["ucb1"]
    without(errno.EIO)
    with pytest.raises(ConfeeError, match=r"lock: Input/output error"):
        jobs.compile_lacking(["ucb1"])


def test_each_module_has_a_folder_named_after_what_it_is_compiled_from():
    from confee.core import jit
    from confee.core.sources import code_hash
    from confee.policies import ucb, ucb1

    for module in (ucb, ucb1):
        assert jit.folder(module.__name__).name == f"kernels-{code_hash([module.__name__])}"
    assert jit.folder(ucb.__name__) != jit.folder(ucb1.__name__)
    kept = ucb1.play._cache._impl.locator.get_cache_path()
    assert kept.startswith(str(jit.folder(ucb1.__name__)))


def test_a_kernel_from_elsewhere_is_not_cached():
    from numba.core.caching import NullCache

    from confee.core import jit

    made = jit.njit(lambda x: x + 1)
    assert isinstance(made._cache, NullCache)
    assert made(1) == 2


def test_old_cache_folders_go_and_young_ones_stay(tmp_path, monkeypatch):
    from confee.core import jit

    monkeypatch.setattr(jit, "ROOT", tmp_path)
    young, old, shared = (tmp_path / "zen5-0123abcd" / f"kernels-{c * 16}" for c in "abc")
    others = [tmp_path / "linux" / "kernels-6.1", tmp_path / "kernels-paper"]
    for folder in (young, old, shared, *others):
        (folder / "policies_1").mkdir(parents=True)
        (folder / "compiled").touch()
        (folder / "policies_1" / "ucb.play-1.py311.nbi").touch()
    (shared / "policies_1" / "notes.txt").touch()
    link = young.parent / f"kernels-{'d' * 16}"
    link.symlink_to(others[0])
    for folder in (old, shared, *others):
        os.utime(folder, (1e9, 1e9))
    assert jit.prune() == [old]
    assert [file.name for file in shared.rglob("*")] == ["policies_1", "notes.txt"]
    for folder in (young, *others, link):
        assert (folder / "policies_1" / "ucb.play-1.py311.nbi").exists()


def test_a_leaf_that_returns_an_array_is_refused():
    """It would be freed while the caller holds it. numba refuses some of these itself, but not
    what a leaf passes on from another function."""

    @jit.njit
    def pair(n):
        return np.zeros(n), n

    @jit.leaf
    def passes_on(n):
        return pair(n)

    @jit.njit
    def caller(n):
        return passes_on(n)[1]

    if not jit.disabled():
        with pytest.raises(ConfeeError, match="passes_on: a leaf must return no array"):
            caller(3)
