"""The game of one run: the cost and the reward of a query, and idle rounds in closed form.

A policy calls `query` for each round whose reward it observes and `idle` for each streak of rounds
that it plays without observing. Both keep the ledger. Rounds come in order, each exactly once.

Kernels take plain arrays and one record, never tuples of arrays: unpacking a tuple costs numba more
(atomic reference counts) than the rest of a round.
"""

from __future__ import annotations

import math

import numpy as np

from confee.core.errors import ConfeeError
from confee.core.jit import inlined, larger, leaf, njit
from confee.world.path import Environment, Path

# Columns of `world`, whose row s is segment s of the path: its first round, its best arm, then K
# means in the first round, K slopes, and K counts of plays, kept for an adaptive adversary only.
# The row after the last segment starts at T + 1.
START, BEST, MEANS = 0, 1, 2

# Entries of `data` (see `new_data`) behind the K sums of means.
COUNT, NEWEST_COUNT, NEWEST_OFFSETS, NEWEST = -4, -3, -2, -1
BEHIND = 4
"""The number of these entries."""

LEDGER = np.dtype(
    [
        # Regret, in units of mean reward: of query rounds, of idle rounds, and the parts of the
        # latter (decomposition lemma): error, drift, and rounds before there are data.
        ("regret_query", "f8"),
        ("regret_idle", "f8"),
        ("regret_error", "f8"),
        ("regret_drift", "f8"),
        ("regret_no_data", "f8"),
        # Counts: queries made, queries wanted beyond the budget, idle rounds turned into queries,
        # restarts, and rounds of the longest streaks.
        ("queries", "i8"),
        ("denied", "i8"),
        ("conversions", "i8"),
        ("restarts", "i8"),
        ("longest_idle", "i8"),
        ("longest_query", "i8"),
        # The state of the run.
        ("segment", "i8"),  # segment of the last round played
        ("querying", "i8"),  # kind of the current streak: 1 query, 0 idle, -1 before round 1
        ("since", "i8"),  # first round of the current streak
        ("next", "i8"),  # the round that must be played next
        # Mistakes of the policy, which `check` reports.
        ("faults", "i8"),  # rounds played out of order
        ("wrong", "i8"),  # invalid arms, or invalid weights of idle rounds
        ("stray", "i8"),  # optimistic values f~ outside [0, 1]
        # How regret is accounted, see `new_ledger`.
        ("sampled", "i8"),
        ("literal", "i8"),
        ("adaptive", "i8"),
        ("coins", "u8"),  # state of the generator of `coin`
    ]
)

SUMS = ("regret", "regret_query", "regret_error", "regret_drift", "regret_no_data", "variation")
COUNTS = ("queries", "denied", "conversions", "restarts", "longest_idle", "longest_query")
RECORDED = (*SUMS[:-1], *COUNTS, "variation")
"""The recorded quantities of a run."""


def new_world(path: Path) -> np.ndarray:
    """Return `path` as kernels read it, [S + 1, 2 + 3K]."""
    segments, K = path.mean.shape
    world = np.zeros((segments + 1, MEANS + 3 * K))
    world[:, START] = path.start
    world[:-1, BEST] = path.best
    world[:-1, MEANS : MEANS + K] = path.mean
    world[:-1, MEANS + K : MEANS + 2 * K] = path.slope
    return world


def played_path(world: np.ndarray, policy: str) -> Path:
    """Return the path played in `world`, which an adaptive adversary has settled during the run.

    Raises
    ------
    ConfeeError
        If the policy played a copy of `world`, so that the adversary saw no plays.
    """
    K = arms(world)
    if not math.isclose(world[:, MEANS + 2 * K :].sum(), world[-1, START] - 1, rel_tol=1e-6):
        raise ConfeeError(
            f"policy={policy}: plays a copy of the path; must play the path itself against an "
            "adaptive adversary"
        )
    mean, slope = world[:-1, MEANS : MEANS + K], world[:-1, MEANS + K : MEANS + 2 * K]
    return Path(world[:, START].astype(np.int64), mean.copy(), slope.copy())


