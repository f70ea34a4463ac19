"""GLR-UCB (Besson, Kaufmann, Maillard, Seznec 2022, Algorithm 1) under a query schedule: UCB1 that
restarts when a Bernoulli generalised likelihood ratio test finds a change. Told T and B only.

After each play of an arm, its n rewards since the restart are split after s of them: a change if

    max_s  s kl(mean of the first s, mean) + (n - s) kl(mean of the rest, mean) >= beta(n, delta),

with delta = 1/sqrt(Q) and beta = ln(3 n sqrt(n) / delta), which the authors recommend in practice
for the threshold of their theorem (their published code leaves out the 3). In cycles of
floor(K / alpha_k) queries the first K are one of each arm, alpha_k = sqrt(k K ln Q / Q) after
k - 1 restarts: their tuning that needs no number of changes (`forced: constant` keeps alpha_1;
theirs with C changes known is alpha_1 sqrt(C)). The arms' turns are in random order.

The index is UCB1's, theirs kl-UCB's. After a local restart its clock is the number of plays in use,
as in CUSUM-UCB; they give each arm a clock of its own.

Splits tried: s or n - s in a grid that grows by `ratio`; at any subset the test keeps its false
alarms (they say so of down-sampling, and test every 10 rounds, at every 5th or 10th s). A change d
plays ago is looked for at its own split when d is in the grid, else at one d / ratio ago or less
far off: a jump from 1/4 to 3/4 after 300 plays is found 28 plays later on average at Q = 10^4, with
all splits 26.

Cost: O(log n) splits a query, most of them without a logarithm, as chi^2 bounds kl. At B = 500 000
2.6 to 2.9 times UCB1 at K = 10, and 3.6 times at K = 2 where nothing changes, for the splits of one
arm are then as many as they get. Memory: K (B + 1) counts are reserved, up to B of them touched.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from confee.core import schema
from confee.core.jit import leaf, njit
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
    """In idle rounds, arms by the frequency of the plays in use; any arm while there are none."""
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
    """1, 2, 3, .. and from where it skips any, each `ratio` times the one before; up to B / 2."""
    found = np.empty(B, dtype=np.int64)
    count, split = 0, 1
    while 2 * split <= B:
        found[count] = split
        count += 1
        split = max(split + 1, int(split * ratio))
    return found[:count].copy()


@leaf
def threshold(n, delta):
    """beta(n, delta) = ln(3 n sqrt(n) / delta)."""
    return math.log(3.0 / delta) + 1.5 * math.log(n)


@leaf
def changed(sums, arm, n, splits, beta):
    """Whether the ratio at some split of the grid is at least beta."""
    total = sums[arm, n]
    if total == 0 or total == n:
        return False
    mean = total / n
    # kl(p, q) <= (p - q)^2 / (q (1 - q)), so the ratio is at most n D^2 / (s (n - s) q (1 - q)),
    # D = sum of the first s - s q: the logarithms are for splits where that gets to beta.
    bar = (1.0 - 1e-9) * beta * mean * (1.0 - mean) / n
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
    """The log likelihood ratio of a change after s of n rewards, the first s of which sum so."""
    mean = total / n
    rest = n - s
    return s * kl(first / s, mean) + rest * kl((total - first) / rest, mean)


@leaf
def kl(p, q):
    """Relative entropy of Bernoulli distributions, 0 < q < 1."""
    divergence = 0.0
    if p > 0.0:
        divergence += p * math.log(p / q)
    if p < 1.0:
        divergence += (1.0 - p) * math.log((1.0 - p) / (1.0 - q))
    return divergence


@dataclass(frozen=True)
class Options(ScheduleOptions):
    """exploration: the factor of the logarithm in UCB1's index. restart: all arms, or the one that
    changed. forced: exploration grows with each restart, or not. alpha_scale: times
    sqrt(K ln Q / Q). delta_scale: times 1 / sqrt(Q). ratio: of the grid of splits."""

    exploration: float = schema.real(
        2.0, above=0, about="index: mean + sqrt(exploration ln(plays in use) / plays)"
    )
    restart: str = schema.choice(
        "global", "global", "local", about="all arms, or local: the one that changed"
    )
    forced: str = schema.choice(
        "growing", "growing", "constant", about="alpha sqrt(restarts + 1), or constant: alpha"
    )
    alpha_scale: float = schema.real(
        1.0, above=0, high=1e6, about="times alpha = sqrt(K ln Q / Q), the share of forced queries"
    )
    delta_scale: float = schema.real(
        1.0, above=0, high=1e6, about="times delta = 1 / sqrt(Q), the test's level"
    )
    ratio: float = schema.real(
        1.25, above=1, high=1000, about="of the grid of splits that are tested"
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
