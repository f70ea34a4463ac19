"""What is fixed beforehand about how a policy's worst-case regret grows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from confee.core.size import Size
from confee.paper import theory


def _theorem_range(size: Size) -> bool:
    """V = 0 is the stationary row of Table 1; else the range of Theorem 4.1."""
    return size.V == 0 or theory.theorem_range(*size)


def _never(size: Size) -> bool:
    return False


@dataclass(frozen=True)
class Growth:
    """What is fixed about a policy's regret curve before any run.

    Parameters
    ----------
    claimed
        The exponents of R/T that its theorem claims, or their row in `theory.EXPONENTS`; None if
        nothing is claimed.
    k_log_k
        Its theorem has (K ln K)^{1/3}, so ln(K ln K) is the regressor along K.
    blocks
        It plays blocks of 2^n `slots` (HyQue) or `queries` (MASTER), so the place of the last cut
        ripples its regret. None if it plays no blocks.
    in_range
        Whether its theorem speaks of a size: of Theorem 4.1's if not given.
    distorted
        Whether rounding distorts it at a size, so that the cell enters no fit.
    """

    claimed: str | Mapping[str, float] | None = None
    k_log_k: bool = False
    blocks: str | None = None
    in_range: Callable[[Size], bool] = _theorem_range
    distorted: Callable[[Size], bool] = _never
