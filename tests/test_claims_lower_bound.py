"""The lower bound's claims: its algebra, the counting lemma, and regret at the worst gap."""

from __future__ import annotations

import dataclasses
import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from confee import claims
from confee.claims import counting_lemma, lower_bound, lower_bound_algebra
from confee.claims.judging.finding import Step
from confee.claims.judging.proof import Line, judge_step
from confee.evidence import Evidence
from confee.paper import proofs, theory
from confee.simulation.cells import cell, family
from confee.simulation.play import play_all

BLANK = pd.DataFrame(columns=["label", "policy", "K", "T", "B", "V", "adversary", "seed"])
NOTHING = Evidence(BLANK, BLANK, BLANK, BLANK)


def one(verdicts):
    assert len(verdicts) == 1
    return verdicts[0]


# ------------------------------------------------------------------ steps


def test_a_step_holds_up_to_machine_precision_and_not_further():
    for off, outcome in ((0.0, "holds"), (1e-13, "holds"), (1e-9, "fails"), (-0.5, "holds")):
        assert judge_step(Line("a", "", lambda off=off: (1 + off, 1))).outcome == outcome
    assert judge_step(Line("a", "", lambda: (0.5, 1), equal=True)).outcome == "fails"
    row = judge_step(Line("a", "here", lambda: ([1, 3, 2], [1, 2, 2]), note="b"))
    assert row == Step("a", "fails", 1.5, "here; b")
    assert judge_step(Line("a", "", lambda: (math.nan, 1))).outcome == "fails"


# ------------------------------------------------------------------ KL


def test_kl_twins():
    least = -8 * math.log(0.75)  # KL / eps^2 at eps = 1/4, where it is largest
    for factor, outcome in (
        (2, "fails"),
        (least * (1 - 1e-9), "fails"),
        (least * (1 + 1e-9), "holds"),
        (4, "holds"),
    ):
        assert judge_step(lower_bound_algebra.kl_at_most(factor)).outcome == outcome


def test_kl_is_the_divergence():
    for gap in (1e-4, 0.1, 0.25):
        direct = sum(0.5 * math.log(0.5 / q) for q in (0.5 + gap, 0.5 - gap))
        assert proofs.kl_half(gap) == pytest.approx(direct, rel=1e-7)
        assert proofs.kl_half(gap) > 2 * gap**2


# ------------------------------------------------------------------ counting lemma


def test_counting_lemma_twins():
    found = one(claims.judge(NOTHING, ["counting-lemma"]))
    assert (found.as_printed, found.control.as_expected) == ("holds", True)
    assert found.control.value == 2
    broken = counting_lemma.judged(Fraction(5, 4), Fraction(1))
    assert broken.as_printed == "fails"
    assert "x = (1, 0), y = (0, 1)" in broken.measured


def test_least_beta_is_five():
    alpha = Fraction(5, 4)
    least = [proofs.least_beta(n, alpha) for n in range(2, 2000)]
    assert all(4.99 < max(least[k:]) < 5 for k in (0, 1000))
    for n, beta in enumerate(least[:80], start=2):
        assert proofs.counting_lemma_holds(n, alpha, beta)
        assert not proofs.counting_lemma_holds(n, alpha, beta * Fraction(999, 1000))
    assert counting_lemma.decide(alpha, Fraction(5)).holds
    assert not counting_lemma.decide(alpha, Fraction(499, 100)).holds


def test_counting_lemma_against_vectors():
    """The criterion is met just where the extremal vectors leave an index, and random ones do."""
    rng = np.random.default_rng(5)
    pairs = [(Fraction(a, 8), Fraction(b, 2)) for a in range(9, 16) for b in range(2, 32, 3)]
    for n, (alpha, beta) in itertools.product(range(2, 12), pairs):
        left = counting_lemma.satisfying(*counting_lemma.extremal(n, alpha, beta), alpha, beta)
        assert proofs.counting_lemma_holds(n, alpha, beta) == bool(left)
        if left:
            whole = rng.integers(0, 4, size=(2, n)) ** 3 + np.eye(2, n, dtype=int)
            x, y = ([Fraction(int(v), int(row.sum())) for v in row] for row in whole)
            assert counting_lemma.satisfying(x, y, alpha, beta)


