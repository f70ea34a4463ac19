"""Regret against every adversary: which one hurts a policy most, and at which strength."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from confee.evidence.strength import gaps, kinds
from confee.paper import theory
from confee.rendering import looks, numbers, style
from confee.rendering.catalogue import WHY, Figure
from confee.rendering.cells import CELL, at, centre, keys
from confee.rendering.figures import fits
from confee.rendering.figures.panels import short_name

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing
    from matplotlib.lines import Line2D

COLOURS = "YlGnBu"

ROW = 0.155
"""Inches a strength."""

BETWEEN = 0.45
"""Heights of rows between two kinds of adversaries."""

STAR: dict[str, Any] = {"marker": "*", "markersize": 7, "markeredgewidth": 0.5}
DOT: dict[str, Any] = {"marker": "o", "markersize": 3, "markeredgewidth": 0.5}

SHARES = (0.0, 0.5, 1.0)
TITLE = "regret as a share of the policy's largest"

NOTHING = "No policy with regret was played at the centre, at V > 0."


@style.styled
def draw(regret: pd.DataFrame, worst: pd.DataFrame, points: pd.DataFrame, choose: int) -> Drawing:
    """Draw the regret of each adversary (rows) for each policy (columns), as a share of the
    policy's largest.

    `regret`: label, K, T, B, V, adversary, seed, regret, adversary.*; seeds below `choose` at the
    centre (`points`, see cells.centre) are shown, phases averaged. Of an adversary's further
    parameters the worst is shown. Stars stand at what is chosen as worst in `worst` (label, K, T,
    B, V, adversary, strength: gap over critical gap, regret, se, seeds).
    """
    from matplotlib import colormaps

    table = _played(regret, points, choose)
    if table.empty:
        return style.empty(NOTHING)
    labels = looks.ordered(table["label"])
    places = _places(table)
    longest = max(len(short_name(label)) for label in labels)
    rows = max(places.values()) + 1
    fig = style.figure(
        ROW * rows + 0.06 * longest + 0.85, width=style.COLUMN, w_pad=0.02, h_pad=0.02
    )
    ax = fig.subplots()
    for kind in dict.fromkeys(kind for kind, _ in places):
        mine = [place for place in places if place[0] == kind]
        share = table[table["kind"] == kind].pivot(index="x", columns="label", values="share")
        share = share.reindex(index=[x for _, x in mine], columns=labels)
        top = places[mine[0]]
        ax.pcolormesh(
            np.arange(len(labels) + 1) - 0.5,
            top + np.arange(len(mine) + 1) - 0.5,
            share,
            cmap=COLOURS,
            vmin=0,
            vmax=1,
            edgecolors="white",
            linewidth=0.4,
        )
    _marks(ax, table, at(worst, centre(points)), places, labels)
    _frame(ax, places, labels)
    _levels(ax, at(worst, centre(points)), labels, rows)
    colours = [
        style.patch(facecolor=colormaps[COLOURS](share), label=f"{100 * share:.0f} %")
        for share in SHARES
    ]
    handles = [
        *colours,
        _mark(label="chosen as worst", **STAR),
        _mark(label="perhaps as bad (95 % CIs overlap)", **DOT),
    ]
    style.legend_below(fig, handles, 5, TITLE)
    return fig


def finding(regret: pd.DataFrame, worst: pd.DataFrame, points: pd.DataFrame, choose: int) -> str:
    """Return the worst adversary of the paper's policies at the centre, and the next kind."""
    table = _played(regret, points, choose)
    if table.empty:
        return NOTHING
    middle = centre(points)
    where = f"$K$ = {middle['K'].iloc[0]}, $V$ = {middle['V'].iloc[0]:g}, $B$ = "
    where += numbers.number(float(f"{np.exp(np.log(middle['B']).mean()):.2g}"))
    hurt: dict[str, list[str]] = {}
    seconds = []
    for label in fits.first(set(table["label"])):
        mine = table[table["label"] == label]
        most = mine.loc[mine.groupby("kind")["y"].idxmax()].sort_values("y", ascending=False)
        first, *rest = most.itertuples()
        hurt.setdefault(_named(first.kind, first.x), []).append(label)
        seconds += [f"{100 * second.share:.0f} %" for second in rest[:1]]
    words = [f"{name} hurts {fits.listed(labels)} most" for name, labels in hurt.items()]
    text = f"At {where}, {numbers.listed(words)}"
    next_one = f"; the next kind incurs {numbers.listed(seconds)} of that regret" if seconds else ""
    return f"{text}{next_one}."


