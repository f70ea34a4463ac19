"""MASTER against a plain round-by-round reference, and what follows from its definition."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from confee.policies.base import Known
from confee.policies.blocks import draw_started
from confee.world import game
from confee.world.path import Path
from support import plays

few = settings(max_examples=60, derandomize=True, deadline=None)


# ------------------------------------------------------------------ reference


def rho(t, K):
    return math.sqrt(K * math.log(max(t, 2)) / t) + K / t


class Reference:
    """MASTER as Algorithms 1 to 3 of Wei and Luo read: everything is looked at in every step.

    `draw(n)` gives the instances of a block as (m, s) in any order. `arms()` are the arms that
    may be played in this step; `see(arm, reward)` says which tests failed.
    """

    def __init__(self, K, Q, draw, scale=1.0, delta=None, exploration=2.0):
        self.K, self.draw, self.exploration = K, draw, exploration
        delta = 1 / Q if delta is None else delta
        self.factor = scale * 6 * (math.log2(Q) + 1) * math.log(Q / delta)
        self.begin(0)

    def begin(self, n):
        self.n = n
        self.seen = {instance: [] for instance in self.draw(n)}
        self.steps = []  # (f~, reward) of the block

    def active(self):
        tau = len(self.steps)
        over = [(m, s) for m, s in self.seen if s <= tau < s + 2**m]
        return min(over)  # the least order; two of one order do not overlap

    def values(self):
        """Each arm's index, infinite if unplayed, by the active instance's own observations."""
        mine = self.seen[self.active()]
        out = []
        for k in range(self.K):
            got = [reward for arm, reward in mine if arm == k]
            width = math.sqrt(self.exploration * math.log(len(mine)) / len(got)) if got else 0
            out.append(sum(got) / len(got) + width if got else math.inf)
        return out

    def arms(self):
        values = self.values()
        return [k for k in range(self.K) if values[k] >= max(values) - 1e-12]

    def see(self, arm, reward):
        optimistic = min(1.0, self.values()[arm])
        self.seen[self.active()].append((arm, reward))
        self.steps.append((optimistic, reward))
        tests = {"first": self.first_test, "second": self.second_test}
        failed = [name for name, test in tests.items() if test()]
        if failed:
            self.begin(0)
        elif len(self.steps) == 2**self.n:
            self.begin(self.n + 1)
        return failed

    def first_test(self):
        least = min(value for value, _ in self.steps)
        for m, s in self.seen:
            if s + 2**m == len(self.steps):
                mean = sum(reward for _, reward in self.steps[s:]) / 2**m
                if mean >= least + 9 * self.factor * rho(2**m, self.K):
                    return True
        return False

    def second_test(self):
        count = len(self.steps)
        excess = sum(value - reward for value, reward in self.steps) / count
        return excess >= 3 * self.factor * rho(count, self.K)


def instances(K, rng):
    """A draw of a block's instances, place by place."""

    def draw(n):
        return [
            (m, s)
            for m in range(n + 1)
            for s in range(0, 2**n, 2**m)
            if rng.random() < rho(2**n, K) / rho(2**m, K)
        ]

    return draw


def replay(path, B, seed, scale, delta=0.0, exploration=2.0, alone=False):
    """One run, checked step by step: every arm is one that the reference allows, and restarts come
    in the rounds in which it wants them. `alone`: a block has no instance but the longest.

    Returns the tests that failed."""
    blocks, rounds, failed = [], [], []

    def draw(chances, rng):
        orders, starts = draw_started(chances, rng)
        if alone:
            orders, starts = orders[:1], starts[:1]
        blocks.append(list(zip(orders.tolist(), starts.tolist(), strict=True)))
        return orders, starts

    def query(world, ledger, data, t, arm, rng):
        reward = game.query(world, ledger, data, t, arm, rng)
        rounds.append((arm, reward, ledger.restarts))
        return reward

    kernel = plays.plain(plays.POLICIES["master"].kernel, draw_started=draw, query=query)
    options = {"scale": scale, "delta": delta, "exploration": exploration}
    row = plays.play("master", path, B, 1.0, seed, kernel=kernel, **options)
    left = iter([*blocks, []])  # a last block may begin after the last query
    reference = Reference(
        path.mean.shape[1], B, lambda n: next(left), scale, delta or None, exploration
    )
    for arm, reward, restarts in rounds:
        assert restarts == sum(map(bool, failed))
        assert arm in reference.arms()
        failed.append(reference.see(arm, reward))
    assert row["restarts"] == sum(map(bool, failed))
    assert row["queries"] == len(rounds) == B
    return [name for some in failed for name in some]


def a_path(K, T, seed):
    rng = np.random.default_rng(seed)
    starts = np.unique(np.append(1, rng.integers(1, T + 1, 3)))
    return Path.steps(starts, rng.uniform(size=(len(starts), K)), T)


@few
@given(
    K=st.integers(2, 4),
    T=st.integers(8, 150),
    share=st.sampled_from([1.0, 0.6]),
    scale=st.sampled_from([1.0, 1e-3, 3e-4, 1e-4]),
    delta=st.sampled_from([0.0, 0.1]),
    seed=st.integers(0, 10**6),
)
def test_with_the_same_instances_it_plays_as_the_reference_says(K, T, share, scale, delta, seed):
    replay(a_path(K, T, seed), max(K, int(share * T)), seed, scale, delta)


def test_the_second_test_fires_as_the_reference_says():
    path = Path.steps([1, 60], np.array([[0.9, 0.1], [0.1, 0.9]]), 150)
    assert all(replay(path, 150, seed, 3e-4).count("second") >= 3 for seed in range(10))


