"""Verdicts in a terminal: every line has room, and nothing that is said is made up."""

from __future__ import annotations

import pytest

from confee.claims.judging.finding import OUTCOMES, Verdict
from confee.rendering import scoreboard
from confee.rendering.scoreboard import headline, short

FIRST = "B at V=16, T/B=10: exponent -0.179, 95 % CI [-0.207, -0.151], claimed at most -0.279"
RATE = (f"{FIRST}; V at B=1e+06, T/B=10: no fit; T at fixed B: exponent +0.034, 95 % CI [+0.003, "
        "+0.065], claimed at most +0.000")  # fmt: skip
RAY = {"verdict": "fails", "points": 6, "horizon": 10, "excess_low": 0.1, "excess_high": 0.2,
       "controls": {"positive": {"verdict": "undecided", "expected": "holds"}}}  # fmt: skip


def verdict(id="hyque-rate/theory", outcome="fails", measured=RATE, failed=True, **more):
    more = {"prediction": "exponent at most -1/3 in B", "horizon": "T up to 1e+08"} | more
    return Verdict(id, "", "", outcome, measured=measured, control={"failed": failed}, **more)


ALL = [
    *(verdict(f"claim-{outcome}", outcome) for outcome in OUTCOMES),
    verdict("none", measured="", failed=None),
    verdict("long", measured="a" * 200),
    verdict("words", "vacuous", "nothing of this has a comma " * 9, failed=False),
]


@pytest.mark.parametrize("width", [70, 80, 100, 110, 120, 200])
def test_no_line_is_wider_than_the_terminal(width):
    shown = [line.plain for line in scoreboard.lines(ALL, width)]
    assert max(map(len, shown)) <= width
    for v in ALL:
        line = next(line for line in shown if line.startswith(f"{v.id} "))
        assert f" {v.verdict} " in line


def test_without_a_terminal_nothing_is_cut():
    lines = [line.plain for line in scoreboard.lines(ALL)]
    assert not any(line.endswith(" ") for line in lines)
    for v in ALL:
        line = next(line for line in lines if line.startswith(f"{v.id} "))
        assert v.measured.strip() in line
        assert v.prediction in line


def test_a_head_counts_and_the_end_tells_of_toys_and_controls():
    head, *rest = (line.plain for line in scoreboard.lines(ALL, 80))
    assert head == "claims: 3 fail, 2 vacuous, 1 undecided, 1 consistent, 1 holds"
    assert rest[-2:] == ["controls: one that must hold, one that must fail:",
                         "✓ as expected, × not, – not played"]  # fmt: skip
    toy = verdict(horizon="toy horizon (T up to 1e+03): says nothing about larger ones")
    assert "toy" in list(scoreboard.lines([toy], 80))[-1].plain
    assert len(list(scoreboard.lines([], 80))) == 2


def test_controls_are_marks_in_a_narrow_terminal_and_words_where_there_is_room():
    for failed, mark, word in ((True, "✓", "failed"), (False, "×", "did not fail"),
                               (None, "–", "none")):  # fmt: skip
        narrow, wide = (list(scoreboard.lines([verdict(failed=failed)], width))[2].plain
                        for width in (80, 120))  # fmt: skip
        assert narrow.split()[3] == mark
        assert f"  {word}  " in wide
        rate = verdict(failed=failed, numbers={"B at V=4": RAY}, interval=(0.1, 0.2),
                       interval_of="excess of the exponent of B at V=4")  # fmt: skip
        narrow, wide = (list(scoreboard.lines([rate], width))[2].plain for width in (80, 140))
        assert narrow.split()[3:5] == ["×", mark]
        assert f"  did not hold, {word}  " in wide


@pytest.mark.parametrize(
    ("room", "said"),
    [
        (300, RATE),
        (160, "B at V=16, T/B=10: exponent -0.179, claimed at most -0.279; V at B=1e+06, T/B=10: "
         "no fit; T at fixed B: exponent +0.034, claimed at most +0.000"),
        (140, FIRST),
        (90, FIRST),
        (60, "B at V=16, T/B=10: exponent -0.179, claimed at most -0.279"),
        (40, "B at V=16, T/B=10: exponent -0.179"),
        (6, "B at …"),
    ],
)  # fmt: skip
def test_a_headline_keeps_the_number_and_what_is_claimed_longest(room, said):
    assert short(RATE, room) == said


def test_what_is_claimed_stands_beside_it_where_both_have_room():
    v = verdict(measured="23 of 1435 runs wished past B, by up to 3.57% of B",
                prediction="no run with a denied wish (up to 1.92 B)")  # fmt: skip
    both = "23 of 1435 runs wished past B (claimed: no run with a denied wish)"
    assert headline(v, 70) == both
    assert headline(v, 50) == "23 of 1435 runs wished past B, by up to 3.57% of B"
    assert headline(v, 33) == "23 of 1435 runs wished past B"
    assert headline(v).endswith("(claimed: no run with a denied wish (up to 1.92 B))")
