"""Query plans: when a policy without a plan of its own looks."""

from __future__ import annotations

from confee.jit import njit


@njit
def paced(t, carry, T, B):
    """(round, carry) of the query after the one in round t of an even plan.

    Query i = 0..B-1 is in round floor(i T / B) + 1. Start with t = 1, carry = 0; `carry` is the
    remainder of i T / B, so nothing overflows and nothing is divided in the loop.
    """
    t += T // B
    carry += T % B
    if carry >= B:
        carry -= B
        t += 1
    return t, carry
