"""The steps of docs/proofs/rexp3b.md, and the bound that they prove.

Notation of the page: batches of D = Delta_T rounds, Q = Delta_B query rounds at the start of each,
D_j rounds and g_j queries in batch j, V_j the variation inside it, W_t the variation up to round t.
"""

from __future__ import annotations

import math
from fractions import Fraction as F
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from confee.paper import theory
from confee.paper.checked.certify import at_most, everywhere, exact, identity, nonnegative
from confee.paper.checked.steps import Mutant, Proof, Step, changed, off

QUERY, IDLE, TOTAL = (f"appendix C, step {i}" for i in (1, 2, 3))
LARGEST = 44
"""Batches are enumerated up to this number of rounds."""


def bound(K: int, T: int, B: int, V: float) -> float:
    """Return the proved regret bound of Rexp3B with a hard cap at B queries.

    It is 2 T s / sqrt(Q) + 2 (T/B) s sqrt(Q) + 2 V (D - Q) + V Q / 2 with s = sqrt((e - 1) K ln K),
    where the algorithm rounds the batch length D and its queries Q. The proof needs Q <= D B/T and
    a path fixed in advance.

    Raises
    ------
    ValueError
        If D B / T < 1, where the algorithm rounds Q up to 1.
    """
    D, Q = theory.rexp3b_batch(K, T, B, V)
    if Q * T > D * B:
        raise ValueError(f"K={K}, T={T}, B={B}, V={V:g}: a batch has less than one query")
    s = math.sqrt((math.e - 1) * K * math.log(K))
    noise = 2 * T * s / math.sqrt(Q) + 2 * T / B * s * math.sqrt(Q)
    return noise + 2 * V * (D - Q) + V * Q / 2


def constant(K: int, share: float = 0.0) -> float:
    """Return the proved upper constant of Rexp3B, in units of T (K V / B)^{1/3}.

    (ln K)^{1/3} (2 sqrt(e - 1) + 2 - 3/2 share) is the limit of `bound` over T (K V / B)^{1/3} as B
    grows at fixed K, V and share = B / T. It decreases in the share, so the default, its value as
    B / T tends to 0, holds for every share.

    Parameters
    ----------
    K : int
        Number of arms.
    share : float
        B / T, in [0, 1].

    Examples
    --------
    >>> [round(constant(K), 2) for K in (2, 4, 10, 32)]
    [4.09, 5.15, 6.1, 6.99]
    """
    return math.log(K) ** (1 / 3) * (2 * math.sqrt(math.e - 1) + 2 - 1.5 * share)


# ------------------------------------------------------------------ batches


