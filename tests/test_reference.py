"""Self-tests of the plain reference in `reference.py`."""

import math
from itertools import pairwise

import numpy as np
import pytest

from support import reference

POLICIES = {
    "hyque": [{}, {"buffer": "appendix"}, {"scale": 0.005}],
    "baque": [{}, {"scale": 0.005}],
    "odque": [{}, {"buffer": "appendix"}],
    "rexp3b": [{}, {"pool": "set"}],
    "ucb1": [{}],
    "greedy_spend": [{}],
    "uniform": [{}],
    "oracle": [{}],
}
CASES = [(policy, options) for policy, several in POLICIES.items() for options in several]
PARTS = ["regret_query", "regret_error", "regret_drift", "regret_no_data"]


def rng(seed=0):
    return np.random.default_rng(seed)


def test_paper_figure():
    started = [(3, 0), (2, 4), (1, 2), (0, 1), (0, 5), (0, 6)]
    owner = reference.owners(3, started)
    active = {i: [slot for slot in range(8) if owner[slot] == i] for i in started}
    assert active == {
        (3, 0): [0],
        (2, 4): [4, 7],
        (1, 2): [2, 3],
        (0, 1): [1],
        (0, 5): [5],
        (0, 6): [6],
    }


def test_schedule_starts_instances_as_often_as_printed():
    n, draws, source = 4, 2000, rng()
    counts = np.zeros(n + 1)
    for _ in range(draws):
        started, owner = reference.schedule(n, source)
        assert (n, 0) in started
        assert len(owner) == 2**n
        for m, _ in started:
            counts[m] += 1
    expected = np.array([2 ** (n - m) * 2 ** ((m - n) / 2) for m in range(n + 1)])
    assert counts / draws == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("policy", ["baque", "hyque"])
def test_baseline_queries_of_complete_blocks(policy):
    T, B, V = 3000, 700, 1.0
    path = reference.switching(0.3, 3, T, V, rng(1))
    blocks = reference.play(policy, path, B, V, rng(2)).blocks
    assert len(blocks) >= 6
    for block in blocks[:-1]:
        n, start, b = block["n"], block["start"], block["b"]
        assert b == math.ceil(2 * T / B)
        assert len(block["baseline"]) == 2**n
        for m, slot in block["started"]:
            span = range(start + b * slot, start + b * (slot + 2**m))
            assert sum(t in span for t in block["baseline"]) == 2**m


@pytest.mark.parametrize("test", ["i", "ii"])
def test_blocks_grow_until_a_restart(test, monkeypatch):
    """Both tests restart. Test (ii) nearly always comes first, so (i) is seen with (ii) off."""
    if test == "i":
        monkeypatch.setattr(reference, "fall_test", lambda *_: False)
    T, B, V = 4000, 3000, 1.0
    path = reference.lines([1, 2000, 2001, T], [[0, 0]] * 2 + [[1, 1]] * 2, T)
    record = reference.play("hyque", path, B, V, rng(3), scale=0.00005 if test == "i" else 0.001)
    for one, other in pairwise(record.blocks):
        assert other["n"] == (0 if one["fired"] else one["n"] + 1)
        cut = other["start"] - one["start"]  # rounds played
        assert cut <= one["b"] * 2 ** one["n"]
        assert one["fired"] or cut == one["b"] * 2 ** one["n"]
        if test == "i" and one["fired"]:
            assert cut in [one["b"] * (slot + 2**m) for m, slot in one["started"]]
            assert one["start"] + cut > 2000
    assert record.restarts == sum(bool(block["fired"]) for block in record.blocks)
    assert {fired for block in record.blocks for fired in block["fired"]} == {test}


def test_scale_zero_restarts_at_every_query_and_then_is_denied():
    """At scale 0 test (ii) fires at once: a query a round until B is gone, then idle blocks."""
    T, B = 100, 30
    path = reference.stationary([0.8, 0.2], T)
    one = reference.run("baque", path, B, 0, rng(), scale=0.0)
    assert one["restarts"] == one["queries"] == one["longest_query"] == B
    # b = 7, so 70 rounds are blocks of 7, 14, 28 rounds with 1 + 2 + 4 wishes, and 21 rounds more
    assert 7 <= one["denied"] <= 7 + 8
    assert one["longest_idle"] == T - B
    # no instance ever played an idle round with data of its own: uniform
    assert one["regret_no_data"] == pytest.approx((T - B) * 0.3)
    assert one["regret"] == pytest.approx(one["regret_query"] + one["regret_no_data"])


def test_no_data_plays_the_last_frequencies_in_use():
    memory = reference.Memory(np.full(2, 1 / 2))
    first, second, empty = (reference.UCB1(2) for _ in range(3))
    assert memory.distribution(empty).tolist() == [0.5, 0.5]
    first.observe(0, 1, np.array([0.5, 0.5]))
    second.observe(1, 1, np.array([0.5, 0.5]))
    assert memory.distribution(first).tolist() == [1, 0]
    assert memory.distribution(empty).tolist() == [1, 0]
    assert memory.distribution(second).tolist() == [0, 1]
    first.observe(1, 1, np.array([0.5, 0.5]))  # what was in use is not what first holds now
    assert memory.distribution(empty).tolist() == [0, 1]


def test_no_restart_at_scale_one():
    path = reference.switching(0.5, 2, 1000, 3.0, rng(4))
    for policy in ("hyque", "baque", "odque"):
        assert reference.run(policy, path, 1000, 3.0, rng(5))["restarts"] == 0


