"""Lookout: UCB that checks arms below the leader at random scales and restarts on a GLR test.

It knows K, T and B. It plays the arm of the largest mean + sqrt(exploration ln n / plays), where n
counts the queries since the last restart. A generalised likelihood ratio test on the rewards of a
played arm sees its changes. As in GLR-UCB (Besson, Kaufmann, Maillard, Seznec 2022), all splits of
the arm's n plays are tried on a grid; the test is that of Gaussian rewards of variance 1/4:

    2 s (n - s) / n (mean of the first s - mean of the rest)^2 >= beta    at some split s.

For rewards in [0, 1] a change of d is seen after about beta / (2 d^2) plays, never sooner. The test
for Bernoulli rewards (`test=bernoulli`) sees changes of means near 0 or 1 much sooner, so that an
adversary can cause many restarts at little variation (see the adversary `flicker`).

Looks see a rise of an arm that is not played:

- Before each query, with chance K min(1/K, 2 rate / h), an arm k and a scale eps in (0, 1) are
  drawn uniformly. If the index does not choose k, k lags the largest mean by at most eps, and
  eps >= 2 K rate, then k is looked at, for up to beta / eps^2 of its plays. The arm of the largest
  mean is looked at as well where the index chooses another one: else it could rise unseen.
- While arms are looked at, every second query on average plays one of them, uniformly drawn.
- A look sums 4 eps (X - mid) over its rewards X, mid halfway between k's mean when it began and eps
  above that: the log likelihood ratio of a rise by eps in a Gaussian model of variance 1/4. At -h
  the look ends, for k is where it was.

So a look of an arm that has not moved costs about h gap / (2 eps^2), and each arm costs at most
`rate` a query, whatever its gap: the balance of rate against what a rise may earn before a fine
enough look begins gives

    rate = 1/2 sqrt((T / B) (1 + r) / (K B))    after r restarts, beta = ln(B / (1 + r)) + 1.

A restart forgets all. At T/B of 1000 and more `rate` would leave no scale to look at: it is at most
1 / (4 K), so that scales from 1/2 on remain. Its regret has no proved bound; docs/proofs/looks.md
proves two facts about looks. The parts come from policies with proofs: independent looks at bad
arms at random scales from AdSwitch (Auer, Gajane, Ortner 2019), looks that end once the arm is
known to be bad from ArmSwitch (Abbasi-Yadkori, Gyorgy, Lazic 2023).

Options switch the parts off for ablations: `checks=forced` plays every arm with chance `rate` a
query in place of looks, `checks=none` neither; `restarts=false` leaves out the tests; `eps` fixes
the scale.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from confee.core import schema
from confee.core.jit import leaf, njit
from confee.policies.base import Policy
from confee.policies.detecting import forget_all, new_instance
from confee.policies.glr_ucb import changed, reaches, split_grid
from confee.policies.idling import LeaderOptions, only
from confee.policies.look import SOLID, Look
from confee.policies.paper_rate import paper_rate
from confee.policies.queries import new_schedule, next_query, schedule_kind
from confee.policies.ucb import MEAN, PLAYS, REWARDS, choose, update
from confee.world.game import idle, new_data, query

# Rows of `looks`: plays left (0 if the arm is not looked at), sum of the walk, eps, mid.
LEFT, WALK, SCALE, MIDDLE = range(4)
LOOKS, FORCED, NONE = range(3)
CHECKS = ("looks", "forced", "none")
TESTS = ("gaussian", "bernoulli")


class Constants(NamedTuple):
    """What the kernel is run with, see the module and `Options`."""

    leads: bool
    exploration: float
    h: float
    rate: float
    beta_scale: float
    checks: int
    eps: float
    restarts: bool
    gaussian: bool
    ratio: float


@njit
def play(world, ledger, K, T, B, kind, constants, rng):
    """In idle rounds, the leading arm or arms by the frequency of the plays since a restart."""
    ucb = new_instance(K)
    plays, anyone = ucb[PLAYS], np.ones(K)
    leader = np.zeros(K)
    looks = np.zeros((4, K))
    looked_at = 0
    sums = np.empty((K, B + 1), dtype=np.int32)  # sums[k, n]: rewards of arm k's first n plays
    sums[:, 0] = 0
    splits = split_grid(B, constants.ratio)
    rate = rate_after(0, K, constants.rate)
    beta = constants.beta_scale * (math.log(B) + 1.0)
    n = 0  # queries since the restart
    data = new_data(K)
    plan = new_schedule(kind, T, B)
    t = next_query(plan, ledger, rng)
    idle(world, ledger, data, 1, t, anyone, rng)
    best, _ = choose(ucb, K, constants.exploration, rng)
    while t <= T:
        arm = best
        if n >= K:
            if constants.checks == LOOKS:
                looked_at += begin(looks, ucb, best, rate, beta, constants.h, constants.eps, rng)
                if looked_at > 0:
                    u = 2.0 * rng.random()
                    if u < 1.0:
                        arm = number(looks, int(u * looked_at))
            elif constants.checks == FORCED:
                u = rng.random() / rate
                if u < K:
                    arm = int(u)
        reward = query(world, ledger, data, t, arm, rng)
        if looks[LEFT, arm] > 0.0:
            looked_at -= step(looks, arm, reward, constants.h)
        update(ucb, arm, reward)
        n += 1
        of_arm = int(plays[arm])
        sums[arm, of_arm] = int(ucb[REWARDS, arm])
        if constants.restarts and alarm(sums, arm, of_arm, splits, beta, constants.gaussian):
            ledger.restarts += 1
            rate = rate_after(ledger.restarts, K, constants.rate)
            beta = constants.beta_scale * (math.log(B / (1.0 + ledger.restarts)) + 1.0)
            n, looked_at = 0, 0
            looks[:] = 0.0
            forget_all(ucb)
            data[:] = 0.0
        best, _ = choose(ucb, max(n, K), constants.exploration, rng)
        after = t + 1
        t = next_query(plan, ledger, rng)
        if t > after:
            if constants.leads:
                only(leader, best)
                idle(world, ledger, data, after, t, leader, rng)
            else:
                idle(world, ledger, data, after, t, plays if n > 0 else anyone, rng)


@leaf
def alarm(sums, arm, n, splits, beta, gaussian):
    """Whether the test reaches beta at some split of the grid.

    The Gaussian statistic of the module is 2 n D^2 / (s (n - s)), with D as in `reaches`.
    """
    if gaussian:
        return reaches(sums, arm, n, splits, 0.5 * beta / n)
    return changed(sums, arm, n, splits, beta)


@leaf
def rate_after(restarts, K, rate):
    """rate sqrt(1 + restarts), at most 1 / (4 K)."""
    return min(rate * math.sqrt(1.0 + restarts), 0.25 / K)


@leaf
def begin(looks, ucb, best, rate, beta, h, eps, rng):
    """Perhaps begins to look at an arm; returns how many more are looked at, 0 or 1."""
    K = ucb.shape[1]
    u = rng.random() / min(1.0 / K, 2.0 * rate / h)
    if u >= K:
        return 0
    arm = int(u)
    scale = eps if eps > 0.0 else rng.random()
    if looks[LEFT, arm] > 0.0 or scale < 2.0 * K * rate:
        return 0
    top = 0.0
    for k in range(K):
        top = max(top, ucb[MEAN, k])
    gap = top - ucb[MEAN, arm]
    if arm == best or gap > scale:
        return 0
    looks[LEFT, arm] = math.ceil(beta / scale**2)
    looks[WALK, arm] = 0.0
    looks[SCALE, arm] = scale
    looks[MIDDLE, arm] = ucb[MEAN, arm] + 0.5 * scale
    return 1


@leaf
def number(looks, place):
    """Of the arms that are looked at, that number `place`."""
    for k in range(looks.shape[1]):
        if looks[LEFT, k] > 0.0:
            if place == 0:
                return k
            place -= 1
    return 0


@leaf
def step(looks, arm, reward, h):
    """A look sees a reward; returns how many looks end, 0 or 1."""
    looks[WALK, arm] += 4.0 * looks[SCALE, arm] * (reward - looks[MIDDLE, arm])
    looks[LEFT, arm] -= 1.0
    if looks[WALK, arm] <= -h:
        looks[LEFT, arm] = 0.0
    return 0 if looks[LEFT, arm] > 0.0 else 1


@dataclass(frozen=True)
class Options(LeaderOptions):
    """See the module."""

    h: float = schema.real(
        1.0, above=0, high=100, about="a look ends when its log likelihood ratio is -h"
    )
    exploration: float = schema.real(
        0.5, above=0, about="index: mean + sqrt(exploration ln(queries since a restart) / plays)"
    )
    beta_scale: float = schema.real(
        1.0,
        above=0,
        high=1e6,
        about="times beta = ln(B / (1 + restarts)) + 1, the tests' threshold",
    )
    rate_scale: float = schema.real(
        1.0, above=0, high=1e6, about="times the rate 1/2 sqrt((T/B) (1 + restarts) / (K B))"
    )
    checks: str = schema.choice(
        "looks", *CHECKS, about="of arms below: looks, forced: single plays at the rate, or none"
    )
    eps: float = schema.real(
        0.0, low=0, high=1, about="scale of all looks; 0: uniform in (0, 1) for each"
    )
    restarts: bool = schema.flag(True, about="whether arms that are played are tested for changes")
    test: str = schema.choice(
        "gaussian", *TESTS, about="likelihood ratio of rewards of variance 1/4, or of 0 and 1"
    )
    ratio: float = schema.real(
        1.25, above=1, high=1000, about="of the grid of splits that are tested"
    )


def arguments(known, options):
    K, T, B = known.K, known.T, known.B
    constants = Constants(
        leads=options.by_leader,
        exploration=float(options.exploration),
        h=float(options.h),
        rate=options.rate_scale * 0.5 * math.sqrt(T / B / (K * B)),
        beta_scale=float(options.beta_scale),
        checks=CHECKS.index(options.checks),
        eps=float(options.eps),
        restarts=options.restarts,
        gaussian=options.test == "gaussian",
        ratio=float(options.ratio),
    )
    return schedule_kind(options), constants


POLICY = Policy(
    id="lookout",
    name="Lookout",
    summary="UCB that re-examines bad arms at random scales and restarts on likelihood ratio tests",
    kernel=play,
    options=Options,
    arguments=arguments,
    rate=paper_rate("conjectured: nothing is proved of Lookout"),
    look=Look("#4E182F", (5, 0, 0), SOLID, 1.8, place=30),
)
