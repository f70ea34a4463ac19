"""The ledger of verdicts: as JSON, as Markdown for a reader, one claim in full for a terminal."""

from __future__ import annotations

import dataclasses
import json
import math
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from confee import commands
from confee.claims.judging.verdict import OUTCOMES, Verdict
from confee.schema import show

VERSION = 2
"""Of claims.json; its schema is claims.schema.json, beside this file."""

READING = (
    "docs/verdicts.md says what the words mean and how they are reached. `confee claims <id>` "
    "shows the same with all numbers, and the hashes of the files that a verdict rests on."
)

SCHEMA = Path(__file__).with_name("claims.schema.json")

STYLE = {"holds": "green", "consistent": "green", "fails": "red", "undecided": "yellow",
          "vacuous": "magenta"}  # fmt: skip


def to_dict(
    verdicts: Sequence[Verdict],
    about: Mapping[str, Any] | None = None,
    files: Mapping[str, Mapping[str, str]] | None = None,
) -> dict:
    """claims.json as plain JSON types, floats to 6 digits.

    `about`: the experiment, whether it is a toy, the hash of its code and the overrides of its run.
    `files`: of each frame that verdicts rest on, its file and hash.
    """
    claims = []
    for verdict in verdicts:
        one = _plain(dataclasses.asdict(verdict))
        if one["interval"] is not None and None in one["interval"]:
            one["interval"] = None  # without a fit there is none
        one["evidence"] = [(files or {}).get(name, {"file": name}) for name in verdict.evidence]
        claims.append(one)
    return {"version": VERSION, **(about or {}), "claims": claims}


def to_json(verdicts: Sequence[Verdict], *about: Any) -> str:
    """The ledger as JSON text; equal verdicts give equal bytes. `about` as for to_dict."""
    plain = to_dict(verdicts, *about)
    return json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


