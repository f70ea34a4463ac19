"""Contextual bandits: the game over rules of one step, FALCON, what plays it, and maps that jump.

The references below are plain and slow: a game is played round by round by enumeration, an instance
of FALCON is the list of all it has seen.
"""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from confee.core.canonical import canonical
from confee.core.errors import ConfeeError
from confee.core.size import Size
from confee.policies import POLICIES, falcon
from confee.simulation.cells import cell, opponent
from confee.simulation.play import draw_path, play
from confee.world import episodes, game
from confee.world.adversaries import contextual_switching
from confee.world.mdp import Episodes
from support import plays, reference
from support.draws import Instances, Never

few = settings(max_examples=40, derandomize=True, deadline=None)
COMPARED = [
    name for name in game.RECORDED if name not in ("regret_error", "regret_drift", "regret_no_data")
]


def chances_of(shape, rng):
    """Chances along the last axis, some of them 0."""
    drawn = rng.random(shape) * (rng.random(shape) < 0.7) + 1e-3 * (np.arange(shape[-1]) == 0)
    return drawn / drawn.sum(axis=-1, keepdims=True)


def path_of_class(lengths, S, A, N, rng, levels=None):
    """Segments whose truths are drawn from a class of N regressors, of random means."""
    regressors = rng.random((N, S, A)) if levels is None else rng.choice(levels, (N, S, A))
    start = 1 + np.append(0, np.cumsum(lengths)[:-1])
    truth = regressors[rng.integers(0, N, len(lengths))]
    first = chances_of((S,), rng)
    T = int(np.sum(lengths))
    return Episodes.contexts(start, first, truth, regressors, T).checked(T, np.inf)


# --------------------------------------------------------------------------- plain references


def pick(chances, rng):
    """One of the things that have `chances`; a sure one is not drawn."""
    if 1.0 in chances:
        return list(chances).index(1.0)
    u = rng.random()
    return min(int(np.searchsorted(np.cumsum(chances), u, side="right")), len(chances) - 1)


class Rules(reference.Record):
    """A game in which rules of contexts are played: [1, S, A], one step."""

    def __init__(self, path, B):
        rounds = np.repeat(np.arange(len(path.reward)), np.diff(path.start))
        self.reward, self.first = path.reward[rounds], path.first
        super().__init__(reference.Path(self.reward.reshape(len(rounds), -1)), B)
        self.variation = sum(
            sum(p * max(abs(after[x] - before[x])) for x, p in enumerate(self.first))
            for before, after in zip(self.reward[:-1], self.reward[1:], strict=True)
        )

    def anything(self):
        S, A = self.reward.shape[1:]
        return [np.full((1, S, A), 1 / A)]

    def loss(self, rule):
        """What `rule` loses in the next round, over all contexts and actions."""
        mean, lost = self.reward[len(self.queried)], 0.0
        for x, chance in enumerate(self.first):
            for a, played in enumerate(rule[0, x]):
                lost += chance * played * (max(mean[x]) - mean[x, a])
        return lost

    def query(self, rule, rng):
        mean, lost = self.reward[len(self.queried)], self.loss(rule)
        x = pick(self.first, rng)
        a = pick(rule[0, x], rng)
        self.queried.append(True)
        self.used += 1
        self.regret += lost
        self.regret_query += lost
        return float(rng.random() < mean[x, a]), (x, a)

    def idle(self, rules, feedback=None):
        self.regret += np.mean([self.loss(rule) for rule in rules])
        self.queried.append(False)


