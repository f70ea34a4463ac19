"""Rates, constants and ranges of the paper: the one place that claims, policies and plots share.

Source: Li and Li, *Constrained Feedback Learning for Non-Stationary Multi-Armed Bandits*
(NeurIPS 2025), "the paper". Logarithms are natural unless the name says otherwise. All functions
are pure Python on numbers: K arms, horizon T rounds, budget B queries, variation V.
"""

from __future__ import annotations

import math

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


UCB1_CONSTANT = 2 * math.sqrt(2)
"""UCB1's bonuses over t rounds sum to at most this times sqrt(K t ln t): all plays of arm k cost
sum over n <= n_k of sqrt(2 ln t / n) <= 2 sqrt(2 n_k ln t), and equal n_k cost most."""


def pessimism(mean: float, rounds: int, exploration: float = 2.0) -> float:
    """P(UCB1's index is below the best mean at some round <= `rounds`), exactly.

    Two arms: one is Bernoulli(mean), the other pays nothing; the index chosen is then below `mean`
    when both are. Forward recursion over (plays, successes) of the first arm; the other has the
    remaining plays. Ties go to either arm with chance 1/2.
    """
    alive = {(1, 0): 1 - mean, (1, 1): mean}  # after a play of each
    broken = 0.0
    for tau in range(2, rounds):
        after: dict[tuple[int, int], float] = {}
        root = math.sqrt(exploration * math.log(tau))
        for (plays, wins), chance in alive.items():
            first = wins / plays + root / math.sqrt(plays)
            second = root / math.sqrt(tau - plays)
            if max(first, second) < mean:
                broken += chance
                continue
            choice = 0.5 if first == second else float(first > second)
            for key, weight in (
                ((plays + 1, wins + 1), choice * mean),
                ((plays + 1, wins), choice * (1 - mean)),
                ((plays, wins), 1 - choice),
            ):
                if weight:
                    after[key] = after.get(key, 0.0) + chance * weight
        alive = after
    return broken


def rho_hat_factor(T: float) -> float:
    """6 (log2 T + 1) ln(T / delta) with delta = 1/T: rho^ = this * rho (Section 3.2.2)."""
    return 6 * (math.log2(T) + 1) * math.log(T * T)


def theorem_range(K: float, T: float, B: float, V: float) -> bool:
    """Where Theorem 4.1 speaks: B >= T^0.8 (see above), V in [1/K, sqrt(B)/K].

    One part in a thousand of slack on B, for budgets rounded to whole queries.
    """
    return B >= 0.999 * T**MINIMAL_BUDGET_EXPONENT and 1 / K <= V <= math.sqrt(B) / K


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
