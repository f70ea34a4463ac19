"""Query pace: how far the queries run behind, or ahead of, an even spending of the budget."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from confee.core.size import Size
from confee.paper import theory
from confee.rendering import looks, numbers, style
from confee.rendering.catalogue import MEANS, Figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

SIZE = Size(K=2, T=100_000, B=10_000, V=2)
"""Small enough to note every query, large enough for a dozen blocks."""

SHADE = "#eef1f5"
MOST = 3000
"""Steps drawn as steps; of more, so many points."""


@style.styled
def draw(
    trace: pd.DataFrame, blocks: Sequence[int], T: int, B: int, threshold: bool = True
) -> Drawing:
    """Draw B'(t) beside tB/T, and below it their difference; alternate blocks are shaded.

    `trace`: t, queries (made up to and with round t: a row a query will do), and `label` where
    several are compared. `blocks`: first rounds of the blocks. `threshold` draws HyQue's
    on-demand threshold, -min{T/sqrt(B), 2^n, T - t}: an idle round below it becomes a query.
    """
    trace = trace if "label" in trace else trace.assign(label="hyque")
    fig = style.figure(3.2, style.COLUMN)
    top, low = fig.subplots(2, 1, sharex=True, height_ratios=[1, 1.25])
    starts = [*sorted(blocks), T + 1]
    for ax in (top, low):
        for start, stop in list(pairwise(starts))[::2]:
            ax.axvspan(start - 1, stop - 1, color=SHADE, linewidth=0, zorder=0)
        ax.grid(axis="x", visible=False)
    top.plot([0, T], [0, B], zorder=3, **style.THEORY)
    low.axhline(0, zorder=3, **style.THEORY)
    drawn_as = looks.looks(trace["label"])
    labels = looks.ordered(trace["label"])
    for label in labels:
        t, queries = _steps(trace[trace["label"] == label], T)
        keep: dict[str, Any] = {"color": drawn_as[label].color, "linewidth": 1.1, "zorder": 2}
        top.plot(t, queries, **keep)
        low.plot(t, queries - t * (B / T), **keep)
    drawn = threshold and _threshold(low, starts, T, B)
    _words(top, starts, T, B)
    top.set_ylabel("queries\nso far")
    low.set_ylabel("queries ahead\nof an even pace")
    low.set_xlabel("round $t$")
    low.set_xlim(0, T)
    top.set_ylim(0, B * 1.12)
    for ax in (top, low):
        ax.ticklabel_format(style="sci", scilimits=(-3, 4), useMathText=True)
    handles: list = [
        style.sample(color=drawn_as[label].color, label=looks.display(label)) for label in labels
    ]
    handles.append(style.sample(label="even pace, $tB/T$", **style.THEORY))
    if drawn:
        handles.append(style.sample(label="below this: a query on demand", **style.BOUND))
    handles.append(style.patch(color=SHADE, label="every other block"))
    style.legend_below(fig, handles, 2)
    return fig


def finding(
    trace: pd.DataFrame, blocks: Sequence[int], T: int, B: int, threshold: bool = True
) -> str:
    """Return how far each label runs ahead of the pace and behind it, and how many queries it
    makes."""
    trace = trace if "label" in trace else trace.assign(label="hyque")
    sentences = []
    for label in looks.ordered(trace["label"]):
        t, queries = _corners(trace[trace["label"] == label], T)
        pace = t * (B / T)
        ahead, behind = (queries - pace).max(), (pace[1:] - queries[:-1]).max()
        sentences.append(
            f"{looks.display(label)} makes {queries[-1]:.0f} of its $B$ = {numbers.number(B)} "
            f"queries, and runs at most {ahead:.0f} ahead of an even pace and {behind:.0f} behind "
            f"it ($T/\\sqrt{{B}}$ is {T / math.sqrt(B):.0f})."
        )
    return " ".join(sentences) if sentences else "No query was made."


def _corners(trace: pd.DataFrame, T: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (t, queries) at each query, at the start and at round T."""
    trace = trace.sort_values("t")
    queries = np.concatenate([[0.0], trace["queries"].to_numpy(float)])
    queries = np.append(queries, queries[-1])
    return np.concatenate([[0.0], trace["t"].to_numpy(float), [float(T)]]), queries


def _steps(trace: pd.DataFrame, T: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of the step function, from (0, 0) to T; points on it where they are too
    many."""
    t, queries = _corners(trace, T)
    if len(t) > MOST:
        keep = np.unique(np.linspace(0, len(t) - 1, MOST).round().astype(int))
        return t[keep], queries[keep]
    return np.repeat(t, 2)[1:], np.repeat(queries, 2)[:-1]


def orders(starts: Sequence[int], b: int) -> list[int]:
    """Return the order of each block: one more than the last, but 0 where a restart cut that
    one."""
    ordered: list[int] = []
    order = 0
    for start, stop in pairwise(starts):
        ordered.append(order)
        order = order + 1 if stop - start >= b * 2**order else 0
    return ordered


def _threshold(ax: Axes, starts: Sequence[int], T: int, B: int) -> bool:
    """Draw how far behind the pace HyQue may fall in each block; return whether there is any
    block."""
    times: list[float] = []
    depth: list[float] = []
    block_orders = orders(starts, theory.slot_length(T, B))
    for n, (start, stop) in zip(block_orders, pairwise(starts), strict=True):
        allowed = min(T / math.sqrt(B), 2.0**n)
        kink = T - allowed
        places = [start - 1, kink, stop - 1] if start < kink < stop - 1 else [start - 1, stop - 1]
        for t in places:
            times.append(t)
            depth.append(-min(allowed, T - t))
    if not times:
        return False
    ax.plot(times, depth, zorder=3, **style.BOUND)
    return True


def _words(ax: Axes, starts: Sequence[int], T: int, B: int) -> None:
    """Write the order of each block that is wide enough."""
    block_orders = orders(starts, theory.slot_length(T, B))
    for n, (start, stop) in zip(block_orders, pairwise(starts), strict=True):
        if stop - start > 0.15 * T:
            ax.text(
                (start + stop) / 2,
                B * 1.1,
                f"order {n}",
                ha="center",
                va="top",
                fontsize=8,
                color=style.GREY,
            )


def first_rounds() -> list[int]:
    """Return the first rounds of HyQue's blocks at SIZE."""
    T, B = SIZE.T, SIZE.B
    b = theory.slot_length(T, B)
    last, _ = theory.last_block(T, B)
    return [b * (2**n - 1) + 1 for n in range(last + 1)]


def simulated() -> pd.DataFrame:
    """Return B'(t) of one run of HyQue at SIZE, at each of its queries."""
    import pandas as pd

    from confee.simulation.cells import cell, opponent
    from confee.simulation.trace import query_rounds

    against = opponent({"name": "switching", "gap": 0.25}, SIZE)
    rounds = query_rounds(cell({"name": "hyque"}, SIZE), against, seed=0)
    return pd.DataFrame({"t": rounds, "queries": np.arange(1, len(rounds) + 1)})


FIGURE = Figure(
    "pace",
    "The pace of the queries",
    section=MEANS,
    place=2,
    own={"trace": simulated, "blocks": first_rounds},
    fixed={"T": SIZE.T, "B": SIZE.B},
    claims=("hyque-budget", "on-demand-free"),
    draw=draw,
    finding=finding,
    reading=(
        "One run. HyQue plays blocks of $2^n$ slots, $n$ being the order. Where it falls below the "
        "dotted line, an idle round becomes a query."
    ),
)
