"""With ALG in UCB1's place the analysis stays (extension section): one claim a setting."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from confee import theory
from confee.claims import density
from confee.claims.judging import budget, runs
from confee.claims.judging.lines import Line, exponents
from confee.claims.judging.rates import control_check, reason
from confee.claims.judging.verdict import (
    FAILS,
    HOLDS,
    MARGIN,
    UNDECIDED,
    Check,
    Joint,
    Verdict,
    apply_control,
    at_horizon,
    check_axis,
    combine,
)
from confee.policies.algorithm import Algorithm
from confee.policies.oful import OFUL
from confee.simulation.cells import label_of, opponent
from confee.simulation.needs import Ask, Conf, Needs, Study
from confee.simulation.play import draw_path
from confee.world.path import known

if TYPE_CHECKING:
    import pandas as pd

    from confee.evidence import Evidence

STRENGTHS = (1, 2, 4, 8, "ceiling")
"""Of each adversary, in units of the critical gap."""

BUDGETS = (3e3, 7e3, 1.65e4, 3.9e4, 9.1e4)
TOY_BUDGETS = (500, 1000, 2000, 4000)
"""Over a ratio of 30, along B = T^0.8, with V = 2."""

VARIATIONS = (0.5, 1, 2, 4, 8, 16)
TOY_VARIATIONS = (0.5, 1, 2, 4)
BUDGET, TOY_BUDGET = 4e4, 2e3
"""Along V, and at which budget: within the theorem's range V <= sqrt(B) / K."""

BETA = theory.MINIMAL_BUDGET_EXPONENT

SEEDS = {"hyque": 8, "narrow": 8, "paced": 4, "restarted": 8, "misled": 12, "uniform": 24}
"""Paths draw features, classes or moves anew for each seed, and uniform play costs nothing."""

PARTS = ("budget", "density", "exponents")


@dataclass(frozen=True)
class Case:
    """A setting: its base algorithm, whom uniform play is played by, against whom, at which sizes.

    K: arms or actions; what else the sizes are, the adversaries' options say. narrow: options of
    ALG with a bonus smaller than its theory's, to see how much of the regret that is. cost: seconds
    a query of HyQue, about.
    """

    alg: Algorithm
    K: int
    against: Mapping[str, Conf]
    narrow: Mapping[str, float]
    uniform: str = "uniform"
    cost: float = 6e-7

    @property
    def id(self) -> str:
        return f"extension/{self.alg.setting.id}"

    @property
    def policies(self) -> dict[str, Conf]:
        """Role -> policy."""
        name = self.alg.id
        hyque = {"name": f"hyque_{name}"}
        return {"hyque": hyque, "narrow": hyque | dict(self.narrow), "paced": {"name": name},
                "restarted": {"name": f"{name}_restarted"}, "uniform": {"name": self.uniform}}  # fmt: skip

    @property
    def labels(self) -> dict[str, str]:
        """Role -> what its runs are called."""
        return {role: label_of(policy) for role, policy in self.policies.items()} | {
            "misled": self.misled
        }

    @property
    def misled(self) -> str:
        """What the runs of the restarted algorithm that is told a wrong V are called."""
        return f"{self.alg.id}_misled"

    def lines(self, toy: bool) -> tuple[Line, Line]:
        """Along B, and along V."""
        if toy:
            return (Line("B", TOY_BUDGETS, K=self.K, V=2, phases=2, beta=BETA),
                    Line("V", TOY_VARIATIONS, K=self.K, B=TOY_BUDGET, phases=2, beta=BETA))  # fmt: skip
        return (Line("B", BUDGETS, K=self.K, V=2, beta=BETA),
                Line("V", VARIATIONS, K=self.K, B=BUDGET, beta=BETA))  # fmt: skip

    def family(self, strengths: Sequence[Any]) -> dict[str, Conf]:
        """Its adversaries at some strengths."""
        return {label: {**conf, "strength": list(strengths)} for label, conf in self.against.items()}


