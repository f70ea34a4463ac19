"""Verdicts: what they are, and how an exponent is turned into one.

An upper bound on the regret is judged one-sided: with

    e = fitted exponent of R/T - exponent of the rate on the same cells - log allowance,

e > 0 means that regret grows faster than claimed. Per axis, with 95 % limits: `holds` if the upper
limit is at most 0.03 and the last local slope has e <= 0.08; `fails` if the lower limit is above
0.03; else `undecided`. A claim with several axes holds when all of them hold, and fails when one
fails by limits made for all of them at once (Bonferroni). A control that must fail is put through
the same check; if it passes, the check cannot tell anything and the verdict is `vacuous`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from confee import theory
from confee.evidence.slopes import MINIMAL_POINTS, MINIMAL_SPAN, SPANNING, axis_of

if TYPE_CHECKING:
    import pandas as pd

HOLDS, FAILS, CONSISTENT, UNDECIDED, VACUOUS = (
    "holds", "fails", "consistent", "undecided", "vacuous",
)  # fmt: skip

OUTCOMES = (HOLDS, FAILS, CONSISTENT, UNDECIDED, VACUOUS)

MARGIN = 0.03
"""Excess of an exponent that is still forgiven."""

LOCAL_MARGIN = 0.08
"""Excess of the last local slope that is still forgiven."""

ALPHA = 0.025
"""One-sided level: 95 % two-sided limits."""

GROWTH, GROWTH_LOW = 1.5, 1.25
"""Growth of R/(T (KV/B)^{1/3}) that fails a saturated axis, and what its lower limit must pass."""

GROWTH_SPAN, MINIMAL_GROWTH_SPAN = 30.0, 10.0
"""The ratio of budgets over which that growth is stated, and the least it is measured over."""


@dataclass(frozen=True)
class Verdict:
    """The outcome of one claim at the horizon run; the fields are those of claims.json.

    `why`: the rule that gave the verdict, with the numbers it was applied to, in one sentence.
    `interval_of` and `number_of` say what the interval and the steps' numbers are.
    `steps`: parts judged one by one, each {"step", "outcome", "number", "note"}. `evidence`: the
    frames it rests on: regret, worst, slopes, asked, or studies/<name>; none for arithmetic.
    """

    id: str
    statement: str
    place: str
    verdict: str
    prediction: str
    measured: str
    horizon: str
    control: dict = field(default_factory=dict)
    numbers: dict = field(default_factory=dict)
    seeds: int = 0
    interval: tuple[float, float] | None = None
    decide: str = ""
    p_value: float | None = None
    why: str = ""
    interval_of: str = ""
    steps: tuple[dict, ...] = ()
    number_of: str = ""
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True)
class Check:
    """One axis of one policy against the rate: the excess e with its limits, and what it says.

    `p_holds` and `p_fails` are one-sided p-values against "e is over the margin" and "e is under
    the margin"; None where the cells do not suffice for a test.
    """

    name: str
    verdict: str
    decide: str = ""
    part: str = ""
    exponent: float = math.nan
    low: float = math.nan
    high: float = math.nan
    rate: float = math.nan
    allowance: float = 0.0
    excess: float = math.nan
    excess_low: float = math.nan
    excess_high: float = math.nan
    local: float | None = None
    growth: float | None = None
    p_holds: float | None = None
    p_fails: float | None = None
    points: int = 0
    span: float = math.nan
    horizon: int = 0
    seeds: int = 0
    left_out: str = ""

    @property
    def text(self) -> str:
        """`B -0.310 [-0.325, -0.295], claimed <= -0.333`, and the growth if that was judged."""
        if math.isnan(self.exponent):
            return f"{self.name}: no fit"
        claimed = f"claimed <= {self.rate + self.allowance:+.3f}"
        limits = f"[{self.low:+.3f}, {self.high:+.3f}]"
        text = f"{self.name} {self.exponent:+.3f} {limits}, {claimed}"
        if self.growth is not None:
            text += f" (saturated: normalised regret times {self.growth:.2f} per 30x in B)"
        return text

    def step(self) -> dict:
        """The axis as a part of its claim's verdict; the number is the excess."""
        number = None if math.isnan(self.excess) else self.excess
        note = f"{self.text}" if self.verdict != UNDECIDED else f"{self.text}; {self.decide}"
        return {"step": self.name, "outcome": self.verdict, "number": number, "note": note}

    def numbers(self) -> dict:
        """All fields but the name, without those that are undefined."""
        values = dataclasses.asdict(self)
        del values["name"]
        return {k: v for k, v in values.items() if v not in (None, "") and v == v}


