"""HyQue whose idle rounds play the leader, and whose restarts come from tests that fire.

The query schedule, the budget and the base instances are those of `hyque` (Algorithm 2). Two things
differ. At horizons that can be run, HyQue's tests (i) and (ii) never fire; here a Bernoulli GLR
test on each arm's plays since the last restart does that, with the threshold of `glr_ucb`
(Besson, Kaufmann, Maillard, Seznec 2022). And idle rounds, where HyQue replays the frequencies of
the active instance, so that a round costs what exploring cost, play the arm of UCB1's largest index
over all queries since the last restart (`idle=leader`), which the tests have found consistent, or
that of the active instance (`idle=instance`). `idle=frequency` with `tests=none` is HyQue with
tests that never fire.

Nothing is proved about it: HyQue's analysis needs its own tests.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from confee.core import schema
from confee.core.jit import leaf, njit
from confee.paper import theory
from confee.policies.base import Policy
from confee.policies.blocks import arrange, draw_started, limit_quotas, square_roots
from confee.policies.detecting import after_query, before_query, forget_all, new_instance
from confee.policies.glr_ucb import changed, split_grid, threshold
from confee.policies.hyque import demand
from confee.policies.idling import only
from confee.policies.look import LONG, Look
from confee.policies.paper_rate import paper_rate
from confee.policies.ucb import PLAYS, REWARDS, begin, choose, new_instances, update
from confee.world.game import anything, idle, new_data, new_memories, query

IDLE = ("leader", "instance", "frequency")
LEADER, INSTANCE, FREQUENCY = range(3)
EXPLORATION = 2.0


class Constants(NamedTuple):
    """b: slot length. idle: one of IDLE. tests: whether there are any. delta, ratio: theirs."""

    b: int
    idle: int
    tests: bool
    delta: float
    ratio: float


@njit
def play(world, ledger, K, T, B, constants, rng):
    """Blocks as in `hyque.play`; `phase` is a UCB1 instance that learns from all queries since the
    restart."""
    b = constants.b
    orders_at_most = 2
    while b << orders_at_most < T + b:
        orders_at_most += 1
    instances = new_instances(orders_at_most + 1, K, EXPLORATION)  # one an order is running
    datas = new_memories(orders_at_most + 1, world)
    observed = np.zeros(orders_at_most + 1, dtype=np.int64)
    in_use = anything(world)  # what idle rounds play
    phase, phase_data = new_instance(K), new_data(K)
    of_phase = 0  # its queries
    sums = np.empty((K, B + 1), dtype=np.int32)  # sums[k, n]: rewards of arm k's first n in it
    sums[:, 0] = 0
    splits = split_grid(B, constants.ratio)
    root_B = T / math.sqrt(B)

    t = 1
    n = 0
    while t <= T:
        block = t
        orders, starts = draw_started(square_roots(n), rng)
        pieces, quotas, _ = arrange(orders, starts)
        limit_quotas(pieces, quotas, b, T + 1 - block)
        opened = 0
        restart = False
        width = min(root_B, 2.0**n)

        for p in range(pieces.shape[0]):
            active = pieces[p, 2]
            m = orders[active]
            while opened < orders.shape[0] and starts[opened] <= pieces[p, 0]:
                begin(instances[orders[opened]], K, EXPLORATION)
                datas[orders[opened]][:] = 0.0
                observed[orders[opened]] = 0
                opened += 1
            instance, data = instances[m], datas[m]
            stop = min(block + pieces[p, 1] * b, T + 1)

            wished = min(quotas[active], stop - t)
            quotas[active] -= wished
            batch = t + min(wished, B - ledger.queries)
            refused = t + wished - batch
            while t < stop:
                if t >= batch:
                    ledger.denied += refused
                    refused = 0
                    until = demand(t, stop, ledger.queries, T, B, width, False)
                    if until > t:
                        if constants.idle == LEADER:
                            if of_phase > 0:
                                arm, _ = choose(phase, max(of_phase, K), EXPLORATION, rng)
                                only(in_use, arm)
                            idle(world, ledger, phase_data, t, until, in_use, rng)
                        else:
                            if observed[m] > 0 and constants.idle == FREQUENCY:
                                in_use[:] = instance[PLAYS]
                            elif observed[m] > 0:
                                arm, _ = choose(instance, observed[m], EXPLORATION, rng)
                                only(in_use, arm)
                            idle(world, ledger, data, t, until, in_use, rng)
                    t = until
                    if t == stop:
                        break
                    ledger.conversions += 1

                arm, _ = choose(instance, observed[m], EXPLORATION, rng)
                before_query(ledger, data, phase_data)
                reward = query(world, ledger, data, t, arm, rng)
                after_query(world, ledger, data, phase_data, t)
                update(instance, arm, reward)
                observed[m] += 1
                of_phase += 1
                t += 1
                if detected(phase, sums, arm, reward, splits, constants):
                    restart = True
                    break
            if restart or t > T:
                break

        n += 1
        if restart:
            ledger.restarts += 1
            n = of_phase = 0
            forget_all(phase)
            phase_data[:] = 0.0


@leaf
def detected(phase, sums, arm, reward, splits, constants):
    """The phase sees a reward; whether the tests find that the arm has changed."""
    update(phase, arm, reward)
    n = int(phase[PLAYS, arm])
    sums[arm, n] = int(phase[REWARDS, arm])
    return constants.tests and changed(sums, arm, n, splits, threshold(n, constants.delta))


@dataclass(frozen=True)
class Options:
    """See the module."""

    idle: str = schema.choice(
        "leader",
        *IDLE,
        about="idle rounds play the leader of all queries since a restart, or instance: of the "
        "active one's; or frequency: as HyQue",
    )
    tests: str = schema.choice("glr", "glr", "none", about="of changes: glr, or none")
    delta_scale: float = schema.real(
        1.0, above=0, high=1e6, about="times delta = 1 / sqrt(B), the tests' level"
    )
    ratio: float = schema.real(
        1.25, above=1, high=1000, about="of the grid of splits that are tested"
    )


def arguments(known, options):
    constants = Constants(
        b=theory.slot_length(known.T, known.B),
        idle=IDLE.index(options.idle),
        tests=options.tests == "glr",
        delta=min(1.0, options.delta_scale / math.sqrt(known.B)),
        ratio=float(options.ratio),
    )
    return (constants,)


POLICY = Policy(
    id="hyque_leader",
    name="HyQue, leader and GLR",
    summary="HyQue with likelihood ratio tests, whose idle rounds play the leading arm",
    kernel=play,
    options=Options,
    arguments=arguments,
    rate=paper_rate("conjectured: HyQue with the leader in idle rounds and practical change tests"),
    look=Look("#110EF2", "$q$", LONG, place=37),
)
