"""The ledger of findings as JSON and as Markdown, and the facts about a claim in words."""

from __future__ import annotations

import dataclasses
import json
import math
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from confee.claims import schema
from confee.claims.judging.finding import (
    FAILS,
    SEVERITIES,
    Control,
    Correction,
    Finding,
    Reading,
    Step,
)
from confee.claims.judging.severity import severity_word
from confee.config import reproduce
from confee.core.errors import printable

READING = (
    "`as printed` is the outcome of the printed statement, under the most favourable "
    "interpretation "
    "that its words allow. `severity` says how serious the error is: a misprint and a broken "
    "theorem "
    "both fail as printed. `corrected` is the outcome of the corrected statement. docs/verdicts.md "
    "defines all terms and the rules. `confee claims <id> --numbers` shows one claim with all its "
    "numbers, and the hashes of the files that they were computed from."
)

PARTS = {"controls": Control, "corrections": Correction, "readings": Reading, "steps": Step}
"""Fields that hold a list of objects, and the class of the objects."""


def to_dict(
    findings: Sequence[Finding],
    about: Mapping[str, Any] | None = None,
    files: Mapping[str, Mapping[str, str]] | None = None,
) -> dict:
    """claims.json as plain JSON types, floats to 6 digits.

    `about`: the experiment, whether it is a toy, the hash of its code and the overrides of its run.
    `files`: of each frame that findings rest on, its file and hash.
    """
    claims = []
    for finding in findings:
        claim = plain(dataclasses.asdict(finding))
        if claim["interval"] is not None and None in claim["interval"]:
            claim["interval"] = None  # Without a fit there is no interval.
        claim["evidence"] = [(files or {}).get(name, {"file": name}) for name in finding.evidence]
        claims.append(claim | {name: getattr(finding, name) for name in schema.DERIVED})
    return {"version": schema.VERSION, **(about or {}), "claims": claims}


def to_json(findings: Sequence[Finding], *about: Any) -> str:
    """The ledger as JSON text; equal findings give equal bytes. `about` as for to_dict."""
    plain = to_dict(findings, *about)
    return json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that steer a terminal or cannot be written."""


def from_dict(document: Mapping[str, Any]) -> list[Finding]:
    """Return the findings of a claims.json; their evidence names the files they rest on.

    Raises
    ------
    ValueError
        If it is of another version.
    KeyError, TypeError, AttributeError, ValueError, OverflowError
        If it is damaged.
    """
    if document["version"] != schema.VERSION:
        raise ValueError(
            f"version={json.dumps(document['version'])[:20]}: must be {schema.VERSION}"
        )
    if not isinstance(overrides := document.get("overrides", ""), str):
        raise TypeError(f"overrides={overrides}")
    shlex.split(overrides)  # Commands that settle a claim again split them, too.
    if any(CONTROL.search(text) for text in _texts(document["claims"])):
        raise TypeError("control characters")
    schema.check(document["claims"], schema.schema()["properties"]["claims"], "claims")
    findings: list[Finding] = []
    for claim in document["claims"]:
        if claim["id"] in {finding.id for finding in findings}:
            raise TypeError(f"{claim['id']} twice")
        fields = {name: value for name, value in claim.items() if name not in schema.DERIVED}
        for name, kind in PARTS.items():
            fields[name] = tuple(kind(**part) for part in claim[name])
        fields["interval"] = tuple(claim["interval"]) if claim["interval"] else None
        fields["evidence"] = tuple(
            f"{file['file']} {file.get('sha256', '')[:12]}".strip() for file in claim["evidence"]
        )
        findings.append(Finding(**fields))
        for name in schema.DERIVED:
            if claim[name] != getattr(findings[-1], name):
                raise TypeError(f"{claim['id']}: {name}={claim[name]}")
    return findings


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in [*value, *value.values()] if isinstance(value, dict) else value:
            yield from _texts(item)


def plain(value: Any) -> Any:
    """JSON types only: numpy scalars unwrapped, NaN and infinity as null, 6 significant digits."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    return value


def claim_of(id: str) -> str:
    """Return the claim that makes a finding: `prior-free` makes `prior-free/lookout`."""
    from confee.claims import CLAIMS

    return id if id in CLAIMS else id.partition("/")[0]


def settle(v: Finding, overrides: str, findings: Sequence[Finding] = ()) -> str:
    """Return the command that judges a claim again, in a folder of its own.

    Parameters
    ----------
    overrides
        Those of the workflow that judged it.
    findings
        All findings of that workflow: those that Holm's method corrected together are judged
        together again.
    """
    together = [o.id for o in findings if "p_holm" in o.numbers] if "p_holm" in v.numbers else []
    return reproduce.snakemake(reproduce.of_claims(overrides, together or [claim_of(v.id)]))


