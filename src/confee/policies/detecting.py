"""Parts of the policies that detect changes: forced exploration, and forgetting one arm or all.

An instance is that of `confee.policies.ucb`, with arms that have not been played since they were
forgotten at mean infinity: so they come first, at random, whatever the others are at.

Data in use, where arms are forgotten one by one: the query rounds in which an arm was played since
it was last forgotten, of all arms. So the rounds of each arm are kept apart (`parts`, a row an arm
laid out as data) beside their union, and forgetting an arm takes its part away.
"""

from __future__ import annotations

import numpy as np

from confee.core.jit import leaf, njit
from confee.policies.ucb import MEAN, PLAYS, REWARDS, WIDTH, new_ucb
from confee.world.game import BEHIND, COUNT, fold, remember


def changes(S: int) -> int:
    """Changes to prepare for when told of S pieces: S - 1, but at least one.

    S counts changes of the best arm; other means may change where it says there are none.
    """
    return max(1, S - 1)


@njit
def shuffled(K, rng):
    """The arms in random order: a schedule in which they take turns must not favour any."""
    order = np.arange(K)
    for k in range(K - 1, 0, -1):
        pick = rng.integers(0, k + 1)
        order[k], order[pick] = order[pick], order[k]
    return order


@leaf
def cycle(K, rate):
    """floor(K / rate) queries, K of which are forced; never fewer than those."""
    return max(K, int(K / rate))


@leaf
def forced(order, clock, length):
    """The arm whose turn it is: in the first K queries of each cycle of `length`, else -1."""
    place = clock % length
    return order[place] if place < order.shape[0] else -1


@njit
def new_instance(K):
    """A UCB1 instance whose arms may be forgotten one by one."""
    ucb = new_ucb(K)
    forget_all(ucb)
    return ucb


@leaf
def forget_all(ucb):
    for k in range(ucb.shape[1]):
        forget(ucb, k)


@leaf
def forget(ucb, arm):
    ucb[PLAYS, arm] = 0.0
    ucb[REWARDS, arm] = 0.0
    ucb[MEAN, arm] = np.inf
    ucb[WIDTH, arm] = 0.0


# --------------------------------------------------------------------------- data in use, by arm


@leaf
def before_query(ledger, data, part):
    """Call before a query whose round is to join `part` as well as `data`; then `after_query`."""
    if ledger.literal:  # what a round adds is drawn in `query`: known only by the difference
        K = data.shape[0] - BEHIND
        for k in range(K + 1):
            part[k] -= data[k]


@leaf
def after_query(world, ledger, data, part, t):
    if ledger.literal:
        K = data.shape[0] - BEHIND
        for k in range(K + 1):
            part[k] += data[k]
    else:
        remember(world, part, t, ledger.segment)


@leaf
def take_away(world, data, part):
    """The rounds of `part` leave `data`, and `part` is empty."""
    K = data.shape[0] - BEHIND
    fold(world, data)
    fold(world, part)
    left = data[COUNT] - part[COUNT]
    for k in range(K):
        data[k] = data[k] - part[k] if left > 0.0 else 0.0  # no rounding is left of nothing
    data[COUNT] = left
    part[:] = 0.0