# ------------------------------------------------------------------ algebra


WRONG = {
    "the batches of size Delta hold all T rounds",
    "the regret of an instance is the sum of the R_j",
    "KL(1/2, 1/2 + eps) <= 2 eps^2",
    "sqrt(2 y) <= sqrt(15 B_j / K) at y = 15 B_j / K",
    "R_j >= Delta eps (1 - 5 / (4 K) - ...) in every batch",
    "Delta in [1, T] on the range of V",
}


def test_algebra_fails_as_printed_and_says_where():
    found = one(claims.judge(NOTHING, ["lower-bound/algebra"]))
    assert (found.as_printed, found.control.as_expected) == ("fails", True)
    assert set(found.numbers["wrong"]) == WRONG
    assert found.numbers["mended"] == found.mended == "holds"
    assert len(found.corrections) == len(WRONG)
    assert (found.severity, found.breaks, found.gloss) == ("gap", False, "not true as printed")
    wrong = [row for row in found.steps if row.step in WRONG and row.outcome == "fails"]
    assert all(row.number > 1 for row in wrong)
    by_name = {row.step: row.number for row in found.steps}
    assert by_name["sqrt(2 y) <= sqrt(15 B_j / K) at y = 15 B_j / K"] == pytest.approx(2**0.5)
    assert by_name["eps <= 1/4 in all of the range"] == pytest.approx(4 / 1920 ** (1 / 3))


def test_algebra_holds_for_the_steps_that_hold():
    right = [s for s in lower_bound_algebra.printed() if s.name not in WRONG]
    found = lower_bound_algebra.judged(right)
    assert (found.as_printed, found.severity) == ("holds", "none")


@pytest.mark.parametrize("exponent", [0.32, 0.345, 0.5])
def test_algebra_fails_with_another_exponent(exponent):
    found = lower_bound_algebra.judged(lower_bound_algebra.printed(exponent))
    assert found.as_printed == "fails"
    assert "eps sqrt(30 B Delta / (K T)) = 1/8" in found.numbers["wrong"]


def test_algebra_is_vacuous_if_the_other_exponent_passes(monkeypatch):
    monkeypatch.setattr(lower_bound_algebra, "CONTROL_EXPONENT", 1 / 3)
    assert lower_bound_algebra.judged(lower_bound_algebra.printed()).as_printed == "vacuous"


def test_algebra_shows_the_steps_of_the_checked_proof():
    rows, score = lower_bound_algebra.corrected_proof()
    assert {row.outcome for row in rows} == {"holds", "cited"}
    assert score.killed == score.total > 100


def test_the_second_line_of_the_sum_follows_from_the_first():
    """It was once called wrong. The first line has m full terms, and sqrt(m T / Delta) <= m pays
    for the one that the second line leaves out: at any split of B over the batches."""
    c = lower_bound_algebra.cells()
    c = c[c.possible & (c.batches < 200)]
    rng = np.random.default_rng(3)
    for K, T, B, gap, delta, m in zip(c.K, c.T, c.B, c.gap, c.delta, c.batches, strict=True):
        free = 1 - 5 / (4 * K)
        second = (m - 1) * (free - gap * np.sqrt(30 * B * delta / (K * T)))
        for shares in (np.ones(int(m)), rng.random(int(m)), rng.random(int(m)) ** 8):
            B_j = B * shares / shares.sum()
            assert second <= (free - gap * np.sqrt(30 * B_j / K)).sum() * (1 + 1e-12)


def test_a_real_delta_leaves_rounds_out():
    assert lower_bound_algebra.rounds_in_batches(10, 2.5).tolist() == [2, 2, 2, 2]
    assert lower_bound_algebra.rounds_in_batches(10, 3.0).tolist() == [3, 3, 3, 1]


