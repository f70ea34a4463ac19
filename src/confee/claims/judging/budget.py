"""What the claims on budgets share: counting runs that ask for more than B queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from confee.claims.judging.finding import FAILS, HOLDS, UNDECIDED, Control
from confee.core.size import Size
from confee.evidence.columns import SIZE
from confee.paper import theory
from confee.simulation.needs import Ask, Conf

if TYPE_CHECKING:
    import pandas as pd

    from confee.evidence import Evidence

CONTROL = "greedy_spend"

FRACTIONS = (0.01, 0.02, 0.04, 0.08)
"""Shares of the last block up to T. HyQue with `quota: block` asks for more than B queries just
after that block starts."""

RUNS = 60
"""Runs needed at each of these shares: with `quota: block` about 1 in 10 exceeds B there."""

BLOCKS = ((8, 13), (20, 14))
"""(b, order of the last block) of the cells at those shares."""


def just_started(
    tag: str, policy: Conf, K: int, V: float, against: Mapping[str, Conf], toy: bool
) -> Iterator[Ask]:
    """Cells at T = b (2^n - 1) + f b 2^n, B | 2T; without the last budgets for a toy."""
    for b, order in BLOCKS[:1] if toy else BLOCKS:
        for f in FRACTIONS:
            slots = 2**order - 1 + round(f * 2**order)
            yield Ask(
                tag, policy, Size(K, b * slots, 2 * slots, V), against, RUNS // len(BLOCKS) + 1
            )


def played(evidence: Evidence, tag: str) -> pd.DataFrame:
    """The runs of the grid and of the claim's own cells."""
    import pandas as pd

    frames = [f for f in (evidence.regret, evidence.asked_for(tag)) if len(f)]
    return pd.concat(frames, ignore_index=True) if frames else evidence.regret


def overspends(runs: pd.DataFrame) -> pd.Series:
    """Whether each run made more than B queries, or would have without the cap."""
    return (runs["denied"] > 0) | (runs["queries"] > runs["B"])


def summary(runs: pd.DataFrame) -> dict:
    """Counts over runs: how many overspend, by how much at most, and where."""
    over = overspends(runs)
    excess = (runs["queries"] + runs["denied"]) / runs["B"]
    worst = excess.idxmax()
    return {
        "runs": len(runs),
        "overspending": int(over.sum()),
        "share": float(over.mean()),
        "largest_denied_over_B": float((runs["denied"] / runs["B"]).max()),
        "largest_wished_over_B": float(excess[worst]),
        "where": {name: runs.loc[worst, name] for name in (*SIZE, "adversary", "seed")},
    }


def spent_on(runs: pd.DataFrame) -> tuple[str, dict, str]:
    """(outcome, numbers, what would decide or where it is worst) of HyQue's runs.

    `fails` if any run asks for more than B, `holds` if none does at any of FRACTIONS.
    """
    counts = summary(runs)
    missing = _missing_fractions(runs)
    outcome, decide = HOLDS, ""
    if counts["overspending"]:
        outcome, decide = FAILS, f"largest at {place_text(counts['where'])}"
    elif missing:
        outcome = UNDECIDED
        decide = f"{RUNS} runs at shares {', '.join(map(str, missing))} of the last block"
    near = overspends(runs)[_cut(runs) <= 1.2 * max(FRACTIONS)]
    numbers = {
        **counts,
        "share_just_after_a_block_starts": float(near.mean()) if len(near) else None,
        "upper_limit_of_share": 3 / counts["runs"] if not counts["overspending"] else None,
    }
    return outcome, numbers, decide


def _cut(runs: pd.DataFrame) -> pd.Series:
    """Share of its last block that each run's horizon leaves, if nothing restarts it."""
    import pandas as pd

    shares = {}
    for T, B in set(runs[["T", "B"]].itertuples(index=False, name=None)):
        order, first = theory.last_block(T, B)
        shares[T, B] = (T - first + 1) / (theory.slot_length(T, B) * 2**order)
    return pd.Series([shares[key] for key in zip(runs["T"], runs["B"], strict=True)], runs.index)


def _missing_fractions(runs: pd.DataFrame) -> list[float]:
    """Which of FRACTIONS fewer than RUNS runs come within a fifth of."""
    cuts = _cut(runs)
    return [f for f in FRACTIONS if ((cuts / f - 1).abs() < 0.2).sum() < RUNS]


def summary_text(counts: Mapping) -> str:
    """`3 of 400 runs ask for more than B queries, by up to 0.12% of B`."""
    text = f"{counts['overspending']} of {counts['runs']} runs ask for more than B queries"
    excess = f", by up to {counts['largest_denied_over_B']:.2%} of B"
    return text + (excess if counts["overspending"] else "")


def control(regret: pd.DataFrame, runs: pd.DataFrame) -> Control:
    """Put a policy that asks for a query in every round through the same count: it must exceed B.

    Uses the runs of `greedy_spend` with B < T if there are any, else the judged cells with T - B
    denied queries each. At B = T no policy can exceed B, so the control does not fail.
    """
    played = regret[(regret["policy"] == CONTROL) & (regret["B"] < regret["T"])]
    if played.empty:
        rows = runs.assign(queries=runs["B"], denied=runs["T"] - runs["B"])
        what = "a policy that asks for a query in every round (arithmetic on the same cells)"
    else:
        rows, what = played, f"{CONTROL}, which asks for a query in every round"
    over = overspends(rows)
    return Control(
        what=what,
        value=float(over.mean()),
        as_expected=bool(over.any()),
        note="share of runs that exceed B",
    )


def reason(counts: dict, outcome: str) -> str:
    """Return why a claim on a budget got its verdict; one run over the budget is enough."""
    if outcome == FAILS:
        return f"{summary_text(counts)}; a single run refutes the statement"
    if outcome == HOLDS:
        share = 3 / counts["runs"]
        return (
            f"none of {counts['runs']} runs asks for more than B queries: the share is at "
            f"most {share:.2g}"
        )
    return (
        f"none of {counts['runs']} runs asks for more than B queries, but too few runs end just "
        "after a block starts, where an excess would show"
    )


def place_text(where: dict) -> str:
    """`K=2, T=66000, B=16500, V=2, adversary switching, seed 3`."""
    numbers = ", ".join(f"{name}={where[name]:.10g}" for name in SIZE)
    return f"{numbers}, adversary {where['adversary']}, seed {where['seed']}"
