"""The rule for exponents: from a curve along a ray, and two controls, to a verdict on a rate.

An upper bound on the regret is judged one-sided. The *excess* is the slope of y = log(R/T), less
that of the rate, less that of the logarithms that the claim forgives, all on the same cells: how
much faster regret grows than claimed. All limits are 95 % ones.

A ray along B or V, in this order:

1. *Too little*: fewer than 4 points enter. `undecided`. On B, where saturation is the reason, the
   growth of R over the rate, per factor of 30 in B, may still fail it: by a factor of 1.5, lower
   limit over 1.25, but never where the theorem's own bound is more than uniform play loses.
2. *No line, no exponent*: the quadratic term changes the slope by more than 0.10 along the ray, and
   is significant (5 %) against the points' scatter. Then the slope between the last two points
   stands for the exponent, and `fails` needs R over the rate to grow from end to end as well.
3. *Impossible*: the upper limit of the exponent is below the lower bound's by more than the margin
   0.03. No policy keeps that up, so the ray shows a regime that ends: `undecided`.
4. `fails`: the lower limit of the excess is over the margin.
5. `holds`: the upper limit is at most the margin, and the excess between the last two points at
   most 0.08. But not where more than half of the worst case is paid at V = 0 as well (*overhead*),
   or where that was not measured.
6. *Replication*: each phase has seeds of its own. If one of them alone says the opposite of all of
   them together, `undecided`.

A ray along K judges the difference to a partner with a proved rate, at two budgets: `fails` only if
the excess at the larger budget is over the margin, and is not smaller by 0.03 than at the smaller
one, and at most half of the worst case is overhead. A ray along T at fixed B judges the growth of
R/T beyond mixing between its ends, divided by the growth of log T; it never bars `consistent`.

*Controls*: a policy whose rate is proved must hold, with the logarithms of its own theorem, and one
that is known to break it must fail, on the same cells and by the same steps. If either does not,
the ray says at most `undecided`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from confee import theory
from confee.claims.judging.verdict import ALPHA, FAILS, HOLDS, UNDECIDED
from confee.evidence.curve import MINIMAL_POINTS, Curve, Measure, measure, project, rate_of

MARGIN = 0.03
"""Excess of an exponent that is still forgiven."""

END_MARGIN = 0.08
"""Excess between the last two points that is still forgiven."""

LARGEST_OVERHEAD = 0.5
"""Share of the worst case that may be paid at V = 0 as well."""

GROWTH, GROWTH_LOW, GROWTH_SPAN, MINIMAL_GROWTH_SPAN = 1.5, 1.25, 30.0, 10.0
"""Growth of the normalised regret that fails a saturated ray, what its lower limit must pass, the
ratio of budgets over which it is stated, and the least ratio it is measured over."""

LARGEST_ALLOWANCE = 0.08
"""Logarithms that forgive a larger exponent leave nothing to be judged: the rule must be able to
see a curve that is off by as much."""

Logs = Callable[[Curve], np.ndarray]


def no_logs(curve: Curve) -> np.ndarray:
    """Nothing is forgiven."""
    return np.zeros(len(curve.y))


def root_logs(curve: Curve) -> np.ndarray:
    """A factor sqrt(ln B), and along K a factor sqrt(ln K)."""
    size = curve.K if curve.variable == "K" else curve.B
    return 0.5 * np.log(np.log(size))


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
        A row of theory.EXPONENTS.
    logs
        Logarithm of the factor that is forgiven, in each cell.
    bound
        The theorem's explicit bound on R/T of one cell (K, T, B, V), with its constants; infinite
        where the theorem states none.
    """

    model: str = "rate"
    logs: Logs = no_logs
    bound: Callable[[int, int, int, float], float] = field(default=lambda K, T, B, V: math.inf)

    def rate(self, curve: Curve) -> np.ndarray:
        """Logarithm of the rate in each cell; none is left in a difference of curves."""
        own = rate_of(curve, self.model)
        return np.zeros_like(own) if curve.partner else own


