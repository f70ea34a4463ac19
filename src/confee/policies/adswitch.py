"""AdSwitch (Auer, Gajane, Ortner 2019, Algorithm 1): elimination, checks of bad arms at random
scales, and a new episode when a mean has moved.

Given T and B only; T of the paper is B here. Among the good arms and the bad ones that are owed
plays, a query plays the one played longest ago. Over recent plays in the episode, means in [s, t]:

(1) a good arm turns bad when the best good mean exceeds its own by over sqrt(C1 ln B / (n - 1)),
    n >= 2 its plays there: its gap D and its mean M are kept;
(3) a new episode begins when a good arm's mean differs from that of an earlier interval by over
    sqrt(2 ln B / n_1) + sqrt(2 ln B / n_2), or
(4) a bad arm's differs from M by over D / 4 + sqrt(2 ln B / n).

Before each query a check of scale 2^-i >= D / finest begins for each bad arm with chance
2^-i sqrt(l / (K B ln B)), l the number of episodes: it owes the arm ceil(2^{2i + 1} ln B) plays.
Plays count for all the checks that have begun, so what an arm is owed is one number.

C1 is "sufficiently large" in the paper, and its first use needs 32 at least. The default is that of
the only published runs of the algorithm, C1 = 1 (Besson, Kaufmann, Maillard, Seznec 2022; their
code, however, picks arms by another rule). finest is 16 as printed, which owes bad arms nearly all
queries up to B of some 10^6; the default is 1, as in SMPyBandits' experimental version, but every
bad arm is checked at scale 1/2 at least.

The paper tests all intervals and says (Remark 3) that dyadic ones suffice. Here (3) and (4) test
the last 2^k plays of the arm that was played, and (1) the intervals of `confee.policies.scales`
that end now. In (3) all earlier intervals count: their tightest bounds are kept. Idle rounds are
ours: arms by the frequency in the episode, or the good arm of the largest mean in it.

Proved for the paper's rule: sqrt(K L T ln T) with L changes (Theorem 1); for V it claims the best
order with no written proof.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from confee.core import schema
from confee.core.jit import leaf, njit
from confee.policies.base import Policy
from confee.policies.detecting import shuffled
from confee.policies.idling import FrequencyOptions, fill
from confee.policies.look import DOTS, Look
from confee.policies.queries import failures, new_schedule, next_query, schedule_kind
from confee.policies.scales import due, finest, mark, new_marks, since, slot
from confee.world.game import idle, new_data, query

# Rows of `arms`: 1 if good; the plays at which a bad one's checks are all done; its mean, gap and
# number of scales when it turned bad; of the bounds on the mean that the arm's intervals have given
# in the episode, the largest lower and the least upper one.
GOOD, OWED, KEPT, GAP, SCALES, LOWER, UPPER = range(7)


class Constants(NamedTuple):
    """`C1` and `finest` as in `Options`."""

    leads: bool
    C1: float
    finest: float


@njit
def play(world, ledger, K, T, B, kind, constants, rng):
    """In idle rounds, the leading good arm or arms by the frequency in the episode."""
    weights = np.ones(K)  # of idle rounds
    log_B = math.log(B)
    seen = np.zeros(2 * K)  # in the episode: plays of each arm, then rewards
    plays, rewards = seen[:K], seen[K:]
    marks = new_marks(B, 2 * K)
    sums = np.empty((K, B + 1), dtype=np.int32)  # sums[k, n]: rewards of arm k's first n plays
    sums[:, 0] = 0
    arms = np.zeros((7, K))
    begin(arms)
    played = shuffled(K, rng) - K  # the query at which each was played last
    age = 0
    # Checks begin at random among slots, K of them a query, one an arm.
    chance = start_chance(1, K, B)
    next_slot = failures(chance, K * B, rng)
    data = new_data(K)
    plan = new_schedule(kind, T, B)
    t = next_query(plan, ledger, rng)
    idle(world, ledger, data, 1, t, weights, rng)
    while t <= T:
        while next_slot < K:
            check(arms, plays, next_slot, chance, log_B, rng)
            next_slot += 1 + failures(chance, K * B, rng)
        next_slot -= K
        arm = longest_ago(arms, plays, played)
        played[arm] = ledger.queries
        reward = query(world, ledger, data, t, arm, rng)
        plays[arm] += 1.0
        rewards[arm] += reward
        age += 1
        n = int(plays[arm])
        sums[arm, n] = int(rewards[arm])
        if moved(arms, sums, arm, n, log_B):
            ledger.restarts += 1
            age = 0
            seen[:] = 0.0
            begin(arms)
            data[:] = 0.0
            chance = start_chance(1 + ledger.restarts, K, B)
            next_slot = failures(chance, K * B, rng)
        else:
            evict(marks, age, seen, arms, constants.C1 * log_B, constants.finest)
        after = t + 1
        t = next_query(plan, ledger, rng)
        if t > after:
            fill(weights, constants.leads, age, plays, rewards, arms[GOOD], rng)
            idle(world, ledger, data, after, t, weights, rng)


@leaf
def begin(arms):
    """A new episode: all arms are good, nothing is known of them."""
    for k in range(arms.shape[1]):
        arms[GOOD, k] = 1.0
        arms[OWED, k] = 0.0
        arms[LOWER, k] = -np.inf
        arms[UPPER, k] = np.inf


@leaf
def start_chance(episode, K, B):
    """sqrt(l / (K B ln B)): the chance of a check of scale 2^-i is 2^-i times it."""
    return min(1.0, math.sqrt(episode / (K * B * math.log(B))))


@leaf
def check(arms, plays, arm, chance, log_B, rng):
    """A check of an arm begins with the chances of its scales, given an event of `chance`."""
    if arms[GOOD, arm] > 0.0:
        return
    i = finest(chance * rng.random(), chance, int(arms[SCALES, arm]))
    if i > 0:
        owed = plays[arm] + math.ceil(math.ldexp(log_B, 2 * i + 1))
        arms[OWED, arm] = max(arms[OWED, arm], owed)


@leaf
def longest_ago(arms, plays, played):
    """Of the arms that are good or owed plays, the one that was played longest ago."""
    arm = -1
    for k in range(played.shape[0]):
        is_candidate = arms[GOOD, k] > 0.0 or plays[k] < arms[OWED, k]
        if is_candidate and (arm < 0 or played[k] < played[arm]):
            arm = k
    return arm


@leaf
def moved(arms, sums, arm, n, log_B):
    """Whether the mean of the arm that was just played has moved, by test (3) or (4)."""
    good = arms[GOOD, arm] > 0.0
    lower, upper = arms[LOWER, arm], arms[UPPER, arm]
    length = 2
    while length < 2.0 * log_B:  # the test's radius is over 1
        length *= 2
    while length <= n:
        mean = (sums[arm, n] - sums[arm, n - length]) / length
        radius = math.sqrt(2.0 * log_B / length)
        if good:
            if mean - radius > upper or mean + radius < lower:
                return True
            lower, upper = max(lower, mean - radius), min(upper, mean + radius)
        elif abs(mean - arms[KEPT, arm]) > 0.25 * arms[GAP, arm] + radius:
            return True
        length *= 2
    if good:
        arms[LOWER, arm], arms[UPPER, arm] = lower, upper
    return False


@leaf
def evict(marks, age, seen, arms, level_of_test, smallest):
    """Test (1) over the intervals that end at this age."""
    K = arms.shape[1]
    inside = True  # the interval does not yet cover the episode
    for level in range(marks.shape[0]):
        if not due(level, age):
            break
        if inside:
            inside = since(level, age) > 0
            place = slot(level, age)
            top = 0.0
            for k in range(K):
                n, earned = of_interval(marks, level, place, seen, k, inside)
                if arms[GOOD, k] > 0.0 and n > 0.0:
                    top = max(top, earned / n)
            for k in range(K):
                n, earned = of_interval(marks, level, place, seen, k, inside)
                if arms[GOOD, k] > 0.0 and n >= 2.0:
                    gap = top - earned / n
                    if gap > 0.0 and gap * gap * (n - 1.0) > level_of_test:
                        arms[GOOD, k] = 0.0
                        arms[OWED, k] = 0.0
                        arms[KEPT, k] = earned / n
                        arms[GAP, k] = gap
                        arms[SCALES, k] = max(1.0, math.floor(math.log2(smallest / gap)))
        mark(marks, level, age, seen)


@leaf
def of_interval(marks, level, place, seen, k, inside):
    """Plays and rewards of arm k in the interval, or all of the episode if it covers that."""
    K = seen.shape[0] // 2
    if inside:
        return seen[k] - marks[level, place, k], seen[K + k] - marks[level, place, K + k]
    return seen[k], seen[K + k]


@dataclass(frozen=True)
class Options(FrequencyOptions):
    """See the module."""

    C1: float = schema.real(
        1.0, above=0, high=1e6, about="of test (1); published: large enough, 32 at least"
    )
    finest: float = schema.real(
        1.0, low=1, high=1e6, about="checks down to a gap of D / finest; published: 16"
    )


def arguments(known, options):
    constants = Constants(options.by_leader, float(options.C1), float(options.finest))
    return schedule_kind(options), constants


POLICY = Policy(
    id="adswitch",
    name="AdSwitch",
    summary="AdSwitch: elimination that re-examines bad arms at random scales",
    kernel=play,
    options=Options,
    arguments=arguments,
    look=Look("#5990C6", "$A$", DOTS, place=34),
)
