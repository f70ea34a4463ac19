"""At B = T HyQue has the optimal exponent 2/3 in T; and how far it is from MASTER there."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from confee.claims.judging.lines import Line, exponents
from confee.claims.judging.rates import control_check, reason
from confee.claims.judging.ratios import paired
from confee.claims.judging.verdict import (
    MARGIN,
    Verdict,
    apply_control,
    at_horizon,
    check_axis,
    combine,
)
from confee.evidence.worst import SETTING
from confee.simulation.needs import Ask, Conf, Needs

if TYPE_CHECKING:
    import pandas as pd

    from confee.evidence import Evidence

ID = "full-feedback"
IDS = (ID,)
ABOUT = ("hyque",)

AXIS = "T=B"
LINE = Line(AXIS, (1.2e4, 3e4, 7e4, 1.7e5, 4e5, 9.6e5))
TOY_LINE = Line(AXIS, (500, 1000, 2000, 4000), K=2, V=2, phases=2)
"""The last five points are over a ratio of 30 in budgets."""

RIVAL, IDEAL, CONTROL = "master", "rexp3", "uniform"

SEEDS = {"hyque": 8, RIVAL: 8, IDEAL: 4, CONTROL: 4}
TOY_SEEDS = dict.fromkeys(SEEDS, 2)
"""Paired runs need as many of MASTER as of HyQue; those of Rexp3 spread by 1-4 % only."""


def against(K: int, T: int, B: int, V: float) -> Mapping[str, Conf]:
    """Changes at equal distances and in HyQue's last block. At B = T the worst gaps are wide for
    policies that don't restart, and narrow for windowed ones."""
    return {
        "switching": {"name": "switching", "strength": [1, 2, 4, "ceiling"]},
        "centred": {"name": "switching_centred", "strength": [8, 16, 32, "ceiling"]},
        "packed": {"name": "packed", "strength": [4, "ceiling"]},
    }


def registered(seeds: Mapping[str, int]) -> dict[str, int]:
    """Those of the policies that this installation has."""
    from confee.policies import POLICIES

    return {name: count for name, count in seeds.items() if name in POLICIES}


def asks(tag: str, toy: bool) -> list[Ask]:
    """HyQue, MASTER, Rexp3 and uniform play along B = T."""
    line, seeds = (TOY_LINE, TOY_SEEDS) if toy else (LINE, SEEDS)
    return list(line.asks(tag, registered(seeds), against))


def needs(id: str, toy: bool) -> Needs:
    """One line of cells; the exponents in K and V at B = T are for table-rows."""
    return Needs(asks=tuple(asks(ID, toy)))


def judge(evidence: Evidence) -> list[Verdict]:
    """The exponent of HyQue's R/T along B = T against -1/3; uniform play must fail."""
    runs = evidence.asked_for(ID)
    if runs.empty or not (runs["label"] == "hyque").any():
        return []
    line = TOY_LINE if evidence.toy else LINE
    worst, found = exponents(runs, [line])
    check = check_axis(found, "hyque", AXIS, sqrt_log=True)
    joint = combine([check])
    others = {label: check_axis(found, label, AXIS, sqrt_log=label == RIVAL)
              for label in (RIVAL, IDEAL) if (found["policy"] == label).any()}  # fmt: skip
    ratios = to_rival(runs, worst, line)
    verdict = Verdict(
        id=ID,
        statement="at B = T HyQue's worst-case regret grows as T^(2/3), the optimal exponent",
        place="Remark on B = T (HyQue and MASTER), and the one on the lower bound there",
        verdict=joint.verdict,
        prediction="exponent of R/T at most -1/3 in T = B; a factor sqrt(ln T) is forgiven",
        measured=f"{check.text}; {_said(ratios)}",
        horizon=at_horizon(check.horizon or line.points[-1], evidence.toy),
        control=control_check(dataclasses.replace(evidence, slopes=found), (AXIS,), CONTROL, True),
        numbers={
            AXIS: check.numbers(),
            "ratio_to_master": ratios,
            "others": {label: other.numbers() for label, other in others.items()},
        },
        seeds=check.seeds,
        interval=(check.excess_low, check.excess_high),
        interval_of=f"excess of the exponent in {AXIS}, margin {MARGIN}",
        decide=joint.decide,
        p_value=joint.p_value,
        why=reason(joint, [check]),
        number_of="excess of the exponent",
        steps=(
            check.step() | {"step": f"hyque, {AXIS}"},
            *(one.step() | {"step": f"for comparison: {label}, {AXIS}"}
              for label, one in others.items()),
        ),
        evidence=("asked",),
    )  # fmt: skip
    return [apply_control(verdict)]


