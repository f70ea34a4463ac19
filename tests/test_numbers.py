"""The same numbers however a run is made, and numbers at all at the largest and smallest sizes.

What an experiment's files are, bit for bit: whatever the cores, the shards, numba's cache, and with
its compiler switched off. What sums are, against exact arithmetic.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import os
import subprocess
import sys
import warnings
from fractions import Fraction

import numpy as np
import pytest

from confee.core.errors import ConfeeError
from confee.core.size import Size
from confee.paper import theory
from confee.policies import POLICIES
from confee.policies.queries import PACED, new_schedule, next_query
from confee.simulation.calibrate import calibrated
from confee.simulation.cells import cell, opponent
from confee.simulation.play import draw_path, play
from confee.world.adversaries import ADVERSARIES, usual
from confee.world.adversaries.base import MOST_MEANS, equal_starts
from confee.world.game import COUNTS, SUMS, new_ledger
from confee.world.path import Path as Steps
from support.one_of_each import CASES, label
from support.project import Project

ALL = sorted(POLICIES)
PARTS = SUMS[1:-1]

# --------------------------------------------------------------------------- without the compiler

SMALL = {"K": 3, "T": 700, "B": 120, "V": 2}
SCALE = 0.0002


def rows_of(case) -> list[str]:
    """What a run of a small cell records; floats by their bits."""
    conf, against = case
    one, other = cell(conf, Size(**SMALL)), opponent(against, Size(**SMALL))
    row = play(one, other, 0, calibrated(one, SCALE))
    return [*(str(row[name]) for name in COUNTS), *(float(row[name]).hex() for name in SUMS)]


def rows() -> dict[str, list[str]]:
    return {label(case): rows_of(case) for case in CASES}


def test_without_the_compiler_every_number_is_the_same_to_the_bit():
    """Every policy, as Python: the same draws, the same operations in the same order."""
    env = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, __file__], env=env, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    plain = json.loads(done.stdout)
    compiled = rows()
    assert list(plain) == list(compiled)
    assert {name for name in plain if plain[name] != compiled[name]} == set()


# --------------------------------------------------------------------------- whatever the sizes

EXTREMES = {
    "T largest": {"K": 2, "T": 10**15, "B": 100, "V": 2},
    "T largest, V huge": {"K": 2, "T": 10**15, "B": 100, "V": 10**15},
    "T large, V least": {"K": 3, "T": 10**12, "B": 100, "V": 5e-324},
    "V tiny": {"K": 2, "T": 2000, "B": 300, "V": 1e-12},
    "V nothing": {"K": 2, "T": 2000, "B": 300, "V": 0},
    "V huge": {"K": 2, "T": 2000, "B": 300, "V": 1e6},
    "B = K": {"K": 7, "T": 10**12, "B": 7, "V": 1},
    "B = T = K": {"K": 2, "T": 2, "B": 2, "V": 1},
}
MANY_ARMS = {"K": 1000, "T": 20_000, "B": 1200, "V": 2}


def met(policy, sizes, **more):
    """The usual adversary of a policy's setting; where its path would not fit (V pays for 10^9
    changes) one of arms that changes once, and none in other settings."""
    setting = POLICIES[policy].setting
    if sizes["V"] < 1e8:
        return opponent({"name": usual(setting), **more}, Size(**sizes))
    return opponent({"name": "single_jump"}, Size(**sizes)) if setting == "arms" else None


def sound(policy, against, sizes):
    """Plays a run, without a warning of numpy's, and looks at what must be so; returns it."""
    one = cell({"name": policy}, Size(**sizes))
    with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"):
        warnings.simplefilter("error")
        row = play(one, against, 0, calibrated(one, 0.002))
    T, B, V = sizes["T"], sizes["B"], sizes["V"]
    assert all(type(row[name]) is int for name in COUNTS)
    assert 0 <= row["queries"] <= B
    assert 0 <= row["longest_query"] <= B
    assert row["queries"] == T or T / (B + 1) - 1 <= row["longest_idle"] <= T
    assert 0 <= row["variation"] <= V * (1 + 1e-9)
    assert 0 <= row["regret_query"] <= row["queries"]
    assert -1e-9 * T * V <= row["regret"] <= T
    parts = [row[name] for name in PARTS]
    if POLICIES[policy].setting in ("contextual", "episodic"):
        assert all(map(math.isnan, parts[1:]))  # where rules are played there are no parts
    else:
        scale = max(map(abs, [*parts, row["regret"]]))
        slack = 1e-12 + 2.0**-52 * row["queries"]  # as many additions, each rounded
        assert math.fsum(parts) == pytest.approx(row["regret"], rel=0, abs=slack * scale)
    return row


@pytest.mark.parametrize("name", EXTREMES)
def test_every_policy_at_every_extreme(name):
    sizes = EXTREMES[name]
    for policy in ALL:
        if (against := met(policy, sizes)) is not None:
            sound(policy, against, sizes)


