"""UCB1 stays optimistic, and not by much, while little changes (lemma on UCB1)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from confee.claims.base import Claim
from confee.claims.judging import assumption
from confee.claims.judging.assumption import RUNS
from confee.claims.judging.finding import CONSISTENT, FAILS, HOLDS, Correction, Finding, Step
from confee.paper import proofs, theory
from confee.simulation.needs import Draws, Needs

if TYPE_CHECKING:
    from confee.evidence import Evidence


STUDY = "near_stationary"

PRINTED = 1.0
"""The constant before rho(t) in the second inequality."""

WIDE = 8.0
"""Exploration of an index with twice UCB1's bonus; UCB1 has 2."""

WORLDS: tuple[tuple[str, float, float], ...] = (
    ("equal", 0.05, 0.0),
    ("equal", 0.5, 0.0),
    ("equal", 0.95, 0.0),
    ("better", 0.5, 0.1),
    ("better", 0.5, 0.3),
    ("better", 0.0, 0.75),
    ("fall", 0.5, 0.0),
    ("drop", 0.5, 0.0),
    ("overtaken", 0.5, 0.1),
    ("exchange", 0.5, 0.0),
)
"""(world, level, gap): see the study."""

MENDED = proofs.UCB1_CONSTANT + 1
"""The constant tried in the place of PRINTED: what the bonuses add up to, and 1 for the noise."""

PLACE = "Lemma B.3"

WITH_LN_T = Correction(
    place=f"{PLACE} and its proof",
    printed=r"with $\mathrm{CB}^k_\tau = \sqrt{2\log\tau/n^k_\tau}$, which only grows over time, "
    r"for all $t \le T$: $\frac1t\sum_{\tau \le t}(\tilde f_\tau - R_\tau) \le "
    r"\sqrt{K\log t/t} + K/t + V_{[1,t]}$",
    mended=r"with $\mathrm{CB}^k_\tau = \sqrt{2\log T/n^k_\tau}$ and high probability: $\dots \le "
    r"(2\sqrt2+1)(\sqrt{K\log T/t} + K/t) + V_{[1,t]}$",
    severity="logarithm",
    reason="the bonuses alone add up to 2 sqrt(2) times the main term; an index falls whenever its "
    "arm is played, and with a bonus that does not depend on T the inequality fails with a "
    "probability that does not fall with T",
    effect=r"a constant and $\ln T$ for $\ln t$ in $\rho$, which the $\tilde{\mathcal O}$ hides",
    outcome=CONSISTENT,
    shown="docs/reading-the-paper.md",
)
SIGN = Correction(
    place=f"{PLACE}, proof, first item",
    printed=r"$\tilde f_t \ge f^*_\tau \ge f^*_t + V_{[1,t]}$",
    mended=r"$\tilde f_t \ge f^*_\tau \ge f^*_t - V_{[1,t]}$",
    severity="typo",
    reason="the sentence before has the minus sign",
    effect="none",
)

ALONE, ROUNDS = 0.75, 40
"""The world of the exact step: the chance that the first arm pays (the other never does), and the
number of rounds."""


def needs(toy: bool) -> Needs:
    """Every world at K = 2, 5, 10 up to 1e5 rounds, the ones that matter longer or more often; and
    an index without bonus, which must fail."""
    if toy:
        drawn = [_study(2, 2000, w, RUNS) for w in (("equal", 0.5, 0.0), ("drop", 0.5, 0.0))]
        controls = [_study(2, 2000, ("equal", 0.5, 0.0), RUNS, exploration=x) for x in (0, WIDE)]
        return Needs(studies=(*drawn, *controls))
    drawn = []
    for K in (2, 5, 10):
        for world in WORLDS:
            many = K == 2 and world == ("equal", 0.5, 0.0)
            drawn.append(_study(K, 10**5, world, 10 * RUNS if many else RUNS))
    drawn.append(_study(2, 10**6, ("equal", 0.5, 0.0), RUNS))
    controls = [_study(2, 10**5, world, RUNS, exploration=0) for world in (WORLDS[1], WORLDS[3])]
    controls.append(_study(2, 10**5, WORLDS[1], RUNS, exploration=WIDE))
    return Needs(studies=(*drawn, *controls))


def _study(K: int, T: int, world: tuple, runs: int, exploration: float = 2.0) -> Draws:
    name, level, gap = world
    parameters = {"K": K, "T": T, "world": name, "level": level, "gap": gap}
    parameters |= {"exploration": exploration, "runs": runs}
    return Draws(STUDY, parameters, seconds=runs * T * (5e-8 + 6e-9 * K))


def judge(evidence: Evidence, constant: float = PRINTED) -> list[Finding]:
    """Both inequalities, the second with `constant`, in every world of the study; by the rule of
    confee.claims.judging.assumption, and by exact arithmetic in one world."""
    rows = evidence.study(STUDY)
    if rows.empty or not (rows["exploration"] == 2).any():
        return []
    index, bare = rows[rows["exploration"] == 2], rows[rows["exploration"] == 0]
    wide = rows[rows["exploration"] == WIDE]
    exact, horizon = proofs.pessimism(ALONE, ROUNDS), int(index["T"].max())
    verdict = assumption.judged(
        CLAIM,
        "UCB1",
        STUDY,
        index,
        bare,
        ("K",),
        constant=constant,
        others=(proofs.UCB1_CONSTANT, MENDED),
        curves=[assumption.curve(partial(theory.rho, K=K)) for K in (2, 5, 10)],
        toy=evidence.toy,
        exact=(FAILS if exact > 1 / horizon else HOLDS, _exact_step(exact, horizon)),
        wide=wide,
        corrections=(WITH_LN_T, SIGN),
        numbers={"chance_of_pessimism": exact, "allowed": 1 / horizon},
    )
    return [verdict]


def _exact_step(chance: float, T: int) -> Step:
    """Judge the first inequality against delta/T = 1/T^2. UCB1's bonus does not depend on T."""
    return Step(
        step="first inequality, chance exactly",
        outcome=FAILS if chance > 1 / T**2 else HOLDS,
        number=chance,
        note=f"chance of breaking it within {ROUNDS} rounds at any horizon (K=2, means "
        f"{ALONE:g} and 0): over delta/T = 1/T^2 from T = {chance**-0.5:.2g}, over delta = 1/T "
        f"from T = {1 / chance:.2g}; the bonus would have to grow with ln T",
    )


CLAIM = Claim(
    id="ucb-near-stationary",
    statement=assumption.statement("UCB1"),
    place="Lemma B.3 (Appendix B.2.2); Assumption D.2 on ALG",
    prediction="no run violates either inequality (probability 1/T); the bonuses alone sum to "
    f"{proofs.UCB1_CONSTANT:.3g} rho(t) if all arms are equal",
    judge=judge,
    needs=needs,
    speaks_of=("hyque", "ucb1"),
    order=23,
    group="Parts of HyQue's regret",
    statements=("Lemma B.3",),
)
