"""The scoreboard, the map of proofs and the tables of findings, from findings made by hand."""

from __future__ import annotations

import dataclasses
import re
import shutil
import subprocess
from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.path import Path as Line

from confee import claims as registry
from confee.claims.judging.finding import (
    BREAKING,
    OUTCOMES,
    SEVERITIES,
    Control,
    Correction,
    Finding,
    Step,
)
from confee.claims.schema import DERIVED
from confee.rendering import exhibit, files, statements, style
from confee.rendering.deciding import deciding
from confee.rendering.figures import fits, proof_map, scoreboard
from confee.rendering.statements import ARROWS, GROUPS, STATEMENTS, premises
from confee.rendering.tables import ledger, save, table1, to_csv
from confee.rendering.verdicts import (
    ALL,
    CLOSED_MARK,
    MARKS,
    OPEN_MARK,
    SEVERITY_MARKS,
    standing,
    weight,
)
from confee.rendering.words import plain

OURS = ("policy-rate/", "prior-free")
OF_THE_PAPER = [id for id in registry.CLAIMS if not id.startswith(OURS)]
"""Claims but for the rates that policies declare."""

RAY = "B at V=16, T/B=10"
EXCESS = f"excess of the exponent of {RAY}, margin 0.03"
MINUS = "\N{MINUS SIGN}"


def ray(excess=(0.26, 0.42), **given) -> dict:
    """What a ray says in a claim's numbers, see exponents.Check; its exponent is -0.333 over the
    excess."""
    low, high = excess
    return {
        "ray": "B_at_V16",
        "verdict": "fails",
        "why": "because",
        "points": 6,
        "horizon": 10**7,
        "exponent": (low + high) / 2 - 0.333,
        "low": low - 0.333,
        "high": high - 0.333,
        "rate": -0.333,
        "allowance": 0.04,
        "excess": (low + high) / 2,
        "excess_low": low,
        "excess_high": high,
        "straight": True,
        **given,
    }


GOOD = (Control("uniform", "fails", True), Control("sw_ucb", "holds", True))


def correction(severity: str, **given) -> Correction:
    return Correction("Lemma 1", "$a$", "$b$", severity, "the proof has b", "none", **given)


def finding(id: str, outcome: str, severity: str = "none", **given) -> Finding:
    """A finding whose controls came out as expected."""
    said = {
        "statement": "a claim",
        "place": "Section 1",
        "prediction": "K^(1/3) at most",
        "seeds": 4,
        "measured": f"{RAY}: exponent +0.007, 95 % CI [-0.073, +0.087], claimed at most -0.293",
        "horizon": "T up to 1.38e+08, B 19x",
        "controls": GOOD,
        "interval": (0.26, 0.42),
        "interval_of": EXCESS,
        "numbers": {"V at B=1e+06, T/B=10": ray((0.0, 0.1)), RAY: ray(), "p_holm": 0.01},
    }
    if severity != "none":
        said["corrections"] = (correction(severity),)
    return Finding(id=id, as_printed=outcome, **{**said, **given})


def frame(findings) -> pd.DataFrame:
    """As confee.workflow.frames.Frames.claims makes it."""
    names = [*(field.name for field in dataclasses.fields(Finding)), *DERIVED]
    return pd.DataFrame([[getattr(v, n) for n in names] for v in findings], columns=names)


