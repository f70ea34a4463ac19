"""Exact confidence limits of the share of runs, or of drawn blocks, that do something."""

from __future__ import annotations

from typing import Any

LEVEL = 0.05
"""Two-sided level of the limits of all groups of a claim together (Bonferroni)."""


def limits(count: Any, trials: Any, level: float = LEVEL) -> tuple[Any, Any]:
    """Return the exact binomial limits of a probability, at a two-sided `level`.

    Parameters
    ----------
    count, trials
        Numbers, or arrays of equal shape.

    References
    ----------
    Clopper and Pearson 1934, Biometrika 26.
    """
    from statsmodels.stats.proportion import proportion_confint

    return proportion_confint(count, trials, alpha=level, method="beta")
