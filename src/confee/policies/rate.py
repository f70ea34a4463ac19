"""The regret bound of a policy's own theorem."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from confee.core.errors import ConfeeError
from confee.core.size import Size


def _no_factor(size: Size) -> float:
    return 1.0


def _everywhere(size: Size) -> bool:
    return True


@dataclass(frozen=True)
class Rate:
    """An upper bound of order K^k V^v B^b T on worst-case regret, times a logarithmic factor.

    Parameters
    ----------
    K, V, B
        The exponents k, v and b; (1/3, 1/3, -1/3) is the rate of the paper's theorem.
    log
        From a `Size` to the logarithmic factor of the theorem; 1 if not given.
    in_range
        Whether the theorem holds at a `Size`; everywhere if not given.
    positive, negative
        Variable (B, V, K or T) -> the label of a control that must hold, or fail, along it. If not
        given, SW-UCB, which is given V and has the rate of the paper, must hold, and policies that
        are known to miss the rate must fail.
    statement
        The theorem in words, and its source.
    """

    K: float
    V: float
    B: float
    log: Callable[[Size], float] = _no_factor
    in_range: Callable[[Size], bool] = _everywhere
    positive: Mapping[str, str] = field(default_factory=dict)
    negative: Mapping[str, str] = field(default_factory=dict)
    statement: str = ""

    def __post_init__(self) -> None:
        for name in "KVB":
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= 9:
                raise ConfeeError(f"rate.{name}={value}: must be a number in [-9, 9]")
        # A call at one size shows a mistake now, instead of after all cells are played.
        for name, kind in (("log", "a number over 0"), ("in_range", "true or false")):
            try:
                value = getattr(self, name)(Size(2, 10_000, 1_000, 1.0))
            except Exception as error:
                reason = f"{type(error).__name__}: {error}"
                raise ConfeeError(f"rate.{name}: at K=2, T=10000, B=1000, V=1: {reason}") from None
            right = (
                isinstance(value, bool | np.bool_)
                if name == "in_range"
                else (isinstance(value, int | float) and 0 < value < math.inf)
            )
            if not right:
                raise ConfeeError(f"rate.{name}: gives {value!r}; must be {kind}")
        for kind in ("positive", "negative"):
            if unknown := sorted(set(getattr(self, kind)) - set("BVKT")):
                raise ConfeeError(f"rate.{kind}.{unknown[0]}: no such key; must be B, V, K or T")

    @property
    def law(self) -> dict[str, float]:
        """The exponents of R/T by variable; that of T is at fixed B."""
        return {"K": self.K, "V": self.V, "B": self.B, "T": 0.0}

    @property
    def formula(self) -> str:
        """The bound in words, as `K^0.333 V^0.333 T / B^0.333`."""
        parts = [
            f"{name}^{value:.3g}"
            for name, value in zip("KV", (self.K, self.V), strict=True)
            if value
        ]
        budget = f" / B^{-self.B:.3g}" if self.B < 0 else f" B^{self.B:.3g}" if self.B else ""
        return " ".join([*parts, "T"]) + budget
