"""Table 1, row by row: Rexp3 and MASTER at B = T, CBM-UCB where nothing changes, and HyQue."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from confee.claims import full_feedback
from confee.claims.judging.lines import Line, all_of, asked_slopes
from confee.claims.judging.rates import control_check, rate_checks, reason
from confee.claims.judging.verdict import (
    ALPHA,
    FAILS,
    HOLDS,
    MARGIN,
    UNDECIDED,
    Check,
    Verdict,
    apply_control,
    at_horizon,
    check_axis,
    combine,
)
from confee.evidence.slopes import axis_of
from confee.simulation.needs import Ask, Conf, Needs

if TYPE_CHECKING:
    import pandas as pd

    from confee.evidence import Evidence

ID = "table-rows"
STILL = f"{ID}/stationary"
IDS = (ID,)
ABOUT = ("hyque",)

FULL = (
    full_feedback.LINE,
    Line("V", (0.5, 1, 2, 4, 8, 16), T=1e5, B=1e5),
    Line("K", (2, 3, 4, 6, 8, 12, 16), T=1e5, B=1e5, V=2),
)
STATIONARY = (
    Line("B", (1e3, 2.5e3, 6e3, 1.5e4, 3.5e4), T=1e6, V=0, phases=2),
    Line("K", (2, 3, 4, 6, 8, 12, 16, 32), T=1e6, B=2e4, V=0, phases=2),
)
TOY_STATIONARY = (Line("B", (300, 600, 1200, 2400), K=2, T=1e4, V=0, phases=2),)
"""Lines at B = T and V > 0, and at V = 0. An axis B has its last five points over a ratio of 30."""

GAPS = (0.5, 1, 1.5, 2, 3, 5, 8)
"""Gaps of the stationary row in units of sqrt(K / B): where an index cannot tell arms apart. A run
then commits to the right arm or to a wrong one, so regret spreads by about its mean and needs many
seeds. The wide ones are for K^2 arms."""

WIDEST = 0.5
"""A gap that does not shrink with sqrt(K / B). Without it uniform play would keep to the rate."""

COPIED, MISLED, UNIFORM = "sw_ucb_copied", "sw_ucb_misled", "uniform"
CONTROLS = {
    (ID, "T=B"): UNIFORM, (ID, "V"): MISLED, (ID, "K"): COPIED,
    (STILL, "B"): UNIFORM, (STILL, "K"): COPIED,
}  # fmt: skip
"""What must fail on each axis. Uniform play does not depend on V, and little on K."""


@dataclass(frozen=True)
class Row:
    """A row of the table. `sqrt_log`: whether a factor sqrt(ln B) is forgiven."""

    policy: str
    tag: str
    axes: tuple[str, ...]
    claimed: str
    sqrt_log: bool


ROWS = {
    "Besbes et al. 2014": Row("rexp3", ID, ("T=B", "V", "K"), "K^(1/3) V^(1/3) T^(2/3)", False),
    "Wei and Luo 2021": Row("master", ID, ("T=B", "V", "K"), "K^(1/3) V^(1/3) T^(2/3)", True),
    "Efroni et al. 2021": Row("cbm_ucb", STILL, ("B", "K"), "K^(1/2) T / B^(1/2)", True),
    "this work": Row("hyque", ID, ("T=B",), "K^(1/3) V^(1/3) T / B^(1/3)", True),
}


def stationary(K: int, T: int, B: int, V: float) -> Mapping[str, Conf]:
    """One good arm for good, at gaps in units of sqrt(K / B) and at a wide one."""
    gaps = [c * math.sqrt(K / B) for c in GAPS]
    return {"stationary": {"name": "stationary", "gap": [g for g in gaps if g < WIDEST] + [WIDEST]}}


def needs(id: str, toy: bool) -> Needs:
    """The lines at B = T, those where nothing changes, and the controls on their axes."""
    registered = full_feedback.registered
    asks: list[Ask] = full_feedback.asks(ID, toy)
    for line in () if toy else FULL[1:]:
        seeds = registered({"rexp3": 8, "master": 4, UNIFORM: 2, CONTROLS[ID, line.axis]: 4})
        asks += line.asks(ID, seeds, full_feedback.against)
    for line in TOY_STATIONARY if toy else STATIONARY:
        seeds = {"cbm_ucb": 2 if toy else 96 if line.axis == "K" else 160, UNIFORM: 2}
        asks += line.asks(STILL, registered(seeds), stationary)
        copied = {CONTROLS[STILL, line.axis]: 16} if line.axis == "K" else {}
        asks += line.asks(STILL, copied, stationary, largest_K=16)
    return Needs(asks=tuple(asks))


def judge(evidence: Evidence) -> list[Verdict]:
    """One verdict with a step for each row; each axis' control must fail on it.

    HyQue's row counts its sweeps of the experiment's grid as well, where they were played.
    """
    found = {
        ID: asked_slopes(evidence, ID, (full_feedback.TOY_LINE,) if evidence.toy else FULL),
        STILL: asked_slopes(evidence, STILL, TOY_STATIONARY if evidence.toy else STATIONARY),
    }
    if found[ID].empty and found[STILL].empty:
        return []
    rows = {name: row_checks(row, found[row.tag], evidence) for name, row in ROWS.items()}
    played = {name: checks for name, checks in rows.items() if checks}
    missing = [f"{name}: {ROWS[name].policy} was not played" for name in rows if name not in played]
    outcome, decisive, joint = all_of(played, ALPHA)
    if missing and outcome == HOLDS:
        outcome = UNDECIDED
    one = joint.decisive
    tried = {}
    for (tag, axis), label in CONTROLS.items():
        own = dataclasses.replace(evidence, slopes=found[tag])
        tried[tag, axis] = control_check(own, (axis,), label, True)
    open_ones = {ROWS[name].policy: combine(checks).decide for name, checks in played.items()}
    decide = [*missing, *(f"{policy}: {said}" for policy, said in open_ones.items() if said)]
    verdict = Verdict(
        id=ID,
        statement="worst-case regret grows at most as the upper bound of each row says",
        place="Table 1",
        verdict=outcome,
        prediction="; ".join(f"{row.policy} {row.claimed}" for row in ROWS.values())
        + "; a factor sqrt(ln B) is forgiven to all but rexp3",
        measured="; ".join(f"{ROWS[name].policy}: {', '.join(c.text for c in checks)}"
                           for name, checks in played.items()),
        horizon=at_horizon(max(c.horizon for cs in played.values() for c in cs), evidence.toy),
        control=chosen_control(tried, ROWS[decisive], one, outcome),
        numbers={ROWS[name].policy: {c.name: c.numbers() for c in checks}
                 for name, checks in played.items()}
        | {"controls": {f"{tag}, {axis}": control for (tag, axis), control in tried.items()}},
        seeds=min((c.seeds for cs in played.values() for c in cs if c.seeds), default=0),
        interval=(one.excess_low, one.excess_high),
        interval_of=f"excess of the exponent of {ROWS[decisive].policy} in {one.name}, margin "
        f"{MARGIN}",
        decide="; ".join(decide),
        p_value=min(1.0, len(played) * joint.p_value),
        why=f"row {decisive} ({ROWS[decisive].policy}): {reason(joint, played[decisive])}",
        number_of="excess of the exponent",
        steps=tuple(step(name, checks) for name, checks in rows.items()),
        evidence=("asked", "slopes") if axis_of(evidence.slopes, "hyque", "B", "upper") is not None
        else ("asked",),
    )  # fmt: skip
    return [apply_control(verdict)]


def row_checks(row: Row, found: pd.DataFrame, evidence: Evidence) -> list[Check]:
    """The checks of one row; none if its policy was not played."""
    if not (found["policy"] == row.policy).any():
        return []
    axes = [axis for axis in row.axes if axis_of(found, row.policy, axis, "upper") is not None]
    checks = [check_axis(found, row.policy, axis, row.sqrt_log) for axis in axes]
    if row.policy == "hyque" and (evidence.slopes["policy"] == row.policy).any():
        checks += rate_checks(evidence.slopes, row.policy, row.sqrt_log)
    return checks


def chosen_control(
    tried: Mapping[tuple[str, str], dict], row: Row, decisive: Check, outcome: str
) -> dict:
    """The control of the axis on which a row fails; else the first that did not fail, if any."""
    own = tried.get((row.tag, decisive.name)) or tried[ID, "T=B"]
    played = [one for one in tried.values() if one["failed"] is not None] or [own]
    control = next((one for one in played if one["failed"] is not True), played[0])
    if outcome == FAILS:
        control = own
    others = [f"{one['what']}: {'failed' if one['failed'] else 'did not fail'}"
              for one in played if one is not control]  # fmt: skip
    return {**control, "note": "; ".join(filter(None, [control["note"], *others]))}


def step(name: str, checks: Sequence[Check]) -> dict:
    """A row as a part of the verdict; the number is the excess in the axis that decides it."""
    row = ROWS[name]
    title = f"{name}: {row.policy}, {row.claimed}"
    if not checks:
        return {"step": title, "outcome": UNDECIDED, "number": None, "note": "not played"}
    joint = combine(checks)
    excess = joint.decisive.excess
    return {
        "step": title,
        "outcome": joint.verdict,
        "number": None if math.isnan(excess) else excess,
        "note": "; ".join(filter(None, [*(c.text for c in checks), joint.decide])),
    }
