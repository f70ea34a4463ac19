"""No policy has less regret than T (K V / B)^{1/3} / (8 * 1920^{1/3}) on the hard instance."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from confee import theory
from confee.claims.judging.finding import (
    VACUOUS,
    Control,
    Finding,
    apply_control,
    at_horizon,
)
from confee.claims.judging.hard_instance import CONTROL, LEVEL, limits, outcome, over, runs_on_hard
from confee.evidence.worst import CELL, SETTING
from confee.simulation.needs import Ask, Needs

if TYPE_CHECKING:
    import pandas as pd

    from confee.evidence import Evidence

ID = "lower-bound/measured"
IDS = (ID,)
EVERY = True

SEEDS = 16
ENOUGH = 8
"""A cell with fewer seeds tells little, and its limits are widened for being one of many: it counts
only where its policy has no other."""

SIZES = ((2, 300_000, 300_000, 2), (4, 320_000, 32_000, 4), (4, 1_280_000, 128_000, 16))
"""(K, T, B, V) at which every policy of POLICIES meets the hard instance."""

POLICIES = (
    "hyque", "baque", "rexp3b", "rexp3", "sw_ucb", "ucb1", "ucb1_restarted", "glr_ucb",
    "random_restart", "greedy_spend", "uniform", "oracle", "informed",
)  # fmt: skip


def needs(id: str, toy: bool) -> Needs:
    """The hard instance with seeds enough, beside what the experiment's policies play on it."""
    against = {"hard": {"name": "hard", "c": 1}}
    return Needs(asks=tuple(
        Ask(ID, {"name": name}, K, T, B, V, against, SEEDS)
        for K, T, B, V in (() if toy else SIZES) for name in POLICIES
    ))  # fmt: skip


def judge(evidence: Evidence) -> list[Finding]:
    """`consistent` if every policy's lower limit is above the bound, `fails` if an upper is below.

    Two checks of the measurement itself: the oracle must come out below the bound, and uniform
    play at 8 (1 - 1/K) times it.
    """
    ratios = _ratios(evidence)
    real = ratios[ratios["policy"] != CONTROL]
    if real.empty:
        return []
    least = real.loc[real["ratio"].idxmin()]
    found, decide = outcome(ratios)
    numbers: dict = {
        "cells": len(real),
        "smallest_ratio": float(least["ratio"]),
        "smallest_ratio_per_policy": real.groupby("label")["ratio"].min().to_dict(),
        "uniform": _uniform(ratios),
    }
    verdict = Finding(
        id=IDS[0],
        statement="no policy has less regret than the lower bound on its hard instance",
        place="Theorem on the lower bound, constant from its proof",
        as_printed=found,
        prediction="regret over T (K V / B)^(1/3) / (8 * 1920^(1/3)) is at least 1; uniform play "
        "8 (1 - 1/K)",
        measured=f"smallest ratio {least['ratio']:.3g} [{least['low']:.3g}, {least['high']:.3g}] "
        f"({least['label']}, K={least['K']}, T={least['T']:.3g}, B={least['B']:.3g})",
        horizon=at_horizon(real["T"].max(), evidence.toy),
        controls=(_oracle(ratios),),
        numbers=numbers,
        seeds=int(real["seeds"].min()),
        interval=(float(least["low"]), float(least["high"])),
        interval_of="smallest ratio, limits for all cells at once",
        decide=decide,
        why=f"limits of {len(real)} cells together at {1 - LEVEL:.0%} against a ratio of 1: "
        f"{(real['high'] < 1).sum()} below it, {(real['low'] >= 1).sum()} above it",
        evidence=("regret", "asked"),
    )
    verdict = apply_control(verdict)
    if numbers["uniform"]["as_predicted"] is False:
        why = "uniform play is not at 8 (1 - 1/K) times the bound: the measurement is off"
        verdict = dataclasses.replace(verdict, as_printed=VACUOUS, decide=why)
    return [verdict]


def _ratios(evidence: Evidence) -> pd.DataFrame:
    """Regret over bound per cell on `hard` with c = 1, with simultaneous limits.

    Columns: policy, CELL, ratio, low, high, seeds.
    """
    import pandas as pd

    frames = [runs_on_hard(evidence.regret, evidence.choose), runs_on_hard(evidence.asked_for(ID))]
    runs = pd.concat([frame for frame in frames if len(frame)] or frames[:1])
    runs = runs[np.isclose(runs["c"], 1)].drop_duplicates([*CELL, "seed"])
    seeds = runs.groupby(CELL)["seed"].transform("size")
    best = seeds.groupby(runs["label"]).transform("max")
    table = limits(runs[seeds >= np.minimum(best, ENOUGH)], ["policy", *CELL])
    settings = table[SETTING].itertuples(index=False, name=None)
    return over(table, [theory.lower_bound(*s) for s in settings])


def _oracle(ratios: pd.DataFrame) -> Control:
    """The control: the oracle's largest ratio, which must be below 1."""
    rows = ratios[ratios["policy"] == CONTROL]
    return Control(
        what=f"{CONTROL}: plays the best arm, regret over the bound",
        value=float(rows["ratio"].max()) if len(rows) else None,
        as_expected=bool((rows["high"] < 1).all()) if len(rows) else None,
    )


def _uniform(ratios: pd.DataFrame) -> dict:
    """Uniform play against 8 (1 - 1/K): the largest relative deviation, None if not played."""
    rows = ratios[ratios["policy"] == "uniform"]
    if rows.empty:
        return {"as_predicted": None}
    expected = rows["K"].map(theory.uniform_on_hard)
    off = (rows["ratio"] / expected - 1).abs().max()
    within = (rows["low"] <= expected * 1.001) & (rows["high"] >= expected * 0.999)
    return {"as_predicted": bool(within.all()), "largest_deviation": float(off)}