@pytest.fixture
def every() -> pd.DataFrame:
    """All claims of the ledger, with all outcomes and severities, and the longest texts."""
    words = list(SEVERITIES)
    made = [
        finding(id, OUTCOMES[i % len(OUTCOMES)], words[i % len(words)])
        for i, id in enumerate(OF_THE_PAPER)
    ]
    rest = {
        1: {
            "measured": f"{RAY}: no fit; V: no fit",
            "interval": None,
            "numbers": {RAY: {"verdict": "undecided", "points": 0, "horizon": 10}},
        },
        2: {
            "interval": (-3.0, 0.1),
            "numbers": {RAY: ray((-3.0, 0.1))},
            "controls": (GOOD[0], Control("sw_ucb", "holds", False)),
        },
        3: {
            "interval": (0.45, 2.0),
            "controls": (Control("uniform", "fails", False), GOOD[1]),
            "numbers": {RAY: ray((0.45, 2.0), growth=2.3)},
        },
        4: {
            "interval": None,
            "interval_of": "",
            "controls": (Control("uniform", "fails"),),
            "numbers": {},
            "ours": True,
            "basis": "counted",
            "measured": "any T: 1186585 below B/2T and 21688 not below B/T of 3597055 phases; B | "
            "2T: 0 below B/2T & 2915 not below B/T of 1505751 phases, 100 % with T_1 < 10^8",
        },
        5: {
            "horizon": "any horizon (arithmetic, no runs)",
            "interval": None,
            "interval_of": "",
            "numbers": {},
            "controls": (),
            "basis": "arithmetic",
            "measured": "at T = 1e+08, block order 23: 100.0% of 151 blocks, C in [0, 0.000559]",
        },
        6: {
            "numbers": {
                "exponents": {
                    "hyque": {RAY: ray((0.0, 0.1))},
                    "hyque_glm_ucb": {RAY: ray(straight=False)},
                }
            },
            "interval_of": f"excess of the exponent of hyque_glm_ucb in {RAY}, margin 0.03",
        },
    }
    return frame(dataclasses.replace(v, **rest.get(i, {})) for i, v in enumerate(made))


def judged(**words) -> pd.DataFrame:
    """Claims by id with underscores for hyphens and slashes: an outcome, or a severity of one that
    fails."""
    ids = {id.replace("-", "_").replace("/", "_"): id for id in OF_THE_PAPER}
    return frame(
        finding(ids[name], word) if word in OUTCOMES else finding(ids[name], "fails", word)
        for name, word in words.items()
    )


# ------------------------------------------------------------------ the graph


def test_every_claim_speaks_of_a_statement_and_each_that_is_named_exists():
    for claim in [registry.CLAIMS[id] for id in OF_THE_PAPER]:
        assert claim.statements or claim.nearby, claim.id
        assert {*claim.statements, *claim.nearby} <= set(STATEMENTS), claim.id
        assert not {*claim.statements} & {*claim.nearby}, claim.id


def test_arrows_join_statements_and_make_no_circle():
    ends = [arrow[:2] for arrow in ARROWS]
    assert {end for two in ends for end in two} == set(STATEMENTS)
    assert len(set(ends)) == len(ends)
    for name in STATEMENTS:
        assert name not in premises(name)
    assert all(arrow.place for arrow in ARROWS)
    assert premises("Theorem C.1") == {"step 3 of C.2", "Lemma 4.8"}
    assert {"Lemma 4.7", "Lemma 4.10", "Lemma B.3", "change tests"} < premises("Theorem 4.1")
    assert "Theorem 5.1" not in premises("Theorem 4.1")


def test_groups_part_the_ledger():
    found = [statements.group(id) for id in OF_THE_PAPER]
    assert {*found, statements.group("prior-free")} == set(GROUPS)
    assert statements.group("mine/own") == "Others"


# ------------------------------------------------------------------ the map


def boxes(fig) -> dict[str, FancyBboxPatch]:
    """Name -> the box of its statement."""
    ax = fig.axes[0]
    found = [p for p in ax.patches if isinstance(p, FancyBboxPatch) and p.get_zorder() == 3]
    return dict(zip(STATEMENTS, found, strict=True))


def test_each_statement_wears_what_is_left_of_it(every):
    every = every[every["id"] != "counting-lemma"]
    fig = proof_map.draw(every)
    rows = {row.id: row for row in every.itertuples() if not row.ours}
    for name, box in boxes(fig).items():
        of_it = [rows[id] for id in statements.judges_of(name) if id in rows]
        left = standing([row.severity for row in of_it], [row.as_printed for row in of_it])
        assert to_hex(box.get_facecolor()).upper() == ALL[left].color
    assert to_hex(boxes(fig)["Lemma E.1"].get_facecolor()) == "#ffffff"


@pytest.mark.parametrize("severity", SEVERITIES)
def test_arrows_break_only_where_a_gap_or_something_false_stands(severity):
    fig = proof_map.draw(judged(density=severity, query_runs="holds"))
    arrows = [p for p in fig.axes[0].patches if isinstance(p, FancyArrowPatch)]
    dashed = [arrow.get_linestyle() != "-" for arrow in arrows]
    broken = severity in BREAKING
    assert dashed == [broken and arrow.premise == "Lemma 4.6" for arrow in ARROWS]


