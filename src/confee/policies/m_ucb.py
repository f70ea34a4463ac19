"""M-UCB (Cao, Wen, Kveton, Xie 2019, Algorithms 1 and 2) under a query schedule: UCB1 that restarts
when the halves of an arm's last w rewards differ. It is given T, B and S.

All arms restart when an arm has w rewards since the last restart and

    |sum of the last w/2 - sum of the w/2 before| > b,   b = sqrt(w ln(2 K Q^2) / 2).

After a restart, in cycles of floor(K / gamma) queries the first K are one of each arm, in an order
drawn at random. gamma = sqrt(C K (2 b + 3 sqrt(w)) / (2 Q)), at most 1, where C is the number of
changes, S - 1 but at least 1. (S is the paper's M; its formula counts one change too many.) This
form is from their remarks and needs no smallest change; their theorem has
min(w/2, ceil(b / smallest change) + 3 sqrt(w)) in place of 2 b + 3 sqrt(w).

The window: their formula for a known smallest change d is w = (4 / d^2) (sqrt(ln(2 K Q^2)) +
sqrt(ln(2 Q)))^2: 1182 at d = 1/2, K = 10 and Q = 10^5, and 25 times that at d = 1/10. Comparisons
choose it by hand: 200 and 800 in Besson et al. (2022). A change smaller than 2 b / w, here .51 and
.26, does not reach b on average. So the default is 800, or the largest even number up to Q / K if
that is less, because arms that share the queries could not fill a longer window.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from confee.core import schema
from confee.core.jit import leaf, njit
from confee.policies.base import Policy
from confee.policies.detecting import changes, cycle, forced, forget_all, new_instance, shuffled
from confee.policies.look import LONG, Look
from confee.policies.queries import ScheduleOptions, new_schedule, next_query, schedule_kind
from confee.policies.ucb import PLAYS, choose, update
from confee.world.game import idle, new_data, query

# Rows of the halves, [2, K]: the sum of the last w/2 rewards, and of the w/2 before.
LATE, EARLY = range(2)


@njit
def play(world, ledger, K, T, B, kind, exploration, w, b, gamma, rng):
    """Idle rounds play arms by their frequency since the restart; any arm before a query."""
    ucb = new_instance(K)
    plays, anyone = ucb[PLAYS], np.ones(K)
    since = 0  # queries since the restart
    window, halves = np.zeros((K, w)), np.zeros((2, K))
    order = shuffled(K, rng)
    length = cycle(K, gamma)
    data = new_data(K)
    schedule = new_schedule(kind, T, B)
    t = next_query(schedule, ledger, rng)
    idle(world, ledger, data, 1, t, anyone, rng)
    while t <= T:
        arm = forced(order, since, length)
        if arm < 0:
            arm, _ = choose(ucb, max(since, K), exploration, rng)
        reward = query(world, ledger, data, t, arm, rng)
        update(ucb, arm, reward)
        since += 1
        n = int(plays[arm])
        if shift(window, halves, arm, n, reward) > b and n >= w:
            ledger.restarts += 1
            since = 0
            forget_all(ucb)
            window[:] = 0.0
            halves[:] = 0.0
            data[:] = 0.0
        after = t + 1
        t = next_query(schedule, ledger, rng)
        idle(world, ledger, data, after, t, plays if since > 0 else anyone, rng)


@leaf
def shift(window, halves, arm, n, reward):
    """Add the arm's n-th reward; return |late half - early half|. Missing rewards count as 0."""
    w = window.shape[1]
    place = (n - 1) % w
    middle = window[arm, (place + w // 2) % w]
    halves[LATE, arm] += reward - middle
    halves[EARLY, arm] += middle - window[arm, place]
    window[arm, place] = reward
    return abs(halves[LATE, arm] - halves[EARLY, arm])


@dataclass(frozen=True)
class Options(ScheduleOptions):
    """The options of M-UCB: its index, its window (made even), threshold and forced queries."""

    exploration: float = schema.real(
        2.0,
        above=0,
        about="the index is mean + sqrt(exploration ln(queries since the restart) / plays)",
    )
    window: int = schema.whole(
        800, low=2, about="w, the rewards of an arm that a test looks at; at most Q / K"
    )
    b_scale: float = schema.real(
        1.0, above=0, high=1e6, about="multiplies the threshold sqrt(w ln(2 K Q^2) / 2)"
    )
    gamma_scale: float = schema.real(
        1.0, above=0, high=1e6, about="multiplies the share of forced queries"
    )


def arguments(known, options):
    K, B, S = known.K, known.B, known.S
    w = max(2, min(options.window, B // K) // 2 * 2)
    b = math.sqrt(w * math.log(2 * K * B**2) / 2)
    gamma = math.sqrt(changes(S) * K * (2 * b + 3 * math.sqrt(w)) / (2 * B))
    return (
        schedule_kind(options),
        float(options.exploration),
        w,
        options.b_scale * b,
        min(1.0, options.gamma_scale * gamma),
    )


POLICY = Policy(
    id="m_ucb",
    name="M-UCB",
    summary="M-UCB: UCB1 restarted when the halves of a window differ, under a query schedule",
    kernel=play,
    known=("T", "B", "S"),
    options=Options,
    arguments=arguments,
    look=Look("#AB350C", "$M$", LONG, place=17),
)
