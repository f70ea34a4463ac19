"""How outcomes and severities look: apart for every reader, and the worst of several."""

from __future__ import annotations

import re
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from matplotlib import font_manager
from matplotlib.colors import rgb_to_hsv, to_rgb
from matplotlib.ft2font import FT2Font

from confee.claims import ledger
from confee.claims.judging.finding import GLOSS, OUTCOMES, SEVERITIES, Control, Correction, Finding
from confee.rendering import verdicts
from confee.rendering.verdicts import CLOSED, NONE_KNOWN, summary, weight

SIGHT = {  # Machado et al. 2009, full severity
    "all": np.eye(3).tolist(),
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def luminance(color: str) -> float:
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


def seen(mark: verdicts.Mark, sight: str) -> np.ndarray:
    """The fill of a mark as somebody with this sight sees it."""
    return np.clip(np.array(SIGHT[sight]) @ np.array(to_rgb(mark.color)) ** 2.2, 0, 1) ** (1 / 2.2)


def test_every_word_has_a_mark_of_its_own():
    assert set(verdicts.MARKS) == {*OUTCOMES, verdicts.UNJUDGED}
    assert list(verdicts.SEVERITY_MARKS) == list(SEVERITIES)
    assert not set(verdicts.MARKS) & set(verdicts.SEVERITY_MARKS)
    for marks in (verdicts.MARKS, verdicts.SEVERITY_MARKS):
        for field in ("color", "word", "meaning"):
            assert len({getattr(mark, field) for mark in marks.values()}) == len(marks)
    assert len({mark.glyph for mark in verdicts.MARKS.values()}) == len(verdicts.MARKS)
    assert len({mark.glyph for mark in verdicts.SEVERITY_MARKS.values()}) == len(SEVERITIES)


@pytest.mark.parametrize("sight", SIGHT)
def test_marks_are_told_apart(sight):
    for a, b in combinations(verdicts.MARKS.values(), 2):
        assert np.abs(seen(a, sight) - seen(b, sight)).max() > 0.2, (a, b)
    marks = verdicts.SEVERITY_MARKS
    for a, b in combinations(("none", "constant", "condition", "horizon", "gap", "false"), 2):
        assert np.abs(seen(marks[a], sight) - seen(marks[b], sight)).max() > 0.15, (a, b)


def test_what_breaks_nothing_darkens_in_steps_of_one_hue():
    calm = ("typo", "rounding", "constant", "logarithm", "condition")
    fills = [to_rgb(verdicts.SEVERITY_MARKS[name].color) for name in calm]
    levels = [luminance(verdicts.SEVERITY_MARKS[name].color) for name in calm]
    assert all(a > 1.15 * b for a, b in pairwise(levels))
    hues = [rgb_to_hsv(fill)[0] for fill in fills]
    assert max(hues) - min(hues) < 0.03


def test_ink_is_read_on_its_fill_and_the_font_has_the_glyph():
    font = FT2Font(font_manager.findfont("STIXGeneral")).get_charmap()
    for mark in verdicts.ALL.values():
        low, high = sorted([luminance(mark.color), luminance(mark.ink)])
        assert (high + 0.05) / (low + 0.05) > 4.5
        assert ord(mark.glyph) in font


def test_the_worst_of_several():
    assert verdicts.worst(["holds", "undecided", "consistent"]) == "undecided"
    assert verdicts.worst(["vacuous", "fails"]) == "fails"
    assert verdicts.worst(["first T"]) == verdicts.worst([]) == verdicts.UNJUDGED


@pytest.mark.parametrize(
    ("severities", "outcomes", "left"),
    [
        (["constant", "typo"], ["fails", "undecided"], "constant"),
        (["none", "gap"], ["holds", "fails"], "gap"),
        (["none", "none"], ["holds", "undecided"], "undecided"),
        (["none"], ["vacuous"], "vacuous"),
        (["none"], ["consistent"], "none"),
        ([], [], "unjudged"),
    ],
)
def test_a_severity_says_more_than_an_outcome(severities, outcomes, left):
    assert verdicts.standing(severities, outcomes) == left


def test_severities_are_counted_from_the_lightest_and_what_breaks_always():
    found = ["none", "horizon", "none", "typo", "gap"]
    assert verdicts.counted_severities(found) == "2 none, 1 typo, 1 horizon, 1 gap, 0 false"
    assert verdicts.counted_severities([]) == "0 gap, 0 false"


@pytest.mark.parametrize(
    ("good", "said"),
    [
        ((), "absent"),
        ((True, True), "as expected"),
        ((True, None), "not simulated"),
        ((None, False, True), "not as expected"),
    ],
)
def test_several_controls_come_out_as_the_worst_of_them(good, said):
    controls = [Control("x", "fails", one) for one in good] + [Control("y", "holds", False)]
    assert verdicts.came_out(controls, "fails") == said


def test_an_outcome_has_one_name_whatever_it_rests_on():
    assert {verdicts.short("fails", basis) for basis in GLOSS} == {"fails"}
    assert verdicts.short("holds", "counted") == "holds"
    assert verdicts.short("first T", "counted") == "not judged"


def test_three_sentences_name_every_claim_that_is_not_plainly_true():
    def made(id, severity, as_printed="fails", closed=False, **fields):
        one = Correction("p", "p", "m", severity, "r", "e", closed=closed)
        parts = () if severity == "none" else (one,)
        return Finding(id, "s", "p", as_printed, "p", "m", "h", corrections=parts, **fields)

    found = [
        made("a", "false"),
        made("b", "gap", closed=True),
        made("c", "horizon"),
        made("d", "none", "undecided"),
        made("e", "none", "holds"),
        made("f", "typo"),
        made("g", "gap", ours=True),
    ]
    sentences = verdicts.sentences(found)
    assert [s.ids for s in sentences] == [("a", "b"), ("c",), ("d",)]
    assert [n for s in sentences for n in re.findall(r"\d+", s.text)] == list("61111" + "3111")
    assert verdicts.sentences(found[-1:]) == []
    assert len(verdicts.sentences(found[4:5])) == 3


def test_only_a_gap_is_closed_and_only_the_papers_claims_are_counted():
    def made(severity, as_printed="fails", closed=False, **fields):
        one = Correction("p", "p", "m", severity, "r", "e", closed=closed)
        parts = () if severity == "none" else (one,)
        return Finding("a", "s", "p", as_printed, "p", "m", "h", corrections=parts, **fields)

    assert weight(made("gap", closed=True)) == CLOSED
    assert weight(made("gap")) == "gap"
    assert weight(made("condition", closed=True)) == "condition"
    assert weight(made("none", "undecided")) == NONE_KNOWN
    assert weight(made("none", "holds")) == "none"
    for severity, outcome, closed in product(SEVERITIES, OUTCOMES, (True, False)):
        finding = made(severity, outcome, closed=closed and severity != "false")
        assert ledger.severity_word(finding) == verdicts.ALL[weight(finding)].word
    ours = [made("gap", closed=True, ours=True), made("none", "vacuous", ours=True)]
    head, _ = summary([made("gap", closed=True), made("none", "vacuous"), made("gap"), *ours])
    assert "1 none (1 not settled), 2 gap (1 closed), 0 false" in head
    assert "2 questions of our own" in head
