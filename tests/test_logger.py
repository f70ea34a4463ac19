"""What a user of the workflow sees, on toy Snakefiles."""

import logging
import os
import pty
import signal
import subprocess
import sys
import time
from logging import ERROR, LogRecord
from types import SimpleNamespace

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from snakemake_logger_plugin_confee import LogHandler, Stage
from support import fresh

TOY = """
rule all:
    input: "b.txt"
rule simulate:
    output: "a{i}.txt"
    log: "logs/a{i}.log"
    shell: '''(echo noise; case {wildcards.i} in
    {config[bad]}) echo "confee: the cause"; echo; exit 1;;
    {config[kill]}) kill -9 $$;;
    {config[slow]}) sleep {config[nap]};;
    esac; touch {output}) >{log} 2>&1'''
rule regret:
    input: expand("a{i}.txt", i=range(3))
    output: "b.txt"
    shell: "touch {output}"
"""


@pytest.fixture
def toy(tmp_path):
    (tmp_path / "Snakefile").write_text(TOY)
    return tmp_path


def words(*options, bad="none", kill="none", slow="none", nap=30):
    config = [f"bad={bad}", f"kill={kill}", f"slow={slow}", f"nap={nap}"]
    common = ["--logger", "confee", "--cores", "1", "--scheduler", "greedy"]
    return ["-m", "snakemake", *common, *options, "--config", *config]


def command(**config):
    return [sys.executable, *words(**config)]


def run(folder, *options, **config):
    done = fresh.python(*words(*options, **config), cwd=folder, merged=True)  # a dry run: in stdout
    return done.returncode, done.stdout.splitlines()


def test_a_run_has_a_line_when_a_stage_starts_and_one_when_it_ends(toy):
    code, dry = run(toy, "-n")
    assert code == 0
    assert [line.split()[:2] for line in dry] == [
        ["rule", "jobs"],
        ["simulate", "3"],
        ["regret", "1"],
        ["total", "4"],
    ]
    assert dry[1].endswith("missing output")

    code, lines = run(toy)
    assert code == 0
    assert lines[0] == "simulating: 3 jobs"
    assert lines[1].startswith("simulating: 3 of 3 done in 0:0")
    assert lines[-1].startswith("4 of 4 jobs done in 0:0")
    assert len(lines) == 5

    assert run(toy, "-n") == (0, ["nothing to be done: all files are up to date"])


def test_a_snakefile_tells_the_time_of_a_dry_run_and_where_to_read_what_is_done(toy):
    told = """
from snakemake_logger_plugin_confee import SHOWN
SHOWN.time = lambda jobs: f"about {len(jobs)} s for " + " ".join(r + i for r, i in sorted(jobs))
SHOWN.read_on = ["report: r.html"]
onsuccess: print("the end", file=__import__("sys").stderr)
"""
    (toy / "Snakefile").write_text(told + TOY)
    _, dry = run(toy, "-n")
    assert dry[-2].startswith("total ")
    assert dry[-1].endswith(" about 4 s for regret simulate0 simulate1 simulate2")
    assert run(toy, "-n", "a1.txt")[1][-1].endswith(" about 1 s for simulate1")
    _, lines = run(toy)
    assert lines[-2].startswith("4 of 4 jobs done in")
    assert lines[-1] == "the end"
    nothing = ["nothing to be done: all files are up to date", "report: r.html"]
    assert run(toy, "-n") == run(toy) == (0, nothing)


def test_files_without_a_record_are_one_warning_of_a_report(toy):
    for name in ("a0.txt", "a1.txt", "a2.txt", "b.txt"):
        (toy / name).touch()
    code, lines = run(toy, "--report", "r.html")
    assert code == 0
    assert lines[0].startswith("warning: Snakemake has no record of 4 files")
    assert lines[1:] == ["Report created."]
    assert (toy / "r.html").exists()


def test_a_failure_shows_the_last_line_of_its_log_and_where_that_is(toy):
    code, lines = run(toy, "a1.txt", "--quiet", "all", bad=1)
    assert code == 1
    assert lines[:2] == ["failed: simulate (i=1): confee: the cause", "        log: logs/a1.log"]
    assert "1 failed: simulate (i=1)" in lines[-1]
    assert len(lines) == 3


