"""Stand-ins for random numbers that a kernel and its plain reference share."""

from __future__ import annotations

import numpy as np

from support import reference

SCHEDULE = reference.schedule


class Instances:
    """The instances of a run's blocks, the same for whoever asks in the same order."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def plain(self, n, rng, chance):
        return SCHEDULE(n, self.rng, chance)

    def draw_started(self, chances, rng):
        started, _ = SCHEDULE(len(chances) - 1, self.rng, lambda m, n: chances[m])
        keys = sorted((s, -m) for m, s in started)
        return np.array([-m for _, m in keys]), np.array([s for s, _ in keys])


class Never:
    """sw_ucb keeps the first of tied arms while random() is near 1."""

    def random(self):
        return 0.999
