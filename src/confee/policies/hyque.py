"""HyQue (Algorithm 2) over BaQue (Algorithm 1): a prior-free query allocation around UCB1.

`over` replaces UCB1 by any other base algorithm (extension section), as in `hyque_oful`. The same
kernel plays

    baque, odque                    with one half of the allocation switched off,
    hyque_calibrated                with a measured scale on the change tests,
    hyque_blind, hyque_discarding   without the use of some feedback (controls of claims).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from confee.core import schema
from confee.core.jit import inlined, leaf, njit
from confee.core.jit import over as compiled_over
from confee.paper import theory
from confee.policies.algorithm import Algorithm
from confee.policies.base import PAPER, Policy
from confee.policies.blocks import END, FIRST, INSTANCE, arrange, draw_started, limit_quotas
from confee.policies.change_tests import next_look
from confee.policies.growth import Growth
from confee.policies.look import SOLID, Look
from confee.policies.ucb import UCB1, act, begin, chances, learn, new_instances, replayed, rho
from confee.world.game import anything, idle, new_memories, query


class Parameters(NamedTuple):
    """What HyQue's kernel is given beside the sizes and the base algorithm's constants.

    Parameters
    ----------
    b
        The slot length ceil(2T/B), in rounds.
    baseline, on_demand
        Whether each half of the allocation is on.
    appendix
        Whether the on-demand buffer is the one printed in the appendix.
    whole
        Whether quotas count active rounds past T as well.
    factor, scale
        The change tests compare with rho^ = scale * factor * rho.
    measure
        Whether the change tests raise `scale` to the smallest value at which none fires, instead
        of restarting.
    discards
        Whether the feedback of conversions (queries on demand) is lost.
    """

    b: int
    baseline: bool
    on_demand: bool
    appendix: bool
    whole: bool
    factor: float
    scale: float
    measure: bool
    discards: bool


@njit
def play(world, ledger, known, T, B, constants, p, rng):
    """Play rounds 1..T and return the scale of the change tests, see `Parameters.measure`.

    `known` and `constants` are the base algorithm's (`confee.policies.algorithm`); p: `Parameters`.
    """
    b, scale = p.b, p.scale
    top_order = 2
    while b << top_order < T + b:
        top_order += 1
    # At most one instance of each order runs at a time, so each order has one place.
    instances = new_instances(top_order + 1, known, constants)
    datas = new_memories(top_order + 2, world)
    observed = np.zeros(top_order + 1, dtype=np.int64)
    discarded = datas[top_order + 1]  # data of conversions whose feedback is lost
    in_use = anything(world)  # what idle rounds play: the last frequencies in use
    root_B = T / math.sqrt(B)

    t = 1
    n = 0
    while t <= T:  # Algorithm 2, line 2: blocks n = 0, 1, ...
        block = t
        orders, starts = draw_started(chances(n, known), rng)
        pieces, quotas, closing = arrange(orders, starts)
        if not p.whole:
            limit_quotas(pieces, quotas, b, T + 1 - block)
        opened = closed = 0
        rewards = 0.0  # baseline rewards of the block so far
        rewards_before = np.zeros(orders.shape[0])  # `rewards` when each instance began
        lowest = 1.0  # U_t: the least optimistic value of the block's queries
        queries = 0
        excess = 0.0  # sum of g~ - R over the block's queries
        check = 1  # test (ii) cannot fire before this many queries
        restart = False
        width = min(root_B, 2.0**n)

        for piece in range(pieces.shape[0]):
            active = pieces[piece, INSTANCE]
            while opened < orders.shape[0] and starts[opened] <= pieces[piece, FIRST]:
                begin(instances[orders[opened]], known, constants)
                datas[orders[opened]][:] = 0.0
                observed[orders[opened]] = 0
                rewards_before[opened] = rewards
                opened += 1
            m = orders[active]
            instance, data = instances[m], datas[m]
            stop = min(block + pieces[piece, END] * b, T + 1)

            # Query batch (line 5): the instance's first quota active rounds, while B lasts.
            wished = min(quotas[active], stop - t) if p.baseline else 0
            quotas[active] -= wished
            batch_end = t + min(wished, B - ledger.queries)
            denied = t + wished - batch_end
            while t < stop:
                scheduled = t < batch_end
                if not scheduled:
                    # Lines 9-12: idle rounds, up to the round that on-demand converts.
                    ledger.denied += denied
                    denied = 0
                    until = stop
                    if p.on_demand:
                        until = demand(t, stop, ledger.queries, T, B, width, p.appendix)
                    if until > t and observed[m] > 0:
                        in_use[:] = replayed(instance, data)
                    idle(world, ledger, data, t, until, in_use, rng)
                    t = until
                    if t == stop:
                        break
                    ledger.conversions += 1

                    if p.discards:
                        decision, _ = act(instance, observed[m], known, constants, rng)
                        query(world, ledger, discarded, t, decision, rng)
                        t += 1
                        continue

                # Lines 6-7: play the best index, observe, update.
                decision, value = act(instance, observed[m], known, constants, rng)
                reward = query(world, ledger, data, t, decision, rng)
                learn(instance, known, constants, data, decision, reward)
                observed[m] += 1
                t += 1
                if scheduled:
                    rewards += reward
                if not 0.0 <= value <= 1.0:
                    ledger.stray += 1

                # Line 8, test (ii): the mean of g~ - R is at least 3 rho^(queries).
                lowest = min(lowest, value)
                queries += 1
                excess += value - reward
                if queries >= check:
                    bound = 3.0 * p.factor * queries * rho(queries, known)
                    if excess >= scale * bound:
                        if p.measure:
                            scale = excess / bound
                        else:
                            restart = True
                            break
                    check = next_look(queries, excess, scale * bound)

            # Line 8, test (i): where an instance's span ended in round t - 1, its mean baseline
            # reward is at least U_t + 9 rho^(2^m).
            while (
                closed < closing.shape[0]
                and block + (starts[closing[closed]] + (1 << orders[closing[closed]])) * b <= t
            ):
                ended = closing[closed]
                span = 1 << orders[ended]
                rise = (rewards - rewards_before[ended]) / span - lowest
                bound = 9.0 * p.factor * rho(span, known)
                if rise >= scale * bound:
                    if p.measure:
                        scale = rise / bound
                    else:
                        restart = True
                closed += 1
            if restart or t > T:
                break

        n += 1
        if restart:  # A restart begins a new phase, with block 0.
            ledger.restarts += 1
            n = 0
    return scale


@inlined
def lagging(t, used, T, B, width, appendix):
    """Line 10: B' < t B / T - min{T / sqrt(B), 2^n, T - t}, with `used` for B'."""
    buffer = min(math.sqrt(B), float(T - t)) if appendix else min(width, float(T - t))
    return used < float(t) * B / T - buffer  # As an integer, t B may pass 2^63.


@leaf
def demand(t, stop, used, T, B, width, appendix):
    """The first round in t..stop-1 at which line 10 holds if nothing is queried, or else `stop`.

    Line 10 holds as soon as t B / T exceeds either `used + level` or `used + T - t`. Both are
    solved for t; two loops correct the rounding of the solution.
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
    """The scale of the change tests; 1 is the paper's theory."""

    scale: float = schema.real(
        1.0, low=0, about="multiplies rho^ in the change tests; 1 is the paper's value"
    )


