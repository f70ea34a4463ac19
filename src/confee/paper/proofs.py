"""Numbers of the paper's proofs that claims check: bounds, constants, first horizons.

The notation is that of `theory`: K arms, T rounds, B queries, variation V. Policies import `theory`
and not this module. So after an edit here no cell is played again; the studies of schedules and of
ages are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise

from confee.paper.theory import (
    AS_RUN,
    Reading,
    critical_gap,
    last_block,
    rexp3b_batch,
    rho,
    rho_hat_factor,
    slot_length,
)


def query_rate(K: float, B: float, V: float) -> float:
    """Return K^{1/3} V^{1/3} B^{2/3}: the rate of the regret over query rounds, B / T of `rate`."""
    return B * critical_gap(K, B, V)


def kl_half(gap: float) -> float:
    """Return KL(1/2, 1/2 + gap) of Bernoulli laws in nats, -ln(1 - 4 gap^2) / 2.

    Its series 2 gap^2 + 4 gap^4 + ... has positive coefficients, so KL / gap^2 increases with gap.
    """
    return -math.log1p(-4 * gap * gap) / 2


def counting_lemma_holds(n: int, alpha: Fraction, beta: Fraction) -> bool:
    """Return whether some k always has x_k <= alpha X / n and y_k <= beta Y / n (Appendix E).

    x and y are n >= 1 nonnegative numbers each, with sums of at most X and Y. At most
    ceil(n / alpha) - 1 indices can violate the first inequality and ceil(n / beta) - 1 the second.
    Both counts are attained, so the answer is exact.
    """
    return math.ceil(n / alpha) - 1 + math.ceil(n / beta) - 1 < n


def least_beta(n: int, alpha: Fraction) -> Fraction:
    """Return the smallest beta for which `counting_lemma_holds` at n, for alpha > 1.

    It is n / (n + 1 - ceil(n / alpha)). Its supremum over n is alpha / (alpha - 1), a third of what
    the lemma requires.
    """
    return Fraction(n, n + 1 - math.ceil(n / alpha))


def provable_regret(
    K: float, T: float, B: float, V: float, gap: float, share: float, information: float
) -> float:
    """Return the regret that the lower bound's proof shows at a given gap.

    It is T gap (1 - share - sqrt(information KL(1/2, 1/2 + gap) B Delta / (2 K T))) with
    Delta = gap T / V, the exact KL and the last batch included. Rounding Delta up to whole rounds
    makes the root larger by a factor of at most (1 + 1 / Delta)^{1/2}.

    Parameters
    ----------
    K, T, B, V, gap
        The size, and the lead of the good arm.
    share, information
        Without feedback the good arm gets at most `share` of the plays in a batch. Of the batch's
        B_j queries it gets at most information B_j / K. There are three choices:

        - (alpha / K, beta) by the counting lemma;
        - (1 / K, 1) on average over the good arm;
        - (1 / K + 1 / cap, cap): under the one true law a batch makes more than cap times its mean
          number of queries with probability at most 1 / cap, and these are given away.

        The first two assume that the B_j, which belong to different laws, add up to B.
    """
    known = math.sqrt(information * kl_half(gap) * B * gap / (2 * K * V))
    return T * gap * (1 - share - known)


def provable_constant(share: float, information: float) -> tuple[float, float]:
    """Return (e, regret / rate) at the best gap e (K V / B)^{1/3}, where that gap is small.

    e (1 - share - sqrt(information) e^{3/2}) is largest at e^{3/2} = 2 (1 - share) / (5
    sqrt(information)), where it equals 3/5 (1 - share) e.
    """
    e = (2 * (1 - share) / (5 * math.sqrt(information))) ** (2 / 3)
    return e, 0.6 * (1 - share) * e


def counting_shares(K: int) -> tuple[float, float]:
    """Return the (alpha / K, beta) of the counting lemma with the largest `provable_constant`.

    At K arms the lemma holds for alpha = K / p and beta = K / (K + 1 - p) with any p in 1..K, and
    for no smaller pair.
    """
    pairs = [(1 / p, K / (K + 1 - p)) for p in range(2, K + 1)]
    return max(pairs, key=lambda pair: provable_constant(*pair)[1])


def unconditional_constant(K: float) -> tuple[float, float]:
    """Return (e, regret / rate) of the corrected proof at the best gap and cap.

    The corrected proof takes all means under one law (docs/proofs/lower-bound.md). At the best
    cap, 2^{2/3} / e, the regret over the rate is e (1 - 1/K - 3 e / 2^{2/3}). Its maximum is
    (1 - 1/K)^2 / (3 * 2^{4/3}).
    """
    e = (1 - 1 / K) * 2 ** (2 / 3) / 6
    return e, (1 - 1 / K) * e / 2


def best_cap(K: float, B: float, V: float, gap: float) -> float:
    """Return the cap at which `provable_regret` with (1 / K + 1 / cap, cap) is largest.

    With s = sqrt(KL B gap / (2 K V)), -1 / cap - sqrt(cap) s is largest at cap^{3/2} = 2 / s.
    """
    return (2 / math.sqrt(kl_half(gap) * B * gap / (2 * K * V))) ** (2 / 3)


def unconditional_regret(K: float, T: float, B: float, V: float, gap: float) -> float:
    """Return the `provable_regret` of the corrected proof at a given gap, with the best cap."""
    cap = best_cap(K, B, V, gap)
    return provable_regret(K, T, B, V, gap, 1 / K + 1 / cap, cap)


def best_gap(regret: Callable[[float], float], largest: float = 0.499) -> float:
    """Return the gap in (0, `largest`] that maximises a bound with one maximum (golden section)."""
    low, high = 0.0, largest
    ratio = (math.sqrt(5) - 1) / 2
    for _ in range(80):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, right) if regret(left) > regret(right) else (left, high)
    return (low + high) / 2


UCB1_CONSTANT = 2 * math.sqrt(2)
"""UCB1's bonuses over t rounds sum to at most this constant times sqrt(K t ln t). Those of arm k
sum to at most sum over n <= n_k of sqrt(2 ln t / n) <= 2 sqrt(2 n_k ln t), and the total is
largest if all n_k are equal."""


def pessimism(mean: float, rounds: int, exploration: float = 2.0) -> float:
    """Return P(the chosen index of UCB1 is below the best mean in some round <= `rounds`), exactly.

    Of two arms one is Bernoulli(mean) and the other pays nothing, so the chosen index is below
    `mean` if both indices are. A forward recursion runs over the plays and successes of the first
    arm; the other arm has the remaining plays. Ties go to either arm with probability 1/2.
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


