"""One block of BaQue: the paper's figure, quotas, and how often instances start."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confee.policies.blocks import arrange, draw_instances, draw_started
from confee.world.path import Path
from support import plays, reference

seeds = st.integers(0, 2**32)
few = settings(max_examples=60, derandomize=True, deadline=None)


def block(n, seed):
    """(started, pieces, quotas, closing) of a random block, as plain lists; started is (m, s)."""
    orders, starts = draw_instances(n, np.random.default_rng(seed))
    started = list(zip(orders.tolist(), starts.tolist(), strict=True))
    return started, *(part.tolist() for part in arrange(orders, starts))


def test_paper_figure():
    """n = 3, b = 2: six instances; the slots each is active in, and its query rounds."""
    started = [(3, 0), (0, 1), (1, 2), (2, 4), (0, 5), (0, 6)]
    orders, starts = (np.array(part) for part in zip(*started, strict=True))
    pieces, quotas, closing = arrange(orders, starts)
    owner = [0, 1, 2, 2, 3, 4, 5, 3]
    assert [i for a, b, i in pieces for _ in range(a, b)] == owner
    assert quotas.tolist() == [1, 1, 2, 2, 1, 1]
    ends = [s + 2**m for m, s in started]
    assert [ends[i] for i in closing] == sorted(ends)
    assert closing.tolist() == [1, 2, 4, 5, 3, 0]


@few
@given(n=st.integers(0, 9), seed=seeds)
def test_pieces_are_those_of_brute_force(n, seed):
    started, pieces, quotas, closing = block(n, seed)
    owner = reference.owners(n, started)
    assert [started[i] for a, b, i in pieces for _ in range(a, b)] == owner
    assert pieces[0][0] == 0
    assert pieces[-1][1] == 2**n
    assert [a for a, _, _ in pieces[1:]] == [b for _, b, _ in pieces[:-1]]
    assert quotas == [owner.count(instance) for instance in started]
    assert sum(quotas) == 2**n
    assert sorted(closing) == list(range(len(started)))
    ends = [started[i][1] + 2 ** started[i][0] for i in closing]
    assert ends == sorted(ends)
    # Spans that end together close from the inside.
    assert [(end, started[i][0]) for end, i in zip(ends, closing, strict=True)] == sorted(
        (s + 2**m, m) for m, s in started
    )


@few
@given(n=st.integers(0, 9), seed=seeds)
def test_instances_are_well_formed_and_nested(n, seed):
    started, *_ = block(n, seed)
    assert started[0] == (n, 0)
    assert len(set(started)) == len(started)
    for m, s in started:
        assert s % 2**m == 0
        assert 0 <= s < s + 2**m <= 2**n
    assert started == sorted(started, key=lambda i: (i[1], -i[0]))
    spans = [range(s, s + 2**m) for m, s in started]
    for i, one in enumerate(spans):
        for other in spans[i + 1 :]:
            common = range(max(one.start, other.start), min(one.stop, other.stop))
            assert len(common) in (0, min(len(one), len(other)))


@few
@given(n=st.integers(0, 6), B=st.integers(20, 60), seed=st.integers(0, 2**16))
def test_a_started_instance_sees_2_to_the_m_baseline_queries(n, B, seed):
    """Counted on the rounds BaQue really queries, in a block of order n that is complete."""
    T = 400
    b = -(-2 * T // B)
    if b * (2 ** (n + 1) - 1) > T:
        return
    blocks = []

    def noted(chances, rng):
        orders, starts = draw_started(chances, rng)
        blocks.append(list(zip(orders.tolist(), starts.tolist(), strict=True)))
        return orders, starts

    kernel, runs = plays.noting("baque")
    kernel.__globals__["draw_started"] = noted
    path = Path.steps(np.ones(1), np.full((1, 2), 0.5), T)
    plays.play("baque", path, B, 0, seed, kernel=kernel)
    first = b * (2**n - 1) + 1
    queried = {start for start, _, query in runs if query}
    for m, s in blocks[n]:
        span = range(first + b * s, first + b * (s + 2**m))
        assert len(queried.intersection(span)) == 2**m


@pytest.mark.parametrize("n", [0, 1, 4, 8])
def test_instances_start_as_often_as_printed(n):
    """Order m: 2^(n-m) places, each with chance 2^((m-n)/2), so 2^((n-m)/2) starts; within 4
    standard errors of 2000 blocks, and so is the place of each start."""
    draws = 2000
    rng = np.random.default_rng(1)
    counts = [np.zeros(2 ** (n - m)) for m in range(n + 1)]
    for _ in range(draws):
        for m, s in zip(*draw_instances(n, rng), strict=True):
            counts[m][s >> m] += 1
    for m, count in enumerate(counts):
        chance = 2.0 ** ((m - n) / 2)
        error = np.sqrt(chance * (1 - chance) / draws)
        assert abs(count.mean() / draws - chance) <= 4 * error / np.sqrt(len(count))
        assert (abs(count / draws - chance) <= 4.5 * error).all()


def test_starts_of_different_places_are_independent():
    """The number of starts of an order has the spread of a binomial, within 10 %."""
    n, draws = 8, 3000
    rng = np.random.default_rng(2)
    starts = np.array(
        [np.bincount(draw_instances(n, rng)[0], minlength=n + 1) for _ in range(draws)]
    )
    for m in range(n):
        chance = 2.0 ** ((m - n) / 2)
        assert starts[:, m].var() == pytest.approx(2 ** (n - m) * chance * (1 - chance), rel=0.1)
    off = np.corrcoef(starts[:, :n].T)[np.triu_indices(n, 1)]
    assert abs(off).max() < 4 / np.sqrt(draws)


def test_a_large_block_is_a_short_list():
    """2^30 slots, some hundred thousand instances; the quotas still sum to all slots."""
    n = 30
    orders, starts = draw_instances(n, np.random.default_rng(3))
    pieces, quotas, closing = arrange(orders, starts)
    expected = sum(2 ** ((n - m) / 2) for m in range(n + 1))
    assert len(orders) == pytest.approx(expected, rel=0.05)
    assert len(pieces) < 2 * len(orders)
    assert quotas.sum() == 2**n
    assert len(closing) == len(orders)
