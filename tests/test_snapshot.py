"""The numbers of a small cell of every policy, digit for digit: catches what changes silently.

A change that is meant (a kernel that draws in another order, say) remakes them:
`.venv/bin/python tests/test_snapshot.py --write`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from confee.core.size import Size
from confee.simulation.calibrate import calibrated
from confee.simulation.cells import cell, opponent
from confee.simulation.play import play
from confee.world.game import COUNTS, SUMS
from support.one_of_each import CASES, label

FILE = Path(__file__).with_name("snapshot.json")
SIZES = {"K": 3, "T": 5000, "B": 1200, "V": 2}
SEEDS = 3
SCALE = 0.0002  # of the calibrated policy: some restarts


def rows(case):
    """The recorded quantities of each seed; floats by their repr."""
    conf, against = case
    one, other = cell(conf, Size(**SIZES)), opponent(against, Size(**SIZES))
    options = calibrated(one, SCALE)
    found = [play(one, other, seed, options) for seed in range(SEEDS)]
    return [
        {name: repr(row[name]) for name in SUMS} | {name: row[name] for name in COUNTS}
        for row in found
    ]


@pytest.mark.parametrize("case", CASES, ids=label)
def test_numbers_are_those_of_the_snapshot(case):
    written = json.loads(FILE.read_text())[label(case)]
    for now, then in zip(rows(case), written, strict=True):
        assert {name: now[name] for name in COUNTS} == {name: then[name] for name in COUNTS}
        for name in SUMS:
            # Sums of parts that cancel are only as good as the parts: 1e-12 of the regret.
            slack = 1e-12 * abs(float(then["regret"]))
            # Where rules are played there are no parts: nan on both sides.
            pinned = pytest.approx(float(then[name]), rel=1e-12, abs=slack, nan_ok=True)
            assert float(now[name]) == pinned


def test_snapshot_holds_nothing_else():
    assert list(json.loads(FILE.read_text())) == [label(case) for case in CASES]


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python tests/test_snapshot.py --write")
    FILE.write_text(json.dumps({label(case): rows(case) for case in CASES}, indent=1) + "\n")
