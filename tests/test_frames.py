"""What is made of loaded runs, against plain loops."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from confee import ConfeeError, simulate, worst_case

CHOOSE, FRESH = 3, 5

FAMILY = [
    {"adversary": "switching", "adversary.gap": 0.1},
    {"adversary": "switching", "adversary.gap": 0.3},
    {"adversary": "packed", "adversary.gap": 0.3, "adversary.target": "hyque"},
    {"adversary": "packed", "adversary.gap": 0.3, "adversary.target": "rexp3b"},
    {"adversary": "single_jump", "adversary.size": 0.4, "adversary.time": "half"},  # no gap
    {"adversary": "random_walk", "adversary.jitter": 0.1},
]


def made(levels, cell, worst=2):
    """Runs of a cell: the family at these levels of regret on the choosing seeds, and those that
    are then worst on fresh ones."""
    rng = np.random.default_rng(len(cell["label"]) + cell["B"])

    def play(i, seeds):
        noise = 30 * rng.standard_normal(len(seeds))
        return [
            {**cell, **FAMILY[i], "seed": seed, "regret": levels[i] + more}
            for seed, more in zip(seeds, noise, strict=True)
        ]

    parts = [play(i, range(CHOOSE)) for i in range(len(FAMILY))]
    means = [statistics.fmean(row["regret"] for row in part) for part in parts]
    for i in sorted(range(len(FAMILY)), key=lambda i: -means[i])[:worst]:
        parts.append(play(i, range(CHOOSE, CHOOSE + FRESH)))
    return [row for part in parts for row in part]


def cells():
    sizes = {"K": 2, "T": 10_000, "V": 2.0}
    for label in ("hyque", "hyque(scale=0.5)"):
        for B in (1000, 2000):
            yield {"policy": "hyque", "label": label, **sizes, "B": B}


LEVELS = {1000: [100, 200, 300, 310, 305, 200], 2000: [100, 200, 220, 250, 500, 510]}


def by_hand(rows):
    """(regret, se, seeds used) of one cell: for each half of the fresh seeds the
    adversary that is worst on all other seeds."""
    of: dict[str, list] = {}
    for row in rows:
        of.setdefault(str([row.get(name) for name in NAMES]), []).append(row)
    total, variance, used = 0.0, 0.0, 0
    for half in (0, 1):
        inside = {
            name: [
                r["regret"]
                for r in mine
                if r["seed"] >= CHOOSE and (r["seed"] - CHOOSE) % 2 == half
            ]
            for name, mine in of.items()
        }
        others = {
            name: statistics.fmean(
                r["regret"] for r in mine if r["seed"] < CHOOSE or (r["seed"] - CHOOSE) % 2 != half
            )
            for name, mine in of.items()
            if inside[name]
        }
        name = max(others, key=others.__getitem__)
        spread = statistics.stdev(r["regret"] for r in of[name] if r["seed"] >= CHOOSE)
        total += sum(inside[name])
        variance += len(inside[name]) * spread**2
        used += len(inside[name])
    return total / used, math.sqrt(variance) / used, used


NAMES = sorted({name for one in FAMILY for name in one})


def test_every_run_is_in_one_cell_and_every_adversary_is_one_of_its_own():
    parts = [made(LEVELS[cell["B"]], cell) for cell in cells()]
    rows = [row for part in parts for row in part]
    runs = pd.DataFrame(rows).sample(frac=1, random_state=1)
    found = worst_case(runs, CHOOSE).set_index(["label", "B"])
    assert len(found) == len(parts)
    for part in parts:
        regret, se, used = by_hand(part)
        row = found.loc[part[0]["label"], part[0]["B"]]
        assert (row["regret"], row["se"], row["seeds"]) == pytest.approx((regret, se, used))
        half = stats.t.ppf(0.975, used - 1) * se
        assert (row["low"], row["high"]) == pytest.approx((regret - half, regret + half))


def test_the_chosen_adversary_is_told_with_all_its_parameters():
    levels = [100, 100, 100, 900, 100, 100]  # `packed` against Rexp3B
    cell = next(cells())
    row = worst_case(pd.DataFrame(made(levels, cell)), CHOOSE).iloc[0]
    told = {name: row[name] for name in row.index.intersection(NAMES) if pd.notna(row[name])}
    assert told == FAMILY[3]


def test_the_number_of_choosing_seeds_is_that_of_the_experiment():
    runs = pd.DataFrame(made(LEVELS[1000], next(cells())))
    runs.attrs["confee"] = {"config": {"seeds": {"choose": CHOOSE}}}
    wanted = worst_case(runs, np.int64(CHOOSE))
    pd.testing.assert_frame_equal(worst_case(runs), wanted)
    pd.testing.assert_frame_equal(worst_case(runs[runs["K"] == 2]), wanted)
    assert worst_case(runs.iloc[:0]).empty


@pytest.mark.parametrize("choose", [None, 0, True, 2.5, "3"])
def test_without_it_nothing_is_guessed(choose):
    runs = simulate("uniform", "switching", K=2, T=100, B=10, V=1, seeds=2)
    with pytest.raises(ConfeeError, match=r"^choose"):
        worst_case(runs, choose)
    assert len(worst_case(runs, 1)) == 1


def test_a_frame_of_something_else_is_refused():
    with pytest.raises(ConfeeError, match=r"^runs: no column .*regret"):
        worst_case(pd.DataFrame({"K": [2]}), 3)