CANCELLED = "SLURM-job '7' failed, SLURM status is: 'CANCELLED'"


@pytest.mark.parametrize(
    ("log", "said"), [("", CANCELLED), ("confee: the cause", f"confee: the cause ({CANCELLED})")]
)
def test_of_a_job_on_another_machine_the_executor_has_a_word_to_say(tmp_path, capsys, log, said):
    (tmp_path / "rule.log").write_text(log)
    (tmp_path / "slurm.log").write_text("slurmstepd: error: noise")
    logs = [str(tmp_path / name) for name in ("rule.log", "slurm.log")]
    message = f"{CANCELLED}. For further details see above."
    record = LogRecord("", ERROR, "", 0, "", None, None)
    record.__dict__ |= {
        "event": LogEvent.JOB_ERROR,
        "rule_name": "simulate",
        "jobid": 1,
        "shellcmd": "true",
        "log": logs,
        "rule_msg": message,
    }
    settings = SimpleNamespace(stdout=False, quiet=[], verbose=False, dryrun=False)
    LogHandler(settings, None).emit(record)
    assert capsys.readouterr().err.splitlines()[0] == f"failed: simulate: {said}"


def test_a_full_disk_shows_no_traceback_and_is_guessed_from_an_empty_log(toy):
    """Snakemake's own log can't be written, nor that of the job."""
    full = """
import logging
from snakemake.logging import logger
logger.addHandler(logging.StreamHandler(open("/dev/full", "w")))
"""
    mute = TOY.replace("echo noise; ", "").replace('echo "confee: the cause"; echo; ', "")
    (toy / "Snakefile").write_text(full + mute)
    code, lines = run(toy, "a1.txt", bad=1)
    assert code == 1
    why = "exit code 1 and an empty log, often a sign of a full disk"
    assert lines[1:3] == [f"failed: simulate (i=1): {why}", "        log: logs/a1.log"]
    assert len(lines) == 4


def test_a_clock_that_was_moved_back_is_one_line(capsys):
    settings = SimpleNamespace(stdout=False, quiet=[], verbose=False, dryrun=False)
    handler = LogHandler(settings, None)
    older = "Output {} has older modification time (2026-11-28) than input c.txt (2028-01-02)."
    echo = "Exiting because a job execution failed. Look above for error messages"
    for message in (older.format("a.txt"), f"WorkflowError:\n{older.format('b.txt')}", echo):
        handler.emit(LogRecord("", ERROR, "", 0, message, None, None))
    assert capsys.readouterr().err.splitlines() == [
        "error: a.txt: is older than the files it is made from, as if the clock had been set back; "
        "give the same command again"
    ]


def test_keep_going_names_all_failures_at_the_end(toy):
    code, lines = run(toy, "--keep-going", bad=0, kill=2)
    assert code == 1
    killed = next(line for line in lines if line.startswith("failed: simulate (i=2)"))
    assert "ended by SIGKILL" in killed
    assert killed.endswith("last line of its log: noise")
    assert lines[-1].startswith("1 of 4 jobs done")
    assert "2 failed: " in lines[-1]
    assert "i=0" in lines[-1]
    assert "i=2" in lines[-1]


def test_a_terminal_gets_lines_that_are_drawn_anew(toy):
    main, side = pty.openpty()
    with subprocess.Popen(
        command(), cwd=toy, stderr=side, stdout=side, env={**os.environ, "TERM": "xterm"}
    ) as process:
        os.close(side)
        shown = b""
        try:
            while piece := os.read(main, 4096):
                shown += piece
        except OSError:
            pass  # how Linux tells that the other side is closed
    os.close(main)
    assert process.returncode == 0
    text = shown.decode()
    assert text.count("\x1b[1A\x1b[J") >= 4
    assert " left" in text
    assert text.splitlines()[-1].startswith("4 of 4 jobs done in")


