"""The paper's proofs as a map: who implies whom, and what the claims leave of each statement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from confee.rendering import style
from confee.rendering.catalogue import VERDICTS, Figure
from confee.rendering.numbers import listed
from confee.rendering.statements import (
    ARROWS,
    STATEMENTS,
    Arrow,
    Standing,
    claims_on,
    premises,
    standings,
)
from confee.rendering.verdicts import ALL, CLOSED, UNJUDGED, WHITE, Mark, standing

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing
    from matplotlib.patches import FancyBboxPatch


AT = {
    "Lemma B.3": (0, 0),
    "change tests": (1, 0),
    "Lemma 4.4": (2, 0),
    "Remark 4.5": (3, 0),
    "Lemma 4.6": (4, 0),
    "on demand": (5, 0),
    "Lemma B.4": (0, 1),
    "Lemma 4.9": (1, 1),
    "Remark B.2": (2, 1),
    "Lemma 4.7": (3, 1),
    "Lemma 4.10": (1, 2.15),
    "Lemma 4.11": (2, 2.15),
    "Lemma 4.8": (5, 2.15),
    "Theorem 4.1": (2, 3.15),
    "step 3 of C.2": (5, 3.15),
    "Assumption D.2": (0, 4.15),
    "implication": (1, 4.15),
    "Table 1": (2, 4.15),
    "Remark 4.3": (3, 4.15),
    "Theorem C.1": (5, 4.15),
    "Lemma E.1": (0, 5.4),
    "steps 1 to 3": (1, 5.4),
    "Theorem 5.1": (2, 5.4),
    "naive plans": (3, 5.4),
}
"""Column and row of each statement."""

ROUTES = {
    ("Lemma 4.4", "Lemma 4.10"): ((1.72, 0.37), (1.5, 0.62), (1.5, 1.42), (1.27, 1.78)),
    ("Lemma 4.9", "Theorem 4.1"): ((0.72, 1.37), (0.46, 1.7), (0.46, 2.75), (1.04, 3.1)),
    ("Lemma 4.7", "Theorem 4.1"): ((2.95, 1.37), (2.5, 2.78)),
    ("Theorem 4.1", "Remark 4.3"): ((2.42, 3.52), (2.85, 3.78)),
    ("on demand", "Theorem 4.1"): ((4.6, 0.37), (2.75, 2.78)),
}
"""Of arrows that would run into a statement, from border to border."""

BOXES = {"Regret in query rounds": (0, 1), "Which rounds are queried": (2, 5)}
"""The two boxes of the paper's figure: title, first and last column in the rows 0 and 1."""

COLUMN, ROW, LEFT, TOP = 0.914, 0.64, 0.48, 0.52
WIDE, HIGH = 0.83, 0.47
"""Inches: the grid, its first place, the size of a statement."""

LINE, PER_LINE = 0.18, 5
"""Inches a line of the legend, and entries in it."""


@style.styled
def draw(claims: pd.DataFrame) -> Drawing:
    """Draw the statements of confee.rendering.statements in the colours of their verdicts.

    `claims`: id, as_printed, severity, breaks, ours.
    """
    verdicts = standings(claims)
    signs = {row.id: standing([row.severity], [row.as_printed]) for row in claims.itertuples()}
    shown = Counter(verdicts[name].word for name in STATEMENTS)
    several = [claims for name in STATEMENTS if len(claims := claims_on(name)) > 1]
    small = {signs.get(id, UNJUDGED) for claims in several for id in claims}
    entries = {word: f"{ALL[word].word}: {shown[word]}" for word in ALL if shown[word]}
    entries |= {
        word: f"{ALL[word].word}: claims only" for word in ALL if word in small - set(entries)
    }
    bottom = TOP + max(row for _, row in AT.values()) * ROW + HIGH / 2
    height = bottom + 0.12 + LINE * -(-len(entries) // PER_LINE)
    fig = style.bare(height)
    ax = fig.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, style.WIDTH), ylim=(height, 0))
    ax.axis("off")
    for title, (first, last) in BOXES.items():
        _frame(ax, title, first, last)
    boxes = {name: _statement(ax, name, verdicts[name].word, signs) for name in STATEMENTS}
    for arrow in ARROWS:
        _arrow(ax, arrow, boxes, verdicts[arrow.premise])
    _legend(ax, entries, bottom + 0.12 + LINE / 2)
    return fig


def finding(claims: pd.DataFrame) -> str:
    """Return on how many statements each theorem rests, and which of them have a gap or are
    false."""
    verdicts = standings(claims)
    if all(verdict.word == UNJUDGED for verdict in verdicts.values()):
        return "No claim about a statement of the paper was judged."
    theorems = [_rests(name, verdicts) for name in STATEMENTS if name.startswith("Theorem")]
    toy = any(str(at).startswith("toy") for at in claims["horizon"])
    return " ".join(theorems) + (" Toy horizons say nothing about larger ones." * toy)


def _rests(theorem: str, verdicts: Mapping[str, Standing]) -> str:
    """Return `Theorem 5.1 rests on 2 statements: closed gap in steps 1 to 3, 1 not judged.`"""
    below = [name for name in STATEMENTS if name in premises(theorem)]
    parts = []
    for text, word, breaks in (
        ("false: {}", "false", True),
        ("gap in {}", "gap", True),
        ("closed gap in {}", CLOSED, False),
    ):
        if names := [name for name in below if verdicts[name] == (word, breaks)]:
            parts.append(text.format(listed(names)))
    if unjudged := sum(verdicts[name].word == UNJUDGED for name in below):
        parts.append(f"{unjudged} not judged")
    rests = f"{len(below)} statement{'s' * (len(below) != 1)}"
    return f"{theorem} rests on {rests}: {', '.join(parts) or 'no gap found'}."


