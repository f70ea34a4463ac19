"""Without a restart HyQue's regret per round still falls as B^{-1/3}, as if it had no floor.

The paper does not say this. Theorem 4.1 implies it at every horizon that can be run, as no change
test can fire there (see detection/horizon). An instance of order n plays what it learnt at the
beginning of its block until the block ends, and its share of the rounds does not depend on T
or B.

The claim is judged on drawn schedules, along rays with T/B = 10 and a fixed number of changes. The
*stale share* of a path is the mean share, over the rounds of the last block, of the active
instance's queries that precede the latest change (see the study of ages). The gap times the stale
share is the regret per round of a policy that learns perfectly and at once, so its exponent in B
must be -1/3 or less. Two controls face the same changes, exactly: a sliding window of
(sqrt(K) B / V)^{2/3} queries, whose stale share falls as B^{-1/3}, and the share of rounds whose
instance began before the latest change, which does not fall.
"""

from __future__ import annotations

import dataclasses
import json
import math
from typing import TYPE_CHECKING, Any

from confee.claims.base import Claim
from confee.claims.judging.exponents import MARGIN, Check, with_controls
from confee.claims.judging.finding import ALPHA, FAILS, HOLDS, Finding, at_horizon
from confee.claims.judging.rates import exponents_verdict
from confee.core.canonical import canonical
from confee.core.size import Size
from confee.paper import theory
from confee.simulation.needs import Ask, Draws, Needs
from confee.world.adversaries.packed import FRACTIONS

if TYPE_CHECKING:
    import pandas as pd

    from confee.evidence import Evidence

ID = "hyque-floor"

STUDY = "ages"

RATIO = 10
"""T / B on all rays."""

ORDERS, TOY_ORDERS = (10, 12, 14, 16, 18, 20, 22), (6, 9)
"""Of the last block. The horizon is its end, so that it is complete and holds half of all rounds;
T = 1.7e8 at order 22."""

GAP, ARMS = 0.5, 8

VARIATIONS = (1, 4, 16, 64)
"""V of the rays. Changes of 1/2 that are spread evenly over all rounds, as `switching` makes them:
2 V in all, V of them in the last block."""

SEEDS = {"hyque": 8, "sw_ucb": 4}
"""Of the runs beside the schedules, against `packed`: 6 changes of 1/2 in the last block."""

WINDOW = "a sliding window of (sqrt(K) B/V)^(2/3) queries"
OUTDATED = "instances started before the latest change"
"""Names of the controls, positive and negative."""

CLAIMED = theory.EXPONENTS["rate"]["B"]


def horizon(order: int) -> tuple[int, int]:
    """(T, B) with T = 10 B, such that a block of this order ends at T."""
    slots = 2 ** (order + 1) - 1
    return 2 * RATIO * slots, 2 * slots


def even(V: int) -> tuple[float, ...]:
    """The changes of `switching` in the last half of the rounds, as fractions of that half."""
    return tuple((2 * i - 1) / (2 * V + 1) for i in range(1, V + 1))


PATHS: dict[tuple[float, ...], float] = {
    **{even(V): float(V) for V in VARIATIONS},
    FRACTIONS: GAP * len(FRACTIONS),
}
"""Fractions of the last block at which the best arm changes -> V. The last path is that of the
runs, and is not judged."""


def needs(toy: bool) -> Needs:
    """Drawn schedules of HyQue with its on-demand queries, and runs on the same horizons."""
    studies, asks = [], []
    for order in TOY_ORDERS if toy else ORDERS:
        T, B = horizon(order)
        draws = 200 if toy else min(4000, max(30, int(4e7 / B)))
        parameters = {
            "T": T,
            "B": B,
            "order": order,
            "policy": "hyque",
            "draws": draws,
            "paths": [list(path) for path in PATHS],
            "windows": [theory.window(ARMS, B, V) for V in PATHS.values()],
        }
        studies.append(Draws(STUDY, parameters, seconds=max(0.1, draws * B * 1.2e-8)))
        against = {"packed": {"name": "packed", "gap": GAP}}
        for policy, seeds in SEEDS.items():
            asks.append(
                Ask(ID, {"name": policy}, Size(ARMS, T, B, PATHS[FRACTIONS]), against, seeds)
            )
    return Needs(asks=tuple(asks), studies=tuple(studies))


def judge(evidence: Evidence) -> list[Finding]:
    """Whether the stale share falls with B as the rate does, with V fixed; see the module."""
    rows = evidence.study(STUDY)
    if rows.empty:
        return []
    stale = rows[(rows["kind"] == "stale") & (rows["policy"] == "hyque")]
    by_path = {text: path.sort_values("B") for text, path in stale.groupby("changes")}
    paths = {V: by_path[_text(even(V))] for V in VARIATIONS if _text(even(V)) in by_path}
    if not paths:
        return []
    checks = [with_controls(_check(V, path), *_controls(V, path)) for V, path in paths.items()]
    verdict = exponents_verdict(evidence, CLAIM.finding, checks)
    runs = evidence.asked_for(ID)
    shares = {
        _name(V): dict(zip(path["B"].astype(str), path["stale"], strict=True))
        for V, path in paths.items()
    }
    numbers: dict[str, Any] = {
        name: {**fields, "stale": shares[name]} for name, fields in verdict.numbers.items()
    }
    numbers["runs"] = _measured(runs, by_path.get(_text(FRACTIONS)))
    return [
        dataclasses.replace(
            verdict,
            measured="; ".join(
                _measured_on(V, path, numbers[_name(V)]) for V, path in paths.items()
            ),
            horizon=at_horizon(stale["T"].max(), evidence.toy, "schedules without restart"),
            numbers=numbers,
            evidence=(f"studies/{STUDY}", *(["asked"] if len(runs) else [])),
        )
    ]


