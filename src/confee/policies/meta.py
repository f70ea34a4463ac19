"""META (Suk and Kpotufe 2022, Algorithms 1 and 2): elimination with replays at random scales.

Given T and B only. A query plays an arm drawn uniformly from the active arms A; |A| times its
reward is an unbiased estimate of that arm's mean, 0 of all others'. An arm a is evicted over an
interval of s queries when some arm's estimates sum to more than a's by over the threshold. After
the query at age j of an episode (queries since it began), a replay of length m = 2, 4, 8, .. begins
with chance min(1, replay / sqrt(m j)), the longest of those that do: all arms are active in it, but
those that are evicted over intervals inside it; replays nest. The arms that no interval of the
episode has evicted are the good ones; when there are none left, a new episode begins.

Thresholds, `scale` times

    printed  ln(B) sqrt(max(K s, K^2)), the paper's (2) with its unspecified C0 taken as 1
    remark   sqrt(max(K s ln B, K^2 ln^2 B)), proved as well by its Remark 1
    code     (e - 1) (sqrt(K L s) + K L), L = 4 log2 B + log2 K, in the authors' code

The paper has no experiments. The authors' later ones, of duelling bandits, take `code` with scale
0.01 and replay 0.1, tuned there. The default is ours, `remark` with scale 1: at K = 4, B = 10^5 it
is about 3.4 standard deviations of the difference of two arms at 1/2. `printed` evicts a gap of 0.1
after some 5 * 10^4 queries only.

The paper tests all intervals; here those of `confee.policies.scales` that end now. A replay whose
parent would end no later takes its place, as the parent would return with it. Idle rounds are ours:
arms by the frequency of the plays in the episode, or the good arm of the largest mean in it.

Proved for the paper's rule: K^{1/3} V^{1/3} T^{2/3} + sqrt(K T), times ln^3 T (Corollary 2).
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
from confee.policies.look import DOT, Look
from confee.policies.paper_rate import paper_rate
from confee.policies.queries import new_schedule, next_query, schedule_kind
from confee.policies.scales import due, mark, new_marks, since, slot
from confee.world.game import idle, new_data, query

# Of a running base: the ages at which it began and after which it ends, and its active arms.
BEGAN, ENDS, ACTIVE = range(3)
PRINTED, REMARK, CODE = range(3)
THRESHOLDS = ("printed", "remark", "code")


class Constants(NamedTuple):
    """`form`: of the threshold, `replay` and `scale` as in `Options`, `orders` = ceil(log2 B)."""

    leads: bool
    form: int
    scale: float
    replay: float
    orders: int


@njit
def play(world, ledger, K, T, B, kind, constants, rng):
    """In idle rounds, the leading good arm or arms by the frequency in the episode."""
    weights = np.ones(K)  # of idle rounds
    plays, rewards = np.zeros(K), np.zeros(K)  # in the episode
    estimates = np.zeros(K)  # sums in the episode
    marks = new_marks(B, K)
    # Base 0 is the episode's own, so its active arms are the good ones. Lengths halve at least from
    # one base to the next.
    bases = np.zeros((66, 3), dtype=np.int64)
    active = np.ones((66, K))
    bases[0, ENDS], bases[0, ACTIVE] = B + 1, K
    inner = age = 0
    data = new_data(K)
    plan = new_schedule(kind, T, B)
    t = next_query(plan, ledger, rng)
    idle(world, ledger, data, 1, t, weights, rng)
    while t <= T:
        count = bases[inner, ACTIVE]
        arm = number(active[inner], int(rng.random() * count))
        reward = query(world, ledger, data, t, arm, rng)
        plays[arm] += 1.0
        rewards[arm] += reward
        estimates[arm] += count * reward
        age += 1
        evict(marks, age, estimates, bases, active, inner, constants, B)
        if bases[0, ACTIVE] == 0:
            ledger.restarts += 1
            inner = age = 0
            bases[0, ACTIVE] = K
            active[0] = 1.0
            plays[:] = 0.0
            rewards[:] = 0.0
            estimates[:] = 0.0
            data[:] = 0.0
        else:
            while bases[inner, ENDS] < age:
                inner -= 1
            order = replayed(age, constants.replay, constants.orders, rng.random())
            if order > 0:
                ends = age + (1 << order)
                while inner > 0 and bases[inner, ENDS] <= ends:
                    inner -= 1
                inner += 1
                bases[inner, BEGAN], bases[inner, ENDS], bases[inner, ACTIVE] = age, ends, K
                active[inner] = 1.0
        after = t + 1
        t = next_query(plan, ledger, rng)
        if t > after:
            fill(weights, constants.leads, age, plays, rewards, active[0], rng)
            idle(world, ledger, data, after, t, weights, rng)


@leaf
def number(active, place):
    """Of the active arms, that number `place`."""
    for k in range(active.shape[0]):
        if active[k] > 0.0:
            if place == 0:
                return k
            place -= 1
    return 0


@leaf
def replayed(age, replay, orders, u):
    """The largest order m of the replays of length 2^m that begin at this age, 0 if none does.

    Order m begins with probability min(1, replay / sqrt(2^m age)), independently of the others; u
    is uniform in [0, 1). All these sum to at most 2.42 replay / sqrt(age).
    """
    if u * u * age >= 5.83 * replay * replay:
        return 0
    reached, none_longer = 0.0, 1.0
    for m in range(orders, 0, -1):
        begins = min(1.0, replay / math.sqrt(math.ldexp(1.0, m) * age))
        reached += none_longer * begins
        if u < reached:
            return m
        none_longer *= 1.0 - begins
    return 0


@leaf
def evict(marks, age, estimates, bases, active, inner, constants, B):
    """Evicts from all running bases what the intervals that end at this age tell them to."""
    K = estimates.shape[0]
    inside = True  # the interval does not yet cover the episode
    for level in range(marks.shape[0]):
        if not due(level, age):
            break
        if inside:
            start, place = since(level, age), slot(level, age)
            inside = start > 0
            bar = threshold(float(age - start), K, B, constants.form, constants.scale)
            top = 0.0
            for k in range(K):
                top = max(top, estimates[k] - (marks[level, place, k] if inside else 0.0))
            if top > bar:
                for k in range(K):
                    if top - estimates[k] + (marks[level, place, k] if inside else 0.0) > bar:
                        for base in range(inner + 1):
                            if bases[base, BEGAN] <= start and active[base, k] > 0.0:
                                active[base, k] = 0.0
                                bases[base, ACTIVE] -= 1
        mark(marks, level, age, estimates)


@leaf
def threshold(s, K, B, form, scale):
    """What the sums of two arms over s queries must differ by, see the module."""
    if form == PRINTED:
        return scale * math.log(B) * math.sqrt(max(K * s, float(K * K)))
    if form == REMARK:
        return scale * math.sqrt(max(K * s * math.log(B), (K * math.log(B)) ** 2))
    level = K * (4.0 * math.log2(B) + math.log2(K))
    return scale * (math.e - 1.0) * (math.sqrt(level * s) + level)


@dataclass(frozen=True)
class Options(FrequencyOptions):
    """See the module."""

    threshold: str = schema.choice(
        "remark", *THRESHOLDS, about="printed: ln(B) sqrt(K s); remark: sqrt(K s ln B); or code"
    )
    scale: float = schema.real(
        1.0, above=0, high=1e6, about="times the threshold; published: large enough; in code 0.01"
    )
    replay: float = schema.real(
        1.0, low=0, high=1e6, about="times the chance of replays; published: 1; in code 0.1"
    )


def arguments(known, options):
    constants = Constants(
        leads=options.by_leader,
        form=THRESHOLDS.index(options.threshold),
        scale=float(options.scale),
        replay=float(options.replay),
        orders=math.ceil(math.log2(known.B)),
    )
    return schedule_kind(options), constants


POLICY = Policy(
    id="meta",
    name="META",
    summary="META: elimination with replays at random scales, under a query schedule",
    kernel=play,
    options=Options,
    arguments=arguments,
    rate=paper_rate("without the log^3 B of its theorem (Suk and Kpotufe 2022, Corollary 2)"),
    look=Look("#8A5E59", "$m$", DOT, place=33),
)