@pytest.mark.parametrize("T", [5000, 10**12])
def test_a_gap_of_a_billionth(T):
    """As often as V pays for: three changes; and regret is what a billionth a round makes."""
    sizes = {"K": 2, "T": T, "B": 300, "V": 3e-9}
    for policy in ALL:
        if POLICIES[policy].setting in ("arms", "linear", "logistic"):
            row = sound(policy, met(policy, sizes, gap=1e-9), sizes)
            assert 0 <= row["regret"] <= 2.001e-9 * T


@pytest.mark.slow
@pytest.mark.parametrize("policy", ALL)
def test_a_thousand_arms(policy):
    sound(policy, met(policy, MANY_ARMS), MANY_ARMS)


@pytest.mark.slow
@pytest.mark.parametrize("T", [10**12, 10**15])
@pytest.mark.parametrize("policy", [p for p in ALL if POLICIES[p].setting == "arms"])
def test_a_million_queries_in_a_huge_horizon(policy, T):
    sizes = {"K": 2, "T": T, "B": 10**6, "V": 2}
    sound(policy, met(policy, sizes), sizes)


PATHS = [
    {"name": "switching", "gap": 0.1},
    {"name": "drift", "amplitude": 0.7},
    {"name": "sinusoid", "amplitude": 0.3},
    {"name": "random_walk"},
    {"name": "hard", "c": 10},
]


@pytest.mark.parametrize("conf", PATHS, ids=lambda conf: conf["name"])
@pytest.mark.parametrize("T", [10**6, 10**12, 10**15])
def test_sums_over_a_huge_horizon_are_those_of_exact_arithmetic(conf, T):
    """Regret of uniform play, whose chances are known, in fractions of the path's own numbers: to
    1e-14 of it a segment; and the oracle has none."""
    sizes = {"K": 3, "T": T, "B": 1000, "V": 7.3}
    against = opponent(conf, Size(**sizes))
    path = draw_path(against, Size(3, T, T, 7.3), 0)
    exact = Fraction(0)
    for start, stop, best, mean, slope in zip(
        path.start.tolist(), path.start[1:].tolist(), path.best, path.mean, path.slope, strict=False
    ):
        rounds, last = stop - start, stop - start - 1
        for sign, arms in ((1, [best] * 3), (-1, range(3))):
            for arm in arms:
                line = rounds * Fraction(mean[arm]) + Fraction(slope[arm]) * rounds * last / 2
                exact += sign * line / 3
    row = sound("uniform", against, sizes)
    slack = 1e-14 * len(path.mean)
    assert abs(Fraction(row["regret"]) - exact) <= slack * exact
    row = sound("oracle", against, sizes)
    assert abs(row["regret"]) <= 1e-12 * float(exact)


