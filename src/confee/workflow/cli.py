"""The `confee` command. Errors are one line and exit code 1."""

from __future__ import annotations

import argparse
import contextlib
import inspect
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
    """A parser whose errors are ConfeeError and whose help keeps the line breaks of examples."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **settings)

    def error(self, message: str) -> NoReturn:
        short = message if len(message) <= 300 else message[:297] + "..."
        raise ConfeeError(f"{short}; see {self.prog} --help")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command. Bad input exits with code 1 and one line."""
    startup.collect_rarely()
    _open_closed_streams()
    with contextlib.suppress(AttributeError):  # some encodings lack the marks of verdicts
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        words = sys.argv[1:] if arguments is None else arguments
        chosen = _chosen(words)
        chosen.run(chosen)
        sys.stdout.flush()
    except ConfeeError as error:
        sys.exit(f"confee: {error}")
    except MemoryError as error:
        sys.exit(f"confee: out of memory: {error or 'the path or the plan is too large'}")
    except BrokenPipeError:
        # The reader of the output, `head` for example, has closed it.
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


def _chosen(words: Sequence[str]) -> argparse.Namespace:
    """Return the parsed command line. Raises ConfeeError where it is wrong."""
    parser = _parser()
    first = next((word for word in words if not word.startswith("-")), "")
    if re.match(r"[+~]*[\w@./]+=", first):
        raise ConfeeError(f"{first}: needs a command; type: {_command_for(words)}")
    if first and first not in _commands(parser):
        from confee.config.names import close

        meant = "".join(f"did you mean {name}? " for name in close(first, EXAMPLES, 1))
        raise ConfeeError(
            f"{schema.show(first)}: no such command; {meant}must be one of {', '.join(EXAMPLES)}"
        )
    chosen, rest = parser.parse_known_args(words)
    if rest:
        given = schema.show(" ".join(rest))
        prog = f"confee {first}".strip()
        raise ConfeeError(f"unrecognized arguments: {given}; see {prog} --help")
    if not first:
        raise ConfeeError(
            f"no command given; must be one of {', '.join(EXAMPLES)}; see confee --help"
        )
    return chosen


def _commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return all commands by name, those of the workflow included."""
    (commands,) = (x for x in parser._actions if isinstance(x, argparse._SubParsersAction))
    return commands.choices


def _command_for(overrides: Sequence[str]) -> str:
    """Return the command that takes these overrides, which are of a cell or of an experiment."""
    if re.match(r"(policy|adversary|[KTBV]|seeds)\b", overrides[0]):
        return f"confee simulate {shlex.join(overrides)}"
    from confee.config import reproduce

    return reproduce.snakemake(shlex.join(overrides))


def _open_closed_streams() -> None:
    """Let output to a stream that the caller closed (`>&-`) go nowhere.

    Opening the null device also takes the descriptor of the stream. The next file to be opened
    would get that descriptor otherwise, and with it what is printed.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


TINY = 'snakemake --cores 2 --config overrides="experiment=tiny"'
EXAMPLES = {
    "simulate": [
        "confee simulate policy=hyque adversary=switching K=2 T=1e4 B=1584 V=2",
        "confee simulate policy=sw_ucb policy.xi=1 adversary=fall K=3 T=1e4 B=1584 V=2 seeds=4",
        "confee simulate policy=ucb1 adversary=hard K=2 T=1e4 B=1e4 V=2 output=cell.parquet",
    ],
    "list": ["confee list", "confee list policy", "confee list sw_ucb", "confee list hyque-budget"],
    "config": ["confee config experiment=tiny", "confee config experiment=tiny grid.T=[1e3,4e3]"],
    "claims": [
        TINY,
        "confee claims --experiment tiny",
        "confee claims hyque-budget --experiment tiny",
        "confee claims --experiment tiny --fail-on gap,false",
    ],
    "fit": [
        "python -c \"import confee, pandas; pandas.concat(confee.simulate(p, 'switching', K=2, "
        "T=10 * B, B=B, V=2) for p in ('sw_ucb', 'uniform') for B in (8000, 16000, 32000, 64000))"
        ".to_csv('runs.csv')\"",
        'confee fit runs.csv --claim "B=-1/3" --fails uniform',
    ],
    "compare": [TINY, "confee compare tiny results/tiny"],
    "clean": ["confee clean"],
}
"""Command -> examples in its help that work as pasted."""

