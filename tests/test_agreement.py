"""Kernels against the plain round-by-round reference.

In distribution: every recorded quantity, with the kernels' own random numbers. And digit for digit:
with the same draws handed to both (instances that start, rewards, the first arm in ties), so that
one round, query or restart out of place shows at once.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from confee.core.size import Size
from confee.policies import POLICIES, hyque, rexp3b, sw_ucb
from confee.simulation.cells import opponent
from confee.simulation.play import draw_path
from confee.world.game import COUNTS, RECORDED
from support import plays, reference
from support.draws import SCHEDULE, Instances, Never

# (policy, options, K, T, B, V, gap). At these scales runs restart a few times.
LARGE = [
    ("ucb1", {}, 3, 600, 200, 2, 0.3),
    ("ucb1_restarted", {}, 3, 600, 200, 2, 0.3),
    ("greedy_spend", {}, 3, 600, 200, 2, 0.3),
    ("sw_ucb", {}, 3, 600, 200, 2, 0.3),
    ("informed", {}, 3, 600, 250, 2, 0.5),
    ("informed_even", {}, 3, 600, 250, 2, 0.5),
    ("rexp3b", {}, 2, 800, 300, 3, 0.3),
    ("rexp3b", {"pool": "set"}, 4, 800, 200, 2, 0.4),
    ("rexp3b", {}, 5, 500, 60, 1, 0.5),
    ("hyque", {}, 2, 1000, 300, 2, 0.4),
    ("hyque", {}, 4, 700, 333, 2, 0.4),
    ("hyque", {"buffer": "appendix"}, 2, 700, 170, 2, 0.4),
    ("hyque", {"scale": 0.0002}, 2, 900, 700, 2, 0.5),
    ("hyque", {"scale": 0.00025}, 3, 600, 150, 2, 0.5),
    ("hyque", {}, 2, 260, 140, 2, 0.5),
    ("hyque", {"quota": "block"}, 2, 260, 140, 2, 0.5),
    ("hyque", {"scale": 0.0001}, 2, 371, 163, 2, 0.5),
    ("baque", {}, 3, 800, 250, 2, 0.4),
    ("baque", {"scale": 0.00015}, 2, 800, 400, 2, 0.5),
    ("odque", {}, 3, 800, 250, 2, 0.4),
    ("hyque_blind", {}, 3, 800, 250, 2, 0.4),
    ("hyque_discarding", {}, 3, 800, 250, 2, 0.4),
    ("uniform", {}, 3, 500, 100, 2, 0.3),
    ("oracle", {}, 3, 500, 100, 2, 0.3),
]
SMALL = [
    ("ucb1", {}, 3, 250, 80, 2, 0.5),
    ("ucb1_restarted", {}, 3, 250, 80, 2, 0.5),
    ("greedy_spend", {}, 3, 250, 80, 2, 0.5),
    ("sw_ucb", {}, 3, 200, 80, 3, 0.5),
    ("sw_ucb", {"xi": 2.0, "window_scale": 0.3}, 2, 200, 90, 1, 0.5),
    ("informed", {}, 3, 400, 150, 2, 0.5),
    ("informed_even", {}, 3, 400, 150, 2, 0.5),
    ("rexp3b", {}, 2, 400, 160, 3, 0.5),
    ("rexp3b", {"pool": "set"}, 4, 300, 70, 2, 0.5),
    ("rexp3b", {}, 2, 200, 20, 0.2, 0.1),  # its last batch wishes past B
    ("hyque", {}, 2, 500, 150, 2, 0.5),
    ("hyque", {"buffer": "appendix"}, 4, 400, 120, 2, 0.5),
    ("hyque", {}, 2, 260, 65, 2, 0.5),  # 8 rounds of 256 in its last block
    ("hyque", {"quota": "block"}, 2, 260, 65, 2, 0.5),
    ("baque", {"quota": "block"}, 2, 260, 65, 2, 0.5),
    ("hyque", {"scale": 0.0002}, 2, 450, 350, 2, 0.5),
    ("hyque", {"scale": 0.00025}, 3, 300, 75, 2, 0.5),
    ("hyque", {"scale": 0}, 2, 260, 80, 2, 0.5),  # restarts at each query, wishes past B
    ("baque", {}, 3, 400, 125, 2, 0.5),
    ("baque", {"scale": 0.00015}, 2, 400, 200, 2, 0.5),
    ("odque", {}, 3, 300, 100, 2, 0.5),
    ("hyque_blind", {}, 3, 300, 100, 2, 0.5),
    ("hyque_discarding", {}, 3, 300, 200, 2, 0.5),
    ("uniform", {}, 3, 200, 50, 2, 0.5),
    ("oracle", {}, 3, 200, 50, 2, 0.5),
]
# Of some 200 comparisons at fixed seeds none may look this unlikely.
LEAST_P = 1e-4


def _name(case):
    policy, options, K, T, B, _, _ = case
    return "-".join([policy, *map(str, options.values()), f"K{K}-T{T}-B{B}"])


def _switching(case, seed):
    _, _, K, T, B, V, gap = case
    against = opponent({"name": "switching", "gap": gap}, Size(K=K, T=T, B=B, V=V))
    return draw_path(against, Size(K, T, T, V), seed)


def _compare(case, runs, repeats=12):
    """`runs` paths: one run of the reference on each, and `repeats` of the fast kernel."""
    policy, options, _, _, B, V, _ = case
    rows, slow = [], []
    for seed in range(runs):
        path = _switching(case, seed)
        rng = np.random.default_rng(seed)
        rows.append([plays.play(policy, path, B, V, rng, **options) for _ in range(repeats)])
        rng = np.random.default_rng(10_000 + seed)
        slow.append(reference.run(policy, path.means(), B, V, rng, **options))
    for name in RECORDED:
        if policy == "greedy_spend" and name == "denied":
            continue  # the kernel counts the rounds in which it would look as wishes
        # Rounded: what depends on the path alone is the same number up to the order of sums.
        ours = np.round([[float(row[name]) for row in several] for several in rows], 6)
        theirs = np.round([float(row[name]) for row in slow], 6)
        if (ours == theirs[:, None]).all():
            continue
        said = f"{name}: {ours.mean():.4g} against {theirs.mean():.4g}, p ="
        p = stats.ks_2samp(ours[:, 0], theirs).pvalue
        assert p > LEAST_P, f"{said} {p:.2g}"
        # Paired: what the path does to both cancels.
        apart = theirs - ours.mean(axis=1)
        assert np.ptp(apart) > 0, f"{said} 0"
        p = stats.ttest_1samp(apart, 0).pvalue
        assert p > LEAST_P, f"{said} {p:.2g}"


@pytest.mark.parametrize("case", SMALL, ids=_name)
def test_agrees_with_the_reference(case):
    _compare(case, runs=60)


@pytest.mark.slow
@pytest.mark.parametrize("case", LARGE, ids=_name)
def test_agrees_with_the_reference_closely(case):
    _compare(case, runs=300)


# ----------------------------------------------------------------------- with the same draws


BUDGET = 4  # variation that both kinds of path stay within


class First:
    """Random numbers for both sides: rewards from one stream, and the first of all else."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed).random

    def integers(self, low, high):
        return low

    def choice(self, values):
        return values[0]


