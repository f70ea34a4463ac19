"""The rule for exponents: from a curve along a ray, and two controls, to a verdict on a rate.

An upper bound on the regret is judged one-sided. The *excess* is the slope of y = log(R/T), less
that of the rate, less that of the logarithms that the claim forgives, all on the same cells: how
much faster regret grows than claimed. All limits are 95 % limits.

A ray along B or V, in this order:

1. *Too little*: fewer than 4 points enter. `undecided`. On B, where saturation is the reason, the
   growth of R over the rate, per factor of 30 in B, may still fail it: by a factor of 1.5, lower
   limit over 1.25, but never where the theorem's own bound is more than uniform play loses.
2. *No line, no exponent*: the quadratic term changes the slope by more than 0.10 along the ray, and
   is significant (5 %) against the points' scatter. Then the slope between the last two points
   stands for the exponent, and `fails` needs R over the rate to grow from end to end as well.
3. *Impossible*: the upper limit of the exponent, of the line or at the far end, is below the
   lower bound's by more than the margin 0.03. No policy keeps that up, so the ray shows a regime
   that ends: `undecided`.
4. `fails`: the lower limit of the excess is over the margin. Beside it stands what that limit is
   for x in R = U x / (1 + x), where U is what uniform play loses: regret close to U is held back.
5. `holds`: the upper limit is at most the margin, and the excess between the last two points at
   most 0.08. It never holds where more than half of the worst case is incurred at V = 0 as well
   (*overhead*), or where that was not measured.
6. *Replication*: each phase has seeds of its own. If a single phase says the opposite of all phases
   together, `undecided`.

A ray along K judges the difference to a partner with a proved rate, at two budgets: `fails` only if
the excess at the larger budget is over the margin and not smaller by 0.03 than at the smaller
budget, and at most half of the worst case is overhead. A ray along T at fixed B judges the growth
of R/T beyond mixing between its ends, divided by the growth of log T; it never bars `consistent`.

*Controls*: a policy whose rate is proved must hold, with the logarithms of its own theorem, and a
policy known to break the rate must fail, on the same cells and by the same steps. Otherwise the ray
is `undecided`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from confee.claims.judging.finding import ALPHA, FAILS, HOLDS, UNDECIDED, Step
from confee.evidence.curve import (
    MINIMAL_POINTS,
    Curve,
    Measure,
    budget_log,
    measure,
    project,
    rate_of,
)
from confee.paper import theory

MARGIN = 0.03
"""Excess of an exponent that is still forgiven."""

END_MARGIN = 0.08
"""Excess between the last two points that is still forgiven."""

LARGEST_OVERHEAD = 0.5
"""Largest share of the worst case that may be incurred at V = 0 as well."""

GROWTH, GROWTH_LOW, GROWTH_SPAN, MINIMAL_GROWTH_SPAN = 1.5, 1.25, 30.0, 10.0
"""Growth of the normalised regret that fails a saturated ray, what its lower limit must pass, the
ratio of budgets over which it is stated, and the least ratio it is measured over."""

LARGEST_ALLOWANCE = 0.08
"""Logarithms that forgive a larger exponent leave nothing to be judged: the rule must be able to
see a curve that is off by as much."""

MINIMAL_SPAN = 2.0
"""Ratio of the last point of a ray to its first below which no line is judged."""

Logs = Callable[[Curve], np.ndarray]


def no_logs(curve: Curve) -> np.ndarray:
    """Nothing is forgiven."""
    return np.zeros(len(curve.y))


def root_logs(curve: Curve) -> np.ndarray:
    """A factor sqrt(ln B), and along K a factor sqrt(ln K)."""
    return 0.5 * np.log(np.log(curve.K)) if curve.variable == "K" else budget_log(curve)


def arms_log(curve: Curve) -> np.ndarray:
    """A factor (ln K)^{1/3}, as in (K ln K)^{1/3}."""
    return np.log(np.log(curve.K)) / 3


def proof_logs(curve: Curve) -> np.ndarray:
    """All logarithms of HyQue's proof: 6 (log2 T + 1) ln(T/delta) sqrt(ln B), and along K as in
    `root_logs`."""
    factors = [math.log(theory.rho_hat_factor(t)) for t in curve.T]
    return np.array(factors) + root_logs(curve)


@dataclass(frozen=True)
class Claimed:
    """What a theorem says of a policy.

    Parameters
    ----------
    model
        A row of theory.EXPONENTS, or the exponents themselves.
    logs
        Logarithm of the factor that is forgiven, in each cell.
    explicit
        Whether the theorem prints that factor; else O~ hides it.
    bound
        The theorem's explicit bound on R/T of one cell (K, T, B, V), with its constants; infinite
        where the theorem states none.
    lower
        The row of theory.EXPONENTS that no policy can beat; None if no lower bound is known.
    positive
        What a positive control of that label is held to; by default this claim with the logarithms
        of the control's own theorem, a factor sqrt(ln B).
    """

    model: str | Mapping[str, float] = "rate"
    logs: Logs = no_logs
    explicit: bool = False
    bound: Callable[[int, int, int, float], float] = field(default=lambda K, T, B, V: math.inf)
    lower: str | None = "rate"
    positive: Callable[[str], Claimed] | None = None

    def of_control(self, label: str) -> Claimed:
        """What the positive control `label` is held to."""
        if self.positive is not None:
            return self.positive(label)
        return dataclasses.replace(self, logs=budget_log)

    def rate(self, curve: Curve) -> np.ndarray:
        """Logarithm of the rate in each cell; of a difference of curves, what is left of it: the
        partner has the same, or where exponents are given that of the paper."""
        own = rate_of(curve, self.model)
        if not curve.partner:
            return own
        return own - rate_of(curve, self.model if isinstance(self.model, str) else "rate")

    @property
    def law(self) -> Mapping[str, float]:
        """The exponents of R/T by variable."""
        return theory.EXPONENTS[self.model] if isinstance(self.model, str) else self.model


@dataclass(frozen=True)
class Check:
    """A policy's ray against the rate: the excess with its limits, and the verdict.

    Parameters
    ----------
    name, ray
        What the ray is called in a sentence, and its label.
    verdict, why, decide
        The outcome, the step of the rule that gave it, and for `undecided` what would decide.
    exponent, low, high
        The fitted exponent; NaN where there is no line.
    rate, allowance
        Exponent of the rate on the same cells by the same fit, and what is forgiven.
    p_holds, p_fails
        One-sided p-values against an excess over the margin and under it; None where untested.
    controls
        Control -> {what, verdict, value, expected}, both of them where they were played.
    """

    name: str
    ray: str = ""
    verdict: str = UNDECIDED
    why: str = ""
    decide: str = ""
    exponent: float = math.nan
    low: float = math.nan
    high: float = math.nan
    rate: float = math.nan
    allowance: float = 0.0
    excess: float = math.nan
    excess_low: float = math.nan
    excess_high: float = math.nan
    bend: float = math.nan
    straight: bool = True
    overhead: float = math.nan
    at_limit: float = math.nan
    growth: float | None = None
    p_holds: float | None = None
    p_fails: float | None = None
    points: int = 0
    span: float = math.nan
    horizon: int = 0
    seeds: int = 0
    left_out: str = ""
    controls: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def variable(self) -> str:
        """What moves along the ray."""
        return self.name.partition(" ")[0]

    @property
    def text(self) -> str:
        """`B at V=4, T/B=10: exponent -0.310, 95 % CI [-0.325, -0.295], claimed at most -0.333`."""
        if math.isnan(self.excess):
            return f"{self.name}: no fit"
        claimed = f"claimed at most {round(self.rate + self.allowance, 3) + 0.0:+.3f}"
        if self.growth is not None:
            return f"{self.name}: saturated, R over the rate grows {self.growth:.2f}-fold per 30x"
        value, low, high = self.exponent, self.low, self.high
        limits = f"{value:+.3f}, 95 % CI [{low:+.3f}, {high:+.3f}]"
        what = "exponent" if self.straight else "bent; exponent at the far end"
        return f"{self.name}: {what} {limits}, {claimed}"

    def step(self, before: str = "") -> Step:
        """The ray as a part of its claim, with words before its name; the number is the excess."""
        number = None if math.isnan(self.excess) else self.excess
        parts = [self.text, self.why, self.decide, *map(control_text, self.controls.values())]
        note = "; ".join(filter(None, parts))
        return Step(step=before + self.name, outcome=self.verdict, number=number, note=note)

    def numbers(self) -> dict:
        """All fields but the name, without those that are undefined."""
        values = dataclasses.asdict(self)
        del values["name"]
        return {k: v for k, v in values.items() if v not in (None, "", {}) and v == v}


def control_text(control: dict[str, Any]) -> str:
    """`positive control sw_ucb holds (-0.31)`."""
    value = control["value"]
    number = "" if value is None or math.isnan(value) else f" ({value:+.3f})"
    return f"{control['kind']} control {control['what']}: {control['verdict']}{number}"


# --------------------------------------------------------------------------- one ray


def judge_ray(curve: Curve, claimed: Claimed, free: bool = False) -> Check:
    """Return the verdict of a ray by itself, before its controls are considered.

    Parameters
    ----------
    free
        For negative controls: saturation is what they are expected to show, so saturated cells
        enter where too few others do, and no bound and no overhead protects them.
    """
    entering = curve.entering()
    check = _described(curve, entering)
    judged = _growth if curve.variable == "T" else _exponent
    needed, span = least(curve.variable)
    if check.points >= needed and not check.span >= span:
        why = f"the points that enter span a ratio of {check.span:.3g}, {span:g} is needed"
        return dataclasses.replace(check, why=why, decide="points further apart")
    if check.points >= needed:
        return judged(check, entering, claimed, free)
    saturated = curve.entering(("", "saturated"))
    enough = len(np.unique(saturated.point)) >= needed
    if free and enough:
        return judged(_described(curve, saturated), saturated, claimed, free)
    if curve.variable == "B" and enough:
        return _saturated(check, saturated, claimed)
    why = f"{check.points} points enter, {needed} are needed"
    out = f" (left out: {check.left_out})" if check.left_out else ""
    decide = _unsaturated(saturated) if enough else f"{needed} points that enter the fit"
    return dataclasses.replace(check, why=why + out, decide=decide)


def least(variable: str) -> tuple[int, float]:
    """(points, ratio of the last to the first) that a ray needs to be judged."""
    return (2, 1.0) if variable == "T" else (MINIMAL_POINTS, MINIMAL_SPAN)


def _enough(curve: Curve) -> bool:
    """Whether so many points enter that the ray can be judged."""
    points, (needed, span) = np.unique(curve.entering().point), least(curve.variable)
    return len(points) >= needed and points[-1] >= span * points[0]


def _described(curve: Curve, entering: Curve) -> Check:
    """What is known of a ray without a fit."""
    points = np.unique(entering.point)
    return Check(
        name=named(curve),
        ray=curve.ray,
        overhead=curve.overhead,
        at_limit=float(entering.at_limit.mean()) if len(points) else math.nan,
        points=len(points),
        span=float(points[-1] / points[0]) if len(points) else math.nan,
        horizon=int(curve.T.max(initial=0)),
        seeds=int(entering.seeds.min()) if len(points) else 0,
        left_out=curve.left_out,
    )


def named(curve: Curve) -> str:
    """What a ray is called: its variable, and what stays fixed."""
    if not len(curve.y):
        return f"{curve.variable} along {curve.ray}"
    if curve.variable == "T":
        return "T at fixed B"
    budget = math.exp(np.log(curve.B).mean())  # what the phases are spread around
    fixed = f"V={curve.V[0]:g}" if curve.variable == "B" else f"B={budget:.2g}"
    ratio = curve.T.max() / curve.B.max()
    what = f"K relative to {curve.partner}" if curve.partner else curve.variable
    return f"{what} at {fixed}, {'T=B' if ratio == 1 else f'T/B={ratio:.3g}'}"


def _fitted(check: Check, curve: Curve, claimed: Claimed) -> tuple[Check, Measure]:
    """The check with its fit, and the measure of the excess.

    What the logarithms forgive is subtracted from the slopes, not from the cells: a policy need not
    have the logarithms that its theorem allows, and its points must not be bent by them.
    """
    rate, logs = claimed.rate(curve), claimed.logs(curve)
    where = curve.point, curve.phase
    fit = measure(curve.x, curve.y - rate, *_scatter(curve))
    slope, far = (project(curve.x, logs, *where, end=end) for end in (False, True))
    first, last = (logs[curve.point == place].mean() for place in (where[0].min(), where[0].max()))
    fit = fit.less(slope, far, growth=float(last - first))
    end = not fit.straight
    excess = (fit.end, fit.end_low, fit.end_high) if end else (fit.slope, fit.low, fit.high)
    shift = [project(curve.x, known, *where, end=end) for known in (rate, logs)]
    return (
        dataclasses.replace(
            check,
            exponent=excess[0] + sum(shift),
            low=excess[1] + sum(shift),
            high=excess[2] + sum(shift),
            rate=shift[0],
            allowance=shift[1],
            excess=excess[0],
            excess_low=excess[1],
            excess_high=excess[2],
            bend=fit.bend,
            straight=fit.straight,
        ),
        fit,
    )


def _scatter(curve: Curve) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    return curve.se, curve.seeds, curve.point, curve.phase


def _exponent(check: Check, curve: Curve, claimed: Claimed, free: bool) -> Check:
    """Steps 2 to 6 of the rule."""
    check, fit = _fitted(check, curve, claimed)
    excess = _Limits(
        check.excess, check.excess_low, check.excess_high, fit.df if check.straight else fit.end_df
    )
    if math.isnan(excess.half):
        why = "the standard error of the exponent is unknown"
        return dataclasses.replace(check, why=why, decide="more seeds and phases")
    p_holds, p_fails = (excess.p(MARGIN, upper=upper) for upper in (False, True))
    check = dataclasses.replace(check, p_holds=p_holds, p_fails=p_fails)
    if check.allowance > LARGEST_ALLOWANCE and not claimed.explicit:
        why = f"the logarithms of the statement allow {check.allowance:.2f} more at these horizons"
        return dataclasses.replace(
            check, why=why, decide="no horizon that can be simulated", p_fails=None
        )
    high, bound = _against_lower_bound(curve, claimed)
    if high < bound - MARGIN:
        why = (
            f"pre-asymptotic: the upper limit {high:+.3f} is below the lower bound's exponent "
            f"{bound:+.3f}"
        )
        return dataclasses.replace(check, why=why, decide="larger budgets")
    if check.excess_low > MARGIN:
        if not check.straight and not fit.growth_low > 0:
            why = "the curve is bent, and regret over the rate does not grow from end to end"
            length = math.log(check.span) - min(fit.growth_low, 0.0) / check.excess_low
            decide = f"{_reach(curve, length)}, if the slope at the far end persists"
            return dataclasses.replace(check, why=why, decide=decide)
        against = [high for _, high in fit.halves if high <= MARGIN]
        if against:
            return dataclasses.replace(
                check, why="the two phases (replications) disagree", decide="more seeds"
            )
        bent = "" if check.straight else "the curve is bent; at its far end "
        why = f"{bent}the excess is at least {check.excess_low:+.3f}, over the margin {MARGIN}"
        freed = _without_ceiling(curve, claimed)
        if math.isfinite(freed):
            why += f" (without the ceiling of uniform play: {freed:+.3f})"
        return dataclasses.replace(check, verdict=FAILS, why=why)
    if check.excess_high <= MARGIN:
        if fit.end == fit.end and fit.end > END_MARGIN:
            why = f"between the last two points the excess is {fit.end:+.3f}"
            return dataclasses.replace(check, why=why, decide="larger budgets")
        if not free and not check.overhead <= LARGEST_OVERHEAD and claimed.law["V"] > 0:
            return dataclasses.replace(check, why=_too_much(check), decide="larger V or budgets")
        if any(low > MARGIN for low, _ in fit.halves):
            return dataclasses.replace(
                check, why="the two phases (replications) disagree", decide="more seeds"
            )
        why = f"the excess is at most {check.excess_high:+.3f}, within the margin {MARGIN}"
        return dataclasses.replace(check, verdict=HOLDS, why=why)
    why = (
        f"the excess {check.excess:+.3f} +- {excess.half:.3f} has the margin {MARGIN} within its "
        "95 % CI"
    )
    # At the same spacing of points the width of the limits shrinks as length^(-3/2).
    times = excess.half / max(abs(check.excess - MARGIN), 1e-9)
    length = math.log(check.span) * times ** (2 / 3)
    decide = f"{_reach(curve, length)}, if the excess persists"
    if times <= 8:
        decide += f"; or about {math.ceil(times**2)} times as many points"
    return dataclasses.replace(check, why=why, decide=decide)


def _without_ceiling(curve: Curve, claimed: Claimed) -> float:
    """Lower limit of the excess of x, where R = U x / (1 + x) and U is what uniform play loses.

    Regret close to uniform play's cannot fall, or grow, as it would without that ceiling. Infinite
    where uniform play was not played, or loses less: then it is no ceiling.
    """
    share = np.exp((curve.alone if curve.partner else curve.y) - curve.uniform)
    if not np.all(share < 1):
        return math.inf
    freed = dataclasses.replace(curve, y=curve.y - np.log1p(-share))
    return _fitted(_described(curve, curve), freed, claimed)[0].excess_low


def _too_much(check: Check) -> str:
    """Return why overhead bars a verdict."""
    if math.isnan(check.overhead):
        return "the regret at V = 0 was not measured"
    return f"{check.overhead:.0%} of the worst-case regret also occurs at V = 0"


@dataclass(frozen=True)
class _Limits:
    """A number with its 95 % limits, from Student's t with `df` degrees of freedom."""

    value: float
    low: float
    high: float
    df: float

    @property
    def half(self) -> float:
        """Half the width of the interval; NaN if the error is unknown."""
        return (self.high - self.low) / 2

    def p(self, margin: float, upper: bool) -> float:
        """One-sided p-value against `at most margin` (upper) or `at least margin`."""
        from scipy import special

        distance = (self.value - margin) if upper else (margin - self.value)
        if not self.half > 0:
            return float(distance <= 0 if upper else distance < 0)
        error = self.half / float(special.stdtrit(self.df, 1 - ALPHA))
        return float(special.stdtr(self.df, -distance / error))


