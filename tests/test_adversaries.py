"""Adversaries: what every family keeps to by being registered, and known answers for each."""

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
from confee.paper import theory
from confee.simulation.cells import cell, family, opponent
from confee.simulation.play import USUAL, Accounting, draw_path, play
from confee.simulation.units import Seeds, unit, units_of
from confee.world.adversaries import ADVERSARIES, lines, random_walk, sinusoid, switching, trace
from confee.world.game import new_ledger, new_world
from support import plays
from support.variation import brute_variation

few = settings(max_examples=25, derandomize=True, deadline=None)
SIZES = {"K": 3, "T": 5000, "B": 1000, "V": 2.0}
# Each adversary with values in its range, and with the largest it allows.
CONFS = [
    ("switching", {"gap": 0.3}),
    ("switching", {"gap": 0.5}),
    ("switching", {"gap": 0.07, "jitter": True}),
    ("switching_centred", {"gap": 0.3}),
    ("switching_centred", {"gap": 1.0}),
    ("switching_centred", {"gap": 0.11, "jitter": True}),
    ("switching_random", {"gap": 0.3}),
    ("switching_random", {"gap": 0.5}),
    ("packed", {"gap": 0.3}),
    ("packed", {"gap": 0.1, "jumps": 3}),
    ("packed", {"gap": 0.1, "target": "rexp3b"}),
    ("hard", {"c": 1}),
    ("hard", {"c": 4}),
    ("hard", {"c": 1, "adaptive": True}),
    ("single_jump", {"size": 0.5, "time": "quarter"}),
    ("single_jump", {"size": 0.2, "time": "half"}),
    ("single_jump", {"size": 0.2, "time": "last_block"}),
    ("fall", {"size": 0.4}),
    ("fall", {"size": 1.0}),
    ("rise", {"size": 0.4}),
    ("rise", {"size": 1.0}),
    ("blink", {"gap": 0.3}),
    ("blink", {"gap": 0.5, "duty": 0.7}),
    ("excursions", {"size": 0.4}),
    ("flicker", {"dip": 0.04}),
    ("hidden_rise", {}),
    ("hidden_rise", {"level": 0.4, "start": 0.1, "lag": 0.02, "height": 0.3}),
    ("shifts", {}),
    ("shifts", {"step": 0.3, "times": 1.5}),
    ("flicker", {"dip": 0.2, "times": 2, "together": False}),
    ("excursions", {"size": 0.9, "above": 0.2, "duty": 0.7, "climb": 0.6, "span": 0.5}),
    ("drift", {"amplitude": 0.3}),
    ("drift", {"amplitude": 1.0}),
    ("sinusoid", {"amplitude": 0.6}),
    ("sinusoid", {"amplitude": 1.0, "knots": 3}),
    ("random_walk", {"step": 0.05}),
    ("random_walk", {"step": 0.5, "knots": 10}),
    ("trace", {}),
    ("trace", {"means": "rises", "amplitude": 0.4}),
    ("trace", {"means": "levels", "window": 1}),
    ("stationary", {"gap": 0.4}),
    ("linear_switching", {"gap": 0.3}),
    ("linear_switching", {"gap": 0.5, "d": 3}),
    ("linear_rotation", {"gap": 0.3}),
    ("linear_rotation", {"gap": 0.5, "d": 12, "knots": 7}),
]
every_conf = pytest.mark.parametrize(("name", "conf"), CONFS, ids=str)
CONTINUOUS = ("drift", "sinusoid", "random_walk", "trace", "linear_rotation")
"""Families that spend all of V, unless T is too short for it."""


def path_of(name, conf, seed=0, **sizes):
    sizes = SIZES | sizes
    against = opponent({"name": name, **conf}, Size(**sizes))
    return draw_path(against, Size(sizes["K"], sizes["T"], sizes["T"], sizes["V"]), seed)


def changes(path):
    return path.start[1:-1].tolist()


# ----------------------------------------------------------------------- every family


def test_every_adversary_is_tried():
    """Those of arms and linear ones, which are arms to these tests; the others have paths of their
    own, and tests (test_contextual, ...)."""
    arms = {name for name, one in ADVERSARIES.items() if one.setting in ("arms", "linear")}
    assert {name for name, _ in CONFS} == arms


@every_conf
def test_variation_is_exact_and_paid_for(name, conf):
    for seed in range(5):
        path = path_of(name, conf, seed)
        assert path.variation() == pytest.approx(brute_variation(path), abs=1e-9)
        assert path.variation() <= SIZES["V"] * (1 + 1e-9)
        assert path.horizon == SIZES["T"]
        assert (path.start[1:] > path.start[:-1]).all()
        means = path.means()
        best = np.repeat(path.best, np.diff(path.start))
        assert (means.max(axis=1) - means[np.arange(len(means)), best]).max() < 1e-12


@every_conf
@few
@given(data=st.data())
def test_adversaries_stay_within_their_budget(name, conf, data):
    """Whatever the sizes: either refused when resolved, or a path that passes its checks."""
    K = data.draw(st.integers(2, 50))
    T = data.draw(st.integers(K, 10 ** data.draw(st.integers(1, 9)) + K))
    B = data.draw(st.integers(K, T))
    V = data.draw(st.sampled_from([0.0, 1e-9, 0.1, 0.25, 1.0, 3.7, 20.0, 100.0]) | st.floats(0, 50))
    try:
        against = opponent({"name": name, **conf}, Size(K=K, T=T, B=B, V=V))
    except ConfeeError:
        assert name in ("hard", "single_jump") or (name == "trace" and K > 15)
        return
    assert json.loads(json.dumps(against.key)) == canonical(against.key)
    path = draw_path(against, Size(K, T, T, V), data.draw(st.integers(0, 10**6)))
    assert path.variation() <= V * (1 + 1e-9) + 1e-15
    if V > 1e-6 and (name != "trace" or T > 100):  # few rows of a real series may all tie
        assert (path.mean + path.last).max() > (path.mean + path.last).min()
    if name in CONTINUOUS and T > 1000 * (1 + V):
        assert path.variation() == pytest.approx(V, rel=1e-9, abs=1e-15)


