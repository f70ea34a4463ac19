"""A path of episodic decision problems: tabular MDPs, and contextual bandits as MDPs of one step.

In every round an episode of H steps begins in a state drawn from `first`. Action a in state s pays
a reward in {0, 1} of mean r_t(s, a) and leads to s' with chance p_t(s' | s, a). A policy decides on
a rule for each round: the chance of each action in each step and state, [H, S, A]. The value of a
rule is the expected reward of an episode divided by H, so it is in [0, 1] like the mean of an arm.

With H = 1 states are contexts, drawn i.i.d., and the path is one of contextual bandits.
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
    """A piecewise constant path: segment i covers rounds start[i] .. start[i+1] - 1.

    Parameters
    ----------
    start
        First rounds of the segments, and T + 1 behind them, [N + 1] int64.
    first
        Chances of an episode's first state, [S].
    reward, move
        Mean rewards, [N, S, A], and chances of the next state, [N, S, A, S].
    H
        Steps of an episode.
    regressors
        Of contextual bandits: the class of reward functions that policies know, [F, S, A]. Without
        it the path is an episodic one, and policies know that episodes begin in state 0.
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
        """Return contextual bandits with reward[n], [contexts, A], from round start[n] on."""
        N, S, A = reward.shape
        move = np.broadcast_to(np.full(S, 1 / S), (N, S, A, S))
        start = np.append(start, T + 1).astype(np.int64)
        return cls(start, first, reward, move, 1, np.ascontiguousarray(regressors))

    @classmethod
    def episodic(
        cls, start: np.ndarray, reward: np.ndarray, move: np.ndarray, H: int, T: int
    ) -> Episodes:
        """Return episodes of H steps from state 0, with reward[n] and move[n] from start[n] on.

        Shapes are [N, S, A] and [N, S, A, S]; those of a constant one lack N.
        """
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
        """S, the number of stationary pieces."""
        same = (self.reward[1:] == self.reward[:-1]).all(axis=(1, 2))
        same &= (self.move[1:] == self.move[:-1]).all(axis=(1, 2, 3))
        return 1 + int(np.count_nonzero(~same))

    @cached_property
    def top(self) -> np.ndarray:
        """The value of the best rule in each segment, by dynamic programming, [N]."""
        return self._value(lambda h, paid: paid.max(axis=2))

    def value(self, rule: np.ndarray) -> np.ndarray:
        """Return the value of `rule` [H, S, A] in each segment, [N]."""
        return self._value(lambda h, paid: (paid * rule[h]).sum(axis=2))

    def _value(self, decided: Callable[[int, np.ndarray], np.ndarray]) -> np.ndarray:
        """Return the value in each segment, [N], by backward induction.

        `decided(h, paid)` turns what the actions of step h pay, from this step on, [N, S, A], into
        what is expected of it, [N, S].
        """
        to_go = np.zeros(self.reward.shape[:2])
        for h in range(self.H - 1, -1, -1):
            to_go = decided(h, self.reward + np.einsum("nsax,nx->nsa", self.move, to_go))
        return to_go @ self.first / self.H

    def variation(self) -> float:
        """Return the sum over t of Delta(t), which bounds the change of any rule's value.

        Contexts: Delta(t) is the mean over contexts of max_a |r_{t+1} - r_t|. It is the total
        variation of the joint law of context and rewards (Chen, Lee, Luo, Wei 2019), the least of
        all laws with these means. For FALCON, Wei and Luo take sqrt(A) max_{x,a} |r_{t+1} - r_t|,
        which is larger.

        Episodes: Delta(t) is the sum over steps of max |r_{t+1} - r_t| / H + max ||p_{t+1} -
        p_t||_1, each over states and actions (Wei and Luo 2021, Section 2.2; Mao et al. 2021); the
        division by H is because a step pays r / H of the reward R of its round. Neither r nor p
        depends on the step, so the sum is max |r_{t+1} - r_t| + H max ||p_{t+1} - p_t||_1. The
        value of a rule changes by no more than this, even with (H - 1) / 4 in place of H. The
        variation in Wei and Luo's proof for Q-UCB is H times as large.
        """
        reward = np.abs(np.diff(self.reward, axis=0)).max(axis=2)
        if self.regressors is not None:
            return float((reward @ self.first).sum())
        move = np.abs(np.diff(self.move, axis=0)).sum(axis=3).max(axis=(1, 2))
        return float(reward.max(axis=1).sum() + self.H * move.sum())

    def checked(self, T: int, V: float) -> Self:
        """Return this path if it is valid; raise ConfeeError otherwise.

        A valid path covers 1..T, its chances sum to 1, its means lie in [0, 1], and its variation
        is at most V.
        """
        if not tiles(self.start, T):
            raise ConfeeError(f"path: segments must cover each of the rounds 1..{T} once")
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
