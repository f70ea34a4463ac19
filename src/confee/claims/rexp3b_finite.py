"""Rexp3B's regret is below the explicit bound of its proof, at every size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from confee.claims.base import Claim
from confee.claims.judging.finding import (
    FAILS,
    UNDECIDED,
    Control,
    Correction,
    Finding,
    Reading,
    apply_control,
    at_horizon,
)
from confee.claims.judging.rates import VARIABLES
from confee.claims.judging.ratios import LEVEL, at_most
from confee.core.size import Size
from confee.evidence.columns import CELL, SIZE
from confee.evidence.worst import worst_cases
from confee.paper import proofs
from confee.simulation.needs import Ask, Needs, Sweep

if TYPE_CHECKING:
    import pandas as pd

    from confee.evidence import Evidence

ID = "rexp3b-finite"

CONTROL = "rexp3b(pool=set)"

REPLAY = Correction(
    place="Algorithm 3, last line",
    printed=r"an arm uniformly at random from the set "
    r"$\{a_{t'} : t' = \tau+1, \dots, \tau+\Delta_B\}$",
    mended=r"a round $t'$ uniformly at random from $\tau+1, \dots, \tau+\Delta_B$, "
    r"and its arm $a_{t'}$",
    severity="condition",
    reason="the proof replays each arm in proportion to its plays; to replay each distinct arm "
    "equally often is nearly uniform play",
    effect="Theorem C.1 holds for the corrected line only",
    shown="docs/proofs/rexp3b.md",
)

AGAINST = {"stationary": {"name": "stationary", "gap": 0.5}}
"""The control plays almost uniformly: it loses 3/8 per round here, and the bound is near 1/4."""


def needs(toy: bool) -> Needs:
    """The rays, and a cell with B large and V small, where the bound says something."""
    B, seeds = (50_000, 2) if toy else (200_000, 8)
    asks = [
        Ask(ID, {"name": "rexp3b", "pool": pool}, Size(4, 1_000_000, B, 0.25), AGAINST, seeds)
        for pool in ("multiset", "set")
    ]
    sweeps = () if toy else (Sweep({"name": "rexp3b"}, rays=VARIABLES, estimate=4),)
    return Needs(sweeps=sweeps, asks=tuple(asks))


def judge(evidence: Evidence) -> list[Finding]:
    """`fails` if the worst case of a cell is above the bound, `holds` if all are below."""
    cells = over_bound(evidence, "rexp3b")
    if cells.empty:
        return []
    outcome = at_most(cells, 1.0)
    worst = cells.loc[cells["ratio"].idxmax()]
    where = ", ".join(f"{name}={worst[name]:.6g}" for name in SIZE)
    loosest = cells.loc[cells["high"].idxmax()]
    loose = ", ".join(f"{name}={loosest[name]:.6g}" for name in SIZE)
    control = _control(evidence)
    telling = int((cells["bound"] < (1 - 1 / cells["K"]) * cells["T"]).sum())
    verdict = CLAIM.finding(
        as_printed=outcome,
        measured=f"regret over the bound at most {worst['ratio']:.3g} [{worst['low']:.3g}, "
        f"{worst['high']:.3g}] at {where}; {len(cells)} cells, in {telling} of them the bound is "
        "below the largest regret of uniform play",
        horizon=at_horizon(cells["T"].max(), evidence.toy),
        controls=(control,),
        corrections=(REPLAY.now(outcome),),
        readings=replays_set(control, "its regret is up to {:.3g} times the bound"),
        numbers={
            "cells": len(cells),
            "cells_where_uniform_play_could_break_it": telling,
            "largest_ratio": float(worst["ratio"]),
            "smallest_ratio": float(cells["ratio"].min()),
        },
        seeds=int(cells["seeds"].min()),
        interval=(float(worst["low"]), float(worst["high"])),
        interval_of="largest regret over the bound, limits for all cells at once",
        decide="" if outcome != UNDECIDED else f"more seeds at {loose}",
        why=f"limits of {len(cells)} cells together at {1 - LEVEL:.0%}: the largest upper one is "
        f"{loosest['high']:.3g}, the largest lower one {cells['low'].max():.3g}, against 1",
        evidence=("worst", "asked"),
    )
    return [apply_control(verdict)]


def replays_set(control: Control, measured: str) -> tuple[Reading, ...]:
    """The other reading of the last line, if Rexp3B was played so and fails."""
    if not control.as_expected:
        return ()
    text = measured.format(control.value)
    return (Reading("the set taken literally: each distinct arm equally often", FAILS, text),)


def over_bound(evidence: Evidence, label: str) -> pd.DataFrame:
    """Worst-case regret over the bound, a row for each cell in the theorem's range.

    Columns: CELL, bound, ratio, low, high, seeds; limits for all rows together (Bonferroni).
    """
    import pandas as pd
    from scipy import stats

    worst = pd.concat(
        [
            frame
            for frame in (evidence.worst, worst_cases(evidence.asked_for(ID), choose=0))
            if "label" in frame and len(frame)
        ]
        or [pd.DataFrame(columns=[*CELL, "in_range"])]
    )
    cells = worst[(worst["label"] == label) & worst["in_range"].astype(bool)]
    cells = cells.drop_duplicates(CELL).reset_index(drop=True)
    if cells.empty:
        return cells
    settings = cells[SIZE].itertuples(index=False, name=None)
    bound = np.array([proofs.rexp3b_bound(*setting) for setting in settings])
    t = stats.t.isf(LEVEL / 2 / len(cells), np.maximum(cells["seeds"] - 1, 1))
    half = (t * cells["se"]).fillna(np.inf)
    regret = cells["regret"]
    return cells[[*CELL, "seeds"]].assign(
        bound=bound, ratio=regret / bound, low=(regret - half) / bound, high=(regret + half) / bound
    )


def _control(evidence: Evidence) -> Control:
    """Rexp3B that replays the set of arms, through the same check."""
    cells = over_bound(evidence, CONTROL)
    played = len(cells) > 0
    return Control(
        what=f"{CONTROL}: largest regret over the bound",
        value=float(cells["ratio"].max()) if played else None,
        as_expected=at_most(cells, 1.0) == FAILS if played else None,
        note="a large B and a small V, where the bound is below uniform play" if played else "",
    )


CLAIM = Claim(
    id=ID,
    statement="Rexp3B, given V: worst-case regret is at most the bound of its proof, constants "
    "included",
    place="Theorem C.1, step 3 of its proof (Appendix C.2)",
    prediction="regret over the bound is at most 1 in every cell",
    judge=judge,
    needs=needs,
    speaks_of=("rexp3b",),
    order=22,
    group="Rexp3B",
    statements=("step 3 of C.2",),
)
