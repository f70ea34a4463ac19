"""The paper's Table 1: each bound as printed, its severity, and the exponents measured on rays."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from confee.claims.judging.finding import FAILS, UNDECIDED, VACUOUS, Step
from confee.claims.table_rows import ROWS as RUN
from confee.rendering.catalogue import VERDICTS, Table
from confee.rendering.figures import fits
from confee.rendering.verdicts import counted, counted_severities, short, standing

if TYPE_CHECKING:
    import pandas as pd


class Row(NamedTuple):
    """A row: as printed, the policy that stands for it, and who judged its bounds.

    `run` names the policy. `upper`, `lower`: a claim, and the first words of the step of it that
    is about this row alone. `fits`: the claim that has the row's exponents; `table-rows` has them
    by policy.
    """

    paper: str
    variation: str
    constrained: str
    rate: str
    policy: str
    run: str
    upper: tuple[str, str]
    fits: str
    lower: tuple[str, str] = ("", "")


class Fit(NamedTuple):
    """An exponent with its 95 % CI, NaN where there is none, and the ray that it is of."""

    ray: str
    exponent: float
    low: float
    high: float
    why: str = "no fit"


FULL = "K^{1/3} V_T^{1/3} T^{2/3}"
QUERIED = "K^{1/3} V_T^{1/3} T / B^{1/3}"
STATIONARY = "K^{1/2} T / B^{1/2}"
TABLE_ROWS = "table-rows"
LOWER = ("lower-bound/measured", "")
RATE, RATE_B = "hyque-rate/printed", "rexp3b-rate"

ROWS = (
    Row(
        "Besbes et al. (2014)",
        "known",
        "no",
        FULL,
        "rexp3",
        RUN["Besbes et al. 2014"].name,
        (TABLE_ROWS, "Besbes"),
        TABLE_ROWS,
    ),
    Row(
        "Wei and Luo (2021)",
        "unknown",
        "no",
        FULL,
        "master",
        RUN["Wei and Luo 2021"].name,
        (TABLE_ROWS, "Wei"),
        TABLE_ROWS,
    ),
    Row(
        "Efroni et al. (2021)",
        "none (stationary)",
        "yes",
        STATIONARY,
        "cbm_ucb",
        RUN["Efroni et al. 2021"].name,
        (TABLE_ROWS, "Efroni"),
        TABLE_ROWS,
    ),
    Row("This work", "unknown", "yes", QUERIED, "hyque", "HyQue", (RATE, ""), RATE, LOWER),
    Row("This work", "known", "yes", QUERIED, "rexp3b", "Rexp3B", (RATE_B, ""), RATE_B, LOWER),
)

NO_CLAIM, NOT_RUN = "no claim", "not run"


def make(
    slopes: pd.DataFrame,
    points: pd.DataFrame,
    claims: pd.DataFrame,
    axes: Sequence[str] = ("T", "B", "V", "K"),
) -> pd.DataFrame:
    """Return text, a row for each row of the paper's table and one for Rexp3B.

    Parameters
    ----------
    slopes
        policy, axis, exponent, low, high, part; rows of part `ray` are shown for policies that no
        claim judges, on B and V.
    points
        label, axis, variable, K, T, B, V: the sizes of each ray.
    claims
        id, as_printed, basis, severity, steps, numbers.

    Returns
    -------
    DataFrame
        A policy that was not played is `not run`; one that was has `no fit` on a variable where
        too few points enter, and `not straight` where its exponent changes along the ray.
    """
    import pandas as pd

    rows = []
    for entry in ROWS:
        row = {
            "Paper and policy": f"{entry.paper}: {_run(entry, claims)}",
            "Variation $V_T$": entry.variation,
            "Constrained feedback": entry.constrained,
            **_bound("Upper bound", f"$O~({entry.rate})$", judged(claims, *entry.upper)),
            **_bound("Lower bound", f"$\\Omega({entry.rate})$", judged(claims, *entry.lower)),
        }
        fits = fitted(slopes, points, claims, entry)
        for axis in axes:
            text = _interval(fits.get(axis)) if fits else NOT_RUN
            row[f"Measured exponent of $R/T$: ${axis}$"] = text
        rows.append(row)
    return pd.DataFrame(rows)


def finding(slopes: pd.DataFrame, points: pd.DataFrame, claims: pd.DataFrame) -> str:
    """Return the upper bounds by severity and as printed, and which rays are shown."""
    uppers = [judged(claims, *entry.upper) for entry in ROWS]
    known = [upper for upper in uppers if upper.severity]
    if not known:
        return "No upper bound of the table was judged."
    open_ones = sum(
        standing([entry.severity], [entry.outcome]) in (UNDECIDED, VACUOUS) for entry in known
    )
    severities = counted_severities((entry.severity for entry in known), open_ones)
    text = f"Of {len(ROWS)} upper bounds: {severities}"
    if missing := len(ROWS) - len(known):
        text += f", {missing} not judged"
    text += f". As printed: {counted(entry.outcome for entry in known)}."
    mine = [entry for entry in ROWS if entry.rate == QUERIED]
    every = [
        fit
        for entry in mine
        for fit in fitted(slopes, points, claims, entry).values()
        if not math.isnan(fit.exponent)
    ]
    names = [re.sub(r" relative to \w+", "", re.sub(r"e\+0*", "e", fit.ray)) for fit in every]
    rays = sorted(dict.fromkeys(names), key=lambda ray: "TBVK".find(ray[0]))
    return text + (f" Rays: {'; '.join(rays)}." * bool(rays))


class Bound(NamedTuple):
    """The verdict on a bound: the outcome as printed, also in words, and the severity; `words`
    alone where no claim judged it."""

    words: str
    outcome: str = ""
    severity: str = ""


def judged(claims: pd.DataFrame, id: str, step: str = "") -> Bound:
    """Return the verdict of a claim on a bound, or of one step of it. A vacuous claim has no better
    steps, and a step that holds needs no correction."""
    if not id:
        return Bound(NO_CLAIM)
    rows = claims[claims["id"] == id]
    if rows.empty:
        return Bound(NOT_RUN)
    row = rows.iloc[0]
    outcome, severity = row["as_printed"], row["severity"]
    if step and outcome != VACUOUS:
        own = _step(claims, id, step)
        if own is None:
            return Bound(NOT_RUN)
        outcome, severity = own.outcome, severity if own.outcome == FAILS else "none"
    return Bound(short(outcome, row["basis"]), outcome, severity)


def _bound(name: str, rate: str, bound: Bound) -> dict[str, str]:
    """Return the columns of a bound."""
    severity = bound.severity or "\N{EN DASH}"
    return {
        f"{name}: rate": rate,
        f"{name}: as printed": bound.words,
        f"{name}: severity": severity,
    }


def _step(claims: pd.DataFrame, id: str, step: str) -> Step | None:
    """Return the step of a claim that begins with these words; None if it was not played."""
    for steps in claims.loc[claims["id"] == id, "steps"]:
        for candidate in steps:
            if candidate.step.startswith(step) and candidate.note != "not played":
                return candidate
    return None


def _run(row: Row, claims: pd.DataFrame) -> str:
    """Return the policy played for a row, and why it cannot decide, if it cannot."""
    own = _step(claims, *row.upper) if row.upper[1] else None
    if own is None or own.outcome != VACUOUS:
        return row.run
    return f"{row.run}, {own.note.partition('; ')[0]}"


# --------------------------------------------------------------------------- exponents


def fitted(
    slopes: pd.DataFrame, points: pd.DataFrame, claims: pd.DataFrame, row: Row
) -> dict[str, Fit]:
    """Return variable -> the exponent of a row on its clearest ray; empty for a policy that did not
    play.

    Of several rays the one with a line, then with T > B, then with the largest V and budget. A
    claim's own numbers come before slopes: its outcome rests on them.
    """
    judged_fits = _judged(claims, row) or _sloped(slopes, points, row.policy)
    rays = {ray: cells for ray, cells in points.groupby("axis")} if "variable" in points else {}
    shown: dict[str, Fit] = {}
    for variable in "TBVK":
        mine = [(label, fit) for label, fit in judged_fits if fit.ray.startswith(f"{variable} ")]
        if mine:
            shown[variable] = max(mine, key=lambda pair: _clear(rays.get(pair[0]), pair[1]))[1]
    return shown


def _clear(cells: pd.DataFrame | None, fit: Fit) -> tuple[float, ...]:
    """Return the sort key by which a ray is chosen."""
    fitted = float(not math.isnan(fit.exponent))
    if cells is None:
        return (fitted, 0.0, 0.0, 0.0)
    idle = float((cells["T"] > cells["B"]).any())
    return (fitted, idle, float(cells["V"].max()), float(cells["B"].max()))


def _judged(claims: pd.DataFrame, row: Row) -> list[tuple[str, Fit]]:
    """Return (label of a ray, fit) from the numbers of the claim that judges the row."""
    rays: list[tuple[str, Fit]] = []
    for numbers in claims.loc[claims["id"] == row.fits, "numbers"]:
        for name, n in (numbers.get(row.policy, {}) if row.fits == TABLE_ROWS else numbers).items():
            if isinstance(n, Mapping) and "points" in n:
                rays.append((n.get("ray", ""), _of_check(name, n)))
    return rays


def _of_check(name: str, n: Mapping) -> Fit:
    why = "saturated" if "growth" in n else "no fit" if "exponent" not in n else fits.NOT_STRAIGHT
    if why != fits.NOT_STRAIGHT or not n.get("straight", True):
        return Fit(name, math.nan, math.nan, math.nan, why)
    return Fit(name, n["exponent"], n["low"], n["high"])


def _sloped(slopes: pd.DataFrame, points: pd.DataFrame, policy: str) -> list[tuple[str, Fit]]:
    """Return (label of a ray, fit) from slopes, on rays along B and V."""
    if "variable" not in points:
        return []
    variables = points.drop_duplicates("axis").set_index("axis")["variable"]
    mine = slopes[(slopes["label"] == policy) & (slopes["part"] == "ray")]
    return [
        (
            row.axis,
            Fit(
                f"{variables[row.axis]} along {row.axis}",
                row.exponent,
                row.low,
                row.high,
                fits.NOT_STRAIGHT if row.points > 1 else "no fit",
            ),
        )
        for row in mine.itertuples()
        if variables.get(row.axis) in ("B", "V")
    ]


def _interval(fit: Fit | None) -> str:
    if fit is None or math.isnan(fit.exponent):
        return fit.why if fit else "\N{EN DASH}"
    value, low, high = map(_short, (fit.exponent, fit.low, fit.high))
    return f"{value} [{low}, {high}]"


def _short(value: float) -> str:
    text = f"{value:.2f}"
    return text.lstrip("-") if float(text) == 0 else text


TABLE = Table(
    "table1",
    "The paper's Table 1, measured",
    section=VERDICTS,
    place=1,
    needs=("slopes", "points", "claims"),
    axes=("T", "ray:T", "ray:B", "ray:V", "ray:K"),
    claims=("table-rows", "hyque-rate", "rexp3b-rate"),
    make=make,
    finding=finding,
    reading=(
        "Exponents of $R/T$, 95 % CIs: along $T$ per idle round, along $K$ relative to SW-UCB. "
        "Rows 1, 2: $T=B$."
    ),
)