def check_axis(slopes: pd.DataFrame, label: str, axis: str, sqrt_log: bool = False) -> Check:
    """Judge one axis of a policy against the rate (one-sided; see the module).

    `sqrt_log` forgives a factor sqrt(ln B), at its local exponent on the cells used. Where
    saturation leaves T or B without enough points, the growth of the normalised regret is judged.
    """
    row = axis_of(slopes, label, axis, "upper")
    if row is None:
        return Check(axis, UNDECIDED, f"axis {axis}: {label} did not play it")
    growth = axis_of(slopes, label, axis, "growth")
    if growth is not None:
        return _judge_growth(_measure(growth, axis, sqrt_log), growth)
    if row["points"] < MINIMAL_POINTS or math.isnan(row["exponent"]):
        why = f"; left out: {row['left_out']}" if row["left_out"] else ""
        return dataclasses.replace(
            _measure(row, axis, sqrt_log),
            decide=f"axis {axis}: {row['points']} points enter, {MINIMAL_POINTS} are needed{why}",
        )
    check = _measure(row, axis, sqrt_log)
    local = axis_of(slopes, label, axis, "local")
    if local is not None and not math.isnan(local["exponent"]):
        allowance = local["sqrt_log"] if sqrt_log else 0.0
        last = float(local["exponent"] - local["rate"] - allowance)
        check = dataclasses.replace(check, local=last)
    return _judge(_tested(check, row))


def check_fixed_budget(slopes: pd.DataFrame, label: str, sqrt_log: bool = False) -> Check:
    """Judge that R/T does not grow with T at fixed B: coefficient of log T in the joint fit."""
    name = "T at fixed B"
    row = axis_of(slopes, label, "T", "joint")
    if row is None or math.isnan(row["exponent"]):
        why = "no joint fit" if row is None else str(row["left_out"])
        return Check(name, UNDECIDED, f"{name}: {why}")
    return _judge(_tested(_measure(row, name, sqrt_log), row))


def _measure(row: pd.Series, name: str, sqrt_log: bool) -> Check:
    """A slopes row as a Check without verdict."""
    allowance = float(row["sqrt_log"]) if sqrt_log else 0.0
    shift = float(row["rate"]) + allowance
    return Check(
        name, UNDECIDED, part=str(row["part"]), exponent=float(row["exponent"]),
        low=float(row["low"]), high=float(row["high"]), rate=float(row["rate"]),
        allowance=allowance, excess=float(row["exponent"]) - shift,
        excess_low=float(row["low"]) - shift, excess_high=float(row["high"]) - shift,
        points=int(row["points"]), span=float(row["span"]), horizon=int(row["horizon"]),
        seeds=int(row["seeds"]), left_out=str(row["left_out"] or ""),
    )  # fmt: skip


def _p_values(excess: float, margin: float, row: pd.Series) -> tuple[float, float]:
    """One-sided p-values of t = (e - margin) / se: against e over the margin, and under it."""
    from scipy import stats

    distance = excess - margin
    if row["se"] > 0:
        t = distance / row["se"]
        return float(stats.t.cdf(t, row["df"])), float(stats.t.sf(t, row["df"]))
    return (0.0, 1.0) if distance <= 0 else (1.0, 0.0)


def _tested(check: Check, row: pd.Series) -> Check:
    """The check with its p-values."""
    p_holds, p_fails = _p_values(check.excess, MARGIN, row)
    return dataclasses.replace(check, p_holds=p_holds, p_fails=p_fails)


def _judge(check: Check) -> Check:
    """The verdict of a tested check, and for an undecided one what would decide."""
    if check.excess_low > MARGIN:
        return dataclasses.replace(check, verdict=FAILS)
    steady = check.local is None or check.local <= LOCAL_MARGIN
    if check.excess_high <= MARGIN and steady:
        return dataclasses.replace(check, verdict=HOLDS)
    if not steady:
        decide = (
            f"{check.name}: a longer horizon (last local slope {check.local:+.3f} over the rate)"
        )
    else:
        half = (check.excess_high - check.excess_low) / 2
        factor = (half / max(abs(check.excess - MARGIN), 1e-9)) ** 2
        more = f"about {math.ceil(factor)} times the seeds" if factor <= 64 else "a longer horizon"
        decide = f"{check.name}: {more} (excess {check.excess:+.3f} +- {half:.3f})"
    return dataclasses.replace(check, decide=decide)


