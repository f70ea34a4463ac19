"""The scoreboard: every claim as printed, its severity, its controls, and what was measured."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from confee.claims.base import OTHERS
from confee.claims.judging.exponents import MARGIN
from confee.claims.judging.finding import FAILS, HOLDS
from confee.rendering import numbers, style
from confee.rendering.catalogue import VERDICTS, Figure
from confee.rendering.deciding import Deciding, deciding
from confee.rendering.looks import plain
from confee.rendering.statements import GROUPS, group
from confee.rendering.verdicts import (
    ABSENT,
    ALL,
    BAD,
    GOOD,
    MARKS,
    OPEN,
    SHORT_GLOSS,
    SIGNS,
    Mark,
    came_out,
    overview,
    weight,
)
from confee.rendering.verdicts import short as outcome

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing


ROW, HEAD = 0.152, 0.2
"""Inches a row, and a group's title."""

PRINTED, SEVERITY, NAME, POSITIVE, CONTROL, PANEL, SAID = (
    0.05,
    0.67,
    1.37,
    2.46,
    2.6,
    (2.73, 3.28),
    3.37,
)
"""Inches from the left at which the columns begin."""

BADGES = {PRINTED: 0.58, SEVERITY: 0.66}
"""Column -> inches: the width of its badges, for the longest word and a margin."""

FOOT = (
    f"{SHORT_GLOSS}; italics: our own question, not counted",
    f"controls: {SIGNS[GOOD]} as expected, {SIGNS[BAD]} not as expected, {SIGNS[OPEN]} not "
    "simulated; excess: exponent minus the claimed one; dashed: margin; arrow: outside",
)
"""Lines below the claims."""

LIMITS = (-0.25, 0.5)
"""Of the panel of excesses."""

EXPONENT = re.compile(r"exponent of the (?P<what>.+) in (?P<axis>\w+)(?:,|$)")
LITTLE = re.compile(r"( (?:at|by|for|from|in|of|the|to|with))+$")
"""Words that say nothing at the end of a text that is cut."""
SIZE = 6.6
"""Points, of what was measured."""


@style.styled
def draw(claims: pd.DataFrame) -> Drawing:
    """Draw the claims in groups, in the order of the ledger.

    `claims`: id, as_printed, basis, severity, ours, controls, prediction, measured, numbers,
    interval, interval_of.
    """
    if claims.empty:
        return style.empty("no claim was judged")
    table = claims.assign(group=[group(id) for id in claims["id"]])
    groups = [name for name in (*GROUPS, OTHERS) if (table["group"] == name).any()]
    height = 0.3 + ROW * len(table) + HEAD * len(groups) + 0.22 + ROW * len(FOOT)
    fig = style.bare(height)
    ax = fig.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, style.WIDTH), ylim=(height, 0))
    ax.axis("off")
    _panel(ax, height)
    y = 0.3
    for name in groups:
        ax.text(0.05, y + 0.11, name, fontsize=8, weight="bold", va="center")
        ax.plot([0.05, style.WIDTH - 0.05], [y + 0.195] * 2, color="#cccccc", linewidth=0.6)
        y += HEAD
        for row in table[table["group"] == name].itertuples():
            _row(ax, row, y + ROW / 2 + 0.01)
            y += ROW
    for i, line in enumerate(reversed(FOOT)):
        at = height - 0.09 - ROW * i
        ax.text(PRINTED, at, line, fontsize=7, va="center", color="#555555")
    return fig


def finding(claims: pd.DataFrame) -> str:
    """Return the claims of the paper by severity, and how many controls came out as expected."""
    if claims.empty:
        return "No claim was judged."
    text = overview(claims.itertuples())
    controls = [c.as_expected for own in claims["controls"] for c in own]
    if played := [good for good in controls if good is not None]:
        text += f" Controls as expected: {sum(played)} of {len(played)}."
    if any(str(at).startswith("toy") for at in claims["horizon"]):
        text += " Toy horizons say nothing about larger ones."
    return text


