"""The steps of docs/proofs/lower-bound.md.

Notation of the page: batches of Delta rounds, Delta_j rounds and B_j mean queries in batch j, gap
eps, d = eps T / V (Delta is d rounded up), cap c, kl = KL(1/2, 1/2 + eps), x = (K V / B)^{1/3}.
"""

from __future__ import annotations

from fractions import Fraction as F
from itertools import product
from typing import Any

import numpy as np

from confee.paper.checked.certify import (
    at_most,
    everywhere,
    exact,
    identity,
    nonnegative,
    same_function,
)
from confee.paper.checked.games import FIRST, ONE, histories, laws
from confee.paper.checked.steps import Mutant, Proof, Step, changed, off

INSTANCE, SINGLE, SUM = (f"appendix E, step {i}" for i in (1, 2, 3))
LARGEST = 60
"""Batches are enumerated up to this number of rounds."""


def symbols(names: str) -> Any:
    """Return positive sympy symbols."""
    import sympy as sp

    return sp.symbols(names, positive=True)


# ------------------------------------------------------------------ the instance


def _sizes() -> list[tuple[int, int]]:
    return [(T, delta) for T in range(1, LARGEST + 1) for delta in range(1, T + 1)]


def batches_cover(longest: F = F(1), last_kept: bool = True, rounding: str = "up") -> bool:
    """The m = ceil(T / Delta) batches hold T rounds, each between 1 and Delta."""

    def holds(T: int, delta: int) -> bool:
        m = -(-T // delta) if rounding == "up" else T // delta
        lengths = [delta] * (m - 1) + [T - (m - 1) * delta] * last_kept
        return sum(lengths) == T and all(1 <= n <= longest * delta for n in lengths)

    return everywhere(_sizes(), holds)


def changes_fit(factor: F = F(1), changes: int = -1, rounds: int = -1) -> bool:
    """(m - 1) Delta <= T - 1."""

    def holds(T: int, delta: int) -> bool:
        m = -(-T // delta)
        return factor * (m + changes) * delta <= T + rounds

    return everywhere(_sizes(), holds)


def variation(factor: F = F(1), longer: bool = True) -> bool:
    """(m - 1) eps <= V where Delta >= d, in terms of the slack in (m - 1) Delta <= T - 1."""
    M, eps, d, y, z, D = symbols("M eps d y z D")
    T = M * D + 1 + z
    slack = eps * T / d - exact(factor) * M * eps  # V = eps T / d
    return nonnegative(slack, [(D, d + y)] if longer else [(d, D + y)])


# ------------------------------------------------------------------ queries of a batch


def mean_queries(law: str = "true", factor: F = F(1)) -> bool:
    """Mean queries of the batches, under the true law, add up to at most B (B = 1, 2, 3)."""
    h = histories()
    most = np.zeros(h.policy.max() + 1, dtype=np.int64)
    np.maximum.at(most, h.policy, h.queries((0, 1, 2)))
    true = _mixture(laws((0, 1), (0, 1)))
    first = _mixture(laws((-1, -1), (0, 1))) if law == "own" else true
    second = _mixture(laws((0, 1), (-1, -1))) if law == "own" else true
    means = h.total(first * h.queries(FIRST)) + h.total(second * h.queries((2,)))
    scale = 4 * ONE  # four laws, each with weights over 64
    return everywhere(
        [(1,), (2,), (3,)],
        lambda B: bool(
            (means[most <= B] * factor.denominator <= factor.numerator * B * scale).all()
        ),
    )


def _mixture(several: list) -> np.ndarray:
    """Return the weights of the histories, summed over laws."""
    return np.sum([histories().weight(law) for law in several], axis=0)


CAPS = (F(1), F(4, 3), F(2), F(5, 2), F(4), F(5))


def markov(factor: F = F(1), signed: bool = False, tail: str = "above") -> bool:
    """P(N >= c M) <= 1/c for N >= 0 with mean M > 0, and P(N > 0) = 0 where M = 0."""
    values = (-2, 0, 1, 2) if signed else (0, 1, 2, 3)
    shares = [p for p in product(range(21), repeat=3) if sum(p) <= 20]

    def holds(p: tuple[int, ...], c: F) -> bool:
        chances = (*p, 20 - sum(p))
        total = sum(n * w for n, w in zip(values, chances, strict=True))
        if total == 0 and not signed:
            return all(w == 0 for n, w in zip(values, chances, strict=True) if n > 0)
        outside = sum(
            w
            for n, w in zip(values, chances, strict=True)
            if (n * 20 >= c * total if tail == "above" else n * 20 <= c * total)
        )
        return outside * c <= factor * 20

    return everywhere(((p, c) for p in shares for c in CAPS), holds)


def given_away(factor: F = F(1), more: int = 0) -> bool:
    """n <= Delta 1[N > cap] + n 1[N <= cap] for the plays n of an arm in the first batch."""
    h, delta = histories(), len(FIRST)

    def holds(cap: int, arm: int) -> bool:
        over = h.queries() > cap + more
        kept = h.plays(arm) * (h.queries() <= cap)
        slack = delta * factor.numerator * over + factor.denominator * (kept - h.plays(arm))
        return bool((slack >= 0).all())

    return everywhere(product((0, 1), (0, 1)), holds)


def determined(more: int = 0, indicator: bool = True) -> bool:
    """n 1[N <= cap] depends only on the first `cap` rewards observed in the batch."""
    h, delta = histories(), len(FIRST)
    rows = range(len(h.policy))

    def holds(cap: int, arm: int) -> bool:
        kept = h.plays(arm) * (h.queries() <= cap + more if indicator else 1)
        known: dict[tuple, int] = {}
        for i in rows:
            seen = [int(h.reward[i, t]) for t in range(delta) if h.asked[i, t]][:cap]
            key = (int(h.policy[i]), *seen)
            if known.setdefault(key, int(kept[i])) != kept[i]:
                return False
        return True

    return everywhere(product((0, 1), (0, 1)), holds)


# ------------------------------------------------------------------ divergence


def chain_rule(
    factor: F = F(1), counted: str = "queries", law: str = "reference", swapped: bool = False
) -> bool:
    """KL = E[queries of the good arm] kl, exactly, with E under the reference law.

    At eps = 1/4 all probabilities are powers of 2 times powers of 3, and kl = ln(4/3) / 2. So both
    sides are combinations of ln 2 and ln 3, which are equal only if the coefficients are.
    """
    h = histories()

    def holds(k: int, other: int, batch: int) -> bool:
        rounds = FIRST if batch == 0 else (2,)
        reference = (-1, -1, other) if batch == 0 else (other, other, -1)
        good = (k, k, other) if batch == 0 else (other, other, k)
        p, q = h.weight(reference), h.weight(good)
        if swapped:
            p, q = q, p
        mean = p if law == "reference" else q
        count = h.queries(rounds, k) if counted == "queries" else h.plays(k, rounds)
        expected = h.total(mean * count)
        # 2 * 64 KL = 2 sum p (ln p - ln q); the right side is the mean times (2 ln 2 - ln 3).
        twos = 2 * h.total(p * (_power(p, 2) - _power(q, 2)))
        threes = 2 * h.total(p * (_power(p, 3) - _power(q, 3)))
        right = factor.numerator * expected
        return bool(
            (twos * factor.denominator == 2 * right).all()
            and (threes * factor.denominator == -right).all()
        )

    return everywhere(product((0, 1), (0, 1), (0, 1)), holds)


def _power(numbers: np.ndarray, prime: int) -> np.ndarray:
    """Return the exponent of `prime` in each of the numbers, which divide 2^6 3^3."""
    return np.sum([numbers % prime**i == 0 for i in range(1, 7)], axis=0)


def closed_form(factor: F = F(4), half: F = F(1, 2), swapped: bool = False) -> bool:
    """KL(1/2, 1/2 + eps) = -ln(1 - 4 eps^2) / 2."""
    import sympy as sp

    e = symbols("eps")
    p, q = sp.Rational(1, 2), sp.Rational(1, 2) + e
    if swapped:
        p, q = q, p
    left = p * sp.log(p / q) + (1 - p) * sp.log((1 - p) / (1 - q))
    right = -exact(half) * sp.log(1 - exact(factor) * e**2)
    return same_function(left, right, e, 0)


def kl_bound(factor: F = F(7, 3), largest: F = F(1, 4), side: str = "upper") -> bool:
    """kl <= (7/3) eps^2 for eps <= 1/4: kl / eps^2 increases, so its end decides."""
    import sympy as sp

    y = symbols("y")  # y = 4 eps^2, kl / eps^2 = 2 f(y)
    top = y / (1 - y) + sp.log(1 - y)  # f' = top / y^2 for f = -ln(1 - y) / y
    f = -sp.log(1 - y) / y
    grows = (
        identity(sp.diff(f, y) * y**2, top)
        and sp.limit(top, y, 0) == 0
        and nonnegative(sp.together(sp.diff(top, y)).subs(y, 1 / (1 + y)))
    )
    end = 2 * f.subs(y, 4 * exact(largest) ** 2)
    return grows and (at_most(end, factor) if side == "upper" else at_most(factor, end))


def pinsker_pair(factor: F = F(2)) -> bool:
    """KL(p, q) >= 2 (p - q)^2 for two outcomes: the derivative in q has the sign of q - p."""
    import sympy as sp

    p, q, s = symbols("p q s")
    kl = p * sp.log(p / q) + (1 - p) * sp.log((1 - p) / (1 - q))
    slack = kl - exact(factor) * (p - q) ** 2
    rest = 1 - 2 * exact(factor) * q * (1 - q)
    return identity(sp.diff(slack, q), (q - p) * rest / (q * (1 - q))) and all(
        nonnegative(rest, [(q, sp.Rational(1, 2) + sign * s)]) for sign in (1, -1)
    )


# ------------------------------------------------------------------ means over batches and arms


def plays_add_up(factor: F = F(1), each_arm: bool = False) -> bool:
    """In the first batch the arms' plays add up to at most Delta, and kept queries to the cap."""
    h, delta = histories(), len(FIRST)

    def holds(cap: int) -> bool:
        kept = h.queries() <= cap
        plays = np.array([h.plays(k) * kept for k in (0, 1)])
        looks = np.array([h.queries(FIRST, k) * kept for k in (0, 1)])
        if each_arm:  # at most Delta / K plays of each arm
            return bool((2 * plays <= delta).all() and (2 * looks <= cap).all())
        return bool(
            (plays.sum(axis=0) <= factor * delta).all()
            and (looks.sum(axis=0) <= factor * cap).all()
        )

    return everywhere([(0,), (1,), (2,)], holds)


def tangent(half: F = F(1, 2), below: bool = True) -> bool:
    """u <= (u^2 / s + s) / 2 for u, s > 0: the root lies below its tangents."""
    u, s, y = symbols("u s y")
    slack = exact(half) * (u**2 / s + s) - u
    return nonnegative(slack if below else -slack, [(u, s + y)], [(s, u + y)])


def mean_of_roots(factor: F = F(1), half: F = F(1, 2)) -> bool:
    """The tangent at s = sqrt(Y / K) turns the mean of K roots into sqrt(Y / K)."""
    import sympy as sp

    Y, K, s = symbols("Y K s")
    bound = exact(half) * (Y / (K * s) + s)
    return identity(bound.subs(s, sp.sqrt(Y / K)), exact(factor) * sp.sqrt(Y / K))


def one_batch(factor: F = F(1, 2), kept: bool = True) -> bool:
    """sqrt(kl / 2) sqrt(c B_j / K) = sqrt(kl c B_j / (2 K))."""
    import sympy as sp

    kl, c, B, K = symbols("kl c B K")
    right = sp.sqrt(exact(factor) * kl * (c if kept else 1) * B / K)
    return identity(sp.sqrt(kl / 2) * sp.sqrt(c * B / K), right)


def whole_batch(arms: F = F(1, 2), learnt: bool = True) -> bool:
    """E[n(k)] averaged over k <= Delta (1/K + sqrt(kl E[N] / (2 K))), K = 2, no cap."""
    import sympy as sp

    h, delta = histories(), len(FIRST)
    kl = F(1438, 10_000)  # below ln(4/3) / 2, kl at eps = 1/4
    if not at_most(kl, sp.log(sp.Rational(4, 3)) / 2):
        return False

    def holds(other: int) -> bool:
        p = [h.weight((k, k, other)) for k in (0, 1)]
        plays = h.total(p[0] * h.plays(0) + p[1] * h.plays(1))  # times 2 * 64
        reference = h.weight((-1, -1, other))
        queries = h.total(reference * (h.queries() if learnt else 0))  # times 64
        for played, asked in zip(plays.tolist(), queries.tolist(), strict=True):
            excess = F(played, 2 * ONE) / delta - arms
            if excess > 0 and excess**2 > kl * F(asked, ONE) / 4:
                return False
        return True

    return everywhere([(0,), (1,)], holds)


def square_lengths(factor: F = F(1), shorter: bool = True) -> bool:
    """Delta_j^2 <= Delta Delta_j where Delta_j <= Delta."""
    D, own, y = symbols("Delta Delta_j y")
    shift = [(D, own + y)] if shorter else [(own, D + y)]
    return nonnegative(exact(factor) * D * own - own**2, shift)


def cauchy_schwarz(factor: F = F(1), half: F = F(1, 2)) -> bool:
    """The tangent at sqrt(B / (Delta T)) gives sum of Delta_j sqrt(B_j) <= sqrt(Delta T B)."""
    import sympy as sp

    D, T, B, lam = symbols("Delta T B lambda")
    bound = exact(half) * (lam * D * T + B / lam)
    return identity(bound.subs(lam, sp.sqrt(B / (D * T))), exact(factor) * sp.sqrt(D * T * B))


# ------------------------------------------------------------------ the printed choices


def balance(thirty: F = F(30), cube: F = F(1920), right: F = F(1, 64)) -> bool:
    """(eps sqrt(30 B d / (K T)))^2 = 1/64 with eps^3 = K V / (1920 B) and d = eps T / V."""
    eps, T, B, V = symbols("eps T B V")
    K = eps**3 * exact(cube) * B / V
    return identity(eps**2 * exact(thirty) * B * (eps * T / V) / (K * T), right)


def small_gap(ratio: F = F(30), gap: F = F(1, 4), cube: F = F(1920)) -> bool:
    """eps <= 1/4 if and only if K V / B <= 30."""
    r = symbols("r")
    top, cap = exact(ratio), exact(gap) ** 3
    below = nonnegative(cap - (top - r) / exact(cube))
    above = nonnegative((top + r) / exact(cube) - cap)
    return below and above


def printed_gap(gap: F = F(1, 12), cube: F = F(1920)) -> bool:
    """eps <= 1/12 in the printed range, where K V / B <= 1: 12^3 <= 1920."""
    return gap**3 * cube >= 1


def rounding(twice: F = F(2), least: F = F(2), extra: F = F(1)) -> bool:
    """Delta <= 2 d where Delta >= 2 is d rounded up, so d >= Delta - 1."""
    d, D, y, z = symbols("d Delta y z")
    slack = exact(twice) * d - D
    return nonnegative(slack, [(d, D - exact(extra) + y), (D, exact(least) + z)])


def single_batch(factor: F = F(1), shorter: bool = True) -> bool:
    """With a single batch, Delta = T <= d, so Delta / d <= 1; its variation is 0."""
    d, D, y = symbols("d Delta y")
    return nonnegative(exact(factor) * d - D, [(d, D + y)] if shorter else [(D, d + y)])


def root(kl: F = F(7, 3), cap: F = F(4), twice: F = F(2), value: F = F(7, 1440)) -> bool:
    """kl c B Delta / (2 K T) = 7/1440 at kl = (7/3) eps^2, c = 4, Delta = 2 d."""
    eps, T, B, V = symbols("eps T B V")
    K = eps**3 * 1920 * B / V
    delta = exact(twice) * eps * T / V
    return identity(exact(kl) * eps**2 * exact(cap) * B * delta / (2 * K * T), value)


def root_rounded(value: F = F(7, 100)) -> bool:
    """sqrt(7/1440) <= 7/100."""
    return value > 0 and value**2 >= F(7, 1440)


def share(
    left: F = F(9, 50), arms: F = F(2), cap: F = F(4), learnt: F = F(7, 100), whole: F = F(1)
) -> bool:
    """1 - 1/K - 1/4 - 7/100 >= 9/50 for K >= 2."""
    K, y = symbols("K y")
    kept = exact(whole) - 1 / K - 1 / exact(cap) - exact(learnt)
    return nonnegative(kept - exact(left), [(K, exact(arms) + y)])


def blind_round(factor: F = F(1), drawn: str = "afresh") -> bool:
    """In a batch of one round the good arm is played with probability 1/K exactly."""
    h = histories()

    def holds(first: int, second: int) -> bool:
        hits = np.zeros(h.policy.max() + 1, dtype=np.int64)
        for third in (0, 1) if drawn == "afresh" else (second, second):
            law = (first, second, third)
            hits += h.total(h.weight(law) * (h.arm[:, 2] == third))
        # Two equally likely good arms: the mean of hits / 64 over them is 1/2.
        return bool((hits == factor * ONE).all())

    return everywhere(product((0, 1), (0, 1)), holds)


def printed_constant(eighth: F = F(1, 8), cube: F = F(1920)) -> bool:
    """T eps / 8 = T x / (8 * 1920^{1/3})."""
    import sympy as sp

    T, x = symbols("T x")
    eps = x / sp.Rational(1920) ** sp.Rational(1, 3)
    right = T * x / (8 * exact(cube) ** sp.Rational(1, 3))
    return identity(T * eps * exact(eighth), right)


# ------------------------------------------------------------------ the best choices


def information(factor: F = F(2), power: int = 3) -> bool:
    """kl c B Delta / (2 K T) = c e^3 q with eps = e x, kl = 2 kappa eps^2, q = kappa Delta / d."""
    e, x, T, B, V, c, kappa, ratio = symbols("e x T B V c kappa ratio")
    K = x**3 * B / V
    eps = e * x
    delta = ratio * eps * T / V
    left = exact(factor) * kappa * eps**2 * c * B * delta / (2 * K * T)
    return identity(left, c * e**power * kappa * ratio)


def best_value(three: F = F(3), two: F = F(2)) -> bool:
    """1/c + sqrt(c e^3 q) = 3 e q^{1/3} / 2^{2/3} at c = 2^{2/3} / (e q^{1/3}); g = q^{1/3}."""
    import sympy as sp

    e, g = symbols("e g")
    c = exact(two) ** sp.Rational(2, 3) / (e * g)
    left = 1 / c + sp.sqrt(c * e**3 * g**3)
    return identity(left, exact(three) * e * g / sp.Integer(2) ** sp.Rational(2, 3))


def best_cap(three: F = F(3), below: bool = True) -> bool:
    """No cap does better: 1/w^2 + 2 w >= 3 for w > 0, w^2 the cap over the best one."""
    w, y = symbols("w y")
    slack = 1 / w**2 + 2 * w - exact(three)
    return nonnegative(slack if below else -slack, [(w, 1 + y)], [(w, 1 / (1 + y))])


def best_constant(twelfth: F = F(12), two: F = F(2)) -> bool:
    """At e = a 2^{2/3} / 6, a = 1 - 1/K: e (a - 3 e g / 2^{2/3}) = a^2 2^{2/3} (2 - g) / 12."""
    import sympy as sp

    a, g = symbols("a g")
    root_of_4 = sp.Integer(2) ** sp.Rational(2, 3)
    e = a * root_of_4 / 6
    left = e * (a - 3 * e * g / root_of_4)
    return identity(left, a**2 * root_of_4 * (exact(two) - g) / exact(twelfth))


def written(three: F = F(3)) -> bool:
    """2^{2/3} / 12 = 1 / (3 * 2^{4/3})."""
    import sympy as sp

    two = sp.Integer(2)
    left = two ** sp.Rational(2, 3) / 12
    return identity(left, 1 / (exact(three) * two ** sp.Rational(4, 3)))


def whole_range(share: F = F(2, 3), twice: F = F(2), sixth: F = F(6)) -> bool:
    """2 - q^{1/3} >= 2/3 for all V <= B/K: q <= 2 kappa at eps = 2^{2/3} / 6."""
    import sympy as sp

    eps = sp.Integer(2) ** sp.Rational(2, 3) / exact(sixth)
    kappa = -sp.log(1 - 4 * eps**2) / (4 * eps**2)
    return at_most(share, 2 - (exact(twice) * kappa) ** sp.Rational(1, 3))


# ------------------------------------------------------------------ the proof

SMALL_GAME = "all 1640 policies of a game with 2 arms, 3 rounds, batches of 2 and 1, eps = 1/4"

PROOF = Proof(
    "lower-bound",
    "The lower bound, repaired",
    "lower-bound.md",
    (
        Step(
            "the batches hold all T rounds, each 1 to Delta of them",
            f"1 <= Delta <= T <= {LARGEST}",
            "exhaustive",
            batches_cover,
            (*off("longest", F(1), "less"), changed(last_kept=False), changed(rounding="down")),
            INSTANCE,
        ),
        Step(
            "(m - 1) Delta <= T - 1",
            f"1 <= Delta <= T <= {LARGEST}",
            "exhaustive",
            changes_fit,
            (*off("factor", F(1), "more"), changed(changes=0), changed(rounds=-2)),
            INSTANCE,
        ),
        Step(
            "variation (m - 1) eps <= V",
            "eps T / V <= Delta, all sizes",
            "symbolic",
            variation,
            (*off("factor", F(1), "more"), changed(longer=False)),
            INSTANCE,
        ),
        Step(
            "mean queries under the one true law add up to at most B",
            f"{SMALL_GAME}; B = 1, 2, 3",
            "exhaustive",
            mean_queries,
            (*off("factor", F(1), "less"), changed(law="own")),
            SINGLE,
        ),
        Step(
            "Markov: P(N >= c M) <= 1/c",
            "laws on {0, 1, 2, 3} with chances in twentieths; six caps",
            "exhaustive",
            markov,
            (*off("factor", F(1), "less"), changed(signed=True), changed(tail="below")),
            SINGLE,
        ),
        Step(
            "plays past the cap are given away",
            f"{SMALL_GAME}; cap 0, 1",
            "exhaustive",
            given_away,
            (*off("factor", F(1), "less"), changed(more=1)),
            SINGLE,
        ),
        Step(
            "what is kept depends on the first cap rewards only",
            f"{SMALL_GAME}; cap 0, 1",
            "exhaustive",
            determined,
            (changed(more=1), changed(indicator=False)),
            SINGLE,
        ),
        Step(
            "chain rule for the divergence of adaptive observations",
            "all policies",
            "cited",
            place=SINGLE,
            source="Lattimore and Szepesvari, Bandit Algorithms (2020), Lemma 15.1",
        ),
        Step(
            "chain rule: KL = E[queries of the good arm] kl",
            f"{SMALL_GAME}; with equality",
            "exhaustive",
            chain_rule,
            (
                *off("factor", F(1), "both"),
                changed(counted="plays"),
                changed(law="true"),
                changed(swapped=True),
            ),
            SINGLE,
        ),
        Step(
            "kl = -ln(1 - 4 eps^2) / 2",
            "0 < eps < 1/2",
            "symbolic",
            closed_form,
            (*off("factor", F(4), "both"), *off("half", F(1, 2), "both"), changed(swapped=True)),
            SINGLE,
        ),
        Step(
            "kl <= (7/3) eps^2",
            "0 < eps <= 1/4",
            "interval",
            kl_bound,
            (
                *off("factor", F(7, 3), "less"),
                *off("largest", F(1, 4), "more"),
                changed(factor=F(2)),
                changed(side="lower"),
            ),
            SINGLE,
        ),
        Step(
            "Pinsker's inequality for all laws, by data processing from two outcomes",
            "all laws",
            "cited",
            place=SINGLE,
            source="Tsybakov, Introduction to Nonparametric Estimation (2009), Lemma 2.5",
        ),
        Step(
            "Pinsker for two outcomes: KL(p, q) >= 2 (p - q)^2",
            "0 < p, q < 1",
            "symbolic",
            pinsker_pair,
            (
                *off("factor", F(2), "more"),
                Mutant("f of both signs, |f| <= Delta_j, without the factor 2", {"factor": F(8)}),
            ),
            SINGLE,
        ),
        Step(
            "plays add up to Delta_j and kept queries to the cap",
            f"{SMALL_GAME}; cap 0, 1, 2",
            "exhaustive",
            plays_add_up,
            (
                *off("factor", F(1), "less"),
                Mutant(
                    "each arm gets at most 1/K of the plays, not the mean over the arms",
                    {"each_arm": True},
                ),
            ),
            SINGLE,
        ),
        Step(
            "a root lies below its tangents: u <= (u^2 / s + s) / 2",
            "u, s > 0",
            "symbolic",
            tangent,
            (*off("half", F(1, 2), "less"), changed(below=False)),
            SINGLE,
        ),
        Step(
            "mean over the good arm of roots <= sqrt(Y / K)",
            "all K and Y",
            "symbolic",
            mean_of_roots,
            (*off("factor", F(1), "both"), *off("half", F(1, 2), "both")),
            SINGLE,
        ),
        Step(
            "sqrt(kl / 2) sqrt(c B_j / K) = sqrt(kl c B_j / (2 K))",
            "all positive values",
            "symbolic",
            one_batch,
            (*off("factor", F(1, 2), "both"), changed(kept=False)),
            SINGLE,
        ),
        Step(
            "one batch: mean of E[n(k)] <= Delta (1/K + sqrt(kl E[N] / (2 K)))",
            f"{SMALL_GAME}; no cap",
            "exhaustive",
            whole_batch,
            (*off("arms", F(1, 2), "less"), changed(learnt=False)),
            SINGLE,
        ),
        Step(
            "Delta_j^2 <= Delta Delta_j",
            "0 < Delta_j <= Delta",
            "symbolic",
            square_lengths,
            (*off("factor", F(1), "less"), changed(shorter=False)),
            SUM,
        ),
        Step(
            "sum of Delta_j sqrt(B_j) <= sqrt(Delta T B)",
            "all positive values",
            "symbolic",
            cauchy_schwarz,
            (*off("factor", F(1), "both"), *off("half", F(1, 2), "both")),
            SUM,
        ),
        Step(
            "eps sqrt(30 B d / (K T)) = 1/8",
            "all positive values",
            "symbolic",
            balance,
            (
                *off("thirty", F(30), "both"),
                *off("cube", F(1920), "both"),
                *off("right", F(1, 64), "both"),
            ),
            SUM,
        ),
        Step(
            "eps <= 1/4 if and only if K V / B <= 30",
            "all positive values",
            "symbolic",
            small_gap,
            (
                *off("ratio", F(30), "both"),
                *off("gap", F(1, 4), "both"),
                *off("cube", F(1920), "both"),
            ),
            SUM,
        ),
        Step(
            "eps <= 1/12 for V <= B / K",
            "all sizes",
            "symbolic",
            printed_gap,
            (*off("gap", F(1, 12), "less"), Mutant("1920 replaced by 1700", {"cube": F(1700)})),
            SUM,
        ),
        Step(
            "Delta <= 2 d",
            "Delta >= 2",
            "symbolic",
            rounding,
            (
                *off("twice", F(2), "less"),
                *off("least", F(2), "less"),
                changed(least=F(1)),
                *off("extra", F(1), "more"),
            ),
            SUM,
        ),
        Step(
            "Delta <= d for a single batch",
            "d >= T",
            "symbolic",
            single_batch,
            (*off("factor", F(1), "less"), changed(shorter=False)),
            SUM,
        ),
        Step(
            "kl c B Delta / (2 K T) = 7/1440",
            "kl = (7/3) eps^2, c = 4, Delta = 2 d",
            "symbolic",
            root,
            (
                *off("kl", F(7, 3), "both"),
                *off("cap", F(4), "both"),
                *off("twice", F(2), "both"),
                *off("value", F(7, 1440), "both"),
            ),
            SUM,
        ),
        Step(
            "sqrt(7/1440) <= 7/100",
            "a number",
            "symbolic",
            root_rounded,
            tuple(off("value", F(7, 100), "less")),
            SUM,
        ),
        Step(
            "1 - 1/K - 1/4 - 7/100 >= 9/50",
            "K >= 2",
            "symbolic",
            share,
            (
                *off("left", F(9, 50), "more"),
                *off("arms", F(2), "less"),
                *off("cap", F(4), "less"),
                *off("learnt", F(7, 100), "more"),
                changed(whole=F(19, 20)),
            ),
            SUM,
        ),
        Step(
            "Delta = 1: the good arm is played with probability 1/K",
            f"{SMALL_GAME}, Delta = 1",
            "exhaustive",
            blind_round,
            (*off("factor", F(1), "both"), changed(drawn="kept")),
            SUM,
        ),
        Step(
            "T eps / 8 = T x / (8 * 1920^(1/3))",
            "all sizes",
            "symbolic",
            printed_constant,
            (*off("eighth", F(1, 8), "both"), *off("cube", F(1920), "both")),
            SUM,
        ),
        Step(
            "best gap: kl c B Delta / (2 K T) = c e^3 q",
            "all positive values",
            "symbolic",
            information,
            (*off("factor", F(2), "both"), changed(power=2)),
            "not in the paper",
        ),
        Step(
            "best cap: 1/c + sqrt(c e^3 q) = 3 e q^(1/3) / 2^(2/3)",
            "c = 2^(2/3) / (e q^(1/3))",
            "symbolic",
            best_value,
            (*off("three", F(3), "both"), *off("two", F(2), "both")),
            "not in the paper",
        ),
        Step(
            "no cap does better: 1/w^2 + 2 w >= 3",
            "w > 0",
            "symbolic",
            best_cap,
            (*off("three", F(3), "more"), changed(below=False)),
            "not in the paper",
        ),
        Step(
            "best gap: e (a - 3 e g / 2^(2/3)) = a^2 2^(2/3) (2 - g) / 12",
            "e = a 2^(2/3) / 6",
            "symbolic",
            best_constant,
            (*off("twelfth", F(12), "both"), *off("two", F(2), "both")),
            "not in the paper",
        ),
        Step(
            "2^(2/3) / 12 = 1 / (3 * 2^(4/3))",
            "a number",
            "symbolic",
            written,
            tuple(off("three", F(3), "both")),
            "not in the paper",
        ),
        Step(
            "2 - q^(1/3) >= 2/3",
            "Delta >= 2, V <= B / K",
            "interval",
            whole_range,
            (
                *off("share", F(2, 3), "more"),
                *off("twice", F(2), "more"),
                *off("sixth", F(6), "less"),
            ),
            "not in the paper",
        ),
    ),
)