FIRST = ["confee list", EXAMPLES["simulate"][0], TINY, "confee claims --experiment tiny"]
"""The examples in the help of confee itself."""

ABOUT = {
    "simulate": (
        "play one policy against one adversary, and print its regret as JSON",
        "The policy plays T rounds on K arms whose means drift by at most V in total. It may look\n"
        "at its reward in B rounds. Each seed is one run. The output holds, for each recorded\n"
        "quantity, [mean, standard error, minimum, maximum] over the runs.",
    ),
    "list": (
        "list policies, adversaries, experiments, claims, ..., or explain one",
        "Without a name: all there is, with its kind. With a kind: its members. With the name of\n"
        "a policy, adversary, claim, study, figure or table: what it is, and its options.",
    ),
    "config": (
        "print what an experiment resolves to",
        "Prints the experiment as YAML, with conf/ and all overrides put together and checked.\n"
        "Nothing is simulated.",
    ),
    "claims": (
        "show the verdicts on the claims of an experiment, or one in full",
        "Reads results/<experiment>/claims.json, which a workflow writes; the first example makes\n"
        "it in a minute or two. docs/verdicts.md explains outcomes and severities.",
    ),
    "fit": (
        "judge whether regrets from any simulator follow a rate",
        "Takes a table with one row per run, fits the exponents of the worst-case regret per\n"
        "round R/T along B, V and K, and judges them against the claimed ones. The first example\n"
        "makes such a table. docs/fit.md explains the rules.",
    ),
    "compare": (
        "compare the results of two workflows",
        "Prints changed verdicts, exponents, and worst-case regrets. Exit code 2 if any differ.",
    ),
    "clean": (
        "remove files in results/ that no experiment needs any more",
        "Lists the files, and removes them once you confirm. Results of experiments stay.",
    ),
}
"""Command -> its line in the list of commands, and what it does in full."""


