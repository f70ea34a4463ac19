"""What the claims on budgets share: counting the queries a policy wished past its budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confee.claims.judging.verdict import FAILS, HOLDS
from confee.evidence.worst import SETTING

if TYPE_CHECKING:
    import pandas as pd

    from confee.evidence import Evidence

CONTROL = "greedy_spend"


def played(evidence: Evidence, tag: str) -> pd.DataFrame:
    """The runs of the grid and of the claim's own cells."""
    import pandas as pd

    frames = [f for f in (evidence.regret, evidence.asked_for(tag)) if len(f)]
    return pd.concat(frames, ignore_index=True) if frames else evidence.regret


def overspends(runs: pd.DataFrame) -> pd.Series:
    """Whether each run queried, or would have queried without the cap, more than B times."""
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
        "where": {name: runs.loc[worst, name] for name in (*SETTING, "adversary", "seed")},
    }


def control(regret: pd.DataFrame, runs: pd.DataFrame) -> dict:
    """A policy that wishes to query in every round, put through the same count: must overspend.

    Rows of `greedy_spend` with B < T if there are any, else the judged cells with T - B denied
    wishes each. At B = T nobody can overspend, and the control says so by not failing.
    """
    played = regret[(regret["policy"] == CONTROL) & (regret["B"] < regret["T"])]
    if played.empty:
        rows = runs.assign(queries=runs["B"], denied=runs["T"] - runs["B"])
        what = "a query wished in every round (arithmetic on the same cells)"
    else:
        rows, what = played, f"{CONTROL}: a query wished in every round"
    over = overspends(rows)
    return {
        "what": what,
        "value": float(over.mean()),
        "failed": bool(over.any()),
        "note": "share of runs that overspend",
    }


def reason(counts: dict, outcome: str) -> str:
    """Why a claim on a budget got its verdict: one run that passes it is enough."""
    if outcome == FAILS:
        return f"{counts['overspending']} of {counts['runs']} runs wish past B, and one is enough"
    if outcome == HOLDS:
        return f"none of {counts['runs']} runs wishes past B: at most {3 / counts['runs']:.2g} do"
    return f"none of {counts['runs']} runs wishes past B, but where it would show too few were made"


def place_text(where: dict) -> str:
    """`K=2, T=66000, B=16500, V=2, adversary switching, seed 3`."""
    numbers = ", ".join(f"{name}={where[name]:.10g}" for name in SETTING)
    return f"{numbers}, adversary {where['adversary']}, seed {where['seed']}"