def to_rival(runs: pd.DataFrame, worst: pd.DataFrame, line: Line) -> dict[str, dict]:
    """HyQue's regret over MASTER's at each point, on the paths that are worst for HyQue.

    Paired by path: the same adversary and seed. The adversary is chosen by HyQue's mean over the
    other half of the seeds, in each of a point's cells, whose pairs count together as R/T. Beside
    it `worst_over_worst`, where each has its own adversary.
    """
    if not (runs["label"] == RIVAL).any():
        return {}
    regret = worst.pivot_table(index=SETTING, columns="label", values="regret")
    where = {tuple(sizes[name] for name in SETTING): point for point, _, sizes in line.places()}
    pairs: dict[float, list] = {}
    worsts: dict[float, list[float]] = {}
    for setting, table in _pairs(runs).groupby(SETTING):
        point = where[setting]
        pairs.setdefault(point, []).append(_at_worst(table) / setting[SETTING.index("T")])
        ratio = regret.loc[setting, "hyque"] / regret.loc[setting, RIVAL]
        worsts.setdefault(point, []).append(ratio)
    return {f"{p:g}": _ratio(pairs[p], worsts[p], len(pairs)) for p in sorted(pairs)}


def _pairs(runs: pd.DataFrame) -> pd.DataFrame:
    """One row a path that both met: SETTING, entry (its adversary), seed, hyque, master."""
    parameters = [c for c in runs if c == "adversary" or c.startswith("adversary.")]
    key = [*SETTING, *parameters, "seed"]
    both = [runs.loc[runs["label"] == label, [*key, "regret"]].rename(columns={"regret": label})
            for label in ("hyque", RIVAL)]  # fmt: skip
    table = both[0].merge(both[1], on=key)
    table["entry"] = table.groupby(parameters, dropna=False).ngroup()
    return table


def _at_worst(table: pd.DataFrame) -> np.ndarray:
    """Regrets [n, 2] of one cell's pairs: each half of the seeds on the adversary of the other."""
    half = table["seed"] % 2
    picked = []
    for one in (0, 1):
        rest = table[half != one].groupby("entry")["hyque"].mean()
        if len(rest):
            own = table[(half == one) & (table["entry"] == rest.idxmax())]
            picked.append(own[["hyque", RIVAL]].to_numpy())
    return np.concatenate(picked) if picked else np.empty((0, 2))


def _ratio(pairs: list, worsts: list[float], points: int) -> dict:
    """The ratio of one point, with limits for all points at once."""
    x, y = np.concatenate(pairs).T
    return {**paired(x, y, points), "worst_over_worst": float(np.mean(worsts))}


def _said(ratios: dict[str, dict]) -> str:
    if not ratios:
        return f"{RIVAL} was not played"
    last, found = list(ratios.items())[-1]
    return (
        f"on the paths that are worst for it HyQue pays {found['ratio']:.3f} [{found['low']:.3f}, "
        f"{found['high']:.3f}] times what MASTER pays at T = {float(last):.3g}, and "
        f"{min(r['ratio'] for r in ratios.values()):.3f} to "
        f"{max(r['ratio'] for r in ratios.values()):.3f} times over all T; worst case over worst "
        f"case {found['worst_over_worst']:.3f}"
    )
