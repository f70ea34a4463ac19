"""Figures of your own runs in one line: matplotlib figures that seaborn draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from confee.core import schema
from confee.core.errors import ConfeeError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

AXES = {"B": ["K", "V", "T/B"], "V": ["K", "T", "B"], "K": ["T", "B", "V"], "T": ["K", "V", "T/B"]}
"""What stays fixed in a panel along each axis."""
VALUES, SPAN = 4, 8
"""A panel shows policies with this many values of the axis, over this ratio."""


def regret(runs: pd.DataFrame, axis: str = "B", policies: Sequence[str] | None = None) -> Figure:
    """Draw worst-case regret per round against B, V, K or T, a panel for each value of the others.

    Parameters
    ----------
    runs
        From `confee.load`, or the rows of `confee.worst_case`.
    policies
        Labels; all by default.

    Raises
    ------
    ConfeeError
        If there is nothing to draw.
    """
    from confee.evidence.frames import worst_case

    if axis not in AXES:
        raise ConfeeError(f"axis={schema.show(axis)}: must be one of {', '.join(AXES)}")
    cells = runs if "split" in runs else worst_case(runs)
    known = sorted(set(cells["label"]))
    wanted = known if policies is None else list(policies)
    for label in wanted:
        if label not in known:
            raise ConfeeError(
                f"policies: {schema.show(label)}: not played; there are {', '.join(known)}"
            )
    cells = cells[cells["label"].isin(wanted) & (cells["regret"] > 0)].copy()
    cells["T/B"] = [float(f"{t / b:.2g}") for t, b in zip(cells["T"], cells["B"], strict=True)]
    fixed = AXES[axis]
    along = cells.groupby([*fixed, "label"])[axis]
    long = along.transform("max") >= SPAN * along.transform("min")
    cells = cells[long & (along.transform("nunique") >= VALUES) & (cells[axis] > 0)]
    if cells.empty:
        raise ConfeeError(
            f"axis={axis}: no policy has {VALUES} values of it, over a ratio of {SPAN}, while all "
            "else stays"
        )
    panels = [
        ", ".join(f"{name}={value:g}" for name, value in zip(fixed, row, strict=True))
        for row in cells[fixed].itertuples(index=False)
    ]
    return _finished(_panels(cells.assign(panel=panels), axis))


def rays(
    worst: pd.DataFrame, points: pd.DataFrame, law: Mapping[str, float] | None = None
) -> Figure:
    """Draw worst-case regret per round along rays, a panel each; columns as in docs/glossary.md.

    `law`: exponents of R/T by axis, drawn as a dashed line.
    """
    keys = ["label", "K", "T", "B", "V"]
    cells = points.drop(columns="policy").merge(worst, on=keys)
    moving = cells[cells["V"] > 0] if (cells["V"] > 0).any() else cells
    moving = moving[moving["regret"] > 0]
    if moving.empty:
        raise ConfeeError("rays: no regret over 0 to be drawn")
    grid = _panels(moving.assign(panel=moving["axis"], value=moving["point"]), "value")
    for ax in grid.axes.flat:
        axis = ax.get_title().partition(" ")[0]
        ax.set_xlabel("T/B" if axis == "T" else axis)
        if law is not None:
            here = moving[moving["axis"] == ax.get_title()]
            ends = np.array([here["point"].min(), here["point"].max()])
            first = here[here["point"] == ends[0]]
            level = float((first["regret"] / first["T"]).median())
            ax.plot(ends, level * (ends / ends[0]) ** law[axis], "--", color="0.4", zorder=0)
            ax.annotate("claimed", (ends[1], level * (ends[1] / ends[0]) ** law[axis]), color="0.4")
    return _finished(grid)


def _panels(cells: pd.DataFrame, x: str) -> Any:
    """Return a panel for each value of `panel`, two in a row; points with 95 % intervals, a line
    for each policy: seaborn's grid."""
    import pandas as pd
    import seaborn as sns
    from matplotlib.ticker import NullFormatter

    # seaborn draws the interval from the lowest row of a point to the highest, around the middle.
    half = 1.96 * cells["se"].fillna(0.0)
    limits = [(cells["regret"] + shift) / cells["T"] for shift in (-half, 0.0, half)]
    table = pd.concat([cells.assign(**{"R/T": limit.clip(lower=1e-300)}) for limit in limits])
    with sns.axes_style("ticks"):
        grid = sns.relplot(
            table.rename(columns={"label": "policy", "policy": "id"}),
            kind="line",
            x=x,
            y="R/T",
            hue="policy",
            style="policy",
            col="panel",
            col_wrap=min(2, table["panel"].nunique()),
            markers=True,
            dashes=False,
            height=3,
            aspect=1.3,
            estimator="median",
            errorbar=("pi", 100),
            err_style="bars",
            facet_kws={"sharex": False, "sharey": False},
        )
    grid.set(xscale="log", yscale="log")
    grid.set_axis_labels("" if x == "value" else x, "worst-case R/T")
    grid.set_titles("{col_name}")
    for ax in grid.axes.flat:
        ax.xaxis.set_minor_formatter(NullFormatter())
    return grid


def _finished(grid: Any) -> Figure:
    """Return the figure of seaborn's panels, laid out."""
    import matplotlib.pyplot as plt

    grid.tight_layout()
    plt.close(grid.figure)  # else a notebook shows it twice
    return grid.figure
