"""Table 1, row by row: Rexp3 and MASTER at B = T, CBM-UCB where nothing changes, and HyQue.

Its bounds are O~ statements, so a row forgives what the proof's logarithms add, as
`hyque-rate/printed` does. The rate itself at these horizons is judged by other claims.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from confee.claims.base import Claim
from confee.claims.detection_horizon import can_fire, table
from confee.claims.full_feedback import full_rays
from confee.claims.judging.exponents import Check, Claimed, arms_log, proof_logs, root_logs
from confee.claims.judging.finding import (
    CONSISTENT,
    FAILS,
    UNDECIDED,
    VACUOUS,
    Finding,
    Step,
    at_horizon,
)
from confee.claims.judging.lines import STILL, asked_curves, asks
from confee.claims.judging.rates import USUAL, Controls, combine, controls_of, distinct, ray_checks
from confee.paper import proofs
from confee.simulation.grid import Ray
from confee.simulation.needs import Conf, Needs, Sweep

if TYPE_CHECKING:
    from confee.evidence import Evidence

ID = "table-rows"
STATIONARY = f"{ID}/stationary"

VARIATIONS, ARMS = (1, 2, 4, 8, 16, 32, 64), (2, 3, 4, 6, 8, 12, 16)

FULL = {
    "V at T=B": Ray([4], [262_144], VARIATIONS, [1], still=STILL),
    "K at T=B": Ray(ARMS, [65_536], [2], [1], still=STILL),
    "K at T=B, wide": Ray(ARMS, [262_144], [2], [1], still=STILL),
}
TOY_FULL = {"V at T=B": Ray([2], [2000], (1, 2, 4, 8), [1], still=STILL)}
STILL_RAYS = {"B at V=0": Ray([4], [3200 * 2**k for k in range(6)], [0], [10])}
TOY_STILL_RAYS = {"B at V=0": Ray([2], [300, 600, 1200, 2400], [0], [10])}
"""Rays at T = B, whose exponents in T are on the experiment's own rays, and a ray at V = 0. The
exponent in K at V = 0 is not judged: at few arms every index policy's regret grows faster than
sqrt(K)."""

GAPS = (0.5, 1, 1.5, 2, 3, 5, 8)
"""Gaps of the stationary row in units of sqrt(K / B): where an index cannot tell arms apart. A run
then commits to the right or to a wrong arm, so regret spreads by about its mean and needs many
seeds."""

WIDEST = 0.5
"""A gap that does not shrink with sqrt(K / B). Without it uniform play would keep to the rate."""

STILL_CONTROLS = Controls(positive={"B": "ucb1"}, negative={"B": "uniform"})
SEEDS = {"rexp3": 8, "master": 6, "sw_ucb": 6, "ucb1_restarted": 6, "uniform": 2}
STILL_SEEDS = {"cbm_ucb": 128, "ucb1": 128, "uniform": 2}


@dataclass(frozen=True)
class Row:
    """A row of the table.

    `name` says what was played, `claimed_text` is the row's bound, `tag` the tag of its own cells.
    """

    name: str
    policy: str
    tag: str
    claimed_text: str
    claimed: Claimed
    controls: Controls = USUAL


def _rexp3_bound(K: int, T: int, B: int, V: float) -> float:
    return proofs.rexp3b_bound(int(K), int(T), int(B), V) / T


FULL_RATE = "K^(1/3) V^(1/3) T^(2/3)"

ROWS = {
    "Besbes et al. 2014": Row(
        "Rexp3", "rexp3", ID, FULL_RATE, Claimed(logs=arms_log, explicit=True, bound=_rexp3_bound)
    ),
    "Wei and Luo 2021": Row("MASTER over UCB1", "master", ID, FULL_RATE, Claimed(logs=proof_logs)),
    "Efroni et al. 2021": Row(
        "CBM-UCB, our constants",
        "cbm_ucb",
        STATIONARY,
        "K^(1/2) T / B^(1/2)",
        Claimed("stationary", logs=root_logs, lower="stationary"),
        STILL_CONTROLS,
    ),
    "this work": Row("HyQue", "hyque", "", "K^(1/3) V^(1/3) T / B^(1/3)", Claimed(logs=proof_logs)),
}


def against(K: int, T: int, B: int, V: float) -> Mapping[str, Conf]:
    """Return adversaries that change at equal distances, in HyQue's last block, and in the best arm
    alone. At V = 0 they have the gaps GAPS and a wide gap."""
    if V == 0:
        gaps = [c * math.sqrt(K / B) for c in GAPS]
        return {
            "stationary": {"name": "stationary", "gap": [g for g in gaps if g < WIDEST] + [WIDEST]}
        }
    return {
        "switching": {"name": "switching", "strength": [1, 2, 4, "ceiling"]},
        "centred": {"name": "switching_centred", "strength": [8, 16, "ceiling"]},
        "packed": {"name": "packed", "strength": ["ceiling"]},
        "fall": {"name": "fall", "strength": [1.4, 2.8, "ceiling"]},
        "rise": {"name": "rise", "strength": [1.4, 2.8, "ceiling"]},
        "blink": {"name": "blink", "strength": [1.4, "ceiling"]},
    }


def needs(toy: bool) -> Needs:
    """The rays at B = T and where nothing changes, and HyQue's on the experiment's grid."""
    full, still = (TOY_FULL, TOY_STILL_RAYS) if toy else (FULL, STILL_RAYS)
    asked = list(
        asks(still, STATIONARY, dict.fromkeys(STILL_SEEDS, 2) if toy else STILL_SEEDS, against)
    )
    for label, ray in full.items():
        control = USUAL.negative[ray.variable]
        policies = dict.fromkeys(SEEDS, 2) if toy else dict(SEEDS)
        if ray.variable == "V":
            policies = {control: policies.pop("ucb1_restarted"), **policies}
        asked += asks({label: ray}, ID, policies, against)
        if ray.variable == "K" and ray.B[0] < 1e5:
            asked += asks({label: ray}, ID, {control: 2 if toy else 4}, against)
    sweeps = [Sweep({"name": name}, rays=("B",)) for name in ("hyque", "rexp3", "master")]
    return Needs(asks=tuple(asked), sweeps=(*sweeps, *USUAL.sweeps()))


def judge(evidence: Evidence) -> list[Finding]:
    """Return a verdict with a step for each row: `fails` if any row fails at a level divided by the
    number of rows, `consistent` if all rows are."""
    rows = {name: row_checks(row, evidence) for name, row in ROWS.items()}
    played = {name: checks for name, checks in rows.items() if checks}
    if not played:
        return []
    joints = {name: combine(checks) for name, checks in played.items()}
    outcomes = {name: outcome(ROWS[name], played[name]) for name in played}
    failing = [
        name
        for name, joint in joints.items()
        if outcomes[name] == FAILS and len(joints) * (joint.p_value or 0.0) <= 0.025
    ]
    open_ones = [name for name in ROWS if outcomes.get(name) != CONSISTENT]
    decisive = (
        min(failing, key=lambda name: joints[name].p_value or 0.0)
        if failing
        else (next((name for name in open_ones if name in played), next(iter(played))))
    )
    overall = FAILS if failing else CONSISTENT if not open_ones else UNDECIDED
    ray = joints[decisive].decisive
    ordered = [decisive, *(name for name in played if name != decisive)]
    decide = [f"{name}: {ROWS[name].name} was not simulated" for name in rows if name not in played]
    decide += [
        f"{ROWS[name].name}: {joints[name].decide}" for name in played if joints[name].decide
    ]
    vacuous = [name for name in played if outcomes[name] == VACUOUS]
    decide += [f"{ROWS[name].name}: {_no_test_fires()}" for name in vacuous]
    return [
        CLAIM.finding(
            as_printed=overall,
            prediction="; ".join(f"{row.name} {row.claimed_text}" for row in ROWS.values())
            + "; allowed: for MASTER and HyQue all logarithms of the proof, for CBM-UCB "
            "sqrt(ln B), for Rexp3 only its ln K",
            measured="; ".join(
                f"{ROWS[name].name}: {', '.join(c.text for c in _deciding_first(played[name]))}"
                for name in ordered
            ),
            horizon=at_horizon(max(c.horizon for cs in played.values() for c in cs), evidence.toy),
            controls=controls_of(ray),
            numbers={
                ROWS[name].policy: {c.name: c.numbers() for c in checks}
                for name, checks in played.items()
            },
            seeds=min((c.seeds for cs in played.values() for c in cs if c.seeds), default=0),
            interval=(ray.excess_low, ray.excess_high),
            interval_of=f"excess of the exponent of {ROWS[decisive].policy} in {ray.name}, margin "
            "0.03",
            decide="; ".join(decide),
            why=f"{ROWS[decisive].name}, {ray.name}: {ray.why}"
            + (f"; {_no_test_fires()}" if decisive in vacuous else ""),
            number_of="excess of the exponent",
            steps=tuple(step(name, checks) for name, checks in rows.items()),
            evidence=("asked", "worst", "points"),
        )
    ]


def _deciding_first(checks: Sequence[Check]) -> list[Check]:
    """Return the checks of a row, beginning with the decisive check."""
    first = combine(checks).decisive
    return [first, *(check for check in checks if check is not first)]


def row_checks(row: Row, evidence: Evidence) -> list[Check]:
    """Return the checks of a row on the rays of the experiment and of the claim; the list is empty
    if the row's policy was not played."""
    worst, points = evidence.worst, evidence.points
    checks = []
    if row.tag != STATIONARY:
        rays = full_rays(points) if row.tag else None
        checks += ray_checks(worst, points, row.policy, row.claimed, row.controls, rays)
    if row.tag and not evidence.asked_for(ID if row.tag == ID else STATIONARY).empty:
        toy = evidence.toy
        own = (
            (TOY_FULL if toy else FULL)
            if row.tag == ID
            else (TOY_STILL_RAYS if toy else STILL_RAYS)
        )
        asked = asked_curves(evidence, row.tag, own)
        checks += ray_checks(*asked, row.policy, row.claimed, row.controls)
    return distinct(checks)


