"""MASTER (Wei and Luo 2021, Algorithms 1 to 3) around UCB1: multi-scale instances, restarts.

A block of order n lasts 2^n steps. At each step tau = 0, 1, ... that is a multiple of 2^m, an
instance of UCB1 of order m starts with probability rho(2^n) / rho(2^m) and lasts 2^m steps. The
shortest instance over a step plays it. Let f~_t be the optimistic value of the step's arm, R_t its
reward, and U_t the least f~ of the block so far. MASTER restarts with n = 0 when

    (1) an instance of order m ends and the mean of R over its span >= U_t + 9 rho^(2^m), or
    (2) the mean of f~ - R over the block's steps so far, N of them, >= 3 rho^(N);

    rho(t) = sqrt(K ln max(t, 2) / t) + K / t,    rho^(t) = 6 (log2 Q + 1) ln(Q / delta) rho(t).

It is given T and B. A step is a query, so its horizon is Q = B. Wei and Luo state the reduction for
any base algorithm with an average error rho. Base algorithm and rho are here those of HyQue (UCB1
of Auer et al. 2002 on the clock of its instance; the paper's lemma on UCB1), so that the two
policies differ only in start rates, allocation and pacing. delta is free; as in HyQue it is 1/Q.
Public code of Algorithm 1 has rho without the logarithm, which changes only the start rates.

Idle rounds play arms by their frequency in the instance that made the last query, and its `data`
are in use; after a restart, any arm until the next query.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confee.core import schema
from confee.core.jit import njit
from confee.paper import theory
from confee.policies.base import Policy
from confee.policies.blocks import END, FIRST, INSTANCE, arrange, draw_started, ratios
from confee.policies.change_tests import next_look, rho
from confee.policies.growth import Growth
from confee.policies.look import SOLID, Look
from confee.policies.queries import ScheduleOptions, new_schedule, next_query, schedule_kind
from confee.policies.ucb import PLAYS, choose, reset, update
from confee.world.game import idle, new_data, new_memories, query


@njit
def play(world, ledger, K, T, B, kind, exploration, factor, rng):
    """Play MASTER with rho^ = factor * rho; at most one instance of each order runs at a time."""
    top_order = 0
    while 2 << top_order <= B:
        top_order += 1
    ucbs = np.zeros((top_order + 1, 5, K))
    datas = new_memories(top_order + 1, world)
    observed = np.zeros(top_order + 1, dtype=np.int64)
    nothing = new_data(K)
    any_arm = np.ones(K)

    schedule = new_schedule(kind, T, B)
    t = next_query(schedule, ledger, rng)
    idle(world, ledger, nothing, 1, t, any_arm, rng)
    n = 0
    while t <= T:  # Algorithm 3: blocks n = 0, 1, ...
        orders, starts = draw_started(ratios(n, K), rng)
        pieces, _, closing = arrange(orders, starts)
        spans = np.zeros(orders.shape[0])  # rewards of the block when an instance began
        opened = closed = 0
        rewards = 0.0  # of the block so far
        lowest = 1.0  # U_t
        excess = 0.0  # sum of f~ - R over the block
        check = 1  # test (2) cannot fire before this many steps
        restart = False

        for p in range(pieces.shape[0]):
            while opened < orders.shape[0] and starts[opened] <= pieces[p, FIRST]:
                reset(ucbs[orders[opened]])
                datas[orders[opened]][:] = 0.0
                observed[orders[opened]] = 0
                spans[opened] = rewards
                opened += 1
            m = orders[pieces[p, INSTANCE]]
            ucb, data = ucbs[m], datas[m]
            plays = ucb[PLAYS]

            for steps in range(pieces[p, FIRST] + 1, pieces[p, END] + 1):
                arm, value = choose(ucb, observed[m], exploration, rng)
                reward = query(world, ledger, data, t, arm, rng)
                update(ucb, arm, reward)
                observed[m] += 1
                rewards += reward
                lowest = min(lowest, value)
                excess += value - reward

                if steps >= check:  # Test (2).
                    bound = 3.0 * factor * steps * rho(steps, K)
                    restart = excess >= bound
                    check = next_look(steps, excess, bound)
                if steps == pieces[p, END]:  # Test (1); an instance ends only with a piece.
                    while closed < closing.shape[0]:
                        ended = closing[closed]
                        size = 1 << orders[ended]
                        if starts[ended] + size > steps:
                            break
                        rise = (rewards - spans[ended]) / size - lowest
                        restart |= rise >= 9.0 * factor * rho(size, K)
                        closed += 1

                after = t + 1
                t = next_query(schedule, ledger, rng)
                if restart:
                    idle(world, ledger, nothing, after, t, any_arm, rng)
                    break
                idle(world, ledger, data, after, t, plays, rng)
                if t > T:
                    break
            if restart or t > T:
                break

        n += 1
        if restart:
            ledger.restarts += 1
            n = 0


@dataclass(frozen=True)
class Options(ScheduleOptions):
    """The options of MASTER: UCB1's index, and the change tests."""

    exploration: float = schema.real(
        2.0, above=0, about="the index of UCB1 is mean + sqrt(exploration ln tau / plays)"
    )
    delta: float = schema.real(
        0.0, low=0, high=1, about="error probability of the change tests; 0 means 1/Q"
    )
    scale: float = schema.real(
        1.0, low=0, about="multiplies rho^ in the change tests; 1 is the paper's value"
    )


def arguments(known, options):
    B = known.B
    reading = theory.Reading(delta=options.delta or None)
    factor = options.scale * theory.rho_hat_factor(B, reading)
    return schedule_kind(options), float(options.exploration), float(factor)


POLICY = Policy(
    id="master",
    name="MASTER",
    summary="MASTER (Wei and Luo 2021) around UCB1, under a query schedule",
    kernel=play,
    options=Options,
    arguments=arguments,
    look=Look("#A50C2A", (4, 1, 0), SOLID, place=14),
    growth=Growth(claimed="rate", blocks="queries"),
)
