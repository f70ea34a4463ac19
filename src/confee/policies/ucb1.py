"""UCB1 under a query schedule (Auer, Cesa-Bianchi, Fischer 2002, Figure 1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confee.core import schema
from confee.core.jit import njit
from confee.policies.base import Policy
from confee.policies.look import LONG, Look
from confee.policies.queries import (
    ScheduleOptions,
    new_schedule,
    next_due,
    next_query,
    schedule_kind,
)
from confee.policies.ucb import PLAYS, choose, new_ucb, reset, update
from confee.policies.ucb_lanes import choose as choose_all
from confee.policies.ucb_lanes import new_ucbs
from confee.policies.ucb_lanes import reset as reset_all
from confee.policies.ucb_lanes import update as update_all
from confee.world.game import idle, new_data, query
from confee.world.lanes import forget
from confee.world.lanes import idle as all_idle
from confee.world.lanes import query as query_all


@njit
def play(world, ledger, K, T, B, kind, by_index, exploration, period, rng):
    """Idle rounds play arms by their frequency since the last restart; any arm before a query.

    Parameters
    ----------
    by_index
        Whether idle rounds play the arm that a query would play instead.
    period
        The number of queries after which the policy forgets everything, just before the next query;
        B for never. The idle rounds before that query still play by the old frequencies.
    """
    ucb = new_ucb(K)
    blind = np.zeros(K) if by_index else ucb[PLAYS]
    data = new_data(K)
    schedule = new_schedule(kind, T, B)
    tau = 0
    t = next_query(schedule, ledger, rng)
    idle(world, ledger, data, 1, t, np.ones(K), rng)
    while t <= T:
        if tau == period:
            reset(ucb)
            data[:] = 0.0
            tau = 0
            ledger.restarts += 1
        arm, _ = choose(ucb, tau, exploration, rng)
        reward = query(world, ledger, data, t, arm, rng)
        update(ucb, arm, reward)
        tau += 1
        after = t + 1
        t = next_query(schedule, ledger, rng)
        if by_index:
            arm, _ = choose(ucb, tau, exploration, rng)
            blind[:] = 0.0
            blind[arm] = 1.0
        idle(world, ledger, data, after, t, blind, rng)


@njit
def play_lanes(lanes, ledger, K, T, B, kind, by_index, exploration, period):
    """Play many runs at once, as `play` plays each."""
    L = lanes.now.shape[1]
    ucb, room = new_ucbs(K, L), np.empty((2, L))
    arm, reward = np.zeros(L, dtype=np.int64), np.zeros(L)
    blind = np.zeros((K, L)) if by_index else ucb[PLAYS]
    schedule = new_schedule(kind, T, B)
    tau = 0
    t = next_due(schedule, ledger)
    all_idle(lanes, ledger, 1, t, np.ones((K, L)))
    while t <= T:
        if tau == period:
            reset_all(ucb)
            forget(lanes)
            tau = 0
            ledger.restarts += 1
        choose_all(ucb, tau, exploration, arm, room, lanes.streams)
        query_all(lanes, ledger, t, arm, reward)
        update_all(ucb, arm, reward, room)
        tau += 1
        after = t + 1
        t = next_due(schedule, ledger)
        if by_index:
            choose_all(ucb, tau, exploration, arm, room, lanes.streams)
            blind[:] = 0.0
            for i in range(L):
                blind[arm[i], i] = 1.0
        all_idle(lanes, ledger, after, t, blind)


@dataclass(frozen=True)
class Options(ScheduleOptions):
    """The options of UCB1: the query schedule, and the factor of ln tau (2 as printed)."""

    exploration: float = schema.real(
        2.0, above=0, about="the index is mean + sqrt(exploration ln tau / plays)"
    )


def arguments(known, options, by_index=False):
    B = known.B
    return schedule_kind(options), by_index, float(options.exploration), B


POLICY = Policy(
    id="ucb1",
    name="UCB1",
    summary="UCB1 under a query schedule",
    kernel=play,
    lanes=play_lanes,
    options=Options,
    arguments=arguments,
    look=Look("#882255", "P", LONG, place=6),
)
