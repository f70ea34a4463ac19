"""Runs played together have the rows of runs played one by one, to the bit."""

from __future__ import annotations

import numpy as np
import pytest

from confee.core import jit
from confee.core.errors import ConfeeError
from confee.core.size import Size
from confee.policies import POLICIES
from confee.policies.ucb_lanes import new_ucbs
from confee.simulation import play as playing
from confee.simulation.cells import cell, opponent
from confee.simulation.play import play, play_all
from confee.world.lanes import new_lanes, zeros
from confee.world.streams import integer, new_streams, uniform

pytestmark = pytest.mark.skipif(jit.disabled(), reason="lanes are compiled")

WITH_LANES = sorted(p.id for p in POLICIES.values() if p.lanes)
ADVERSARIES = ("switching", "random_walk", "sinusoid", "stationary", "hard")
SIZES = ((2, 400, 400, 2), (3, 2_000, 90, 4), (10, 3_000, 1_000, 1), (70, 1_500, 200, 3))


def test_who_has_lanes():
    assert {"ucb1", "exp3", "rexp3", "rexp3b"} <= set(WITH_LANES)
    assert not {"hyque", "master", "glr_ucb"} & set(WITH_LANES)  # they look where they see cause to


@pytest.mark.parametrize("policy", WITH_LANES)
def test_rows_are_those_of_runs_by_themselves(policy):
    for K, T, B, V in SIZES:
        one = cell({"name": policy}, Size(K=K, T=T, B=B, V=V))
        against = [opponent({"name": name}, Size(K=K, T=T, B=B, V=V)) for name in ADVERSARIES]
        together = play_all(one, against, range(3))
        assert together == [play(one, each, seed) for each in against for seed in range(3)]


@pytest.mark.parametrize("policy", WITH_LANES)
def test_options_and_plans(policy):
    changed = {"ucb1": {"exploration": 0.5}, "rexp3b": {"pool": "set"}, "rexp3": {"batch_scale": 2}}
    plans = ("front", "batched", "bernoulli") if policy != "rexp3b" else ("",)
    for plan in plans:
        options = {**changed.get(policy, {}), **({"plan": plan} if plan else {})}
        one = cell({"name": policy, **options}, Size(K=4, T=3_000, B=300, V=3))
        against = opponent({"name": "switching"}, Size(K=4, T=3_000, B=300, V=3))
        assert play_all(one, [against], range(9)) == [play(one, against, s) for s in range(9)]


@pytest.mark.parametrize("policy", WITH_LANES)
def test_ties_are_broken_by_the_same_draws(policy):
    """Arms that always pay tie in each round."""
    one = cell({"name": policy}, Size(K=6, T=500, B=500, V=0))
    against = opponent(
        {"name": "stationary", "gap": 1e-9, "level": 1 - 1e-9}, Size(K=6, T=500, B=500, V=0)
    )
    assert play_all(one, [against], range(16)) == [play(one, against, s) for s in range(16)]


def test_arrays_of_lanes_begin_with_a_cache_line():
    for form in (zeros, jit.python_function(zeros)):
        made = [form(shape) for shape in ((3,), (5, 7, 64), (2, 1)) * 5]
        assert {array.ctypes.data % 64 for array in made} == {0}
        assert made[1].shape == (5, 7, 64)
        assert made[1].flags.c_contiguous
        assert not made[1].any()
    one = opponent({"name": "switching"}, Size(K=3, T=900, B=90, V=2))
    path = playing.draw_path(one, Size(3, 900, 900, 2), 0)
    lanes = new_lanes([path] * 7, [np.random.default_rng(0)] * 7)
    for array in (lanes.arms, lanes.now, lanes.sums, new_ucbs(3, 7)):
        assert array.ctypes.data % 64 == 0


def test_how_runs_are_put_together(monkeypatch):
    """By no more than there is room for, and not where a path adapts."""
    sizes = []
    together = playing._together
    monkeypatch.setattr(playing, "LANES", 10)
    monkeypatch.setattr(
        playing, "_together", lambda c, batch, o: sizes.append(len(batch)) or together(c, batch, o)
    )
    one = cell({"name": "ucb1"}, Size(K=3, T=200, B=50, V=2))
    usual = opponent({"name": "switching"}, Size(K=3, T=200, B=50, V=2))
    adaptive = opponent({"name": "hard", "adaptive": True}, Size(K=3, T=200, B=50, V=2))
    ticks = []
    rows = play_all(one, [usual, adaptive, usual], range(19), tick=lambda: ticks.append(1))
    assert sizes == [10, 9, 10, 9]
    assert len(rows) == len(ticks) == 57
    monkeypatch.setattr(playing, "CROWDED", 1)
    assert play_all(one, [usual, adaptive, usual], range(19)) == rows


def test_a_budget_overspent_in_lanes_is_refused():
    """`check` looks at each lane's accounts."""
    spec = POLICIES["ucb1"]
    one = cell({"name": "ucb1"}, Size(K=2, T=60, B=20, V=1))
    against = opponent({"name": "switching"}, Size(K=2, T=60, B=20, V=1))
    runs = [playing._run(one, against, s, one.options, playing.USUAL) for s in range(8)]
    twice = [playing.dataclasses.replace(run, arguments=run.arguments) for run in runs]
    object.__setattr__(one, "size", one.size._replace(B=10))
    assert len(playing._together(one, twice, one.options)) == 8
    object.__setattr__(one, "size", one.size._replace(T=50))
    with pytest.raises(ConfeeError, match="must play each of the rounds"):
        playing._together(one, twice, one.options)
    assert spec.lanes is not None


def test_streams_are_numpys():
    """Words, and halves of them, in any order: as `random` and `integers` of numba's generators."""

    @jit.njit
    def numpys(rng, kinds):
        found = np.empty(kinds.shape[0])
        for n in range(kinds.shape[0]):
            found[n] = rng.random() if kinds[n] == 0 else rng.integers(3, 3 + kinds[n])
        return found

    @jit.njit
    def ours(streams, i, kinds):
        found = np.empty(kinds.shape[0])
        for n in range(kinds.shape[0]):
            some = kinds[n]
            found[n] = uniform(streams, i) if some == 0 else integer(streams, i, 3, 3 + some)
        return found

    kinds = np.random.default_rng(7).choice([0, 1, 2, 3, 10, 1000, 2**31 + 5, 2**32 - 2], 4000)
    generators = [np.random.default_rng(seed) for seed in range(3)]
    generators[1].integers(0, 10, dtype=np.uint32)  # leaves half a word
    streams = new_streams(generators)
    for i, rng in enumerate(generators):
        assert (ours(streams, i, kinds) == numpys(rng, kinds)).all()