CASES = {
    one.id: one
    for one in (
        Case(OFUL, 6, {"switching": {"name": "linear_switching", "d": 3}},
             narrow={"radius": 0.25}),
    )
}  # fmt: skip

IDS = tuple(CASES)
ABOUT = {id: (one.labels["hyque"],) for id, one in CASES.items()}


# --------------------------------------------------------------------------- what is needed


def needs(id: str, toy: bool) -> Needs:
    """The lines in B and V, cells just after a block starts, and drawn blocks of the schedule."""
    case = CASES[id]
    asks = [*_on_lines(case, toy), *_misled(case, toy), *_just_started(case, toy)]
    return Needs(asks=tuple(asks), studies=tuple(_schedules(case, toy)))


def _on_lines(case: Case, toy: bool) -> Iterator[Ask]:
    for line in case.lines(toy):
        for _, _, sizes in line.places():
            for role, policy in case.policies.items():
                against, seeds = case.family(STRENGTHS), 2 if toy else SEEDS[role]
                yield Ask(case.id, policy, **sizes, against=against, seeds=seeds)


def _misled(case: Case, toy: bool) -> Iterator[Ask]:
    """The restarted algorithm along V, told the least V of the line all along.

    Its rate of restarts goes with V^{2/3}, so a scale on that rate tells it another V.
    """
    line = case.lines(toy)[1]
    for _, _, sizes in line.places():
        scale = (line.points[0] / sizes["V"]) ** (2 / 3)
        policy = case.policies["restarted"] | {"rate_scale": round(scale, 12)}
        against, seeds = case.family(STRENGTHS), 2 if toy else SEEDS["misled"]
        yield Ask(f"{case.id}/misled", policy, **sizes, against=against, seeds=seeds)


def _just_started(case: Case, toy: bool) -> Iterator[Ask]:
    first = next(iter(case.against))
    against = {first: case.family([1])[first]}
    yield from budget.just_started(case.id, case.policies["hyque"], case.K, 2.0, against, toy)


