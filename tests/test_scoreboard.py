"""Findings in a terminal: every line has room, and nothing that is said is made up."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from confee.claims.judging.finding import OUTCOMES, Control, Correction, Finding, Reading, Step
from confee.rendering import scoreboard
from confee.rendering.scoreboard import headline, short

FIRST = "B at V=16, T/B=10: exponent -0.179, 95 % CI [-0.207, -0.151], claimed at most -0.279"
RATE = (
    f"{FIRST}; V at B=1e+06, T/B=10: no fit; T at fixed B: exponent +0.034, 95 % CI [+0.003, "
    "+0.065], claimed at most +0.000"
)


def finding(id="hyque-rate/theory", outcome="fails", measured=RATE, failed=True, **more):
    more = {
        "prediction": "exponent at most -1/3 in B",
        "horizon": "T up to 1e+08",
        "controls": (Control("uniform", "fails", failed),),
    } | more
    return Finding(id, "a statement", "", outcome, measured=measured, **more)


def correction(severity, outcome="holds", **more):
    return Correction(
        "Lemma 1",
        r"$\frac12\frac BT$",
        r"$\lceil B/T\rceil$",
        severity,
        "the proof has it",
        "none",
        outcome,
        **more,
    )


ALL = [
    *(finding(f"claim-{outcome}", outcome) for outcome in OUTCOMES),
    finding("empty", measured="", failed=None, corrections=(correction("horizon", "undecided"),)),
    finding("long", measured="a" * 200, basis="counted", corrections=(correction("logarithm"),)),
    finding("words", "vacuous", "nothing of this has a comma " * 9, failed=False),
    finding("mine", "fails", ours=True, corrections=(correction("false"),)),
]


def line_of(id, width=None, of=None):
    return next(
        line.plain for line in scoreboard.lines(of or ALL, width) if line.plain.startswith(id)
    )


@pytest.mark.parametrize("width", [70, 80, 100, 110, 120, 200])
def test_no_line_is_wider_than_the_terminal(width):
    assert max(len(line.plain) for line in scoreboard.lines(ALL, width)) <= width
    for v in ALL:
        assert f" {v.as_printed} " in line_of(v.id, width)
        assert f"  {v.severity} " in line_of(v.id, width)


def test_without_a_terminal_nothing_is_cut():
    assert not any(line.plain.endswith(" ") for line in scoreboard.lines(ALL))
    for v in ALL:
        assert v.measured.strip() in line_of(v.id)
        assert v.prediction in line_of(v.id)


def test_a_head_counts_by_severity_and_then_as_printed():
    head, printed, *rest = (line.plain for line in scoreboard.lines(ALL, 120))
    assert head == (
        "8 claims: 6 none (3 not settled), 1 logarithm, 1 horizon, 0 gap, 0 false; "
        "1 question of our own"
    )
    assert printed == "as printed: 3 fail, 2 vacuous, 1 undecided, 1 consistent, 1 holds"
    assert any(line.startswith("fails: not true") for line in rest)
    assert any(line.startswith("* our own question") for line in rest)
    assert line_of("mine").startswith("mine* ")
    good = list(scoreboard.lines(ALL[:1], 120))
    assert not any(line.plain.startswith(("consistent:", "*")) for line in good)


def test_the_end_tells_of_toys_and_controls():
    assert [line.plain for line in scoreboard.lines(ALL, 80)][-2:] == [
        "+ \N{MINUS SIGN}: controls that should hold, and that should fail:",
        "✓ as expected, × not as expected, – not simulated",
    ]
    toy = finding(horizon="toy horizon (T up to 1e+03): says nothing about larger ones")
    assert "toy" in list(scoreboard.lines([toy], 80))[-1].plain
    assert len(list(scoreboard.lines([], 80))) == 3


def test_controls_are_marks():
    for failed, mark in ((True, "✓"), (False, "×"), (None, "–")):
        alone = finding(failed=failed)
        both = finding(controls=(Control("b", "holds", False), *alone.controls))
        assert line_of("hyque", 80, [alone]).split()[4] == mark
        assert line_of("hyque", 80, [both]).split()[4:6] == ["×", mark]
    assert line_of("hyque", 80, [finding(controls=())]).split()[4] == "–"


def shown(v, **options) -> str:
    console = Console(width=300, file=io.StringIO())
    console.print(scoreboard.explain(v, "the command", **options))
    return console.file.getvalue()


def test_one_claim_in_full_has_its_corrections_readings_and_controls():
    v = finding(
        "density",
        basis="counted",
        numbers={"runs": 3},
        steps=(Step("part", "first T", 0.5, "n"),),
        corrections=(correction("rounding", shown="docs/x.md"), correction("gap", closed=True)),
        readings=(Reading("quota: block", "holds", "0 of 3"),),
        controls=(Control("a", "fails", True, 1.0), Control("b", "holds", False, note="short")),
    )
    said = shown(v)
    for text in (
        "as printed: fails (not true as printed)  severity: gap",
        "Lemma 1. Printed: 1/2 B/T. Corrected: ⌈B/T⌉ (holds; docs/x.md). rounding: ",
        "Effect: none",
        "(holds, sufficient for every result that uses it). gap: the proof has it",
        "quota: block: holds (0 of 3)",
        "a (1): fails, as expected",
        "b: does not hold, but should (short)",
        "part",
        "first T",
        "the command",
        "--numbers",
    ):
        assert text in said, text
    assert '"runs"' not in said
    assert '"runs": 3' in shown(v, numbers=True)
    plain = shown(finding("density", "holds"))
    assert "severity: none" in plain
    assert "Correction" not in plain


@pytest.mark.parametrize(
    ("room", "said"),
    [
        (300, RATE),
        (
            160,
            "B at V=16, T/B=10: exponent -0.179, claimed at most -0.279; V at B=1e+06, T/B=10: "
            "no fit; T at fixed B: exponent +0.034, claimed at most +0.000",
        ),
        (140, FIRST),
        (90, FIRST),
        (60, "B at V=16, T/B=10: exponent -0.179, claimed at most -0.279"),
        (40, "B at V=16, T/B=10: exponent -0.179"),
        (6, "B at …"),
    ],
)
def test_a_headline_keeps_the_number_and_what_is_claimed_longest(room, said):
    assert short(RATE, room) == said


def test_what_is_claimed_stands_beside_it_where_both_have_room():
    v = finding(
        measured="23 of 1435 runs wished past B, by up to 3.57% of B",
        prediction="no run with a denied wish (up to 1.92 B)",
    )
    both = "23 of 1435 runs wished past B (claimed: no run with a denied wish)"
    assert headline(v, 70) == both
    assert headline(v, 50) == "23 of 1435 runs wished past B, by up to 3.57% of B"
    assert headline(v, 33) == "23 of 1435 runs wished past B"
    assert headline(v).endswith("(claimed: no run with a denied wish (up to 1.92 B))")
