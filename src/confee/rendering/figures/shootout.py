"""Every policy against every adversary: who is best where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from confee.rendering import looks, numbers, style
from confee.rendering.catalogue import WHO, Figure
from confee.simulation.needs import RANKED

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Drawing

FAR = 10.0
"""Times the least regret, from which on all have the darkest colour."""

GROUPS = {"nothing": "$T, B$", "S": "+ $S$", "V": "+ $V$", "path": "path"}
"""What a policy is given beside K -> the name of its group of columns."""

NONE = 0.005
"""Normalised regret under which the number is 0."""

ALIKE = 2.0
"""Times the least regret: kinds where nobody has more tell no policies apart."""

ROW, COLUMN = 0.109, 0.3
"""Inches: the height of a cell; its width at most."""

PAPERS = ("hyque", "rexp3b")


@style.styled
def draw(heat: pd.DataFrame) -> Drawing:
    """Draw normalised regret: a column per policy, a row per adversary, a panel per budget.

    The number is R / (T (K V/B)^{1/3}), in the stationary world R / (T (K/B)^{1/2}), at the worst
    strength of that kind of adversary; the colour its ratio to the least of the row.

    `heat`: label, told, budget, kind, still, norm.
    """
    if heat.empty:
        return style.empty("no policy met any adversary of a ranking")
    table = ratios(heat)
    labels, budgets = order(table), sorted(table["budget"].unique())
    panels = [table[table["budget"] == budget] for budget in budgets]
    rows = [_kinds(panel) for panel in panels]
    heights = [len(kinds) * ROW for kinds in rows]
    names = max(len(looks.display(label)) for label in labels)
    fig = style.figure(
        sum(heights) + 0.045 * names + 0.07 * len(rows) + 0.25, h_pad=0.015, w_pad=0.02, hspace=0.0
    )
    axes = fig.subplots(len(panels), 1, squeeze=False, height_ratios=heights)[:, 0]
    for ax, budget, panel, kinds in zip(axes, budgets, panels, rows, strict=True):
        _panel(ax, panel, labels, kinds)
        ax.set_xticks([])
        ax.text(
            len(labels) + 0.2,
            0.5,
            numbers.budget(budget),
            rotation=270,
            va="center",
            fontsize=8,
            transform=ax.get_xaxis_transform(),
        )
    axes[0].xaxis.tick_top()
    axes[0].set_xticks(
        np.arange(len(labels)) + 0.5, [looks.display(n) for n in labels], rotation=90, fontsize=6.5
    )
    _groups(axes, labels, table)
    note = "numbers: $R\\;/\\;(T\\,(KV/B)^{1/3})$; stationary: $R\\;/\\;(T\\,(K/B)^{1/2})$"
    style.legend_below(fig, _legend(), 3, note)
    return fig


def ratios(heat: pd.DataFrame) -> pd.DataFrame:
    """Add `ratio`: to the least of its budget and kind among policies not given the path."""
    rivals = heat.assign(least=heat["norm"].where(heat["told"] != "path"))
    least = rivals.groupby(["budget", "kind"])["least"].transform("min").fillna(heat["norm"])
    ratio = (heat["norm"] / least.where(least > 0)).fillna(1.0)
    return heat.assign(ratio=ratio.clip(lower=1e-9))


def order(table: pd.DataFrame) -> list[str]:
    """Return labels by what they are given (nothing first), then by their mean log of `ratio`."""
    log = table.assign(log=np.log(table["ratio"]))
    means = log.groupby("label").agg(told=("told", "first"), mean=("log", "mean")).reset_index()
    means["group"] = means["told"].map(list(GROUPS).index)
    return list(means.sort_values(["group", "mean", "label"])["label"])


def _kinds(panel: pd.DataFrame) -> list[str]:
    """Return kinds in the order of `looks`; those of the stationary world come last."""
    kinds = looks.kinds_ordered(panel["kind"])
    still = set(panel.loc[panel["still"].astype(bool), "kind"])
    return sorted(kinds, key=lambda kind: kind in still)


def _panel(ax, panel: pd.DataFrame, labels: list[str], kinds: list[str]) -> None:
    from matplotlib.colors import LogNorm
    from matplotlib.patches import Rectangle

    table = panel.assign(path=panel["told"] == "path", text=panel["norm"].map(short))
    table = table.pivot(index="kind", columns="label").reindex(kinds).rename(looks.kind_name)
    ratio, texts, path = (table[row].reindex(columns=labels) for row in ("ratio", "text", "path"))
    style.squares(ax, ratio, texts, LogNorm(1, FAR, clip=True), path.eq(True), "white", 5.8)
    for winner, line in _winners(panel):
        x, y = labels.index(winner.label), kinds.index(winner.kind)
        ax.add_patch(
            Rectangle(
                (x, y),
                1,
                1,
                fill=False,
                edgecolor=style.INK,
                linestyle=line,
                linewidth=1.1,
                zorder=3,
            )
        )
    ax.set_xlim(0, max(len(labels), 4.3 / COLUMN))
    still = sum(panel.loc[panel["kind"] == kind, "still"].astype(bool).any() for kind in kinds)
    if 0 < still < len(kinds):
        ax.plot([0, len(labels)], [len(kinds) - still] * 2, color=style.INK, linewidth=0.7)


def _winners(panel: pd.DataFrame):
    """Return (row, line style) of each kind's least regret, also among those given T and B only."""
    rivals = panel[panel["told"] != "path"]
    for _, rows in rivals.groupby("kind"):
        if rows["ratio"].max() < ALIKE:
            continue
        best = rows.loc[rows["ratio"].idxmin()]
        yield best, "-"
        blind = rows[rows["told"] == "nothing"]
        if len(blind) and best["told"] != "nothing":
            yield blind.loc[blind["ratio"].idxmin()], (0, (1, 0.8))


