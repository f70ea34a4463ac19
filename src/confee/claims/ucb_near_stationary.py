"""UCB1 stays optimistic, and not by much, while little changes (lemma on UCB1)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from confee import proofs, theory
from confee.claims.judging.shares import LEVEL, limits
from confee.claims.judging.verdict import (
    FAILS,
    HOLDS,
    UNDECIDED,
    Verdict,
    apply_control,
    at_horizon,
)
from confee.simulation.needs import Needs, Study

if TYPE_CHECKING:
    import pandas as pd

    from confee.evidence import Evidence

ID = "ucb-near-stationary"
IDS = (ID,)
ABOUT = ("hyque", "ucb1")

STUDY = "near_stationary"

PRINTED = 1.0
"""The constant before rho(t) in the second inequality."""

WORLDS: tuple[tuple[str, float, float], ...] = (
    ("equal", 0.05, 0.0), ("equal", 0.5, 0.0), ("equal", 0.95, 0.0), ("better", 0.5, 0.1),
    ("better", 0.5, 0.3), ("better", 0.0, 0.75), ("fall", 0.5, 0.0), ("drop", 0.5, 0.0),
    ("overtaken", 0.5, 0.1), ("exchange", 0.5, 0.0),
)  # fmt: skip
"""(world, level, gap): see the study."""

RUNS = 20
"""Runs of a world, and the least of any world for `holds`."""

MARGIN = 0.05
"""How far off, in units of rho(t), the nearest miss must be for `holds`."""

ALONE, ROUNDS = 0.75, 40
"""The world of the exact step: one arm pays with this chance, the other never; rounds counted."""


def needs(id: str, toy: bool) -> Needs:
    """Every world at K = 2, 5, 10 up to 1e5 rounds, the ones that matter longer or more often; and
    an index without bonus, which must fail."""
    if toy:
        found = [_study(2, 2000, w, RUNS) for w in (("equal", 0.5, 0.0), ("drop", 0.5, 0.0))]
        return Needs(studies=(*found, _study(2, 2000, ("equal", 0.5, 0.0), RUNS, exploration=0)))
    found = []
    for K in (2, 5, 10):
        for world in WORLDS:
            many = K == 2 and world == ("equal", 0.5, 0.0)
            found.append(_study(K, 10**5, world, 10 * RUNS if many else RUNS))
    found.append(_study(2, 10**6, ("equal", 0.5, 0.0), RUNS))
    controls = [_study(2, 10**5, world, RUNS, exploration=0) for world in (WORLDS[1], WORLDS[3])]
    return Needs(studies=(*found, *controls))


def _study(K: int, T: int, world: tuple, runs: int, exploration: float = 2.0) -> Study:
    name, level, gap = world
    parameters = {"K": K, "T": T, "world": name, "level": level, "gap": gap}
    parameters |= {"exploration": exploration, "runs": runs}
    return Study(STUDY, parameters, seconds=runs * T * (5e-8 + 6e-9 * K))


def judge(evidence: Evidence, constant: float = PRINTED) -> list[Verdict]:
    """Both inequalities, the second with `constant`, in every world of the study.

    `fails`: in some world the share of runs that break one at some round is over 1/T, by exact
    limits for all worlds together; that is the looser reading of "with probability 1 - delta/T for
    all t" with delta = 1/T: each round by itself, and T rounds. `holds`: no run breaks either,
    every world has RUNS runs at least, and the nearest miss is MARGIN rho(t) away. As n runs cannot
    show a probability of 1/T, this means: not within 3/n of being seen, and by no close shave.
    """
    rows = evidence.study(STUDY)
    if rows.empty:
        return []
    index, bare = rows[rows["exploration"] == 2], rows[rows["exploration"] == 0]
    if index.empty:
        return []
    first, second = _optimism(index), _excess(index, constant)
    exact = proofs.pessimism(ALONE, ROUNDS)
    horizon = int(index["T"].max())
    parts = [first["outcome"], second["outcome"], FAILS if exact > 1 / horizon else HOLDS]
    outcome = next((o for o in (FAILS, UNDECIDED) if o in parts), HOLDS)
    sums = {c: _excess(index, c) for c in (proofs.UCB1_CONSTANT, proofs.UCB1_CONSTANT + 1)}
    worst = index.loc[index["needed"].idxmax()]
    verdict = Verdict(
        id=ID,
        statement="while V_[1,t] <= rho(t), UCB1's index stays above the least best mean so far "
        f"less V, and its mean excess over the rewards below {constant:.3g} rho(t) + V",
        place="lemma on UCB1 (appendix, proof of the query-regret lemma); assumption on ALG "
        "(Extensions)",
        verdict=outcome,
        prediction=f"no run breaks either (chance 1/T); bonuses alone sum to "
        f"{proofs.UCB1_CONSTANT:.3g} rho(t) with equal arms",
        measured=f"second inequality with constant {constant:.3g}: broken in {second['broken']} of "
        f"{second['runs']} runs, constant needed up to {worst['needed']:.3g} ({_where(worst)}); "
        f"first: broken in {first['broken']}, nearest {-index['short'].max():.2f} rho away",
        horizon=at_horizon(horizon, evidence.toy),
        control=_control(bare),
        numbers={
            "first": first,
            "second": second,
            "needed": float(worst["needed"]),
            "needed_per_world": _per_world(index),
            "needed_per_K_and_T": {
                f"K={K}, T={T:.0e}": float(value)
                for (K, T), value in index.groupby(["K", "T"])["needed"].max().items()
            },
            "chance_of_pessimism": exact,
            "allowed": 1 / horizon,
        },
        seeds=int(index.groupby(GROUP).size().min()),
        decide=_decide(outcome, first, second, worst),
        why=f"first inequality {first['why']}; second {second['why']}",
        number_of="share of runs that break it, or as the note says",
        steps=(
            _step("first inequality", first),
            _exact_step(exact, horizon),
            _step(f"second inequality, constant {constant:.3g}", second),
            *(_step(f"second inequality, constant {c:.3g}", s) for c, s in sums.items()),
            *_side_conditions(),
        ),
        evidence=(f"studies/{STUDY}",),
    )
    return [apply_control(verdict)]


GROUP = ["K", "T", "world", "level", "gap"]


def _optimism(rows: pd.DataFrame) -> dict:
    """The first inequality: broken where `short` is over 0."""
    return _check(rows, rows["short"])


def _excess(rows: pd.DataFrame, constant: float) -> dict:
    """The second inequality with `constant` before rho(t)."""
    return _check(rows, rows["needed"] - constant)


def _check(rows: pd.DataFrame, beyond: pd.Series) -> dict:
    """Runs that are `beyond` 0 by world, against a chance of 1/T; see `judge`."""
    groups = rows.assign(broken=beyond > 0, beyond=beyond).groupby(GROUP)
    table = groups.agg(broken=("broken", "sum"), runs=("broken", "size")).reset_index()
    level = LEVEL / len(table)
    lows = [limits(int(r.broken), int(r.runs), level)[0] for r in table.itertuples()]
    table = table.assign(low=lows, over=[low * T for low, T in zip(lows, table["T"], strict=True)])
    worst = table.loc[table["over"].idxmax()]
    nearest, fewest = float(beyond.max()), int(table["runs"].min())
    if worst["over"] > 1:
        outcome = FAILS
        why = f"fails: share of runs at least {worst['low']:.2g} against 1/T ({_where(worst)})"
    elif nearest <= -MARGIN and fewest >= RUNS:
        outcome = HOLDS
        why = f"holds: no run, nearest miss {-nearest:.2g} rho, at least {MARGIN:g} asked"
    else:
        outcome = UNDECIDED
        why = (
            f"open: {int(table['broken'].sum())} runs, nearest {-nearest:.2g} rho, "
            f"{fewest} runs a world"
        )
    return {
        "outcome": outcome,
        "broken": int(table["broken"].sum()),
        "runs": int(table["runs"].sum()),
        "worlds_broken": int((table["broken"] > 0).sum()),
        "share_at_least": float(worst["low"]),
        "nearest_over_rho": nearest,
        "why": why,
    }


def _control(bare: pd.DataFrame) -> dict:
    """An index without bonus through the same check of the first inequality: must fail."""
    check = _optimism(bare) if len(bare) else {}
    return {
        "what": "an index without bonus, first inequality",
        "value": check["broken"] / check["runs"] if check else None,
        "failed": check["outcome"] == FAILS if check else None,
        "note": "share of runs that break it",
    }


def _step(name: str, check: dict) -> dict:
    share = check["broken"] / check["runs"]
    return {"step": name, "outcome": check["outcome"], "number": share, "note": check["why"]}


def _exact_step(chance: float, T: int) -> dict:
    """The first inequality against delta/T = 1/T^2: UCB1's bonus doesn't know T, the claim does."""
    return {
        "step": "first inequality, chance exactly",
        "outcome": FAILS if chance > 1 / T**2 else HOLDS,
        "number": chance,
        "note": f"chance of breaking it within {ROUNDS} rounds at any horizon (K=2, means "
        f"{ALONE:g} and 0): over delta/T = 1/T^2 from T = {chance**-0.5:.2g}, over delta = 1/T "
        f"from T = {1 / chance:.2g}; the bonus would have to grow with ln T",
    }


def _side_conditions(largest: int = 2000) -> tuple[dict, dict, dict]:
    """What the assumption asks of rho, at every t up to `largest` and K = 2, 5, 10.

    Beyond: t rho^2 >= K ln t > 1, d/dt (t ln t) > 0, and ln t / t falls from t = e on.
    """
    steps = [
        (t, theory.rho(t, K), theory.rho(t + 1, K)) for K in (2, 5, 10) for t in range(1, largest)
    ]
    least = min(r * math.sqrt(t) for t, r, _ in steps)
    growth = min((t + 1) * after - t * r for t, r, after in steps)
    rise = max(after - r for _, r, after in steps)
    return (
        _side("rho(t) >= 1 / sqrt t", least >= 1, least, "least sqrt(t) rho(t)"),
        _side("t rho(t) does not decrease", growth >= 0, growth, "least growth in a round"),
        _side("rho(t) does not increase", rise <= 0, rise, "largest growth in a round"),
    )


def _side(name: str, holds: bool, number: float, note: str) -> dict:
    return {"step": name, "outcome": HOLDS if holds else FAILS, "number": number, "note": note}


def _per_world(rows: pd.DataFrame) -> dict[str, float]:
    """The largest constant needed in each kind of world."""
    by = rows.groupby(["world", "level", "gap"])["needed"].max()
    return {f"{world} {level:g}+{gap:g}": float(value) for (world, level, gap), value in by.items()}


def _decide(outcome: str, first: dict, second: dict, worst: pd.Series) -> str:
    if outcome == FAILS:
        return (
            f"no constant up to {worst['needed']:.3g} would do ({_where(worst)}, round "
            f"{int(worst['needed_at'])})"
        )
    if outcome == UNDECIDED:
        return f"more runs: first inequality {first['why']}; second {second['why']}"
    return ""


def _where(row: pd.Series) -> str:
    return f"K={row['K']}, T={row['T']:.3g}, {row['world']} {row['level']:g}" + (
        f"+{row['gap']:g}" if row["gap"] else ""
    )