def test_no_arrow_breaks_at_a_closed_gap_a_measured_failure_or_our_own_question():
    closed = {"corrections": (correction("gap", closed=True),)}
    ours = {"corrections": (correction("false"),), "ours": True}
    some = frame(
        [
            finding("density", "fails", **closed),
            finding("idle-runs", "fails", **ours),
            finding("hyque-rate/printed", "fails", "horizon"),
        ]
    )
    fig = proof_map.draw(some)
    arrows = [p for p in fig.axes[0].patches if isinstance(p, FancyArrowPatch)]
    assert {arrow.get_linestyle() for arrow in arrows} == {"-"}
    fills = {name: to_hex(box.get_facecolor()).upper() for name, box in boxes(fig).items()}
    assert fills["Lemma 4.6"] == CLOSED_MARK.color
    assert fills["Lemma 4.4"] == "#FFFFFF"
    assert fills["Theorem 4.1"] == SEVERITY_MARKS["horizon"].color
    assert "closed gap in Lemma 4.6" in proof_map.finding(some)


def test_the_map_is_laid_out_without_collisions(every):
    fig = proof_map.draw(every)
    fig.draw_without_rendering()
    ax, found = fig.axes[0], boxes(fig)
    places = {name: box.get_window_extent() for name, box in found.items()}
    for (_, one), (_, other) in combinations(places.items(), 2):
        assert not one.padded(-0.5).overlaps(other.padded(-0.5))
    for name, box in places.items():
        texts = [t for t in ax.texts if t.get_text() in (name, STATEMENTS[name].title)]
        assert len(texts) == 2
        for text in texts:
            extent = text.get_window_extent()
            assert box.x0 <= extent.x0 < extent.x1 <= box.x1, name
            assert box.y0 <= extent.y0 < extent.y1 <= box.y1, name
    for text in ax.texts:
        extent = text.get_window_extent()
        assert fig.bbox.contains(*extent.min), text
        assert fig.bbox.contains(*extent.max), text
    arrows = [p for p in ax.patches if isinstance(p, FancyArrowPatch)]
    for arrow, patch in zip(ARROWS, arrows, strict=True):
        shaft = patch.get_transform().transform_path(patch.get_path())
        points = shaft.interpolated(20).vertices
        for name, box in places.items():
            if name not in arrow[:2]:
                assert not Line(points).intersects_bbox(box.padded(-1), filled=False), arrow


def test_the_map_says_on_what_a_theorem_rests():
    one = judged(
        hyque_rate_printed="fails",
        density="gap",
        idle_runs="false",
        decomposition="holds",
        rexp3b_finite="rounding",
    )
    said = proof_map.finding(one)
    total = len(premises("Theorem 4.1"))
    lost = sum("idle-runs" in statements.claims_on(name) for name in premises("Theorem 4.1"))
    text = f"Theorem 4.1 rests on {total} statements: false: Lemma 4.4"
    assert said.startswith(text)
    assert f", gap in Lemma 4.6, {total - lost - 2} not judged." in said
    assert "Theorem C.1 rests on 2 statements: no gap found." in said
    assert "Toy" not in said
    toy = one.assign(horizon="toy horizon (T up to 1e+04)")
    assert "Toy" in proof_map.finding(toy)
    assert proof_map.finding(one[:0]).startswith("No claim")
    proof_map.draw(one[:0]).draw_without_rendering()


@pytest.mark.parametrize("module", [scoreboard, proof_map])
def test_captions_have_at_most_60_words(module):
    likely = ["none"] * 5 + ["typo", "rounding", "constant", "condition", "horizon", "horizon"]
    some = [
        finding(id, OUTCOMES[i % 5], likely[i % len(likely)], ours=i % 9 == 0)
        for i, id in enumerate(OF_THE_PAPER)
    ]
    said = exhibit(module.__name__.rpartition(".")[2]).caption({"claims": frame(some)})
    assert len(said.split()) <= 60, said


# ------------------------------------------------------------------ the scoreboard