def _against_lower_bound(curve: Curve, claimed: Claimed) -> tuple[float, float]:
    """Return the policy's upper limit and the lower bound's exponent, on the same cells."""
    own = measure(curve.x, curve.alone if curve.partner else curve.y, *_scatter(curve))
    if claimed.lower is None:
        return own.high, -math.inf
    rate = rate_of(curve, claimed.lower)
    highs = [own.high] if own.straight else [own.high, own.end_high]  # a bent ray by both
    bounds = [project(curve.x, rate, curve.point, curve.phase, end=end) for end in (False, True)]
    return min(zip(highs, bounds, strict=False), key=lambda pair: pair[0] - pair[1])


LARGEST_REACH = 1e15
"""Largest number that is named as a horizon that would decide."""


def _reach(curve: Curve, length: float) -> str:
    """`B up to 4.1e+06`: how far a ray goes whose ends are `length` apart in logarithms."""
    last = float(curve.point.min()) * math.exp(min(length, 100.0))
    if not last <= LARGEST_REACH:
        return f"{curve.variable} over {LARGEST_REACH:.0e}"
    text = f"{curve.variable} up to {last:.2g}"
    least = float((curve.K.max() * last) ** 2)  # V is at most sqrt(B) / K
    if curve.variable == "V" and least > curve.B.min():
        text += f" (B from {least:.2g} on)"
    return text