class Falcon:
    """An instance of FALCON: what it has seen and played."""

    def __init__(self, F, T, gamma, optimism):
        self.F, self.T, self.gamma, self.optimism = F, T, gamma, optimism
        self.seen, self.played = [], []

    @property
    def size(self):
        return len(self.seen)

    def choose(self, rng):
        """Ties: the first."""
        options = self.options()
        return options[0]

    def options(self):
        """(rule, f~) for each regressor of least squares, at the last of 0, 2, 4, 8, ... that the
        size has reached; ties of actions go to the first."""
        N, _, K = self.F.shape
        tau = 0
        while max(2, 2 * tau) <= self.size:
            tau = max(2, 2 * tau)
        data = self.seen[:tau]
        squares = np.array([sum((f[x, a] - r) ** 2 for x, a, r in data) for f in self.F])
        found = []
        for i in np.flatnonzero(squares <= squares.min() + 1e-9):
            f, gamma, value = self.F[i], 1.0, math.inf
            if tau:
                logarithm = math.log(N * tau * self.T)
                gamma = self.gamma * math.sqrt(K * tau / logarithm)
                value = np.mean([f[x].max() for x, _, _ in data])
                value += self.optimism * math.sqrt(K * logarithm / tau)
            rule = 1 / (K + gamma * (f.max(axis=1, keepdims=True) - f))
            for x, best in enumerate(f.argmax(axis=1)):
                rule[x, best] = 1 - (rule[x].sum() - rule[x, best])
            found.append((rule[None], min(1.0, value)))
        return found

    def observe(self, rule, reward, seen):
        self.seen.append((*seen, reward))
        self.played.append(rule)

    def frequencies(self):
        return list(self.played)


class OverFalcon:
    """FALCON as a base algorithm of the reference."""

    def __init__(self, F, T, gamma=1.0, optimism=1.0):
        self.F, self.arguments = F, (F, T, gamma, optimism)

    def new(self):
        return Falcon(*self.arguments)

    def rho(self, t):
        N, _, K = self.F.shape
        return math.sqrt(K * (math.log(N) + math.log(1 + t)) / t)

    def chance(self, m, n):
        return self.rho(2**n) / self.rho(2**m)


class Draws:
    """Random numbers for both sides: the game's from one stream, and the first of all ties."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed).random

    def integers(self, low, high):
        return low


def least_squares(instance, tau, known, rng):
    return falcon.least_squares.py_func(instance, tau, known, Never())


def weigh(means, gamma, chances, rng):
    return falcon.weigh.py_func(means, gamma, chances, Never())


FIRST_OF_TIES = {"least_squares": least_squares, "weigh": weigh}


def same(row, record):
    theirs = record.summary()
    for name in COMPARED:
        assert row[name] == pytest.approx(theirs[name], rel=1e-9, abs=1e-9), name


# --------------------------------------------------------------------------- the game


@few
@given(data=st.data())
def test_game_is_that_of_rounds_played_one_by_one(data):
    """Two memories and a copy of one, rules that come again or are new, runs over segments."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    S, A = data.draw(st.integers(1, 3)), data.draw(st.integers(2, 3))
    lengths = data.draw(st.lists(st.integers(1, 12), min_size=1, max_size=4))
    path = path_of_class(lengths, S, A, 3, rng)
    record = Rules(path, path.horizon)

    def shown(memory, reward, seen):
        x, a = seen
        assert memory[episodes.SEEN : episodes.SEEN + 3].tolist() == [x, a, reward]

    rules = chances_of((4, 1, S, A), rng)
    ledger = plays.episodes_at_random(path, rules, record, falcon.replayed, shown, rng)
    assert not ledger.wrong
    assert not ledger.faults
    same(game.settle(ledger, path), record)


@few
@given(seed=st.integers(0, 2**32), A=st.integers(2, 4))
def test_one_context_is_arms(seed, A):
    """With one context a rule is chances of arms, and both games have the same accounts."""
    rng = np.random.default_rng(seed)
    path = path_of_class([9, 5, 20], 1, A, 3, rng)
    arms = plays.pieces([9, 5, 20], path.reward[:, 0], path.reward[:, 0])
    world, other = episodes.new_world(path), game.new_world(arms)
    ledger, theirs = game.new_ledger(), game.new_ledger()
    memory, data = episodes.new_memories(1, world)[0], game.new_data(A)
    pure = np.eye(A)[:, None, None, :]
    weights = np.zeros(A)
    for t in range(1, 35):
        if t % 3:
            arm = int(rng.integers(A))
            draws = int(rng.integers(2**32))
            episodes.query(world, ledger, memory, t, pure[arm], np.random.default_rng(draws))
            game.query(other, theirs, data, t, arm, rng)
            weights[arm] += 1
        else:
            episodes.idle(world, ledger, memory, t, t + 1, memory, rng)
            game.idle(other, theirs, data, t, t + 1, weights, rng)
    assert ledger.regret_query == pytest.approx(theirs.regret_query, rel=1e-12)
    assert ledger.regret_idle == pytest.approx(theirs.regret_idle, rel=1e-12)
    assert path.top == pytest.approx(arms.mean.max(axis=1))