def test_on_demand_condition_holds_in_every_idle_round():
    T, B = 2000, 300
    record = reference.play("hyque", np.full((T, 2), 0.5), B, 0, rng(6))
    used = np.concatenate([[0], np.cumsum(record.queried)])  # used[t - 1] is B' before round t
    for block in record.blocks:
        for t in range(block["start"], min(T, block["start"] + block["b"] * 2 ** block["n"] - 1)):
            wish = used[t - 1] < t * B / T - min(T / math.sqrt(B), 2 ** block["n"], T - t)
            if t not in block["baseline"]:
                assert record.queried[t - 1] == wish == (t in block["converted"])
    assert record.conversions > 0


@pytest.mark.parametrize(("policy", "options"), CASES)
def test_parts_add_up_and_budget_holds(policy, options):
    T, V = 400, 1.2
    drifting = reference.lines([1, 150, T], [[0.2, 0.8, 0.5], [0.7, 0.3, 0.5], [0.2, 0.9, 1]], T)
    jumping = reference.switching(0.25, 3, T, V, rng(7))
    for path in (drifting, jumping):
        for B in (3, 40, 201, T):
            one = reference.run(policy, path, B, V, rng(8), **options)
            assert one["regret"] == pytest.approx(sum(one[part] for part in PARTS), abs=1e-9)
            assert 0 <= one["queries"] <= B
            assert one["longest_query"] <= one["queries"]
            assert one["longest_idle"] <= T - one["queries"]
            assert one["conversions"] <= one["queries"]
            assert one["variation"] == pytest.approx(path.variation)
            assert one["regret_query"] >= 0
            assert one["regret"] >= -1e-9


def test_oracle_and_uniform():
    K, T, V, gap = 4, 1000, 1.0, 0.2
    path = reference.switching(gap, K, T, V, rng(9))
    assert path.variation == pytest.approx(V)
    assert reference.run("oracle", path, 100, V, rng())["regret"] == 0
    one = reference.run("uniform", path, 100, V, rng())
    assert one["regret"] == one["regret_no_data"] == pytest.approx(gap * (1 - 1 / K) * T)
    assert (one["queries"], one["longest_idle"], one["longest_query"]) == (0, T, 0)


def test_switching_changes_the_good_arm_at_every_batch():
    path = reference.switching(0.3, 3, 103, 1.2, rng(10))
    best = path.means.argmax(axis=1)
    changes = [t for t in range(1, 103) if best[t] != best[t - 1]]  # the last round of a batch
    assert changes == [j * 103 // 5 for j in range(1, 5)]
    assert path.variation == pytest.approx(1.2)


def test_paced_and_greedy_spend_exactly_the_budget():
    T = 1000
    for B in (7, 300, 999, 1000):
        paced = reference.play("ucb1", np.full((T, 2), 0.5), B, 0, rng(11))
        assert paced.used == B
        rounds = [t for t in range(1, T + 1) if paced.queried[t - 1]]
        assert rounds == [i * T // B + 1 for i in range(B)]
        greedy = reference.run("greedy_spend", np.full((T, 2), 0.5), B, 0, rng(12))
        assert (greedy["queries"], greedy["longest_query"]) == (B, B)
        assert greedy["longest_idle"] == T - B


def test_parts_by_hand():
    """K = B = 2 spent in rounds 1 and 2 (one play an arm); then the best arm of two changes."""
    means = np.array([[0.5, 0.3], [0.5, 0.3], [0.5, 0.3], [0.1, 0.3]])
    one = reference.run("greedy_spend", means, 2, 0.4, rng(13))
    assert one["regret_query"] == pytest.approx(0.2)
    assert one["regret_error"] == pytest.approx((0.5 - 0.4) + (0.5 - 0.2))
    assert one["regret_drift"] == pytest.approx(0 + (0.3 - 0.5))
    assert one["regret_no_data"] == 0


def test_rexp3b_batches_and_cap():
    assert reference.rexp3b_parameters(100, 2, 10, 0)[:2] == (100, 10)
    assert reference.rexp3b_parameters(100, 2, 100, 1e9)[:2] == (1, 1)
    # Delta_T = 0.6 T: the second batch is cut at T but wishes its whole Delta_B
    T, B, K = 1000, 100, 2
    V = (K * math.log(K) / B) ** 0.5 / 0.6**1.5 * (1 - 1e-9)
    assert reference.rexp3b_parameters(T, K, B, V)[:2] == (600, 60)
    record = reference.play("rexp3b", np.full((T, K), 0.5), B, V, rng(14))
    assert (record.used, record.denied) == (B, 20)
    assert [t + 1 for t in range(T) if record.queried[t]] == [*range(1, 61), *range(601, 641)]


def test_rexp3b_set_is_uniform_on_distinct_arms():
    """With both arms seen in the query rounds the idle rounds play 1/2, 1/2."""
    path = reference.stationary([0.9, 0.1], 1000)
    record = reference.play("rexp3b", path, 100, 0, rng(15), pool="set")
    idle = record.regret - record.regret_query
    assert idle == pytest.approx(900 * 0.4)
    assert record.regret_drift == pytest.approx(0)


def test_refuses_bad_input():
    means = np.full((10, 2), 0.5)
    for B in (1, 11):
        with pytest.raises(ValueError, match="K <= B <= T"):
            reference.run("hyque", means, B, 0, rng())
    with pytest.raises(ValueError, match="over V"):
        reference.run("hyque", np.eye(2), 2, 0.5, rng())
    with pytest.raises(ValueError, match="unknown policy"):
        reference.run("nobody", means, 5, 0, rng())