def to_markdown(
    findings: Sequence[Finding], title: str = "Claims", overrides: str | None = None
) -> str:
    """The ledger for a reader: a table of findings, then each claim with its numbers.

    `overrides`: those of the workflow that judged them.
    """

    def run(v: Finding) -> str:
        if overrides is None:
            return "the same experiment"
        command = settle(v, overrides, findings)
        if not command.isprintable():
            command = printable(command)  # A code span ends where its line ends.
        fence = "`" * (max(map(len, re.findall("`+", command)), default=0) + 1)
        room = " " * command.endswith("`")
        return f"{fence}{room}{command}{room}{fence}"

    lines = [
        f"# {title}",
        "",
        "| claim | as printed | severity | corrected | measured | horizon |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| `{v.id}` | **{v.as_printed}** | {severity_word(v)} | {v.mended or '-'} | "
        f"{_cell(v.measured)} | {_cell(v.horizon)} |"
        for v in findings
    ]
    if findings:
        lines += ["", READING, ""]
        present = {v.severity for v in findings}
        lines += [f"- `{name}`: {text}" for name, text in SEVERITIES.items() if name in present]
    for v in findings:
        lines += ["", f"## {v.id}: {v.as_printed}", ""]
        lines += [f"- {name}: {text}." for name, text in [*facts(v), ("Run again", run(v))]]
        lines += [f"  - {step_text(step)}" for step in v.steps]
    if not findings:
        lines += ["", "This experiment plays nothing that these claims are about."]
    return "\n".join(lines) + "\n"


def facts(v: Finding) -> list[tuple[str, str]]:
    """Return what a reader has to know about a finding, in order: (heading, text)."""
    at = v.horizon + (f"; at least {v.seeds} seeds or draws of each" if v.seeds else "")
    interval = ""
    if v.interval and all(math.isfinite(end) for end in v.interval):
        interval = f"[{v.interval[0]:.3g}, {v.interval[1]:.3g}], {v.interval_of}".rstrip(", ")
    entries = [
        ("Claim", f"{v.statement} ({v.place})"),
        ("Asked by", "this project; the paper makes no such claim" if v.ours else ""),
        ("As printed", f"{v.as_printed}, {v.gloss}" if v.gloss else v.as_printed),
        ("Severity", f"{severity_word(v)}: {SEVERITIES[v.severity]}" if v.corrections else ""),
        *(("Correction", correction_text(c)) for c in v.corrections),
        *(("Other interpretation", reading_text(r)) for r in v.readings),
        ("Predicted", v.prediction),
        ("Measured", v.measured),
        ("Interval", interval),
        ("Horizon", at),
        ("Why", v.why),
        *(("Control", control_text(c)) for c in v.controls),
        ("Note", v.decide),
        ("Evidence", ", ".join(v.evidence)),
        ("Steps", f"number: {v.number_of}" if v.steps and v.number_of else "below" * bool(v.steps)),
    ]
    return [(name, text) for name, text in entries if text]


def correction_text(c: Correction) -> str:
    """`Lemma 4.6. Printed: $a$. Corrected: $b$ (holds). typo: the proof has b. Effect: none`."""
    closed = ", sufficient for every result that uses it" * c.closed
    shown = f"; {c.shown}" * bool(c.shown)
    parts = (
        c.place,
        f"Printed: {c.printed}",
        f"Corrected: {c.mended} ({c.outcome}{closed}{shown})",
        f"{c.severity}: {c.reason}",
        f"Effect: {c.effect}",
    )
    return ". ".join(part.rstrip(".") for part in parts)


def reading_text(r: Reading) -> str:
    """`quota: block: fails (19 of 248 runs)`."""
    return f"{r.choice}: {r.outcome}" + (f" ({r.measured})" if r.measured else "")


def control_text(control: Control) -> str:
    """`uniform, exponent in B (0): fails, as expected`."""
    value = control.value
    number = "" if value is None or math.isnan(value) else f" ({value:.3g})"
    note = f" ({control.note})" if control.note else ""
    return f"{control.what}{number}: {control_verdict(control)}{note}"


def control_verdict(control: Control) -> str:
    """`fails, as expected`, `does not fail, but should`, `not simulated`."""
    if control.as_expected is None:
        return "not simulated"
    verb = "fail" if control.expected == FAILS else "hold"
    return f"{verb}s, as expected" if control.as_expected else f"does not {verb}, but should"


def step_text(step: Step) -> str:
    """`holds: Pinsker (0.98); a note`."""
    value = "" if step.number is None or math.isnan(step.number) else f" ({step.number:.4g})"
    note = f"; {step.note}" if step.note else ""
    return f"{step.outcome}: {step.step}{value}{note}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
