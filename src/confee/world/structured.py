"""Arms whose means a vector theta_t explains: linear bandits, and generalised linear ones.

Arm k has features x_k in R^d, known to the policy, and mean

    linear      <x_k, theta_t>
    logistic    1 / (1 + exp(-<x_k, theta_t>)).

To the game these are arms like others: it accounts their means. Variation is that of theta, sum
over t of ||theta_{t+1} - theta_t||_2 (Cheung, Simchi-Levi, Zhu 2019; Russac, Vernade, Cappe 2019),
as ||x_k|| <= 1 at least what any mean moves, in the logistic model four times that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np

from confee.core.errors import ConfeeError
from confee.world.path import Path, spent


def sigmoid(z: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-z))


LINKS = {"linear": lambda z: z, "logistic": sigmoid}


@dataclass(frozen=True)
class Structured(Path):
    """A path of theta_t; `link` is the setting. Shapes: features [K, d]; theta and end [S, d].

    theta[s] is the vector of a segment's first round and end[s] that of its last; in between it
    moves evenly, in the linear model alone: elsewhere means would bend.
    """

    _: KW_ONLY
    features: np.ndarray
    theta: np.ndarray
    end: np.ndarray
    link: str = "linear"

    @classmethod
    def of(
        cls,
        start: np.ndarray,
        theta: np.ndarray,
        features: np.ndarray,
        T: int,
        link: str = "linear",
        end: np.ndarray | None = None,
    ) -> Structured:
        """theta[s] from round start[s] on, to end[s] in the last one if that is given."""
        start = np.append(start, T + 1).astype(np.int64)
        end = theta if end is None else end
        mean = LINKS[link](theta @ features.T)
        steps = np.maximum(np.diff(start) - 1, 1)[:, None]
        slope = (LINKS[link](end @ features.T) - mean) / steps
        return cls(start, mean, slope, features=features, theta=theta, end=end, link=link)

    @property
    def offers(self) -> Mapping[str, Any]:
        return {"arms": len(self.features), self.link: np.ascontiguousarray(self.features)}

    def variation(self) -> float:
        """sum over t of ||theta_{t+1} - theta_t||_2, exactly."""
        inside = np.linalg.norm(self.end - self.theta, axis=1).sum()
        jumps = np.linalg.norm(self.theta[1:] - self.end[:-1], axis=1).sum()
        return float(inside + jumps)

    def checked(self, T: int, V: float) -> Self:
        """As a path of arms, of which its means are one; and features are no longer than 1, means
        those of theta."""
        super().checked(T, np.inf)
        if (np.linalg.norm(self.features, axis=1) > 1 + 1e-12).any():
            raise ConfeeError("path: features must have length 1 at most")
        moving = (self.end != self.theta).any(axis=1)
        if self.link != "linear" and moving.any():
            raise ConfeeError(f"path: theta must stand still in the segments of a {self.link} one")
        if moving[np.diff(self.start) == 1].any():
            raise ConfeeError("path: theta must stand still in a segment of one round")
        for means, theta in ((self.mean, self.theta), (self.last, self.end)):
            if not np.allclose(means, LINKS[self.link](theta @ self.features.T), rtol=0, atol=1e-9):
                raise ConfeeError("path: means must be those of theta")
        spent(self.variation(), V)
        return self


def directions(count: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """`count` directions in R^d, uniform, [count, d]."""
    drawn = rng.standard_normal((count, d))
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def affordable(states: np.ndarray, V: float) -> int:
    """How many of the vectors `states` [m, d] can follow each other with a variation of V."""
    steps = np.linalg.norm(np.diff(states, axis=0), axis=1)
    return 1 + int(np.count_nonzero(np.cumsum(steps) <= V * (1 + 1e-12)))
