"""Linear bandits: OFUL and what plays it, sliding windows and discounts, paths of theta.

Each kernel against its rule as a researcher would write it down, round by round, with an explicit
inverse and determinant; the same generator is handed to both, so one arm, restart or round out of
place shows at once.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from scipy import stats

from confee import simulate
from confee.core.errors import ConfeeError
from confee.core.size import Size
from confee.paper import theory
from confee.policies import POLICIES, oful, ridge
from confee.policies.oful import OFUL
from confee.simulation.cells import opponent
from confee.simulation.play import draw_path
from confee.world.adversaries import linear_rotation
from confee.world.adversaries.linear_switching import features_of
from confee.world.game import COUNTS, RECORDED
from confee.world.structured import Structured, directions
from support import plays, reference
from support.draws import Instances

few = settings(max_examples=30, derandomize=True, deadline=None)


def path_of(name, K, T, V, seed=0, **conf):
    against = opponent({"name": name, **conf}, Size(K=K, T=T, B=K, V=V))
    return draw_path(against, Size(K, T, T, V), seed)


def paths(K, T, V, seed=0):
    """Jumps, turns, and unit vectors, whose indices tie."""
    yield path_of("linear_switching", K, T, V, seed)
    yield path_of("linear_rotation", K, T, V, seed, d=5, gap=0.4)
    yield plays.as_played("oful", path_of("switching", K, T, V, seed, gap=0.4))


# ----------------------------------------------------------------------- plain references


class Linear(reference.Feedback):
    """All that was seen, with weights; `index(xs, rewards)` says what arms are worth."""

    def __init__(self, X):
        super().__init__(len(X))
        self.X, self.seen = X, []

    def weights(self):
        """Of each observation, the oldest first."""
        return np.ones(len(self.seen))

    def observe(self, arm, reward, mu):
        super().observe(arm, reward, mu)
        self.seen.append((arm, reward, mu))

    def columns(self):
        arms, rewards, mu = zip(*self.seen, strict=True) if self.seen else ((), (), ())
        shapes = np.array(mu).reshape(-1, self.K)
        return np.array(arms, dtype=int), np.array(rewards), shapes

    def gram(self, penalty, power=1):
        """lambda I + sum w^power x x'."""
        x = self.X[self.columns()[0]]
        return penalty * np.eye(self.X.shape[1]) + (x.T * self.weights() ** power) @ x

    def theta(self, penalty):
        arms, rewards, _ = self.columns()
        x = self.X[arms]
        return np.linalg.inv(self.gram(penalty)) @ (x.T @ (self.weights() * rewards))

    def frequencies(self):
        return np.bincount(self.columns()[0], self.weights(), self.K) / self.weights().sum()

    def best_mean(self):
        """P: the largest mean of mu over what is in use."""
        return (self.weights() @ self.columns()[2] / self.weights().sum()).max()

    def choose(self, rng):
        """The largest index so far; the second, third ... that equals it has chance 1/2, 1/3 ..."""
        arm, top, ties = 0, -math.inf, 0
        for k, value in enumerate(self.index()):
            if value > top + 1e-9:
                arm, top, ties = k, value, 1
            elif value >= top - 1e-9:
                ties += 1
                arm = k if rng.random() * ties < 1 else arm
        return arm, min(1.0, max(0.0, float(top)))


class Oful(Linear):
    def __init__(self, X, T, penalty=1.0, radius=1.0):
        super().__init__(X)
        self.T, self.penalty, self.radius = T, penalty, radius

    def index(self):
        V = self.gram(self.penalty)
        log_det = np.linalg.slogdet(V / self.penalty)[1]
        root = 0.5 * math.sqrt(log_det + 2 * math.log(self.T)) + math.sqrt(self.penalty)
        width = np.sqrt(np.einsum("ki,ij,kj->k", self.X, np.linalg.inv(V), self.X))
        return self.X @ self.theta(self.penalty) + self.radius * root * width


class OverOful:
    """OFUL as the base algorithm of the reference."""

    def __init__(self, *args):
        self.args = args
        self.d = args[0].shape[1]

    def new(self):
        return Oful(*self.args)

    def rho(self, t):
        return self.d * math.sqrt(math.log(1 + t) / t)

    def chance(self, m, n):
        return self.rho(2**n) / self.rho(2**m)


