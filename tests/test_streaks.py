"""Chances of long streaks: against all patterns of starts, against draws, and between bounds."""

from __future__ import annotations

import itertools
import math
from functools import cache, partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confee.paper import proofs, streaks, theory
from confee.policies.blocks import square_roots
from confee.simulation.studies.schedules import draw_blocks

EXACT = {"idle": streaks.idle_streak_exact, "query": streaks.query_streak_exact}
LOWER = {"idle": streaks.idle_streak_lower, "query": streaks.query_streak_lower}
UPPER = {"idle": streaks.idle_streak_upper, "query": streaks.query_streak_upper}

CHANCES = {
    "paper": lambda n, m: proofs.start_rate(n, m),
    "even": lambda n, m: 0.3,
    "none": lambda n, m: 0.0,
    "order 1 always": lambda n, m: 1.0 if m == 1 else 0.4,
    "no slot": lambda n, m: 0.0 if m == 0 else 0.5,
}


@cache
def patterns(n: int, b: int, chances: str) -> dict[str, np.ndarray]:
    """P(longest > length) for each length, by kind, from every pattern of starts."""
    places = [(m, s) for m in range(n) for s in range(0, 2**n, 2**m)]
    total = {kind: np.zeros(b * 2**n + 1) for kind in streaks.KINDS}
    for pattern in itertools.product([False, True], repeat=len(places)):
        rates = [CHANCES[chances](n, m) for m, _ in places]
        weight = math.prod(r if on else 1 - r for on, r in zip(pattern, rates, strict=True))
        started = [(n, 0), *itertools.compress(places, pattern)]
        rounds = queries(n, b, started)
        for kind in streaks.KINDS:
            total[kind][: longest(rounds, kind == "query")] += weight
    return total


def queries(n: int, b: int, started: list[tuple[int, int]]) -> list[bool]:
    """Whether each round of the block is a query."""
    owners = [min((m, s) for m, s in started if s <= t < s + 2**m) for t in range(2**n)]
    left = {owner: owners.count(owner) for owner in owners}
    rounds = []
    for owner in owners:
        for _ in range(b):
            rounds.append(left[owner] > 0)
            left[owner] -= left[owner] > 0
    return rounds


def longest(rounds: list[bool], kind: bool) -> int:
    return max(
        (len(list(part)) for value, part in itertools.groupby(rounds) if value is kind), default=0
    )


@pytest.mark.parametrize("kind", streaks.KINDS)
@pytest.mark.parametrize("chances", list(CHANCES))
@pytest.mark.parametrize(("n", "b"), [(0, 2), (1, 3), (2, 2), (2, 5), (3, 2), (3, 3)])
def test_the_exact_chance_is_that_of_all_patterns(kind, chances, n, b):
    rate = partial(CHANCES[chances], n)
    for length, expected in enumerate(patterns(n, b, chances)[kind]):
        exact = EXACT[kind](n, b, length, rate)
        assert exact == pytest.approx(expected, abs=1e-12), length
        assert LOWER[kind](n, b, length, rate) <= expected + 1e-12
        assert UPPER[kind](n, b, length, rate) >= expected - 1e-12


@pytest.mark.parametrize(("n", "b"), [(5, 2), (6, 7), (8, 4)])
def test_the_exact_chance_is_that_of_draws(n, b):
    draws, rounds = 20_000, b * 2**n
    rng = np.random.default_rng(n)
    longest_seen, _ = draw_blocks(
        n, b, rounds, rounds, 2**n, n, 1.0, square_roots(n), 1, draws, rng
    )
    for column, kind in enumerate(streaks.KINDS):
        for length in np.quantile(longest_seen[:, column], [0.1, 0.5, 0.9, 0.99]).astype(int):
            share = (longest_seen[:, column] > length).mean()
            exact = EXACT[kind](n, b, int(length))
            assert abs(share - exact) <= 4.5 * math.sqrt(exact * (1 - exact) / draws) + 1e-9


def test_with_two_rounds_in_a_slot_idle_and_query_rounds_mirror_each_other():
    """Half the active rounds are queries; read backwards, queries and idle rounds change places."""
    for length in (1, 5, 16, 40):
        idle, query = (EXACT[kind](6, 2, length) for kind in streaks.KINDS)
        assert idle == pytest.approx(query, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(0, 7),
    b=st.integers(2, 9),
    share=st.floats(0, 1),
    kind=st.sampled_from(streaks.KINDS),
    slope=st.floats(0.1, 1.5),
    level=st.floats(0, 1),
)
def test_bounds_hold_and_chances_fall_with_the_length(n, b, share, kind, slope, level):
    length = math.floor(share * b * 2**n)

    def rate(m: int) -> float:
        return level * 2.0 ** (slope * (m - n))

    low, exact, high = (f[kind](n, b, length, rate) for f in (LOWER, EXACT, UPPER))
    assert 0 <= low <= exact + 1e-11
    assert exact <= high + 1e-11
    assert high <= 1
    assert EXACT[kind](n, b, length + 1, rate) <= exact + 1e-11
    assert UPPER[kind](n, b, length + 1, rate) <= high
    assert EXACT[kind](n, b, length + 0.7, rate) == exact


@pytest.mark.parametrize("kind", streaks.KINDS)
def test_lower_bounds_see_what_is_almost_sure(kind):
    """Where a block has hundreds of such streaks, the bound is near 1."""
    b, n = (20, 18) if kind == "idle" else (4, 20)
    length = b * 2 ** (n / 2) / 2
    assert LOWER[kind](n, b, length) > 0.999
    assert LOWER[kind](n, b, 40 * length) < 1e-6


def test_the_order_n_instance_alone_queries_first():
    def alone(m: int) -> float:
        return 0.0

    for f in (EXACT, LOWER, UPPER):
        assert f["idle"](4, 5, 5 * 16 - 16 - 1, alone) == pytest.approx(1)
    assert [EXACT["idle"](4, 5, length, alone) for length in (63, 64)] == [1, 0]
    assert [EXACT["query"](4, 5, length, alone) for length in (15, 16)] == [1, 0]


def test_a_slot_of_one_round_is_refused():
    with pytest.raises(ValueError, match="b=1"):
        streaks.idle_streak_exact(3, 1, 2)


def test_chances_by_horizon_are_exact_where_they_can_be():
    T, B = 10_000, 1584
    n, b = proofs.largest_order(T, B), theory.slot_length(T, B)
    chance = streaks.streak_chance("idle", T, B)
    assert chance.exact
    assert chance.low == streaks.idle_streak_exact(n, b, T / math.sqrt(B))
    bounds = streaks.streak_chance("idle", T, B, work=0)
    assert bounds.low < chance.low < bounds.high
    assert not bounds.exact
    assert streaks.streak_chance("idle", T, B, 2.0).low < chance.low
    assert streaks.streak_chance("idle", T, B, alpha=0.0) == (0, 0)
    smaller = streaks.streak_chance("idle", T, B, order=n - 2)
    assert smaller.high < chance.low
    proof = streaks.streak_chance("idle", T, B, rates="proof")
    alone = streaks.streak_chance("idle", T, B, rates="alone")
    assert proof.high < chance.low < alone.low == 1


def test_at_large_horizons_the_bounds_take_no_time_and_say_something():
    B = proofs.power_budget(10**12, 0.9)
    assert streaks.streak_chance("idle", 10**12, B).low > 0.999
    assert streaks.streak_chance("idle", 10**12, B, 6.0).high < 0.01
    assert streaks.streak_chance("query", 10**12, B).low > 0.99
    assert streaks.streak_chance("idle", 10**12, B, alpha=2 / 3).low > 0.999
