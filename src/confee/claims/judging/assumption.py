"""What the claims on the assumption on ALG share: two inequalities, in every world of a study.

While V_[1,t] <= rho(t), the assumption asks for

1. f~_t >= min_{tau <= t} f*_tau - V_[1,t];
2. mean over tau <= t of (f~_tau - R_tau) <= rho(t) + V_[1,t].

A study has a row for each run. `short` is the largest (min f* - V - f~) / rho(t), which is over 0
where the first inequality is broken. `needed` is the largest (mean of f~ - R, less V) / rho(t),
which is over c where the second inequality is broken with the constant c. Runs of one world count
together.

The outcome is `fails` if, in any world, the share of runs that break an inequality in any round is
over 1/T, by exact limits for all worlds together. This is the looser reading of "with probability
1 - delta/T for all t" with delta = 1/T: each round by itself, and T rounds. The outcome is `holds`
if no run breaks an inequality, every world has at least RUNS runs, and the nearest miss is MARGIN
rho(t) away. n runs cannot show a probability of 1/T; they show one of at most 3/n.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from confee.claims.judging.finding import (
    COUNTED,
    FAILS,
    HOLDS,
    UNDECIDED,
    Control,
    Correction,
    Finding,
    Step,
    apply_control,
    at_horizon,
)
from confee.claims.judging.shares import LEVEL, limits

if TYPE_CHECKING:
    import pandas as pd

    from confee.claims.base import Claim

RUNS = 20
"""Runs of each world, and the fewest with which it can hold."""

MARGIN = 0.05
"""The distance of the nearest miss, in units of rho(t), that `holds` requires."""

WORLD = ["T", "world", "level", "gap"]
"""The columns that name a world, besides the sizes of its setting."""


def statement(who: str, constant: float = 1.0) -> str:
    """The assumption on one algorithm, `who`, with a constant in its second inequality."""
    return (
        f"while V_[1,t] <= rho(t), {who}'s index is at least the smallest optimal mean so far "
        f"minus "
        f"V, and on average it exceeds the rewards by at most {constant:.3g} rho(t) + V"
    )


def judged(
    claim: Claim,
    who: str,
    study: str,
    rows: pd.DataFrame,
    bare: pd.DataFrame,
    sizes: Sequence[str],
    *,
    constant: float,
    others: Sequence[float],
    curves: Sequence[Sequence[float]],
    toy: bool,
    exact: tuple[str, Step] | None = None,
    beside: Iterable[Step] = (),
    numbers: Mapping[str, Any] | None = None,
    wide: pd.DataFrame | None = None,
    corrections: tuple[Correction, ...] = (),
) -> Finding:
    """The verdict on one algorithm, `who`: both inequalities with `constant` in the second.

    bare: runs of it without bonus. others: constants that are tried beside. curves: rho(1), rho(2),
    ... at some sizes. exact: what arithmetic says of the first inequality, as an outcome and a
    step. beside: steps that do not count in the verdict. wide: runs with twice the bonus, which
    must break the second inequality. corrections: those of the statement, for the case that it
    fails.
    """
    first, second = optimism(rows, sizes), excess(rows, sizes, constant)
    sides = side_conditions(curves)
    parts = [first["outcome"], second["outcome"], *(side.outcome for side in sides)]
    parts += (exact or ())[:1]
    outcome = next((o for o in (FAILS, UNDECIDED) if o in parts), HOLDS)
    worst = rows.loc[rows["needed"].idxmax()]
    verdict = claim.finding(
        statement=statement(who, constant),
        as_printed=outcome,
        measured=f"second inequality violated in {second['broken']} of {second['runs']} runs with "
        f"constant {constant:.3g}, constant needed up to {worst['needed']:.3g} "
        f"({where(worst, sizes)}); first: violated in {first['broken']}, smallest distance "
        f"{-rows['short'].max():.2f} rho",
        horizon=at_horizon(int(rows["T"].max()), toy),
        controls=(
            _control(bare, sizes, f"{who} without bonus"),
            *_second_control(wide, sizes, f"{who} with twice the bonus"),
        ),
        corrections=corrections if outcome == FAILS else (),
        basis=COUNTED,
        numbers={
            "first": first,
            "second": second,
            "needed": float(worst["needed"]),
            "needed_per_world": _needed_by(rows, ("world", "level", "gap")),
            "needed_per_size": _needed_by(rows, (*sizes, "T")),
            **(numbers or {}),
        },
        seeds=int(rows.groupby([*sizes, *WORLD]).size().min()),
        decide=_decide(outcome, first, second, worst, sizes),
        why=f"first inequality {first['why']}; second {second['why']}",
        number_of="share of runs that violate it, unless the note says otherwise",
        steps=(
            step("first inequality", first),
            *(exact or ())[1:],
            *(
                step(f"second inequality, constant {c:.3g}", excess(rows, sizes, c))
                for c in (constant, *others)
            ),
            *sides,
            *beside,
        ),
        evidence=(f"studies/{study}",),
    )
    return apply_control(verdict)


def optimism(rows: pd.DataFrame, sizes: Sequence[str]) -> dict:
    """The first inequality: broken where `short` is over 0."""
    return _check(rows, rows["short"], sizes)


def excess(rows: pd.DataFrame, sizes: Sequence[str], constant: float) -> dict:
    """The second inequality with `constant` before rho(t)."""
    return _check(rows, rows["needed"] - constant, sizes)


def _check(rows: pd.DataFrame, beyond: pd.Series, sizes: Sequence[str]) -> dict:
    """Runs that are `beyond` 0 by world, against a chance of 1/T."""
    groups = rows.assign(broken=beyond > 0, beyond=beyond).groupby([*sizes, *WORLD])
    table = groups.agg(broken=("broken", "sum"), runs=("broken", "size")).reset_index()
    level = LEVEL / len(table)
    lows = [limits(int(r.broken), int(r.runs), level)[0] for r in table.itertuples()]
    table = table.assign(low=lows, over=[low * T for low, T in zip(lows, table["T"], strict=True)])
    worst = table.loc[table["over"].idxmax()]
    nearest, fewest = float(beyond.max()), int(table["runs"].min())
    if worst["over"] > 1:
        outcome = FAILS
        where_it_is = where(worst, sizes)
        why = f"fails: share of runs at least {worst['low']:.2g} against 1/T ({where_it_is})"
    elif nearest <= -MARGIN and fewest >= RUNS:
        outcome = HOLDS
        why = (
            f"holds: no run violates it; smallest distance {-nearest:.2g} rho, {MARGIN:g} is "
            f"required"
        )
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


def _control(bare: pd.DataFrame, sizes: Sequence[str], what: str) -> Control:
    """Runs without bonus through the check of the first inequality: must fail."""
    check = optimism(bare, sizes) if len(bare) else {}
    return Control(
        what=f"{what}, first inequality",
        value=check["broken"] / check["runs"] if check else None,
        as_expected=check["outcome"] == FAILS if check else None,
        note="share of runs that violate it",
    )


def _second_control(
    wide: pd.DataFrame | None, sizes: Sequence[str], what: str
) -> tuple[Control, ...]:
    """Runs with twice the bonus through the check of the second inequality: must fail, with the
    printed constant 1."""
    if wide is None:
        return ()
    check = excess(wide, sizes, 1.0) if len(wide) else {}
    return (
        Control(
            what=f"{what}, second inequality",
            value=check["broken"] / check["runs"] if check else None,
            as_expected=check["outcome"] == FAILS if check else None,
            note="share of runs that violate it",
        ),
    )


def step(name: str, check: dict) -> Step:
    """An inequality as a part of a verdict; the number is the share of runs that break it."""
    share = check["broken"] / check["runs"]
    return Step(step=name, outcome=check["outcome"], number=share, note=check["why"])


def side_conditions(curves: Sequence[Sequence[float]]) -> tuple[Step, Step, Step]:
    """What the assumption asks of rho, for rho(1), rho(2), ... at several sizes."""
    ts = [list(enumerate(curve, 1)) for curve in curves]
    least = min(math.sqrt(t) * rho for curve in ts for t, rho in curve)
    growth = min(u * b - t * a for curve in ts for (t, a), (u, b) in pairwise(curve))
    rise = max(b - a for curve in ts for (_, a), (_, b) in pairwise(curve))
    return (
        _side("rho(t) >= 1 / sqrt t", least >= 1, least, "least sqrt(t) rho(t)"),
        _side("t rho(t) does not decrease", growth >= 0, growth, "least growth in a round"),
        _side("rho(t) does not increase", rise <= 0, rise, "largest growth in a round"),
    )


def curve(rho: Callable[[int], float], largest: int = 2000) -> list[float]:
    """rho(1) .. rho(largest)."""
    return [rho(t) for t in range(1, largest + 1)]


def _side(name: str, holds: bool, number: float, note: str) -> Step:
    return Step(step=name, outcome=HOLDS if holds else FAILS, number=number, note=note)


def _needed_by(rows: pd.DataFrame, columns: Sequence[str]) -> dict[str, float]:
    """Return the largest constant needed for each value of the columns."""
    needed = {}
    for key, group in rows.groupby(list(columns)):
        words = [value if isinstance(value, str) else f"{value:g}" for value in key]
        where = ", ".join(f"{name}={word}" for name, word in zip(columns, words, strict=True))
        needed[where] = float(group["needed"].max())
    return needed


def _decide(outcome: str, first: dict, second: dict, worst: pd.Series, sizes: Sequence[str]) -> str:
    """What a verdict that does not hold lacks."""
    if outcome == FAILS and second["outcome"] != FAILS:
        return f"first inequality {first['why']}"
    if outcome == FAILS:
        return (
            f"no constant up to {worst['needed']:.3g} is sufficient ({where(worst, sizes)}, round "
            f"{int(worst['needed_at'])})"
        )
    if outcome == UNDECIDED:
        return f"more runs: first inequality {first['why']}; second {second['why']}"
    return ""


def where(row: pd.Series, sizes: Sequence[str]) -> str:
    """`K=2, T=1e+05, drop 0.5`."""
    text = ", ".join(f"{name}={row[name]:g}" for name in sizes)
    gap = f"+{row['gap']:g}" if row["gap"] else ""
    return f"{text}, T={row['T']:.3g}, {row['world']} {row['level']:g}{gap}"


def larger_constant(
    place: str, rows: pd.DataFrame, sizes: Sequence[str], constant: float, text: str, effect: str
) -> Correction:
    """The second inequality with a larger constant, and how that fares in the same runs."""
    return Correction(
        place=place,
        printed=r"$\frac1t \sum_{\tau \le t} (\tilde f_\tau - R_\tau) \le \rho(t) + V_{[1,t]}$",
        mended=rf"$\dots \le {text}\,\rho(t) + V_{{[1,t]}}$",
        severity="constant",
        reason="the bonuses alone add up to more than rho(t), and a larger constant in rho is "
        "sufficient",
        effect=effect,
        outcome=excess(rows, sizes, constant)["outcome"],
    )
