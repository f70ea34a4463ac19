"""HyQue (Algorithm 2) over BaQue (Algorithm 1): a prior-free query allocation around UCB1.

`over` puts any other base algorithm in its place (extension section): `hyque_oful` and its kin.
`baque` and `odque` are the same kernel with one half switched off, `hyque_calibrated` the same with
a measured scale on the change tests, `hyque_blind` and `hyque_discarding` (controls of claims) the
same without the use of some feedback.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from confee.core import schema
from confee.core.jit import inlined, leaf, njit
from confee.core.jit import over as compiled_over
from confee.paper import theory
from confee.policies.algorithm import Algorithm
from confee.policies.base import PAPER, Policy
from confee.policies.change_tests import next_look
from confee.policies.growth import Growth
from confee.policies.look import SOLID, Look
from confee.policies.schedule import arrange, draw_started, limit_quotas
from confee.policies.ucb import UCB1, act, begin, chances, learn, new_instances, replayed, rho
from confee.world.game import anything, idle, new_memories, query


@njit
def play(
    world,
    ledger,
    known,
    T,
    B,
    constants,
    b,
    baseline,
    on_demand,
    appendix,
    whole,
    factor,
    scale,
    measure,
    discards,
    rng,
):
    """Plays rounds 1..T; returns the scale (see `measure`).

    known, constants: the base algorithm's, see `confee.policies.algorithm`. b: slot length
    ceil(2T/B). baseline, on_demand: whether each half of the allocation is on. appendix: the buffer
    printed in the appendix. whole: quotas count the whole block, past T as well. factor: rho^ =
    scale * factor * rho. measure: the change tests restart nothing; instead `scale` is raised to
    the smallest at which none fires. discards: the feedback of conversions is lost.
    """
    orders_at_most = 2
    while b << orders_at_most < T + b:
        orders_at_most += 1
    # One instance an order: at most one of each is running.
    instances = new_instances(orders_at_most + 1, known, constants)
    datas = new_memories(orders_at_most + 2, world)
    observed = np.zeros(orders_at_most + 1, dtype=np.int64)
    in_use = anything(world)  # the last play frequencies in use
    lost = datas[orders_at_most + 1]  # the data of conversions whose feedback is discarded
    root_B = T / math.sqrt(B)

    t = 1
    n = 0
    while t <= T:  # Algorithm 2, line 2: blocks n = 0, 1, ...
        block = t
        orders, starts = draw_started(chances(n, known), rng)
        pieces, quotas, closing = arrange(orders, starts)
        if not whole:
            limit_quotas(pieces, quotas, b, T + 1 - block)
        spans = np.zeros(orders.shape[0])  # baseline rewards of the block when a span began
        opened = closed = 0
        rewards = 0.0  # baseline rewards of the block so far
        lowest = 1.0  # U_t: the least optimistic value of the block's queries
        queries = 0
        excess = 0.0  # sum of g~ - R over the block's queries
        check = 1  # test (ii) cannot fire before this many queries
        restart = False
        width = min(root_B, 2.0**n)

        for p in range(pieces.shape[0]):
            active = pieces[p, 2]
            m = orders[active]
            while opened < orders.shape[0] and starts[opened] <= pieces[p, 0]:
                begin(instances[orders[opened]], known, constants)
                datas[orders[opened]][:] = 0.0
                observed[orders[opened]] = 0
                spans[opened] = rewards
                opened += 1
            instance, data = instances[m], datas[m]
            stop = min(block + pieces[p, 1] * b, T + 1)

            # Query batch (line 5): the instance's first quota active rounds, while B lasts.
            wished = min(quotas[active], stop - t) if baseline else 0
            quotas[active] -= wished
            batch = t + min(wished, B - ledger.queries)
            refused = t + wished - batch
            while t < stop:
                scheduled = t < batch
                if not scheduled:
                    # Lines 9-12: an idle run, up to the round that on-demand converts.
                    ledger.denied += refused
                    refused = 0
                    until = stop
                    if on_demand:
                        until = demand(t, stop, ledger.queries, T, B, width, appendix)
                    if until > t and observed[m] > 0:
                        in_use[:] = replayed(instance, data)
                    idle(world, ledger, data, t, until, in_use, rng)
                    t = until
                    if t == stop:
                        break
                    ledger.conversions += 1

                    if discards:
                        decision, _ = act(instance, observed[m], known, constants, rng)
                        query(world, ledger, lost, t, decision, rng)
                        t += 1
                        continue

                # Lines 6-7: play the index, look, update.
                decision, value = act(instance, observed[m], known, constants, rng)
                reward = query(world, ledger, data, t, decision, rng)
                learn(instance, known, constants, data, decision, reward)
                observed[m] += 1
                t += 1
                if scheduled:
                    rewards += reward
                if not 0.0 <= value <= 1.0:
                    ledger.stray += 1

                # Line 8, test (ii): mean of g~ - R at least 3 rho^(queries).
                lowest = min(lowest, value)
                queries += 1
                excess += value - reward
                if queries >= check:
                    bound = 3.0 * factor * queries * rho(queries, known)
                    if excess >= scale * bound:
                        if measure:
                            scale = excess / bound
                        else:
                            restart = True
                            break
                    check = next_look(queries, excess, scale * bound)

            # Line 8, test (i): a span ended in round t - 1, mean baseline reward over it.
            while (
                closed < closing.shape[0]
                and block + (starts[closing[closed]] + (1 << orders[closing[closed]])) * b <= t
            ):
                ended = closing[closed]
                size = 1 << orders[ended]
                rise = (rewards - spans[ended]) / size - lowest
                bound = 9.0 * factor * rho(size, known)
                if rise >= scale * bound:
                    if measure:
                        scale = rise / bound
                    else:
                        restart = True
                closed += 1
            if restart or t > T:
                break

        n += 1
        if restart:  # a new phase
            ledger.restarts += 1
            n = 0
    return scale


@inlined
def lagging(t, used, T, B, width, appendix):
    """Line 10: B' < t B / T - min{T / sqrt(B), 2^n, T - t}."""
    buffer = min(math.sqrt(B), float(T - t)) if appendix else min(width, float(T - t))
    return used < float(t) * B / T - buffer  # in whole numbers t B may pass 2^63


