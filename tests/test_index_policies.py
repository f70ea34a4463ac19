"""Discounted and sliding-window UCB, CBM-UCB, random restarts, bandit over bandits.

Each kernel against its rule as a researcher would write it down: plain Python, round by round, over
the whole history, sharing nothing with the kernel but the random numbers and their order.
"""

from __future__ import annotations

import math
from collections import deque
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confee.paper import theory
from confee.policies import POLICIES
from confee.policies.bob_sw_ucb import grid
from confee.world import game
from confee.world.path import Path
from support import plays

few = settings(max_examples=25, derandomize=True, deadline=None)


def swings(T, K=3):
    """Two pieces and a slope: the best arm changes from the first to the last."""
    first, last = np.full((2, K), 0.3), np.full((2, K), 0.4)
    first[0, 0], last[0, 0], first[1, -1], last[1, -1] = 0.9, 0.7, 0.6, 0.9
    return plays.pieces([T // 2, T - T // 2], first, last)


def noted(policy, path, B, V, seed, **options):
    """(queries, idle runs, row): [(t, arm, reward)], [(start, stop, chances, P)] of a plain run."""
    queries, runs = [], []

    def query(world, ledger, data, t, arm, rng):
        reward = game.query(world, ledger, data, t, arm, rng)
        queries.append((int(t), int(arm), reward))
        return reward

    def idle(world, ledger, data, start, stop, weights, rng):
        if stop > start:
            P = plays.proxy(world, data) if data[-4] > 0 else None
            runs.append((int(start), int(stop), weights / weights.sum(), P))
        game.idle(world, ledger, data, start, stop, weights, rng)

    kernel = plays.plain(POLICIES[policy].kernel, query=query, idle=idle)
    row = plays.play(policy, path, B, V, seed, kernel=kernel, **options)
    return queries, runs, row


def paced(T, B):
    return [i * T // B + 1 for i in range(B)]


class Ranks:
    """Draws as the kernels make them: unplayed arms in random order, then ties by one number."""

    def __init__(self, K, rng):
        self.order, self.rng = list(range(K)), rng

    def unplayed(self, tau):
        pick = self.rng.integers(tau, len(self.order))
        self.order[tau], self.order[pick] = self.order[pick], self.order[tau]
        return self.order[tau]

    def best(self, index):
        tied = [k for k, value in enumerate(index) if value == max(index)]
        return tied[self.rng.integers(0, len(tied)) if len(tied) > 1 else 0]


def assert_same(found, expected):
    """Queries in order, chances in each idle run, and P."""
    (queries, runs, _), (wanted, between) = found, expected
    assert queries == wanted
    assert [run[:2] for run in runs] == [run[:2] for run in between]
    for (_, _, chances, P), (_, _, weights, mean) in zip(runs, between, strict=True):
        assert chances == pytest.approx(np.array(weights) / sum(weights), rel=1e-9, abs=1e-12)
        assert (P is None) == (mean is None)
        if mean is not None:
            assert pytest.approx(mean, rel=1e-9) == P


# ----------------------------------------------------------------------- discounted UCB


def discounted(path, B, gamma, xi, seed, whole=False):
    """D-UCB from its definition; `whole` keeps counts as whole numbers, as one library does."""
    rng, mu = np.random.default_rng(seed), path.means()
    T, K = mu.shape
    draws, queries, runs = Ranks(K, rng), [], []
    rounds = [*paced(T, B), T + 1]
    for tau in range(B):
        age = gamma ** np.arange(tau - 1, -1, -1)
        arms = np.array([arm for _, arm, _ in queries], dtype=int)
        rewards = np.array([reward for _, _, reward in queries])
        N = np.bincount(arms, age, K)
        if whole:
            N = np.maximum(np.floor(N), 1)
        if tau < K:
            arm = draws.unplayed(tau)
        else:
            X = np.bincount(arms, age * rewards, K)
            arm = draws.best(X / N + 2 * np.sqrt(xi * math.log(N.sum()) / N))
        t = rounds[tau]
        queries.append((t, arm, 1.0 if rng.random() < mu[t - 1, arm] else 0.0))
        if rounds[tau + 1] > t + 1:
            age = gamma ** np.arange(tau, -1, -1)
            N = np.bincount([arm for _, arm, _ in queries], age, K)
            seen = mu[[u - 1 for u, _, _ in queries]]
            runs.append((t + 1, rounds[tau + 1], N, (age @ seen / age.sum()).max()))
    return queries, runs


@pytest.mark.parametrize(("V", "scale", "xi"), [(1.0, 1.0, 0.5), (400.0, 1e-9, 0.5), (9.0, 0.7, 1)])
def test_discounted_is_its_definition(V, scale, xi):
    """1200 queries; with the shortest memory, K, weights are rescaled twice on the way."""
    path, B, K = swings(3600), 1200, 3
    _, gamma, _ = POLICIES["d_ucb"].kernel_arguments(
        K, 3600, B, V, 2, plays.options_of("d_ucb", memory_scale=scale)
    )
    memory = max(K, scale * math.floor((math.sqrt(K) * B / V) ** (2 / 3)))
    assert gamma == pytest.approx(1 - 1 / memory, abs=1e-12)
    found = noted("d_ucb", path, B, V, 3, xi=xi, memory_scale=scale)
    assert_same(found, discounted(path, B, gamma, xi, 3))
    if scale < 1e-6:
        assert gamma**-B > 1e200


def test_discounted_counts_are_not_whole():
    path, B, V = swings(3600), 1200, 9.0
    _, gamma, xi = POLICIES["d_ucb"].kernel_arguments(3, 3600, B, V, 2, plays.options_of("d_ucb"))
    queries, _, _ = noted("d_ucb", path, B, V, 3)
    assert queries == discounted(path, B, gamma, xi, 3)[0]
    assert queries != discounted(path, B, gamma, xi, 3, whole=True)[0]


@pytest.mark.parametrize("plan", ["paced", "bernoulli", "batched"])
@pytest.mark.parametrize(("V", "scale"), [(0.0, 1.0), (1.0, 1e20)])
def test_discounted_without_discount_is_ucb1(plan, V, scale):
    path = swings(5000, K=5)
    row = plays.play("d_ucb", path, 1000, V, 4, plan=plan, memory_scale=scale)
    assert row == plays.play("ucb1", path, 1000, V, 4, plan=plan)
    assert row != plays.play("d_ucb", path, 1000, 1.0, 4, plan=plan)


# ----------------------------------------------------------------------- sliding window


class Window:
    """SW-UCB over a deque of (arm, reward, round)."""

    def __init__(self, K, size, xi, rng):
        self.K, self.xi, self.rng = K, xi, rng
        self.seen = deque(maxlen=size)
        self.tau = 0

    def counts(self):
        return [sum(arm == k for arm, _, _ in self.seen) for k in range(self.K)]

    def index(self):
        n = self.counts()
        sums = [sum(r for arm, r, _ in self.seen if arm == k) for k in range(self.K)]
        log = math.log(max(1, min(self.tau, self.seen.maxlen)))
        return [
            sums[k] / n[k] + math.sqrt(self.xi * log) / math.sqrt(n[k]) if n[k] else math.inf
            for k in range(self.K)
        ]

    def choose(self):
        chosen, top, ties = 0, -1.0, 0
        for k, value in enumerate(self.index()):
            if value > top and not math.isclose(value, top, rel_tol=1e-14):
                chosen, top, ties = k, value, 1
            elif value == top or math.isclose(value, top, rel_tol=1e-14):
                ties += 1
                chosen = k if self.rng.random() * ties < 1 else chosen
        return chosen

    def look(self, t, mu):
        arm = self.choose()
        reward = 1.0 if self.rng.random() < mu[t - 1, arm] else 0.0
        self.seen.append((arm, reward, t))
        self.tau += 1
        return t, arm, reward

    def mean(self, mu):
        return mu[[t - 1 for _, _, t in self.seen]].mean(axis=0).max()


def windowed(path, B, size, xi, seed):
    rng, mu = np.random.default_rng(seed), path.means()
    T, K = mu.shape
    window, queries, runs = Window(K, size, xi, rng), [], []
    for t, after in pairwise([*paced(T, B), T + 1]):
        queries.append(window.look(t, mu))
        if after > t + 1:
            runs.append((t + 1, after, window.counts(), window.mean(mu)))
    return queries, runs


@pytest.mark.parametrize(("V", "size"), [(3.0, 37), (20.0, 10)])
def test_window_is_that_of_a_deque(V, size):
    path, B = swings(1200), 400
    assert size == math.floor((math.sqrt(3) * B / V) ** (2 / 3))
    found = noted("sw_ucb", path, B, V, 5)
    assert_same(found, windowed(path, B, size, 0.5, 5))
    # What plain UCB1 would count: the whole history, which the best arm's change makes another.
    queries, runs, _ = found
    start, _, chances, _ = runs[-1]
    whole = np.bincount([arm for t, arm, _ in queries if t < start], minlength=3)
    assert abs(chances - whole / whole.sum()).max() > 0.1
    assert queries != windowed(path, B, B, 0.5, 5)[0]


def test_window_of_all_queries_is_ucb1():
    """xi = 2 and a window that nothing leaves: UCB1's plays by UCB1's definition, and in law."""
    path, B = swings(1200), 400
    queries, _, row = noted("sw_ucb", path, B, 1.0, 6, xi=2, window_scale=1e6)
    rng, mu, n, sums = np.random.default_rng(6), path.means(), np.zeros(3), np.zeros(3)
    for tau, (t, arm, reward) in enumerate(queries):
        with np.errstate(divide="ignore", invalid="ignore"):
            index = np.where(n > 0, sums / n + np.sqrt(2 * math.log(max(tau, 1)) / n), np.inf)
        tied = np.flatnonzero(np.isclose(index, index.max(), rtol=1e-13))
        wanted = tied[0]
        for ties, k in enumerate(tied[1:], start=2):
            wanted = k if rng.random() * ties < 1 else wanted
        assert arm == wanted
        assert reward == (rng.random() < mu[t - 1, arm])
        n[arm] += 1
        sums[arm] += reward
    assert row["queries"] == B
    regrets = [
        [plays.play(policy, path, B, 1.0, seed, **options)["regret"] for seed in range(300)]
        for policy, options in (("sw_ucb", {"xi": 2, "window_scale": 1e6}), ("ucb1", {}))
    ]
    error = math.sqrt(sum(np.var(r) for r in regrets) / 300)
    assert abs(np.mean(regrets[0]) - np.mean(regrets[1])) < 4 * error


# ----------------------------------------------------------------------- CBM-UCB


def available(t, T, B, plan):
    return -(-t * B // T) if plan == "paced" else B


def wide(t, n, K, T, B, plan, threshold):
    """w > threshold sqrt(2 K ln t / B(t)), w = sqrt(2 ln t / n), squared: in exact numbers."""
    return Fraction(threshold) ** 2 * K * n < available(t, T, B, plan)


def matched(path, B, plan, threshold, seed):
    """(queries, the leaders in each idle round, denied): CBM-UCB, round by round."""
    rng, mu = np.random.default_rng(seed), path.means()
    T, K = mu.shape
    n, sums, queries, idle, denied = [0] * K, [0.0] * K, [], {}, 0
    for t in range(1, T + 1):
        index = [
            sums[k] / n[k] + math.sqrt(2 * math.log(t)) * (1 / math.sqrt(n[k])) if n[k] else np.inf
            for k in range(K)
        ]
        tied = [k for k in range(K) if index[k] == max(index)]
        wish = wide(t, n[tied[0]], K, T, B, plan, threshold)
        if wish and len(queries) < B:
            arm = tied[rng.integers(0, len(tied)) if len(tied) > 1 else 0]
            reward = 1.0 if rng.random() < mu[t - 1, arm] else 0.0
            queries.append((t, arm, reward))
            n[arm] += 1
            sums[arm] += reward
        else:
            idle[t] = tied
            denied += wish
    return queries, idle, denied


@pytest.mark.parametrize("plan", ["paced", "upfront"])
@pytest.mark.parametrize("threshold", [1.0, 0.75, 0.5])
@pytest.mark.parametrize("B", [40, 333])
def test_cbm_is_its_rule_round_by_round(plan, threshold, B):
    handed_on = 0
    for seed, path in enumerate(
        [swings(2500, K=4), Path.steps(np.ones(1), np.array([[0.5, 0.6, 0.55]]), 3000)]
    ):
        queries, runs, row = noted("cbm_ucb", path, B, 0, seed, available=plan, threshold=threshold)
        wanted, idle, denied = matched(path, B, plan, threshold, seed)
        assert queries == wanted
        assert row["denied"] == denied
        blind = {t: chances for start, stop, chances, _ in runs for t in range(start, stop)}
        assert blind.keys() == idle.keys()
        assert all(list(np.flatnonzero(blind[t])) == idle[t] for t in idle)
        led = {t: [arm] for t, arm, _ in queries} | idle
        handed_on += sum(not set(led[t]) & set(led.get(t + 1, led[t])) for t in idle)
        assert denied > 0 or threshold > 0.5 or B > 40
    assert handed_on > 0 or B == 40  # another arm led as ln t grew, without a query in between


@few
@given(data=st.data())
def test_cbm_never_queries_what_is_known_well_enough(data):
    """The width of each queried arm, anew from the queries before it, is over the threshold; and
    the queries never run ahead of those made available by more than K."""
    K = data.draw(st.integers(2, 5))
    B = data.draw(st.integers(K, 300))
    T = data.draw(st.integers(B, 10**12))
    plan = data.draw(st.sampled_from(["paced", "upfront"]))
    mu = np.random.default_rng(data.draw(st.integers(0, 99))).uniform(0.2, 0.8, (1, K))
    path = Path.steps(np.ones(1), mu, T)
    queries, _, row = noted("cbm_ucb", path, B, 0, 1, available=plan)
    n = [0] * K
    for made, (t, arm, _) in enumerate(queries, start=1):
        assert wide(t, n[arm], K, T, B, plan, 1)
        n[arm] += 1
        assert made <= available(t, T, B, plan) + K
    assert len(queries) == row["queries"] <= B


def test_cbm_without_a_gap_spends_the_budget():
    """Equal arms: every arm takes its share. Twice the share would be spent at half the horizon."""
    path = Path.steps(np.ones(1), np.full((1, 4), 0.5), 100_000)
    rows = [plays.play("cbm_ucb", path, 2000, 0, seed) for seed in range(5)]
    assert 0.75 * 2000 < np.mean([row["queries"] for row in rows]) <= 2000
    assert not any(row["denied"] for row in rows)
    over = plays.play("cbm_ucb", path, 2000, 0, 1, threshold=math.sqrt(0.5))
    assert over["queries"] == 2000
    assert 30_000 < over["denied"] < 60_000


# ----------------------------------------------------------------------- random restarts


def geometric(rate):
    """Queries to the next restart, by a coin a query."""
    return lambda rng: 1 + math.floor(math.log(1 - rng.random()) / math.log(1 - rate))


def restarted(path, B, gap, seed):
    """(queries, idle runs, restarts): UCB1 that starts anew after `gap(rng)` queries each time."""
    rng, mu = np.random.default_rng(seed), path.means()
    T, K = mu.shape
    left, restarts = gap(rng), 0
    draws, since, queries, runs = Ranks(K, rng), [], [], []
    for t, after in pairwise([*paced(T, B), T + 1]):
        if left == 0:
            draws, since, left, restarts = Ranks(K, rng), [], gap(rng), restarts + 1
        left -= 1
        n = np.bincount([arm for _, arm, _ in since], minlength=K)
        if len(since) < K:
            arm = draws.unplayed(len(since))
        else:
            sums = np.bincount([a for _, a, _ in since], [r for _, _, r in since], K)
            arm = draws.best(sums / n + math.sqrt(2 * math.log(len(since))) * (1 / np.sqrt(n)))
        since.append((t, arm, 1.0 if rng.random() < mu[t - 1, arm] else 0.0))
        queries.append(since[-1])
        n[arm] += 1
        if after > t + 1:
            runs.append((t + 1, after, n, mu[[u - 1 for u, _, _ in since]].mean(axis=0).max()))
    return queries, runs, restarts


@pytest.mark.parametrize("rate", [0.02, 0.2])
def test_restarts_are_ucb1_anew(rate):
    path, B = swings(1800), 600
    found = noted("random_restart_unaware", path, B, 0, 7, rate=rate)
    queries, runs, restarts = restarted(path, B, geometric(rate), 7)
    assert_same(found, (queries, runs))
    assert found[2]["restarts"] == restarts > 0


def test_without_a_restart_it_is_ucb1():
    """One piece, hence no changes and rate 0; or a rate at which none comes: one number is drawn
    for it."""
    still = Path.steps(np.ones(1), np.array([[0.5, 0.7, 0.6]]), 4000)
    assert plays.play("random_restart", still, 900, 0, 8) == plays.play("ucb1", still, 900, 0, 8)
    path, later = swings(4000), np.random.default_rng(8)
    later.random()
    row = plays.play("random_restart_unaware", path, 900, 0, 8, rate=1e-12)
    assert row == plays.play("ucb1", path, 900, 0, later)
    assert row["restarts"] == 0


@pytest.mark.parametrize("rate", [0.01, 0.05, 1.0])
def test_restarts_are_a_coin_a_query(rate):
    path, B, runs = swings(4000), 1001, 200
    counts = [
        plays.play("random_restart_unaware", path, B, 0, seed, rate=rate)["restarts"]
        for seed in range(runs)
    ]
    deviation = math.sqrt((B - 1) * rate * (1 - rate))
    assert np.mean(counts) == pytest.approx(
        (B - 1) * rate, abs=4 * deviation / math.sqrt(runs) + 1e-9
    )
    assert np.std(counts) == pytest.approx(deviation, rel=0.2)


def test_order_optimal_rate():
    """6 pieces, 5 changes: sqrt(5 / (B ln B)); told S only for this."""
    spec = POLICIES["random_restart"]
    by_S = [spec.kernel_arguments(3, 10**5, 10**4, 1.0, S, spec.options())[2] for S in (1, 6, 21)]
    assert by_S == pytest.approx([0, math.sqrt(5 / 1e4 / math.log(1e4)), 2 * by_S[1]])
    half = spec.kernel_arguments(3, 10**5, 10**4, 1.0, 6, spec.options(rate_scale=0.5))[2]
    assert half == pytest.approx(by_S[1] / 2)
    assert "S" not in POLICIES["random_restart_unaware"].known


# ----------------------------------------------------------------------- scheduled restarts


@pytest.mark.parametrize(("B", "V", "period"), [(600, 2.0, 119), (601, 2.0, 120), (600, 30.0, 19)])
def test_scheduled_restarts_are_ucb1_anew(B, V, period):
    """The same queries and idle rounds as UCB1 that starts again every `period` queries."""
    path = swings(1800)
    found = noted("ucb1_restarted", path, B, V, 7)
    queries, runs, restarts = restarted(path, B, lambda rng: period, 7)
    assert_same(found, (queries, runs))
    assert found[2]["restarts"] == restarts == (B - 1) // period


def test_without_a_scheduled_restart_it_is_ucb1():
    """Nothing changes, or V is so small that the period is the whole budget."""
    path = swings(4000)
    for V in (0, 1e-3):
        assert plays.play("ucb1_restarted", path, 900, V, 8) == plays.play("ucb1", path, 900, V, 8)


def test_restart_period_by_hand():
    """(4 ln 1000)^{1/3} = 3.02 and 500^{2/3} = 63.0 make 190; 8 times V makes a quarter."""
    assert theory.restart_period(4, 1000, 2) == 190
    assert theory.restart_period(4, 1000, 16) == 47
    assert theory.restart_period(4, 1000, 1000) == 4
    assert theory.restart_period(4, 1000, 1e-3) == 1000


# ----------------------------------------------------------------------- a misled window


def test_an_overtold_window_shrinks_with_the_horizon():
    """At T = 8 B it is SW-UCB's; at twice the horizon a quarter as long; from K to B queries."""
    found = {}
    for name in ("sw_ucb", "sw_ucb_overtold"):
        spec = POLICIES[name]
        for multiple in (1, 8, 16, 10**6):
            sizes = (4, multiple * 10_000, 10_000, 2.0)
            found[name, multiple] = spec.kernel_arguments(*sizes, 3, spec.options())
    assert {found["sw_ucb", multiple] for multiple in (1, 8, 16)} == {found["sw_ucb_overtold", 8]}
    windows = [found["sw_ucb_overtold", multiple][2] for multiple in (1, 8, 16, 10**6)]
    assert windows == [10_000, 464, 116, 4]


# ----------------------------------------------------------------------- bandit over bandits


def over_windows(path, B, seed, mean=False, block_scale=1.0, xi=0.5):
    """(queries, idle runs, windows chosen): BOB, block by block."""
    rng, mu = np.random.default_rng(seed), path.means()
    T, K = mu.shape
    H = math.floor(block_scale * math.sqrt(K * B))
    Delta = math.ceil(math.log(H))
    J = [max(K, math.floor(round(H ** (j / Delta), 9))) for j in range(Delta + 1)]
    blocks = math.ceil(B / H)
    gamma = min(1, math.sqrt((Delta + 1) * math.log(Delta + 1) / ((math.e - 1) * blocks)))
    R = 0.5
    s, queries, runs, chosen = np.ones(Delta + 1), [], [], []
    rounds = [*paced(T, B), T + 1]
    for i in range(blocks):
        p = (1 - gamma) * s / s.sum() + gamma / (Delta + 1)
        j = int(np.searchsorted(np.cumsum(p), rng.random(), side="right"))
        window, earned = Window(K, J[j], xi, rng), 0.0
        chosen.append(J[j])
        for t, after in pairwise(rounds[i * H : (i + 1) * H + 1]):
            queries.append(window.look(t, mu))
            earned += queries[-1][2]
            if after > t + 1:
                runs.append((t + 1, after, window.counts(), window.mean(mu)))
        gain = earned / H
        if not mean:
            gain = 0.5 + earned / (2 * H + 4 * R * math.sqrt(H * math.log(B / math.sqrt(H))))
        s[j] *= math.exp(gamma / ((Delta + 1) * p[j]) * gain)
    return queries, runs, chosen


@pytest.mark.parametrize("reward", ["printed", "mean"])
@pytest.mark.parametrize("scale", [1.0, 0.4])
def test_bandit_over_bandits_is_its_definition(reward, scale):
    path, B = swings(1500), 700
    found = noted("bob_sw_ucb", path, B, 0, 9, reward=reward, block_scale=scale)
    queries, runs, chosen = over_windows(path, B, 9, reward == "mean", scale)
    assert_same(found, (queries, runs))
    assert found[2]["restarts"] == len(chosen) - 1
    assert len(set(chosen)) > 2


def test_grid_of_windows():
    """H = 1000: ceil(ln 1000) = 7 ratios of 1000^(1/7) = 2.68."""
    assert list(grid(2, 10**6, 1000)) == [2, 2, 7, 19, 51, 138, 372, 1000]
    assert list(grid(10, 10**6, 1000)) == [10, 10, 10, 19, 51, 138, 372, 1000]
    assert list(grid(2, 10**6, 1)) == [2, 2]
    (parameters,) = POLICIES["bob_sw_ucb"].kernel_arguments(
        10, 10**6, 10**5, 0, 1, plays.options_of("bob_sw_ucb")
    )
    assert parameters.H == 1000


def test_bandit_over_bandits_learns_which_window_pays():
    """Stationary arms, blocks of 44 queries: its regret a query falls from the first 90 blocks to
    the mean of 9000, as Exp3
    leaves the short windows."""

    def regret(policy, T, **options):
        path = Path.steps(np.ones(1), np.array([[0.9, 0.1]]), T)
        return np.mean([plays.play(policy, path, T, 0, s, **options)["regret"] for s in range(5)])

    early, late = (
        regret("bob_sw_ucb", T, reward="mean", block_scale=44.5 / math.sqrt(2 * T)) / T
        for T in (4000, 400_000)
    )
    assert late < 0.8 * early


# ----------------------------------------------------------------------- leaders


@pytest.mark.parametrize(("policy", "window"), [("ucb1_leader", None), ("sw_ucb_leader", 40)])
def test_idle_rounds_of_a_leader_play_the_arm_that_leads(policy, window):
    """The arm of the largest index over the queries in use, recomputed from all of them."""
    K, T, B = 3, 4000, 400
    path = swings(T)
    V = math.sqrt(K) * B / (window + 0.5) ** 1.5 if window else 1.0  # this makes the window
    queries, runs, row = noted(policy, path, B, V, 5)
    assert row["queries"] == B
    checked = 0
    for start, _, chances, _ in runs:
        seen = [(arm, reward) for t, arm, reward in queries if t < start]
        n = len(seen)
        seen = seen[-window:] if window else seen
        plays = np.array([sum(arm == k for arm, _ in seen) for k in range(K)])
        assert sorted(chances) == [0, 0, 1]
        if plays.min() == 0:
            assert plays[chances.argmax()] == 0
            continue
        means = np.array([sum(r for arm, r in seen if arm == k) for k in range(K)]) / plays
        factor = 0.5 * math.log(min(n, window)) if window else 2 * math.log(n)
        index = means + np.sqrt(factor / plays)
        assert index[chances.argmax()] == pytest.approx(index.max())
        checked += 1
    assert checked > 300


@pytest.mark.parametrize("policy", ["ucb1", "sw_ucb"])
def test_a_leader_without_idle_rounds_is_the_policy_itself(policy):
    """In law: at B = T there is nothing to play blind."""
    path = swings(300)
    sides = [
        [plays.play(name, path, 300, 1.0, shift + s)["regret"] for s in range(200)]
        for name, shift in ((policy, 0), (f"{policy}_leader", 1000))
    ]
    apart = np.mean(sides[0]) - np.mean(sides[1])
    assert abs(apart) < 4 * math.hypot(*(np.std(side) / math.sqrt(200) for side in sides))
