"""The size of a problem."""

from __future__ import annotations

from typing import NamedTuple


class Size(NamedTuple):
    """K arms, T rounds, B queries, and means that drift by at most V in total.

    In settings other than `arms`, K is the number of actions.
    """

    K: int
    T: int
    B: int
    V: float

    def __str__(self) -> str:
        return f"K={self.K}, T={self.T}, B={self.B}, V={self.V:g}"