@pytest.mark.parametrize(("T", "B"), [(10**15, 2999), (10**15 - 1, 1024), (10**12, 999)])
def test_paced_queries_are_exact_in_a_huge_horizon(T, B):
    """Query i is in round floor(i T / B) + 1, in whole numbers."""
    plan, ledger, rng = new_schedule(PACED, T, B), new_ledger(), np.random.default_rng(0)
    rounds = []
    for i in range(B):
        ledger.queries = i
        rounds.append(int(next_query(plan, ledger, rng)))
    assert rounds == [i * T // B + 1 for i in range(B)]


def test_equal_batches_are_exact_in_a_huge_horizon():
    for T, m in ((10**15, 99_991), (10**15 - 1, 65_536), (7, 7), (10**15, 1)):
        assert equal_starts(T, m).tolist() == [j * T // m + 1 for j in range(m)]


def test_changes_packed_after_batches_are_exact_in_a_huge_horizon():
    """Products of batches and changes may pass 2^63."""
    sizes = {"K": 2, "T": 10**15, "B": 10**15, "V": 10**15}
    m = 99_991
    against = opponent({"name": "packed", "target": "rexp3b", "jumps": m}, Size(**sizes))
    batch, queries = theory.rexp3b_batch(*sizes.values())
    path = draw_path(against, Size(2, 10**15, 10**15, 10**15), 0)
    at = [j * (10**15 // batch) // m * batch + queries + 1 for j in range(m)]
    assert path.start[1:-1].tolist() == at


def test_a_batch_that_is_too_long_by_far_is_refused_in_a_short_line():
    with pytest.raises(ConfeeError, match=r"= \d\.\d+e\+\d+ rounds fills T=1000") as refused:
        opponent({"name": "hard"}, Size(K=2, T=1000, B=100, V=1e-300))
    assert len(str(refused.value)) < 150


def test_rounds_are_whole_numbers_to_a_kernel():
    """World rows hold the first round of a segment as a double: exact up to 2^53."""
    assert 10**15 + 1 < 2**53
    path = Steps.steps(np.array([1, 10**15 - 2, 10**15]), np.array([[0, 1]] * 3), 10**15)
    from confee.world.game import START, new_world

    assert new_world(path)[:, START].astype(np.int64).tolist() == path.start.tolist()


def test_theory_is_finite_at_every_extreme():
    sizes = itertools.product((2, 1000, 100_000), (10**5, 10**15), (5e-324, 1e-12, 1.0, 1e15))
    for K, T, V in sizes:
        for B in {K, 10**5, T}:
            length, queries = theory.rexp3b_batch(K, T, B, V)
            assert 1 <= queries <= length <= T
            assert 1 <= theory.window(K, B, V) <= B
            assert K <= theory.restart_period(K, B, V) <= B
            assert 1 <= theory.linear_window(4, B, V) <= B
            order, first = theory.last_block(T, B)
            assert 1 <= first <= T < first + theory.slot_length(T, B) * 2**order
            values = [
                theory.rate(K, T, B, V),
                theory.lower_bound(K, T, B, V),
                theory.rho_hat_factor(T),
                theory.exp3_rate(K, queries),
            ]
            assert all(0 <= value < math.inf for value in values)
            assert theory.lower_bound_applies(K, T, B, V) in (True, False)
            assert theory.theorem_range(K, T, B, V) in (True, False)


# --------------------------------------------------------------------------- what does not fit

LARGE = {"K": 2, "T": 10**15, "B": 1000, "V": 10**15}
BOUNDED = {"trace", "single_jump", "stationary", "packed", "hidden_rise"}
"""Whose paths have a most of segments, whatever V is."""


@pytest.mark.parametrize("name", sorted(ADVERSARIES))
def test_a_path_that_does_not_fit_is_refused_before_it_is_drawn(name):
    """Or drawn within what fits: never more than MOST_MEANS."""
    against = opponent({"name": name, **({"c": 1e-4} if name == "hard" else {})}, Size(**LARGE))
    if name in BOUNDED:
        path = draw_path(against, Size(2, LARGE["T"], LARGE["T"], LARGE["V"]), 0)
        assert path.mean.size <= MOST_MEANS
        return
    with pytest.raises(ConfeeError, match=r"path: V pays for .* segments; must be at most"):
        draw_path(against, Size(2, LARGE["T"], LARGE["T"], LARGE["V"]), 0)


# --------------------------------------------------------------------------- whole runs


HOUR = 3600
"""Seconds: a machine that is shared may take so long for what takes one or two minutes."""


class Made(Project):
    """A run of an experiment, and all that it leaves but for logs, times and the report."""

    def files(self):
        kept = [*self.folder.glob("results/tiny*/**/*"), *self.folder.glob("figures/**/*")]
        out = ("made", "logs", "report.html", "plan.json")
        return {
            file.relative_to(self.folder).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
            for file in kept
            if file.is_file() and not set(file.parts) & set(out)
        }


@pytest.fixture(scope="module")
def usual_run(tmp_path_factory):
    """`tiny` whole, as it is usually made."""
    made = Made.fresh(tmp_path_factory.mktemp("usual"))
    made.run("--cores", "2", timeout=HOUR, overrides="experiment=tiny")
    return made.files()


WAYS = {
    "one core, a seed a job": ("1", "jobs.shard=1", False),
    "four cores, 64 seeds a job": ("4", "jobs.shard=64", False),
    "an empty cache": ("2", "", True),
}


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_whole_run_leaves_the_same_bytes_however_it_is_made(usual_run, tmp_path, way):
    """`regret.parquet` and everything after it: evidence, verdicts, figures, tables."""
    cores, how, empty = WAYS[way]
    env = {"CONFEE_CACHE": str(tmp_path / "cache")} if empty else {}
    made = Made.fresh(tmp_path / "run")
    made.run("--cores", cores, timeout=HOUR, overrides=f"experiment=tiny {how}", **env)
    found = made.files()
    assert {
        name for name in found.keys() | usual_run if found.get(name) != usual_run.get(name)
    } == set()
    assert {
        "results/tiny/regret.parquet",
        "results/tiny/slopes.csv",
        "results/tiny/claims.json",
        "figures/tiny/horizon.pdf",
        "figures/tiny/table1.tex",
    } <= found.keys()


@pytest.mark.slow
def test_a_whole_run_without_the_compiler_leaves_the_same_bytes(tmp_path):
    """A small one: Python takes a hundred times as long."""
    files = []
    for off in ("0", "1"):
        made = Made.fresh(tmp_path / off)
        cache = str(tmp_path / f"cache-{off}")  # a run without the compiler leaves none in it
        made.run("--cores", "2", timeout=HOUR, NUMBA_DISABLE_JIT=off, CONFEE_CACHE=cache)
        files.append(made.files())
    assert files[0] == files[1]
    assert "results/tiny.claims/regret.parquet" in files[0]


if __name__ == "__main__":
    print(json.dumps(rows()))
