"""HyQue's change tests do not fire while nothing changes."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from confee.claims.base import Claim
from confee.claims.judging import change_tests
from confee.claims.judging.change_tests import CALIBRATED, JUDGED, WHERE
from confee.claims.judging.finding import (
    CONSISTENT,
    FAILS,
    UNDECIDED,
    VACUOUS,
    Control,
    Finding,
    Step,
    apply_control,
    at_horizon,
)
from confee.simulation.needs import Ask, Needs

if TYPE_CHECKING:
    import pandas as pd

    from confee.evidence import Evidence

ID = "detection/false-alarms"

CONTROL_SCALE = 1e-5

AGAINST = {
    "alike": {"name": "stationary", "gap": 0.0, "level": [0.05, 0.5, 0.95]},
    "apart": {"name": "stationary", "gap": 0.25, "level": [0.05, 0.5]},
}
"""No gap, at the levels the scale is calibrated on, and a gap."""

WORLD = ["adversary.gap", "adversary.level"]

NOMINAL = 0.05
"""Share of runs that restart at a calibrated scale, as it is set."""

RUNS, TOY_RUNS = 20, 4


def needs(toy: bool) -> Needs:
    """Ask for stationary paths at scale 1, smaller scales, a calibrated and a control scale."""
    scales = (CONTROL_SCALE,) if toy else (*change_tests.SCALES, CONTROL_SCALE)
    asks = change_tests.asks(ID, toy, scales, AGAINST, TOY_RUNS if toy else RUNS)
    return Needs(asks=tuple(_enough(ask) for ask in asks))


def _enough(ask: Ask) -> Ask:
    """Triple the seeds of a calibrated scale, as 5 % of its runs are expected to restart."""
    more = ask.policy["name"] == CALIBRATED
    return dataclasses.replace(ask, seeds=3 * ask.seeds) if more else ask


def judge(evidence: Evidence) -> list[Finding]:
    """Judge scale 1 against delta = 1/T; other scales are steps.

    The outcome is `fails` if the share of runs that restart is over 1/T in any cell, by exact
    limits for all cells together. It is `vacuous` if no run restarts and by arithmetic none could.
    Otherwise it is `undecided`: n runs without a restart show a share of at most 3/n, never 1/T.
    """
    runs = evidence.asked_for(ID)
    if runs.empty or not (runs["label"] == JUDGED).any():
        return []
    parts = {label: runs[runs["label"] == label] for label in change_tests.labels(runs)}
    checks = {label: _check(part) for label, part in parts.items()}
    printed, control = checks[JUDGED], _control_label(parts)
    first = {K: change_tests.first_horizon(K, 1.0) for K in sorted(set(runs["K"]))}
    verdict = CLAIM.finding(
        as_printed=printed["outcome"],
        prediction="no restart: at scale 1 the threshold 3 rho^ exceeds 1 for every schedule, up "
        "to " + ", ".join(f"T = {T:.2g} (K={K})" for K, T in first.items()) + " even at B = T",
        measured=f"scale 1: {_count(printed)}; "
        + "; ".join(
            f"{change_tests.name(parts[label])}: {_count(check)}"
            for label, check in checks.items()
            if label not in (JUDGED, control)
        ),
        horizon=at_horizon(runs["T"].max(), evidence.toy),
        controls=(_control(checks.get(control)),),
        numbers={
            "scales": {
                label: {**checks[label], "scale": _scale(part)} for label, part in parts.items()
            },
            "first_T": first,
        },
        seeds=int(parts[JUDGED].groupby(WHERE + WORLD).size().min()),
        interval=(printed["low"], printed["high"]),
        interval_of="share of runs that restart at scale 1",
        decide=f"{printed['runs']} runs show a share of at most {printed['high']:.2g}, not 1/T"
        if printed["outcome"] == UNDECIDED
        else "",
        why=printed["why"],
        number_of="share of runs that restart",
        steps=(
            *(_step(part, checks[label]) for label, part in parts.items()),
            *([_nominal(parts[CALIBRATED])] if CALIBRATED in parts else []),
        ),
        evidence=("asked",),
    )
    return [apply_control(verdict)]


def _check(runs: pd.DataFrame) -> dict:
    """The runs of one label, cell by cell, against 1/T."""
    cells = change_tests.restarting(runs, WHERE)
    over = cells["low"] * cells["T"]
    worst = cells.loc[over.idxmax()]
    count, total = int(cells["restarting"].sum()), int(cells["runs"].sum())
    impossible = not change_tests.possible(runs).any()
    if over.max() > 1:
        outcome = FAILS
        why = (
            f"share of runs that restart at least {worst['low']:.2g} against 1/T = "
            f"{1 / worst['T']:.0e} (K={worst['K']:.0f}, T={worst['T']:.3g}, B={worst['B']:.3g})"
        )
    elif count == 0 and impossible:
        outcome, why = VACUOUS, "the threshold 3 rho^ exceeds 1 in every cell, so no test can fire"
    else:
        outcome = UNDECIDED
        why = f"{count} of {total} runs restart; that many runs cannot show a share of 1/T"
    mean = float(runs["restarts"].mean())
    return {"outcome": outcome, "why": why, "restarts_per_run": mean, **change_tests.pooled(runs)}


def _count(check: dict) -> str:
    text = f"{check['restarting']} of {check['runs']} runs restart"
    if check["restarting"]:
        text += f" [{check['low']:.2g}, {check['high']:.2g}]"
    return text


def _scale(runs: pd.DataFrame) -> float:
    return float(runs["policy.scale"].mean())


def _control_label(parts: dict[str, pd.DataFrame]) -> str:
    """The label played at CONTROL_SCALE or less, empty if there is none."""
    labels = [label for label, part in parts.items() if _scale(part) <= CONTROL_SCALE * 1.001]
    return labels[0] if labels else ""


def _control(check: dict | None) -> Control:
    """The smallest scale through the same check: must fail."""
    return Control(
        what=f"scale {CONTROL_SCALE:g}",
        value=check["share"] if check else None,
        as_expected=check["outcome"] == FAILS if check else None,
        note="share of runs that restart",
    )


def _step(runs: pd.DataFrame, check: dict) -> Step:
    note = f"{_count(check)}, {check['restarts_per_run']:.3g} restarts per run; {check['why']}"
    return Step(
        step=change_tests.name(runs), outcome=check["outcome"], number=check["share"], note=note
    )


def _nominal(runs: pd.DataFrame) -> Step:
    """The calibrated scale against its nominal share, in the world that restarts most.

    `fails` if the lower limit is over it, with limits for all worlds together.
    """
    worlds = change_tests.restarting(runs, [*WHERE, *WORLD])
    worst = worlds.loc[worlds["low"].idxmax()] if worlds["restarting"].any() else worlds.iloc[0]
    return Step(
        step="calibrated: at most 5 % of runs restart",
        outcome=FAILS if worlds["low"].max() > NOMINAL else CONSISTENT,
        number=float(worlds["share"].max()),
        note=f"{int(worst['restarting'])} of {int(worst['runs'])} at K={worst['K']:.0f}, "
        f"gap {worst['adversary.gap']:g}, level {worst['adversary.level']:g} "
        f"[{worst['low']:.2g}, {worst['high']:.2g}]",
    )


CLAIM = Claim(
    id=ID,
    statement="in a stationary environment a change test fires with probability at most 1/T per "
    "run",
    place="Section 3.2.2, change tests; Lemma B.4",
    judge=judge,
    needs=needs,
    speaks_of=("hyque",),
    order=25,
    group="Change tests",
    statements=("change tests",),
)