# ------------------------------------------------------------------ change tests (Section 3.2.2)

MEAN_TEST, SPAN_TEST = 3, 9
"""Factors of rho^ in test (ii), on the mean of g~ - R, and in test (i), on an instance's span."""


def change_threshold(
    factor: float, T: float, queries: float, K: float, reading: Reading = AS_RUN
) -> float:
    """Return factor * rho^(queries), the threshold of a change test at scale 1.

    The statistic of a test is at most 1, so a test can fire only if its threshold is below 1.
    """
    return factor * rho_hat_factor(T, reading) * rho(queries, K, reading.base)


def last_block_queries(T: int, B: int) -> float:
    """Return the largest number of queries that HyQue can make in its last block.

    If s is the round before the block, this is the smaller of (T - s) B/T + T/sqrt(B) and of the
    block's rounds. By induction B' >= t B/T - T/sqrt(B) after every round t, because an idle round
    with fewer queries becomes a query.
    """
    before = last_block(T, B)[1] - 1
    return min(T - before, (T - before) * B / T + T / math.sqrt(B))


def largest_order(T: int, B: int) -> int:
    """Return the largest order of an instance that ends by T without restarts; -1 if none does."""
    n, first = last_block(T, B)
    return n if first - 1 + slot_length(T, B) * 2**n <= T else n - 1


def power_budget(T: int, exponent: float) -> int:
    """Return a budget of floor(T^exponent) queries, exactly T for exponent 1."""
    return T if exponent == 1 else math.floor(T**exponent)


def first_horizons(K: int, exponent: float, reading: Reading = AS_RUN) -> dict[str, int]:
    """Return the first T at which each change test could fire with B = T^exponent, at scale 1.

    The conditions are necessary: the threshold of the test is below 1. They are

    - `mean, whole budget`: test (ii), if all B queries were in one block;
    - `mean, last block`: test (ii), with the most queries that HyQue's last block can have;
    - `span`: test (i), for the largest instance that ends by T.

    The result is exact up to the rounding of T^exponent. In a stretch of T with one slot length and
    one last block, the second condition holds from some T on. The stretches are searched in order.
    """

    def possible(factor: float, T: int, queries: float) -> bool:
        return change_threshold(factor, T, queries, K, reading) < 1

    def in_last_block(T: int) -> bool:
        return possible(MEAN_TEST, T, last_block_queries(T, power_budget(T, exponent)))

    whole = _first(1000, FOREVER, lambda T: possible(MEAN_TEST, T, power_budget(T, exponent)))
    T, end = whole, _stretch_end(whole, exponent)
    while not in_last_block(end):
        T, end = end + 1, _stretch_end(end + 1, exponent)
    last = _first(T - 1, end, in_last_block)
    order = 0
    while not possible(SPAN_TEST, span := _first_end(order, exponent), 2**order):
        order += 1
    return {"mean, whole budget": whole, "mean, last block": last, "span": span}


FOREVER = 10**30


def _first_end(order: int, exponent: float) -> int:
    """Return the first T by which an instance of this order ends."""
    return _first(1, FOREVER, lambda T: largest_order(T, power_budget(T, exponent)) >= order)


