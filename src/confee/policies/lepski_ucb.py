"""Sliding-window UCB that chooses its window by Lepski's rule, in the place of V.

Given T and B only. Windows are the last 2^j queries of all arms together, j = low, low + 1, ...,
the smallest of at least 16 K, on one stream of queries. Each gives each arm a mean and a radius
sqrt(test ln B / plays) (no bounds without plays). The largest window is used up to which any two
agree on every arm, that is, their means differ by at most the sum of their radii. The arm of the
largest mean + sqrt(xi ln(queries in the window) / plays) is played; arms absent from the window
come first, at random, as in SW-UCB (Garivier, Moulines 2011).

No paper was found with this policy for K arms whose means may rise. For means that only fall,
RAW-UCB (Seznec, Menard, Lazaric, Valko 2020) chooses among windows with proofs. Where nothing
changes for long, the window is long, and arms below are hardly played: their rise is seen late.
Nothing here looks for that.

Windows are those of `confee.policies.scales`: their first query moves on by eighths of 2^j, so they
hold up to 9/8 of it, and agreement is tested anew whenever the smallest moves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from confee.core import schema
from confee.core.jit import leaf, njit
from confee.policies.base import Policy
from confee.policies.idling import LeaderOptions, only
from confee.policies.look import DOTS, Look
from confee.policies.queries import new_schedule, next_query, schedule_kind
from confee.policies.scales import MARKS, due, mark, new_marks, since, slot
from confee.policies.sw_ucb import choose, refresh
from confee.world.game import fold, idle, new_data, query


class Constants(NamedTuple):
    """`xi`, `test` as in `Options`; `low`: the level of `scales` with the smallest window."""

    leads: bool
    xi: float
    test: float
    low: int


@njit
def play(world, ledger, K, T, B, kind, constants, rng):
    """In idle rounds, the leading arm or arms by the frequency in the window."""
    anyone, leader = np.ones(K), np.zeros(K)
    low = constants.low
    # Sums over all queries: plays of each arm, rewards, then what `data` had without a window.
    seen = np.zeros(3 * K + 1)
    marks = new_marks(max(B, MARKS << low), 3 * K + 1)
    levels = marks.shape[0]
    starts = np.zeros(levels, dtype=np.int64)  # the query with which a level's window begins
    begun = np.zeros((levels, 3 * K + 1))  # the sums before it
    bounds = np.empty((levels, 2, K))  # on each mean by a level's window: lower ones, upper ones
    bounds[:, 0], bounds[:, 1] = -np.inf, np.inf
    lower, upper = np.empty(K), np.empty(K)  # scratch
    plays, rewards = np.zeros(K), np.zeros(K)  # in the window
    mean, width = np.zeros(K), np.zeros(K)
    outside = np.zeros(K + 1)  # what `data` lacks of all queries
    start = 0
    radius = constants.test * math.log(B)
    data = new_data(K)
    plan = new_schedule(kind, T, B)
    t = next_query(plan, ledger, rng)
    idle(world, ledger, data, 1, t, anyone, rng)
    while t <= T:
        arm = choose(plays, mean, width, root(constants.xi, ledger.queries - start), rng)
        reward = query(world, ledger, data, t, arm, rng)
        seen[arm] += 1.0
        seen[K + arm] += reward
        plays[arm] += 1.0
        rewards[arm] += reward
        refresh(arm, plays, rewards, mean, width)
        if due(low, ledger.queries):
            fold(world, data)
            for k in range(K + 1):
                seen[2 * K + k] = outside[k] + data[k]
            measure(marks, ledger.queries, seen, low, starts, begun, bounds, radius)
            level = agreeing(bounds, low, lower, upper)
            start = starts[level]
            for k in range(K + 1):
                outside[k] = begun[level, 2 * K + k]
                data[k] = seen[2 * K + k] - outside[k]
            for k in range(K):
                plays[k] = seen[k] - begun[level, k]
                rewards[k] = seen[K + k] - begun[level, K + k]
                refresh(k, plays, rewards, mean, width)
        after = t + 1
        t = next_query(plan, ledger, rng)
        if t > after:
            if constants.leads:
                arm = choose(plays, mean, width, root(constants.xi, ledger.queries - start), rng)
                only(leader, arm)
                idle(world, ledger, data, after, t, leader, rng)
            else:
                idle(world, ledger, data, after, t, plays, rng)


@leaf
def root(xi, n):
    """sqrt(xi ln n), n the queries in the window."""
    return math.sqrt(xi * math.log(max(1, n)))


@leaf
def measure(marks, queries, seen, low, starts, begun, bounds, radius):
    """The levels whose windows end now get their bounds from them, and keep how they begin."""
    K = bounds.shape[2]
    for level in range(low, marks.shape[0]):
        if not due(level, queries):
            break
        starts[level] = since(level, queries)
        place = slot(level, queries)
        for k in range(seen.shape[0]):
            begun[level, k] = marks[level, place, k] if starts[level] > 0 else 0.0
        for k in range(K):
            plays = seen[k] - begun[level, k]
            bounds[level, 0, k], bounds[level, 1, k] = -np.inf, np.inf
            if plays > 0.0:
                mean = (seen[K + k] - begun[level, K + k]) / plays
                bounds[level, 0, k] = mean - math.sqrt(radius / plays)
                bounds[level, 1, k] = mean + math.sqrt(radius / plays)
        mark(marks, level, queries, seen)


@leaf
def agreeing(bounds, low, lower, upper):
    """The largest level up to which all windows agree on every arm."""
    lower[:], upper[:] = -np.inf, np.inf
    for level in range(low, bounds.shape[0]):
        for k in range(bounds.shape[2]):
            lower[k] = max(lower[k], bounds[level, 0, k])
            upper[k] = min(upper[k], bounds[level, 1, k])
            if lower[k] > upper[k]:
                return level - 1
    return bounds.shape[0] - 1


@dataclass(frozen=True)
class Options(LeaderOptions):
    """See the module."""

    xi: float = schema.real(
        0.5, above=0, about="index: mean + sqrt(xi ln(queries in the window) / plays)"
    )
    test: float = schema.real(
        0.5, above=0, high=1e6, about="windows agree within radii sqrt(test ln B / plays)"
    )


def arguments(known, options):
    low = math.ceil(math.log2(2 * known.K))
    return schedule_kind(options), Constants(
        options.by_leader, float(options.xi), float(options.test), low
    )


POLICY = Policy(
    id="lepski_ucb",
    name="Lepski-UCB",
    summary="sliding-window UCB that chooses its window by Lepski's rule, prior-free",
    kernel=play,
    options=Options,
    arguments=arguments,
    look=Look("#A50C79", "$w$", DOTS, place=36),
)
