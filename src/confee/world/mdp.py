"""A path of episodic decision problems: tabular MDPs, and contextual bandits as those of one step.

In every round an episode of H steps begins in a state drawn from `first`; action a in state s pays
a reward in {0, 1} of mean r_t(s, a) and leads to s' with chance p_t(s' | s, a). What is decided for
a round is a rule: chances of each action, for each step and state, [H, S, A]. Its value is the
expected reward of an episode over H, so it is in [0, 1] like an arm's mean.

With H = 1 the states are contexts, drawn i.i.d., and the path is one of contextual bandits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from confee.core.errors import ConfeeError
from confee.world.path import spent, tiles


@dataclass(frozen=True)
class Episodes:
    """Segment i covers rounds start[i] .. start[i+1] - 1, in which nothing changes.

    Shapes: start [N + 1] int64, whose last entry is T + 1; first [S]; reward [N, S, A]; move
    [N, S, A, S]. `regressors` [F, S, A]: what a learner of contexts takes rewards from; without
    them the path is for episodic ones, who are told that episodes begin in state 0.
    """

    start: np.ndarray
    first: np.ndarray
    reward: np.ndarray
    move: np.ndarray
    H: int = 1
    regressors: np.ndarray | None = None

    adaptive = False
    parts = False
    playable = "rules: chances of each action that sum to 1, in each step and state"

    @classmethod
    def contexts(
        cls,
        start: np.ndarray,
        first: np.ndarray,
        reward: np.ndarray,
        regressors: np.ndarray,
        T: int,
    ) -> Episodes:
        """Contextual bandits: reward [N, contexts, A] from round start[n] on."""
        N, S, A = reward.shape
        move = np.broadcast_to(np.full(S, 1 / S), (N, S, A, S))
        start = np.append(start, T + 1).astype(np.int64)
        return cls(start, first, reward, move, 1, np.ascontiguousarray(regressors))

    @classmethod
    def episodic(
        cls, start: np.ndarray, reward: np.ndarray, move: np.ndarray, H: int, T: int
    ) -> Episodes:
        """Episodes of H steps from state 0: reward [N, S, A] and move [N, S, A, S], or one that
        stays, [S, A] and [S, A, S], from round start[n] on."""
        N, (S, A) = len(start), reward.shape[-2:]
        start = np.append(start, T + 1).astype(np.int64)
        reward = np.broadcast_to(reward, (N, S, A))
        return cls(start, np.eye(S)[0], reward, np.broadcast_to(move, (N, S, A, S)), H)

    @property
    def horizon(self) -> int:
        return int(self.start[-1]) - 1

    @property
    def shape(self) -> tuple[int, int, int]:
        """(H, S, A)."""
        return (self.H, *self.reward.shape[1:])

    @property
    def offers(self) -> Mapping[str, Any]:
        if self.regressors is not None:
            return {"contextual": self.regressors}
        return {"episodic": self.shape}

    @property
    def pieces(self) -> int:
        """S: how many stationary pieces there are."""
        same = (self.reward[1:] == self.reward[:-1]).all(axis=(1, 2))
        same &= (self.move[1:] == self.move[:-1]).all(axis=(1, 2, 3))
        return 1 + int(np.count_nonzero(~same))

    @cached_property
    def top(self) -> np.ndarray:
        """The value of the best rule in each segment, by dynamic programming, [N]."""
        return self._value(lambda h, paid: paid.max(axis=2))

    def value(self, rule: np.ndarray) -> np.ndarray:
        """The value of `rule` [H, S, A] in each segment, [N]."""
        return self._value(lambda h, paid: (paid * rule[h]).sum(axis=2))

    def _value(self, decided: Callable[[int, np.ndarray], np.ndarray]) -> np.ndarray:
        """decided(h, paid): what step h and those after it pay, of what its actions would."""
        to_go = np.zeros(self.reward.shape[:2])
        for h in range(self.H - 1, -1, -1):
            to_go = decided(h, self.reward + np.einsum("nsax,nx->nsa", self.move, to_go))
        return to_go @ self.first / self.H

    def variation(self) -> float:
        """sum over t of Delta(t), at least what the value of any rule changes by.

        Contexts: the mean over contexts of max_a |r_{t+1} - r_t|. That is the total variation of
        the joint law of context and rewards (Chen, Lee, Luo, Wei 2019), the least of all laws with
        these means; Wei and Luo take sqrt(A) max_{x,a} |r_{t+1} - r_t| for FALCON, which is more.

        Episodes: the sum over steps of max |r_{t+1} - r_t| / H + max ||p_{t+1} - p_t||_1, each over
        states and actions, as Wei and Luo (2021, Section 2.2) and Mao et al. (2021) have it, with
        rewards in the unit of R: a step pays r / H of it. Neither r nor p depends on the step, so
        that is max |r_{t+1} - r_t| + H max ||p_{t+1} - p_t||_1. A rule's value changes by no more,
        even with (H - 1) / 4 in the place of H. What Wei and Luo's proof takes for Q-UCB is H times
        this.
        """
        reward = np.abs(np.diff(self.reward, axis=0)).max(axis=2)
        if self.regressors is not None:
            return float((reward @ self.first).sum())
        move = np.abs(np.diff(self.move, axis=0)).sum(axis=3).max(axis=(1, 2))
        return float(reward.max(axis=1).sum() + self.H * move.sum())

    def checked(self, T: int, V: float) -> Self:
        """This path, if it tiles 1..T, its chances and means are such, and it spends at most V.
        Raises ConfeeError otherwise."""
        if not tiles(self.start, T):
            raise ConfeeError(f"path: its segments do not tile the rounds 1..{T}")
        for name, chances in (("first", self.first), ("move", self.move)):
            if chances.min() < 0 or not np.allclose(chances.sum(axis=-1), 1, rtol=0, atol=1e-9):
                raise ConfeeError(f"path: {name} must hold chances that sum to 1")
        if self.regressors is None and self.first[0] != 1:
            raise ConfeeError("path: episodes must begin in state 0")
        if self.reward.min() < -1e-12 or self.reward.max() > 1 + 1e-12:
            raise ConfeeError("path: a mean reward lies outside [0, 1]")
        if self.regressors is not None:
            known = {f.tobytes() for f in self.regressors}
            if any(truth.tobytes() not in known for truth in self.reward):
                raise ConfeeError("path: the means of each segment must be one of the regressors")
        spent(self.variation(), V)
        return self
