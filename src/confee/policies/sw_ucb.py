"""Sliding-window UCB under a query schedule (Garivier and Moulines 2011, Section 3.2), given V."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from confee.core import schema
from confee.core.jit import inlined, leaf, njit
from confee.paper import theory
from confee.policies.base import Policy
from confee.policies.look import SOLID, Look
from confee.policies.queries import ScheduleOptions, new_schedule, next_query, schedule_kind
from confee.world.game import (
    BEHIND,
    COUNT,
    NEWEST,
    NEWEST_COUNT,
    NEWEST_OFFSETS,
    START,
    idle,
    mean_at,
    new_data,
    query,
)


@njit
def play(world, ledger, K, T, B, kind, by_index, window, xi, rng):
    """Play SW-UCB over all queries; rounds before the first query play any arm."""
    schedule = new_schedule(kind, T, B)
    t = next_query(schedule, ledger, rng)
    idle(world, ledger, new_data(K), 1, t, np.ones(K), rng)
    play_queries(world, ledger, schedule, t, K, T, B, by_index, window, xi, rng)


@njit
def play_queries(world, ledger, schedule, t, K, T, queries, by_index, window, xi, rng):
    """Play SW-UCB from nothing for up to `queries` queries and their idle rounds, from round t on.

    Index: mean + sqrt(xi ln min(tau, window) / plays), both over the last `window` queries. Arms
    that are not in the window come first, in random order. Idle rounds play arms by their frequency
    in the window or, if `by_index`, the arm that a query would play.

    Returns
    -------
    t, total
        The round of the next query, and the sum of rewards.
    """
    plays, rewards = np.zeros(K), np.zeros(K)
    blind = np.zeros(K) if by_index else plays
    mean, width = np.zeros(K), np.zeros(K)
    data = new_data(K)
    arms = np.zeros(window, dtype=np.int64)
    seen = np.zeros(window)
    held = new_held(window, K, ledger)
    first, total = ledger.queries, 0.0
    while t <= T and ledger.queries - first < queries:
        tau = ledger.queries - first
        arm = choose(plays, mean, width, root(xi, tau, window), rng)
        place = tau % window
        reward = play_newest(world, ledger, data, held, tau, t, arm, rng)
        if tau >= window:
            plays[arms[place]] -= 1.0
            rewards[arms[place]] -= seen[place]
            refresh(arms[place], plays, rewards, mean, width)
        arms[place], seen[place] = arm, reward
        plays[arm] += 1.0
        rewards[arm] += reward
        refresh(arm, plays, rewards, mean, width)
        total += reward
        after = t + 1
        t = next_query(schedule, ledger, rng)
        if by_index:
            blind[:] = 0.0
            blind[choose(plays, mean, width, root(xi, tau + 1, window), rng)] = 1.0
        idle(world, ledger, data, after, t, blind, rng)
    return t, total


@inlined
def root(xi, tau, window):
    """sqrt(xi ln min(tau, window)), tau the queries so far."""
    return math.sqrt(xi * math.log(max(1, min(tau, window))))


@inlined
def refresh(arm, plays, rewards, mean, width):
    """Update an arm's mean and width; an arm that left the window has an infinite index."""
    if plays[arm] > 0.0:
        mean[arm] = rewards[arm] / plays[arm]
        width[arm] = 1.0 / math.sqrt(plays[arm])
    else:
        mean[arm] = np.inf
        width[arm] = 0.0


@inlined
def choose(plays, mean, width, root, rng):
    """The arm with the largest index; ties (and arms not in the window) are broken at random."""
    K = plays.shape[0]
    arm, top, ties = 0, -1.0, 0
    for k in range(K):
        index = np.inf if plays[k] == 0.0 else mean[k] + root * width[k]
        if index > top:
            arm, top, ties = k, index, 1
        elif index == top:
            ties += 1
            if rng.random() * ties < 1.0:
                arm = k
    return arm


@njit
def new_held(window, K, ledger):
    """What is kept of the query rounds in a window, for `play_newest`, [window, 2 or 2 + K]: round,
    segment, and if the proxy is literal what each added to the data."""
    return np.zeros((window, 2 + K if ledger.literal else 2))


@inlined
def play_newest(world, ledger, data, held, tau, t, arm, rng):
    """Make query tau of a window, in round t: it joins the data, and the oldest query leaves."""
    if ledger.literal:
        return play_newest_literally(world, ledger, data, held, tau, t, arm, rng)
    oldest = held[tau % held.shape[0]]
    leaving, segment = oldest[0], int(oldest[1])
    reward = query(world, ledger, data, t, arm, rng)
    if tau >= held.shape[0]:
        drop(world, data, leaving, segment)
    oldest[0], oldest[1] = t, ledger.segment
    return reward


@njit
def play_newest_literally(world, ledger, data, held, tau, t, arm, rng):
    """`play_newest` if the proxy is taken over rewards."""
    K = data.shape[0] - BEHIND
    oldest = held[tau % held.shape[0]]
    before = data[:K].copy()
    reward = query(world, ledger, data, t, arm, rng)
    before -= data[:K]
    if tau >= held.shape[0]:
        data[:K] -= oldest[2:]
        data[COUNT] -= 1.0
    oldest[2:] = -before
    oldest[0], oldest[1] = t, ledger.segment
    return reward


@leaf
def drop(world, data, t, segment):
    """Take a query round that left the window out of the data in use."""
    K = data.shape[0] - BEHIND
    here = world[segment]
    since = t - here[START]
    if data[NEWEST] == segment:
        data[NEWEST_COUNT] -= 1.0
        data[NEWEST_OFFSETS] -= since
    else:
        for k in range(K):
            data[k] -= mean_at(here, K, k, since)
    data[COUNT] -= 1.0


@dataclass(frozen=True)
class Options(ScheduleOptions):
    """The options of SW-UCB: its index, and the factor of the window."""

    xi: float = schema.real(
        0.5, above=0, about="exploration; the index is mean + sqrt(xi ln min(tau, window) / plays)"
    )
    window_scale: float = schema.real(
        1.0, above=0, high=1e6, about="multiplies the window (sqrt(K) B / V)^(2/3)"
    )


def arguments(known, options, by_index=False):
    K, B, V = known.K, known.B, known.V
    window = round(theory.window(K, B, V) * options.window_scale)
    window = min(max(window, K), B)
    return schedule_kind(options), by_index, window, float(options.xi)


POLICY = Policy(
    id="sw_ucb",
    name="SW-UCB",
    summary="sliding-window UCB under a query schedule",
    kernel=play,
    known=("T", "B", "V"),
    options=Options,
    arguments=arguments,
    look=Look("#00A878", "X", SOLID, place=7),
)
