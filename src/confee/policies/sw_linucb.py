"""Sliding-window linear UCB (Cheung, Simchi-Levi, Zhu 2019) under a query schedule; V is given.

OFUL's index over the last w queries: arm k has features x_k in R^d, and with sums over the window

    V = lambda I + sum x_s x_s',    theta^ = V^{-1} sum r_s x_s,
    index_k = <x_k, theta^> + radius beta ||x_k||_{V^{-1}},
    beta = R sqrt(d ln((1 + w / lambda) / delta)) + sqrt(lambda) S.

R, S and delta are those of `oful`. The published beta is an upper bound on OFUL's.

Window: w = (d Q / V)^{2/3}, as published, with the Q = B queries for rounds; V = 0 keeps all of
them. That balances a regret of d^{2/3} V^{1/3} Q^{2/3}, whose proof was found wrong for general
arms; corrected, it gives the same policies d^{7/8} V^{1/4} Q^{3/4} (Zhao, Zhang, Jiang, Zhou 2020,
as corrected in 2021), which a window of about d^{1/4} sqrt(Q / V) balances: window_scale =
d^{-5/12} (V / Q)^{1/6}.

The data in use are the queries of the window; idle rounds play arms by their frequency in it.
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
from confee.policies.queries import ScheduleOptions, new_schedule, next_query, schedule_kind
from confee.policies.ridge import PLAYS, forget, lead, new_ridges, observe
from confee.policies.sw_ucb import new_held, play_newest
from confee.world.game import idle, new_data
from confee.world.settings import LINEAR


@njit
def play(world, ledger, known, T, B, kind, penalty, root, window, rng):
    """Play SW-LinUCB; `penalty` is lambda, `root` is radius * beta."""
    K = known.shape[0]
    ridge = new_ridges(1, known)[0]
    forget(ridge, known, penalty)
    arms, seen = np.zeros(window, dtype=np.int64), np.zeros(window)
    data, held = new_data(K), new_held(window, K, ledger)
    schedule = new_schedule(kind, T, B)
    t = next_query(schedule, ledger, rng)
    idle(world, ledger, data, 1, t, np.ones(K), rng)
    while t <= T:
        tau = ledger.queries
        place = tau % window
        arm, _ = lead(ridge, K, root, rng)
        reward = play_newest(world, ledger, data, held, tau, t, arm, rng)
        if tau >= window:
            observe(ridge, known, penalty, arms[place], seen[place], -1.0)
        observe(ridge, known, penalty, arm, reward, 1.0)
        arms[place], seen[place] = arm, reward
        after = t + 1
        t = next_query(schedule, ledger, rng)
        idle(world, ledger, data, after, t, ridge[PLAYS, :K], rng)


@dataclass(frozen=True)
class Options(ScheduleOptions, oful.Options):
    """The options of SW-LinUCB: OFUL's, and the factor of the window."""

    window_scale: float = schema.real(
        1.0, above=0, high=1e6, about="multiplies the window (d B / V)^(2/3)"
    )


def arguments(known, options):
    features, T, B, V = known.K, known.T, known.B, known.V
    d, penalty = features.shape[1], float(options.ridge)
    window = min(max(math.floor(theory.linear_window(d, B, V) * options.window_scale), 1), B)
    spread = math.sqrt(d * (math.log1p(window / penalty) + math.log(T)))
    root = options.radius * (oful.R * spread + math.sqrt(penalty) * oful.S)
    return schedule_kind(options), penalty, root, window


POLICY = Policy(
    id="sw_linucb",
    name="SW-LinUCB",
    summary="sliding-window linear UCB under a query schedule",
    kernel=play,
    known=("T", "B", "V"),
    options=Options,
    arguments=arguments,
    setting=LINEAR.id,
)
