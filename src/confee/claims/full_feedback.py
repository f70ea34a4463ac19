"""At B = T HyQue has the optimal exponent 2/3 in T; and how far it is from MASTER there.

The paper says so up to the logarithms of O~. Judged is the rate itself, at these horizons.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from confee.claims.base import Claim
from confee.claims.judging.exponents import Claimed
from confee.claims.judging.finding import Finding
from confee.claims.judging.rates import USUAL, exponents_verdict, ray_checks
from confee.claims.judging.ratios import at_worst, paired
from confee.evidence.columns import SIZE
from confee.evidence.curve import budget_log
from confee.simulation.needs import Needs, Sweep

if TYPE_CHECKING:
    import pandas as pd

    from confee.evidence import Evidence

RIVAL = "master"

CLAIMED = Claimed(logs=budget_log)


def needs(toy: bool) -> Needs:
    """HyQue, MASTER and the controls on the rays along B."""
    rivals = [Sweep({"name": name}, rays=("B",)) for name in ("hyque", RIVAL)]
    return Needs(sweeps=(*rivals, *USUAL.sweeps()))


def full_rays(points: pd.DataFrame, variables: Collection[str] = ("B",)) -> list[str]:
    """Return the rays along `variables` on which every round may be queried (T = B)."""
    rays = points[points["variable"].isin(variables)].groupby("axis")
    return [str(ray) for ray, cells in rays if (cells["T"] == cells["B"]).all()]


def judge(evidence: Evidence) -> list[Finding]:
    """The exponents of HyQue's R/T along B = T against -1/3, with the usual controls."""
    rays = full_rays(evidence.points)
    worst, points = evidence.worst, evidence.points
    checks = ray_checks(worst, points, "hyque", CLAIMED, USUAL, rays)
    if not checks:
        return []
    others = ray_checks(worst, points, RIVAL, CLAIMED, USUAL, rays)
    ratios = to_rival(evidence.regret, points, rays)
    verdict = exponents_verdict(evidence, CLAIM.finding, checks)
    compared = [check.step(f"for comparison: {RIVAL}, ") for check in others]
    return [
        dataclasses.replace(
            verdict,
            measured=f"{verdict.measured}; {_ratios_text(ratios)}",
            numbers=verdict.numbers
            | {"ratio_to_master": ratios}
            | {"others": {f"{RIVAL}, {check.name}": check.numbers() for check in others}},
            steps=(*verdict.steps, *compared),
            evidence=("regret", "worst", "points"),
        )
    ]


def to_rival(regret: pd.DataFrame, points: pd.DataFrame, rays: Collection[str]) -> dict[str, dict]:
    """HyQue's regret over MASTER's at each point, on the paths that are worst for HyQue.

    Paired by path: the same adversary and seed. The adversary is chosen by HyQue's mean over the
    other half of the seeds, in each of a point's cells, whose pairs count together as R/T.
    """
    cells = points[points["axis"].isin(rays) & (points["label"] == RIVAL) & (points["V"] > 0)]
    where = {
        tuple(row[name] for name in SIZE): (row["V"], row["point"])
        for row in cells.to_dict("records")
    }
    runs = regret[regret["label"].isin(["hyque", RIVAL]) & (regret["T"] == regret["B"])]
    pairs: dict[tuple[float, float], list] = {}
    for setting, table in _pairs(runs).groupby(SIZE):
        if setting in where:
            regrets = at_worst(table, "hyque", ["hyque", RIVAL]) / setting[SIZE.index("T")]
            pairs.setdefault(where[setting], []).append(regrets)
    ratios = {}
    for V, point in sorted(pairs):
        both = np.concatenate(pairs[V, point])
        if len(both) > 2:
            ratios[f"V={V:g}, T={point:.3g}"] = paired(both[:, 0], both[:, 1], len(pairs))
    return ratios


def _pairs(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each path that both met: SIZE, entry (adversary), seed, hyque, master."""
    parameters = [c for c in runs if c == "adversary" or c.startswith("adversary.")]
    key = [*SIZE, *parameters, "seed"]
    both = [
        runs.loc[runs["label"] == label, [*key, "regret"]].rename(columns={"regret": label})
        for label in ("hyque", RIVAL)
    ]
    table = both[0].merge(both[1], on=key)
    table["entry"] = table.groupby(parameters, dropna=False).ngroup()
    return table


def _ratios_text(ratios: dict[str, dict]) -> str:
    if not ratios:
        return f"{RIVAL} was not simulated"
    where, last = list(ratios.items())[-1]
    least, most = (f(r["ratio"] for r in ratios.values()) for f in (min, max))
    return (
        f"on HyQue's worst paths its regret is {last['ratio']:.3f} [{last['low']:.3f}, "
        f"{last['high']:.3f}] times MASTER's at {where}, and {least:.3f} to {most:.3f} "
        "times over all points"
    )


CLAIM = Claim(
    id="full-feedback",
    statement="HyQue at B = T, without logarithms: worst-case regret grows at most as T^(2/3)",
    place="Remark 4.3 on B = T, without the logarithms that its O~ hides",
    prediction="the exponent of R/T in B = T is at most -1/3; a factor sqrt(ln T) is allowed",
    judge=judge,
    needs=needs,
    speaks_of=("hyque",),
    order=28,
    group="HyQue's rate",
    nearby=("Remark 4.3",),
)
