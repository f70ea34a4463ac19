"""A policy that knows neither V nor the number of changes incurs at most T (K V/B)^{1/3}.

The paper does not say this of any constant; the question is ours. Its policy HyQue knows as little,
and is the negative control. SW-UCB that knows V and plays the leading arm in idle rounds is the
positive control. Each policy of CANDIDATES that an experiment plays is judged, in four parts:

- in each cell with V > 0 its worst-case regret is at most T (K V/B)^{1/3}. It fails only in cells
  where the positive control does not exceed this: at K = 10 the control itself does, on `shifts`;
- along B and along V it keeps that rate, by the rule and with the controls of the other rates. A
  ray whose controls do not come out is shown and decides nothing: at K = 10 and at V = 64 too few
  points of a control enter the fit;
- at V = 0 its regret at its worst gap is at most 1.3 times that of UCB1 at UCB1's worst gap, with
  the same exploration constant and the same idle rule. The ratio at each gap is shown: it is larger
  where UCB1 loses little;
- a search over the parameters of the paths finds none with more regret than T (K V/B)^{1/3}.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from confee.claims.base import Claim
from confee.claims.judging.exponents import Check, Claimed
from confee.claims.judging.finding import (
    ALPHA,
    CONSISTENT,
    FAILS,
    HOLDS,
    UNDECIDED,
    Control,
    Finding,
    Step,
    apply_control,
    at_horizon,
)
from confee.claims.judging.rates import controls_of, ray_checks
from confee.claims.judging.ratios import at_most, at_worst, paired, together
from confee.core.size import Size
from confee.evidence.columns import SIZE
from confee.evidence.curve import budget_log
from confee.paper import theory
from confee.simulation.cells import label_of
from confee.simulation.needs import Ask, Draws, Needs
from confee.simulation.studies import hardest_paths

if TYPE_CHECKING:
    import pandas as pd

    from confee.evidence import Evidence
    from confee.simulation.needs import Conf

ID = "prior-free"
STILL, PARTS, RISES = f"{ID}/still", f"{ID}/parts", f"{ID}/rises"
"""Tags of cells at V = 0, of policies with parts changed, and of rising arms at several B."""

RATE = Claimed(logs=budget_log)
"""The rate itself; a factor sqrt(ln B) is forgiven."""

CONSTANT = 1.0
"""Largest regret over T (K V/B)^{1/3}."""

AT_REST = 1.3
"""Largest regret at V = 0 over that of UCB1."""

UNJUDGED = "not judged"
"""The outcome of a ray whose controls do not come out."""

LEADER = {"idle": "leader"}
CANDIDATES: tuple[tuple[Conf, Conf], ...] = (
    ({"name": "lookout"}, {"name": "ucb1_leader", "exploration": 0.5}),
    ({"name": "glr_ucb_leader"}, {"name": "ucb1_leader"}),
    (
        {"name": "glr_ucb_leader", "exploration": 0.5, "forced": "constant"},
        {"name": "ucb1_leader", "exploration": 0.5},
    ),
    ({"name": "dal_ucb1", "detector_data": "all", **LEADER}, {"name": "ucb1_leader"}),
    ({"name": "meta", **LEADER}, {"name": "ucb1_leader"}),
    ({"name": "meta", "scale": 0.5, "replay": 0.1, **LEADER}, {"name": "ucb1_leader"}),
    ({"name": "armswitch", **LEADER}, {"name": "ucb1_leader"}),
    ({"name": "adswitch", **LEADER}, {"name": "ucb1_leader"}),
    ({"name": "lepski_ucb"}, {"name": "ucb1_leader", "exploration": 0.5}),
    ({"name": "bob_sw_ucb"}, {"name": "ucb1", "exploration": 0.5}),
    ({"name": "hyque_leader"}, {"name": "ucb1_leader"}),
    ({"name": "glr_ucb"}, {"name": "ucb1"}),
    ({"name": "hyque"}, {"name": "ucb1"}),
)
"""Policies that know K, T and B alone, and UCB1 with their exploration constant and idle rule."""

NEGATIVE, POSITIVE = "hyque", "sw_ucb_leader"
JUDGED = "lookout"

STILL_SIZES = (
    Size(4, 1_280_000, 128_000, 0),
    Size(10, 1_280_000, 128_000, 0),
    Size(4, 128_000, 128_000, 0),
    Size(10, 128_000, 128_000, 0),
)
GAPS: Mapping[str, Conf] = {
    "stationary": {"name": "stationary", "strength": [1, 1.5, 2, 3, 4, 8, 16, 32]}
}
STILL_SEEDS = 96

VARIANTS: Mapping[str, Mapping[str, Conf]] = {
    "lookout": {
        "idle rounds by frequency": {"idle": "frequency"},
        "no looks": {"checks": "none"},
        "forced plays for looks": {"checks": "forced"},
        "looks at the scale 0.1 only": {"eps": 0.1},
        "looks at the scale 0.5 only": {"eps": 0.5},
        "no restarts": {"restarts": False},
        "twice the looks": {"rate_scale": 2},
        "half the looks": {"rate_scale": 0.5},
        "exploration constant 2": {"exploration": 2},
        "half the threshold of tests": {"beta_scale": 0.5},
        "twice the threshold of tests": {"beta_scale": 2},
        "a test for rewards 0 and 1": {"test": "bernoulli"},
    },
    "hyque_leader": {
        "HyQue's idle rounds": {"idle": "frequency"},
        "HyQue's silent tests": {"tests": "none"},
        "both, which is HyQue": {"idle": "frequency", "tests": "none"},
        "the leader of the active instance": {"idle": "instance"},
    },
}
"""Policy -> what is changed in it -> its options."""

PARTS_SIZES = (
    Size(4, 1_280_000, 128_000, 4),
    Size(4, 1_280_000, 128_000, 32),
    Size(10, 128_000, 128_000, 0.25),
)
PARTS_AGAINST: Mapping[str, Conf] = {
    "switching": {"name": "switching", "strength": [1.3, 2.4, "ceiling"]},
    "switching_centred": {"name": "switching_centred", "strength": [1.3]},
    "fall": {"name": "fall", "strength": [2.4, "ceiling"]},
    "rise": {"name": "rise", "strength": [2.4, "ceiling"]},
    "blink": {"name": "blink", "strength": [1, 2.4], "duty": [0.1, 0.4]},
    "drift": {"name": "drift", "strength": [2, "ceiling"]},
    "excursions": {"name": "excursions", "strength": [2.7], "above": 0.6, "duty": 0.4},
    "flicker": {"name": "flicker", "strength": [0.4], "times": [4, 9]},
    "hidden_rise": {"name": "hidden_rise", "strength": [1, 1.7, 2.8]},
    "shifts": {"name": "shifts", "strength": [1.55, 2.3], "times": [0.9]},
}
PARTS_SEEDS = 24

RISES_SIZES = tuple(Size(4, 10 * B, B, 4) for B in (64_000, 1_024_000, 4_096_000))
RISES_POLICIES: tuple[Conf, ...] = (
    {"name": JUDGED},
    {"name": JUDGED, "checks": "forced"},
    {"name": JUDGED, "checks": "none"},
    {"name": "glr_ucb_leader"},
    {"name": "glr_ucb_leader", "exploration": 0.5, "forced": "constant"},
)
RISES_AGAINST: Mapping[str, Conf] = {
    "rise": {"name": "rise", "size": [0.15, 0.25, 0.35, 0.45, 0.6]}
}
RISES_SEEDS = 12

SEARCHES = (
    (JUDGED, Size(4, 640_000, 64_000, 4), "all"),
    (JUDGED, Size(4, 640_000, 64_000, 32), "all"),
    (JUDGED, Size(10, 640_000, 64_000, 8), "all"),
    (JUDGED, Size(4, 64_000, 64_000, 8), "all"),
    (JUDGED, Size(10, 64_000, 64_000, 0.25), "all"),
    (JUDGED, Size(10, 64_000, 64_000, 0.25), "flicker"),
    (JUDGED, Size(4, 640_000, 64_000, 4), "excursions"),
    (JUDGED, Size(10, 640_000, 64_000, 8), "excursions"),
    ("glr_ucb_leader", Size(10, 640_000, 64_000, 8), "excursions"),
    ("glr_ucb_leader", Size(10, 64_000, 64_000, 0.25), "flicker"),
    ("sw_ucb_leader", Size(10, 64_000, 64_000, 0.25), "flicker"),
)
"""(policy, size, adversary whose options are varied), see `hardest_paths`."""
SEARCH_SEEDS = 32
SECONDS = 60.0


def needs(toy: bool) -> Needs:
    """The cells at V = 0, the policies with parts changed, and the searches."""
    if toy:
        size = Size(2, 2000, 400, 0)
        confs = [conf for pair in CANDIDATES[:1] for conf in pair]
        return Needs(asks=tuple(Ask(STILL, conf, size, GAPS, 4) for conf in confs))
    met = {label_of(conf): conf for pair in CANDIDATES for conf in pair}
    still = [
        Ask(STILL, conf, size, GAPS, STILL_SEEDS) for conf in met.values() for size in STILL_SIZES
    ]
    changed = [
        {"name": name, **options}
        for name, variants in VARIANTS.items()
        for options in ({}, *variants.values())
    ]
    parts = [
        Ask(PARTS, conf, size, PARTS_AGAINST, PARTS_SEEDS)
        for conf in changed
        for size in PARTS_SIZES
    ]
    rises = [
        Ask(RISES, conf, size, RISES_AGAINST, RISES_SEEDS)
        for conf in RISES_POLICIES
        for size in RISES_SIZES
    ]
    searches = [
        Draws(
            hardest_paths.STUDY.id,
            {"policy": {"name": name}, **size._asdict()}
            | {"start": start, "toy": False, "seeds": SEARCH_SEEDS},
            SECONDS,
        )
        for name, size, start in SEARCHES
    ]
    return Needs(asks=(*still, *parts, *rises), studies=tuple(searches))


def judge(evidence: Evidence) -> list[Finding]:
    """Return a finding for each candidate that the experiment plays."""
    findings = []
    positive = normalised(evidence.worst, POSITIVE)
    controls = (_negative(normalised(evidence.worst, NEGATIVE)), _positive(positive))
    for conf, twin in CANDIDATES:
        label = label_of(conf)
        cells = normalised(evidence.worst, label)
        if len(cells):
            cells = cells.assign(outcome=in_each_cell(cells, positive))
            findings.append(_finding(evidence, label, label_of(twin), cells, controls))
    return findings


def _finding(
    evidence: Evidence, label: str, twin: str, cells: pd.DataFrame, controls: tuple[Control, ...]
) -> Finding:
    """Return the finding of one policy."""
    at_v0 = evidence.asked_for(STILL)
    still, worst_still = at_rest(at_v0, label, twin), worst_at_rest(at_v0, label, twin)
    searched = search(evidence, label)
    along = evidence.points["variable"].isin(["B", "V"])
    rays = set(evidence.points.loc[along & (evidence.points["V"] > 0), "axis"])
    rates = ray_checks(evidence.worst, evidence.points, label, RATE, rays=rays)
    top = cells.loc[cells["ratio"].idxmax()]
    cells_step = Step(
        "every cell with V > 0",
        together(cells["outcome"]),
        float(top["ratio"]),
        f"largest regret over T (KV/B)^(1/3), {_limits(top)} at {_place(top)}, against "
        f"{top['adversary']}; least {cells['ratio'].min():.2f}; {len(cells)} cells: "
        f"{tally(cells['outcome'])}",
    )
    ray_steps = [_ray_step(check) for check in rates]
    judged = {
        check.variable
        for check, step in zip(rates, ray_steps, strict=True)
        if step.outcome != UNJUDGED
    }
    at_zero = f"; V = 0: at most {worst_still['ratio'].max():.2f} times UCB1" if len(still) else ""
    steps = [cells_step, *ray_steps, *_still_steps(worst_still, twin), *_search_steps(searched)]
    total = together(step.outcome for step in steps if step.outcome != UNJUDGED)
    if total == HOLDS and judged != {check.variable for check in rates}:
        total = UNDECIDED
    verdict = CLAIM.finding(
        id=f"{ID}/{label}",
        statement=f"{label}, which knows K, T and B: worst-case regret is at most T (KV/B)^(1/3)",
        as_printed=CONSISTENT if total == HOLDS else total,
        measured=f"largest regret {_limits(top)} T (KV/B)^(1/3); rays: "
        f"{tally(step.outcome for step in ray_steps)}{at_zero}",
        horizon=at_horizon(cells["T"].max(), evidence.toy),
        controls=tuple(c for c in controls if c.what != label) or controls,
        numbers={
            "cells": _rows(cells, ["adversary"]),
            "rates": {
                check.name: check.numbers() | {"outcome": step.outcome}
                for check, step in zip(rates, ray_steps, strict=True)
            },
            "still": _rows(still, ["gap", "regret"]),
            "worst_still": _rows(worst_still, ["gap", "regret"]),
            "searches": _rows(searched, ["start", "adversary", "parameters", "tried"]),
            "parts": parts(evidence.asked_for(PARTS), label),
            "rises": rises(evidence.asked_for(RISES)) if label == JUDGED else [],
        },
        seeds=int(cells["seeds"].min()),
        interval=(float(top["low"]), float(top["high"])),
        interval_of="largest regret over T (KV/B)^(1/3)",
        decide=_decide(steps),
        number_of="regret over T (KV/B)^(1/3), or over that of UCB1 at V = 0",
        steps=tuple(steps),
        evidence=(
            "worst",
            *(["asked"] if len(still) else []),
            *([f"studies/{hardest_paths.STUDY.id}"] if len(searched) else []),
        ),
    )
    if label == NEGATIVE:
        return verdict
    wrong = [c for c in controls if c.expected == HOLDS and not c.as_expected]
    if wrong and verdict.as_printed in (CONSISTENT, FAILS):
        decide = f"the positive control {wrong[0].what} does not hold, or was not played"
        verdict = dataclasses.replace(verdict, as_printed=UNDECIDED, decide=decide)
    return apply_control(verdict) if verdict.as_printed == CONSISTENT else verdict


def tally(outcomes: Iterable[str]) -> str:
    """Return how often each outcome occurs: `holds 5, not judged 1`, or `not played`."""
    counts = Counter(outcomes)
    words = (HOLDS, FAILS, UNDECIDED, UNJUDGED)
    return ", ".join(f"{word} {counts[word]}" for word in words if counts[word]) or "not played"


def _ray_step(check: Check) -> Step:
    """Return a ray as a step; it decides nothing if its controls do not come out."""
    step = check.step("the rate along ")
    judged = all(control.as_expected for control in controls_of(check))
    return step if judged else dataclasses.replace(step, outcome=UNJUDGED)


def _still_steps(worst: pd.DataFrame, twin: str) -> list[Step]:
    """Return a step for each size at V = 0, from the rows of `worst_at_rest`."""
    return [
        Step(
            f"V = 0 at K = {row['K']:g}, T/B = {row['T'] / row['B']:g}",
            at_most(worst.loc[[index]], AT_REST),
            float(row["ratio"]),
            f"worst-case regret, at the gap {row['gap']:.3g}, over that of {twin}, {_limits(row)}; "
            f"at most {AT_REST:g} is asked for",
        )
        for index, row in worst.iterrows()
    ]


def _search_steps(searched: pd.DataFrame) -> list[Step]:
    """Return a step for each search."""
    return [
        Step(
            f"search over {row['start']} at K = {row['K']:g}, T/B = {row['T'] / row['B']:g}, "
            f"V = {row['V']:g}",
            at_most(searched.loc[[index]], CONSTANT),
            row["ratio"],
            f"{row['adversary']} with {row['parameters']} is the worst of {row['tried']} "
            f"candidates, {_limits(row)}",
        )
        for index, row in searched.iterrows()
    ]


def normalised(worst: pd.DataFrame, label: str) -> pd.DataFrame:
    """Return the cells of a label with V > 0, with the columns ratio, low and high.

    `ratio` is worst-case regret over T (K V/B)^{1/3}. Its limits hold for all cells together
    (Bonferroni), at the level ALPHA.
    """
    from scipy import stats

    cells = worst[(worst["label"] == label) & (worst["V"] > 0)].copy()
    rates = np.array([theory.rate(*s) for s in cells[SIZE].itertuples(index=False, name=None)])
    freedom = np.maximum(cells["seeds"].to_numpy(float) - 1, 1)
    width = stats.t.isf(ALPHA / 2 / max(len(cells), 1), freedom) * cells["se"].to_numpy() / rates
    ratio = cells["regret"].to_numpy() / rates if len(cells) else np.empty(0)
    return cells.assign(ratio=ratio, low=ratio - width, high=ratio + width)


def in_each_cell(cells: pd.DataFrame, control: pd.DataFrame) -> np.ndarray:
    """Return the outcome of each cell [n].

    A cell holds where the upper limit is at most CONSTANT. It fails where the lower one is above,
    and the positive control holds in the same cell.
    """
    possible = control[control["high"] <= CONSTANT][SIZE].assign(possible=True)
    merged = cells.merge(possible, on=SIZE, how="left")
    holds = merged["high"] <= CONSTANT
    fails = (merged["low"] > CONSTANT) & merged["possible"].eq(True)
    return np.select([holds, fails], [HOLDS, FAILS], UNDECIDED)


def at_rest(runs: pd.DataFrame, label: str, twin: str) -> pd.DataFrame:
    """Return a row per size and gap at V = 0: SIZE, gap, regret, ratio to the twin, low, high."""
    import pandas as pd

    mine = runs[runs["label"] == label] if len(runs) else runs
    columns = [*SIZE, "gap", "regret", "ratio", "low", "high"]
    if mine.empty:
        return pd.DataFrame(columns=columns)
    key = [*SIZE, "adversary.gap"]
    both = mine.merge(runs[runs["label"] == twin], on=[*key, "seed"], suffixes=("", "_twin"))
    rows = []
    for place, pairs in both.groupby(key):
        ratio = paired(pairs["regret"].to_numpy(), pairs["regret_twin"].to_numpy(), 1)
        rows.append([*place, pairs["regret"].mean(), ratio["ratio"], ratio["low"], ratio["high"]])
    return pd.DataFrame(rows, columns=columns)


def worst_at_rest(runs: pd.DataFrame, label: str, twin: str) -> pd.DataFrame:
    """Return a row per size at V = 0, with the columns of `at_rest`: both at their worst gaps.

    One half of the seeds chooses the gaps, the other measures. `gap` is the policy's.
    """
    import pandas as pd

    rows = []
    cells = runs.groupby(SIZE) if len(runs) else ()
    for size, cell in cells:
        both = cell.assign(entry=cell["adversary.gap"]).sort_values("seed")
        mine, other = (both[both["label"] == name] for name in (label, twin))
        if mine.empty or other.empty:
            continue
        gap = mine.groupby("entry")["regret"].mean().idxmax()
        regrets = _at_worst(mine)
        ratio = paired(regrets, _at_worst(other), 1)
        rows.append([*size, gap, regrets.mean(), ratio["ratio"], ratio["low"], ratio["high"]])
    return pd.DataFrame(rows, columns=[*SIZE, "gap", "regret", "ratio", "low", "high"])


def search(evidence: Evidence, label: str) -> pd.DataFrame:
    """Return the worst path of each search for a label, with 95 % limits on its regret."""
    from scipy import stats

    rows = evidence.study(hardest_paths.STUDY.id)
    if rows.empty or not (rows["policy"] == label).any():
        return rows.iloc[:0]
    mine = rows[rows["policy"] == label]
    top = mine.loc[mine.groupby([*SIZE, "start"])["regret"].idxmax()]
    width = stats.t.isf(ALPHA / 2, top["seeds"] - 1) * top["se"]
    ratio = top["regret"]
    return top.assign(ratio=ratio, low=ratio - width, high=ratio + width)


def parts(runs: pd.DataFrame, policy: str) -> list[dict[str, Any]]:
    """Return what each part of a policy is worth: a row per size and change.

    `ratio` is the worst-case regret of the changed policy over that of the policy itself, both at
    their own worst adversary. One half of the seeds chooses the adversary, the other measures it.
    `most` is the largest ratio on one adversary, on the same paths, with the limits of all
    adversaries together. All limits are at 95 %.
    """
    if runs.empty or policy not in VARIANTS:
        return []
    changes = VARIANTS[policy].items()
    labels = {what: label_of({"name": policy, **options}) for what, options in changes}
    runs = runs[runs["label"].isin([policy, *labels.values()])]
    names = [c for c in runs if c == "adversary" or c.startswith("adversary.")]
    runs = runs.assign(entry=runs.groupby(names, dropna=False).ngroup())
    kinds = runs.groupby("entry")["adversary"].first()
    rows = []
    for size, cell in runs.groupby(SIZE):
        entries = cell["entry"].unique()
        of_label = dict(iter(cell.groupby("label")))
        own = of_label[policy]
        for what, label in labels.items():
            changed = of_label[label]
            total = paired(_at_worst(changed), _at_worst(own), 1)
            each = {
                entry: paired(_regrets(changed, entry), _regrets(own, entry), len(entries))
                for entry in entries
            }
            entry = max(each, key=lambda entry: each[entry]["ratio"])
            rows.append(
                {**dict(zip(SIZE, size, strict=True)), "change": what}
                | {name: total[name] for name in ("ratio", "low", "high")}
                | {f"most_{name}": each[entry][name] for name in ("ratio", "low", "high")}
                | {"most_against": kinds[entry]}
            )
    return rows


def rises(runs: pd.DataFrame) -> list[dict[str, Any]]:
    """Return regret over the rate against rising arms, at the worst height: a row per label and B.

    Single forced plays need longer to see a rise than looks do. The regret until then falls more
    slowly in B than the rate.
    """
    if runs.empty:
        return []
    rate = [theory.rate(*size) for size in runs[SIZE].itertuples(index=False, name=None)]
    runs = runs.assign(ratio=runs["regret"] / rate)
    heights = runs.groupby(["label", "B", "adversary.size"])["ratio"].agg(["mean", "sem"])
    worst = heights.loc[heights.groupby(["label", "B"])["mean"].idxmax()].reset_index()
    columns = {"mean": "ratio", "sem": "se", "adversary.size": "size"}
    return worst.rename(columns=columns).to_dict("records")


def _at_worst(table: pd.DataFrame) -> np.ndarray:
    return at_worst(table, "regret", ["regret"])[:, 0]


def _regrets(table: pd.DataFrame, entry: int) -> np.ndarray:
    return table.loc[table["entry"] == entry].sort_values("seed")["regret"].to_numpy()


def _negative(cells: pd.DataFrame) -> Control:
    """Return the policy that must exceed the constant in some cell."""
    if cells.empty:
        return Control(NEGATIVE, FAILS, note="not played")
    came = at_most(cells, CONSTANT) == FAILS
    note = "its largest regret over T (KV/B)^(1/3)"
    return Control(NEGATIVE, FAILS, came, float(cells["ratio"].max()), note)


def _positive(cells: pd.DataFrame) -> Control:
    """Return the policy that must hold in a cell in which another one is to fail."""
    if cells.empty:
        return Control(POSITIVE, HOLDS, note="not played")
    good = cells["high"] <= CONSTANT
    note = f"the share of its {len(cells)} cells in which it holds; only there can a policy fail"
    return Control(POSITIVE, HOLDS, bool(good.any()), float(good.mean()), note)


def _rows(frame: pd.DataFrame, more: list[str]) -> list[dict[str, Any]]:
    columns = [*SIZE, *more, "ratio", "low", "high"]
    return frame[columns].to_dict("records") if len(frame) else []


def _limits(row: Any) -> str:
    return f"{row['ratio']:.2f} [{row['low']:.2f}, {row['high']:.2f}]"


def _place(row: Any) -> str:
    return f"K = {row['K']:g}, T/B = {row['T'] / row['B']:g}, B = {row['B']:.3g}, V = {row['V']:g}"


def _decide(steps: list[Step]) -> str:
    """Return where the policy is worst, or what is open."""
    bad = [step for step in steps if step.outcome in (FAILS, UNDECIDED)]
    return "; ".join(f"{step.step}: {step.note}" for step in bad[:3])


CLAIM = Claim(
    id=ID,
    statement="A policy that knows K, T and B: worst-case regret is at most T (KV/B)^(1/3)",
    place="our question; the paper claims its rate for HyQue and names no constant",
    prediction=f"regret over T (KV/B)^(1/3) at most {CONSTANT:g} in every cell and on every path "
    f"that a search finds; at V = 0 at most {AT_REST:g} times that of UCB1",
    judge=judge,
    needs=needs,
    speaks_of=(JUDGED,),
    ours=True,
    group="Policies that do not know V",
)
