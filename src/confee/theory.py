"""Rates, constants and ranges of the paper: the one place that claims, policies and plots share.

Source: Li and Li, *Constrained Feedback Learning for Non-Stationary Multi-Armed Bandits*
(NeurIPS 2025), "the paper". Logarithms are natural unless the name says otherwise. All functions
are pure Python on numbers: K arms, horizon T rounds, budget B queries, variation V.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

LOWER_BOUND_CONSTANT = 1 / (8 * 1920 ** (1 / 3))
"""The constant of the lower bound (appendix, last display), about 0.01006."""

EXPONENTS = {
    "rate": {"K": 1 / 3, "V": 1 / 3, "B": -1 / 3, "T": 0.0},
    "uniform": {"K": 0.0, "V": 0.0, "B": 0.0, "T": 0.0},
}
"""Exponents of R/T. `T` is at fixed B: the rate says R/T does not depend on T there."""

MINIMAL_BUDGET_EXPONENT = 0.8
"""B = omega(T^{3/4}) is read as B >= T^0.8: at T^{3/4} itself the theorem promises nothing."""


def rate(K: float, T: float, B: float, V: float) -> float:
    """K^{1/3} V^{1/3} T / B^{1/3}: the regret rate without constant (Theorem 4.1)."""
    return T * critical_gap(K, B, V)


def critical_gap(K: float, B: float, V: float) -> float:
    """(K V / B)^{1/3}: the gap at which a change is seen just before the next one comes."""
    return (K * V / B) ** (1 / 3)


# ------------------------------------------------------------------ lower bound (appendix)


def lower_bound(K: float, T: float, B: float, V: float) -> float:
    """T K^{1/3} V^{1/3} B^{-1/3} / (8 * 1920^{1/3}), rounds of regret no policy can beat."""
    return LOWER_BOUND_CONSTANT * rate(K, T, B, V)


def hard_gap(K: float, B: float, V: float) -> float:
    """epsilon of the lower bound's instance, (K V / (1920 B))^{1/3}."""
    return critical_gap(K, B, V) / 1920 ** (1 / 3)


def lower_bound_applies(K: float, T: float, B: float, V: float) -> bool:
    """Whether the proof's choices are possible: epsilon <= 1/4 and 1 <= Delta <= T.

    The printed range V in [1/K, B/K] is too wide at both ends: Delta >= 1 needs
    V <= sqrt(K T^3 / (1920 B)) and Delta <= T needs K <= 1920 V^2 B.
    """
    if V <= 0 or B < K:
        return False
    gap = hard_gap(K, B, V)
    delta = gap * T / V
    return gap <= 0.25 and 1 <= delta <= T


def uniform_on_hard(K: float) -> float:
    """8 (1 - 1/K): regret of uniform play on the hard instance over the lower bound."""
    return 8 * (1 - 1 / K)


# ------------------------------------------------------------------ HyQue (Algorithms 1, 2)


