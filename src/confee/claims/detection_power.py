"""HyQue's change tests fire after a large change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from confee.claims.base import Claim
from confee.claims.judging import change_tests
from confee.claims.judging.change_tests import CALIBRATED, JUDGED, WHERE
from confee.claims.judging.finding import (
    FAILS,
    HOLDS,
    UNDECIDED,
    VACUOUS,
    Control,
    Finding,
    Step,
    apply_control,
    at_horizon,
)
from confee.claims.judging.shares import limits
from confee.core.size import Size
from confee.paper import proofs, theory
from confee.simulation.needs import Ask, Draws, Needs

if TYPE_CHECKING:
    import pandas as pd

    from confee.evidence import Evidence

ID = "detection/power"

SIZE = 0.5

AGAINST = {
    "jump": {"name": "single_jump", "size": SIZE, "time": ["quarter", "half", "last_block"]},
    "still": {"name": "stationary", "gap": SIZE, "level": 0.5},
}
"""The jump, and the same means without the jump, where restarts answer no change."""

DETECTED = 0.9
"""Share of runs in which a restart must follow. The paper says with high probability."""

RUNS, TOY_RUNS = 40, 8

TWIN = "glr_ucb"
"""A policy whose test does answer such a jump: it shows that the check can hold."""

STUDY = "change_statistics"

FALSE_ALARMS = 0.05
"""Share of runs that may restart on any stationary path, for a scale that is called honest."""

STILL = ((0.05, 0.0), (0.5, 0.0), (0.95, 0.0), (0.5, SIZE))
"""(level, lead of the good arm) of the stationary paths an honest scale must be quiet on."""


def needs(toy: bool) -> Needs:
    """The jump at scale 1, at smaller scales, calibrated and for the twin; and the statistics."""
    scales = () if toy else change_tests.SCALES
    asks = change_tests.asks(ID, toy, scales, AGAINST, TOY_RUNS if toy else RUNS)
    return Needs(asks=(*asks, *_twin_asks(toy)), studies=tuple(_studies(toy)))


def _twin_asks(toy: bool):
    """The twin in the same cells; in a toy run, too, as often as it takes to hold."""
    for K, T, B in change_tests.TOY_CELLS if toy else change_tests.CELLS:
        yield Ask(ID, {"name": TWIN}, Size(K, T, B, change_tests.VARIATION), AGAINST, RUNS)


def _studies(toy: bool):
    runs = TOY_RUNS if toy else RUNS
    for K, T, B in change_tests.TOY_CELLS if toy else change_tests.CELLS:
        paths = [("none", level, lead) for level, lead in STILL]
        paths += [(change, 0.5, SIZE) for change in ("swap", "fall", "rise")]
        for change, level, size in paths:
            parameters = {"K": K, "T": T, "B": B, "change": change, "level": level, "size": size}
            parameters |= {"at": 0.5, "runs": runs}
            yield Draws(STUDY, parameters, seconds=runs * B * 1.2e-7)


def judge(evidence: Evidence) -> list[Finding]:
    """Judge restarts at scale 1 after a jump of 1/2; other scales are steps.

    The outcome is `vacuous` where no test can fire. It is `fails` if, in any cell and for any time
    of the jump, the share of runs with a restart is under DETECTED, by exact limits for all of them
    together, and `holds` if the share is over DETECTED in all of them. The control is the same
    policy where nothing jumps. The control must fail; if the policy restarts there too, a restart
    says nothing. The twin goes through the same check as a step that must hold, which shows that
    the check itself can be passed.

    Every restart in a run with a jump counts, even before the jump or long after it, because runs
    record the number of restarts and not their times. This favours the claim.
    """
    runs = evidence.asked_for(ID)
    if runs.empty or not (runs["label"] == JUDGED).any():
        return []
    twin, runs = runs[runs["policy"] == TWIN], runs[runs["policy"] != TWIN]
    parts = {label: _split(runs[runs["label"] == label]) for label in change_tests.labels(runs)}
    checks = {label: _check(*part) for label, part in parts.items()}
    printed, (jumps, _) = checks[JUDGED], parts[JUDGED]
    other = {} if twin.empty else {TWIN: _check(*_split(twin), free=True)}
    first = {
        f"K={K}": {
            test: change_tests.first_horizon(K, _exponent(jumps), factor)
            for test, factor in (("(ii)", proofs.MEAN_TEST), ("(i)", proofs.SPAN_TEST))
        }
        for K in sorted(set(jumps["K"]))
    }
    when = "; ".join(
        f"{t['(ii)']:.2g} for (ii), {t['(i)']:.2g} for (i), {K}" for K, t in first.items()
    )
    separation = _separation(evidence.study(STUDY))
    verdict = CLAIM.finding(
        as_printed=printed["outcome"],
        prediction=f"at scale 1, B = T^{_exponent(jumps):.2g}, no test can fire before T = {when}",
        measured="; ".join(
            f"{change_tests.name(parts[label][0])}: {check['text']}"
            for label, check in checks.items()
        ),
        horizon=at_horizon(runs["T"].max(), evidence.toy),
        controls=(_control(printed),),
        numbers={"scales": checks, "first_T": first, "statistics": separation, "twin": other},
        seeds=int(jumps.groupby([*WHERE, "adversary.time"]).size().min()),
        interval=(printed["low"], printed["high"]),
        interval_of="share of runs with a restart after the jump at scale 1",
        decide=_decide(printed, when),
        why=printed["why"],
        number_of="share of runs with a restart, less that without a jump",
        steps=(
            *(_step(change_tests.name(parts[label][0]), check) for label, check in checks.items()),
            *(_step(f"{name}, which must hold", check) for name, check in other.items()),
            *([_rise_step(parts[CALIBRATED][0])] if CALIBRATED in parts else []),
            *(_statistics_step(row) for row in separation),
        ),
        evidence=("asked", *([f"studies/{STUDY}"] if separation else [])),
    )
    return [apply_control(verdict) if printed["possible"] else verdict]


def _exponent(runs: pd.DataFrame) -> float:
    """ln B / ln T of the cells, the largest."""
    return float((np.log(runs["B"].astype(float)) / np.log(runs["T"].astype(float))).max())


def _split(runs: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The runs with a jump and those without."""
    jumps = runs["adversary"] == "single_jump"
    return runs[jumps], runs[~jumps]


