"""What every policy keeps to by being registered, and parts of kernels against brute force."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import pkgutil
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import confee.policies
import confee.world.adversaries
from confee.core.size import Size
from confee.policies import POLICIES
from confee.policies.hyque import demand
from confee.policies.sw_ucb import drop
from confee.simulation.cells import opponent
from confee.simulation.play import draw_path
from confee.world import game
from confee.world.adversaries import ADVERSARIES
from confee.world.path import Path
from confee.world.settings import SETTINGS
from support import plays

ALL = sorted(POLICIES)
PARTS = ("regret_query", "regret_error", "regret_drift", "regret_no_data")
every_policy = pytest.mark.parametrize("policy", ALL)
few = settings(max_examples=40, derandomize=True, deadline=None)


path_of = plays.as_played


@cache
def switching(K=3, T=2000, B=500, V=1.0, gap=0.25, seed=0):
    against = opponent({"name": "switching", "gap": gap}, Size(K=K, T=T, B=B, V=V))
    return draw_path(against, Size(K, T, T, V), seed)


@st.composite
def paths(draw, rounds=120):
    """Piecewise linear paths with one best arm in each segment, and jumps in between."""
    K = draw(st.integers(2, 4))
    lengths = draw(st.lists(st.integers(1, rounds // 3), min_size=1, max_size=4))
    if sum(lengths) < K:
        lengths = [*lengths, K]
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    first, last = rng.uniform(0, 0.5, (2, len(lengths), K))
    best = rng.integers(0, K, len(lengths))
    for s, arm in enumerate(best):
        first[s, arm], last[s, arm] = rng.uniform(0.5, 1, 2)
        if draw(st.booleans()):
            last[s] = first[s]
    last = np.where(np.array(lengths)[:, None] == 1, first, last)
    return plays.pieces(lengths, first, last).checked(int(sum(lengths)), np.inf)


@cache
def cases(rounds):
    """(path, budget, seed): forty, drawn once for all policies."""
    found = []

    @few
    @given(path=paths(rounds), data=st.data())
    def draw(path, data):
        B = data.draw(st.integers(path.mean.shape[1], path.horizon))
        found.append((path, B, data.draw(st.integers(0, 99))))

    draw()
    assert len(found) >= 40
    return found


# ----------------------------------------------------------------------- files and registration


@pytest.mark.parametrize(
    ("package", "registered", "word"),
    [(confee.policies, POLICIES, "POLICY"), (confee.world.adversaries, ADVERSARIES, "ADVERSARY")],
)
def test_one_file_one_id(package, registered, word):
    found = {}
    for module in pkgutil.iter_modules(package.__path__):
        one = getattr(importlib.import_module(f"{package.__name__}.{module.name}"), word, None)
        if one is not None:
            found[one.id] = one
            assert one.id == module.name
    assert found == registered


@every_policy
def test_says_what_it_is(policy):
    spec = POLICIES[policy]
    assert spec.summary
    assert set(spec.known) <= {"T", "B", "V", "S", "path"}
    assert spec.label(spec.options()) == policy
    parameters = list(inspect.signature(plays.python(spec.kernel)).parameters)
    assert parameters[:2] + parameters[3:5] == ["world", "ledger", "T", "B"]
    assert parameters[2] in ("K", "known")
    assert parameters[-1] == "rng"
    own = parameters[5:-1]
    if plays.python(spec.kernel).__module__.startswith("confee.policies"):
        assert len(own) <= 5, "pass more than five as a NamedTuple"


# ----------------------------------------------------------------------- every policy


@contextlib.contextmanager
def likely(T, V):
    """Under a failure inside, its likely cause: one's own policies are tested here, too."""
    try:
        yield
    except Exception as error:
        page = "see docs/add-a-policy.md"
        if V == 0:
            error.add_note(f"Likely cause: V = 0 here, and something is divided by V; {page}")
        if T >= 10**12:
            error.add_note(
                f"Likely cause: T = {T:g} here, and in compiled code whole numbers such as i * T "
                f"overflow at 2^63; {page}"
            )
        raise


def test_a_failure_names_its_likely_cause():
    for T, V, causes in ((100, 1.0, 0), (100, 0, 1), (10**15, 1.0, 1), (10**15, 0.0, 2)):
        with pytest.raises(ZeroDivisionError) as caught, likely(T, V):
            _ = 1 / 0
        assert len(getattr(caught.value, "__notes__", ())) == causes


