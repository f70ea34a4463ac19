"""The analysis carries over to other base algorithms (extension section): a claim per setting."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from confee.claims import density
from confee.claims.alg_assumption import TRIED, Tried
from confee.claims.base import Claim
from confee.claims.judging import blocks, budget
from confee.claims.judging.exponents import MARGIN, Check, Claimed, root_logs
from confee.claims.judging.finding import (
    ALPHA,
    CONSISTENT,
    COUNTED,
    FAILS,
    HOLDS,
    MEASURED,
    UNDECIDED,
    Control,
    Correction,
    Finding,
    Step,
    apply_control,
    at_horizon,
)
from confee.claims.judging.lines import STILL, curves
from confee.claims.judging.rates import (
    RULED_OUT,
    Controls,
    Joint,
    combine,
    controls_of,
    ray_checks,
    reason,
)
from confee.core.size import Size
from confee.paper import theory
from confee.policies.algorithm import Algorithm
from confee.simulation.cells import family, label_of
from confee.simulation.grid import Ray
from confee.simulation.needs import Ask, Conf, Draws, Needs
from confee.simulation.play import draw_path
from confee.world.path import known

if TYPE_CHECKING:
    import pandas as pd

    from confee.evidence import Evidence

STRENGTHS = (1, 2, 4, 8, "ceiling")
"""Of each adversary, in units of the critical gap."""

BUDGETS = tuple(3200 * 2**k for k in range(6))
TOY_BUDGETS = (500, 1000, 2000, 4000)

VARIATIONS = (1 / 4, 1 / 2, 1, 2, 4)
TOY_VARIATIONS = VARIATIONS[:-1]
"""Times the V of the case, all within the theorem's range V <= sqrt(B) / K."""

BUDGET, TOY_BUDGET = 51_200, 2000
"""Along V."""

RATIO = 4
"""T/B on all rays: the theorem's range, B >= T^0.8, begins at B = RATIO^4."""

VARIANTS = ("", "narrow ")
"""ALG as its theory has it, and with a smaller bonus, with which it meets the assumption too as far
as `alg-assumption` can see: the theory's is so wide that budgets of 1e5 are hardly enough."""

SEEDS = {
    "hyque": 8,
    "narrow hyque": 8,
    "restarted": 6,
    "narrow restarted": 6,
    "paced": 4,
    "window": 4,
    "discount": 4,
    "misled": 8,
    "uniform": 24,
}
"""Seeds by role. Each seed draws features, classes and moves, and uniform play is cheap."""

PLACE = "Appendix D.3, the implication of Assumption D.2"

PARTS = ("budget", "density", "exponents")

CLAIMED = Claimed(logs=root_logs)


