"""Policies given neither V nor the number of changes, against plain Python, by the round."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confee.policies import POLICIES, adswitch, glr_ucb, meta, scales
from confee.world import game
from support import plays
from support import reference_priorfree as reference

IDS = (
    "adswitch",
    "armswitch",
    "dal_ucb1",
    "glr_ucb_leader",
    "hyque_leader",
    "lepski_ucb",
    "lookout",
    "meta",
)
few = settings(max_examples=60, derandomize=True, deadline=None)


def jumpy(seed, T=1000, K=3, segments=4):
    """Drifts and jumps, some of them of all arms."""
    rng = np.random.default_rng(seed)
    lengths = np.full(segments, T // segments)
    first = rng.uniform(0, 0.4, (segments, K))
    last = np.clip(first + rng.uniform(-0.05, 0.05, (segments, K)), 0, 0.45)
    best = rng.integers(0, K, segments)
    first[range(segments), best] = last[range(segments), best] = rng.uniform(0.6, 1, segments)
    return plays.pieces(lengths, first, last)


# --------------------------------------------------------------------------- references

RUNS = [
    ("lookout", reference.Lookout, {}, 2),
    ("lookout", reference.Lookout, {"idle": "frequency", "h": 2.5, "exploration": 2}, 2),
    ("lookout", reference.Lookout, {"checks": "forced", "beta_scale": 0.5}, 2),
    ("lookout", reference.Lookout, {"eps": 0.5, "restarts": False}, 0),
    ("lookout", reference.Lookout, {"test": "bernoulli"}, 2),
    ("dal_ucb1", reference.Dal, {"alpha_scale": 4}, 1),
    ("dal_ucb1", reference.Dal, {"detector_data": "all", "idle": "leader", "constant": 1}, 2),
    ("lepski_ucb", reference.Lepski, {}, 0),
    ("lepski_ucb", reference.Lepski, {"idle": "frequency", "xi": 2, "test": 0.1}, 0),
    ("meta", reference.Meta, {"scale": 0.4}, 2),
    ("meta", reference.Meta, {"threshold": "code", "scale": 0.05, "replay": 0.5}, 2),
    ("meta", reference.Meta, {"threshold": "printed", "scale": 0.2, "idle": "leader"}, 2),
    ("adswitch", reference.AdSwitch, {"C1": 0.3, "finest": 16}, 1),
    ("adswitch", reference.AdSwitch, {"idle": "leader"}, 1),
    ("armswitch", reference.ArmSwitch, {"scale": 0.5}, 2),
    ("armswitch", reference.ArmSwitch, {"scale": 0.4, "idle": "leader"}, 2),
    ("armswitch", reference.ArmSwitch, {"scale": 0.2, "confidence": "printed"}, 1),
]


@pytest.mark.parametrize(("policy", "player", "options", "least"), RUNS)
def test_it_is_its_definition(policy, player, options, least):
    """With the same random numbers, the same regret in all its parts and the same restarts; also
    where every round is a query."""
    restarts = 0
    for seed, B in [(0, 500), (1, 500), (2, 501), (3, 1000)]:
        path = jumpy(seed)
        row = plays.play(policy, path, B, path.variation(), seed, **options)
        expected = reference.replay(path, B, seed, lambda *known: player(*known, **options))
        assert {k: row[k] for k in expected} == pytest.approx(expected, rel=1e-9, abs=1e-7)
        restarts += row["restarts"]
    assert restarts >= least


@pytest.mark.parametrize("options", [{}, {"forced": "constant", "alpha_scale": 3}])
def test_glr_ucb_leader_is_glr_ucb_but_for_idle_rounds(options):
    path = jumpy(5)
    leader = plays.play("glr_ucb_leader", path, 500, 9, 1, idle="frequency", **options)
    assert leader == plays.play("glr_ucb", path, 500, 9, 1, **options)
    assert leader["restarts"] > 0
    best = plays.play("glr_ucb_leader", path, 500, 9, 1, **options)
    assert best["regret"] < leader["regret"]


def test_hyque_leader_without_its_changes_is_hyque():
    for seed in range(3):
        path = jumpy(seed)
        row = plays.play("hyque_leader", path, 400, 9, seed, idle="frequency", tests="none")
        assert row == plays.play("hyque", path, 400, 9, seed, scale=1e9)


@pytest.mark.parametrize("seed", range(3))
def test_hyque_leader_restarts_and_leads_by_all_queries_since_a_restart(seed):
    """It restarts where an arm's plays since the last restart tell, and idle rounds then play the
    largest index of these plays."""
    path, B, K = jumpy(seed, T=2000), 1000, 3
    rewards, restarts = [[] for _ in range(K)], 0
    beta = lambda n: math.log(3 * n**1.5 * math.sqrt(B))  # noqa: E731

    def query(world, ledger, data, t, arm, rng):
        nonlocal rewards, restarts
        assert ledger.restarts == restarts
        reward = game.query(world, ledger, data, t, arm, rng)
        rewards[arm].append(reward)
        if reference.alarm(rewards[arm], beta(len(rewards[arm]))):
            rewards, restarts = [[] for _ in range(K)], restarts + 1
        return reward

    def idle(world, ledger, data, start, stop, weights, rng):
        counts = [len(y) for y in rewards]
        if sum(counts):
            root = math.sqrt(2 * math.log(max(sum(counts), K)))
            index = [np.mean(y) + root / math.sqrt(len(y)) if y else math.inf for y in rewards]
            assert weights.sum() == 1.0
            assert index[int(weights.argmax())] == pytest.approx(max(index), rel=1e-12)
        game.idle(world, ledger, data, start, stop, weights, rng)

    kernel = plays.plain(POLICIES["hyque_leader"].kernel, query=query, idle=idle)
    row = plays.play("hyque_leader", path, B, 9, seed, kernel=kernel)
    assert row == plays.play("hyque_leader", path, B, 9, seed)
    assert row["restarts"] == restarts >= 1


# --------------------------------------------------------------------------- properties


@pytest.mark.parametrize("policy", IDS)
def test_it_is_given_neither_V_nor_changes(policy):
    assert POLICIES[policy].known == ("T", "B")


@pytest.mark.parametrize("policy", IDS)
def test_every_round_is_played_and_the_budget_kept(policy):
    """`plays.play` checks rounds, arms and budget; sizes down to B = K."""
    for T, B, K in [(2, 2, 2), (50, 5, 5), (300, 300, 2), (500, 77, 12), (20_000, 20, 4)]:
        mean = np.random.default_rng(T).uniform(0, 1, (2, K))
        path = plays.pieces([T // 2, T - T // 2], mean, mean)
        row = plays.play(policy, path, B, 2, 1)
        assert row["queries"] <= B
        if policy != "hyque_leader":
            assert row["queries"] == B


@pytest.mark.parametrize("policy", [id for id in IDS if id != "hyque_leader"])
@pytest.mark.parametrize("plan", ["bernoulli", "front", "batched"])
def test_any_schedule_does(policy, plan):
    row = plays.play(policy, jumpy(1), 300, 9, 2, plan=plan)
    assert 200 < row["queries"] <= 300


@pytest.mark.parametrize("policy", IDS)
def test_arms_are_alike(policy):
    """The arms of a path in another order: the same regret on average, within 5 errors."""
    mean = np.array([[0.7, 0.4, 0.4], [0.4, 0.7, 0.4]])
    rows = []
    for order in ([0, 1, 2], [2, 1, 0]):
        path = plays.pieces([600, 600], mean[:, order], mean[:, order])
        rows.append([plays.play(policy, path, 300, 1, seed)["regret"] for seed in range(60)])
    first, second = np.array(rows)
    error = math.hypot(first.std(ddof=1), second.std(ddof=1)) / math.sqrt(60)
    assert abs(first.mean() - second.mean()) < 5 * error


@pytest.mark.parametrize("policy", IDS)
def test_it_learns_the_best_arm(policy):
    """With a gap of 1/2 over 4000 queries of 8000 rounds, under half of what uniform play pays,
    where idle rounds play the leader."""
    mean = np.array([[0.2, 0.7, 0.2, 0.2]])
    path = plays.pieces([8000], mean, mean)
    rows = [plays.play(policy, path, 4000, 0, seed, idle="leader") for seed in range(4)]
    assert np.mean([row["regret"] for row in rows]) < 0.5 * 8000 * 0.375


def test_rate_and_looks_of_lookout_where_queries_are_rare():
    """T/B = 2000: 2 K rate would be over 1; scales from 1/2 on are left."""
    path = plays.pieces([10**5, 10**5], [[0.9, 0.1], [0.1, 0.9]], [[0.9, 0.1], [0.1, 0.9]])
    row = plays.play("lookout", path, 100, 2, 0)
    assert row["queries"] == 100


# --------------------------------------------------------------------------- parts


@few
@given(
    st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=80),
    st.sampled_from([1.05, 1.25, 2.0]),
    st.floats(0.1, 8),
)
def test_the_cheaper_ratio_test_says_the_same(rewards, growth, beta):
    sums = np.concatenate([[0], np.cumsum(rewards)]).astype(np.int32)[None, :]
    splits = glr_ucb.split_grid(1000, growth)
    for n in range(1, len(rewards) + 1):
        said = glr_ucb.changed(sums, 0, n, splits, beta)
        assert said == glr_ucb.changed_by_ratio(sums, 0, n, splits, beta)
        assert glr_ucb.tried(splits, n) == sum(2 * splits <= n)


def test_windows_are_tried_often_enough():
    """An interval of s queries that ends now is within a window of at most 2.5 s that ends within
    s / 4 queries; and marks hold what the sums were."""
    B = 3000
    marks, sums = scales.new_marks(B, 1), np.zeros(1)
    seen = [[] for _ in range(B + 1)]
    for age in range(1, B + 1):
        sums[0] = age**2
        starts = []
        for level in range(marks.shape[0]):
            if not scales.due(level, age):
                break
            starts.append(scales.since(level, age))
            if starts[-1] > 0:
                assert marks[level, scales.slot(level, age), 0] == starts[-1] ** 2
            scales.mark(marks, level, age, sums)
        full = [i for i, start in enumerate(starts) if start == 0]
        seen[age] = starts[: full[0] + 1] if full else starts
        assert seen[age] == reference.windows(age)
    for stop in range(100, 1000, 7):
        for s in (10, 40, 99):
            later = range(stop, stop + math.ceil(s / 4) + 1)
            assert any(stop - s >= b >= e - 2.5 * s for e in later for b in seen[e])


@few
@given(st.floats(0.01, 1), st.integers(1, 12))
def test_the_finest_scale_has_its_chance(chance, most):
    """Scale i is the finest to begin with chance c 2^-i times that none finer does."""
    values = (np.arange(4000) + 0.5) / 4000
    counts = Counter(scales.finest(v, chance, most) for v in values)
    none = 1.0
    for i in range(most, 0, -1):
        assert counts[i] / 4000 == pytest.approx(none * chance / 2**i, abs=1 / 2000)
        none *= 1 - chance / 2**i
    assert counts[0] / 4000 == pytest.approx(none, abs=1 / 200)


def test_replays_of_meta_have_their_chance():
    values = (np.arange(20_000) + 0.5) / 20_000
    for age, replay in [(1, 1.0), (7, 1.0), (50, 0.3), (400, 2.0)]:
        counts = Counter(meta.replayed(age, replay, 9, v) for v in values)
        none = 1.0
        for m in range(9, 0, -1):
            begins = min(1.0, replay / math.sqrt(2**m * age))
            assert counts[m] / 20_000 == pytest.approx(none * begins, abs=1e-4)
            none *= 1 - begins


def test_checks_of_adswitch_begin_at_their_rate():
    """Over slots: a check of scale i or finer in a share of about the sum of their chances."""
    chance = adswitch.start_chance(3, 4, 1000)
    assert chance == pytest.approx(math.sqrt(3 / (4 * 1000 * math.log(1000))))
    rng = np.random.default_rng(0)
    arms, plays_of, begun = np.zeros((7, 1)), np.zeros(1), Counter()
    arms[adswitch.SCALES] = 3
    for _ in range(20_000):  # each given an event of `chance`
        arms[adswitch.OWED] = 0.0
        adswitch.check(arms, plays_of, 0, chance, math.log(1000), rng)
        begun[float(arms[adswitch.OWED, 0])] += 1
    for i in (1, 2, 3):
        n = math.ceil(2 ** (2 * i + 1) * math.log(1000))
        assert begun[n] / 20_000 == pytest.approx(2.0**-i, abs=0.02)