def test_contexts_actions_and_rewards_have_their_chances():
    """20000 looks at one rule: every frequency within 4 standard errors."""
    rng = np.random.default_rng(3)
    n, S, A = 20_000, 3, 2
    path = path_of_class([n], S, A, 2, rng)
    world, ledger = episodes.new_world(path), game.new_ledger()
    memory, rule = episodes.new_memories(1, world)[0], chances_of((1, S, A), rng)
    often, paid = np.zeros((S, A)), np.zeros((S, A))
    for t in range(1, n + 1):
        reward = episodes.query(world, ledger, memory, t, rule, rng)
        x, a = memory[episodes.SEEN : episodes.SEEN + 2].astype(int)
        often[x, a] += 1
        paid[x, a] += reward
    for count, total, chance in (
        (often, n, path.first[:, None] * rule[0]),
        (paid, often, path.reward[0]),
    ):
        assert (abs(count - total * chance) <= 4 * np.sqrt(total * chance * (1 - chance))).all()
    lost = path.first @ (path.reward[0].max(axis=1) - (rule[0] * path.reward[0]).sum(axis=1))
    assert ledger.regret_query == pytest.approx(n * lost)


def test_what_is_no_path_of_contexts_is_refused():
    class_ = np.array([[[0.2, 0.9]], [[0.9, 0.2]]])

    def checked(first=(1.0,), reward=class_, regressors=class_, V=9):
        start = np.arange(len(reward)) * 5 + 1
        path = Episodes.contexts(start, np.array(first), reward, regressors, 10)
        return path.checked(10, V)

    assert checked().variation() == pytest.approx(0.7)
    with pytest.raises(ConfeeError, match="must be one of the regressors"):
        checked(regressors=class_[:1])
    with pytest.raises(ConfeeError, match="outside"):
        checked(reward=class_ * 2, regressors=class_ * 2)
    with pytest.raises(ConfeeError, match="first must hold chances that sum to 1"):
        checked(first=(0.9,))
    with pytest.raises(ConfeeError, match=r"0\.7 exceeds the budget V=0\.6"):
        checked(V=0.6)


# --------------------------------------------------------------------------- FALCON


def started(F, T=1000, **options):
    """(instance, constants, data) of an instance that has seen nothing."""
    constants = falcon.constants(F, T, falcon.Options(**options))
    instance = falcon.new_instances(1, F, constants)[0]
    falcon.begin(instance, F, constants)
    return instance, constants, np.zeros(episodes.SEEN + 3)


def learn(instance, F, constants, data, x, a, reward):
    data[episodes.SEEN : episodes.SEEN + 3] = x, a, reward
    falcon.learn(instance, F, constants, data, None, reward)


@few
@given(
    seed=st.integers(0, 2**32),
    N=st.integers(1, 5),
    S=st.integers(1, 3),
    K=st.integers(2, 4),
    gamma=st.sampled_from([1.0, 1 / 30, 7.0]),
    optimism=st.sampled_from([1.0, 0.0, 0.3]),
)
def test_falcon_is_its_plain_reference(seed, N, S, K, gamma, optimism):
    """The compiled functions on any data, over 40 observations: the rule and f~ of an epoch are
    those of one of the regressors that fit best; and the instance can begin anew."""
    rng = np.random.default_rng(seed)
    F, T = rng.random((N, S, K)), int(rng.integers(1, 10**6))
    instance, constants, data = started(F, T, gamma=gamma, optimism=optimism)
    for _ in range(2):
        plain = Falcon(F, T, gamma, optimism)
        falcon.begin(instance, F, constants)
        for tau in range(40):
            rule, value = falcon.act(instance, tau, F, constants, rng)
            assert rule.shape == (1, S, K)
            assert any(
                value == pytest.approx(v, rel=1e-9) and rule == pytest.approx(r, rel=1e-9)
                for r, v in plain.options()
            )
            x, a, reward = rng.integers(S), rng.integers(K), float(rng.integers(2))
            learn(instance, F, constants, data, x, a, reward)
            plain.observe(rule.copy(), reward, (x, a))