def _unsaturated(curve: Curve) -> str:
    """From which budget on a policy on the rate would lose less than half of what uniform play
    loses."""
    last = curve.point == curve.point.max()
    over = float(
        np.mean((curve.y if not curve.partner else curve.alone)[last] - curve.uniform[last])
    ) + math.log(2)
    if math.isnan(over):
        return "larger budgets"
    least = float(curve.B.max()) * math.exp(3 * max(over, 0.0))
    return f"points with B over {least:.2g}, where a policy on the rate is not saturated"


def _saturated(check: Check, curve: Curve, claimed: Claimed) -> Check:
    """Step 1 on B: the growth of a saturated ray over a ratio of 30 in budgets."""
    check, fit = _fitted(_described(curve, curve), curve, claimed)
    excess = _Limits(fit.slope, fit.low, fit.high, fit.df)
    growth, low = GROWTH_SPAN**excess.value, GROWTH_SPAN**excess.low
    check = dataclasses.replace(
        check, growth=growth, excess=excess.value, excess_low=excess.low, excess_high=excess.high
    )
    cells = zip(curve.K, curve.T, curve.B, curve.V, strict=True)
    bounds = np.log([claimed.bound(*cell) for cell in cells])
    if not np.all(bounds < curve.uniform):  # also where uniform play was not measured
        stated = np.all(np.isfinite(bounds))
        why = "saturated, and the bound of the theorem exceeds the regret of uniform play"
        why = (
            why
            if stated
            else "saturated at the regret of uniform play, and no bound with constants is stated"
        )
        return dataclasses.replace(check, why=why, decide=_unsaturated(curve))
    if check.span >= MINIMAL_GROWTH_SPAN and growth >= GROWTH and low > GROWTH_LOW:
        p = excess.p(math.log(GROWTH_LOW) / math.log(GROWTH_SPAN), upper=True)
        return dataclasses.replace(
            check, verdict=FAILS, p_fails=p, why="saturated, and regret over the rate grows"
        )
    return dataclasses.replace(check, why="saturated", decide=_unsaturated(curve))