@every_policy
def test_budget_and_parts(policy):
    for path, B, seed in cases(120):
        with likely(path.horizon, path.variation()):
            keeps_to_budget_and_parts(policy, path, B, seed)


def keeps_to_budget_and_parts(policy, path, B, seed):
    T, V = path.horizon, path.variation()
    row = plays.play(policy, path, B, V, seed)
    assert 0 <= row["queries"] <= B
    if path_of(policy, path).parts:
        total = sum(row[part] for part in PARTS)
        size = sum(abs(row[part]) for part in PARTS)
        assert total == pytest.approx(row["regret"], rel=1e-9, abs=1e-9 * size)
    assert -1e-9 <= row["regret_query"] <= row["queries"] + 1e-9
    assert -1e-9 <= row["regret"] <= T
    idle = T - row["queries"]
    assert row["longest_query"] <= row["queries"] <= T - row["longest_idle"]
    # Pigeonholes: some idle run, and some query run, is as long as the average.
    assert row["longest_idle"] * (row["queries"] + 1) >= idle
    assert row["longest_query"] * (idle + 1) >= row["queries"]
    assert row["conversions"] <= row["queries"]
    assert row["denied"] <= T
    if POLICIES[policy].setting == "arms":
        assert row["variation"] == V
    if policy == "oracle":
        assert row["regret"] == 0
    if policy == "uniform":
        means = path.means()
        expected = (means.max(axis=1) - means.mean(axis=1)).sum()
        assert row["regret"] == row["regret_no_data"] == pytest.approx(expected)


@every_policy
def test_every_round_is_played_once(policy):
    for path, B, seed in cases(60):
        with likely(path.horizon, path.variation()):
            plays_each_round_once(policy, path, B, seed)


def plays_each_round_once(policy, path, B, seed):
    T = path.horizon
    kernel, runs = plays.noting(policy)
    row = plays.play(policy, path, B, path.variation(), seed, kernel=kernel)
    assert [start for start, _, _ in runs] == [1, *(stop for _, stop, _ in runs[:-1])]
    assert runs[-1][1] == T + 1
    assert sum(query for _, _, query in runs) == row["queries"]
    kinds = "".join("iq"[query] * (stop - start) for start, stop, query in runs)
    assert max(map(len, kinds.split("i"))) == row["longest_query"]
    assert max(map(len, kinds.split("q"))) == row["longest_idle"]


@every_policy
def test_regrets_over_all_good_arms_add_up_to_all_rounds(policy):
    """With a gap that rewards don't feel, play is the same whichever arm leads; each arm but the
    one played has led once, so the regrets sum to gap (K - 1) T."""
    K, T, B, gap = 3, 3001, 700, 1e-9
    if "path" in POLICIES[policy].known:
        pytest.skip("it plays by the path")
    if POLICIES[policy].setting == "contextual":
        pytest.skip("it knows which means there can be")
    total = 0.0
    for k in range(K):
        mean = np.full((2, K), [[0.4], [0.6]])
        mean[:, k] += gap
        path = Path.steps(np.array([1, 1500]), mean, T)
        total += plays.play(policy, path, B, 1.0, 7)["regret"]
    assert total == pytest.approx(gap * (K - 1) * T, rel=1e-6)


@every_policy
def test_same_seed_same_numbers_another_seed_others(policy):
    path = switching()
    first, again, other = (plays.play(policy, path, 500, 1.0, seed) for seed in (1, 1, 2))
    assert str(first) == str(again)
    if not POLICIES[policy].looks_at_nothing or policy.startswith("informed"):
        assert first["regret"] != other["regret"]


@every_policy
def test_arms_are_alike(policy):
    """Regret has the same distribution when the arms change places."""
    T, B, V, runs = 600, 150, 2.0, 250
    mean = np.array([[0.9, 0.1, 0.4, 0.6], [0.2, 0.1, 0.8, 0.4]])
    order = [3, 2, 0, 1]
    sides = []
    for means, shift in ((mean, 0), (mean[:, order], runs)):
        path = Path.steps(np.array([1, 301]), means, T)
        rows = [plays.play(policy, path, B, V, shift + seed) for seed in range(runs)]
        sides.append(np.round([row["regret"] for row in rows], 6))
    assert stats.ks_2samp(*sides).pvalue > 1e-3


