"""A Snakemake logger that shows one line per stage and every failure with its cause, nothing else.

A stage is a rule, labelled by LABELS or by its name. A Snakefile may set the fields of `SHOWN`.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import re
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from logging import DEBUG, ERROR, WARNING, LogRecord
from pathlib import Path

import snakemake
from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from confee.workflow.labels import LABELS


def _a_cache_folder() -> None:
    """Set a temporary cache folder if the user's cannot be written, as in a container without home.

    Snakemake would fail to write its cache of sources there; this plugin is loaded before that.
    """
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    place = Path(home, "snakemake")
    try:
        if home.startswith("~"):
            raise OSError(home)
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=place):
            return
    except OSError:
        os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="confee-cache-")
        atexit.register(shutil.rmtree, os.environ["XDG_CACHE_HOME"], ignore_errors=True)


_a_cache_folder()

# The target rule does no work of its own, so it is neither shown nor counted.
HIDDEN = {"all"}

REASONS = {
    "Missing output files": "missing output",
    "Incomplete output files": "incomplete output",
    "Updated input files": "newer input",
    "Input files updated by another job": "an earlier stage makes its input",
    "Forced execution": "forced",
    "Code has changed since last execution": "changed code",
    "Params have changed since last execution": "changed parameters",
    "Set of input files has changed since last execution": "other input files",
}
UNRECORDED = "Missing metadata for file"
NOTHING = "Nothing to be done"
INTERRUPTED = ("Terminating processes on user request", "Cancelling snakemake on user request")
GRACEFUL = "Will exit after finishing currently running jobs"  # SIGTERM
# These only repeat that a job failed, which has been said with its cause by then.
ECHOES = ("Exiting because a job execution failed", "WorkflowError:\nAt least one job did not")
# The target does not belong to this experiment, so the message names the experiment.
LACKING = re.compile(r"No rule to produce (?P<rule>\S+)|File (?P<file>\S+) marked for report but")
LACKING_WHY = {"rule": "no rule makes this", "file": "missing, and the report needs it"}
MINUTE = float(os.environ.get("CONFEE_PROGRESS", 60))
"""Seconds between two lines of progress in a log."""
SNAKEMAKE_DIR = os.path.dirname(snakemake.__file__)
STATUS = r"non-zero exit status (\d+)"
LONGEST_MESSAGE = 600


@dataclass
class Shown:
    """What a Snakefile wants to be shown.

    Parameters
    ----------
    workflow : the experiment, and how to choose another; part of errors about targets
    time : estimates how long jobs (rule, value of the first wildcard or "") take; ends a dry run
    read_on : lines to show when there is nothing to be done
    """

    workflow: str = ""
    time: Callable[[Sequence[tuple[str, str]]], str] | None = None
    read_on: list[str] = field(default_factory=list)


SHOWN = Shown()


def clock(seconds: float) -> str:
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02d}:{second:02d}" if hours else f"{minute}:{second:02d}"


def compact(message: str) -> str:
    """The message of a Snakemake exception in one line, without places in the code."""
    message = re.sub(r"(\w+Error: )?\[Errno \d+\] ", "", message)
    if "Traceback (most recent call last)" in message:
        lines = [line for line in message.splitlines() if line.strip()]
        return f"{lines[-1].strip()} (--verbose shows the traceback)"
    head, *rest = message.strip().splitlines() or [""]
    body = " ".join(" ".join(line.split()) for line in rest if '  File "' not in line)
    kind = head.split(" ")[0].strip(":.")
    if not body:
        text = head
    elif kind == "WorkflowError" or not kind.isidentifier():
        text = body
    else:
        text = f"{kind}: {body}"
    return text if len(text) <= LONGEST_MESSAGE else text[:LONGEST_MESSAGE] + " ..."


def signal_name(message: str) -> str | None:
    """The signal that ended a job: Python says `died with`, a shell has a status above 128."""
    if died := re.search(r"died with <Signals\.(\w+)", message):
        return died[1]
    if status := re.search(STATUS, message):
        number = int(status[1]) - 128
        if number in set(signal.Signals):
            return signal.Signals(number).name
    return None


def last_line(path: str) -> str:
    """The last line of a file that is not blank, without control characters."""
    try:
        lines = Path(path).read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return ""
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in last)


@dataclass
class Stage:
    """The jobs of a rule: `at_work` run since `since`; before, some ran for `busy` seconds."""

    label: str
    total: int
    done: int = 0
    at_work: int = 0
    since: float = 0.0
    busy: float = 0.0

    def begin(self, now: float) -> None:
        if not self.at_work:
            self.since = now
        self.at_work += 1

    def end(self, now: float) -> None:
        self.busy, self.since = self.spent(now), now
        self.at_work -= 1

    def spent(self, now: float) -> float:
        """Seconds in which at least one of its jobs ran."""
        return self.busy + (now - self.since if self.at_work else 0.0)

    def progress(self, now: float) -> str:
        """`simulating: 12 of 206 done in 1:40, about 27:00 left`."""
        spent = self.spent(now)
        progress = f"{self.label}: {self.done} of {self.total} done in {clock(spent)}"
        left = spent * (self.total - self.done) / self.done if self.done else 0.0
        return f"{progress}, about {clock(left)} left" if left else progress


class LastWords(logging.Handler):
    """Shows errors in one line when no other handler is left. After an interrupt it shows none:
    Snakemake may fail anywhere then."""

    def __init__(self, stopped: bool, verbose: bool) -> None:
        super().__init__(ERROR)
        self.stopped, self.verbose = stopped, verbose

    def emit(self, record: LogRecord) -> None:
        if not self.stopped:
            message = record.getMessage()
            with contextlib.suppress(OSError, ValueError):
                print(message if self.verbose else f"error: {compact(message)}", file=sys.stderr)


class LogHandler(LogHandlerBase):
    writes_to_stream = True
    writes_to_file = False
    has_filter = True
    has_formatter = True
    needs_rulegraph = False

    def __post_init__(self) -> None:
        # On a full disk Snakemake's own log would show a traceback for each of its lines.
        logging.raiseExceptions = False
        settings = self.common_settings
        self.stream = sys.stdout if settings.stdout else sys.stderr
        with contextlib.suppress(AttributeError):  # its encoding may not know the marks of verdicts
            sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
        self.in_place = self.stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self.quiet = bool(settings.quiet)
        self.totals: dict[str, int] = {}
        self.stages: dict[str, Stage] = {}
        self.jobs: dict[int, tuple[str, str]] = {}  # id -> rule, name with wildcards
        self.reasons: dict[str, Counter[str]] = {}
        self.asked: list[tuple[str, str]] = []  # the jobs of a dry run, for SHOWN.time
        self.unknown = 0  # files that Snakemake has no record of
        self.causes: list[str] = []  # exceptions whose job error has not come yet
        self.failures: list[str] = []
        self.begun: float | None = None
        self.minute: threading.Thread | None = None
        self.now = 0.0
        self.interrupted = False
        self.closed = False
        self.summed_up = False
        self.drawn = 0  # lines of the block that is redrawn on a terminal

    # Events

    def emit(self, record: LogRecord) -> None:
        try:
            self.now = record.created
            self._handle(record)
        except (OSError, ValueError):
            # The reader of the output is gone (as in `| head`) or the disk is full; jobs go on.
            self.stream = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        except Exception as error:
            self._say(f"error: a message is lost: {type(error).__name__}: {error}")

    def _handle(self, record: LogRecord) -> None:
        event = getattr(record, "event", None)
        if event == LogEvent.RUN_INFO:
            self.begun = self.begun or self.now
            stats = record.stats  # type: ignore[attr-defined]
            self.totals = {r: n for r, n in stats.items() if r not in HIDDEN | {"total"}}
            if not (self.minute or self.in_place or self.quiet or self.common_settings.dryrun):
                self.minute = threading.Thread(target=self._each_minute, daemon=True)
                self.minute.start()
        elif event == LogEvent.JOB_INFO:
            self._job_info(record)
        elif event == LogEvent.JOB_FINISHED:
            self._job_finished(record.job_id)  # type: ignore[attr-defined]
        elif event == LogEvent.PROGRESS:
            if record.done == record.total:  # type: ignore[attr-defined]
                self._sum_up()  # before the Snakefile's onsuccess
        elif event == LogEvent.JOB_ERROR:
            self._job_error(record)
        elif event in (None, LogEvent.ERROR):
            self._message(record, str(record.msg))
        elif self.common_settings.verbose and record.msg not in (None, "None"):
            self._say(str(record.msg))

    def _each_minute(self) -> None:
        """Off a terminal, where no line is redrawn: show a line for each stage at work."""
        while not self.closed:
            time.sleep(MINUTE)
            for stage in [*self.stages.values()]:
                open_ = stage.at_work and stage.done < stage.total and not self.closed
                if open_ and stage.spent(time.time()) > MINUTE / 2:
                    with contextlib.suppress(OSError, ValueError):
                        self._say(stage.progress(time.time()))

    def _job_info(self, record: LogRecord) -> None:
        info = record.__dict__
        rule = info["rule_name"]
        wildcards = ", ".join(f"{k}={v}" for k, v in info["wildcards"].items())
        self.jobs[info["jobid"]] = rule, f"{rule} ({wildcards})" if wildcards else rule
        if rule in HIDDEN:
            return
        if self.common_settings.dryrun:
            kinds = {part.split(":")[0].strip() for part in info["reason"].split("; ")}
            self.reasons.setdefault(rule, Counter()).update(REASONS.get(k, k) for k in kinds)
            self.asked.append((rule, next(iter(info["wildcards"].values()), "")))
            return
        if self.common_settings.printshellcmds and info["shellcmd"]:
            self._say(info["shellcmd"])
        if rule not in self.stages:
            label = LABELS.get(rule, rule)
            total = self.totals.get(rule, 1)
            self.stages[rule] = Stage(label, total)
            if not self.in_place and not self.quiet:
                self._say(f"{label}: {total} job{'s' * (total != 1)}")
        self.stages[rule].begin(self.now)
        self._draw()

    def _job_finished(self, jobid: int) -> None:
        stage = self.stages.get(self.jobs[jobid][0])
        if stage is None:
            return
        stage.end(self.now)
        stage.done += 1
        # A checkpoint may add jobs to a stage later.
        stage.total = max(stage.total, stage.done)
        if stage.done == stage.total and not self.quiet:
            spent = clock(stage.spent(self.now))
            if self.in_place:
                self._say(self._line(stage, f"done in {spent}"))
            else:
                self._say(f"{stage.label}: {stage.done} of {stage.total} done in {spent}")
        self._draw()

    def _job_error(self, record: LogRecord) -> None:
        info = record.__dict__
        rule, command = info["rule_name"], info["shellcmd"]
        if rule in self.stages:
            self.stages[rule].end(self.now)
        name = self.jobs.get(info["jobid"], (rule, rule))[1]
        marks = [command.strip()] if command else []
        marks.append(f" in rule {rule} ")
        cause = next((c for mark in marks for c in self.causes if mark in c), "")
        if cause:
            self.causes.remove(cause)
        killer = signal_name(cause)
        if self.interrupted or killer == "SIGINT":
            self.interrupted = True
            return
        logs = info["log"]
        # An executor of other machines adds a message, and its own log to the rule's.
        remote = (info["rule_msg"] or "").partition(". ")[0]
        reason = next(filter(None, map(last_line, logs[:1] if remote else logs)), "")
        if killer:
            hint = ", often a sign of too little memory" if killer == "SIGKILL" else ""
            reason = f"ended by {killer}{hint}" + (
                f"; last line of its log: {reason}" if reason else ""
            )
        elif not reason and (status := re.search(STATUS, cause)):
            reason = f"exit code {status[1]} and an empty log, often a sign of a full disk"
        elif "MissingOutputException" in cause or not reason:
            reason = compact(cause) if cause else remote or "no message"
        if remote and remote not in reason:
            reason += f" ({remote})"
        self.failures.append(name)
        self._say(f"failed: {name}: {reason}")
        if logs:
            self._say(f"        log: {' '.join(logs)}")

    def _message(self, record: LogRecord, message: str) -> None:
        verbose = self.common_settings.verbose
        if message.startswith((*INTERRUPTED, GRACEFUL)):
            if not self.interrupted:
                once = ", once the running jobs are done" if message.startswith(GRACEFUL) else ""
                self._say(f"stopping, as you asked{once}")
            self.interrupted = True
        elif message.startswith(NOTHING):
            self._say("nothing to be done: all files are up to date")
            for line in SHOWN.read_on:
                self._say(line)
        elif record.levelno >= ERROR:
            if message.startswith(ECHOES) and (self.failures or self.interrupted or self.causes):
                return
            if skewed := re.search(r"Output (\S+) has older modification time", message):
                if not self.failures:
                    self._say(
                        f"error: {skewed[1]}: is older than the files it is made from, as if the "
                        "clock had been set back; give the same command again"
                    )
                self.failures.append(skewed[1])
            elif lacking := LACKING.search(message):
                of = (
                    f"; this workflow is of the experiment {SHOWN.workflow}"
                    if SHOWN.workflow
                    else ""
                )
                kind = lacking.lastgroup or ""
                self._say(f"error: {lacking[kind]}: {LACKING_WHY[kind]}{of}")
            elif self.begun and message.startswith(("RuleException", "MissingOutputException")):
                self.causes.append(message)
            else:
                self._say(message if verbose else f"error: {compact(message)}")
        elif record.levelno >= WARNING:
            if message.startswith(UNRECORDED) and not verbose:
                self.unknown += 1
                return
            self._say(message if verbose else f"warning: {' '.join(message.split())}")
        elif verbose or message.startswith(("Unlock", "Report created")):
            if self.unknown:
                self._say(
                    f"warning: Snakemake has no record of {self.unknown} files (copied, or "
                    "made elsewhere), so their jobs are not in its statistics"
                )
            self._say(message)
        elif record.levelno > DEBUG and not record.pathname.startswith(SNAKEMAKE_DIR):
            # Messages of Snakemake itself are left out, those of a Snakefile are shown.
            self._say(message)

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            # This handles errors of Snakemake's own shutdown.
            logging.lastResort = LastWords(self.interrupted, self.common_settings.verbose)
            # As in emit, the reader of the output may be gone.
            with contextlib.suppress(OSError, ValueError):
                self._finish()
        super().close()

    def _finish(self) -> None:
        self._draw()
        self.drawn = 0
        if not self.interrupted:
            for cause in self.causes:
                rule = re.search(r" in rule (\w+)", cause)
                self.failures.append(rule[1] if rule else "a job")
                self._say(f"error: {compact(cause)}")
        if self.begun is None:
            return
        if self.common_settings.dryrun:
            self._table()
        elif not self.summed_up:
            self._sum_up()

    def _sum_up(self) -> None:
        self.summed_up = True
        done = sum(stage.done for stage in self.stages.values())
        total = max(done, sum(self.totals.values()))
        line = f"{done} of {total} jobs done in {clock(self.now - (self.begun or self.now))}"
        if self.failures:
            line += f"; {len(self.failures)} failed: {', '.join(self.failures)}"
        elif self.interrupted:
            line += "; stopped; the same command continues from here"
        if self.failures or self.interrupted or not self.quiet:
            self._say(line)

    # Output

    def _table(self) -> None:
        rows = [("rule", "jobs", "why")]
        for rule, count in self.totals.items():
            reasons = self.reasons.get(rule, Counter())
            why = ", ".join(r if n == count else f"{r} ({n})" for r, n in reasons.most_common())
            rows.append((rule, str(count), why))
        rows.append(("total", str(sum(self.totals.values())), "dry run, nothing was made"))
        wide = max(len(row[0]) for row in rows)
        for rule, jobs, why in rows:
            self._say(f"{rule:<{wide}}  {jobs:>5}  {why}".rstrip())
        if SHOWN.time and self.asked:
            try:
                time = SHOWN.time(self.asked)
            except Exception as error:  # an estimate must not cost the table
                time = f"not known: {type(error).__name__}: {error}"
            self._say(f"{'time':<{wide}}  {'':>5}  {time}")

    def _line(self, stage: Stage, tail: str) -> str:
        wide = max(len(label) for label in LABELS.values())
        return f"{stage.label:<{wide}}  {stage.done:>4}/{stage.total:<4}  {tail}".rstrip()

    def _draw(self, text: str = "") -> None:
        """Write text above the lines of the stages at work, and redraw these."""
        if not self.in_place:
            self.stream.write(text)
            self.stream.flush()
            return
        columns = shutil.get_terminal_size().columns
        block = ""
        lines = 0
        for stage in self.stages.values():
            if stage.done == stage.total or self.quiet:
                continue
            left = ""
            if stage.done and not self.closed:
                spent = stage.spent(self.now)
                left = f"about {clock(spent / stage.done * (stage.total - stage.done))} left"
            # A wrapped line would spoil the count of lines to go up.
            block += self._line(stage, left)[: columns - 1] + "\n"
            lines += 1
        up = f"\x1b[{self.drawn}A\x1b[J" if self.drawn else ""
        self.stream.write(up + text + block)
        self.stream.flush()
        self.drawn = lines

    def _say(self, text: str) -> None:
        if self.closed:
            self.stream.write(text + "\n")
            self.stream.flush()
        else:
            self._draw(text + "\n")
