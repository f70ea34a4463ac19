"""Logistic bandits: GLM-UCB against a plain reference, HyQue over it, and its world."""

from __future__ import annotations

import itertools
import math
import types

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize, root
from scipy.stats import ttest_1samp

from confee.core.errors import ConfeeError
from confee.core.size import Size
from confee.paper.theory import rho_hat_factor
from confee.policies import POLICIES, glm_ucb
from confee.policies.glm_ucb import GLM_UCB
from confee.simulation.cells import cell, opponent
from confee.simulation.play import draw_path
from confee.simulation.play import play as play_cell
from confee.world.adversaries.logistic_switching import visits
from confee.world.game import COUNTS, RECORDED
from confee.world.path import Path
from confee.world.structured import Structured, directions
from support import plays, reference
from support.draws import SCHEDULE, Instances

few = settings(max_examples=40, derandomize=True, deadline=None)


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


# ----------------------------------------------------------------------- the plain reference


def ridge_estimate(x, plays_of, rewards, penalty, start):
    """argmax of log likelihood - penalty / 2 ||theta||^2 on all of R^d: a root of its gradient."""

    def gradient(theta):
        return penalty * theta + (plays_of * sigmoid(x @ theta) - rewards) @ x

    def hessian(theta):
        mean = sigmoid(x @ theta)
        return penalty * np.eye(x.shape[1]) + (x.T * (plays_of * mean * (1 - mean))) @ x

    def loss(theta):
        z = x @ theta
        return penalty / 2 * theta @ theta + plays_of @ np.logaddexp(0, z) - rewards @ z

    found = root(gradient, start, jac=hessian, tol=1e-10).x
    if np.linalg.norm(gradient(found)) > 1e-8:  # lost; this is slower and finds it
        near = minimize(loss, start, jac=gradient, hess=hessian, method="trust-exact").x
        found = root(gradient, near, jac=hessian, tol=1e-10).x
    assert np.linalg.norm(gradient(found)) < 1e-8 * (1 + plays_of.sum())
    return found


def estimate(x, plays_of, rewards, penalty, S):
    """The same over ||theta|| <= S: with as much more penalty as it takes."""
    found = ridge_estimate(x, plays_of, rewards, penalty, np.zeros(x.shape[1]))
    if np.linalg.norm(found) <= S:
        return found

    def beyond(more):
        nonlocal found
        found = ridge_estimate(x, plays_of, rewards, penalty + more, found)
        return np.linalg.norm(found) - S

    beyond(brentq(beyond, 0, plays_of.sum() / S, xtol=1e-11))
    return found


class Glm(reference.Feedback):
    """An instance of GLM-UCB; everything is computed from all it saw, at every choice."""

    def __init__(self, base):
        super().__init__(len(base.x))
        self.base = base

    def indices(self):
        base = self.base
        x, S, T = base.x, base.norm, base.T
        flattest = sigmoid(S) * (1 - sigmoid(S))
        theta = estimate(x, self.plays, self.rewards, base.ridge * flattest, S)
        design = base.ridge * np.eye(x.shape[1]) + x.T @ np.diag(self.plays) @ x
        log_det = np.linalg.slogdet(design / base.ridge)[1]
        beta = 0.5 / flattest * math.sqrt(log_det + 2 * math.log(T)) + math.sqrt(base.ridge) * S
        width = np.sqrt(np.einsum("ki,ij,kj->k", x, np.linalg.inv(design), x))
        return sigmoid(x @ theta) + base.radius * beta / 4 * width

    def choose(self, rng):
        index = self.indices()
        arm = int(index.argmax())  # no ties in what is played here
        return arm, min(1.0, max(0.0, float(index[arm])))


class OverGlm:
    """GLM-UCB as base algorithm, see `reference.OverUCB1`."""

    instance = Glm

    def __init__(self, x, T, ridge=1.0, norm=2.2, radius=1.0):
        self.x, self.T, self.ridge, self.norm, self.radius = x, T, ridge, norm, radius

    def new(self):
        return self.instance(self)

    def rho(self, t):
        flattest = sigmoid(self.norm) * (1 - sigmoid(self.norm))
        return 0.25 / flattest * self.x.shape[1] * math.sqrt(math.log(1 + t) / t)

    def chance(self, m, n):
        return self.rho(2**n) / self.rho(2**m)


# ----------------------------------------------------------------------- the algorithm


