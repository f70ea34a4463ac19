"""The severity of a claim as tables and figures show it."""

from __future__ import annotations

from typing import Protocol

from confee.claims.judging.finding import BREAKING, UNDECIDED, VACUOUS

CLOSED = "closed"
"""A gap whose corrected statement supports everything that rests on it."""

NONE_KNOWN = "open"
"""Nothing to correct is known, and the claim is not settled."""


class Judged(Protocol):
    """A Finding, or its row in a frame."""

    @property
    def as_printed(self) -> str: ...
    @property
    def severity(self) -> str: ...
    @property
    def ours(self) -> bool: ...
    @property
    def breaks(self) -> bool: ...


def weight(v: Judged) -> str:
    """Return the severity to show: CLOSED for a gap that breaks nothing, NONE_KNOWN for an
    unsettled claim that needs no correction, else its own."""
    if v.severity in BREAKING and not v.breaks:
        return CLOSED
    unclear = v.as_printed in (UNDECIDED, VACUOUS)
    return NONE_KNOWN if v.severity == "none" and unclear else v.severity


def severity_word(v: Judged) -> str:
    """Return the severity to show in words: `none known`, `gap, closed`, `horizon`."""
    shown = weight(v)
    return {CLOSED: f"{v.severity}, closed", NONE_KNOWN: "none known"}.get(shown, shown)
