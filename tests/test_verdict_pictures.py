"""The scoreboard, the map of proofs and the tables of verdicts, from verdicts made by hand."""

from __future__ import annotations

import dataclasses
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
from confee.claims.judging.finding import OUTCOMES, Verdict
from confee.rendering import files, statements, style
from confee.rendering.deciding import deciding
from confee.rendering.figures import proof_map, scoreboard
from confee.rendering.statements import ARROWS, GROUPS, STATEMENTS, premises
from confee.rendering.tables import ledger, save, table1, to_csv
from confee.rendering.verdicts import MARKS, NONE

RAY = "B at V=16, T/B=10"
EXCESS = f"excess of the exponent of {RAY}, margin 0.03"
MINUS = "\N{MINUS SIGN}"


def control(kind: str, what: str, outcome: str) -> dict:
    """A control as a ray has it."""
    expected = {"positive": "holds", "negative": "fails"}[kind]
    return {"kind": kind, "what": what, "verdict": outcome, "value": -0.31, "expected": expected}


def ray(excess=(0.26, 0.42), positive="holds", **given) -> dict:
    """What a ray says in a claim's numbers, see exponents.Check; its exponent is -0.333 over the
    excess."""
    low, high = excess
    both = {"positive": control("positive", "sw_ucb", positive),
            "negative": control("negative", "random_restart", "fails")}  # fmt: skip
    return {
        "ray": "B_at_V16", "verdict": "fails", "why": "because", "points": 6, "horizon": 10**7,
        "exponent": (low + high) / 2 - 0.333, "low": low - 0.333, "high": high - 0.333,
        "rate": -0.333, "allowance": 0.04, "excess": (low + high) / 2, "excess_low": low,
        "excess_high": high, "straight": True, "controls": both, **given,
    }  # fmt: skip


def verdict(id: str, outcome: str, **given) -> Verdict:
    """A verdict whose control failed as expected."""
    said = {
        "statement": "a claim", "place": "Section 1", "prediction": "K^(1/3) at most", "seeds": 4,
        "measured": f"{RAY}: exponent +0.007, 95 % CI [-0.073, +0.087], claimed at most -0.293",
        "horizon": "T up to 1.38e+08, B 19x", "control": {"what": "uniform", "failed": True},
        "interval": (0.26, 0.42), "interval_of": EXCESS,
        "numbers": {"V at B=1e+06, T/B=10": ray((0.0, 0.1)), RAY: ray(), "p_holm": 0.01},
    }  # fmt: skip
    return Verdict(id=id, verdict=outcome, **{**said, **given})


def frame(verdicts) -> pd.DataFrame:
    """As confee.workflow.pictures.Data.claims makes it."""
    rows = [dataclasses.asdict(v) for v in verdicts]
    table = pd.DataFrame(rows, columns=[f.name for f in dataclasses.fields(Verdict)])
    return table.assign(failed=[control.get("failed") for control in table["control"]])


@pytest.fixture
def every() -> pd.DataFrame:
    """All claims of the ledger, with all outcomes, and the longest texts there may be."""
    made = [verdict(id, OUTCOMES[i % len(OUTCOMES)]) for i, id in enumerate(registry.LEDGER)]
    rest = {
        1: {"measured": f"{RAY}: no fit; V: no fit", "interval": None,
            "numbers": {RAY: {"verdict": "undecided", "points": 0, "horizon": 10}}},
        2: {"interval": (-3.0, 0.1), "numbers": {RAY: ray((-3.0, 0.1), "undecided")}},
        3: {"interval": (0.45, 2.0), "control": {"what": "uniform", "failed": False},
            "numbers": {RAY: ray((0.45, 2.0), growth=2.3)}},
        4: {"interval": None, "interval_of": "", "control": {"what": "uniform", "failed": None},
            "numbers": {},
            "measured": "any T: 1186585 below B/2T and 21688 not below B/T of 3597055 phases; B | "
            "2T: 0 below B/2T & 2915 not below B/T of 1505751 phases, 100 % with T_1 < 10^8"},
        5: {"horizon": "any horizon (arithmetic, no runs)", "interval": None, "interval_of": "",
            "numbers": {},
            "measured": "at T = 1e+08, block order 23: 100.0% of 151 blocks, C in [0, 0.000559]"},
        6: {"numbers": {"exponents": {"hyque": {RAY: ray((0.0, 0.1))},
                                      "hyque_glm_ucb": {RAY: ray(straight=False)}}},
            "interval_of": f"excess of the exponent of hyque_glm_ucb in {RAY}, margin 0.03"},
    }  # fmt: skip
    return frame(dataclasses.replace(v, **rest.get(i, {})) for i, v in enumerate(made))


