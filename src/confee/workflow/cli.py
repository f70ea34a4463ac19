"""The `confee` command. Errors are one line and exit code 1."""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import re
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from confee import __version__
from confee.core import plugins, schema, startup
from confee.core.errors import ConfeeError, harmless, printable


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        short = message if len(message) <= 300 else message[:297] + "..."
        raise ConfeeError(f"{short}; see {self.prog} --help")


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs one command; exits with 1 and one line where the input is at fault."""
    startup.collect_rarely()
    _open_closed_streams()
    with contextlib.suppress(AttributeError):  # its encoding may not know the marks of verdicts
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        words = sys.argv[1:] if arguments is None else arguments
        if words and re.match(r"[+~]*[\w@./]+=", words[0]):
            raise ConfeeError(f"{words[0]}: an override and no command; type: {_command_of(words)}")
        chosen = _parser().parse_args(words)
        chosen.run(chosen)
        sys.stdout.flush()
    except ConfeeError as error:
        sys.exit(f"confee: {error}")
    except MemoryError as error:
        sys.exit(f"confee: out of memory: {error or 'the path or the plan is too large'}")
    except BrokenPipeError:
        # The reader of our output has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        named = [str(error.filename)] if error.filename else []
        sys.exit(printable(": ".join(["confee", *named, error.strerror or str(error)])))
    except Exception as error:
        if place := plugins.place(error):
            sys.exit(f"confee: {printable(place)}")
        if not type(error).__module__.startswith("numba."):
            raise
        from confee.core.jit import reason

        sys.exit(f"confee: a kernel does not compile: {printable(reason(error))}")
    except KeyboardInterrupt:
        sys.exit("confee: stopped")


def _command_of(overrides: Sequence[str]) -> str:
    """The command that takes these overrides: of a cell, or of an experiment."""
    if re.match(r"(policy|adversary|[KTBV]|seeds)\b", overrides[0]):
        return f"confee simulate {shlex.join(overrides)}"
    from confee.config import reproduce

    return reproduce.snakemake(shlex.join(overrides))


def _open_closed_streams() -> None:
    """What is written to a stream that the caller closed (`>&-`) goes nowhere.

    It takes the stream's own descriptor as well, which the next file to be opened would get.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="confee", description="A test bench for constrained-feedback non-stationary bandits."
    )
    parser.add_argument("--version", action="version", version=f"confee {__version__}")
    reproduce = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def command(name: str, run: Callable[[Any], None], help: str | None) -> argparse.ArgumentParser:
        made = reproduce.add_parser(name, description=help, **({"help": help} if help else {}))  # type: ignore[arg-type]
        made.set_defaults(run=run)
        return made

    one = command("simulate", _simulate, "play one cell; the last line is JSON")
    one.add_argument(
        "overrides",
        nargs="*",
        metavar="key=value",
        help="policy=hyque adversary=switching adversary.gap=0.25 K=2 T=1e4 B=1584 V=2 seeds=200 "
        "first_seed=0 idle=expected proxy=means output=cell.parquet",
    )
    known = command("list", _list, "name the policies, adversaries, ...; or tell of one of them")
    known.add_argument("name", nargs="?", help="what to tell of, and of code its rule and options")
    shown = command("config", _config, "print the resolved configuration of an experiment")
    shown.add_argument("overrides", nargs="*", metavar="key=value")
    ledger = command("claims", _claims, "show what was found about each claim, or one in full")
    ledger.add_argument("ids", nargs="*", metavar="CLAIM", help="explain these, as in idle-runs")
    ledger.add_argument("--experiment", default="paper", help="its name (default: paper)")
    ledger.add_argument(
        "--numbers", action="store_true", help="with CLAIM: all its numbers as JSON"
    )
    ledger.add_argument(
        "--fail-on",
        metavar="WORDS",
        help="exit with 2 if a claim has one of these outcomes or severities, as in "
        "gap,false,undecided",
    )
    table = command("fit", _fit, "judge a table of regrets from any simulator against a rate")
    table.add_argument("table", help="CSV or parquet: policy, T, B, V, K, seed, regret, adversary")
    table.add_argument("--claim", required=True, help='as in "B=-1/3 V=1/3 K=1/3": R/T at most')
    table.add_argument("--policy", help="whom to judge (default: all but the controls)")
    table.add_argument("--holds", metavar="POLICY", help="a policy known to keep that rate")
    table.add_argument(
        "--fails", metavar="POLICY", help="one known to miss it; by axis: B=random,V=blind"
    )
    table.add_argument("--output", metavar="FOLDER", help="also write report and figure there")
    two = command("compare", _compare, "what differs between two runs; exit code 2 if anything")
    two.add_argument("runs", nargs=2, metavar="RUN", help="an experiment, or a folder of results")
    two.add_argument(
        "--verdicts", action="store_true", help="exit with 2 for changed verdicts alone"
    )
    unneeded = "remove what confee made and no experiment needs any more, after it was confirmed"
    command("clean", _clean, unneeded).add_argument(
        "--yes", action="store_true", help="do not ask; needed where nobody can answer"
    )

    # What the workflow runs.
    command("do", _do, None).add_argument("job")
    command("compile", _compile, None).add_argument("stamps", nargs="+")
    for name in ("regret", "slopes", "claims", "picture", "album", "report"):
        stage = reproduce.add_parser(f"make-{name}")
        stage.set_defaults(run=_make, stage=name)
        stage.add_argument("plan")
        stage.add_argument("key")
        if name == "picture":
            stage.add_argument("name")
            stage.add_argument("files", nargs="+")
        if name == "report":
            stage.add_argument("pictures", nargs="*")
        if name == "album":
            stage.add_argument("file")
    return parser