_KINDS = {"id": str, "verdict": str, "measured": str, "horizon": str, "control": dict,
          "numbers": dict, "seeds": int, "steps": list, "evidence": list, "decide": str, "why": str,
          "statement": str, "place": str, "prediction": str}  # fmt: skip

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""What steers a terminal, or cannot be written."""


def from_dict(said: Mapping[str, Any]) -> list[Verdict]:
    """The verdicts of a claims.json, with the files they rest on for evidence.

    Raises ValueError if it is of another version, KeyError, TypeError, AttributeError, ValueError
    or OverflowError if it is damaged.
    """
    if said["version"] != VERSION:
        raise ValueError(f"version={show(said['version'])}: must be {VERSION}")
    if not isinstance(overrides := said.get("overrides", ""), str):
        raise TypeError(f"overrides={overrides}")
    shlex.split(overrides)  # as commands that settle a claim again will
    if any(CONTROL.search(text) for text in _texts(said["claims"])):
        raise TypeError("control characters")
    verdicts: list[Verdict] = []
    for one in said["claims"]:
        for name, kind in _KINDS.items():
            if not isinstance(one[name], kind):
                raise TypeError(f"{name}={one[name]}")
        if one["verdict"] not in OUTCOMES or one["control"].get("failed") not in (
            True,
            False,
            None,
        ):
            raise TypeError(f"{one['id']}: {one['verdict']}")
        control_text(one["control"])
        if one["interval"] is not None:
            low, high = one["interval"]
            _ = high - low
        for step in one["steps"]:
            _ = step["step"] + step["outcome"] + (step.get("note") or "")
            _ = (step.get("number") or 0) >= 0
        if one["id"] in {v.id for v in verdicts}:
            raise TypeError(f"{one['id']} twice")
        files = tuple(f"{f['file']} {f.get('sha256', '')[:12]}".strip() for f in one["evidence"])
        interval = tuple(one["interval"]) if one["interval"] else None
        rest = {"interval": interval, "steps": tuple(one["steps"]), "evidence": files}
        verdicts.append(Verdict(**{**one, **rest}))
    return verdicts


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in [*value, *value.values()] if isinstance(value, dict) else value:
            yield from _texts(one)


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


def settle(v: Verdict, overrides: str, verdicts: Sequence[Verdict] = ()) -> str:
    """The command that settles a claim again, in a folder of its own, as it was settled under the
    `overrides` of a run: with all `verdicts` that were corrected for being several."""
    together = [o.id for o in verdicts if "p_holm" in o.numbers] if "p_holm" in v.numbers else []
    return commands.snakemake(commands.of_claims(overrides, together or [v.id]))


def to_markdown(
    verdicts: Sequence[Verdict], title: str = "Claims", overrides: str | None = None
) -> str:
    """The ledger for a reader: a table of verdicts, then each claim with its numbers.

    `overrides`: those of the run that judged them.
    """

    def run(v: Verdict) -> str:
        if overrides is None:
            return "the same experiment"
        return f"`{settle(v, overrides, verdicts)}`"

    lines = [f"# {title}", "", "| claim | verdict | measured | at |", "|---|---|---|---|"]
    lines += [
        f"| `{v.id}` | **{v.verdict}** | {_cell(v.measured)} | {_cell(v.horizon)} |"
        for v in verdicts
    ]
    if verdicts:
        lines += ["", READING]
    for v in verdicts:
        lines += ["", f"## {v.id}: {v.verdict}", ""]
        lines += [f"- {name}: {text}." for name, text in [*facts(v), ("Settle again", run(v))]]
        lines += [f"  - {_step_text(step)}" for step in v.steps]
    if not verdicts:
        lines += ["", "This experiment plays nothing that these claims are about."]
    return "\n".join(lines) + "\n"


def facts(v: Verdict) -> list[tuple[str, str]]:
    """What a reader has to know of a verdict, in order: (what it is, text)."""
    at = v.horizon + (f"; at least {v.seeds} seeds or draws of each" if v.seeds else "")
    interval = ""
    if v.interval and all(math.isfinite(end) for end in v.interval):
        interval = f"[{v.interval[0]:.3g}, {v.interval[1]:.3g}], {v.interval_of}".rstrip(", ")
    said = [
        ("Claim", f"{v.statement} ({v.place})"),
        ("Predicted", v.prediction),
        ("Measured", v.measured),
        ("Interval", interval),
        ("At", at),
        ("Why", v.why),
        ("Control", control_text(v.control) if v.control else ""),
        ("Note", v.decide),
        ("Evidence", ", ".join(v.evidence)),
        ("Step by step", f"in brackets: {v.number_of}" if v.steps else ""),
    ]
    return [(name, text) for name, text in said if text]


def _step_text(step: Mapping[str, Any]) -> str:
    """`holds: Pinsker (0.98); a note`."""
    number = step.get("number")
    value = "" if number is None or math.isnan(number) else f" ({number:.4g})"
    note = f"; {step['note']}" if step.get("note") else ""
    return f"{step['outcome']}: {step['step']}{value}{note}"


def explain(v: Verdict, run: str) -> Group:
    """One claim in full, for a terminal. `run`: the command that settles it again."""
    title = Text.assemble((v.id, "bold"), "  ", (v.verdict, STYLE.get(v.verdict, "")))
    said = Table(box=None, show_header=False, pad_edge=False)
    said.add_column(style="dim", no_wrap=True)
    said.add_column(overflow="fold")
    for name, text in [*facts(v), ("Settle again", run)]:
        said.add_row(name, Text(text))
    parts: list[Any] = [title, said]
    if v.steps:
        steps = Table("part", "outcome", "number", "note", box=None, pad_edge=False)
        for step in v.steps:
            number = step.get("number")
            shown = "" if number is None else f"{number:.4g}"
            style = STYLE.get(step["outcome"], "")
            outcome = Text(step["outcome"], style)
            steps.add_row(Text(step["step"]), outcome, shown, Text(step.get("note") or ""))
        parts += [Text(), steps]
    if v.numbers:
        numbers = Text(json.dumps(_plain(v.numbers), indent=1, ensure_ascii=False), "dim")
        parts += [Text(), numbers]
    return Group(*parts)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def control_text(control: dict) -> str:
    """`uniform, exponent in B: 0.000, failed as it must`."""
    value = control.get("value")
    number = "" if value is None or math.isnan(value) else f": {value:.3g}"
    outcome = {True: "failed as it must", False: "did NOT fail", None: "not played"}
    note = f" ({control['note']})" if control.get("note") else ""
    return f"{control.get('what', 'none')}{number}, {outcome[control.get('failed')]}{note}"
