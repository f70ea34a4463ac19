"""CUSUM-UCB under a query schedule (Liu, Lee, Shroff 2018): UCB that forgets an arm when a CUSUM
test detects a change of its mean. It is given T, B and S.

For each arm since it was last forgotten, let u be the mean of its first M rewards. Each further
reward y updates

    g+ = max(0, g+ + y - u - epsilon),   g- = max(0, g- + u - y - epsilon).

When either reaches h, that arm alone is forgotten. With probability alpha a query plays an arm at
random, otherwise the arm with the largest mean + sqrt(xi ln n / plays), where n counts the plays in
use of all arms; xi = 1 as in their theorem.

Tuning: with C changes, h = ln(Q / C), alpha = sqrt(C ln(Q / C) / Q), M = 150 and epsilon = 0.1, as
in the comparisons of Besson et al. (2022, and preprints). The corollary of Liu et al. has constants
on top, h = ln(Q / C) / C1 and alpha = K sqrt((C2 / C1) C ln(Q / C) / Q), where C1 depends on M and
epsilon; h_scale and alpha_scale stand for them. C = S - 1, at least 1. ln(Q / C) is taken as at
least 1: beyond Q / e changes the policy only explores more.

False alarms: the standard error of u, sqrt(p (1 - p) / M) = .04 at p = 1/2, uses up much of
epsilon. With two arms at 1/2, Q = 10^4 and S = 1 there are 1.8 false alarms per run on average.
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
    changes,
    forget,
    new_instance,
    take_away,
)
from confee.policies.look import DOTS, Look
from confee.policies.queries import ScheduleOptions, new_schedule, next_query, schedule_kind
from confee.policies.ucb import MEAN, PLAYS, choose, update
from confee.world.game import idle, new_data, new_memories, query

# Rows of a CUSUM, [3, K]: the mean of the first M rewards, g+, g-.
BASE, RISE, FALL = range(3)


class Parameters(NamedTuple):
    """What the kernel is given beside the sizes.

    Parameters
    ----------
    kind
        The query schedule.
    xi
        The factor of the logarithm in the index.
    M
        How many rewards of an arm make its base mean u.
    epsilon, h
        The drift that the CUSUM tolerates, and its threshold.
    alpha
        The chance that a query is of any arm.
    """

    kind: int
    xi: float
    M: int
    epsilon: float
    h: float
    alpha: float


@njit
def play(world, ledger, K, T, B, p, rng):
    """Idle rounds play arms by the frequency of the plays in use; any arm while there are none."""
    ucb = new_instance(K)
    plays, anyone = ucb[PLAYS], np.ones(K)
    in_use = 0
    cusum = np.zeros((3, K))
    data, parts = new_data(K), new_memories(K, world)
    schedule = new_schedule(p.kind, T, B)
    t = next_query(schedule, ledger, rng)
    idle(world, ledger, data, 1, t, anyone, rng)
    while t <= T:
        u = rng.random()
        if u < p.alpha:  # The same draw decides which arm.
            arm = min(int(u / p.alpha * K), K - 1)
        else:
            arm, _ = choose(ucb, max(in_use, K), p.xi, rng)
        before_query(ledger, data, parts[arm])
        reward = query(world, ledger, data, t, arm, rng)
        after_query(world, ledger, data, parts[arm], t)
        update(ucb, arm, reward)
        in_use += 1
        n = int(plays[arm])
        if n == p.M:
            cusum[BASE, arm] = ucb[MEAN, arm]
        elif n > p.M and walk(cusum, arm, reward, p.epsilon) >= p.h:
            ledger.restarts += 1
            in_use -= n
            forget(ucb, arm)
            cusum[:, arm] = 0.0
            take_away(world, data, parts[arm])
        after = t + 1
        t = next_query(schedule, ledger, rng)
        idle(world, ledger, data, after, t, plays if in_use > 0 else anyone, rng)


@leaf
def walk(cusum, arm, reward, epsilon):
    """Update the arm's g+ and g- with `reward` and return the larger one."""
    above = reward - cusum[BASE, arm]
    cusum[RISE, arm] = max(0.0, cusum[RISE, arm] + above - epsilon)
    cusum[FALL, arm] = max(0.0, cusum[FALL, arm] - above - epsilon)
    return max(cusum[RISE, arm], cusum[FALL, arm])


@dataclass(frozen=True)
class Options(ScheduleOptions):
    """The options of CUSUM-UCB: its index, its test and its share of forced queries."""

    xi: float = schema.real(
        1.0, above=0, about="exploration; the index is mean + sqrt(xi ln(plays in use) / plays)"
    )
    M: int = schema.whole(
        150, low=1, high=10**12, about="rewards of an arm whose mean is its reference"
    )
    epsilon: float = schema.real(
        0.1, low=0, high=1, about="deviation from the reference mean that the test tolerates"
    )
    h_scale: float = schema.real(
        1.0, above=0, high=1e6, about="multiplies the threshold ln(Q / changes)"
    )
    alpha_scale: float = schema.real(
        1.0,
        low=0,
        high=1e6,
        about="multiplies the share of forced queries, sqrt(changes ln(Q / changes) / Q)",
    )


def arguments(known, options):
    B, S = known.B, known.S
    C = changes(S)
    log = max(1.0, math.log(B / C))
    parameters = Parameters(
        kind=schedule_kind(options),
        xi=float(options.xi),
        M=int(options.M),
        epsilon=float(options.epsilon),
        h=options.h_scale * log,
        alpha=min(1.0, options.alpha_scale * math.sqrt(C * log / B)),
    )
    return (parameters,)


POLICY = Policy(
    id="cusum_ucb",
    name="CUSUM-UCB",
    summary="UCB that forgets an arm when a CUSUM test finds a change, under a query schedule",
    kernel=play,
    known=("T", "B", "S"),
    options=Options,
    arguments=arguments,
    look=Look("#C423A5", "$C$", DOTS, place=16),
)