def _growth(check: Check, curve: Curve, claimed: Claimed, free: bool = False) -> Check:
    """A ray along T at fixed B: growth over mixing, as an exponent of T between the ends."""
    logs = claimed.logs(curve)
    fit, forgiven = (measure(curve.x, y, *_scatter(curve)) for y in (curve.y, logs))
    length = math.log(check.span)
    allowance = forgiven.growth / length
    value, low, high = (
        growth / length - allowance for growth in (fit.growth, fit.growth_low, fit.growth_high)
    )
    excess = _Limits(value, low, high, fit.growth_df)
    check = dataclasses.replace(
        check,
        exponent=excess.value + allowance,
        low=excess.low + allowance,
        high=excess.high + allowance,
        rate=0.0,
        allowance=allowance,
        excess=excess.value,
        excess_low=excess.low,
        excess_high=excess.high,
    )
    if math.isnan(excess.half):
        why = "the two ends share no phase, or the error of the growth is unknown"
        return dataclasses.replace(check, why=why, decide="more seeds and phases")
    p_holds, p_fails = (excess.p(MARGIN, upper=upper) for upper in (False, True))
    check = dataclasses.replace(check, p_holds=p_holds, p_fails=p_fails)
    if excess.low > MARGIN:
        why = (
            f"beyond the growing share of idle rounds, R/T grows by "
            f"{math.exp(fit.growth):.2f}x over {check.span:.3g}x"
        )
        return dataclasses.replace(check, verdict=FAILS, why=why)
    if excess.high <= MARGIN:
        seen = f"an exponent of {MARGIN + excess.half:.3f} or more would be detected"
        return dataclasses.replace(
            check, verdict=HOLDS, why=f"no growth beyond that of the share of idle rounds; {seen}"
        )
    why = (
        f"the growth {excess.value:+.3f} +- {excess.half:.3f} has the margin {MARGIN} within "
        f"its 95 % CI"
    )
    times = excess.half / max(abs(excess.value - MARGIN), 1e-9)
    decide = f"{_reach(curve, length * times)}, if the growth persists; or more seeds"
    return dataclasses.replace(check, why=why, decide=decide)


