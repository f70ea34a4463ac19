"""Frames of a small made-up experiment, and what every picture of them must satisfy."""

from __future__ import annotations

import math
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pandas as pd

from confee.paper import theory
from confee.rendering.cells import centre
from confee.simulation.grid import Map

LABELS = ("hyque", "rexp3b", "rexp3b(pool=set)", "uniform", "oracle", "new_one(a_b=1,c$=2)")


PHASES = (1.0, 1.4)


PROVENANCE = {"command": 'confee draw tiny "x (1)\\"', "data": "0123"}


FIGURE = [  # the six instances of the paper's figure: (order, instance, start, stop, kind)
    (3, 0, 0, 1, "query"),
    (3, 0, 1, 2, "idle"),
    (3, 0, 2, 16, "inactive"),
    (2, 1, 8, 10, "query"),
    (2, 1, 10, 14, "inactive"),
    (2, 1, 14, 16, "idle"),
    (1, 2, 4, 6, "query"),
    (1, 2, 6, 8, "idle"),
    (0, 3, 2, 3, "query"),
    (0, 3, 3, 4, "idle"),
    (0, 4, 10, 11, "query"),
    (0, 4, 11, 12, "idle"),
    (0, 5, 12, 13, "query"),
    (0, 5, 13, 14, "idle"),
]


def constant(label: str, K: int, T: int, B: int, V: float) -> float:
    """Regret over the rate."""
    if label == "oracle":
        return 0.0
    saturated = 0.4 * T / theory.rate(K, T, B, V)
    return {"uniform": saturated, "rexp3b": 1.5}.get(label, 2 * (B / 1e5) ** 0.1)


def regimes_of(labels):
    """(points, worst) of a map of two policies; it is saturated where V is large."""
    one = Map([], [4], [30_000], [0.5, 0.7, 0.8, 0.9, 1], nu=[-0.1, 0, 0.2, 0.4])
    places, worst = [], []
    for label in labels[:2]:
        for p in one.places("regimes"):
            sizes = p.size._asdict()
            regret = 3 * theory.rate(**sizes)
            top = 0.4 * p.size.T
            places.append(
                {
                    "label": label,
                    "policy": label,
                    "axis": "regimes",
                    "point": p.point,
                    "phase": 0,
                    **sizes,
                }
            )
            worst.append(
                {
                    "label": label,
                    "policy": label,
                    **sizes,
                    "regret": min(regret, top),
                    "se": 0.0,
                    "seeds": 16,
                    "saturated": regret > top,
                    "eligible": regret <= top,
                    "adversary": "switching",
                    "strength": 1.0,
                    "gap": 0.5,
                }
            )
    for label in labels[:2]:
        for B in (10**4, 10**5, 10**6):
            for V in (4.0, 16.0):
                sizes = {"K": 4, "T": 10 * B, "B": B, "V": V}
                regret = theory.rate(**sizes) * (B / 1e4) ** 0.1
                places.append(
                    {
                        "label": label,
                        "policy": label,
                        "axis": f"floor_V{V:g}",
                        "variable": "B",
                        "point": B,
                        "phase": 0,
                        **sizes,
                    }
                )
                worst.append(
                    {
                        "label": label,
                        "policy": label,
                        **sizes,
                        "regret": regret,
                        "se": 0.02 * regret,
                        "seeds": 8,
                        "saturated": V > 5,
                        "eligible": V <= 5,
                        "adversary": "packed",
                        "strength": 1.0,
                        "gap": 0.5,
                    }
                )
    return pd.DataFrame(places), pd.DataFrame(worst)


def ages() -> pd.DataFrame:
    """Rows of the study of ages at two budgets, with 1, 3 and 5 changes."""
    rows = []
    for B in (10**4, 10**6):
        size = {"T": 10 * B, "B": B}
        for j in range(10):
            rows.append({"kind": "age", **size, "j": j, "share": 0.3 * 0.8**j, "age": 0.2 / 2**j})
        for changes in ("[0.1]", "[0.1, 0.2, 0.5]", "[0.1, 0.2, 0.3, 0.4, 0.5]"):
            stale = 0.02 * len(changes)
            rows.append(
                {
                    "kind": "stale",
                    **size,
                    "changes": changes,
                    "stale": stale,
                    "stale_se": 0.001,
                    "windowed": 0.1 * (B / 1e4) ** (-1 / 3),
                }
            )
    return pd.DataFrame(rows)


def floor_runs() -> pd.DataFrame:
    """Runs with 3 changes at those budgets."""
    rows = [
        {
            "label": label,
            "K": 8,
            "T": 10 * B,
            "B": B,
            "V": 1.5,
            "adversary.gap": 0.5,
            "seed": seed,
            "regret": (level + 0.01 * seed) * 10 * B,
        }
        for label, level in (("hyque", 0.3), ("sw_ucb", 0.1))
        for B in (10**4, 10**6)
        for seed in range(4)
    ]
    return pd.DataFrame(rows)