@every_conf
@pytest.mark.parametrize(("K", "T"), [(2, 10), (15, 17), (1000, 2000), (1000, 10**9), (10, 10**15)])
def test_the_largest_and_the_smallest_sizes(name, conf, K, T):
    for V in (1e-12, 1.0):
        sizes = {"K": K, "T": T, "B": min(T, max(K, 10**6)), "V": V}
        try:
            path = path_of(name, conf, **sizes)
        except ConfeeError:
            assert name in ("hard", "single_jump") or (name == "trace" and K > 15)
            continue
        assert len(path.mean) <= 4000
        if name in CONTINUOUS and T >= 2000:
            assert path.variation() == pytest.approx(V, rel=1e-9, abs=1e-15)


@every_conf
def test_a_path_is_its_seeds(name, conf):
    one, again = path_of(name, conf, 3), path_of(name, conf, 3, B=1000)
    for field in ("start", "mean", "slope"):
        assert (getattr(one, field) == getattr(again, field)).all()
    assert one.adaptive == again.adaptive == bool(conf.get("adaptive"))
    drawn = {path_of(name, conf, seed).mean.tobytes() for seed in range(8)}
    assert len(drawn) > 1


@every_conf
def test_arms_are_alike(name, conf):
    """Over 240 seeds each arm is the best in some round as often: within 4 standard errors."""
    K, runs, t = 4, 240, 1701
    best = []
    for seed in range(runs):
        path = path_of(name, conf, seed, K=K)
        best.append(path.best[np.searchsorted(path.start, t, side="right") - 1])
    often = np.bincount(best, minlength=K)
    assert abs(often - runs / K).max() < 4 * np.sqrt(runs / K * (1 - 1 / K))


@every_conf
def test_the_oracle_has_no_regret_and_uniform_play_has(name, conf):
    sizes = {"K": 3, "T": 5000, "B": 1000, "V": 2.0}
    against = opponent({"name": name, **conf}, Size(**sizes))
    for seed in range(3):
        assert play(cell({"name": "oracle"}, Size(**sizes)), against, seed)[
            "regret"
        ] == pytest.approx(0, abs=1e-9)
        row = play(cell({"name": "uniform"}, Size(**sizes)), against, seed)
        assert row["regret"] > 10
        assert row["variation"] <= 2 * (1 + 1e-9)
        if not conf.get("adaptive"):
            means = draw_path(against, Size(3, 5000, 5000, 2.0), seed).means()
            lost = (means.max(axis=1) - means.mean(axis=1)).sum()
            assert row["regret"] == pytest.approx(lost)


@pytest.mark.parametrize("name", [*CONTINUOUS, "switching_random", "fall", "rise", "blink"])
def test_no_variation_no_change(name):
    path = path_of(name, {}, V=0)
    assert len(path.mean) == 1
    assert path.variation() == 0
    if name not in ("random_walk", "sinusoid", "trace"):
        assert path.mean.max() > path.mean.min()


@pytest.mark.parametrize("name", sorted(ADVERSARIES))
def test_a_strength_is_an_option_with_the_familys_ceiling(name):
    spec = ADVERSARIES[name]
    if spec.strength is None:
        assert name in ("hard", "random_walk")
        return
    sizes = {"K": 3, "T": 10**6, "B": 10**5, "V": 2.0}
    entry = {"name": name, "strength": [1, 2, "ceiling"]}
    if name == "stationary":
        entry["level"] = 0
    values = [o.parameters[spec.strength] for o in family({"one": entry}, Size(**sizes))]
    critical = theory.critical_gap(3, 10**5, 2.0)
    assert values == pytest.approx([critical, 2 * critical, spec.ceiling])


# ----------------------------------------------------------------------- lines


@few
@given(seed=st.integers(0, 2**32), K=st.integers(2, 6), S=st.integers(2, 6))
def test_lines_are_split_where_the_best_arm_changes(seed, K, S):
    """All means are those of the lines, to rounding; each segment has one best arm; the variation
    is that of the knots; and no segment is cut in vain."""
    rng = np.random.default_rng(seed)
    knots = rng.integers(0, 5, (S, K)) / 4 if seed % 2 else rng.random((S, K))  # ties, or none
    rounds = np.append(1, 1 + np.cumsum(rng.integers(1, 40, S - 1)))
    path = lines.split(rounds, knots)
    T = int(rounds[-1])
    assert path.checked(T, lines.spent(knots)) is path
    t = np.arange(1, T + 1)
    exact = np.column_stack([np.interp(t, rounds, knots[:, k]) for k in range(K)])
    assert path.means() == pytest.approx(exact, abs=1e-14)
    assert path.variation() == pytest.approx(lines.spent(knots), abs=1e-12)
    means = path.means()
    best = np.repeat(path.best, np.diff(path.start))
    assert means[t - 1, best] == pytest.approx(means.max(axis=1), abs=1e-14)
    inner = ~np.isin(path.start[1:-1], rounds)
    assert (path.best[1:] != path.best[:-1])[inner].all()


def test_a_crossing_by_hand():
    """0.9 -> 0.1 and 0.3 -> 0.8 in 8 steps cross after 3.7; a third arm, that is best nowhere,
    changes nothing. The round of a tie is still the first arm's."""
    path = lines.split(np.array([1, 9]), np.array([[0.9, 0.3, 0.2], [0.1, 0.8, 0.4]]))
    assert path.start.tolist() == [1, 5, 10]
    assert path.best.tolist() == [0, 1]
    tie = lines.split(np.array([1, 9]), np.array([[0.875, 0.125], [0.125, 0.875]]))
    assert tie.start.tolist() == [1, 6, 10]
    assert tie.means()[4].tolist() == [0.5, 0.5]


