"""Where regret comes from: the parts of the decomposition, policy by policy."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from confee import theory
from confee.rendering import looks, numbers, style
from confee.rendering.cells import at, centre, chosen

PARTS = {
    "regret_query": ("query rounds", "#0072B2", ""),
    "regret_error": ("idle, error", "#E69F00", "//////"),
    "regret_drift": ("idle, drift", "#CC79A7", "....."),
    "regret_no_data": ("no data", "#BBBBBB", "xxxxx"),
}


@style.styled
def draw(regret: pd.DataFrame, worst: pd.DataFrame, points: pd.DataFrame, choose: int) -> Figure:
    """Bars of R_query, R_error, R_drift and R_no_data over the rate; parts can be negative.

    `regret`: label, K, T, B, V, adversary, seed, regret, regret_query, regret_error, regret_drift,
    regret_no_data; those at the centre of the sweeps against the adversary chosen as worst are
    shown, phases and seeds averaged. `worst`, `points`, `choose` as for the landscape.
    """
    middle = centre(points)
    rows = at(regret, middle).dropna(subset=["regret_error"])  # none where rules are played
    rows = chosen(rows[rows["V"] > 0], at(worst, middle), choose)
    if rows.empty:
        return style.empty("no regret at the centre")
    rate = np.array([theory.rate(r.K, r.T, r.B, r.V) for r in rows.itertuples()])
    values = rows[["regret", *PARTS]].div(rate, axis=0).assign(label=rows["label"])
    labels = looks.ordered(rows["label"])
    means = values.groupby("label").mean().loc[labels]
    fig = style.figure(0.6 + 0.19 * len(labels))
    ax = fig.subplots()
    place = np.arange(len(labels))[::-1]
    right, left = np.zeros(len(labels)), np.zeros(len(labels))
    for part, (_, color, hatch) in PARTS.items():
        width = means[part].to_numpy(float)
        start = np.where(width >= 0, right, left)
        ax.barh(place, width, left=start, height=0.7, color=color, hatch=hatch, edgecolor="white",
                linewidth=0.3)  # fmt: skip
        right, left = right + np.maximum(width, 0), left + np.minimum(width, 0)
    by_seed = values.assign(seed=rows["seed"]).groupby(["label", "seed"])["regret"].mean()
    for y, label in zip(place, labels, strict=True):
        low, high = numbers.t_interval(by_seed[label])
        middle = float(means.loc[label, "regret"])
        # Without spread the two means differ in their last digit, either way.
        reach = np.maximum(np.nan_to_num([[middle - low], [high - middle]]), 0)
        ax.errorbar([middle], [y], xerr=reach,
                    color=style.INK, marker="d", markersize=3.4, capsize=2, elinewidth=0.9,
                    markeredgecolor="white", markeredgewidth=0.4, zorder=5)  # fmt: skip
    ax.axvline(0, color=style.INK, linewidth=0.6)
    ax.set_yticks(place, [looks.display(label) for label in labels])
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="y", visible=False)
    ax.set_xlabel("$R\\;/\\;(T\\,(KV/B)^{1/3})$ at the centre, chosen worst adversary")
    handles: list = [
        Patch(facecolor=color, hatch=hatch, edgecolor="white", linewidth=0.3, label=name)
        for name, color, hatch in PARTS.values()
    ]
    handles.append(Line2D([], [], color=style.INK, marker="d", markersize=3.4, linewidth=0.9,
                          label="sum, 95 %"))  # fmt: skip
    style.legend_below(fig, handles, 5)
    return fig
