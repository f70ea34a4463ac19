"""Recompute the computed numbers of docs/reading-the-paper.md and of some pages in docs/proofs.

Each test derives a number with `confee.paper` where a function exists, formats it as the page does,
and looks for it in its section, or on its page of proofs.
"""

import math
from pathlib import Path

import numpy as np
import pytest

from confee.paper import proofs, theory

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "reading-the-paper.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    """The text below a heading, up to the next heading of the same level."""
    return PAGE.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def proof(name: str) -> str:
    """Return a page of docs/proofs as one line."""
    return " ".join((DOCS / "proofs" / f"{name}.md").read_text(encoding="utf-8").split())


def sci(x: float) -> str:
    """Two digits, as the page prints them: 1.3\\times10^{11}."""
    mantissa, exponent = f"{x:.1e}".split("e")
    return rf"{mantissa}\times10^{{{int(exponent)}}}"


budget = proofs.power_budget


# ------------------------------------------------------------------ BaQue

DRAWN = [(3, 0), (2, 4), (1, 2), (0, 1), (0, 5), (0, 6)]
"""The started instances (order m, first slot) of the paper's Figure 1: n = 3, b = 2."""


def owners(n: int, started: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """For each of the 2^n slots, the finest started instance over it."""
    return [min((m, s) for m, s in started if s <= slot < s + 2**m) for slot in range(2**n)]


def test_drawn_block_has_the_quotas_and_orders_of_the_page():
    owner = owners(3, DRAWN)
    text = section("BaQue (Algorithm 1)")
    assert "order   " + "  ".join(str(m) for m, _ in owner) in text
    quotas = {instance: owner.count(instance) for instance in DRAWN}
    assert sum(quotas.values()) == 2**3
    rounds = []
    for instance in owner:
        for _ in range(2):
            rounds.append("q" if quotas[instance] else ".")
            quotas[instance] -= rounds[-1] == "q"
    pairs = ["".join(rounds[i : i + 2]) for i in range(0, 16, 2)]
    assert "rounds  " + " ".join(pairs) in text
    # the span of every started instance makes 2^m baseline queries, its own and nested ones
    for m, s in DRAWN:
        assert rounds[2 * s : 2 * (s + 2**m)].count("q") == 2**m


def test_printed_start_times_start_nothing_after_zero():
    for b in range(2, 40):
        printed = [0] + [j * b - 1 for j in range(1, 2**6 + 1)]
        assert [tau for tau in printed if tau % b == 0] == [0]


def test_number_of_started_instances():
    ratios = [sum(2 ** ((n - m) / 2) for m in range(n + 1)) / 2 ** (n / 2) for n in range(60)]
    limit = 2 + math.sqrt(2)
    assert all(r < limit for r in ratios)
    assert ratios[-1] == pytest.approx(limit)
    assert limit == pytest.approx(2 + math.sqrt(2))
    assert "E\\le(2+\\sqrt2)\\,2^{n/2}" in proof("streaks")


# ------------------------------------------------------------------ change tests


@pytest.mark.parametrize("exponent", [1, 0.8])
def test_first_horizon_of_the_change_tests(exponent):
    name = "$B=T$" if exponent == 1 else "$B=T^{0.8}$"
    for K in (2, 10):
        whole, two, one = proofs.first_horizons(K, exponent).values()
        assert whole < two < one
        cells = " | ".join(f"${sci(T)}$" for T in (whole, one))
        assert f"| {name} | {K} | {cells} |" in PAGE


def test_a_single_query_cannot_restart():
    assert all(proofs.change_threshold(3, T, 1, 2) > 1 for T in (4, 10**2, 10**10))


# ------------------------------------------------------------------ errors of the paper


def windows(T: int, exponent: float) -> tuple[float, float]:
    """(share, expected number) of disjoint windows of T/sqrt(B) rounds without a start.

    In the largest complete block, with the start probabilities of Algorithm 1; exact for windows
    of whole slots.
    """
    B = budget(T, exponent)
    b = theory.slot_length(T, B)
    n = proofs.largest_order(T, B)
    length = math.ceil(T / math.sqrt(B) / b)
    edges = np.arange(0, 2**n - length + 1, length) + 1  # slot 0 always starts order n
    log_none = np.zeros(len(edges))
    for m in range(n):
        starts = (edges + length - 1) // 2**m - (edges - 1) // 2**m
        log_none += starts * math.log1p(-(2 ** ((m - n) / 2)))
    none = np.exp(log_none)
    return float(none.mean()), float(none.sum())


def test_idle_run_lemma():
    T = 10**8
    page = proof("streaks")
    numbers = [round(windows(T, exponent)[1]) for exponent in (0.8, 0.9)]
    printed = [budget(T, exponent) ** 0.75 / math.sqrt(T) for exponent in (0.8, 0.9)]
    assert "{} such disjoint windows at $`B=T^{{0.8}}`$ and {} at".format(*numbers) in page
    assert "{:.1f} and {:.1f}".format(*printed) in page
    shares = [windows(10**k, e)[0] for k in (6, 8, 10) for e in (0.8, 0.9, 1)]
    assert f"{100 * min(shares):.1f} % to {100 * max(shares):.1f} %" in page


def test_query_run_remark():
    T = 10**8
    B = budget(T, 0.9)
    n = proofs.largest_order(T, B)
    assert f"{2**n / (T / math.sqrt(B)):.0f} windows" in proof("streaks")


def test_density_needs_divisibility():
    T, B = 10**6, 999_999
    b = theory.slot_length(T, B)
    assert b == 3
    assert f"{(1 / b) / (B / (2 * T)):.2f}" in proof("density")
    for B in range(2, 2001):
        b = theory.slot_length(2000, B)
        assert (1 / b == B / 4000) == (4000 % B == 0)
        assert 1 / b <= B / 4000


def test_density_of_a_phase_that_ends_early_in_a_block():
    """2^{n+1} - 1 queries in b(2^n - 1) + 2^n rounds beat 2/b exactly when b > 2^{n+1}."""
    for b in range(2, 200):
        for n in range(10):
            passes = (2 ** (n + 1) - 1) * b > 2 * (b * (2**n - 1) + 2**n)
            assert passes == (b > 2 ** (n + 1))
    assert "if $`b>2^{n+1}`$" in proof("density")


def test_wishes_past_the_budget():
    """Most a last block of f b 2^n rounds can wish past its share, as a fraction of B (fb >= 1)."""
    worst = {f: (1 - 2 * f) / (2 * (1 + f)) for f in (0.01, 0.08)}
    b, n = 200, 20  # B divides 2T when f b is whole: the same from the definition
    for f in (0.01, 0.08):
        T = round(b * (2**n - 1) + f * b * 2**n)
        share = f * b * 2**n * 2 / b
        assert (2**n - share) / (2 * T / b) == pytest.approx(worst[f], rel=1e-5)


def test_conversions():
    T = 10**6
    shares = {B: 1 - T / (theory.slot_length(T, B) * B) for B in (T - 1, T, T // 2, T // 4)}
    assert f"{shares[T - 1]:.3f}" in proof("conversions")
    assert shares[T] == shares[T // 2] == shares[T // 4] == 0.5
    for B in range(1000, T, 997):
        share = 1 - T / (theory.slot_length(T, B) * B)
        assert 0.5 <= share < (1 + B / T) / (2 + B / T) + 1e-12


def in_turn(K: int, t: int) -> float:
    """Mean of g~ - R over rho(t) when every arm pays exactly 1/2 and UCB1 plays them in turn."""
    tau = np.arange(t)  # observations so far
    plays = tau // K
    bonus = np.sqrt(2 * np.log(np.maximum(tau, 1)) / np.maximum(plays, 1))
    index = np.where(plays == 0, 1.0, np.minimum(1.0, 0.5 + bonus))
    return float((index - 0.5).mean()) / theory.rho(t, K)


def test_ucb_constant():
    text = " ".join(section("Why Lemma B.3 fails").split())
    assert f"{in_turn(2, 10**6):.2f} $\\rho(t)$" in text
    assert all(in_turn(K, 10**k) > 1 for K in (2, 5, 10) for k in (3, 4, 5, 6))
    assert f"2\\sqrt2 \\approx {2 * math.sqrt(2):.2f}" in text
    assert sci(proofs.pessimism(0.75, 40)) in text
    assert in_turn(2, 10**6) < 2 * math.sqrt(2)


def test_index_falls_with_every_play():
    before, after = (math.sqrt(2 * math.log(tau) / n) for tau, n in ((1000, 100), (1001, 101)))
    assert after < before


def test_kl():
    ratio = [-math.log(1 - 4 * e * e) / 2 / (e * e) for e in np.linspace(1e-3, 0.25, 500)]
    assert min(ratio) > 2
    assert ratio == sorted(ratio)
    erratum = (DOCS / "erratum.md").read_text(encoding="utf-8")
    assert f"from 2 to {max(ratio):.2f}" in erratum
    assert max(ratio) < 4  # what the next display needs


HARD = [(2, 10**6, 10**5, 1.0), (5, 10**7, 10**6, 3.0), (10, 10**8, 10**8, 0.5)]


@pytest.mark.parametrize(("K", "T", "B", "V"), HARD)
def test_information_per_batch_is_constant(K, T, B, V):
    gap = theory.hard_gap(K, B, V)
    length = gap * T / V
    assert theory.lower_bound_applies(K, T, B, V)
    assert gap**2 * (B * length / T) / K == pytest.approx(1 / 1920)
    assert gap * math.sqrt(30 * B * length / (K * T)) == pytest.approx(1 / 8)
    assert T * gap / 8 == pytest.approx(theory.lower_bound(K, T, B, V))
    uniform = T * gap * (1 - 1 / K)
    assert uniform / theory.lower_bound(K, T, B, V) == pytest.approx(theory.uniform_on_hard(K))
    text = section("Hard instance of the lower bound")
    assert "1/1920" in text
    assert f"{theory.LOWER_BOUND_CONSTANT:.5f}" in text


def test_range_of_v():
    # upper end V = B/K at B = T: Delta >= 1 only from K = 13
    T = 10**6
    holds = [K for K in range(2, 40) if theory.lower_bound_applies(K, T, T, T / K)]
    assert holds[0] == 13
    assert holds == list(range(13, 40))
    # lower end V = 1/K at B = K: Delta <= T only up to K = 43
    fails = [K for K in range(2, 100) if not theory.lower_bound_applies(K, T, K, 1 / K)]
    assert fails[0] == 44
    # epsilon <= 1/4 is V <= 30 B/K and never binds
    assert theory.hard_gap(7, 700, 30 * 700 / 7) == pytest.approx(1 / 4)


def test_constant_of_the_corrected_lower_bound():
    assert f"{proofs.unconditional_constant(2)[1]:.4f} at $`K=2`$" in proof("lower-bound")


def test_rexp3b_unused_budget():
    """A share below 1/(Delta_B + 1) is lost; K = 2 and 3 are below Delta_B = 4 at V = B/K."""
    for x in np.linspace(1, 9.99, 900):
        assert 1 - math.floor(x) / x < 1 / (math.floor(x) + 1)
    T = 10**6
    ideal = {K: K * math.log(K) ** (1 / 3) for K in (2, 3, 4)}
    for K, value in ideal.items():
        assert theory.rexp3b_batch(K, 100 * T, T, T / K)[1] == math.floor(value)
    assert ideal[3] < 4 < ideal[4]
    # Delta_T B/T >= 1 for every V <= B/K, so the maximum with 1 is idle inside the printed range
    assert all(value > 1 for value in ideal.values())


def test_exponents_say_nothing_at_fixed_budget():
    assert theory.EXPONENTS["rate"]["T"] == theory.EXPONENTS["uniform"]["T"] == 0
    T = 10**8
    grown = theory.rate(2, 8 * T, 8 * T, 1) / theory.rate(2, T, T, 1)
    assert grown == pytest.approx(8 ** (2 / 3))


def test_shares_of_stale_rounds_on_the_page_of_findings():
    page = (DOCS / "what-it-found.md").read_text(encoding="utf-8")
    assert f"{proofs.active_share(60, 60):.4f}" == "0.0375"
    assert "0.0375" in page
    shares = [f"{proofs.active_share(60, 60 - j):.2g}" for j in (1, 2, 3)]
    assert ", ".join(shares) in page
