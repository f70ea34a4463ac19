"""The style of all figures: sizes, fonts, lines of theory, legends.

Intervals are always drawn, theory is dashed, the lower bound dotted.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np

from confee.core.errors import ConfeeError

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

WIDTH = 5.5
"""Inches: the text width of a NeurIPS paper."""

COLUMN = 4.4
"""Inches: figures of this width stay legible in a column of 3.4 inches, and on a phone."""

INK = "#222222"
GREY = "#777777"
THEORY: dict[str, Any] = {"color": INK, "linestyle": (0, (4, 2.2)), "linewidth": 1.0}
BOUND: dict[str, Any] = {"color": INK, "linestyle": (0, (1, 1.6)), "linewidth": 1.2}
SQUARES = "cividis_r"
DARK = 0.41
"""The colour map of squares, and the position in it from which numbers are white."""

RC: Any = {
    # STIX comes with matplotlib and matches the paper's Times on every machine.
    "font.family": "STIXGeneral",
    "mathtext.fontset": "stix",
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.title_fontsize": 8,
    "legend.frameon": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
    "xtick.color": INK,
    "ytick.color": INK,
    "text.color": INK,
    "lines.linewidth": 1.1,
    "lines.markersize": 4.2,
    "figure.dpi": 150,
    "savefig.dpi": 200,
    "savefig.bbox": None,
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "svg.hashsalt": "confee",
    "text.usetex": False,
    "axes.unicode_minus": True,
    "axes.formatter.use_mathtext": True,
}

P = ParamSpec("P")
R = TypeVar("R")


def check_font() -> None:
    """Raise ConfeeError if matplotlib does not find the font: it would silently take another one,
    in which texts have other widths."""
    import matplotlib
    from matplotlib import font_manager

    family = RC["font.family"]
    try:
        font_manager.findfont(family, fallback_to_default=False)
    except ValueError:
        place = matplotlib.get_cachedir()
        raise ConfeeError(
            f"font={family}: not found; delete matplotlib's list of fonts in {place}"
        ) from None


@contextmanager
def applied() -> Iterator[None]:
    """Apply the style inside a `with`; the caller's settings stay as they were."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(RC)
        yield


def styled(draw: Callable[P, R]) -> Callable[P, R]:
    """Decorate a drawing function to run under the style."""

    @functools.wraps(draw)
    def inner(*args: P.args, **kwargs: P.kwargs) -> R:
        with applied():
            return draw(*args, **kwargs)

    return inner


def figure(height: float, width: float = WIDTH, **pads: float) -> Figure:
    """Return an empty figure of this height and width (inches), outside of pyplot."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    return Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(**pads))  # type: ignore[arg-type]


def bare(height: float) -> Figure:
    """Return such a figure without a layout engine: what is in it has its own place."""
    from matplotlib.figure import Figure

    return Figure(figsize=(WIDTH, height))


def empty(note: str) -> Figure:
    """Return a small figure that says why there is nothing to draw."""
    fig = figure(0.8)
    fig.text(0.5, 0.5, note, ha="center", va="center", color=GREY, style="italic")
    return fig


def squares(
    ax, values, texts, scale, plain, face: str, size: float, map: str = SQUARES, dark: float = DARK
) -> None:
    """Draw the squares of a table: `texts` on colours of `values`, or on `face` where `plain`.

    `map` is a colour map, and `dark` the position in it from which numbers are white.
    """
    import seaborn as sns  # imported late: it takes a third of a second

    deep = values > scale.inverse(dark)
    for shown, colours, ink in (
        (plain, [face], GREY),
        (~plain & deep, map, "white"),
        (~plain & ~deep, map, INK),
    ):
        sns.heatmap(
            values,
            norm=scale,
            vmin=scale.vmin,
            vmax=scale.vmax,
            mask=~shown,
            cmap=colours,
            linewidths=0.5,
            cbar=False,
            xticklabels=True,
            yticklabels=True,
            ax=ax,
            annot=texts,
            fmt="",
            annot_kws={"size": size, "color": ink, "va": "center_baseline"},
        )
    for text in ax.texts:  # laying out a thousand texts takes seconds
        text.set_in_layout(False)
    ax.grid(False)
    ax.set(xlabel="", ylabel="")
    ax.tick_params(length=0, pad=2, rotation=0, labelsize=size + 0.7)


def legend_below(fig: Figure, handles: list, columns: int, title: str | None = None) -> None:
    """Add a legend below the axes in at most so many columns; the figure grows to hold it."""
    if not handles:
        return
    texts = [handle.get_label() for handle in handles]
    width, height = fig.get_size_inches()
    while columns > 1 and _legend_width(texts, columns) > width:
        columns -= 1
    rows = math.ceil(len(handles) / columns) + (title is not None)
    fig.set_size_inches(width, height + 0.155 * rows + 0.05)
    fig.legend(
        handles=handles,
        loc="outside lower center",
        ncols=columns,
        title=title,
        handlelength=2.8,
        columnspacing=1.6,
        labelspacing=0.35,
        borderaxespad=0.2,
    )


def _legend_width(texts: list[str], columns: int) -> float:
    """Return the width in inches, roughly: the longest text of each column at 8 points."""
    parts = np.array_split(texts, columns)  # as the legend does
    return sum(0.052 * max(map(len, part)) + 0.58 for part in parts if len(part))


def sample(**look: Any) -> Line2D:
    """Return a line of the legend, and its sample; `look` as of a Line2D, with a `label`."""
    from matplotlib.lines import Line2D

    return Line2D([], [], **look)


def point(label: str, **look: Any) -> Line2D:
    """Return a line of the legend whose sample is a grey point without a line."""
    return sample(**{"color": GREY, "marker": "o", "linestyle": "none", "label": label, **look})


def patch(**look: Any) -> Patch:
    """Return a line of the legend whose sample is an area."""
    from matplotlib.patches import Patch

    return Patch(**look)


def remark(text: str) -> Line2D:
    """Return a line of the legend without a sample: what the axes cannot show."""
    return sample(linestyle="none", label=text)
