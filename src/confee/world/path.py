"""A path of mean rewards: piecewise linear in time, one best arm in each segment.

`Environment` is what paths of every setting have in common (see also `confee.world.structured` and
`confee.world.mdp`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

from confee.core.errors import ConfeeError

TOLERANCE = 1e-9
"""Relative slack on the variation budget: the cost of V / gap switches is rounded."""


class Environment(Protocol):
    """A path of any setting.

    Attributes
    ----------
    horizon
        T.
    pieces
        S, the number of stationary pieces, which some policies are given.
    adaptive
        Whether the path depends on the plays, see `confee.world.game.adapt`.
    parts
        Whether the regret of idle rounds is split into error and drift.
    playable
        What a kernel may play, in words.
    offers
        Setting -> what a policy of that setting knows of the path.
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
    """Return what a policy of `setting` knows of `path`; raise ConfeeError if it cannot play it."""
    if setting not in path.offers:
        raise ConfeeError(
            f"the policy plays {setting}, the adversary offers {', '.join(path.offers)}; must agree"
        )
    return path.offers[setting]


def tiles(start: np.ndarray, T: int) -> bool:
    """Return whether segments beginning at `start` cover 1..T; its last entry is their end."""
    return bool(start[0] == 1 and start[-1] == T + 1 and (np.diff(start) >= 1).all())


def spent(variation: float, V: float) -> None:
    """Raise ConfeeError if `variation` exceeds the budget V."""
    if variation > V + TOLERANCE * max(1.0, V):
        raise ConfeeError(f"path: its variation {variation:.6g} exceeds the budget V={V:g}")


@dataclass(frozen=True)
class Path:
    """Mean rewards mu_t^k for rounds t = 1..T.

    In segment s, which covers rounds start[s] .. start[s+1] - 1,

        mu_t^k = mean[s, k] + slope[s, k] (t - start[s]).

    Parameters
    ----------
    start
        First rounds of the segments, and T + 1 behind them, [S + 1] int64.
    mean, slope
        [S, K] float64.
    adaptive
        Whether the good arm of a segment is settled during the run, see `confee.world.game.adapt`.
    """

    start: np.ndarray
    mean: np.ndarray
    slope: np.ndarray
    adaptive: bool = False

    @classmethod
    def steps(cls, start: np.ndarray, mean: np.ndarray, T: int) -> Path:
        """Return a piecewise constant path: mean[s] from round start[s] on. Shapes [S], [S, K]."""
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
        return f"arms 0..{arms}, and idle rounds with a weight >= 0 for each arm, not all 0"

    @property
    def last(self) -> np.ndarray:
        """Means in each segment's last round, [S, K]."""
        return self.mean + self.slope * (np.diff(self.start) - 1)[:, None]

    @property
    def best(self) -> np.ndarray:
        """The best arm of each segment, [S], judged in its middle, as arms may tie at an end."""
        return (self.mean + self.last).argmax(axis=1)

    @property
    def pieces(self) -> int:
        """S: the least number of pieces of the horizon such that one arm is best throughout each.

        This is the hardness of the path (Auer et al. 2002): 1 + the number of times a comparator
        that plays the best arm in every round must change it; ties force no change. Where every
        step changes the best arm, it is the number of stationary pieces. Policies that need S
        are given it on drifting paths, too, which have no stationary pieces.
        """
        ends = np.stack([self.mean, self.last])
        top = (ends >= ends.max(axis=2, keepdims=True) - 1e-12).all(axis=0)
        if (top.sum(axis=1) == 1).all():
            return 1 + int(np.count_nonzero(np.diff(top.argmax(axis=1))))
        pieces, throughout = 1, top[0]
        for segment in top[1:]:
            throughout = throughout & segment
            if not throughout.any():
                pieces, throughout = pieces + 1, segment
        return pieces

    def variation(self) -> float:
        """Return the sum over t < T of max_k |mu_{t+1}^k - mu_t^k|, exactly (Section 2)."""
        inside = np.abs(self.slope).max(axis=1) @ (np.diff(self.start) - 1)
        jumps = np.abs(self.mean[1:] - self.last[:-1]).max(axis=1).sum()
        return float(inside + jumps)

    def means(self) -> np.ndarray:
        """Return the means of every round, [T, K]; only for small T."""
        segment = np.repeat(np.arange(len(self.mean)), np.diff(self.start))
        since = np.arange(1, self.horizon + 1) - self.start[segment]
        return self.mean[segment] + self.slope[segment] * since[:, None]

    def checked(self, T: int, V: float) -> Self:
        """Return this path if it is valid; raise ConfeeError otherwise.

        A valid path has horizon T, means in [0, 1], one best arm in each segment and a variation of
        at most V.
        """
        if not tiles(self.start, T):
            raise ConfeeError(f"path: segments must cover each of the rounds 1..{T} once")
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
                    "path: the best arm changes inside a segment; a new segment must start there "
                    "(as lines.through does)"
                )
        spent(self.variation(), V)
        return self