def fresh(x, T=10**6, **options):
    """(instance, constants), and what they know is x."""
    chosen = glm_ucb.Options(**options)
    constants = glm_ucb.constants(x, T, chosen)
    instance = glm_ucb.new_instances(1, x, constants)[0]
    glm_ucb.begin(instance, x, constants)
    return instance, constants


def theta_of(instance, x):
    return instance[glm_ucb.THETA, : x.shape[1]]


def arms(K, d, rng, shortest=0.7):
    """Features of different lengths, so that no two indices tie."""
    return directions(K, d, rng) * rng.uniform(shortest, 1, (K, 1))


@few
@given(data=st.data())
def test_the_estimate_is_that_of_maximum_likelihood(data):
    """Within 1e-6, wherever the search begins: far off the ball's edge, on it, and anywhere."""
    K, d = data.draw(st.integers(2, 6)), data.draw(st.integers(1, 5))
    S = data.draw(st.sampled_from([0.3, 1.0, 2.2, 5.0]))
    ridge = data.draw(st.sampled_from([0.01, 1.0, 30.0]))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    x = arms(K, d, rng)
    instance, constants = fresh(x, ridge=ridge, norm=S)
    plays_of = rng.integers(0, 10 ** data.draw(st.integers(1, 4)), K)
    rewards = rng.binomial(plays_of, rng.uniform(0, 1, K))
    instance[glm_ucb.PLAYS, :K], instance[glm_ucb.REWARDS, :K] = plays_of, rewards
    start = directions(1, d, rng)[0] * S * data.draw(st.sampled_from([0.0, 0.5, 1.0]))
    instance[glm_ucb.THETA, :d], instance[glm_ucb.MEAN, :K] = start, sigmoid(x @ start)
    glm_ucb.fit(instance, x, constants)
    flattest = math.exp(-S) / (1 + math.exp(-S)) ** 2
    exact = estimate(x, plays_of, rewards, ridge * flattest, S)
    assert np.linalg.norm(theta_of(instance, x) - exact) < 1e-6
    assert instance[glm_ucb.MEAN, :K] == pytest.approx(sigmoid(x @ exact), abs=1e-6)


def test_the_estimate_after_every_observation():
    """Warm starts lose nothing: 150 observations, some fits inside the ball, some on its edge."""
    rng = np.random.default_rng(3)
    x = arms(5, 3, rng)
    instance, constants = fresh(x)
    means = sigmoid(x @ (1.8 * directions(1, 3, rng)[0]))
    plays_of, rewards, inside, worst = np.zeros(5), np.zeros(5), 0, 0.0
    for _ in range(150):
        arm = int(rng.integers(5))
        reward = float(rng.random() < means[arm])
        plays_of[arm] += 1
        rewards[arm] += reward
        glm_ucb.learn(instance, x, constants, None, arm, reward)
        exact = estimate(x, plays_of, rewards, constants[glm_ucb.FLATTEST], 2.2)
        worst = max(worst, np.linalg.norm(theta_of(instance, x) - exact))
        inside += np.linalg.norm(exact) < 2.2 - 1e-6
    assert 1e-12 < worst < 1e-6
    assert 20 < inside < 130


def test_long_newton_steps_are_cut():
    """A wide ball and little penalty, where whole steps land up to 6 away from the optimum."""
    worst = 0.0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        x = arms(4, 3, rng)
        instance, constants = fresh(x, ridge=0.01, norm=5.0)
        means = sigmoid(x @ (3 * rng.standard_normal(3)))
        for _ in range(60):
            arm = int(rng.integers(4))
            instance[glm_ucb.PLAYS, arm] += 1
            instance[glm_ucb.REWARDS, arm] += rng.random() < means[arm]
            glm_ucb.fit(instance, x, constants)
        sums = instance[glm_ucb.PLAYS, :4], instance[glm_ucb.REWARDS, :4]
        exact = estimate(x, *sums, 0.01 * constants[glm_ucb.FLATTEST], 5.0)
        worst = max(worst, np.linalg.norm(theta_of(instance, x) - exact))
    assert worst < 1e-5


def test_first_arms_are_alike():
    """Before any observation all widths of unit features are one, but for their last digit."""
    rng = np.random.default_rng(5)
    x = directions(6, 3, rng)
    instance, constants = fresh(x)
    first = [glm_ucb.act(instance, 0, x, constants, rng)[0] for _ in range(3000)]
    assert abs(np.bincount(first, minlength=6) - 500).max() < 100


