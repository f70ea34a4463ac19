"""Which policy has the least regret: rankings and paired questions, on maps of many adversaries.

All policies meet the same paths, seed by seed. So policies are compared by differences of log
regret over the same (adversary, parameters, seed), averaged over adversaries and parameters: one
number per seed. Seeds are independent, whichever adversaries share a seed, so the t-interval over
seeds is valid. Ratios are geometric means.

Regret under one round counts as one round; only controls and policies in trivial worlds have so
little. Kinds of adversary weigh the same however many strengths each has, and so do the sizes
(K, T, B, V).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from confee.evidence.columns import CELL, SIZE
from confee.evidence.strength import kinds
from confee.paper import theory
from confee.simulation.needs import RANKED

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.05
"""Intervals and sets of winners miss with at most this probability."""

MARGIN = 1.05
"""Labels within 5 % of the best count as equally good."""

LEAST = 1.0
"""Rounds of regret; less counts as this much."""

EQUAL = "switching"
PATTERNS = ("switching_centred", "switching_random", "packed(hyque)", "packed(rexp3b)")
"""Adversaries whose changes are not at equal distances, at the same gap."""

PAIRS = (
    ("random_restart", "ucb1"),
    ("random_restart", "glr_ucb"),
    ("random_restart", "cusum_ucb"),
    ("random_restart", "m_ucb"),
    ("random_restart", "master"),
    ("random_restart", "hyque"),
    ("glr_ucb", "ucb1"),
    ("master", "ucb1"),
    ("hyque", "ucb1"),
    ("hyque", "baque"),
    ("hyque_calibrated", "hyque"),
    ("random_restart_unaware", "ucb1"),
    ("random_restart_unaware", "glr_ucb"),
    ("random_restart_unaware", "hyque"),
)
"""Pairs that ask whether restarts help: the first policy's regret over the second's."""

BLIND = (
    ("ucb1_leader", "ucb1"),
    ("sw_ucb_leader", "sw_ucb"),
    ("glr_ucb_leader", "glr_ucb"),
    ("cbm_ucb", "ucb1_leader"),
    ("cbm_ucb", "ucb1"),
)
"""Pairs that differ in when a policy queries, or in what it plays in idle rounds."""

WIDTHS = (
    ("ucb1(exploration=0.5)", "ucb1"),
    ("sw_ucb(xi=2)", "sw_ucb"),
    ("ucb1(exploration=0.5)", "sw_ucb"),
    ("ucb1", "sw_ucb(xi=2)"),
)
"""Pairs that differ in the window, or in the constant of the confidence width (UCB1's is twice
SW-UCB's)."""

RANKING = [
    "situation",
    "V",
    "budget",
    "by",
    "label",
    "policy",
    "told",
    "level",
    "ratio",
    "low",
    "high",
    "least",
    "best",
    "adversary",
    "settings",
    "seeds",
]
QUESTIONS = [
    "question",
    "label",
    "versus",
    "V",
    "budget",
    "ratio",
    "low",
    "high",
    "restarts",
    "restarts_versus",
    "settings",
    "seeds",
]
HEAT = ["policy", "label", "told", "budget", "kind", "still", "norm", "settings"]


def played(regret: pd.DataFrame, points: pd.DataFrame, choose: int) -> pd.DataFrame:
    """The runs on the ranked maps, of the seeds that met every adversary.

    Columns beside those of `regret`: `kind` of adversary, `member` (which of its kind), `gap`,
    `budget` (ln B / ln T), `norm`: regret over T (K V / B)^{1/3}, over T sqrt(K / B) at V = 0.
    """
    cells = points.loc[points["axis"].isin(RANKED), CELL].drop_duplicates()
    runs = regret[regret["seed"] < choose].merge(cells, on=CELL)
    parameters = [c for c in runs if c.startswith("adversary.")]
    member = ["|".join(map(str, row)) for row in runs[parameters].itertuples(index=False)]
    unit = {s: _unit(*s) for s in set(runs[SIZE].itertuples(index=False, name=None))}
    units = [unit[s] for s in runs[SIZE].itertuples(index=False, name=None)]
    return runs.assign(
        kind=kinds(runs),
        member=member,
        gap=runs["adversary.gap"].round(12) if "adversary.gap" in runs else math.nan,
        budget=(np.log(runs["B"]) / np.log(runs["T"])).round(2),
        norm=runs["regret"] / units,
    )


def _unit(K: int, T: int, B: int, V: float) -> float:
    return theory.rate(K, T, B, V) if V > 0 else T * math.sqrt(K / B)


def _log(regret: pd.Series) -> pd.Series:
    return np.log(regret.clip(lower=LEAST))  # type: ignore[return-value]


# --------------------------------------------------------------------------- scores


def average(runs: pd.DataFrame) -> pd.DataFrame:
    """Return mean log regret, seeds x labels; kinds of adversary and sizes weigh the same."""
    value = runs.assign(log=_log(runs["regret"]))
    by = ["label", "seed", *SIZE]
    value = value.groupby([*by, "kind"])["log"].mean().groupby(by).mean()
    return _balanced(value)


def worst(runs: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """As `average`, against the adversary with the most mean regret of each setting and label.

    The worst case is taken over all adversaries except adaptive ones. The second frame names the
    worst adversary: label, SIZE, kind, norm (mean over seeds).
    """
    runs = runs[~runs["kind"].str.endswith("(adaptive)")]
    by = ["label", *SIZE]
    means = runs.groupby([*by, "kind", "member"])["norm"].mean().reset_index()
    picks = means.loc[means.groupby(by)["norm"].idxmax()].reset_index(drop=True)
    mine = runs.merge(picks[[*by, "kind", "member"]], on=[*by, "kind", "member"])
    value = mine.assign(log=_log(mine["regret"])).set_index([*by, "seed"])["log"]
    return _balanced(value), picks.drop(columns="member")


def _balanced(value: pd.Series) -> pd.DataFrame:
    """Return seeds x labels, for the labels that were played at every size and seed."""
    table = value.unstack("label").dropna(axis=1)
    return table.groupby("seed").mean()


def compare(scores: pd.DataFrame) -> pd.DataFrame:
    """Compare every label with the label of least mean score.

    Returns the columns ratio, low, high, least, best. `low, high` is the 95 % t-interval of the
    ratio over seeds for each label alone. `least` is a simultaneous one-sided lower limit of all
    ratios (Bonferroni over the other labels): whichever label is truly the best, its `least` is at
    most 1 with probability 95 %, whatever label it was compared with. So the set `best`, `least` at
    most MARGIN, holds the truly best label with probability 95 %, and the labels outside it are
    worse by more than the margin.
    """
    import pandas as pd

    values = scores.to_numpy(dtype=float)
    apart = values - values[:, [values.mean(axis=0).argmin()]]
    n, others = len(apart), max(apart.shape[1] - 1, 1)
    middle = apart.mean(axis=0)
    se = apart.std(axis=0, ddof=1) / math.sqrt(n) if n > 1 else middle * math.nan
    half = _t(n - 1, 1 - LEVEL / 2) * se
    logs = {
        "ratio": middle,
        "low": middle - half,
        "high": middle + half,
        "least": middle - _t(n - 1, 1 - LEVEL / others) * se,
    }
    table = pd.DataFrame({name: np.exp(log) for name, log in logs.items()}, index=scores.columns)
    table["best"] = ~(table["least"] > MARGIN)  # one seed excludes nothing
    return table.rename_axis("label").reset_index()


def _t(degrees: int, level: float) -> float:
    """Return a quantile of Student's t; NaN without a degree of freedom."""
    from scipy import stats

    return float(stats.t.ppf(level, degrees)) if degrees >= 1 else math.nan


# --------------------------------------------------------------------------- the ranking


def situation_of(known: Sequence[str]) -> str:
    """Return the most that a policy knows besides T and B: `path`, `V`, `S` or `nothing`."""
    return next((fact for fact in ("path", "V", "S") if fact in known), "nothing")


def ranking(runs: pd.DataFrame, known: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Rank the labels in each situation, at each budget and by each criterion.

    The situations are `known` (V is known: all policies except those that know the path), `unknown`
    (the policies that know neither V nor the number of changes S), and `zero` (V = 0, where nothing
    changes: the policies of `known` again). Column `V` holds a value or `all`. Column `by` is the
    criterion: the `mean` log regret over adversaries, or the `worst`. `level` is the geometric mean
    of normalised regret, and `adversary` the kind that is worst most often.

    Parameters
    ----------
    runs
        As from `played`.
    known
        Policy id -> what the policy is given.

    Returns
    -------
    DataFrame
        Columns RANKING.
    """
    import pandas as pd

    group = runs["policy"].map(lambda policy: situation_of(known[policy]))
    runs = runs.assign(group=group)[group != "path"]
    rows = []
    for budget, at in runs.groupby("budget"):
        for situation in ("known", "unknown", "zero"):
            mine = at[(at["V"] == 0) == (situation == "zero")]
            if situation == "unknown":
                mine = mine[mine["group"] == "nothing"]
            several = sorted(mine["V"].unique())
            for V in ["all", *several] if len(several) > 1 else several:
                part = mine if V == "all" else mine[mine["V"] == V]
                common = {
                    "situation": situation,
                    "V": f"{V:g}" if V != "all" else V,
                    "budget": budget,
                    "settings": len(part[SIZE].drop_duplicates()),
                    "seeds": part["seed"].nunique(),
                }
                for by, table in _both(part):
                    rows.append(table.assign(by=by, **common))
    if not rows:
        return pd.DataFrame(columns=RANKING)
    table = pd.concat(rows, ignore_index=True)
    policy = runs.drop_duplicates("label").set_index("label")[["policy", "group"]]
    table["policy"] = table["label"].map(policy["policy"])
    table["told"] = table["label"].map(policy["group"])
    order = ["situation", "V", "budget", "by", "ratio", "label"]
    return table[RANKING].sort_values(order, ignore_index=True)


def _both(runs: pd.DataFrame):
    """Yield (criterion, table) for the mean over adversaries and for the worst adversary."""
    units = runs.drop_duplicates(SIZE)
    shift = np.log([_unit(*s) for s in units[SIZE].itertuples(index=False, name=None)]).mean()
    scores = average(runs)
    table = compare(scores)
    yield "mean", table.assign(level=np.exp(scores.mean() - shift).to_numpy(), adversary="")
    scores, picks = worst(runs)
    table = compare(scores)
    most = picks.groupby("label")["kind"].agg(lambda kinds: kinds.mode().iloc[0])
    level = np.exp(scores.mean() - shift).to_numpy()
    yield "worst", table.assign(level=level, adversary=table["label"].map(most))


# --------------------------------------------------------------------------- questions


def questions(runs: pd.DataFrame) -> pd.DataFrame:
    """Return paired ratios of regret at each budget, columns QUESTIONS; `V` is `moving` or `zero`.

    - `pattern`: a label's regret where changes are packed, random or centred, over its regret where
      they are equal, at the same setting, gap and seed;
    - `restarts`: one label's regret over another's (PAIRS) on the same paths; `blind`: likewise
      (BLIND), of policies that differ in what idle rounds play, or in when they query; `width`
      (WIDTHS): in the constant of the confidence width, or in the window;
    - `plan`: a label under another query schedule, over the same policy with its default schedule.

    `ratio` is a geometric mean with its own 95 % t-interval over seeds. `restarts` and
    `restarts_versus` are mean counts per run.
    """
    import pandas as pd

    rows = []
    labels = set(runs["label"])
    asked = {"restarts": PAIRS, "blind": BLIND, "width": WIDTHS}
    pairs = [(q, a, b) for q, listed in asked.items() for a, b in listed if {a, b} <= labels]
    plans = sorted(label for label in labels if "(plan=" in label)
    pairs += [("plan", a, a.partition("(")[0]) for a in plans if a.partition("(")[0] in labels]
    for (budget, still), at in runs.groupby(["budget", runs["V"] == 0]):
        where = {"V": "zero" if still else "moving", "budget": budget}
        for question, a, b in pairs:
            first, second = at[at["label"] == a], at[at["label"] == b]
            on = [*SIZE, "kind", "member", "seed"]
            ratios = _paired(first, second, on)
            if ratios["settings"]:
                rows.append({"question": question, "label": a, "versus": b, **where, **ratios})
        if still:
            continue
        for label, mine in at.groupby("label"):
            equal = mine[mine["kind"] == EQUAL]
            for kind in PATTERNS:
                other = mine[mine["kind"] == kind]
                ratios = _paired(other, equal, [*SIZE, "gap", "seed"])
                names = {"question": "pattern", "label": label, "versus": kind}
                if ratios["settings"]:
                    rows.append({**names, **where, **ratios})
    order = ["question", "label", "versus", "V", "budget"]
    return pd.DataFrame(rows, columns=QUESTIONS).sort_values(order, ignore_index=True)


def _paired(first: pd.DataFrame, second: pd.DataFrame, on: list[str]) -> dict[str, float]:
    """exp of the mean difference of log regret over rows that agree in `on`."""
    first, second = (
        f.assign(log=_log(f["regret"]))[[*on, "log", "restarts"]] for f in (first, second)
    )
    pairs = first.merge(second, on=on, suffixes=("", "_versus"))
    apart = pairs.assign(apart=pairs["log"] - pairs["log_versus"])
    cells = ["seed", *SIZE]
    for by in ([*cells, "kind"] if "kind" in on else cells, cells, ["seed"]):
        apart = apart.groupby(by)["apart"].mean().reset_index()
    n = len(apart)
    middle = float(apart["apart"].mean()) if n else math.nan
    se = float(apart["apart"].std(ddof=1)) / math.sqrt(n) if n > 1 else math.nan
    half = _t(n - 1, 1 - LEVEL / 2) * se
    return {
        "ratio": math.exp(middle),
        "low": math.exp(middle - half),
        "high": math.exp(middle + half),
        "restarts": float(pairs["restarts"].mean()),
        "restarts_versus": float(pairs["restarts_versus"].mean()),
        "settings": len(pairs[SIZE].drop_duplicates()),
        "seeds": n,
    }


# --------------------------------------------------------------------------- the heat map


def heat(runs: pd.DataFrame, known: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Return normalised regret of each label against each kind of adversary, columns HEAT.

    The mean over seeds at the worst strength of the kind; a geometric mean over settings.
    """
    by = ["policy", "label", "budget", "kind", *SIZE]
    means = runs.groupby([*by, "member"])["norm"].mean().groupby(by).max()
    log = np.log(means.clip(lower=1e-12)).reset_index()
    table = log.groupby(by[:4])["norm"].agg(["mean", "size"]).reset_index()
    table["told"] = table["policy"].map(lambda policy: situation_of(known[policy]))
    table["norm"] = np.exp(table["mean"])
    table["still"] = table["kind"].isin(runs.loc[runs["V"] == 0, "kind"].unique())
    return table.rename(columns={"size": "settings"})[HEAT]
