"""A path of mean rewards: piecewise linear in time, one best arm in each segment.

And what every kind of path can say, those of other settings too (`confee.world.structured`,
`confee.world.mdp`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

from confee.core.errors import ConfeeError

TOLERANCE = 1e-9
"""Slack on the variation budget, relative: V / gap switches are rounded in floating point."""


class Environment(Protocol):
    """A path of any setting.

    `offers`: setting -> what a policy of that setting knows of it. `parts`: whether the regret of
    idle rounds is cut into error and drift. `playable`: what a kernel may play, in words.
    """

    @property
    def horizon(self) -> int: ...
    @property
    def pieces(self) -> int: ...
    @property
    def adaptive(self) -> bool: ...
    @property
    def parts(self) -> bool: ...
    @property
    def playable(self) -> str: ...
    @property
    def offers(self) -> Mapping[str, Any]: ...
    def variation(self) -> float: ...
    def checked(self, T: int, V: float) -> Self: ...


def known(path: Environment, setting: str) -> Any:
    """What a policy of `setting` knows of `path`. Raises ConfeeError if it can't play it."""
    if setting not in path.offers:
        raise ConfeeError(
            f"the policy plays {setting}, the adversary offers {', '.join(path.offers)}; must agree"
        )
    return path.offers[setting]


def tiles(start: np.ndarray, T: int) -> bool:
    """Whether segments that begin at `start`, the last entry their end, are the rounds 1..T."""
    return bool(start[0] == 1 and start[-1] == T + 1 and (np.diff(start) >= 1).all())


def spent(variation: float, V: float) -> None:
    """Raises ConfeeError if `variation` is over the budget V."""
    if variation > V + TOLERANCE * max(1.0, V):
        raise ConfeeError(f"path: its variation {variation:.6g} is over the budget V={V:g}")


@dataclass(frozen=True)
class Path:
    """Mean rewards mu_t^k for rounds t = 1..T.

    Segment s covers rounds start[s] .. start[s+1] - 1 and has mu_t^k = mean[s, k] +
    slope[s, k] (t - start[s]). `start` has one entry more than there are segments: T + 1.
    Shapes: start [S + 1] int64, mean and slope [S, K] float64. `adaptive`: which arm is the good
    one is settled only while it is played, see `confee.world.game.adapt`.
    """

    start: np.ndarray
    mean: np.ndarray
    slope: np.ndarray
    adaptive: bool = False

    @classmethod
    def steps(cls, start: np.ndarray, mean: np.ndarray, T: int) -> Path:
        """A piecewise constant path: `mean[s]` from round start[s] on. Shapes [S], [S, K]."""
        start = np.append(start, T + 1).astype(np.int64)
        mean = np.ascontiguousarray(mean, dtype=np.float64)
        return cls(start, mean, np.zeros_like(mean))

    @property
    def horizon(self) -> int:
        return int(self.start[-1]) - 1

    @property
    def parts(self) -> bool:
        return True

    @property
    def offers(self) -> Mapping[str, Any]:
        return {"arms": self.mean.shape[1]}

    @property
    def playable(self) -> str:
        arms = self.mean.shape[1] - 1
        return f"arms 0..{arms}, idle rounds with as many chances >= 0, not all 0"

    @property
    def last(self) -> np.ndarray:
        """Means in each segment's last round, [S, K]."""
        return self.mean + self.slope * (np.diff(self.start) - 1)[:, None]

    @property
    def best(self) -> np.ndarray:
        """The best arm of each segment, [S]: judged in its middle, as ends may tie."""
        return (self.mean + self.last).argmax(axis=1)

    @property
    def pieces(self) -> int:
        """S: into how few pieces the rounds can be cut so that one arm is best all through each.

        The hardness of the path (Auer et al. 2002): 1 + how often a comparator with the best arm in
        every round must change it, ties being no reason. On a path of steps that trade the best
        arm, the number of its stationary pieces. Where means drift there is no such number, and
        this is what a policy that asks for one is told.
        """
        ends = np.stack([self.mean, self.last])
        top = (ends >= ends.max(axis=2, keepdims=True) - 1e-12).all(axis=0)
        if (top.sum(axis=1) == 1).all():
            return 1 + int(np.count_nonzero(np.diff(top.argmax(axis=1))))
        pieces, still = 1, top[0]
        for here in top[1:]:
            still = still & here
            if not still.any():
                pieces, still = pieces + 1, here
        return pieces

    def variation(self) -> float:
        """sum over t < T of max_k |mu_{t+1}^k - mu_t^k|, exactly (Section 2)."""
        inside = np.abs(self.slope).max(axis=1) @ (np.diff(self.start) - 1)
        jumps = np.abs(self.mean[1:] - self.last[:-1]).max(axis=1).sum()
        return float(inside + jumps)

    def means(self) -> np.ndarray:
        """Every round's means, [T, K]: for small T."""
        segment = np.repeat(np.arange(len(self.mean)), np.diff(self.start))
        since = np.arange(1, self.horizon + 1) - self.start[segment]
        return self.mean[segment] + self.slope[segment] * since[:, None]

    def checked(self, T: int, V: float) -> Self:
        """This path, if it is one for horizon T, has means in [0, 1], one best arm in each segment
        and spends at most V. Raises ConfeeError otherwise."""
        if not tiles(self.start, T):
            raise ConfeeError(f"path: its segments do not tile the rounds 1..{T}")
        last = self.last
        if (
            min(self.mean.min(), last.min()) < -1e-12
            or max(self.mean.max(), last.max()) > 1 + 1e-12
        ):
            raise ConfeeError("path: a mean reward lies outside [0, 1]")
        rows = np.arange(len(self.mean))
        for ends in (self.mean, last):
            if (ends[rows, self.best] < ends.max(axis=1) - 1e-12).any():
                raise ConfeeError(
                    "path: the best arm changes inside a segment; must start another one there "
                    "(lines.through does)"
                )
        spent(self.variation(), V)
        return self