def test_a_policy_whose_regret_is_not_the_sum_of_the_batches_own():
    """Played 200,000 times: one query of arm 0, which is good in all batches or in one alone."""
    rng, gap = np.random.default_rng(11), 0.25
    plays = {}
    for first, later in (("good", "all"), ("flat", "own")):
        chance = 0.5 + gap * (first == "good")
        plays[later] = (rng.random(200_000) < chance).mean()  # arm 0 in each later batch
    lost = {later: 1 - share for later, share in plays.items()}
    assert lost["own"] / lost["all"] == pytest.approx(0.5 / (0.5 - gap), rel=0.02)
    line = next(one for one in lower_bound_algebra.printed() if "sum of the R_j" in one.name)
    assert judge_step(line).number == pytest.approx(0.5 / (0.5 - gap))


# ------------------------------------------------------------------ constants


@pytest.mark.parametrize("K", [2, 4, 10, 100])
def test_constants_are_the_maxima(K):
    e = np.linspace(1e-4, 1, 20_001)
    for share, information in ((1.25 / K, 15), (1 / K, 1), proofs.counting_shares(K)):
        curve = e * (1 - share - math.sqrt(information) * e**1.5)
        where, best = proofs.provable_constant(share, information)
        assert best == pytest.approx(curve.max(), rel=1e-4)
        assert where == pytest.approx(e[curve.argmax()], abs=1e-3)
    caps = np.linspace(2, 60, 500)[:, None]
    curve = e * (1 - 1 / K - 1 / caps - np.sqrt(caps) * e**1.5)
    assert proofs.unconditional_constant(K)[1] == pytest.approx(curve.max(), rel=1e-3)
    assert proofs.unconditional_constant(K)[1] == pytest.approx(
        (1 - 1 / K) ** 2 / (3 * 2 ** (4 / 3))
    )


def test_constants_of_small_gaps_are_the_limits_of_the_numerical_ones():
    K, V, B = 4, 1.0, 1e9
    rate = theory.rate(K, 1, B, V)
    best = lower_bound.best_bound(K, 1, B, V) / rate
    assert best == pytest.approx(proofs.unconditional_constant(K)[1], rel=1e-4)
    granted = lower_bound.best_granted(K, 1, B, V) / rate
    assert granted == pytest.approx(proofs.provable_constant(1 / K, 1)[1], rel=1e-4)


def test_improved_constants_are_in_order():
    assert proofs.provable_constant(5 / 8, 15)[1] == pytest.approx(0.02576, abs=1e-5)
    assert proofs.provable_constant(1 / 2, 1)[1] == pytest.approx(0.10260, abs=1e-5)
    for K in (2, 3, 10, 100):
        c = lower_bound.constants(K)
        assert c["printed"] < c["exact KL, alpha 5/4, beta 15"] < c["unconditional"]
        assert c["unconditional"] < c["best alpha and beta"] < c["mean over the good arm"]


# ------------------------------------------------------------------ slack


SIZES = {"K": 4, "T": 10**6, "B": 63_096, "V": 4.0}


def slack_runs(slack, spread=0.02, seeds=8, seed=0):
    """Runs on `hard` whose largest mean regret is `slack[policy]` times the best bound, at c = 8.

    At c = 1 it is just over what that gap allows, whatever the slack, unless that is under 1.
    """
    rng = np.random.default_rng(seed)
    best = lower_bound.best_bound(**SIZES)
    shape = {1: 0.85, 2: 1.1, 8: None}
    rows = []
    for (policy, value), c, s in itertools.product(slack.items(), shape, range(seeds)):
        height = value if c == 8 else min(shape[c], value)
        rows.append(
            {
                "ask": "lower-bound/measured",
                "policy": policy,
                "label": policy,
                **SIZES,
                "adversary": "hard",
                "adversary.c": float(c),
                "seed": s,
                "regret": height * best * (1 + spread * rng.standard_normal()),
            }
        )
    return pd.DataFrame(rows)


