"""Policies that detect changes: GLR-UCB, CUSUM-UCB, M-UCB against plain Python, by the round."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import rel_entr

from confee.policies import POLICIES, cusum_ucb, glr_ucb, m_ucb
from confee.policies.detecting import cycle, forced, shuffled
from confee.world import game
from confee.world.path import Path
from support import plays

IDS = ("cusum_ucb", "glr_ucb", "m_ucb")
few = settings(max_examples=60, derandomize=True, deadline=None)


# --------------------------------------------------------------------------- references
# A detector is told of each play and says which arms to forget: none, [arm] or all of them.


class Glr:
    """Every split of the grid, by the definition."""

    def __init__(self, K, B, ratio=1.25, local=False, delta_scale=1.0):
        self.K, self.ratio, self.local = K, ratio, local
        self.delta = delta_scale / math.sqrt(B)
        self.rewards = [[] for _ in range(K)]

    def splits(self, n):
        near, split = set(), 1
        while 2 * split <= n:
            near |= {split, n - split}
            split = max(split + 1, math.floor(split * self.ratio))
        return sorted(near)

    def forget(self, arm, reward):
        seen = self.rewards[arm]
        seen.append(reward)
        n, splits = len(seen), self.splits(len(seen))
        if not splits or ratios(seen, splits).max() < math.log(3 * n**1.5 / self.delta):
            return []
        lost = [arm] if self.local else list(range(self.K))
        for k in lost:
            self.rewards[k] = []
        return lost


def ratios(rewards, splits):
    """Log likelihood ratios of a change after s rewards, s in `splits`."""
    s, n, total = np.array(splits), len(rewards), sum(rewards)
    first = np.cumsum(rewards)[s - 1]
    q = total / n

    def kl(p):
        return rel_entr(p, q) + rel_entr(1 - p, 1 - q)

    return s * kl(first / s) + (n - s) * kl((total - first) / (n - s))


class Cusum:
    """Both walks from scratch at each play."""

    def __init__(self, K, M, epsilon, h):
        self.M, self.epsilon, self.h = M, epsilon, h
        self.rewards = [[] for _ in range(K)]

    def forget(self, arm, reward):
        seen = self.rewards[arm]
        seen.append(reward)
        if len(seen) <= self.M:
            return []
        u = sum(seen[: self.M]) / self.M
        up = down = 0.0
        for y in seen[self.M :]:
            up = max(0.0, up + (y - u) - self.epsilon)
            down = max(0.0, down - (y - u) - self.epsilon)
        if max(up, down) < self.h:
            return []
        self.rewards[arm] = []
        return [arm]


class Window:
    """Sums of both halves of the last w rewards."""

    def __init__(self, K, w, b):
        self.K, self.w, self.b = K, w, b
        self.rewards = [[] for _ in range(K)]

    def forget(self, arm, reward):
        self.rewards[arm].append(reward)
        last = self.rewards[arm][-self.w :]
        half = self.w // 2
        if len(last) < self.w or abs(sum(last[half:]) - sum(last[:half])) <= self.b:
            return []
        self.rewards = [[] for _ in range(self.K)]
        return list(range(self.K))


def turns(K, rng):
    """The order of forced plays, from the numbers the kernel draws it from."""
    order = list(range(K))
    for k in range(K - 1, 0, -1):
        pick = int(rng.integers(0, k + 1))
        order[k], order[pick] = order[pick], order[k]
    return order


def replay(path, B, seed, detector, exploration, explore, shuffles):
    """(sums as the ledger has them, arms): a play of `path` under the paced plan, every round.

    `explore(order, queries, queries since a restart, restarts, rng)` is a forced arm or None.
    """
    T, K = path.horizon, path.mean.shape[1]
    means, rng = path.means(), np.random.default_rng(seed)
    order = turns(K, rng) if shuffles else None
    rounds = {i * T // B + 1 for i in range(B)}
    used = [[] for _ in range(K)]  # rounds and rewards in use, by arm
    sums = dict.fromkeys(("regret", "regret_error", "regret_drift", "regret_no_data"), 0.0)
    restarts = queries = since = 0
    arms = []
    for t in range(1, T + 1):
        mu = means[t - 1]
        if t in rounds:
            arm = explore(order, queries, since, restarts, rng)
            if arm is None:
                in_use = sum(map(len, used))
                root = math.sqrt(exploration * math.log(max(in_use, K)))
                index = [
                    sum(y for _, y in u) / len(u) + root * (1.0 / math.sqrt(len(u)))
                    if u
                    else math.inf
                    for u in used
                ]
                best = [k for k in range(K) if index[k] == max(index)]
                arm = best[int(rng.integers(0, len(best)))] if len(best) > 1 else best[0]
            reward = 1.0 if rng.random() < mu[arm] else 0.0
            arms.append(arm)
            used[arm].append((t, reward))
            sums["regret"] += mu.max() - mu[arm]
            queries, since = queries + 1, since + 1
            lost = detector.forget(arm, reward)
            if lost:
                restarts, since = restarts + 1, 0
                for k in lost:
                    used[k] = []
            continue
        weights = np.array([len(u) for u in used], dtype=float)
        known = [u for seen in used for u, _ in seen]
        mine = mu @ weights / weights.sum() if known else mu.mean()
        sums["regret"] += mu.max() - mine
        if known:
            P = means[np.array(known) - 1].mean(axis=0).max()
            sums["regret_error"] += P - mine
            sums["regret_drift"] += mu.max() - P
        else:
            sums["regret_no_data"] += mu.max() - mine
    return sums | {"restarts": restarts, "queries": queries}, arms


def jumpy(seed, T=1500, K=3, segments=4):
    """Drifts and jumps, some of them of all arms."""
    rng = np.random.default_rng(seed)
    lengths = np.full(segments, T // segments)
    first = rng.uniform(0, 0.4, (segments, K))
    last = np.clip(first + rng.uniform(-0.05, 0.05, (segments, K)), 0, 0.45)
    best = rng.integers(0, K, segments)
    first[range(segments), best] = last[range(segments), best] = rng.uniform(0.6, 1, segments)
    return plays.pieces(lengths, first, last)


def agrees(policy, path, B, seed, options, detector, exploration, explore, shuffles=True):
    """Plays both; returns the restarts."""
    row = plays.play(policy, path, B, path.variation(), seed, **options)
    expected, _ = replay(path, B, seed, detector, exploration, explore, shuffles)
    assert {name: row[name] for name in expected} == pytest.approx(expected, rel=1e-9, abs=1e-7)
    return row["restarts"]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"restart": "local"},
        {"forced": "constant", "ratio": 1.6, "exploration": 0.5},
        {"restart": "local", "alpha_scale": 0.3, "delta_scale": 20},
    ],
)
def test_glr_ucb_is_its_pseudo_code(options):
    K, B = 3, 700
    scale = options.get("alpha_scale", 1.0)

    def explore(order, queries, since, restarts, rng):
        alpha = scale * math.sqrt(K * math.log(B) / B)
        if options.get("forced") != "constant":
            alpha *= math.sqrt(1 + restarts)
        place = queries % max(K, math.floor(K / min(1.0, alpha)))
        return order[place] if place < K else None

    restarts = 0
    for seed in range(4):
        local = options.get("restart") == "local"
        found = Glr(K, B, options.get("ratio", 1.25), local, options.get("delta_scale", 1.0))
        exploration = options.get("exploration", 2.0)
        restarts += agrees("glr_ucb", jumpy(seed), B, seed, options, found, exploration, explore)
    assert restarts >= 4


@pytest.mark.parametrize(
    "options",
    [{"M": 20}, {"M": 5, "epsilon": 0.3, "h_scale": 0.4, "xi": 0.5}, {"M": 40, "alpha_scale": 0}],
)
def test_cusum_ucb_is_its_pseudo_code(options):
    K, B = 3, 700
    restarts = 0
    for seed in range(4):
        path = jumpy(seed)
        C = max(1, path.pieces - 1)
        h = options.get("h_scale", 1.0) * math.log(B / C)
        alpha = options.get("alpha_scale", 1.0) * math.sqrt(C * math.log(B / C) / B)

        def explore(order, queries, since, restarts, rng, alpha=alpha):
            u = rng.random()
            return min(int(u / alpha * K), K - 1) if u < alpha else None

        found = Cusum(K, options["M"], options.get("epsilon", 0.1), h)
        xi = options.get("xi", 1.0)
        restarts += agrees("cusum_ucb", path, B, seed, options, found, xi, explore, shuffles=False)
    assert restarts >= 4


@pytest.mark.parametrize(
    "options",
    [
        {"window": 40, "b_scale": 0.5},
        {"window": 11, "b_scale": 0.4, "gamma_scale": 0.2},
        {"window": 60, "b_scale": 0.4, "gamma_scale": 5},
    ],
)
def test_m_ucb_is_its_pseudo_code(options):
    K, B = 3, 700
    w = options["window"] // 2 * 2
    b = math.sqrt(w * math.log(2 * K * B * B) / 2)
    restarts = 0
    for seed in range(4):
        path = jumpy(seed)
        gamma = math.sqrt(max(1, path.pieces - 1) * K * (2 * b + 3 * math.sqrt(w)) / (2 * B))
        length = math.floor(K / min(1.0, options.get("gamma_scale", 1.0) * gamma))

        def explore(order, queries, since, restarts, rng, length=length):
            place = since % length
            return order[place] if place < K else None

        found = Window(K, w, options["b_scale"] * b)
        restarts += agrees("m_ucb", path, B, seed, options, found, 2.0, explore)
    assert restarts >= 4


# --------------------------------------------------------------------------- detectors on streams


def glr_alarm(rewards, beta, splits):
    """The first play with an alarm, counted from 1; None. `beta(n)` is the threshold."""
    sums = np.concatenate([[0], np.cumsum(rewards)]).astype(np.int32)[None, :]
    plays_of = range(1, len(rewards) + 1)
    return next((n for n in plays_of if glr_ucb.changed(sums, 0, n, splits, beta(n))), None)


def walk_alarm(rewards, M, epsilon, h):
    """As above; plays are counted from the start, M of them without a test."""
    cusum = np.zeros((3, 1))
    cusum[cusum_ucb.BASE, 0] = rewards[:M].mean()
    found = (
        n for n, y in enumerate(rewards, 1) if n > M and cusum_ucb.walk(cusum, 0, y, epsilon) >= h
    )
    return next(found, None)


def window_alarm(rewards, w, b):
    window, halves = np.zeros((1, w)), np.zeros((2, 1))
    found = (
        n for n, y in enumerate(rewards, 1) if m_ucb.shift(window, halves, 0, n, y) > b and n >= w
    )
    return next(found, None)


def reference_alarm(detector, rewards):
    return next((n for n, y in enumerate(rewards, 1) if detector.forget(0, y)), None)


def streams(before, after, change, length, runs, seed=0):
    """Rewards, [runs, length]: of mean `before` for `change` plays, then `after`."""
    mean = np.where(np.arange(length) < change, before, after)
    return (np.random.default_rng(seed).random((runs, length)) < mean).astype(float)


@few
@given(
    st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=80),
    st.sampled_from([1.05, 1.25, 2.0]),
    st.floats(-5, 1),
)
def test_glr_alarms_are_those_of_brute_force(rewards, growth, spare):
    """At any threshold: so what is passed over without logarithms could not have been an alarm."""
    delta = math.exp(spare)  # near and over 1 the test fires early and often
    splits = glr_ucb.split_grid(1000, growth)
    found = glr_alarm(rewards, lambda n: glr_ucb.threshold(n, delta), splits)
    slow = Glr(1, 1, growth, delta_scale=delta)
    assert found == reference_alarm(slow, rewards)


@few
@given(
    st.lists(st.sampled_from([0.0, 1.0]), min_size=6, max_size=150),
    st.integers(1, 5),
    st.floats(0, 0.5),
    st.floats(0.1, 5),
)
def test_cusum_alarms_are_those_of_brute_force(rewards, M, epsilon, h):
    rewards = np.array(rewards)
    assert walk_alarm(rewards, M, epsilon, h) == reference_alarm(Cusum(1, M, epsilon, h), rewards)


@few
@given(
    st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=150),
    st.integers(1, 15),
    st.floats(0, 8),
)
def test_window_alarms_are_those_of_brute_force(rewards, half, b):
    found = window_alarm(rewards, 2 * half, b)
    assert found == reference_alarm(Window(1, 2 * half, b), rewards)


def test_the_grid_of_splits():
    grid = glr_ucb.split_grid(10**6, 1.25)
    assert list(grid[:12]) == [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 18]
    assert grid[-1] <= 5 * 10**5 < grid[-1] * 1.25
    assert len(grid) < 60
    assert (grid[1:] <= np.maximum(grid[:-1] + 1, 1.25 * grid[:-1])).all()
    assert list(glr_ucb.split_grid(9, 1.01)) == [1, 2, 3, 4]
    assert list(glr_ucb.split_grid(2, 1.25)) == [1]


@pytest.mark.parametrize("mean", [0.05, 0.5, 0.9])
def test_glr_is_quiet_where_nothing_changes(mean):
    """At most a share delta of streams, of any length: here 2000 plays. Exact limit at 1e-4."""
    delta, runs = 0.05, 150
    splits = glr_ucb.split_grid(2000, 1.25)
    alarms = [
        glr_alarm(y, lambda n: glr_ucb.threshold(n, delta), splits)
        for y in streams(mean, mean, 0, 2000, runs, seed=round(100 * mean))
    ]
    assert sum(a is not None for a in alarms) <= stats.binom.ppf(1 - 1e-4, runs, delta)


def test_cusum_is_quiet_where_nothing_changes():
    """With u within e of the mean, exp(8 (epsilon - e) walk) is a supermartingale (Hoeffding): one
    of 2 n starts gets to h with chance at most 2 n exp(-8 (epsilon - e) h). And u is off by e with
    chance 2 exp(-2 M e^2). Exact limit at 1e-4."""
    M, n, epsilon, e, h, runs = 2000, 2000, 0.1, 0.045, 30.0, 150
    chance = 2 * n * math.exp(-8 * (epsilon - e) * h) + 2 * math.exp(-2 * M * e**2)
    assert chance < 0.01
    alarms = [walk_alarm(y, M, epsilon, h) for y in streams(0.5, 0.5, 0, M + n, runs)]
    assert sum(a is not None for a in alarms) <= stats.binom.ppf(1 - 1e-4, runs, chance)


def test_m_ucb_is_quiet_where_nothing_changes():
    """A test is wrong with chance 1/(K Q^2) (Hoeffding), a run with 1/Q: 30 of them with 0.015."""
    path = Path.steps(np.ones(1), np.array([[0.5, 0.4]]), 2000)
    rows = [plays.play("m_ucb", path, 2000, 0, seed, window=40) for seed in range(30)]
    assert sum(row["restarts"] for row in rows) == 0


def test_glr_finds_a_jump_of_one_half():
    """300 plays at 1/4, then 3/4, at Q = 10^4: within 80 plays, some 28 on average, and at most an
    eighth later than with all splits."""
    delta, runs = 0.01, 60
    delays = {}
    for growth in (1.25, 1.0001):  # the second tries every split
        splits = glr_ucb.split_grid(600, growth)
        alarms = [
            glr_alarm(y, lambda n: glr_ucb.threshold(n, delta), splits)
            for y in streams(0.25, 0.75, 300, 400, runs, seed=3)
        ]
        assert all(a is not None and 300 < a <= 380 for a in alarms)
        delays[growth] = np.array(alarms) - 300
    assert (delays[1.25] >= delays[1.0001]).all()
    assert 24 <= delays[1.25].mean() <= min(32, 1.125 * delays[1.0001].mean())


def test_cusum_finds_a_jump_of_one_half():
    """h = ln 10^4 at a drift of 1/2 - epsilon a play: about 23 plays, within 70."""
    h, runs = math.log(1e4), 100
    after = streams(0.75, 0.75, 0, 200, runs, seed=4)
    base = np.tile([1.0, 0.0, 0.0, 0.0], 38)[:152]  # mean 1/4 exactly: no alarm of its own
    alarms = [walk_alarm(np.concatenate([base, y]), 152, 0.1, h) for y in after]
    delays = np.array(alarms, dtype=float) - 152
    assert delays.max() <= 70
    # Wald: the mean of a walk with that drift when it first is at h, and less than one play over.
    assert h / 0.4 - 3 <= delays.mean() <= (h + 1) / 0.4 + 3


def test_window_finds_a_jump_of_one_half():
    """w = 400 at K = 2, Q = 10^4: after b / (1/2) = 126 plays on average, within w / 2."""
    w = 400
    b = math.sqrt(w * math.log(2 * 2 * 1e8) / 2)
    alarms = [window_alarm(y, w, b) for y in streams(0.25, 0.75, 600, 900, 60, seed=5)]
    delays = np.array(alarms, dtype=float) - 600
    assert delays.min() > 0
    assert delays.max() <= w // 2
    assert delays.mean() == pytest.approx(2 * b, rel=0.12)


def test_a_window_sees_nothing_below_its_threshold():
    """2 b / w = .44 at w = 200: not even rewards that jump by .4 without noise."""
    b = math.sqrt(200 * math.log(2 * 2 * 1e8) / 2)
    jump = np.concatenate([np.tile([1, 0, 0, 0, 0.0], 100), np.tile([1, 1, 1, 0, 0.0], 100)])
    assert window_alarm(jump, 200, b) is None
    assert window_alarm(np.where(np.arange(1000) < 500, jump, 1.0), 200, b) is not None


# --------------------------------------------------------------------------- forced exploration


def arms_of(policy, path, B, seed, **options):
    """(arms in order of query, restarts)."""
    arms = []

    def query(world, ledger, data, t, arm, rng):
        arms.append(int(arm))
        return game.query(world, ledger, data, t, arm, rng)

    kernel = plays.plain(POLICIES[policy].kernel, query=query)
    row = plays.play(policy, path, B, path.variation(), seed, kernel=kernel, **options)
    return np.array(arms), row["restarts"]


@pytest.mark.parametrize("policy", ["glr_ucb", "m_ucb"])
def test_each_cycle_begins_with_one_of_each_arm(policy):
    """And the arms that are never best are played about K / rate queries apart, not more."""
    K, B = 4, 3000
    path = Path.steps(np.ones(1), np.array([[0.1, 0.1, 0.1, 1.0]]), B)
    arms, restarts = arms_of(policy, path, B, 2)
    assert restarts == 0
    rate = plays_rate(policy, K, B)
    length = math.floor(K / rate)
    assert 2 * K < length < B / 20
    for start in range(0, B - K, length):
        assert sorted(arms[start : start + K]) == list(range(K))
        assert (arms[start : start + K] == arms[:K]).all()
    for k in range(K):
        assert np.diff(np.flatnonzero(arms == k)).max() <= length


def plays_rate(policy, K, B):
    """alpha_1, or gamma with one change and w = min(800, B / K), as the papers have them."""
    if policy == "glr_ucb":
        return math.sqrt(K * math.log(B) / B)
    w = min(800, B // K // 2 * 2)
    b = math.sqrt(w * math.log(2 * K * B**2) / 2)
    return math.sqrt(K * (2 * b + 3 * math.sqrt(w)) / (2 * B))


def test_cusum_ucb_explores_at_its_rate():
    """An arm that lost long ago is played in a share alpha / K of queries, but for what its index
    earns it: xi ln Q / gap^2 plays. Exact binomial limits at 1e-4."""
    K, B = 4, 8000
    path = Path.steps(np.ones(1), np.array([[0.0, 0.0, 0.0, 1.0]]), B)
    arms, restarts = arms_of("cusum_ucb", path, B, 2)
    assert restarts == 0
    alpha = math.sqrt(math.log(B) / B)
    low, high = stats.binom.ppf([1e-4, 1 - 1e-4], B, alpha / K)
    for k in range(3):
        assert low <= (arms == k).sum() <= high + math.log(B) + 1


def test_forced_turns():
    order = np.array([2, 0, 1])
    assert [forced(order, clock, 5) for clock in range(11)] == [2, 0, 1, -1, -1] * 2 + [2]
    assert [forced(order, clock, 3) for clock in range(6)] == [2, 0, 1] * 2
    assert (cycle(3, 0.25), cycle(3, 0.26), cycle(3, 1.0), cycle(3, 7.0)) == (12, 11, 3, 3)


def test_turns_are_in_any_order():
    """All 6 orders of 3 arms, alike: chi^2 at 1e-3."""
    rng = np.random.default_rng(0)
    orders = [tuple(shuffled(3, rng)) for _ in range(1200)]
    counts = [orders.count(order) for order in sorted(set(orders))]
    assert len(counts) == 6
    assert stats.chisquare(counts).pvalue > 1e-3


# --------------------------------------------------------------------------- parameters


def arguments(policy, K, B, S=1, **options):
    spec = POLICIES[policy]
    own = spec.kernel_arguments(K, 10 * B, B, 1.0, S, spec.options(**options))
    return own[0] if len(own) == 1 else own


def test_parameters_of_glr_ucb():
    """K = 4, Q = 10^4: ln Q = 9.21034, alpha^2 = .00368414; delta = .01, beta(100) = ln 300000."""
    p = arguments("glr_ucb", 4, 10**4)
    assert (p.exploration, p.delta, p.growing, p.ratio, p.local) == (2.0, 0.01, True, 1.25, False)
    assert p.alpha == pytest.approx(0.0606971, rel=1e-5)
    assert glr_ucb.threshold(100, p.delta) == pytest.approx(12.611538, rel=1e-6)
    assert arguments("glr_ucb", 4, 10**4, S=9) == arguments("glr_ucb", 4, 10**4)
    assert arguments("glr_ucb", 10, 10).alpha == 1.0


def test_parameters_of_cusum_ucb():
    """S = 11, Q = 10^4: ten changes, h = ln 1000 = 6.907755, alpha^2 = .006907755."""
    p = arguments("cusum_ucb", 4, 10**4, 11)
    assert (p.xi, p.M, p.epsilon) == (1.0, 150, 0.1)
    assert p.h == pytest.approx(6.907755, rel=1e-6)
    assert p.alpha == pytest.approx(0.0831129, rel=1e-5)
    assert arguments("cusum_ucb", 4, 10**4, 1) == arguments("cusum_ucb", 4, 10**4, 2)
    assert arguments("cusum_ucb", 4, 10**4, 10**4 + 1)[4:] == (1.0, 1.0)  # a change a query
    assert arguments("cusum_ucb", 4, 10**4, 10**6)[4:] == (1.0, 1.0)
    assert arguments("cusum_ucb", 2, 2)[4:] == (1.0, pytest.approx(math.sqrt(0.5)))


def test_parameters_of_m_ucb():
    """K = 4, Q = 10^4, w = 200: ln(8 10^8) = 20.500122, b^2 = 2050.0122, b = 45.277061; with five
    changes gamma^2 = 20 (90.554122 + 42.426407) / 20000."""
    _, exploration, w, b, gamma = arguments("m_ucb", 4, 10**4, 6, window=200)
    assert (exploration, w) == (2.0, 200)
    assert b == pytest.approx(45.277061, rel=1e-6)
    assert gamma == pytest.approx(math.sqrt(0.132980529), rel=1e-6)
    assert arguments("m_ucb", 4, 10**4)[2] == 800
    assert arguments("m_ucb", 4, 10**3)[2] == 250  # what an arm gets of the queries
    assert arguments("m_ucb", 4, 10**4, window=201)[2] == 200
    assert arguments("m_ucb", 3, 3)[2] == 2
    assert arguments("m_ucb", 4, 10**4, 10**4)[4] == 1.0
    assert arguments("m_ucb", 4, 10**4, 1) == arguments("m_ucb", 4, 10**4, 2)


# --------------------------------------------------------------------------- data in use


@pytest.mark.parametrize(
    ("policy", "options"),
    [
        ("cusum_ucb", {"M": 10, "h_scale": 0.4}),
        ("glr_ucb", {"restart": "local", "delta_scale": 20}),
        ("glr_ucb", {"delta_scale": 20}),
        ("m_ucb", {"window": 40, "b_scale": 0.4}),
    ],
)
@pytest.mark.parametrize("literal", [False, True])
def test_data_in_use_is_what_is_not_forgotten(policy, options, literal):
    """Its rounds are as many as the plays that idle rounds go by; sums of rewards are whole."""
    K, B, seed = 3, 600, 1
    path = jumpy(seed)
    spec, ledger = POLICIES[policy], game.new_ledger(literal=literal)
    emptied = []

    def idle(world, ledger, data, start, stop, weights, rng):
        if stop > start:
            emptied.append(data[K] == 0)
            assert weights.sum() == (data[K] if data[K] > 0 else K)
            if literal:
                assert (data[:K] == np.round(data[:K])).all()
                assert (data[:K] >= 0).all()
                assert (data[:K] <= data[K]).all()
        game.idle(world, ledger, data, start, stop, weights, rng)

    arguments = spec.kernel_arguments(K, path.horizon, B, 1.0, path.pieces, spec.options(**options))
    kernel = plays.plain(spec.kernel, idle=idle)
    rng = np.random.default_rng(seed)
    kernel(game.new_world(path), ledger, K, path.horizon, B, *arguments, rng)
    game.check(ledger, path, policy, B)
    assert ledger.restarts > 1
    local = policy == "cusum_ucb" or options.get("restart") == "local"
    assert local or any(emptied)


@pytest.mark.parametrize("policy", IDS)
def test_it_follows_a_change_that_ucb1_does_not(policy):
    """Half way the best of two arms becomes the worse, by 1/2 each time: less regret than UCB1."""
    T = 20_000
    path = Path.steps(np.array([1, T // 2 + 1]), np.array([[0.9, 0.4], [0.4, 0.9]]), T)
    mine, ucb1 = (
        [plays.play(name, path, T // 2, 0.5, seed)["regret"] for seed in range(8)]
        for name in (policy, "ucb1")
    )
    assert np.mean(mine) < 0.75 * np.mean(ucb1)
