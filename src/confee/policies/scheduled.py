"""A base algorithm under a query schedule, restarted with a fixed probability before each query.

In every setting HyQue is compared with its base algorithm alone (`paced`) and with its base
algorithm restarted at random (`restarted`). The restart rate balances the cost of learning from
nothing with the cost of old data. With an average error rho(t) = c / sqrt(t), instances of about
tau queries and Q = B queries in all, these costs are c / sqrt(tau) and tau V / Q, so that

    tau = (c Q / (2 V))^{2/3},    rate = 1 / tau.

c is `Algorithm.error` (times `stretch`), without logarithms. Random restarts follow no clock that
an adversary could know. `random_restart` does the same around UCB1 at another rate (Gerogiannis,
Huang, Veeravalli 2025).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from confee.core import schema
from confee.core.jit import leaf, njit
from confee.core.jit import over as compiled_over
from confee.policies.algorithm import Algorithm
from confee.policies.base import Policy
from confee.policies.queries import (
    ScheduleOptions,
    failures,
    new_schedule,
    next_query,
    schedule_kind,
)
from confee.policies.ucb import act, begin, learn, new_instances, replayed
from confee.world.game import anything, idle, new_memories, query


@njit
def play(world, ledger, known, T, B, constants, kind, rate, rng):
    """Idle rounds replay the decisions since the restart; before the first query, any decision.

    Parameters
    ----------
    known, constants
        The base algorithm's, see `confee.policies.algorithm`.
    kind
        The query schedule.
    rate
        The probability of a restart before a query.
    """
    instance = new_instances(1, known, constants)[0]
    begin(instance, known, constants)
    data = new_memories(1, world)[0]
    schedule = new_schedule(kind, T, B)
    restart = next_restart(0, rate, B, rng)
    start = 0
    t = next_query(schedule, ledger, rng)
    idle(world, ledger, data, 1, t, anything(world), rng)
    while t <= T:
        if ledger.queries == restart:
            begin(instance, known, constants)
            data[:] = 0.0
            start = restart
            ledger.restarts += 1
            restart = next_restart(start, rate, B, rng)
        decision, _ = act(instance, ledger.queries - start, known, constants, rng)
        reward = query(world, ledger, data, t, decision, rng)
        learn(instance, known, constants, data, decision, reward)
        after = t + 1
        t = next_query(schedule, ledger, rng)
        idle(world, ledger, data, after, t, replayed(instance, data), rng)


@leaf
def next_restart(start, rate, B, rng):
    """Draw the number of queries before the next restart; B + 1 if there is none."""
    return start + 1 + failures(rate, B, rng) if rate > 0.0 else B + 1


@dataclass(frozen=True)
class RestartOptions(ScheduleOptions):
    """The options of `restarted`: those of the query schedule, and the restart rate."""

    rate_scale: float = schema.real(
        1.0, low=0, high=1e6, about="multiplies the restart rate that balances noise and drift"
    )


def paced(alg: Algorithm, module: str) -> Policy:
    """The policy of `module` that plays `alg` under a query schedule."""
    return Policy(
        id=module.rpartition(".")[2],
        name=alg.name,
        summary=f"{alg.name} under a query schedule",
        kernel=compiled_over(play, module, **alg.calls),
        options=alg.with_options(ScheduleOptions),
        arguments=partial(_arguments, alg),
        setting=alg.setting.id,
        algorithm=alg,
    )


def restarted(alg: Algorithm, module: str) -> Policy:
    """The policy of `module` that plays `alg` under a query schedule and restarts it at random."""
    return Policy(
        id=module.rpartition(".")[2],
        name=f"{alg.name}, restarted",
        summary=f"{alg.name} under a query schedule, restarted at random",
        kernel=compiled_over(play, module, **alg.calls),
        known=("T", "B", "V"),
        options=alg.with_options(RestartOptions),
        arguments=partial(_arguments, alg),
        setting=alg.setting.id,
        algorithm=alg,
    )


def _arguments(alg, known, options):
    game, T, B, V = known.K, known.T, known.B, known.V
    rate = 0.0
    if V:  # None if the policy is not given V; 0 if nothing changes.
        error = alg.error(game) * alg.stretch(options)
        rate = min(1.0, options.rate_scale * (2 * V / (error * B)) ** (2 / 3))
    return alg.constants(game, T, options), schedule_kind(options), rate
