"""Synthetic worst cases with a known law, along rays: for tests of the rule for exponents.

`frames` and `played` make the tables that claims read, `runs_of` makes runs. `exact` and `Noise`
make many noisy draws of a curve without building the tables again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from confee.core.size import Size
from confee.evidence.curve import Curve, curve
from confee.evidence.declared import growth
from confee.evidence.worst import COLUMNS
from confee.simulation.grid import Ray

Law = Callable[..., np.ndarray]
"""R/T as a function of K, T, B, V: arrays of shape (cells,)."""

STILL = ("stationary",)
"""Makes a ray have cells at V = 0."""

BUDGETS = [32_000 * 2**k for k in range(6)]
FAR = [32_000 * 2**k for k in range(8)]
FULL = [65_536 * 2**k for k in range(6)]
VARIATIONS = [1, 2, 4, 8, 16, 32, 64]
ARMS = [2, 3, 4, 6, 8, 12, 16, 24, 32]

RAYS: Mapping[str, Ray] = {
    "V": Ray([4], [1_024_000], VARIATIONS, [10], still=STILL),
    "B, V=4": Ray([4], BUDGETS, [4], [10], still=STILL),
    "B, V=16": Ray([4], BUDGETS, [16], [10], still=STILL),
    "B, V=16, far": Ray([4], FAR, [16], [10], still=STILL),
    "B=T, V=4": Ray([4], FULL, [4], [1], still=STILL),
    "B=T, V=64": Ray([4], FULL[1:], [64], [1], still=STILL),
    "K, B=1.3e5": Ray(ARMS, [128_000], [4], [10], still=STILL),
    "K, B=5e5": Ray(ARMS, [512_000], [4], [10], still=STILL),
    "T": Ray([4], [1_024_000], [4], [8, 16, 30]),
}
"""Rays of every kind on which exponents are judged; those along B differ in T/B and in V."""


# ------------------------------------------------------------------ laws


def rate(K, T, B, V):
    """(K V / B)^{1/3}, the rate of Theorem 4.1."""
    return np.cbrt(K * V / B)


CENTRE = {"K": 4.0, "T": 1e6, "B": 1e5, "V": 4.0}
"""Where a law that is off the rate meets it."""


def power(**off: float) -> Law:
    """The rate times powers of K, T, B, V over the centre: `power(B=0.08)` is off by 0.08 in B."""

    def law(K, T, B, V):
        sizes = {"K": K, "T": T, "B": B, "V": np.where(V > 0, V, 1.0)}
        factors = [(sizes[name] / CENTRE[name]) ** by for name, by in off.items()]
        return rate(K, T, B, V) * np.prod(np.broadcast_arrays(*factors), axis=0)

    return law


def times(factor: Callable[..., np.ndarray], law: Law = rate) -> Law:
    """A law times a function of K, T, B, V."""
    return lambda K, T, B, V: factor(K, T, B, V) * law(K, T, B, V)


def plus(term: Callable[..., np.ndarray], law: Law = rate) -> Law:
    """A law plus a function of K, T, B, V."""
    return lambda K, T, B, V: term(K, T, B, V) + law(K, T, B, V)


def flat(share: float = 0.3) -> Law:
    """Uniform play on a gap that stays open: (1 - 1/K) times `share`."""
    return lambda K, T, B, V: share * (1 - 1 / np.asarray(K, dtype=float))


def fluid(K) -> np.ndarray:
    """max_x (K-1)/K (x^{-1/2} - (K - (K-1) x)^{-1/2}): the regret of an index policy over few arms.

    In the limit of many rounds a suboptimal arm is played a share x/K of the time and the best one
    the rest; the gap follows from the two indices. It is scanned over x in (0, 1).
    """
    x = np.linspace(1e-4, 1 - 1e-4, 20_000)
    arms = np.atleast_1d(np.asarray(K, dtype=float))
    values = [((k - 1) / k * x * (x**-0.5 - (k - (k - 1) * x) ** -0.5)).max() for k in arms]
    return np.array(values).reshape(np.shape(K))


# ------------------------------------------------------------------ tables


def points_of(rays: Mapping[str, Ray], labels: Iterable[str]) -> pd.DataFrame:
    """Which cell lies where, as in points.csv: every label on every ray."""
    rows = [
        {
            "label": label,
            "policy": policy_of(label),
            "axis": place.axis,
            "variable": ray.variable,
            "point": float(place.point),
            "phase": place.phase,
            **place.size._asdict(),
        }
        for label in labels
        for axis, ray in rays.items()
        for place in ray.places(axis)
    ]
    columns = ["label", "policy", "axis", "variable", "point", "phase", "K", "T", "B", "V"]
    return pd.DataFrame(rows, columns=columns)


def policy_of(label: str) -> str:
    """`rexp3b` of `rexp3b(pool=set)`."""
    return label.partition("(")[0]


def worst_of(
    points: pd.DataFrame,
    law: Law,
    noise: float = 0.0,
    wobble: float = 0.0,
    seed: int = 0,
    seeds: int = 16,
    **columns,
) -> pd.DataFrame:
    """Worst cases of one label's cells, one row a cell, as from `worst_cases`.

    Parameters
    ----------
    noise, wobble
        Standard deviations of log R in each cell, and of what all phases of a point share.
    columns
        Further columns, in place of those that say that a cell enters.
    """
    rng = np.random.default_rng(seed)
    shared = points.groupby(["axis", "point"]).ngroup()
    off = wobble * rng.standard_normal(shared.max() + 1)[shared]
    table = points.assign(off=off).drop_duplicates(["K", "T", "B", "V"], ignore_index=True)
    sizes = [table[name].to_numpy(float) for name in "KTBV"]
    regret = law(*sizes) * sizes[1] * np.exp(table["off"] + noise * rng.standard_normal(len(table)))
    settings = table[["policy", *"KTBV"]].itertuples(index=False, name=None)
    values = {
        "adversary": "switching",
        "gap": 0.1,
        "strength": 2.0,
        "regret": regret,
        "se": noise * regret,
        "seeds": seeds,
        "naive": regret,
        "split": True,
        "edge": False,
        "ceiling": False,
        "at_limit": False,
        "saturated": False,
        "short_batch": False,
        "in_range": [growth(policy).in_range(Size(*size)) for policy, *size in settings],
    } | columns
    table = table.assign(**values)
    flawed = table[["saturated", "edge", "ceiling", "short_batch"]].any(axis=1)
    return table.assign(eligible=table["in_range"] & ~flawed)[COLUMNS]


def runs_of(
    points: pd.DataFrame, law: Law, noise: float = 0.01, seed: int = 0, seeds: int = 4
) -> pd.DataFrame:
    """Runs of one label whose worst case is a law, on the second of three gaps.

    All queries are made, so that no cell is short of budget.
    """
    rng = np.random.default_rng(seed)
    table = points.drop_duplicates(["K", "T", "B", "V"])[["label", "policy", "K", "T", "B", "V"]]
    regret = law(*(table[name].to_numpy(float) for name in "KTBV")) * table["T"]
    still = 2 * np.sqrt(table["K"] / table["B"])
    unit = np.where(table["V"] > 0, np.cbrt(table["K"] * table["V"] / table["B"]), still)
    rows = [
        table.assign(**{"adversary.gap": c * unit, "seed": s, "regret": share * regret})
        for c, share in ((1.0, 0.7), (2.0, 1.0), (4.0, 0.8))
        for s in range(seeds)
    ]
    runs = pd.concat(rows, ignore_index=True)
    runs["regret"] *= np.exp(noise * rng.standard_normal(len(runs)))
    return runs.assign(adversary="switching", queries=runs["B"], denied=0)


def frames(
    rays: Mapping[str, Ray], laws: Mapping[str, Law], **how
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """(worst, points) of policies on rays, label -> law; `how` as for `worst_of`."""
    points = points_of(rays, laws)
    tables = [
        worst_of(points[points["label"] == label], law, **{**how, "seed": how.get("seed", 0) + i})
        for i, (label, law) in enumerate(laws.items())
    ]
    return pd.concat(tables, ignore_index=True), points


IDEAL: Mapping[str, Law] = {"sw_ucb": rate, "ucb1_restarted": rate}
"""Positive controls, on the rate."""

BROKEN: Mapping[str, Law] = {
    "sw_ucb_misled": power(V=1 / 3),
    "random_restart": power(B=1 / 3 - 1 / 5),
    "rexp3b(pool=set)": power(B=1 / 3),
    "sw_ucb_copied": power(K=1 / 3),
    "sw_ucb_overtold": times(lambda K, T, B, V: T / B),
    "uniform": flat(),
}
"""Negative controls, each off the rate along what it is a control for."""


def played(
    label: str,
    law: Law,
    rays: Mapping[str, Ray] = RAYS,
    changed: Mapping[str, Law | None] = {},
    **how,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """(worst, points) of a policy beside all controls on their laws.

    Parameters
    ----------
    changed
        Control -> another law, or None to leave it out.
    how
        As for `worst_of`, but that `columns` go to the policy alone. 1 % noise by default.
    """
    how = {"noise": 0.01, **how}
    noises = {name: how.pop(name) for name in ("noise", "wobble", "seed", "seeds") if name in how}
    laws = {**IDEAL, **BROKEN, **changed}
    others = {name: law for name, law in laws.items() if law is not None and name != label}
    mine, theirs = frames(rays, {label: law}, **noises, **how), frames(rays, others, **noises)
    worst, points = (pd.concat(pair, ignore_index=True) for pair in zip(mine, theirs, strict=True))
    return worst, points


def axis_of(slopes: pd.DataFrame, label: str, axis: str, part: str) -> pd.Series | None:
    """The one row of a slopes table for (label, axis, part), None if it is not there."""
    wanted = {"label": label, "axis": axis, "part": part}
    mask = np.all([slopes[name].to_numpy() == value for name, value in wanted.items()], axis=0)
    return slopes.iloc[mask.argmax()] if mask.any() else None


# ------------------------------------------------------------------ many draws of one curve


def exact(ray: str, law: Law, partner: Law | None = None, label: str = "hyque", **columns) -> Curve:
    """A curve without error along one of RAYS, through the tables; uniform play is beside it."""
    laws = {label: law} | ({"partner": partner} if partner else {}) | {"uniform": flat()}
    worst, points = frames({ray: RAYS[ray]}, laws)
    worst = worst.assign(**columns)
    found = curve(worst, points, label, ray, "partner" if partner else "")
    assert found is not None
    return found


@dataclass(frozen=True)
class Noise:
    """Error of a draw: of each cell, shared by the phases of a point, and the seeds of a cell."""

    cell: float = 0.03
    point: float = 0.0
    seeds: int = 16

    def draw(self, exact: Curve, rng: np.random.Generator) -> Curve:
        """A noisy draw; standard errors are estimated from the seeds. A difference of two curves
        has the error of both."""
        _, place = np.unique(exact.point, return_inverse=True)

        def error():
            shared = self.point * rng.standard_normal(place.max() + 1)[place]
            return shared + self.cell * rng.standard_normal(len(place))

        def variance():
            spread = rng.chisquare(self.seeds - 1, len(place)) / (self.seeds - 1)
            return self.cell**2 * spread

        own, its = error(), error() if exact.partner else 0.0
        squares = variance() + (variance() if exact.partner else 0.0)
        return dataclasses.replace(
            exact,
            y=exact.y + own - its,
            alone=exact.alone + own,
            se=np.sqrt(squares),
            seeds=np.full(len(place), float(self.seeds)),
        )
