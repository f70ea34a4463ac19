"""How verdicts look: apart for every reader, and the worst of several."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from matplotlib import font_manager
from matplotlib.colors import to_rgb
from matplotlib.ft2font import FT2Font

from confee.claims.judging.finding import OUTCOMES
from confee.rendering import verdicts

SIGHT = {  # Machado et al. 2009, full severity
    "all": np.eye(3).tolist(),
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                     [-0.011820, 0.042940, 0.968881]],
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                   [-0.003882, -0.048116, 1.051998]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                   [0.004733, 0.691367, 0.303900]],
}  # fmt: skip


def luminance(color: str) -> float:
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


def test_every_outcome_has_a_mark_of_its_own():
    assert set(verdicts.MARKS) == {*OUTCOMES, verdicts.NONE}
    for field in ("color", "glyph", "word", "meaning"):
        assert len({getattr(mark, field) for mark in verdicts.MARKS.values()}) == 6


@pytest.mark.parametrize("sight", SIGHT)
def test_marks_are_told_apart(sight):
    seen = {
        name: np.clip(np.array(SIGHT[sight]) @ np.array(to_rgb(mark.color)) ** 2.2, 0, 1)
        ** (1 / 2.2)
        for name, mark in verdicts.MARKS.items()
    }
    for a, b in combinations(seen, 2):
        assert np.abs(seen[a] - seen[b]).max() > 0.2, (a, b)


def test_ink_is_read_on_its_fill_and_the_font_has_the_glyph():
    font = FT2Font(font_manager.findfont("STIXGeneral")).get_charmap()
    for mark in verdicts.MARKS.values():
        low, high = sorted([luminance(mark.color), luminance(mark.ink)])
        assert (high + 0.05) / (low + 0.05) > 4.5
        assert ord(mark.glyph) in font


def test_the_worst_of_several():
    assert verdicts.worst(["holds", "undecided", "consistent"]) == "undecided"
    assert verdicts.worst(["vacuous", "fails"]) == "fails"
    assert verdicts.worst(["first T"]) == verdicts.worst([]) == verdicts.NONE
