"""What a run does about kills, full disks and damaged files, by its parts; tests/faults has the
whole matrix."""

import errno
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from confee.core import jit
from confee.core.errors import ConfeeError
from confee.simulation import files
from confee.workflow import jobs, runlock, stages
from confee.workflow.planning import Workflow
from faults.folder import Said

TINY = {"overrides": "experiment=tiny"}

# ----------------------------------------------------------------------- who is at work


@pytest.fixture(autouse=True)
def no_run(monkeypatch):
    """`hold` tells the jobs of this process whose they are: after a test, nobody's."""
    monkeypatch.setenv(runlock.MINE, "")


def holder(call):
    """A process that calls something of runlock, says so and lives on."""
    program = (
        f"from confee.workflow import runlock; runlock.{call}(); print('held', flush=True); input()"
    )
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen([sys.executable, "-c", program], text=True, **pipes)


@pytest.fixture
def other(tmp_path, monkeypatch):
    """Begins such a process and waits for what it says."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(runlock, "_held", None)
    begun = []

    def start(call):
        made = holder(call)
        begun.append(made)
        assert made.stdout.readline() == "held\n"
        return made

    yield start
    for process in begun:
        process.kill()
        process.communicate()


def end(process, kill=signal.SIGKILL):
    process.send_signal(kill)
    process.wait()


def marks():
    """What a killed Snakemake leaves: a lock, a job that was at work, one with a long name."""
    made = [folder / name for folder in runlock.LEFT for name in ("a", "b/c")]
    for file in made:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    return made


def test_a_run_is_refused_while_another_lives_and_clears_what_a_killed_one_left(other):
    first = other("hold")
    assert runlock.alive()
    with pytest.raises(
        ConfeeError, match=rf"\(process {first.pid} on .*\); wait for it or stop it"
    ):
        runlock.hold()
    left = marks()
    end(first)
    assert not runlock.alive()
    runlock.hold()
    assert not any(one.exists() for one in left)


def test_a_job_that_begins_after_its_run_was_killed_leaves_the_next_one_alone(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(runlock, "_held", None)
    runlock.hold()
    program = "from confee.workflow import runlock; runlock.work(); print('at work')"

    def job(run):
        env = {**os.environ, runlock.MINE: run}
        command = [sys.executable, "-c", program]
        return subprocess.run(command, env=env, capture_output=True, text=True)

    mine, (host, process) = os.environ[runlock.MINE], os.environ[runlock.MINE].split()
    assert job(mine).stdout == job("").stdout == "at work\n"
    assert job(f"elsewhere {process}").stdout == "at work\n"
    late = job(f"{host} {int(process) + 1}")
    assert late.returncode == 1
    assert late.stderr.endswith("the workflow of this job has ended, and another has begun\n")


def test_records_that_snakemake_falls_over_are_removed_and_others_stay(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(runlock, "_held", None)
    damaged = (b'{"x": "\xb9"}', b"\xff", b"", b'{"rule":', b"3", b'"x"', b"null", b'{"rule": 3}')
    kept = (b'{"rule": "\xc3\xa9"}', b"{}")
    files = [runlock.RECORDS / "a" / str(n) for n in range(len(damaged) + len(kept))]
    files[0].parent.mkdir(parents=True)
    for file, data in zip(files, damaged + kept, strict=True):
        file.write_bytes(data)
    runlock.hold()
    assert [file.exists() for file in files] == [False] * len(damaged) + [True] * len(kept)


def test_a_lock_file_that_is_no_text_is_no_matter(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(runlock, "_held", None)
    runlock.LOCK.parent.mkdir()
    runlock.LOCK.write_bytes(b"\xff\xfe 3")
    runlock.hold()
    runlock.LOCK.write_bytes(b"\xff")
    with pytest.raises(ConfeeError, match="the workflow of this job has ended"):
        runlock.work()


def test_locks_that_another_host_left_are_not_for_us_to_remove(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    left = marks()
    runlock.LOCK.write_text("elsewhere 1")
    runlock.hold()
    assert all(one.exists() for one in left)
    assert runlock.LOCK.read_text() == f"{os.uname().nodename} {os.getpid()}"


def test_a_run_waits_for_jobs_that_outlived_their_run(other, tmp_path):
    end(other("hold"))
    job = other("work")
    assert runlock.alive()
    run = holder("hold")
    assert run.stderr.readline().startswith("confee: waiting for jobs of a killed workflow")
    time.sleep(0.1)
    assert run.poll() is None
    end(job)
    assert run.stdout.readline() == "held\n"
    run.communicate("\n")


def test_a_lock_file_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))  # no byte more, in any file
    try:
        with pytest.raises(ConfeeError, match=r"confee.lock: cannot be written: File too large"):
            runlock.hold()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_without_locks_a_run_goes_on_and_leaves_snakemakes_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def none(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(runlock.fcntl, "lockf", none)
    left = marks()
    runlock.hold()
    runlock.work()
    assert not runlock.alive()
    assert all(one.exists() for one in left)


# ----------------------------------------------------------------------- files


def test_a_table_that_is_empty_or_cut_short_is_not_there(tmp_path):
    file = tmp_path / "a.parquet"
    assert not files.is_whole(file)
    assert not files.is_whole(tmp_path)
    files.write_table(file, [{"x": 1.5}], {})
    assert files.is_whole(file)
    data = file.read_bytes()
    for length in (*range(0, len(data), 50), *range(len(data) - 20, len(data))):
        file.write_bytes(data[:length])
        assert not files.is_whole(file), length


def test_a_file_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    order = []
    real = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda fd: order.append("synced") or real[0](fd))
    monkeypatch.setattr(os, "replace", lambda a, b: order.append("named") or real[1](a, b))
    files.write_text(tmp_path / "a", "text")
    assert order == ["synced", "named"]


def test_a_full_disk_is_named_and_leaves_what_was_there(tmp_path):
    file = tmp_path / "a"
    files.write_text(file, "before")

    def full(part):
        part.write_text("half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(ConfeeError, match="a: cannot be written: No space left on device"):
        files.write_whole(file, full)
    assert [f.name for f in tmp_path.iterdir()] == ["a"]
    assert file.read_text() == "before"


def test_a_full_disk_of_kernels_is_named(tmp_path, monkeypatch):
    def full(name):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(jobs, "_compile", full)
    monkeypatch.setattr(jobs, "compiled", lambda name: tmp_path / "never")
    with pytest.raises(ConfeeError, match=f"{jit.ROOT}: cannot be written: No space.*CONFEE_CACHE"):
        jobs.compile_kernels([jobs.stamp("uniform")])


# ----------------------------------------------------------------------- plans


@pytest.fixture
def played(tmp_path, monkeypatch):
    """A folder where all units and scales of `tiny` seem to be."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(jobs, "calibrate", lambda K, T, B, options: B / 7)
    run = Workflow(TINY)
    for unit in run.plan.everything:
        file = jobs.RESULTS / unit.file
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(files.MAGIC + bytes(4) + files.MAGIC)
        if unit.cell.spec.calibrated:
            jobs.find_scale(unit.cell)
    return run