def test_a_step_or_two_of_newtons_do():
    """Counted over 4000 observations: about 2 an observation at first, then ever more often 1."""
    rng = np.random.default_rng(0)
    x = directions(10, 4, rng)
    instance, constants = fresh(x, radius=0.3)
    means = sigmoid(x @ x[0])
    steps = []

    def expand(*arguments):
        steps[-1] += 1
        glm_ucb.expand(*arguments)

    fit = types.FunctionType(
        glm_ucb.fit.py_func.__code__, {**glm_ucb.fit.py_func.__globals__, "expand": expand}
    )
    for tau in range(4000):
        arm, _ = glm_ucb.act(instance, tau, x, constants, rng)
        instance[glm_ucb.PLAYS, arm] += 1
        instance[glm_ucb.REWARDS, arm] += rng.random() < means[arm]
        glm_ucb.join(instance, x, arm)
        steps.append(0)
        fit(instance, x, constants)
    assert max(steps) <= 10
    assert 1.5 < np.mean(steps[:100]) < 3
    assert 1 <= np.mean(steps[3000:]) < 1.5


@few
@given(seed=st.integers(0, 2**32), K=st.integers(2, 6), d=st.integers(1, 6))
def test_widths_are_those_of_the_design(seed, K, d):
    rng = np.random.default_rng(seed)
    x = arms(K, d, rng)
    instance, constants = fresh(x, ridge=0.5)
    played = rng.integers(0, K, 60)
    for arm in played:
        glm_ucb.learn(instance, x, constants, None, arm, float(rng.random() < 0.3))
    design = 0.5 * np.eye(d) + x[played].T @ x[played]
    inverse = np.linalg.inv(design)
    assert instance[glm_ucb.SQUARE, :K] == pytest.approx(np.diag(x @ inverse @ x.T), rel=1e-8)
    rows = slice(glm_ucb.MATRICES, glm_ucb.MATRICES + d)
    assert instance[rows, :d] == pytest.approx(inverse, rel=1e-7, abs=1e-9)
    assert instance[glm_ucb.LOG_DET, 0] == pytest.approx(np.linalg.slogdet(design / 0.5)[1])
    assert instance[glm_ucb.PLAYS, :K].tolist() == np.bincount(played, minlength=K).tolist()
    assert (
        glm_ucb.replayed(instance, np.zeros(K + 4)).tolist()
        == np.bincount(played, minlength=K).tolist()
    )


@pytest.mark.parametrize("options", [{}, {"ridge": 4, "norm": 1.3, "radius": 0.2}], ids=str)
def test_acts_as_the_reference_does(options):
    """120 choices and values f~, then the same from a fresh start."""
    rng = np.random.default_rng(11)
    x = arms(6, 4, rng)
    means = sigmoid(x @ directions(1, 4, rng)[0])
    base = OverGlm(x, 500, **options)
    instance, constants = fresh(x, T=500, **options)
    chosen, values = set(), []
    for _ in range(2):
        glm_ucb.begin(instance, x, constants)
        theirs = base.new()
        for tau in range(60):
            arm, value = glm_ucb.act(instance, tau, x, constants, rng)
            expected, f = theirs.choose(rng)
            assert arm == expected
            assert value == pytest.approx(f, abs=1e-6)
            reward = float(rng.random() < means[arm])
            glm_ucb.learn(instance, x, constants, None, arm, reward)
            theirs.observe(arm, reward, means)
            chosen.add(arm)
            values.append(value)
    assert len(chosen) > 3
    assert max(values) == 1.0  # cut
    if options:
        assert min(values) < 0.99


def test_f_is_cut_to_at_most_one_and_the_arm_is_not_chosen_by_what_is_cut():
    x = np.array([[1.0, 0.0], [0.0, 0.5]])
    instance, constants = fresh(x)
    rng = np.random.default_rng(0)
    for _ in range(20):  # both are far above 1, the longer features by more
        assert glm_ucb.act(instance, 0, x, constants, rng) == (0, 1.0)