def _check(jumps: pd.DataFrame, still: pd.DataFrame, free: bool = False) -> dict:
    """Restarts after the jump, and where there is none, of one label; see `judge`.

    `free`: its test is not HyQue's, and can fire in any cell.
    """
    groups = change_tests.restarting(jumps, [*WHERE, "adversary.time"])
    counts = change_tests.pooled(jumps)
    able = free or bool(change_tests.possible(jumps).any()) or counts["restarting"] > 0
    anyway = _judged(change_tests.restarting(still, WHERE))[0] if len(still) else None
    if not able:
        outcome, why = VACUOUS, "the threshold 3 rho^ exceeds 1 in every cell, so no test can fire"
    elif anyway == HOLDS:
        outcome, why = VACUOUS, "it also restarts without a jump"
    else:
        outcome, why = _judged(groups)
    share = float((still["restarts"] > 0).mean()) if len(still) else None
    text = f"{counts['restarting']} of {counts['runs']} runs restart"
    if share is not None:
        text += f", {share:.0%} without a jump"
    return {
        "outcome": outcome,
        "why": why,
        "text": text,
        **counts,
        "possible": able,
        "still": share,
        "control": anyway,
    }


def _judged(groups: pd.DataFrame) -> tuple[str, str]:
    """Shares of runs with a restart against DETECTED."""
    least, most = groups["high"].min(), groups["low_alone"].min()
    if least < DETECTED:
        return FAILS, f"at most {least:.2g} of runs restart, {DETECTED:g} is required"
    if most >= DETECTED:
        return HOLDS, f"at least {most:.2g} of runs restart in every cell, {DETECTED:g} is required"
    return UNDECIDED, f"the share is in [{most:.2g}, {least:.2g}], {DETECTED:g} is required"


