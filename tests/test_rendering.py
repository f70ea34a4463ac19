"""Pictures and tables, from small frames made by hand."""

from __future__ import annotations

import io
import json
import math
import os
import shutil
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb, to_rgba

from confee.core.errors import ConfeeError
from confee.paper import theory
from confee.policies import POLICIES
from confee.rendering import files, looks, numbers
from confee.rendering.cells import at, centre, chosen
from confee.rendering.figures import axes, curves, decomposition, fits, panels, regimes
from confee.rendering.figures.pace import orders
from confee.rendering.figures.panels import named
from confee.rendering.tables import save as save_table
from confee.rendering.tables import table1, to_csv, to_latex, to_markdown
from confee.rendering.tables.write import latex
from confee.rendering.words import plain
from confee.workflow.pictures import fingerprint
from support.pictures import (
    FIGURE,
    LABELS,
    ODD_DATA,
    PHASES,
    PROVENANCE,
    check_texts,
    experiment,
    legend_of,
)
from support.shown import MOST, arguments, caption, figure, words

NO_CLAIMS = pd.DataFrame(columns=["id", "as_printed", "basis", "severity", "steps", "numbers"])

DISTINCT = ("block", "regret-B", "landscape", "pace", "decomposition", "regimes", "floor", "levels")
"""Figures without their likes: those against an axis are drawn by one function."""


DECLARED = {
    label: look
    for policy in POLICIES.values()
    for label, look in ({policy.id: policy.look} | dict(policy.variants)).items()
    if look
}


@pytest.fixture(scope="module")
def data() -> SimpleNamespace:
    return experiment()


@pytest.fixture(scope="module")
def few() -> SimpleNamespace:
    return experiment(("hyque", "uniform", "oracle"))


# ------------------------------------------------------------------ every figure


MORE = ["regret-B", "landscape", "decomposition", "regimes", "floor", "levels"]


@pytest.mark.parametrize("name", ["pace", *[pytest.param(n, marks=pytest.mark.slow) for n in MORE]])
def test_equal_data_give_equal_bytes(few, name, tmp_path):
    for copy in ("first", "second"):
        fig = figure(name, few)
        for suffix in ("png", "pdf", "svg"):
            files.save(fig, tmp_path / copy / f"{name}.{suffix}", PROVENANCE)
    for suffix in ("png", "pdf", "svg"):
        paths = [tmp_path / copy / f"{name}.{suffix}" for copy in ("first", "second")]
        first, second = (path.read_bytes() for path in paths)
        assert first == second
        assert json.loads(files.provenance(paths[0])) == PROVENANCE
        assert b"/CreationDate" not in first
    assert len(list(paths[0].parent.iterdir())) == 3


def test_fonts_are_embedded_as_outlines(data, tmp_path):
    pypdf = pytest.importorskip("pypdf")
    files.save(figure("regret-B", data), tmp_path / "a.pdf", PROVENANCE)
    reader = pypdf.PdfReader(tmp_path / "a.pdf")
    fonts = [font.get_object() for font in reader.pages[0]["/Resources"]["/Font"].values()]
    assert fonts
    for font in fonts:
        assert font["/Subtype"] in ("/TrueType", "/Type0")
        inner = font["/DescendantFonts"][0].get_object() if "/DescendantFonts" in font else font
        assert "/FontFile2" in inner["/FontDescriptor"]
    assert json.loads(reader.metadata["/Keywords"]) == PROVENANCE


def test_bytes_do_not_depend_on_the_hash_seed(data, tmp_path):
    data.pieces.to_csv(tmp_path / "pieces.csv", index=False)
    program = (
        "import sys, pandas as pd; from confee.rendering import files;"
        "from confee.rendering.figures import block;"
        f"pieces = pd.read_csv({str(tmp_path / 'pieces.csv')!r});"
        "files.save(block.draw(pieces, 3, 2), sys.argv[1], {})"
    )
    fig = figure("block", data)
    files.save(fig, tmp_path / "here" / "block.png", {})  # must not show in the next file
    files.save(fig, tmp_path / "here" / "block.pdf", {})
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    there = tmp_path / "there" / "block.pdf"
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    subprocess.run([sys.executable, "-c", program, there], check=True, env=environment)
    assert there.read_bytes() == (tmp_path / "here" / "block.pdf").read_bytes()


@pytest.mark.parametrize("name", ["regret-K", *DISTINCT])
def test_nothing_is_clipped_and_no_tick_labels_overlap(data, name):
    check_texts(figure(name, data))


