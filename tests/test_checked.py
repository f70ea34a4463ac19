"""The machine-checked proofs: every step is certified, and every mutant is accounted for."""

from __future__ import annotations

import doctest
import math
import subprocess
import sys
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from confee.paper import checked, proofs, theory
from confee.paper.checked import PROOFS, certify, declared_survivors, judge, mutants, rexp3b
from confee.paper.checked.__main__ import END, START, block
from confee.paper.checked.schedules import Rules, play
from confee.paper.checked.steps import off
from confee.world.path import Path as World
from support import plays

DOCS = Path(__file__).parents[1] / "docs" / "proofs"
NAMES = sorted(PROOFS)


@cache
def score(name):
    return mutants(PROOFS[name])


# ------------------------------------------------------------------ steps and mutants


@pytest.mark.parametrize("name", NAMES)
def test_every_step_is_certified(name):
    judged = judge(PROOFS[name])
    assert [step for step, ok in judged if not ok] == []
    assert len(judged) == len(PROOFS[name].checked) > 0


@pytest.mark.parametrize("name", NAMES)
def test_the_survivors_are_those_declared_with_a_reason(name):
    assert set(score(name).survivors) == set(declared_survivors(PROOFS[name]))
    assert score(name).killed == score(name).total - len(score(name).survivors)


@pytest.mark.parametrize("name", NAMES)
def test_the_page_publishes_the_computed_share(name):
    text = (DOCS / PROOFS[name].page).read_text(encoding="utf-8")
    assert text.split(START)[1].split(END)[0] == block(PROOFS[name], score(name))


@pytest.mark.parametrize("name", NAMES)
def test_every_checked_step_has_mutants_and_a_domain(name):
    for step in PROOFS[name].steps:
        assert step.certified in ("symbolic", "interval", "exhaustive", "cited")
        assert step.domain
        assert step.place
        if step.certified == "cited":
            assert step.source
            with pytest.raises(ValueError, match="cited"):
                step.check()
        else:
            assert step.mutants, step.name


@pytest.mark.parametrize("name", NAMES)
def test_names_of_steps_and_of_their_mutants_are_distinct(name):
    steps = PROOFS[name].steps
    assert len({step.name for step in steps}) == len(steps)
    for step in steps:
        assert len({mutant.name for mutant in step.mutants}) == len(step.mutants)


def test_the_pages_are_short_and_listed():
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    for proof in PROOFS.values():
        text = (DOCS / proof.page).read_text(encoding="utf-8").split(START)[0]
        assert len(text.split()) < 800
        assert f"({proof.page})" in index


# ------------------------------------------------------------------ certifiers


def test_an_identity_off_by_a_little_is_rejected():
    import sympy as sp

    x = sp.symbols("x", positive=True)
    root = sp.sqrt(x + 1) ** 2
    assert certify.identity(root, x + 1)
    assert not certify.identity(root, x + 1 + Fraction(1, 10**12))
    assert certify.same_function(sp.log(x**2), 2 * sp.log(x), x, 1)
    assert not certify.same_function(sp.log(x**2), 2 * sp.log(x) + 1, x, 1)
    assert not certify.same_function(sp.log(x**2), 3 * sp.log(x), x, 1)


def test_a_false_polynomial_inequality_is_rejected():
    import sympy as sp

    x, y = sp.symbols("x y", positive=True)
    above_2 = [(x, 2 + y)]
    assert certify.nonnegative(x**2 - 4, above_2)
    assert not certify.nonnegative(x**2 - 4 - Fraction(1, 10**12), above_2)
    assert not certify.nonnegative(1 / (x - 3), above_2)  # the denominator changes sign
    assert not certify.nonnegative(x - 1)
    assert not certify.nonnegative(x**2 - 4, above_2, [(x, 1 + y)])  # each case counts


def test_a_false_inequality_on_an_interval_is_rejected():
    import sympy as sp

    x = sp.symbols("x", positive=True)
    box = {x: (Fraction(1), Fraction(2))}
    assert certify.at_most(x - x**2 / 2, Fraction(51, 100), box)  # needs bisection
    assert not certify.at_most(x - x**2 / 2, Fraction(49, 100), box)
    assert not certify.at_most(sp.log(x), Fraction(69, 100), box)  # ln 2 = 0.693
    assert certify.at_most(sp.log(x), Fraction(70, 100), box)
    # A difference far below the precision of a float.
    tiny = sp.log(1 + sp.Rational(1, 10**30))
    assert not certify.at_most(sp.Rational(2, 10**30), tiny)


def test_intervals_hold_the_value():
    import sympy as sp
    from mpmath import iv, mp

    x = sp.symbols("x", positive=True)
    expression = sp.sqrt(x) * sp.log(1 + x) - sp.E / x + x ** sp.Rational(-2, 3)
    found = certify.enclose(expression, {x: iv.mpf(3) / 7})
    with mp.workdps(40):
        value = mp.mpf(str(sp.N(expression.subs(x, sp.Rational(3, 7)), 40)))
        assert mp.mpf(found.a) <= value <= mp.mpf(found.b)
    assert found.delta < 1e-12
    with pytest.raises(TypeError, match="no interval"):
        certify.enclose(sp.sin(x), {x: iv.mpf(1)})