def test_ties_are_broken_at_random():
    """Unit vectors that saw nothing: each of three arms first within 4 standard errors."""
    x = np.eye(3)
    instance, constants = fresh(x)
    rng = np.random.default_rng(5)
    first = np.bincount(
        [glm_ucb.act(instance, 0, x, constants, rng)[0] for _ in range(3000)], minlength=3
    )
    assert abs(first - 1000).max() < 4 * math.sqrt(3000 * 2 / 9)


def test_the_radius_holds_theta():
    """At delta = 1/10: theta is in all of a run's ellipsoids in at least nine of ten runs; with a
    tenth of the radius, in which it learns much sooner, it is not."""
    rng = np.random.default_rng(8)
    x = directions(6, 3, rng)
    theta = 2.2 * x[0]
    means = sigmoid(x @ theta)
    held = {1.0: 0, 0.1: 0}
    for _ in range(60):
        instance, constants = fresh(x, T=10)
        design = np.eye(3)
        excess = 0.0  # the largest distance, in radii
        for tau in range(200):
            apart = theta_of(instance, x) - theta
            root = (
                0.5
                / constants[glm_ucb.FLATTEST]
                * math.sqrt(instance[glm_ucb.LOG_DET, 0] + 2 * math.log(10))
                + 2.2
            )
            excess = max(excess, math.sqrt(apart @ design @ apart) / root)
            arm, _ = glm_ucb.act(instance, tau, x, constants, rng)
            glm_ucb.learn(instance, x, constants, None, arm, float(rng.random() < means[arm]))
            design += np.outer(x[arm], x[arm])
        for radius in held:
            held[radius] += excess <= radius
    assert held[1.0] >= 54
    assert held[0.1] < 54


def test_what_the_theory_needs_before_f_leaves_one():
    """d = 4, K = 10, T = 10^6: f~ stays at 1 for some thousands of queries at radius 1, and for
    some tens at a tenth of it. So at budgets of 10^4 and more the theory's radius learns too."""
    rng = np.random.default_rng(1)
    x = directions(10, 4, rng)
    means = sigmoid(math.log(3) * (x @ x[0]))
    until = {}
    for radius in (1, 0.1):
        instance, constants = fresh(x, radius=radius)
        tau, f = 0, 1.0
        while f == 1.0:
            arm, f = glm_ucb.act(instance, tau, x, constants, rng)
            glm_ucb.learn(instance, x, constants, None, arm, float(rng.random() < means[arm]))
            tau += 1
        until[radius] = tau
    assert 1000 < until[1] < 10_000
    assert until[0.1] < 100


def test_rho_and_what_follows_from_it():
    """rho >= 1/sqrt(t) falls, C = t rho rises, chances are its ratios; kappa follows from S."""
    t = np.arange(1, 5001)
    for d in (1, 4):
        x = np.ones((3, d)) / math.sqrt(d)
        rho = np.array([glm_ucb.rho(int(s), x) for s in t])
        assert rho == pytest.approx([OverGlm(x, 10).rho(s) for s in t])
        assert (rho >= 1 / np.sqrt(t)).all()
        assert (np.diff(rho) < 0).all()
        assert (np.diff(t * rho) > 0).all()
        chances = GLM_UCB.chances(6, x)
        assert chances == pytest.approx([OverGlm(x, 10).chance(m, 6) for m in range(7)])
        assert chances[6] == 1
        assert GLM_UCB.error(x) * np.sqrt(np.log(1 + t) / t) == pytest.approx(rho)
    for S in (0.5, 2.2, 5):
        options = glm_ucb.Options(norm=S)
        z = np.linspace(-S, S, 10_001)
        flattest = (sigmoid(z) * sigmoid(-z)).min()
        assert glm_ucb.constants(x, 99, options)[glm_ucb.FLATTEST] == pytest.approx(flattest)
        kappa = GLM_UCB.error(x) * GLM_UCB.stretch(options) / d
        assert kappa == pytest.approx(0.25 / flattest)