def _name(V: float) -> str:
    return f"B at V={V:g}, T/B={RATIO}"


def _text(path: tuple[float, ...]) -> str:
    """A path as the study's rows have it."""
    return json.dumps(canonical(list(path)))


def _controls(V: float, path: pd.DataFrame) -> list[tuple[str, Check]]:
    """The positive control and the negative one, by the same steps."""
    exact = {"stale_se": 0.0}
    return [
        (name, _check(V, path.assign(stale=path[column], **exact)))
        for name, column in ((WINDOW, "windowed"), (OUTDATED, "outdated"))
    ]


def _check(V: float, path: pd.DataFrame) -> Check:
    """ln(share at the largest B / at the smallest) / ln(ratio of B), against the rate."""
    from scipy import stats

    first, last = path.iloc[0], path.iloc[-1]
    check = Check(
        name=_name(V),
        rate=CLAIMED,
        points=len(path),
        span=float(last["B"] / first["B"]),
        horizon=int(last["T"]),
        seeds=int(path["drawn"].min()),
        decide="more draws",
    )
    if not (check.span > 1 and (path["stale"] > 0).all()):
        return dataclasses.replace(check, why="no stale rounds at two budgets or more")
    length = math.log(check.span)
    value = math.log(last["stale"] / first["stale"]) / length
    error = math.hypot(*(row["stale_se"] / row["stale"] for row in (first, last))) / length
    half = float(stats.norm.isf(ALPHA)) * error
    excess = value - CLAIMED
    low, high = excess - half, excess + half
    p = float(excess > MARGIN)
    if error > 0:
        p = float(stats.norm.cdf((excess - MARGIN) / error))
    check = dataclasses.replace(
        check,
        exponent=value,
        low=value - half,
        high=value + half,
        excess=excess,
        excess_low=low,
        excess_high=high,
        p_holds=p,
        p_fails=1 - p,
    )
    if low > MARGIN:
        why = f"the excess is at least {low:+.3f}, over the margin {MARGIN}"
        return dataclasses.replace(check, verdict=FAILS, why=why, decide="")
    if high <= MARGIN:
        why = f"the excess is at most {high:+.3f}, within the margin {MARGIN}"
        return dataclasses.replace(check, verdict=HOLDS, why=why, decide="")
    why = f"the excess {excess:+.3f} +- {half:.3f} has the margin {MARGIN} within its 95 % CI"
    return dataclasses.replace(check, why=why)


def _measured_on(V: float, path: pd.DataFrame, numbers: dict[str, Any]) -> str:
    """The share of the last block with outdated data at the largest budget, and its exponent."""
    last = path.iloc[-1]
    text = f"{_name(V)}: at the largest B, {last['stale']:.1%} of the last block uses data from "
    text += "before the latest change"
    if "exponent" not in numbers:
        return text
    value, low, high = (numbers[name] for name in ("exponent", "low", "high"))
    text += f", exponent {value:+.3f}, 95 % CI [{low:+.3f}, {high:+.3f}]"
    passed = ARMS * V / (GAP * last["stale"] / 2) ** 3
    return f"{text}; above the rate (constant 1, K = {ARMS}) from B = {passed:.1g} on"


def _measured(runs: pd.DataFrame, path: pd.DataFrame | None) -> list[dict]:
    """Runs against the floor gap * share / 2, as the last block is half of all rounds."""
    if runs.empty or path is None:
        return []
    floors = {int(row["T"]): GAP * row["stale"] / 2 for _, row in path.iterrows()}
    return [
        {
            "label": label,
            "T": int(T),
            "B": int(B),
            "regret_per_round": float(R.mean() / T),
            "floor": floors.get(T),
        }
        for (label, T, B), R in runs.groupby(["label", "T", "B"])["regret"]
    ]


CLAIM = Claim(
    id=ID,
    statement="without restarts HyQue's worst-case regret per round falls as B^(-1/3), and so does "
    "the share of rounds that use data from before the latest change",
    place="an implication of Theorem 4.1 where no change test can fire",
    prediction=f"the exponent of that share in B is at most {CLAIMED:+.3f}, at fixed V and "
    f"T/B = {RATIO}",
    judge=judge,
    needs=needs,
    speaks_of=("hyque",),
    ours=True,
    order=5,
    group="HyQue's rate",
    nearby=("Theorem 4.1",),
)