def _shown(examples: Sequence[str]) -> str:
    return "examples:\n" + "\n".join(f"  {line}" for line in examples)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="confee",
        description="A test bench for bandits that drift and may look at their reward only B "
        "times.\nconfee COMMAND --help explains a command; docs/ has the rest.",
        epilog=_shown(FIRST),
    )
    parser.add_argument("--version", action="version", version=f"confee {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")

    def command(name: str, run: Callable[[Any], None]) -> argparse.ArgumentParser:
        line, text = ABOUT[name]
        epilog = _shown(EXAMPLES[name])
        added = commands.add_parser(name, help=line, description=text, epilog=epilog)
        added.set_defaults(run=run)
        return added

    simulate = command("simulate", _simulate)
    simulate.add_argument(
        "overrides",
        nargs="*",
        metavar="key=value",
        help="needed: policy, adversary, K (arms), T (rounds), B (queries allowed), V (variation "
        "allowed). Optional: policy.<option> and adversary.<option>, which `confee list <name>` "
        "describes; seeds (16) and first_seed (0); idle=expected (idle rounds count by their "
        "expectation) or sampled; proxy=means or literal (what the parts of regret are measured "
        "against); output=<file>.parquet, which gets one row per run",
    )
    listing = command("list", _list)
    listing.add_argument(
        "name", nargs="?", help=f"one of {', '.join(KINDS)}, or a name that is listed"
    )
    config = command("config", _config)
    config.add_argument(
        "overrides",
        nargs="*",
        metavar="key=value",
        help="experiment=<name> (default: paper) and changes to it in Hydra's syntax",
    )
    claims = command("claims", _claims)
    claims.add_argument("ids", nargs="*", metavar="CLAIM", help="explain these claims in full")
    claims.add_argument(
        "--experiment", default="paper", metavar="NAME", help="the experiment (default: paper)"
    )
    claims.add_argument(
        "--numbers", action="store_true", help="with CLAIM: also print all its numbers as JSON"
    )
    claims.add_argument(
        "--fail-on",
        metavar="WORDS",
        help="exit with code 2 if a claim has one of these outcomes or severities, as in "
        "gap,false,undecided",
    )
    fit = command("fit", _fit)
    fit.add_argument(
        "table",
        help="a CSV or .parquet file with the columns policy, T, V, K, seed, regret (summed over "
        "all T rounds); B if it is less than T; adversary if there are several",
    )
    fit.add_argument(
        "--claim",
        required=True,
        help="the exponents that are claimed of R/T, such as 'B=-1/3 V=1/3 K=1/3'; log=1/2 "
        "forgives a factor sqrt(ln B); an axis that is not named is not judged",
    )
    fit.add_argument("--policy", help="the policy to judge (default: all but the controls)")
    fit.add_argument(
        "--holds",
        metavar="POLICY",
        help="positive control: a policy of the table that is known to have this rate",
    )
    fit.add_argument(
        "--fails",
        metavar="POLICY",
        help="negative control: one that is known to miss it; by axis: B=random,V=blind",
    )
    fit.add_argument("--output", metavar="FOLDER", help="also write a report and a figure there")
    compare = command("compare", _compare)
    compare.add_argument("runs", nargs=2, metavar="RESULTS", help="an experiment, or its folder")
    compare.add_argument(
        "--verdicts", action="store_true", help="exit with code 2 for changed verdicts alone"
    )
    clean = command("clean", _clean)
    clean.add_argument("--yes", action="store_true", help="do not ask for confirmation")

    # Commands of the workflow, absent from the help.
    def hidden(name: str, run: Callable[[Any], None], *words: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, description="Run by the workflow.")
        added.set_defaults(run=run)
        for word in words:
            added.add_argument(word.rstrip("+*"), nargs=word[-1] if word[-1] in "+*" else None)
        return added

    hidden("do", _do, "job")
    hidden("compile", _compile, "stamps+")
    more = {"picture": ("name", "files+"), "report": ("pictures*",), "album": ("file",)}
    for stage in ("regret", "slopes", "claims", "picture", "album", "report"):
        words = ("plan", "key", *more.get(stage, ()))
        hidden(f"make-{stage}", _make, *words).set_defaults(stage=stage)
    return parser


# --------------------------------------------------------------------------- for people


def _simulate(chosen: Any) -> None:
    from confee.config import composition
    from confee.simulation import files
    from confee.workflow import api
    from confee.world.game import RECORDED

    request = api.request(composition.compose("cell", chosen.overrides))
    if request.output:
        files.check_writable(request.output)
    with _Progress(request.runs.seeds) as tick:
        rows = api.run(request, tick)
    if request.output:
        about = {"cell": request.cell.key, "opponent": request.against.key}
        files.write_table(request.output, rows, about)
    summary = {name: _summary([row[name] for row in rows]) for name in RECORDED}
    print(json.dumps(summary, allow_nan=False))


def _summary(values: Sequence[float]) -> list[float | None] | None:
    """Return [mean, standard error, min, max]; a single value has no standard error.

    None if the quantity is not defined, as the parts of regret where decisions are rules.
    """
    if any(math.isnan(value) for value in values):
        return None
    count = len(values)
    mean = math.fsum(values) / count
    spread = math.fsum((v - mean) ** 2 for v in values)
    error = math.sqrt(spread / (count - 1) / count) if count > 1 else None
    return [mean, error, min(values), max(values)]


KINDS = ("policy", "adversary", "experiment", "claim", "study", "figure", "table")
PLURALS = {re.sub("y$", "ie", kind) + "s": kind for kind in KINDS}


