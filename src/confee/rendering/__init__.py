"""Pictures and tables: pure functions from data frames, that know nothing of the workflow.

`FIGURES` names what can be drawn of an experiment; `render(name, data)` draws it. Matplotlib is
imported only when something is drawn. In a notebook, call the functions themselves:

    from confee.rendering.figures.axes import axis
    axis(worst, points, "B", slopes)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from confee.errors import ConfeeError
from confee.rendering.cells import CELL, keys
from confee.simulation.needs import RANKED

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


class Recipe(NamedTuple):
    """What a picture shows, the attributes of the data it reads, how it is drawn, and the axes of
    the grid, maps, studies (`study:<name>`) or a claim's own cells (`asked:<first word of its id>`)
    without which there is nothing to draw."""

    shows: str
    needs: tuple[str, ...]
    draw: Callable[[Any], Figure]
    axes: tuple[str, ...] = ()
    maps: tuple[str, ...] = ()
    """Maps it shows: where a run is told its claims, they are played if the figure is named."""


class Sheet(NamedTuple):
    """What a table says, how it is made (with its caption), its label in LaTeX, and the axes and
    maps of which there must be one."""

    shows: str
    make: Callable[[Any], tuple[pd.DataFrame, str]]
    label: str
    axes: tuple[str, ...]


def _axis(which: str) -> Recipe:
    def draw(data: Any) -> Figure:
        from confee.rendering.figures.axes import axis

        return axis(data.worst, data.points, which, data.slopes)

    needs = ("worst", "points", "slopes")
    return Recipe(f"worst-case regret against {which}", needs, draw, (which,))


def _block(data: Any) -> Figure:
    from confee.rendering.figures.block import block

    return block(data.pieces, data.n, data.b)


def _horizon(data: Any) -> Figure:
    from confee.rendering.figures.horizon import horizon

    return horizon(data.worst, data.points)


def _landscape(data: Any) -> Figure:
    from confee.rendering.figures.landscape import landscape

    cells = centre(data.points)
    rows = at(data.regret, cells)
    return landscape(rows[rows["seed"] < data.choose], at(data.worst, cells))


def _floor(data: Any) -> Figure:
    from confee.rendering.figures.floor import floor

    return floor(data.ages, data.floor)


def _levels(data: Any) -> Figure:
    from confee.rendering.figures.levels import levels

    return levels(data.worst, data.points, ("floor", "billion"))


def _regimes(data: Any) -> Figure:
    from confee.rendering.figures.regimes import regimes

    return regimes(data.worst, data.points)


def _pace(data: Any) -> Figure:
    from confee.rendering.figures.pace import pace

    return pace(data.trace, data.blocks, data.T, data.B)


def _decomposition(data: Any) -> Figure:
    from confee.rendering.figures.decomposition import decomposition

    cells = centre(data.points)
    rows = at(data.regret, cells).dropna(subset=["regret_error"])  # none where rules are played
    return decomposition(chosen(rows, at(data.worst, cells), data.choose))


def _shootout(data: Any) -> Figure:
    from confee.rendering.figures.shootout import shootout

    return shootout(data.heat)


def _ranking(data: Any) -> Figure:
    from confee.rendering.figures.ranking import ranking

    return ranking(data.ranking)


def _extensions(data: Any) -> Figure:
    from confee.rendering.figures.extensions import extensions

    return extensions(*data.extensions)


def _table1(data: Any) -> tuple[pd.DataFrame, str]:
    from confee.rendering.tables.table1 import CAPTION, table1

    return table1(data.slopes), CAPTION


def _which_policy(data: Any) -> tuple[pd.DataFrame, str]:
    from confee.rendering.tables.which_policy import CAPTION, which_policy

    return which_policy(data.ranking), CAPTION


def _questions(data: Any) -> tuple[pd.DataFrame, str]:
    from confee.rendering.tables.questions import CAPTION, questions

    return questions(data.questions), CAPTION


FIGURES: dict[str, Recipe] = {
    "block": Recipe("the paper's block, from the scheduler", ("pieces", "n", "b"), _block),
    "regret-T": _axis("T"),
    "regret-B": _axis("B"),
    "regret-V": _axis("V"),
    "regret-K": _axis("K"),
    "horizon": Recipe("regret over the rate against T", ("worst", "points"), _horizon, ("T",)),
    "landscape": Recipe(
        "regret over the grid of adversaries, at the centre",
        ("regret", "worst", "points", "choose"),
        _landscape,
    ),
    "floor": Recipe(
        "why HyQue without restarts has a floor", ("ages", "floor"), _floor, ("study:ages",)
    ),
    "levels": Recipe(
        "regret over the rate against T, at small and large V",
        ("worst", "points"),
        _levels,
        ("floor",),
        maps=("floor", "billion"),
    ),
    "regimes": Recipe(
        "regret over the rate, over budgets and variations",
        ("worst", "points"),
        _regimes,
        ("regimes",),
        maps=("regimes",),
    ),
    "pace": Recipe("queries against an even pace", ("trace", "blocks", "T", "B"), _pace),
    "decomposition": Recipe(
        "the parts of regret, at the centre",
        ("regret", "worst", "points", "choose"),
        _decomposition,
    ),
    "shootout": Recipe(
        "normalised regret, policies against adversaries",
        ("heat",),
        _shootout,
        ("shootout",),
        maps=RANKED,
    ),
    "extensions": Recipe(
        "HyQue over other base algorithms, against B and V",
        ("extensions",),
        _extensions,
        ("asked:extension",),
    ),
    "ranking": Recipe(
        "who is how far from the best", ("ranking",), _ranking, ("shootout",), maps=RANKED
    ),
}

TABLES: dict[str, Sheet] = {
    "table1": Sheet("the paper's Table 1", _table1, "rates", ("T", "B", "V", "K")),
    "which_policy": Sheet("which policy to use", _which_policy, "which", ("shootout",)),
    "questions": Sheet("patterns, restarts, plans", _questions, "questions", ("shootout",)),
}


def render(name: str, data: Any) -> Figure:
    """Draw one figure of `FIGURES` from an object with the attributes that it needs."""
    if name not in FIGURES:
        raise ConfeeError(f"no figure {name!r}; there are {', '.join(FIGURES)}")
    return FIGURES[name].draw(data)


# ------------------------------------------------------------------ the centre of the sweeps


def centre(points: pd.DataFrame) -> pd.DataFrame:
    """The cells of all labels at the settings where most sweeps meet, in all phases."""
    counts = points.groupby(CELL[1:])["axis"].nunique().rename("axes").reset_index()
    middle = counts.loc[counts["axes"] == counts["axes"].max(), CELL[1:]]
    return points[CELL].drop_duplicates().merge(middle, on=CELL[1:])


def at(frame: pd.DataFrame, cells: pd.DataFrame) -> pd.DataFrame:
    """The rows of a frame that belong to these cells."""
    return frame[keys(frame).isin(set(keys(cells)))]


def chosen(rows: pd.DataFrame, worst: pd.DataFrame, choose: int) -> pd.DataFrame:
    """The rows against the adversary chosen as worst for their cell, at the chosen gap.

    Fresh seeds (from `choose` on) where there are any; policies without randomness have none.
    """
    from confee.evidence.strength import gaps

    names = ["key", "adversary"]
    picks = worst.assign(key=keys(worst))[[*names, "gap"]].rename(columns={"gap": "pick"})
    rows = rows.assign(key=keys(rows)).merge(picks, on=names)
    gap, pick = gaps(rows), rows["pick"]
    rows = rows[gap.isna() | pick.isna() | ((gap / pick - 1).abs() < 1e-9)]
    fresh = rows["seed"] >= choose
    rows = rows[fresh | ~fresh.groupby(rows["key"]).transform("any")]
    return rows.drop(columns=["key", "pick"])
