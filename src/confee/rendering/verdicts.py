"""What outcomes, severities and controls look like and are called, in every picture and page.

Colour-blind readers can distinguish the colours, and a mark never stands without its glyph or word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from confee.claims.judging.finding import (
    BREAKING,
    CONSISTENT,
    FAILS,
    HOLDS,
    SEVERITIES,
    UNDECIDED,
    VACUOUS,
    Control,
    Finding,
    gravest,
)
from confee.claims.judging.severity import CLOSED, NONE_KNOWN, Judged, weight

UNJUDGED = "unjudged"
"""Where no claim was judged."""


class Mark(NamedTuple):
    """How a word is shown: a fill, a text colour to be read on it, a glyph, the word, its meaning.
    Glyphs are in STIX, which the figures are set in."""

    color: str
    ink: str
    glyph: str
    word: str
    meaning: str


WHITE, INK = "#FFFFFF", "#222222"

MARKS = {
    FAILS: Mark(
        "#C44E00",
        WHITE,
        "\N{MULTIPLICATION SIGN}",
        FAILS,
        "not true as printed, or not met at the horizons simulated",
    ),
    VACUOUS: Mark(
        "#7D5BA6",
        WHITE,
        "\N{EMPTY SET}",
        VACUOUS,
        "nothing was tested: the premise never occurs, or the negative control passes",
    ),
    UNDECIDED: Mark(
        "#F2C230", INK, "?", UNDECIDED, "the runs are compatible with true and with false"
    ),
    CONSISTENT: Mark(
        "#86D3C4",
        INK,
        "\N{ALMOST EQUAL TO}",
        CONSISTENT,
        "no run contradicts it, which proves nothing about all instances",
    ),
    HOLDS: Mark(
        "#007A5E",
        WHITE,
        "\N{CHECK MARK}",
        HOLDS,
        "true as printed: proved, counted, or measured within its margin",
    ),
    UNJUDGED: Mark(WHITE, "#555555", "\N{EN DASH}", "not judged", "no claim was judged"),
}
"""Outcomes of statements as printed, from the worst to none."""

_LOOKS = {
    "none": ("#DCEBE3", INK, "\N{CHECK MARK}"),
    "typo": ("#F6EFE0", INK, "\N{PILCROW SIGN}"),
    "rounding": ("#EADCBF", INK, "\N{LEFT FLOOR}"),
    "constant": ("#DBC79D", INK, "c"),
    "logarithm": ("#C9AF7B", INK, "\N{SCRIPT SMALL L}"),
    "condition": ("#B5965A", INK, "\N{ASTERISK OPERATOR}"),
    "horizon": ("#2C6CA8", WHITE, "\N{RIGHTWARDS ARROW TO BAR}"),
    "gap": ("#CC4407", WHITE, "!"),
    "false": ("#6E0D25", WHITE, "\N{MULTIPLICATION SIGN}"),
}
"""Sand from light to dark where nothing breaks; blue where runs end; red where something breaks."""

SEVERITY_MARKS = {name: Mark(*_LOOKS[name], name, meaning) for name, meaning in SEVERITIES.items()}
"""From the lightest to the gravest."""

CLOSED_MARK = Mark("#F2B48C", INK, "!", "gap, closed", "a step fails; a corrected proof is given")

OPEN_MARK = Mark(WHITE, "#555555", "\N{EN DASH}", "none known", "not settled; no error is known")

ALL = {
    **dict(reversed(SEVERITY_MARKS.items())),
    CLOSED: CLOSED_MARK,
    NONE_KNOWN: OPEN_MARK,
    **MARKS,
}
"""Every mark by its word's key, severities first and the gravest first."""

SHORT_GLOSS = "fails: not true as printed; horizon: at the horizons simulated only"
"""What `fails` means, in one line."""

ABSENT, GOOD, BAD, OPEN = "absent", "as expected", "not as expected", "not simulated"
"""What became of a claim's controls of one kind."""

SIGNS = {ABSENT: "", GOOD: "\N{CHECK MARK}", BAD: "\N{MULTIPLICATION SIGN}", OPEN: "\N{EN DASH}"}


def came_out(controls: Iterable[Control], expected: str) -> str:
    """Return the worst result of the controls that are expected to come out so."""
    results = {control.as_expected for control in controls if control.expected == expected}
    if False in results:
        return BAD
    return OPEN if None in results else GOOD if results else ABSENT


def short(outcome: str, basis: str) -> str:
    """Return an outcome in one or two words. Every basis has the same: the severity tells them
    apart."""
    return MARKS.get(outcome, MARKS[UNJUDGED]).word


def worst(outcomes: Iterable[str]) -> str:
    """Return the worst of several outcomes, in the order of MARKS; UNJUDGED if there are none.

    An outcome of another name (a step may have one of its own) counts as none.
    """
    names = set(outcomes)
    return next((name for name in MARKS if name in names), UNJUDGED)


def standing(severities: Iterable[str], outcomes: Iterable[str]) -> str:
    """Return the verdict on a statement as a key of ALL: the gravest severity or, if nothing needs
    correction, an outcome that does not settle it."""
    grave, bad = gravest(severities), worst(outcomes)
    return bad if grave == "none" and bad not in (HOLDS, CONSISTENT) else grave


def counted(outcomes: Iterable[str]) -> str:
    """Return how often each outcome occurs: `3 fail, 1 vacuous, 1 holds`."""
    counts = Counter(outcomes)
    return ", ".join(_said(outcome, counts[outcome]) for outcome in MARKS if counts[outcome])


