"""What each verdict looks like and is called, in every picture, table and page.

Colours are told apart by colour-blind readers, and a mark never stands without its glyph or word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from confee.claims.judging.finding import CONSISTENT, FAILS, HOLDS, UNDECIDED, VACUOUS

NONE = "none"
"""Where no claim was judged."""


class Mark(NamedTuple):
    """How an outcome is shown: a fill, a text colour to be read on it, a glyph, a word."""

    color: str
    ink: str
    glyph: str
    word: str
    meaning: str


MARKS = {
    FAILS: Mark(
        "#C44E00", "#FFFFFF", "\N{MULTIPLICATION SIGN}", FAILS, "ruled out as far as it was played"
    ),
    VACUOUS: Mark("#7D5BA6", "#FFFFFF", "\N{EMPTY SET}", VACUOUS, "the check could not tell"),
    UNDECIDED: Mark("#F2C230", "#222222", "?", UNDECIDED, "not settled by these runs"),
    CONSISTENT: Mark("#86D3C4", "#222222", "\N{ALMOST EQUAL TO}", CONSISTENT, "not contradicted"),
    HOLDS: Mark("#007A5E", "#FFFFFF", "\N{CHECK MARK}", HOLDS, "shown within its margin"),
    NONE: Mark("#FFFFFF", "#555555", "\N{EN DASH}", "no verdict", "no claim was judged"),
}
"""From the worst to none; the glyphs are in STIX, which the figures are set in."""

CONTROLS = {True: "failed, as expected", False: "did not fail", None: "not played"}
"""What became of a control that must fail."""

POSITIVE = {True: "held, as expected", False: "did not hold", None: "not played"}
"""What became of one that must hold."""


def worst(outcomes: Iterable[str]) -> str:
    """The worst of several outcomes, in the order of MARKS; NONE if there are none.

    An outcome of another name (a step may have one of its own) counts as none.
    """
    found = set(outcomes)
    return next((name for name in MARKS if name in found), NONE)


def counted(outcomes: Iterable[str]) -> str:
    """How often each outcome is there: `3 fail, 1 vacuous, 1 holds`."""
    counts = Counter(outcomes)
    return ", ".join(said(outcome, counts[outcome]) for outcome in MARKS if counts[outcome])


def said(outcome: str, n: int) -> str:
    """`3 fail`, `1 fails`, `3 vacuous`."""
    word = MARKS[outcome].word
    return f"{n} {word[:-1] if n != 1 and outcome in (HOLDS, FAILS) else word}"
