"""All deterministic policies of a tiny game of the lower bound, with exact probabilities.

Two arms, three rounds; in each round a policy plays an arm and either observes its reward or does
not. Means are 1/2, or 3/4 for the good arm (eps = 1/4). A law names the good arm of each round, -1
for none. There are 3280 policies. By symmetry those that begin with arm 0 are enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

ROUNDS, ARMS = 3, 2
FIRST = (0, 1)
"""Rounds of the first batch where Delta = 2; the second batch is the last round."""

ONE = 64
"""All weights are probabilities times 4^3."""

Law = tuple[int, int, int]


@dataclass(frozen=True)
class Histories:
    """All histories of all policies, one row each.

    Attributes
    ----------
    policy : ndarray of int, shape (histories,)
    arm, asked, reward : ndarray of int, shape (histories, 3)
        The arm played, whether its reward was observed, and the reward (0 if it was not).
    """

    policy: np.ndarray
    arm: np.ndarray
    asked: np.ndarray
    reward: np.ndarray

    def total(self, weights: np.ndarray) -> np.ndarray:
        """Return the sum of the weights over the histories of each policy."""
        return np.bincount(self.policy, weights=weights).astype(np.int64)

    def weight(self, law: Law) -> np.ndarray:
        """Return the probability of each history under a law, times 64."""
        good = self.arm == np.array(law)
        seen = np.where(good, np.where(self.reward == 1, 3, 1), 2)
        return np.prod(np.where(self.asked == 1, seen, 4), axis=1)

    def plays(self, arm: int, rounds: tuple[int, ...] = FIRST) -> np.ndarray:
        """Return how often `arm` is played in `rounds`."""
        return (self.arm[:, list(rounds)] == arm).sum(axis=1)

    def queries(self, rounds: tuple[int, ...] = FIRST, arm: int | None = None) -> np.ndarray:
        """Return how many rewards (of `arm`, or of any arm) are observed in `rounds`."""
        asked = self.asked[:, list(rounds)]
        if arm is not None:
            asked = asked * (self.arm[:, list(rounds)] == arm)
        return asked.sum(axis=1)


@cache
def _trees(rounds: int) -> tuple:
    """Return all deterministic policies: (arm, asked, policy after reward 0, after reward 1)."""
    if rounds == 0:
        return (None,)
    rest = _trees(rounds - 1)
    blind = [(arm, 0, after, after) for arm in range(ARMS) for after in rest]
    seeing = [(arm, 1, a, c) for arm in range(ARMS) for a in rest for c in rest]
    return tuple(blind + seeing)


@cache
def histories() -> Histories:
    """Return the histories of all policies that begin with arm 0."""
    rows: list[tuple] = []

    def walk(number: int, tree, played: tuple) -> None:
        if tree is None:
            rows.append((number, played))
            return
        arm, asked, after_0, after_1 = tree
        walk(number, after_0, (*played, (arm, asked, 0)))
        if asked:
            walk(number, after_1, (*played, (arm, asked, 1)))

    policies = [tree for tree in _trees(ROUNDS) if tree[0] == 0]
    for number, tree in enumerate(policies):
        walk(number, tree, ())
    steps = np.array([played for _, played in rows], dtype=np.int64)
    policy = np.array([number for number, _ in rows], dtype=np.int64)
    return Histories(policy, steps[:, :, 0], steps[:, :, 1], steps[:, :, 2])


def laws(*batches: tuple[int, ...]) -> list[Law]:
    """Return the laws whose batches have the good arms given; Delta = 2."""
    return [(a, a, c) for a in batches[0] for c in batches[1]]