@dataclass(frozen=True)
class Check:
    """A ray of one policy against the rate: the excess with its limits, and what it says.

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
        claimed = f"claimed at most {self.rate + self.allowance:+.3f}"
        if self.growth is not None:
            return f"{self.name}: saturated, R over the rate grows {self.growth:.2f}-fold per 30x"
        value, low, high = self.exponent, self.low, self.high
        limits = f"{value:+.3f}, 95 % CI [{low:+.3f}, {high:+.3f}]"
        what = "exponent" if self.straight else "no line; exponent at the far end"
        return f"{self.name}: {what} {limits}, {claimed}"

    def step(self) -> dict:
        """The ray as a part of its claim's verdict; the number is the excess."""
        number = None if math.isnan(self.excess) else self.excess
        said = [self.text, self.why, self.decide, *map(control_text, self.controls.values())]
        note = "; ".join(filter(None, said))
        return {"step": self.name, "outcome": self.verdict, "number": number, "note": note}

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
    """The verdict of one ray by itself, before its controls are looked at.

    Parameters
    ----------
    free
        For negative controls: saturation is what they are expected to show, so saturated cells
        enter where too few others do, and no bound and no overhead protects them.
    """
    entering = curve.entering()
    check = _described(curve, entering)
    if check.points < (2 if curve.variable == "T" else MINIMAL_POINTS):
        saturated = curve.entering(("", "saturated"))
        enough = len(np.unique(saturated.point)) >= MINIMAL_POINTS
        if free and enough:
            return _exponent(_described(curve, saturated), saturated, claimed, free)
        if curve.variable == "B" and enough:
            return _saturated(check, saturated, claimed)
        needed = 2 if curve.variable == "T" else MINIMAL_POINTS
        why = f"{check.points} points enter, {needed} are needed"
        out = f" (left out: {check.left_out})" if check.left_out else ""
        return dataclasses.replace(check, why=why + out, decide="points that enter the fit")
    if curve.variable == "T":
        return _growth(check, entering, claimed)
    return _exponent(check, entering, claimed, free)


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
        horizon=int(curve.T.max()),
        seeds=int(entering.seeds.min()) if len(points) else 0,
        left_out=curve.left_out,
    )


def named(curve: Curve) -> str:
    """What a ray is called: its variable, and what stays fixed."""
    if curve.variable == "T":
        return "T at fixed B"
    budget = math.exp(np.log(curve.B).mean())  # what the phases are spread around
    fixed = f"V={curve.V[0]:g}" if curve.variable == "B" else f"B={budget:.2g}"
    ratio = curve.T.max() / curve.B.max()
    return f"{curve.variable} at {fixed}, {'T=B' if ratio == 1 else f'T/B={ratio:.3g}'}"


def _fitted(check: Check, curve: Curve, claimed: Claimed) -> tuple[Check, Measure]:
    """The check with its fit, and the measure of the excess.

    What the logarithms forgive is subtracted from the slopes, not from the cells: a policy need not
    have the logarithms that its theorem allows, and its points must not be bent by them.
    """
    rate, logs = claimed.rate(curve), claimed.logs(curve)
    where = curve.point, curve.phase
    found = measure(curve.x, curve.y - rate, *_scatter(curve))
    slopes = (project(curve.x, logs, *where, end=end) for end in (False, True))
    ends = (logs[curve.point == one].mean() for one in (curve.point.max(), curve.point.min()))
    found = found.less(*slopes, growth=next(ends) - next(ends))
    end = not found.straight
    excess = (found.end, found.end_low, found.end_high) if end else (
        found.slope, found.low, found.high)  # fmt: skip
    shift = [project(curve.x, known, *where, end=end) for known in (rate, logs)]
    return (
        dataclasses.replace(
            check,
            exponent=excess[0] + sum(shift), low=excess[1] + sum(shift),
            high=excess[2] + sum(shift), rate=shift[0], allowance=shift[1],
            excess=excess[0], excess_low=excess[1], excess_high=excess[2],
            bend=found.bend, straight=found.straight,
        ),
        found,
    )  # fmt: skip


def _scatter(curve: Curve) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    return curve.se, curve.seeds, curve.point, curve.phase