def test_the_text_of_a_badge_keeps_away_from_its_border():
    from matplotlib.figure import Figure

    with style.applied():
        fig = Figure(figsize=(style.WIDTH, 1))
        for column, marks in (
            (scoreboard.PRINTED, MARKS),
            (scoreboard.SEVERITY, {**SEVERITY_MARKS, "closed": CLOSED_MARK, "open": OPEN_MARK}),
        ):
            for mark in marks.values():
                text = fig.text(0.5, 0.5, f"{mark.glyph} {mark.word}", fontsize=7)
                inches = text.get_window_extent().width / fig.dpi
                assert inches <= scoreboard.BADGES[column] - 0.04, mark.word


def test_the_scoreboard_has_a_row_for_each_claim_in_its_group(every):
    ax = scoreboard.draw(every).axes[0]
    heights = {text.get_text(): text.get_position()[1] for text in ax.texts}
    for name, ids in (
        (g, [id for id in OF_THE_PAPER if statements.group(id) == g]) for g in GROUPS
    ):
        if not ids:
            continue
        rows = [heights[id] for id in ids]
        assert rows == sorted(rows)
        assert heights[name] < rows[0]
    for x, words in (
        (
            scoreboard.PRINTED,
            [scoreboard.outcome(r.as_printed, r.basis) for r in every.itertuples()],
        ),
        (scoreboard.SEVERITY, [ALL[weight(r)].word for r in every.itertuples()]),
    ):
        middle = x + scoreboard.BADGES[x] / 2
        badges = [t.get_text() for t in ax.texts if t.get_position()[0] == middle]
        assert sorted(badge.split(" ", 1)[1] for badge in badges) == sorted(words)
    slanted = {t.get_text() for t in ax.texts if t.get_style() == "italic"}
    assert slanted == set(every["id"][every["ours"]])
    for x, rows, off in (
        (scoreboard.CONTROL, len(every), 3),
        (scoreboard.POSITIVE, len(every) - 2, 1),
    ):
        texts = [t for t in ax.texts if t.get_position()[0] == x][1:]
        assert len(texts) == rows, x
        missed = [text for text in texts if text.get_bbox_patch() is not None]
        assert len(missed) == off, x
        assert all((text.get_text() == "\N{CHECK MARK}") != (text in missed) for text in texts)


def test_nothing_on_the_scoreboard_is_clipped_or_meets(every):
    fig = scoreboard.draw(every)
    fig.draw_without_rendering()
    found = [(t, t.get_window_extent()) for t in fig.axes[0].texts]
    for text, extent in found:
        assert fig.bbox.contains(*extent.min), text
        assert fig.bbox.contains(*extent.max), text
    rows: dict[float, list] = {}
    for text, extent in found:
        rows.setdefault(round(text.get_position()[1], 3), []).append(extent)
    for extents in rows.values():
        for left, right in pairwise(sorted(extents, key=lambda e: e.x0)):
            assert left.x1 <= right.x0
    assert min(text.get_fontsize() for text, _ in found) >= 6.5


def intervals(ax) -> list:
    return [x for x in ax.lines if x.get_linewidth() == 1.1 and len(x.get_xdata()) == 2]


