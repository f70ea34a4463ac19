"""Studies of drawn blocks against plain round-by-round ones, and what theory says of them."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confee.paper import proofs, theory
from confee.policies.blocks import draw_instances, square_roots
from confee.simulation.studies import STUDIES, ages, schedules
from support import reference

few = settings(max_examples=60, derandomize=True, deadline=None)


def instances(n, rng):
    """A drawn block as [(m, s)]; that the draw is right is shown in test_blocks."""
    orders, starts = draw_instances(n, rng)
    return list(zip(orders.tolist(), starts.tolist(), strict=True))


def quotas(b, rounds, owner):
    """The quotas of a block that ends after `rounds` rounds, by instance."""
    return {
        i: reference.baseline_quota(
            rounds, b, 1, [s for s in range(len(owner)) if owner[s] == i], "horizon"
        )
        for i in set(owner)
    }


def queried(n, b, rounds, started, quota=1):
    """For each round of a block whether BaQue queries, and the instance it belongs to."""
    owner = reference.owners(n, started)
    left = {i: quota * most for i, most in quotas(b, rounds, owner).items()}
    asks, whose = [], []
    for t in range(rounds):
        i = owner[t // b]
        asks.append(left[i] > 0)
        left[i] -= asks[-1]
        whose.append(i)
    return asks, whose


def longest(asks, kind):
    return max((len(list(g)) for a, g in itertools.groupby(asks) if a == kind), default=0)


def cuts(n, b, T, B, asks, quota):
    """Densities over B/T, as fractions (queries T, rounds B), of phases cut after each query."""
    used, found = quota * (2**n - 1), []
    for t, asked in enumerate(asks):
        used += asked
        if asked:
            found.append((used * T, (b * (2**n - 1) + t + 1) * B))
    return found


# ------------------------------------------------------------------ schedules


@few
@given(
    n=st.integers(0, 7),
    b=st.integers(2, 9),
    share=st.floats(0.01, 1),
    quota=st.integers(1, 2),
    seed=st.integers(0, 2**32),
)
def test_a_block_is_that_of_a_plain_one(n, b, share, quota, seed):
    T, B = 10_000, 2 * 10_000 // b  # any: it only sets what the density is compared with
    rounds = max(1, math.floor(share * b * 2**n))
    found, densities = schedules.draw_blocks(
        n, b, rounds, T, B, n, 1.0, square_roots(n), quota, 1, np.random.default_rng(seed)
    )
    asks, _ = queried(n, b, rounds, instances(n, np.random.default_rng(seed)), quota)
    assert found[0, schedules.IDLE] == longest(asks, False)
    assert found[0, schedules.QUERY] == longest(asks, True)
    assert found[0, schedules.QUERIES] == sum(asks)
    if n > 0:
        every = cuts(n, b, T, B, asks, quota)
        assert densities[0] == pytest.approx([f(q / r for q, r in every) for f in (min, max)])
        assert found[0, schedules.CUT_BELOW] == any(2 * q < r for q, r in every)
        assert found[0, schedules.CUT_ABOVE] == any(q >= r for q, r in every)
        assert max(q / r for q, r in every) <= quota * proofs.densest_phase(n, b) * T / B + 1e-12


@few
@given(n=st.integers(0, 7), M=st.integers(0, 9), b=st.integers(2, 5), seed=st.integers(0, 2**32))
def test_the_proofs_rates_are_tiles_or_a_thinned_block(n, M, b, seed):
    tile, keep = min(n, M), 2.0 ** ((min(n, M) - M) / 2)
    found, _ = schedules.draw_blocks(
        n, b, b * 2**n, 1000, 100, tile, keep, square_roots(tile), 1, 1, np.random.default_rng(seed)
    )
    rng = np.random.default_rng(seed)
    asks = []
    for _ in range(2 ** (n - tile)):
        started = instances(tile, rng)
        if keep < 1:
            started = started[:1] + [i for i in started[1:] if rng.random() < keep]
        asks += queried(tile, b, b * 2**tile, started)[0]
    expected = [longest(asks, False), longest(asks, True), sum(asks)]
    assert found[0, [schedules.IDLE, schedules.QUERY, schedules.QUERIES]].tolist() == expected
    for m in range(tile):
        assert proofs.start_rate(tile, m) * keep == pytest.approx(proofs.proof_rate(M, m))


def test_order_n_alone_queries_first():
    row = schedules.run(1000, 100, 0.6, 5, 10**6, rates="alone", low=4, high=4)[0]
    assert (row["b"], row["rounds"], row["drawn"]) == (20, 320, 5)
    assert (row["query_max"], row["idle_max"]) == (16, 304)
    assert (row["idle_mean"], row["idle_over_0.5"], row["query_over_0.5"]) == (304, 5, 0)


def test_a_study_says_where_it_was_made_and_draws_the_same_again():
    parameters = {"T": 3000, "B": 700, "exponent": 0.8, "draws": 50, "work": 2000}
    rows = schedules.run(**parameters)
    assert rows == schedules.run(**parameters)
    last, first = theory.last_block(3000, 700)
    assert [row["order"] for row in rows] == list(range(last + 1))
    assert [row["complete"] for row in rows] == [1] * last + [0]
    assert rows[-1]["rounds"] == 3000 - first + 1
    assert all(parameters.items() <= row.items() for row in rows)
    assert rows[0]["drawn"] == 50
    assert rows[-1]["drawn"] < 50
    assert schedules.run(**parameters, low=2)[0]["order"] == 2
    assert schedules.run(**parameters)[2] != schedules.run(**parameters, low=2)[0]  # own stream
    assert all(row["end_off"] == 0 for row in rows if row["complete"])


# ------------------------------------------------------------------ ages


def plain(order, T, B, on_demand, changes, seed):
    """One run round by round: idle rounds and their ages by order, and stale rounds, of a block."""
    rng = np.random.default_rng(seed)
    b = theory.slot_length(T, B)
    used, t = 0, 1
    for n in range(0 if on_demand else order, order + 1):
        first = b * (2**n - 1) + 1
        t = first
        started = instances(n, rng)
        owner = reference.owners(n, started)
        left = quotas(b, min(b * 2**n, T + 1 - first), owner)
        asked = {i: [] for i in started}
        idle, age, stale = np.zeros(order + 1), np.zeros(order + 1), 0.0
        while t < first + b * 2**n and t <= T:
            at = t - first
            i = owner[at // b]
            if left[i] > 0:
                left[i] -= 1
                wish = True
            else:
                wish = on_demand and used < t * B / T - reference.buffers(T, B, n, t, "body")
            if wish and used < B:
                asked[i].append(at)
                used += 1
            elif asked[i]:
                idle[i[0]] += 1
                age[i[0]] += at - np.mean(asked[i])
                past = [c for c in changes if c <= at]
                if past:
                    stale += np.mean([s < past[-1] for s in asked[i]])
            t += 1
    return idle, age, stale, used


@few
@given(
    order=st.integers(0, 6),
    slots=st.integers(80, 160),
    b=st.integers(2, 6),
    on_demand=st.booleans(),
    seed=st.integers(0, 2**32),
)
def test_ages_are_those_of_a_plain_run(order, slots, b, on_demand, seed):
    T, B = slots * b, 2 * slots
    b = theory.slot_length(T, B)
    rounds = min(b * 2**order, T - b * (2**order - 1))
    path = [math.floor(f * b * 2**order) for f in (0.3, 0.5, 0.9)]
    changes = np.array([[*path, ages.NEVER], [path[1], *[ages.NEVER] * 3]])
    idle, age, bins, stale = ages.play_blocks(
        order, b, rounds, T, B, on_demand, changes, 1, np.random.default_rng(seed)
    )
    for k, marks in enumerate((path, path[1:2])):
        expected = plain(order, T, B, on_demand, marks, seed)
        assert idle[0] == pytest.approx(expected[0])
        assert age[0] == pytest.approx(expected[1])
        assert stale[0, k] == pytest.approx(expected[2])
    assert bins.sum(axis=1) == pytest.approx(idle[0])


def test_active_shares_add_up_and_keep_a_floor():
    for n in (0, 1, 5, 20):
        assert sum(proofs.active_share(n, m) for m in range(n + 1)) == pytest.approx(1)
    assert proofs.active_share(0, 0) == 1
    assert proofs.active_share(60, 60) == pytest.approx(0.0375, abs=5e-5)
    assert proofs.active_share(60, 58) == pytest.approx(0.125, abs=0.005)


def test_drawn_shares_ages_and_stale_rounds_are_as_theory_says():
    """Shares within 4 standard errors of the closed form; nothing staler than it can be."""
    paths = [[0.5], [0.125, 0.75], [0.3]]
    for T, B, order in ((10**5, 10**4, 8), (10**5, 31622, 10)):
        frame = pd.DataFrame(ages.run(T, B, order, 1500, paths))
        age = frame[frame["kind"] == "age"]
        assert (abs(age["share"] - age["expected"]) <= 4 * age["share_se"]).all()
        b = theory.slot_length(T, B)
        assert age["share"].sum() == pytest.approx(1 - 1 / b)  # complete: 1/b of it is queries
        assert (age["age_0.1"] < age["age_0.5"]).all()
        assert (age["age_0.5"] < age["age_0.9"]).all()
        assert (age["age"] > 0).all()
        assert (age["age"] < 2.0 ** -age["j"]).all()  # no instance is older than its span
        assert age["age"].to_numpy() == pytest.approx(age["age_rounds"] / (b * 2**order))
        stale = frame[frame["kind"] == "stale"]
        assert [json.loads(text) for text in stale["changes"]] == paths
        assert (stale["stale"] + 4 * stale["stale_se"] < stale["outdated"]).all()
        assert (stale["stale"] > 4 * stale["stale_se"]).all()


def test_outdated_rounds_are_counted_by_the_closed_form():
    """Rounds whose instance began before the latest change, in plain blocks; 4 standard errors."""
    n, draws, rng = 6, 1500, np.random.default_rng(5)
    changes = [0.25, 0.3125, 0.75]
    shares = np.zeros(draws)
    for k in range(draws):
        owner = reference.owners(n, instances(n, rng))
        latest = [max((c for c in changes if c * 2**n <= s), default=0) for s in range(2**n)]
        shares[k] = np.mean([i[1] < c * 2**n for i, c in zip(owner, latest, strict=True)])
    error = shares.std() / math.sqrt(draws)
    assert abs(shares.mean() - proofs.outdated_share(n, changes)) < 4 * error
    assert proofs.outdated_share(n, []) == 0


def test_a_windows_stale_share_is_that_of_a_plain_run():
    """Round by round, with a query every tenth round; changes near each other and far apart."""
    T, every, full, first = 40_000, 10, 20_000, 20_000
    for window, path in ((150, [0.3]), (150, [0.1, 0.15, 0.5]), (700, [0.1, 0.2, 0.9])):
        rounds = np.arange(T)
        queries = rounds[rounds % every == 0]
        at = [first + math.floor(f * full) for f in path]
        stale = 0.0
        for t in rounds[first:]:
            past = [c for c in at if c <= t]
            if past and t % every:
                held = queries[queries < t][-window:]
                stale += np.mean(held < past[-1])
        expected = (1 - 1 / every) * ages.windowed_share(window * every / full, path)
        assert stale / full == pytest.approx(expected, rel=0.02)
        row = ages.run(T, T // every, 2, 1, [path], windows=[window])[-1]
        assert row["windowed"] == pytest.approx(
            (1 - 1 / every) * ages.windowed_share(window * every / row["rounds"], path)
        )
    assert ages.windowed_share(0.01, [0.2, 0.6]) == pytest.approx(2 * 0.005)
    assert "windowed" not in ages.run(T, 4000, 2, 1, [[0.5]])[-1]


def test_on_demand_queries_make_the_data_younger():
    """Same block, T and B: less of it is stale; by 3 standard errors."""
    stale = {}
    for policy in ages.POLICIES:
        rows = ages.run(10**5, 10**4, 11, 400, [[0.1, 0.3, 0.5, 0.7]], policy)
        stale[policy] = rows[-1]["stale"], rows[-1]["stale_se"]
    (more, e1), (less, e2) = stale["baque"], stale["hyque"]
    assert more - less > 3 * math.hypot(e1, e2)


# ------------------------------------------------------------------ the registry


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_draws_rows_at_its_smallest_parameters(name):
    study = STUDIES[name]
    rows = study.run(**study.smallest)
    assert rows == study.run(**study.smallest)
    assert {"T", "B", "K"} & rows[0].keys()