@pytest.mark.parametrize("name", ["block", "landscape", "decomposition", "floor"])
def test_captions_have_at_most_60_words(data, name):
    assert words(caption(name, data)) <= MOST


@pytest.mark.parametrize("case", ODD_DATA)
def test_odd_data_are_drawn_too(few, case):
    odd = SimpleNamespace(**{**vars(few), **ODD_DATA[case](few)})
    fig = figure("regret-B", odd)
    if case in ("one point", "one seed", "no rows"):
        fig.draw_without_rendering()
    figure("horizon", odd)
    figure("decomposition", odd)
    if case in ("no regret", "stationary", "no rows"):
        figure("landscape", odd).draw_without_rendering()


def test_an_unknown_figure_is_refused_in_one_line(data):
    with pytest.raises(ConfeeError, match=r"figure=pie: unknown; known: .*block"):
        figure("pie", data)


# ------------------------------------------------------------------ what they show


def test_a_figure_has_each_label_once_and_each_look_once(data):
    fig = figure("regret-B", data)
    found = legend_of(fig)
    (ax,) = fig.axes
    drawn = set(LABELS) - {"oracle", "uniform"}
    exponent = "0.00 [\N{MINUS SIGN}0.02, 0.02]"
    said = [text.get_text() for text in ax.texts if "95 %" not in text.get_text()]
    assert sorted(said) == sorted([*map(named, drawn), *[exponent] * len(drawn)])
    assert any(text.endswith("not drawn: uniform") for text, _ in found)
    assert not any("oracle" in text for text, _ in found)
    assert caption("regret-B", data).count("oracle") == 1
    every = looks.looks([*DECLARED, *(f"new{i}" for i in range(30))])
    assert len(set(every.values())) == len(every)
    assert len({look.color for look in DECLARED.values()}) == len(DECLARED)
    assert len({look.marker for look in DECLARED.values()}) == len(DECLARED)


def test_labels_without_a_look_of_their_own_are_told_apart():
    """By colour or marker, not by dashes alone."""
    labels = [f"mine_{i}" for i in range(30)]
    found = {(look.color, str(look.marker)) for look in looks.looks(labels).values()}
    assert len(found) == len(labels)


def test_a_label_looks_the_same_whatever_else_is_drawn():
    alone = looks.looks(["rexp3b(pool=set)", "glr_ucb"])
    crowd = looks.looks([*DECLARED, "glr_ucb"])
    assert all(crowd[label] == look for label, look in alone.items())


def test_colours_stay_apart_for_the_colour_blind():
    """Machado et al. 2009, full severity; what is near in colour differs in line or marker."""
    sight = {
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
    }
    for matrix in map(np.array, sight.values()):
        seen = {
            label: np.clip(matrix @ np.array(to_rgb(look.color)) ** 2.2, 0, 1) ** (1 / 2.2)
            for label, look in DECLARED.items()
        }
        for a, one in seen.items():
            for b, other in seen.items():
                assert a == b or np.abs(one - other).max() > 0.06, (a, b)
        assert np.abs(seen["hyque"] - seen["rexp3b"]).max() > 0.3


def test_phases_are_averaged_on_the_log_scale_and_meet_the_theory(data):
    table, zeros = curves.averaged(data.worst, data.points, "B")
    assert zeros == ["oracle"]
    mine = table[table["label"] == "rexp3b"].sort_values("x")
    np.testing.assert_allclose(mine["y"] / mine["guide"], 1.5, rtol=1e-3)
    half = numbers.t_quantile(30) * 0.02 / math.sqrt(2)
    np.testing.assert_allclose(np.log(mine["high"] / mine["y"]), half)
    assert list(mine["eligible"]) == [True] * 3
    assert not table.loc[table["label"] == "uniform", "eligible"].any()


def test_a_budget_read_back_from_csv_still_meets_its_points(data):
    worst = data.worst.assign(V=data.worst["V"] * (1 + 2e-16))
    table, _ = curves.averaged(worst, data.points, "V")
    assert len(table) == 3 * (len(LABELS) - 1)


def test_theory_is_dashed(data):
    handles = dict(legend_of(figure("regret-V", data)))
    assert handles[panels.FLAT].get_linestyle() == "--"


CAPTIONS = (
    "regret-T",
    "regret-B",
    "regret-V",
    "regret-K",
    "horizon",
    "levels",
    "regimes",
    "lower_bound",
    "pace",
    "constants",
)