def _list(chosen: Any) -> None:
    from confee.claims import CLAIMS
    from confee.config.names import unknown
    from confee.policies import POLICIES
    from confee.simulation.studies import STUDIES
    from confee.world.adversaries import ADVERSARIES

    name = PLURALS.get(chosen.name, chosen.name)
    for registry in (POLICIES, ADVERSARIES):
        if name in registry:
            print(harmless(_explanation(registry[name])))
            return
    if name in CLAIMS:
        print(harmless(_explained_claim(name)))
        return
    if name in STUDIES:
        print(harmless(_explained_study(name)))
        return
    rows = _everything()
    shown = [row for row in rows if name is None or name in row[:2]]
    if not shown:  # the first word of several claims
        shown = [row for row in rows if row[0].startswith(f"{name}/")]
    if not shown:
        known = [*KINDS, *(row[0] for row in rows)]
        raise ConfeeError(
            f"list {schema.show(name)}: {unknown(name, known, 'confee list')}; kinds are "
            f"{', '.join(KINDS)}"
        )
    width = max(len(row[0]) for row in shown)
    for id, kind, summary in shown:
        print(harmless(f"{id:{width}}  {kind:10}  {' '.join(summary.split())}"))
    for id, kind, _ in shown:
        if id == name and kind in ("figure", "table"):
            print(harmless(f"\n{_explained_exhibit(name)}"))


def _everything() -> list[tuple[str, str, str]]:
    """(id, kind, summary) of all that an experiment can name."""
    from confee.claims import CLAIMS
    from confee.config import conf_files
    from confee.policies import POLICIES
    from confee.rendering import FIGURES, TABLES
    from confee.simulation.studies import STUDIES
    from confee.world.adversaries import ADVERSARIES

    return [
        *(
            (p.id, "policy", f"{p.summary} [{p.setting}; given {_given(p)}]")
            for p in POLICIES.values()
        ),
        *((a.id, "adversary", f"{a.summary} [{a.setting}]") for a in ADVERSARIES.values()),
        *(
            (name, "experiment", conf_files.headline(name))
            for name in conf_files.files("experiment")
        ),
        *((id, "claim", claim.statement) for id, claim in CLAIMS.items()),
        *((id, "study", _doc(STUDIES[id]).partition("\n\n")[0].rstrip(".")) for id in STUDIES),
        *((name, "figure", figure.title) for name, figure in FIGURES.items()),
        *((name, "table", table.title) for name, table in TABLES.items()),
    ]


def _explained_claim(id: str) -> str:
    """Return what a claim says, how it is judged, and which results have a verdict on it."""
    from confee.claims import CLAIMS, MODULES
    from confee.config import reproduce

    claim = CLAIMS[id]
    module = sys.modules[MODULES[id]]
    needs = claim.needs(False)
    played = {sweep.policy["name"] for sweep in needs.sweeps}
    asked = {ask.policy["name"] for ask in needs.asks}
    rays = [axis for axis in "BVKT" if any(axis in sweep.rays for sweep in needs.sweeps)]
    on_rays = f"along {', '.join(rays)}: {', '.join(sorted(played))}" if rays else ""
    facts = {
        "place": claim.place,
        "asked by": "this project; the paper promises nothing here" if claim.ours else "",
        "predicts": claim.prediction,
        "rays": on_rays,
        "cells": f"{len(needs.asks)} of its own, of {', '.join(sorted(asked))}" if asked else "",
        "studies": ", ".join(dict.fromkeys(study.name for study in needs.studies)),
        "source": str(module.__file__),
    }
    lines = [f"{claim.statement}", ""]
    lines += [f"{name + ':':10} {fact}" for name, fact in facts.items() if fact]
    lines += ["", "how it is judged:", *_indented(module.__doc__)]
    lines += ["", "verdicts in results/:", *_verdicts_on(id)]
    command = reproduce.snakemake(f"claims=[{id}]")
    lines += ["", f"judge it on the grid of the experiment paper: {command}"]
    return "\n".join(lines)


