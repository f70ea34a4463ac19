"""Every policy against every adversary: who is best where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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

GROUPS = {"nothing": "only $T, B$", "S": "+ changes", "V": "+ $V$", "path": "path"}
"""What a policy is given beside K -> the name of its group of columns."""

ALIKE = 2.0
"""Times the least regret: kinds where nobody has more tell no policies apart."""

ROW, COLUMN = 0.103, 0.3
"""Inches: the height of a cell; its width at most."""

PATH = "#eeeeee"
"""The colour of policies that are given the path, whose regret competes with nobody's."""

PAPERS = ("hyque", "rexp3b")


@style.styled
def draw(heat: pd.DataFrame) -> Drawing:
    """Draw how far each policy is from the least regret: a column per policy, a row per adversary,
    a panel per budget.

    The colour is the ratio to the least of the row. The number at the right is that least, over
    T (K V/B)^{1/3}, in the stationary world over T (K/B)^{1/2}, at the worst strength of that kind
    of adversary. Policies with options of their own are shown where one of them is the least.

    `heat`: label, told, budget, kind, still, norm.
    """
    if heat.empty:
        return style.empty("no policy met any adversary of a ranking")
    table = plain(ratios(heat))
    labels, budgets = order(table), sorted(table["budget"].unique())
    panels = [table[table["budget"] == budget] for budget in budgets]
    rows = [_kinds(panel) for panel in panels]
    heights = [len(kinds) * ROW for kinds in rows]
    names = max(len(looks.display(label)) for label in labels)
    fig = style.figure(
        sum(heights) + 0.05 * names + 0.17 * len(rows) + 0.25, h_pad=0.015, w_pad=0.02, hspace=0.0
    )
    axes = fig.subplots(len(panels), 1, squeeze=False, height_ratios=heights)[:, 0]
    for ax, budget, panel, kinds in zip(axes, budgets, panels, rows, strict=True):
        _panel(ax, panel, labels, kinds)
        ax.set_ylabel(numbers.budget(budget), fontsize=9)
    axes[0].xaxis.tick_top()
    axes[0].set_xticks(
        np.arange(len(labels)) + 0.5, [looks.display(n) for n in labels], rotation=90, fontsize=7.5
    )
    _groups(axes, labels, table)
    style.legend_below(fig, _legend(), 3, "regret over the least of the row")
    return fig


