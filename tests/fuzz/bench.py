"""A folder with finished results, in which cases are tried through the functions commands use."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import json
import os
import resource
import shutil
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any
from unittest import mock

from confee.config import composition, conf_files
from confee.core.errors import ConfeeError
from confee.workflow import api, cleaning, cli, jobs, results, stages
from confee.workflow.planning import Workflow
from fuzz import cases
from fuzz.cases import CANARY, Case

ROOT = Path(__file__).parents[2]
SECONDS = 20.0
"""CPU time that a case may take."""
MEMORY = 2 << 30
"""Bytes of address space that a case may add."""
MINI = (
    "experiment=tiny name=mini grid.T=[1e3] centre.T=1e3 ~policies.hyque_calibrated "
    "~plays.hyque_calibrated ~policies.hyque ~policies.rexp3b jobs.cells=1 "
    "claims=[hyque-budget] figures=[regret-T,block]"
)
FOLDER = "mini.claims"
"""Of that experiment."""


class Hang(BaseException):
    """A case took too long."""


class Plays(BaseException):
    """A case would be played, and for long: so it was taken as valid."""


@dataclasses.dataclass
class Outcome:
    """`code` as a process would exit with; `error` escaped as no command lets it."""

    code: int = 0
    out: str = ""
    err: str = ""
    error: str = ""
    seconds: float = 0.0
    wrote: tuple[str, ...] = ()
    canary: bool = False


class Bench:
    """Tries cases in `folder`, which becomes the working folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "work"
        self.pristine = folder / "pristine"
        self.pristine.mkdir(parents=True)
        os.chdir(self.pristine)
        for policy in QUICK:  # its kernel is compiled, or read, before the time of a case counts
            main("simulate", f"policy={policy}", *cases.CELL[1:])
        self._furnish()
        self._reset()

    # ------------------------------------------------------------------------ what is there

    def _furnish(self) -> None:
        """The results of MINI, as its commands leave them; a folder of one's own, with conf."""
        run = Workflow({"overrides": MINI})
        run.prepare()
        for name in run.jobs:
            jobs.do_job(jobs.job_file(name))
        plan = results.read_plan(Path(run.plan_file))
        for stage, make in (
            ("regret", results.collect),
            ("slopes", results.measure),
            ("claims", results.judge),
        ):
            stages.keep_note(run.name, stage, run.keys[stage], make(plan))
        cleaning.settle(run.name, run.plan_text)
        for name in run.pictures + run.tables:
            Path("figures", run.name).mkdir(parents=True, exist_ok=True)
            Path("figures", run.name, f"{name}.txt").write_text("A caption.\n")
        tiny = conf_files.folder() / "experiment/tiny.yaml"
        for group, text in (
            ("policy", _json(conf_files.defaults("policy", "hyque"))),
            ("adversary", _json(conf_files.defaults("adversary", "switching"))),
            ("experiment", tiny.read_text(encoding="utf-8")),
        ):
            own = Path("extra/conf", group, f"own{group}.yaml")
            own.parent.mkdir(parents=True)
            own.write_text(text, encoding="utf-8")
        for name in ("Snakefile", "workflow", "profiles"):
            Path(name).symlink_to(ROOT / name)
        shutil.copy(ROOT / "src/confee/world/adversaries/us_employment.csv", "series.csv")
        self.plan, self.jobs = run.plan_file, [str(jobs.job_file(name)) for name in run.jobs]
        self.units = [f"results/{name}" for name in plan["units"]]
        self.keys = run.keys

    def _reset(self) -> None:
        os.chdir(self.pristine)
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.pristine, self.folder, symlinks=True)
        os.chdir(self.folder)

    def _listing(self) -> dict[str, tuple[int, int]]:
        found: dict[str, tuple[int, int]] = {}
        todo = [str(self.folder)]
        while todo:
            with os.scandir(todo.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        todo.append(entry.path)
                    stat = entry.stat(follow_symlinks=False)
                    size = 0 if entry.is_dir(follow_symlinks=False) else stat.st_size
                    found[entry.path] = size, 0 if not size else stat.st_mtime_ns
        return found

    # ------------------------------------------------------------------------ trying one

    def try_one(self, case: Case) -> Outcome:
        """What comes of a case; the folder is as before then."""
        try:
            perform = self._ready(case)
            before = self._listing()
            said = self._watched(perform)
            after = self._listing()
            root = str(self.folder) + "/"
            said.wrote = tuple(
                sorted(
                    n.removeprefix(root)
                    for n in before.keys() | after.keys()
                    if before.get(n) != after.get(n)
                )
            )
            said.canary = any(Path(n).name == CANARY for n in after)
            return said
        finally:
            if case.kind in FILES or said.wrote:
                self._reset()

    def _watched(self, perform: Callable[[], None]) -> Outcome:
        said = Outcome()
        out, err = (self.folder.parent / name for name in ("out", "err"))

        def late(*_: Any) -> None:
            raise Hang

        signal.signal(signal.SIGPROF, late)
        before = time.process_time()
        with _limited(), _captured(out, err), warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = lambda *said: print(f"warning: {said[0]}", file=sys.stderr)
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            try:
                perform()
            except SystemExit as stop:
                if isinstance(stop.code, str):
                    print(stop.code, file=sys.stderr)
                said.code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
            except Plays:
                pass
            except BaseException as error:
                signal.setitimer(signal.ITIMER_PROF, 0)
                said.code, said.error = 1, _in_short(error)
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
        said.seconds = time.process_time() - before
        said.out, said.err = (f.read_text(errors="backslashreplace") for f in (out, err))
        return said

    # ------------------------------------------------------------------------ ways in

    def _ready(self, case: Case) -> Callable[[], None]:
        """Puts a case's files where they belong; what is to be called then."""
        parts = case.parts
        if case.kind in FILES and parts[0] in self.jobs:
            for unit in self.units:  # so that there is something to do
                Path(unit).unlink()
        match case.kind:
            case "run":
                return lambda: as_the_snakefile_does({"overrides": list(parts)})
            case "run, as text":
                return lambda: as_the_snakefile_does({"overrides": " ".join(parts)})
            case "config" | "simulate":
                return lambda: main(case.kind, *parts)
            case "words":
                return lambda: main(*parts)
            case "experiment's values":
                made = cases.changed(self.experiment, parts)
                return lambda: with_values(made, as_the_snakefile_does, {})
            case "cell's values":
                made = cases.changed(self.cell, parts)
                return lambda: with_values(made, main, "simulate")
            case "simulate()":
                return lambda: _library(lambda: _call(parts))
            case "load":
                return lambda: _library(lambda: api.load(**{"experiment": FOLDER} | dict(parts)))
            case "job" | "plan" | "ledger":
                name, *changes = parts
                file = Path(name)
                if file.suffix == ".json":
                    made = cases.changed(json.loads(file.read_text()), tuple(changes))
                    file.write_text(_json(made))
                more = [["lower-bound/measured"], []][len(str(changes)) % 2]
                words = self._readers(name, *more)
                return lambda: main(*words)
            case _:
                name, *edits = parts
                file = Path(name)
                file.write_bytes(cases.edited(file.read_bytes(), tuple(edits)))
                return lambda: self._read(name)

    def _readers(self, name: str, *more: str) -> list[str]:
        """A command that reads a file of the results."""
        file = Path(name)
        if name in self.jobs:
            return ["do", name]
        if file.name == "plan.json":
            return ["clean", "--yes"]
        if file.name == "claims.json":
            return ["claims", *more, "--experiment", FOLDER]
        return ["make-regret", name, "0" * 16]

    def _read(self, name: str) -> None:
        """What reads a file of bytes."""
        file, own = Path(name), name.split("/")
        if own[0] == "extra":
            with mock.patch.dict(os.environ, CONFEE_EXTRA=str(self.folder / "extra")):
                match own[2]:
                    case "experiment":
                        as_the_snakefile_does({"overrides": f"experiment={file.stem}"})
                    case "policy":
                        main("simulate", f"policy={file.stem}", *cases.CELL[1:])
                    case _:
                        main("simulate", cases.CELL[0], f"adversary={file.stem}", *cases.CELL[2:])
        elif file.suffix == ".csv" and own[0] != "results":
            main(
                "simulate",
                "policy=uniform",
                "adversary=trace",
                f"adversary.file={file}",
                *cases.CELL[2:],
            )
        elif file.name == "regret.parquet":
            _library(lambda: api.load(FOLDER))
        elif name in self.units:
            main("make-regret", self.plan, self.keys["regret"])
        elif file.suffix in (".csv", ".parquet"):
            main("make-slopes", self.plan, self.keys["slopes"])
        else:
            main(*self._readers(name))

    @cached_property
    def experiment(self) -> dict[str, Any]:
        return composition.compose("config", ["experiment=tiny"])

    @cached_property
    def cell(self) -> dict[str, Any]:
        return composition.compose("cell", cases.CELL)

    def json(self, name: str) -> Any:
        return json.loads((self.pristine / name).read_text())


FILES = {"job", "plan", "ledger", "bytes"}
"""Kinds that change files."""
QUICK = ("uniform", "oracle", "ucb1", "hyque")
"""Policies that are played."""


def main(*arguments: str) -> None:
    """The command, but for plays that would take long."""
    play = api.run

    def guarded(asked: Any, *tick: Any) -> Any:
        sampled = asked.cell.size.T if asked.accounting.idle == "sampled" else 0
        rounds = (asked.cell.size.B + sampled + 1000) * asked.runs.seeds
        if asked.cell.policy not in QUICK or rounds > 50_000 or asked.cell.size.K > 100:
            raise Plays
        return play(asked, *tick)

    with mock.patch.object(api, "run", guarded):
        cli.main(list(arguments))


def as_the_snakefile_does(given: dict[str, Any]) -> None:
    """Its lines that read the configuration."""
    try:
        run = Workflow(given)
        _ = run.keys, run.plan_text
    except (ConfeeError, OSError) as error:
        sys.exit(f"confee: {error}")


def with_values(values: Any, call: Callable[..., None], *arguments: Any) -> None:
    """`call` where conf says `values`, whatever the overrides."""
    with mock.patch.object(composition, "compose", side_effect=lambda *_: copy.deepcopy(values)):
        call(*arguments)


def _library(call: Callable[[], Any]) -> None:
    """A call from Python, whose one error is ConfeeError."""
    try:
        call()
    except ConfeeError as error:
        sys.exit(f"confee: {error}")


def _call(parts: tuple[tuple[str, Any], ...]) -> None:
    given = {**cases.SIMULATED, **dict(parts)}
    api.simulate(given.pop("policy"), given.pop("adversary"), **given)


def _json(value: Any) -> str:
    def odd(value: Any) -> Any:
        return sorted(value) if isinstance(value, set) else value.decode()

    return json.dumps(value, default=odd, skipkeys=True)


def _in_short(error: BaseException) -> str:
    where = traceback.extract_tb(error.__traceback__)
    ours = [f"{Path(f.filename).name}:{f.lineno}" for f in where if "confee" in f.filename][-2:]
    return f"{type(error).__name__}: {' '.join(str(error).split())[:150]} at {' '.join(ours)}"


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    """With so much more memory, and no more."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@contextlib.contextmanager
def _captured(out: Path, err: Path) -> Iterator[None]:
    """Whatever is written to stdout and stderr, by C too, goes into files."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [os.dup(1), os.dup(2)]
    streams = sys.stdout, sys.stderr
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    opened = [os.open(file, flags) for file in (out, err)]
    for number, file in zip((1, 2), opened, strict=True):
        os.dup2(file, number)
        os.close(file)
    sys.stdout = open(1, "w", errors="strict", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", errors="backslashreplace", closefd=False)  # noqa: SIM115
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        sys.stdout, sys.stderr = streams
        for number, file in zip((1, 2), kept, strict=True):
            os.dup2(file, number)
            os.close(file)