class Windowed(Linear):
    def __init__(self, X, T, window, penalty, radius):
        super().__init__(X)
        self.T, self.window, self.penalty, self.radius = T, window, penalty, radius

    def weights(self):
        age = np.arange(len(self.seen))[::-1]
        return (age < self.window).astype(float)

    def index(self):
        d = self.X.shape[1]
        inverse = np.linalg.inv(self.gram(self.penalty))
        beta = 0.5 * math.sqrt(d * math.log((1 + self.window / self.penalty) * self.T))
        beta += math.sqrt(self.penalty)
        width = np.sqrt(np.einsum("ki,ij,kj->k", self.X, inverse, self.X))
        return self.X @ self.theta(self.penalty) + self.radius * beta * width


class Discounted(Linear):
    def __init__(self, X, T, gamma, penalty, radius):
        super().__init__(X)
        self.T, self.gamma, self.penalty, self.radius = T, gamma, penalty, radius

    def weights(self):
        return self.gamma ** np.arange(len(self.seen))[::-1].astype(float)

    def index(self):
        d = self.X.shape[1]
        inverse = np.linalg.inv(self.gram(self.penalty))
        both = inverse @ self.gram(self.penalty, power=2) @ inverse
        n = (self.weights() ** 2).sum()
        beta = 0.5 * math.sqrt(
            2 * math.log(self.T) + d * math.log(1 + n / (d * self.penalty))
        ) + math.sqrt(self.penalty)
        width = np.sqrt(np.einsum("ki,ij,kj->k", self.X, both, self.X))
        return self.X @ self.theta(self.penalty) + self.radius * beta * width


class Over:
    """Whatever is made anew by `new`."""

    def __init__(self, new):
        self.new = new


def assert_same(row, record):
    theirs = record.summary()
    for name in RECORDED:
        if name in COUNTS:
            assert row[name] == theirs[name], name
        elif name != "variation":  # there that of means
            assert row[name] == pytest.approx(theirs[name], rel=1e-8, abs=1e-8), name


# ----------------------------------------------------------------------- kernels, round by round


@pytest.mark.parametrize(("ridge", "radius"), [(1, 1), (0.01, 0.3), (20, 0)])
@pytest.mark.parametrize("B", [30, 120, 250])
def test_oful_is_its_rule(B, ridge, radius):
    T = 250
    for seed, path in enumerate(paths(4, T, 3.0, B)):
        row = plays.play("oful", path, B, 3.0, seed, ridge=ridge, radius=radius)
        record, rng = reference.Record(reference.Path(path.means()), B), np.random.default_rng(seed)
        base = OverOful(path.features, T, ridge, radius)
        reference.play_planned(record, rng, base, reference.paced(T, B))
        assert_same(row, record)


@pytest.mark.parametrize("rate_scale", [1.0, 4.0, 1e6])
def test_oful_restarted_is_its_rule(rate_scale):
    """Its restarts: a coin before each query but an instance's first, from a stream of its own."""
    T, B, V, K = 400, 150, 3.0, 4
    for seed, path in enumerate(paths(K, T, V)):
        d = path.features.shape[1]
        rate = min(1.0, rate_scale * (2 * V / (d * B)) ** (2 / 3))
        ours, theirs = (np.random.default_rng(100 + seed) for _ in range(2))

        def next_restart(start, chance, most, rng, coins=ours, rate=rate):
            assert chance == pytest.approx(rate, rel=1e-12)
            found = start + 1
            while found <= most and not coins.random() < chance:
                found += 1
            return found

        kernel = plays.plain(
            POLICIES["oful_restarted"].kernel, deep=True, next_restart=next_restart
        )
        generator = np.random.default_rng(seed)
        row = plays.play(
            "oful_restarted", path, B, V, generator, kernel=kernel, rate_scale=rate_scale
        )
        record = reference.Record(reference.Path(path.means()), B)
        reference.play_planned(
            record,
            np.random.default_rng(seed),
            OverOful(path.features, T),
            reference.paced(T, B),
            lambda coins=theirs, rate=rate: coins.random() < rate,
        )
        assert_same(row, record)
        assert row["restarts"] == (B - 1 if rate == 1 else pytest.approx(B * rate, rel=0.6))