@few
@given(
    means=st.lists(st.sampled_from([0.0, 0.25, 0.3, 0.5, 1.0]), min_size=2, max_size=6),
    gamma=st.floats(0, 1e9),
)
def test_inverse_gap_weighting(means, gamma):
    """Chances sum to 1; what is lost by the estimate is less than K / gamma, and each action's
    chance at least 1 / (K + gamma gap): the two inequalities of FALCON's analysis."""
    means = np.array(means)
    K, chances = len(means), np.zeros(len(means))
    assert falcon.weigh(means, gamma, chances, np.random.default_rng(0)) == means.max()
    gaps = means.max() - means
    assert chances.sum() == pytest.approx(1, abs=1e-12)
    assert (chances >= 1 / (K + gamma * gaps) - 1e-12).all()
    assert (chances @ gaps) * gamma <= K - 1 + 1e-9
    assert chances[gaps == 0].max() >= chances.max() - 1e-12


def test_ties_are_broken_at_random():
    """Members that fit alike, and actions that are alike, within 4 standard errors."""
    runs, rng = 3000, np.random.default_rng(1)
    deviation = np.sqrt(runs * (1 / 3) * (2 / 3))
    F = np.array([[[0.3, 0.9, 0.1]], [[0.3, 0.1, 0.9]], [[0.3, 0.5, 0.5]], [[0.6, 0.5, 0.5]]])
    instance, constants, data = started(F)
    learn(instance, F, constants, data, 0, 0, 0.0)
    learn(instance, F, constants, data, 0, 0, 1.0)
    learn(instance, F, constants, data, 0, 0, 0.0)
    found = [falcon.least_squares(instance, 3, F, rng) for _ in range(runs)]
    often = np.bincount(found, minlength=4)
    assert often[3] == 0
    assert abs(often[:3] - runs / 3).max() < 4 * deviation
    chances, means = np.zeros(4), np.array([0.5, 0.7, 0.7, 0.7])
    best = []
    for _ in range(runs):
        falcon.weigh(means, 10.0, chances, rng)
        best.append(chances.argmax())
    often = np.bincount(best, minlength=4)
    assert often[0] == 0
    assert abs(often[1:] - runs / 3).max() < 4 * deviation
    # Before the first observation: any member.
    F = np.array([[[0.9, 0.1]], [[0.1, 0.9]]])
    led = []
    for _ in range(runs):
        instance, constants, _ = started(F)
        rule, value = falcon.act(instance, 0, F, constants, rng)
        assert value == 1.0
        led.append(rule[0, 0].argmax())
    assert abs(np.mean(led) - 1 / 2) < 4 * np.sqrt(1 / 4 / runs)


def test_sums_that_differ_by_rounding_are_ties():
    """The same observations of two arms, of means that have no exact squares."""
    rng = np.random.default_rng(2)
    f = np.array([0.1, 0.7, 0.3, 0.6])
    F = np.array([f, f[::-1]])[:, None, :]
    instance, constants, data = started(F)
    for a in range(4):
        for reward in rng.integers(0, 2, 7):
            learn(instance, F, constants, data, 0, a, float(reward))
            learn(instance, F, constants, data, 0, 3 - a, float(reward))
    found = [falcon.least_squares(instance, 56, F, rng) for _ in range(400)]
    assert abs(np.mean(found) - 0.5) < 4 * 0.5 / 20


