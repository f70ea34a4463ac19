"""Paths and adversaries: exact variation, known values, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plays
from confee import theory
from confee.errors import ConfeeError
from confee.simulation.cells import opponent
from confee.simulation.play import draw_path
from confee.world.adversaries import ADVERSARIES, switching
from confee.world.game import new_world
from confee.world.path import Path

few = settings(max_examples=60, derandomize=True, deadline=None)
SIZES = {"K": 3, "T": 5000, "B": 1000, "V": 2.0}
# Each adversary with values in its range, and with the largest it allows.
CONFS = [
    ("switching", {"gap": 0.3}),
    ("switching", {"gap": 0.5}),
    ("switching", {"gap": 0.07, "jitter": True}),
    ("switching_centred", {"gap": 0.3}),
    ("switching_centred", {"gap": 1.0}),
    ("switching_centred", {"gap": 0.11, "jitter": True}),
    ("packed", {"gap": 0.3}),
    ("packed", {"gap": 0.1, "jumps": 3}),
    ("packed", {"gap": 0.1, "target": "rexp3b"}),
    ("hard", {"c": 1}),
    ("hard", {"c": 4}),
    ("single_jump", {"size": 0.5, "time": "quarter"}),
    ("single_jump", {"size": 0.2, "time": "half"}),
    ("single_jump", {"size": 0.2, "time": "last_block"}),
    ("stationary", {"gap": 0.4}),
]


def brute_variation(path):
    return np.abs(np.diff(path.means(), axis=0)).max(axis=1).sum()


def path_of(name, conf, seed=0, **sizes):
    sizes = SIZES | sizes
    against = opponent({"name": name, **conf}, **sizes)
    return draw_path(against, sizes["K"], sizes["T"], sizes["V"], seed)


def changes(path):
    return path.start[1:-1].tolist()


# ----------------------------------------------------------------------- paths


@few
@given(seed=st.integers(0, 2**32), S=st.integers(1, 5), K=st.integers(2, 4))
def test_path_is_what_its_means_say(seed, S, K):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 20, S)
    first, last = rng.uniform(0, 0.5, (2, S, K))
    good = rng.integers(0, K, S)
    first[range(S), good] += 0.5
    last[range(S), good] += 0.5
    path = plays.pieces(lengths, first, last)
    T = int(lengths.sum())
    means = path.means()
    assert means.shape == (T, K)
    assert path.horizon == T
    assert path.start.tolist() == [1, *(1 + np.cumsum(lengths)).tolist()]
    assert path.variation() == pytest.approx(brute_variation(path), abs=1e-12)
    assert path.checked(T, path.variation()) is path
    assert (means[np.arange(T), np.repeat(path.best, lengths)] == means.max(axis=1)).all()
    assert means[path.start[:-1] - 1] == pytest.approx(first)
    ends = path.start[1:] - 2
    assert means[ends] == pytest.approx(np.where(lengths[:, None] == 1, first, last))
    world = new_world(path)
    assert world[:, 0].tolist() == path.start.tolist()
    assert world[:-1, 1].tolist() == path.best.tolist()


@pytest.mark.parametrize(
    ("path", "V", "said"),
    [
        (Path.steps([1, 50], [[0.5, 0.2], [0.2, 0.5]], 99), 9, "do not tile the rounds 1..100"),
        (Path.steps([2], [[0.5, 0.2]], 100), 9, "do not tile the rounds 1..100"),
        (Path.steps([1, 50, 50], [[0.5, 0.2]] * 3, 100), 9, "do not tile the rounds 1..100"),
        (Path.steps([1], [[0.5, 1.2]], 100), 9, "outside"),
        (Path.steps([1], [[0.5, -0.2]], 100), 9, "outside"),
        (plays.pieces([100], [[0.5, 0.6]], [[1.1, 1.2]]), 9, "outside"),
        (plays.pieces([100], [[0.1, 0.6]], [[0.9, 0.4]]), 9, "the best arm changes"),
        (
            Path.steps([1, 50], [[0.5, 0.2], [0.2, 0.5]], 100),
            0.299,
            "0.3 is over the budget V=0.299",
        ),
        (plays.pieces([100], [[0.1, 0.6]], [[0.1, 0.7]]), 0.0999, "over the budget V=0.0999"),
    ],
)
def test_refuses_what_is_no_path(path, V, said):
    with pytest.raises(ConfeeError, match="path: .*" + said):
        path.checked(100, V)


# ----------------------------------------------------------------------- adversaries


@pytest.mark.parametrize(("name", "conf"), CONFS, ids=str)
def test_variation_is_exact_and_paid_for(name, conf):
    for seed in range(5):
        path = path_of(name, conf, seed)
        assert path.variation() == pytest.approx(brute_variation(path), abs=1e-9)
        assert path.variation() <= SIZES["V"] + 1e-9
        assert path.horizon == SIZES["T"]
        assert (path.start[1:] > path.start[:-1]).all()


def test_every_adversary_is_tried():
    assert {name for name, _ in CONFS} == set(ADVERSARIES)


@few
@given(data=st.data())
def test_adversaries_stay_within_their_budget(data):
    """Whatever the sizes: either refused when resolved, or a path that passes its checks."""
    K = data.draw(st.integers(2, 20))
    T = data.draw(st.integers(K, 10 ** data.draw(st.integers(2, 9)) + K))
    B = data.draw(st.integers(K, T))
    V = data.draw(st.sampled_from([0.0, 0.1, 0.25, 1.0, 3.7, 20.0, 100.0]))
    name, conf = data.draw(st.sampled_from(CONFS))
    try:
        against = opponent({"name": name, **conf}, K=K, T=T, B=B, V=V)
    except ConfeeError:
        assert name in ("hard", "single_jump")
        return
    path = draw_path(against, K, T, V, 1)
    assert path.variation() <= V * (1 + 1e-9) + 1e-9
    assert (path.mean.max(axis=1) > path.mean.min(axis=1)).all()


@pytest.mark.parametrize("name", ["switching", "switching_centred"])
@pytest.mark.parametrize(("gap", "V", "m"), [(0.3, 2, 7), (0.25, 2, 9), (0.1, 0.3, 4), (0.4, 0, 1)])
def test_switching(name, gap, V, m):
    T = 5003
    path = path_of(name, {"gap": gap}, V=V, T=T)
    assert len(path.mean) == m
    assert path.variation() == pytest.approx((m - 1) * gap)
    assert path.start.tolist() == [*(j * T // m + 1 for j in range(m)), T + 1]
    low, high = (0.5, 0.5 + gap) if name == "switching" else (0.5 - gap / 2, 0.5 + gap / 2)
    assert path.mean.max(axis=1) == pytest.approx(high)
    assert np.sort(path.mean, axis=1)[:, :-1] == pytest.approx(low)
    assert (np.diff(path.best) != 0).all()


def test_switching_pays_for_at_most_one_batch_a_round():
    path = path_of("switching", {"gap": 0.01}, T=20, B=10, V=2.0)
    assert len(path.mean) == 20


def test_good_arms_are_uniform_and_move_to_any_other():
    """Over 600 paths of 9 batches: first arms and steps within 4 standard errors of uniform."""
    K, runs = 4, 600
    best = np.array([path_of("switching", {"gap": 0.25}, s, K=K).best for s in range(runs)])
    first = np.bincount(best[:, 0], minlength=K)
    assert abs(first - runs / K).max() < 4 * np.sqrt(runs / K)
    steps = np.bincount(((best[:, 1:] - best[:, :-1]) % K).ravel(), minlength=K)
    assert steps[0] == 0
    n = runs * 8 / (K - 1)
    assert abs(steps[1:] - n).max() < 4 * np.sqrt(n)


def test_jitter_keeps_order_and_count():
    T, m = 5000, 9
    even = path_of("switching", {"gap": 0.25}).start
    moved = np.array(
        [path_of("switching", {"gap": 0.25, "jitter": True}, s).start for s in range(99)]
    )
    assert moved.shape == (99, m + 1)
    assert (np.diff(moved, axis=1) > 0).all()
    apart = (moved - even)[:, 1:-1]
    assert (moved[:, [0, -1]] == [1, T + 1]).all()
    # Each change within a quarter batch (an eighth either way), and all over it.
    assert abs(apart).max() == T // m // 8
    assert abs(apart.mean()) < 4 * apart.std() / np.sqrt(apart.size)
    # Batches too short to move keep their places.
    rng = np.random.default_rng(0)
    assert switching.starts({"jitter": 1}, 3, 20, rng).tolist() == [1, 7, 14]


@pytest.mark.parametrize("K", [2, 5])
def test_uniform_play_on_hard(K):
    """8 (1 - 1/K) times the lower bound, exactly: each round costs gap (1 - 1/K) on average."""
    sizes = {"K": K, "T": 10**6, "B": 10**5, "V": 3.0}
    path = path_of("hard", {"c": 1}, **sizes)
    row = plays.play("uniform", path, sizes["B"], sizes["V"], 0)
    bound = theory.lower_bound(**sizes)
    assert row["regret"] == pytest.approx(theory.uniform_on_hard(K) * bound, rel=1e-9)


def test_hard_is_the_instance_of_the_proof():
    """Batches of ceil(gap T / V) rounds, at least two; the good arm may stay."""
    sizes = {"K": 3, "T": 10**5, "B": 10**4, "V": 5.0}
    for c in (1, 3):
        gap = c * (3 * 5 / (1920 * 10**4)) ** (1 / 3)
        length = int(np.ceil(gap * 10**5 / 5))
        best = []
        for seed in range(30):
            path = path_of("hard", {"c": c}, seed, **sizes)
            assert np.diff(path.start)[:-1].tolist() == [length] * (len(path.mean) - 1)
            assert np.diff(path.start)[-1] <= length
            assert path.mean.max() == pytest.approx(0.5 + gap)
            best.append(path.best)
        best = np.array(best)
        stays = (best[:, 1:] == best[:, :-1]).mean()
        n = best[:, 1:].size
        assert abs(stays - 1 / 3) < 4 * np.sqrt(2 / 9 / n)


def test_packed_in_hyques_last_block():
    sizes = {"K": 2, "T": 10**6, "B": 60_000, "V": 6.0}
    n, first = theory.last_block(10**6, 60_000)
    b = -(-2 * 10**6 // 60_000)
    assert first == b * (2**n - 1) + 1
    assert first <= 10**6 < first + b * 2**n
    path = path_of("packed", {"gap": 0.5}, **sizes)
    fractions = [0.1, 0.2, 1 / 3, 0.45, 0.6, 0.8]
    assert changes(path) == [int(first + f * (10**6 - first)) for f in fractions]
    # Fewer when V pays for fewer, or when so many are asked for.
    assert len(changes(path_of("packed", {"gap": 0.5}, **sizes | {"V": 1.0}))) == 2
    assert len(changes(path_of("packed", {"gap": 0.5, "jumps": 4}, **sizes))) == 4
    assert len(changes(path_of("packed", {"gap": 0.5}, **sizes | {"V": 0.4}))) == 0


@pytest.mark.parametrize("B", [1000, 5000])
def test_packed_after_rexp3bs_queries(B):
    batch, queries = theory.rexp3b_batch(3, 5000, B, 2.0)
    path = path_of("packed", {"gap": 0.4, "target": "rexp3b"}, B=B)
    at = changes(path)
    assert 1 <= len(at) <= 5
    for t in at:  # the first round after the batch's queries
        assert (t - 1) % batch == queries % batch
    kernel, runs = plays.noting("rexp3b")
    plays.play("rexp3b", path, B, 2.0, 1, kernel=kernel)
    if B < 5000:
        kinds = {start: query for start, _, query in runs}
        assert not any(kinds[t] for t in at)
        assert all(kinds[t - 1] for t in at)


@pytest.mark.parametrize(
    ("time", "at"), [("quarter", 1251), ("half", 2501), ("last_block", 10 * (2**8 - 1) + 1)]
)
def test_single_jump(time, at):
    path = path_of("single_jump", {"size": 0.3, "time": time})
    assert changes(path) == [at]
    assert path.variation() == pytest.approx(0.3)
    assert path.best[0] != path.best[1]


def test_stationary_does_not_change():
    path = path_of("stationary", {"gap": 0.3, "level": 0.2}, V=0)
    assert changes(path) == []
    assert path.variation() == 0
    assert np.sort(path.mean[0]) == pytest.approx([0.2, 0.2, 0.5])


@pytest.mark.parametrize(
    ("name", "conf", "sizes", "said"),
    [
        ("switching", {"gap": 0.6}, {}, r"gap=0\.6: must be a number in \(0, 0\.5\]"),
        ("switching", {"gap": 0}, {}, r"gap=0: must be a number in \(0, 0\.5\]"),
        ("switching_centred", {"gap": 1.1}, {}, r"gap=1\.1: must be a number in \(0, 1\]"),
        ("packed", {"gap": 0.7}, {}, r"gap=0\.7: must be a number in \(0, 0\.5\]"),
        ("single_jump", {"size": 0.7}, {}, r"size=0\.7: must be a number in \(0, 0\.5\]"),
        ("single_jump", {"size": 0.4}, {"V": 0.3}, r"size=0\.4: must be at most V=0\.3"),
        ("stationary", {"gap": 0.7}, {}, r"gap=0\.7: must be .*"),
        ("hard", {"c": 1}, {"V": 0}, r"V=0: .* needs V > 0"),
        ("hard", {"c": 99}, {}, r"c.*=.*: must be .*"),
        ("hard", {"c": 1}, {"V": 0.001}, r"adversary\.c=1: .* must be under"),
        ("switching", {"gap": "big"}, {}, r"gap=big: must be a number"),
        ("switching", {"gap": float("nan")}, {}, r"gap=nan: must be a number"),
        ("switching", {"gpa": 0.1}, {}, r"gpa=0\.1: no such key; known: gap, jitter"),
        ("swiching", {}, {}, r"adversary\.name=swiching: unknown; known: hard, .*switching"),
    ],
)
def test_refusals_name_key_value_and_range(name, conf, sizes, said):
    with pytest.raises(ConfeeError, match=said) as error:
        path_of(name, conf, **sizes)
    assert "\n" not in str(error.value)


def test_a_path_depends_on_its_key_alone():
    """Seed, K, T, V and parameters, not B: all policies and budgets meet the same paths."""
    one = path_of("switching", {"gap": 0.3})
    same = path_of("switching", {"gap": 0.3}, B=77)
    assert one.best.tolist() == same.best.tolist()
    others = [path_of("switching", {"gap": 0.3}, seed).best.tolist() for seed in range(1, 9)]
    assert len({tuple(best) for best in others}) > 4
