"""What is fixed before any run about the growth of a policy's worst-case regret."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from confee.core.size import Size
from confee.paper import theory


def _theorem_range(size: Size) -> bool:
    """Whether Theorem 4.1 holds, or V = 0, the stationary row of Table 1."""
    return size.V == 0 or theory.theorem_range(*size)


def _never(size: Size) -> bool:
    return False


@dataclass(frozen=True)
class Growth:
    """What is fixed before any run about a policy's regret curve.

    Parameters
    ----------
    claimed
        The exponents of R/T in its theorem, or their row in `theory.EXPONENTS`; None if nothing is
        claimed.
    k_log_k
        Whether its theorem has (K ln K)^{1/3}, so that ln(K ln K) is the regressor along K.
    blocks
        Blocks of 2^n `slots` (HyQue) or `queries` (MASTER): where T cuts the last block moves the
        regret periodically in ln B. None if the policy plays no blocks.
    in_range
        Whether its theorem holds at a `Size`; the range of Theorem 4.1 if not given.
    distorted
        Whether rounding distorts the policy at a `Size`, so that the cell enters no fit.
    """

    claimed: str | Mapping[str, float] | None = None
    k_log_k: bool = False
    blocks: str | None = None
    in_range: Callable[[Size], bool] = _theorem_range
    distorted: Callable[[Size], bool] = _never
