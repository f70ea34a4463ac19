"""Episodic decision problems: values, the game over rules of several steps, Q-UCB and what plays
it, and good actions that jump.

The references below are plain and slow: values are sums over all trajectories or all rules, a game
is played round by round, and Q-UCB is its update written down over dictionaries.
"""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confee.core.canonical import canonical
from confee.core.errors import ConfeeError
from confee.core.size import Size
from confee.policies import POLICIES, q_ucb
from confee.simulation.cells import cell, opponent
from confee.simulation.play import draw_path, play
from confee.world import episodes, game
from confee.world.adversaries import episodic_switching, switching
from confee.world.mdp import Episodes
from confee.world.path import Path
from support import plays, reference
from support.draws import Instances

few = settings(max_examples=40, derandomize=True, deadline=None)
COMPARED = [
    name for name in game.RECORDED if name not in ("regret_error", "regret_drift", "regret_no_data")
]


def chances_of(shape, rng):
    """Chances along the last axis, some of them 0."""
    drawn = rng.random(shape) * (rng.random(shape) < 0.7) + 1e-3 * (np.arange(shape[-1]) == 0)
    return drawn / drawn.sum(axis=-1, keepdims=True)


def sure(shape, rng):
    """A rule that takes one action in each step and state."""
    return np.eye(shape[2])[rng.integers(0, shape[2], shape[:2])]


def random_path(lengths, H, S, A, rng, laws=2):
    """Segments of random rewards; moves from a few laws, so that some come again."""
    start = 1 + np.append(0, np.cumsum(lengths)[:-1])
    reward = rng.random((len(lengths), S, A))
    move = chances_of((laws, S, A, S), rng)[rng.integers(0, laws, len(lengths))]
    T = int(np.sum(lengths))
    return Episodes.episodic(start, reward, move, H, T).checked(T, np.inf)