# --------------------------------------------------------------------------- for people


def _simulate(chosen: Any) -> None:
    from confee.config import composition
    from confee.simulation import files
    from confee.workflow import api
    from confee.world.game import RECORDED

    asked = api.request(composition.compose("cell", chosen.overrides))
    if asked.output:
        files.check_writable(asked.output)
    with _Progress(asked.runs.seeds) as tick:
        rows = api.run(asked, tick)
    if asked.output:
        about = {"cell": asked.cell.key, "opponent": asked.against.key}
        files.write_table(asked.output, rows, about)
    print(
        json.dumps(
            {name: _summary([row[name] for row in rows]) for name in RECORDED}, allow_nan=False
        )
    )


def _summary(values: Sequence[float]) -> list[float | None] | None:
    """[mean, standard error, min, max]; one value has no standard error. None where the quantity
    is none: the parts of regret where rules are played."""
    if any(math.isnan(value) for value in values):
        return None
    count = len(values)
    mean = math.fsum(values) / count
    spread = math.fsum((v - mean) ** 2 for v in values)
    error = math.sqrt(spread / (count - 1) / count) if count > 1 else None
    return [mean, error, min(values), max(values)]


def _list(chosen: Any) -> None:
    if chosen.name is not None:
        _explain(chosen.name)
    else:
        _show(_everything())


def _show(lines: Sequence[tuple[str, str, str]]) -> None:
    width = max(len(name) for name, _, _ in lines)
    for name, kind, summary in lines:
        print(harmless(f"{name:{width}}  {kind:10}  {summary}"))


def _everything() -> list[tuple[str, str, str]]:
    """(id, kind, summary) of all that an experiment can name."""
    from confee.claims import CLAIMS
    from confee.config import conf_files
    from confee.policies import POLICIES
    from confee.rendering import FIGURES, TABLES
    from confee.world.adversaries import ADVERSARIES

    return [
        *(
            (p.id, "policy", f"{p.summary} [{p.setting}; told {_told(p.known)}]")
            for p in POLICIES.values()
        ),
        *((a.id, "adversary", f"{a.summary} [{a.setting}]") for a in ADVERSARIES.values()),
        *(
            (name, "experiment", conf_files.headline(name))
            for name in conf_files.files("experiment")
        ),
        *((id, "claim", _first_line(module.__doc__)) for id, module in CLAIMS.items()),
        *((name, "figure", recipe.title) for name, recipe in FIGURES.items()),
        *((name, "table", recipe.title) for name, recipe in TABLES.items()),
    ]


