"""Many plays at once: the game of `confee.world.game` for runs that look in the same rounds.

A lane is a run: an adversary and a seed, with a path and a random stream of its own. What is the
same for all (the round, how many queries there were, how long runs are) stands in one ledger;
what is not lies in arrays [..., L], so that loops over lanes, the inner ones, become vector
instructions. A lane does the operations of `query` and `idle` on the same numbers in the same
order, so its results are the same to the bit (tests compare them for every policy with lanes).

There is one set of data in use, and neither adaptive paths nor sampled or literal accounts: such
runs are played by themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from confee.core.jit import inlined, larger, leaf, njit
from confee.world.game import BEST, LEDGER, MEANS, START, go_blind, new_ledger, new_world, turn
from confee.world.streams import new_streams, uniform

LINE = 8
"""Doubles in a cache line."""

# Rows of `sums`: of regret, as in a ledger.
QUERY, IDLE, ERROR, DRIFT, NO_DATA = range(5)
SUMMED = ("regret_query", "regret_idle", "regret_error", "regret_drift", "regret_no_data")

# Rows of `now`: the first round of the lane's segment, the round after it, the best mean in its
# first round and that mean's slope; |S|, then of the newest segment in S the rounds and the sum of
# their offsets (`confee.world.game.new_data`); three rows of room.
FROM, UNTIL, TOP, SLOPE, COUNT, NEWEST, OFFSETS, ROOM = range(8)

# Blocks of `arms`: means in the segment's first round and slopes; the sums over S; means and
# slopes of the newest segment in S.
MEAN, RISE, SUMS, DATA_MEAN, DATA_RISE = range(5)


class Lanes(NamedTuple):
    """`world`: the rows of all paths, one path after another. `place`: [3, L] int64, the row of the
    lane's segment, that of the newest segment in S, and the last row of its path. `sums` [5, L],
    `now` [10, L], `arms` [5, K, L]: see above. `streams`: of the policies, [5, L]."""

    world: np.ndarray
    place: np.ndarray
    sums: np.ndarray
    now: np.ndarray
    arms: np.ndarray
    streams: np.ndarray


SEGMENT, DATA_SEGMENT, LAST = range(3)


@njit
def zeros(shape):
    """As numpy's, but where a cache line begins: a vector that lies in two lines costs twice."""
    count = 1
    for size in shape:
        count *= size
    room = np.zeros(count + LINE)
    first = -(room.ctypes.data // room.itemsize) % LINE
    return room[first : first + count].reshape(shape)


def new_lanes(paths: Sequence[Any], generators: Sequence[np.random.Generator]) -> Lanes:
    """Plays of `paths` (of arms, one K and T) before their first round, with those streams."""
    worlds = [new_world(path) for path in paths]
    ends = np.cumsum([len(world) for world in worlds])
    K, L = paths[0].mean.shape[1], len(paths)
    place = np.zeros((3, L), dtype=np.int64)
    place[SEGMENT, 1:] = ends[:-1]
    place[DATA_SEGMENT], place[LAST] = place[SEGMENT], ends - 1
    world, now, arms = np.concatenate(worlds), zeros((ROOM + 3, L)), zeros((5, K, L))
    lanes = Lanes(world, place, zeros((5, L)), now, arms, new_streams(generators))
    for lane in range(L):
        enter(lanes, lane)
        take(lanes, lane)
    return lanes


def ledgers(lanes: Lanes, ledger: np.record) -> Iterator[np.record]:
    """Each lane's accounts, as a play by itself leaves them."""
    for lane in range(lanes.now.shape[1]):
        one = new_ledger()
        for name in LEDGER.names or ():
            one[name] = ledger[name]
        for row, name in enumerate(SUMMED):
            one[name] = lanes.sums[row, lane]
        yield one


# --------------------------------------------------------------------------- segments


@leaf
def enter(lanes, lane):
    """The lane's segment is that of its row in `world`."""
    world, now, arms = lanes.world, lanes.now, lanes.arms
    K = arms.shape[1]
    row = lanes.place[SEGMENT, lane]
    best = int(world[row, BEST])
    now[FROM, lane] = world[row, START]
    now[UNTIL, lane] = world[row + 1, START]
    now[TOP, lane] = world[row, MEANS + best]
    now[SLOPE, lane] = world[row, MEANS + K + best]
    for k in range(K):
        arms[MEAN, k, lane] = world[row, MEANS + k]
        arms[RISE, k, lane] = world[row, MEANS + K + k]


@leaf
def take(lanes, lane):
    """The newest segment in S is the lane's."""
    arms = lanes.arms
    lanes.place[DATA_SEGMENT, lane] = lanes.place[SEGMENT, lane]
    for k in range(arms.shape[1]):
        arms[DATA_MEAN, k, lane] = arms[MEAN, k, lane]
        arms[DATA_RISE, k, lane] = arms[RISE, k, lane]


@leaf
def locate(lanes, lane, t):
    """Goes on to the segment of round t."""
    row = lanes.place[SEGMENT, lane]
    while row < lanes.place[LAST, lane] - 1 and t >= lanes.world[row + 1, START]:
        row += 1
    if row != lanes.place[SEGMENT, lane]:
        lanes.place[SEGMENT, lane] = row
        enter(lanes, lane)


@leaf
def fold(lanes, lane):
    """Moves the newest segment's rounds into the sums; the lane's segment is the newest then."""
    now, arms = lanes.now, lanes.arms
    for k in range(arms.shape[1]):
        arms[SUMS, k, lane] += now[NEWEST, lane] * arms[DATA_MEAN, k, lane]
        arms[SUMS, k, lane] += now[OFFSETS, lane] * arms[DATA_RISE, k, lane]
    now[NEWEST, lane] = 0.0
    now[OFFSETS, lane] = 0.0
    take(lanes, lane)


@leaf
def forget(lanes):
    """Empties the sets of data in use."""
    lanes.arms[SUMS] = 0.0
    for row in range(COUNT, OFFSETS + 1):
        lanes.now[row] = 0.0


# --------------------------------------------------------------------------- rounds


@leaf
def query(lanes, ledger, t, arm, reward):
    """Plays `arm` [L] in round t and looks: fills `reward` [L]. The round joins the data."""
    sums, now, arms, place, streams = lanes.sums, lanes.now, lanes.arms, lanes.place, lanes.streams
    if t != ledger.next:
        ledger.faults += 1
    ledger.next = t + 1
    ledger.queries += 1
    turn(ledger, t, 1)
    K, L = arms.shape[1], now.shape[1]
    until, moved = now[UNTIL], 0
    for lane in range(L):
        moved += 1 if t >= until[lane] else 0
        moved += 1 if place[DATA_SEGMENT, lane] != place[SEGMENT, lane] else 0
    if moved > 0:
        for lane in range(L):
            locate(lanes, lane, t)
            if place[DATA_SEGMENT, lane] != place[SEGMENT, lane]:
                fold(lanes, lane)
    since, top = now[ROOM], now[ROOM + 1]
    for lane in range(L):
        since[lane] = t - now[FROM, lane]
        top[lane] = now[TOP, lane] + now[SLOPE, lane] * since[lane]
    for lane in range(L):
        now[COUNT, lane] += 1.0
        now[NEWEST, lane] += 1.0
        now[OFFSETS, lane] += since[lane]
    for lane in range(L):
        k = np.uint64(arm[lane])  # no sign: numba then asks less of an index
        if k >= np.uint64(K):
            ledger.wrong += 1
            k = np.uint64(0)
        mean = arms[MEAN, k, lane] + arms[RISE, k, lane] * since[lane]
        sums[QUERY, lane] += top[lane] - mean
        reward[lane] = 1.0 if uniform(streams, lane) < mean else 0.0


@inlined
def idle(lanes, ledger, start, stop, weights):
    """Plays rounds start..stop-1 blind: each round's arm is drawn with chances ~ `weights` [K, L].

    Adds what `confee.world.game.idle` adds, lane by lane.
    """
    if stop > start:
        run_blind(lanes, ledger, start, stop, weights)


@leaf
def run_blind(lanes, ledger, start, stop, weights):
    """`idle` of at least one round. (A loop that writes little is one that can be vectorised.)"""
    stop = go_blind(lanes.world, ledger, start, stop)
    now, arms = lanes.now, lanes.arms
    K, L = arms.shape[1], now.shape[1]
    total, room, expected = now[ROOM], now[ROOM + 1], now[ROOM + 2]
    if not sound(weights, K, total, room):
        ledger.wrong += 1
        return
    newest, offsets, until, count = now[NEWEST], now[OFFSETS], now[UNTIL], now[COUNT]
    expected[:] = 0.0
    for k in range(K):
        seen, mean, rise = arms[SUMS, k], arms[DATA_MEAN, k], arms[DATA_RISE, k]
        for i in range(L):
            sum_k = seen[i] + (newest[i] * mean[i] + offsets[i] * rise[i])
            expected[i] = larger(sum_k, expected[i])
    outside = 0
    for i in range(L):
        expected[i] /= count[i]
    for i in range(L):
        outside += 1 if stop > until[i] else 0
    if outside == 0:
        run_inside(lanes, start, stop, weights)
    else:
        for lane in range(L):
            run_across(lanes, lane, start, stop, weights)


@leaf
def sound(weights, K, total, below):
    """Whether `weights` can be chances of K arms; `total` is their sums then."""
    if weights.shape[0] != K:
        return False
    total[:], below[:] = 0.0, 0.0
    for k in range(K):
        weight = weights[k]
        for i in range(total.shape[0]):
            total[i] += weight[i]
            below[i] = larger(-weight[i], below[i])
    faults = 0
    for i in range(total.shape[0]):
        faults += 0 if below[i] <= 0.0 and 0.0 < total[i] < np.inf else 1
    return faults == 0


@leaf
def run_inside(lanes, start, stop, weights):
    """An idle run that ends no lane's segment."""
    sums, now, arms = lanes.sums, lanes.now, lanes.arms
    L = now.shape[1]
    total, regret, drift = now[ROOM], now[ROOM + 1], now[ROOM + 2]
    since_start, best, slope = now[FROM], now[TOP], now[SLOPE]
    rounds, middle = stop - start, 0.5 * (start + stop - 1)
    regret[:] = 0.0
    for k in range(arms.shape[1]):
        weight, mean, rise = weights[k], arms[MEAN, k], arms[RISE, k]
        for i in range(L):
            since = middle - since_start[i]
            top = best[i] + slope[i] * since
            regret[i] += weight[i] * (top - (mean[i] + rise[i] * since))
    for i in range(L):
        regret[i] = rounds * (regret[i] / total[i])
    add(sums[IDLE], regret)
    if not now[COUNT, 0] > 0.0:  # the same in all lanes
        add(sums[NO_DATA], regret)
        return
    for i in range(L):  # from the proxy P to the drift
        top = best[i] + slope[i] * (middle - since_start[i])
        drift[i] = rounds * (top - drift[i])
    add(sums[DRIFT], drift)
    for i in range(L):
        regret[i] -= drift[i]
    add(sums[ERROR], regret)


@inlined
def add(total, more):
    """Lane by lane."""
    for i in range(total.shape[0]):
        total[i] += more[i]


@leaf
def run_across(lanes, i, start, stop, weights):
    """An idle run of lane i, segment by segment."""
    sums, now, arms = lanes.sums, lanes.now, lanes.arms
    total, expected = now[ROOM, i], now[ROOM + 2, i]
    while start < stop:
        locate(lanes, i, start)
        end = min(stop, int(now[UNTIL, i]))
        rounds = end - start
        since = 0.5 * (start + end - 1) - now[FROM, i]
        top = now[TOP, i] + now[SLOPE, i] * since
        gap = 0.0
        for k in range(arms.shape[1]):
            gap += weights[k, i] * (top - (arms[MEAN, k, i] + arms[RISE, k, i] * since))
        regret = rounds * (gap / total)
        sums[IDLE, i] += regret
        if now[COUNT, i] > 0.0:
            drift = rounds * (top - expected)
            sums[DRIFT, i] += drift
            sums[ERROR, i] += regret - drift
        else:
            sums[NO_DATA, i] += regret
        start = end
