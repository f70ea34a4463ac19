"""The accounts: their options change no play, and a kernel that breaks the rules is refused."""

from __future__ import annotations

import numpy as np
import pytest

from confee import ConfeeError, simulate
from confee.core.size import Size
from confee.policies import POLICIES
from confee.policies.base import Policy
from confee.simulation.cells import cell, opponent
from confee.simulation.play import draw_path, play
from confee.world import game

PLAYED = ("hyque", "rexp3b", "ucb1", "sw_ucb")
CELL = {"K": 3, "T": 4000, "B": 400, "V": 0}


def parts(frame):
    return frame[["regret_query", "regret_error", "regret_drift", "regret_no_data"]].sum(axis=1)


@pytest.mark.parametrize("policy", PLAYED)
def test_the_literal_proxy_changes_no_play_and_is_biased_upward(policy):
    """In a stationary world mu* - P is 0 over means; over rewards P is a maximum of noise."""
    usual = simulate(policy, "stationary", gap=0.0, seeds=40, **CELL)
    literal = simulate(policy, "stationary", gap=0.0, seeds=40, proxy="literal", **CELL)
    same = ["regret", "regret_query", "regret_no_data", "queries", "longest_idle"]
    assert usual[same].equals(literal[same])
    assert np.allclose(parts(literal), literal["regret"], atol=1e-9)
    assert np.allclose(usual["regret_drift"], 0, atol=1e-9)
    drift = literal["regret_drift"]
    assert drift.mean() < -4 * drift.std() / len(drift) ** 0.5
    assert literal.equals(
        simulate(policy, "stationary", gap=0.0, seeds=40, proxy="literal", **CELL)
    )


def test_counterfactual_rewards_have_the_means_of_the_path():
    against = opponent({"name": "switching", "gap": 0.4}, Size(K=3, T=4000, B=400, V=2))
    path = draw_path(against, Size(3, 4000, 4000, 2), 0)
    world, data, rng = game.new_world(path), game.new_data(3), np.random.default_rng(0)
    ledger = game.new_ledger(literal=True, coins=7)
    seen = sum(game.query(world, ledger, data, t, 0, rng) for t in range(1, 4001))
    assert data[0] == seen  # what was played was seen, not drawn again
    assert data[3] == 4000
    expected, spread = path.means().sum(axis=0), 0.5 * 4000**0.5
    assert np.abs(data[:3] - expected).max() < 4 * spread


def test_sampled_idle_runs_change_the_sums_and_not_the_queries():
    usual = simulate("rexp3b", "switching", gap=0.4, seeds=8, K=3, T=2000, B=400, V=2)
    drawn = simulate(
        "rexp3b", "switching", gap=0.4, seeds=8, K=3, T=2000, B=400, V=2, idle="sampled"
    )
    assert (usual["queries"] == drawn["queries"]).all()
    assert (usual["regret"] != drawn["regret"]).any()


def _kernel(rounds):
    """A kernel that queries the rounds given."""

    def play(world, ledger, K, T, B, rng):
        data = game.new_data(K)
        for t in rounds(T):
            game.query(world, ledger, data, t, 0, rng)

    return play


@pytest.mark.parametrize(
    ("rounds", "said"),
    [
        (lambda T: range(1, T + 1), "queried 100 rounds; must be at most B=50"),
        (lambda T: range(1, 41), "each of the rounds 1..100 once.* stopped before round 41"),
        (lambda T: [1, 1, 2], "out of order 1 times"),
        (lambda T: range(2, 4), "out of order 1 times"),
    ],
)
def test_a_kernel_that_breaks_the_rules_is_refused(monkeypatch, rounds, said):
    broken = Policy(id="broken", summary="", kernel=_kernel(rounds))
    monkeypatch.setitem(POLICIES, "broken", broken)
    one = cell({"name": "broken"}, Size(K=2, T=100, B=50, V=1))
    against = opponent({"name": "switching", "gap": 0.4}, Size(K=2, T=100, B=50, V=1))
    with pytest.raises(ConfeeError, match=said):
        play(one, against, 0)


def test_an_idle_run_past_the_horizon_is_refused_and_reads_nothing_outside(monkeypatch):
    def beyond(world, ledger, K, T, B, rng):
        game.idle(world, ledger, game.new_data(K), 1, T + 50, np.ones(K), rng)

    monkeypatch.setitem(POLICIES, "broken", Policy(id="broken", summary="", kernel=beyond))
    one = cell({"name": "broken"}, Size(K=2, T=100, B=50, V=1))
    against = opponent({"name": "switching", "gap": 0.4}, Size(K=2, T=100, B=50, V=1))
    with pytest.raises(ConfeeError, match="out of order 1 times"):
        play(one, against, 0)


@pytest.mark.parametrize("arm", [-1, 2, 7, 10**9])
def test_an_arm_that_is_none_is_refused(monkeypatch, arm):
    """One-based arms, for instance; nothing outside the path's arrays is read."""

    def one_too_many(world, ledger, K, T, B, rng):
        data = game.new_data(K)
        game.query(world, ledger, data, 1, arm, rng)
        game.idle(world, ledger, data, 2, T + 1, np.ones(K), rng)

    refused(monkeypatch, one_too_many, r"must play arms 0\.\.1, .* otherwise 1 times")


@pytest.mark.parametrize(
    "chances", [[0, 0], [np.nan, 1], [1, np.nan], [np.inf, 1], [-1, 2], [1] * 5, [1]]
)
def test_chances_that_are_none_are_refused(monkeypatch, chances):
    def blind(world, ledger, K, T, B, rng):
        game.idle(world, ledger, game.new_data(K), 1, T + 1, np.array(chances, dtype=float), rng)

    refused(monkeypatch, blind, "a weight >= 0 for each arm, not all 0; it did otherwise 1 times")


def refused(monkeypatch, kernel, said):
    monkeypatch.setitem(POLICIES, "broken", Policy(id="broken", summary="", kernel=kernel))
    one = cell({"name": "broken"}, Size(K=2, T=100, B=50, V=1))
    against = opponent({"name": "switching", "gap": 0.4}, Size(K=2, T=100, B=50, V=1))
    with pytest.raises(ConfeeError, match=said):
        play(one, against, 0)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"known": ("T", "v")}, "policy=odd: known v; must be among B, S, T, V, path"),
        ({"kernel": None}, "policy=odd: kernel must be a function"),
        ({"arguments": 3}, "policy=odd: arguments must be a function"),
    ],
)
def test_a_policy_says_what_there_is(how, said):
    with pytest.raises(ConfeeError, match=said):
        Policy(**{"id": "odd", "summary": "", "kernel": len, **how})


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (lambda known, options: 3.0, "policy=odd: arguments must return a tuple"),
        (lambda known: (), "policy=odd: arguments: .* takes 1 positional argument but 2"),
    ],
)
def test_arguments_are_a_tuple_of_the_right_things(arguments, said):
    odd = Policy(id="odd", summary="", kernel=len, arguments=arguments)
    with pytest.raises(ConfeeError, match=said):
        odd.kernel_arguments(2, 100, 10, 1.0, 1, None)