def _explain(name: str) -> None:
    """The rule of a policy or an adversary, its setting, what it is told, and its options; of
    anything else, its line."""
    import dataclasses
    import importlib

    from confee.policies import POLICIES, Policy
    from confee.world.adversaries import ADVERSARIES, Adversary
    from confee.world.settings import SETTINGS

    one: Policy | Adversary
    if name in POLICIES:
        package, one = "confee.policies", POLICIES[name]
    elif name in ADVERSARIES:
        package, one = "confee.world.adversaries", ADVERSARIES[name]
    else:
        found = [line for line in _everything() if line[0] == name]
        if not found:
            raise ConfeeError(f"list {schema.show(name)}: unknown; `confee list` names all")
        _show(found)
        return
    print(harmless((importlib.import_module(f"{package}.{name}").__doc__ or "").strip()))
    setting = SETTINGS[one.setting]
    print(f"\nSetting: {setting.id}; known: {setting.known}; decision: {setting.decision}")
    if isinstance(one, Policy):
        print(f"Told: {_told(one.known)}")
        if one.algorithm is not None:
            print(f"Base algorithm: {one.algorithm.name}")
    for field in dataclasses.fields(one.options):
        print(harmless(f"{field.name}={field.default}: {field.metadata['kind'].allowed}"))


def _told(names: Sequence[str]) -> str:
    return ", ".join(names) or "nothing"


def _first_line(text: str | None) -> str:
    return (text or "").strip().splitlines()[0] if text else ""


def _config(chosen: Any) -> None:
    import dataclasses

    import yaml

    from confee.workflow.planning import Workflow

    made = Workflow({"overrides": chosen.overrides}).experiment
    shown = {**made.resolved, "jobs": dataclasses.asdict(made.jobs)}
    print(yaml.safe_dump(shown, sort_keys=False), end="")


def _claims(chosen: Any) -> None:
    from rich.console import Console

    from confee.claims import CLAIMS, ledger
    from confee.claims.judging.finding import OUTCOMES, SEVERITIES
    from confee.rendering import scoreboard, verdicts
    from confee.workflow import results

    schema.folder_name(chosen.experiment, "--experiment")
    dreaded = [] if chosen.fail_on is None else [w.strip() for w in chosen.fail_on.split(",")]
    words = [w for w in (*OUTCOMES, *SEVERITIES, verdicts.CLOSED) if w != "none"]
    for word in dreaded:
        if word not in words:
            raise ConfeeError(f"--fail-on={schema.show(word)}: must be among {', '.join(words)}")
    for id in chosen.ids:
        if id not in CLAIMS:
            raise ConfeeError(f"claim={schema.show(id)}: unknown; known: {', '.join(CLAIMS)}")
    chosen.experiment = results.judged_in(chosen.experiment, chosen.ids)
    judged, said = results.claims_file(chosen.experiment)
    findings = {v.id: v for v in judged}
    for id in chosen.ids:
        if id not in findings:
            raise ConfeeError(
                f"claim={id}: not judged in {chosen.experiment}; judged are {', '.join(findings)}"
            )
    shown = [findings[id] for id in chosen.ids] if chosen.ids else judged
    # In a pipe or a log nothing is cut, and one claim in full is wrapped.
    console = Console(width=None if sys.stdout.isatty() else 120 if chosen.ids else 1000)
    width = console.width if sys.stdout.isatty() else None
    if chosen.ids:
        for v in shown:
            of = f"experiment={chosen.experiment.removesuffix(schema.CLAIMS_ALONE)}"
            again = ledger.settle(v, said.get("overrides", of), judged)
            console.print(scoreboard.explain(v, again, chosen.numbers))
    else:
        for line in scoreboard.lines(shown, width):
            console.print(line, soft_wrap=True)
    bad = [v.id for v in shown if {v.as_printed, verdicts.weight(v)} & set(dreaded)]
    if bad:
        sys.stdout.flush()
        print(f"confee: {', '.join(dreaded)}: {', '.join(bad)}", file=sys.stderr)
        sys.exit(2)


def _fit(chosen: Any) -> None:
    from pathlib import Path

    from confee.claims import fitting
    from confee.simulation import files

    found = fitting.fit(
        fitting.read(chosen.table),
        chosen.claim,
        policy=chosen.policy,
        holds=fitting.by_axis(chosen.holds),
        fails=fitting.by_axis(chosen.fails),
    )
    print(found.report(), end="")
    if chosen.output is not None:
        folder = Path(chosen.output)
        files.write_text(folder / "report.md", found.report())
        files.write_text(folder / "exponents.csv", found.exponents.to_csv(index=False))
        picture = found.figure()
        for kind in ("pdf", "png"):
            files.write_whole(
                folder / f"regret.{kind}", lambda part: picture.savefig(part, dpi=150)
            )
        print(f"\nwritten: {folder}/report.md, exponents.csv, regret.pdf, regret.png")