def _exponent(check: Check, curve: Curve, claimed: Claimed, free: bool) -> Check:
    """Steps 2 to 6 of the rule."""
    check, found = _fitted(check, curve, claimed)
    slope = found.slope if check.straight else found.end
    half = (check.excess_high - check.excess_low) / 2
    check = dataclasses.replace(
        check,
        p_holds=_p(found, check, MARGIN, upper=False),
        p_fails=_p(found, check, MARGIN, upper=True),
    )
    if check.allowance > LARGEST_ALLOWANCE and curve.variable != "K":
        why = f"the logarithms of the statement forgive {check.allowance:.2f} at these horizons"
        return dataclasses.replace(
            check, why=why, decide="no horizon that can be run", p_fails=None
        )
    if check.high < check.rate - MARGIN:
        why = (f"pre-asymptotic: the upper limit {check.high:+.3f} is below the lower bound's "
               f"exponent {check.rate:+.3f}")  # fmt: skip
        return dataclasses.replace(check, why=why, decide="larger budgets")
    if check.excess_low > MARGIN:
        if not check.straight and not found.growth_low > 0:
            why = "no line, and regret over the rate does not grow from end to end"
            return dataclasses.replace(check, why=why, decide="larger budgets")
        against = [high for _, high in found.halves if high <= MARGIN]
        if against:
            return dataclasses.replace(check, why="the phases contradict each other",
                                       decide="more seeds")  # fmt: skip
        bent = "" if check.straight else "no line; at the far end "
        why = f"{bent}the excess is at least {check.excess_low:+.3f}, over the margin {MARGIN}"
        return dataclasses.replace(check, verdict=FAILS, why=why)
    if check.excess_high <= MARGIN:
        if found.end == found.end and found.end > END_MARGIN:
            why = f"between the last two points the excess is {found.end:+.3f}"
            return dataclasses.replace(check, why=why, decide="larger budgets")
        if not free and not check.overhead <= LARGEST_OVERHEAD and claimed.model == "rate":
            return dataclasses.replace(check, why=_too_much(check), decide="larger V or budgets")
        if any(low > MARGIN for low, _ in found.halves):
            return dataclasses.replace(check, why="the phases contradict each other",
                                       decide="more seeds")  # fmt: skip
        why = f"the excess is at most {check.excess_high:+.3f}, within the margin {MARGIN}"
        return dataclasses.replace(check, verdict=HOLDS, why=why)
    factor = (half / max(abs(slope - MARGIN), 1e-9)) ** 2
    more = f"about {math.ceil(factor)} times the points" if factor <= 64 else "a longer ray"
    why = f"the excess {slope:+.3f} +- {half:.3f} lies on both sides of the margin {MARGIN}"
    return dataclasses.replace(check, why=why, decide=more)


def _too_much(check: Check) -> str:
    """What is said where overhead bars a verdict."""
    if math.isnan(check.overhead):
        return "how much is paid at V = 0 was not measured"
    return f"{check.overhead:.0%} of the worst case is paid at V = 0 as well"


def _p(found: Measure, check: Check, margin: float, upper: bool) -> float:
    """One-sided p-value of the excess against the margin, from the limits' own t."""
    from scipy import stats

    half = (check.excess_high - check.excess_low) / 2
    df = found.df if check.straight else max(found.df - 1, 1)
    error = half / float(stats.t.ppf(1 - ALPHA, df)) if half > 0 else 0.0
    distance = check.excess - margin
    if error == 0 or math.isnan(error):
        return float((distance > 0) != upper)
    return float(stats.t.sf(distance / error, df) if upper else stats.t.cdf(distance / error, df))


def _saturated(check: Check, curve: Curve, claimed: Claimed) -> Check:
    """Step 1 on B: the growth of a saturated ray over a ratio of 30 in budgets."""
    check, found = _fitted(_described(curve, curve), curve, claimed)
    growth, low = (GROWTH_SPAN**e for e in (found.slope, found.low))
    check = dataclasses.replace(check, growth=growth, straight=True)
    cells = zip(curve.K, curve.T, curve.B, curve.V, strict=True)
    bounds = np.log([claimed.bound(*cell) for cell in cells])
    if not np.all(bounds < curve.uniform):  # also where uniform play was not measured
        why = "saturated, and the theorem's own bound is more than uniform play loses"
        return dataclasses.replace(check, why=why, decide="larger budgets")
    if check.span >= MINIMAL_GROWTH_SPAN and growth >= GROWTH and low > GROWTH_LOW:
        least = math.log(GROWTH_LOW) / math.log(GROWTH_SPAN)
        p = _p(found, check, least, upper=True)
        return dataclasses.replace(check, verdict=FAILS, p_fails=p,
                                   why="saturated, and regret over the rate grows")  # fmt: skip
    return dataclasses.replace(check, why="saturated", decide="larger budgets")


