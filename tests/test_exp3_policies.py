"""Exp3, Rexp3 and Exp3.S against plain references, whose weights are logarithms throughout."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from confee.core.size import Size
from confee.paper import theory
from confee.policies import POLICIES, exp3_s, exponential, rexp3
from confee.simulation.cells import opponent
from confee.simulation.play import draw_path
from confee.world import game
from confee.world.path import Path
from support import plays

FAMILY = ("exp3", "rexp3", "exp3_s")
every_one = pytest.mark.parametrize("policy", FAMILY)
few = settings(max_examples=40, derandomize=True, deadline=None)

# ----------------------------------------------------------------------- the plain reference


def log_sum(logs):
    top = max(logs)
    return top + math.log(math.fsum(math.exp(one - top) for one in logs))


def mixed(logs, gamma):
    """p_i = (1 - gamma) w_i / sum_j w_j + gamma / K."""
    whole = log_sum(logs)
    return [(1 - gamma) * math.exp(one - whole) + gamma / len(logs) for one in logs]


def exp3_step(logs, gamma, arm, reward):
    chance = mixed(logs, gamma)[arm]
    return [one + gamma * reward / chance / len(logs) * (k == arm) for k, one in enumerate(logs)]


def exp3_s_step(logs, gamma, alpha, arm, reward):
    shared = math.log(math.e * alpha / len(logs)) + log_sum(logs)
    return [log_sum([one, shared]) for one in exp3_step(logs, gamma, arm, reward)]


def parameters(policy, K, Q, V, S):
    """(gamma, alpha, batch), each from its paper."""
    if policy == "exp3":
        return min(1, math.sqrt(K * math.log(K) / ((math.e - 1) * Q))), 0, Q
    if policy == "exp3_s":
        rate = math.sqrt(K * (S * math.log(K * Q) + math.e) / ((math.e - 1) * Q))
        return min(1, rate), 1 / Q, Q
    batch = Q if V == 0 else math.ceil((K * math.log(K)) ** (1 / 3) * (Q / V) ** (2 / 3))
    batch = min(batch, Q)
    return min(1, math.sqrt(K * math.log(K) / ((math.e - 1) * batch))), 0, batch


def round_by_round(policy, path, B, V, seed, plan):
    """The regrets of one run, each round's idle regret on its own."""
    means, rng = path.means(), np.random.default_rng(seed)
    T, K = means.shape
    looks = {i * T // B if plan == "paced" else i for i in range(B)}
    gamma, alpha, batch = parameters(policy, K, B, V, path.pieces)
    logs, p, data, taken = [0.0] * K, [1 / K] * K, [], 0
    sums = dict.fromkeys(("regret_query", "regret_error", "regret_drift", "regret_no_data"), 0.0)
    for t in range(T):
        mu, best = means[t], max(means[t])
        if t not in looks:
            cost = best - sum(p[k] * mu[k] for k in range(K))
            if data:
                known = np.mean([means[u] for u in data], axis=0).max()
                sums["regret_drift"] += best - known
                sums["regret_error"] += cost - (best - known)
            else:
                sums["regret_no_data"] += cost
            continue
        if taken == batch:
            logs, data, taken = [0.0] * K, [], 0
        u = rng.random()
        if u < gamma:
            arm = int(u / gamma * K)
        else:
            edges = np.cumsum(np.exp(np.array(logs) - log_sum(logs)))
            arm = int(np.searchsorted(edges[:-1], (u - gamma) / (1 - gamma), side="right"))
        reward = float(rng.random() < mu[arm])
        sums["regret_query"] += best - mu[arm]
        if policy == "exp3_s":
            logs = exp3_s_step(logs, gamma, alpha, arm, reward)
        else:
            logs = exp3_step(logs, gamma, arm, reward)
        p = mixed(logs, gamma)
        data.append(t)
        taken += 1
    return sums


JUMPS = [[0.9, 0.1, 0.3], [0.2, 0.8, 0.2], [0.4, 0.6, 1.0]]
PATHS = {
    "jumps": plays.pieces([150, 200, 150], JUMPS, JUMPS),
    "lines": plays.pieces([200, 300], [[0.9, 0.2], [0.0, 0.5]], [[0.5, 0.4], [0.3, 0.9]]),
    "always": plays.pieces([400], [[0.0, 1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0, 0.0]]),
}


@every_one
@pytest.mark.parametrize("plan", ["paced", "front"])
@pytest.mark.parametrize("name", PATHS)
def test_same_draws_same_run(policy, name, plan):
    path = PATHS[name]
    for B in (37, 250, path.horizon):
        for V in (0.0, 1.0, 30.0) if policy == "rexp3" else (1.0,):
            for seed in range(3):
                ours = plays.play(policy, path, B, V, seed, plan=plan)
                theirs = round_by_round(policy, path, B, V, seed, plan)
                assert ours["queries"] == B
                for part, expected in theirs.items():
                    assert ours[part] == pytest.approx(expected, rel=1e-9, abs=1e-8)


# ----------------------------------------------------------------------- weights


class Instance:
    """The kernels' weights, from outside."""

    def __init__(self, K, gamma, alpha=0.0):
        self.w, self.gamma, self.alpha = np.empty((2, K)), gamma, alpha
        self.total = exponential.reset(self.w)

    def step(self, arm, reward):
        K = self.w.shape[1]
        nats = self.gamma * reward / (self.rule()[arm] * K)
        if self.alpha:
            self.total = exp3_s.grow_and_share(
                self.w, self.total, arm, nats, math.e * self.alpha / K
            )
        else:
            self.total = exponential.grow(self.w, self.total, arm, nats)

    def rule(self):
        return exponential.rule(self.w, self.total, self.gamma, np.empty(self.w.shape[1]))


@few
@given(data=st.data())
def test_weights_are_those_of_exact_logarithms(data):
    """Bursts of rewards, so that sums pass 10^100 and weights end below any double."""
    K = data.draw(st.integers(2, 6))
    gamma = data.draw(st.sampled_from([0.001, 0.2, 0.9, 1.0]))
    alpha = data.draw(st.sampled_from([0.0, 1e-6, 0.1]))
    one, logs = Instance(K, gamma, alpha), [0.0] * K
    steps = st.tuples(st.integers(0, K - 1), st.booleans(), st.integers(1, 300))
    for arm, reward, times in data.draw(st.lists(steps, max_size=8)):
        for _ in range(times):
            one.step(arm, float(reward))
            if alpha:
                logs = exp3_s_step(logs, gamma, alpha, arm, float(reward))
            else:
                logs = exp3_step(logs, gamma, arm, float(reward))
        p = one.rule()
        assert p == pytest.approx(mixed(logs, gamma), rel=1e-8)
        assert p.sum() == pytest.approx(1, abs=1e-12)
        assert (p >= gamma / K * (1 - 1e-12)).all()


@pytest.mark.parametrize("nats", [100, 690, 745, 2000, 300_000])
def test_an_arm_comes_back_from_any_distance(nats):
    """Behind by e^-nats, then level: as in exact arithmetic, whatever a double can hold."""
    w = np.empty((2, 3))
    total = exponential.reset(w)

    def rule():
        return exponential.rule(w, total, 0.1, np.empty(3))

    for _ in range(nats):
        total = exponential.grow(w, total, 0, 1.0)
    assert rule() == pytest.approx([0.9 + 0.1 / 3, 0.1 / 3, 0.1 / 3], rel=1e-12)
    for _ in range(nats - 1):
        total = exponential.grow(w, total, 2, 1.0)
    share = 1 / (1 + math.e)
    assert rule() == pytest.approx([0.9 * (1 - share) + 0.1 / 3, 0.1 / 3, 0.9 * share + 0.1 / 3])
    for _ in range(60):
        total = exponential.grow(w, total, 2, 1.0)
    assert rule() == pytest.approx([0.1 / 3, 0.1 / 3, 0.9 + 0.1 / 3], rel=1e-12)


@few
@given(data=st.data())
def test_a_draw_takes_each_arm_with_its_chance(data):
    """Over an even grid of random numbers; the chance returned is that of the arm."""
    K = data.draw(st.integers(2, 5))
    gamma = data.draw(st.sampled_from([0.0, 0.03, 0.5, 1.0]))
    one = Instance(K, gamma)
    for arm in data.draw(st.lists(st.integers(0, K - 1), max_size=60)):
        one.total = exponential.grow(one.w, one.total, arm, 0.2)
    grid, counts, p = 2000, np.zeros(K), one.rule()

    class Grid:
        def __init__(self, value):
            self.value = value

        def random(self):
            return self.value

    for j in range(grid):
        arm, chance = exponential.draw.py_func(one.w, one.total, gamma, Grid((j + 0.5) / grid))
        counts[arm] += 1
        assert chance == pytest.approx(p[arm], rel=1e-12)
    assert counts / grid == pytest.approx(p, abs=2.1 / grid)


# ----------------------------------------------------------------------- long runs


@every_one
@pytest.mark.parametrize("gamma", [0.3, 1.0])
def test_a_million_rewards_of_one_arm(policy, gamma):
    """No weight overflows: afterwards all is played on that arm but the exploration.

    In idle rounds a gap of 1 costs the chance of the other arm, gamma / 2; Exp3.S gives it a share
    of the weight too, about (e alpha / 2) / (exp(gamma / (2 - gamma)) - 1) of it: 6e-6 at most.
    """
    B, rest = 1_200_000, 1000
    path = Path.steps(np.ones(1), np.array([[0.0, 1.0]]), B + rest)
    row = plays.play(policy, path, B, 0.0, 1, plan="front", gamma=gamma)
    cost = (row["regret"] - row["regret_query"]) / rest
    slack = 1e-5 if policy == "exp3_s" else 1e-12
    assert gamma / 2 - 1e-12 <= cost <= gamma / 2 + slack
    assert row["regret_query"] == pytest.approx(B * gamma / 2, rel=0.01)


@pytest.mark.parametrize(("B", "behind"), [(20_000, 0.45), (400_000, 0.45), (400_000, 0.55)])
def test_a_change_after_a_long_time_is_followed_when_it_is_due(B, behind):
    """Exp3 gains gamma / K nats a round on average, for whichever arm is good: so it follows the
    change as soon as the second half outlasts the first, thousands of nats on; never before."""
    rest, gamma = 1000, 0.5
    path = Path.steps(np.array([1, 1 + int(B * behind)]), np.eye(2), B + rest)
    row = plays.play("exp3", path, B, 1.0, 1, plan="front", gamma=gamma)
    cost = (row["regret"] - row["regret_query"]) / rest
    assert cost == pytest.approx(gamma / 2 if behind < 0.5 else 1 - gamma / 2, rel=1e-9)


def test_exp3_s_follows_at_once():
    """The least weight is about e alpha / K of all: ln(Q) nats, however long it has been."""
    B, rest = 200_000, 1000
    path = Path.steps(np.array([1, B - 500]), np.eye(2), B + rest)
    row = plays.play("exp3_s", path, B, 1.0, 1, plan="front", gamma=0.5)
    assert (row["regret"] - row["regret_query"]) / rest == pytest.approx(0.25, abs=1e-3)


# ----------------------------------------------------------------------- special cases


def arms_of(policy, path, B, V, seed, **options):
    """The arms that a run plays in its query rounds."""
    arms = []

    def query(world, ledger, data, t, arm, rng):
        arms.append(arm)
        return game.query(world, ledger, data, t, arm, rng)

    kernel = plays.plain(POLICIES[policy].kernel, query=query)
    plays.play(policy, path, B, V, seed, kernel=kernel, **options)
    return arms


@every_one
def test_first_draw_is_uniform(policy):
    path = Path.steps(np.ones(1), np.array([[0.9, 0.1, 0.5, 0.0]]), 8)
    first = [arms_of(policy, path, 4, 0.0, seed, gamma=0.01)[0] for seed in range(800)]
    assert stats.chisquare(np.bincount(first, minlength=4)).pvalue > 1e-3


def test_rexp3_begins_each_batch_anew():
    """Batches of one query: every draw is a first one, whatever was seen."""
    path = Path.steps(np.ones(1), np.array([[1.0, 0.0, 0.0, 0.0]]), 4000)
    arms = arms_of("rexp3", path, 4000, 1.0, 1, gamma=0.01, batch_scale=1e-9)
    assert stats.chisquare(np.bincount(arms, minlength=4)).pvalue > 1e-3


@pytest.mark.parametrize("K", [2, 5])
@pytest.mark.parametrize("V", [0.0, 0.5, 3.0, 40.0])
def test_rexp3_at_full_budget_is_rexp3b(K, V):
    """Same draws, same plays, to the last digit, once the batches are as long: one rounds up."""
    T = 3000
    path = draw_path(
        opponent({"name": "switching", "gap": 0.4}, Size(K=K, T=T, B=T, V=4)), Size(K, T, T, 4), 1
    )
    down, queries = theory.rexp3b_batch(K, T, T, V)
    up = rexp3.batch_length(K, T, V)
    assert queries == down
    assert 0 <= up - down <= 1
    for batch in (down, up):
        rate = theory.exp3_rate(K, batch)
        rows = []
        for policy, arguments in (
            ("rexp3b", (batch, batch, rate, False)),
            ("rexp3", (0, batch, rate)),
        ):
            ledger = game.new_ledger()
            run = (game.new_world(path), ledger, K, T, T, *arguments, np.random.default_rng(3))
            POLICIES[policy].kernel(*run)
            rows.append(game.settle(ledger, path))
        assert rows[0] == rows[1]
        assert rows[0]["queries"] == T


def test_rexp3_without_variation_is_exp3():
    path = PATHS["jumps"]
    for B in (80, 500):
        assert plays.play("rexp3", path, B, 0.0, 1) == plays.play("exp3", path, B, 0.0, 1)


def told(policy, K, T, B, V, S, **options):
    spec = POLICIES[policy]
    return spec.kernel_arguments(K, T, B, V, S, spec.options(**options))


def test_parameters():
    """Known answers, worked out by hand, and their ends."""
    # 2 ln 2 / (1.71828 * 1000) = 8.0679e-4
    assert told("exp3", 2, 9999, 1000, 5, 7) == (0, pytest.approx(0.028404, rel=1e-4))
    assert told("exp3", 5, 9999, 1, 5, 7) == (0, 1.0)
    assert told("exp3", 2, 9999, 1000, 5, 7, gamma=0.2, plan="front") == (2, 0.2)
    # (5 ln 5)^{1/3} = 2.00391, (10^4 / 3)^{2/3} = 223.144: 447.16, up
    assert told("rexp3", 5, 10**6, 10**4, 3, 7) == (0, 448, pytest.approx(0.102240, rel=1e-4))
    assert told("rexp3", 5, 10**6, 10**4, 3, 7, batch_scale=0.5)[1] == 224
    assert told("rexp3", 5, 10**6, 10**4, 0, 7)[1] == 10**4
    assert told("rexp3", 5, 10**6, 10**4, 1e-308, 7)[1] == 10**4
    assert told("rexp3", 5, 10**6, 10**4, 1e9, 7)[1:] == (1, 1.0)
    # 5 (3 ln 50000 + e) / (1.71828 * 10^4) = 0.0102356
    kind, alpha, gamma = told("exp3_s", 5, 10**6, 10**4, 9, 3)
    assert (kind, alpha) == (0, 1e-4)
    assert gamma == pytest.approx(0.101171, rel=1e-4)
    assert told("exp3_s", 5, 10**6, 5, 9, 3) == (0, 0.2, 1.0)
    assert told("exp3_s", 5, 10**6, 10**4, 9, 3, alpha=0.01, gamma=0.3) == (0, 0.01, 0.3)


# ----------------------------------------------------------------------- regret


def mean_regret(policy, path, B, V, runs=20):
    return np.mean([plays.play(policy, path, B, V, seed)["regret"] for seed in range(runs)])


def test_regret_of_exp3_on_an_easy_path():
    """Corollary 3.2 bounds it by 2 sqrt(e - 1) sqrt(Q K ln K); it grows as the root of Q, and under
    the paced plan is that of its queries times T / Q."""
    K, regret = 3, {}
    for Q in (5000, 20_000):
        for T in (Q, 10 * Q):
            path = Path.steps(np.ones(1), np.array([[0.2, 0.8, 0.2]]), T)
            regret[Q, T] = mean_regret("exp3", path, Q, 0.0)
        bound = 2 * math.sqrt((math.e - 1) * Q * K * math.log(K))
        assert 0.2 * bound < regret[Q, Q] < bound
        assert regret[Q, 10 * Q] == pytest.approx(10 * regret[Q, Q], rel=0.1)
    assert regret[20_000, 20_000] / regret[5000, 5000] == pytest.approx(2, rel=0.1)


@pytest.mark.parametrize("spacing", [1, 5])
def test_regret_where_the_best_arm_changes(spacing):
    """Exp3.S keeps to its bound (Corollary 8.3), times T / Q; Exp3, which has none here, is worse,
    and Rexp3, told V only, is between."""
    K, Q, V = 3, 20_000, 3.0
    T = spacing * Q
    path = draw_path(
        opponent({"name": "switching", "gap": 0.5}, Size(K=K, T=T, B=Q, V=V)), Size(K, T, T, V), 0
    )
    S = path.pieces
    assert S == 7
    regret = {policy: mean_regret(policy, path, Q, V) for policy in FAMILY}
    bound = 2 * math.sqrt((math.e - 1) * K * Q * (S * math.log(K * Q) + math.e)) * spacing
    assert regret["exp3_s"] < bound
    assert regret["exp3_s"] < 0.8 * regret["rexp3"]
    assert regret["rexp3"] < 0.8 * regret["exp3"]