def _indented(text: str | None) -> list[str]:
    return [f"  {line}".rstrip() for line in inspect.cleandoc(text or "").splitlines()]


def _verdicts_on(id: str) -> list[str]:
    """Return a line for each verdict on a claim in results/, with its severity and controls."""
    from confee.claims import ledger
    from confee.config.names import CLAIMS_ALONE
    from confee.rendering import verdicts
    from confee.workflow import results

    lines = []
    for file in sorted(results.RESULTS.glob("*/claims.json")):
        try:
            findings = results.findings(file.parent.name)
            judged = [v for v in findings if id in (v.id, ledger.claim_of(v.id))]
        except ConfeeError:  # damaged, or of another version
            continue
        for v in judged:
            severity = verdicts.ALL[verdicts.weight(v)].word
            experiment = file.parent.name.removesuffix(CLAIMS_ALONE)
            part = f", {v.id}" if v.id != id else ""
            lines += [
                f"  {file.parent}{part}: as printed {v.as_printed}, severity {severity}",
                *(f"    control: {ledger.control_text(control)}" for control in v.controls),
                f"    in full: confee claims {shlex.quote(v.id)} --experiment {experiment}",
            ]
    return lines or ["  none yet; docs/what-it-found.md has those of the experiment paper"]


def _explained_study(id: str) -> str:
    from confee.simulation.studies import STUDIES

    return f"{_doc(STUDIES[id]).strip()}\n\nsource:    {_module(STUDIES[id]).__file__}"


def _explained_exhibit(name: str) -> str:
    """Return how to read a figure or a table, and what it is made from."""
    from confee.rendering import FIGURES, exhibit, module_name
    from confee.rendering.words import plain
    from confee.workflow.selection import wanted

    shown = exhibit(name)
    kinds = "pdf, svg, png" if name in FIGURES else "csv, md, tex"
    between = ", " if name in FIGURES else " or "
    facts = {
        "how to read it": plain(shown.reading),
        "section of the report": shown.section,
        "needs": between.join(map(wanted, shown.axes)) or "no results",
        "about the claims": ", ".join(shown.claims),
        "files": f"figures/<experiment>/{name}.<{kinds}>, and its caption in .txt",
        "source": str(sys.modules[module_name(name)].__file__),
    }
    return "\n".join(f"{fact}: {text}" for fact, text in facts.items() if text)


def _module(study: Any) -> Any:
    return sys.modules[f"confee.simulation.studies.{study.id}"]


def _doc(study: Any) -> str:
    return _module(study).__doc__ or ""


def _explanation(entry: Any) -> str:
    """Return the docstring of a policy or an adversary, then facts and options in lines."""
    import dataclasses

    from confee.core.canonical import canonical
    from confee.policies.base import ROLES, Policy
    from confee.world.settings import SETTINGS

    package = "confee.policies" if isinstance(entry, Policy) else "confee.world.adversaries"
    module = sys.modules[f"{package}.{entry.id}"]
    setting = SETTINGS[entry.setting]
    facts = {"setting": f"{setting.id}; decision: {setting.decision}"}
    if isinstance(entry, Policy):
        facts |= {"role": ROLES[entry.role], "given": f"{setting.known}; {_given(entry)}"}
        if entry.algorithm is not None:
            facts["algorithm"] = entry.algorithm.name
    elif entry.strength:
        facts["strength"] = f"set by {entry.strength}, at most {entry.ceiling:g}"
    facts["source"] = str(module.__file__)
    lines = [(module.__doc__ or "").strip(), ""]
    lines += [f"{name + ':':10} {fact}" for name, fact in facts.items()]
    fields = dataclasses.fields(entry.options)
    lines += ["", "options, with their defaults:"] if fields else ["", "no options"]
    for field in fields:
        allowed = field.metadata["kind"].allowed
        lines.append(f"  {field.name}={canonical(field.default)}  ({allowed})")
        lines += [f"      {about}" for about in [field.metadata["about"]] if about]
    return "\n".join(lines)


