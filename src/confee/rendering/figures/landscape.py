"""Regret over the grid of adversaries: who hurts a policy most, and at which strength."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from confee import theory
from confee.evidence.strength import gaps, strength_columns
from confee.rendering import looks, numbers, style
from confee.rendering.cells import CELL, at, centre


@style.styled
def draw(regret: pd.DataFrame, worst: pd.DataFrame, points: pd.DataFrame, choose: int) -> Figure:
    """A panel a policy: regret over the rate against the adversary's gap over the critical gap.

    `regret`: label, K, T, B, V, adversary, seed, regret, adversary.*; seeds below `choose` at the
    centre of the sweeps (`points`) are shown, phases averaged. Of an adversary's further parameters
    the worst is shown. Stars stand at the strength chosen as worst in `worst` (label, K, T, B, V,
    adversary, strength: gap over critical gap, regret) and its regret on fresh seeds, of all
    phases that chose alike.
    """
    middle = centre(points)
    worst = at(worst, middle)
    table = _table(at(regret[regret["seed"] < choose], middle))
    zeros = [name for name, rows in table.groupby("label") if not (rows["y"] > 0).any()]
    table = table[~table["label"].isin(zeros) & (table["y"] > 0)]
    if table.empty:
        return style.empty("no regret at the centre")
    import seaborn  # 4 s of CPU: only for those who draw this

    labels = looks.ordered(table["label"])
    by_label = {label: table[table["label"] == label] for label in labels}
    stars = {label: _stars(worst, label) for label in labels}
    adversaries = sorted(set(table["adversary"]))
    hues = _spread(looks.PALETTE, adversaries)
    markers = _spread(looks.MARKERS, adversaries)
    columns = min(4, len(labels)) if len(labels) != 5 else 3
    rows = math.ceil(len(labels) / columns)
    height = 0.5 + (1.25 if columns > 2 else 2.0) * rows
    fig = style.figure(height, w_pad=0.02, h_pad=0.03, wspace=0.02, hspace=0.02)
    axes = fig.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for place, ax in enumerate(axes.flat):
        if place >= len(labels):
            ax.set_visible(False)
            continue
        label = labels[place]
        mine = by_label[label]
        seaborn.lineplot(
            mine, x="x", y="y", hue="adversary", hue_order=adversaries, palette=hues,
            style="adversary", style_order=adversaries, markers=markers, dashes=False,
            errorbar=_interval, err_style="bars", err_kws={"elinewidth": 0.8, "capsize": 1.2},
            markersize=3.2, markeredgewidth=0, linewidth=0.9, legend=False, ax=ax,
        )  # fmt: skip
        for x, y, adversary in stars[label]:
            ax.plot(
                [x], [y], marker="*", markersize=7.5, markerfacecolor="white",
                color=hues.get(adversary, style.INK), markeredgewidth=1.0, zorder=5,
            )  # fmt: skip
        ax.set_title(looks.display(label), fontsize=8, pad=3)
        ax.set(xlabel="", ylabel="")
    xs = [x for some in stars.values() for x, _, _ in some]
    low, high = min([table["x"].min(), *xs]), max([table["x"].max(), *xs])
    numbers.log_axis(axes[0, 0], "x", low / 1.2, high * 1.2, 4)
    means = table.groupby(["label", "adversary", "x"])["y"].mean()
    numbers.log_axis(axes[0, 0], "y", means.min() / 1.3, means.max() * 1.4, 5)
    for column in range(columns):  # the last row may be short: label the lowest panel of each
        lowest = max(row for row in range(rows) if axes[row, column].get_visible())
        axes[lowest, column].tick_params(axis="x", labelbottom=True)
    fig.supylabel("$R\\;/\\;(T\\,(KV/B)^{1/3})$", fontsize=9)
    handles = [
        Line2D([], [], color=hues[name], marker=markers[name], markersize=3.6, linewidth=0.9,
               label=name.replace("_", " "))
        for name in adversaries
    ]  # fmt: skip
    handles.append(Line2D([], [], color=style.INK, marker="*", markersize=7.5, linestyle="none",
                          markerfacecolor="white", label="chosen worst, fresh seeds"))  # fmt: skip
    handles += style.no_regret(zeros)
    title = "strength of the adversary: its gap over the critical gap $(KV/B)^{1/3}$"
    style.legend_below(fig, handles, 4, title)
    return fig


def _spread(choices: list[str], names: list[str]) -> dict[str, str]:
    return {name: choices[place % len(choices)] for place, name in enumerate(names)}


def _interval(values: pd.Series) -> tuple[float, float]:
    low, high = numbers.t_interval(values)
    middle = float(np.mean(values))
    return (middle, middle) if math.isnan(low) else (max(low, middle / 50), high)


def _table(regret: pd.DataFrame) -> pd.DataFrame:
    """label, adversary, seed, x, y: one row for each seed of each strength, phases averaged."""
    rows = regret[regret["V"] > 0].copy()
    if rows.empty:
        return pd.DataFrame(columns=["label", "adversary", "seed", "x", "y"])
    cells = [(r.K, r.T, r.B, r.V) for r in rows[CELL].itertuples()]
    critical = np.array([theory.critical_gap(K, B, V) for K, _T, B, V in cells])
    rows["y"] = rows["regret"].to_numpy(float) / [theory.rate(*cell) for cell in cells]
    rows["ratio"] = gaps(rows) / critical
    rows = rows[rows["ratio"] > 0]
    extra = [c for c in rows.columns if c.startswith("adversary.") and c not in strength_columns()]
    others = ["" for _ in range(len(rows))]
    for name in extra:
        others = [f"{have}|{value}" for have, value in zip(others, rows[name], strict=True)]
    rows["others"] = others
    # The grid is the same in every phase relative to the critical gap, but for its ceiling:
    # the rank of a strength in its cell says which strengths of the phases belong together.
    family = [*CELL, "adversary", "others"]
    rows["rank"] = rows.groupby(family)["ratio"].rank(method="dense")
    place = ["label", "adversary", "others", "rank"]
    rows["x"] = np.exp(np.log(rows["ratio"]).groupby([rows[name] for name in place]).transform(
        "mean"))  # fmt: skip
    means = rows.groupby([*place, "x", "seed"], as_index=False)["y"].mean()
    level = means.groupby([*place, "x"], as_index=False)["y"].mean()
    level["near"] = level["x"].map(lambda x: f"{x:.3g}")
    top = level.loc[level.groupby(["label", "adversary", "near"])["y"].idxmax()]
    means = means.merge(top[[*place, "x"]], on=[*place, "x"])
    return means[["label", "adversary", "seed", "x", "y"]]


def _stars(worst: pd.DataFrame, label: str) -> list[tuple[float, float, str]]:
    """Where the chosen worst stands: (x, y, adversary)."""
    rows = worst[(worst["label"] == label) & (worst["regret"] > 0) & (worst["strength"] > 0)]
    rate = [theory.rate(r.K, r.T, r.B, r.V) for r in rows.itertuples()]
    rows = rows.assign(y=rows["regret"] / rate, near=rows["strength"].map("{:.2g}".format))
    return [
        (math.exp(np.log(group["strength"]).mean()), math.exp(np.log(group["y"]).mean()), str(name))
        for (name, _), group in rows.groupby(["adversary", "near"])
    ]