def _plans() -> list[tuple[int, int, int, int]]:
    """Return all (T, B, D, Q) with Q = floor(D B / T) >= 1."""
    return [
        (T, B, D, D * B // T)
        for T in range(1, LARGEST + 1)
        for B in range(1, T + 1)
        for D in range(1, T + 1)
        if D * B >= T
    ]


PLANS = _plans()


def _last(T: int, B: int, D: int, Q: int, capped: bool = True) -> tuple[int, int, int]:
    """Return (m, rounds of the last batch, its queries)."""
    m = -(-T // D)
    rounds = T - (m - 1) * D
    return m, rounds, min(Q, rounds, B - (m - 1) * Q) if capped else min(Q, rounds)


def last_batch(least: int = 1, capped: bool = True, factor: F = F(1)) -> bool:
    """Under the cap the last batch has at least one query, and at most B rounds are queried."""

    def holds(T: int, B: int, D: int, Q: int) -> bool:
        m, _, g = _last(T, B, D, Q, capped)
        return g >= least and (m - 1) * Q + g <= factor * B

    return everywhere(PLANS, holds)


def idle_rounds(factor: F = F(1), capped: bool = True) -> bool:
    """Each batch has at most D - Q idle rounds, the last one included."""

    def holds(T: int, B: int, D: int, Q: int) -> bool:
        _, rounds, g = _last(T, B, D, Q, capped)
        return max(rounds - g, D - Q if T > D else 0) <= factor * (D - Q)

    return everywhere(PLANS, holds)


def weights(factor: F = F(1), rest: F = F(1), capped: bool = True) -> bool:
    """The D_j / g_j add up to at most T / Q + T / B (T / Q + 1 without the cap)."""

    def holds(T: int, B: int, D: int, Q: int) -> bool:
        m, rounds, g = _last(T, B, D, Q, capped)
        added = (m - 1) * F(D, Q) + F(rounds, g)
        return added <= factor * F(T, Q) + rest * (F(T, B) if capped else 1)

    return everywhere(PLANS, holds)


# ------------------------------------------------------------------ variation


@cache
def _paths(K: int, rounds: int, levels: int = 3) -> np.ndarray:
    """Return all paths of K means in {0, ..., levels - 1}, shape (paths, rounds, K)."""
    table = np.array(list(product(range(levels), repeat=K * rounds)), dtype=np.int64)
    return table.reshape(-1, rounds, K)


def _variation(paths: np.ndarray) -> np.ndarray:
    """Return W, the variation of each path up to each round, shape (paths, rounds)."""
    steps = np.abs(np.diff(paths, axis=1)).max(axis=2)
    return np.concatenate([np.zeros((len(paths), 1), dtype=np.int64), steps.cumsum(axis=1)], axis=1)


SMALL_PATHS = ((2, 4), (3, 3), (2, 2))


def one_arm(factor: F = F(1, 2), which: str = "best", over: str = "mean") -> bool:
    """sum over g rounds of mu* - mu^k <= g V_j / 2 for the best fixed arm k."""

    def holds(K: int, g: int) -> bool:
        paths = _paths(K, g)
        lost = (paths.max(axis=2, keepdims=True) - paths).sum(axis=1)
        lost = lost.min(axis=1) if which == "best" else lost.max(axis=1)
        varied = _variation(paths)[:, -1]
        return bool((lost * factor.denominator <= factor.numerator * g * varied).all())

    return everywhere(SMALL_PATHS, holds)


def averaging(factor: F = F(1), swapped: bool = False) -> bool:
    """The regrets of the arms best at s, summed over s, are at most the sum of |W_t - W_s|."""

    def holds(K: int, g: int) -> bool:
        paths = _paths(K, g)
        W = _variation(paths)
        best = paths.argmin(axis=2) if swapped else paths.argmax(axis=2)
        top = paths.max(axis=2).sum(axis=1)
        lost = sum(
            top - np.take_along_axis(paths, best[:, s, None, None], axis=2)[:, :, 0].sum(axis=1)
            for s in range(g)
        )
        apart = np.abs(W[:, :, None] - W[:, None, :]).sum(axis=(1, 2))
        return bool((lost * factor.denominator <= factor.numerator * apart).all())

    return everywhere(SMALL_PATHS, holds)


def middle(quarter: F = F(1, 4), below: bool = True) -> bool:
    """i (g - i) <= g^2 / 4, the number of pairs that a change after i of g rounds separates."""
    import sympy as sp

    g, y = sp.symbols("g y", nonnegative=True)
    i = sp.Symbol("i")
    slack = exact(quarter) * g**2 - i * (g - i)
    return nonnegative(slack if below else -slack, [(i, g / 2 + y)], [(i, g / 2 - y)])


def pairs(two: F = F(2), quarter: F = F(1, 4), half: F = F(1, 2)) -> bool:
    """2 (g^2 / 4) V_j / g = g V_j / 2, which bounds the mean over s of the sum of |W_t - W_s|."""
    import sympy as sp

    g, V = sp.symbols("g V", positive=True)
    return identity(exact(two) * exact(quarter) * g**2 * V / g, exact(half) * g * V)


IDLE_SHAPES = ((2, 2), (3, 1), (1, 3))


def replay(factor: F = F(2), pool: str = "multiset", arm: str = "best", noise: F = F(1)) -> bool:
    """Replay over |I| idle rounds costs at most |I| (J / g + 2 V_j).

    J = max_k sum of mu^k - sum of mu^{a_s} over the g query rounds s, for any arms a_s.
    """

    def holds(g: int, idle: int) -> bool:
        paths = _paths(2, g + idle)
        V = _variation(paths)[:, -1]
        asked, later = paths[:, :g], paths[:, g:]
        single = asked.sum(axis=1)
        single = single.max(axis=1) if arm == "best" else single.min(axis=1)
        for plays in product((0, 1), repeat=g):
            pool_ = plays if pool == "multiset" else sorted(set(plays))
            # Both sides times g times the size of the pool.
            gained = sum(later[:, :, a] for a in pool_)
            lost = (len(pool_) * later.max(axis=2) - gained).sum(axis=1) * g
            regret = single - sum(asked[:, s, a] for s, a in enumerate(plays))
            right = len(pool_) * idle * (noise * regret + factor * g * V)
            if not (lost <= right).all():
                return False
        return True

    return everywhere(IDLE_SHAPES, holds)


# ------------------------------------------------------------------ sums


def _s() -> Any:
    import sympy as sp

    return sp.symbols("T B D Q V K L e1", positive=True)


def noise(two: F = F(2), rest: bool = True) -> bool:
    """(T/Q + T/B) 2 sqrt((e - 1) Q K ln K) = 2 T s / sqrt(Q) + 2 (T/B) s sqrt(Q)."""
    import sympy as sp

    T, B, _, Q, _, K, L, e1 = _s()
    s = sp.sqrt(e1 * K * L)
    left = (T / Q + (T / B if rest else 0)) * 2 * sp.sqrt(e1 * Q * K * L)
    return identity(left, exact(two) * T * s / sp.sqrt(Q) + 2 * T / B * s * sp.sqrt(Q))


def printed_is_more(sign: int = 1, first: bool = True, drift: F = F(6)) -> bool:
    """Without the cap, the printed bound minus the proved one is nonnegative for Q <= D."""
    import sympy as sp

    T, _, D, _, V, _, _, _ = _s()
    q, s, y = sp.symbols("q s y", positive=True)  # q = sqrt(Q)
    start = (T / D + 1) * 2 * s * q if first else 0
    printed = start + 2 * q**2 * V + exact(drift) * V * D + 2 * T * s / q
    proved = 2 * T * s / q + 2 * s * q + 2 * V * (D - q**2) + V * q**2 / 2
    return nonnegative(sign * (printed - proved), [(D, q**2 + y)])


def printed_under_the_cap(shorter: bool = True, rest: F = F(1)) -> bool:
    """With the cap too the printed bound is larger if D <= B, as T/D + 1 - T/B >= 1."""
    import sympy as sp

    T, B, D, _, _, _, _, _ = _s()
    y = sp.symbols("y", positive=True)
    slack = T / D + 1 - T / B - exact(rest)
    return nonnegative(slack, [(B, D + y)] if shorter else [(D, B + y)])


def enough_queries(K: int = 2, least: F = F(7, 4)) -> bool:
    """K (ln K)^{1/3} >= 7/4 at K = 2, 3 at K = 3: D B / T is at least that, less B / T."""
    import sympy as sp

    return at_most(least, K * sp.log(K) ** sp.Rational(1, 3))


def more_arms(power: F = F(1)) -> bool:
    """K (ln K)^{1/3} increases in K > 1."""
    import sympy as sp

    K, y = sp.symbols("K y", positive=True)
    rate = sp.diff(K * sp.log(K) ** (exact(power) / 3), K)
    # Positive powers of ln K = y in every term.
    return nonnegative(sp.simplify(rate.subs(sp.log(K), y**3)))


# ------------------------------------------------------------------ the constant

# Roots of the quantities, so that all powers are whole: K ln K = u^3, V = v^3, B = r^3, ln K = l^3.


def _roots() -> Any:
    import sympy as sp

    T, u, v, r, logs, e1 = sp.symbols("T u v r l e1", positive=True)
    D = T * u / (r * v**2)
    Q = D * r**3 / T
    rate = T * (u / logs) * v / r
    return T, u, v, r, logs, e1, D, Q, rate


def noise_constant(two: F = F(2)) -> bool:
    """2 T sqrt((e - 1) K ln K / Q) = 2 sqrt(e - 1) (ln K)^{1/3} times the rate."""
    import sympy as sp

    T, u, _, _, logs, e1, _, Q, rate = _roots()
    return identity(2 * T * sp.sqrt(e1 * u**3 / Q), exact(two) * sp.sqrt(e1) * logs * rate)


def drift_constant(two: F = F(2), last: F = F(3, 2)) -> bool:
    """2 V (D - Q) + V Q / 2 = (2 - 3/2 B/T) (ln K)^{1/3} times the rate."""
    T, _, v, r, logs, _, D, Q, rate = _roots()
    left = 2 * v**3 * (D - Q) + v**3 * Q / 2
    return identity(left, (exact(two) - exact(last) * r**3 / T) * logs * rate)


def last_vanishes(power: int = 1) -> bool:
    """2 (T/B) s sqrt(Q) over the rate tends to 0 as B grows at fixed K and V."""
    import sympy as sp

    T, u, _, r, _, e1, _, Q, rate = _roots()
    term = 2 * T / r ** (3 * power) * sp.sqrt(e1 * u**3 * Q)
    return sp.limit(sp.powsimp(term / rate), r, sp.oo) == 0


def printed_constant(whole: F = F(6), per_share: F = F(2)) -> bool:
    """6 V D + 2 V Q = (6 + 2 B/T) (ln K)^{1/3} times the rate, against 2 - 3/2 B/T."""
    T, _, v, r, logs, _, D, Q, rate = _roots()
    left = 6 * v**3 * D + 2 * v**3 * Q
    return identity(left, (exact(whole) + exact(per_share) * r**3 / T) * logs * rate)


SIZES = f"1 <= B <= T <= {LARGEST}, all D with Q = floor(D B / T) >= 1"
PATHS = "all paths on three levels: 2 arms in 4 rounds, 3 arms in 3, 2 arms in 2"

PROOF = Proof(
    "rexp3b",
    "The regret bound of Rexp3B",
    "rexp3b.md",
    (
        Step(
            "the last batch has at least one query, and at most B queries are made",
            SIZES,
            "exhaustive",
            last_batch,
            (*off("factor", F(1), "less"), changed(least=2), changed(capped=False)),
            "Algorithm 3",
        ),
        Step(
            "each batch has at most D - Q idle rounds",
            SIZES,
            "exhaustive",
            idle_rounds,
            tuple(off("factor", F(1), "less")),
            IDLE,
        ),
        Step(
            "the D_j / g_j add up to at most T/Q + T/B",
            SIZES,
            "exhaustive",
            weights,
            (*off("factor", F(1), "less"), *off("rest", F(1), "less"), changed(rest=F(0))),
            IDLE,
        ),
        Step(
            "Exp3: J_j <= 2 sqrt((e - 1) Q K ln K) after any g_j <= Q rounds",
            "rewards fixed in advance",
            "cited",
            place=QUERY,
            source="Auer, Cesa-Bianchi, Freund and Schapire, SIAM J. Comput. 32 (2002), Cor. 3.2",
        ),
        Step(
            "the regrets of the arms best at s add up to at most sum |W_t - W_s|",
            PATHS,
            "exhaustive",
            averaging,
            (*off("factor", F(1), "less"), changed(swapped=True)),
            QUERY,
        ),
        Step(
            "i (g - i) <= g^2 / 4",
            "all g, i",
            "symbolic",
            middle,
            (*off("quarter", F(1, 4), "less"), changed(below=False)),
            QUERY,
        ),
        Step(
            "2 (g^2 / 4) V_j / g = g V_j / 2",
            "all g, V_j",
            "symbolic",
            pairs,
            (
                *off("two", F(2), "both"),
                *off("quarter", F(1, 4), "both"),
                *off("half", F(1, 2), "both"),
            ),
            QUERY,
        ),
        Step(
            "the best fixed arm of g rounds loses at most g V_j / 2",
            PATHS,
            "exhaustive",
            one_arm,
            (*off("factor", F(1, 2), "less"), changed(which="worst")),
            QUERY,
        ),
        Step(
            "replay costs at most |I| (J / g + 2 V_j)",
            "all paths of 2 arms on three levels, all plays; (g, |I|) = (2, 2), (3, 1), (1, 3)",
            "exhaustive",
            replay,
            (
                *off("factor", F(2), "less"),
                *off("noise", F(1), "less"),
                changed(factor=F(0)),
                Mutant("replay the set of arms, as printed", {"pool": "set"}),
                changed(arm="worst"),
            ),
            IDLE,
        ),
        Step(
            "(T/Q + T/B) 2 sqrt((e - 1) Q K ln K) = 2 T s / sqrt(Q) + 2 (T/B) s sqrt(Q)",
            "all positive values",
            "symbolic",
            noise,
            (*off("two", F(2), "both"), changed(rest=False)),
            TOTAL,
        ),
        Step(
            "the printed bound is larger, without the cap",
            "Q <= D",
            "symbolic",
            printed_is_more,
            (
                changed(sign=-1),
                changed(first=False),
                *off("drift", F(6), "less", "true: the printed bound is not sharp"),
            ),
            TOTAL,
        ),
        Step(
            "the printed bound is larger, with the cap where D <= B",
            "D <= B",
            "symbolic",
            printed_under_the_cap,
            (*off("rest", F(1), "more"), changed(shorter=False)),
            TOTAL,
        ),
        Step(
            "2 (ln 2)^(1/3) >= 7/4",
            "a number",
            "interval",
            enough_queries,
            tuple(off("least", F(7, 4), "more")),
            "Algorithm 3",
        ),
        Step(
            "3 (ln 3)^(1/3) >= 3",
            "a number",
            "interval",
            lambda least=F(3): enough_queries(3, least),
            tuple(off("least", F(3), "more")),
            "Algorithm 3",
        ),
        Step(
            "K (ln K)^(1/3) increases",
            "K > 1",
            "symbolic",
            more_arms,
            (changed(power=F(-9)),),
            "Algorithm 3",
        ),
        Step(
            "2 T s / sqrt(Q) = 2 sqrt(e - 1) (ln K)^(1/3) rate",
            "D, Q before rounding",
            "symbolic",
            noise_constant,
            tuple(off("two", F(2), "both")),
            TOTAL,
        ),
        Step(
            "2 V (D - Q) + V Q / 2 = (2 - 3/2 B/T) (ln K)^(1/3) rate",
            "D, Q before rounding",
            "symbolic",
            drift_constant,
            (*off("two", F(2), "both"), *off("last", F(3, 2), "both")),
            TOTAL,
        ),
        Step(
            "2 (T/B) s sqrt(Q) over the rate tends to 0",
            "B to infinity; K, V, B/T fixed",
            "symbolic",
            last_vanishes,
            (changed(power=0),),
            TOTAL,
        ),
        Step(
            "6 V D + 2 V Q = (6 + 2 B/T) (ln K)^(1/3) rate, as printed",
            "D, Q before rounding",
            "symbolic",
            printed_constant,
            (*off("whole", F(6), "both"), *off("per_share", F(2), "both")),
            TOTAL,
        ),
    ),
)