def judged(**outcomes) -> pd.DataFrame:
    """Claims by id with underscores for hyphens and slashes."""
    ids = {id.replace("-", "_").replace("/", "_"): id for id in registry.LEDGER}
    return frame(verdict(ids[name], outcome) for name, outcome in outcomes.items())


# ------------------------------------------------------------------ the graph


def test_every_claim_speaks_of_a_statement_and_each_that_is_named_exists():
    named = {id for statement in STATEMENTS.values() for id in statement.claims}
    assert named == set(registry.LEDGER) == set(registry.CLAIMS)


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
    found = [statements.group(id) for id in registry.LEDGER]
    assert set(found) == set(GROUPS)
    words = [word for words in GROUPS.values() for word in words]
    assert len(set(words)) == len(words)
    assert statements.group("mine/own") == "Others"


# ------------------------------------------------------------------ the map


def boxes(fig) -> dict[str, FancyBboxPatch]:
    """Name -> the box of its statement."""
    ax = fig.axes[0]
    found = [p for p in ax.patches if isinstance(p, FancyBboxPatch) and p.get_zorder() == 3]
    return dict(zip(STATEMENTS, found, strict=True))


def test_each_statement_wears_the_worst_verdict_on_it(every):
    every = every[every["id"] != "counting-lemma"]
    fig = proof_map.draw(every)
    verdicts = dict(zip(every["id"], every["verdict"], strict=True))
    for name, box in boxes(fig).items():
        statement = STATEMENTS[name]
        of_it = [verdicts[id] for id in statement.judged_by or statement.claims if id in verdicts]
        assert set(statement.judged_by) <= set(statement.claims)
        worst = next((outcome for outcome in MARKS if outcome in of_it), NONE)
        assert to_hex(box.get_facecolor()).upper() == MARKS[worst].color
    assert to_hex(boxes(fig)["Lemma E.1"].get_facecolor()) == "#ffffff"


def test_arrows_from_what_fails_are_dashed():
    fig = proof_map.draw(judged(density="fails", query_runs="holds"))
    arrows = [p for p in fig.axes[0].patches if isinstance(p, FancyArrowPatch)]
    dashed = [arrow.get_linestyle() != "-" for arrow in arrows]
    assert dashed == [arrow.premise == "Lemma 4.6" for arrow in ARROWS]


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


def test_the_map_counts_premises_from_the_data():
    one = judged(hyque_rate_printed="fails", density="fails", idle_runs="fails",
                 decomposition="holds", rexp3b_finite="undecided")  # fmt: skip
    said = proof_map.finding(one)
    total = len(premises("Theorem 4.1"))
    assert f"Theorem 4.1 (fails) rests on {total} statements: 3 fail, 1 holds, " in said
    assert f"1 holds, {total - 4} no verdict." in said
    assert "Theorem C.1 (no verdict) rests on 2 statements: 1 undecided, 1 holds." in said
    assert "toy" not in said
    other = proof_map.finding(one.assign(verdict="holds", horizon="toy horizon (T up to 1e+04)"))
    assert f"Theorem 4.1 (holds) rests on {total} statements: 4 hold, " in other
    assert "Toy" in other
    assert proof_map.finding(one[:0]).startswith("No claim")
    proof_map.draw(one[:0]).draw_without_rendering()