def _groups(axes, labels: Sequence[str], table: pd.DataFrame) -> None:
    """Draw lines between groups and, below the last panel, what each is given."""
    known = table.drop_duplicates("label").set_index("label")["told"]
    under = axes[-1].get_xaxis_transform()
    for group, name in GROUPS.items():
        mine = [x for x, label in enumerate(labels) if known[label] == group]
        if not mine:
            continue
        for ax in axes:
            if mine[0] > 0:
                ax.axvline(mine[0], color=style.INK, linewidth=0.9)
        axes[-1].text(
            (mine[0] + mine[-1] + 1) / 2,
            -0.02,
            name,
            transform=under,
            fontsize=7,
            ha="center",
            va="top",
        )
    axes[-1].text(-0.3, -0.02, "given", transform=under, fontsize=7, ha="right", va="top")


def _legend() -> list:
    from matplotlib import colormaps
    from matplotlib.colors import LogNorm

    scale = LogNorm(1, FAR)
    steps = [
        style.patch(color=colormaps[style.SQUARES](scale(step)), label=f"{step:g}{more}")
        for step, more in ((1, ""), (2, " times the row's least"), (5, " times"), (FAR, " or more"))
    ]
    frames = [
        style.patch(fill=False, edgecolor=style.INK, linewidth=1.1, label="least of its row"),
        style.patch(
            fill=False,
            edgecolor=style.INK,
            linewidth=1.1,
            linestyle=(0, (1, 0.8)),
            label="least given $T, B$ only",
        ),
    ]
    return [*steps, *frames]


def short(value: float) -> str:
    """Format a number with three signs at most: .08, .85, 8.5, 85."""
    if value < NONE:
        return "0"
    if value >= 9.95:
        return f"{value:.0f}"
    return f"{value:.{1 if value >= 0.995 else 2}f}".lstrip("0")


def finding(heat: pd.DataFrame) -> str:
    """Return which policy has the least regret most often, and how far the paper's policies are
    from it."""
    table = ratios(heat[heat["told"] != "path"])
    if table["label"].nunique() < 2:
        return "No two policies met the adversaries of a ranking."
    worlds = table.groupby(["budget", "kind"])
    apart = table[worlds["ratio"].transform("max") >= ALIKE]
    still = apart["still"].astype(bool)
    sentences = []
    if (~still).any():
        sentences.append(_most_often(apart[~still], "where the world changes is most often"))
    if still.any():
        sentences.append(_most_often(apart[still], "where nothing changes is"))
    alike = table[table.groupby("kind")["ratio"].transform("max") < ALIKE]
    if len(alike):
        kinds = numbers.listed(looks.kind_name(kind) for kind in _kinds(alike))
        most = numbers.factor(alike["ratio"].max())
        sentences.append(f"All policies are within {most} times the least on: {kinds}.")
    return " ".join(sentences)


def _most_often(mine: pd.DataFrame, where: str) -> str:
    from confee.evidence.ranking import MARGIN

    firsts = []
    for budget, rows in mine.groupby("budget"):
        best = rows.loc[rows["ratio"] <= MARGIN, "label"].value_counts()
        names = numbers.listed(map(looks.display, sorted(best.index[best == best.max()])), "or")
        kinds = rows["kind"].nunique()
        count = f" (on {best.max()} of {kinds} kinds)" if kinds > 1 else ""
        firsts.append(f"{names}{count} at {numbers.budget(budget)}")
    text = f"The least regret (or within 5% of it) {where} that of {numbers.listed(firsts)}"
    for label in PAPERS:
        own = mine[mine["label"] == label]
        if len(own):
            means = np.exp(np.log(own["ratio"]).groupby(own["budget"]).mean())
            times = numbers.listed(map(numbers.factor, means))
            text += f"; that of {looks.display(label)} is {times} times the least"
    return text + "."


FIGURE = Figure(
    "shootout",
    "All policies against all adversaries",
    section=WHO,
    place=1,
    needs=("heat",),
    axes=("shootout",),
    maps=RANKED,
    draw=draw,
    finding=finding,
    reading=(
        "Columns: policies, grouped by what they are given. Numbers: regret over "
        "$T(KV/B)^{1/3}$, or $T(K/B)^{1/2}$ if stationary. Colour: relative to the row's least, "
        "which is framed. White: given the path."
    ),
)