@pytest.mark.parametrize("B", [40, 170, 300])
@pytest.mark.parametrize(
    "options",
    [{}, {"quota": "block"}, {"scale": 1e-4, "radius": 0.3}, {"scale": 2e-5, "buffer": "appendix"}],
)
def test_hyque_over_oful_is_its_rule(B, options, monkeypatch):
    """The same instances start on both sides, at chances rho(2^n) / rho(2^m)."""
    T, V, K = 300, 3.0, 4
    restarts = 0
    for seed, path in enumerate(paths(K, T, V, B)):
        kernel = plays.plain(
            POLICIES["hyque_oful"].kernel, deep=True, draw_started=Instances(seed).draw_started
        )
        generator = np.random.default_rng(seed)
        row = plays.play("hyque_oful", path, B, V, generator, kernel=kernel, **options)
        monkeypatch.setattr(reference, "schedule", Instances(seed).plain)
        known = {name: value for name, value in options.items() if name != "radius"}
        base = OverOful(path.features, T, 1.0, options.get("radius", 1.0))
        generator = np.random.default_rng(seed)
        record = reference.run_hyque(base, path.means(), B, generator, **known)
        monkeypatch.undo()
        assert_same(row, record)
        restarts += row["restarts"]
    assert (restarts > 3) == ("scale" in options)


@pytest.mark.parametrize("window_scale", [1.0, 0.2, 1e-9, 1e6])
@pytest.mark.parametrize(("ridge", "radius"), [(1, 1), (0.01, 0.1)])
def test_sliding_window_is_its_rule(window_scale, ridge, radius):
    T, B, V, K = 300, 120, 3.0, 4
    options = {"ridge": ridge, "radius": radius, "window_scale": window_scale}
    for seed, path in enumerate(paths(K, T, V)):
        d = path.features.shape[1]
        window = min(max(math.floor((d * B / V) ** (2 / 3) * window_scale), 1), B)
        row = plays.play("sw_linucb", path, B, V, seed, **options)
        record = reference.Record(reference.Path(path.means()), B)
        one = Over(lambda w=window, X=path.features: Windowed(X, T, w, ridge, radius))
        reference.play_planned(record, np.random.default_rng(seed), one, reference.paced(T, B))
        assert_same(row, record)


@pytest.mark.parametrize("window", [1, 2, 10])
def test_taking_back_nearly_all_there_was_loses_no_digits(window):
    """With lambda = 1e-4 the rank-one step alone would be off by 1e-4 at a window of 1."""
    K, d, penalty = 6, 4, 1e-4
    rng = np.random.default_rng(0)
    known = features_of(directions(K, d - 1, rng))
    instance = ridge.new_ridges(1, known)[0]
    ridge.forget(instance, known, penalty)
    held = []
    for t in range(1500):
        one = int(rng.integers(0, 2 if t % 500 < 250 else K)), float(rng.random() < 0.5)
        if len(held) == window:
            ridge.observe(instance, known, penalty, *held.pop(0), -1.0)
        ridge.observe(instance, known, penalty, *one, 1.0)
        held.append(one)
        n = np.bincount([arm for arm, _ in held], minlength=K)
        inverse = np.linalg.inv(penalty * np.eye(d) + (known.T * n) @ known)
        width = np.einsum("kd,de,ke->k", known, inverse, known)
        assert instance[ridge.SQUARE, :K] == pytest.approx(width, rel=1e-8)


