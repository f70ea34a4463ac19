"""GLR-UCB (Besson, Kaufmann, Maillard, Seznec 2022, Algorithm 1) under a query schedule: UCB1 that
restarts when a Bernoulli generalised likelihood ratio test detects a change. Given T and B.

After each play of an arm the test considers its n rewards since the restart, split after the first
s of them. It detects a change if

    max_s  s kl(mean of the first s, mean) + (n - s) kl(mean of the rest, mean) >= beta(n, delta),

with delta = 1/sqrt(Q) and beta = ln(3 n sqrt(n) / delta), the practical threshold of the authors'
2019 preprint (their paper of 2022 and its code leave out the 3). In cycles of
floor(K / alpha_k) queries the first K are one of each arm, in an order drawn at random, with
alpha_k = sqrt(k K ln Q / Q) after k - 1 restarts: their tuning without the number of changes
(`forced: constant` keeps alpha_1; their tuning for C known changes is alpha_1 sqrt(C)).

The index is UCB1's instead of kl-UCB's. After a local restart its clock is the number of plays in
use, as in CUSUM-UCB; they give each arm its own clock.

Splits tested: those with s or n - s in a grid that grows by `ratio`. Testing a subset of the splits
does not add false alarms (they test every 10 rounds, at every 5th or 10th s). A change d plays ago
is tested at its own split if d is in the grid, and otherwise at a split at most d (1 - 1 / ratio)
plays away. With Q = 10^4 a jump from 1/4 to 3/4 after 300 plays is detected after 28 plays on
average, and after 26 if all splits are tested.

Cost: O(log n) splits per query, most of them without a logarithm, because chi^2 bounds kl. With
B = 500 000 a query takes 2.6 to 2.9 times as long as UCB1's at K = 10, and 3.6 times at K = 2 on a
stationary path, where an arm has the most splits. Memory: K (B + 1) counts are reserved, and at
most B + K of them are used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from confee.core import schema
from confee.core.jit import inlined, leaf, njit
from confee.policies.base import Policy
from confee.policies.detecting import (
    after_query,
    before_query,
    cycle,
    forced,
    forget,
    forget_all,
    new_instance,
    shuffled,
    take_away,
)
from confee.policies.look import DOT, Look
from confee.policies.queries import ScheduleOptions, new_schedule, next_query, schedule_kind
from confee.policies.ucb import PLAYS, REWARDS, choose, update
from confee.world.game import idle, new_data, new_memories, query


class Parameters(NamedTuple):
    """What the kernel is given beside the sizes.

    Parameters
    ----------
    kind
        The query schedule.
    exploration
        The factor of the logarithm in UCB1's index.
    delta
        The level of the test.
    alpha, growing
        The share of forced queries, and whether it grows with each restart.
    ratio
        The ratio of neighbours in the grid of splits.
    local
        Whether only the arm that changed is forgotten.
    """

    kind: int
    exploration: float
    delta: float
    alpha: float
    growing: bool
    ratio: float
    local: bool


@njit
def play(world, ledger, K, T, B, p, rng):
    """Idle rounds play arms by the frequency of the plays in use; any arm while there are none."""
    ucb = new_instance(K)
    plays, anyone = ucb[PLAYS], np.ones(K)
    in_use = 0
    sums = np.empty((K, B + 1), dtype=np.int32)  # sums[k, n]: rewards of arm k's first n plays
    sums[:, 0] = 0
    splits = split_grid(B, p.ratio)
    order = shuffled(K, rng)
    length = cycle(K, p.alpha)
    data, parts = new_data(K), new_memories(K, world)
    schedule = new_schedule(p.kind, T, B)
    t = next_query(schedule, ledger, rng)
    idle(world, ledger, data, 1, t, anyone, rng)
    while t <= T:
        arm = forced(order, ledger.queries, length)
        if arm < 0:
            arm, _ = choose(ucb, max(in_use, K), p.exploration, rng)
        if p.local:
            before_query(ledger, data, parts[arm])
        reward = query(world, ledger, data, t, arm, rng)
        if p.local:
            after_query(world, ledger, data, parts[arm], t)
        update(ucb, arm, reward)
        in_use += 1
        n = int(plays[arm])
        sums[arm, n] = int(ucb[REWARDS, arm])
        if changed(sums, arm, n, splits, threshold(n, p.delta)):
            ledger.restarts += 1
            if p.growing:
                length = cycle(K, min(1.0, p.alpha * math.sqrt(ledger.restarts + 1.0)))
            if p.local:
                in_use -= n
                forget(ucb, arm)
                take_away(world, data, parts[arm])
            else:
                in_use = 0
                forget_all(ucb)
                data[:] = 0.0
        after = t + 1
        t = next_query(schedule, ledger, rng)
        idle(world, ledger, data, after, t, plays if in_use > 0 else anyone, rng)


@njit
def split_grid(B, ratio):
    """The splits up to B/2: each is `ratio` times the one before, rounded down, or the next."""
    grid = np.empty(B, dtype=np.int64)
    count, split = 0, 1
    while 2 * split <= B:
        grid[count] = split
        count += 1
        split = max(split + 1, int(split * ratio))
    return grid[:count].copy()


@leaf
def threshold(n, delta):
    """beta(n, delta) = ln(3 n sqrt(n) / delta)."""
    return math.log(3.0 / delta) + 1.5 * math.log(n)


@leaf
def changed(sums, arm, n, splits, beta):
    """Whether the log likelihood ratio at some split of the grid is at least beta.

    It can be only where a bound on it is, so the bound is looked at first (`bar_of`).

    Parameters
    ----------
    sums
        sums[arm, m]: rewards of the arm's first m plays, 0 or 1 each.
    n
        Its plays.
    splits
        As `split_grid` makes them.
    """
    total = sums[arm, n]
    if total == 0 or total == n:
        return False
    bar = bar_of(total / n, n, beta)
    return reaches(sums, arm, n, splits, bar) and changed_by_ratio(sums, arm, n, splits, beta)


@inlined
def reaches(sums, arm, n, splits, bar):
    """Whether D^2 >= bar s (n - s) at some split s of the grid, from either end, with
    D = (sum of the first s) - s mean. There is no branch, so that the processor looks at several
    splits at once."""
    total = sums[arm, n]
    mean = total / n
    own, reached = sums[arm], False
    for i in range(tried(splits, n)):
        s = float(splits[i])
        reach = bar * s * (n - s)
        early = own[splits[i]] - s * mean
        late = total - own[n - splits[i]] - s * mean
        reached |= (early * early >= reach) | (late * late >= reach)
    return reached


@inlined
def bar_of(mean, n, beta):
    """The bound: kl(p, q) <= (p - q)^2 / (q (1 - q)), so the ratio at a split after s plays is at
    most n D^2 / (s (n - s) q (1 - q)) with D = (sum of the first s) - s q. It reaches beta only if
    D^2 >= bar s (n - s)."""
    return (1.0 - 1e-9) * beta * mean * (1.0 - mean) / n


@inlined
def tried(splits, n):
    """How many splits s of the grid have 2 s <= n."""
    low, high = 0, splits.shape[0]
    while low < high:
        middle = (low + high) // 2
        if 2 * splits[middle] <= n:
            low = middle + 1
        else:
            high = middle
    return low


@leaf
def changed_by_ratio(sums, arm, n, splits, beta):
    """`changed` by the ratios themselves, at each split whose bound reaches beta."""
    total = sums[arm, n]
    if total == 0 or total == n:
        return False
    mean = total / n
    bar = bar_of(mean, n, beta)
    for i in range(splits.shape[0]):
        s = splits[i]
        if 2 * s > n:
            break
        reach = bar * s * (n - s)
        early = sums[arm, s] - s * mean
        if early * early >= reach and ratio_at(sums[arm, s], s, total, n) >= beta:
            return True
        late = total - sums[arm, n - s] - s * mean
        if late * late >= reach and ratio_at(sums[arm, n - s], n - s, total, n) >= beta:
            return True
    return False


@leaf
def ratio_at(first, s, total, n):
    """The log likelihood ratio of a change after s of n rewards; `first` is the sum of those s."""
    mean = total / n
    rest = n - s
    return s * kl(first / s, mean) + rest * kl((total - first) / rest, mean)


@leaf
def kl(p, q):
    """The relative entropy of Bernoulli distributions with means p and q, 0 < q < 1."""
    divergence = 0.0
    if p > 0.0:
        divergence += p * math.log(p / q)
    if p < 1.0:
        divergence += (1.0 - p) * math.log((1.0 - p) / (1.0 - q))
    return divergence


@dataclass(frozen=True)
class Options(ScheduleOptions):
    """The options of GLR-UCB: its index, restarts, forced queries and test."""

    exploration: float = schema.real(
        2.0, above=0, about="the index is mean + sqrt(exploration ln(plays in use) / plays)"
    )
    restart: str = schema.choice(
        "global",
        "global",
        "local",
        about="what an alarm makes the policy forget: all arms, or the one that changed",
    )
    forced: str = schema.choice(
        "growing",
        "growing",
        "constant",
        about="share of forced queries: alpha sqrt(restarts + 1), or alpha",
    )
    alpha_scale: float = schema.real(
        1.0,
        above=0,
        high=1e6,
        about="multiplies the share of forced queries, alpha = sqrt(K ln Q / Q)",
    )
    delta_scale: float = schema.real(
        1.0, above=0, high=1e6, about="multiplies the level of the test, delta = 1 / sqrt(Q)"
    )
    ratio: float = schema.real(
        1.25, above=1, high=1000, about="ratio of neighbouring split points that are tested"
    )


def arguments(known, options):
    K, B = known.K, known.B
    parameters = Parameters(
        kind=schedule_kind(options),
        exploration=float(options.exploration),
        delta=min(1.0, options.delta_scale / math.sqrt(B)),
        alpha=min(1.0, options.alpha_scale * math.sqrt(K * math.log(B) / B)),
        growing=options.forced == "growing",
        ratio=float(options.ratio),
        local=options.restart == "local",
    )
    return (parameters,)


POLICY = Policy(
    id="glr_ucb",
    name="GLR-UCB",
    summary="UCB1 restarted by Bernoulli likelihood ratio tests, under a query schedule",
    kernel=play,
    options=Options,
    arguments=arguments,
    look=Look("#3268D5", "$G$", DOT, place=15),
)