def _panel(ax: Axes, height: float) -> None:
    """Draw the heads of the columns, and the axis of the excesses."""

    def head(x: float, y: float, text: str, align: str = "left", size: float = 7) -> None:
        ax.text(x, y, text, fontsize=size, va="center", ha=align, color="#555555")

    for x, text in (
        (PRINTED, "as printed"),
        (SEVERITY, "severity"),
        (NAME, "claim"),
        (SAID, "measured; exponents with 95 % CI"),
    ):
        head(x, 0.2, text)
    head((POSITIVE + CONTROL) / 2, 0.08, "controls", "center")
    for x, sign in ((POSITIVE, "+"), (CONTROL, "\N{MINUS SIGN}")):
        head(x, 0.2, sign, "center", 8)
    head(sum(PANEL) / 2, 0.08, "excess", "center")
    for value, line in ((0, {"color": "#999999", "linewidth": 0.6}), (MARGIN, style.THEORY)):
        end = height - 0.14 - ROW * len(FOOT)
        ax.plot([_across(value)] * 2, [0.29, end], **{**line, "zorder": 1})
    for value in (0, 0.25, 0.5):
        for y in (0.2, end + 0.07):
            head(_across(value), y, f"{value:g}", "center", 6.5)


def _across(value: float) -> float:
    """Return the inches at which an excess is drawn."""
    low, high = LIMITS
    return PANEL[0] + (value - low) / (high - low) * (PANEL[1] - PANEL[0])


def _row(ax: Axes, row, y: float) -> None:
    mark = MARKS[row.as_printed]
    _badge(ax, PRINTED, y, mark, outcome(row.as_printed, row.basis))
    grade = weight(row)
    _badge(ax, SEVERITY, y, ALL[grade], ALL[grade].word)
    name = row.id.replace("policy-rate/", "rate: ")
    ax.text(NAME, y, name, fontsize=7.5, va="center", style="italic" if row.ours else "normal")
    for x, expected in ((POSITIVE, HOLDS), (CONTROL, FAILS)):
        _control(ax, x, came_out(row.controls, expected), y)
    ray = decided(row)
    if ray is not None and ray.excess is not None:
        _interval(ax, *ray.excess, y, mark)
    ax.text(SAID, y, short(row), fontsize=SIZE, va="center")


def _badge(ax: Axes, x: float, y: float, mark: Mark, word: str) -> None:
    from matplotlib.patches import FancyBboxPatch

    ax.add_patch(
        FancyBboxPatch(
            (x, y - 0.066),
            BADGES[x],
            0.132,
            boxstyle="round,pad=0,rounding_size=0.05",
            linewidth=0.5,
            facecolor=mark.color,
            edgecolor="#555555",
            zorder=0,
        )
    )
    ax.text(
        x + BADGES[x] / 2,
        y,
        f"{mark.glyph} {word}",
        fontsize=7,
        color=mark.ink,
        ha="center",
        va="center",
    )


def _control(ax: Axes, x: float, result: str, y: float) -> None:
    """Draw a tick if the controls came out as expected, else a sign that stands out."""
    if result == ABSENT:
        if x == POSITIVE:  # most claims need none
            return
        result = OPEN
    box = {} if result == GOOD else {"bbox": {"facecolor": style.INK, "boxstyle": "square,pad=0.1"}}
    ax.text(
        x,
        y,
        SIGNS[result],
        fontsize=7.5,
        ha="center",
        va="center",
        color=style.INK if result == GOOD else "white",
        **box,
    )


