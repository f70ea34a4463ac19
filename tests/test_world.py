"""Paths: exact variation, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confee.core.errors import ConfeeError
from confee.world.game import new_world
from confee.world.path import Path
from support import plays
from support.variation import brute_variation

few = settings(max_examples=60, derandomize=True, deadline=None)


@few
@given(seed=st.integers(0, 2**32), S=st.integers(1, 5), K=st.integers(2, 4))
def test_path_is_what_its_means_say(seed, S, K):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 20, S)
    first, last = rng.uniform(0, 0.5, (2, S, K))
    good = rng.integers(0, K, S)
    first[range(S), good] += 0.5
    last[range(S), good] += 0.5
    path = plays.pieces(lengths, first, last)
    T = int(lengths.sum())
    means = path.means()
    assert means.shape == (T, K)
    assert path.horizon == T
    assert path.start.tolist() == [1, *(1 + np.cumsum(lengths)).tolist()]
    assert path.variation() == pytest.approx(brute_variation(path), abs=1e-12)
    assert path.checked(T, path.variation()) is path
    assert (means[np.arange(T), np.repeat(path.best, lengths)] == means.max(axis=1)).all()
    assert means[path.start[:-1] - 1] == pytest.approx(first)
    ends = path.start[1:] - 2
    assert means[ends] == pytest.approx(np.where(lengths[:, None] == 1, first, last))
    world = new_world(path)
    assert world[:, 0].tolist() == path.start.tolist()
    assert world[:-1, 1].tolist() == path.best.tolist()


@pytest.mark.parametrize(
    ("path", "V", "said"),
    [
        (Path.steps([1, 50], [[0.5, 0.2], [0.2, 0.5]], 99), 9, "cover each of the rounds 1..100"),
        (Path.steps([2], [[0.5, 0.2]], 100), 9, "cover each of the rounds 1..100"),
        (Path.steps([1, 50, 50], [[0.5, 0.2]] * 3, 100), 9, "cover each of the rounds 1..100"),
        (Path.steps([1], [[0.5, 1.2]], 100), 9, "outside"),
        (Path.steps([1], [[0.5, -0.2]], 100), 9, "outside"),
        (plays.pieces([100], [[0.5, 0.6]], [[1.1, 1.2]]), 9, "outside"),
        (plays.pieces([100], [[0.1, 0.6]], [[0.9, 0.4]]), 9, "the best arm changes"),
        (
            Path.steps([1, 50], [[0.5, 0.2], [0.2, 0.5]], 100),
            0.299,
            "0.3 exceeds the budget V=0.299",
        ),
        (plays.pieces([100], [[0.1, 0.6]], [[0.1, 0.7]]), 0.0999, "exceeds the budget V=0.0999"),
    ],
)
def test_refuses_what_is_no_path(path, V, said):
    with pytest.raises(ConfeeError, match="path: .*" + said):
        path.checked(100, V)


@pytest.mark.parametrize(
    ("means", "pieces"),
    [
        ([[0.5, 0.6], [0.6, 0.5], [0.5, 0.6]], 3),
        ([[0.5, 0.6], [0.6, 0.6], [0.5, 0.6]], 1),  # a tie is no reason to change
        ([[0.6, 0.6], [0.5, 0.6], [0.6, 0.5]], 2),
        ([[0.6, 0.6, 0.1], [0.1, 0.6, 0.6], [0.6, 0.1, 0.6], [0.6, 0.6, 0.6]], 2),
        ([[0.5, 0.5]], 1),
    ],
)
def test_pieces_are_the_fewest_in_which_one_arm_is_best(means, pieces):
    path = Path.steps(1 + 10 * np.arange(len(means)), np.array(means), 10 * len(means))
    assert path.pieces == pieces


def test_pieces_count_arms_that_are_best_at_both_ends():
    path = Path(
        np.array([1, 11, 21]),
        np.array([[0.5, 0.9], [0.9, 0.9]]),
        np.array([[0.04, 0.0], [0.0, -0.04]]),
    )
    assert path.pieces == 2