NARROWER = {"logistic": {"radius": 0.4}, "episodic": {"bonus": 0.1}}
"""Options with which learning shows within an instance's life."""


@every_policy
def test_better_than_uniform_where_it_is_easy(policy):
    """A wide gap and plenty of queries: at most three quarters of uniform play's regret.

    One change for those told V. None for the others: HyQue's tests never fire at such sizes.
    GLM-UCB at a radius about that of OFUL: its own is k_mu / c_mu = 2.8 times as wide. With the
    theory's bonus Q-UCB takes what it tried first for a hundred episodes, an instance's life.
    """
    spec = POLICIES[policy]
    options = {} if spec.looks_at_nothing else NARROWER.get(spec.setting, {})
    T, B, gap = 20_000, 8000, 0.5
    V = 0.5 if "V" in POLICIES[policy].known else 0.0
    conf_files = {"name": "single_jump", "size": gap} if V else {"name": "stationary", "gap": gap}
    against = opponent(conf_files, Size(K=4, T=T, B=B, V=V))
    ratios = []
    for seed in range(5):
        path = draw_path(against, Size(4, T, T, V), seed)
        row = plays.play(policy, path, B, V, seed, **options)
        ratios.append(row["regret"] / plays.play("uniform", path, B, V, 0)["regret"])
    if policy.startswith("uniform"):
        assert ratios == pytest.approx([1.0] * 5)
    elif policy == "hyque_blind":  # pays no heed to what it sees
        assert np.mean(ratios) == pytest.approx(1, abs=0.03)
    elif POLICIES[policy].setting == "arms":
        assert np.mean(ratios) < 0.75
    else:  # a confidence level of 1/T is wider than UCB1's index
        assert np.mean(ratios) < 0.85


@every_policy
def test_sampled_plays_have_the_same_mean(policy):
    """Paired over paths; the closed form has no more spread than drawn plays."""
    if not path_of(policy, switching()).parts:
        pytest.skip("rules are not drawn")
    T, B, V, runs = 600, 120, 2.0, 150
    apart, exact = [], []
    for seed in range(runs):
        path = switching(T=T, B=B, V=V, gap=0.4, seed=seed)
        one = plays.play(policy, path, B, V, seed)
        other = plays.play(policy, path, B, V, seed, sampled=True)
        total = sum(other[part] for part in PARTS)
        assert total == pytest.approx(other["regret"], rel=1e-9)
        apart.append(other["regret"] - one["regret"])
        exact.append(one["regret"])
    if policy == "oracle":
        assert not np.any(apart)
        return
    assert np.any(apart)
    assert abs(np.mean(apart)) < 4 * np.std(apart) / np.sqrt(runs)


@every_policy
def test_idle_runs_cost_what_their_rounds_do(policy):
    """The same run with each idle round accounted on its own: equal in all but rounding."""
    path = plays.pieces(
        [150, 1, 99, 150],
        [[0.9, 0.1, 0.5], [0.2, 0.9, 0.0], [0.5, 0.6, 0.1], [0.0, 0.0, 1.0]],
        [[0.6, 0.1, 0.6], [0.2, 0.9, 0.0], [0.2, 0.9, 0.3], [0.4, 0.3, 0.5]],
    )

    blind = SETTINGS[POLICIES[policy].setting].game.idle

    def one_by_one(world, ledger, data, start, stop, weights, rng):
        for t in range(start, stop):
            blind(world, ledger, data, t, t + 1, weights, rng)

    kernel = plays.plain(POLICIES[policy].kernel, idle=one_by_one)
    V = path.variation()
    for B in (20, 90):
        run, rounds = (
            plays.play(policy, path, B, V, 5),
            plays.play(policy, path, B, V, 5, kernel=kernel),
        )
        assert run == pytest.approx(rounds, rel=1e-9, abs=1e-9, nan_ok=True)


@every_policy
def test_is_not_told_V_unless_it_says_so(policy):
    spec = POLICIES[policy]
    path = switching()
    rows = [plays.play(policy, path, 500, V, 3) for V in (1.0, 40.0)]
    options = plays.options_of(policy)
    known = path_of(policy, path).offers[spec.setting]
    told = [spec.kernel_arguments(known, 2000, 500, V, path.pieces, options) for V in (1.0, 40.0)]
    if "V" in spec.known:
        assert str(told[0]) != str(told[1])
    else:
        assert str(told[0]) == str(told[1])
        assert str(rows[0]) == str(rows[1])


