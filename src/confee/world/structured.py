"""Arms whose means depend on a vector theta_t: linear and generalised linear bandits.

Arm k has features x_k in R^d, known to the policy, and mean

    linear      <x_k, theta_t>
    logistic    1 / (1 + exp(-<x_k, theta_t>)).

The game treats them like any other arms. Their variation is that of theta, the sum over t of
||theta_{t+1} - theta_t||_2 (Cheung, Simchi-Levi, Zhu 2019; Russac, Vernade, Cappe 2019). As
||x_k|| <= 1, no mean moves by more, and in the logistic model by no more than a quarter of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np

from confee.core.errors import ConfeeError
from confee.world.path import Path, spent


def sigmoid(z: np.ndarray) -> np.ndarray:
    """Return 1 / (1 + exp(-z))."""
    return 1 / (1 + np.exp(-z))


LINKS = {"linear": lambda z: z, "logistic": sigmoid}


@dataclass(frozen=True)
class Structured(Path):
    """A path of theta_t.

    Parameters
    ----------
    features
        x_k, [K, d], of norm at most 1.
    theta, end
        The vector in the first and in the last round of each segment, [S, d]. Between them it moves
        evenly. They may differ in the linear model only, as means would not be linear in others.
    link
        The setting: `linear` or `logistic`.
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
        """Return the path with theta[s] from round start[s] on, which moves to end[s] if given."""
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
        """Return the sum over t of ||theta_{t+1} - theta_t||_2, exactly."""
        inside = np.linalg.norm(self.end - self.theta, axis=1).sum()
        jumps = np.linalg.norm(self.theta[1:] - self.end[:-1], axis=1).sum()
        return float(inside + jumps)

    def checked(self, T: int, V: float) -> Self:
        """Return this path if it is valid as `Path.checked` defines it, for the variation of theta.

        Features must have norm at most 1 and means must be those of theta. Raises ConfeeError
        otherwise.
        """
        super().checked(T, np.inf)
        if (np.linalg.norm(self.features, axis=1) > 1 + 1e-12).any():
            raise ConfeeError("path: features must have norm at most 1")
        moving = (self.end != self.theta).any(axis=1)
        if self.link != "linear" and moving.any():
            raise ConfeeError(f"path: theta must be constant in each segment of a {self.link} path")
        if moving[np.diff(self.start) == 1].any():
            raise ConfeeError("path: theta must be constant in a segment of one round")
        for means, theta in ((self.mean, self.theta), (self.last, self.end)):
            if not np.allclose(means, LINKS[self.link](theta @ self.features.T), rtol=0, atol=1e-9):
                raise ConfeeError("path: means must be those of theta")
        spent(self.variation(), V)
        return self


def directions(count: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Return `count` uniform directions in R^d, [count, d]."""
    drawn = rng.standard_normal((count, d))
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def affordable(states: np.ndarray, V: float) -> int:
    """Return how many of the vectors `states` [m, d], in order, a variation of V pays for."""
    steps = np.linalg.norm(np.diff(states, axis=0), axis=1)
    return 1 + int(np.count_nonzero(np.cumsum(steps) <= V * (1 + 1e-12)))
