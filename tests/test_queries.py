"""Query schedules: the rounds in which policies query that do not choose them themselves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confee.policies import POLICIES
from confee.policies.queries import SCHEDULES, new_schedule, next_query
from confee.world import game
from confee.world.path import Path
from support import plays

SCHEDULED = sorted(p.id for p in POLICIES.values() if hasattr(p.options(), "plan"))
few = settings(max_examples=40, derandomize=True, deadline=None)


def rounds_of(plan, T, B, seed=0):
    """(rounds, denied) of a query schedule."""
    ledger, rng = game.new_ledger(), np.random.default_rng(seed)
    schedule = new_schedule(SCHEDULES.index(plan), T, B)
    rounds = []
    while (t := next_query(schedule, ledger, rng)) <= T:
        rounds.append(int(t))
        ledger.queries += 1
    assert next_query(schedule, ledger, rng) == T + 1
    return rounds, int(ledger.denied)


@pytest.mark.parametrize(("T", "B"), [(7, 3), (100, 99), (100, 100), (1000, 7), (10**12, 333)])
def test_paced_is_even(T, B):
    assert rounds_of("paced", T, B) == ([i * T // B + 1 for i in range(B)], 0)


def test_front_is_the_first_rounds():
    assert rounds_of("front", 1000, 70) == (list(range(1, 71)), 0)


def test_batches_begin_with_their_queries():
    """sqrt(B) batches: B = 100 of T = 1000 are ten batches of 100 rounds, ten queries in each."""
    expected = [100 * j + i + 1 for j in range(10) for i in range(10)]
    assert rounds_of("batched", 1000, 100) == (expected, 0)


@few
@given(data=st.data())
def test_any_schedule_is_in_order_and_within_budget(data):
    T = data.draw(st.integers(1, 400))
    B = data.draw(st.integers(1, T))
    plan = data.draw(st.sampled_from(SCHEDULES))
    rounds, denied = rounds_of(plan, T, B, data.draw(st.integers(0, 99)))
    assert rounds == sorted(set(rounds))
    assert not rounds or 1 <= rounds[0] <= rounds[-1] <= T
    if plan == "bernoulli":
        assert len(rounds) + denied <= T
        assert len(rounds) == B or not denied
    elif plan == "batched":
        assert B - np.sqrt(B) <= len(rounds) <= B
        assert not denied
    else:
        assert len(rounds) == B
        assert not denied


@pytest.mark.parametrize("plan", SCHEDULES)
def test_at_full_budget_every_round_is_queried(plan):
    assert rounds_of(plan, 200, 200) == (list(range(1, 201)), 0)


def test_bernoulli_is_a_coin_per_round():
    """Mean and variance of the number of queries asked for, and of their places."""
    T, B, runs = 1000, 100, 400
    asked, places = [], []
    for seed in range(runs):
        rounds, denied = rounds_of("bernoulli", T, B, seed)
        asked.append(len(rounds) + denied)
        if not denied:
            places.append(np.mean(rounds))
    deviation = np.sqrt(T * 0.1 * 0.9)
    assert np.mean(asked) == pytest.approx(B, abs=4 * deviation / np.sqrt(runs))
    assert np.std(asked) == pytest.approx(deviation, rel=0.15)
    assert np.mean(places) == pytest.approx(T / 2, abs=4 * T / np.sqrt(12 * B * len(places)))


@pytest.mark.parametrize("plan", SCHEDULES)
@pytest.mark.parametrize("policy", SCHEDULED)
def test_policies_follow_their_schedule(policy, plan):
    """The rounds a policy queries are the schedule's, whatever it observes."""
    T, B = 300, 60
    kernel, runs = plays.noting(policy)
    path = Path.steps(np.array([1, 150]), np.array([[0.5, 0.9], [0.9, 0.5]]), T)
    row = plays.play(policy, path, B, 1.0, 1, kernel=kernel, plan=plan)
    rounds = [start for start, _, query in runs if query]
    assert [start for start, _, _ in runs] == [1, *(stop for _, stop, _ in runs[:-1])]
    assert runs[-1][1] == T + 1
    assert row["queries"] == len(rounds) <= B
    if plan != "bernoulli":
        assert rounds == rounds_of(plan, T, B)[0]