def new_ledger(
    sampled: bool = False, literal: bool = False, coins: int = 0, adaptive: bool = False
) -> np.record:
    """Return an empty ledger.

    Parameters
    ----------
    sampled
        Draw the arm of each idle round instead of taking the expectation over its weights: the
        same mean, a larger variance, and a cost of O(rounds).
    literal
        Take the proxy P over rewards, as the paper prints it, and not over means. The rewards of
        arms that were not played are drawn from a generator of their own, so the plays stay the
        same. A query then costs O(K).
    coins
        The seed of that generator.
    adaptive
        As of the path.
    """
    ledger = np.rec.array(np.zeros(1, LEDGER))[0]
    ledger.querying, ledger.since, ledger.next = -1, 1, 1
    ledger.sampled, ledger.literal, ledger.coins = sampled, literal, coins
    ledger.adaptive = adaptive
    return ledger


def settle(ledger: np.record, path: Environment) -> dict[str, float | int]:
    """Return the recorded quantities of a finished run on `path`."""
    turn(ledger, path.horizon + 1, -1)
    row: dict[str, float | int] = {"regret": float(ledger.regret_query + ledger.regret_idle)}
    row |= {name: float(ledger[name]) for name in SUMS[1:-1]}
    if not path.parts:
        row |= dict.fromkeys(("regret_error", "regret_drift", "regret_no_data"), math.nan)
    row |= {name: int(ledger[name]) for name in COUNTS}
    return row | {"variation": path.variation()}


OVERFLOW = ". B * T exceeds 2^63, where whole numbers in a kernel overflow: does it use i * T?"


def check(ledger: np.record, path: Environment, policy: str, B: int) -> None:
    """Raise ConfeeError unless the run kept the rules of the game.

    The rules: each round is played once and in order, every arm exists, at most B rounds are
    queried, and optimistic values lie in [0, 1].
    """
    if ledger.faults or ledger.next != path.horizon + 1:
        raise ConfeeError(
            f"policy={policy}: its kernel must play each of the rounds 1..{path.horizon} once, in "
            f"order; it stopped before round {ledger.next}, out of order {ledger.faults} times"
            + (OVERFLOW if B * path.horizon > np.iinfo(np.int64).max else "")
        )
    if ledger.wrong:
        raise ConfeeError(
            f"policy={policy}: its kernel must play {path.playable}; it did otherwise "
            f"{ledger.wrong} times"
        )
    if ledger.stray:
        raise ConfeeError(
            f"policy={policy}: act of its base algorithm must return f~ in [0, 1]; it did "
            f"otherwise {ledger.stray} times"
        )
    if ledger.queries > B:
        raise ConfeeError(
            f"policy={policy}: its kernel queried {ledger.queries} rounds; must be at most B={B}"
        )


# --------------------------------------------------------------------------- rows of `world`


@inlined
def arms(world):
    """Return K."""
    return (world.shape[1] - MEANS) // 3


@inlined
def slope_of(K, arm):
    """Return the column of the slope of `arm`."""
    return MEANS + K + arm


@inlined
def plays_of(K, arm):
    """Return the column of the plays of `arm`."""
    return MEANS + 2 * K + arm


@inlined
def mean_at(row, K, arm, since):
    """Return the mean of `arm`, `since` rounds after the first one of the segment `row`."""
    return row[MEANS + arm] + row[slope_of(K, arm)] * since


# --------------------------------------------------------------------------- data in use


@njit
def new_data(K):
    """Return an empty set S of query rounds: the feedback a policy uses, for the decomposition.

    Its K first entries are the sums of mu^k over the rounds of S outside their newest segment.
    Behind them lie |S| (COUNT) and, of the newest segment, its rounds in S (NEWEST_COUNT), the sum
    of their offsets from its first round (NEWEST_OFFSETS) and its number (NEWEST). So adding a
    round costs O(1).
    """
    return np.zeros(K + BEHIND)