def test_an_interrupt_is_no_failure_and_a_second_run_is_told_of_the_lock(toy):
    # A group of its own, so that the signal reaches the job too, as Ctrl-C does.
    with subprocess.Popen(
        command(slow=0),
        cwd=toy,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Whoever started the tests in the background had interrupts ignored, by all below too.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        log = toy / "logs/a0.log"
        limit = time.monotonic() + 30
        while not log.exists() and time.monotonic() < limit:
            time.sleep(0.05)
        code, second = run(toy)
        assert code == 1
        assert second[0].startswith("error: LockException: ")
        os.killpg(process.pid, signal.SIGINT)
        lines = process.communicate(timeout=30)[1].splitlines()
    assert process.returncode != 0
    assert not [line for line in lines if line.startswith("failed")]
    assert "stopped; the same command continues from here" in lines[-1]


def test_a_run_that_is_terminated_ends_its_jobs_and_says_that_it_was_stopped(toy):
    with subprocess.Popen(
        command(slow=0, nap=2), cwd=toy, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        limit = time.monotonic() + 30
        while not (toy / "logs/a0.log").exists() and time.monotonic() < limit:
            time.sleep(0.05)
        process.terminate()
        lines = process.communicate(timeout=30)[1].splitlines()
    assert process.returncode == 1
    assert (toy / "a0.txt").exists()
    assert "stopping, as you asked, once the running jobs are done" in lines
    assert not [line for line in lines if line.startswith(("failed", "error"))]
    assert "stopped; the same command continues from here" in lines[-1]


def test_what_no_rule_makes_is_named_with_what_the_run_is_of(toy):
    assert "error: c.pdf: no rule makes this" in run(toy, "c.pdf")[1]
    of = "from snakemake_logger_plugin_confee import SHOWN\nSHOWN.workflow = 'smoke'\n"
    marked = TOY.replace('output: "b.txt"', 'output: report("b.txt")')
    (toy / "Snakefile").write_text(of + marked)
    code, lines = run(toy, "--report", "r.html")
    assert code == 1
    assert (
        "error: b.txt: missing, and the report needs it; this workflow is of the experiment smoke"
        in lines
    )


LAST = "Traceback (most recent call last):\n\n  File x\n\nOSError: [Errno 28] No space left\n"


@pytest.mark.parametrize(
    ("stopped", "verbose", "said"),
    [
        (True, False, ""),
        (True, True, ""),
        (False, False, "error: No space left (--verbose shows the traceback)\n"),
        (False, True, f"{LAST}\n"),
    ],
)
def test_what_fails_as_snakemake_goes_down(stopped, verbose, said, capsys, monkeypatch):
    monkeypatch.setattr(logging, "lastResort", logging.lastResort)
    settings = SimpleNamespace(stdout=False, quiet=[], verbose=verbose, dryrun=False)
    handler = LogHandler(settings, None)
    if stopped:
        asked = "Terminating processes on user request, this might take some time."
        handler.emit(LogRecord("", ERROR, "", 0, asked, None, None))
    handler.close()
    capsys.readouterr()
    logging.lastResort.handle(LogRecord("", ERROR, "", 0, LAST, None, None))
    assert capsys.readouterr().err == said


@pytest.mark.parametrize(
    ("snakefile", "shown"),
    [
        ("import sys\nsys.exit('confee: one line')", "confee: one line"),
        ("rule all:\n    input: 'none.txt'", "error: MissingInputException: Missing input files"),
        ("raise ValueError('no such key')\n", "error: ValueError: no such key"),
    ],
)
def test_an_error_of_the_snakefile_is_one_line(toy, snakefile, shown):
    (toy / "Snakefile").write_text(snakefile)
    code, lines = run(toy)
    assert code == 1
    assert len(lines) == 1
    assert lines[0].startswith(shown)


def test_a_stage_counts_the_time_in_which_a_job_of_it_is_at_work():
    stage = Stage("drawing figures", 3)
    stage.begin(0.0)
    stage.begin(2.0)
    stage.end(5.0)
    assert stage.spent(6.0) == 6.0
    stage.end(7.0)
    assert stage.spent(90.0) == 7.0  # others' jobs since
    stage.begin(100.0)
    assert stage.spent(101.0) == 8.0
    stage.end(103.0)
    assert stage.spent(200.0) == 10.0


def test_a_line_of_progress_has_counts_and_the_time_left():
    from snakemake_logger_plugin_confee import Stage

    stage = Stage("simulating", 10)
    stage.begin(0.0)
    assert stage.progress(60.0) == "simulating: 0 of 10 done in 1:00"
    stage.done = 4
    assert stage.progress(120.0) == "simulating: 4 of 10 done in 2:00, about 3:00 left"