def _given(policy: Any) -> str:
    return ", ".join(policy.known) or "nothing"


def _config(chosen: Any) -> None:
    import dataclasses

    import yaml

    from confee.workflow.planning import Workflow

    experiment = Workflow({"overrides": chosen.overrides}).experiment
    values = {**experiment.resolved, "jobs": dataclasses.asdict(experiment.jobs)}
    print(yaml.safe_dump(values, sort_keys=False), end="")


def _claims(chosen: Any) -> None:
    from rich.console import Console

    from confee.claims import CLAIMS, ledger
    from confee.claims.judging.finding import OUTCOMES, SEVERITIES
    from confee.config import names, reproduce
    from confee.rendering import scoreboard, verdicts
    from confee.workflow import results

    names.folder_name(chosen.experiment, "--experiment")
    failing = [] if chosen.fail_on is None else [w.strip() for w in chosen.fail_on.split(",")]
    words = [w for w in (*OUTCOMES, *SEVERITIES, verdicts.CLOSED) if w != "none"]
    for word in failing:
        if word not in words:
            raise ConfeeError(f"--fail-on={schema.show(word)}: must be among {', '.join(words)}")
    for id in chosen.ids:
        if ledger.claim_of(id) not in CLAIMS:
            raise ConfeeError(_unknown_claim(id))
    chosen.experiment = results.judged_in(chosen.experiment, chosen.ids)
    judged, content = results.claims_file(chosen.experiment)
    findings = {finding.id: finding for finding in judged}
    for id in chosen.ids:
        if id not in findings:
            known = ", ".join(findings) or "none"
            if len(findings) > names.FEW:
                known = f"those that `confee claims --experiment {chosen.experiment}` lists"
            claims = f"claims=[{ledger.claim_of(id)}]"
            again = reproduce.snakemake(f"{content.get('overrides', '')} {claims}".strip())
            raise ConfeeError(
                f"claim={id}: not judged in {chosen.experiment}; judged are {known}; run: {again}"
            )
    shown = [findings[id] for id in chosen.ids] if chosen.ids else judged
    # In a pipe or a log file lines are not cut, but the text of a single claim is wrapped.
    console = Console(width=None if sys.stdout.isatty() else 120 if chosen.ids else 1000)
    width = console.width if sys.stdout.isatty() else None
    if chosen.ids:
        experiment = f"experiment={chosen.experiment.removesuffix(names.CLAIMS_ALONE)}"
        for finding in shown:
            again = ledger.settle(finding, content.get("overrides", experiment), judged)
            console.print(scoreboard.explain(finding, again, chosen.numbers))
    else:
        for line in scoreboard.lines(shown, width):
            console.print(line, soft_wrap=True)
        for text in _read_on(shown, chosen.experiment):
            console.print(text, style="dim", soft_wrap=True, highlight=False, markup=False)
    bad = [f.id for f in shown if {f.as_printed, verdicts.weight(f)} & set(failing)]
    if bad:
        sys.stdout.flush()
        print(f"confee: --fail-on={','.join(failing)}: {', '.join(bad)}", file=sys.stderr)
        sys.exit(2)


def _read_on(findings: Sequence[Any], experiment: str) -> list[str]:
    """Return where to read on about these findings."""
    lines = ["docs/verdicts.md explains how verdicts are reached"]
    if findings:
        id = shlex.quote(findings[0].id)
        lines.append(f"one claim in full: confee claims {id} --experiment {experiment}")
    return lines


def _unknown_claim(id: str) -> str:
    """Return a message that there is no such claim, or that it is an experiment."""
    from confee.claims import CLAIMS
    from confee.config import conf_files
    from confee.config.names import unknown

    experiment = id.removeprefix("experiment=")
    if conf_files.has("experiment", experiment):
        return f"{id}: is an experiment, not a claim; must be given as --experiment {experiment}"
    return f"claim={schema.show(id)}: {unknown(id, list(CLAIMS), 'confee list claim')}"