def _judge_growth(check: Check, row: pd.Series) -> Check:
    """The verdict on a saturated axis: growth of R/(T (KV/B)^{1/3}) over a ratio of 30 in B.

    The fitted power is what grows; budgets over a ratio of 10 at least must carry it. `holds`
    cannot come out: a saturated policy is one that plays little better than uniformly.
    """
    per_budget = check.rate / theory.EXPONENTS["rate"]["B"]
    growth, low = (GROWTH_SPAN ** (e / per_budget) for e in (check.excess, check.excess_low))
    check = dataclasses.replace(check, growth=growth)
    if check.span < MINIMAL_GROWTH_SPAN:
        decide = f"{check.name}: saturated, and budgets span only a ratio of {check.span:.3g}"
        return dataclasses.replace(check, decide=decide)
    least = per_budget * math.log(GROWTH_LOW) / math.log(GROWTH_SPAN)
    check = dataclasses.replace(check, p_fails=_p_values(check.excess, least, row)[1])
    if growth >= GROWTH and low > GROWTH_LOW:
        return dataclasses.replace(check, verdict=FAILS)
    decide = f"{check.name}: saturated (growth {growth:.2f}x): longer horizons or larger budgets"
    return dataclasses.replace(check, decide=decide)


@dataclass(frozen=True)
class Joint:
    """Verdict over several checks, with its p-value and the check that decided."""

    verdict: str
    p_value: float
    decisive: Check
    decide: str


def combine(checks: Sequence[Check]) -> Joint:
    """One verdict of several axes.

    `holds` needs every check to hold (intersection-union: p is the largest) and at least one
    axis over budgets of a ratio of 30; `fails` needs one check that fails at a level divided by
    the number of tests.
    """
    tested = [c for c in checks if c.p_fails is not None]
    failing = [c for c in tested if c.verdict == FAILS]
    worst = min(failing or tested, key=_p_of_failure, default=checks[0])
    p_fails = min(1.0, len(tested) * _p_of_failure(worst))
    if worst.verdict == FAILS and p_fails <= ALPHA:
        return Joint(FAILS, p_fails, worst, "")
    p_holds = max(1.0 if c.p_holds is None else c.p_holds for c in checks)
    wide = any(c.span >= MINIMAL_SPAN for c in checks if c.name in SPANNING)
    if all(c.verdict == HOLDS for c in checks) and wide:
        return Joint(HOLDS, p_holds, max(checks, key=lambda c: c.excess_high), "")
    reasons = [c.decide for c in checks if c.decide]
    reasons += [f"{c.name}: fails alone, but not as one of {len(tested)} tests: more seeds"
                for c in checks if c.verdict == FAILS]  # fmt: skip
    if not wide:
        reasons.append("neither T nor B spans a ratio of 30 in budgets")
    open_check = next((c for c in checks if c.verdict != HOLDS), checks[0])
    return Joint(UNDECIDED, min(p_fails, p_holds), open_check, "; ".join(reasons))


def _p_of_failure(check: Check) -> float:
    return 1.0 if check.p_fails is None else check.p_fails


def apply_control(verdict: Verdict) -> Verdict:
    """`vacuous` where the control did not fail as it must (or was not played)."""
    if verdict.control.get("failed") is True:
        return verdict
    missing = verdict.control.get("failed") is None
    why = "was not played here" if missing else "did not fail the check it must fail"
    note = f" ({verdict.control['note']})" if verdict.control.get("note") else ""
    return dataclasses.replace(
        verdict,
        verdict=VACUOUS,
        p_value=None,
        decide=f"the control ({verdict.control.get('what', 'none')}) {why}{note}",
    )


def correct(verdicts: Iterable[Verdict], primary: Iterable[str]) -> list[Verdict]:
    """Holm's correction over the primary verdicts; one that does not survive is `undecided`."""
    from statsmodels.stats.multitest import multipletests

    verdicts, primary = list(verdicts), set(primary)
    family = [i for i, v in enumerate(verdicts) if v.id in primary and v.p_value is not None]
    if not family:
        return verdicts
    adjusted = multipletests([verdicts[i].p_value for i in family], ALPHA, method="holm")[1]
    for i, p in zip(family, adjusted, strict=True):
        numbers = {**verdicts[i].numbers, "p_holm": float(p)}
        change: dict = {"numbers": numbers}
        if verdicts[i].verdict in (HOLDS, FAILS) and p > ALPHA:
            change |= {
                "verdict": UNDECIDED,
                "decide": f"{verdicts[i].verdict} alone, but not after Holm's correction over "
                f"{len(family)} claims (p = {p:.2g}): more seeds",
            }
        verdicts[i] = dataclasses.replace(verdicts[i], **change)
    return verdicts


def fewest_seeds(runs: pd.DataFrame) -> int:
    """Seeds of the cell that has fewest; columns label, K, T, B, V, seed."""
    return int(runs.groupby(["label", "K", "T", "B", "V"])["seed"].nunique().min())


def at_horizon(T: float, toy: bool, extra: str = "") -> str:
    """`T up to 1e+08`, with a warning for a toy experiment."""
    text = f"T up to {T:.3g}" + (f", {extra}" if extra else "")
    return f"toy horizon ({text}): says nothing about larger ones" if toy else text