def _growth(check: Check, curve: Curve, claimed: Claimed) -> Check:
    """A ray along T at fixed B: growth over mixing, as an exponent of T between the ends."""
    from scipy import stats

    found = measure(curve.x, curve.y - claimed.logs(curve), *_scatter(curve))
    length = math.log(check.span)
    excess, low, high = (
        g / length for g in (found.growth, found.growth_low, found.growth_high)
    )  # fmt: skip
    error = (high - low) / 2 / float(stats.norm.ppf(1 - ALPHA))
    p = [float(stats.norm.cdf((excess - MARGIN) / error)) if error > 0 else float(excess > MARGIN)]
    least = MARGIN + (high - low) / 2
    check = dataclasses.replace(
        check, exponent=excess, low=low, high=high, rate=0.0, excess=excess, excess_low=low,
        excess_high=high, p_holds=p[0], p_fails=1 - p[0],
    )  # fmt: skip
    seen = f"an exponent of {least:.3f} or more would have been seen"
    if low > MARGIN:
        why = f"beyond mixing, R/T grows by {math.exp(found.growth):.2f}x over {check.span:.3g}x"
        return dataclasses.replace(check, verdict=FAILS, why=why)
    if high <= MARGIN:
        return dataclasses.replace(check, verdict=HOLDS, why=f"no growth beyond mixing; {seen}")
    return dataclasses.replace(check, why="growth on both sides of the margin", decide="more seeds")


# --------------------------------------------------------------------------- arms


def judge_arms(curves: Sequence[Curve], claimed: Claimed, free: bool = False) -> Check:
    """The verdict of paired rays along K at one or more budgets, before controls; see the module.

    The rays are differences to a partner's. The one at the largest budget is what is judged.
    """
    curves = sorted(curves, key=lambda one: one.B.mean())
    checks = [judge_ray(one, claimed, free=True) for one in curves]
    last = dataclasses.replace(checks[-1], overhead=curves[-1].overhead)
    if last.verdict == HOLDS and not free and not last.overhead <= LARGEST_OVERHEAD:
        return dataclasses.replace(last, verdict=UNDECIDED, why=_too_much(last),
                                   decide="larger V or budgets")  # fmt: skip
    if last.verdict != FAILS or free:
        return last
    if not last.overhead <= LARGEST_OVERHEAD:
        return dataclasses.replace(last, verdict=UNDECIDED, why=_too_much(last),
                                   decide="larger V or budgets")  # fmt: skip
    if len(checks) < 2 or math.isnan(checks[0].excess):
        why = "the excess was seen at one budget alone"
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
    """The check beside its controls, (label, check or None if it was not played there)."""
    controls = {}
    wrong = []
    for kind, (label, own), must in (("positive", positive, HOLDS), ("negative", negative, FAILS)):
        outcome = own.verdict if own else "not played"
        value = own.exponent if own else math.nan
        controls[kind] = {"kind": kind, "what": label, "verdict": outcome, "value": value,
                          "expected": must}  # fmt: skip
        if outcome != must:
            wrong.append(f"the {kind} control {label} {_came_out(own, outcome)}")
    check = dataclasses.replace(check, controls=controls)
    if wrong and check.verdict in (HOLDS, FAILS):
        why = f"{check.why}, but {'; '.join(wrong)}"
        return dataclasses.replace(
            check, verdict=UNDECIDED, why=why, decide="controls that come out", p_fails=None,
            p_holds=None,
        )  # fmt: skip
    return check


def _came_out(own: Check | None, outcome: str) -> str:
    if own is None:
        return "was not played here"
    return f"is {outcome} ({own.why})" if own.why else f"is {outcome}"