def outcome(row: Row, checks: Sequence[Check]) -> str:
    """The verdict of a row; MASTER's is `vacuous` where none of its tests can fire."""
    if row.policy == "master" and not master_fires(checks):
        return VACUOUS
    return combine(checks).verdict


def master_fires(checks: Sequence[Check]) -> bool:
    """Whether a change test of MASTER, whose thresholds are HyQue's at B = T, can fire at the
    largest horizon of these rays."""
    T = max(c.horizon for c in checks)
    return any(can_fire(K, T, T, 1.0) for K in (2, 3, 4))


def step(name: str, checks: Sequence[Check]) -> Step:
    """Return a row as a step of the verdict; its number is the excess on the decisive ray."""
    row = ROWS[name]
    title = f"{name}: {row.name}, {row.claimed_text}"
    if not checks:
        return Step(step=title, outcome=UNDECIDED, number=None, note="not played")
    joint, verdict = combine(checks), outcome(row, checks)
    excess = joint.decisive.excess
    notes = [*(c.text for c in checks), joint.decide]
    if verdict == VACUOUS:
        notes.insert(0, _no_test_fires())
    return Step(
        step=title,
        outcome=verdict,
        number=None if math.isnan(excess) else excess,
        note="; ".join(filter(None, notes)),
    )


def _no_test_fires() -> str:
    """Return why MASTER's row is vacuous."""
    return f"no change test can fire below T = {first_fires():.2g}"


def first_fires() -> float:
    """Return the first horizon at which a change test can fire at B = T with two arms."""
    usual = table()["log2 T + 1, else ln, delta=1/T"]["B=T"]["K=2"]
    return float(np.min(list(usual.values())))


CLAIM = Claim(
    id=ID,
    statement="each algorithm of Table 1 has worst-case regret of at most its upper bound",
    place="Table 1",
    judge=judge,
    needs=needs,
    speaks_of=("hyque",),
    order=29,
    group="HyQue's rate",
    statements=("Table 1",),
)
