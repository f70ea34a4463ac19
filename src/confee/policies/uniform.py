"""Control: plays every arm alike and never looks. Its worst case does not depend on B."""

from __future__ import annotations

import numpy as np

from confee.jit import njit
from confee.policies.base import Policy
from confee.world.game import idle, new_data


@njit
def play(world, ledger, K, T, B, rng):
    """One idle run over the whole horizon."""
    idle(world, ledger, new_data(K), 1, T + 1, np.ones(K), rng)


POLICY = Policy(
    id="uniform", summary="control: all arms alike, no queries", kernel=play, told=(), control=True
)