def test_what_the_norm_does_to_tests_and_restarts():
    """The change tests are stretched with k_mu / c_mu, the rate of restarts by its power -2/3."""
    x = np.eye(3)
    T, B, V = 1000, 100, 2.0
    tests, rates = [], []
    for S in (2.2, 4.0):
        spec = POLICIES["hyque_glm_ucb"]
        _, parameters = spec.kernel_arguments(x, T, B, V, 1, spec.options(norm=S))
        tests.append(parameters.factor)
        spec = POLICIES["glm_ucb_restarted"]
        rates.append(spec.kernel_arguments(x, T, B, V, 1, spec.options(norm=S))[2])
    usual, wide = (0.25 / (sigmoid(S) * sigmoid(-S)) for S in (2.2, 4.0))
    assert tests == pytest.approx([rho_hat_factor(T), rho_hat_factor(T) * wide / usual])
    assert rates == pytest.approx([(2 * V / (3 * kappa * B)) ** (2 / 3) for kappa in (usual, wide)])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"ridge": 0}, r"ridge=0: must be a number in \[0\.01, 1e\+06\]"),
        ({"norm": 6}, r"norm=6: must be a number in \[0\.01, 5\]"),
        ({"radius": -1}, r"radius=-1: must be a number in \[0, 1e\+06\]"),
        ({"kappa": 1}, r"kappa=1: no such key; known: .*ridge, norm, radius"),
    ],
)
@pytest.mark.parametrize("policy", ["glm_ucb", "hyque_glm_ucb", "glm_ucb_restarted"])
def test_refused_options(policy, options, said):
    with pytest.raises(ConfeeError, match=said):
        cell({"name": policy, **options}, Size(K=3, T=100, B=10, V=1.0))


# ----------------------------------------------------------------------- played by the round


def logistic_path(lengths, thetas, x):
    start = np.append(1, 1 + np.cumsum(lengths))[:-1]
    T = int(sum(lengths))
    return Structured.of(start, np.array(thetas), x, T, link="logistic").checked(T, np.inf)


