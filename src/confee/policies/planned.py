"""A base algorithm under a query plan, started anew with a fixed chance before each query.

What HyQue is compared with in any setting: the algorithm paced (`paced`), and restarted at the rate
that balances what it costs to learn anew and what old data cost (`restarted`). With errors
rho(t) = c / sqrt(t) and instances of about tau queries, Q = B of them in all, that is c / sqrt(tau)
against tau V / Q, so that

    tau = (c Q / (2 V))^{2/3},    rate = 1 / tau;

c is `Algorithm.error` (times `stretch`), logarithms left out. Restarts at random need no clock
that an adversary could know, and are what `random_restart` does around UCB1 (Gerogiannis, Huang,
Veeravalli 2025).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from confee.core import schema
from confee.core.jit import leaf, njit
from confee.core.jit import over as compiled_over
from confee.policies.algorithm import Algorithm
from confee.policies.base import Policy
from confee.policies.plans import PlanOptions, new_plan, next_query, plan_of, skip
from confee.policies.ucb import act, begin, learn, new_instances, replayed
from confee.world.game import anything, idle, new_memories, query


@njit
def play(world, ledger, known, T, B, constants, kind, rate, rng):
    """known, constants: see `confee.policies.algorithm`. kind: of plan. rate: of restarts a query.

    Idle rounds: past decisions since the restart; anything before the first query.
    """
    instance = new_instances(1, known, constants)[0]
    begin(instance, known, constants)
    data = new_memories(1, world)[0]
    plan = new_plan(kind, T, B)
    restart = next_restart(0, rate, B, rng)
    start = 0
    t = next_query(plan, ledger, rng)
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
        t = next_query(plan, ledger, rng)
        idle(world, ledger, data, after, t, replayed(instance, data), rng)


@leaf
def next_restart(start, rate, B, rng):
    """How many queries will have been made at the next restart: geometric; B + 1 if never."""
    return start + 1 + skip(rate, B, rng) if rate > 0.0 else B + 1


@dataclass(frozen=True)
class RestartOptions(PlanOptions):
    """rate_scale: times the rate that balances, see above."""

    rate_scale: float = schema.real(
        1.0, low=0, high=1e6, about="times the rate that balances noise and drift"
    )


def paced(alg: Algorithm, module: str) -> Policy:
    """`alg` under a query plan, the policy of `module`."""
    return Policy(
        id=module.rpartition(".")[2],
        name=alg.name,
        summary=f"{alg.name} under a query plan",
        kernel=compiled_over(play, module, **alg.calls),
        options=alg.with_options(PlanOptions),
        arguments=partial(_arguments, alg),
        setting=alg.setting.id,
        algorithm=alg,
    )


def restarted(alg: Algorithm, module: str) -> Policy:
    """`alg` under a query plan, restarted at the rate that balances, the policy of `module`."""
    return Policy(
        id=module.rpartition(".")[2],
        name=f"{alg.name}, restarted",
        summary=f"{alg.name} under a query plan, restarted at random",
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
    if V:  # told, and something changes
        error = alg.error(game) * alg.stretch(options)
        rate = min(1.0, options.rate_scale * (2 * V / (error * B)) ** (2 / 3))
    return alg.constants(game, T, options), plan_of(options), rate
