"""Query plans: when a policy without a plan of its own looks."""

from __future__ import annotations

from confee.jit import njit


@njit
def paced(i, T, B):
    """The round of query i = 0..B-1: floor(i T / B) + 1, in whole numbers that can't overflow."""
    return i * (T // B) + i * (T % B) // B + 1