@dataclass(frozen=True)
class OdqueOptions(ScaleOptions):
    """OdQue's options: those of the change tests and of queries on demand."""

    buffer: str = schema.choice(
        "body", "body", "appendix", about="the body's on-demand buffer, or the appendix's"
    )


@dataclass(frozen=True)
class BaqueOptions(ScaleOptions):
    """BaQue's options: those of the change tests and of an instance's quota."""

    quota: str = schema.choice(
        "horizon",
        "horizon",
        "block",
        about="active rounds that count towards a quota: up to the horizon T, or in all the block",
    )


@dataclass(frozen=True)
class Options(BaqueOptions, OdqueOptions):
    """HyQue's options: those of both halves."""


def arguments(
    known, options, alg=UCB1, baseline=True, on_demand=True, measure=False, discards=False
):
    """(constants of `alg`, `Parameters`): what the kernel is given after B."""
    game, T, B = known.K, known.T, known.B
    parameters = Parameters(
        b=theory.slot_length(T, B),
        baseline=baseline,
        on_demand=on_demand,
        appendix=getattr(options, "buffer", "body") == "appendix",
        whole=getattr(options, "quota", "horizon") == "block",
        factor=theory.rho_hat_factor(T) * alg.stretch(options),
        scale=float(options.scale),
        measure=measure,
        discards=discards,
    )
    return alg.constants(game, T, options), parameters


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