@few
@given(data=st.data())
def test_knots_lie_on_rounds_of_their_own(data):
    S = data.draw(st.integers(2, 30))
    T = data.draw(st.integers(S, 10 ** data.draw(st.integers(2, 15))))
    gaps = data.draw(st.lists(st.floats(0, 1), min_size=S - 1, max_size=S - 1))
    times = np.append(0, np.cumsum(gaps))
    times = times / times[-1] if times[-1] > 0 else np.linspace(0, 1, S)
    rounds = lines.on_rounds(times, T)
    assert (rounds[0], rounds[-1]) == (1, T)
    assert (np.diff(rounds) > 0).all()
    if (np.diff(times) * (T - 1) > 1 + 1e-6).all() and T < 10**9:
        assert abs(rounds - 1 - times * (T - 1)).max() <= 0.5 + 1e-6


def test_more_knots_than_rounds():
    means = np.tile([[0.2, 0.8], [0.8, 0.2]], (10, 1))
    path = lines.through(np.linspace(0, 1, 20), means, 7).checked(7, 99)
    assert path.means() == pytest.approx(means[:7])


# ----------------------------------------------------------------------- drift and sinusoid


def test_drift_by_hand():
    """V = 1 pays for two half waves of 0.5, four rounds each; V = 0.75 for one and a half."""
    path = path_of("drift", {"amplitude": 0.5}, K=2, T=9, B=5, V=1.0)
    first = path.best[0]
    wave = [0.75, 0.625, 0.5, 0.375, 0.25, 0.375, 0.5, 0.625, 0.75]
    assert path.means()[:, first] == pytest.approx(wave)
    assert path.means()[:, 1 - first] == pytest.approx(1 - np.array(wave))
    path = path_of("drift", {"amplitude": 0.5}, K=2, T=13, B=5, V=0.75)
    assert path.variation() == pytest.approx(0.75)
    assert path.means()[[0, 8, 12], path.best[0]] == pytest.approx([0.75, 0.25, 0.5])


def test_drift_in_long_waves():
    """Two arms move at a time, in opposite ways, the rest lie low; the top goes round them all."""
    A, V = 0.4, 3.0
    path = path_of("drift", {"amplitude": A}, K=5, T=75_001, B=5000, V=V)
    moving = path.slope != 0
    assert (moving.sum(axis=1) == 2).all()
    assert path.slope.sum(axis=1) == pytest.approx(0)
    assert abs(path.slope).max() == pytest.approx(V / 75_000)
    assert (path.mean[~moving] == 0.5 - A / 2).all()
    crossings = [10_000 * j + 5000 for j in range(7)]  # 7.5 half waves of 10^4 rounds
    found = path.start[1:-1][path.best[1:] != path.best[:-1]]
    assert found == pytest.approx(crossings, abs=3)
    assert (np.diff(path.best[np.append(True, np.diff(path.best) != 0)]) != 0).all()


@pytest.mark.parametrize(("amplitude", "V"), [(1.0, 3), (0.6, 3), (1.0, 1), (0.3, 7.2)])
def test_sinusoid_is_the_papers_formula(amplitude, V):
    """Whole V/a: 1/2 +- a sin(pi V x/(2a)) to the stated error; a = 1/2: sin(pi V x)."""
    a, T = amplitude / 2, 20_001
    x = np.arange(T) / (T - 1)
    for knots in (1, 4, 8, 64):
        conf = {"amplitude": amplitude, "knots": knots}
        path = path_of("sinusoid", conf, K=4, T=T, V=V)
        error = a * (np.pi / knots) ** 2 / 32 + 1.5 * a * (np.pi * V / (2 * a)) / (T - 1)
        wave = a * np.sin(np.pi * V * x / (2 * a))
        means = path.means()
        up = means[100].argmax()
        down = means[100].argmin()
        assert abs(means[:, up] - 0.5 - wave).max() <= error
        assert abs(means[:, down] - 0.5 + wave).max() <= error
        assert abs(means[:, up] - 0.5 - wave).max() >= 0.5 * a * (np.pi / knots) ** 2 / 32
        assert (np.delete(means, [up, down], axis=1) == 0.5).all()
        assert path.variation() == pytest.approx(V, rel=1e-9)
        # The sine itself, in rounds: its variation is a little less, as it misses its extremes.
        assert np.abs(np.diff(wave)).sum() == pytest.approx(V, rel=1e-4)


