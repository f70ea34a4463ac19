"""The paper's proofs in numbers: bounds, constants and first horizons that claims check.

Sources and notation are those of `theory`. Policies import `theory` and not this module, so an edit
here makes no cell be played again.
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
    """K^{1/3} V^{1/3} B^{2/3}: the rate of the regret over query rounds, B / T of `rate`."""
    return B * critical_gap(K, B, V)


def kl_half(gap: float) -> float:
    """KL(1/2, 1/2 + gap) of Bernoulli laws, in nats: -ln(1 - 4 gap^2) / 2.

    A series in gap^2 with positive coefficients, 2 gap^2 + 4 gap^4 + ...: over gap^2 it increases.
    """
    return -math.log1p(-4 * gap * gap) / 2


def counting_lemma_holds(n: int, alpha: Fraction, beta: Fraction) -> bool:
    """Whether some k always has x_k <= alpha X / n and y_k <= beta Y / n (lemma in the appendix).

    x, y >= 0 are n numbers with sums of at most X and Y. At most ceil(n / alpha) - 1 indices can
    break the first and ceil(n / beta) - 1 the second, and so many can: exact, for n >= 1.
    """
    return math.ceil(n / alpha) - 1 + math.ceil(n / beta) - 1 < n


def least_beta(n: int, alpha: Fraction) -> Fraction:
    """The least beta for which that lemma holds at n: n / (n + 1 - ceil(n / alpha)), alpha > 1.

    Its supremum over n is alpha / (alpha - 1), a third of what the lemma asks for.
    """
    return Fraction(n, n + 1 - math.ceil(n / alpha))


def provable_regret(
    K: float, T: float, B: float, V: float, gap: float, share: float, information: float
) -> float:
    """T gap (1 - share - sqrt(information KL(1/2, 1/2 + gap) B Delta / (2 K T))), Delta = gap T/V.

    What the lower bound's proof shows at a given gap with the exact KL and the last batch kept.
    The good arm gets at most `share` of a batch without feedback, and at most information B_j / K
    of its B_j queries: (alpha / K, beta) by the counting lemma, (1 / K, 1) on average over the
    good arm. Both grant that the B_j, taken under different laws, add up to B. Not granting it,
    queries past `cap` times the batch's mean under the one true law, which are made with
    probability at most 1 / cap, are given away: (1 / K + 1 / cap, cap). A Delta rounded up to whole
    rounds makes the root larger by (1 + 1 / Delta)^{1/2} at most.
    """
    known = math.sqrt(information * kl_half(gap) * B * gap / (2 * K * V))
    return T * gap * (1 - share - known)


def provable_constant(share: float, information: float) -> tuple[float, float]:
    """(e, R / rate) at the best gap e (K V / B)^{1/3}, where that is small.

    e (1 - share - sqrt(information) e^{3/2}) is largest at e^{3/2} = 2 (1 - share) / (5
    sqrt(information)), where it is 3/5 (1 - share) e.
    """
    e = (2 * (1 - share) / (5 * math.sqrt(information))) ** (2 / 3)
    return e, 0.6 * (1 - share) * e


def counting_shares(K: int) -> tuple[float, float]:
    """(alpha / K, beta) of the counting lemma with the largest `provable_constant` at K arms.

    It holds for alpha = K / p, beta = K / (K + 1 - p), any p of 1..K, and for no smaller pair.
    """
    pairs = [(1 / p, K / (K + 1 - p)) for p in range(2, K + 1)]
    return max(pairs, key=lambda pair: provable_constant(*pair)[1])


def unconditional_constant(K: float) -> tuple[float, float]:
    """(e, R / rate) that the proof gives without the step it leaves out, at the best gap and cap.

    At cap = 2^{2/3} / e the regret is e (1 - 1/K - 3 e / 2^{2/3}): (1 - 1/K)^2 / (3 * 2^{4/3}).
    """
    e = (1 - 1 / K) * 2 ** (2 / 3) / 6
    return e, (1 - 1 / K) * e / 2


def best_cap(K: float, B: float, V: float, gap: float) -> float:
    """The cap at which `provable_regret` with (1 / K + 1 / cap, cap) is largest.

    -1 / cap - sqrt(cap) s, s = sqrt(KL B gap / (2 K V)), is largest at cap^{3/2} = 2 / s.
    """
    return (2 / math.sqrt(kl_half(gap) * B * gap / (2 * K * V))) ** (2 / 3)


def unconditional_regret(K: float, T: float, B: float, V: float, gap: float) -> float:
    """`provable_regret` at a given gap that grants nothing, with the best cap."""
    cap = best_cap(K, B, V, gap)
    return provable_regret(K, T, B, V, gap, 1 / K + 1 / cap, cap)


def best_gap(regret: Callable[[float], float], largest: float = 0.499) -> float:
    """The gap in (0, `largest`] at which a bound with one maximum is largest (golden section)."""
    low, high = 0.0, largest
    ratio = (math.sqrt(5) - 1) / 2
    for _ in range(80):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, right) if regret(left) > regret(right) else (left, high)
    return (low + high) / 2


UCB1_CONSTANT = 2 * math.sqrt(2)
"""UCB1's bonuses over t rounds sum to at most this times sqrt(K t ln t). Those of arm k sum to at
most sum over n <= n_k of sqrt(2 ln t / n) <= 2 sqrt(2 n_k ln t); the total is largest at equal
n_k."""


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


# ------------------------------------------------------------------ change tests (Section 3.2.2)

MEAN_TEST, SPAN_TEST = 3, 9
"""rho^'s factors: test (ii) on the mean of g~ - R, test (i) on the span of an instance."""


