"""The erratum for the paper's authors, from the corrections in the ledger of findings."""

from __future__ import annotations

from collections.abc import Sequence

from confee.claims.judging.finding import SEVERITIES, Correction, Finding

HORIZON = "horizon"


def text(findings: Sequence[Finding]) -> str:
    """Two tables in Markdown: what to correct, and what simulations rule out at their horizons.

    Parameters
    ----------
    findings
        Of all experiments that judge claims of the paper. Questions of this project's own, and
        repetitions of the same correction, are left out.
    """
    rows: dict[Correction, str] = {}
    for finding in findings:
        if not finding.ours:
            for one in finding.corrections:
                rows.setdefault(one, finding.id)
    order = list(SEVERITIES)
    slips = sorted(
        ((c, id) for c, id in rows.items() if c.severity != HORIZON),
        key=lambda row: -order.index(row[0].severity),
    )
    measured = [(c, id) for c, id in rows.items() if c.severity == HORIZON]
    return "\n".join(
        [
            "## Corrections",
            "",
            _line(("Place", "Printed", "Mended", "Severity", "Effect", "Shown by")),
            _line(["---"] * 6),
            *(_line(_slip(c, id)) for c, id in slips),
            "",
            "## Ruled out at the horizons played",
            "",
            _line(("Place", "Statement", "What was found", "Shown by")),
            _line(["---"] * 4),
            *(_line((c.place, c.printed, c.reason, _command(id))) for c, id in measured),
        ]
    )


def _slip(c: Correction, id: str) -> tuple[str, ...]:
    """One correction: the mended statement comes with its outcome and what shows it."""
    mended = f"{c.mended}: {c.outcome}"
    severity = f"**{c.severity}**: {c.reason}"
    shown = f"{_page(c.shown)}; {_command(id)}" if c.shown else _command(id)
    return (c.place, c.printed, mended, severity, c.effect, shown)


def _page(shown: str) -> str:
    """A page of docs/ as a link from docs/erratum.md, other words as they are."""
    if not shown.startswith("docs/"):
        return shown
    page = shown.removeprefix("docs/")
    return f"[{page}]({page})"


def _command(id: str) -> str:
    return f"`claims=[{id}]`"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
