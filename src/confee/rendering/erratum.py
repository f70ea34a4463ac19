"""The erratum for the paper's authors, from the corrections in the ledger of findings."""

from __future__ import annotations

import re
from collections.abc import Sequence

from confee.claims.judging.finding import BREAKING, SEVERITIES, Correction, Finding
from confee.rendering.words import FORMULA

HORIZON = "horizon"

CLAIM = re.compile(r"claims=\[([\w/-]+)\]")
"""The claim that shows a correction, where it is another one than declares it."""


def text(findings: Sequence[Finding]) -> str:
    """Return the corrections in Markdown: a table, and why each row has its severity.

    Parameters
    ----------
    findings
        Of all experiments that judge claims of the paper. Questions of this project's own, what
        simulations contradict at their horizons, and repetitions of a correction are left out.
    """
    rows: dict[Correction, str] = {}
    for finding in findings:
        if not finding.ours:
            for correction in finding.corrections:
                rows.setdefault(correction, finding.id)
    order = list(SEVERITIES)
    slips = sorted(
        ((c, id) for c, id in rows.items() if c.severity != HORIZON),
        key=lambda row: (-order.index(row[0].severity), row[0].closed),
    )
    return "\n".join(
        [
            "## Corrections",
            "",
            _line(("", "Place", "Printed", "Corrected", "Severity", "Effect", "Command")),
            _line(["---"] * 7),
            *(_line((f"{i}", *_slip(c, id))) for i, (c, id) in enumerate(slips, 1)),
            "",
            "## Why",
            "",
            *(f"{i}. {_why(c)}" for i, (c, _) in enumerate(slips, 1)),
        ]
    )


def _slip(c: Correction, id: str) -> tuple[str, ...]:
    """Return the cells of a correction; the corrected statement comes with its outcome."""
    mended = f"{typeset(c.mended)}: *{c.outcome}*"
    closed = ", closed" if c.closed and c.severity in BREAKING else ""
    severity = f"**{c.severity}**{closed}"
    named = CLAIM.search(c.shown)
    command = _command(named[1] if named else id)
    return (typeset(c.place), typeset(c.printed), mended, severity, typeset(c.effect), command)


def _why(c: Correction) -> str:
    """Return why it has that severity, and what shows the corrected statement."""
    page = _page(CLAIM.sub("", c.shown).strip(", "))
    shown = f" ({page})" if page else ""
    reason = typeset(c.reason)
    return f"{typeset(c.place)}: {reason}{shown}."


def typeset(words: str) -> str:
    """Text with formulas between dollars as GitHub sets them without reading Markdown in them."""
    return FORMULA.sub(lambda match: f"$`{match[1]}`$", words)


def _page(shown: str) -> str:
    """Return a page of docs/ as a link from docs/erratum.md, other words as they are."""
    return re.sub(r"docs/(\S+\.md)", r"[\1](\1)", shown)


def _command(id: str) -> str:
    return f"`claims=[{id}]`"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
