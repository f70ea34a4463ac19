"""The lemma on UCB1: its study against a plain second writing, and the claim with its twins."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest

from confee.claims import ucb_near_stationary as claim
from confee.core.canonical import stream
from confee.core.errors import ConfeeError
from confee.evidence import Evidence
from confee.paper import proofs, theory
from confee.simulation.needs import Draws
from confee.simulation.studies import near_stationary


def evidence(rows, toy=False):
    empty = pd.DataFrame()
    return Evidence(empty, empty, empty, empty, toy, studies={claim.STUDY: rows})


def draw(studies: tuple[Draws, ...]) -> pd.DataFrame:
    assert {s.name for s in studies} == {claim.STUDY}
    return pd.DataFrame([r for s in studies for r in near_stationary.run(**s.parameters)])


@pytest.fixture(scope="module")
def rows():
    """Real draws, as a toy experiment makes them."""
    return draw(claim.needs(toy=True).studies)


def judge(rows, constant=claim.PRINTED, **rest):
    (verdict,) = claim.judge(evidence(rows, **rest), constant)
    return verdict


# ------------------------------------------------------------------ the study


@pytest.mark.parametrize("world", near_stationary.WORLDS)
@pytest.mark.parametrize(("K", "T"), [(2, 40), (5, 1000), (10, 10**5)])
def test_paths_are_what_they_say_and_meet_the_premise_at_every_round(world, K, T):
    gap = 0.1 if world in ("better", "overtaken") else 0.0
    path = near_stationary.path(K, T, world, 0.5, gap)
    spends = world not in ("equal", "better")
    assert path.variation() == pytest.approx(theory.rho(T, K) if spends else 0.0, abs=1e-9)
    best = path.means().max(axis=1)
    if world == "exchange":
        assert np.ptp(best) == pytest.approx(0.0, abs=1e-12)
    rows = near_stationary.run(K, T, world, 0.5, gap, 2.0, 1)
    assert rows[0]["rounds"] == T


def test_a_world_that_would_leave_the_means_range_is_refused():
    assert theory.rho(3, 2) > 0.5
    with pytest.raises(ConfeeError, match="outside"):
        near_stationary.path(2, 3, "drop", 0.5, 0.0)


def by_hand(K, T, world, level, gap, exploration, run):
    """The same draws, with the sums over the whole past written out."""
    about = {"K": K, "T": T, "world": world, "level": level, "gap": gap, "exploration": exploration}
    rng = stream("study", "near_stationary", about, run)
    means = near_stationary.path(K, T, world, level, gap).means()
    order, plays, wins = list(range(K)), np.zeros(K), np.zeros(K)
    f, R, short, needed = [], [], [], []
    for t in range(1, T + 1):
        if t <= K:
            pick = rng.integers(t - 1, K)
            order[t - 1], order[pick] = order[pick], order[t - 1]
            arm, value = order[t - 1], 1.0
        else:
            index = wins / plays + math.sqrt(exploration * math.log(t - 1)) / np.sqrt(plays)
            ties = np.flatnonzero(index == index.max())
            arm = ties[rng.integers(0, len(ties))] if len(ties) > 1 else ties[0]
            value = min(1.0, index.max())
        reward = float(rng.random() < means[t - 1, arm])
        plays[arm] += 1
        wins[arm] += reward
        f.append(value)
        R.append(reward)
        V = np.abs(np.diff(means[:t], axis=0)).max(axis=1).sum()
        rho = theory.rho(t, K)
        if value < 1:
            short.append((means[:t].max(axis=1).min() - V - value) / rho)
        needed.append((np.mean(np.subtract(f, R)) - V) / rho)
    return max(short), max(needed), int(np.argmax(needed)) + 1, needed[-1]


@pytest.mark.parametrize("world", ["equal", "fall", "drop", "exchange", "overtaken"])
def test_the_kernel_is_the_two_inequalities(world):
    for exploration in (2.0, 0.0):
        found = near_stationary.run(3, 300, world, 0.5, 0.1, exploration, 2)
        for row in found:
            expected = by_hand(3, 300, world, 0.5, 0.1, exploration, row["run"])
            mine = (row["short"], row["needed"], row["needed_at"], row["final"])
            assert mine == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_rounds_with_more_variation_than_rho_are_not_looked_at():
    """A drop of 0.4 at round 500: rho(t) is under that from the start of the drop on."""
    world = near_stationary.new_world(
        near_stationary.Path.steps(np.array([1, 500]), np.array([[0.5] * 2, [0.1] * 2]), 2000)
    )
    found = near_stationary.watch(world, 2, 2000, 2.0, np.random.default_rng(0))
    assert theory.rho(500, 2) < 0.4
    assert found[-1] == 499
    assert found[3] <= 499


# ------------------------------------------------------------------ theory


def test_bonuses_of_equal_arms_sum_to_less_than_the_constant():
    """See docs/reading-the-paper.md: equal arms, 2.60 rho at 1e6 rounds, under 2 sqrt 2."""
    for t, K in ((10**4, 2), (10**6, 2), (10**6, 10)):
        n = np.arange(1, t // K + 1)
        tau = np.arange(K, t)
        bonus = np.sqrt(2 * np.log(tau) / np.repeat(n, K)[: len(tau)]).sum() / t
        assert 2 < bonus / math.sqrt(K * math.log(t) / t) < proofs.UCB1_CONSTANT


def test_pessimism_is_the_frequency_of_its_event():
    """Where it is frequent enough to be drawn: a bonus a fifth of UCB1's, 30 rounds."""
    exact = proofs.pessimism(0.75, 30, exploration=0.1)
    broken = 0
    for seed in range(4000):
        rng = np.random.default_rng(seed)
        plays, wins = 1, int(rng.random() < 0.75)
        for tau in range(2, 30):
            root = math.sqrt(0.1 * math.log(tau))
            first, second = wins / plays + root / math.sqrt(plays), root / math.sqrt(tau - plays)
            if max(first, second) < 0.75:
                broken += 1
                break
            if first > second or (first == second and rng.random() < 0.5):
                plays, wins = plays + 1, wins + int(rng.random() < 0.75)
    assert 0.1 < exact < 0.9
    assert broken / 4000 == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 4000))


