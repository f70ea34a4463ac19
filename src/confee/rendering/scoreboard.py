"""Findings in a terminal: one line for each claim, or one claim in full."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from confee.claims import ledger
from confee.claims.judging.finding import FAILS, HOLDS, Finding
from confee.core.errors import harmless
from confee.rendering.verdicts import ALL, MARKS, OPEN, SIGNS, came_out, summary, weight
from confee.rendering.verdicts import short as outcome
from confee.rendering.words import plain

STYLE = {
    "holds": "green",
    "consistent": "green",
    "fails": "red",
    "undecided": "yellow",
    "vacuous": "magenta",
    "none": "dim",
    "typo": "",
    "rounding": "",
    "constant": "",
    "logarithm": "",
    "condition": "",
    "horizon": "blue",
    "gap": "red",
    "false": "bold red",
}
"""Colours of outcomes and severities."""

OURS = "*"
"""Behind the id of a question of our own."""

WHERE = re.compile(r"^(at|scale) [^;]*?: ")
PARENTHESES = re.compile(r" \([^()]*\)")
"""A label's options follow it without a blank."""
BRACKETS = re.compile(r"(?:, 95 % CI)? ?\[[^][]*\]")


def lines(findings: Sequence[Finding], width: int | None = None) -> Iterator[Text]:
    """Yield a head, one line per claim and how to read them, none wider than `width`.

    Without a width nothing is cut.
    """
    for line in summary(findings):
        for part in textwrap.wrap(line, width or len(line), subsequent_indent="  "):
            yield Text(part)
    names = {v.id: v.id + OURS * v.ours for v in findings}
    wide = max(map(len, names.values()), default=5)
    controls = {v.id: _controls(v) for v in findings}
    head = "+ \N{MINUS SIGN}"
    tells = max(len(head), *map(len, controls.values())) if controls else len(head)
    room = None if width is None else width - wide - tells - 31
    heads = f"{'claim':{wide}}  {'as printed':12}  {'severity':11}  {head:{tells}}  measured"
    yield Text(heads, "dim")
    for v in findings:
        printed = f"{MARKS[v.as_printed].glyph} {outcome(v.as_printed, v.basis)}"
        yield Text.assemble(
            f"{names[v.id]:{wide}}  ",
            (f"{printed:12}", STYLE[v.as_printed]),
            "  ",
            (f"{ALL[weight(v)].word:11}", STYLE[v.severity]),
            f"  {controls[v.id]:{tells}}  {headline(v, room)}",
        )
    for line in _terms(findings):
        for part in textwrap.wrap(line, width or len(line), subsequent_indent="  "):
            yield Text(part, "dim")
    if any(v.ours for v in findings):
        yield Text(f"{OURS} our own question: the paper makes no such claim", "dim")
    if findings:
        yield Text("+ \N{MINUS SIGN}: controls that should hold, and that should fail:", "dim")
        yield Text("✓ as expected, × not as expected, – not simulated", "dim")
    if any(v.horizon.startswith("toy") for v in findings):
        yield Text("toy horizons: these outcomes say nothing about larger ones", "dim")


def _terms(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield `fails: what that means` for each outcome and each severity that occurs."""
    outcomes, severities = {v.as_printed for v in findings}, {weight(v) for v in findings}
    for names, marks, kind in ((outcomes, MARKS, ""), (severities, ALL, "severity ")):
        for name, mark in marks.items():
            if name in names:
                yield f"{kind}{mark.word}: {mark.meaning}"


def _controls(v: Finding) -> str:
    """Return `✓ ✓`: the positive controls, which should hold, and the negative ones, which should
    fail."""
    held, failed = (came_out(v.controls, expected) for expected in (HOLDS, FAILS))
    return f"{SIGNS[held] or ' '} {SIGNS[failed] or SIGNS[OPEN]}"


def headline(v: Finding, room: int | None = None) -> str:
    """Return the measurement, and the claimed value if there is room."""
    if room is None:
        return f"{v.measured} (claimed: {v.prediction})"
    claimed = PARENTHESES.sub("", v.prediction).partition("; ")[0]
    against = f" (claimed: {claimed})" if claimed and "claimed" not in v.measured else ""
    beside = short(v.measured, room - len(against)) if room - len(against) >= 20 else "…"
    return short(v.measured, room) if beside.endswith("…") else beside + against


def short(text: str, room: int) -> str:
    """Shorten a text to `room` letters: place, asides and intervals go first, then final clauses; a
    clause is cut only if none fits."""
    bare = WHERE.sub("", PARENTHESES.sub("", text))
    forms = [text, WHERE.sub("", text), bare, BRACKETS.sub("", bare)]
    for form in forms:
        if len(form) <= room:
            return form
    for form in forms[1:]:
        if clauses := _while_it_fits(_clauses(form), "; ", room):
            return clauses
    first = _clauses(forms[-1])[0]
    return _while_it_fits(first.split(", "), ", ", room) or _cut(first, room)


def _clauses(text: str) -> list[str]:
    clauses = text.split("; ")
    return [clause for clause in clauses if "no fit" not in clause] or clauses


def _cut(text: str, room: int) -> str:
    return text[: max(room - 1, 0)].rpartition(" ")[0] + " …"


def _while_it_fits(parts: Sequence[str], between: str, room: int) -> str:
    text = ""
    for part in parts:
        longer = text + between + part if text else part
        if len(longer) > room:
            break
        text = longer
    return text


def explain(v: Finding, run: str, numbers: bool = False) -> Group:
    """Return one claim in full. `run`: the command that judges it again. `numbers`: include
    them."""
    title = Text.assemble(
        (v.id, "bold"),
        "  as printed: ",
        (v.as_printed, STYLE[v.as_printed]),
        f" ({v.gloss})" if v.gloss else "",
        "  severity: ",
        (ALL[weight(v)].word, STYLE[v.severity]),
    )
    facts = Table(box=None, show_header=False, pad_edge=False)
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column(overflow="fold")
    for name, text in [*ledger.facts(v), ("Run again", run)]:
        facts.add_row(name, Text(harmless(plain(text))))
    parts: list[Any] = [title, facts]
    if v.steps:
        steps = Table("part", "outcome", "number", "note", box=None, pad_edge=False)
        for step in v.steps:
            shown = "" if step.number is None else f"{step.number:.4g}"
            word = Text(step.outcome, STYLE.get(step.outcome, ""))
            steps.add_row(Text(plain(step.step)), word, shown, Text(plain(step.note)))
        parts += [Text(), steps]
    if numbers:
        text = json.dumps(ledger.plain(v.numbers), indent=1, ensure_ascii=False)
        parts += [Text(), Text(text, "dim")]
    elif v.numbers:
        parts += [Text(), Text("--numbers shows all its numbers", "dim")]
    return Group(*parts)