def test_the_first_test_fires_as_the_reference_says():
    """Nothing pays until U_t is low, then everything does. Only with a narrow index, and without
    instances that begin anew, does the second test not come first."""
    path = Path.steps([1, 650], np.array([[0.0, 0.0], [1.0, 1.0]]), 1030)
    for seed in range(3):
        failed = replay(path, 1030, seed, 4e-4, exploration=0.02, alone=True)
        assert failed == ["first"]


# ------------------------------------------------------------------ in distribution


@cache
def both(scale, runs=200):
    """(regret, restarts) of runs by kernel and by reference, on one path with two changes."""
    K, T = 3, 200
    mean = np.array([[0.9, 0.3, 0.1], [0.1, 0.3, 0.9], [0.2, 0.8, 0.2]])
    path = Path.steps([1, 60, 140], mean, T)
    rows = [plays.play("master", path, T, 2.0, seed, scale=scale) for seed in range(runs)]
    found = [[(row["regret"], row["restarts"]) for row in rows], []]
    means = path.means()
    for seed in range(runs):
        rng = np.random.default_rng([7, seed])
        reference = Reference(K, T, instances(K, rng), scale)
        regret, restarts = 0.0, 0
        for mu in means:
            arm = int(rng.choice(reference.arms()))
            regret += mu.max() - mu[arm]
            restarts += bool(reference.see(arm, float(rng.random() < mu[arm])))
        found[1].append((regret, restarts))
    return np.array(found)


@pytest.mark.parametrize("scale", [1.0, 1.5e-4])
def test_regret_and_restarts_are_distributed_as_the_references(scale):
    found = both(scale)
    assert stats.ks_2samp(found[0, :, 0], found[1, :, 0]).pvalue > 0.01
    restarts = found[:, :, 1]
    if scale == 1:
        assert not restarts.any()
    else:
        assert restarts.mean() > 1
        assert stats.ks_2samp(*restarts).pvalue > 0.01


def test_instances_start_as_often_as_rho_says():
    """Within 4 standard errors of 2000 blocks of order 6, each order on its own."""
    from confee.policies.blocks import ratios

    n, K, draws = 6, 3, 2000
    rng = np.random.default_rng(5)
    counts = np.zeros(n + 1)
    for _ in range(draws):
        counts += np.bincount(draw_started(ratios(n, K), rng)[0], minlength=n + 1)
    for m in range(n + 1):
        chance, places = rho(2**n, K) / rho(2**m, K), 2 ** (n - m)
        error = math.sqrt(chance * (1 - chance) * places / draws)
        assert abs(counts[m] / draws - chance * places) <= 4 * error


# ------------------------------------------------------------------ special cases


def test_at_full_feedback_every_round_is_queried():
    row = plays.play("master", a_path(3, 5000, 1), 5000, 2.0, 1)
    assert (row["queries"], row["longest_query"], row["longest_idle"]) == (5000, 5000, 0)
    assert row["denied"] == row["regret_error"] == row["regret_drift"] == row["regret_no_data"] == 0


def test_no_restart_where_the_tests_cannot_fire():
    """T = 10^5, delta = 1/T: 3 rho^ and 9 rho^ are over 1 whatever is seen. Tiny thresholds are
    passed, and the smaller the oftener."""
    T = 10**5
    path = Path.steps([1, T // 2], np.array([[0.9, 0.1], [0.1, 0.9]]), T)
    assert 3 * 6 * (math.log2(T) + 1) * math.log(T**2) * rho(T, 2) > 1
    for seed in range(3):
        counts = [
            plays.play("master", path, T, 1.0, seed, scale=scale)["restarts"]
            for scale in (1.0, 5e-4, 2e-4)
        ]
        assert counts[0] == 0 < counts[1] < counts[2] < T // 100


def test_thresholds_first_let_a_test_fire_at_a_billion_rounds():
    """With rho at its least, 1/sqrt(t), and the first test: sqrt(T) > 54 (log2 T + 1) ln(T/delta).
    T is 1.2e9 at delta = 1 and 6.8e9 at delta = 1/T; their own rho only comes later."""
    from confee.policies.master import POLICY

    def fires(T, delta):
        factor = POLICY.arguments(Known(2, T, T), plays.options_of("master", delta=delta))[-1]
        return 9 * factor < math.sqrt(T)

    assert not fires(1_150_000_000, 1)
    assert fires(1_250_000_000, 1)
    assert not fires(6_700_000_000, 0)
    assert fires(6_900_000_000, 0)


def test_idle_rounds_play_the_active_instance_and_forget_at_a_restart():
    """Weights of an idle run are the plays of the instance that made the last query; with a scale
    of 0 every query restarts, so there are no data."""
    path = a_path(3, 600, 3)
    seen = []

    def idle(world, ledger, data, start, stop, weights, rng):
        if stop > start and start > 1:
            seen.append((weights.sum(), data[3]))
        game.idle(world, ledger, data, start, stop, weights, rng)

    kernel = plays.plain(plays.POLICIES["master"].kernel, idle=idle)
    plays.play("master", path, 150, 1.0, 1, kernel=kernel)
    assert seen
    assert all(weight == rounds > 0 for weight, rounds in seen)
    row = plays.play("master", path, 150, 1.0, 1, scale=0)
    assert row["restarts"] == row["queries"] == 150
    assert row["regret_error"] == row["regret_drift"] == 0
