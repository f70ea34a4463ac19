"""HyQue over other base algorithms: worst-case regret against B and V in each setting."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from confee.rendering import looks, numbers, style
from confee.rendering.catalogue import BEYOND, Figure
from confee.rendering.figures import curves as shared

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

ROLES = {
    "hyque": (looks.look("hyque"), "HyQue"),
    "narrow hyque": (looks.look("hyque_calibrated"), "HyQue, smaller bonus"),
    "paced": (looks.look("ucb1"), "ALG"),
    "restarted": (looks.look("random_restart")._replace(marker="D"), "ALG, random restarts"),
    "narrow restarted": (
        looks.look("random_restart_unaware")._replace(marker="v"),
        "restarts, smaller bonus",
    ),
    "window": (looks.look("sw_ucb"), "ALG, sliding window"),
    "discount": (looks.look("d_ucb"), "ALG, discounted"),
    "uniform": (looks.look("uniform"), "uniform play"),
}
"""What a policy is in its setting -> its look, near that of the same idea over arms, and name."""

PAIRS = (("hyque", "restarted", ""), ("narrow hyque", "narrow restarted", "with a smaller bonus "))
"""Whose regret the finding compares: role, over that of role, and how it is called."""


BASES = {"linear": "OFUL", "logistic": "GLM-UCB", "contextual": "FALCON", "episodic": "Q-UCB"}
"""Setting -> its base algorithm, ALG in the paper."""


@style.styled
def draw(setting_worst: pd.DataFrame, setting_points: pd.DataFrame) -> Drawing:
    """Draw R/T against B and V, both logarithmic: a row per setting, a line per role.

    `setting_worst`: setting, role, label, K, T, B, V, regret, se, seeds, eligible;
    `setting_points`: setting, label, axis, point, K, T, B, V. Dashed: the rate, from HyQue's first
    point. Hollow points enter no fit.
    """
    worst, points = setting_worst, setting_points
    settings = [name for name in BASES if (worst["setting"] == name).any()]
    if not settings:
        return style.empty("no setting was played")
    fig = style.figure(
        0.3 + 1.4 * len(settings), width=style.COLUMN, w_pad=0.03, wspace=0.02, h_pad=0.03
    )
    grid = fig.subplots(len(settings), 2, squeeze=False, sharey="row", sharex="col")
    hollow = False
    for row, setting in zip(grid, settings, strict=True):
        for ax, axis in zip(row, "BV", strict=True):
            hollow |= _panel(ax, _table(worst, points, setting, axis))
        row[0].set_ylabel("worst-case $R/T$")
        row[0].set_title(f"{setting}, ALG = {BASES[setting]}", loc="left", pad=4)
    _spans(grid, worst, points, settings)
    shown = [role for role in ROLES if (worst["role"] == role).any()]
    handles = [shared.handle(*ROLES[role]) for role in shown]
    handles.append(style.sample(label=r"the rate, $\propto (V/B)^{1/3}$", **style.THEORY))
    if hollow:
        handles.append(shared.hollow())
    style.legend_below(fig, handles, 2)
    return fig


def _spans(grid, worst: pd.DataFrame, points: pd.DataFrame, settings: list[str]) -> None:
    """Give the panels of a column one horizontal axis, labelled below the last."""
    for column, axis in zip(grid.T, "BV", strict=True):
        x = [x for name in settings for x in _table(worst, points, name, axis)["x"]]
        if x:
            numbers.log_axis(column[-1], "x", *numbers.widened(min(x), max(x)), 5)
        column[-1].set_xlabel(shared.SYMBOLS[axis])


def _table(worst: pd.DataFrame, points: pd.DataFrame, setting: str, axis: str) -> pd.DataFrame:
    """Return the averaged curves of one setting on one axis, with `role`.

    Cells at V = 0, which tell how much is paid where nothing changes, are no points of a curve.
    """
    here = worst[worst["setting"] == setting]
    mine = points[(points["setting"] == setting) & (points["V"] > 0)]
    table, _ = shared.averaged(here, mine, axis)
    roles = here.drop_duplicates("label").set_index("label")["role"]
    return table.assign(role=table["label"].map(roles))


def finding(setting_worst: pd.DataFrame, setting_points: pd.DataFrame) -> str:
    """Return HyQue's regret over that of the restarted algorithm at the largest budget."""
    settings = [name for name in BASES if (setting_worst["setting"] == name).any()]
    tables = {name: _table(setting_worst, setting_points, name, "B") for name in settings}
    parts = []
    for role, other, what in PAIRS:
        both = [t for t in tables.values() if {role, other} <= set(t["role"])]
        times = sorted(filter(None, (_ratio(table, role, other) for table in both)))
        if times:
            ends = dict.fromkeys(numbers.factor(*factor) for factor in (times[0], times[-1]))
            parts.append(f"{what}{' to '.join(ends)} times")
    if not parts:
        return "No setting has HyQue beside its restarted base algorithm."
    return (
        "At the largest budget HyQue's regret is "
        f"{', '.join(parts)} that of its base algorithm ALG with random restarts."
    )


def _ratio(table: pd.DataFrame, role: str, other: str) -> tuple[float, float, float] | None:
    """Return R/T of one role over that of another at their largest common x, with its interval."""
    curve, two = (table[table["role"] == name].set_index("x") for name in (role, other))
    x = max(set(curve.index) & set(two.index), default=None)
    if x is None:
        return None
    a, b = curve.loc[x], two.loc[x]
    ratio = a["y"] / b["y"]
    spread = math.exp(math.hypot(math.log(a["high"] / a["y"]), math.log(b["high"] / b["y"])))
    return ratio, ratio / spread, ratio * spread


def _panel(ax: Axes, table: pd.DataFrame) -> bool:
    """Draw one setting on one axis; return whether a point is hollow."""
    if table.empty:
        return False
    shared.lines(ax, table.assign(label=table["role"]), {r: look for r, (look, _) in ROLES.items()})
    first = table[table["role"] == "hyque"].sort_values("x")
    if not first.empty:
        ax.plot(first["x"], first["guide"] * (first["y"] / first["guide"]).iloc[0], **style.THEORY)
    low = table[["y", "low"]].min(axis=None)
    numbers.log_axis(ax, "y", low / 1.2, table[["y", "high"]].max(axis=None) * 1.2, 4)
    return bool(not table["eligible"].all())


FIGURE = Figure(
    "extensions",
    "HyQue over other base algorithms",
    section=BEYOND,
    place=1,
    needs=("setting_worst", "setting_points"),
    axes=("asked:extension",),
    claims=("extension",),
    draw=draw,
    finding=finding,
    reading=(
        "A row for each setting, with 95 % CIs. ALG with random restarts, a window or discounting "
        "knows $V$. Hollow: saturated."
    ),
)