def test_units_cut_short_are_missing(played):
    assert Workflow(TINY).jobs == {}
    units = played.plan.everything
    cut = [units[0], units[len(units) // 2]]
    for unit in cut:
        (jobs.RESULTS / unit.file).write_bytes(b"")
    assert Workflow(TINY).missing == cut


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "",
        lambda text: text[: len(text) // 2],
        lambda text: text.replace('"scale":', '"scale":1'),
        lambda text: text.replace('"scale":', '"scale":NaN,"x":'),
        lambda text: text.replace('"sha256"', '"sha265"'),
        lambda text: "[]",
    ],
)
def test_a_damaged_scale_is_found_again_even_if_all_units_are_there(played, damage):
    file, unchanged, *_ = sorted(Path("results/calibration").iterdir())
    file.write_text(damage(file.read_text()))
    again = Workflow(TINY)
    assert not again.missing
    assert {name: job.kind for name, job in again.jobs.items()} == {file.stem: "calibrate"}
    assert again.done == [file.as_posix()]  # what the table of regret waits for
    again.prepare(dry=True)
    assert file.exists()
    again.prepare()
    assert (file.exists(), unchanged.exists()) == (False, True)


def test_dates_in_the_future_are_reset_and_others_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ("results/tiny/regret.parquet", "results/jobs/a.json", "figures/tiny/a.pdf")
    dated = [Path(name) for name in names]
    for file in dated:
        file.parent.mkdir(parents=True)
        file.touch()
        os.utime(file, (1e9, 1e9))
    os.utime(dated[0], (9e9, 9e9))
    stages.reset_future_dates("tiny")
    first, *others = (file.stat().st_mtime for file in dated)
    assert time.time() - 60 < first <= time.time()
    assert others == [1e9, 1e9]


def test_a_pipe_or_a_folder_in_place_of_a_file_is_damaged_and_nobody_waits_for_it(tmp_path):
    pipe, folder = tmp_path / "pipe.parquet", tmp_path / "folder.parquet"
    os.mkfifo(pipe)
    folder.mkdir()
    for one in (pipe, folder):
        assert not files.is_whole(one)
        with pytest.raises(ConfeeError, match="damaged"):
            files.read_table(one, "make it again")
        with pytest.raises(ConfeeError, match="damaged"):
            files.read_json(one, "", "make it again")
    files.write_text(pipe, "whole")
    assert pipe.read_text() == "whole"
    with pytest.raises(ConfeeError, match="cannot be written: there is a folder; delete it"):
        files.write_text(folder, "no")


# ----------------------------------------------------------------------- what the matrix asks


@pytest.mark.parametrize(
    ("code", "text", "clear"),
    [
        (1, "failed: regret: ended by SIGKILL, often a sign of too little memory", True),
        (1, "failed: a: x/y: full\nfailed: b: x/y: full\nconfee: x/z: full", True),
        (1, "warning: slow\nconfee: T=x: must be a number", True),
        (1, "failed: a: x/y: full\nfailed: b: x/y: full\nfailed: c: x/y: full", False),
        (1, "confee: results/x: gone\nconfee: results/y: gone", False),
        (1, "confee: something went wrong", False),
        (1, "failed: simulate (job=01): IndexError: list index out of range", False),
        (1, "failed: simulate (job=01): ended by SIGSEGV", False),
        (1, "error: FileNotFoundError: [Errno 2] No such file or directory: 'x/y'", False),
        (1, "KeyError: 'x'\nconfee: results/x: gone", False),
        (1, "measuring regret: 1 job", False),
        (1, "Traceback (most recent call last)\nconfee: results/x: gone", False),
        (0, "confee: results/x: gone", False),
        (2, "confee: results/x: gone", False),
    ],
)
def test_a_clear_refusal_is_told_from_others(code, text, clear):
    assert Said(code, text, 0.0).clear is clear