def _control(check: dict) -> Control:
    return Control(
        what="the same policy without a jump",
        value=check["still"],
        as_expected=None if check["control"] is None else check["control"] == FAILS,
        note="share of runs that restart",
    )


def _decide(check: dict, when: str) -> str:
    if not check["possible"]:
        return f"{check['why']}; T must be over {when}"
    return "more runs" if check["outcome"] == UNDECIDED else ""


def _step(name: str, check: dict) -> Step:
    """A label; its number is the share of runs that the jump adds to those that restart anyway."""
    return Step(
        step=name,
        outcome=check["outcome"],
        number=check["share"] - (check["still"] or 0.0),
        note=f"{check['text']}; {check['why']}",
    )


def _rise_step(runs: pd.DataFrame) -> Step:
    """Test (i) at a calibrated scale needs 9 rho^(2^m) < 1, m at most the order of a block."""
    cells = set(runs[[*WHERE, "policy.scale"]].itertuples(index=False, name=None))
    least = min(
        scale * proofs.change_threshold(proofs.SPAN_TEST, T, 2 ** theory.last_block(T, B)[0], K)
        for K, T, B, scale in cells
    )
    return Step(
        step="test (i) at the calibrated scale",
        outcome=VACUOUS if least >= 1 else UNDECIDED,
        number=least,
        note="9 rho^(2^m) at the largest order m of any block: from 1 on the test cannot fire",
    )


def _separation(rows: pd.DataFrame) -> list[dict]:
    """What the tests could give at the best scale, from their statistics (see the study).

    For each cell and change: `honest`, the scale at which 5 % of runs restart on the worst
    stationary path, the share of runs that it detects, and the share at `own`, the scale set on the
    same means without the change, which no policy can know.
    """
    if rows.empty:
        return []
    result = []
    for (K, T, B), cell in rows.groupby(WHERE):
        still = cell[cell["change"] == "none"]
        quiet = still.groupby(["level", "size"])["ratio"].quantile(1 - FALSE_ALARMS)
        for change, changed in cell[cell["change"] != "none"].groupby("change"):
            level, size = changed["level"].iloc[0], changed["size"].iloc[0]
            own = float(quiet[level, 0.0 if change == "rise" else size])
            hits = int((changed["ratio"] >= quiet.max()).sum())
            low, high = limits(hits, len(changed))
            result.append(
                {"K": int(K), "T": int(T), "B": int(B), "change": change, "runs": len(changed)}
                | {"honest": float(quiet.max()), "detected": hits / len(changed)}
                | {"low": low, "high": high, "median": float(changed["ratio"].median())}
                | {"own": own, "detected_at_own": float((changed["ratio"] >= own).mean())}
            )
    return result


def _statistics_step(row: dict) -> Step:
    outcome = FAILS if row["high"] < DETECTED else HOLDS if row["low"] >= DETECTED else UNDECIDED
    return Step(
        step=f"any scale with {FALSE_ALARMS:.0%} false restarts, {row['change']}, K={row['K']}, "
        f"T={row['T']:.3g}",
        outcome=outcome,
        number=row["detected"],
        note=f"the largest statistic is {row['median'] / row['honest']:.2g} of the threshold "
        f"(scale {row['honest']:.2g}); at the scale for these means without it ({row['own']:.2g}) "
        f"{row['detected_at_own']:.0%} restart",
    )


CLAIM = Claim(
    id=ID,
    statement="after a jump of 1/2 a change test fires",
    place="Section 3.2.2, change tests",
    judge=judge,
    needs=needs,
    ours=True,
    speaks_of=("hyque",),
    order=26,
    group="Change tests",
    statements=("change tests",),
)