def _schedules(case: Case, toy: bool) -> Iterator[Study]:
    """Blocks that start instances by the ratios of the algorithm's rho; and doubled quotas."""
    horizons = (10**4,) if toy else (10**5, 10**6)
    cells = [cell for cell in runs.cells(horizons) if cell["exponent"] < 1]
    even = {"T": horizons[-1], "B": horizons[-1] // 10, "exponent": 0.0}
    how = {"draws": 200 if toy else 1000, "work": 20_000 if toy else 200_000}
    for cell in [*cells, even, even | {"quota": 2}]:
        last, _ = theory.last_block(cell["T"], cell["B"])
        rates = {"rates": case.alg.id, "chances": _chances(case, last)}
        yield Study(runs.STUDY, cell | how | rates, seconds=0.03 if toy else 0.4)


def _chances(case: Case, last: int) -> list[list[float]]:
    """The chances of blocks 0..last, to 12 digits: the same on all machines."""
    sizes = {"K": case.K, "T": 1000, "B": 500, "V": 1.0}
    against = opponent(next(iter(case.against.values())), **sizes)
    told = known(draw_path(against, case.K, 1000, 1.0, 0), case.alg.setting.id)
    blocks = [case.alg.chances(n, told) for n in range(last + 1)]
    return [[float(f"{chance:.12g}") for chance in chances] for chances in blocks]


# --------------------------------------------------------------------------- the verdict


def judge(evidence: Evidence) -> list[Verdict]:
    """A verdict for each setting that was played."""
    return [v for case in CASES.values() for v in _judged(case, evidence)]


def _judged(case: Case, evidence: Evidence) -> list[Verdict]:
    """`holds` if all three parts do, `fails` if one fails; its control is the one that counts.

    Budget and density are counted, as `hyque-budget` and `density` do; exponents in B and V are
    those of `hyque-rate`, at the sizes of this setting.
    """
    played = evidence.asked_for(case.id)
    mine = case.labels["hyque"]
    if played.empty or not (played["label"] == mine).any():
        return []
    counted = played[played["label"] == mine].reset_index(drop=True)
    spent, counts, where = budget.spent_on(counted)
    drawn = _drawn(case, evidence)
    dense = density.check(drawn[drawn["quota"] == 1]) if len(drawn) else density.NOTHING
    worst, found = _exponents(case, evidence)
    checks = [check_axis(found, mine, axis, sqrt_log=True) for axis in ("B", "V")]
    joint = combine(checks)
    outcomes = dict(zip(PARTS, (spent, dense.verdict, joint.verdict), strict=True))
    outcome = next((o for o in (FAILS, UNDECIDED) if o in outcomes.values()), HOLDS)
    why = dict(zip(PARTS, (budget.reason(counts, spent), f"phases outside [B/2T, B/T): {dense.text}",
                           reason(joint, checks)), strict=True))  # fmt: skip
    tried = _controls(case, evidence, counted, drawn, found)
    levels = _levels(case, worst, evidence.toy)
    verdict = Verdict(
        id=case.id,
        statement=f"with {case.alg.name} as ALG, HyQue makes at most B queries, their density is in "
        "[B/2T, B/T) in each phase, and its worst-case regret keeps the rate in B and V",
        place="Extensions, the implication of the assumption on ALG",
        verdict=outcome,
        prediction="no wish past B, no phase outside, exponents of R/T at most -1/3 in B and 1/3 in "
        "V at fixed sizes of the setting; a factor sqrt(ln B) is forgiven",
        measured=f"{budget.said(counts)}; {dense.text}; "
        + "; ".join(check.text for check in checks) + _said(case, levels),
        horizon=at_horizon(max(counted["T"].max(), joint.decisive.horizon), evidence.toy),
        control=_control(tried, outcomes, outcome, joint),
        numbers={
            "budget": counts,
            "density": dataclasses.asdict(dense),
            **{check.name: check.numbers() for check in checks},
            "over_the_rate": levels,
            "controls": tried,
        },
        seeds=min((c.seeds for c in checks if c.seeds), default=0),
        interval=(joint.decisive.excess_low, joint.decisive.excess_high),
        interval_of=f"excess of the exponent in {joint.decisive.name}, margin {MARGIN}",
        decide=_decide(outcomes, where, joint),
        why="; ".join(why[part] for part in PARTS if outcomes[part] == outcome),
        number_of="share of runs, phases outside, or excess of the exponent",
        steps=(
            {"step": "budget", "outcome": spent, "number": counts["share"],
             "note": budget.said(counts)},
            *_density_steps(drawn),
            *(check.step() | {"step": f"{mine}, {check.name}"} for check in checks),
            *_compared(case, found),
        ),
        evidence=("asked", *([f"studies/{runs.STUDY}"] if len(drawn) else [])),
    )  # fmt: skip
    return [apply_control(verdict)]


def _drawn(case: Case, evidence: Evidence) -> pd.DataFrame:
    """The drawn blocks of this algorithm's schedule."""
    rows = evidence.study(runs.STUDY)
    return rows[rows["rates"] == case.alg.id] if len(rows) else rows


def _exponents(case: Case, evidence: Evidence) -> tuple[pd.DataFrame, pd.DataFrame]:
    """(worst, slopes) of all that was played, the misled one by its own name."""
    import pandas as pd

    misled = evidence.asked_for(f"{case.id}/misled").assign(label=case.misled, policy=case.misled)
    rows = pd.concat([f for f in (evidence.asked_for(case.id), misled) if len(f)])
    return exponents(rows.reset_index(drop=True), case.lines(evidence.toy))


def _controls(case, evidence, counted, drawn, found) -> dict[str, dict]:
    """What must fail each part: budget, density, and the exponents in B and in V."""
    doubled = drawn[drawn["quota"] == 2] if len(drawn) else drawn
    dense = density.check(doubled) if len(doubled) else None
    own = dataclasses.replace(evidence, slopes=found)
    return {
        "budget": budget.control(counted, counted),
        "density": {
            "what": "every instance queries twice its slots",
            "value": (dense.below + dense.above) / dense.phases if dense else None,
            "failed": dense.verdict == FAILS if dense else None,
            "note": "share of phases outside",
        },
        "B": control_check(own, ("B",), case.uniform, True),
        "V": control_check(own, ("V",), case.misled, True),
    }


def _control(
    tried: Mapping[str, dict], outcomes: Mapping[str, str], outcome: str, joint: Joint
) -> dict:
    """Of a claim that fails, that of a part that fails, and whose control does; else the first
    that did not fail, if any."""
    failing = [joint.decisive.name if part == "exponents" else part
               for part in PARTS if outcomes[part] == FAILS]  # fmt: skip
    if outcome == FAILS:
        counted = [tried[part] for part in failing]
        control = next((one for one in counted if one["failed"] is True), counted[0])
    else:
        counted = list(tried.values())
        control = next((one for one in counted if one["failed"] is not True), counted[0])
    others = [f"{one['what']}: {'failed' if one['failed'] else 'did not fail'}"
              for one in tried.values() if one is not control]  # fmt: skip
    return {**control, "note": "; ".join(filter(None, [control["note"], *others]))}


def _density_steps(drawn: pd.DataFrame) -> list[dict]:
    """The readings of the lemma on density, see `density`."""
    rows = drawn[drawn["quota"] == 1] if len(drawn) else drawn
    if rows.empty:
        return [{"step": "density", "outcome": UNDECIDED, "number": None, "note": "not drawn"}]
    readings = {
        "density, any T, cut after a query": density.check(rows),
        "density, B | 2T, blocks with b < 2^(n+1)": density.check(
            density.even(density.long_enough(rows))
        ),
        "density, B | 2T, complete blocks": density.check(density.even(rows), "end"),
    }
    return [
        {"step": name, "outcome": found.verdict, "number": found.below + found.above,
         "note": found.text}
        for name, found in readings.items()
    ]  # fmt: skip


def _compared(case: Case, found: pd.DataFrame) -> list[dict]:
    """The exponents of what HyQue is compared with, as parts of no consequence."""
    steps = []
    for role, label in case.labels.items():
        for axis in {"hyque": (), "misled": ("V",)}.get(role, ("B", "V")):
            if ((found["policy"] == label) & (found["axis"] == axis)).any():
                check = check_axis(found, label, axis, sqrt_log=True)
                steps.append(check.step() | {"step": f"for comparison: {label}, {axis}"})
    return steps


def _levels(case: Case, worst: pd.DataFrame, toy: bool) -> dict[str, dict[str, dict[str, float]]]:
    """Axis -> policy -> point -> R / (T (K V / B)^{1/3}), the mean over phases."""
    levels: dict[str, dict[str, dict[str, float]]] = {}
    table = worst.set_index(["label", "K", "T", "B", "V"])["regret"]
    for line in case.lines(toy):
        for label in worst["label"].unique():
            by: dict[str, list[float]] = {}
            for point, _, sizes in line.places():
                key = (label, *sizes.values())
                if key in table.index:
                    by.setdefault(f"{point:g}", []).append(float(table[key]) / theory.rate(**sizes))
            if by:
                means = {point: sum(some) / len(some) for point, some in by.items()}
                levels.setdefault(line.axis, {})[label] = means
    return levels


def _said(case: Case, levels: Mapping[str, Mapping[str, Mapping[str, float]]]) -> str:
    """`; over the rate at B = 9.1e+04: hyque_oful 2.5, ...`."""
    along = levels.get("B", {})
    if not along:
        return ""
    last = list(along[case.labels["hyque"]])[-1]
    told = ", ".join(f"{label} {by[last]:.2f}" for label, by in along.items() if last in by)
    return f"; R over T (KV/B)^(1/3) at B = {float(last):.2g}: {told}"


def _decide(outcomes: Mapping[str, str], where: str, joint: Joint) -> str:
    """What of the parts that do not hold is to be done, or is known."""
    said = [f"budget: {where}"] if where else []
    if outcomes["density"] == UNDECIDED:
        said.append(f"density: {density.PHASES} phases without a violation")
    return "; ".join([*said, *([joint.decide] if joint.decide else [])])
