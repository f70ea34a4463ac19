"""The worst case of each cell: which adversary, how much regret, and whether to trust the cell."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from confee.core.size import Size
from confee.evidence import tuned
from confee.evidence.strength import gaps
from confee.paper import theory
from confee.policies import POLICIES
from confee.policies.base import UNIFORM
from confee.policies.growth import Growth
from confee.world.adversaries import ADVERSARIES

if TYPE_CHECKING:
    import pandas as pd

    from confee.policies.rate import Rate

CELL = ["label", "K", "T", "B", "V"]
"""What a cell is, in every frame of this package."""

SETTING = tuned.SETTING

COLUMNS = [
    "policy",
    *CELL,
    "adversary",
    "gap",
    "strength",
    "regret",
    "se",
    "seeds",
    "naive",
    "split",
    "edge",
    "ceiling",
    "at_limit",
    "saturated",
    "in_range",
    "short_batch",
    "eligible",
]


def worst_cases(regret: pd.DataFrame, choose: int, whole: bool = False) -> pd.DataFrame:
    """Worst-case regret of each cell over its family of adversaries, one row a cell.

    Seeds below `choose` played the whole family and picked the few worst adversaries; the fresh
    seeds after them played only those. The fresh seeds are cut in two folds. For each fold the
    adversary is the one with the largest mean over everything *except* that fold, and its mean
    *on* that fold is kept: no number helps to choose the adversary it then measures, so the
    average of the two is free of the bias of a maximum. Standard errors come from the spread
    over seeds. A cell without fresh seeds (deterministic policies) has `split` false and is the
    plain maximum.

    Args:
        regret: runs, columns as in docs/design.md.
        choose: number of seeds that played the whole family.
        whole: with all parameters of the chosen adversary, not its name and its gap alone.

    Raises:
        ValueError: a cell has neither choose nor fresh rows (cannot happen to a non-empty cell).
    """
    import pandas as pd

    parameters = [c for c in regret.columns if c == "adversary" or c.startswith("adversary.")]
    columns = [*COLUMNS, *(c for c in parameters if whole and c != "adversary")]
    if regret.empty:
        return pd.DataFrame(columns=columns)
    frame = regret[["policy", *CELL, *parameters, "seed", "regret"]].copy()
    frame["cell"] = frame.groupby(CELL, dropna=False, sort=True).ngroup()
    frame["entry"] = frame.groupby(["cell", *parameters], dropna=False, sort=True).ngroup()

    entries = frame.drop_duplicates("entry").set_index("entry").sort_index()
    entries = entries.drop(columns=["seed", "regret"])
    entries["gap"] = gaps(entries)
    entries = entries.join(_sums(frame, choose))

    cells = frame.drop_duplicates("cell").set_index("cell").sort_index()[["policy", *CELL]]
    worst = cells.join(_estimates(entries))
    worst = worst.join(_grid_ends(entries, worst["entry"]))
    worst["gap"] = entries["gap"].reindex(worst["entry"]).to_numpy()
    for name in parameters:
        worst[name] = entries[name].reindex(worst["entry"]).to_numpy()
    critical = [
        theory.critical_gap(k, b, v) if v > 0 else math.nan
        for k, b, v in zip(worst["K"], worst["B"], worst["V"], strict=True)
    ]
    worst["strength"] = worst["gap"] / critical
    worst["saturated"] = worst["regret"] > 0.5 * _uniform_play(worst, entries)
    sizes = [
        (growth(policy), Size(*size))
        for policy, *size in worst[["policy", *SETTING]].itertuples(index=False, name=None)
    ]
    worst["in_range"] = [bool(of.in_range(size)) for of, size in sizes]
    worst["short_batch"] = [of.distorted(size) for of, size in sizes]
    flawed = worst[["saturated", "edge", "ceiling", "short_batch"]].any(axis=1)
    worst["eligible"] = worst["in_range"] & ~flawed
    return worst[columns].sort_values(CELL, ignore_index=True)


def growth(policy: str) -> Growth:
    """What is fixed about a policy's regret curve: what it declares, or what its rate says."""
    id = tuned.OF if policy == tuned.TUNED else policy
    spec = POLICIES.get(id)
    if spec is None:
        return Growth()
    if spec.growth is None and spec.rate is not None:
        return Growth(claimed=spec.rate.law, in_range=spec.rate.in_range)
    return spec.growth or Growth()


