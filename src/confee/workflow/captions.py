"""What `snakemake --report` says below figures, tables and findings, as reStructuredText."""

from __future__ import annotations

import csv
import io
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path

from confee.core.errors import ConfeeError
from confee.rendering.words import rst
from confee.workflow.handoff import RESULTS


def captions(experiment: str, figures: Iterable[str], tables: Iterable[str]) -> dict[str, str]:
    """Return the caption of each job by its first output, with the rows of a table below it.

    Missing outputs get an empty caption.
    """
    folder = Path("figures") / experiment
    texts = {f"{folder}/{name}.pdf": _caption(folder / f"{name}.txt") for name in figures}
    for name in tables:
        file = folder / f"{name}.csv"
        texts[file.as_posix()] = _caption(folder / f"{name}.txt") + _grid(_rows(file))
    return texts | {(RESULTS / experiment / "claims.json").as_posix(): _findings(experiment)}


def _caption(file: Path) -> str:
    try:
        return rst(file.read_text(encoding="utf-8").strip())
    except FileNotFoundError:
        return ""


def _rows(file: Path) -> list[list[str]]:
    try:
        with file.open(encoding="utf-8", newline="") as lines:
            return list(csv.reader(lines))
    except FileNotFoundError:
        return []


def _findings(experiment: str) -> str:
    from confee.workflow import results

    try:
        findings = results.findings(experiment)
    except ConfeeError:
        return ""
    rows = [[v.id, v.gloss or v.as_printed, v.severity, v.measured, v.horizon] for v in findings]
    return _grid([["claim", "as printed", "severity", "measured", "at"], *rows])


def _grid(rows: Sequence[Sequence[str]]) -> str:
    """Return a reStructuredText table whose first row is its head."""
    if not rows:
        return ""
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(
        [rst(" ".join(cell.split())) for cell in row] for row in rows
    )
    return "\n\n.. csv-table::\n   :header-rows: 1\n\n" + textwrap.indent(text.getvalue(), "   ")