@every_policy
@pytest.mark.parametrize("T", [10**12, 10**15])
def test_a_horizon_that_rounds_could_not_reach(policy, T):
    """Whatever is done once a round would take hours, or years. 10^15 B is over 2^63."""
    B = 20_000
    with likely(T, 1.0):
        row = plays.play(policy, switching(T=T, B=B, V=1.0), B, 1.0, 1)
        assert row["queries"] <= B
        if path_of(policy, switching()).parts:
            assert sum(row[part] for part in PARTS) == pytest.approx(row["regret"], rel=1e-9)
        assert row["longest_idle"] + row["queries"] <= T
        assert 0 <= row["regret"] <= T


@every_policy
def test_a_world_that_stands_still(policy):
    """V = 0, as a policy that is told V is told."""
    T = 2000
    path = Path.steps(np.ones(1), np.array([[0.3, 0.6, 0.5]]), T)
    for B in (3, 500, T):
        with likely(T, 0.0):
            row = plays.play(policy, path, B, 0.0, 1)
            assert row["queries"] <= B
            assert 0 <= row["regret"] <= 0.3 * T
            assert row["longest_idle"] + row["queries"] <= T


# ----------------------------------------------------------------------- on demand


def lags(t, used, T, B, n, appendix):
    """Line 10 in exact numbers but for the root, which both sides round alike."""
    level = Fraction(B**0.5) if appendix else min(Fraction(T / B**0.5), 2**n)
    return used < Fraction(t) * B / T - min(level, T - t)


@few
@given(data=st.data())
def test_demand_finds_the_first_round(data):
    T = data.draw(st.integers(2, 400))
    B = data.draw(st.integers(1, T))
    t = data.draw(st.integers(1, T))
    stop = data.draw(st.integers(t, T + 1))
    used, n = data.draw(st.integers(0, B)), data.draw(st.integers(0, 9))
    appendix = data.draw(st.booleans())
    width = min(T / B**0.5, 2.0**n)
    expected = next((u for u in range(t, stop) if lags(u, used, T, B, n, appendix)), stop)
    assert demand(t, stop, used, T, B, width, appendix) == expected


