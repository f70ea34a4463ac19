"""Spreading queries evenly, or concentrating them in few batches, costs substantially more.

The paper names no policy. The reading kindest to it is: queries spread evenly in time. Spread
evenly over the batches, and used first in each, they minimise the bound of its own proof: that is
what the reference does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from confee.claims.base import Claim
from confee.claims.judging.finding import (
    CONSISTENT,
    FAILS,
    HOLDS,
    UNDECIDED,
    Control,
    Finding,
    Reading,
    Step,
    apply_control,
    at_horizon,
)
from confee.claims.judging.ratios import LEVEL, above, fieller, together
from confee.core.size import Size
from confee.evidence.columns import SIZE
from confee.evidence.worst import worst_cases
from confee.simulation.needs import Ask, Conf, Needs

if TYPE_CHECKING:
    import pandas as pd

    from confee.evidence import Evidence

ID = "naive-allocation"

REFERENCE = "informed"
"""This policy knows the borders and the gap. It too explores first in each batch and spreads its
queries evenly over batches."""

POSITIVE = "uniform"
"""Play without any use of queries must cost substantially more."""

MARGIN = 1.5
"""Times the reference's regret that is "substantially" more. The paper names no number."""

STEPS = {"concentrated": ("greedy_spend",), "evenly in time": ("informed_even", "sw_ucb", "ucb1")}
"""Ways to allocate, and the policies that do so. A way costs what its best policy does."""

SIZES = (
    (4, 300_000, 30_000, 4.0),
    (4, 300_000, 30_000, 16.0),
    (2, 1_000_000, 60_000, 4.0),
    (8, 300_000, 60_000, 8.0),
)
TOY_SIZES = ((2, 10_000, 2_000, 2.0),)


def needs(toy: bool) -> Needs:
    """A few sizes against the proof's instance, that with wider gaps, and switching; the reference
    on twice the seeds, as it is also its own control."""
    sizes, seeds = (TOY_SIZES, 8) if toy else (SIZES, 12)
    against: dict[str, Conf] = {
        "hard": {"name": "hard", "c": [1, 4, 16]},
        "switching": {"name": "switching", "strength": [2, "ceiling"] if toy else [1, 2, 4, 8]},
    }
    policies = {p: seeds for group in STEPS.values() for p in group}
    policies |= {REFERENCE: 2 * seeds, POSITIVE: 4}
    asks = [
        Ask(ID, {"name": p}, Size(*size), against=against, seeds=n)
        for size in sizes
        for p, n in policies.items()
    ]
    return Needs(asks=tuple(asks))


def judge(evidence: Evidence) -> list[Finding]:
    """Both ways must cost over MARGIN times the reference in every size, and so must uniform play;
    the reference itself must not."""
    runs = evidence.asked_for(ID)
    if runs.empty or not (runs["label"] == REFERENCE).any():
        return []
    worst = worst_cases(runs, choose=0)
    checks = {way: cost_check(worst, policies) for way, policies in STEPS.items()}
    outcome = together(result for result, _ in checks.values())
    reference, own = reference_check(runs)
    own_instance = _on_the_proofs_instance(runs)
    plain, aimless = cost_check(worst, (POSITIVE,))
    outcome = CONSISTENT if outcome == HOLDS else outcome
    if outcome == CONSISTENT and plain != HOLDS:
        outcome = UNDECIDED
    verdict = CLAIM.finding(
        as_printed=outcome,
        measured="; ".join(f"{way} {_range_text(ratios)}" for way, (_, ratios) in checks.items())
        + _uninformative(own_instance),
        horizon=at_horizon(runs["T"].max(), evidence.toy),
        controls=(
            Control(
                what=f"{REFERENCE} against itself on other seeds",
                value=float(own["ratio"].max()) if len(own) else None,
                as_expected=reference == FAILS if len(own) else None,
                note="it spreads its queries evenly over the batches",
            ),
            Control(
                what=f"{POSITIVE} play",
                expected=HOLDS,
                value=float(aimless["ratio"].min()) if len(aimless) else None,
                as_expected=plain == HOLDS if len(aimless) else None,
                note="least ratio",
            ),
        ),
        readings=_readings(outcome, reference, own),
        numbers={
            "ratios": {way: _rows(ratios) for way, (_, ratios) in checks.items()},
            "on_the_proofs_instance": own_instance,
        },
        seeds=int(worst["seeds"].min()),
        decide=_decide(checks),
        why=f"simultaneous {1 - LEVEL:.0%} limits for all sizes, compared with {MARGIN:g}: "
        + ", ".join(f"{way} {result}" for way, (result, _) in checks.items()),
        number_of="smallest ratio",
        steps=tuple(_step(way, *check) for way, check in checks.items()),
        evidence=("asked",),
    )
    return [apply_control(verdict)]


def _readings(outcome: str, reference: str, own: pd.DataFrame) -> tuple[Reading, ...]:
    """The other reading, under which the reference itself is a naive strategy."""
    if reference == outcome or own.empty:
        return ()
    measured = (
        f"{REFERENCE} does so, and its regret is {_range_text(own)} its regret on other seeds"
    )
    return (Reading("queries distributed uniformly over the batches", reference, measured),)


