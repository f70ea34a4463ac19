"""The rate of the paper, as prior-free policies declare it."""

from __future__ import annotations

import math

from confee.policies.rate import Rate


def paper_rate(statement: str) -> Rate:
    """Return the rate (K V / B)^{1/3} T up to sqrt(ln B), as HyQue's is judged at these horizons.

    `statement` says what is proved of the policy. A theorem with more logarithms is not refuted
    where this rate fails.
    """
    return Rate(
        K=1 / 3, V=1 / 3, B=-1 / 3, log=lambda size: math.log(size.B) ** 0.5, statement=statement
    )
