"""What the change tests of MASTER and HyQue share: the error rho, and when to check test (ii).

Both tests compare with rho^(t) = 6 (log2 Q + 1) ln(Q / delta) rho(t), see
`confee.paper.theory.rho_hat_factor`.
"""

from __future__ import annotations

import math

from confee.core.jit import leaf


@leaf
def rho(t, K):
    """UCB1's average error after t rounds, sqrt(K ln max(t, 2) / t) + K / t (Lemma on UCB1)."""
    return math.sqrt(K * math.log(max(t, 2)) / t) + K / t


@leaf
def next_look(queries, excess, bound):
    """The least number of queries after which test (ii) can fire, if their sum is now `excess`.

    The test fires when the sum of f~ - R reaches `bound`, of order N rho(N). The bound does not
    decrease and the sum grows by at most 1 per query, so most queries need no check.
    """
    return queries + max(1, int(min(bound - excess, 1e15)))