@pytest.mark.parametrize("T", [400, 1024])
def test_one_regressor_is_known_from_the_start(T):
    """Nothing is random but rewards: in epoch m a rule loses (K - 1) gap / (K + gamma_m gap)."""
    K, gap, B = 3, 0.4, T
    F = np.full((1, 2, K), 0.3)
    F[0, 0, 1] += gap
    F[0, 1, 2] += gap
    path = Episodes.contexts(np.ones(1), np.array([0.3, 0.7]), F, F, T).checked(T, 0)
    lost = np.zeros(T + 1)
    for t in range(1, T + 1):  # of the t-th query
        tau = 0 if t <= 2 else 2 ** (math.ceil(math.log2(t)) - 1)
        gamma = math.sqrt(K * tau / math.log(tau * T)) if tau else 1.0
        lost[t] = (K - 1) * gap / (K + gamma * gap)
    assert plays.play("falcon", path, B, 0.0, 1)["regret"] == pytest.approx(lost.sum())
    # Every other round: an idle one loses what the queries so far did on average.
    expected = sum(lost[i] + lost[1 : i + 1].mean() for i in range(1, T // 2 + 1))
    assert plays.play("falcon", path, T // 2, 0.0, 1)["regret"] == pytest.approx(expected)


def test_one_context_and_a_context_that_says_nothing():
    """K arms and a class: whether their rounds come in one context or in two that are alike, rule
    and f~ are the same; and they are those of a bandit with that class."""
    rng = np.random.default_rng(5)
    class_ = rng.random((4, 1, 3))
    one, constants, data = started(class_)
    two, _, _ = started(np.repeat(class_, 2, axis=1))
    arms, rewards = [], []
    for tau in range(200):
        rule, value = falcon.act(one, tau, class_, constants, rng)
        both, as_much = falcon.act(two, tau, np.repeat(class_, 2, axis=1), constants, rng)
        if tau >= 2:  # before it, any member
            assert both[0, 0] == pytest.approx(rule[0, 0])
            assert both[0, 1] == pytest.approx(rule[0, 0])
            assert as_much == pytest.approx(value)
        if tau == 128:
            errors = [np.sum((f[0, arms] - rewards) ** 2) for f in class_]
            assert rule[0, 0].argmax() == class_[np.argmin(errors), 0].argmax()
        arm, reward = int(rng.integers(3)), float(rng.random() < 0.2 + 0.3 * (tau % 3))
        arms.append(arm)
        rewards.append(reward)
        learn(one, class_, constants, data, 0, arm, reward)
        learn(two, np.repeat(class_, 2, axis=1), constants, data, tau % 2, arm, reward)


@pytest.mark.parametrize("shape", [(1, 1, 2), (2, 1, 2), (16, 8, 4), (1000, 3, 20)])
def test_rho_is_what_the_assumption_wants(shape):
    known = np.zeros(shape)
    t = np.unique(np.geomspace(1, 1e12, 400).astype(int))
    rho = np.array([falcon.rho(int(n), known) for n in t])
    assert (np.diff(rho) < 0).all()
    assert (np.diff(t * rho) > 0).all()
    assert (rho >= 1 / np.sqrt(t)).all()
    assert rho == pytest.approx([OverFalcon(known, 1).rho(int(n)) for n in t])
    for n in (0, 1, 9):
        ratios = [falcon.rho(2**n, known) / falcon.rho(2**m, known) for m in range(n + 1)]
        assert falcon.FALCON.chances(n, known) == pytest.approx(ratios)
        assert ratios[n] == 1


def test_assumption_in_a_world_that_stands_still():
    """f~ is at least f*, and exceeds the rewards by rho(t) on average up to the logarithm of its
    confidence, in all of 20 runs at any time."""
    T, K = 2000, 3
    against = opponent({"name": "contextual_switching", "gap": 0.4}, Size(K=K, T=T, B=T, V=0))
    for seed in range(20):
        path = draw_path(against, Size(K, T, T, 0.0), seed)
        world, ledger, rng = (
            episodes.new_world(path),
            game.new_ledger(),
            np.random.default_rng(seed),
        )
        F = path.regressors
        instance, constants, _ = started(F, T)
        memory = episodes.new_memories(1, world)[0]
        excess = 0.0
        for tau in range(600):
            rule, value = falcon.act(instance, tau, F, constants, rng)
            reward = episodes.query(world, ledger, memory, tau + 1, rule, rng)
            falcon.learn(instance, F, constants, memory, rule, reward)
            assert value >= path.top[0]
            excess += value - reward
            assert excess <= 3 * (tau + 1) * falcon.rho(tau + 1, F)


def test_options_reach_the_rule():
    """A small gamma explores more, and loses more where nothing changes."""
    T, K = 4000, 4
    against = opponent({"name": "contextual_switching", "gap": 0.5}, Size(K=K, T=T, B=T, V=0))
    path = draw_path(against, Size(K, T, T, 0.0), 1)
    lost = [plays.play("falcon", path, T, 0.0, 1, gamma=g)["regret"] for g in (1 / 30, 1.0, 30.0)]
    assert lost[0] > 1.5 * lost[1] > 1.5**2 * lost[2]


# --------------------------------------------------------------------------- what plays it


def jumping(seed, T, K=3, V=2.0, **options):
    """A small path of the adversary: three contexts, six maps."""
    sizes = {"contexts": 3, "maps": 6, "gap": 0.4, **options}
    against = opponent({"name": "contextual_switching", **sizes}, Size(K=K, T=T, B=T, V=V))
    return draw_path(against, Size(K, T, T, V), seed)


def paths(T, seed):
    """One of the adversary, and one of any means."""
    yield jumping(seed, T)
    lengths = [T // 3, T // 4, T - T // 3 - T // 4]
    yield path_of_class(lengths, 2, 2, 5, np.random.default_rng(seed))


@pytest.mark.parametrize("B", [20, 110, 200])
@pytest.mark.parametrize("options", [{}, {"gamma": 1 / 30}], ids=str)
def test_falcon_paced_plays_as_the_reference(B, options):
    T = 200
    kernel = plays.plain(POLICIES["falcon"].kernel, deep=True, **FIRST_OF_TIES)
    for seed, path in enumerate(paths(T, B)):
        row = plays.play("falcon", path, B, 9.0, Draws(seed), kernel=kernel, **options)
        record = Rules(path, B)
        base = OverFalcon(path.regressors, T, **options)
        reference.play_planned(record, Draws(seed), base, reference.paced(T, B))
        same(row, record)


class Restarts:
    """The queries before which both sides restart."""

    def __init__(self, rate, seed):
        self.coins = np.random.default_rng(seed)
        self.rate = rate

    def __call__(self):
        return self.coins.random() < self.rate

    def next_restart(self, start, rate, B, rng):
        assert rate == pytest.approx(self.rate)
        after = start + 1
        while not self():
            after += 1
        return after


@pytest.mark.parametrize("B", [60, 200])
def test_falcon_restarted_plays_as_the_reference(B):
    T, V = 200, 1.5
    for seed, path in enumerate(paths(T, B)):
        N, _, K = path.regressors.shape
        rate = (2 * V / (math.sqrt(K * math.log(N)) * B)) ** (2 / 3)
        kernel = plays.plain(
            POLICIES["falcon_restarted"].kernel,
            deep=True,
            next_restart=Restarts(rate, seed).next_restart,
            **FIRST_OF_TIES,
        )
        row = plays.play("falcon_restarted", path, B, V, Draws(seed), kernel=kernel)
        record = Rules(path, B)
        reference.play_planned(
            record,
            Draws(seed),
            OverFalcon(path.regressors, T),
            reference.paced(T, B),
            Restarts(rate, seed),
        )
        assert row["restarts"] > 0
        same(row, record)


@pytest.mark.parametrize("B", [20, 75, 140, 199, 200])
@pytest.mark.parametrize(
    ("scale", "quota"),
    [(1.0, "horizon"), (1.0, "block"), (0.0008, "horizon"), (0.0003, "horizon"), (0.0, "block")],
)
def test_hyque_over_falcon_plays_as_the_reference(B, scale, quota, monkeypatch):
    T, options = 200, {"scale": scale, "quota": quota}
    for seed, path in enumerate(paths(T, B)):
        instances = Instances(seed)
        kernel = plays.plain(
            POLICIES["hyque_falcon"].kernel,
            deep=True,
            draw_started=instances.draw_started,
            **FIRST_OF_TIES,
        )
        row = plays.play("hyque_falcon", path, B, 9.0, Draws(seed), kernel=kernel, **options)
        monkeypatch.setattr(reference, "schedule", Instances(seed).plain)
        record = Rules(path, B)
        reference.play_hyque(record, Draws(seed), OverFalcon(path.regressors, T), **options)
        monkeypatch.undo()
        same(row, record)
        if scale in (0.0, 0.0003) and B > 20:
            assert row["restarts"] > 0


def test_compiled_kernels_agree_in_distribution():
    """Regret of the compiled HyQue, whose ties are random, and of the reference with the first."""
    T, B, scale = 150, 90, 0.0008
    ours, theirs = [], []
    for seed in range(40):
        path = jumping(seed, T)
        ours.append(
            np.mean(
                [
                    plays.play("hyque_falcon", path, B, 2.0, s, scale=scale)["regret"]
                    for s in range(seed * 8, seed * 8 + 8)
                ]
            )
        )
        record = Rules(path, B)
        reference.play_hyque(record, Anyhow(seed), OverFalcon(path.regressors, T), scale=scale)
        theirs.append(record.regret)
    assert stats.ttest_rel(ours, theirs).pvalue > 1e-4


class Anyhow:
    """Random numbers of the game and of the schedule."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed).random


@pytest.mark.parametrize(
    ("policy", "share"), [("falcon", 0.3), ("falcon_restarted", 0.3), ("hyque_falcon", 0.8)]
)
def test_learns_where_nothing_changes(policy, share):
    """Better than uniform play, and the better the larger the budget. HyQue plays many instances
    that are short: on arms, too, it loses twenty times what UCB1 does here."""
    T, K = 200_000, 3
    against = opponent({"name": "contextual_switching", "gap": 0.5}, Size(K=K, T=T, B=T, V=0))
    path = draw_path(against, Size(K, T, T, 0.0), 1)
    uniform = plays.play("uniform_contextual", path, T, 0.0, 1)["regret"]
    assert uniform == pytest.approx(0.5 * (1 - 1 / K) * T)
    lost = [
        np.mean([plays.play(policy, path, B, 0.0, s)["regret"] for s in range(3)])
        for B in (500, 5000, 50_000)
    ]
    assert uniform > lost[0] > 1.03 * lost[1] > 1.03**2 * lost[2]
    assert lost[2] < share * uniform


def test_restarts_pay_where_much_changes():
    T, B, V = 200_000, 50_000, 4.0
    ratios = []
    for seed in range(4):
        path = jumping(seed, T, V=V, gap=0.5, contexts=8, maps=16)
        old, new = (
            plays.play(p, path, B, V, seed)["regret"] for p in ("falcon", "falcon_restarted")
        )
        ratios.append(new / old)
    assert np.mean(ratios) < 0.9


def test_policies_of_arms_do_not_meet_contexts():
    sizes = {"K": 3, "T": 1000, "B": 100, "V": 1.0}
    against = opponent({"name": "contextual_switching"}, Size(**sizes))
    with pytest.raises(ConfeeError, match=r"policy=ucb1, adversary=contextual_switching: .*arms"):
        play(cell({"name": "ucb1"}, Size(**sizes)), against, 0)
    assert play(cell({"name": "falcon"}, Size(**sizes)), against, 0)["queries"] == 100


# --------------------------------------------------------------------------- maps that jump


SIZES = {"K": 3, "T": 5000, "B": 1000, "V": 2.0}
every_conf = pytest.mark.parametrize(
    "conf",
    [
        {"gap": 0.3},
        {"gap": 0.5, "levels": 1, "maps": 2},
        {"gap": 0.07, "levels": 3, "contexts": 2, "maps": 9},
        {"gap": 0.2, "contexts": 1, "maps": 2},
        {"gap": 0.9},
        {"gap": 1.0, "levels": 1},
    ],
    ids=str,
)


def drawn(conf, seed=0, **sizes):
    sizes = SIZES | sizes
    against = opponent({"name": "contextual_switching", **conf}, Size(**sizes))
    return draw_path(against, Size(sizes["K"], sizes["T"], sizes["T"], sizes["V"]), seed)


@every_conf
def test_variation_is_exact_and_paid_for(conf):
    for seed in range(4):
        path = drawn(conf, seed)
        assert path.variation() == pytest.approx(Rules(path, 1).variation, abs=1e-9)
        # The next jump, that was too much, would have cost the gap at most.
        assert SIZES["V"] - conf["gap"] <= path.variation() <= SIZES["V"]
        assert len(path.reward) == path.pieces
        assert np.ptp(np.diff(path.start)) <= 1
        assert path.horizon == SIZES["T"]


@every_conf
def test_the_class_is_maps_at_levels(conf):
    path = drawn(conf)
    spec = contextual_switching.Options(**conf)
    F = path.regressors
    assert F.shape == (spec.maps * spec.levels, spec.contexts, 3)
    assert len({f.tobytes() for f in F}) == len(F)
    tops = F.max(axis=2)
    assert (tops == tops[:, :1]).all()
    leads = [spec.gap * level / spec.levels for level in range(1, spec.levels + 1)]
    low = min(0.5, 1 - spec.gap)
    assert np.unique(tops) == pytest.approx(low + np.array(leads))
    assert ((low == F).sum(axis=2) == 2).all()
    assert path.top == pytest.approx(low + spec.gap)
    assert path.first.sum() == pytest.approx(1)


@few
@given(data=st.data())
def test_stays_within_its_budget(data):
    K = data.draw(st.integers(2, 50))
    T = data.draw(st.integers(K, 10 ** data.draw(st.integers(1, 9)) + K))
    V = data.draw(st.sampled_from([0.0, 1e-9, 0.1, 0.25, 1.0, 3.7, 20.0]) | st.floats(0, 50))
    conf = {"gap": data.draw(st.sampled_from([0.05, 0.3, 0.5, 1.0]))}
    sizes = {"K": K, "T": T, "B": T, "V": V}
    against = opponent({"name": "contextual_switching", **conf}, Size(**sizes))
    assert json.loads(json.dumps(against.key)) == canonical(against.key)
    path = draw_path(against, Size(K, T, T, V), data.draw(st.integers(0, 10**6)))
    assert path.variation() <= V * (1 + 1e-9) + 1e-15
    assert len(path.reward) == T or V - path.variation() < conf["gap"]


def test_a_path_is_its_seeds_and_no_change_without_variation():
    one, again = drawn({}, 3), drawn({}, 3, B=50)
    for field in ("start", "first", "reward", "regressors"):
        assert (getattr(one, field) == getattr(again, field)).all()
    assert len({drawn({}, seed).reward.tobytes() for seed in range(8)}) == 8
    still = drawn({}, V=0.0)
    assert (len(still.reward), still.variation()) == (1, 0)


def test_actions_are_alike_and_jumps_go_anywhere():
    """Over 240 seeds each action is the good one of a context as often, and the next map any of the
    others: within 4 standard errors."""
    K, runs = 3, 240
    best = [drawn({}, seed).reward[2, 5].argmax() for seed in range(runs)]
    often = np.bincount(best, minlength=K)
    assert abs(often - runs / K).max() < 4 * np.sqrt(runs / K * (1 - 1 / K))
    rng = np.random.default_rng(0)
    cost = np.ones((4, 4))
    walks = np.array([contextual_switching.walk(cost, 3.0, 99, rng) for _ in range(runs)])
    assert walks.shape == (runs, 4)
    assert (np.diff(walks) != 0).all()
    for counted, count in ((walks[:, 0], 4), ((walks[:, 1] - walks[:, 0]) % 4 - 1, 3)):
        often = np.bincount(counted, minlength=count)
        deviation = np.sqrt(runs / count * (1 - 1 / count))
        assert abs(often - runs / count).max() < 4 * deviation
    assert len(contextual_switching.walk(cost, 99.0, 7, rng)) == 7  # no more than rounds


def test_the_best_value_is_known_at_once_if_there_is_one_level():
    """Why there are several: with one, f~ without its width is f* whatever was seen."""
    rng = np.random.default_rng(0)
    found = {}
    for levels in (1, 2):
        path = drawn({"gap": 0.4, "levels": levels})
        F = path.regressors
        instance, constants, data = started(F, optimism=0.0)
        for i in range(64):
            learn(instance, F, constants, data, i % 8, int(rng.integers(3)), float(i % 2))
        found[levels] = falcon.act(instance, 64, F, constants, rng)[1]
    assert found[1] == pytest.approx(0.9)
    assert found[2] < 0.8


def test_more_maps_than_there_are():
    with pytest.raises(ConfeeError, match=r"adversary.maps=16: must be at most K\^contexts=9"):
        drawn({"contexts": 2})
    path = drawn({"contexts": 2, "maps": 9})  # all of them
    assert len({f.tobytes() for f in path.regressors[:9]}) == 9
    with pytest.raises(ConfeeError, match=r"adversary\.gap=1\.1"):
        drawn({"gap": 1.1})
