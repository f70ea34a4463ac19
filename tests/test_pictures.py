"""Figures against pictures that were looked at; tests/test_pictures.py --write makes them anew."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import matplotlib.image
import numpy as np
import pytest

from confee.rendering import files
from support.pictures import PROVENANCE, experiment
from support.shown import figure

PICTURES = Path(__file__).parent / "pictures"
NAMES = ("block", "regret-B", "pace")
TOLERANCE = 0.02
"""Root mean square of the difference, of 1: another version of a font moves edges of glyphs."""


def difference(one: Path, other: Path) -> float:
    """Root mean square over pixels and colours; infinite if the sizes differ."""
    a, b = (matplotlib.image.imread(path)[..., :3] for path in (one, other))
    return float(np.sqrt(np.mean((a - b) ** 2))) if a.shape == b.shape else np.inf


@pytest.fixture(scope="module")
def data() -> SimpleNamespace:
    return experiment(("hyque", "rexp3b", "uniform"))


@pytest.mark.parametrize("name", NAMES)
def test_a_figure_looks_as_it_did(data, name, tmp_path):
    file = tmp_path / f"{name}.png"
    files.save(figure(name, data), file, PROVENANCE)
    assert difference(file, PICTURES / file.name) <= TOLERANCE


def test_the_tolerance_sees_a_line_that_moved(data, tmp_path):
    """A tenth more regret of one policy at the same axes."""
    moved = data.worst["label"] == "hyque"
    changed = data.worst.assign(regret=data.worst["regret"].mask(moved, data.worst["regret"] * 1.1))
    file = tmp_path / "regret-B.png"
    files.save(figure("regret-B", SimpleNamespace(**{**vars(data), "worst": changed})), file, {})
    assert difference(file, PICTURES / file.name) > TOLERANCE


if __name__ == "__main__" and "--write" in sys.argv:
    for name in NAMES:
        shown = experiment(("hyque", "rexp3b", "uniform"))
        files.save(figure(name, shown), PICTURES / f"{name}.png", PROVENANCE)