def change_threshold(
    factor: float, T: float, queries: float, K: float, reading: Reading = AS_RUN
) -> float:
    """factor * rho^(queries) at scale 1.

    What a test compares with it gains at most 1, so it can fire only where this is below 1.
    """
    return factor * rho_hat_factor(T, reading) * rho(queries, K, reading.base)


def last_block_queries(T: int, B: int) -> float:
    """Most queries HyQue can make in its last block: (T - s) B/T + T/sqrt(B), or its rounds.

    s is the round before it. By induction B' >= t B/T - T/sqrt(B) after every round t, as an idle
    round below that queries.
    """
    before = last_block(T, B)[1] - 1
    return min(T - before, (T - before) * B / T + T / math.sqrt(B))


def largest_order(T: int, B: int) -> int:
    """Largest order of an instance that ends by T, when nothing restarts; -1 if none does."""
    n, first = last_block(T, B)
    return n if first - 1 + slot_length(T, B) * 2**n <= T else n - 1


def power_budget(T: int, exponent: float) -> int:
    """floor(T^exponent) queries, T itself for 1."""
    return T if exponent == 1 else math.floor(T**exponent)


def first_horizons(K: int, exponent: float, reading: Reading = AS_RUN) -> dict[str, int]:
    """First T, B = T^exponent, that meets a necessary condition of each change test, at scale 1.

    `mean, whole budget`: (ii), were all B queries in one block; `mean, last block`: (ii) with the
    queries HyQue's last block can have; `span`: (i) for the largest instance that ends by T.
    Exact but for the rounding of T^exponent: the second is met from some T on inside each stretch
    with one slot length and one last block, and these are gone through in order.
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
    """The first T by which an instance of this order ends."""
    return _first(1, FOREVER, lambda T: largest_order(T, power_budget(T, exponent)) >= order)


def _first(low: int, high: int, possible: Callable[[int], bool]) -> int:
    """The first T above `low` at which `possible`, which is so from there on up to `high`."""
    while high - low > 1:
        middle = math.isqrt(low * high) if high > 2 * low else (low + high) // 2
        low, high = (low, middle) if possible(middle) else (middle, high)
    return high


def _stretch_end(T: int, exponent: float) -> int:
    """The last round with the slot length and the order of the last block that T has."""
    B = power_budget(T, exponent)
    b = slot_length(T, B)
    end = b * (2 ** (last_block(T, B)[0] + 1) - 1)
    if exponent < 1:
        end = min(end, math.floor((b / 2) ** (1 / (1 - exponent))))
    return max(T, end)


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
    """T B^{-alpha}: the longest streak that the lemma on non-query rounds allows (alpha = 1/2)."""
    return T * B**-alpha


def run_exponent(T: float, B: float, alpha: float = 0.5) -> float:
    """x = B^{1-alpha/2} / sqrt(T): a longer streak is to have probability at most exp(-C x).

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

    It bounds the share of stale rounds (see the study of ages) from above: all other rounds use
    data from after the change. It depends on T and B only through n.
    """
    total = 0.0
    for j in range(n + 1):
        for f, then in pairwise([*changes, 1.0]):
            if f * 2**j % 1.0 > 0:
                end = math.ceil(f * 2**j) / 2**j
                total += active_share(n, n - j) * (min(then, end) - f)
    return total


def rexp3b_bound(K: int, T: int, B: int, V: float) -> float:
    """Rexp3B's regret bound before its last simplification (appendix, step 3 of the proof).

    (T / D_T + 1) 2 sqrt((e - 1) D_B K ln K) + 2 D_B V + 6 V D_T + 2 T sqrt((e - 1) K ln K / D_B),
    with the batch D_T and its queries D_B as they are run.
    """
    length, queries = rexp3b_batch(K, T, B, V)
    spread = (math.e - 1) * K * math.log(K)
    exploring = (T / length + 1) * 2 * math.sqrt(spread * queries) + 2 * queries * V
    return exploring + 6 * V * length + 2 * T * math.sqrt(spread / queries)
