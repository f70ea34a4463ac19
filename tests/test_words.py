"""One word, one meaning: docs/glossary.md has every column, and variables have telling names."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

from confee.evidence import ranking
from confee.evidence.slopes import COLUMNS as SLOPES
from confee.evidence.worst import COLUMNS as WORST
from confee.workflow.results import points
from confee.world.game import RECORDED

ROOT = Path(__file__).parents[1]
GLOSSARY = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
WORDS, COLUMNS = GLOSSARY.split("\n## Columns\n")

VAGUE = frozenset({"one", "some", "said", "found", "made", "there", "told", "of"})

LEFT = {
    # A replay of stored runs, which depend on these sources, is under way: not to be edited now.
    ("policies/ridge.py", "found"),
    ("simulation/studies/ages.py", "found"),
    ("simulation/studies/assumption.py", "found"),
    ("simulation/studies/assumption.py", "one"),
    ("simulation/studies/assumption.py", "told"),
    ("simulation/studies/near_stationary.py", "found"),
    ("simulation/studies/schedules.py", "found"),
    ("simulation/studies/schedules.py", "made"),
    ("simulation/studies/schedules.py", "some"),
}
"""(file, name) of the vague names that remain."""


def entries(text):
    """Return the words of a page's lists: what precedes the colon of an item, cut at commas."""
    terms = re.findall(r"^- ([^:]+):", text, re.M)
    return [word.strip(" `*") for term in terms for word in term.split(",")]


def bound(tree):
    """Return the names that a module's code binds: variables, loop variables, parameters."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            yield node.name


def test_every_column_is_in_the_glossary():
    columns = {*RECORDED, *points({"points": []}).columns, *SLOPES, *WORST}
    columns |= {*ranking.RANKING, *ranking.QUESTIONS, *ranking.HEAT}
    for file in (ROOT / "tests/tiny").glob("*.csv"):
        columns |= {*file.read_text(encoding="utf-8").partition("\n")[0].split(",")}
    assert columns - {*entries(COLUMNS)} == set()


def test_the_glossary_has_each_word_once():
    for text in (WORDS, COLUMNS):
        words = entries(text)
        assert len(words) > 30
        assert [word for word, count in Counter(words).items() if count > 1] == []


def test_variables_and_parameters_are_called_after_what_they_hold():
    source = ROOT / "src/confee"
    vague = {
        (file.relative_to(source).as_posix(), name)
        for file in source.rglob("*.py")
        for name in bound(ast.parse(file.read_bytes()))
        if name in VAGUE
    }
    assert vague == LEFT
