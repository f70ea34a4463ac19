"""Verdicts in a terminal, a line a claim: for the end of a run, and for `confee claims`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rich.text import Text

from confee.claims.judging.finding import Finding
from confee.claims.ledger import STYLE
from confee.rendering.deciding import deciding
from confee.rendering.verdicts import MARKS, counted

CONTROL = {True: ("✓", "failed"), False: ("×", "did not fail"), None: ("–", "none")}
"""What became of a control that must fail: in a narrow terminal, and where there is room."""
POSITIVE = {True: ("✓", "held"), False: ("×", "did not hold"), None: ("–", "none")}
"""What became of one that must hold."""
ROOMY = 110
WHERE = re.compile(r"^(at|scale) [^;]*?: ")
PARENTHESES = re.compile(r" \([^()]*\)")
"""A label's options follow it without a blank."""
BRACKETS = re.compile(r"(?:, 95 % CI)? ?\[[^][]*\]")


def lines(verdicts: Sequence[Finding], width: int | None = None) -> Iterator[Text]:
    """A head, a line a claim and what is to be known of them all, none wider than `width`.

    Without a width nothing is cut.
    """
    roomy = width is None or width >= ROOMY
    yield Text(f"claims: {counted(v.verdict for v in verdicts)}")
    wide = max((len(v.id) for v in verdicts), default=5)
    controls = {v.id: _controls(v, roomy) for v in verdicts}
    tells = max(len("controls"), *map(len, controls.values())) if controls else 8
    room = None if width is None else width - wide - tells - 18
    yield Text(f"{'claim':{wide}}  {'verdict':12}  {'controls':{tells}}  measured", "dim")
    for v in verdicts:
        verdict = f"{MARKS[v.verdict].glyph} {v.verdict}"
        control = controls[v.id]
        yield Text.assemble(
            f"{v.id:{wide}}  ", (f"{verdict:12}", STYLE[v.verdict]),
            f"  {control:{tells}}  {headline(v, room)}",
        )  # fmt: skip
    if verdicts and not roomy:
        yield Text("controls: one that must hold, one that must fail:", "dim")
        yield Text("✓ as expected, × not, – not played", "dim")
    if any(v.horizon.startswith("toy") for v in verdicts):
        yield Text("toy horizons: verdicts from runs say nothing of larger ones", "dim")


def _controls(v: Finding, roomy: bool) -> str:
    """`✓ ✓`, or `held, failed`; without a control that must hold, the other alone."""
    negative = CONTROL[v.control.get("failed")][roomy]
    ray = deciding(v.numbers, v.interval, v.interval_of)
    if ray is None:
        return negative if roomy else f"  {negative}"
    return f"{POSITIVE[ray.control][roomy]}{', ' if roomy else ' '}{negative}"


def headline(v: Finding, room: int | None = None) -> str:
    """What was measured, against what is claimed if there is room for both."""
    if room is None:
        return f"{v.measured} (claimed: {v.prediction})"
    claimed = PARENTHESES.sub("", v.prediction).partition("; ")[0]
    against = f" (claimed: {claimed})" if claimed and "claimed" not in v.measured else ""
    beside = short(v.measured, room - len(against)) if room - len(against) >= 20 else "…"
    return short(v.measured, room) if beside.endswith("…") else beside + against


def short(text: str, room: int) -> str:
    """The text in `room` letters: where, asides and intervals go first, then clauses at the end; a
    clause is cut only if not even one has room."""
    bare = WHERE.sub("", PARENTHESES.sub("", text))
    forms = [text, WHERE.sub("", text), bare, BRACKETS.sub("", bare)]
    for form in forms:
        if len(form) <= room:
            return form
    for form in forms[1:]:
        if said := _while_it_fits(_clauses(form), "; ", room):
            return said
    first = _clauses(forms[-1])[0]
    return _while_it_fits(first.split(", "), ", ", room) or _cut(first, room)


def _clauses(text: str) -> list[str]:
    clauses = text.split("; ")
    return [clause for clause in clauses if "no fit" not in clause] or clauses


def _cut(text: str, room: int) -> str:
    return text[: max(room - 1, 0)].rpartition(" ")[0] + " …"


def _while_it_fits(parts: Sequence[str], between: str, room: int) -> str:
    said = ""
    for part in parts:
        longer = said + between + part if said else part
        if len(longer) > room:
            break
        said = longer
    return said