@leaf
def demand(t, stop, used, T, B, width, appendix):
    """The first round in t..stop-1 at which line 10 holds while nothing is queried, else `stop`.

    The condition is `or` of two increasing ones, solved for and then settled to the round.
    """
    level = math.sqrt(B) if appendix else width
    first = min((used + level) * T / B, (used + T) / (1.0 + B / T))
    guess = int(min(max(first, float(t)), float(stop)))
    while guess > t and lagging(guess - 1, used, T, B, width, appendix):
        guess -= 1
    while guess < stop and not lagging(guess, used, T, B, width, appendix):
        guess += 1
    return guess


@dataclass(frozen=True)
class ScaleOptions:
    """scale multiplies rho^ of the change tests; 1 is the paper's theory."""

    scale: float = schema.real(1.0, low=0, about="times rho^ in the change tests")


@dataclass(frozen=True)
class OdqueOptions(ScaleOptions):
    """buffer: the on-demand buffer as printed in the body, or in the appendix."""

    buffer: str = schema.choice(
        "body", "body", "appendix", about="or `appendix`: the on-demand buffer printed there"
    )


@dataclass(frozen=True)
class BaqueOptions(ScaleOptions):
    """quota: the active rounds that count towards an instance's quota, those up to the horizon T or
    all of its block."""

    quota: str = schema.choice(
        "horizon", "horizon", "block", about="or `block`: active rounds past T count as well"
    )


@dataclass(frozen=True)
class Options(BaqueOptions, OdqueOptions):
    """The options of both halves."""


def arguments(
    known, options, alg=UCB1, baseline=True, on_demand=True, measure=False, discards=False
):
    game, T, B = known.K, known.T, known.B
    b = theory.slot_length(T, B)
    appendix = getattr(options, "buffer", "body") == "appendix"
    whole = getattr(options, "quota", "horizon") == "block"
    factor = theory.rho_hat_factor(T) * alg.stretch(options)
    return (
        alg.constants(game, T, options),
        b,
        baseline,
        on_demand,
        appendix,
        whole,
        factor,
        float(options.scale),
        measure,
        discards,
    )


def over(alg: Algorithm, module: str) -> Policy:
    """HyQue over `alg`, the policy of `module` (Algorithms 4 and 5, extension section)."""
    return Policy(
        id=module.rpartition(".")[2],
        name=f"HyQue over {alg.name}",
        summary=f"HyQue over {alg.name}",
        kernel=compiled_over(play, module, **alg.calls),
        options=alg.with_options(Options),
        arguments=partial(arguments, alg=alg),
        setting=alg.setting.id,
        algorithm=alg,
        growth=Growth(claimed="rate", blocks="slots"),
    )


POLICY = Policy(
    id="hyque",
    name="HyQue",
    summary="HyQue (Algorithm 2): baseline batches and on-demand queries, prior-free",
    kernel=play,
    options=Options,
    arguments=arguments,
    role=PAPER,
    look=Look("#0072B2", "o", SOLID, 1.8, place=0),
    growth=Growth(claimed="rate", blocks="slots"),
)