def plain(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of policies without options of their own, and of those that are the least
    somewhere."""
    least = set(table.loc[(table["ratio"] <= 1) & (table["told"] != "path"), "label"])
    return table[~table["label"].str.contains("(", regex=False) | table["label"].isin(least)]


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
    from matplotlib import colormaps
    from matplotlib.colors import LogNorm
    from matplotlib.patches import Rectangle

    rivals = panel[panel["told"] != "path"]
    ratio = rivals.pivot(index="kind", columns="label", values="ratio")
    edges = np.arange(len(labels) + 1), np.arange(len(kinds) + 1)
    ax.pcolormesh(
        *edges,
        np.ma.masked_invalid(ratio.reindex(index=kinds, columns=labels)),
        norm=LogNorm(1, FAR, clip=True),
        cmap=colormaps[style.SQUARES].with_extremes(bad=PATH),
        edgecolors="white",
        linewidth=0.4,
    )
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
    ax.set_xlim(0, max(len(labels), 4.0 / COLUMN))
    ax.set_ylim(len(kinds), 0)
    ax.set_yticks(np.arange(len(kinds)) + 0.5, map(looks.explained, kinds), fontsize=7.5)
    ax.set_xticks([])
    ax.tick_params(length=0, pad=2)
    ax.spines[:].set_visible(False)
    ax.grid(visible=False)
    for y, kind in enumerate(kinds):
        least = rivals.loc[rivals["kind"] == kind, "norm"].min()
        if np.isfinite(least):
            text = numbers.two(least)
            ax.text(len(labels) + 0.3, y + 0.5, text, va="center_baseline", fontsize=7)
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
                ax.axvline(mine[0], color=style.INK, linewidth=1.2)
        axes[-1].text(
            (mine[0] + mine[-1] + 1) / 2,
            -0.02,
            name,
            transform=under,
            fontsize=8,
            ha="center",
            va="top",
        )
    axes[-1].text(-0.3, -0.02, "given", transform=under, fontsize=8, ha="right", va="top")
    over = axes[0].get_xaxis_transform()
    axes[0].text(len(labels) + 0.3, 1.02, "least", transform=over, fontsize=7.5, va="bottom")


def _legend() -> list:
    from matplotlib import colormaps
    from matplotlib.colors import LogNorm

    scale = LogNorm(1, FAR)
    steps = [
        style.patch(color=colormaps[style.SQUARES](scale(step)), label=text)
        for step, text in ((1, "1"), (3, "3"), (FAR, f"{FAR:g} or more"))
    ]
    frames = [
        style.patch(fill=False, edgecolor=style.INK, linewidth=1.1, label="least"),
        style.patch(
            fill=False,
            edgecolor=style.INK,
            linewidth=1.1,
            linestyle=(0, (1, 0.8)),
            label="least, given only $T$ and $B$",
        ),
    ]
    return [*steps, *frames, style.patch(color=PATH, label="given the path, or not played")]


def finding(heat: pd.DataFrame) -> str:
    """Return which policy has the least regret most often, and how far the paper's policies are
    from it."""
    from confee.evidence.ranking import MARGIN

    table = ratios(heat[heat["told"] != "path"])
    if table["label"].nunique() < 2:
        return "No two policies met the adversaries of a ranking."
    most = table.groupby(["budget", "kind"])["ratio"].transform("max")
    apart = table[most >= ALIKE]
    if apart.empty:
        return f"All policies are within {numbers.factor(most.max())} times the least regret."
    still = apart["still"].astype(bool)
    moving, where = (apart, "") if still.all() else (apart[~still], "Where means change, ")
    firsts: dict[str, list[str]] = {}
    for budget, rows in moving.groupby("budget"):
        best = rows.loc[rows["ratio"] <= MARGIN, "label"].value_counts()
        names = numbers.listed(map(name, sorted(best.index[best == best.max()])), "or")
        firsts.setdefault(names, []).append(numbers.budget(budget))
    winners = [f"{names} {where_of(at, firsts)}" for names, at in firsts.items()]
    text = f"{where}the least regret is most often that of {numbers.listed(winners)}"
    means = np.log(moving["ratio"]).groupby([moving["label"], moving["budget"]]).mean()
    return f"{text[0].upper()}{text[1:]}{behind(np.exp(means))}."


def where_of(budgets: Sequence[str], others: Mapping[str, Sequence[str]]) -> str:
    """Return at which budgets a name of `others` stands: `at every budget` if it stands alone."""
    alone = len(others) == 1 and len(budgets) > 1
    return "at every budget" if alone else f"at {numbers.listed(budgets)}"


def behind(ratio: pd.Series) -> str:
    """Return how many times the least the paper's policies have, from ratios by label and
    budget."""
    parts = []
    for label in PAPERS:
        if label in ratio:
            ends = dict.fromkeys(map(numbers.factor, (ratio[label].min(), ratio[label].max())))
            parts.append(f"{looks.display(label)} incurs {' to '.join(ends)} times as much")
    return f"; {', '.join(parts)}" if parts else ""


def name(label: str) -> str:
    """Return the name of a label without a comma, which separates names in a sentence."""
    return looks.display(label).replace(", ", " ")


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
        "Colour: regret over the least of the row. Right: that least over $T(KV/B)^{1/3}$, or "
        "$T(K/B)^{1/2}$ if stationary. Bottom: what policies are given (changes: their number)."
    ),
)
