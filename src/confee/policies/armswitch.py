"""ArmSwitch (Abbasi-Yadkori, Gyorgy, Lazic 2023, Algorithms 1 and 2): elimination, and looks at bad
arms one by one, which end as soon as the arm is shown to be bad again.

Given T and B only; N of the paper is B here. For each bad arm and eps = 1/2, 1/4, .., 1/B or so, a
look of K / eps^2 queries begins with chance eps / sqrt(K age), age the queries in the episode with
the next one; looks at an arm that overlap are one look. Candidates A are the good arms and the m
bad ones that are looked at. With chance |A| / K a query plays one of A, uniformly (a marked play),
else one of the good ones, uniformly. Over the last N' queries, none of them before a look at the
arm a (or a') began, a is eliminated if for some candidate a'

    rewards of a' in marked plays - those of a > scale C max(sqrt(N' / K), C), or
    rewards of a' in all plays - those of a > scale C max(sqrt(sum of the chances of a'), C)

where a and a' are good in the second. A good arm turns bad, a look at a bad one ends; when no good
arm is left, a new episode begins. No mean is compared with the past.

As printed, scale = 12 and C^2 = ln(2 K B^2 (ln N' + 2) / delta), delta = 1 / (sqrt(K) B^{3/2})
(`confidence=printed`), with which nothing is eliminated at a gap of 1/4 before some 4 * 10^5
queries. There are no published runs; the default, scale = 1 and C^2 = ln B, is ours: about 3.4
standard deviations at B = 10^5.

The paper tests all N'; here those of `confee.policies.scales` that end now. Idle rounds are ours:
arms by the frequency in the episode, or the good arm of the largest mean in it.

Proved as printed: sqrt(K S N) with S changes of the best arm (Theorem 1), and, with 13 for 12 in
the first test, sqrt(K N) + K^{1/3} V^{1/3} N^{2/3} (Corollary 2), both times ln^{3/2}.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from confee.core import schema
from confee.core.jit import leaf, njit
from confee.policies.base import Policy
from confee.policies.idling import FrequencyOptions, fill
from confee.policies.look import LONG, Look
from confee.policies.paper_rate import paper_rate
from confee.policies.queries import failures, new_schedule, next_query, schedule_kind
from confee.policies.scales import due, finest, mark, new_marks, since, slot
from confee.world.game import idle, new_data, query

# Rows of `arms`: 1 if good; the age at which the look at a bad one began, 0 of a good one; the age
# at which the look ends.
GOOD, BEGAN, ENDS = range(3)


class Constants(NamedTuple):
    """`scale`, whether `confidence` is as printed, `orders` = ceil(log2 B)."""

    leads: bool
    scale: float
    printed: bool
    orders: int


@njit
def play(world, ledger, K, T, B, kind, constants, rng):
    """In idle rounds, the leading good arm or arms by the frequency in the episode."""
    weights = np.ones(K)  # of idle rounds
    plays = np.zeros(K)  # in the episode
    # In the episode: rewards of each arm in marked plays, in all, and the chances of a good arm.
    seen = np.zeros(2 * K + 1)
    marked, rewards = seen[:K], seen[K : 2 * K]
    marks = new_marks(B, 2 * K + 1)
    arms = np.zeros((3, K))
    arms[GOOD] = 1.0
    good, age = K, 0
    # Looks begin at random among slots, K of them a query, one an arm; a slot that is drawn with
    # `bound`, the chance at an earlier age, is taken with the chance at its own.
    bound = start_chance(0, K)
    next_slot = failures(bound, K * B, rng)
    data = new_data(K)
    plan = new_schedule(kind, T, B)
    t = next_query(plan, ledger, rng)
    idle(world, ledger, data, 1, t, weights, rng)
    while t <= T:
        while next_slot < K:
            chance = start_chance(age, K)
            i = finest(bound * rng.random(), chance, constants.orders)
            if i > 0:
                look(arms, next_slot, age, i)
            bound = chance
            next_slot += 1 + failures(bound, K * B, rng)
        next_slot -= K
        candidates = good + looked_at(arms, age)
        u = K * rng.random()
        is_marked = u < candidates
        if is_marked:
            arm = number(arms, age, int(u))
        else:
            arm = number_good(arms, int(good * rng.random()))
        reward = query(world, ledger, data, t, arm, rng)
        plays[arm] += 1.0
        rewards[arm] += reward
        if is_marked:
            marked[arm] += reward
        seen[2 * K] += (1.0 - (candidates - good) / K) / good
        age += 1
        good -= eliminate(marks, age, seen, arms, constants, B)
        if good == 0:
            ledger.restarts += 1
            good, age = K, 0
            plays[:] = 0.0
            seen[:] = 0.0
            arms[GOOD] = 1.0
            arms[BEGAN] = 0.0
            arms[ENDS] = 0.0
            data[:] = 0.0
            bound = start_chance(0, K)
            next_slot = failures(bound, K * B, rng)
        after = t + 1
        t = next_query(plan, ledger, rng)
        if t > after:
            fill(weights, constants.leads, age, plays, rewards, arms[GOOD], rng)
            idle(world, ledger, data, after, t, weights, rng)


@leaf
def start_chance(age, K):
    """1 / sqrt(K (age + 1)), age the queries made: a look of scale eps begins with eps times it."""
    return 1.0 / math.sqrt(K * (age + 1.0))


@leaf
def look(arms, arm, age, i):
    """A look of scale 2^-i at an arm begins, if that is bad: the next 4^i K queries."""
    if arms[GOOD, arm] > 0.0:
        return
    if arms[ENDS, arm] <= age:
        arms[BEGAN, arm] = age
    arms[ENDS, arm] = max(arms[ENDS, arm], age + math.ldexp(float(arms.shape[1]), 2 * i))


@leaf
def is_candidate(arms, k, age):
    return arms[GOOD, k] > 0.0 or arms[ENDS, k] > age


@leaf
def looked_at(arms, age):
    """The number of bad arms that are looked at."""
    count = 0
    for k in range(arms.shape[1]):
        count += arms[GOOD, k] == 0.0 and arms[ENDS, k] > age
    return count


@leaf
def number(arms, age, place):
    """Of the candidates, that number `place`."""
    for k in range(arms.shape[1]):
        if is_candidate(arms, k, age):
            if place == 0:
                return k
            place -= 1
    return 0


@leaf
def number_good(arms, place):
    """Of the good arms, that number `place`."""
    for k in range(arms.shape[1]):
        if arms[GOOD, k] > 0.0:
            if place == 0:
                return k
            place -= 1
    return 0


@leaf
def eliminate(marks, age, seen, arms, constants, B):
    """Tests the intervals that end at this age; returns how many good arms turn bad."""
    K = arms.shape[1]
    turned = 0
    inside = True  # the interval does not yet cover the episode
    for level in range(marks.shape[0]):
        if not due(level, age):
            break
        if inside:
            start, place = since(level, age), slot(level, age)
            inside = start > 0
            length = float(age - start)
            C = math.sqrt(confidence(length, K, B, constants.printed))
            bar = constants.scale * C * max(math.sqrt(length / K), C)
            chances = difference(marks, level, place, seen, 2 * K, inside)
            bar_good = constants.scale * C * max(math.sqrt(chances), C)
            top, top_good = 0.0, 0.0
            for k in range(K):
                if arms[BEGAN, k] <= start and is_candidate(arms, k, age - 1):
                    top = max(top, difference(marks, level, place, seen, k, inside))
                    if arms[GOOD, k] > 0.0:
                        earned = difference(marks, level, place, seen, K + k, inside)
                        top_good = max(top_good, earned)
            for k in range(K):
                if arms[BEGAN, k] <= start and is_candidate(arms, k, age - 1):
                    loses = top - difference(marks, level, place, seen, k, inside) > bar
                    if arms[GOOD, k] > 0.0:
                        earned = difference(marks, level, place, seen, K + k, inside)
                        if loses or top_good - earned > bar_good:
                            arms[GOOD, k] = 0.0
                            turned += 1
                    elif loses:
                        arms[ENDS, k] = 0.0
        mark(marks, level, age, seen)
    return turned


@leaf
def confidence(length, K, B, printed):
    """C^2 of an interval of this length."""
    if not printed:
        return math.log(B)
    return math.log(2.0) + 1.5 * math.log(K) + 3.5 * math.log(B) + math.log(math.log(length) + 2.0)


@leaf
def difference(marks, level, place, seen, k, inside):
    """Sum k over the interval, or over all of the episode if it covers that."""
    return seen[k] - marks[level, place, k] if inside else seen[k]


@dataclass(frozen=True)
class Options(FrequencyOptions):
    """See the module."""

    scale: float = schema.real(
        1.0, above=0, high=1e6, about="times the thresholds; published: 12, or 13 for the V rate"
    )
    confidence: str = schema.choice(
        "log", "log", "printed", about="C^2: log, ln B; or printed, ln(2 K B^2 (ln N' + 2) / delta)"
    )


def arguments(known, options):
    constants = Constants(
        leads=options.by_leader,
        scale=float(options.scale),
        printed=options.confidence == "printed",
        orders=math.ceil(math.log2(known.B)),
    )
    return schedule_kind(options), constants


POLICY = Policy(
    id="armswitch",
    name="ArmSwitch",
    summary="ArmSwitch: elimination that re-examines bad arms one by one, under a query schedule",
    kernel=play,
    options=Options,
    arguments=arguments,
    rate=paper_rate("without the log^{3/2} of its theorem (Abbasi-Yadkori et al. 2023)"),
    look=Look("#05316A", "$a$", LONG, place=35),
)
