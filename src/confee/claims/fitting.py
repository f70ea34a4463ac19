"""Judge regrets of any simulator against a rate, by the rule that judges HyQue's.

A table has a row for each run. Worst cases over adversaries are taken in each cell, and aligned
cells become rays. Each ray is fitted and judged beside a control that must hold and a control that
must fail. The table's author names the controls; without them the verdict is `undecided`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from confee.claims.judging.exponents import Check, Claimed
from confee.claims.judging.finding import Finding, graded
from confee.claims.judging.rates import Controls, exponents_verdict, ray_checks
from confee.core import schema
from confee.core.errors import ConfeeError
from confee.evidence import Evidence
from confee.evidence.curve import Curve
from confee.evidence.slopes import slopes
from confee.evidence.worst import worst_cases

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

NEEDED = ("policy", "T", "V", "K", "seed", "regret")
EXPONENTS = ["policy", "ray", "exponent", "low", "high", "claimed", "points", "left_out"]
"""Columns of the fitted exponents."""
LARGEST = 10**7
"""Rows of a table."""


@dataclass(frozen=True)
class Fit:
    """Findings on a table of regrets.

    Parameters
    ----------
    findings
        The verdict on each policy that is no control, as in claims.json.
    exponents
        Fitted exponents of R/T with their 95 % limits, a row for each policy and ray.
    worst, points
        Worst case of each cell, and which cells lie on which ray.
    claim, law
        What was judged, and its exponents by axis.
    """

    findings: tuple[Finding, ...]
    exponents: pd.DataFrame
    worst: pd.DataFrame
    points: pd.DataFrame
    claim: str
    law: Mapping[str, float]

    def figure(self) -> Figure:
        """Worst-case regret per round along each ray, by policy."""
        from confee.rendering import plot

        return plot.rays(self.worst, self.points, self.law)

    def report(self) -> str:
        """The verdicts and the exponents in Markdown."""
        lines = [f"# Claim: exponents of R/T at most {self.claim}", ""]
        for finding in self.findings:
            lines += [f"## {finding.id}: {finding.as_printed}", ""]
            lines += [f"{finding.why}.", ""] if finding.why else []
            lines += [f"What would decide: {finding.decide}.", ""] if finding.decide else []
            lines += [f"- {step.outcome}: {step.note or step.step}" for step in finding.steps]
            lines.append("")
        lines += [
            "## Exponents of R/T, with 95 % confidence limits",
            "",
            _markdown(self.exponents),
            "",
        ]
        return "\n".join(lines)


def fit(
    frame: pd.DataFrame,
    claim: str,
    *,
    policy: str | None = None,
    holds: str | Mapping[str, str] | None = None,
    fails: str | Mapping[str, str] | None = None,
) -> Fit:
    """Judge regrets of any simulator against a rate R/T <= K^k V^v B^b (ln B)^p.

    Parameters
    ----------
    frame
        A row for each run: policy, T, V, K, seed, regret; B if it is less than T; adversary if
        there are several (the worst counts). Seeds are compared within a cell.
    claim
        `B=-1/3 V=1/3 K=1/3`; `log=1/2` forgives a factor (ln B)^(1/2). An axis that is not named
        is not judged.
    policy
        The policy to judge; by default all except the controls and `uniform`. If the table has
        `uniform`, cells that are no better than uniform play enter no fit.
    holds, fails
        The controls: a policy known to keep the claimed rate, and a policy known to miss it. Both
        go through the same check on the same cells. A mapping names a policy for each of the axes
        B, V, K and T: `{"B": "random_restart", "V": "blind"}`.

    Raises
    ------
    ConfeeError
        If the table or the claim is invalid.
    """
    powers = parsed(claim)
    runs = checked(frame)
    names = sorted(set(runs["policy"]))
    positive, negative = _controls("holds", holds), _controls("fails", fails)
    named = [
        ("policy", policy),
        *(("holds", name) for name in positive.values()),
        *(("fails", name) for name in negative.values()),
    ]
    for role, name in named:
        if name is not None and name not in names:
            raise ConfeeError(
                f"{role}={schema.show(name)}: not a policy of the table; it has {', '.join(names)}"
            )
    worst = _worst(runs)
    points = rays(worst)
    asked = points["variable"].isin([*powers, *("T" for name in powers if name == "B")])
    points = points[asked].reset_index(drop=True)
    nothing = dict.fromkeys("BVKT", "none")
    partner = positive.get("B", positive.get("K", "none"))
    controls = Controls(nothing | positive, nothing | negative, partner, others=())
    for name in {*positive.values()} & {*negative.values()}:
        raise ConfeeError(
            f"fails={schema.show(name)}: must not be the positive control (holds), too"
        )
    if policy in {*positive.values(), *negative.values()}:
        raise ConfeeError(
            f"policy={schema.show(policy)}: must not be one of the controls (holds, fails)"
        )
    known = {*positive.values(), *negative.values(), "uniform"}
    judged = [policy] if policy else [name for name in names if name not in known]
    if not judged:
        raise ConfeeError("policy: must be given; the table has nothing but controls and uniform")
    law = dict.fromkeys("KVBT", 0.0) | {axis: powers[axis] for axis in powers if axis != "log"}
    still = not (worst["V"] > 0).any()
    claimed = Claimed(
        law,
        logs=_logs(powers.get("log", 0.0)),
        explicit=True,
        lower="stationary" if still else "rate",
        positive=lambda _: claimed,
    )
    evidence = Evidence(runs, worst, worst, points)
    findings = []
    for name in judged:
        checks = ray_checks(worst, points, name, claimed, controls)
        if not checks:
            raise ConfeeError(
                f"policy={schema.show(name)}: no exponent can be fitted; must have cells in which "
                "only one of V, K, or B at a fixed T/B changes, and the claim must name it"
            )
        moving = {check.variable for check in checks}
        checks += [
            Check(name=axis, why="no cells along it", decide=f"cells in which only {axis} changes")
            for axis in "BVK"
            if axis in powers and axis not in moving
        ]
        finding = partial(
            Finding,
            id=name,
            statement=f"{name}: R/T at most {claim}",
            place="declared",
            prediction=claim,
        )
        findings.append(graded(exponents_verdict(evidence, finding, checks)))
    table = slopes(worst, points)
    fitted = table[table["part"] == "ray"].reset_index(drop=True)
    fitted["claimed"] = [law[ray.partition(" ")[0]] for ray in fitted["axis"]]
    fitted = fitted.rename(columns={"axis": "ray", "label": "policy"})[EXPONENTS]
    return Fit(tuple(findings), fitted, worst, points, claim, law)


def by_axis(text: str | None) -> str | dict[str, str] | None:
    """`B=random,V=blind` as a mapping; a name alone as it is."""
    if text is None or "=" not in text:
        return text
    parts = (part.partition("=") for part in text.split(","))
    return {axis.strip(): name.strip() for axis, _, name in parts}


def _controls(role: str, named: str | Mapping[str, str] | None) -> dict[str, str]:
    """Axis -> control."""
    if named is None:
        return {}
    if isinstance(named, str):
        return dict.fromkeys("BVKT", named)
    for axis in named:
        if axis not in FIXED:
            raise ConfeeError(
                f"{role}={schema.show(axis)}=...: no such axis; must be a policy, or policies by "
                "axis B, V, K, T, as in B=random,V=blind"
            )
    return dict(named)


def read(file: str | Path) -> pd.DataFrame:
    """A table from a CSV or parquet file. Raises ConfeeError if it cannot be read."""
    import pandas as pd

    place = Path(file)
    if not place.is_file():
        raise ConfeeError(f"{place}: no such file; must be a CSV or a .parquet file")
    try:
        if place.suffix == ".parquet":
            return pd.read_parquet(place)
        return pd.read_csv(
            place,
            keep_default_na=False,
            na_values=[""],
            encoding="utf-8-sig",
            dtype={"policy": str, "adversary": str},
        )
    except OSError as error:
        reason = error.strerror or "not a parquet file"
        raise ConfeeError(f"{place}: cannot be read: {reason}") from None
    except ValueError:
        kind = "a parquet file" if place.suffix == ".parquet" else "CSV with a header line"
        raise ConfeeError(f"{place}: cannot be read; must be {kind}") from None


# --------------------------------------------------------------------------- the claim


def parsed(claim: str) -> dict[str, float]:
    """`B=-1/3 V=1/3` as numbers. Raises ConfeeError."""
    powers: dict[str, float] = {}
    words = claim.split() if isinstance(claim, str) else []
    if not words:
        raise ConfeeError(
            f"claim={schema.show(claim)}: must name exponents of R/T, as in 'B=-1/3 V=1/3 K=1/3'"
        )
    for word in words:
        name, equals, value = word.partition("=")
        if name not in ("K", "V", "B", "log") or not equals:
            raise ConfeeError(
                f"claim: {schema.show(word)}: must be one of B=, V=, K=, log= with a number, as "
                "in B=-1/3"
            )
        try:
            number = float(Fraction(value))
        except (ValueError, ZeroDivisionError):
            number = math.nan
        if not abs(number) <= 9:
            raise ConfeeError(
                f"claim: {schema.show(word)}: must have a number in [-9, 9], as in B=-1/3"
            )
        if name in powers:
            raise ConfeeError(f"claim: {name}: given twice; must be given once")
        powers[name] = number
    return powers


def _logs(power: float):
    def logs(curve: Curve) -> np.ndarray:
        return power * np.log(np.log(curve.B))

    return logs


# --------------------------------------------------------------------------- the table


def checked(frame: pd.DataFrame) -> pd.DataFrame:
    """The columns that are needed, in types of our own, with seeds counted from 0 in each cell.

    Raises ConfeeError, naming column and row (counted from 1, without the header).
    """
    import pandas as pd

    if not isinstance(frame, pd.DataFrame):
        raise ConfeeError("table: must be a pandas DataFrame")
    lacking = [name for name in NEEDED if name not in frame]
    if lacking:
        have = ", ".join(map(str, frame.columns))
        raise ConfeeError(f"table: no column {', '.join(lacking)}; it has {schema.show(have)}")
    if not 0 < len(frame) <= LARGEST:
        raise ConfeeError(f"table: {len(frame)} rows; must be in [1, {LARGEST}]")
    runs = pd.DataFrame(index=range(len(frame)))
    for name in ("policy", "adversary"):
        words = frame[name] if name in frame else pd.Series(["one"] * len(frame))
        bad = words.isna().to_numpy() | (words.astype(str) == "").to_numpy()
        _refuse(bad, words, name, "a word")
        runs[name] = words.astype(str).to_numpy()
    low = {"K": 2, "T": 1, "B": 1, "V": 0, "seed": -math.inf, "regret": -math.inf}
    for name in ("K", "T", "B", "V", "seed", "regret"):
        given = frame[name] if name in frame else frame["T"]
        numbers = pd.to_numeric(given, errors="coerce").to_numpy(float)
        if name == "B":
            numbers = np.where(given.isna().to_numpy(), runs["T"], numbers)
        whole = name in ("K", "T", "B", "seed")
        bad = ~np.isfinite(numbers) | (numbers < low[name])
        bad |= whole & (numbers != np.floor(numbers))
        least = f" of at least {low[name]}" if math.isfinite(low[name]) else ""
        _refuse(bad, given, name, f"a {'whole' if whole else 'finite'} number{least}")
        runs[name] = numbers.astype(np.int64) if whole else numbers
    _refuse((runs["B"] > runs["T"]).to_numpy(), runs["B"], "B", "at most T")
    if (runs["regret"].abs() <= 1).all() and (runs["T"] >= 100).all():
        raise ConfeeError("table: regret: at most 1 in all rows; must be the sum over all T rounds")
    cell = ["policy", "K", "T", "B", "V", "adversary"]
    twice = runs.duplicated([*cell, "seed"]).to_numpy()
    _refuse(
        twice,
        runs["seed"],
        "seed",
        "a new one: an earlier row has the same seed, policy, K, T, B, V and adversary "
        "(adversaries that differ must have different names)",
    )
    _same_adversaries(runs)
    runs["seed"] = runs.groupby(cell)["seed"].rank(method="first").astype(np.int64) - 1
    return runs.assign(label=runs["policy"])


def _same_adversaries(runs: pd.DataFrame) -> None:
    """Raises ConfeeError if policies met different adversaries in a cell: worst cases over
    different families do not compare."""
    places = ["K", "T", "B", "V"]
    met = runs.groupby([*places, "policy"])["adversary"].agg(frozenset).reset_index()
    for place, group in met.groupby(places):
        everyone = frozenset().union(*group["adversary"])
        for policy, own in zip(group["policy"], group["adversary"], strict=True):
            if lacking := sorted(everyone - own):
                where = ", ".join(f"{n}={v:g}" for n, v in zip(places, place, strict=True))
                raise ConfeeError(
                    f"table: at {where} policy={schema.show(policy)} has no run against "
                    f"adversary={schema.show(lacking[0])}, which other policies have; all policies "
                    "of a cell must meet the same adversaries"
                )


def _refuse(bad: np.ndarray, values: pd.Series, name: str, must: str) -> None:
    if bad.any():
        row = int(np.argmax(bad))
        shown = schema.show(values.iloc[row])
        raise ConfeeError(f"table: row {row + 1}: {name}={shown}: must be {must}")


def _worst(runs: pd.DataFrame) -> pd.DataFrame:
    """Return worst cases over adversaries. Each half of the seeds measures the adversary that the
    other half chose, so no run measures an adversary that it helped to choose."""
    # Names of adversaries that confee has would be held to what confee knows of them.
    worst = worst_cases(runs.assign(adversary="table: " + runs["adversary"]), choose=0)
    worst["adversary"] = worst["adversary"].str.removeprefix("table: ")
    # No theorem of the paper's says where these hold, and no grid of strengths is known.
    worst["in_range"], worst["short_batch"] = True, False
    worst["eligible"] = ~worst["saturated"]
    return worst


def rays(worst: pd.DataFrame) -> pd.DataFrame:
    """The rays in a table of worst cases, as in points.csv: cells along B at equal T/B, along V, K,
    or T at fixed B, while all else stays; with those at V = 0 of the same K, T and B."""
    import pandas as pd

    cells = worst[["label", "policy", "K", "T", "B", "V"]].copy()
    cells["ratio"] = [_rounded(t / b) for t, b in zip(cells["T"], cells["B"], strict=True)]
    moving = cells[cells["V"] > 0] if (cells["V"] > 0).any() else cells
    rows: list[pd.DataFrame] = []
    for variable, fixed in FIXED.items():
        for place, group in moving.groupby(fixed, sort=True):
            if group[variable].nunique() < 2:
                continue
            where = dict(zip(fixed, place, strict=True))
            name = f"{variable} at " + ", ".join(f"{k}={v:g}" for k, v in where.items())
            point = group["T"] / group["B"] if variable == "T" else group[variable]
            name = name.replace("ratio", "T/B")
            ray = group.assign(axis=name, variable=variable, point=point)
            rows.append(ray)
            keys = ray[["label", "K", "T", "B"]].drop_duplicates()
            still = cells[cells["V"] == 0].merge(keys, on=["label", "K", "T", "B"])
            if variable != "T" and moving is not cells and len(still):
                ends = still.assign(axis=ray["axis"].iloc[0], variable=variable, point=math.nan)
                rows.append(ends.assign(point=still[variable]))
    columns = ["label", "policy", "axis", "variable", "point", "phase", "K", "T", "B", "V"]
    if not rows:
        return pd.DataFrame(columns=columns)
    points = pd.concat(rows, ignore_index=True).assign(phase=0)
    return points[columns].astype({"point": float})


FIXED: Mapping[str, list[str]] = {
    "B": ["K", "V", "ratio"],
    "V": ["K", "T", "B"],
    "K": ["T", "B", "V"],
    "T": ["K", "B", "V"],
}
"""What stays along a ray."""


def _rounded(ratio: float) -> float:
    """T/B, alike for cells that differ by the rounding of their budgets."""
    return float(f"{ratio:.2g}")


def _markdown(table: pd.DataFrame) -> str:
    head = "| " + " | ".join(table.columns) + " |"
    rule = "|" + "---|" * len(table.columns)
    rows = [
        "| " + " | ".join(_cell(v) for v in row) + " |" for row in table.itertuples(index=False)
    ]
    return "\n".join([head, rule, *rows])


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.3f}"
    return re.sub(r"([|`*_<])", r"\\\1", str(value))
