"""The erratum: made from the ledger, whole, and without what is no correction."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from pathlib import Path

import pytest

from confee import claims
from confee.claims.judging.finding import SEVERITIES, Correction, Finding
from confee.rendering import erratum

PAGE = (Path(__file__).parents[1] / "docs" / "erratum.md").read_text(encoding="utf-8")


def declared():
    """The corrections that stand in the modules of claims."""
    found = set()
    for module in pkgutil.iter_modules(claims.__path__):
        for value in vars(importlib.import_module(f"confee.claims.{module.name}")).values():
            values = value if isinstance(value, tuple) else (value,)
            found |= {one for one in values if isinstance(one, Correction)}
    return found


def finding(id="a", ours=False, *corrections):
    return Finding(id, "s", "p", "fails", "p", "m", "h", corrections=corrections, ours=ours)


GAP, TYPO, HORIZON = (
    Correction("place", f"printed {word}", "mended", word, "reason", "effect", "holds", shown)
    for word, shown in (("gap", "docs/proofs/x.md"), ("typo", ""), ("horizon", ""))
)


def test_every_correction_of_the_claims_stands_in_the_page():
    corrections = declared()
    assert len(corrections) > 20
    for one in corrections:
        for text in (one.printed, one.mended, one.effect):
            if one.severity != "horizon":
                shown = erratum.typeset(text).replace("|", "\\|")
                assert shown in PAGE, (one.place, text)
        assert one.severity == "horizon" or erratum.typeset(one.reason) in PAGE


def test_a_row_has_what_the_authors_need_the_gravest_first():
    text = erratum.text([finding("one", False, TYPO, HORIZON), finding("two", False, GAP)])
    rows = [line for line in text.splitlines() if line.startswith("|") and "printed" in line]
    assert [row.split("**")[1] for row in rows] == ["gap", "typo"]
    assert rows[0].endswith("`claims=[two]` |")
    assert "mended: *holds*" in rows[0]
    assert "1. place: reason ([proofs/x.md](proofs/x.md))." in text
    assert "printed horizon" not in text
    assert "**gap** |" in rows[0]


def test_a_row_names_the_claim_that_shows_it_and_what_is_closed_or_undecided():
    other = dataclasses.replace(GAP, closed=True, outcome="undecided", shown="claims=[hyque-floor]")
    text = erratum.text([finding("one", False, other), finding("two", False, other)])
    assert "mended: *undecided* | **gap**, closed | effect | `claims=[hyque-floor]` |" in text
    assert text.count("claims=[") == 1
    first = erratum.text([finding("one", False, TYPO), finding("two", False, TYPO)])
    assert "`claims=[one]`" in first


def test_questions_of_our_own_and_repetitions_are_left_out():
    text = erratum.text([finding("one", True, GAP), finding("two", False, TYPO, TYPO)])
    assert "printed gap" not in text
    assert text.count("printed typo") == 1


@pytest.mark.parametrize("field", [{"severity": "mild"}, {"outcome": "true"}])
def test_a_correction_of_no_known_severity_or_outcome_is_refused(field):
    values = {"severity": "gap", "outcome": "holds"} | field
    with pytest.raises(ValueError, match=r"mild|true"):
        Correction("place", "printed", "mended", values["severity"], "r", "e", values["outcome"])


def test_severities_are_ordered_and_gaps_that_are_closed_break_nothing():
    assert [*SEVERITIES][:: len(SEVERITIES) - 1] == ["none", "false"]
    closed = Correction("p", "p", "m", "gap", "r", "e", closed=True)
    assert finding("a", False, TYPO, closed).severity == "gap"
    assert not finding("a", False, TYPO, closed).breaks
    assert finding("a", False, TYPO, closed, GAP).breaks
    assert (finding().severity, finding().mended, finding().reason) == ("none", "", "")
