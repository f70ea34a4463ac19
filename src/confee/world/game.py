"""One play of a path: what a query costs and tells, and idle runs in closed form.

A policy calls `query` for each round whose reward it looks at and `idle` for each run of rounds it
plays blind; both keep the accounts. Rounds come in order, each exactly once.

Kernels take plain arrays and one record, never tuples of arrays: unpacking those costs numba more
(atomic reference counts) than the rest of a round.
"""

from __future__ import annotations

import math

import numpy as np

from confee.core.errors import ConfeeError
from confee.core.jit import inlined, larger, leaf, njit
from confee.world.path import Environment, Path

# A world row is a segment: its first round, its best arm, K means there, K slopes; then the plays
# of each arm in it, kept for an adaptive adversary only. The row after the last segment starts at
# T + 1.
START, BEST, MEANS = 0, 1, 2

LEDGER = np.dtype(
    [
        ("regret_query", "f8"),
        ("regret_idle", "f8"),
        ("regret_error", "f8"),
        ("regret_drift", "f8"),
        ("regret_no_data", "f8"),
        ("queries", "i8"),
        ("denied", "i8"),
        ("conversions", "i8"),
        ("restarts", "i8"),
        ("longest_idle", "i8"),
        ("longest_query", "i8"),
        # The state of the play: where in the path, which kind of run, since when, which round is
        # next, how often another one was played, how often an arm that is none, and how often an
        # optimistic value f~ was none.
        ("segment", "i8"),
        ("querying", "i8"),
        ("since", "i8"),
        ("next", "i8"),
        ("faults", "i8"),
        ("wrong", "i8"),
        ("stray", "i8"),
        ("sampled", "i8"),
        ("literal", "i8"),
        ("adaptive", "i8"),
        ("coins", "u8"),
    ]
)

SUMS = ("regret", "regret_query", "regret_error", "regret_drift", "regret_no_data", "variation")
COUNTS = ("queries", "denied", "conversions", "restarts", "longest_idle", "longest_query")
RECORDED = (*SUMS[:-1], *COUNTS, "variation")
"""The recorded quantities of a run."""


def new_world(path: Path) -> np.ndarray:
    """`path` as kernels read it: [S + 1, 2 + 3K]."""
    segments, K = path.mean.shape
    world = np.zeros((segments + 1, MEANS + 3 * K))
    world[:, START] = path.start
    world[:-1, BEST] = path.best
    world[:-1, MEANS : MEANS + K] = path.mean
    world[:-1, MEANS + K : MEANS + 2 * K] = path.slope
    return world


def played_path(world: np.ndarray, policy: str) -> Path:
    """The path that was played in `world`: an adaptive adversary has settled it meanwhile.

    Raises ConfeeError if the policy played a copy of it.
    """
    K = (world.shape[1] - MEANS) // 3
    if not math.isclose(world[:, MEANS + 2 * K :].sum(), world[-1, START] - 1, rel_tol=1e-6):
        raise ConfeeError(f"policy={policy}: it plays a copy of the path; no adversary can adapt")
    mean, slope = world[:-1, MEANS : MEANS + K], world[:-1, MEANS + K : MEANS + 2 * K]
    return Path(world[:, START].astype(np.int64), mean.copy(), slope.copy())


def new_ledger(
    sampled: bool = False, literal: bool = False, coins: int = 0, adaptive: bool = False
) -> np.record:
    """Fresh accounts.

    `sampled` draws the plays of idle runs instead of taking their expectation: same mean, larger
    variance, and a cost of O(rounds). `literal` takes the proxy P over rewards, as printed, not
    means: those of the arms not played are drawn, from a generator of their own that starts at
    `coins`, so that the plays stay what they are. A query then costs O(K). `adaptive` as a path's.
    """
    ledger = np.rec.array(np.zeros(1, LEDGER))[0]
    ledger.querying, ledger.since, ledger.next = -1, 1, 1
    ledger.sampled, ledger.literal, ledger.coins = sampled, literal, coins
    ledger.adaptive = adaptive
    return ledger


def settle(ledger: np.record, path: Environment) -> dict[str, float | int]:
    """The recorded quantities of a finished run on `path`."""
    turn(ledger, path.horizon + 1, -1)
    row: dict[str, float | int] = {"regret": float(ledger.regret_query + ledger.regret_idle)}
    row |= {name: float(ledger[name]) for name in SUMS[1:-1]}
    if not path.parts:
        row |= dict.fromkeys(("regret_error", "regret_drift", "regret_no_data"), math.nan)
    row |= {name: int(ledger[name]) for name in COUNTS}
    return row | {"variation": path.variation()}