def slack(runs, **rest):
    evidence = dataclasses.replace(NOTHING, asked=runs, **rest)
    return one(claims.judge(evidence, ["lower-bound/measured"]))


GOOD = {"informed": 3.8, "sw_ucb": 11.0, "uniform": 90.0, "oracle": 0.0}


def test_constant_twins():
    found = slack(slack_runs(GOOD))
    assert found.as_printed == "consistent"
    assert [c.as_expected for c in found.controls] == [True, True, True]
    assert found.numbers["slack"]["informed, K=4, T=1e+06, B=6.31e+04, V=4"][
        "over_best"
    ] == pytest.approx(3.8, rel=0.03)
    broken = slack(slack_runs({**GOOD, "informed": 0.5}))
    assert broken.as_printed == "fails"
    assert "informed" in broken.decide
    assert slack(slack_runs({**GOOD, "informed": 1.0}, 0.2)).as_printed == "undecided"


def test_constant_is_vacuous_if_no_policy_beats_ten_times_it_or_the_oracle_does_not_come_out():
    assert slack(slack_runs({**GOOD, "informed": 11.0})).as_printed == "vacuous"
    assert slack(slack_runs({**GOOD, "oracle": 3.0})).as_printed == "vacuous"
    alone = {name: value for name, value in GOOD.items() if name != "oracle"}
    assert slack(slack_runs(alone)).as_printed == "vacuous"


def test_a_policy_of_the_experiment_can_only_make_it_fail():
    """Its few runs on the grid are at the printed gap, where 0.6 T eps is provable."""
    eps = theory.hard_gap(SIZES["K"], SIZES["B"], SIZES["V"])
    row = {"policy": "mine", "label": "mine", **SIZES, "adversary": "hard", "adversary.c": 1.0}
    for share, outcome in ((0.7, "consistent"), (0.4, "fails")):
        regret = [share * eps * SIZES["T"] * (1 + 0.001 * s) for s in range(4)]
        grid = pd.DataFrame([row | {"seed": s, "regret": r} for s, r in enumerate(regret)])
        found = slack(slack_runs(GOOD), regret=grid)
        assert found.as_printed == outcome
        assert found.numbers["experiment"]["mine"] == pytest.approx(share / 0.6, rel=0.05)
    told = grid.assign(policy="informed", label="informed")
    assert slack(slack_runs(GOOD), regret=told).as_printed == "consistent"
    wild = grid.assign(regret=[0.0, 1e6, 0.0, 1e6])
    assert slack(slack_runs(GOOD), regret=wild).as_printed == "consistent"


def test_constant_says_nothing_without_runs():
    assert claims.judge(NOTHING, ["lower-bound/measured"]) == []


def test_constant_on_a_real_cell():
    """The toy cells as played: `informed` some 4 times over the bound, uniform as it must be."""
    asks = lower_bound.needs(toy=True).asks
    rows = []
    for ask in asks:
        against = family(ask.against, ask.size)
        runs = play_all(cell(ask.policy, ask.size), against, range(ask.seeds))
        rows += [{**row, "ask": ask.tag} for row in runs]
    found = slack(pd.DataFrame(rows), toy=True)
    assert found.as_printed == "consistent"
    assert found.horizon.startswith("toy")
    over = {name.split(",")[0]: s["over_best"] for name, s in found.numbers["slack"].items()}
    assert 3 < over["informed"] < 7
    K, T, B, V = asks[0].size
    gap = 64 * theory.hard_gap(K, B, V)
    uniform = (1 - 1 / K) * gap * T
    assert over["uniform"] == pytest.approx(uniform / lower_bound.best_bound(K, T, B, V))


def test_gaps_of_the_asks_fit():
    for toy in (True, False):
        for ask in lower_bound.needs(toy).asks:
            assert theory.lower_bound_applies(*ask.size)
            assert max(lower_bound.GAPS) * theory.hard_gap(ask.size.K, ask.size.B, ask.size.V) < 0.5
