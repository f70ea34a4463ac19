"""Verdicts in a terminal, a line a claim: for the end of a run, and for `confee claims`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rich.text import Text

from confee.claims.judging.verdict import Verdict
from confee.claims.ledger import STYLE
from confee.rendering.verdicts import MARKS, counted

CONTROL = {True: ("✓", "failed"), False: ("×", "did not fail"), None: ("–", "none")}
"""What became of a control: in a narrow terminal, and where there is room."""
ROOMY = 110
WHERE = re.compile(r"^(at|scale) [^;]*?: ")
PARENTHESES = re.compile(r" \([^()]*\)")
"""A label's options follow it without a blank."""
BRACKETS = re.compile(r" ?\[[^][]*\]")


def lines(verdicts: Sequence[Verdict], width: int | None = None) -> Iterator[Text]:
    """A head, a line a claim and what is to be known of them all, none wider than `width`.

    Without a width nothing is cut.
    """
    roomy = width is None or width >= ROOMY
    yield Text(f"claims: {counted(v.verdict for v in verdicts)}")
    wide = max((len(v.id) for v in verdicts), default=5)
    tells = max(len("control"), *(len(said[roomy]) for said in CONTROL.values()))
    room = None if width is None else width - wide - tells - 18
    yield Text(f"{'claim':{wide}}  {'verdict':12}  {'control':{tells}}  measured", "dim")
    for v in verdicts:
        verdict = f"{MARKS[v.verdict].glyph} {v.verdict}"
        control = CONTROL[v.control.get("failed")][roomy]
        yield Text.assemble(
            f"{v.id:{wide}}  ", (f"{verdict:12}", STYLE[v.verdict]),
            f"  {control:{tells}}  {headline(v, room)}",
        )  # fmt: skip
    if verdicts and not roomy:
        yield Text("control: ✓ failed, as it must; × did not fail; – was not played", "dim")
    if any(v.horizon.startswith("toy") for v in verdicts):
        yield Text("toy horizons: verdicts from runs say nothing of larger ones", "dim")


def headline(v: Verdict, room: int | None = None) -> str:
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
