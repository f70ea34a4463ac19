"""The parts of HyQue's regret along V: query, error and drift regret, each against the rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confee.claims.judging.rates import USUAL
from confee.claims.part_regret import PARTS
from confee.rendering import looks, style
from confee.rendering.catalogue import VERDICTS, Figure
from confee.rendering.figures import rays
from confee.rendering.figures.panels import HEAD, Line, Words, beside, roles

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Drawing


WORDS = Words("variation $V$", "part of regret\nover the rate", HEAD)

LABELS_SHOWN = ("hyque", USUAL.positive["V"], USUAL.negative["V"])
"""HyQue and the controls along V."""

NOTHING = "No ray along $V$ on which parts of regret are known was played."


@style.styled
def draw(part_worst: pd.DataFrame, points: pd.DataFrame) -> Drawing:
    """Draw the worst case of each part along the ray in V with the largest budget, a panel per
    part.

    Parameters
    ----------
    part_worst
        Columns as in `worst`, and `part`: query, error or drift. Regret is in units of R/T, see
        confee.evidence.parts.
    points
        Columns as in docs/glossary.md.
    """
    panels = _panels(part_worst, points)
    if not panels:
        return style.empty(NOTHING)
    titled = {f"{part} regret: {held}": lines for (part, held), lines in panels.items()}
    return beside(titled, WORDS, roles("V"), ticks=True)


def finding(part_worst: pd.DataFrame, points: pd.DataFrame) -> str:
    """Return the exponent of each part of HyQue's regret, or that it has none."""
    panels = _panels(part_worst, points)
    parts, places = [], set()
    for (part, held), lines in panels.items():
        for line in lines:
            if line.label == "hyque":
                value = f"({line.why})" if line.fit is None else rays.value(line, "V")
                parts.append(f"{part} regret {value}")
                places.add(held)
    if not parts:
        return NOTHING
    return (
        f"At {' and '.join(sorted(places))}, {looks.display('hyque')}'s normalised parts scale as: "
        f"{', '.join(parts)}."
    )


def _panels(part_worst: pd.DataFrame, points: pd.DataFrame) -> dict[tuple[str, str], list[Line]]:
    """Return (part, what is held fixed) -> the policies of a panel."""
    panels = {}
    for part in PARTS.values():
        mine = part_worst[part_worst["part"] == part].drop(columns="part")
        idle = 2 * points["B"] <= points["T"]  # With fewer idle rounds parts are no rates.
        known = points[points["label"].isin(LABELS_SHOWN) & idle]
        panel = rays.lines(mine, known, "V")
        if panel:
            held = list(panel)[-1]
            panels[part, held] = panel[held]
    return panels


def worst_of_parts(regret: pd.DataFrame, points: pd.DataFrame, choose: int) -> pd.DataFrame:
    """Return the worst cases of each part of the regret (column `part`), of LABELS_SHOWN."""
    import pandas as pd

    from confee.evidence import Evidence
    from confee.evidence.parts import part_worst

    evidence = Evidence(regret, pd.DataFrame(), pd.DataFrame(), points, choose=choose)
    frames = [
        part_worst(evidence, part, LABELS_SHOWN)[0].assign(part=part) for part in PARTS.values()
    ]
    return pd.concat(frames, ignore_index=True)


FIGURE = Figure(
    "ray-parts",
    "Parts of HyQue's regret against V",
    section=VERDICTS,
    place=5,
    needs=("part_worst", "points"),
    axes=("ray:V",),
    claims=("query-regret", "error-regret", "drift-regret"),
    draw=draw,
    finding=finding,
    reading=(
        "Each part, per query or idle round, is divided by $(KV/B)^{1/3}$: at the rate a line is "
        "flat, and its exponent is 0."
    ),
)