def test_a_false_enumeration_is_rejected():
    assert certify.everywhere(((n,) for n in range(9)), lambda n: n < 9)
    assert not certify.everywhere(((n,) for n in range(10)), lambda n: n < 9)
    assert not certify.everywhere([], lambda: True)  # no case, no proof
    assert not certify.somewhere([(1,)], lambda n: n > 1)


def test_floats_are_no_exact_constants():
    with pytest.raises(TypeError, match="exact"):
        certify.exact(0.1)


def test_mutants_are_off_by_5_percent():
    assert [m.changes["c"] for m in off("c", Fraction(2), "both")] == [
        Fraction(19, 10),
        Fraction(21, 10),
    ]
    assert [m.changes["c"] for m in off("c", 20, "more")] == [21]


def test_importing_the_package_does_not_import_sympy():
    code = "import sys, confee, confee.paper.checked; sys.exit('sympy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


# ------------------------------------------------------------------ the enumeration and the kernel


def run(T, B, seed, policy="hyque", **options):
    path = World.steps(np.ones(1), np.linspace(0.3, 0.7, 2)[None], T)
    return plays.play(policy, path, B, 0, seed, **options)


@pytest.mark.parametrize(("T", "B"), [(7, 5), (13, 6), (20, 20), (22, 10), (25, 6), (29, 3)])
def test_the_kernel_stays_in_what_the_enumeration_allows_and_reaches_its_ends(T, B):
    out = play(T, B)
    rows = [run(T, B, seed) for seed in range(400)]
    baseline = {row["queries"] - row["conversions"] for row in rows}
    assert max(row["queries"] for row in rows) == out.queries <= B
    assert max(row["conversions"] for row in rows) <= out.conversions
    assert (min(baseline), max(baseline)) == (out.least_baseline, out.baseline)
    if out.b < 10:  # every schedule turns up
        assert max(row["conversions"] for row in rows) == out.conversions


def test_quotas_over_the_whole_block_exceed_the_budget_in_both():
    assert play(304, 7).queries <= 7
    assert play(304, 7, Rules(quota="block")).queries > 7
    assert max(run(304, 7, seed, quota="block")["denied"] for seed in range(200)) > 0


def test_the_example_of_the_page_is_played():
    rows = [run(7, 5, seed) for seed in range(40)]
    assert max(row["conversions"] for row in rows) == 3 > 5 - 7 / 3


@pytest.mark.slow
def test_conversions_of_the_kernel_as_the_page_says():
    runs, sizes, above = 0, 0, 0
    for T in range(7, 61):
        for B in range(2, T + 1):
            b = theory.slot_length(T, B)
            rows = [run(T, B, seed) for seed in range(40)]
            runs += len(rows)
            most = max(row["conversions"] for row in rows)
            assert most <= B - T // b
            sizes += T % b > 0
            above += most > B - T / b
    assert (runs, sizes, above) == (70_200, 1_242, 153)


# ------------------------------------------------------------------ numbers that others use


@pytest.mark.parametrize("K", [2, 4, 10, 32])
@pytest.mark.parametrize("rounds_per_query", [1, 10, 1000])
def test_the_constant_of_rexp3b_is_the_limit_of_its_bound(K, rounds_per_query):
    B, V = 10**15, 10.0
    T = B * rounds_per_query
    limit = rexp3b.bound(K, T, B, V) / theory.rate(K, T, B, V)
    assert limit == pytest.approx(rexp3b.constant(K, B / T), rel=1e-4)
    assert rexp3b.constant(K, B / T) <= rexp3b.constant(K)
    printed = proofs.rexp3b_bound(K, T, B, V) / theory.rate(K, T, B, V)
    s = B / T
    stated = math.log(K) ** (1 / 3) * (2 * math.sqrt(math.e - 1) * (1 + s) + 6 + 2 * s)
    assert printed == pytest.approx(stated, rel=1e-4)


def test_the_bound_of_rexp3b_is_below_the_printed_one_where_the_page_says():
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(20_000):
        K = int(rng.choice([2, 3, 4, 10, 32]))
        T = int(10 ** rng.uniform(2, 8))
        B = int(K * (T / K) ** rng.uniform(0, 1))
        V = float(math.exp(rng.uniform(-math.log(K), math.log(B / K))))
        try:
            bound = rexp3b.bound(K, T, B, V)
        except ValueError:
            refused += 1
            assert K == 2
            assert B > 0.75 * T
            continue
        if theory.rexp3b_batch(K, T, B, V)[0] <= B:
            assert bound <= proofs.rexp3b_bound(K, T, B, V) * (1 + 1e-12)
    assert refused < 20
    with pytest.raises(ValueError, match="less than one query"):
        rexp3b.bound(2, 1000, 999, 499.0)


def test_examples_in_docstrings_are_right():
    for module in (checked, rexp3b):
        outcome = doctest.testmod(module)
        assert outcome.attempted > 0
        assert outcome.failed == 0


def test_the_largest_density_is_the_one_that_the_project_uses():
    for n in range(20):
        for b in range(2, 40):
            exact = Fraction(2 ** (n + 1) - 1, b * (2**n - 1) + 2**n)
            assert proofs.densest_phase(n, b) == pytest.approx(float(exact), rel=1e-12)


def test_the_improved_constant_of_the_lower_bound_is_the_one_that_the_project_uses():
    for K in (2, 3, 10):
        page = (1 - 1 / K) ** 2 / (3 * 2 ** (4 / 3))
        assert proofs.unconditional_constant(K)[1] == pytest.approx(page, rel=1e-12)
