"""The worst case of each cell: which adversary it is, and how much regret."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from confee.evidence.columns import CELL
from confee.evidence.eligible import FLAGS, flags
from confee.evidence.strength import gaps
from confee.paper import theory

if TYPE_CHECKING:
    import pandas as pd

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
    *FLAGS,
]


def worst_cases(regret: pd.DataFrame, choose: int, whole: bool = False) -> pd.DataFrame:
    """Return the worst-case regret of each cell over its family of adversaries.

    Seeds below `choose` played the whole family and picked the few worst adversaries; the fresh
    seeds after them played only those. The fresh seeds are cut in two folds. For each fold the
    adversary is the one with the largest mean over everything *except* that fold, and its mean
    *on* that fold is kept. No run helps to choose the adversary that it then measures, so the
    average of the two is free of the bias of a maximum. Standard errors come from the spread
    over seeds. A cell without fresh seeds (deterministic policies) has `split` false and is the
    plain maximum.

    Parameters
    ----------
    regret
        Runs, with the columns of regret.parquet (docs/glossary.md).
    choose
        Number of seeds that played the whole family.
    whole
        Whether all parameters of the chosen adversary are returned too, not only its gap.

    Returns
    -------
    DataFrame
        One row per cell, columns COLUMNS.
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
    worst["gap"] = entries["gap"].reindex(worst["entry"]).to_numpy()
    for name in parameters:
        worst[name] = entries[name].reindex(worst["entry"]).to_numpy()
    critical = [
        theory.critical_gap(k, b, v) if v > 0 else math.nan
        for k, b, v in zip(worst["K"], worst["B"], worst["V"], strict=True)
    ]
    worst["strength"] = worst["gap"] / critical
    worst = worst.join(flags(worst, entries))
    return worst[columns].sort_values(CELL, ignore_index=True)


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