def _place(column: float, row: float) -> tuple[float, float]:
    """Return inches from the left and from the top."""
    return LEFT + column * COLUMN, TOP + row * ROW


def _statement(ax: Axes, name: str, word: str, signs: Mapping[str, str]) -> FancyBboxPatch:
    """Draw the box of a statement: its name and sign, its title, a small sign for each of its
    claims."""
    from matplotlib.patches import FancyBboxPatch

    (x, y), mark, claims = _place(*AT[name]), ALL[word], claims_on(name)
    theorem = name.startswith("Theorem")
    wide = WIDE + COLUMN * (name == "Theorem 4.1")
    corner = f"round,pad=0,rounding_size={0.02 if theorem else 0.1}"
    numbered = name[0].isupper() and any(map(str.isdigit, name))
    box = FancyBboxPatch(
        (x - wide / 2, y - HIGH / 2),
        wide,
        HIGH,
        boxstyle=corner,
        facecolor=mark.color,
        edgecolor=style.INK,
        linewidth=1.4 if theorem else 0.6,
        zorder=3,
        linestyle="-" if numbered else (0, (1, 1)),
    )
    ax.add_patch(box)
    several = len(claims) > 1
    rows = (-0.125, 0.02, 0.15) if several else (-0.085, 0.085)
    for text, size, weight, dy in (
        (name, 7.3, "bold", rows[0]),
        (STATEMENTS[name].title, 6.8, "normal", rows[1]),
    ):
        ax.text(
            x,
            y + dy,
            text,
            color=mark.ink,
            fontsize=size,
            weight=weight,
            ha="center",
            va="center",
            zorder=4,
        )
    _sign(ax, x - wide / 2 + 0.02, y - HIGH / 2 + 0.02, mark, 7, style.INK)
    for i, id in enumerate(claims if several else ()):
        claim_mark = ALL[signs.get(id, UNJUDGED)]
        at = x + (i - (len(claims) - 1) / 2) * 0.14
        _sign(
            ax,
            at,
            y + rows[-1],
            claim_mark,
            6,
            "white" if id in signs and mark.ink == WHITE else style.GREY,
        )
    return box


def _arrow(ax: Axes, arrow: Arrow, boxes: Mapping[str, FancyBboxPatch], premise: Standing) -> None:
    """Draw an arrow between two boxes, straight or along its route."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    ends = arrow.premise, arrow.conclusion
    how: Any = (
        {"path": Path([_place(*at) for at in ROUTES[ends]])}
        if ends in ROUTES
        else {
            "posA": _place(*AT[ends[0]]),
            "posB": _place(*AT[ends[1]]),
            "patchA": boxes[ends[0]],
            "patchB": boxes[ends[1]],
            "shrinkA": 0.5,
            "shrinkB": 0.5,
        }
    )
    ax.add_patch(
        FancyArrowPatch(
            **how,
            arrowstyle="-|>",
            mutation_scale=7,
            linewidth=0.9,
            zorder=2,
            linestyle=(0, (3, 1.5)) if premise.breaks else "-",
            joinstyle="round",
            color=ALL[premise.word].color if premise.breaks else style.INK,
        )
    )


def _sign(ax: Axes, x: float, y: float, mark: Mark, size: float, edge: str) -> None:
    """Draw a glyph on a disc of its colour."""
    disc = {
        "boxstyle": "circle,pad=0.13",
        "facecolor": mark.color,
        "edgecolor": edge,
        "linewidth": 0.5,
    }
    ax.text(
        x,
        y,
        mark.glyph,
        color=mark.ink,
        fontsize=size,
        ha="center",
        va="center",
        zorder=5,
        bbox=disc,
    )


def _frame(ax: Axes, title: str, first: float, last: float) -> None:
    """Draw a light box behind the rows 0 and 1, with a title."""
    from matplotlib.patches import FancyBboxPatch

    left, right = (LEFT + column * COLUMN for column in (first, last))
    low, width = TOP - HIGH / 2 - 0.24, right - left + WIDE + 0.06
    ax.add_patch(
        FancyBboxPatch(
            (left - WIDE / 2 - 0.03, low),
            width,
            ROW + HIGH + 0.3,
            facecolor="#f1f1f1",
            boxstyle="round,pad=0,rounding_size=0.06",
            edgecolor="none",
            zorder=0,
        )
    )
    ax.text(
        left - WIDE / 2 + 0.05,
        low + 0.11,
        title,
        fontsize=7,
        style="italic",
        va="center",
        color="#444444",
    )


def _legend(ax: Axes, entries: Mapping[str, str], top: float) -> None:
    """Draw the marks that occur, each with its text."""
    for i, (word, text) in enumerate(entries.items()):
        line, column = divmod(i, PER_LINE)
        x, y = 0.12 + column * (style.WIDTH - 0.12) / PER_LINE, top + line * LINE
        _sign(ax, x, y, ALL[word], 7, style.INK)
        ax.text(x + 0.14, y, text, fontsize=7.5, va="center")


FIGURE = Figure(
    "proof_map",
    "The paper's proofs as a map",
    section=VERDICTS,
    place=2,
    needs=("claims",),
    axes=("claims",),
    draw=draw,
    finding=finding,
    reading=(
        "Arrows lead from premise to conclusion, dashed where a gap is open. Small signs: "
        "verdicts on single claims."
    ),
)