def counted_severities(severities: Iterable[str], unsettled: int = 0, closed: int = 0) -> str:
    """Return how often each severity occurs, from the lightest: `20 none, 3 constant, 1 gap, 0
    false`.

    A gap and a false statement are counted even where there is none. `unsettled`: how many of those
    without a correction are undecided or vacuous. `closed`: how many of the gaps are closed.
    """
    counts = Counter(severities)
    named = [name for name in SEVERITIES if counts[name] or name in BREAKING]
    notes = {"none": f" ({unsettled} not settled)"} if unsettled else {}
    notes |= {"gap": f" ({closed} closed)"} if closed else {}
    return ", ".join(f"{counts[name]} {name}{notes.get(name, '')}" for name in named)


def unsettled(findings: Iterable[Judged]) -> int:
    """Return how many claims that need no correction are undecided or vacuous."""
    return sum(weight(v) == NONE_KNOWN for v in findings)


def summary(findings: Iterable[Judged]) -> tuple[str, str]:
    """Return the claims of the paper by severity, and by outcome as printed; our own questions
    apart."""
    findings = list(findings)
    paper = [finding for finding in findings if not finding.ours]
    claims = f"{len(paper)} claim{'s' * (len(paper) != 1)}"
    ours = len(findings) - len(paper)
    apart = f"; {ours} question{'s' * (ours != 1)} of our own" * bool(ours)
    closed = sum(weight(finding) == CLOSED for finding in paper)
    grave = counted_severities((finding.severity for finding in paper), unsettled(paper), closed)
    return (
        f"{claims}: {grave}{apart}",
        f"as printed: {counted(finding.as_printed for finding in paper)}",
    )


def _by_severity(paper: Iterable[Judged]) -> dict[str, list]:
    """Return the claims under `false`, `gap`, `horizon`, `none`, or `small` corrections."""
    groups: dict[str, list] = {name: [] for name in ("false", "gap", "horizon", "small", "none")}
    for v in paper:
        groups[v.severity if v.severity in groups else "small"].append(v)
    return groups


def overview(findings: Iterable[Judged]) -> str:
    """Return in one sentence how many claims of the paper are false, have a gap, fail at the
    horizons simulated, or need a small correction; without such claims, how many are ours."""
    findings = list(findings)
    paper = [finding for finding in findings if not finding.ours]
    if not paper:
        return f"{_counted(len(findings), 'question')} of our own."
    false, gap, horizon, small, none = map(len, _by_severity(paper).values())
    closed = sum(weight(finding) == CLOSED for finding in paper)
    parts = [
        f"{_n(false)} {_be(max(false, 1))} false",
        f"{gap} {_be(gap, 'has', 'have')} a gap in the proof"
        + f" ({closed} closed)" * bool(closed),
        f"{horizon} {_be(horizon, 'fails', 'fail')} at the horizons simulated",
        f"{small} {_be(small, 'needs', 'need')} a small correction",
        f"{none} {_be(none, 'needs', 'need')} none"
        + f" ({unsettled(paper)} not settled)" * bool(unsettled(paper)),
    ]
    return (
        f"Of {_counted(len(paper), 'claim')} of the paper, {', '.join(parts[:-1])} and {parts[-1]}."
    )


class Sentence(NamedTuple):
    """A sentence of the findings, and the ids of the claims that it is about."""

    text: str
    ids: tuple[str, ...]


def sentences(findings: Iterable[Finding]) -> list[Sentence]:
    """Return three sentences on the claims of the paper: on their proofs, on those not met at
    the horizons simulated, and on all others. There are none without a claim of the paper."""
    paper = [finding for finding in findings if not finding.ours]
    if not paper:
        return []
    false, gaps, far, small, rest = _by_severity(paper).values()
    closed = sum(not v.breaks for v in gaps)
    text = f"Of {_counted(len(paper), 'claim')} of the paper, {_n(len(false))} "
    text += f"{_be(max(len(false), 1))} false"
    if gaps:
        text += f", and {_n(len(gaps))} {_be(len(gaps), 'has', 'have')} a gap in the proof"
        text += f"; a corrected proof closes {closed} of these gaps" * bool(closed)
    proofs = Sentence(text, tuple(v.id for v in (*false, *gaps)))
    text = "No further claim fails only at the horizons simulated"
    if far:
        text = f"Another {len(far)} {_be(len(far))} not met at the horizons simulated"
        text += ", which refutes no asymptotic statement"
    runs = Sentence(text, tuple(v.id for v in far))
    unclear = [v for v in rest if weight(v) == NONE_KNOWN]
    right = len(rest) - len(unclear)
    text = f"Of the other {len(small) + len(rest)}, {right} {_be(right, 'needs', 'need')} no "
    text += f"correction, {len(small)} {_be(len(small), 'needs', 'need')} a small correction, and "
    text += f"{len(unclear)} "
    text += f"{_be(len(unclear))} not settled by these runs"
    return [proofs, runs, Sentence(text, tuple(v.id for v in unclear))]


def _n(n: int) -> str:
    return str(n or "none")


def _counted(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n != 1)}"


def _be(n: int, singular: str = "is", plural: str = "are") -> str:
    return singular if n == 1 else plural


def _said(outcome: str, n: int) -> str:
    """Return `3 fail`, `1 fails`, `3 vacuous`."""
    word = MARKS[outcome].word
    return f"{n} {word[:-1] if n != 1 and outcome in (HOLDS, FAILS) else word}"