@pytest.mark.parametrize("name", CAPTIONS)
def test_a_caption_has_at_most_60_words(few, name):
    words = plain(caption(name, few)).split()
    assert 15 <= len(words) <= 60, " ".join(words)


def test_the_centre_is_where_the_sweeps_meet(data):
    cells = centre(data.points)
    assert sorted(set(cells["B"])) == [int(125893 * f) for f in PHASES]
    rows = chosen(at(data.regret, cells), data.worst, data.choose)
    assert set(rows["adversary"]) == {"switching"}
    assert rows["seed"].min() == data.choose
    assert "pick" not in rows


def test_the_centre_is_where_rays_cross_at_the_largest_budget():
    """Two places lie on two rays each; cells with V = 0 lie on all of them."""
    rays = {
        "V_small": [(1e4, V) for V in (0, 2, 8)],
        "V_large": [(8e4, V) for V in (0, 2, 8)],
        "B_at_V8": [(B, V) for B in (1e4, 8e4) for V in (0, 8)],
    }
    points = pd.DataFrame(
        {"label": "a", "axis": ray, "K": 2, "T": int(10 * B * f), "B": int(B * f), "V": float(V)}
        for ray, cells in rays.items()
        for B, V in cells
        for f in PHASES
    )
    found = centre(points)
    assert sorted(found["B"]) == [int(8e4 * f) for f in PHASES]
    assert set(found["V"]) == {8.0}


def test_budgets_of_the_parts_are_those_of_a_ray_through_the_centre(data):
    sweep = data.points["axis"].eq("B")
    rays = data.points.assign(
        axis=data.points["axis"].mask(sweep, "B_at_V4"), variable=np.where(sweep, "B", "")
    )
    expected = decomposition.budgets(data.points)
    found = decomposition.budgets(rays)
    assert list(found) == list(expected)
    for budget, cells in expected.items():
        columns = ["label", "K", "T", "B", "V"]
        assert set(found[budget][columns].itertuples(index=False, name=None)) >= set(
            cells[columns].itertuples(index=False, name=None)
        )


def test_the_block_is_drawn_as_in_the_paper(data):
    ax = figure("block", data).axes[0]
    words = sorted((text.get_text(), *text.xy) for text in ax.texts)
    assert words == [("active", 1, 3), ("inactive", 9, 3), ("non-query", 15, 2), ("query", 9, 2)]
    assert [text.get_text() for text in ax.get_yticklabels()] == [f"$m = {m}$" for m in range(4)]
    assert len(ax.collections) == len(FIGURE)


def test_regimes_show_the_theorems_range_and_grey_what_is_saturated(data):
    fig = figure("regimes", data)
    ax = fig.axes[0]
    worst = data.worst.merge(data.points[data.points["axis"] == "regimes"])
    mine = worst[worst["label"] == "hyque"]
    faces = np.concatenate([mesh.get_facecolors() for mesh in ax.collections])
    grey = np.isclose(faces, to_rgba(regimes.SATURATED)).all(axis=1)
    assert grey.sum() == mine["saturated"].sum() > 0
    assert sum(text.get_text() == "3.0" for text in ax.texts) >= (~mine["saturated"]).sum() > 0
    # The border: twice the cells' number less two for each pair of neighbours inside it.
    inside = mine[[theory.theorem_range(*cell) for cell in mine[["K", "T", "B", "V"]].to_numpy()]]
    assert len(inside) == 3 * 3
    assert len(ax.lines) == 12
    assert "3.0" in ax.get_title(loc="left")


def test_levels_have_a_line_for_each_variation_and_hollow_saturated_points(data):
    fig = figure("levels", data)
    titles = [
        "HyQue: \N{MULTIPLICATION SIGN} 1.26 per decade",
        "Rexp3B: \N{MULTIPLICATION SIGN} 1.26 per decade",
    ]
    assert [ax.get_title() for ax in fig.axes] == titles
    lines = [line for line in fig.axes[0].lines if line.get_linestyle() == "-"]
    assert len(lines) == 2
    for line in lines:  # normalised regret grows as B^0.1
        x, y = line.get_data()
        assert np.log(y[-1] / y[0]) / np.log(x[-1] / x[0]) == pytest.approx(0.1, abs=0.01)
    hollow = [one for one in fig.axes[0].lines if one.get_markerfacecolor() == "white"]
    assert len(hollow) == 3  # V = 16 is over 5
    assert [text for text, _ in legend_of(fig)][-1] == "saturated"