def test_an_interval_stands_where_it_is(every):
    one = frame([finding("hyque-rate/theory", "fails")])
    ax = scoreboard.draw(one).axes[0]
    segment = intervals(ax)[0]
    assert list(segment.get_xdata()) == pytest.approx([scoreboard._across(x) for x in (0.26, 0.42)])
    assert scoreboard._across(0.26) > scoreboard._across(0.03)
    other = one.assign(interval_of="largest regret over the bound", numbers=[{"largest": 3}])
    assert not intervals(scoreboard.draw(other).axes[0])


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, f"{RAY}: 0.01 [{MINUS}0.07, 0.09], claimed {MINUS}0.29"),
        ({"numbers": {RAY: ray(straight=False)}}, f"{RAY}: 0.01 [{MINUS}0.07, 0.09] at the end"),
        (
            {"numbers": {RAY: ray(growth=2.34)}},
            f"{RAY}: saturated, R / rate \N{MULTIPLICATION SIGN} 2.3 per 30x",
        ),
        (
            {
                "numbers": {RAY: {"verdict": "undecided", "points": 0, "horizon": 9}},
                "interval": None,
            },
            f"{RAY}: no fit",
        ),
        (
            {
                "numbers": {"hyque": {RAY: ray()}, "rexp3": {RAY: ray()}},
                "interval_of": f"excess of the exponent of rexp3 in {RAY}, margin 0.03",
            },
            f"Rexp3, {RAY}: 0.01 [{MINUS}0.07, 0.09]",
        ),
        (
            {
                "interval_of": "exponent of the stale share in B, of one",
                "interval": (0.01, 0.03),
                "prediction": "exponent of that share in B at most -0.333",
            },
            "stale share: $B^{0.02}$, claimed $B^{\N{MINUS SIGN}0.33}$",
        ),
        (
            {
                "interval_of": "",
                "measured": "at T = 1e+08, block order 23: 100.0% of 151 blocks drawn "
                "have such a run, C in [0, 0.000559]; more",
            },
            "100% of 151 blocks drawn have such a run",
        ),
        ({"interval_of": "", "measured": "13 of 21 steps hold; all hold"}, "13 of 21 steps hold"),
    ],
)
def test_what_was_measured_is_said_in_a_few_words(given, expected):
    row = next(frame([finding("density", "fails", **given)]).itertuples())
    assert scoreboard.short(row) == expected


def test_the_scoreboard_counts_severities_and_controls(every):
    said = scoreboard.finding(every)
    paper = every[~every["ours"]]
    nothing = paper["severity"] == "none"
    still = (nothing & paper["as_printed"].isin(["undecided", "vacuous"])).sum()
    counts = {int(number) for number in re.findall(r"\d+", said)}
    horizon = (paper["severity"] == "horizon").sum()
    assert counts >= {len(paper), nothing.sum(), still, horizon}
    played = 2 * len(every) - 4
    assert f" Controls as expected: {played - 2} of {played}." in said
    one = judged(density="rounding")
    assert re.findall(r"\d+", scoreboard.finding(one)) == list("10010" + "22")
    assert "No claim" in scoreboard.finding(one[:0])
    scoreboard.draw(one[:0]).draw_without_rendering()


@pytest.mark.parametrize("figure", [scoreboard, proof_map])
def test_files_are_small(every, figure, tmp_path):
    fig = figure.draw(every)
    files.save(fig, tmp_path / "a.png", {"data": "0", "command": "c"})
    assert (tmp_path / "a.png").stat().st_size < 180_000
    assert '"data": "0"' in files.provenance(tmp_path / "a.png")
    assert fig.get_size_inches()[0] == style.WIDTH


def test_equal_findings_give_equal_bytes(tmp_path):
    some = judged(density="gap", hyque_rate_theory="undecided", idle_runs="holds")
    for copy in ("one", "two"):
        files.save(scoreboard.draw(some), tmp_path / copy / "a.png", {})
    one, two = ((tmp_path / copy / "a.png").read_bytes() for copy in ("one", "two"))
    assert one == two


# ------------------------------------------------------------------ the tables


RAYS = {
    "B_at_V4": ("B", 10, 4),
    "B_at_V16": ("B", 10, 16),
    "B_full_V64": ("B", 1, 64),
    "V_at_1e6": ("V", 10, 8),
}
"""Label -> what moves along it, T/B, V."""


def points_of(*policies: str) -> pd.DataFrame:
    rows = [
        (policy, ray, variable, 4, 10**6 * ratio, 10**6, V)
        for policy in policies
        for ray, (variable, ratio, V) in RAYS.items()
    ]
    return pd.DataFrame(rows, columns=["label", "axis", "variable", "K", "T", "B", "V"])


def slopes(*policies: str) -> pd.DataFrame:
    rows = [(policy, ray, 0.3, 0.2, 0.4, "ray", 6) for policy in policies for ray in RAYS]
    return pd.DataFrame(
        rows, columns=["label", "axis", "exponent", "low", "high", "part", "points"]
    )