@njit
def new_memories(count, world):
    """Return `count` empty sets of query rounds: each row is one, see `new_data`."""
    return np.zeros((count, arms(world) + BEHIND))


@njit
def anything(world):
    """Return the weights of idle rounds before there are data: all arms alike."""
    return np.ones(arms(world))


@inlined
def remember(world, data, t, segment):
    """Add round t, which lies in `segment`, to `data`."""
    if data[NEWEST] != segment:
        fold(world, data)
        data[NEWEST] = segment
    data[COUNT] += 1.0
    data[NEWEST_COUNT] += 1.0
    data[NEWEST_OFFSETS] += t - world[segment, START]


@leaf
def fold(world, data):
    """Add the rounds of the newest segment to the sums."""
    K = data.shape[0] - BEHIND
    newest = int(data[NEWEST])
    for k in range(K):
        data[k] += data[NEWEST_COUNT] * world[newest, MEANS + k]
        data[k] += data[NEWEST_OFFSETS] * world[newest, slope_of(K, k)]
    data[NEWEST_COUNT] = 0.0
    data[NEWEST_OFFSETS] = 0.0


@leaf
def remember_rewards(world, ledger, data, since, arm, reward):
    """Add a round's rewards to `data`: the observed one, and a drawn one for every other arm."""
    K = data.shape[0] - BEHIND
    data[COUNT] += 1.0
    for k in range(K):
        mean = mean_at(world[ledger.segment], K, k, since)
        if k == arm:
            data[k] += reward
        elif coin(ledger) < mean:
            data[k] += 1.0