# --------------------------------------------------------------------------- arms


def judge_arms(curves: Sequence[Curve], claimed: Claimed, free: bool = False) -> Check:
    """Return the verdict of paired rays along K before controls; see the module.

    Each ray is the difference to a partner's ray. The ray at the largest budget is judged.
    """
    curves = sorted(curves, key=lambda ray_curve: ray_curve.B.mean())
    # A ray on which too few points enter takes no part beside others.
    curves = [ray_curve for ray_curve in curves if _enough(ray_curve)] or curves
    checks = [judge_ray(ray_curve, claimed, free) for ray_curve in curves]
    last = checks[-1]
    if last.verdict != FAILS or free:
        return last
    if not last.overhead <= LARGEST_OVERHEAD:
        return dataclasses.replace(
            last, verdict=UNDECIDED, why=_too_much(last), decide="larger V or budgets"
        )
    if len(checks) < 2 or math.isnan(checks[0].excess):
        why = "the excess was measured at one budget only"
        return dataclasses.replace(last, verdict=UNDECIDED, why=why, decide="a second budget")
    change = last.excess - checks[0].excess
    half = math.hypot(*((c.excess_high - c.excess_low) / 2 for c in (last, checks[0])))
    if change - half > -MARGIN:
        why = f"{last.why}; from the smaller budget to the larger the excess moves by {change:+.3f}"
        return dataclasses.replace(last, why=why)
    why = f"the excess may shrink with the budget (by {change:+.3f} +- {half:.3f})"
    return dataclasses.replace(last, verdict=UNDECIDED, why=why, decide="larger budgets")