# ------------------------------------------------------------------ the scoreboard


def test_the_scoreboard_has_a_row_for_each_claim_in_its_group(every):
    ax = scoreboard.draw(every).axes[0]
    heights = {text.get_text(): text.get_position()[1] for text in ax.texts}
    for name, ids in ((g, [id for id in registry.LEDGER if statements.group(id) == g])
                      for g in GROUPS):  # fmt: skip
        rows = [heights[id] for id in ids]
        assert rows == sorted(rows)
        assert heights[name] < rows[0]
    words = [text.get_text() for text in ax.texts]
    for outcome in OUTCOMES:
        shown = words.count(f"{MARKS[outcome].glyph} {MARKS[outcome].word}")
        assert shown == (every["verdict"] == outcome).sum()
    found = [(x, [t for t in ax.texts if t.get_position()[0] == x][1:])
             for x in (scoreboard.CONTROL, scoreboard.POSITIVE)]  # fmt: skip
    rates = len(every) - 2
    for (x, texts), rows, off in zip(found, (len(every), rates), (2, 2), strict=True):
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
    one = frame([verdict("hyque-rate/theory", "fails")])
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
        ({"numbers": {RAY: ray(straight=False)}},
         f"{RAY}: 0.01 [{MINUS}0.07, 0.09] at the end"),
        ({"numbers": {RAY: ray(growth=2.34)}},
         f"{RAY}: saturated, R / rate \N{MULTIPLICATION SIGN} 2.3 per 30x"),
        ({"numbers": {RAY: {"verdict": "undecided", "points": 0, "horizon": 9}}, "interval": None},
         f"{RAY}: no fit"),
        ({"numbers": {"hyque": {RAY: ray()}, "rexp3": {RAY: ray()}},
          "interval_of": f"excess of the exponent of rexp3 in {RAY}, margin 0.03"},
         f"Rexp3, {RAY}: 0.01 [{MINUS}0.07, 0.09]"),
        ({"interval_of": "exponent of the stale share in B, of one", "interval": (0.01, 0.03),
          "prediction": "exponent of that share in B at most -0.333"},
         "stale share: $B^{0.02}$, claimed $B^{\N{MINUS SIGN}0.33}$"),
        ({"interval_of": "", "measured": "at T = 1e+08, block order 23: 100.0% of 151 blocks drawn "
          "have such a run, C in [0, 0.000559]; more"}, "100% of 151 blocks drawn have such a run"),
        ({"interval_of": "", "measured": "13 of 21 steps hold; all hold"}, "13 of 21 steps hold"),
    ],
)  # fmt: skip
def test_what_was_measured_is_said_in_a_few_words(given, expected):
    row = next(frame([verdict("density", "fails", **given)]).itertuples())
    assert scoreboard.short(row) == expected


def test_horizons_are_powers_of_ten():
    assert scoreboard.horizon("T up to 1e+08, B 19x") == "$10^{8}$"
    assert scoreboard.horizon("toy horizon (T up to 2e+04): says nothing") == "$10^{4.3}$"
    assert scoreboard.horizon("any horizon (arithmetic, no runs)") == "any"


def test_the_scoreboard_counts_verdicts_and_controls(every):
    said = scoreboard.finding(every)
    counts = every["verdict"].value_counts()
    assert said.startswith(f"Of {len(every)} claims: {counts['fails']} fail, ")
    assert f"Of {len(every) - 1} controls that must fail, {len(every) - 2} do." in said
    assert f"Of {len(every) - 3} controls that must hold, {len(every) - 4} do." in said
    one = judged(density="fails")
    assert scoreboard.finding(one) == (
        "Of 1 claim: 1 fails. Of 1 controls that must fail, 1 do. Of 1 controls that must hold, 1 "
        "do."
    )  # fmt: skip
    assert "No claim" in scoreboard.finding(one[:0])
    scoreboard.draw(one[:0]).draw_without_rendering()


