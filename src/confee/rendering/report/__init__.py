"""The report of an experiment: one self-contained HTML page, from plain data.

A page loads nothing from the network: images and downloads are embedded, and its content security
policy allows only its own style and script. The script sorts, filters and adds thumbnails; without
it, all of the page can still be read.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from confee.claims import ledger
from confee.claims.judging.finding import OUTCOMES, SEVERITIES, Control, Finding
from confee.rendering import PAGE
from confee.rendering.catalogue import SECTIONS, VERDICTS, WHO
from confee.rendering.deciding import Deciding, deciding
from confee.rendering.report.formulas import marked
from confee.rendering.verdicts import (
    ALL,
    CLOSED,
    MARKS,
    SEVERITY_MARKS,
    sentences,
    unsettled,
    weight,
)
from confee.rendering.words import plain

FOLDER = Path(__file__).parent
HEADING = "Claims of Li and Li (NeurIPS 2025), tested"

FIRST = "scoreboard"
"""The figure that stands above the table of claims."""

WHOLE, PACKED = 100_000, 1_000_000
"""Bytes up to which a frame is embedded as it is, and packed by gzip; a larger one stays out."""


@dataclass(frozen=True)
class Shown:
    """A figure (`svg`) or a table (`rows`, the first of which is its head), with its caption.

    `claims`: ids of claims that it is evidence for, or their parts before the slash. `frames`:
    names of the Frames that it was made from.
    """

    name: str
    title: str
    section: str
    finding: str
    reading: str
    claims: Sequence[str]
    command: str
    frames: Sequence[str] = ()
    svg: bytes = b""
    rows: Sequence[Sequence[str]] = ()

    @property
    def id(self) -> str:
        return f"{'figure' if self.svg else 'table'}-{self.name}"


@dataclass(frozen=True)
class Frame:
    """Data to download: file name, content, number of rows, and the file of the results it comes
    from."""

    name: str
    content: bytes
    rows: int
    source: str = ""


@dataclass(frozen=True)
class Times:
    """CPU and wall-clock time of jobs. `stages`: (stage, jobs, CPU seconds, seconds). `slowest`:
    (job, CPU seconds, seconds). `note`: what is not included."""

    stages: Sequence[tuple[str, int, float, float]] = ()
    slowest: Sequence[tuple[str, float, float]] = ()
    note: str = ""


@dataclass(frozen=True)
class Report:
    """Everything that a page shows.

    `settle`: claim id -> command. `evidence`: claim id -> files, each {"file", "sha256"}. `config`:
    YAML. `versions`, `seeds`: name -> text. `commit`: of confee's git repository; empty if it is
    not run from one.
    """

    experiment: str
    headline: str
    toy: bool
    findings: Sequence[Finding]
    settle: Mapping[str, str]
    evidence: Mapping[str, Sequence[Mapping[str, str]]]
    shown: Sequence[Shown]
    frames: Sequence[Frame]
    command: str
    config: str
    code: str
    versions: Mapping[str, str]
    seeds: Mapping[str, str]
    times: Times
    commit: str = ""

    def section(self, name: str) -> list[Shown]:
        """Return what a section shows."""
        return [shown for shown in self.shown if shown.section == name]

    def settled_by(self, shown: Shown) -> list[Finding]:
        """Return the claims that a figure or a table is evidence for."""
        return [v for v in self.findings if {v.id, v.id.partition("/")[0]} & set(shown.claims)]

    def showing(self, finding: Finding) -> list[Shown]:
        """Return the figures and tables that are evidence for a claim."""
        return [shown for shown in self.shown if finding in self.settled_by(shown)]


def render(report: Report) -> str:
    """Return the page as HTML."""
    style, script = ((FOLDER / name).read_text(encoding="utf-8") for name in PAGE[1:])
    style += _colours()
    page = _environment().get_template(PAGE[0])
    names = [name for name in (WHO, *SECTIONS) if name != VERDICTS and report.section(name)]
    papers = [v for v in report.findings if not v.ours]
    counted = papers or report.findings
    return page.render(
        report=report,
        style=Markup(style),
        script=Markup(script),
        policy=_policy(style, script),
        heading=HEADING if papers else report.experiment,
        sentences=sentences(report.findings),
        first=FIRST,
        summary=_summary(report.findings),
        outcomes=_counts(MARKS, [v.as_printed for v in counted], OUTCOMES if papers else ()),
        severities=_counts(
            SEVERITY_MARKS, [v.severity for v in counted], list(SEVERITIES) if papers else ()
        ),
        severities_of_all=_counts(SEVERITY_MARKS, [v.severity for v in report.findings]),
        outcomes_of_all=_counts(MARKS, [v.as_printed for v in report.findings]),
        unsettled=unsettled(counted),
        closed=sum(weight(v) == CLOSED for v in counted),
        sections=list(dict.fromkeys(names)),
        claims_section=VERDICTS,
        marks=ALL,
        weight=weight,
        in_tables=MARKS,
        worst_first=list(MARKS),
        lightest_first=list(SEVERITIES),
        downloads={frame.name: _download(frame) for frame in report.frames},
    )


def _summary(findings: Sequence[Finding]) -> str:
    """Return what the counts by outcome and by severity are about."""
    ours = sum(v.ours for v in findings)
    paper = len(findings) - ours
    if not paper:
        return "The paper makes none of these claims: they are questions of our own"
    text = f"The numbers below count the {paper} claim{'s' * (paper != 1)} of the paper"
    return text + f"; {ours} more of the table {'is' if ours == 1 else 'are'} our own" * bool(ours)


def _counts(
    marks: Mapping[str, Any], words: Sequence[str], always: Sequence[str] = ()
) -> dict[str, int]:
    """Return how often each word occurs, in the order of its marks: those that occur, and
    `always`."""
    return {name: words.count(name) for name in marks if name in (*words, *always)}


def _environment() -> Environment:
    page = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page.filters |= {
        "marked": marked,
        "plain": plain,
        "facts": ledger.facts,
        "horizon": horizon,
        "reach": reach,
        "tally": tally,
        "number": first_number,
        "clock": clock,
        "size": size,
        "image": image,
        "shape": shape,
        "slug": slug,
        "grouped": grouped,
        "decided": decided,
        "sortable": sortable,
    }
    return page


def _colours() -> str:
    """Return the colours of outcomes and severities, where the style sheet can use them."""
    rules = [
        f".{name} {{ --fill: {mark.color}; --ink: {mark.ink}; }}" for name, mark in ALL.items()
    ]
    return "\n".join(["", *rules, ""])


def _policy(*allowed: str) -> str:
    """Return a content security policy that allows nothing but this style and this script."""
    style, script = (
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in allowed
    )
    return (
        "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"style-src 'sha256-{style}'; script-src 'sha256-{script}'"
    )


# --------------------------------------------------------------------------- how things are written


def tally(controls: Sequence[Control]) -> str:
    """Return `1 of 2 as expected`."""
    good = sum(control.as_expected is True for control in controls)
    return f"{good} of {len(controls)} as expected" if controls else "none"


def horizon(text: str) -> str:
    """Return a finding's horizon without the warning that the head of a toy's page shows."""
    toy = re.fullmatch(r"toy horizon \((.*)\): .*", text)
    return toy[1] if toy else text


def reach(text: str) -> str:
    """Return the largest T of a horizon in a word: `1e8` of `T up to 1e+08`, and `any`."""
    match = re.match(r"T up to (\S+?),?(?: |$)", text)
    return re.sub(r"e\+0*", "e", match[1]) if match else text.partition(" ")[0]


def first_number(text: str) -> str:
    """Return the number by which a column of text is sorted; empty if there is none."""
    match = re.search(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?", text)
    return match[0] if match else ""


def decided(finding: Finding) -> Deciding | None:
    """Return the ray that decided a claim; None where no exponent did."""
    return deciding(finding.numbers, finding.interval, finding.interval_of)


def sortable(finding: Finding) -> str:
    """Return the number by which measurements are sorted: the exponent, else the first number."""
    ray = decided(finding)
    if ray is None:
        return first_number(finding.measured)
    return f"{ray.numbers['exponent']:.6g}" if "exponent" in ray.numbers else ""


def clock(seconds: float) -> str:
    """Format seconds as hours, minutes and seconds."""
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minute:02d} min"
    return f"{minute} min {second:02d} s" if minute else f"{seconds:.1f} s"


def size(count: int) -> str:
    """Format a number of bytes."""
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{max(count / 1e3, 0.1):.1f} kB"


def slug(text: str) -> str:
    """Return an anchor's name."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def grouped(head: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Return (group, names) of columns whose heads share `group: `, and (name, []) of the
    others."""
    groups: list[tuple[str, list[str]]] = []
    for group, columns in itertools.groupby(head, lambda name: name.partition(": ")[0]):
        names = list(columns)
        alone = len(names) == 1
        groups.append((names[0], []) if alone else (group, [n.partition(": ")[2] for n in names]))
    return groups


def image(svg: bytes) -> str:
    """Return a picture as a data URL, without needless white space."""
    text = re.sub(r"\s*\n\s*", " ", svg.decode())
    return f"data:image/svg+xml,{quote(text, safe=' /:=,()-;.!?*+@$')}"


def shape(svg: bytes) -> tuple[int, int]:
    """Return width and height of a picture in whole units, which reserve its place on the page."""
    match = re.search(rb'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    return (round(float(match[1])), round(float(match[2]))) if match else (396, 250)


def _download(frame: Frame) -> dict[str, Any]:
    """Return a frame as a download: file name and data URL, without one if it is too large."""
    content, name, kind = frame.content, frame.name, "text/csv"
    if name.endswith(".json"):
        kind = "application/json"
    if len(content) > WHOLE:
        content, name, kind = gzip.compress(content, mtime=0), f"{name}.gz", "application/gzip"
    href = _data(kind, content) if len(content) <= PACKED else ""
    return {"frame": frame, "name": name, "href": href, "bytes": len(content)}


def _data(kind: str, content: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"