def _first(low: int, high: int, possible: Callable[[int], bool]) -> int:
    """Return the first T in (`low`, `high`] that is `possible`, if all later ones are possible."""
    while high - low > 1:
        middle = math.isqrt(low * high) if high > 2 * low else (low + high) // 2
        low, high = (low, middle) if possible(middle) else (middle, high)
    return high


def _stretch_end(T: int, exponent: float) -> int:
    """Return the last horizon with the slot length and the last block's order of horizon T."""
    B = power_budget(T, exponent)
    b = slot_length(T, B)
    end = b * (2 ** (last_block(T, B)[0] + 1) - 1)
    if exponent < 1:
        end = min(end, math.floor((b / 2) ** (1 / (1 - exponent))))
    return max(T, end)


# ------------------------------------------------------------------ BaQue's schedule (Algorithm 1)


def start_rate(n: int, m: int) -> float:
    """Return 2^{(m-n)/2}: the chance that a place of order m in a block of order n starts."""
    return 2.0 ** ((m - n) / 2)


def active_share(n: int, m: int) -> float:
    """Return the expected share of a block's slots whose finest started instance has order m.

    With j = n - m it is 2^{-j/2} prod_{i=j+1}^{n} (1 - 2^{-i/2}), because orders below n start
    independently and order n always starts. At j = 0 it tends to 0.0375 as n grows: at any T, this
    share of the rounds belongs to the one instance that queried when the block began.
    """
    finer = math.prod(1 - start_rate(n, i) for i in range(m))
    return start_rate(n, m) * finer


def run_length(T: float, B: float, alpha: float = 0.5) -> float:
    """Return T B^{-alpha}: the longest idle streak that Lemma 4.4 (alpha = 1/2) allows."""
    return T * B**-alpha


def run_exponent(T: float, B: float, alpha: float = 0.5) -> float:
    """Return x = B^{1-alpha/2} / sqrt(T), the exponent of the paper's bound on long streaks.

    The paper bounds the chance of a streak over `run_length` by exp(-C x). Lemma 4.4 has
    alpha = 1/2 and x = B^{3/4} / sqrt(T); other alpha are those of Remark B.2.
    """
    return B ** (1 - alpha / 2) / math.sqrt(T)


PROOF_CONSTANTS = (0.5, 1 + math.sqrt(0.5))
"""Range of C = C_1 / 2 in the proof of Lemma 4.4, where C_1 lies between 1 and 2 + sqrt(2)."""


def proof_order(T: float, B: float) -> int:
    """Return M = floor(log2(T / sqrt(B))), the order in the proof's start rate 2^{(m-M)/2}."""
    return max(math.floor(math.log2(run_length(T, B))), 0)


def proof_rate(M: int, m: int) -> float:
    """Return min{1, 2^{(m-M)/2}}, which the proof uses in place of `start_rate` in every block."""
    return min(1.0, start_rate(M, m))


def densest_phase(n: int, b: int) -> float:
    """Return the density of a phase that is cut after 2^n queries in a row of block n.

    It is (2^{n+1} - 1) / (b (2^n - 1) + 2^n), the largest density possible, and is at least 2/b
    exactly if b >= 2^{n+1}. A complete block has density 1/b.
    """
    return (2 ** (n + 1) - 1) / (b * (2**n - 1) + 2**n)


def outdated_share(n: int, changes: Sequence[float]) -> float:
    """Return the expected share of rounds whose active instance began before the latest change.

    The best arm changes at the increasing fractions f_1, f_2, ... (`changes`) of the block. Place i
    of order n - j is [i, i+1) 2^{-j}. The share is

        sum_j active_share(n, n-j) sum_k [min(f_{k+1}, end of the place that f_k cuts) - f_k],

    which is exact if the f_k are multiples of 2^{-n}. It is an upper bound on the share of stale
    rounds (see the study of ages), because all other rounds use data from after the change. It
    depends on T and B only through n.
    """
    total = 0.0
    for j in range(n + 1):
        for f, then in pairwise([*changes, 1.0]):
            if f * 2**j % 1.0 > 0:
                end = math.ceil(f * 2**j) / 2**j
                total += active_share(n, n - j) * (min(then, end) - f)
    return total


def rexp3b_bound(K: int, T: int, B: int, V: float) -> float:
    """Return Rexp3B's regret bound before its last simplification (step 3 of the proof).

    It is (T / D_T + 1) 2 sqrt((e - 1) D_B K ln K) + 2 D_B V + 6 V D_T
    + 2 T sqrt((e - 1) K ln K / D_B), where D_T is the length of a batch and D_B the number of its
    queries, as `rexp3b_batch` rounds them.
    """
    length, queries = rexp3b_batch(K, T, B, V)
    spread = (math.e - 1) * K * math.log(K)
    exploring = (T / length + 1) * 2 * math.sqrt(spread * queries) + 2 * queries * V
    return exploring + 6 * V * length + 2 * T * math.sqrt(spread / queries)
