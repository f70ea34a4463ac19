"""The picture in docs/design.md shows who imports whom."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src/confee"

UPWARD = {("claims/fitting.py", "rendering")}
"""(file, package) of imports against the arrows: `Fit.figure` draws when it is called."""


def levels() -> dict[str, int]:
    """Return the level of each package in the picture, 0 at the top; one line may hold several."""
    text = (ROOT / "docs/design.md").read_text(encoding="utf-8")
    picture = text.split("```mermaid\n")[1].split("```")[0]
    arrows = [line.strip() for line in picture.splitlines() if "-->" in line]
    order: dict[str, int] = {}
    for line in arrows:
        for group in line.split("-->"):
            names = [name.strip() for name in group.split("&")]
            if any(name in order for name in names):  # A second line of arrows goes on from here.
                assert order[names[0]] == max(order.values())
                continue
            order |= dict.fromkeys(names, len(set(order.values())))
    drawn = re.findall(r"^    (\w+)\[", picture, re.MULTILINE)
    assert drawn == list(order)
    return order


def imports(tree: ast.AST) -> Iterator[str]:
    """Yield the packages of confee that a module imports, at its top or in a function."""
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            if name.startswith("confee."):
                yield name.split(".")[1]


def test_the_picture_has_every_package():
    packages = {file.parent.name for file in SOURCE.glob("*/__init__.py")}
    assert set(levels()) == packages


def test_packages_import_from_below():
    order = levels()
    upward = {
        (file.relative_to(SOURCE).as_posix(), name)
        for file in SOURCE.glob("*/**/*.py")
        for name in imports(ast.parse(file.read_bytes()))
        if name in order
        if (package := file.relative_to(SOURCE).parts[0]) != name
        if order[name] <= order[package]
    }
    assert upward == UPWARD