def _fit(chosen: Any) -> None:
    from pathlib import Path

    from confee.claims import fitting
    from confee.simulation import files

    fit = fitting.fit(
        fitting.read(chosen.table),
        chosen.claim,
        policy=chosen.policy,
        holds=fitting.by_axis(chosen.holds),
        fails=fitting.by_axis(chosen.fails),
    )
    print(fit.report(), end="")
    if chosen.output is not None:
        folder = Path(chosen.output)
        files.write_text(folder / "report.md", fit.report())
        files.write_text(folder / "exponents.csv", fit.exponents.to_csv(index=False))
        figure = fit.figure()
        for kind in ("pdf", "png"):
            files.write_whole(folder / f"regret.{kind}", lambda part: figure.savefig(part, dpi=150))
        print(f"\nwritten: {folder}/report.md, exponents.csv, regret.pdf, regret.png")


def _compare(chosen: Any) -> None:
    from confee.workflow.comparing import compare, lines

    comparison = compare(*chosen.runs)
    for line in lines(comparison):
        print(line)
    if len(comparison.verdicts) or not (chosen.verdicts or comparison.same):
        sys.stdout.flush()
        sys.exit(2)


def _clean(chosen: Any) -> None:
    from confee.core import jit
    from confee.workflow import cleaning, runlock

    def check() -> None:
        if runlock.alive():
            raise ConfeeError("a workflow is running in this folder; wait for it or stop it")

    check()
    unneeded = cleaning.unneeded()
    for kind, files in unneeded.items():
        size = sum(file.stat().st_size for file in files)
        first = ", ".join(file.as_posix() for file in files[:2])
        more = f", and {len(files) - 2} more" if len(files) > 2 else ""
        print(f"{kind}: {len(files)} files, {_size(size)}: {printable(first)}{more}")
    if not unneeded:
        print("nothing to remove: experiments need every file that confee made")
    elif not chosen.yes and not _agreed():
        raise ConfeeError("nothing is removed; `confee clean --yes` removes them")
    check()  # a workflow may have begun meanwhile
    removed = cleaning.remove(file for files in unneeded.values() for file in files)
    if unneeded:
        print(f"removed {len(removed)} files that no experiment needs")
    if old := jit.prune():
        print(f"removed {len(old)} folders of compiled kernels that have not been used for long")


def _agreed() -> bool:
    """Whether a user at a terminal confirms; without a terminal, nobody does."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    print("remove them? [y/N] ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _size(size: float) -> str:
    """Return a number of bytes in a readable unit."""
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
    """Make the files of a stage, then write a note of what they were made from."""
    from pathlib import Path

    from confee.core import sources
    from confee.workflow import costs, results, runlock, stages

    runlock.work()
    os.environ["MPLBACKEND"] = "agg"  # no window, whatever the environment says
    plan = results.read_plan(Path(chosen.plan))
    stage = chosen.stage
    stages.check(plan["sources"][chosen.name if stage == "picture" else stage])
    if stage == "picture":
        from confee.workflow import pictures

        stage = chosen.name
        files = pictures.draw(plan, chosen.name, chosen.files)
    elif stage == "report":
        from confee.workflow import report

        files = report.write(plan, chosen.pictures)
    elif stage == "album":
        from confee.workflow import pictures

        files = pictures.bind(plan, chosen.file)
    else:
        files = {"regret": results.collect, "slopes": results.measure, "claims": results.judge}[
            stage
        ](plan)
    sources.check()
    experiment = results.folder(plan).name
    stages.keep_note(experiment, stage, chosen.key, files)
    stages.drop_stale(experiment, plan["above"].get(stage, {}))
    costs.keep(f"{experiment}.{stage}")


# --------------------------------------------------------------------------- progress


class _Progress:
    """A progress bar on stderr, if that is a terminal and the task takes over a second."""

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
