"""The paper's figure of one block (its Fig. 1: n = 3, b = 2), drawn from a schedule's slots."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from confee.rendering import looks, style
from confee.rendering.catalogue import MEANS, Figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

ORDER, SLOT = 3, 2
"""The paper's block: its order n and the rounds b of a slot."""

INSTANCES = ((3, 0), (0, 1), (1, 2), (2, 4), (0, 5), (0, 6))
"""Order and first slot of its six instances."""

WIDTHS = {"query": 3.2, "idle": 3.2, "inactive": 0.9}
DOTS = 64
"""Dots that would fill the whole block."""
WORDS = {"query": "query", "idle": "non-query", "inactive": "inactive"}


@style.styled
def draw(pieces: pd.DataFrame, n: int, b: int) -> Drawing:
    """Draw which instance is active when, and when it queries: a row for each order.

    `pieces`: order, instance, start, stop (rounds of the block, from 0, half-open), kind in
    query, idle, inactive.
    """
    length = b * 2**n
    fig = style.figure(0.55 + 0.36 * (n + 1))
    ax = fig.subplots()
    for piece in pieces.itertuples():
        color = looks.PALETTE[(n - piece.order) % len(looks.PALETTE)]
        start, stop = [piece.start], [piece.stop]
        if piece.kind == "idle":  # dots that fill the piece, however long it is
            dots = max(1, round((piece.stop - piece.start) * DOTS / length))
            pitch = (piece.stop - piece.start) / dots
            start = [piece.start + (dot + 0.25) * pitch for dot in range(dots)]
            stop = [dot + pitch / 2 for dot in start]
        ax.hlines(
            [piece.order] * len(start), start, stop, color=color, linewidth=WIDTHS[piece.kind]
        )
    _words(ax, pieces, n)
    _ruler(ax, n, b, length)
    return fig


def finding(pieces: pd.DataFrame, n: int, b: int) -> str:
    """Return how many instances and queries the block has, and whether one is active in each
    round."""
    length = b * 2**n
    active = pieces[pieces["kind"] != "inactive"]
    busy = np.zeros(length, dtype=int)
    for piece in active.itertuples():
        busy[piece.start : piece.stop] += 1
    rounds = (active["stop"] - active["start"]).groupby(active["kind"]).sum()
    queries = int(rounds.get("query", 0))
    share = "each" if (busy == 1).all() else f"{(busy == 1).sum()}"
    return (
        f"Exactly one of {active['instance'].nunique()} instances is active in {share} of the "
        f"block's {length} rounds, and {queries} rounds are queries: {queries / length:.3g} per "
        f"round, where $1/b$ is {1 / b:.3g}."
    )


def _words(ax: Axes, pieces: pd.DataFrame, n: int) -> None:
    """Write each word of the paper's figure once, over the longest piece that it describes."""
    words: list[tuple[float, float, str]] = []
    first = pieces[pieces["kind"] != "inactive"].sort_values(
        ["order", "start"], ascending=[False, True]
    )
    if len(first) and first["order"].nunique() > 1:
        top = first[first["order"] == first["order"].iloc[0]]
        stop = top["start"].iloc[0]
        for piece in top.itertuples():
            stop = piece.stop if piece.start == stop else stop
        words.append((top["order"].iloc[0], (top["start"].iloc[0] + stop) / 2, "active"))
    for kind, word in WORDS.items():
        rows = pieces[pieces["kind"] == kind]
        if kind != "inactive" and len(first):
            below = rows[rows["order"] < first["order"].iloc[0]]
            rows = below if len(below) else rows
        if rows.empty:
            continue
        rows = rows.assign(length=rows["stop"] - rows["start"])
        best = rows.sort_values(["length", "order", "start"], ascending=[False, False, True])
        row = best.iloc[0]
        words.append((row["order"], (row["start"] + row["stop"]) / 2, word))
    for order, middle, word in words:
        color = looks.PALETTE[int(n - order) % len(looks.PALETTE)]
        ax.annotate(
            word,
            (middle, order),
            (0, 2.5),
            textcoords="offset points",
            ha="center",
            va="bottom",
            style="italic",
            fontsize=8,
            color=color,
        )


def _ruler(ax: Axes, n: int, b: int, length: int) -> None:
    """Number the rounds along the top, with a tick for each slot where they fit."""
    from matplotlib.ticker import FixedLocator

    step = b
    while length / step > 16:
        step *= 2
    ax.set_xlim(-0.01 * length, 1.01 * length)
    ax.set_ylim(-0.45, n + 0.75)
    ax.xaxis.tick_top()
    ax.xaxis.set_label_position("top")
    ax.set_xlabel(f"round of the block ($n = {n}$, $b = {b}$)", labelpad=4)
    ax.xaxis.set_major_locator(FixedLocator(range(0, length + 1, step)))
    if length <= 64:
        ax.xaxis.set_minor_locator(FixedLocator(range(length + 1)))
    ax.tick_params(axis="x", which="both", direction="inout")
    ax.set_yticks(range(n + 1), [f"$m = {order}$" for order in range(n + 1)])
    for order, text in enumerate(ax.get_yticklabels()):
        text.set_color(looks.PALETTE[(n - order) % len(looks.PALETTE)])
        text.set_fontsize(9)
    ax.tick_params(axis="y", length=0)
    ax.spines[["left", "bottom"]].set_visible(False)
    ax.spines["top"].set_visible(True)
    ax.grid(axis="y", visible=False)


def paper_block() -> pd.DataFrame:
    """Return the pieces of the paper's block, as the scheduler itself arranges them."""
    import pandas as pd

    from confee.policies.blocks import arrange

    orders = np.array([order for order, _ in INSTANCES], dtype=np.int64)
    starts = np.array([slot for _, slot in INSTANCES], dtype=np.int64)
    slots, quotas, _ = arrange(orders, starts)
    rows = []
    # An instance queries in its first `quota` active rounds; the block is complete, so both
    # readings of the option `quota` give these numbers.
    left = quotas * 1
    for first, end, instance in slots.tolist():
        start, stop = first * SLOT, end * SLOT
        queried = min(int(left[instance]), stop - start)
        left[instance] -= queried
        for kind, low, high in (("query", start, start + queried), ("idle", start + queried, stop)):
            if high > low:
                rows.append((int(orders[instance]), int(instance), low, high, kind))
    active = list(rows)
    for instance, (order, slot) in enumerate(INSTANCES):
        last = slot * SLOT
        for _, _, low, high, _ in sorted(row for row in active if row[1] == instance):
            if low > last:
                rows.append((order, instance, last, low, "inactive"))
            last = high
        if last < (slot + 2**order) * SLOT:
            rows.append((order, instance, last, (slot + 2**order) * SLOT, "inactive"))
    columns = ["order", "instance", "start", "stop", "kind"]
    return pd.DataFrame(rows, columns=columns).sort_values(columns[:3], ignore_index=True)


FIGURE = Figure(
    "block",
    "One block of HyQue",
    section=MEANS,
    place=1,
    own={"pieces": paper_block},
    fixed={"n": ORDER, "b": SLOT},
    claims=("density",),
    draw=draw,
    finding=finding,
    reading=(
        "A row holds the instances of an order $m$. Thick: queries. Dotted: idle (non-query) "
        "rounds of the active instance. Thin: inactive, while an instance of lower order plays."
    ),
)
