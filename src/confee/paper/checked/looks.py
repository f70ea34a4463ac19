"""The steps of docs/proofs/looks.md: what a look of Lookout costs, and that it does not end early.

A look at scale eps sums 4 eps (X - m - eps/2) over the rewards X of an arm that had mean m when the
look began, and ends when the sum is at most -h.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction as F

from confee.paper.checked.certify import at_most, everywhere, identity, nonnegative, same_function
from confee.paper.checked.steps import Mutant, Proof, Step, changed, off

SCALES = (F(1, 4), F(1, 2), F(1))
PLAYS = 32
"""Plays of a look, in the enumerations."""


def drift(per_play: F = F(2)) -> bool:
    """The mean step of the walk is -2 eps^2 if the arm has not moved."""
    import sympy as sp

    eps, m = sp.symbols("eps m", positive=True)
    mean_step = 4 * eps * (m - (m + eps / 2))
    return identity(mean_step, -sp.Rational(per_play.numerator, per_play.denominator) * eps**2)


def _walks(mean: F, m: F, eps: F, h: F) -> Iterator[tuple[F, F]]:
    """Yield after each play the chance that the look goes on, and the chance that it has ended."""
    up, down = 4 * eps * (1 - m - eps / 2), -4 * eps * (m + eps / 2)
    alive, ended = {F(0): F(1)}, F(0)
    for _ in range(PLAYS):
        after: dict[F, F] = {}
        for at, chance in alive.items():
            for step, share in ((up, mean), (down, 1 - mean)):
                if share == 0:
                    continue
                if at + step <= -h:
                    ended += chance * share
                else:
                    after[at + step] = after.get(at + step, F(0)) + chance * share
        alive = after
        yield sum(alive.values(), F(0)), ended


def _starts() -> Iterator[tuple[F, F]]:
    """Yield (eps, m) with m + eps at most 1."""
    for eps in SCALES:
        for quarter in range(5):
            if F(quarter, 4) + eps <= 1:
                yield eps, F(quarter, 4)


def plays(overshoot: F = F(4), per_play: F = F(2), h: F = F(1)) -> bool:
    """A look of an arm that has not moved has at most (h + 4 eps (m + eps / 2)) / (2 eps^2) plays
    on average."""

    def holds(eps: F, m: F) -> bool:
        expected = 1 + sum(alive for alive, _ in _walks(m, m, eps, h))
        return expected <= (h + overshoot * eps * (m + eps / 2)) / (per_play * eps**2)

    return everywhere(((eps, F(quarter, 4)) for eps in SCALES for quarter in range(5)), holds)


def cost(first: F = F(1), second: F = F(4)) -> bool:
    """The integral over eps from g to 1 of (2 r / h) (h + 4 eps (1 - g + eps / 2)) / (2 eps^2) is
    r (1 / g - 1) + (4 r / h) (1 - g) (ln(1 / g) + 1 / 2)."""
    import sympy as sp

    g, eps, r, h = sp.symbols("g eps r h", positive=True)
    inside = 2 * r / h * (h + 4 * eps * (1 - g + eps / 2)) / (2 * eps**2)
    over_g = sp.integrate(sp.expand(inside), (eps, g, 1))
    a, b = (sp.Rational(x.numerator, x.denominator) for x in (first, second))
    half = sp.Rational(1, 2)
    closed = a * r * (1 / g - 1) + b * r / h * (1 - g) * (sp.log(1 / g) + half)
    return same_function(sp.expand_log(over_g, force=True), closed, g, 1)


def entropy(most: F = F(3, 8)) -> bool:
    """g (1 - g) (ln(1/g) + 1/2) <= 3/8, with g = exp(-s): less than (s + 1/2) exp(-s), which falls
    from s = 1/2 on."""
    import sympy as sp

    s = sp.Symbol("s", nonnegative=True)
    half = sp.Rational(1, 2)
    return at_most(sp.exp(-s) * (1 - sp.exp(-s)) * (s + half), most, {s: (F(0), F(8))})


def supermartingale(variance: F = F(1, 8), rise: F = F(1)) -> bool:
    """Hoeffding's exponent of exp(-walk) is at most 0 if the arm rose by eps or more."""
    import sympy as sp

    eps, more = sp.symbols("eps more", nonnegative=True)
    v, share = (sp.Rational(x.numerator, x.denominator) for x in (variance, rise))
    rate = 4 * eps
    exponent = -rate * (share * eps + more - eps / 2) + v * rate**2
    return nonnegative(-exponent)