def experiment(labels=LABELS) -> SimpleNamespace:
    """An experiment's frames, with sweeps of T, B, V and K around one centre in two phases."""
    sweeps = {
        "T": [(5, T, round(T**0.85), 4.0) for T in (10**5, 10**6, 10**7)],
        "B": [(5, 10**6, B, 4.0) for B in (63096, round(10**5.1), 10**6 // 2)],
        "V": [(5, 10**6, round(10**5.1), V) for V in (0.5, 4.0, 40.0)],
        "K": [(K, 10**6, round(10**5.1), 4.0) for K in (2, 5, 8)],
    }
    places, runs = [], []
    for label in labels:
        for name, cells in sweeps.items():
            for K, T, B, V in cells:
                for phase, f in enumerate(PHASES):
                    point = {"T": T, "B": B, "V": V, "K": K}[name]
                    cell = (K, int(T * f), int(B * f), V)
                    places.append((label, label.split("(")[0], name, float(point), phase, *cell))
    points = pd.DataFrame(
        places, columns=["label", "policy", "axis", "point", "phase", "K", "T", "B", "V"]
    )
    worst = points.drop_duplicates(["label", "K", "T", "B", "V"]).drop(
        columns=["axis", "point", "phase"]
    )
    cells = list(worst[["label", "K", "T", "B", "V"]].itertuples(index=False, name=None))
    regret = np.array([constant(*cell) * theory.rate(*cell[1:]) for cell in cells])
    worst = worst.assign(
        adversary="switching",
        strength=2.0,
        regret=regret,
        se=0.02 * regret,
        seeds=16,
        gap=[2 * theory.critical_gap(K, B, V) for _, K, _, B, V in cells],
        saturated=worst["label"] == "uniform",
        eligible=worst["label"] != "uniform",
    )
    middle = centre(points)
    for cell in middle.itertuples(index=False, name=None):
        label, K, T, B, V = cell
        for adversary, share in (("switching", 1.0), ("single_jump", 0.5)):
            for ratio in (0.5, 1.0, 2.0, 4.0):
                for seed in range(6 if ratio == 2.0 else 4):
                    level = constant(*cell) * share * math.exp(-abs(math.log(ratio / 2)))
                    r = level * theory.rate(K, T, B, V) * (1 + 0.05 * math.sin(seed))
                    gap = ratio * theory.critical_gap(K, B, V)
                    runs.append((*cell, adversary, seed, gap, r, 0.2 * r, 0.9 * r, -0.1 * r, 0.0))
    parts = ["regret", "regret_query", "regret_error", "regret_drift", "regret_no_data"]
    frame = pd.DataFrame(
        runs, columns=["label", "K", "T", "B", "V", "adversary", "seed", "adversary.gap", *parts]
    )
    slopes = pd.DataFrame(
        [
            (label, name, e, e - 0.02, e + 0.02, e, 4, 1e7, "upper", 30.0, e, False)
            for label in labels
            if label != "oracle"
            for name, e in theory.EXPONENTS["rate"].items()
        ],
        columns=[
            "label",
            "axis",
            "exponent",
            "low",
            "high",
            "theory",
            "points",
            "horizon",
            "part",
            "span",
            "rate",
            "short",
        ],
    )
    places, more = regimes_of(labels)
    points = pd.concat([points, places], ignore_index=True)
    flags = dict.fromkeys(("short_batch", "ceiling", "edge", "at_limit"), False)
    worst = pd.concat([worst, more], ignore_index=True).assign(in_range=True, **flags)
    t = np.arange(1, 1001)
    return SimpleNamespace(
        ages=ages(),
        floor_runs=floor_runs(),
        points=points,
        worst=worst,
        regret=frame,
        slopes=slopes,
        choose=4,
        trace=pd.DataFrame({"t": t, "queries": t // 4}),
        blocks=[1, 9, 25, 57, 121, 249, 505],
        T=1000,
        B=250,
        pieces=pd.DataFrame(FIGURE, columns=["order", "instance", "start", "stop", "kind"]),
        n=3,
        b=2,
    )


def legend_of(fig) -> list[tuple[str, object]]:
    """The (text, handle) pairs of a figure's legends."""
    return [
        (text.get_text(), handle)
        for legend in fig.legends
        for text, handle in zip(legend.get_texts(), legend.legend_handles, strict=True)
    ]


def check_texts(fig) -> None:
    """Assert that no text is clipped and that no two tick labels overlap."""
    fig.draw_without_rendering()
    inside = fig.bbox.padded(1)
    texts = [text for legend in fig.legends for text in legend.get_texts()]
    for ax in fig.axes:
        if not ax.get_visible():
            continue
        texts += [ax.xaxis.label, ax.yaxis.label, *ax.texts, ax.title]
        for line, low, high in ((ax.xaxis, "x0", "x1"), (ax.yaxis, "y0", "y1")):
            start, stop = sorted(line.get_view_interval())
            ticks = [tick for tick in line.get_major_ticks() if start <= tick.get_loc() <= stop]
            labels = [label for tick in ticks for label in (tick.label1, tick.label2)]
            labels = [label for label in labels if label.get_visible() and label.get_text()]
            texts += labels
            boxes = [label.get_window_extent() for label in labels]
            boxes.sort(key=lambda box: getattr(box, low))
            for left, right in pairwise(boxes):
                assert getattr(left, high) <= getattr(right, low)
    for text in texts:
        if text.get_visible() and text.get_text():
            box = text.get_window_extent()
            assert inside.contains(*box.min), text
            assert inside.contains(*box.max), text


ODD_DATA = {
    "one point": lambda d: {"points": d.points[d.points["point"].isin([5, 4.0, 10**6, 125893])]},
    "one phase": lambda d: {"points": d.points[d.points["phase"] == 0]},
    "nothing eligible": lambda d: {"worst": d.worst.assign(eligible=False)},
    "one seed": lambda d: {"worst": d.worst.assign(se=math.nan, seeds=1)},
    "no slope": lambda d: {"slopes": d.slopes[:0]},
    "no label but one": lambda d: {"worst": d.worst[d.worst["label"] == "uniform"]},
    "no regret": lambda d: {
        "worst": d.worst.assign(regret=0.0, se=0.0),
        "regret": d.regret.assign(regret=0.0),
    },
    "no rows": lambda d: {"worst": d.worst[:0], "regret": d.regret[:0], "points": d.points[:0]},
    "stationary": lambda d: {
        key: getattr(d, key).assign(V=0.0) for key in ("worst", "regret", "points")
    },
}
