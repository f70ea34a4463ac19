"""Bandit over bandits (Cheung, Simchi-Levi, Zhu 2019, 2022): Exp3 chooses SW-UCB's window.

Before each block of H queries Exp3 picks one of Delta + 1 windows. SW-UCB plays the block with it,
from nothing, and Exp3 is given the sum of the block's rewards, `earned`. The policy is given T and
B only.

    H = floor(sqrt(K B)), Delta = ceil(ln H), windows floor(H^(j / Delta)) for j = 0..Delta,
    gamma = min{1, sqrt((Delta + 1) ln(Delta + 1) / ((e - 1) ceil(B / H)))},
    weight *= exp(gamma / ((Delta + 1) chance) (1/2 + earned / (2 H + 4 R sqrt(H ln(B / sqrt H)))))

These are the formulas for linear bandits of dimension d over T rounds, with B queries for T rounds
and R = 1/2 (rewards in [0, 1]), except for H. There H = d sqrt(T) balances the cost sqrt(H T) of
the choice with the cost d T / sqrt(H) of windows of at most H. With K separate arms the latter is
T sqrt(K / H), so H = sqrt(K T). `block_scale` multiplies H: sqrt(K) gives the linear H at d = K.

SW-UCB is this project's `sw_ucb` with its padding. A window shorter than K could never hold all
arms and is taken as K. The printed reward of a block lies in [1/2, 1], because their rewards may be
negative and unbounded; `reward: mean` gives Exp3 the block's mean reward instead.
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
from confee.policies.look import DOTS, Look
from confee.policies.queries import ScheduleOptions, new_schedule, next_query, schedule_kind
from confee.policies.sw_ucb import play_queries
from confee.world.game import draw, idle, new_data


class Parameters(NamedTuple):
    """What the kernel is given beside the sizes.

    Parameters
    ----------
    kind
        The query schedule.
    H
        Queries in a block.
    gamma
        Exp3's exploration.
    xi
        The factor of the logarithm in SW-UCB's index.
    shift, scale
        Exp3 is given shift + (sum of the block's rewards) / scale as the reward of a block.
    """

    kind: int
    H: int
    gamma: float
    xi: float
    shift: float
    scale: float


@njit
def play(world, ledger, K, T, B, p, rng):
    """Play blocks of H queries; a block begins with its first query."""
    windows = grid(K, B, p.H)
    experts = windows.shape[0]
    weights = np.ones(experts)
    chances = np.empty(experts)
    schedule = new_schedule(p.kind, T, B)
    t = next_query(schedule, ledger, rng)
    idle(world, ledger, new_data(K), 1, t, np.ones(K), rng)
    while t <= T:
        if ledger.queries > 0:
            ledger.restarts += 1
        total = weights.sum()
        for j in range(experts):
            chances[j] = (1.0 - p.gamma) * weights[j] / total + p.gamma / experts
        j = draw(chances, 1.0, rng)
        window = windows[j]
        t, earned = play_queries(world, ledger, schedule, t, K, T, p.H, False, window, p.xi, rng)
        reward = p.shift + earned / p.scale
        weights[j] *= math.exp(p.gamma / (experts * chances[j]) * reward)
        if weights[j] > 1e100:  # A common factor changes no chance and keeps overflow away.
            weights /= weights[j]


@njit
def grid(K, B, H):
    """The Delta + 1 windows, from 1 to H in equal ratios, none shorter than K."""
    steps = grid_steps(H)
    windows = np.empty(steps + 1, dtype=np.int64)
    for j in range(steps + 1):  # An integer H^(j / Delta) may be rounded down.
        windows[j] = min(max(int(H ** (j / steps) + 1e-9), K), B)
    return windows


@leaf
def grid_steps(H):
    """Delta = ceil(ln H), at least 1."""
    return max(1, math.ceil(math.log(H)))


@dataclass(frozen=True)
class Options(ScheduleOptions):
    """The options of BOB-SW-UCB: SW-UCB's index, the block, and Exp3's reward of a block."""

    xi: float = schema.real(
        0.5,
        above=0,
        about="exploration of SW-UCB, whose index is mean + sqrt(xi ln min(tau, window) / plays)",
    )
    block_scale: float = schema.real(
        1.0, above=0, high=1e6, about="multiplies the block length, H = sqrt(K B) queries"
    )
    reward: str = schema.choice(
        "printed",
        "printed",
        "mean",
        about="reward of a block: 1/2 + earned / (2 H + ...) as printed, or its mean, earned / H",
    )


def arguments(known, options):
    K, B = known.K, known.B
    H = max(1, math.floor(min(math.sqrt(K * B) * options.block_scale, B)))
    gamma = theory.exp3_rate(grid_steps(H) + 1, math.ceil(B / H))
    shift, scale = 0.0, float(H)
    if options.reward == "printed":
        shift, scale = 0.5, 2 * H + 2 * math.sqrt(H * math.log(B / math.sqrt(H)))
    return (Parameters(schedule_kind(options), H, gamma, float(options.xi), shift, scale),)


POLICY = Policy(
    id="bob_sw_ucb",
    name="BOB-SW-UCB",
    summary="bandit over bandits: Exp3 chooses the window of SW-UCB, block by block",
    kernel=play,
    options=Options,
    arguments=arguments,
    look=Look("#295981", "$B$", DOTS, place=12),
)