def rate_declared(policy: str) -> Rate | None:
    """The rate that a policy declares; None if it declares none, or is not known here."""
    return POLICIES[policy].rate if policy in POLICIES else None


def is_uniform(policy: pd.Series) -> pd.Series:
    """Whether each row's policy is uniform play: saturated by definition, so that only the
    theorem's range leaves a cell out."""
    ids = {id for id in policy.unique() if id in POLICIES and POLICIES[id].role == UNIFORM}
    return policy.isin(ids)


def _sums(frame: pd.DataFrame, choose: int) -> pd.DataFrame:
    """Count and sum per entry and part (0 choose, 1 and 2 the folds), and the spread over seeds.

    `spread` is the standard deviation over the fresh seeds if there are any, else over the
    choose seeds; NaN with a single seed.
    """
    import pandas as pd

    part = np.where(frame["seed"] < choose, 0, 1 + (frame["seed"] - choose) % 2)
    grouped = frame.assign(part=part).groupby(["entry", "part"])["regret"]
    table = grouped.agg(n="count", s="sum").unstack("part")
    wide = pd.DataFrame(index=table.index)
    for k in range(3):
        for name in ("n", "s"):
            has = (name, k) in table.columns
            wide[f"{name}{k}"] = table[(name, k)].fillna(0.0) if has else 0.0
    fresh = frame.assign(fresh=part > 0).groupby(["entry", "fresh"])["regret"].std()
    fresh = fresh.unstack("fresh").reindex(columns=[False, True])
    wide["spread"] = np.where(wide["n1"] + wide["n2"] > 0, fresh[True], fresh[False])
    return wide


def _best(score: pd.Series, cell: pd.Series) -> pd.Series:
    """Entry with the largest score in each cell (first of equals); cells without any drop out."""
    score = score.dropna()
    return score.groupby(cell.reindex(score.index)).idxmax()


def _estimates(entries: pd.DataFrame) -> pd.DataFrame:
    """Cross-fitted estimate of each cell: entry, regret, se, seeds, naive, split."""
    import pandas as pd

    cell = entries["cell"]
    n0, n1, n2 = (entries[f"n{k}"] for k in range(3))
    s0, s1, s2 = (entries[f"s{k}"] for k in range(3))
    with np.errstate(invalid="ignore", divide="ignore"):
        plain = (s0 + s1 + s2) / (n0 + n1 + n2)
        chosen_by = {1: (s0 + s2) / (n0 + n2), 2: (s0 + s1) / (n0 + n1)}
        choose_mean = s0 / n0
    fresh = (n1 + n2) > 0
    out = pd.DataFrame(index=pd.Index(sorted(cell.unique()), name="cell"))

    total, weight, variance = (pd.Series(0.0, index=out.index) for _ in range(3))
    picks = {}
    for k, score in chosen_by.items():
        pick = _best(score[entries[f"n{k}"] > 0], cell)
        n, s, spread = (
            entries[c].reindex(pick).set_axis(pick.index) for c in (f"n{k}", f"s{k}", "spread")
        )
        total = total.add(s, fill_value=0.0)
        weight = weight.add(n, fill_value=0.0)
        variance = variance.add(n * spread**2, fill_value=0.0)
        picks[k] = pick
    split = weight > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        out["regret"] = (total / weight).where(split)
        out["se"] = (np.sqrt(variance) / weight).where(split)
    unknown = pd.concat(
        [entries["spread"].reindex(p).set_axis(p.index).isna() for p in picks.values()], axis=1
    ).any(axis=1)
    out.loc[unknown[unknown].index, "se"] = np.nan
    out["seeds"] = weight
    out["entry"] = _best(plain[fresh], cell).reindex(out.index)

    whole = _best(plain, cell).reindex(out.index)
    rest = ~split
    if rest.any():
        row = entries.loc[whole[rest]]
        n = (row["n0"] + row["n1"] + row["n2"]).to_numpy()
        out.loc[rest, "entry"] = whole[rest]
        out.loc[rest, "regret"] = plain.loc[whole[rest]].to_numpy()
        out.loc[rest, "se"] = row["spread"].to_numpy() / np.sqrt(n)
        out.loc[rest, "seeds"] = n
    out["entry"] = out["entry"].astype("int64")
    out["seeds"] = out["seeds"].astype("int64")
    out["naive"] = choose_mean.groupby(cell).max().reindex(out.index)
    out["split"] = split
    return out


