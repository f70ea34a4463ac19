"""The variation of a path, summed round by round."""

from __future__ import annotations

import numpy as np

from confee.world.path import Path
from confee.world.structured import Structured


def brute_variation(path):
    if isinstance(path, Structured):  # of theta, round by round
        lines = Path(path.start, path.theta, (path.end - path.theta) / steps(path)[:, None])
        return np.linalg.norm(np.diff(lines.means(), axis=0), axis=1).sum()
    return np.abs(np.diff(path.means(), axis=0)).max(axis=1).sum()


def steps(path):
    """In how many steps each segment gets from its first round to its last; 1 if it has one."""
    return np.maximum(np.diff(path.start) - 1, 1)