def not_lost(rise: F = F(1), most: F = F(3678, 10_000)) -> bool:
    """A look of an arm that rose by eps ends at -h = -1 with a chance of at most 1/e."""

    def holds(eps: F, m: F) -> bool:
        *_, (_, ended) = _walks(m + rise * eps, m, eps, F(1))
        return ended <= most

    return everywhere(_starts(), holds)


def balance(loss: F = F(2)) -> bool:
    """a x + b / x is at least 2 sqrt(a b), with equality at x = sqrt(b / a)."""
    import sympy as sp

    a, b = sp.symbols("a b", positive=True)
    x = sp.sqrt(b / a)
    factor = sp.Rational(loss.numerator, loss.denominator)
    return identity(a * x + b / x, factor * sp.sqrt(a) * sp.sqrt(b))


ASIDE = "not in the paper: the policy lookout"

PROOF = Proof(
    "looks",
    "Looks of the policy Lookout",
    "looks.md",
    (
        Step(
            "the walk of an arm that has not moved falls by 2 eps^2 a play",
            "every eps and m",
            "symbolic",
            drift,
            tuple(off("per_play", F(2), "both")),
            ASIDE,
        ),
        Step(
            "such a look has at most (h + 4 eps (m + eps / 2)) / (2 eps^2) plays on average",
            f"h = 1, eps = 1/4, 1/2, 1, m in quarters, the first {PLAYS} plays",
            "exhaustive",
            plays,
            (changed(overshoot=F(0)), changed(per_play=F(4))),
            ASIDE,
        ),
        Step(
            "its cost over all scales is r (1 - g) + (4 r / h) g (1 - g) (ln(1 / g) + 1/2) a query",
            "every gap g in (0, 1]",
            "symbolic",
            cost,
            (*off("first", F(1), "both"), *off("second", F(4), "both")),
            ASIDE,
        ),
        Step(
            "g (1 - g) (ln(1 / g) + 1/2) <= 3/8",
            "s = ln(1 / g) up to 8; beyond, it is less than (s + 1/2) exp(-s), which falls",
            "interval",
            entropy,
            tuple(off("most", F(3, 8), "less")),
            ASIDE,
        ),
        Step(
            "exp(-walk) is a supermartingale if the arm rose by eps or more",
            "rewards in [0, 1]",
            "symbolic",
            supermartingale,
            (*off("variance", F(1, 8), "more"), changed(rise=F(1, 2))),
            ASIDE,
        ),
        Step(
            "so the look of such an arm ends at -h with a chance of at most exp(-h)",
            f"h = 1, eps = 1/4, 1/2, 1, m in quarters, the first {PLAYS} plays",
            "exhaustive",
            not_lost,
            (Mutant("an arm that rose by eps/2", {"rise": F(1, 2)}),),
            ASIDE,
        ),
        Step(
            "a x + b / x = 2 sqrt(a b) at x = sqrt(b / a)",
            "a, b > 0",
            "symbolic",
            balance,
            tuple(off("loss", F(2), "both")),
            ASIDE,
        ),
        Step(
            "Hoeffding's lemma: E exp(-x (X - mean)) <= exp(x^2 / 8) for X in [0, 1]",
            "every x",
            "cited",
            place=ASIDE,
            source="Hoeffding 1963, (4.16)",
        ),
        Step(
            "Ville's inequality and Wald's identity",
            "bounded steps",
            "cited",
            place=ASIDE,
            source="Ville 1939; Wald 1944",
        ),
    ),
)