OVERFLOW = ". B * T is beyond 2^63, where whole numbers in a kernel overflow: does it use i * T?"


def check(ledger: np.record, path: Environment, policy: str, B: int) -> None:
    """Raises ConfeeError unless each round was played once, in order, on arms that there are, with
    at most B queries, and optimistic values were in [0, 1]."""
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


# --------------------------------------------------------------------------- data in use


@njit
def new_data(K):
    """An empty set S of query rounds: the feedback a policy uses, for the decomposition.

    Layout: the sum of mu^k over S but its newest segment (K entries), |S|, then of the newest
    segment: its rounds in S, the sum of their offsets, the segment. So adding a round is O(1).
    """
    return np.zeros(K + 4)


@njit
def new_memories(count, world):
    """Room for `count` sets of query rounds: row i is one as `new_data` makes it."""
    return np.zeros((count, (world.shape[1] - MEANS) // 3 + 4))


@njit
def anything(world):
    """The weights of idle rounds before anything was seen: all arms alike."""
    return np.ones((world.shape[1] - MEANS) // 3)


@inlined
def remember(world, data, t, segment):
    """Adds round t, which lies in `segment`."""
    K = data.shape[0] - 4
    if data[K + 3] != segment:
        fold(world, data)
        data[K + 3] = segment
    data[K] += 1.0
    data[K + 1] += 1.0
    data[K + 2] += t - world[segment, START]


@leaf
def fold(world, data):
    """Moves the newest segment's rounds into the sums."""
    K = data.shape[0] - 4
    segment = int(data[K + 3])
    for k in range(K):
        data[k] += data[K + 1] * world[segment, MEANS + k]
        data[k] += data[K + 2] * world[segment, MEANS + K + k]
    data[K + 1] = 0.0
    data[K + 2] = 0.0


@leaf
def remember_rewards(world, ledger, data, since, arm, reward):
    """Adds a round's rewards: the one seen, and one drawn for every other arm."""
    K = data.shape[0] - 4
    data[K] += 1.0
    for k in range(K):
        mean = world[ledger.segment, MEANS + k] + world[ledger.segment, MEANS + K + k] * since
        if k == arm:
            data[k] += reward
        elif coin(ledger) < mean:
            data[k] += 1.0


@leaf
def coin(ledger):
    """A number in [0, 1): splitmix64 (Steele, Lea, Flood 2014)."""
    ledger.coins += np.uint64(0x9E3779B97F4A7C15)
    z = ledger.coins
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return float((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53


# --------------------------------------------------------------------------- rounds


@inlined
def locate(world, ledger, t):
    """The segment of round t; rounds come in order, so a cursor moves forward."""
    segment = ledger.segment
    while segment < world.shape[0] - 2 and t >= world[segment + 1, START]:
        segment += 1
        if ledger.adaptive:
            adapt(world, segment)
    ledger.segment = segment
    return segment


@leaf
def adapt(world, segment):
    """As `segment` begins, its good arm becomes the one played least in the segment before it.

    The least index of several. The other arms keep the means that they share.
    """
    K = (world.shape[1] - MEANS) // 3
    least = 0
    for k in range(1, K):
        if world[segment - 1, MEANS + 2 * K + k] < world[segment - 1, MEANS + 2 * K + least]:
            least = k
    good = int(world[segment, BEST])
    for first in (MEANS, MEANS + K):
        lead = world[segment, first + good]
        world[segment, first + good] = world[segment, first + least]
        world[segment, first + least] = lead
    world[segment, BEST] = least


@inlined
def turn(ledger, t, querying):
    """Before round t: ends the current run unless it is of the same kind, query (1) or idle (0)."""
    if ledger.querying != querying:
        if ledger.querying == 1:
            ledger.longest_query = max(ledger.longest_query, t - ledger.since)
        else:
            ledger.longest_idle = max(ledger.longest_idle, t - ledger.since)
        ledger.querying = querying
        ledger.since = t


@inlined
def query(world, ledger, data, t, arm, rng):
    """Plays `arm` in round t and looks: the reward, 0.0 or 1.0. The round joins `data`."""
    K = data.shape[0] - 4
    if t != ledger.next:
        ledger.faults += 1
    ledger.next = t + 1
    if not 0 <= arm < K:
        ledger.wrong += 1
        arm = 0
    segment = locate(world, ledger, t)
    since = t - world[segment, START]
    best = int(world[segment, BEST])
    mean = world[segment, MEANS + arm] + world[segment, MEANS + K + arm] * since
    top = world[segment, MEANS + best] + world[segment, MEANS + K + best] * since
    ledger.regret_query += top - mean
    ledger.queries += 1
    if ledger.adaptive:
        world[segment, MEANS + 2 * K + arm] += 1.0
    turn(ledger, t, 1)
    reward = 1.0 if rng.random() < mean else 0.0
    if ledger.literal:
        remember_rewards(world, ledger, data, since, arm, reward)
    else:
        remember(world, data, t, segment)
    return reward


@inlined
def idle(world, ledger, data, start, stop, weights, rng):
    """Plays rounds start..stop-1 blind: each round's arm is drawn with chances ~ `weights` [K].

    Adds the exact expectation of mu* - mu, split at the proxy P of `data` into error (P - mu) and
    drift (mu* - P); without data it goes to `no_data`. Cost: O(K) a segment crossed.
    """
    if stop > start:  # often it is not: at B = T never
        run_blind(world, ledger, data, start, stop, weights, rng)


@inlined
def go_blind(world, ledger, start, stop):
    """An idle run begins, which ends before `stop` or with the path: returns where."""
    last = int(world[world.shape[0] - 1, START])
    if start != ledger.next or stop > last:
        ledger.faults += 1
    stop = min(stop, last)
    ledger.next = stop
    turn(ledger, start, 0)
    return stop


@leaf
def run_blind(world, ledger, data, start, stop, weights, rng):
    """`idle` of at least one round."""
    stop = go_blind(world, ledger, start, stop)
    K = data.shape[0] - 4
    known = data[K] > 0.0
    newest, rounds_in, offsets = world[int(data[K + 3])], data[K + 1], data[K + 2]
    total, expected = 0.0, 0.0
    while start < stop:
        segment = locate(world, ledger, start)
        end = min(stop, int(world[segment + 1, START]))
        # A linear function summed over a run of rounds is its value in the middle, times them.
        rounds = end - start
        middle = 0.5 * (start + end - 1) - world[segment, START]
        here = world[segment]
        best = int(here[BEST])
        top = here[MEANS + best] + here[MEANS + K + best] * middle
        gap = 0.0
        if total > 0.0:
            for k in range(K):
                gap += weights[k] * (top - (here[MEANS + k] + here[MEANS + K + k] * middle))
        else:  # once: three sums in one loop, as each addition waits for the one before it
            negative = weights.shape[0] != K
            for k in range(min(K, weights.shape[0])):
                gap += weights[k] * (top - (here[MEANS + k] + here[MEANS + K + k] * middle))
                total += weights[k]
                negative |= weights[k] < 0.0
                then = rounds_in * newest[MEANS + k] + offsets * newest[MEANS + K + k]
                expected = larger(expected, data[k] + then)
            if negative or not 0.0 < total < np.inf:
                ledger.wrong += 1
                return
            if known:  # P = max_k mean over S of mu^k (or of R^k if `literal`; decomposition Lemma)
                expected /= data[K]
        if ledger.adaptive:
            for k in range(K):
                world[segment, MEANS + 2 * K + k] += rounds * (weights[k] / total)
        regret = rounds * (gap / total)
        if ledger.sampled:
            regret = sample(world, segment, start, end, weights, total, rng)
        ledger.regret_idle += regret
        if known:
            drift = rounds * (top - expected)
            ledger.regret_drift += drift
            ledger.regret_error += regret - drift
        else:
            ledger.regret_no_data += regret
        start = end


@leaf
def sample(world, segment, start, end, weights, total, rng):
    """Regret of rounds start..end-1, inside one segment, with each round's arm drawn."""
    K = weights.shape[0]
    best = int(world[segment, BEST])
    regret = 0.0
    for t in range(start, end):
        arm = draw(weights, total, rng)
        since = t - world[segment, START]
        regret += world[segment, MEANS + best] - world[segment, MEANS + arm]
        slope = world[segment, MEANS + K + best] - world[segment, MEANS + K + arm]
        regret += slope * since
    return regret


@leaf
def draw(weights, total, rng):
    """An arm drawn with chances ~ `weights`, whose sum is `total`."""
    left = rng.random() * total
    for k in range(weights.shape[0] - 1):
        left -= weights[k]
        if left < 0.0:
            return k
    return weights.shape[0] - 1