@dataclass(frozen=True)
class Case:
    """A setting: its base algorithm, against whom, at which sizes.

    K: arms or actions; what else the sizes are, the adversaries' options say. V: along B; enough
    for a few of the largest changes. uniform: the policy of uniform play. more: further policies to
    compare with, by role. cost: seconds a query of HyQue, about.
    """

    tried: Tried
    K: int
    V: float
    against: Mapping[str, Conf]
    uniform: str = "uniform"
    more: Mapping[str, str] = field(default_factory=dict)
    cost: float = 6e-7

    @property
    def alg(self) -> Algorithm:
        return self.tried.alg

    @property
    def id(self) -> str:
        return f"extension/{self.alg.setting.id}"

    @property
    def claim(self) -> Claim:
        return Claim(
            id=self.id,
            statement=f"HyQue over {self.alg.name} makes at most B queries, with a density in "
            "[B/2T, B/T) in each phase, and its worst-case regret has the rate in B and V",
            place=PLACE,
            prediction="at most B queries; no phase outside the range; exponents of R/T at most "
            "-1/3 "
            "in B and 1/3 in V at a fixed size of the setting; a factor sqrt(ln B) is allowed",
            judge=partial(judge, self),
            needs=partial(needs, self),
            speaks_of=(self.labels["hyque"],),
            order=30 + list(CASES).index(self.id),
            group="Other base algorithms",
            statements=("implication",),
        )

    @property
    def policies(self) -> dict[str, Conf]:
        """Role -> policy, without the control that is given a wrong V."""
        name, narrow = self.alg.id, dict(self.tried.narrow)
        hyque, restarted = {"name": f"hyque_{name}"}, {"name": f"{name}_restarted"}
        return {
            "hyque": hyque,
            "narrow hyque": hyque | narrow,
            "restarted": restarted,
            "narrow restarted": restarted | narrow,
            "paced": {"name": name},
            **{role: {"name": other} for role, other in self.more.items()},
            "uniform": {"name": self.uniform},
        }

    @property
    def labels(self) -> dict[str, str]:
        """Role -> label of its runs."""
        result = {role: label_of(policy) for role, policy in self.policies.items()}
        return result | {"misled": f"{self.alg.id}_misled"}

    def rays(self, toy: bool) -> dict[str, Ray]:
        """Along B, and along V."""
        budgets, budget = (TOY_BUDGETS, TOY_BUDGET) if toy else (BUDGETS, BUDGET)
        variations = tuple(self.V * v for v in (TOY_VARIATIONS if toy else VARIATIONS))
        return {
            "B": Ray([self.K], budgets, [self.V], [RATIO], still=STILL),
            "V": Ray([self.K], [budget], variations, [RATIO], still=STILL),
        }

    def controls(self, variant: str) -> Controls:
        """Return the controls of a variant.

        The variant that knows V and restarts at the optimal rate must hold along both rays. Uniform
        play, which equals any algorithm without feedback, must fail along B. The restarted
        algorithm that is given the least V of the ray must fail along V.
        """
        ideal = self.labels[f"{variant}restarted"]
        return Controls(
            positive={"B": ideal, "V": ideal},
            negative={"B": self.uniform, "V": self.labels["misled"]},
        )

    def adversaries(self, strengths: Sequence[Any]) -> dict[str, Conf]:
        """Return the case's adversaries at `strengths`."""
        return {
            label: {**conf, "strength": list(strengths)} for label, conf in self.against.items()
        }


CASES = {
    case.id: case
    for case in (
        Case(
            TRIED["alg-assumption/oful"],
            6,
            2.0,
            {
                "switching": {"name": "linear_switching", "d": 3},
                "rotation": {"name": "linear_rotation", "d": 3},
            },
            more={"window": "sw_linucb", "discount": "d_linucb"},
        ),
        Case(
            TRIED["alg-assumption/glm_ucb"],
            6,
            6.0,
            {"switching": {"name": "logistic_switching", "d": 2}},
            cost=1e-6,
        ),
        Case(
            TRIED["alg-assumption/falcon"],
            3,
            2.0,
            {"switching": {"name": "contextual_switching", "contexts": 4, "maps": 8}},
            "uniform_contextual",
        ),
        Case(
            TRIED["alg-assumption/q_ucb"],
            2,
            2.0,
            {
                "switching": {
                    "name": "episodic_switching",
                    "H": 2,
                    "S": 2,
                    "moves": ["rewards", "transitions"],
                }
            },
            "uniform_episodic",
        ),
    )
}


# --------------------------------------------------------------------------- what is needed


def needs(case: Case, toy: bool) -> Needs:
    """The lines in B and V, cells just after a block starts, and drawn blocks of the schedule."""
    asks = [*_on_lines(case, toy), *_misled(case, toy), *_just_started(case, toy)]
    return Needs(asks=tuple(asks), studies=tuple(_schedules(case, toy)))


def _on_lines(case: Case, toy: bool) -> Iterator[Ask]:
    for label, ray in case.rays(toy).items():
        for place in ray.places(label):
            for role, policy in case.policies.items():
                against, seeds = case.adversaries(STRENGTHS), 2 if toy else SEEDS[role]
                yield Ask(case.id, policy, place.size, against=against, seeds=seeds)


def _misled(case: Case, toy: bool) -> Iterator[Ask]:
    """Yield cells in which the restarted algorithm is given the ray's least V instead of its V.

    Its rate of restarts is proportional to V^{2/3}, so a scale on that rate amounts to another V.
    """
    ray = case.rays(toy)["V"]
    for place in ray.places("V"):
        if not place.size.V:
            continue
        scale = (ray.V[0] / place.size.V) ** (2 / 3)
        policy = {**case.policies["narrow restarted"], "rate_scale": round(scale, 12)}
        against, seeds = case.adversaries(STRENGTHS), 2 if toy else SEEDS["misled"]
        yield Ask(f"{case.id}/misled", policy, place.size, against=against, seeds=seeds)


