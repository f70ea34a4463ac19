"""Tables of regrets, as other simulators leave them, whose means follow known laws."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

BUDGETS = [1e4 * 2**i for i in range(7)]


VARIATIONS = [1, 2, 4, 8, 16]


def still(K, B):
    return 1.5 * math.sqrt(K / B)


LAWS = {
    "true": lambda K, B, V: 0.9 * (K * V / B) ** (1 / 3) if V else still(K, B),
    "kept": lambda K, B, V: 0.7 * (K * V / B) ** (1 / 3) if V else still(K, B),
    "flat in B": lambda K, B, V: 0.12 * V ** (1 / 3) * (B / 1e4) ** -0.18 if V else still(K, B),
    "steep in V": lambda K, B, V: 0.02 * V**0.6 * (B / 1.6e5) ** (-1 / 3) if V else still(K, B),
    "bent": lambda K, B, V: (
        0.9 * (K * V / B) ** (1 / 3) * (1 + 3 * (B / 1e4) ** -0.8) if V else still(K, B)
    ),
    "NA": lambda K, B, V: 0.12 * V ** (1 / 3) * (B / 1e4) ** -0.18 if V else still(K, B),
}


def table(names, budgets=BUDGETS, variations=VARIATIONS, seeds=24, noise=0.05, ratio=10, K=4):
    """Runs whose mean regret is a law's, times noise of mean 1."""
    rng = np.random.default_rng(3)
    cells = {(B, V) for B in budgets for V in (0, 4)} | {(1.6e5, V) for V in variations}
    rows = [
        (
            name,
            int(ratio * B),
            int(B),
            V,
            K,
            seed,
            LAWS[name](K, B, V) * ratio * B * (1 + noise * rng.standard_normal()),
        )
        for name in names
        for B, V in sorted(cells)
        for seed in range(seeds)
    ]
    return pd.DataFrame(rows, columns=["policy", "T", "B", "V", "K", "seed", "regret"])
