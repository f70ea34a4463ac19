"""What captions become where formulas cannot be set, and the LaTeX file that includes all."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import matplotlib.figure
import pandas as pd
import pytest
from docutils.core import publish_parts

from confee.rendering import FIGURES, TABLES, files
from confee.rendering.album import album
from confee.rendering.tables import save, table1, to_latex
from confee.rendering.words import plain, rst

ABOUT = {"data": "0123", "command": "snakemake figures/x/all.tex"}


@pytest.mark.parametrize(
    ("said", "typed"),
    [
        ("as $T^{-0.18}$ [−0.23, −0.13]", "as T^(−0.18) [−0.23, −0.13]"),
        (r"$R\;/\;(T\,(KV/B)^{1/3})$", "R / (T (KV/B)^(1/3))"),
        (r"$O~(K^{1/3} V_T^{1/3})$", "O\N{COMBINING TILDE}(K^(1/3) V_T^(1/3))"),
        (r"$\propto \sqrt{T B}$, $T/\sqrt{B}$", "∝ √(T B), T/√B"),
        (r"$\frac{\sqrt{T}}{K + B}$ $\le 3{\times}10^{6}$", "√T/(K + B) ≤ 3×10^6"),
        (r"$\ln B\,/\,\ln T$ of $\log_{10}(T)$", "ln B / ln T of log_10(T)"),
        ("5 of 7 runs, 40 %", "5 of 7 runs, 40 %"),
    ],
)
def test_formulas_become_readable_text(said, typed):
    assert plain(said) == typed


@pytest.mark.parametrize("said", ["*a* `b` c_ |d| \\e", "- a list?", "1. no", ".. note:: no"])
def test_nothing_of_a_caption_is_markup(said):
    body = publish_parts(rst(said), writer="html")["body"]
    assert re.sub(r"</?p>", "", body).strip() == said


# ------------------------------------------------------------------ all.tex

SAID = {
    "regret-T": r"HyQue's $R/T$ falls as $T^{-0.18}$ [−0.23, −0.13] & a_b, 50 % ≤ 3 × 2 – $K_1$.",
    "block": "",
    "table1": "",
    "questions": "",
}


@pytest.fixture
def experiment(tmp_path):
    """Figures of a full column and a table, made by hand."""
    for name in ("regret-T", "block"):
        fig = matplotlib.figure.Figure(figsize=(5.5, 3))
        fig.subplots().plot([1, 2])
        files.save(fig, tmp_path / f"{name}.pdf", ABOUT)
    slopes = pd.DataFrame(
        {
            "label": ["hyque"],
            "axis": ["B_at_V4"],
            "part": ["ray"],
            "points": [6],
            "exponent": [-0.333],
            "low": [-0.35],
            "high": [-0.31],
        }
    )
    points = pd.DataFrame(
        {
            "label": ["hyque"],
            "axis": ["B_at_V4"],
            "variable": ["B"],
            "K": [4],
            "T": [1000],
            "B": [100],
            "V": [4.0],
        }
    )
    claims = pd.DataFrame(
        {
            "id": ["hyque-rate/theory"],
            "as_printed": ["holds"],
            "steps": [()],
            "basis": ["measured"],
            "severity": ["none"],
            "numbers": [{}],
        }
    )
    table = table1.make(slopes, points, claims)
    save(table, tmp_path / "table1.tex", ABOUT, table1.TABLE.reading, "tab:table1")
    long = pd.DataFrame([{"Regret of": "[0.9] or UCB1 (exploration=0.5)", "Over": "SW-UCB"}] * 90)
    long.attrs["widths"] = [0.4, 0.3]
    save(long, tmp_path / "questions.tex", ABOUT, "Ratios.", "tab:questions")
    (tmp_path / "all.tex").write_text(album(SAID, ABOUT))
    return tmp_path


def test_all_figures_and_tables_are_in_it_in_order():
    text = album({name: "Said." for name in [*FIGURES, *TABLES]}, ABOUT)
    assert text.startswith('% {"command": "snakemake figures/x/all.tex"')
    for name in FIGURES:
        assert rf"\label{{fig:{name}}}" in text
        assert rf"\includegraphics{{\confee/{name}.pdf}}" in text
    for name in TABLES:
        assert rf"\input{{\confee/{name}}}" in text
    places = [text.index(rf"\confee/{name}") for name in [*FIGURES, *TABLES]]
    assert places == sorted(places)


def test_a_table_longer_than_a_page_goes_on_in_another():
    text = to_latex(pd.DataFrame({"a": ["one"] * 100}), "Said.", "tab:x")
    assert text.count(r"\begin{table*}") == 3
    assert text.count(r"\caption{Said.}") == text.count(r"\label{tab:x}") == 1
    assert text.count("(continued)") == 2
    assert text.count("one") == 100
    assert to_latex(pd.DataFrame({"a": ["one"] * 9})).count(r"\begin{table*}") == 1


needs_latex = pytest.mark.skipif(
    shutil.which("pdflatex") is None and not os.environ.get("CI"), reason="no pdflatex"
)


def compile_twice(folder, file):
    for _ in range(2):  # references are known in the second
        done = subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", file],
            cwd=folder,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=120,
        )
        assert done.returncode == 0, done.stdout[-2000:]
    wrong = re.findall(
        r"(?im)^.*(?:overfull|undefined|multiply|too large|incomplete).*$", done.stdout
    )
    assert not wrong, wrong
    return done.stdout


@needs_latex
def test_it_is_a_document_of_its_own(experiment):
    assert "Output written on all.pdf (" in compile_twice(experiment, "all.tex")


@needs_latex
@pytest.mark.parametrize("columns", ["onecolumn", "twocolumn"])
def test_a_paper_takes_it_in_and_refers_to_its_labels(experiment, columns):
    inside = experiment / "figures"
    inside.mkdir()
    for file in [*experiment.glob("*.pdf"), *experiment.glob("*.tex")]:
        file.rename(inside / file.name)
    (experiment / "paper.tex").write_text(
        rf"\documentclass[{columns}]{{article}}"
        r"\usepackage{booktabs,graphicx}"
        r"\usepackage[textwidth=5.5in]{geometry}\newcommand{\confee}{figures}\begin{document}"
        r"See \ref{fig:regret-T}, \ref{fig:block}, \ref{tab:table1} and \ref{tab:questions}."
        r"\input{\confee/all} Words after it.\end{document}"
    )
    compile_twice(experiment, "paper.tex")
