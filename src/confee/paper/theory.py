"""Rates, constants and ranges of the paper, shared by claims, policies and plots.

Source: Li and Li, *Constrained Feedback Learning for Non-Stationary Multi-Armed Bandits*
(NeurIPS 2025), "the paper". Logarithms are natural unless the name says otherwise. All functions
are pure Python on numbers: K arms, horizon T rounds, budget B queries, variation V.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

LOWER_BOUND_CONSTANT = 1 / (8 * 1920 ** (1 / 3))
"""The constant of the lower bound (appendix, last display), about 0.01006."""

EXPONENTS = {
    "rate": {"K": 1 / 3, "V": 1 / 3, "B": -1 / 3, "T": 0.0},
    "uniform": {"K": 0.0, "V": 0.0, "B": 0.0, "T": 0.0},
    "stationary": {"K": 1 / 2, "V": 0.0, "B": -1 / 2, "T": 0.0},
}
"""Exponents of R/T. `T` is at fixed B: the rate says R/T does not depend on T there. `stationary`
is T sqrt(K / B), the row of Table 1 for V = 0."""

MINIMAL_BUDGET_EXPONENT = 0.8
"""B = omega(T^{3/4}) is read as B >= T^0.8: at T^{3/4} itself the theorem promises nothing."""


def rate(K: float, T: float, B: float, V: float) -> float:
    """K^{1/3} V^{1/3} T / B^{1/3}: the regret rate without constant (Theorem 4.1)."""
    return T * critical_gap(K, B, V)


def critical_gap(K: float, B: float, V: float) -> float:
    """(K V / B)^{1/3}: the gap at which B queries detect a change just before the next one."""
    return (K * V / B) ** (1 / 3)


def still_gap(K: float, B: float) -> float:
    """sqrt(K / B): the smallest gap that B queries detect where nothing changes (V = 0)."""
    return math.sqrt(K / B)


# ------------------------------------------------------------------ lower bound (appendix)


def lower_bound(K: float, T: float, B: float, V: float) -> float:
    """T K^{1/3} V^{1/3} B^{-1/3} / (8 * 1920^{1/3}): no policy has less regret (Theorem 5.1)."""
    return LOWER_BOUND_CONSTANT * rate(K, T, B, V)


def hard_gap(K: float, B: float, V: float) -> float:
    """epsilon of the lower bound's instance, (K V / (1920 B))^{1/3}."""
    return critical_gap(K, B, V) / 1920 ** (1 / 3)


def hard_length(K: float, T: float, B: float, V: float) -> float:
    """Delta of the lower bound's instance, epsilon T / V rounds: not a whole number, as printed."""
    return hard_gap(K, B, V) * T / V


def lower_bound_applies(K: float, T: float, B: float, V: float) -> bool:
    """Whether the proof's choices are possible: epsilon <= 1/4 and 1 <= Delta <= T.

    The printed range V in [1/K, B/K] is too wide at both ends: Delta >= 1 needs
    V <= sqrt(K T^3 / (1920 B)) and Delta <= T needs K <= 1920 V^2 B.
    """
    if V <= 0 or B < K:
        return False
    return hard_gap(K, B, V) <= 0.25 and 1 <= hard_length(K, T, B, V) <= T


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


def rho(t: float, K: float, base: float = math.e) -> float:
    """sqrt(K log max(t, 2) / t) + K / t: UCB1's average error after t rounds (Lemma B.3)."""
    return math.sqrt(K * math.log(max(t, 2)) / math.log(base) / t) + K / t


@dataclass(frozen=True)
class Reading:
    """How rho^ is read: the paper prints `log` and leaves delta open.

    `orders_base` is the base of log T + 1, `base` that of all others; delta None is 1/T.
    """

    delta: float | None = None
    base: float = math.e
    orders_base: float = 2.0


AS_RUN = Reading()


def rho_hat_factor(T: float, reading: Reading = AS_RUN) -> float:
    """6 (log2 T + 1) ln(T / delta): rho^ = this * rho (Section 3.2.2)."""
    delta = 1 / T if reading.delta is None else reading.delta
    orders = math.log(T) / math.log(reading.orders_base) + 1
    return 6 * orders * math.log(T / delta) / math.log(reading.base)


def theorem_range(K: float, T: float, B: float, V: float) -> bool:
    """Where Theorem 4.1 speaks: B >= T^0.8 (see above), V in [1/K, sqrt(B)/K].

    One part in a thousand of slack on B, for budgets rounded to whole queries.
    """
    return B >= 0.999 * T**MINIMAL_BUDGET_EXPONENT and 1 / K <= V <= math.sqrt(B) / K


# ------------------------------------------------------------------ Rexp3B (appendix)


def rexp3b_range(K: int, T: int, B: int, V: float) -> bool:
    """Where Theorem C.1 speaks: V in [1/K, B/K], any B; V = 0 is the stationary row of Table 1."""
    return V == 0 or 1 / K <= V <= B / K


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


# ------------------------------------------------------------------ windows and restarts


def window(K: int, B: int, V: float) -> int:
    """(sqrt(K) B / V)^{2/3} queries in [K, B]: the window that balances noise and drift."""
    if V == 0:
        return B
    return math.floor(min(max((math.sqrt(K) * B / V) ** (2 / 3), K), B))


def restart_period(K: int, B: int, V: float) -> int:
    """Return floor((K ln B)^{1/3} (B / V)^{2/3}), clipped to [K, B]: queries between restarts.

    In a period of Delta queries over which the means vary by V_j, UCB1 loses about
    sqrt(K Delta ln B) to noise and V_j Delta to drift. The sum over B / Delta periods,
    B sqrt(K ln B / Delta) + V Delta, is smallest near this Delta. Each query stands for T / B
    rounds, so the regret is of order T (K V ln B / B)^{1/3}, which is `rate` times (ln B)^{1/3}.
    V = 0 gives B: no restart.
    """
    if V == 0:
        return B
    return math.floor(min(max((K * math.log(B)) ** (1 / 3) * (B / V) ** (2 / 3), K), B))


def linear_window(d: int, B: int, V: float) -> float:
    """(d B / V)^{2/3} queries in [1, B]: the same for linear bandits in R^d, V being theta's
    variation, as published (Cheung, Simchi-Levi, Zhu 2019; Russac, Vernade, Cappe 2019)."""
    if V == 0:
        return float(B)
    return float(min(max((d * B / V) ** (2 / 3), 1), B))