@few
@given(
    V=st.floats(0.01, 20), a=st.floats(0.05, 0.5), T=st.integers(50, 5000), knots=st.integers(1, 20)
)
def test_sinusoid_spends_v_where_quarters_are_cut_and_rounds_are_few(V, a, T, knots):
    resolved = {"amplitude": 2 * a, "knots": knots}
    phase, sine = sinusoid.phases(resolved, T, V)
    assert sine == pytest.approx(np.sin(np.pi / 2 * phase), abs=1e-12)
    assert (np.diff(phase) > 0).all()
    path = sinusoid.draw(resolved, 2, T, V, np.random.default_rng(0)).checked(T, V)
    if V / a > T - 1:
        assert path.variation() < V
        return
    assert path.variation() == pytest.approx(V, rel=1e-9)
    theta = np.pi / 2 * phase[-1]
    wave = a * np.sin(theta * np.arange(T) / (T - 1))
    used = max(1, min(knots, (T - 1) // (int(V / a) + 1)))
    error = a * (np.pi / used) ** 2 / 32 + 1.5 * a * theta / (T - 1)
    means = path.means() - 0.5
    assert min(abs(means[:, 0] - wave).max(), abs(means[:, 1] - wave).max()) <= error + 1e-12


# ----------------------------------------------------------------------- random walk


@few
@given(
    seed=st.integers(0, 2**32),
    step=st.floats(0.001, 0.5),
    V=st.floats(0, 30),
    knots=st.integers(1, 300),
    T=st.integers(2, 10**6),
)
def test_random_walk(seed, step, V, knots, T):
    """Every arm moves by the step, up or down, inside [0, 1]; at most `knots` steps."""
    options = random_walk.Options(step, knots)
    resolved = random_walk.resolve(options, Size(4, T, 4, V))
    assert resolved["step"] == min(0.5, max(step, V / knots, V / (T - 1)))
    path = random_walk.draw(resolved, 4, T, V, np.random.default_rng(seed)).checked(T, V)
    if V <= (T - 1) / 2:
        assert path.variation() == pytest.approx(V, rel=1e-9)
    assert abs(path.slope) == pytest.approx(abs(path.slope)[:, :1] * np.ones(4), rel=1e-6)
    turns = np.unique(path.start[1:-1][(np.diff(path.slope, axis=0) != 0).any(axis=1)])
    assert len(turns) <= max(knots, 2 * V)


def test_random_walk_is_a_fair_one():
    """Starts are uniform and steps fair coins, within 4 standard errors, where nothing reflects."""
    paths = [path_of("random_walk", {"step": 0.01}, seed, V=0.02) for seed in range(500)]
    first = np.array([path.mean[0] for path in paths]).ravel()
    assert abs(first.mean() - 0.5) < 4 * np.sqrt(1 / 12 / first.size)
    assert abs(first.var() - 1 / 12) < 4 * np.sqrt(1 / 180 / first.size)
    up = np.concatenate([path.slope[0][abs(path.mean[0] - 0.5) < 0.45] > 0 for path in paths])
    assert abs(up.mean() - 0.5) < 4 * 0.5 / np.sqrt(up.size)
    wander = [path.last[-1] - path.mean[0] for path in paths]  # two steps of 0.01
    spread = np.mean(np.square(wander))
    assert spread == pytest.approx(2 * 0.01**2, rel=0.15)


# ----------------------------------------------------------------------- falls and rises


@pytest.mark.parametrize("name", ["fall", "rise"])
@pytest.mark.parametrize(
    ("size", "V", "n"),
    [(0.4, 2.0, 3), (0.4, 2.2, 4), (0.4, 0.4, 1), (0.4, 0.39, 0), (1.0, 1.0, 1), (1.0, 2.5, 2)],
)
def test_falls_and_rises(name, size, V, n):
    """n (size) + (n - 1) size/2 <= V < the same for n + 1; the events start equal batches."""
    T = 8003
    for seed in range(20):
        path = path_of(name, {"size": size}, seed, V=V, K=5, T=T)
        cost = n * size + max(n - 1, 0) * size / 2
        assert path.variation() == pytest.approx(cost)
        assert cost <= V + 1e-9 < cost + (1.5 if n else 1) * size + 2e-9
        halves = [j * T // (2 * n + 2) + 1 for j in range(2 * n + 2)]
        assert changes(path) == halves[2 : 2 * n + 1]
        ordered = np.sort(path.mean, axis=1)
        assert ordered[:, -1] - ordered[:, -2] == pytest.approx(size / 2)
        for j in range(1, n + 1):
            before, after = path.mean[2 * j - 2], path.mean[2 * j - 1]
            old, new = before.argmax(), after.argmax()
            assert old != new
            moved = np.flatnonzero(before != after)
            if name == "fall":  # the old best alone moves, to the bottom
                assert moved.tolist() == [old]
                assert after[old] == after.min() == pytest.approx(before[old] - size)
            else:  # a worst arm alone moves, to the top
                assert moved.tolist() == [new]
                assert before[new] == before.min() == pytest.approx(after[new] - size)
                assert after[old] == sorted(after)[-2]
            if j < n:  # half a batch later: the best arm stays
                settled = path.mean[2 * j]
                assert settled.argmax() == new
                assert abs(settled - after).max() == pytest.approx(size / 2)


@pytest.mark.parametrize("name", ["fall", "rise"])
@pytest.mark.parametrize(("T", "n"), [(3, 0), (4, 1), (5, 1), (6, 2), (10, 4)])
def test_falls_and_rises_need_two_rounds_a_batch(name, T, n):
    path = path_of(name, {"size": 0.2}, K=2, T=T, B=2, V=50.0)
    assert len(path.mean) == max(1, 2 * n)


# ----------------------------------------------------------------------- blinks


def ups(path):
    """(first, stop) of each segment with an arm above 1/2."""
    high = path.mean.max(axis=1) > 0.5
    return np.column_stack([path.start[:-1], path.start[1:]])[high]


def test_blinks_by_hand():
    """V = 2 pays for four blinks of 0.5, in the middle of 25 rounds each; V = 1.9 for three."""
    path = path_of("blink", {"gap": 0.125, "duty": 0.2}, K=3, T=100, B=10, V=2.0)
    assert ups(path).tolist() == [[11, 16], [36, 41], [61, 66], [86, 91]]
    assert path.variation() == 2.0
    leader = path.mean[0].argmax()
    assert (path.mean[:, leader] == 0.5).all()
    others = np.delete(path.mean, leader, axis=1)
    assert set(others[::2].ravel()) == {0.375}
    assert np.sort(others[1::2], axis=1).tolist() == [[0.375, 0.625]] * 4
    path = path_of("blink", {"gap": 0.125, "duty": 0.5}, K=2, T=120, B=10, V=1.9)
    assert ups(path).tolist() == [[11, 31], [51, 71], [91, 111]]


def test_a_rise_where_v_pays_for_no_blink():
    """V = 0.5 pays for one jump of 2 gap, and so does V = 0.99; V = 0.49 pays for nothing."""
    for V in (0.5, 0.99):
        path = path_of("blink", {"gap": 0.25}, K=3, T=100, B=10, V=V)
        assert ups(path).tolist() == [[76, 101]]
        assert path.variation() == 0.5
    assert len(path_of("blink", {"gap": 0.25}, K=3, T=100, B=10, V=0.49).mean) == 1


@pytest.mark.parametrize(("T", "jumps"), [(2, 1), (3, 2), (4, 2), (5, 4), (10, 8), (11, 10)])
def test_blinks_leave_rounds_in_between(T, jumps):
    path = path_of("blink", {"gap": 0.2}, K=2, T=T, B=2, V=50.0)
    assert len(path.mean) == jumps + 1
    if T % 2:
        assert ups(path).tolist() == [[t, t + 1] for t in range(2, T + 1, 2)]


def test_blinking_arms_are_drawn_uniformly():
    """Leaders, and blinking arms counted from the leader on: within 4 standard errors."""
    K, leaders, offsets = 4, [], []
    for seed in range(400):
        path = path_of("blink", {"gap": 0.05}, seed, K=K)
        leaders.append(path.mean[0].argmax())
        offsets += ((path.mean[1::2].argmax(axis=1) - leaders[-1]) % K).tolist()
    assert 0 not in offsets
    for drawn, ways in ((leaders, range(K)), (offsets, range(1, K))):
        n, p = len(drawn), 1 / len(ways)
        often = np.array([drawn.count(k) for k in ways])
        assert abs(often - n * p).max() < 4 * np.sqrt(n * p * (1 - p))


@few
@given(data=st.data())
def test_blinks_keep_their_lead_their_budget_and_their_duty(data):
    K, T = data.draw(st.integers(2, 6)), data.draw(st.integers(2, 3000))
    T = max(K, T)
    gap, duty = data.draw(st.floats(0.005, 0.5)), data.draw(st.floats(0.01, 0.99))
    V = data.draw(st.sampled_from([0.0, 2 * gap, 4 * gap, 12 * gap]) | st.floats(0, 40))
    conf = {"gap": gap, "duty": duty}
    path = path_of("blink", conf, data.draw(st.integers(0, 10**6)), K=K, T=T, B=K, V=V)
    means, up = path.means(), ups(path)
    ordered = np.sort(means, axis=1)
    assert ordered[:, -1] - ordered[:, -2] == pytest.approx(gap)
    assert ordered[0, -1] == 0.5
    assert ordered.min() >= 0
    assert ordered.max() <= 1
    blinks = min((V / gap + 1e-9) // 4, (T - 1) // 2)
    cost = 4 * gap * blinks if blinks else 2 * gap * (V / gap + 1e-9 >= 2)
    assert path.variation() == pytest.approx(cost) == pytest.approx(brute_variation(path))
    assert path.variation() <= V * (1 + 1e-9)
    assert len(up) == max(blinks, cost > 0)
    if not len(up):
        return
    period = T / len(up)
    if min(duty, 1 - duty, (1 - duty) / 2 if blinks else 1) * period > 1:  # no jumps crowd
        first = (np.arange(len(up)) + (1 - duty) / 2) * period if blinks else (1 - duty) * T
        assert abs(up[:, 0] - 1 - first).max() <= 0.5 + 1e-6
        assert abs(up[:, 1] - up[:, 0] - duty * period).max() <= 1 + 1e-6


# ----------------------------------------------------------------------- switching_random


def test_switching_random_is_uniform_in_time():
    """Distinct rounds of 2..T, as many as `switching` has, each as likely: 4 standard errors."""
    T, gap, V, runs = 21, 0.25, 1.0, 800
    count = np.zeros(T + 1)
    for seed in range(runs):
        path = path_of("switching_random", {"gap": gap}, seed, T=T, B=10, V=V)
        assert len(changes(path)) == 4
        assert path.variation() == pytest.approx(V)
        assert (np.diff(path.best) != 0).all()
        assert sorted(set(path.mean.ravel().tolist())) == [0.5, 0.75]
        count[changes(path)] += 1
    share = 4 / (T - 1)
    assert count[:2].sum() == 0
    assert abs(count[2:] - runs * share).max() < 4 * np.sqrt(runs * share * (1 - share))
    assert len(changes(path_of("switching_random", {"gap": 0.1}, T=9, B=5, V=9.0))) == 8


# ----------------------------------------------------------------------- hard that adapts


ADAPTIVE = {"K": 3, "T": 300, "B": 3, "V": 2.0}


def adaptive(**sizes):
    return opponent({"name": "hard", "c": 1, "adaptive": True}, Size(**ADAPTIVE | sizes))


def by_plan(path, arms):
    """(good arms, plays [S, K], regret): `arms[s]` is played in all rounds of segment s."""
    from confee.world.game import idle, locate, new_data, played_path, settle

    K = path.mean.shape[1]
    world, ledger, data = new_world(path), new_ledger(adaptive=True), new_data(K)
    rng = np.random.default_rng(0)
    for s, arm in enumerate(arms):
        weights = np.zeros(K)
        weights[arm] = 1.0
        start, stop = int(path.start[s]), int(path.start[s + 1])
        locate(world, ledger, start)
        idle(world, ledger, data, start, stop, weights, rng)
    played = played_path(world, "by hand")
    return played, settle(ledger, played)["regret"]


def test_adaptive_by_hand():
    """The good arm of a batch is the least index among those played least in the batch before."""
    against = adaptive()
    gap, length = against.parameters["gap"], against.parameters["length"]
    path = draw_path(against, Size(3, 300, 300, 2.0), 0)
    m = len(path.mean)
    assert m == math.ceil(300 / length) > 8
    arms = [0, 1, 2, 0, 0, 1, *[2] * (m - 6)]
    played, regret = by_plan(path, arms)
    good = [int(path.best[0])] + [1 if arm == 0 else 0 for arm in arms[:-1]]
    assert played.best.tolist() == good
    assert played.start.tolist() == path.start.tolist()
    assert played.mean.max(axis=1) == pytest.approx(0.5 + gap)
    assert np.sort(played.mean, axis=1)[:, :-1] == pytest.approx(0.5)
    moves = sum(a != b for a, b in itertools.pairwise(good))
    assert played.variation() == pytest.approx(moves * gap)
    rounds = np.diff(path.start)
    lost = sum(n for n, arm, g in zip(rounds, arms, good, strict=True) if arm != g)
    assert regret == pytest.approx(gap * lost)


@pytest.mark.parametrize("arm", [0, 1, 2])
def test_an_arm_played_always_is_good_in_the_first_batch_at_most(arm):
    first = set()
    for seed in range(12):
        path = draw_path(adaptive(), Size(3, 300, 300, 2.0), seed)
        played, _ = by_plan(path, [arm] * len(path.mean))
        assert arm not in played.best[1:]
        first.add(int(played.best[0]))
    assert first == {0, 1, 2}


def test_adaptive_needs_no_more_than_v_and_says_so():
    """Every policy, controls too: regret, variation, and the same numbers from the same seed."""
    sizes = {"K": 3, "T": 4000, "B": 1000, "V": 2.0}
    against = adaptive(**sizes)
    for name in ("oracle", "informed", "uniform", "ucb1", "rexp3b"):
        one = cell({"name": name}, Size(**sizes))
        row, again = play(one, against, 5), play(one, against, 5)
        assert row == again
        assert 0 <= row["variation"] <= 2.0
        assert row["adversary.adaptive"] == 1
        assert (row["regret"] == 0) == (name == "oracle")
        if name in ("oracle", "informed"):
            assert row["variation"] > 0  # what it plays most is never good again


def test_adaptive_is_drawn_apart_and_changes_nothing_where_it_is_off():
    sizes = {"K": 3, "T": 4000, "B": 1000, "V": 2.0}
    plain = opponent({"name": "hard", "c": 1}, Size(**sizes))
    assert opponent({"name": "hard", "c": 1, "adaptive": False}, Size(**sizes)) == plain
    assert "adaptive" not in plain.parameters
    assert adaptive(**sizes).parameters == plain.parameters | {"adaptive": 1}
    path = draw_path(adaptive(**sizes), Size(3, 4000, 4000, 2.0), 0)
    assert path.pieces == len(path.mean)  # what a policy told S is told


def test_adaptive_counts_idle_rounds_by_their_chances():
    """Sampled plays change no good arm: uniform play ties all arms, so arm 0 is good each time, and
    the regret has the same mean, within 4 standard errors."""
    sizes = {"K": 3, "T": 4000, "B": 1000, "V": 2.0}
    one, against = cell({"name": "uniform"}, Size(**sizes)), adaptive(**sizes)
    exact = play(one, against, 0)
    sampled = [
        play(one, against, seed, accounting=Accounting(idle="sampled")) for seed in range(200)
    ]
    gap = against.parameters["gap"]
    assert exact["variation"] <= gap + 1e-12
    for row in sampled:
        assert row["variation"] == pytest.approx(gap) or row["variation"] == 0
    regrets = np.array([row["regret"] for row in sampled])
    assert regrets.std() > 0
    assert abs(regrets.mean() - exact["regret"]) < 4 * regrets.std() / np.sqrt(200)


# ----------------------------------------------------------------------- trace


def write(path, rows, header="time,a,b,c"):
    path.write_text("\n".join([header, *rows]) + "\n")
    return str(path)


FIVE = ["1,1,2,4", "2,2.2,1.2,3.8", "3,4,1.5,2", "4,3,2.6,3.2", "5,3.4,3.9,1"]
LEVELS = {"means": "levels", "window": 1}


def traced(tmp_path, rows=FIVE, header="time,a,b,c", seed=0, conf=LEVELS, **sizes):
    file = write(tmp_path / "own.csv", rows, header)
    return path_of("trace", {"file": file, **conf}, seed, **sizes)


def test_trace_by_hand(tmp_path):
    """Levels 1..4 become means 0..1; the stretch turns at the ends until V is spent."""
    V, T = 6.0, 10**4
    levels = (np.array([row.split(",")[1:] for row in FIVE], float) - 1) / 3
    seen = set()
    for seed in range(60):
        path = traced(tmp_path, seed=seed, V=V, T=T)
        assert path.variation() == pytest.approx(V, rel=1e-12)
        order = next(
            order
            for order in itertools.permutations(range(3))
            if any(np.allclose(path.mean[0], row[list(order)]) for row in levels)
        )
        first = int(np.abs(levels[:, list(order)] - path.mean[0]).max(axis=1).argmin())
        walk = [4 - abs(4 - (first + i) % 8) for i in range(40)]
        costs = np.abs(np.diff(levels[walk], axis=0)).max(axis=1)
        steps = int(np.searchsorted(np.cumsum(costs), V))
        rest = (V - costs[:steps].sum()) / costs[steps]
        at = np.append(np.arange(steps + 1), steps + rest)
        times = 1 + at / at[-1] * (T - 1)
        knots = levels[walk[: steps + 1]]
        end = levels[walk[steps]] + rest * (levels[walk[steps + 1]] - levels[walk[steps]])
        knots = np.vstack([knots, end])[:, list(order)]
        t = np.arange(1, T + 1)
        exact = np.column_stack([np.interp(t, times, knots[:, k]) for k in range(3)])
        assert abs(path.means() - exact).max() < 20 / T * steps
        seen.add((order, first))
    assert len({order for order, _ in seen}) == 6
    assert {first for _, first in seen} == {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("means", "window", "y"),
    [
        ("levels", 1, [[1, 2], [2, 1], [4, 1], [3, 3]]),
        ("levels", 2, [[1.5, 1.5], [3, 1], [3.5, 2]]),
        ("rises", 1, [[1, 0], [1, 0], [0, 1]]),
        ("rises", 2, [[1, 0], [0.5, 0.5]]),
        ("growth", 1, [[1, -0.5], [1, 0], [-0.25, 2]]),
        ("growth", 2, [[3, -0.5], [0.5, 2]]),
    ],
)
def test_what_a_trace_looks_at(means, window, y):
    values = np.array([[1, 2], [2, 1], [4, 1], [3, 3]], float)
    assert trace.transformed(values, means, window, "a.csv") == pytest.approx(np.array(y, float))


def test_trace_fills_its_range_and_keeps_its_middle(tmp_path):
    for amplitude in (1.0, 0.3):
        path = traced(tmp_path, conf=LEVELS | {"amplitude": amplitude}, V=50.0, T=10**6)
        assert path.mean.min() == pytest.approx(0.5 - amplitude / 2)
        assert path.mean.max() == pytest.approx(0.5 + amplitude / 2)
        assert path.variation() == pytest.approx(50, rel=1e-9)


def test_the_shipped_series():
    """Fifteen industries, 120 months; the path of a year's growth has many leaders."""
    data = trace.Options().series()
    assert data.values.shape == (120, 15)
    assert (data.names[0], data.names[-1]) == ("mining_and_logging", "government")
    assert data.values[0, 0] == 656
    about = trace.SHIPPED.with_suffix(".txt").read_text()
    assert "public domain" in about
    path = path_of("trace", {}, K=15, V=20.0, T=10**6)
    assert path.pieces > 5


def test_a_trace_is_its_content_wherever_it_lies(tmp_path, monkeypatch):
    one = write(tmp_path / "one.csv", FIVE)
    (tmp_path / "folder").mkdir()
    other = write(tmp_path / "folder" / "other.csv", FIVE)
    monkeypatch.chdir(tmp_path)
    sizes = {"K": 2, "T": 1000, "B": 100, "V": 2.0}
    absolute, moved, relative = (
        opponent({"name": "trace", "file": file, **LEVELS}, Size(**sizes))
        for file in (one, other, "one.csv")
    )
    assert absolute.key == moved.key == relative.key
    assert str(tmp_path) not in json.dumps(absolute.key)
    draws = [draw_path(o, Size(2, 1000, 1000, 2.0), 7).means() for o in (absolute, moved, relative)]
    assert (draws[0] == draws[1]).all()
    assert (draws[0] == draws[2]).all()
    row = play(cell({"name": "uniform"}, Size(**sizes)), absolute, 0)
    assert "adversary.file" not in row
    assert row["adversary.digest"] == absolute.parameters["digest"]
    # A job reads its unit back in another folder, and finds the file.
    seeds = Seeds(2, 1, 0, 0, 0.1)
    (planned,) = units_of(cell({"name": "uniform"}, Size(**sizes)), [relative], seeds, 0, USUAL)
    (elsewhere,) = units_of(cell({"name": "uniform"}, Size(**sizes)), [moved], seeds, 0, USUAL)
    assert planned.file == elsewhere.file
    monkeypatch.chdir(tmp_path / "folder")
    back = unit(json.loads(json.dumps(planned.describe())))
    assert (draw_path(back.opponents[0], Size(2, 1000, 1000, 2.0), 7).means() == draws[0]).all()


def test_a_trace_that_changed_is_another_one(tmp_path):
    file = write(tmp_path / "own.csv", FIVE)
    sizes = {"K": 2, "T": 1000, "B": 100, "V": 2.0}
    conf = {"name": "trace", "file": file, **LEVELS}
    before = opponent(conf, Size(**sizes))
    write(tmp_path / "own.csv", [*FIVE[:-1], "5,3.4,3.9,1.1"])
    assert opponent(conf, Size(**sizes)).key != before.key
    with pytest.raises(ConfeeError, match=r"own\.csv: changed since it was planned; run again"):
        draw_path(before, Size(2, 1000, 1000, 2.0), 0)


def test_a_copy_of_the_shipped_series_is_the_shipped_series(tmp_path):
    (tmp_path / "copy.csv").write_bytes(trace.SHIPPED.read_bytes())
    sizes = {"K": 2, "T": 1000, "B": 100, "V": 2.0}
    copy = opponent({"name": "trace", "file": str(tmp_path / "copy.csv")}, Size(**sizes))
    assert copy.key == opponent({"name": "trace"}, Size(**sizes)).key


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty; must have a header row"),
        ("time,a,b\n", "0 rows under the header; must be at least 2"),
        ("time,a,b\n1,1,2\n", "1 rows under the header; must be at least 2"),
        ("time,a\n1,1\n2,2\n", "1 series; must have a time and at least 2"),
        ("1\n2\n3\n", "0 series; must have a time and at least 2"),
        ("time,a,a\n1,1,2\n2,2,3\n", "a column's name is missing or used twice"),
        ("time,a,\n1,1,2\n2,2,3\n", "a column's name is missing or used twice"),
        ("time,a,b\n1,1,2\n2,2\n", "line 3 has 2 cells; must have 3"),
        ("time,a,b\n1,1,2\n\n2,2,4\n", "line 3 has 0 cells; must have 3"),
        ("time,a,b\n1,1,2\n2,,3\n", "line 3, a: no value; must be a number"),
        ("time,a,b\n1,1,2\n2,2,x\n", "line 3, b: x; must be a finite number"),
        ("time,a,b\n1,1,2\n2,2,nan\n", "line 3, b: nan; must be a finite number"),
        ("time,a,b\n1,1,2\n2,1e999,3\n", "line 3, a: 1e999; must be a finite number"),
        ("time,a,b\n1,1,2\n2,1_0,3\n", "line 3, a: 1_0; must be a finite number"),
        ("time,a,b\n2,1,2\n1,2,3\n", "line 3: time 1 is not after the one before it"),
        ("time,a,b\n1,1,2\n1,2,3\n", "line 3: time 1 is not after the one before it"),
        ("day,a,b\n2020-01-02,1,2\n2020-01-01,2,3\n", "line 3: time 2020-01-01 is not after"),
        ("time,a,b\nmon,1,2\ntue,2,3\n", "its first column must be time: all numbers, or all ISO"),
        ("time,a,b\n2020-01-01,1,2\n2,2,3\n", "its first column must be time"),
        ("time,a,b\n1,3,3\n2,3,3\n", "each of its series is constant"),
        ("time,a,b\n1,0.1,7\n2,0.1,7\n3,0.1,7\n", "each of its series is constant"),
        (b"\xff\xfe\x00PK\x03", "not a CSV file; must be text with commas"),
        ('time,a,b\n1,"1,2\n2,2,3\n', "not a CSV file; must be text with commas"),
    ],
)
def test_refused_files_in_one_line(tmp_path, text, said):
    file = tmp_path / "own.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    entry = {"name": "trace", "file": str(file), "strength": [1], **LEVELS}
    with pytest.raises(ConfeeError) as error:  # not excused by a strength out of range
        family({"own": entry}, Size(2, 1000, 100, 2.0))
    assert str(error.value).startswith(f"adversary.file={file}: {said}")
    assert "\n" not in str(error.value)


def test_more_refusals_of_files(tmp_path):
    with pytest.raises(ConfeeError, match=r"^adversary\.file=.*nowhere\.csv: no such file$"):
        path_of("trace", {"file": str(tmp_path / "nowhere.csv")})
    with pytest.raises(ConfeeError, match=r"^adversary\.file=.*: not a file; must be a CSV file$"):
        path_of("trace", {"file": str(tmp_path)})
    with pytest.raises(ConfeeError, match=r"adversary\.means=growth: .* not > 0"):
        traced(tmp_path, ["1,1,0,3", "2,2,1,3", "3,1,1,1"], conf={"window": 1})
    two = ["1,5,5,1", "2,5,5,2"]
    with pytest.raises(ConfeeError, match=r"K=2: must be in \[3, 3\] .* 3 series, 2 of them"):
        traced(tmp_path, two, K=2)
    assert traced(tmp_path, two, K=3).variation() == pytest.approx(2)


def test_files_that_will_do(tmp_path):
    rows = ["2020-01-01, 1 ,2,3", "2020-01-02,2,1.5,3e0", "2020-02-01,-1,2,1"]
    for header in ("time,a,b,c", "\ufefftime,a,b,c"):
        path = traced(tmp_path, rows, header, V=1.0)
        assert path.variation() == pytest.approx(1)
    quoted = traced(tmp_path, ['"1","1","2"', '"2","3","2"'], '"when, exactly",a,b', K=2, V=1.0)
    assert quoted.variation() == pytest.approx(1)


def test_a_trace_that_hardly_moves_leaves_the_rest_of_v(tmp_path):
    """Levels far apart, movements tiny: at most 10^5 rows are played, and that is reported."""
    rows = ["1,0,1000,5", "2,0.001,1000,5", "3,0,1000,5"]
    path = traced(tmp_path, rows, V=5.0, T=10**9)
    assert 0 < path.variation() < 0.2
    assert len(path.mean) <= 10**5


# ----------------------------------------------------------------------- known answers


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


# ----------------------------------------------------------------------- refusals


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
        ("switching_random", {"gap": 0.6}, {}, r"gap=0\.6: must be a number in \(0, 0\.5\]"),
        ("fall", {"size": 1.1}, {}, r"size=1\.1: must be a number in \(0, 1\]"),
        ("rise", {"size": 0}, {}, r"size=0: must be a number in \(0, 1\]"),
        ("blink", {"gap": 0.6}, {}, r"gap=0\.6: must be a number in \(0, 0\.5\]"),
        ("blink", {"duty": 0}, {}, r"duty=0: must be a number in \(0, 1\]"),
        ("blink", {"duty": 1}, {}, r"duty=1: must be a number in \(0, 1\)"),
        ("drift", {"amplitude": 1.1}, {}, r"amplitude=1\.1: must be a number in \(0, 1\]"),
        ("sinusoid", {"amplitude": 1.1}, {}, r"amplitude=1\.1: must be a number in \(0, 1\]"),
        ("sinusoid", {"knots": 0}, {}, r"knots=0: must be a whole number in \[1, 1000\]"),
        ("random_walk", {"step": 0.6}, {}, r"step=0\.6: must be a number in \(0, 0\.5\]"),
        ("random_walk", {"knots": 1.5}, {}, r"knots=1\.5: must be a whole number"),
        ("trace", {"means": "median"}, {}, r"means=median: must be one of growth, rises, levels"),
        ("trace", {"amplitude": 2}, {}, r"amplitude=2: must be a number in \[1e-09, 1\]"),
        ("trace", {"window": 119}, {}, r"adversary\.window=119: leaves 1 of the 120 rows of "),
        ("trace", {}, {"K": 16}, r"K=16: must be in \[2, 15\] for adversary\.file=shipped: it has"),
        ("hard", {"adaptive": 1}, {}, r"adaptive=1: must be true or false"),
        ("hard", {"c": 1}, {"V": 0}, r"V=0: must be over 0"),
        ("hard", {"c": 99}, {}, r"c.*=.*: must be .*"),
        ("hard", {"c": 1}, {"V": 0.001}, r"adversary\.c=1: .* must be under"),
        ("switching", {"gap": "big"}, {}, r"gap=big: must be a number"),
        ("switching", {"gap": float("nan")}, {}, r"gap=nan: must be a number"),
        ("switching", {"gpa": 0.1}, {}, r"gpa=0\.1: no such key; known: gap, jitter"),
        ("swiching", {}, {}, r"adversary\.name=swiching: unknown; known: .*drift, .*switching"),
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
