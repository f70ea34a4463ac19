"""The assumption on ALG, measured for each base algorithm: ids alg-assumption/<algorithm>.

The paper says that a suitable rho exists. Whether the rho that this project uses for each
algorithm's schedule and tests is suitable is our own question.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from confee.claims.base import Claim
from confee.claims.judging import assumption
from confee.claims.judging.assumption import RUNS
from confee.claims.judging.finding import HOLDS, Finding, Step
from confee.policies.algorithm import Algorithm
from confee.policies.falcon import FALCON
from confee.policies.glm_ucb import GLM_UCB
from confee.policies.oful import OFUL
from confee.policies.q_ucb import Q_UCB
from confee.simulation.needs import Draws, Needs
from confee.simulation.studies.assumption import nearly_still
from confee.world.path import known

if TYPE_CHECKING:
    import pandas as pd

    from confee.evidence import Evidence

PLACE = "Assumption D.2"
EFFECT = "a constant in rho of this algorithm, which the O~-notation hides"

PRINTED = 1.0
"""The constant before rho(t) in the second inequality."""

OTHERS = (2.0, 4.0, 8.0, 16.0, 32.0)
"""Larger constants, tried in this order until one suffices. Wei and Luo's Assumption 1' allows any
constant and rescales rho."""

World = tuple[str, float, float]

WORLDS: tuple[World, ...] = (
    ("equal", 0.25, 0.0),
    ("equal", 0.5, 0.0),
    ("equal", 0.75, 0.0),
    ("better", 0.5, 0.1),
    ("better", 0.5, 0.3),
    ("fall", 0.5, 0.0),
    ("drop", 0.5, 0.0),
    ("overtaken", 0.5, 0.1),
    ("exchange", 0.5, 0.0),
)
"""(world, level, gap): see the study."""

TOY_WORLDS: tuple[World, ...] = (("equal", 0.5, 0.0), ("better", 0.5, 0.3), ("drop", 0.5, 0.0))

LONG = 20_000
"""Rounds after which twice the bonus is over rho(t); before, an index is cut at 1."""

ALIKE: tuple[World, ...] = (("equal", 0.5, 0.0),)
"""The world in which an algorithm with twice the bonus must fail: exploring gains nothing."""

WITHOUT: tuple[World, ...] = (("better", 0.5, 0.3),)
"""The world in which an algorithm without bonus must fail: it misses the better arm."""


@dataclass(frozen=True)
class Tried:
    """A base algorithm in the study: at which sizes, for how many rounds.

    bare: the options that take its bonus away. wide: those that double it. narrow: those that make
    it smaller than its theory's (for FALCON, that make it explore less). cost: seconds a round.
    """

    alg: Algorithm
    sizes: Sequence[Mapping[str, int]]
    bare: Mapping[str, float]
    narrow: Mapping[str, float]
    wide: Mapping[str, float]
    T: int = 10**5
    cost: float = 6e-7

    @property
    def id(self) -> str:
        return f"alg-assumption/{self.alg.id}"

    @property
    def claim(self) -> Claim:
        return Claim(
            id=self.id,
            statement=assumption.statement(self.alg.name),
            place=f"{PLACE}, after Wei and Luo 2021, Assumption 1",
            prediction="no run violates either inequality (probability 1/T), with the rho of its "
            "schedule and change tests, and V as the setting measures it",
            judge=partial(judge, self),
            needs=partial(needs, self),
            speaks_of=(f"hyque_{self.alg.id}", self.alg.id),
            ours=True,
            order=34 + list(TRIED).index(self.id),
            group="Other base algorithms",
            statements=("Assumption D.2",),
        )

    @property
    def study(self) -> str:
        return f"assumption_{self.alg.id}"


TRIED = {
    tried.id: tried
    for tried in (
        Tried(
            OFUL,
            ({"K": 4, "d": 3}, {"K": 8, "d": 4}, {"K": 16, "d": 6}),
            bare={"radius": 0.0},
            narrow={"radius": 0.5},
            wide={"radius": 2.0},
        ),
        Tried(
            GLM_UCB,
            ({"K": 4, "d": 3}, {"K": 8, "d": 4}),
            bare={"radius": 0.0},
            narrow={"radius": 0.25},
            wide={"radius": 2.0},
            cost=1e-6,
        ),
        Tried(
            FALCON,
            ({"K": 2, "contexts": 4, "maps": 8}, {"K": 4, "contexts": 8, "maps": 16}),
            bare={"optimism": 0.0},
            narrow={"gamma": 10.0, "optimism": 0.5},
            wide={"optimism": 2.0},
        ),
        Tried(
            Q_UCB,
            ({"K": 2, "states": 2, "H": 2}, {"K": 3, "states": 3, "H": 3}),
            bare={"bonus": 0.0},
            narrow={"bonus": 0.1},
            wide={"bonus": 2.0},
        ),
    )
}


def needs(tried: Tried, toy: bool) -> Needs:
    """Ask for every world at every size, with the bonus of theory, with a narrow bonus, and without
    bonus, which must fail."""
    T = 2000 if toy else tried.T
    worlds = TOY_WORLDS if toy else WORLDS
    variants = [
        ("theory", {}, worlds),
        ("narrow", tried.narrow, worlds),
        ("bare", tried.bare, WITHOUT),
        ("wide", tried.wide, ALIKE),
    ]
    studies = []
    for sizes in tried.sizes[:1] if toy else tried.sizes:
        for variant, options, places in variants:
            for name, level, gap in places:
                rounds = max(T, LONG) if variant == "wide" else T
                parameters = {"T": rounds, "world": name, "level": level, "gap": gap, "runs": RUNS}
                parameters |= {"sizes": dict(sizes), "options": dict(options), "variant": variant}
                studies.append(Draws(tried.study, parameters, seconds=RUNS * rounds * tried.cost))
    return Needs(studies=tuple(studies))


def judge(tried: Tried, evidence: Evidence, constant: float = PRINTED) -> list[Finding]:
    """Both inequalities, the second with `constant`, in every world; see judging.assumption."""
    rows = evidence.study(tried.study)
    if rows.empty or not (rows["variant"] == "theory").any():
        return []
    sizes = tuple(tried.sizes[0])
    theory, narrow, bare, wide = (
        rows[rows["variant"] == v] for v in ("theory", "narrow", "bare", "wide")
    )
    enough = _enough(theory, sizes)
    finding = assumption.judged(
        tried.claim,
        tried.alg.name,
        tried.study,
        theory,
        bare,
        sizes,
        constant=constant,
        others=(enough,),
        wide=wide,
        corrections=(
            assumption.larger_constant(PLACE, theory, sizes, enough, f"{enough:g}", EFFECT),
        ),
        curves=[_curve(tried.alg, sizes) for sizes in tried.sizes],
        toy=evidence.toy,
        beside=_narrow(tried, narrow, sizes, constant) if len(narrow) else (),
    )
    return [finding]


def _enough(rows: pd.DataFrame, sizes: Sequence[str]) -> float:
    """The first of OTHERS with which the second inequality holds, the last if none does."""
    enough = (c for c in OTHERS if assumption.excess(rows, sizes, c)["outcome"] == HOLDS)
    return next(enough, OTHERS[-1])


def _narrow(
    tried: Tried, rows: pd.DataFrame, sizes: Sequence[str], constant: float
) -> Iterator[Step]:
    """Judge both inequalities with a smaller bonus; these steps do not count in the verdict."""
    prefix = "for comparison: " + ", ".join(
        f"{name}={value:g}" for name, value in tried.narrow.items()
    )
    yield assumption.step(f"{prefix}, first inequality", assumption.optimism(rows, sizes))
    for c in (constant, _enough(rows, sizes)):
        check = assumption.excess(rows, sizes, c)
        yield assumption.step(f"{prefix}, second inequality, constant {c:.3g}", check)


def _curve(alg: Algorithm, sizes: Mapping[str, int]) -> list[float]:
    """Return rho(1), rho(2), ... of an algorithm at `sizes`."""
    path, _ = nearly_still(alg, 2, "equal", 0.5, 0.0, sizes)
    knowledge = known(path, alg.setting.id)
    return assumption.curve(lambda t: alg.rho(t, knowledge))


CLAIMS = tuple(tried.claim for tried in TRIED.values())