def test_the_bonus_does_not_know_T_so_some_horizon_breaks_the_first_inequality():
    chance = proofs.pessimism(claim.ALONE, claim.ROUNDS)
    assert 1e-7 < chance < 1e-6
    assert proofs.pessimism(claim.ALONE, 30) < chance < proofs.pessimism(claim.ALONE, 60)


# ------------------------------------------------------------------ the claim


def test_needs_are_the_worlds_of_the_lemma_and_a_control():
    for toy in (True, False):
        studies = claim.needs(toy).studies
        assert {0.0, 2.0, claim.WIDE} == {s.parameters["exploration"] for s in studies}
        assert all(s.parameters["runs"] >= claim.RUNS for s in studies)
        assert sum(s.seconds for s in studies) < (0.1 if toy else 16)
        for s in studies:  # all of them are paths
            near_stationary.path(*(s.parameters[p] for p in ("K", "T", "world", "level", "gap")))
    assert {s.parameters["K"] for s in studies} == {2, 5, 10}


def test_the_lemma_as_printed_fails_on_real_draws(rows):
    found = judge(rows)
    assert (found.id, found.as_printed) == (claim.CLAIM.id, "fails")
    assert found.control.as_expected is True
    assert found.numbers["second"]["broken"] == found.numbers["second"]["runs"]
    assert found.numbers["first"]["outcome"] == "holds"
    assert 2 < found.numbers["needed"] < 3
    assert (found.severity, found.mended, found.breaks) == ("logarithm", "consistent", False)


def test_it_holds_with_a_larger_constant_on_the_same_draws(rows):
    """The ideal twin. Over 2 sqrt 2, because the rewards' noise comes on top of the bonuses."""
    found = judge(rows, proofs.UCB1_CONSTANT + 1)
    assert (found.as_printed, found.decide) == ("holds", "")
    assert found.control.as_expected is True


def test_an_index_without_bonus_fails_the_first_inequality(rows):
    bare = rows[rows["exploration"] == 0]
    wide = rows[rows["exploration"] == claim.WIDE]
    both = pd.concat([bare.assign(exploration=2.0), bare, wide])
    found = judge(both, 4.0)
    assert found.as_printed == "fails"
    assert found.numbers["first"]["outcome"] == "fails"
    assert found.numbers["second"]["outcome"] == "holds"


def test_a_close_shave_or_few_runs_or_one_run_in_many_leave_it_open(rows):
    mine = rows["exploration"] != claim.WIDE
    close = rows.assign(needed=rows["needed"].where(~mine, rows["needed"].clip(upper=0.99)))
    assert judge(close).as_printed == "undecided"
    few = rows[rows["run"] < claim.RUNS - 1]
    assert judge(few, 4.0).as_printed == "undecided"
    one = rows.assign(needed=rows["needed"].where(~mine, 0.5), T=100)
    one.iloc[0, one.columns.get_loc("needed")] = 1.5  # 1 of 20 runs against 1/100
    assert judge(one).as_printed == "undecided"
    assert judge(one.assign(T=10**5)).as_printed == "fails"


def test_holds_is_not_said_beyond_the_horizon_that_the_exact_step_allows(rows):
    far = rows.assign(T=10**8)
    assert judge(far, 4.0).as_printed == "fails"
    step = next(s for s in judge(far, 4.0).steps if "exactly" in s.step)
    assert step.outcome == "fails"
    assert "from T = 1.7e+03" in step.note


def test_it_is_vacuous_if_the_control_passes_or_is_missing(rows):
    passing = rows.assign(short=-1.0)
    assert judge(passing).as_printed == "vacuous"
    found = judge(rows[rows["exploration"] == 2])
    assert (found.as_printed, found.control.as_expected) == ("vacuous", None)
    assert claim.judge(evidence(pd.DataFrame())) == []


def test_it_is_vacuous_if_twice_the_bonus_passes_the_second_inequality(rows):
    wide = rows["exploration"] == claim.WIDE
    assert judge(rows[~wide]).as_printed == "vacuous"
    passing = rows.assign(needed=rows["needed"].where(~wide, 0.5))
    assert judge(passing).as_printed == "vacuous"


def test_side_conditions_and_toy(rows):
    found = judge(rows, toy=True)
    assert found.horizon.startswith("toy horizon")
    sides = [s for s in found.steps if s.step.startswith(("rho", "t rho"))]
    assert [s.outcome for s in sides] == ["holds"] * 3
    assert dataclasses.asdict(found)["evidence"] == ("studies/near_stationary",)
