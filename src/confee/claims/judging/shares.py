"""What claims on probabilities share: exact limits of the share of runs that do something."""

from __future__ import annotations

LEVEL = 0.05
"""Two-sided level of the limits, of all groups of a claim together (Bonferroni)."""


def limits(count: int, runs: int, level: float = LEVEL) -> tuple[float, float]:
    """Exact binomial limits (Clopper and Pearson 1934) of a probability: count out of runs."""
    from scipy import stats

    low = float(stats.beta.ppf(level / 2, count, runs - count + 1)) if count else 0.0
    high = float(stats.beta.isf(level / 2, count + 1, runs - count)) if count < runs else 1.0
    return low, high