def _interval(ax: Axes, low: float, high: float, y: float, mark: Mark) -> None:
    """Draw an interval with its middle, and an arrow where it leaves the panel."""
    color = style.INK
    ends = [min(max(value, LIMITS[0]), LIMITS[1]) for value in (low, high)]
    ax.plot([_across(v) for v in ends], [y, y], color=color, linewidth=1.1, zorder=2)
    for value, end, marker in ((low, ends[0], "<"), (high, ends[1], ">")):
        if LIMITS["<>".index(marker)] == end != value:
            ax.plot([_across(end)], [y], marker=marker, markersize=3, color=color, zorder=2)
    middle = (low + high) / 2
    if LIMITS[0] <= middle <= LIMITS[1]:
        ax.plot(
            [_across(middle)],
            [y],
            marker="o",
            markersize=4,
            markerfacecolor=mark.color,
            markeredgecolor=color,
            markeredgewidth=0.6,
            zorder=3,
        )


def decided(row) -> Deciding | None:
    """Return the ray that decided a claim; None where no exponent did."""
    return deciding(row.numbers, row.interval, row.interval_of)


def short(row) -> str:
    """Return the measurement in a few words: the deciding exponent, or the first clause."""
    room = style.WIDTH - SAID - 0.04
    if (ray := decided(row)) is not None:
        forms = [*ray.forms, re.sub(r" at [^:]*: ", ": ", ray.forms[-1])]
        return plain(next((f for f in forms if _inches(f) <= room), fitted(forms[-1], room)))
    if (match := EXPONENT.match(row.interval_of)) and row.interval is not None:
        text = f"{match['what']}: {_power(match['axis'], sum(row.interval) / 2)}"
        claimed = re.search(r"at most (-?[\d.]+)$", row.prediction)
        return text + (f", claimed {_power(match['axis'], float(claimed[1]))}" if claimed else "")
    text = row.measured.partition("; ")[0]
    text = re.sub(r"^[^:]*(?: [=\d]|any T)[^:]*: ", "", text)  # where it was measured
    text = text.replace("probability at least", "P \N{GREATER-THAN OR EQUAL TO}")
    text = re.sub(r"(\d)\.0%", r"\1%", text.replace("+-", "\N{PLUS-MINUS SIGN}"))
    text = re.sub(r"(?<![\w^)])-(?=\d)", "\N{MINUS SIGN}", text)
    text = re.sub(r"\beps\b", "\N{GREEK SMALL LETTER EPSILON}", text)
    text = re.sub(r"\^(\d/\d)", r"^(\1)", text).replace("^2", "\N{SUPERSCRIPT TWO}")
    text = re.sub(r"\b([A-Z])=", r"\1 = ", re.sub(r"(\d\.\d\d)\d*e\+0*(\d+)", r"\1e\2", text))
    return plain(fitted(text, room))


def fitted(text: str, inches: float) -> str:
    """Return as much of a text as fits: up to a comma or a bracket if half of it remains, else up
    to a word."""
    if _inches(text) <= inches:
        return text
    more = " \N{HORIZONTAL ELLIPSIS}"
    for cut, end, least in ((r", | \(", "", inches / 2), (" ", more, 0)):
        places = [match.start() for match in re.finditer(cut, text)]
        for part in (LITTLE.sub("", text[:place]) for place in reversed(places)):
            whole = all(part.count(a) == part.count(z) for a, z in ("[]", "()"))
            if (whole or end) and least <= _inches(part + end) <= inches:
                return part + end
    return more.strip()


def _inches(text: str) -> float:
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

    font = FontProperties(family=style.RC["font.family"], size=SIZE)
    return TextToPath().get_text_width_height_descent(text, font, ismath=False)[0] / 72


def _power(base: str, value: float) -> str:
    """Return an exponent as a formula."""
    return f"${base}^{{{numbers.signed(value)}}}$"


FIGURE = Figure(
    "scoreboard",
    "The scoreboard of claims",
    section=VERDICTS,
    place=1,
    needs=("claims",),
    axes=("claims",),
    draw=draw,
    finding=finding,
    reading=(
        "Controls: + must hold, − must fail. Excess: over the claimed exponent; dashed: tolerance."
    ),
)
