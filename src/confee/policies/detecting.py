"""What policies that detect changes share: forced exploration, and forgetting one arm or all.

An instance is that of `confee.policies.ucb`, except that a forgotten arm has mean infinity until it
is played again. So forgotten arms are played first, in random order.

Where arms are forgotten one by one, the data in use are, over all arms, the query rounds in which
an arm was played since it was last forgotten. The rounds of each arm are kept in a row of `parts`
beside their union `data`, in the same layout; forgetting an arm takes its part out of the union.
"""

from __future__ import annotations

import numpy as np

from confee.core.jit import leaf, njit
from confee.policies.ucb import MEAN, PLAYS, REWARDS, WIDTH, new_ucb
from confee.world.game import BEHIND, COUNT, fold, remember


def changes(S: int) -> int:
    """The number of changes to prepare for, given S: S - 1, but at least one.

    S - 1 counts changes of the best arm; other means may change while it stays best.
    """
    return max(1, S - 1)


@njit
def shuffled(K, rng):
    """The arms in random order, so that taking turns favours none of them."""
    order = np.arange(K)
    for k in range(K - 1, 0, -1):
        pick = rng.integers(0, k + 1)
        order[k], order[pick] = order[pick], order[k]
    return order


@leaf
def cycle(K, rate):
    """The length of a cycle, floor(K / rate) queries, of which K are forced; at least K."""
    return max(K, int(K / rate))


@leaf
def forced(order, clock, length):
    """The arm to play in the first K queries of each cycle of `length` queries; otherwise -1."""
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
    """With `after_query`, let the round of the query in between join `part` as well as `data`."""
    if ledger.literal:  # `query` draws what a round adds, so only the difference shows it.
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
    """Take the rounds of `part` out of `data` and empty `part`."""
    K = data.shape[0] - BEHIND
    fold(world, data)
    fold(world, part)
    left = data[COUNT] - part[COUNT]
    for k in range(K):  # An empty set has sums of exactly 0, whatever was rounded before.
        data[k] = data[k] - part[k] if left > 0.0 else 0.0
    data[COUNT] = left
    part[:] = 0.0