def _just_started(case: Case, toy: bool) -> Iterator[Ask]:
    first = next(iter(case.against))
    against = {first: case.adversaries([1])[first]}
    yield from budget.just_started(case.id, case.policies["hyque"], case.K, case.V, against, toy)


def _schedules(case: Case, toy: bool) -> Iterator[Draws]:
    """Blocks that start instances by the ratios of the algorithm's rho; and doubled quotas."""
    horizons = (10**4,) if toy else (10**5, 10**6)
    cells = [cell for cell in blocks.cells(horizons) if cell["exponent"] < 1]
    even = {"T": horizons[-1], "B": horizons[-1] // 10, "exponent": 0.0}
    how = {"draws": 200 if toy else 1000, "work": 20_000 if toy else 200_000}
    for cell in [*cells, even, even | {"quota": 2}]:
        last, _ = theory.last_block(cell["T"], cell["B"])
        rates = {"rates": case.alg.id, "chances": _chances(case, last)}
        yield Draws(blocks.STUDY, cell | how | rates, seconds=0.03 if toy else 0.4)


def _chances(case: Case, last: int) -> list[list[float]]:
    """Return the chances of blocks 0..last, rounded to 12 digits, so that all machines agree."""
    against = family(case.adversaries(STRENGTHS), Size(case.K, 1000, 500, 1.0))[0]
    knowledge = known(draw_path(against, Size(case.K, 1000, 1000, 1.0), 0), case.alg.setting.id)
    blocks = [case.alg.chances(n, knowledge) for n in range(last + 1)]
    return [[float(f"{chance:.12g}") for chance in chances] for chances in blocks]


# --------------------------------------------------------------------------- the verdict


def judge(case: Case, evidence: Evidence) -> list[Finding]:
    """Return `holds` if all three parts hold, `fails` if any part fails.

    Budget and density are counted, as in `hyque-budget` and `density`. The exponents in B and V of
    both variants are judged as in `hyque-rate`, at a level divided by the number of variants. An
    axis shows nothing if the variant that knows V and restarts at the optimal rate fails there too.
    """
    played = evidence.asked_for(case.id)
    label_of_hyque = case.labels["hyque"]
    if played.empty or not (played["label"] == label_of_hyque).any():
        return []
    counted = played[played["policy"] == case.policies["hyque"]["name"]].reset_index(drop=True)
    spent, counts, where = budget.spent_on(counted)
    drawn = _drawn(case, evidence)
    dense = density.check(drawn[drawn["quota"] == 1]) if len(drawn) else density.NOTHING
    worst, points = _exponents(case, evidence)
    rows = {
        case.labels[f"{v}hyque"]: ray_checks(
            worst, points, case.labels[f"{v}hyque"], CLAIMED, case.controls(v)
        )
        for v in VARIANTS
    }
    rate, decisive, joint = _of_variants(rows)
    outcomes = dict(zip(PARTS, (spent, dense.verdict, rate), strict=True))
    outcome = next((o for o in (FAILS, UNDECIDED) if o in outcomes.values()), HOLDS)
    reasons = (
        budget.reason(counts, spent),
        f"phases outside [B/2T, B/T): {dense.text}",
        f"{decisive}: {reason(joint, rows[decisive])}",
    )
    tried = _controls(counted, drawn, joint)
    levels = _levels(case, worst, evidence.toy)
    verdict = case.claim.finding(
        as_printed=outcome,
        measured=f"{budget.summary_text(counts)}; {dense.text}; "
        + "; ".join(
            f"{label}: {', '.join(c.text for c in checks)}" for label, checks in rows.items()
        )
        + _levels_text(case, levels),
        horizon=at_horizon(counted["T"].max(), evidence.toy),
        controls=(_control(tried, outcomes, outcome), *controls_of(joint.decisive)[1:]),
        corrections=_corrections(case, outcomes, drawn),
        basis=COUNTED if FAILS in (spent, dense.verdict) else MEASURED,
        numbers={
            "budget": counts,
            "density": dataclasses.asdict(dense),
            "exponents": {
                label: {c.name: c.numbers() for c in checks} for label, checks in rows.items()
            },
            "over_the_rate": levels,
            "controls": {part: dataclasses.asdict(control) for part, control in tried.items()},
        },
        seeds=min((c.seeds for checks in rows.values() for c in checks if c.seeds), default=0),
        interval=(joint.decisive.excess_low, joint.decisive.excess_high),
        interval_of=f"excess of the exponent of {decisive} in {joint.decisive.name}, margin "
        f"{MARGIN}",
        decide=_decide(outcomes, where, decisive, joint),
        why="; ".join(
            why for part, why in zip(PARTS, reasons, strict=True) if outcomes[part] == outcome
        ),
        number_of="share of runs, phases outside, or excess of the exponent",
        steps=(
            Step(
                step="budget",
                outcome=spent,
                number=counts["share"],
                note=budget.summary_text(counts),
            ),
            *_density_steps(drawn),
            *(check.step(f"{label}, ") for label, checks in rows.items() for check in checks),
            *_compared(case, worst, points),
        ),
        evidence=("asked", *([f"studies/{blocks.STUDY}"] if len(drawn) else [])),
    )
    return [apply_control(verdict)]


def _of_variants(rows: Mapping[str, Sequence[Check]]) -> tuple[str, str, Joint]:
    """Return the outcome, the variant that decided, and that variant's verdict.

    The outcome is `fails` if any variant fails at a level divided by the number of variants, and
    `holds` if all are consistent.
    """
    joints = {name: combine(checks) for name, checks in rows.items()}
    failing = [
        name
        for name, j in joints.items()
        if j.verdict == FAILS and len(joints) * (j.p_value or 0.0) <= ALPHA
    ]
    if failing:
        name = min(failing, key=lambda variant: joints[variant].p_value or 0.0)
        return FAILS, name, joints[name]
    open_ones = [name for name, j in joints.items() if j.verdict != CONSISTENT]
    name = (open_ones or list(joints))[0]
    return (UNDECIDED if open_ones else HOLDS), name, joints[name]


def _drawn(case: Case, evidence: Evidence) -> pd.DataFrame:
    """The drawn blocks of this algorithm's schedule."""
    rows = evidence.study(blocks.STUDY)
    return rows[rows["rates"] == case.alg.id] if len(rows) else rows


def drawn_from(asked: pd.DataFrame, toy: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return (worst, points) of every setting in asked.parquet, with the columns `setting` and
    `role` (the policy's), for a figure."""
    import pandas as pd

    frames = []
    for case in CASES.values():
        runs = asked[asked["ask"] == case.id]
        if len(runs):
            roles = {label: role for role, label in case.labels.items()}
            for frame in curves(runs, case.rays(toy)):
                setting = case.alg.setting.id
                frames.append(frame.assign(setting=setting, role=frame["label"].map(roles)))
    worst, points = (pd.concat(frames[i::2], ignore_index=True) for i in (0, 1))
    return worst, points


def _exponents(case: Case, evidence: Evidence) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return (worst, points) of all runs; the misled policy has its own label."""
    import pandas as pd

    name = case.labels["misled"]
    misled = evidence.asked_for(f"{case.id}/misled").assign(label=name, policy=name)
    rows = pd.concat([f for f in (evidence.asked_for(case.id), misled) if len(f)])
    return curves(rows.reset_index(drop=True), case.rays(evidence.toy))


def _controls(counted, drawn, joint: Joint) -> dict[str, Control]:
    """Return the control that must fail for each part: budget, density, exponents."""
    doubled = drawn[drawn["quota"] == 2] if len(drawn) else drawn
    dense = density.check(doubled) if len(doubled) else None
    return {
        "budget": budget.control(counted, counted),
        "density": Control(
            what="HyQue with twice the queries per instance",
            value=(dense.below + dense.above) / dense.phases if dense else None,
            as_expected=dense.verdict == FAILS if dense else None,
            note="share of phases outside",
        ),
        "exponents": controls_of(joint.decisive)[0],
    }


def _control(tried: Mapping[str, Control], outcomes: Mapping[str, str], outcome: str) -> Control:
    """Return the claim's control, chosen among those of its parts.

    If the claim fails, prefer a failing part whose control failed as expected. Otherwise prefer a
    control that did not fail. A ray considers its own controls (see `exponents`).
    """
    if outcome == FAILS:
        counted = [tried[part] for part in PARTS if outcomes[part] == FAILS]
        control = next((c for c in counted if c.as_expected is True), counted[0])
    else:
        counted = [tried[part] for part in ("budget", "density")]
        control = next((c for c in counted if c.as_expected is not True), counted[0])
    others = [
        f"{other.what}: {'fails' if other.as_expected else 'does not fail'}"
        for other in tried.values()
        if other is not control
    ]
    return dataclasses.replace(control, note="; ".join(filter(None, [control.note, *others])))


def _corrections(
    case: Case, outcomes: Mapping[str, str], drawn: pd.DataFrame
) -> tuple[Correction, ...]:
    """Return the corrections of the lemma on density, and that of a rate that fails."""
    corrections: tuple[Correction, ...] = ()
    if outcomes["density"] == FAILS:
        corrections += density.corrections_of(drawn[drawn["quota"] == 1])
    if outcomes["exponents"] == FAILS:
        corrections += (dataclasses.replace(RULED_OUT, place=PLACE),)
    return corrections


def _density_steps(drawn: pd.DataFrame) -> list[Step]:
    """The readings of the lemma on density, see `density`."""
    rows = drawn[drawn["quota"] == 1] if len(drawn) else drawn
    if rows.empty:
        return [Step(step="density", outcome=UNDECIDED, number=None, note="not drawn")]
    readings = {
        "density, any T, cut after a query": density.check(rows),
        "density, B | 2T, blocks with b < 2^(n+1)": density.check(
            density.even(density.long_enough(rows))
        ),
        "density, B | 2T, complete blocks": density.check(density.even(rows), "end"),
    }
    return [
        Step(step=name, outcome=check.verdict, number=check.below + check.above, note=check.text)
        for name, check in readings.items()
    ]


def _compared(case: Case, worst: pd.DataFrame, points: pd.DataFrame) -> list[Step]:
    """Return the exponents of the other policies; these steps do not count in the verdict."""
    steps = []
    compared = {r: label for r, label in case.labels.items() if r not in ("hyque", "narrow hyque")}
    for role, label in compared.items():
        rays = ("V",) if role == "misled" else ("B", "V")
        for check in ray_checks(worst, points, label, CLAIMED, case.controls(""), rays):
            steps.append(check.step(f"for comparison: {label}, "))
    return steps


def _levels(case: Case, worst: pd.DataFrame, toy: bool) -> dict[str, dict[str, dict[str, float]]]:
    """Axis -> policy -> point -> R / (T (K V / B)^{1/3}), the mean over phases."""
    levels: dict[str, dict[str, dict[str, float]]] = {}
    table = worst.set_index(["label", "K", "T", "B", "V"])["regret"]
    for axis, ray in case.rays(toy).items():
        for label in worst["label"].unique():
            by: dict[str, list[float]] = {}
            for place in ray.places(axis):
                key = (label, *place.size)
                if key in table.index and place.size.V:
                    level = float(table[key]) / theory.rate(*place.size)
                    by.setdefault(f"{place.point:g}", []).append(level)
            if by:
                means = {point: sum(values) / len(values) for point, values in by.items()}
                levels.setdefault(axis, {})[label] = means
    return levels


def _levels_text(case: Case, levels: Mapping[str, Mapping[str, Mapping[str, float]]]) -> str:
    """`; over the rate at B = 9.1e+04: hyque_oful 2.5, ...`."""
    along = levels.get("B", {})
    if not along:
        return ""
    last = list(along[case.labels["hyque"]])[-1]
    shown = ", ".join(f"{label} {by[last]:.2f}" for label, by in along.items() if last in by)
    return f"; R over T (KV/B)^(1/3) at B = {float(last):.2g}: {shown}"


def _decide(outcomes: Mapping[str, str], where: str, decisive: str, joint: Joint) -> str:
    """Return what would decide the parts that are undecided, and where the budget is exceeded."""
    notes = [f"budget: {where}"] if where else []
    if outcomes["density"] == UNDECIDED:
        notes.append(f"density: {density.PHASES} phases without a violation")
    return "; ".join([*notes, *([f"{decisive}: {joint.decide}"] if joint.decide else [])])


CLAIMS = tuple(case.claim for case in CASES.values())