@settings(max_examples=150, derandomize=True, deadline=None)
@given(data=st.data())
def test_demand_at_horizons_too_long_to_search(data):
    """The condition holds at the answer and not in the round before; what is before does not
    matter, as it is increasing. Within rounding where t B has no exact double."""
    T = data.draw(st.integers(10**6, 10**12))
    B = data.draw(st.integers(2, min(T, 10**8)))
    t = data.draw(st.integers(1, T))
    stop = data.draw(st.integers(t, T + 1))
    used = min(B, max(0, t * B // T + data.draw(st.integers(-1000, 1000))))
    n = data.draw(st.integers(0, 40))
    appendix = data.draw(st.booleans())
    found = demand(t, stop, used, T, B, min(T / B**0.5, 2.0**n), appendix)
    assert t <= found <= stop
    slack = 0 if T * B < 2**53 else 2 + int(1e-15 * T)
    if found < stop:
        assert lags(found + slack, used, T, B, n, appendix)
    if found - slack > t:
        assert not lags(found - 1 - slack, used, T, B, n, appendix)


def test_on_demand_beyond_2_to_the_63():
    """t B passes 2^63 from a third of the horizon on; it was negative there."""
    T, B = 10**15, 30_000
    path = Path.steps(np.ones(1), np.full((1, 2), 0.5), T)
    row = plays.play("odque", path, B, 0, 1)
    assert B - 2 <= row["queries"] <= B
    found = demand(T - T // 3, T + 1, 2 * B // 3, T, B, 1.0, False)
    assert found == pytest.approx(T * (2 * B // 3 + 1) / B, rel=1e-9)


# ----------------------------------------------------------------------- data in use


@few
@given(path=paths(), data=st.data())
def test_window_data_is_that_of_its_rounds(path, data):
    """Rounds join at one end and leave at the other; P is the largest mean of what is left."""
    K, T = path.mean.shape[1], path.horizon
    world, means = game.new_world(path), path.means()
    window = data.draw(st.integers(1, 12))
    rounds = sorted(data.draw(st.sets(st.integers(1, T), min_size=1, max_size=40)))
    held, kept = game.new_data(K), []
    for t in rounds:
        segment = int(np.searchsorted(path.start, t, side="right")) - 1
        game.remember(world, held, t, segment)
        kept.append((t, segment))
        if len(kept) > window:
            drop(world, held, *kept.pop(0))
        expected = means[[u - 1 for u, _ in kept]].mean(axis=0).max()
        assert plays.proxy(world, held) == pytest.approx(expected, rel=1e-9)
        assert held[K] == len(kept)


@few
@given(path=paths(), data=st.data())
def test_idle_is_the_sum_over_its_rounds(path, data):
    K, T = path.mean.shape[1], path.horizon
    world, means = game.new_world(path), path.means()
    start = data.draw(st.integers(1, T))
    stop = data.draw(st.integers(start, T + 1))
    weights = np.array(data.draw(st.lists(st.integers(0, 5), min_size=K, max_size=K)), dtype=float)
    weights[0] += 1
    before = sorted(data.draw(st.sets(st.integers(1, start), max_size=5)) - {start})
    ledger, held, rng = game.new_ledger(), game.new_data(K), np.random.default_rng(0)
    for t in before:
        game.remember(world, held, t, int(np.searchsorted(path.start, t, side="right")) - 1)
    game.idle(world, ledger, held, start, stop, weights, rng)
    mu = means[start - 1 : stop - 1]
    regret = (mu.max(axis=1) - mu @ weights / weights.sum()).sum()
    assert ledger.regret_idle == pytest.approx(regret, abs=1e-9)
    if before:
        P = means[[t - 1 for t in before]].mean(axis=0).max()
        assert ledger.regret_error == pytest.approx((P - mu @ weights / weights.sum()).sum())
        assert ledger.regret_drift == pytest.approx((mu.max(axis=1) - P).sum(), abs=1e-9)
        assert ledger.regret_no_data == 0
    else:
        assert ledger.regret_no_data == ledger.regret_idle
        assert ledger.regret_error == ledger.regret_drift == 0


def test_data_in_use_over_a_long_window_keeps_its_digits():
    """A hundred thousand rounds in and out: sums do not drift."""
    T = 200_000
    path = plays.pieces([T // 2, T - T // 2], [[0.2, 0.7], [0.9, 0.1]], [[0.3, 0.5], [0.6, 0.2]])
    row = plays.play("sw_ucb", path, T // 2, 2.0, 1)
    total = sum(row[part] for part in PARTS)
    assert total == pytest.approx(row["regret"], rel=1e-9)


# ----------------------------------------------------------------------- known answers


def test_greedy_spend_is_denied_the_rest():
    row = plays.play("greedy_spend", switching(), 500, 1.0, 1)
    assert (row["queries"], row["denied"], row["longest_query"]) == (500, 1500, 500)
    assert row["longest_idle"] == 1500


@pytest.mark.parametrize("K", [2, 10, 16])
def test_informed_without_a_gap(K):
    """No gap to resolve: it spends the share of the segment. (K / gap^2 was over 2^63.)"""
    path = Path.steps(np.ones(1), np.full((1, K), 0.5), 1000)
    row = plays.play("informed", path, 300, 0, 1)
    assert (row["queries"], row["longest_query"], row["longest_idle"]) == (300, 300, 700)


def test_informed_commits_to_any_of_tied_arms():
    """Rewards are all 1 for two arms of three: each is committed to about half the time."""
    path = Path.steps(np.ones(1), np.array([[1.0, 0.0, 1.0]]), 1000)
    arms = []

    def idle(world, ledger, data, start, stop, weights, rng):
        arms.append(int(weights.argmax()))

    kernel = plays.plain(POLICIES["informed"].kernel, idle=idle)
    for seed in range(200):
        plays.play("informed", path, 30, 0, seed, kernel=kernel)
    assert set(arms) == {0, 2}
    assert abs(arms.count(0) - 100) < 4 * np.sqrt(50)


def test_no_restart_at_scale_one():
    """At the theory's scale the change tests cannot fire at such horizons."""
    for policy in ("hyque", "baque", "odque"):
        row = plays.play(policy, switching(K=2, T=10**6, B=10**5, V=4.0), 10**5, 4.0, 1)
        assert row["restarts"] == 0