def rows_of_table(**given) -> Finding:
    """table-rows as it judges: a step for each row, rays by policy."""
    steps = (
        Step("Besbes et al. 2014: Rexp3, K", "holds", 0),
        Step(
            "Wei and Luo 2021: MASTER, K",
            "vacuous",
            1,
            "no change test can fire below T = 5.2e+10; more",
        ),
        Step("Efroni et al. 2021: CBM-UCB, K", "undecided", None, "not played"),
    )
    none = {"verdict": "undecided", "points": 0, "horizon": 1}
    numbers = {
        "rexp3": {"B at V=64, T=B": ray(ray="B_full_V64"), "V at B=2.6e+05, T=B": none},
        "master": {"B at V=64, T=B": ray(ray="B_full_V64", straight=False)},
    }
    return finding(
        "table-rows", "fails", "horizon", **{"steps": steps, "numbers": numbers, **given}
    )


def rates() -> dict[str, dict]:
    """Rays of HyQue, the last of which is the clearest."""
    names = {"B at V=64, T=B": "B_full_V64", "B at V=4, T/B=10": "B_at_V4", RAY: "B_at_V16"}
    return {
        name: ray((0.1 * i, 0.1 * i + 0.1), ray=label)
        for i, (name, label) in enumerate(names.items())
    }


def test_table_1_has_an_outcome_a_severity_and_exponents_for_each_row():
    made = frame(
        [
            rows_of_table(),
            finding("hyque-rate/printed", "undecided", numbers=rates()),
            finding("lower-bound/measured", "consistent"),
        ]
    )
    frames = slopes("rexp3b"), points_of("hyque", "rexp3b"), made
    table = table1.make(*frames)
    dash = "\N{EN DASH}"
    assert list(table["Upper bound: as printed"]) == [
        "holds",
        "vacuous",
        "not run",
        "undecided",
        "not run",
    ]
    assert list(table["Upper bound: severity"]) == ["none", "none", dash, "none", dash]
    assert list(table["Lower bound: as printed"]) == ["no claim"] * 3 + ["consistent"] * 2
    assert list(table["Lower bound: severity"]) == [dash] * 3 + ["none"] * 2
    assert list(table["Paper and policy"]) == [
        "Besbes et al. (2014): Rexp3",
        "Wei and Luo (2021): MASTER over UCB1, no change test can fire below T = 5.2e+10",
        "Efroni et al. (2021): CBM-UCB, our constants",
        "This work: HyQue",
        "This work: Rexp3B",
    ]
    measured = table.filter(like="Measured")
    assert list(measured.iloc[0]) == [dash, "0.01 [-0.07, 0.09]", "no fit", dash]
    assert list(measured.iloc[1]) == [dash, fits.NOT_STRAIGHT, dash, dash]
    assert set(measured.iloc[2]) == {"not run"}
    assert list(measured.iloc[3]) == [dash, "-0.08 [-0.13, -0.03]", dash, dash]
    assert list(measured.iloc[4]) == [dash, "0.30 [0.20, 0.40]", "0.30 [0.20, 0.40]", dash]
    said = table1.finding(*frames)
    assert len(plain(f"{said} {table1.TABLE.reading}").split()) <= 60
    counts = "3 none (2 not settled), 0 gap, 0 false, 2 not judged"
    printed = "1 vacuous, 1 undecided, 1 holds"
    assert said.startswith(f"Of 5 upper bounds: {counts}. As printed: {printed}. Rays: ")
    assert f" Rays: {RAY}; B along B_at_V16; V along V_at_1e6." in said
    bent = frame(
        [
            finding(
                "hyque-rate/printed",
                "fails",
                "horizon",
                numbers={RAY: ray(straight=False), "B at V=4, T/B=10": ray(ray="B_at_V4")},
            )
        ]
    )
    frames = slopes(), points_of("hyque"), bent
    assert "1 horizon" in table1.finding(*frames)
    assert "As printed: 1 fails. Rays: B at V=4, T/B=10." in table1.finding(*frames)
    row = table1.make(*frames).iloc[3]
    assert (row["Upper bound: as printed"], row["Upper bound: severity"]) == ("fails", "horizon")


