"""DAL over UCB1 (Gerogiannis, Huang, Bose, Veeravalli 2025, arXiv 2501.19401): a base algorithm
that is started anew when a change is detected, and forced plays that feed the detectors.

Given T and B only. In each cycle of ceil(K / alpha_k) queries since the last restart the first K
play each arm once; all others are UCB1's. alpha_k = sqrt(k K ln B / B) after k - 1 restarts. Each
arm has a Bernoulli GLR test with threshold ln(4 n^{3/2} / delta), delta = 1 / sqrt(B), tested after
each play that it sees. An alarm forgets everything.

What could be read of the paper does not include its Algorithm 1. The schedule and the constants are
those of the first author's code for the predecessor (Gerogiannis, Huang, Veeravalli 2025, arXiv
2410.13772), where the detectors see all plays. Whether DAL's see the forced plays alone, which
keeps the two analyses apart, is a guess, so it is an option: `detector_data=forced` (the base then
learns from its own plays alone) or `all` (both learn from all plays: GLR-UCB but for the clock of
the cycles). Splits are on a geometric grid, as in `glr_ucb`; the code tests every 10th play at
every 5th split. The guarantee is for piecewise stationary paths whose changes lie apart; nothing is
proved for the rate in V. Idle rounds are ours.

`glr_ucb_leader` is this kernel with GLR-UCB's constants.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from confee.core import schema
from confee.core.jit import leaf, njit
from confee.policies.base import Policy
from confee.policies.detecting import cycle, forced, forget_all, new_instance, shuffled
from confee.policies.glr_ucb import changed, split_grid
from confee.policies.idling import FrequencyOptions, only
from confee.policies.look import LONG, Look
from confee.policies.paper_rate import paper_rate
from confee.policies.queries import new_schedule, next_query, schedule_kind
from confee.policies.ucb import choose, update
from confee.world.game import idle, new_data, query


class Constants(NamedTuple):
    """What the kernel is run with.

    Parameters
    ----------
    leads
        Idle rounds play the leading arm.
    exploration
        Of UCB1's index.
    constant, delta
        The threshold is ln(constant n^{3/2} / delta).
    alpha, growing
        Share of forced queries, and whether it grows as sqrt(1 + restarts).
    pooled
        Base and detectors learn from all plays.
    from_restart
        Cycles are counted from the last restart and have ceil(K / alpha) queries; otherwise from
        the first query, and floor(K / alpha).
    ratio
        Of the grid of splits.
    """

    leads: bool
    exploration: float
    constant: float
    delta: float
    alpha: float
    growing: bool
    pooled: bool
    from_restart: bool
    ratio: float


@njit
def play(world, ledger, K, T, B, kind, constants, rng):
    """In idle rounds, the leading arm or arms by the frequency of the plays since a restart."""
    ucb = new_instance(K)
    anyone, leader = np.ones(K), np.zeros(K)
    used = np.zeros(K)  # plays since the restart, forced or not
    tested, rewards = np.zeros(K, dtype=np.int64), np.zeros(K, dtype=np.int64)  # by the detectors
    sums = np.empty((K, B + 1), dtype=np.int32)  # sums[k, n]: of the first n that k's has seen
    sums[:, 0] = 0
    splits = split_grid(B, constants.ratio)
    order = shuffled(K, rng)
    length = cycle_of(K, constants.alpha, constants.from_restart)
    learned = start = 0  # observations of the base; queries before the restart
    data = new_data(K)
    plan = new_schedule(kind, T, B)
    t = next_query(plan, ledger, rng)
    idle(world, ledger, data, 1, t, anyone, rng)
    while t <= T:
        arm = forced(order, ledger.queries - (start if constants.from_restart else 0), length)
        is_forced = arm >= 0
        if not is_forced:
            arm, _ = choose(ucb, max(learned, K), constants.exploration, rng)
        reward = query(world, ledger, data, t, arm, rng)
        used[arm] += 1.0
        if constants.pooled or not is_forced:
            update(ucb, arm, reward)
            learned += 1
        if constants.pooled or is_forced:
            tested[arm] += 1
            rewards[arm] += int(reward)
            n = tested[arm]
            sums[arm, n] = rewards[arm]
            beta = math.log(constants.constant / constants.delta) + 1.5 * math.log(n)
            if changed(sums, arm, n, splits, beta):
                ledger.restarts += 1
                if constants.growing:
                    alpha = min(1.0, constants.alpha * math.sqrt(ledger.restarts + 1.0))
                    length = cycle_of(K, alpha, constants.from_restart)
                learned, start = 0, ledger.queries
                tested[:] = 0
                rewards[:] = 0
                used[:] = 0.0
                forget_all(ucb)
                data[:] = 0.0
        after = t + 1
        t = next_query(plan, ledger, rng)
        if t > after:
            if constants.leads:
                arm, _ = choose(ucb, max(learned, K), constants.exploration, rng)
                only(leader, arm)
                idle(world, ledger, data, after, t, leader, rng)
            else:
                none = ledger.queries == start
                idle(world, ledger, data, after, t, anyone if none else used, rng)


@leaf
def cycle_of(K, alpha, rounds_up):
    """Queries in a cycle, K of which are forced: K / alpha, rounded up or down."""
    if rounds_up:
        return max(K, math.ceil(K / alpha - 1e-9))
    return cycle(K, alpha)


@dataclass(frozen=True)
class Options(FrequencyOptions):
    """See the module."""

    detector_data: str = schema.choice(
        "forced", "forced", "all", about="plays that the tests see: forced, or all (as the code's)"
    )
    exploration: float = schema.real(
        2.0, above=0, about="index of UCB1: mean + sqrt(exploration ln(observations) / plays)"
    )
    constant: float = schema.real(
        4.0, above=0, high=1e6, about="threshold ln(constant n^{3/2} / delta); 4 in the code"
    )
    alpha_scale: float = schema.real(
        1.0, above=0, high=1e6, about="times alpha = sqrt(K ln B / B), the share of forced queries"
    )
    delta_scale: float = schema.real(
        1.0, above=0, high=1e6, about="times delta = 1 / sqrt(B), the tests' level"
    )
    ratio: float = schema.real(
        1.25, above=1, high=1000, about="of the grid of splits that are tested"
    )


def arguments(known, options):
    K, B = known.K, known.B
    constants = Constants(
        leads=options.by_leader,
        exploration=float(options.exploration),
        constant=float(options.constant),
        delta=min(1.0, options.delta_scale / math.sqrt(B)),
        alpha=min(1.0, options.alpha_scale * math.sqrt(K * math.log(B) / B)),
        growing=True,
        pooled=options.detector_data == "all",
        from_restart=True,
        ratio=float(options.ratio),
    )
    return schedule_kind(options), constants


POLICY = Policy(
    id="dal_ucb1",
    name="DAL, UCB1",
    summary="DAL: UCB1 restarted by change tests on forced plays, under a query schedule",
    kernel=play,
    options=Options,
    arguments=arguments,
    rate=paper_rate("conjectured: its theorem is for changes far apart"),
    look=Look("#9D4AD7", "$D$", LONG, place=32),
)
