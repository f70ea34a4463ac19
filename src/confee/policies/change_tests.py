"""What the change tests of MASTER and HyQue share: the error rho, and when to look at test (ii).

Both compare with rho^(t) = 6 (log2 Q + 1) ln(Q / delta) rho(t), see
`confee.paper.theory.rho_hat_factor`.
"""

from __future__ import annotations

import math

from confee.core.jit import leaf


@leaf
def rho(t, K):
    """sqrt(K ln max(t, 2) / t) + K / t: UCB1's average error after t rounds (Lemma on UCB1)."""
    return math.sqrt(K * math.log(max(t, 2)) / t) + K / t


@leaf
def next_look(queries, excess, bound):
    """How many queries there must be before test (ii) can fire, if now their sum is `excess`.

    It fires when the sum of f~ - R reaches a bound of order N rho(N). The bound does not decrease
    and the sum grows by at most 1 a query, so most queries need no look at it.
    """
    return queries + max(1, int(min(bound - excess, 1e15)))