def test_a_row_of_a_vacuous_table_is_vacuous_and_one_that_holds_has_nothing_to_correct():
    frames = slopes(), points_of()
    vacuous = frame([dataclasses.replace(rows_of_table(), as_printed="vacuous", corrections=())])
    table = table1.make(*frames, vacuous)
    assert list(table["Upper bound: as printed"][:3]) == ["vacuous"] * 3
    failing = (Step("Besbes et al. 2014: Rexp3, K", "fails"), *rows_of_table().steps[1:])
    table = table1.make(*frames, frame([rows_of_table(steps=failing)]))
    assert list(table["Upper bound: severity"][:2]) == ["horizon", "none"]
    none = table1.finding(*frames, vacuous[:0])
    assert none == "No upper bound of the table was judged."
    assert set(table1.make(*frames, vacuous[:0])["Upper bound: as printed"]) == {"not run"}


def test_the_ledger_says_all(every):
    table = ledger.make(every)
    assert list(table["Claim"].str.split(" ").str[0]) == list(every["id"])
    assert table.loc[0, "Predicted"] == "$K^{1/3}$ at most"
    assert table.loc[0, "Controls"] == "uniform: fails, as expected; sw_ucb: holds, as expected"
    assert (
        table.loc[2, "Controls"] == "uniform: fails, as expected; sw_ucb: does not hold, but should"
    )
    assert (
        table.loc[3, "Controls"] == "uniform: does not fail, but should; sw_ucb: holds, as expected"
    )
    assert table.loc[4, "Controls"] == "uniform: not simulated"
    assert table.loc[5, "Controls"] == "none"
    assert table.loc[1, "As printed"] == "not met at the horizons simulated"
    assert table.loc[1, "Severity"] == "typo; corrected: holds"
    assert (table.loc[0, "As printed"], table.loc[0, "Severity"]) == ("holds", "none")
    assert table.loc[4, "Claim"].endswith(" (our own question)")
    assert len(to_csv(table).splitlines()) == len(every) + 1
    assert ledger.make(every[:0]).empty


def test_powers_and_signs_become_formulas():
    assert ledger.formulas("K^(1/3) V^(1/3) T / B^(1/3)") == "$K^{1/3}$ $V^{1/3}$ T / $B^{1/3}$"
    assert ledger.formulas("B^+0.020, T^0.8. KL <= 2 eps^2") == (
        r"$B^{+0.020}$, $T^{0.8}$. KL $\le$ 2 $\varepsilon^{2}$"
    )
    assert ledger.formulas("3 rho^ < 1") == "3 rho^ < 1"


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex")
def test_the_latex_tables_compile_and_fit_the_page(every, tmp_path):
    save(ledger.make(every), tmp_path / "c.tex", {"a": "b"}, ledger.TABLE.reading, "tab:c")
    save(ledger.make(every[:0]), tmp_path / "e.tex", {"a": "b"}, ledger.TABLE.reading, "tab:e")
    every.loc[every["id"] == "table-rows", "as_printed"] = "undecided"
    policies = "hyque", "rexp3b", "master"
    table = table1.make(slopes(*policies), points_of(*policies), every)
    save(table, tmp_path / "t.tex", {"a": "b"}, table1.TABLE.reading, "tab:t")
    (tmp_path / "doc.tex").write_text(
        r"\documentclass{article}\usepackage[textwidth=5.5in]{geometry}\usepackage{booktabs}"
        r"\begin{document}\input{t}\input{c}\input{e}\end{document}"
    )
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "doc.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        errors="replace",
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout


def test_the_ray_that_decided_is_the_one_whose_excess_is_the_claims_interval():
    numbers = {"V at B=1": ray((0.0, 0.1)), RAY: ray(), "others": {f"master, {RAY}": ray()}}
    found = deciding(numbers, (0.260001, 0.42), EXCESS)
    assert (found.policy, found.ray, found.excess) == ("", RAY, (0.26, 0.42))
    assert deciding(numbers, (0.2, 0.42), EXCESS) is None
    assert deciding(numbers, (0.26, 0.42), "share of runs") is None
    assert deciding({}, None, "") is None
    none = {"V at B=1": {"verdict": "undecided", "points": 0, "horizon": 1}}
    for interval in (None, (np.nan, np.nan)):
        assert deciding(numbers | none, interval, "excess of the exponent of V at B=1").ray == (
            "V at B=1"
        )
