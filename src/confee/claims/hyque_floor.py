"""Without a restart HyQue's regret falls at the rate all the same, as if it had no floor.

Not a sentence of the paper, but what Theorem 4.1 says where no change test can fire, that is at
every horizon that can be run (see detection/horizon). An instance of order n plays what it learnt
when its block began until the block ends, and its share of the rounds does not depend on T.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from confee import theory
from confee.claims.judging.verdict import (
    FAILS,
    HOLDS,
    UNDECIDED,
    Verdict,
    apply_control,
    at_horizon,
)
from confee.simulation.needs import Ask, Needs, Study
from confee.world.adversaries.packed import FRACTIONS

if TYPE_CHECKING:
    import pandas as pd

    from confee.evidence import Evidence

ID = "hyque-floor"
IDS = (ID,)
ABOUT = ("hyque",)

STUDY = "ages"
PATHS = ((0.1,), FRACTIONS[:4], FRACTIONS)
"""Fractions of the last block at which the best arm changes: 1, 4 and 6 changes."""

ORDERS, TOY_ORDERS = (10, 12, 14, 16, 18, 20, 22), (6, 9)
"""Of the last block; the horizon is its end, so that it is complete and half of all rounds: up to
T = 10^9."""

EXPONENT = 0.8
GAP, ARMS = 0.5, 8
"""Of the runs beside the schedules, against `packed`: 6 changes of 1/2."""

SEEDS = 8

CLAIMED = theory.EXPONENTS["rate"]["B"]
FLOOR_MARGIN, MARGIN = 0.1, 0.03
"""`fails`: the exponent in B is over the claimed one by 0.1; `holds`: by 0.03 at most."""

LEVEL = 0.05
"""Two-sided level of the limits of all paths together (Bonferroni)."""


def horizon(order: int) -> tuple[int, int]:
    """(T, B), B about T^0.8 and a divisor of 2T, such that a block of this order ends at T."""
    slots = 2 ** (order + 1) - 1
    b = round(2 * (2 * 2 ** (order + 1)) ** ((1 - EXPONENT) / EXPONENT))
    return b * slots, 2 * slots


def needs(id: str, toy: bool) -> Needs:
    """Drawn schedules of HyQue with its on-demand queries, and runs on the same horizons."""
    studies, asks = [], []
    for order in TOY_ORDERS if toy else ORDERS:
        T, B = horizon(order)
        draws = min(4000, max(30, int(4e7 / B)))
        parameters = {
            "T": T, "B": B, "exponent": EXPONENT, "order": order, "policy": "hyque",
            "draws": 200 if toy else draws, "paths": [list(path) for path in PATHS],
        }  # fmt: skip
        studies.append(
            Study(STUDY, parameters, seconds=0.1 if toy else max(2.0, draws * B * 2.5e-8))
        )
        against = {"packed": {"name": "packed", "gap": GAP}}
        V = GAP * len(FRACTIONS)
        asks.append(Ask(ID, {"name": "hyque"}, ARMS, T, B, V, against, SEEDS))
    return Needs(asks=tuple(asks), studies=tuple(studies))


def judge(evidence: Evidence) -> list[Verdict]:
    """Whether the share of rounds played on stale data falls with B as the rate does.

    Stale: the active instance made its queries before the best arm changed (see the study). gap
    times that share is the regret per round of a policy that learns perfectly and at once.
    """
    rows = evidence.study(STUDY)
    if rows.empty:
        return []
    stale = rows[(rows["kind"] == "stale") & (rows["policy"] == "hyque")]
    if not exponents(stale):
        return []
    paths = exponents(stale)
    outcome = combined(paths)
    worst = max(paths.values(), key=lambda path: path["low"])
    ceilings = exponents(stale.assign(stale=stale["outdated"], stale_se=0.0))
    highest = max(path["exponent"] for path in ceilings.values())
    runs = evidence.asked_for(ID)
    verdict = Verdict(
        id=ID,
        statement="without a restart HyQue's worst-case regret still falls as B^(-1/3): the share "
        "of rounds played on data from before the latest change does",
        place="what Theorem 4.1 implies where no change test can fire",
        verdict=outcome,
        prediction=f"exponent of that share in B at most {CLAIMED:+.3f}",
        measured="; ".join(_text(path) for path in paths.values()),
        horizon=at_horizon(stale["T"].max(), evidence.toy, "schedules without restart"),
        control={
            "what": "share of rounds whose instance began before the latest change (exact)",
            "value": highest,
            "failed": combined(ceilings) == FAILS,
            "note": "exponent in B",
        },
        numbers={"paths": paths, "runs": _measured(runs, stale)},
        seeds=int(stale["drawn"].min()),
        interval=(worst["low"], worst["high"]),
        interval_of="exponent of the stale share in B, of the path where it falls least",
        decide=_overtakes(paths) if outcome == FAILS else
        "more draws, or a longer horizon" if outcome == UNDECIDED else "",
        why=f"one path is enough: with {_changes(worst)} the exponent is in [{worst['low']:+.3f}, "
        f"{worst['high']:+.3f}], limits for {len(paths)} paths at once, where {CLAIMED:+.3f} is "
        f"claimed; over it by {FLOOR_MARGIN} fails, by {MARGIN} at most holds",
        evidence=(f"studies/{STUDY}", *(["asked"] if len(runs) else [])),
    )  # fmt: skip
    return [apply_control(verdict)]


def exponents(stale: pd.DataFrame) -> dict[str, dict]:
    """Of each path of changes, see `exponent`; paths that are never stale have none."""
    groups = [some for _, some in stale.groupby("changes") if (some["stale"] > 0).all()]
    found = [exponent(some, LEVEL / max(len(groups), 1)) for some in groups]
    return {_changes(path): path for path in found}


def exponent(rows: pd.DataFrame, level: float) -> dict:
    """ln(stale at the largest B / at the smallest) / ln(ratio of B), with limits at `level`."""
    from scipy import stats

    rows = rows.sort_values("B")
    first, last = rows.iloc[0], rows.iloc[-1]
    ratio = math.log(last["B"] / first["B"])
    value = math.log(last["stale"] / first["stale"]) / ratio
    errors = [row["stale_se"] / row["stale"] for row in (first, last)]
    half = float(stats.norm.isf(level / 2)) * math.hypot(*errors) / ratio
    return {
        "changes": len(json.loads(first["changes"])),
        "exponent": value,
        "low": value - half,
        "high": value + half,
        "share": float(last["stale"]),
        "share_se": float(last["stale_se"]),
        "shares": {f"T={t:.3g}": s for t, s in zip(rows["T"], rows["stale"], strict=True)},
    }


def combined(paths: dict[str, dict]) -> str:
    """`fails` if the share falls too slowly along one path, `holds` if it falls on all of them."""
    if not paths:
        return UNDECIDED
    if any(path["low"] > CLAIMED + FLOOR_MARGIN for path in paths.values()):
        return FAILS
    if all(path["high"] <= CLAIMED + MARGIN for path in paths.values()):
        return HOLDS
    return UNDECIDED


def _changes(path: dict) -> str:
    return "1 change" if path["changes"] == 1 else f"{path['changes']} changes"


def _text(path: dict) -> str:
    return (
        f"{_changes(path)}: stale in {path['share']:.1%} +- {2 * path['share_se']:.1%} of the last "
        "block at the largest T, "
        f"B^{path['exponent']:+.3f} [{path['low']:+.3f}, {path['high']:+.3f}]"
    )


def _measured(runs: pd.DataFrame, stale: pd.DataFrame) -> list[dict]:
    """Runs against the floor gap * share / 2 (the last block is half of all rounds)."""
    if runs.empty:
        return []
    longest = stale[stale["changes"].map(lambda c: len(json.loads(c))) == len(FRACTIONS)]
    floors = {int(row["T"]): GAP * row["stale"] / 2 for _, row in longest.iterrows()}
    found = []
    for (T, B), some in runs.groupby(["T", "B"]):
        mean = float(some["regret"].mean() / T)
        found.append({"T": int(T), "B": int(B), "regret_per_round": mean, "floor": floors.get(T)})
    return found


def _overtakes(paths: dict[str, dict]) -> str:
    """From which B on the floor is above the rate (constant 1), gap 1."""
    said = []
    for path in paths.values():
        V, floor = path["changes"], path["share"] / 2
        said.append(f"{2 * V / floor**3:.1g} for V={V}")
    return f"with gap 1 and K=2 the floor passes (K V/B)^(1/3) from B = {', '.join(said)} on"