def test_the_floor_lies_under_the_runs_beside_the_stale_shares(data):
    left, right = figure("floor", data).axes
    floors = [line for line in right.lines if line.get_color() == "#D55E00"]
    gap, stale = 0.5, 0.02 * len("[0.1, 0.2, 0.5]")
    assert floors[0].get_ydata() == pytest.approx([gap * stale / 2] * 2)
    assert {text.get_text() for text in left.texts} == {"1", "5"}  # the runs' path is not drawn
    windows = [line for line in left.lines if line.get_linestyle() == ":"]
    assert len(windows) == 2
    none = SimpleNamespace(**{**vars(data), "floor_runs": data.floor_runs[:0]})
    figure("floor", none).draw_without_rendering()


def test_orders_of_blocks_follow_restarts():
    assert orders([1, 9, 25, 40, 48, 64, 100], 8) == [0, 1, 2, 0, 1, 2]


@pytest.mark.parametrize(("low", "high"), [(2, 32), (1e5, 1e8), (0.101, 0.109), (1e-4, 1e9)])
def test_log_ticks_are_few_and_inside(low, high):
    ticks = numbers.log_ticks(low, high, 7)
    assert 2 <= len(ticks) <= 9
    assert low * 0.99 <= min(ticks) <= max(ticks) <= high * 1.01


def test_numbers_as_a_reader_likes_them():
    assert numbers.number(100) == "100"
    assert numbers.number(1e5) == "$10^{5}$"
    assert numbers.number(2e5) == r"$2{\times}10^{5}$"
    assert numbers.signed(-0.001) == "0.00"
    assert math.isnan(numbers.t_quantile(0))


def test_a_picture_that_cannot_be_written_leaves_the_old_one(data, tmp_path):
    path = tmp_path / "a.png"
    files.save(figure("block", data), path, PROVENANCE)
    before = path.read_bytes()
    with pytest.raises(TypeError):
        files.save(figure("block", data), path, {"data": object()})  # type: ignore[dict-item]
    with pytest.raises(ConfeeError, match="saved as"):
        files.save(figure("block", data), tmp_path / "a.gif", PROVENANCE)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["a.png"]


def test_drawing_leaves_the_callers_settings_alone(data):
    import matplotlib

    with matplotlib.rc_context({"font.size": 17}):
        axes.draw(data.worst, data.points, "B", data.slopes)
        assert matplotlib.rcParams["font.size"] == 17


# ------------------------------------------------------------------ the table


def test_table_says_what_ran_and_what_did_not(data):
    table = table1.make(*on_rays(), NO_CLAIMS)
    assert len(table) == 5
    measured = table.set_index("Paper and policy").filter(like="Measured")
    assert set(measured.loc["Wei and Luo (2021): MASTER over UCB1"]) == {"not run"}
    dash = "\N{EN DASH}"
    assert list(measured.loc["This work: HyQue"]) == [
        dash,
        "-0.33 [-0.35, -0.31]",
        fits.NOT_STRAIGHT,
        dash,
    ]
    assert measured.loc["This work: Rexp3B"].iloc[1] == "no fit"
    assert not table.isna().any(axis=None)
    again = pd.read_csv(io.StringIO(to_csv(table).replace(r"\tilde{O}", "O~")))
    pd.testing.assert_frame_equal(again, table, check_dtype=False)
    assert "O~" not in to_csv(table)
    lines = to_markdown(table).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert len(lines) == 7


def on_rays() -> tuple[pd.DataFrame, pd.DataFrame]:
    """(slopes, points) of two policies on a ray along B and one along V."""
    sizes = {"K": 4, "T": 10**6, "B": 10**5, "V": 4.0}
    rays = {"b": "B", "v": "V"}
    points = [
        {"label": label, "axis": ray, "variable": variable, **sizes}
        for label in ("hyque", "rexp3b")
        for ray, variable in rays.items()
    ]
    none = (math.nan, math.nan, math.nan)
    rows = [
        ("hyque", "b", -1 / 3, -0.35, -0.31, 6),
        ("hyque", "v", *none, 6),
        ("rexp3b", "b", *none, 1),
    ]
    slopes = pd.DataFrame(rows, columns=["label", "axis", "exponent", "low", "high", "points"])
    return slopes.assign(part="ray"), pd.DataFrame(points)