@pytest.mark.parametrize("figure", [scoreboard, proof_map])
def test_files_are_small(every, figure, tmp_path):
    fig = figure.draw(every)
    files.save(fig, tmp_path / "a.png", {"data": "0", "command": "c"})
    assert (tmp_path / "a.png").stat().st_size < 160_000
    assert '"data": "0"' in files.provenance(tmp_path / "a.png")
    assert fig.get_size_inches()[0] == style.WIDTH


def test_equal_verdicts_give_equal_bytes(tmp_path):
    some = judged(density="fails", hyque_rate_theory="undecided", kl_bound="holds")
    for copy in ("one", "two"):
        files.save(scoreboard.draw(some), tmp_path / copy / "a.png", {})
    one, two = ((tmp_path / copy / "a.png").read_bytes() for copy in ("one", "two"))
    assert one == two


# ------------------------------------------------------------------ the tables


RAYS = {"B_at_V4": ("B", 10, 4), "B_at_V16": ("B", 10, 16), "B_full_V64": ("B", 1, 64),
        "V_at_1e6": ("V", 10, 8)}  # fmt: skip
"""Label -> what moves along it, T/B, V."""


def points_of(*policies: str) -> pd.DataFrame:
    rows = [(policy, ray, variable, 4, 10**6 * ratio, 10**6, V)
            for policy in policies for ray, (variable, ratio, V) in RAYS.items()]  # fmt: skip
    return pd.DataFrame(rows, columns=["label", "axis", "variable", "K", "T", "B", "V"])


def slopes(*policies: str) -> pd.DataFrame:
    rows = [(policy, ray, 0.3, 0.2, 0.4, "ray", 6) for policy in policies for ray in RAYS]
    return pd.DataFrame(
        rows, columns=["policy", "axis", "exponent", "low", "high", "part", "points"]
    )


def rows_of_table(**given) -> Verdict:
    """table-rows as it judges: a step for each row, rays by policy."""
    steps = (
        {"step": "Besbes et al. 2014: Rexp3, K", "outcome": "holds", "number": 0, "note": ""},
        {"step": "Wei and Luo 2021: MASTER, K", "outcome": "vacuous", "number": 1,
         "note": "no change test can fire below T = 5.2e+10; more"},
        {"step": "Efroni et al. 2021: CBM-UCB, K", "outcome": "undecided", "number": None,
         "note": "not played"},
    )  # fmt: skip
    none = {"verdict": "undecided", "points": 0, "horizon": 1}
    numbers = {
        "rexp3": {"B at V=64, T=B": ray(ray="B_full_V64"), "V at B=2.6e+05, T=B": none},
        "master": {"B at V=64, T=B": ray(ray="B_full_V64", straight=False)},
    }
    return verdict("table-rows", "fails", **{"steps": steps, "numbers": numbers, **given})


def rates() -> dict[str, dict]:
    """Rays of HyQue, the last of which is the clearest."""
    names = {"B at V=64, T=B": "B_full_V64", "B at V=4, T/B=10": "B_at_V4", RAY: "B_at_V16"}
    return {name: ray((0.1 * i, 0.1 * i + 0.1), ray=label)
            for i, (name, label) in enumerate(names.items())}  # fmt: skip