def _steady(adversary: pd.Series) -> pd.Series:
    """Whether each adversary's strength is a lead that stays open, see Adversary."""
    return adversary.isin([one.id for one in ADVERSARIES.values() if one.steady])


def _grid_ends(entries: pd.DataFrame, chosen: pd.Series) -> pd.DataFrame:
    """`ceiling`, `edge`, `at_limit`: whether the chosen gap is at an end of those that were tried.

    `at_limit` says that it is the largest its family has, whatever the others have.

    The largest one is at a ceiling if its family has no larger gap, else at an edge, as is the
    smallest. The setting's own largest gap (1 for arms, since means lie in [0, 1]) is neither: no
    family could offer more, so the worst case there is the problem's and not cut short by the grid.
    Nor is a largest gap of one family where another one was tried with larger gaps, if both are
    steady. V = 0 has no gap and no end, and a family without a strength has neither.
    """
    import pandas as pd

    scale = entries["adversary"].mask(_steady(entries["adversary"]), "gap")
    ends = entries.groupby(["cell", scale])["gap"].agg(["min", "max"])
    family = entries.loc[chosen.to_numpy()]
    ends = ends.reindex([*zip(family["cell"], scale.loc[family.index], strict=True)])
    gap = family["gap"].to_numpy()
    limit = _of_adversary(family, "ceiling")
    inside = gap < _of_adversary(family, "widest") * (1 - 1e-9)
    top = np.isclose(gap, ends["max"].to_numpy(), rtol=1e-9) & inside
    bottom = np.isclose(gap, ends["min"].to_numpy(), rtol=1e-9)
    ceiling = top & (gap >= limit * (1 - 1e-9))
    edge = (top | bottom) & ~ceiling & inside
    at_limit = gap >= limit * (1 - 1e-9)
    made = {"ceiling": ceiling, "edge": edge, "at_limit": at_limit}
    return pd.DataFrame(made, index=chosen.index)


def _of_adversary(family: pd.DataFrame, name: str) -> np.ndarray:
    """A number of each row's adversary."""
    numbers = {a.id: getattr(a, name) for a in ADVERSARIES.values()}
    return family["adversary"].map(numbers).to_numpy(float)


def _uniform_play(worst: pd.DataFrame, entries: pd.DataFrame) -> np.ndarray:
    """Worst case of uniform play in each cell's setting, rounds of regret, shape (cells,).

    Measured where the policy `uniform` played the setting; else (1 - 1/K) g T, exact for every
    family whose gap stays open, with g the largest gap of such a family in the cell.
    """
    import pandas as pd

    played = worst[is_uniform(worst["policy"])].groupby(SETTING)["regret"].max()
    measured = played.reindex(pd.MultiIndex.from_frame(worst[SETTING])).to_numpy(dtype=float)
    alike = {one.id for one in ADVERSARIES.values() if one.others_alike}
    open_gap = entries[_steady(entries["adversary"]) & entries["adversary"].isin(alike)]
    largest = open_gap.groupby("cell")["gap"].max().reindex(worst.index)
    largest = largest.fillna(entries.groupby("cell")["gap"].max().reindex(worst.index))
    formula = (1 - 1 / worst["K"]) * largest * worst["T"]
    return np.where(np.isnan(measured), formula.to_numpy(dtype=float), measured)
