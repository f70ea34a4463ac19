"""The ledger of verdicts: as JSON, as Markdown for a reader, as a short table for a terminal."""

from __future__ import annotations

import dataclasses
import json
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.table import Table

from confee.claims.verdict import Verdict

VERSION = 1
_STYLE = {"holds": "green", "consistent": "green", "fails": "red", "undecided": "yellow",
          "vacuous": "magenta"}  # fmt: skip


def to_dict(verdicts: Sequence[Verdict]) -> dict:
    """`{"version": 1, "claims": [...]}` of plain JSON types, floats to 6 digits."""
    return {"version": VERSION, "claims": [_plain(dataclasses.asdict(v)) for v in verdicts]}


def to_json(verdicts: Sequence[Verdict]) -> str:
    """The ledger as JSON text; equal verdicts give equal bytes."""
    return json.dumps(to_dict(verdicts), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    """JSON types only: numpy scalars unwrapped, NaN and infinity as null, 6 significant digits."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    return value


def to_markdown(verdicts: Sequence[Verdict], title: str = "Claims") -> str:
    """The ledger for a reader: a table of verdicts, then each claim with its numbers."""
    lines = [f"# {title}", "", "| claim | verdict | measured |", "|---|---|---|"]
    lines += [f"| `{v.id}` | **{v.verdict}** | {_cell(v.measured)} |" for v in verdicts]
    for v in verdicts:
        lines += ["", f"## {v.id}: {v.verdict}", ""]
        lines += [f"- Claim: {v.statement} ({v.place})."]
        lines += [f"- Predicted: {v.prediction}."]
        lines += [f"- Measured: {v.measured}."]
        lines += [f"- At: {v.horizon}" + (f"; at least {v.seeds} seeds." if v.seeds else ".")]
        if v.control:
            lines += [f"- Control: {control_text(v.control)}."]
        if v.decide:
            lines += [f"- Note: {v.decide}."]
    if not verdicts:
        lines += ["", "This experiment plays nothing that these claims are about."]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def control_text(control: dict) -> str:
    """`uniform, exponent in B: 0.000, failed as it must`."""
    value = control.get("value")
    number = "" if value is None else f": {value:.3g}"
    outcome = {True: "failed as it must", False: "did NOT fail", None: "not played"}
    return f"{control.get('what', 'none')}{number}, {outcome[control.get('failed')]}"


def table(verdicts: Sequence[Verdict]) -> Table:
    """A short rich table for the end of a run."""
    counts = Counter(v.verdict for v in verdicts)
    title = "claims: " + ", ".join(f"{n} {name}" for name, n in sorted(counts.items()))
    out = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for name in ("claim", "verdict", "control", "at"):
        out.add_column(name, overflow="fold")
    for v in verdicts:
        control = {True: "failed as it must", False: "did not fail", None: "not played"}
        style = _STYLE.get(v.verdict, "")
        out.add_row(v.id, f"[{style}]{v.verdict}[/]", control[v.control.get("failed")], v.horizon)
    return out