def test_latex_escapes_what_is_not_a_formula():
    assert latex("50 % of a_b & {c} $ #1 ~ ^ \\") == (
        r"50 \% of a\_b \& \{c\} \$ \#1 \textasciitilde{} \textasciicircum{} \textbackslash{}"
    )
    assert latex("rate $K_1^{2}$ of a_b") == r"rate $K_1^{2}$ of a\_b"
    assert latex("$O~(K / B^{1/3})$") == r"$\tilde{O}\bigl(\frac{K}{B^{1/3}}\bigr)$"
    table = pd.DataFrame({"a_b": ["x & y"], "e: $B$": ["not run"], "e: $V$": ["no fit"]})
    text = to_latex(table)
    assert r"\textbf{a\_b}" in text
    assert r"x \& y" in text
    assert r"$B$: & not run\\{}$V$: & no fit" in text


def test_tables_are_saved_with_their_origin(data, tmp_path):
    for suffix in ("csv", "md", "tex"):
        save_table(
            table1.make(*on_rays(), NO_CLAIMS),
            tmp_path / f"t.{suffix}",
            PROVENANCE,
            table1.TABLE.reading,
        )
    assert "0123" in (tmp_path / "t.md").read_text()
    hostile = {"command": "snakemake --config overrides='--> <b>'"}
    save_table(table1.make(*on_rays(), NO_CLAIMS), tmp_path / "t.md", hostile)
    comment = (tmp_path / "t.md").read_text().partition("<!-- ")[2]
    assert comment.count("--") == 3  # two in the command, and the end of the comment
    assert comment.count(">") == 1
    assert (tmp_path / "t.tex").read_text().startswith('% {"command"')
    with pytest.raises(ConfeeError, match="a table is"):
        save_table(table1.make(*on_rays(), NO_CLAIMS), tmp_path / "t.docx", PROVENANCE)


@pytest.mark.skipif(
    shutil.which("pdflatex") is None and not os.environ.get("CI"), reason="no pdflatex"
)
def test_the_latex_table_compiles_and_fits_the_page(data, tmp_path):
    save_table(
        table1.make(*on_rays(), NO_CLAIMS),
        tmp_path / "t.tex",
        PROVENANCE,
        table1.TABLE.reading,
        "tab:measured",
    )
    (tmp_path / "doc.tex").write_text(
        r"\documentclass{article}\usepackage[textwidth=5.5in]{geometry}\usepackage{booktabs}"
        r"\begin{document}\input{t}\end{document}"
    )
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "doc.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout


@pytest.mark.parametrize("case", range(6))
def test_decomposition_of_a_policy_without_spread(case):
    """Means taken in two orders differ in the last digit; the interval must not turn negative."""
    rng = np.random.default_rng(case)
    rows = []
    for T in (1000, 1100, 1234, 1717):
        regret = T * rng.random()
        parts = {"regret_query": 0.0, "regret_error": 0.0, "regret_drift": 0.0}
        cell = {
            "policy": "uniform",
            "label": "uniform",
            "K": 3,
            "T": T,
            "B": 300,
            "V": 2.0,
            "adversary": "switching",
            "adversary.gap": 0.5,
        }
        play = cell | parts | {"regret": regret, "regret_no_data": regret}
        rows += [play | {"seed": seed} for seed in range(7)]
    runs = pd.DataFrame(rows)
    cells = runs.drop_duplicates("T")
    points = cells.assign(axis="T", point=1000, phase=range(len(cells)))
    assert decomposition.draw(runs, cells.assign(gap=0.5), points, 7).axes


def test_the_hash_of_the_data_is_that_of_every_value(data):
    """Which file was drawn from which numbers: another value, column or name is another hash."""
    shown = arguments("regret-B", data)
    first = fingerprint(shown)
    assert fingerprint({**shown, "worst": data.worst.copy()}) == first
    for column in ("regret", "label", "seeds"):
        changed = data.worst.copy()
        value = changed[column].iloc[-1]
        changed.loc[changed.index[-1], column] = value + ("x" if column == "label" else value)
        assert fingerprint({**shown, "worst": changed}) != first
    assert fingerprint({**shown, "worst": data.worst.rename(columns={"se": "error"})}) != first
    assert fingerprint({**shown, "axis": "T"}) != first
    lists = pd.DataFrame({"steps": [[1], [2]]})
    assert fingerprint({"claims": lists}) != fingerprint({"claims": lists[::-1]})


def test_a_dollar_of_a_name_is_a_dollar_in_latex():
    assert latex(looks.plain("a$b & c")) == r"a\$b \& c"
    assert latex(r"\$a & $b$") == r"\$a \& $b$"


def test_lists_in_words():
    assert numbers.listed([]) == ""
    assert numbers.listed(["a"]) == "a"
    assert numbers.listed("abc") == "a, b and c"