def two_worlds(seed, T, K=4, d=3):
    rng = np.random.default_rng(seed)
    x = arms(K, d, rng)
    thetas = 2 * directions(2, d, rng)
    return x, logistic_path([T // 2, T - T // 2], thetas, x)


def agree(ours, theirs, where):
    for name in RECORDED:
        if name == "variation":
            continue  # of theta, not of means
        if name in COUNTS:
            assert ours[name] == theirs[name], f"{where}: {name}"
        else:
            assert ours[name] == pytest.approx(theirs[name], rel=1e-9, abs=1e-9), f"{where}: {name}"


# Two that restart; rho is stretched for norms that are not the usual one.
HYQUE = [
    ({}, 60),
    ({"radius": 0.05, "norm": 3.0}, 80),
    ({"radius": 0.05, "scale": 1e-4, "norm": 1.5}, 120),
    ({"radius": 0.05, "scale": 6e-5, "buffer": "appendix"}, 150),
    ({"radius": 0.05, "quota": "block"}, 80),
]


@pytest.mark.parametrize(("options", "B"), HYQUE, ids=str)
def test_hyque_is_the_reference_round_by_round(options, B, monkeypatch):
    """With the same instances and rewards: each round, query and restart at its place."""
    T = 150
    restarts = 0
    for seed in range(2):
        x, path = two_worlds(seed, T)
        kernel = plays.plain(
            POLICIES["hyque_glm_ucb"].kernel, draw_started=Instances(seed).draw_started
        )
        ours = plays.play("hyque_glm_ucb", path, B, 9.0, 100 + seed, kernel=kernel, **options)
        given = {k: v for k, v in options.items() if k in ("ridge", "norm", "radius")}
        others = {k: v for k, v in options.items() if k not in given}
        monkeypatch.setattr(reference, "schedule", Instances(seed).plain)
        rng = np.random.default_rng(100 + seed)
        base = OverGlm(x, T, **given)
        record = reference.run_hyque(base, path.means(), B, rng, **others)
        monkeypatch.setattr(reference, "schedule", SCHEDULE)
        agree(ours, record.summary(), f"seed {seed}")
        restarts += ours["restarts"]
    assert (restarts > 0) == ("scale" in options)


@pytest.mark.parametrize("policy", ["glm_ucb", "glm_ucb_restarted"])
@pytest.mark.parametrize("B", [40, 99])
def test_paced_play_is_the_reference_round_by_round(policy, B):
    """Restarts, if any, before every thirteenth query."""
    T = 150
    for seed in range(2):
        x, path = two_worlds(seed, T)
        again = policy == "glm_ucb_restarted"
        step = 13 if again else T
        kernel = plays.plain(
            POLICIES[policy].kernel,
            next_restart=lambda start, rate, B, rng, step=step: start + step,
        )
        ours = plays.play(policy, path, B, 9.0, seed, kernel=kernel, radius=0.1)
        record = reference.Record(reference.Path(path.means()), B)
        asked = itertools.cycle([False] * (step - 1) + [True])
        reference.play_planned(
            record,
            np.random.default_rng(seed),
            OverGlm(x, T, radius=0.1),
            reference.paced(T, B),
            lambda asked=asked: next(asked),
        )
        agree(ours, record.summary(), f"seed {seed}")
        assert ours["restarts"] == ((B - 1) // 13 if again else 0)


def test_restarts_come_at_the_rate_that_balances():
    """Over 200 runs: (B - 1) times the rate, within 4 standard errors."""
    B, V = 300, 9.0
    x, path = two_worlds(0, 600)
    rate = (2 * V / (GLM_UCB.error(x) * B)) ** (2 / 3)
    counted = [plays.play("glm_ucb_restarted", path, B, V, s)["restarts"] for s in range(200)]
    assert ttest_1samp(counted, (B - 1) * rate).pvalue > 1e-4


# ----------------------------------------------------------------------- special cases


class Apart(reference.Feedback):
    """Arms that know nothing of each other: GLM-UCB where features are a_k e_k, if theta is inside
    the ball. theta_k solves lambda c theta = a (rewards - plays mu(a theta))."""

    def __init__(self, base):
        super().__init__(len(base.x))
        self.base = base

    def choose(self, rng):
        base, lengths = self.base, np.diag(self.base.x)
        flattest = sigmoid(base.norm) * sigmoid(-base.norm)
        penalty = base.ridge * flattest
        theta = np.array(
            [
                brentq(lambda z, a=a, n=n, r=r: penalty * z - a * (r - n * sigmoid(a * z)), -99, 99)
                for a, n, r in zip(lengths, self.plays, self.rewards, strict=True)
            ]
        )
        assert np.linalg.norm(theta) < base.norm
        precision = base.ridge + self.plays * lengths**2
        log_det = np.log(precision / base.ridge).sum()
        root = math.sqrt(log_det + 2 * math.log(base.T)) / (2 * flattest)
        root = base.radius * (root + math.sqrt(base.ridge) * base.norm) / 4
        index = sigmoid(lengths * theta) + root * lengths / np.sqrt(precision)
        return int(index.argmax()), min(1.0, float(index.max()))


class OverApart(OverGlm):
    instance = Apart


def test_arms_at_right_angles_are_independent():
    """HyQue over GLM-UCB against arms each with an estimate of its own. Of slightly different
    lengths, so that nothing ties."""
    T, B, options = 200, 100, {"ridge": 60.0, "norm": 5.0, "radius": 0.004}
    x = np.diag([1.0, 0.98, 0.97])
    path = logistic_path([100, 100], [[0.4, -0.4, 0], [-0.4, 0, 1.0]], x)
    kernel = plays.plain(POLICIES["hyque_glm_ucb"].kernel, draw_started=Instances(0).draw_started)
    ours = plays.play("hyque_glm_ucb", path, B, 9.0, 4, kernel=kernel, **options)
    record = reference.Record(reference.Path(path.means()), B)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reference, "schedule", Instances(0).plain)
        base = OverApart(x, T, **options)
        reference.play_hyque(record, np.random.default_rng(4), base)
    agree(ours, record.summary(), "right angles")


def test_opposite_arms_are_one():
    """d = 1, features 1 and -1: what one shows is what the other would, turned round."""
    x = np.array([[1.0], [-1.0]])
    one, constants = fresh(x)
    other, _ = fresh(x)
    rng = np.random.default_rng(0)
    for _ in range(50):
        arm, reward = int(rng.integers(2)), float(rng.random() < 0.4)
        glm_ucb.learn(one, x, constants, None, arm, reward)
        glm_ucb.learn(other, x, constants, None, 1 - arm, 1 - reward)
    assert theta_of(one, x) == pytest.approx(theta_of(other, x), abs=1e-6)
    assert one[glm_ucb.MEAN, :2].sum() == pytest.approx(1, abs=1e-12)
    assert one[glm_ucb.SQUARE, :2] == pytest.approx([1 / 51] * 2)


def test_what_is_seen_of_one_arm_tells_of_others():
    """Many arms, few dimensions: told of d of them alone, it knows the best of all."""
    rng = np.random.default_rng(2)
    x = directions(200, 3, rng)
    means = sigmoid(x @ (2 * x[0]))
    instance, constants = fresh(x)
    for arm in (1, 2, 3):
        for _ in range(20_000):
            glm_ucb.learn(instance, x, constants, None, arm, float(rng.random() < means[arm]))
    assert instance[glm_ucb.MEAN, :200] == pytest.approx(means, abs=0.03)


def test_two_thousand_rounds_of_play_are_better_for_features():
    """Fifty arms in R^3 and 500 queries: less regret than UCB1, that does not see features."""
    T, B, V = 2000, 500, 0.0
    against = opponent(
        {"name": "logistic_switching", "gap": 0.4, "d": 3}, Size(K=50, T=T, B=B, V=V)
    )
    regrets = []
    for seed in range(10):
        path = draw_path(against, Size(50, T, T, V), seed)
        regrets.append(
            [
                plays.play("glm_ucb", path, B, V, seed, radius=0.05)["regret"],
                plays.play("ucb1", path, B, V, seed)["regret"],
            ]
        )
    glm, ucb1 = np.mean(regrets, axis=0)
    assert glm < 0.5 * ucb1


# ----------------------------------------------------------------------- the world


def path_of(seed=0, K=5, T=5000, B=1000, V=20.0, **options):
    against = opponent({"name": "logistic_switching", **options}, Size(K=K, T=T, B=B, V=V))
    return draw_path(against, Size(K, T, T, V), seed)


@pytest.mark.parametrize(("gap", "c"), [(0.25, math.log(3)), (0.4, math.log(9))])
@pytest.mark.parametrize("d", [2, 4, 7])
def test_logistic_switching(gap, c, d):
    path = path_of(gap=gap, d=d)
    x = path.features
    assert x.shape == (5, d)
    assert np.linalg.norm(x, axis=1) == pytest.approx(np.ones(5))
    assert path.theta == pytest.approx(c * x[path.best])
    assert path.mean == pytest.approx(1 / (1 + np.exp(-path.theta @ x.T)))
    assert path.mean.max(axis=1) == pytest.approx(0.5 + gap)
    assert (path.slope == 0).all()
    assert (np.diff(path.best) != 0).all()
    m = len(path.mean)
    assert m > 2
    assert path.start.tolist() == [*(j * 5000 // m + 1 for j in range(m)), 5001]
    assert path.offers.keys() == {"arms", "logistic"}
    assert path.offers["logistic"] is not None
    assert (path.offers["logistic"] == x).all()


def test_the_largest_theta_is_within_the_usual_norm():
    """ln 9 = 2.197 at the ceiling; a gap beyond it is refused."""
    assert math.log(9) <= glm_ucb.NORM_USUAL
    assert np.linalg.norm(path_of(gap=0.4).theta, axis=1) == pytest.approx(math.log(9))
    with pytest.raises(ConfeeError, match=r"gap=0\.41: must be a number in \[1e-12, 0\.4\]"):
        path_of(gap=0.41)
    with pytest.raises(ConfeeError, match=r"d=1: must be a whole number in \[2, 100\]"):
        path_of(d=1)


@few
@given(seed=st.integers(0, 2**32), K=st.integers(2, 6), d=st.integers(2, 5), V=st.floats(0, 30))
def test_all_of_v_is_used_and_no_more(seed, K, d, V):
    """The variation is that of theta, round by round. One jump more would not be paid for."""
    path = path_of(seed, K=K, T=3000, V=V, d=d)
    by_round = np.repeat(path.theta, np.diff(path.start), axis=0)
    spent = np.linalg.norm(np.diff(by_round, axis=0), axis=1).sum()
    assert path.variation() == pytest.approx(spent, abs=1e-9)
    assert spent <= V * (1 + 1e-9)
    assert len(path.mean) == 3000 or spent > V - 2 * math.log(3)  # the longest jump at gap 1/4
    # No mean moves more than a quarter of what theta does.
    assert Path.variation(path) <= spent / 4 + 1e-9


def test_visits_are_uniform():
    """First arms and steps from one to the next, within 4 standard errors."""
    K, runs = 4, 2000
    thetas = directions(K, 3, np.random.default_rng(1))
    first, steps = np.zeros(K), np.zeros(K)
    for seed in range(runs):
        seen = visits(thetas, 10**6, 9.0, np.random.default_rng(seed))
        first[seen[0]] += 1
        steps += np.bincount(np.diff(seen[:4]) % K, minlength=K)  # 4 at least: 3 jumps of 2 at most
    assert abs(first - runs / K).max() < 4 * math.sqrt(runs / K)
    assert steps[0] == 0
    assert abs(steps[1:] - runs).max() < 4 * math.sqrt(runs * 2 / 3)


def test_visits_where_jumps_are_short():
    """Far more of them than a jump to a right angle would suggest; and never more than rounds."""
    thetas = np.array([[1.0, 0.0], [1.0, 1e-3]])
    rng = np.random.default_rng(0)
    assert len(visits(thetas, 10**9, 1.0, rng)) == 1001
    assert len(visits(thetas, 77, 1.0, rng)) == 77
    assert len(visits(thetas, 77, 0.0, rng)) == 1


@pytest.mark.parametrize(("K", "T"), [(2, 10), (15, 17), (1000, 2000), (10, 10**15)])
@pytest.mark.parametrize("options", [{"gap": 0.4, "d": 2}, {"gap": 0.01}], ids=str)
def test_the_largest_and_the_smallest_sizes(K, T, options):
    for V in (0.0, 1e-12, 1.0):
        path = path_of(K=K, T=T, B=min(T, max(K, 10**6)), V=V, **options)
        assert path.horizon == T
        assert path.variation() <= V * (1 + 1e-9)
        if V < 1e-3:
            assert len(path.mean) == 1


def test_a_path_is_its_seed_and_arms_are_alike():
    one, again = path_of(3), path_of(3, B=77)
    assert (one.mean == again.mean).all()
    assert (one.features == again.features).all()
    K, runs, t = 4, 400, 1701
    best = []
    for seed in range(runs):
        path = path_of(seed, K=K)
        best.append(path.best[np.searchsorted(path.start, t, side="right") - 1])
    often = np.bincount(best, minlength=K)
    assert abs(often - runs / K).max() < 4 * math.sqrt(runs / K * (1 - 1 / K))


def test_what_the_oracle_and_uniform_play_lose():
    sizes = {"K": 5, "T": 5000, "B": 1000, "V": 20.0}
    against = opponent({"name": "logistic_switching", "gap": 0.3}, Size(**sizes))
    for seed in range(3):
        means = draw_path(against, Size(5, 5000, 5000, 20.0), seed).means()
        lost = (means.max(axis=1) - means.mean(axis=1)).sum()
        row = play_cell(cell({"name": "uniform"}, Size(**sizes)), against, seed)
        assert row["regret"] == pytest.approx(lost)
        assert row["variation"] <= 20
        oracle = play_cell(cell({"name": "oracle"}, Size(**sizes)), against, seed)
        assert oracle["regret"] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("changed", "V", "said"),
    [
        ({}, 0.5, r"its variation 0\.6 exceeds the budget V=0\.5"),
        ({"end": [[0.3, 0.0], [0.0, 0.3]]}, 9, "theta must be constant in each segment of a logis"),
        ({"features": [[1.1, 0.0], [0.0, 1.0]]}, 9, "features must have norm at most 1"),
        ({"start": [1, 101]}, 9, r"cover each of the rounds 1\.\.100"),
        ({"start": [2, 50]}, 9, r"cover each of the rounds 1\.\.100"),
    ],
)
def test_refused_paths(changed, V, said):
    parts = {
        "start": [1, 50],
        "theta": [[0.6, 0.0], [0.0, 0.0]],
        "features": [[1.0, 0.0], [0.0, 1.0]],
    }
    whole = {key: np.array(value) for key, value in (parts | changed).items()}
    path = Structured.of(T=100, link="logistic", **whole)
    with pytest.raises(ConfeeError, match=said):
        path.checked(100, V)


def test_a_path_by_hand():
    """Features (1, 0) and (0, 1), theta (ln 3, 0) then (0, -ln 3): means 3/4, 1/2; 1/2, 1/4."""
    path = logistic_path([60, 40], [[math.log(3), 0], [0, -math.log(3)]], np.eye(2))
    assert path.mean == pytest.approx(np.array([[0.75, 0.5], [0.5, 0.25]]))
    assert path.best.tolist() == [0, 0]
    assert path.variation() == pytest.approx(math.log(3) * math.sqrt(2))
    assert path.pieces == 1
    row = plays.play("uniform", path, 10, 2.0, 0)
    assert row["regret"] == pytest.approx(100 * 0.125)