@leaf
def coin(ledger):
    """Return a random number in [0, 1) by splitmix64 (Steele, Lea, Flood 2014)."""
    ledger.coins += np.uint64(0x9E3779B97F4A7C15)
    z = ledger.coins
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return float((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53


# --------------------------------------------------------------------------- rounds


@inlined
def locate(world, ledger, t):
    """Return the segment of round t; rounds come in order, so a cursor moves forward."""
    segment = ledger.segment
    while segment < world.shape[0] - 2 and t >= world[segment + 1, START]:
        segment += 1
        if ledger.adaptive:
            adapt(world, segment)
    ledger.segment = segment
    return segment


@leaf
def adapt(world, segment):
    """Make the arm played least in the previous segment the good arm of `segment`.

    Ties go to the smallest index. The other arms keep their common mean.
    """
    K = arms(world)
    least = 0
    for k in range(1, K):
        if world[segment - 1, plays_of(K, k)] < world[segment - 1, plays_of(K, least)]:
            least = k
    good = int(world[segment, BEST])
    for first in (MEANS, MEANS + K):
        lead = world[segment, first + good]
        world[segment, first + good] = world[segment, first + least]
        world[segment, first + least] = lead
    world[segment, BEST] = least


@inlined
def turn(ledger, t, querying):
    """End the current streak before round t unless it is of the same kind, query 1 or idle 0."""
    if ledger.querying != querying:
        if ledger.querying == 1:
            ledger.longest_query = max(ledger.longest_query, t - ledger.since)
        else:
            ledger.longest_idle = max(ledger.longest_idle, t - ledger.since)
        ledger.querying = querying
        ledger.since = t


@inlined
def query(world, ledger, data, t, arm, rng):
    """Play `arm` in round t and return its reward, 0.0 or 1.0. The round joins `data`."""
    K = data.shape[0] - BEHIND
    if t != ledger.next:
        ledger.faults += 1
    ledger.next = t + 1
    if not 0 <= arm < K:
        ledger.wrong += 1
        arm = 0
    segment = locate(world, ledger, t)
    here = world[segment]
    since = t - here[START]
    mean = mean_at(here, K, arm, since)
    top = mean_at(here, K, int(here[BEST]), since)
    ledger.regret_query += top - mean
    ledger.queries += 1
    if ledger.adaptive:
        here[plays_of(K, arm)] += 1.0
    turn(ledger, t, 1)
    reward = 1.0 if rng.random() < mean else 0.0
    if ledger.literal:
        remember_rewards(world, ledger, data, since, arm, reward)
    else:
        remember(world, data, t, segment)
    return reward


@inlined
def idle(world, ledger, data, start, stop, weights, rng):
    """Play rounds start..stop-1 without observing; arms are drawn in proportion to `weights` [K].

    Adds the exact expectation of mu* - mu, split at the proxy P of `data` into error (P - mu) and
    drift (mu* - P); without data it goes to `regret_no_data`. Cost: O(K) per segment crossed.
    """
    if stop > start:  # often false: at B = T always
        idle_streak(world, ledger, data, start, stop, weights, rng)


@inlined
def begin_idle(world, ledger, start, stop):
    """Begin an idle streak before `stop`; return its end, which is the path's at the latest."""
    last = int(world[world.shape[0] - 1, START])
    if start != ledger.next or stop > last:
        ledger.faults += 1
    stop = min(stop, last)
    ledger.next = stop
    turn(ledger, start, 0)
    return stop


@leaf
def idle_streak(world, ledger, data, start, stop, weights, rng):
    """Play `idle` rounds, at least one."""
    stop = begin_idle(world, ledger, start, stop)
    K = data.shape[0] - BEHIND
    has_data = data[COUNT] > 0.0
    newest, count, offsets = world[int(data[NEWEST])], data[NEWEST_COUNT], data[NEWEST_OFFSETS]
    total, proxy = 0.0, 0.0
    while start < stop:
        segment = locate(world, ledger, start)
        end = min(stop, int(world[segment + 1, START]))
        # The sum of a linear function over consecutive rounds is its value in the middle times
        # their number.
        rounds = end - start
        middle = 0.5 * (start + end - 1) - world[segment, START]
        here = world[segment]
        top = mean_at(here, K, int(here[BEST]), middle)
        gap = 0.0
        if total > 0.0:
            for k in range(K):
                gap += weights[k] * (top - mean_at(here, K, k, middle))
        else:  # Once: three sums in one loop, as each addition waits for the previous one.
            negative = weights.shape[0] != K
            for k in range(min(K, weights.shape[0])):
                gap += weights[k] * (top - mean_at(here, K, k, middle))
                total += weights[k]
                negative |= weights[k] < 0.0
                unfolded = count * newest[MEANS + k] + offsets * newest[slope_of(K, k)]
                proxy = larger(proxy, data[k] + unfolded)
            if negative or not 0.0 < total < np.inf:
                ledger.wrong += 1
                return
            if has_data:  # P = max_k of the mean over S of mu^k, or of R^k if `literal`.
                proxy /= data[COUNT]
        if ledger.adaptive:
            for k in range(K):
                world[segment, plays_of(K, k)] += rounds * (weights[k] / total)
        regret = rounds * (gap / total)
        if ledger.sampled:
            regret = sample(world, segment, start, end, weights, total, rng)
        ledger.regret_idle += regret
        if has_data:
            drift = rounds * (top - proxy)
            ledger.regret_drift += drift
            ledger.regret_error += regret - drift
        else:
            ledger.regret_no_data += regret
        start = end


@leaf
def sample(world, segment, start, end, weights, total, rng):
    """Return the regret of rounds start..end-1 of one segment, with the arm of each drawn."""
    K = weights.shape[0]
    here = world[segment]
    best = int(here[BEST])
    regret = 0.0
    for t in range(start, end):
        arm = draw(weights, total, rng)
        regret += here[MEANS + best] - here[MEANS + arm]
        slope = here[slope_of(K, best)] - here[slope_of(K, arm)]
        regret += slope * (t - here[START])
    return regret


@leaf
def draw(weights, total, rng):
    """Return an arm drawn in proportion to `weights`, whose sum is `total`."""
    left = rng.random() * total
    for k in range(weights.shape[0] - 1):
        left -= weights[k]
        if left < 0.0:
            return k
    return weights.shape[0] - 1