def slot_length(T: int, B: int) -> int:
    """b = ceil(2T/B), rounds in one slot of a block (Algorithm 1)."""
    return -(-2 * T // B)


def last_block(T: int, B: int) -> tuple[int, int]:
    """(order, first round) of HyQue's last block when nothing restarts it.

    Block n starts at round b (2^n - 1) + 1.
    """
    b = slot_length(T, B)
    n = 0
    while b * (2 ** (n + 1) - 1) < T:
        n += 1
    return n, b * (2**n - 1) + 1


def rho(t: float, K: float) -> float:
    """sqrt(K ln max(t, 2) / t) + K / t: UCB1's average error after t rounds (Lemma B.1)."""
    return math.sqrt(K * math.log(max(t, 2)) / t) + K / t


def rho_hat_factor(T: float) -> float:
    """6 (log2 T + 1) ln(T / delta) with delta = 1/T: rho^ = this * rho (Section 3.2.2)."""
    return 6 * (math.log2(T) + 1) * math.log(T * T)


def theorem_range(K: float, T: float, B: float, V: float) -> bool:
    """Where Theorem 4.1 speaks: B >= T^0.8 (see above), V in [1/K, sqrt(B)/K].

    One part in a thousand of slack on B, for budgets rounded to whole queries.
    """
    return B >= 0.999 * T**MINIMAL_BUDGET_EXPONENT and 1 / K <= V <= math.sqrt(B) / K


# ------------------------------------------------------------------ BaQue's schedule (Algorithm 1)


def start_rate(n: int, m: int) -> float:
    """2^{(m-n)/2}: chance that a place of order m in a block of order n starts (line 4)."""
    return 2.0 ** ((m - n) / 2)


def active_share(n: int, m: int) -> float:
    """Expected share of a block's slots whose finest started instance has order m.

    With j = n - m: 2^{-j/2} prod_{i=j+1}^{n} (1 - 2^{-i/2}), as the orders start independently and
    order n always. At j = 0 it tends to 0.0375: that share of all rounds belongs to the one
    instance that queried when the block began, whatever T.
    """
    finer = math.prod(1 - start_rate(n, i) for i in range(m))
    return start_rate(n, m) * finer


def run_length(T: float, B: float, alpha: float = 0.5) -> float:
    """T B^{-alpha}: rounds that a run is not to pass (alpha = 1/2: lemma on non-query rounds)."""
    return T * B**-alpha


def run_exponent(T: float, B: float, alpha: float = 0.5) -> float:
    """x = B^{1-alpha/2} / sqrt(T): a longer run is to have probability at most exp(-C x).

    alpha = 1/2, x = B^{3/4} / sqrt(T): the lemma; other alpha: the remark after its proof.
    """
    return B ** (1 - alpha / 2) / math.sqrt(T)


PROOF_CONSTANTS = (0.5, 1 + math.sqrt(0.5))
"""C = C_1 / 2 in the proof of the lemma on non-query rounds, C_1 from 1 to 2 + sqrt(2)."""


def proof_order(T: float, B: float) -> int:
    """M = floor(log2(T / sqrt(B))): the proof's start rate is 2^{(m-M)/2}, whatever the block."""
    return max(math.floor(math.log2(run_length(T, B))), 0)


def proof_rate(M: int, m: int) -> float:
    """min{1, 2^{(m-M)/2}}: what the proof puts in place of `start_rate`."""
    return min(1.0, start_rate(M, m))


def idle_run_bound(
    n: int, b: int, rounds: int, length: float, rate: Callable[[int], float]
) -> float:
    """Upper bound of P(more than `length` idle rounds in a row) in a block; union over places.

    Such a run covers the first rounds of w = floor(R / b) slots, R = floor(length) + 1, and an
    instance that starts there would query. So P <= (slots - w) prod_m (1 - rate(m))^{floor(w/2^m)}.
    """
    w = (math.floor(length) + 1) // b
    counts = [(m, w >> m) for m in range(n)]
    return _union(-(-rounds // b) - w, counts, rate)


def query_run_bound(
    n: int, b: int, rounds: int, length: float, rate: Callable[[int], float]
) -> float:
    """Upper bound of P(more than `length` query rounds in a row) in a block; union over places.

    Such a run covers w = floor((R + 1) / b) - 1 whole slots, R = floor(length) + 1, and no whole
    span of a started instance (which has idle rounds), of which there are floor((w+1)/2^m) - 1 or
    more places of order m. A start as such ends no query run.
    """
    w = max((math.floor(length) + 2) // b - 1, 0)
    if length >= rounds:
        return 0.0
    counts = [(m, max(((w + 1) >> m) - 1, 0)) for m in range(n + 1)]
    return _union(-(-rounds // b) - w + 1, counts, lambda m: 1.0 if m == n else rate(m))


def _union(places: int, counts: list[tuple[int, int]], rate: Callable[[int], float]) -> float:
    """min{1, places * prod (1 - rate(m))^count}."""
    if places <= 0:
        return 0.0
    if any(count and rate(m) >= 1 for m, count in counts):
        return 0.0
    log = math.log(places) + sum(count * math.log1p(-rate(m)) for m, count in counts if count)
    return math.exp(min(log, 0.0))


def densest_phase(n: int, b: int) -> float:
    """(2^{n+1} - 1) / (b (2^n - 1) + 2^n): density of a phase cut after 2^n queries of block n.

    The most there can be, and 2/b or more exactly when b >= 2^{n+1}. Complete blocks have 1/b.
    """
    return (2 ** (n + 1) - 1) / (b * (2**n - 1) + 2**n)


def outdated_share(n: int, changes: Sequence[float]) -> float:
    """Expected share of a block's rounds whose active instance began before the latest change.

    The best arm changes at the increasing fractions `changes` of the block, f_1, f_2, ...; place i
    of order n - j is [i, i+1) 2^{-j}. Exact at multiples of 2^{-n}:

        sum_j active_share(n, n-j) sum_k [min(f_{k+1}, end of the place that f_k cuts) - f_k].

    No more than this can be stale (see the study of ages): the others have only queried since. It
    depends on neither T nor B, but for n.
    """
    total = 0.0
    for j in range(n + 1):
        for f, then in pairwise([*changes, 1.0]):
            if f * 2**j % 1.0 > 0:
                end = math.ceil(f * 2**j) / 2**j
                total += active_share(n, n - j) * (min(then, end) - f)
    return total


# ------------------------------------------------------------------ Rexp3B (appendix)


def rexp3b_batch(K: int, T: int, B: int, V: float) -> tuple[int, int]:
    """(Delta_T, Delta_B): batch length and its queries (Algorithm 3).

    Delta_T = floor(T (K ln K)^{1/3} / (B^{1/3} V^{2/3})) in [1, T]; Delta_B = max(1, floor(Delta_T
    B / T)) <= Delta_T. V = 0 gives one batch.
    """
    if V == 0:
        length = T
    else:
        ideal = T * (K * math.log(K)) ** (1 / 3) / (B ** (1 / 3) * V ** (2 / 3))
        length = int(min(max(math.floor(ideal), 1), T))
    queries = max(1, length * B // T)
    return length, min(queries, length)


def exp3_rate(K: int, rounds: int) -> float:
    """gamma = min{1, sqrt(K ln K / ((e - 1) rounds))}: Exp3's exploration (Algorithm 3)."""
    return min(1.0, math.sqrt(K * math.log(K) / ((math.e - 1) * rounds)))


# ------------------------------------------------------------------ sliding window


def window(K: int, B: int, V: float) -> int:
    """(sqrt(K) B / V)^{2/3} queries in [K, B]: the window that balances noise and drift."""
    if V == 0:
        return B
    return math.floor(min(max((math.sqrt(K) * B / V) ** (2 / 3), K), B))