def _same(one, other, where):
    for name in RECORDED:
        if name in COUNTS:
            assert one[name] == other[name], f"{where}: {name}"
        else:
            assert one[name] == pytest.approx(other[name], rel=1e-9, abs=1e-9), f"{where}: {name}"


def _paths(K, T, V, seed):
    """A path of jumps and one of slopes."""
    case = ("", {}, K, T, T, V, 0.5)
    yield _switching(case, seed)
    rng = np.random.default_rng(seed)
    lengths = [T // 3, T // 4, T - T // 3 - T // 4]
    first, last = rng.uniform(0, 0.5, (2, 3, K))
    for s in range(3):
        first[s, s % K], last[s, s % K] = rng.uniform(0.5, 1, 2)
    yield plays.pieces(lengths, first, last).checked(T, BUDGET)


@pytest.mark.parametrize("B", [20, 75, 140, 230, 299, 300])
@pytest.mark.parametrize("scale", [1.0, 0.00025, 0.00012, 0.0])
@pytest.mark.parametrize(
    "policy", ["hyque", "appendix", "block", "baque", "odque", "hyque_blind", "hyque_discarding"]
)
def test_same_draws_same_run_of_hyque(policy, scale, B, monkeypatch):
    T, V = 300, BUDGET
    options = {"scale": scale}
    if policy == "appendix":
        policy, options["buffer"] = "hyque", "appendix"
    if policy == "block":
        policy, options["quota"] = "hyque", "block"
    for K in (2, 4):
        for seed, path in enumerate(_paths(K, T, V, B)):
            _same_of_hyque(policy, path, B, V, seed, options, monkeypatch)


def _same_of_hyque(policy, path, B, V, seed, options, monkeypatch):
    """Both sides play the same instances; returns the kernel's row."""
    kernel = plays.plain(
        POLICIES[policy].kernel, deep=True, draw_started=Instances(seed).draw_started
    )
    ours = plays.play(policy, path, B, V, First(B), kernel=kernel, **options)
    monkeypatch.setattr(reference, "schedule", Instances(seed).plain)
    theirs = reference.run(policy, path.means(), B, V, First(B), **options)
    monkeypatch.undo()
    _same(ours, theirs, f"{policy}, T={path.horizon}, B={B}, path {seed}, {options}")
    return ours


@pytest.mark.parametrize("quota", ["horizon", "block"])
def test_same_draws_same_run_where_a_block_has_just_started(quota, monkeypatch):
    """T a small share into the last block, where the readings of the quota differ most."""
    denied = 0
    for b, n in ((4, 6), (10, 5), (100, 2)):
        for share in (0.01, 0.02, 0.04, 0.08, 0.5):
            T = b * (2**n - 1) + max(1, round(share * b * 2**n))
            B = -(-2 * T // b)
            both = [*_paths(2, T, BUDGET, B)]
            for policy in ("hyque", "baque", "hyque_discarding"):
                for seed in (0, 1, 2, 3, 62, 123):  # at b = 100 the last two pass B under block
                    how = policy, both[seed % 2], B, BUDGET, seed, {"quota": quota}
                    denied += _same_of_hyque(*how, monkeypatch)["denied"]
    assert (denied > 0) == (quota == "block")


@pytest.mark.parametrize("B", [20, 75, 299, 300])
@pytest.mark.parametrize("policy", ["ucb1", "ucb1_restarted", "sw_ucb", "greedy_spend"])
def test_same_draws_same_run_of_ucb(policy, B):
    T, V = 300, BUDGET
    parts = {}
    if policy == "sw_ucb":

        def choose(plays, mean, width, root, rng):
            return sw_ucb.choose.py_func(plays, mean, width, root, Never())

        parts["choose"] = choose
    kernel = plays.plain(POLICIES[policy].kernel, deep=True, **parts)
    for K in (2, 4):
        for seed, path in enumerate(_paths(K, T, V, B)):
            ours = plays.play(policy, path, B, V, First(B), kernel=kernel)
            theirs = reference.run(policy, path.means(), B, V, First(B))
            if policy == "greedy_spend":  # the kernel counts later wishes, the reference does not
                assert ours["denied"] == T - B
                theirs["denied"] = T - B
            _same(ours, theirs, f"K={K}, path {seed}")


class Arms:
    """For Rexp3B: arms from one stream, and rewards from another, however they are drawn."""

    def __init__(self, seed, K, gamma):
        self.rng = np.random.default_rng(seed)
        self.K, self.gamma = K, gamma
        self.arm = None

    def random(self):
        if self.arm is None:  # below gamma: any arm, by this very number or by `integers`
            self.arm = self.rng.integers(self.K)
            return (self.arm + 0.5) / self.K * self.gamma
        self.arm = None
        return self.rng.random()

    def integers(self, low, high):
        return self.arm

    def choice(self, K, p):
        assert p.sum() == pytest.approx(1)
        self.random()
        return self.arm


@pytest.mark.parametrize("pool", ["multiset", "set"])
@pytest.mark.parametrize("V", [0, 0.02, 2, 9])
@pytest.mark.parametrize("B", [20, 75, 299, 300])
def test_same_draws_same_run_of_rexp3b(B, V, pool):
    T = 300
    for K in (2, 4):
        gamma = reference.rexp3b_parameters(T, K, B, V)[2]
        for seed, path in enumerate(_paths(K, T, BUDGET, B)):
            kernel = plays.plain(rexp3b.play, deep=True)
            ours = plays.play("rexp3b", path, B, V, Arms(B, K, gamma), kernel=kernel, pool=pool)
            record = reference.Record(reference.Path(path.means()), B)
            reference.play_rexp3b(record, Arms(B, K, gamma), V, pool)
            _same(ours, record.summary(), f"K={K}, path {seed}")


def test_cases_restart_and_bind():
    """The settings above do what they are there for."""
    for cases in (SMALL, LARGE):
        restarts, denied = [], []
        for case in cases:
            policy, options, _, _, B, V, _ = case
            rows = [
                plays.play(policy, _switching(case, seed), B, V, seed, **options)
                for seed in range(20)
            ]
            restarts += [np.mean([row["restarts"] for row in rows])] * ("scale" in options)
            denied += [policy] * any(row["denied"] > 0 for row in rows)
        assert min(restarts) > 0.2
        assert max(restarts) > 2
        assert {"hyque", "rexp3b"} <= set(denied)


@pytest.mark.parametrize("B", [299, 300])
def test_same_draws_same_run_when_rewards_rise(B, monkeypatch):
    """Test (ii) nearly always fires first, so test (i) is compared with (ii) off on both sides."""
    steps = [[0, 0], [1, 1]]
    path = plays.pieces([160, 140], steps, steps)
    kernel = plays.plain(hyque.play, deep=True)
    constants = kernel.__code__.co_consts
    assert constants.count(3.0) == 1
    off = tuple(1e9 if c == 3.0 and isinstance(c, float) else c for c in constants)
    kernel.__code__ = kernel.__code__.replace(co_consts=off)
    monkeypatch.setattr(reference, "fall_test", lambda *_: False)
    restarts = []
    for seed, scale in enumerate(np.geomspace(5e-6, 5e-5, 60)):
        kernel.__globals__["draw_started"] = Instances(seed).draw_started
        ours = plays.play("hyque", path, B, 1, First(seed), kernel=kernel, scale=scale)
        monkeypatch.setattr(reference, "schedule", Instances(seed).plain)
        theirs = reference.run("hyque", path.means(), B, 1, First(seed), scale=scale)
        monkeypatch.setattr(reference, "schedule", SCHEDULE)
        _same(ours, theirs, f"seed {seed}")
        restarts.append(ours["restarts"])
    assert 0 in restarts
    assert sum(restarts) > 20
