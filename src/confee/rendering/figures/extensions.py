"""HyQue over other base algorithms: worst-case regret against B and V in each setting."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from confee.rendering import looks, numbers, style
from confee.rendering.figures import curves as shared

ROLES = {
    "hyque": ("hyque", "HyQue over ALG"),
    "narrow hyque": ("hyque_calibrated", "HyQue over ALG, smaller bonus"),
    "paced": ("ucb1", "ALG, even pace"),
    "restarted": ("random_restart", "ALG, restarts at random, told $V$"),
    "narrow restarted": ("random_restart_unaware", "ALG, restarts, smaller bonus"),
    "window": ("sw_ucb", "ALG, sliding window, told $V$"),
    "discount": ("d_ucb", "ALG, discounted, told $V$"),
    "uniform": ("uniform", "uniform play, as any ALG without feedback"),
}
"""What a policy is in its setting -> the policy of arms whose look it has, and its name."""

TITLES = {
    "linear": "linear: OFUL",
    "logistic": "logistic: GLM-UCB",
    "contextual": "contextual: FALCON",
    "episodic": "episodic: Q-UCB",
}


@style.styled
def draw(setting_worst: pd.DataFrame, setting_points: pd.DataFrame) -> Figure:
    """R/T against B and V, both logarithmic: a column a setting, a line for each role a policy has.

    `setting_worst`: setting, role, label, K, T, B, V, regret, se, seeds, eligible;
    `setting_points`: setting, label, axis, point, K, T, B, V. Dashed: the rate, from HyQue's first
    point. Hollow points enter no fit.
    """
    worst, points = setting_worst, setting_points
    settings = [name for name in TITLES if (worst["setting"] == name).any()]
    if not settings:
        return style.empty("no setting was played")
    fig = style.figure(3.3, w_pad=0.02, wspace=0.02, h_pad=0.03)
    grid = fig.subplots(2, len(settings), squeeze=False, sharey="col")
    hollow = False
    for column, setting in zip(grid.T, settings, strict=True):
        here = worst[worst["setting"] == setting]
        for ax, axis in zip(column, "BV", strict=True):
            mine = points[points["setting"] == setting]
            table, _ = shared.averaged(here, mine, axis, shared.per_round)
            roles = here.drop_duplicates("label").set_index("label")["role"]
            hollow |= _panel(ax, table.assign(role=table["label"].map(roles)))
            ax.set_xlabel(shared.SYMBOLS[axis])
        column[0].set_title(TITLES[setting], fontsize=8, pad=3)
    for row in grid:
        row[0].set_ylabel("worst-case $R/T$")
    shown = [role for role in ROLES if (worst["role"] == role).any()]
    handles = [shared.handle(looks.LOOKS[ROLES[role][0]], ROLES[role][1]) for role in shown]
    handles.append(Line2D([], [], label=r"the rate, $\propto (V/B)^{1/3}$", **style.THEORY))
    if hollow:
        handles.append(shared.hollow())
    style.legend_below(fig, handles, 2)
    return fig


def _panel(ax: Axes, table: pd.DataFrame) -> bool:
    """One setting on one axis; whether a point is hollow."""
    if table.empty:
        return False
    shared.lines(ax, table.assign(label=[ROLES[role][0] for role in table["role"]]))
    first = table[table["role"] == "hyque"].sort_values("x")
    if not first.empty:
        ax.plot(first["x"], first["guide"] * (first["y"] / first["guide"]).iloc[0], **style.THEORY)
    low = table[["y", "low"]].min(axis=None)
    numbers.log_axis(ax, "y", low / 1.2, table[["y", "high"]].max(axis=None) * 1.2, 4)
    low, high = table["x"].min(), table["x"].max()
    margin = max((high / low) ** 0.06, 1.05)
    numbers.log_axis(ax, "x", low / margin, high * margin, 3)
    return bool(not table["eligible"].all())