def _compare(chosen: Any) -> None:
    from confee.workflow.comparing import compare, lines

    found = compare(*chosen.runs)
    for line in lines(found):
        print(line)
    if len(found.verdicts) or not (chosen.verdicts or found.same):
        sys.stdout.flush()
        sys.exit(2)


def _clean(chosen: Any) -> None:
    from confee.core import jit
    from confee.workflow import cleaning, runlock

    def check() -> None:
        if runlock.alive():
            raise ConfeeError("a workflow is running in this folder; wait for it or stop it")

    check()
    found = cleaning.unneeded()
    for kind, some in found.items():
        size = sum(file.stat().st_size for file in some)
        named = ", ".join(file.as_posix() for file in some[:2])
        more = f", and {len(some) - 2} more" if len(some) > 2 else ""
        print(f"{kind}: {len(some)} of {_size(size)}: {printable(named)}{more}")
    if not found:
        print("nothing to remove: of what confee made, experiments need all")
    elif not chosen.yes and not _agreed():
        raise ConfeeError("nothing is removed; `confee clean --yes` removes it")
    check()  # one may have begun meanwhile
    gone = cleaning.remove(file for some in found.values() for file in some)
    if found:
        print(f"removed {len(gone)} files that no experiment needs")
    if old := jit.prune():
        print(f"removed {len(old)} folders of compiled kernels that were long not used")


def _agreed() -> bool:
    """Whether someone at a terminal says yes; without one, nobody does."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    print("remove them? [y/N] ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _size(size: float) -> str:
    """A size in bytes, for people."""
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"


# --------------------------------------------------------------------------- for the workflow


def _do(chosen: Any) -> None:
    from confee.workflow import jobs, runlock

    runlock.work()
    jobs.do_job(chosen.job)


def _compile(chosen: Any) -> None:
    from confee.workflow import jobs, runlock

    runlock.work()
    jobs.compile_kernels(chosen.stamps)


def _make(chosen: Any) -> None:
    """A stage: its files, then the note of what they were made from."""
    from pathlib import Path

    from confee.core import sources
    from confee.workflow import costs, results, runlock, stages

    runlock.work()
    os.environ["MPLBACKEND"] = "agg"  # whatever a shell wants to see pictures with
    plan = results.read_plan(Path(chosen.plan))
    stage = chosen.stage
    stages.check(plan["sources"][chosen.name if stage == "picture" else stage])
    if stage == "picture":
        from confee.workflow import pictures

        stage = chosen.name
        made = pictures.draw(plan, chosen.name, chosen.files)
    elif stage == "report":
        from confee.workflow import report

        made = report.write(plan, chosen.pictures)
    elif stage == "album":
        from confee.workflow import pictures

        made = pictures.bind(plan, chosen.file)
    else:
        made = {"regret": results.collect, "slopes": results.measure, "claims": results.judge}[
            stage
        ](plan)
    sources.check()
    experiment = results.folder(plan).name
    stages.keep_note(experiment, stage, chosen.key, made)
    stages.drop_stale(experiment, plan["above"].get(stage, {}))
    costs.keep(f"{experiment}.{stage}")


# --------------------------------------------------------------------------- progress


class _Progress:
    """A bar on stderr, on a terminal, for what takes longer than a second."""

    def __init__(self, total: int) -> None:
        self.total, self.done = total, 0
        self.bar: Any = None
        self.since = time.monotonic()
        self.wanted = sys.stderr.isatty()

    def __enter__(self) -> Callable[[], None]:
        return self.tick

    def tick(self) -> None:
        self.done += 1
        if self.bar is None and self.wanted and time.monotonic() - self.since > 1:
            from rich.console import Console
            from rich.progress import Progress

            self.bar = Progress(console=Console(stderr=True), transient=True)
            self.task = self.bar.add_task("playing", total=self.total)
            self.bar.start()
        if self.bar is not None:
            self.bar.update(self.task, completed=self.done)

    def __exit__(self, *_: Any) -> None:
        if self.bar is not None:
            self.bar.stop()