@pytest.mark.parametrize("memory_scale", [1.0, 0.2, 1e-9, 1e6])
@pytest.mark.parametrize(("ridge", "radius"), [(1, 1), (0.01, 0.1)])
def test_discounted_is_its_rule(memory_scale, ridge, radius):
    T, B, V, K = 300, 120, 3.0, 4
    options = {"ridge": ridge, "radius": radius, "memory_scale": memory_scale}
    for seed, path in enumerate(paths(K, T, V)):
        d = path.features.shape[1]
        gamma = 1 - 1 / max((d * B / V) ** (2 / 3) * memory_scale, 1)
        row = plays.play("d_linucb", path, B, V, seed, **options)
        record = reference.Record(reference.Path(path.means()), B)
        one = Over(lambda g=gamma, X=path.features: Discounted(X, T, g, ridge, radius))
        reference.play_planned(record, np.random.default_rng(seed), one, reference.paced(T, B))
        assert_same(row, record)


# ----------------------------------------------------------------------- rounding errors


@njit(error_model="numpy")
def _long_run(known, constants, mean, window, checks, every, rng):
    """Instances of OFUL, greedy by `constants`, over a window, as they are at some times."""
    instance = oful.new_instances(1, known, constants)[0]
    oful.begin(instance, known, constants)
    arms, rewards = np.zeros(window, np.int64), np.zeros(window)
    found = np.zeros((checks, *instance.shape))
    for tau in range(checks * every):
        arm, _ = oful.act(instance, tau, known, constants, rng)
        reward = 1.0 if rng.random() < mean[arm] else 0.0
        place = tau % window
        if tau >= window:
            ridge.observe(instance, known, constants[0], arms[place], rewards[place], -1.0)
        ridge.observe(instance, known, constants[0], arm, reward, 1.0)
        arms[place], rewards[place] = arm, reward
        if (tau + 1) % every == 0:
            found[tau // every] = instance
    return found


@pytest.mark.parametrize("penalty", [1.0, 1e-4])
@pytest.mark.parametrize(
    ("K", "d", "radius", "checks", "every", "window"),
    [
        (10, 4, 1.0, 20, 500, 10**9),
        (10, 4, 0.0, 20, 500, 10**9),
        (30, 12, 1.0, 20, 500, 10**9),
        (10, 4, 0.0, 4, 250_000, 10**9),
        (10, 4, 1.0, 5, 20_000, 300),
    ],
)
def test_rounding_errors_do_not_add_up(K, d, penalty, radius, checks, every, window):
    """Means, widths and ln det against an explicit inverse, to 1e-8: over 1e4 observations, over
    1e6, and over 1e5 of which all but the last 300 were taken back.

    radius 0 follows the leader, where V is conditioned worst: with lambda = 1e-4 by 1e10 at
    the end, so that numbers of 16 digits leave no more than five of any inverse.
    """
    rng = np.random.default_rng(d)
    known = features_of(directions(K, d - 1, rng))
    mean = 0.5 + 0.25 * (2 * known @ known[0] - 1)
    constants = np.array([penalty, radius, math.log(1e6)])
    window = min(window, checks * every)
    for instance in _long_run(known, constants, mean, window, checks, every, rng):
        n, sums = instance[ridge.PLAYS, :K], instance[ridge.REWARDS, :K]
        assert n.sum() == min(window, every * checks) or n.sum() % every == 0
        V = penalty * np.eye(d) + (known.T * n) @ known
        width = np.sqrt(np.einsum("ki,ki->k", known, np.linalg.solve(V, known.T).T))
        found = np.sqrt(instance[ridge.SQUARE, :K])
        error = max(1e-8, 1e-15 * np.linalg.cond(V))
        assert found == pytest.approx(width, rel=error, abs=0)
        theta = np.linalg.solve(V, known.T @ sums)
        assert instance[ridge.MEAN, :K] == pytest.approx(known @ theta, rel=0, abs=error)
        log_det = np.linalg.slogdet(V / penalty)[1]
        assert instance[ridge.SCALARS, ridge.LOG_DET] == pytest.approx(log_det, rel=0, abs=error)


# ----------------------------------------------------------------------- special cases


@few
@given(data=st.data())
def test_unit_vectors_are_arms_apart(data):
    """Mean s / (n + lambda), squared width 1 / (n + lambda), det the product of 1 + n / lambda:
    whatever was seen, and taken back."""
    K, penalty = data.draw(st.integers(2, 6)), data.draw(st.sampled_from([1e-4, 0.5, 1.0, 30.0]))
    steps = st.tuples(st.integers(0, K - 1), st.sampled_from([0.0, 1.0]))
    seen = data.draw(st.lists(steps, min_size=1, max_size=60))
    back = data.draw(st.integers(0, len(seen)))
    known = np.eye(K)
    one = ridge.new_ridges(1, known)[0]
    ridge.forget(one, known, penalty)
    for arm, reward in seen:
        ridge.observe(one, known, penalty, arm, reward, 1.0)
    for arm, reward in seen[:back]:
        ridge.observe(one, known, penalty, arm, reward, -1.0)
    n = np.bincount([arm for arm, _ in seen[back:]], minlength=K)
    s = np.bincount([arm for arm, _ in seen[back:]], [r for _, r in seen[back:]], K)
    assert (one[ridge.PLAYS, :K] == n).all()
    assert one[ridge.MEAN, :K] == pytest.approx(s / (n + penalty), abs=1e-9)
    assert one[ridge.SQUARE, :K] == pytest.approx(1 / (n + penalty), rel=1e-9)
    log_det = np.log1p(n / penalty).sum()
    assert one[ridge.SCALARS, ridge.LOG_DET] == pytest.approx(log_det, abs=1e-8)


@few
@given(seed=st.integers(0, 2**32), d=st.integers(1, 9), spread=st.floats(0, 6))
def test_inverses(seed, d, spread):
    rng = np.random.default_rng(seed)
    axes, _ = np.linalg.qr(rng.standard_normal((d, d)))
    sizes = 10 ** rng.uniform(-spread, spread, d)
    matrix = (axes * sizes) @ axes.T
    inverse = (matrix + matrix.T) / 2
    log_det = ridge.invert(inverse, np.full((d, d), np.nan))
    assert log_det == pytest.approx(np.log(sizes).sum(), abs=1e-9 * 10**spread)
    assert (inverse == inverse.T).all()
    exact = (axes / sizes) @ axes.T
    assert abs(inverse - exact).max() <= 1e-13 * d * sizes.max() / sizes.min() * abs(exact).max()


def test_equal_arms_are_chosen_alike():
    """Features of one length, to rounding: each arm is as often the first, by 1200 seeds."""
    K, runs = 6, 1200
    known = features_of(directions(K, 3, np.random.default_rng(5)))
    lengths = [float(x @ x) for x in known]
    assert len(set(lengths)) > 1  # else rounding would settle nothing
    constants = np.array([1.0, 1.0, math.log(1e6)])
    one = OFUL.new_instances(1, known, constants)[0]
    OFUL.begin(one, known, constants)
    rng = np.random.default_rng(0)
    often = np.bincount([OFUL.act(one, 0, known, constants, rng)[0] for _ in range(runs)])
    assert stats.chisquare(often).pvalue > 1e-3


@pytest.mark.parametrize("plan", ["paced", "batched", "bernoulli"])
def test_without_variation_all_are_oful(plan):
    """V = 0: no restart; and with radius 0, where their widths do not matter, nothing forgotten."""
    path = path_of("linear_switching", 8, 5000, 4.0)
    paced = plays.play("oful", path, 1000, 0, 7, plan=plan)
    assert plays.play("oful_restarted", path, 1000, 0, 7, plan=plan) == paced
    greedy = plays.play("oful", path, 1000, 0, 7, plan=plan, radius=0)
    assert greedy != paced
    assert plays.play("sw_linucb", path, 1000, 0, 7, plan=plan, radius=0) == greedy
    found = plays.play("d_linucb", path, 1000, 0, 7, plan=plan, radius=0)
    assert found == pytest.approx(greedy, rel=1e-9)


@pytest.mark.parametrize(("V", "B", "scale"), [(4, 10**5, 1), (0.5, 300, 3), (100, 50, 1)])
def test_rates_windows_and_memories(V, B, scale):
    """As published, in queries; and what turns a window into the mended proof's."""
    d, T = 5, 10**6
    known = features_of(directions(7, d - 1, np.random.default_rng(0)))

    def arguments(policy, **options):
        spec = POLICIES[policy]
        return spec.kernel_arguments(known, T, B, V, 1, spec.options(**options))

    rate = arguments("oful_restarted", rate_scale=scale)[2]
    assert rate == pytest.approx(min(1, scale * (2 * V / (d * B)) ** (2 / 3)))
    published = min((d * B / V) ** (2 / 3), B)
    *_, root, window = arguments("sw_linucb", window_scale=scale)
    assert window == min(math.floor(published * scale), B)
    beta = 0.5 * math.sqrt(d * math.log((1 + window) * T)) + 1
    assert root == pytest.approx(beta)
    gamma = arguments("d_linucb", memory_scale=scale)[1]
    assert 1 / (1 - gamma) == pytest.approx(max(published * scale, 1))
    mended = d ** (-5 / 12) * (V / B) ** (1 / 6)
    *_, window = arguments("sw_linucb", window_scale=mended)
    assert window == pytest.approx(d**0.25 * math.sqrt(B / V), abs=1)
    assert theory.linear_window(d, B, 0) == B
    spec = POLICIES["d_linucb"]
    assert spec.kernel_arguments(known, T, B, 0, 1, spec.options())[1] == 1


def test_error_of_oful():
    """rho >= 1/sqrt(t) does not increase, C(t) = t rho(t) does not decrease; chances are ratios."""
    for d in (2, 4, 100):
        known = np.eye(d)
        t = np.unique(np.geomspace(1, 1e12, 300).astype(np.int64))
        rho = np.array([OFUL.rho(s, known) for s in t])
        assert rho == pytest.approx(d * np.sqrt(np.log1p(t) / t))
        assert (np.diff(rho) < 0).all()
        assert (np.diff(t * rho) > 0).all()
        assert (rho >= 1 / np.sqrt(t)).all()
        expected = [OFUL.rho(2**9, known) / OFUL.rho(2**m, known) for m in range(10)]
        assert OFUL.chances(9, known) == pytest.approx(expected)


def test_oful_is_optimistic():
    """Nothing changes: f~ is at least the best mean in every round, but for a share of 1/T."""
    K, T, runs = 6, 2000, 40
    under = 0
    for seed in range(runs):
        path = path_of("linear_switching", K, T, 0, seed)
        known, top = path.features, path.mean.max()
        constants = OFUL.constants(known, T, OFUL.options())
        rng = np.random.default_rng(seed)
        one = OFUL.new_instances(1, known, constants)[0]
        OFUL.begin(one, known, constants)
        lowest = 1.0
        for tau in range(500):
            arm, value = OFUL.act(one, tau, known, constants, rng)
            reward = float(rng.random() < path.mean[0, arm])
            OFUL.learn(one, known, constants, np.zeros(K + 4), arm, reward)
            lowest = min(lowest, value)
        under += lowest < top
        assert value < 1 + 1e-12
    assert under == 0


@pytest.mark.parametrize(
    "policy", ["oful", "oful_restarted", "hyque_oful", "sw_linucb", "d_linucb"]
)
def test_the_literal_proxy_changes_no_play(policy):
    sizes = {"K": 5, "T": 4000, "B": 400, "V": 2}
    usual = simulate(policy, "linear_switching", gap=0.3, seeds=3, **sizes)
    literal = simulate(policy, "linear_switching", gap=0.3, seeds=3, proxy="literal", **sizes)
    same = ["regret", "regret_query", "regret_no_data", "queries", "longest_idle"]
    assert usual[same].equals(literal[same])
    assert (usual["regret_error"] != literal["regret_error"]).all()
    parts = ["regret_query", "regret_error", "regret_drift", "regret_no_data"]
    assert np.allclose(literal[parts].sum(axis=1), literal["regret"], atol=1e-9)


def test_those_told_v_forget_in_time():
    """Where theta jumps 14 times, all that forget beat what does not, by four standard errors."""
    sizes = {"K": 10, "T": 10**5, "B": 2 * 10**4, "V": 6}
    kept = simulate("oful", "linear_switching", gap=0.3, seeds=12, **sizes)["regret"]
    for policy in ("oful_restarted", "sw_linucb", "d_linucb"):
        found = simulate(policy, "linear_switching", gap=0.3, seeds=12, **sizes)["regret"]
        saved = kept - found
        assert saved.mean() > 4 * saved.std() / math.sqrt(12)


# ----------------------------------------------------------------------- paths of theta


def thetas(path):
    """theta_t round by round, [T, d]."""
    found = []
    for first, last, rounds in zip(path.theta, path.end, np.diff(path.start), strict=True):
        share = np.arange(rounds)[:, None] / max(rounds - 1, 1)
        found.append(first + share * (last - first))
    return np.concatenate(found)


@pytest.mark.parametrize("name", ["linear_switching", "linear_rotation"])
@pytest.mark.parametrize(
    ("K", "d", "T", "V", "gap"),
    [
        (2, 3, 2, 1.0, 0.25),
        (2, 3, 50, 7.0, 0.5),
        (10, 4, 900, 4.0, 0.25),
        (10, 4, 900, 0.0, 0.5),
        (30, 9, 200, 1e6, 0.1),
        (5, 100, 300, 0.01, 0.5),
    ],
)
def test_means_are_those_of_theta(name, K, d, T, V, gap):
    """Round by round: means, best arm, variation; features are no longer than 1, nor is theta."""
    for seed in range(3):
        path = path_of(name, K, T, V, seed, d=d, gap=gap)
        theta = thetas(path)
        assert path.features.shape == (K, d)
        assert np.linalg.norm(path.features, axis=1) == pytest.approx(1)
        assert np.linalg.norm(theta, axis=1).max() <= 1 + 1e-12
        means = theta @ path.features.T
        assert path.means() == pytest.approx(means, abs=1e-12)
        best = np.repeat(path.best, np.diff(path.start))
        assert means[np.arange(T), best] == pytest.approx(means.max(axis=1), abs=1e-12)
        steps = np.linalg.norm(np.diff(theta, axis=0), axis=1)
        assert path.variation() == pytest.approx(steps.sum(), rel=1e-9, abs=1e-12)
        assert path.variation() <= V * (1 + 1e-9)
        # Theta's variation covers that of any mean.
        assert (np.abs(np.diff(means, axis=0)).max(axis=1) <= steps + 1e-12).all()
        if V == 0:
            assert len(path.theta) == 1
            assert (path.theta == path.end).all()


@pytest.mark.parametrize(
    ("K", "d", "V", "gap"), [(10, 4, 5.0, 0.25), (2, 3, 3.0, 0.5), (4, 3, 9, 0.1)]
)
def test_switching_spends_v_on_jumps(K, d, V, gap):
    """Equal batches, each with one arm at 1/2 + gap; no further batch but would cost more than is
    left, by the longest jump there is at most."""
    T = 5000
    for seed in range(10):
        path = path_of("linear_switching", K, T, V, seed, d=d, gap=gap)
        m = len(path.theta)
        assert path.start.tolist() == [j * T // m + 1 for j in range(m)] + [T + 1]
        assert path.mean.max(axis=1) == pytest.approx(0.5 + gap)
        assert (path.slope == 0).all()
        assert (path.best[1:] != path.best[:-1]).all()
        others = math.sqrt(2) * gap * (2 * path.features[:, None] @ path.features.T - 1)
        longest = 2 * gap * math.sqrt(1 - others.min() / (math.sqrt(2) * gap))
        assert V - longest < path.variation() <= V * (1 + 1e-12)


def test_switching_goes_to_any_other_arm():
    path = path_of("linear_switching", 5, 10**5, 400.0, gap=0.5)
    moves = stats.contingency.crosstab(path.best[:-1], path.best[1:]).count
    off = moves[~np.eye(5, dtype=bool)]
    assert moves.diagonal().sum() == 0
    assert stats.chisquare(off).pvalue > 1e-3


def test_rotation_by_hand():
    """V = 2 pi sqrt 2 gap is a turn on the circle, and a little more than one along 32 chords; in
    the rounds of knots theta is on the circle, in between on a chord."""
    gap, T = 0.3, 3201
    V = 2 * math.pi * math.sqrt(2) * gap
    path = path_of("linear_rotation", 10, T, V, gap=gap)
    theta = thetas(path)
    assert theta[:, 0] == pytest.approx(math.sqrt(2) / 2)
    assert (theta[:, 3:] == 0).all()
    alpha = 2 * math.asin(V / (2 * math.sqrt(2) * gap * 32))
    assert alpha == pytest.approx(2 * math.pi / 32, rel=2e-3)
    length = np.hypot(theta[:, 1], theta[:, 2]) / (math.sqrt(2) * gap)
    assert length[::100] == pytest.approx(1)
    assert length[50::100] == pytest.approx(math.cos(alpha / 2))
    angle = np.unwrap(np.arctan2(theta[:, 2], theta[:, 1]))
    assert angle[::100] == pytest.approx(alpha * np.arange(33))
    assert path.variation() == pytest.approx(V, rel=1e-12)
    steps = np.linalg.norm(np.diff(theta, axis=0), axis=1)
    assert steps == pytest.approx(V / (T - 1))  # steadily


@few
@given(
    V=st.floats(0, 50), gap=st.floats(0.01, 0.5), T=st.integers(2, 4000), knots=st.integers(4, 60)
)
def test_rotation_spends_v_in_turns(V, gap, T, knots):
    angle = linear_rotation.angles({"gap": gap, "knots": knots}, T, V)
    chords = len(angle) - 1
    assert 1 <= chords <= T - 1
    spent = chords * 2 * math.sqrt(2) * gap * math.sin(angle[1] / 2)
    if 2 * math.sqrt(2) * gap * (T - 1) >= V:
        assert spent == pytest.approx(V, rel=1e-9)
    else:
        assert angle[1] == pytest.approx(math.pi)
    if chords < T - 1:
        assert angle[1] <= 2 * math.asin(min(1, math.pi / knots)) * (1 + 1e-9)
        turns = V / (2 * math.pi * math.sqrt(2) * gap)
        assert chords == max(1, math.ceil(knots * turns))
        assert angle[-1] >= 2 * math.pi * turns * (1 - 1e-9)


def some(**changed):
    """A path of theta with parts replaced."""
    features = features_of(np.array([[1.0, 0], [0, 1], [-1, 0]]))
    theta = np.array([[0.7, 0.2, 0], [0.7, 0, 0.2]])
    link = changed.pop("link", "linear")
    path = Structured.of([1, 50], theta, changed.pop("features", features), 99, link, **changed)
    return path


def test_refused_paths():
    assert some().checked(99, 0.3).variation() == pytest.approx(0.2 * math.sqrt(2))
    with pytest.raises(ConfeeError, match=r"variation 0\.282843 exceeds the budget V=0\.28"):
        some().checked(99, 0.28)
    with pytest.raises(ConfeeError, match="features must have norm at most 1"):
        some(features=np.eye(3) * 1.01).checked(99, 9)
    turned = np.array([[0.7, 0.1, 0], [0.7, 0, 0.1]])
    assert some(end=turned).checked(99, 9).variation() == pytest.approx(0.2 + 0.1 * math.sqrt(5))
    with pytest.raises(ConfeeError, match="constant in each segment of a logistic path"):
        some(end=turned, link="logistic").checked(99, 9)
    path = some()
    with pytest.raises(ConfeeError, match="means must be those of theta"):
        replace(path, mean=path.mean + 0.01).checked(99, 9)
    features, theta = path.features, path.theta[:1]
    with pytest.raises(ConfeeError, match="constant in a segment of one round"):
        Structured.of([1], theta, features, 1, end=theta + 0.01).checked(1, 9)


@pytest.mark.parametrize(
    ("name", "conf", "said"),
    [
        ("linear_switching", {"gap": 0.6}, r"gap=0\.6: must be a number in \[1e-12, 0\.5\]"),
        ("linear_rotation", {"gap": 0}, r"gap=0: must be a number in \[1e-12, 0\.5\]"),
        ("linear_switching", {"d": 2}, r"d=2: must be a whole number in \[3, 100\]"),
        ("linear_rotation", {"knots": 3}, r"knots=3: must be a whole number in \[4, 10000\]"),
    ],
)
def test_refusals(name, conf, said):
    with pytest.raises(ConfeeError, match=said):
        path_of(name, 3, 100, 1.0, **conf)
