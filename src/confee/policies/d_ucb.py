"""Discounted UCB (Garivier and Moulines 2011, Algorithm 1) under a query schedule; V is given.

Index: X(gamma)/N(gamma) + 2 sqrt(xi ln n(gamma) / N(gamma)), where N and X sum an arm's plays and
rewards, each with weight gamma^(its age in queries) and the last query with weight 1, and n is the
sum of N over the arms; rewards lie in [0, 1]. N must not be stored as an integer: a public library
that does so (SMPyBandits) rounds it down to 0.

Padding: the paper's. Common choices are xi = 1/2, 0.6 and 1 (the theorem needs xi > 1/2);
SMPyBandits' sqrt(ln n / (2 N)) is xi = 1/8. The default 1/2, the limit of the theorem's range,
gives UCB1's sqrt(2 ln n / N) at gamma = 1.

Discount: gamma = 1 - 1/M with a memory of M = (sqrt(K) B / V)^{2/3} queries, SW-UCB's window. The
paper's corollary, gamma = 1 - sqrt(changes / T) / 4, strikes the same balance for a given number of
changes; for a given variation, Russac, Vernade and Cappe (2019) take the power 2/3 of V / T. V = 0
gives gamma = 1.

Data in use: all query rounds, with the weights of the index, so P is the weighted mean of mu.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from confee.core import schema
from confee.core.jit import leaf, njit
from confee.paper import theory
from confee.policies.base import Policy
from confee.policies.look import DOT, Look
from confee.policies.queries import ScheduleOptions, new_schedule, next_query, schedule_kind
from confee.policies.ucb import MEAN, PLAYS, REWARDS, WIDTH, first, lead, new_ucb
from confee.world.game import idle, new_data, query

FULL = 1e100
"""Weights beyond it are scaled down to 1, so that they cannot overflow."""


@njit
def play(world, ledger, K, T, B, kind, gamma, xi, rng):
    """Play each arm once, in random order; then the largest index. Idle rounds: arms by N(gamma).

    Instead of multiplying all counts by gamma, each query weighs 1/gamma times as much as the one
    before: N = plays / weight, where `weight` is that of the last query.
    """
    ucb = new_ucb(K)
    plays = ucb[PLAYS]
    data = new_data(K)
    weight, n = 1.0, 0.0
    schedule = new_schedule(kind, T, B)
    t = next_query(schedule, ledger, rng)
    idle(world, ledger, data, 1, t, np.ones(K), rng)
    while t <= T:
        if ledger.queries < K:
            arm = first(ucb, ledger.queries, rng)
        else:
            arm, _ = lead(ucb, math.sqrt(4.0 * xi * math.log(n) * weight), rng)
        discount(data, gamma)
        reward = query(world, ledger, data, t, arm, rng)
        n = gamma * n + 1.0
        weight /= gamma
        update(ucb, arm, reward, weight)
        if weight > FULL:
            rescale(ucb, weight)
            weight = 1.0
        after = t + 1
        t = next_query(schedule, ledger, rng)
        idle(world, ledger, data, after, t, plays, rng)


@leaf
def discount(data, gamma):
    """Multiply the weights of the rounds in use by gamma, see `confee.world.game.new_data`."""
    for i in range(data.shape[0] - 1):  # all but NEWEST, the number of a segment
        data[i] *= gamma


@leaf
def update(ucb, arm, reward, weight):
    """Add an observation, `reward` from `arm`, with its weight."""
    ucb[PLAYS, arm] += weight
    ucb[REWARDS, arm] += weight * reward
    ucb[MEAN, arm] = ucb[REWARDS, arm] / ucb[PLAYS, arm]
    ucb[WIDTH, arm] = 1.0 / math.sqrt(ucb[PLAYS, arm])


@leaf
def rescale(ucb, weight):
    """Divide all counts by `weight`. None comes near 0: an arm that is not played long leads."""
    root = math.sqrt(weight)
    for k in range(ucb.shape[1]):
        ucb[PLAYS, k] /= weight
        ucb[REWARDS, k] /= weight
        ucb[WIDTH, k] *= root


@dataclass(frozen=True)
class Options(ScheduleOptions):
    """The options of D-UCB: its index, and the factor of the memory."""

    xi: float = schema.real(
        0.5, above=0, about="exploration; the index is mean + 2 sqrt(xi ln n / N), all discounted"
    )
    memory_scale: float = schema.real(
        1.0, above=0, high=1e6, about="multiplies the memory 1/(1 - gamma) = (sqrt(K) B / V)^(2/3)"
    )


def arguments(known, options):
    """(schedule, gamma, xi); the memory is at least K queries, so that n is at least 1."""
    K, B, V = known.K, known.B, known.V
    memory = max(theory.window(K, B, V) * options.memory_scale, K)
    return schedule_kind(options), 1.0 if V == 0 else 1.0 - 1.0 / memory, float(options.xi)


POLICY = Policy(
    id="d_ucb",
    name="D-UCB",
    summary="discounted UCB under a query schedule",
    kernel=play,
    known=("T", "B", "V"),
    options=Options,
    arguments=arguments,
    look=Look("#43D883", (3, 1, 0), DOT, place=11),
)