def _named(kind: str, x: float) -> str:
    """Return a kind at a strength, in words."""
    name = f'"{looks.explained(kind)}"'
    return name if x == 0 else f"{name} at strength {x:.2g}"


def _played(regret: pd.DataFrame, points: pd.DataFrame, choose: int) -> pd.DataFrame:
    """Return the table with the `share` of each label's largest regret, without labels that have
    none."""
    table = _table(at(regret[regret["seed"] < choose], centre(points)))
    largest = table.groupby("label")["y"].transform("max")
    return table.assign(share=table["y"] / largest)[largest > 0].reset_index(drop=True)


def _table(regret: pd.DataFrame) -> pd.DataFrame:
    """Return a row per strength of each kind: label, kind, x (strength; 0: none), y (regret over
    the rate), half (of its 95 % interval over seeds), averaged over phases."""
    import pandas as pd

    rows = regret[regret["V"] > 0].copy()
    if rows.empty:
        return pd.DataFrame(columns=["label", "kind", "x", "y", "half"])
    cells = [(r.K, r.T, r.B, r.V) for r in rows[CELL].itertuples()]
    critical = np.array([theory.critical_gap(K, B, V) for K, _T, B, V in cells])
    rows["y"] = rows["regret"].to_numpy(float) / [theory.rate(*cell) for cell in cells]
    rows["ratio"] = (gaps(rows) / critical).fillna(0.0)
    rows["kind"], rows["key"] = kinds(rows), keys(rows)
    # The grid is the same in every phase relative to the critical gap, but for its ceiling: the
    # rank of a strength in its cell says which belong together, and whose column that is.
    rows["rank"] = rows.groupby([*CELL, "kind"])["ratio"].rank(method="dense")
    place = ["label", "kind", "rank"]
    further = [c for c in rows if c.startswith("adversary.")]
    entries = rows.groupby([*place, "key", *further], dropna=False)
    means = entries["y"].agg(["mean", "var", "count"]).reset_index()
    means = means.loc[means.groupby([*place, "key"])["mean"].idxmax()]
    means["error"] = means["var"] / means["count"]
    phases = means.groupby(place)
    table = phases.agg(y=("mean", "mean"), error=("error", _all), seeds=("count", "sum"))
    size = phases.size()
    degrees = [numbers.t_quantile(free) for free in table["seeds"] - size]
    table["half"] = np.sqrt(table["error"]) / size * degrees
    strength = rows.groupby(["kind", "rank"])["ratio"].mean().map(lambda x: float(f"{x:.3g}"))
    table = table.reset_index().join(strength.rename("x"), on=["kind", "rank"])
    return table[["label", "kind", "x", "y", "half"]]


def _all(values: pd.Series) -> float:
    """Return the sum; NaN if a value is NaN."""
    return values.sum(skipna=False)


def _places(table: pd.DataFrame) -> dict[tuple[str, float], float]:
    """Return (kind, strength) -> its row: kinds in their order, with space between them."""
    order = looks.kinds_ordered(table["kind"])
    places: dict[tuple[str, float], float] = {}
    start = 0.0
    for kind in order:
        for x in sorted(set(table.loc[table["kind"] == kind, "x"])):
            places[kind, x] = start
            start += 1
        start += BETWEEN
    return places


