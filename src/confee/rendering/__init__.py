"""Figures and tables: pure functions of data frames, that know nothing of the workflow.

`FIGURES` and `TABLES` name what there is; nothing is imported before something is drawn. In a
notebook, call the functions of a figure's own module, one of `confee.rendering.figures`:

    regimes.draw(worst, points)
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from confee.core.errors import ConfeeError
from confee.simulation.needs import RANKED

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


class Recipe(NamedTuple):
    """What is to be known of a figure or a table before it is made.

    `needs` are the attributes of the data that its functions take, by these names. A figure needs
    all of `axes`, a table one of them: an axis of the grid, a map, `ray:<variable>` (a ray along B,
    V, K or T), `study:<name>`, `asked:<first word of a claim's id>`, `label:<label of a policy>`,
    or `claims` if any are judged. `section` is where the report shows it.
    """

    title: str
    section: str
    needs: tuple[str, ...]
    axes: tuple[str, ...] = ()
    maps: tuple[str, ...] = ()
    """Maps it shows: where a run is told its claims, they are played if the figure is named."""
    claims: tuple[str, ...] = ()
    """Ids of claims, or their first words, that it is evidence for."""
    module: str = ""
    """Of rendering.figures or rendering.tables; its name if empty."""
    fixed: Mapping[str, Any] = {}
    """Further arguments of its functions."""
    named: bool = False
    """Whether it is drawn only where an experiment names it: another figure shows the same."""


BASICS = "Regret against each axis"
WHY = "Where the regret comes from"
MEANS = "How the policies work"
WHO = "Which policy to use"
VERDICTS = "The paper's claims"
BEYOND = "Beyond arms"

SECTIONS = (VERDICTS, WHO, BASICS, WHY, MEANS, BEYOND)
"""In the order of the report."""


def _axis(axis: str, *claims: str) -> Recipe:
    title = f"Worst-case regret against {axis}"
    needs = ("worst", "points", "slopes")
    return Recipe(title, BASICS, needs, (axis,), (), claims, "axes", {"axis": axis})


def _ray(variable: str, title: str, *claims: str) -> Recipe:
    claims = ("hyque-rate", "rexp3b-rate", *claims)
    return Recipe(
        title,
        VERDICTS,
        ("worst", "points"),
        (f"ray:{variable}",),
        (),
        claims,
        "rays",
        {"variable": variable},
    )


FIGURES: dict[str, Recipe] = {
    "scoreboard": Recipe("The scoreboard of claims", VERDICTS, ("claims",), ("claims",)),
    "proof_map": Recipe("The paper's proofs as a map", VERDICTS, ("claims",), ("claims",)),
    "ray-V": _ray("V", "Regret against V, at fixed T and B"),
    "ray-B": _ray("B", "Regret against B, at a fixed T/B", "full-feedback", "table-rows"),
    "ray-parts": Recipe(
        "Parts of HyQue's regret against V",
        VERDICTS,
        ("part_worst", "points"),
        ("ray:V",),
        claims=("query-regret", "error-regret", "drift-regret"),
        module="ray_parts",
    ),
    "ray-K": _ray("K", "Regret over SW-UCB's against K"),
    "ray-T": _ray("T", "Regret against T, at fixed B: growth beyond mixing"),
    "block": Recipe("One block of HyQue", MEANS, ("pieces", "n", "b"), claims=("density",)),
    "regret-T": _axis("T", "hyque-rate", "rexp3b-rate"),
    "regret-B": _axis("B", "hyque-rate", "rexp3b-rate"),
    "regret-V": _axis("V", "hyque-rate", "rexp3b-rate"),
    "regret-K": _axis("K", "hyque-rate", "rexp3b-rate"),
    "horizon": Recipe(
        "Regret over the rate against B, at a fixed T/B",
        BASICS,
        ("worst", "points"),
        ("ray:B",),
        claims=("hyque-rate", "rexp3b-rate"),
        named=True,
    ),
    "decades": Recipe(
        "Exponents in B, step by step",
        BASICS,
        ("slopes", "points"),
        ("ray:B",),
        claims=("hyque-rate", "rexp3b-rate"),
        named=True,
    ),
    "landscape": Recipe(
        "The landscape of adversaries", WHY, ("regret", "worst", "points", "choose")
    ),
    "floor": Recipe(
        "Why HyQue without restarts has a floor",
        WHY,
        ("ages", "floor_runs"),
        ("study:ages",),
        claims=("hyque-floor",),
    ),
    "levels": Recipe(
        "Regret over the rate at small and large V",
        BASICS,
        ("worst", "points"),
        ("floor_V4", "floor_V16"),
        claims=("hyque-floor", "hyque-rate"),
    ),
    "regimes": Recipe(
        "Where the rate holds: budgets and variations",
        BASICS,
        ("worst", "points"),
        ("regimes",),
        maps=("regimes",),
        claims=("hyque-rate", "rexp3b-rate"),
    ),
    "pace": Recipe(
        "The pace of the queries",
        MEANS,
        ("trace", "blocks", "T", "B"),
        claims=("hyque-budget", "on-demand-free"),
    ),
    "idle_runs": Recipe(
        "The longest idle streaks",
        MEANS,
        ("schedules",),
        ("study:schedules",),
        claims=("idle-runs",),
        module="streaks",
        fixed={"kind": "idle"},
    ),
    "query_runs": Recipe(
        "The longest query streaks",
        MEANS,
        ("schedules",),
        ("study:schedules",),
        claims=("query-runs",),
        module="streaks",
        fixed={"kind": "query"},
    ),
    "detection": Recipe(
        "When HyQue's change tests can fire",
        MEANS,
        ("thresholds", "first", "points"),
        claims=("detection/horizon",),
    ),
    "lower_bound": Recipe(
        "Regret over the lower bound",
        VERDICTS,
        ("worst", "regret", "points", "choose"),
        ("T",),
        claims=("lower-bound",),
    ),
    "replay": Recipe(
        "What Rexp3B's idle rounds replay",
        MEANS,
        ("worst", "points"),
        ("T", "label:rexp3b", "label:rexp3b(pool=set)"),
        claims=("rexp3b-finite",),
    ),
    "decomposition": Recipe(
        "The parts of regret",
        WHY,
        ("regret", "worst", "points", "choose"),
        claims=("query-regret", "error-regret", "drift-regret", "decomposition"),
    ),
    "shootout": Recipe(
        "All policies against all adversaries", WHO, ("heat",), ("shootout",), maps=RANKED
    ),
    "extensions": Recipe(
        "HyQue over other base algorithms",
        BEYOND,
        ("setting_worst", "setting_points"),
        ("asked:extension",),
        claims=("extension",),
    ),
    "ranking": Recipe(
        "Who is how far from the best", WHO, ("ranking",), ("shootout",), maps=RANKED
    ),
}

TABLES: dict[str, Recipe] = {
    "table1": Recipe(
        "The paper's Table 1, measured",
        VERDICTS,
        ("slopes", "points", "claims"),
        ("T", "ray:T", "ray:B", "ray:V", "ray:K"),
        claims=("table-rows", "hyque-rate", "rexp3b-rate"),
    ),
    "ledger": Recipe("All claims, in words", VERDICTS, ("claims",), ("claims",)),
    "constants": Recipe(
        "Constants from both sides", VERDICTS, ("worst",), ("ray:K",), claims=("lower-bound",)
    ),
    "which_policy": Recipe("Which policy to use", WHO, ("ranking",), ("shootout",)),
    "questions": Recipe("Patterns, restarts, query plans", WHO, ("questions",), ("shootout",)),
}


PAGE = ("page.html.j2", "look.css", "page.js")
"""What the report is made of, beside the modules of rendering.report."""


def recipe(name: str) -> Recipe:
    """The figure or table of this name. Raises ConfeeError if there is none."""
    if name in FIGURES:
        return FIGURES[name]
    if name in TABLES:
        return TABLES[name]
    raise ConfeeError(f"figure={name}: unknown; known: {', '.join([*FIGURES, *TABLES])}")


def module_name(name: str) -> str:
    """The module that makes a figure or a table."""
    kind = "figures" if name in FIGURES else "tables"
    return f"confee.rendering.{kind}.{recipe(name).module or name}"


def figure(name: str, data: Any) -> Figure:
    """Draws one figure of FIGURES from an object with the attributes that it needs."""
    return _module(name).draw(**arguments(name, data))


def table(name: str, data: Any) -> pd.DataFrame:
    """Makes one table of TABLES, likewise."""
    return _module(name).make(**arguments(name, data))


def caption(name: str, data: Any) -> str:
    """What a figure or a table shows, and how to read it: text with formulas between dollars."""
    return f"{_module(name).finding(**arguments(name, data))} {reading(name)}"


def reading(name: str) -> str:
    """How to read a figure or a table: the second part of its caption.

    A module that makes several figures has a text for each, by name.
    """
    text = _module(name).READING
    return text if isinstance(text, str) else text[name]


def arguments(name: str, data: Any) -> dict[str, Any]:
    """What the functions of a figure or a table are called with."""
    wanted = recipe(name)
    return {**{need: getattr(data, need) for need in wanted.needs}, **wanted.fixed}


def _module(name: str) -> ModuleType:
    return importlib.import_module(module_name(name))
