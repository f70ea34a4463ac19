"""Discounted linear UCB (Russac, Vernade, Cappe 2019) under a query schedule; V is given.

Arm k has features x_k in R^d. An observation weighs gamma^(its age in queries), the last one 1:

    V = lambda I + sum gamma^age x_s x_s',    theta^ = V^{-1} sum gamma^age r_s x_s,
    W = lambda I + sum gamma^(2 age) x_s x_s',
    index_k = <x_k, theta^> + radius beta ||x_k||_{V^{-1} W V^{-1}},
    beta = R sqrt(2 ln(1/delta) + d ln(1 + n / (d lambda))) + sqrt(lambda) S,

n = sum gamma^(2 age). R, S and delta are those of `oful`. At gamma = 1 the policy is OFUL, except
that beta has a bound in place of OFUL's determinant. W follows the paper: it sums squared weights,
as a variance does, while the authors' code updates it from V.

Discount: gamma = 1 - 1/M with a memory of M = (d Q / V)^{2/3} queries, as published, with Q = B in
place of the horizon; V = 0 gives gamma = 1. As for the window of `sw_linucb`, the published proof
was corrected and the rate with it; memory_scale turns the published M into the corrected one.

Data in use: all query rounds, with the weights of V. Idle rounds play arms by these weights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from confee.core import schema
from confee.core.jit import njit
from confee.paper import theory
from confee.policies import oful
from confee.policies.base import Policy
from confee.policies.d_ucb import discount
from confee.policies.queries import ScheduleOptions, new_schedule, next_query, schedule_kind
from confee.policies.ridge import MEAN, PLAYS, SQUARE, invert, lead, squares, times
from confee.world.game import idle, new_data, query
from confee.world.settings import LINEAR


@njit
def play(world, ledger, known, T, B, kind, gamma, penalty, radius, log_chance, rng):
    """Play D-LinUCB; `penalty` is lambda, `log_chance` is ln(1/delta)."""
    K, d = known.shape
    ridge = np.zeros((SQUARE + 1, K))
    plays = ridge[PLAYS]
    features = known.T.copy()
    once, twice = np.zeros((d, d)), np.zeros((d, d))  # V and W without lambda I
    rewarded = np.zeros(d)
    n = 0.0
    room = np.zeros((3, d, d))
    data = new_data(K)
    schedule = new_schedule(kind, T, B)
    t = next_query(schedule, ledger, rng)
    idle(world, ledger, data, 1, t, np.ones(K), rng)
    while t <= T:
        estimate(ridge, features, penalty, once, twice, rewarded, room)
        spread = math.sqrt(2.0 * log_chance + d * math.log1p(n / (d * penalty)))
        root = radius * (oful.R * spread + math.sqrt(penalty) * oful.S)
        arm, _ = lead(ridge, K, root, rng)
        discount(data, gamma)
        reward = query(world, ledger, data, t, arm, rng)
        for k in range(K):
            plays[k] *= gamma
        plays[arm] += 1.0
        n = gamma * gamma * n + 1.0
        for i in range(d):
            rewarded[i] = gamma * rewarded[i] + reward * known[arm, i]
            for j in range(d):
                part = known[arm, i] * known[arm, j]
                once[i, j] = gamma * once[i, j] + part
                twice[i, j] = gamma * gamma * twice[i, j] + part
        after = t + 1
        t = next_query(schedule, ledger, rng)
        idle(world, ledger, data, after, t, plays, rng)


@njit
def estimate(ridge, features, penalty, once, twice, rewarded, room):
    """Mean and squared width of each arm, features [d, K], in O(d^3 + K d^2); room [3, d, d]."""
    d, K = features.shape
    inverse, half, product = room[0], room[1], room[2]
    inverse[:] = once
    for i in range(d):
        inverse[i, i] += penalty
    invert(inverse, half)
    theta = half[0]
    times(rewarded, inverse, d, theta)
    times(theta, features, K, ridge[MEAN])
    for i in range(d):  # V^{-1} W V^{-1}, row by row
        times(inverse[i], twice, d, half[i])
        for j in range(d):
            half[i, j] += penalty * inverse[i, j]
        times(half[i], inverse, d, product[i])
    squares(product, features, K, ridge[SQUARE])


@dataclass(frozen=True)
class Options(ScheduleOptions, oful.Options):
    """The options of D-LinUCB: OFUL's, and the factor of the memory."""

    memory_scale: float = schema.real(
        1.0, above=0, high=1e6, about="multiplies the memory 1/(1 - gamma) = (d B / V)^(2/3)"
    )


def arguments(known, options):
    """(schedule, gamma, lambda, radius, ln(1/delta)); the memory is at least one query."""
    features, T, B, V = known.K, known.T, known.B, known.V
    memory = max(theory.linear_window(features.shape[1], B, V) * options.memory_scale, 1.0)
    gamma = 1.0 if V == 0 else 1.0 - 1.0 / memory
    return schedule_kind(options), gamma, float(options.ridge), float(options.radius), math.log(T)


POLICY = Policy(
    id="d_linucb",
    name="D-LinUCB",
    summary="discounted linear UCB under a query schedule",
    kernel=play,
    known=("T", "B", "V"),
    options=Options,
    arguments=arguments,
    setting=LINEAR.id,
)
