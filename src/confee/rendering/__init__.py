"""Figures and tables: pure functions of data frames that know nothing of the workflow.

Each is declared in a module of its own, in `figures` or `tables`. `FIGURES` and `TABLES` find them
there. In a notebook, call the functions of a figure's module:

    regimes.draw(worst, points)
"""

from __future__ import annotations

from pathlib import Path

from confee.core.errors import ConfeeError
from confee.rendering.catalogue import Catalogue, Figure, Table

FIGURES: Catalogue[Figure] = Catalogue(
    "confee.rendering.figures", Path(__file__).parent / "figures"
)
TABLES: Catalogue[Table] = Catalogue("confee.rendering.tables", Path(__file__).parent / "tables")

PAGE = ("page.html.j2", "look.css", "page.js")
"""The files of the report's page beside the modules of rendering.report."""


def exhibit(name: str) -> Figure | Table:
    """Return the figure or table of this name. Raises ConfeeError if there is none."""
    if name in FIGURES:
        return FIGURES[name]
    if name in TABLES:
        return TABLES[name]
    raise ConfeeError(f"figure={name}: unknown; known: {', '.join([*FIGURES, *TABLES])}")


def module_name(name: str) -> str:
    """Return the module that declares a figure or a table."""
    return (FIGURES if name in FIGURES else TABLES).module(name)