def test_table_1_has_a_verdict_and_exponents_for_each_row():
    made = frame([
        rows_of_table(), verdict("hyque-rate/printed", "undecided", numbers=rates()),
        verdict("lower-bound/measured", "consistent"), verdict("lower-bound/algebra", "fails"),
    ])  # fmt: skip
    frames = slopes("rexp3b"), points_of("hyque", "rexp3b"), made
    table = table1.make(*frames)
    assert list(table["Upper bound: verdict"]) == [
        "holds", "vacuous", "not run", "undecided", "not run",
    ]  # fmt: skip
    assert list(table["Lower bound: verdict"]) == ["no claim"] * 3 + ["consistent"] * 2
    assert list(table["Paper and policy"]) == [
        "Besbes et al. (2014): Rexp3",
        "Wei and Luo (2021): MASTER over UCB1, no change test can fire below T = 5.2e+10",
        "Efroni et al. (2021): CBM-UCB, our constants", "This work: HyQue", "This work: Rexp3B",
    ]  # fmt: skip
    measured = table.filter(like="Measured")
    dash = "\N{EN DASH}"
    assert list(measured.iloc[0]) == [dash, "0.01 [-0.07, 0.09]", "no fit", dash]
    assert list(measured.iloc[1]) == [dash, "no line", dash, dash]
    assert set(measured.iloc[2]) == {"not run"}
    assert list(measured.iloc[3]) == [dash, "-0.08 [-0.13, -0.03]", dash, dash]
    assert list(measured.iloc[4]) == [dash, "0.30 [0.20, 0.40]", "0.30 [0.20, 0.40]", dash]
    said = table1.finding(*frames)
    counts = "1 vacuous, 1 undecided, 1 holds, 2 without a verdict"
    assert said.startswith(f"Of 5 upper bounds: {counts}. Rays: ")
    assert f" Rays: {RAY}; B along B_at_V16; V along V_at_1e6." in said
    bent = frame([verdict("hyque-rate/printed", "fails", numbers={
        RAY: ray(straight=False), "B at V=4, T/B=10": ray(ray="B_at_V4")})])  # fmt: skip
    assert "; fails: HyQue. Rays: B at V=4, T/B=10." in table1.finding(
        slopes(), points_of("hyque"), bent
    )


def test_a_row_of_a_vacuous_table_is_vacuous():
    vacuous = frame([dataclasses.replace(rows_of_table(), verdict="vacuous")])
    frames = slopes(), points_of()
    table = table1.make(*frames, vacuous)
    assert list(table["Upper bound: verdict"][:3]) == ["vacuous"] * 3
    none = table1.finding(*frames, vacuous[:0])
    assert none == "No upper bound of the table was judged."
    assert set(table1.make(*frames, vacuous[:0])["Upper bound: verdict"]) == {"not run"}


def test_the_ledger_says_all(every):
    table = ledger.make(every)
    assert list(table["Claim"]) == list(every["id"])
    assert table.loc[0, "Predicted"] == "$K^{1/3}$ at most"
    assert table.loc[0, "Control"] == "uniform: failed, as expected; sw_ucb: held, as expected"
    assert table.loc[2, "Control"] == "uniform: failed, as expected; sw_ucb: did not hold"
    assert table.loc[3, "Control"] == "uniform: did not fail; sw_ucb: held, as expected"
    assert table.loc[4, "Control"] == "uniform: not played"
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
    save(ledger.make(every), tmp_path / "c.tex", {"a": "b"}, ledger.READING, "tab:c")
    save(ledger.make(every[:0]), tmp_path / "e.tex", {"a": "b"}, ledger.READING, "tab:e")
    every.loc[every["id"] == "table-rows", "verdict"] = "undecided"
    policies = "hyque", "rexp3b", "master"
    table = table1.make(slopes(*policies), points_of(*policies), every)
    save(table, tmp_path / "t.tex", {"a": "b"}, table1.READING, "tab:t")
    (tmp_path / "doc.tex").write_text(
        r"\documentclass{article}\usepackage[textwidth=5.5in]{geometry}\usepackage{booktabs}"
        r"\begin{document}\input{t}\input{c}\input{e}\end{document}"
    )
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "doc.tex"],
        cwd=tmp_path, capture_output=True, text=True, check=False, errors="replace",
    )  # fmt: skip
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
    assert deciding({RAY: ray(controls={})}, (0.26, 0.42), EXCESS).control is None