@st.composite
def worlds(draw, H=4, S=3, A=3, longest=12):
    """(path, rng)."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    lengths = draw(st.lists(st.integers(1, longest), min_size=1, max_size=4))
    sizes = (draw(st.integers(1, most)) for most in (H, S, A))
    return random_path(lengths, *sizes, rng), rng


# --------------------------------------------------------------------------- plain references


def by_trajectories(reward, move, rule):
    """The value of `rule` in one MDP: the sum over all ways an episode from state 0 can go."""
    H, S, A = rule.shape
    total = 0.0
    for steps in itertools.product(itertools.product(range(S), range(A)), repeat=H):
        if steps[0][0] != 0:
            continue
        chance = math.prod(rule[h, s, a] for h, (s, a) in enumerate(steps))
        chance *= math.prod(move[s, a, x] for (s, a), (x, _) in itertools.pairwise(steps))
        total += chance * sum(reward[s, a] for s, a in steps)
    return total / H


def by_states(reward, move, rule, h=0, s=0):
    """What `rule` gains from step h in state s on, over H."""
    H, S, A = rule.shape
    if h == H:
        return 0.0
    return sum(
        rule[h, s, a]
        * (
            reward[s, a] / H
            + sum(move[s, a, x] * by_states(reward, move, rule, h + 1, x) for x in range(S))
        )
        for a in range(A)
        if rule[h, s, a] > 0
    )


def all_rules(H, S, A):
    for actions in itertools.product(range(A), repeat=H * S):
        yield np.eye(A)[np.reshape(actions, (H, S))]


def best(reward, move, H):
    """The value of the best rule, from the last step back."""
    to_go = [0.0] * len(reward)
    for _ in range(H):
        to_go = [
            max(
                reward[s, a] + sum(p * v for p, v in zip(move[s, a], to_go, strict=True))
                for a in range(reward.shape[1])
            )
            for s in range(len(reward))
        ]
    return to_go[0] / H


def pick(chances, rng):
    """One of the things that have `chances`; a sure one is not drawn."""
    if 1.0 in chances:
        return list(chances).index(1.0)
    u = rng.random()
    return min(int(np.searchsorted(np.cumsum(chances), u, side="right")), len(chances) - 1)


class Rules(reference.Record):
    """A game in which rules [H, S, A] are played."""

    def __init__(self, path, B):
        self.segment = np.repeat(np.arange(len(path.reward)), np.diff(path.start))
        self.shape, self.reward, self.move = path.shape, path.reward, path.move
        super().__init__(reference.Path(np.full((len(self.segment), 1), 0.5)), B)
        self.top = [best(r, p, path.H) for r, p in zip(path.reward, path.move, strict=True)]
        self.variation = sum(
            sum(
                np.abs(self.reward[j] - self.reward[i]).max() / path.H
                + max(
                    np.abs(self.move[j, s, a] - self.move[i, s, a]).sum()
                    for s in range(path.shape[1])
                    for a in range(path.shape[2])
                )
                for _ in range(path.H)
            )
            for i, j in itertools.pairwise(self.segment)
        )
        self.losses = {}

    def anything(self):
        H, S, A = self.shape
        return [np.full((H, S, A), 1 / A)]

    def loss(self, rule):
        """What `rule` loses in the next round."""
        i = self.segment[len(self.queried)]
        key = (i, rule.tobytes())
        if key not in self.losses:
            self.losses[key] = self.top[i] - by_states(self.reward[i], self.move[i], rule)
        return self.losses[key]

    def query(self, rule, rng):
        i, lost = self.segment[len(self.queried)], self.loss(rule)
        s, steps = 0, []
        for h in range(self.shape[0]):
            a = pick(rule[h, s], rng)
            steps.append((s, a, float(rng.random() < self.reward[i, s, a])))
            if h + 1 < self.shape[0]:
                s = pick(self.move[i, s, a], rng)
        self.queried.append(True)
        self.used += 1
        self.regret += lost
        self.regret_query += lost
        return sum(r for _, _, r in steps) / self.shape[0], steps

    def idle(self, rules, feedback=None):
        self.regret += np.mean([self.loss(rule) for rule in rules])
        self.queried.append(False)


def leader(values, rng):
    """Where the largest is; of several any, by the numbers that the kernel draws for it."""
    if values.count(max(values)) == 1:
        return values.index(max(values))
    leading, ties = 0, 1
    for i in range(1, len(values)):
        if values[i] > values[leading]:
            leading, ties = i, 1
        elif values[i] == values[leading]:
            ties += 1
            leading = i if rng.random() * ties < 1 else leading
    return leading


class QUCB:
    """An instance of Q-UCB."""

    def __init__(self, shape, T, bonus):
        self.shape, self.bonus = shape, bonus
        H, S, A = shape
        self.iota = math.log(S * A * T * H / (1 / T))
        self.Q = {key: H for key in itertools.product(range(H), range(S), range(A))}
        self.visits = dict.fromkeys(self.Q, 0)
        self.V = {(h, s): H for h in range(H) for s in range(S)} | {(H, s): 0 for s in range(S)}
        self.unsettled = [(h, s) for h in range(H) for s in range(S)]
        self.actions = {}
        self.size, self.played = 0, []

    def choose(self, rng):
        for h, s in self.unsettled:
            self.actions[h, s] = leader([self.Q[h, s, a] for a in range(self.shape[2])], rng)
        self.unsettled = []
        rule = np.zeros(self.shape)
        for (h, s), a in self.actions.items():
            rule[h, s, a] = 1.0
        return rule, min(1.0, self.V[0, 0] / self.shape[0])

    def observe(self, rule, reward, steps):
        H, _, A = self.shape
        before = dict(self.V)
        for h, (s, a, r) in enumerate(steps):
            self.visits[h, s, a] += 1
            t = self.visits[h, s, a]
            alpha, b = (H + 1) / (H + t), self.bonus * math.sqrt(H**3 * self.iota / t)
            after = before[h + 1, steps[h + 1][0] if h + 1 < H else 0]
            self.Q[h, s, a] = (1 - alpha) * self.Q[h, s, a] + alpha * (r + after + b)
            self.V[h, s] = min(H, max(self.Q[h, s, x] for x in range(A)))
            self.unsettled.append((h, s))
        assert reward == pytest.approx(sum(r for _, _, r in steps) / H)
        self.size += 1
        self.played.append(rule)

    def frequencies(self):
        return list(self.played)


class OverQUCB:
    """Q-UCB as a base algorithm of the reference."""

    def __init__(self, shape, T, bonus):
        self.arguments = shape, T, bonus

    def new(self):
        return QUCB(*self.arguments)

    def rho(self, t):
        H, S, A = self.arguments[0]
        return math.sqrt(H**3 * S * A * math.log(1 + t) / t) + H**2 * S * A / t

    def chance(self, m, n):
        return self.rho(2**n) / self.rho(2**m)


def same(row, record):
    theirs = record.summary()
    for name in COMPARED:
        assert row[name] == pytest.approx(theirs[name], rel=1e-9, abs=1e-9), name


# --------------------------------------------------------------------------- values


def kernel_value(path, rule, segment):
    """The value of `rule` in a segment, as the game accounts it."""
    world, memory = episodes.new_world(path), episodes.new_memories(1, episodes.new_world(path))[0]
    ledger = game.new_ledger()
    ledger.next = t = int(path.start[segment])
    episodes.query(world, ledger, memory, t, rule, np.random.default_rng(0))
    assert not ledger.wrong
    return path.top[segment] - ledger.regret_query


@few
@given(drawn=worlds(H=3, S=2, A=3))
def test_values_are_sums_over_trajectories(drawn):
    path, rng = drawn
    for rule in (sure(path.shape, rng), chances_of(path.shape, rng)):
        found = path.value(rule)
        for i, (reward, move) in enumerate(zip(path.reward, path.move, strict=True)):
            exact = by_trajectories(reward, move, rule)
            assert found[i] == pytest.approx(exact, abs=1e-12)
            assert by_states(reward, move, rule) == pytest.approx(exact, abs=1e-12)
            assert kernel_value(path, rule, i) == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize(
    "sizes", [(1, 1, 4), (1, 3, 3), (3, 2, 2), (2, 3, 2), (2, 2, 3), (4, 1, 3)]
)
def test_the_best_rule_is_the_best_of_all(sizes):
    """All A^(HS) rules that take one action in each step and state, and some that do not."""
    rng = np.random.default_rng(1)
    path = random_path([1, 1, 1], *sizes, rng)
    largest = np.max([path.value(rule) for rule in all_rules(*sizes)], axis=0)
    assert path.top == pytest.approx(largest, abs=1e-12)
    for i, top in enumerate(path.top):
        assert best(path.reward[i], path.move[i], path.H) == pytest.approx(top, abs=1e-12)
    for _ in range(50):
        assert (path.value(chances_of(sizes, rng)) <= path.top + 1e-12).all()


@few
@given(drawn=worlds(H=4, S=4, A=3))
def test_no_value_changes_by_more_than_the_variation(drawn):
    path, rng = drawn
    reward, move = np.diff(path.reward, axis=0), np.diff(path.move, axis=0)
    allowed = np.abs(reward).max(axis=(1, 2), initial=0)
    moved = np.abs(move).sum(axis=3).max(axis=(1, 2), initial=0)
    assert path.variation() == pytest.approx((allowed + path.H * moved).sum())
    rules = [sure(path.shape, rng), chances_of(path.shape, rng)]
    for values in [*map(path.value, rules), path.top]:
        change = np.abs(np.diff(values))
        assert (change <= allowed + path.H * moved + 1e-12).all()
        assert (change <= allowed + (path.H - 1) / 4 * moved + 1e-12).all()


def test_variation_by_hand():
    """Rewards: the whole of it is felt. Moves: where half of the steps pay, all of (H - 1) / 4."""
    H = 3
    start = np.array([1, 4])
    still = np.full((2, 1, 2), 0.5)
    path = Episodes.episodic(start, np.array([[[0.2], [0.3]], [[0.7], [0.8]]]), still, H, 9)
    assert path.variation() == pytest.approx(0.5)
    assert np.diff(path.top) == pytest.approx(0.5)
    # From state 0 to one that pays 1 for ever, or to one that never pays.
    paid = np.array([[0.0], [1.0], [0.0]])
    move = np.zeros((2, 3, 1, 3))
    move[:, [1, 2], 0, [1, 2]] = 1
    move[0, 0, 0, 1] = move[1, 0, 0, 2] = 1
    path = Episodes.episodic(start, paid, move, H, 9)
    assert path.variation() == 2 * H
    assert path.top.tolist() == pytest.approx([2 / 3, 0])


def test_episodes_begin_in_state_0():
    path = random_path([5], 2, 3, 2, np.random.default_rng(0))
    other = Episodes(path.start, np.array([0.5, 0.5, 0]), path.reward, path.move, 2)
    with pytest.raises(ConfeeError, match="path: episodes must begin in state 0"):
        other.checked(5, 1)
    for name, wrong in (("reward", 2 * path.reward + 1), ("move", 2 * path.move)):
        changed = {"reward": path.reward, "move": path.move} | {name: wrong}
        with pytest.raises(ConfeeError, match="path: "):
            Episodes.episodic(np.array([1]), changed["reward"], changed["move"], 2, 5).checked(5, 1)


# --------------------------------------------------------------------------- the game


@few
@given(drawn=worlds(), data=st.data())
def test_game_is_that_of_rounds_played_one_by_one(drawn, data):
    """Two memories and a copy of one, rules that come again or are new, runs over segments."""
    path, rng = drawn
    record = Rules(path, path.horizon)

    def shown(memory, reward, steps):
        found = memory[episodes.SEEN : episodes.SEEN + 3 * path.H].reshape(-1, 3)
        assert [tuple(step) for step in found] == steps

    rules = [sure(path.shape, rng) for _ in range(3)] + [chances_of(path.shape, rng)]
    ledger = plays.episodes_at_random(path, rules, record, q_ucb.replayed, shown, rng)
    same(game.settle(ledger, path), record)
    assert not ledger.wrong
    game.check(ledger, path, "test", path.horizon)


def test_what_is_no_rule_is_counted():
    path = random_path([9], 2, 2, 2, np.random.default_rng(0))
    world = episodes.new_world(path)
    memory, ledger = episodes.new_memories(1, world)[0], game.new_ledger()
    rule = np.full((2, 2, 2), 0.5)
    rng = np.random.default_rng(0)
    for t, (h, chances, wrong) in enumerate(
        [(0, [0.5, 0.5], 0), (1, [0.5, 0.4], 1), (1, [1.5, -0.5], 2), (1, [np.nan, 0.5], 3)]
    ):
        rule[h, 1] = chances
        episodes.query(world, ledger, memory, t + 1, rule, rng)
        assert ledger.wrong == wrong
    episodes.idle(world, ledger, memory, 5, 9, episodes.new_memories(1, world)[0], rng)
    assert ledger.wrong == 4
    ledger.next = 10
    with pytest.raises(ConfeeError, match="rules: chances of each action"):
        game.check(ledger, path, "test", 9)


def test_episodes_are_drawn_by_their_chances():
    """20000 episodes by one rule: each (state, action, reward) in each step as often as it should,
    within 4 standard errors."""
    rng, runs = np.random.default_rng(5), 20_000
    path = random_path([runs], 3, 2, 2, rng)
    rule = chances_of(path.shape, rng)
    world, ledger = episodes.new_world(path), game.new_ledger()
    memory = episodes.new_memories(1, world)[0]
    seen = np.zeros((3, 2, 2, 2))
    for t in range(1, runs + 1):
        episodes.query(world, ledger, memory, t, rule, rng)
        for h in range(3):
            s, a, r = memory[episodes.SEEN + 3 * h : episodes.SEEN + 3 * h + 3].astype(int)
            seen[h, s, a, r] += 1
    here = np.array([1.0, 0.0])
    for h in range(3):
        took = here[:, None] * rule[h]
        p = np.stack([took * (1 - path.reward[0]), took * path.reward[0]], axis=2)
        assert (abs(seen[h] - runs * p) <= 4 * np.sqrt(runs * p * (1 - p)) + 1e-9).all()
        here = np.einsum("sa,sax->x", took, path.move[0])


# --------------------------------------------------------------------------- Q-UCB


@pytest.mark.parametrize("bonus", [1.0, 0.05, 0.0])
@pytest.mark.parametrize("sizes", [(3, 3, 2), (4, 2, 3), (1, 1, 3), (2, 1, 2)])
def test_same_draws_same_run_when_paced(sizes, bonus):
    for seed, B in enumerate((7, 90, 200)):
        path = random_path([60, 90, 50], *sizes, np.random.default_rng(seed))
        row = plays.play("q_ucb", path, B, 1.0, seed, bonus=bonus)
        record = Rules(path, B)
        base = OverQUCB(sizes, 200, bonus)
        rng = np.random.default_rng(seed)
        reference.play_planned(record, rng, base, reference.paced(200, B))
        same(row, record)


@pytest.mark.parametrize("B", [60, 200])
def test_same_draws_same_run_when_restarted(B):
    """Restarts at given queries: those of both sides are drawn in other ways."""
    sizes, when = (3, 2, 3), [8, 9, 31, 150]

    def next_restart(start, rate, queries, rng):
        assert rate == pytest.approx(min(1, (2 * 3.0 / (math.sqrt(27 * 6) * B)) ** (2 / 3)))
        return next((one for one in when if one > start), B + 1)

    path = random_path([60, 90, 50], *sizes, np.random.default_rng(B))
    kernel = plays.plain(POLICIES["q_ucb_restarted"].kernel, next_restart=next_restart)
    row = plays.play("q_ucb_restarted", path, B, 3.0, 4, kernel=kernel, bonus=0.05)
    record = Rules(path, B)
    reference.play_planned(
        record,
        np.random.default_rng(4),
        OverQUCB(sizes, 200, 0.05),
        reference.paced(200, B),
        restart=lambda: record.used in when,
    )
    same(row, record)
    assert row["restarts"] == sum(one < B for one in when)


@pytest.mark.parametrize("B", [20, 75, 140, 199, 200])
@pytest.mark.parametrize("scale", [1.0, 2e-5, 0.0])
def test_same_draws_same_run_of_hyque(scale, B, monkeypatch):
    restarts = []
    readings = [((3, 2, 2), "body", "horizon"), ((2, 3, 2), "appendix", "block")]
    for seed, (sizes, buffer, quota) in enumerate(readings):
        path = random_path([60, 90, 50], *sizes, np.random.default_rng(seed))
        options = {"scale": scale, "buffer": buffer, "quota": quota}
        kernel = plays.plain(
            POLICIES["hyque_q_ucb"].kernel, draw_started=Instances(seed).draw_started
        )
        row = plays.play("hyque_q_ucb", path, B, 1.0, B, kernel=kernel, bonus=0.05, **options)
        record = Rules(path, B)
        monkeypatch.setattr(reference, "schedule", Instances(seed).plain)
        base = OverQUCB(sizes, 200, 0.05)
        reference.play_hyque(record, np.random.default_rng(B), base, **options)
        monkeypatch.undo()
        same(row, record)
        restarts.append(row["restarts"])
    if scale < 1:
        assert max(restarts) > 0
    else:
        assert max(restarts) == 0


@few
@given(data=st.data())
def test_q_is_a_weighted_mean_of_its_visits(data):
    """Q after t visits: sum over i of alpha_t^i (r_i + V_{h+1}(s'_i) + b_i), alpha_t^i = alpha_i
    prod_{j > i} (1 - alpha_j) (Jin et al., (4.2) and (4.3)); in the last step V is 0."""
    H, bonus, T = data.draw(st.integers(1, 4)), data.draw(st.floats(0, 2)), 1000
    rewards = np.array(data.draw(st.lists(st.integers(0, 1), min_size=1, max_size=20)), dtype=float)
    known = (H, 1, 1)
    constants = q_ucb.constants(known, T, q_ucb.Options(bonus))
    instance = q_ucb.new_instances(1, known, constants)[0]
    q_ucb.begin(instance, known, constants)
    seen = np.zeros(episodes.SEEN + 3 * H)
    for r in rewards:
        seen[episodes.SEEN + 3 * H - 1] = r
        q_ucb.learn(instance, known, constants, seen, None, r / H)
    t = np.arange(1, len(rewards) + 1)
    alpha = (H + 1) / (H + t)
    weights = alpha * np.append(np.cumprod((1 - alpha)[::-1])[::-1][1:], 1)
    b = bonus * np.sqrt(H**3 * math.log(T**2 * H) / t)
    assert weights.sum() == pytest.approx(1)
    Q = weights @ (rewards + b)
    assert instance[q_ucb.Q, H - 1, 0, 0] == pytest.approx(Q)
    assert instance[q_ucb.VALUE, H - 1, 0, 0] == pytest.approx(min(H, Q))


def test_one_state_and_one_step_are_a_bandit():
    """The same rewards as in the game of arms by the same numbers, and so the same regret."""
    T, B, bonus, seed = 3000, 800, 0.1, 3
    mean = np.array([[0.9, 0.1, 0.5], [0.2, 0.7, 0.5]])
    path = Path.steps(np.array([1, 1201]), mean, T)
    row = plays.play("q_ucb", path, B, 1.0, seed, bonus=bonus)
    rng, world, ledger = np.random.default_rng(seed), game.new_world(path), game.new_ledger()
    plays_, data, Q, arm = np.zeros(3), game.new_data(3), [1.0] * 3, None
    for tau in range(B):
        t, after = tau * T // B + 1, (tau + 1) * T // B + 1
        arm = leader(Q, rng)
        reward = game.query(world, ledger, data, t, arm, rng)
        plays_[arm] += 1
        alpha = 2 / (1 + plays_[arm])
        b = bonus * math.sqrt(math.log(3 * T**2) / plays_[arm])
        Q[arm] = (1 - alpha) * Q[arm] + alpha * (reward + b)
        game.idle(world, ledger, data, t + 1, after, plays_, rng)
    arms = game.settle(ledger, path)
    for name in COMPARED:
        assert row[name] == pytest.approx(arms[name], rel=1e-9), name


def instances_of(known, bonus=0.0, T=100, count=1):
    constants = q_ucb.constants(known, T, q_ucb.Options(bonus))
    instance = q_ucb.new_instances(count, known, constants)[0]
    q_ucb.begin(instance, known, constants)
    return instance, constants


def test_ties_go_to_any_action_in_each_state():
    """At first in all states, apart from each other; after an episode that leaves a tie, there."""
    known, runs = (2, 2, 3), 600
    rng = np.random.default_rng(0)
    often, pairs = np.zeros(known), np.zeros((3, 3))
    for _ in range(runs):
        instance, constants = instances_of(known)
        rule, value = q_ucb.act(instance, 0, known, constants, rng)
        assert value == 1
        often += rule
        pairs += rule[0, 0][:, None] * rule[1, 1]
    assert abs(often - runs / 3).max() < 4 * np.sqrt(runs * 2 / 9)
    assert abs(pairs - runs / 9).max() < 4 * np.sqrt(runs * 8 / 81)

    # A reward of 1 in the only step leaves Q at H = 1: all three are tied again, in state 0.
    known = (1, 2, 3)
    later = np.zeros(3)
    for _ in range(runs):
        instance, constants = instances_of(known)
        rule, _ = q_ucb.act(instance, 0, known, constants, rng)
        before = rule.copy()
        seen = np.array([0, 0, 0, rule[0, 0].argmax(), 1.0])
        q_ucb.learn(instance, known, constants, seen, rule, 1.0)
        rule, _ = q_ucb.act(instance, 1, known, constants, rng)
        assert (rule[0, 1] == before[0, 1]).all()
        later += rule[0, 0]
        assert rule[0, 0].sum() == 1
        again, _ = q_ucb.act(instance, 1, known, constants, rng)
        assert (again == rule).all()
    assert abs(later - runs / 3).max() < 4 * np.sqrt(runs * 2 / 9)


@pytest.mark.parametrize("bonus", [1.0, 0.0])
def test_f_is_optimistic_with_the_theorys_bonus(bonus):
    """In worlds that stand still f~ >= f* in each of 4000 episodes; without a bonus it is not."""
    low = []
    for seed in range(4):
        path = random_path([4000], 2, 2, 2, np.random.default_rng(seed))
        world, ledger, rng = episodes.new_world(path), game.new_ledger(), np.random.default_rng(1)
        memory = episodes.new_memories(1, world)[0]
        instance, constants = instances_of(path.shape, bonus, 4000)
        values = []
        for tau in range(4000):
            rule, value = q_ucb.act(instance, tau, path.shape, constants, rng)
            reward = episodes.query(world, ledger, memory, tau + 1, rule, rng)
            q_ucb.learn(instance, path.shape, constants, memory, rule, reward)
            values.append(value)
        assert 0 <= min(values) <= max(values) <= 1
        low.append(min(values) - path.top[0])
    if bonus:
        assert min(low) >= 0
        assert min(values) < 1  # it has come down, so it could
    else:
        assert min(low) < -0.05


@pytest.mark.parametrize("known", [(1, 1, 2), (3, 3, 3), (5, 4, 2), (20, 10, 10)])
def test_rho_is_one(known):
    """rho >= 1/sqrt(t) does not increase, t rho does not decrease; chances are its ratios."""
    t = np.unique(np.geomspace(1, 10**9, 400).astype(int))
    rho = np.array([q_ucb.rho(int(one), known) for one in t])
    assert (rho >= 1 / np.sqrt(t)).all()
    assert (np.diff(rho) < 0).all()
    assert (np.diff(rho * t) > 0).all()
    scaled = rho[-1] * np.sqrt(t[-1] / math.log(t[-1]))
    assert scaled == pytest.approx(q_ucb.Q_UCB.error(known), rel=1e-3)
    chances = q_ucb.Q_UCB.chances(6, known)
    expected = [q_ucb.rho(64, known) / q_ucb.rho(2**m, known) for m in range(7)]
    assert chances == pytest.approx(expected)
    assert chances[6] == 1


@pytest.mark.parametrize("moves", ["rewards", "transitions"])
def test_learns_where_nothing_changes(moves):
    """A twentieth of uniform play's regret at most, with a bonus far below the theory's."""
    sizes = {"K": 3, "T": 40_000, "B": 40_000, "V": 0}
    against = opponent({"name": "episodic_switching", "moves": moves, "gap": 0.4}, Size(**sizes))
    for seed in range(3):
        rows = [
            play(cell(conf, Size(**sizes)), against, seed)
            for conf in ({"name": "q_ucb", "bonus": 0.05}, {"name": "uniform_episodic"})
        ]
        assert rows[0]["regret"] < 0.05 * rows[1]["regret"]


# --------------------------------------------------------------------------- good actions that jump


SIZES = {"K": 3, "T": 5000, "B": 1000, "V": 3.0}
CONFS = [
    {},
    {"gap": 0.5, "H": 5, "S": 2},
    {"gap": 0.1, "H": 1, "S": 1},
    {"moves": "transitions"},
    {"moves": "transitions", "gap": 0.5, "H": 2, "S": 2},
    {"moves": "transitions", "gap": 0.07, "H": 4, "S": 5},
]
every_conf = pytest.mark.parametrize("conf", CONFS, ids=str)


def path_of(conf, seed=0, **sizes):
    sizes = SIZES | sizes
    against = opponent({"name": "episodic_switching", **conf}, Size(**sizes))
    return draw_path(against, Size(sizes["K"], sizes["T"], sizes["T"], sizes["V"]), seed)


@every_conf
def test_jumps_are_paid_for(conf):
    """As many equal batches as V pays for, at one price."""
    H, gap = conf.get("H", 3), conf.get("gap", 0.25)
    price = 2 * H * gap if conf.get("moves") == "transitions" else gap
    for seed in range(3):
        path = path_of(conf, seed)
        m = len(path.reward)
        assert m == 1 + int(3.0 / price + 1e-9)
        assert path.variation() == pytest.approx((m - 1) * price)
        assert path.pieces == m
        assert np.ptp(np.diff(path.start)) <= 1
        assert path.shape == (H, conf.get("S", 3), 3)


@every_conf
def test_paths_are_their_seeds_and_actions_are_alike(conf):
    """In each state each action is the good one as often: within 4 standard errors."""
    one, again, other = path_of(conf, 5), path_of(conf, 5, B=500), path_of(conf, 6)
    assert (one.reward == again.reward).all()
    assert (one.move == again.move).all()
    assert (one.reward != other.reward).any() or (one.move != other.move).any()
    runs, late = 240, -1
    often = np.zeros((one.shape[1], 3))
    for seed in range(runs):
        path = path_of(conf, seed)
        lead = path.reward[late]
        if conf.get("moves") == "transitions":  # how far up it leads
            lead = path.move[late] @ np.arange(path.shape[1])
        assert ((lead == lead.max(axis=1, keepdims=True)).sum(axis=1) == 1).all()
        often += lead == lead.max(axis=1, keepdims=True)
    assert abs(often - runs / 3).max() < 4 * np.sqrt(runs * 2 / 9)


def test_rewards_by_hand():
    for H, S in ((1, 1), (3, 3), (5, 2)):
        path = path_of({"H": H, "S": S, "gap": 0.3})
        assert path.top == pytest.approx(0.8)
        assert path.value(np.full(path.shape, 1 / 3)) == pytest.approx(0.6)
        assert set(np.unique(path.reward)) == {0.5, 0.8}
        assert (path.move == 1 / S).all()
    path = path_of({"gap": 0.8})
    assert path.top == pytest.approx(1.0)
    assert np.unique(path.reward) == pytest.approx([0.2, 1.0])


def test_transitions_by_hand():
    """Two states: one is in the one that pays after each step with chance 1/2 + gap, or 1/2 +
    gap/3. Three states, two steps: the second pays 1/2 then."""
    path = path_of({"moves": "transitions", "gap": 0.3, "H": 4, "S": 2})
    assert path.top == pytest.approx(0.75 * 0.8)
    assert path.value(np.full(path.shape, 1 / 3)) == pytest.approx(0.75 * 0.6)
    path = path_of({"moves": "transitions", "gap": 0.5, "H": 3, "S": 3})
    assert path.top == pytest.approx((0 + 1 / 2 + 1) / 3)
    up, down = np.eye(3)[[1, 2, 2]], np.eye(3)[[0, 0, 1]]
    for move in path.move:
        kinds = [(move[:, a] - (up + down) / 2).any(axis=1) for a in range(3)]
        assert np.sum(kinds, axis=0).tolist() == [1, 1, 1]
        good = np.argmax(kinds, axis=0)
        assert (move[np.arange(3), good] == up).all()
    path = path_of({"moves": "transitions", "gap": 1.0, "H": 2, "S": 2})
    assert np.unique(path.move).tolist() == [0.0, 1.0]
    assert path.top == pytest.approx(0.5)


def test_one_state_and_one_step_jump_as_arms_do():
    resolved = {"gap": 0.25, "jitter": 0, "H": 1, "S": 1, "moves": "rewards"}
    arms, actions = (
        one.draw(resolved, 3, 5000, 3.0, np.random.default_rng(7))
        for one in (switching, episodic_switching)
    )
    assert (actions.reward[:, 0] == arms.mean).all()
    assert (actions.start == arms.start).all()
    assert actions.variation() == arms.variation()


@few
@given(data=st.data())
def test_jumps_stay_within_their_budget(data):
    K, T = data.draw(st.integers(2, 20)), data.draw(st.integers(20, 10**9))
    V = data.draw(st.sampled_from([0.0, 1e-9, 0.1, 1.0, 3.7, 50.0]) | st.floats(0, 20))
    moves = data.draw(st.sampled_from(["rewards", "transitions"]))
    least = 1 + (moves == "transitions")  # see the refusal below
    conf = {"moves": moves, "gap": data.draw(st.floats(0.05, 1.0))}
    conf |= {name: data.draw(st.integers(least, 6)) for name in "HS"}
    against = opponent({"name": "episodic_switching", **conf}, Size(K=K, T=T, B=K, V=V))
    assert json.loads(json.dumps(against.key)) == canonical(against.key)
    path = draw_path(against, Size(K, T, T, V), data.draw(st.integers(0, 10**6)))
    assert path.variation() <= V * (1 + 1e-9)
    assert (path.value(np.full(path.shape, 1 / K)) < path.top - 1e-3).all()


@pytest.mark.parametrize("name", ["H", "S"])
def test_moves_need_two_steps_and_two_states(name):
    wanted = rf"adversary.{name}=1: must be a whole number in \[2, 100\] where moves=transitions"
    with pytest.raises(ConfeeError, match=wanted):
        path_of({"moves": "transitions", name: 1})
    assert path_of({name: 1}).horizon == 5000


def test_uniform_play_loses_what_it_should():
    for conf in CONFS:
        path = path_of(conf)
        row = plays.play("uniform_episodic", path, 1000, 3.0, 0)
        lost = path.top - path.value(np.full(path.shape, 1 / 3))
        assert row["regret"] == pytest.approx((lost * np.diff(path.start)).sum())