def _marks(
    ax: Axes,
    table: pd.DataFrame,
    worst: pd.DataFrame,
    places: dict[tuple[str, float], float],
    labels: list[str],
) -> None:
    """Draw stars at adversaries chosen as worst, dots where regret is not distinguishable from the
    largest."""
    for place, label in enumerate(labels):
        mine = table[table["label"] == label].fillna({"half": 0.0})
        top = mine.loc[mine["y"].idxmax()]
        stars = set()
        for row in worst[worst["label"] == label].itertuples():
            kin = mine[mine["kind"].str.split("(").str[0] == row.adversary]
            if not kin.empty:  # of kinds of one name, at the nearest strength, the worse one
                strength = row.strength if row.strength > 0 else 0.0
                off = (np.log(kin["x"].clip(lower=1e-9) / max(strength, 1e-9))).abs()
                near = kin[off <= off.min() + 1e-6]
                best = near.loc[near["y"].idxmax()]
                stars.add((best["kind"], best["x"]))
        for row in mine.itertuples():
            if (row.kind, row.x) in stars:
                ax.add_line(_mark([place], [places[row.kind, row.x]], **STAR))
            elif row.y + row.half >= top["y"] - top["half"]:
                ax.add_line(_mark([place], [places[row.kind, row.x]], **DOT))


def _mark(x=(), y=(), **look: Any) -> Line2D:
    from matplotlib.lines import Line2D

    return Line2D(x, y, linestyle="none", color="white", markeredgecolor=style.INK, **look)


def _frame(ax: Axes, places: dict[tuple[str, float], float], labels: list[str]) -> None:
    """Write policies along the top, kinds and strengths along the left."""
    ax.xaxis.tick_top()
    names = [short_name(label) for label in labels]
    ax.set_xticks(range(len(labels)), names, rotation=90)
    ax.set_yticks(list(places.values()), [f"{x:.2g}" if x else "" for _, x in places], fontsize=7.5)
    ax.set(xlim=(-0.6, len(labels) - 0.4), ylim=(max(places.values()) + 0.6, -0.6))
    ax.annotate(
        "adversary and\nstrength: gap over\n$(KV/B)^{1/3}$",
        (0, -0.6),
        (-4, 2),
        xycoords=ax.get_yaxis_transform(),
        textcoords="offset points",
        ha="right",
        va="bottom",
        fontsize=8,
    )
    for kind in dict.fromkeys(kind for kind, _ in places):
        rows = [y for (name, _), y in places.items() if name == kind]
        ax.annotate(
            looks.explained(kind),
            (0, (rows[0] + rows[-1]) / 2),
            (-24, 0),
            xycoords=ax.get_yaxis_transform(),
            textcoords="offset points",
            ha="right",
            va="center",
            fontsize=8.5,
        )
    ax.tick_params(length=0, pad=2)
    ax.spines[:].set_visible(False)
    ax.grid(visible=False)


def _levels(ax: Axes, worst: pd.DataFrame, labels: list[str], rows: float) -> None:
    """Write each policy's worst regret over the rate below its column."""
    ax.annotate(
        "worst case\nover the rate",
        (0, rows - 0.3),
        (-4, -2),
        xycoords=ax.get_yaxis_transform(),
        textcoords="offset points",
        ha="right",
        va="top",
        fontsize=8,
    )
    for place, label in enumerate(labels):
        mine = worst[(worst["label"] == label) & (worst["V"] > 0)]
        rate = np.array([theory.rate(r.K, r.T, r.B, r.V) for r in mine.itertuples()])
        half = numbers.half_width(mine["se"] / rate, mine["seeds"])
        text = numbers.plus_minus((mine["regret"] / rate).mean(), half)
        ax.text(place, rows - 0.3, text, rotation=90, ha="center", va="top", fontsize=7.5)


FIGURE = Figure(
    "landscape",
    "Which adversary hurts which policy",
    section=WHY,
    place=1,
    needs=("regret", "worst", "points", "choose"),
    draw=draw,
    finding=finding,
    reading=(
        "Darker: closer to the policy's largest regret. Star: chosen as worst. Dot: "
        "perhaps as bad. Bottom: worst case over $T(KV/B)^{1/3}$, with 95 % CIs."
    ),
)