def cost_check(worst: pd.DataFrame, policies: tuple[str, ...]) -> tuple[str, pd.DataFrame]:
    """Whether the best of `policies` costs over MARGIN times the reference in every setting.

    Worst case over worst case; the two are taken as independent, which widens the limits, as paths
    are shared. Columns: SIZE, label, ratio, low, high.
    """
    import pandas as pd

    base = worst[worst["label"] == REFERENCE].set_index(SIZE)
    own = worst[worst["label"].isin(policies)]
    own = own.loc[own.groupby(SIZE)["regret"].idxmin()]
    rows = []
    for row in own.itertuples(index=False):
        key = tuple(getattr(row, name) for name in SIZE)
        if key not in base.index:
            continue
        other = base.loc[key]
        t = _quantile(min(row.seeds, other["seeds"]) - 1, len(own))
        low, high = fieller(row.regret, other["regret"], row.se**2, other["se"] ** 2, 0.0, t)
        ratio = row.regret / other["regret"]
        rows.append((*key, row.label, ratio, low, high))
    ratios = pd.DataFrame(rows, columns=[*SIZE, "label", "ratio", "low", "high"])
    return above(ratios, MARGIN), ratios


def reference_check(runs: pd.DataFrame) -> tuple[str, pd.DataFrame]:
    """The control through the same check: the reference on odd seeds as a policy of its own,
    against the reference on even ones."""
    import pandas as pd

    own = runs[runs["label"] == REFERENCE]
    odd = own["seed"] % 2 == 1
    twin = f"{REFERENCE}, odd seeds"
    halves = [own[~odd], own[odd].assign(label=twin, policy=twin)]
    worst = pd.concat([worst_cases(half, choose=0) for half in halves], ignore_index=True)
    return cost_check(worst, (twin,))


def _quantile(df: float, tests: int) -> float:
    from scipy import stats

    return float(stats.t.isf(LEVEL / 2 / tests, max(df, 1)))


def _on_the_proofs_instance(runs: pd.DataFrame) -> dict[str, list[float]]:
    """Regret over the reference's on `hard` with c = 1, per policy: smallest and largest.

    Its gap is too small for B queries to detect, so no allocation matters there.
    """
    hard = runs[(runs["adversary"] == "hard") & (runs["adversary.c"].astype(float) == 1)]
    mean = hard.groupby([*SIZE, "label"])["regret"].mean().unstack("label")
    if REFERENCE not in mean:
        return {}
    ratio = mean.div(mean[REFERENCE], axis=0)
    return {label: [float(ratio[label].min()), float(ratio[label].max())] for label in ratio}


def _uninformative(ratios: dict[str, list[float]]) -> str:
    most = max((high for _, high in ratios.values()), default=None)
    return "" if most is None else f"; on the proof's own instance at most {most:.2f} times"


def _decide(checks: dict) -> str:
    notes = []
    for way, (outcome, ratios) in checks.items():
        if len(ratios) and outcome in (FAILS, UNDECIDED):
            least = ratios.loc[ratios["low"].idxmin()]
            where = ", ".join(f"{name}={least[name]:.6g}" for name in SIZE)
            word = "least" if outcome == FAILS else "more seeds"
            notes.append(f"{way}: {word} at {where}")
        elif not len(ratios):
            notes.append(f"{way}: none of {', '.join(STEPS[way])} was played")
    return "; ".join(notes)


def _rows(ratios: pd.DataFrame) -> list[dict]:
    return [
        {
            "where": ", ".join(f"{n}={row[n]:.6g}" for n in SIZE),
            "policy": row["label"],
            "ratio": float(row["ratio"]),
            "low": float(row["low"]),
            "high": float(row["high"]),
        }
        for _, row in ratios.iterrows()
    ]


def _range_text(ratios: pd.DataFrame) -> str:
    """`2.31 [2.10, 2.55] to 9.1 times (greedy_spend)`."""
    if ratios.empty:
        return "not played"
    least = ratios.loc[ratios["ratio"].idxmin()]
    limits = f"[{least['low']:.2f}, {least['high']:.2f}]"
    return f"{least['ratio']:.2f} {limits} to {ratios['ratio'].max():.2f} times ({least['label']})"


def _step(way: str, outcome: str, ratios: pd.DataFrame) -> Step:
    number = float(ratios["ratio"].min()) if len(ratios) else float("nan")
    note = f"smallest ratio; policies {', '.join(STEPS[way])}, worst case over worst case"
    return Step(step=way, outcome=outcome, number=number, note=note)


CLAIM = Claim(
    id=ID,
    statement=(
        "a policy that concentrates its queries in few batches, or spreads them evenly, has "
        "substantially more regret than necessary"
    ),
    place="Section 5, after Theorem 5.1",
    prediction=f"at every size, worst-case regret is more than {MARGIN:g} times that of "
    f"{REFERENCE}",
    judge=judge,
    needs=needs,
    order=27,
    group="Lower bound",
    statements=("naive plans",),
)