# --------------------------------------------------------------------------- controls


def with_controls(
    check: Check, positive: tuple[str, Check | None], negative: tuple[str, Check | None]
) -> Check:
    """Return the check with its controls, each (label, check or None if not played there)."""
    controls = {}
    wrong = []
    for kind, (label, own), must in (("positive", positive, HOLDS), ("negative", negative, FAILS)):
        outcome = own.verdict if own else "not played"
        value = own.exponent if own else math.nan
        controls[kind] = {
            "kind": kind,
            "what": label,
            "verdict": outcome,
            "value": value,
            "expected": must,
        }
        if outcome != must:
            named = f"the {kind} control {label} {_came_out(own, outcome)}"
            wrong.append(f"there is no {kind} control" if label == "none" else named)
    check = dataclasses.replace(check, controls=controls)
    if wrong and check.verdict in (HOLDS, FAILS):
        why = f"{check.why}, but {'; '.join(wrong)}"
        return dataclasses.replace(
            check,
            verdict=UNDECIDED,
            why=why,
            decide="controls that come out as expected",
            p_fails=None,
            p_holds=None,
        )
    return check


def _came_out(own: Check | None, outcome: str) -> str:
    if own is None:
        return "was not simulated here"
    return f"is {outcome} ({own.why})" if own.why else f"is {outcome}"
