"""Normalised regret of every policy against every adversary, a panel a budget."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from confee.rendering import looks, numbers, style

COLOURS = "cividis_r"

GROUPS = {"nothing": "told $T, B$", "S": "and $S$", "V": "and $V$", "path": "the path"}
"""What a policy is told beside K -> what its group of rows is called."""

NONE = 5e-4
"""Normalised regret that counts as none: the oracle's. It has no colour."""

ROW, HEAD = 0.125, 0.2
"""Inches: a row of the map, and what is above each panel's first."""


@style.styled
def draw(heat: pd.DataFrame) -> Figure:
    """A row a policy, grouped by what it is told and sorted by its mean; a column an adversary.

    The number is R / (T (K V/B)^{1/3}), in the stationary world R / (T (K/B)^{1/2}), at the worst
    strength of that kind of adversary; a geometric mean over K and V.

    `heat`: label, told, budget, kind, still, norm.
    """
    if heat.empty:
        return style.empty("no policy met any adversary of a ranking")
    kinds = [k for k in looks.KINDS if k in set(heat["kind"])]
    kinds += sorted(set(heat["kind"]) - set(kinds))
    kinds.sort(key=lambda kind: bool(heat.loc[heat["kind"] == kind, "still"].all()))
    budgets = sorted(heat["budget"].unique())
    panels = [heat[heat["budget"] == budget] for budget in budgets]
    rows = [order(panel) for panel in panels]
    names = max(len(looks.kind_name(kind)) for kind in kinds)
    heights = [len(labels) * ROW + HEAD for labels in rows]
    fig = style.figure(sum(heights) + 0.045 * names + 0.3, h_pad=0.01, w_pad=0.03, hspace=0.0)
    axes = fig.subplots(len(panels), 1, squeeze=False, height_ratios=heights)[:, 0]
    scale = _scale(heat)
    for ax, budget, panel, labels in zip(axes, budgets, panels, rows, strict=True):
        _panel(ax, panel, labels, kinds, scale)
        ax.set_xticks([])
        ax.text(-0.6, -0.62, numbers.budget(budget), fontsize=8, ha="right")
    axes[0].xaxis.tick_top()
    axes[0].set_xticks(
        range(len(kinds)), [looks.kind_name(k) for k in kinds], rotation=90, fontsize=7
    )
    note = "numbers: $R\\;/\\;(T\\,(KV/B)^{1/3})$; stationary: $R\\;/\\;(T\\,(K/B)^{1/2})$"
    style.legend_below(fig, [style.remark(note)], 1)
    return fig


def _scale(heat: pd.DataFrame) -> LogNorm:
    """Colours of what tells policies apart: not of controls, nor of the hard instance, on which
    all have the same."""
    shown = heat[(heat["norm"] > NONE) & (heat["told"] != "path")]
    shown = shown[~shown["kind"].str.startswith("hard")]["norm"]
    return LogNorm(shown.min(), shown.max(), clip=True) if len(shown) else LogNorm(0.1, 1)


def order(panel: pd.DataFrame) -> list[str]:
    """Labels by what they are told (nothing first), then by their mean over adversaries."""
    log = panel.assign(log=np.log(panel["norm"].clip(lower=NONE)))
    table = log.groupby("label").agg(told=("told", "first"), mean=("log", "mean")).reset_index()
    table["group"] = table["told"].map(list(GROUPS).index)
    return list(table.sort_values(["group", "mean", "label"])["label"])


def _panel(ax, panel: pd.DataFrame, labels: list[str], kinds: list[str], scale: LogNorm) -> None:
    told = panel.drop_duplicates("label").set_index("label")["told"]
    for cell in panel.itertuples():
        x, y = kinds.index(cell.kind), labels.index(cell.label)
        none = cell.norm <= NONE
        colour = (1.0, 1.0, 1.0, 1.0) if none else colormaps[COLOURS](scale(cell.norm))
        box = Rectangle(
            (x - 0.5, y - 0.5), 1, 1, facecolor=colour, edgecolor="white", linewidth=0.5
        )
        ax.add_patch(box)
        dark = np.dot(colour[:3], (0.299, 0.587, 0.114)) < 0.55
        ax.text(x, y, short(cell.norm), ha="center", va="center_baseline", fontsize=6,
                color="white" if dark else style.INK)  # fmt: skip
    ax.set_yticks(range(len(labels)), [looks.display(label) for label in labels], fontsize=7)
    ax.set(xlim=(-0.5, len(kinds) - 0.5), ylim=(len(labels) - 0.5, -0.5))
    ax.grid(False)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0, pad=2)
    for group, name in GROUPS.items():
        mine = [labels.index(label) for label in labels if told[label] == group]
        if not mine:
            continue
        if min(mine) > 0:
            ax.axhline(min(mine) - 0.5, color=style.INK, linewidth=0.9)
        middle, turn = (min(mine) + max(mine)) / 2, 90 if len(mine) > 4 else 0
        ax.text(1.008, middle, name, rotation=turn, transform=ax.get_yaxis_transform(),
                va="center", fontsize=6.5)  # fmt: skip
    still = panel.drop_duplicates("kind").set_index("kind")["still"]
    edges = [x for x, kind in enumerate(kinds) if bool(still.get(kind, False))]
    if edges and min(edges) > 0:
        ax.axvline(min(edges) - 0.5, color=style.INK, linewidth=0.9)


def short(value: float) -> str:
    """Two digits: .085, .85, 8.5, 85."""
    if value <= NONE:
        return "0"
    if value >= 9.95:
        return f"{value:.0f}"
    digits = 1 if value >= 0.995 else 2 if value >= 0.0995 else 3
    return f"{value:.{digits}f}".lstrip("0")
