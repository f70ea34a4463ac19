"""Many runs at once: the game of `confee.world.game` for runs that query in the same rounds.

A lane is a run, with the path and the random stream of its own adversary and seed. What is the same
in all lanes (the round, the number of queries, the lengths of streaks) is kept in one ledger. What
differs lies in arrays [..., L], so that the inner loops run over lanes and become vector
instructions. A lane does the operations of `query` and `idle` on the same numbers in the same
order, so its results are the same to the bit; tests compare them for every policy with lanes.

Lanes have one set of data in use, and neither adaptive paths nor sampled or literal accounts: such
runs are played one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from confee.core.jit import inlined, larger, leaf, njit
from confee.world.game import (
    BEST,
    LEDGER,
    MEANS,
    START,
    begin_idle,
    new_ledger,
    new_world,
    slope_of,
    turn,
)
from confee.world.streams import new_streams, uniform

LINE = 8
"""Doubles in a cache line."""

# Rows of `rows`: the lane's current segment, the newest segment in S, and the last row of its path.
SEGMENT, DATA_SEGMENT, LAST = range(3)

# Rows of `sums`: regret, as in a ledger.
QUERY, IDLE, ERROR, DRIFT, NO_DATA = range(5)
SUMMED = ("regret_query", "regret_idle", "regret_error", "regret_drift", "regret_no_data")

# Rows of `now`: the first round of the lane's segment, the round after it, the best mean in its
# first round and the slope of that mean; |S|, then of the newest segment in S the number of its
# rounds and the sum of their offsets (see `confee.world.game.new_data`); three scratch rows.
FROM, UNTIL, TOP, TOP_SLOPE, COUNT, NEWEST_COUNT, NEWEST_OFFSETS, SCRATCH = range(8)

# Blocks of `arms`: means in the segment's first round, and slopes; the sums over S; means and
# slopes of the newest segment in S.
MEAN, SLOPE, SUMS, DATA_MEAN, DATA_SLOPE = range(5)


class Lanes(NamedTuple):
    """The state of L runs.

    Parameters
    ----------
    world
        The rows of all paths, one path after another, as `confee.world.game.new_world` makes them.
    rows
        Rows of `world`, [3, L] int64; see SEGMENT above.
    sums, now, arms
        [5, L], [10, L] and [5, K, L]; see above.
    streams
        The random streams of the policies, [5, L].
    """

    world: np.ndarray
    rows: np.ndarray
    sums: np.ndarray
    now: np.ndarray
    arms: np.ndarray
    streams: np.ndarray


@njit
def zeros(shape):
    """Return zeros that begin at a cache line: a vector that lies in two lines costs twice."""
    count = 1
    for size in shape:
        count *= size
    padded = np.zeros(count + LINE)
    first = -(padded.ctypes.data // padded.itemsize) % LINE
    return padded[first : first + count].reshape(shape)


def new_lanes(paths: Sequence[Any], generators: Sequence[np.random.Generator]) -> Lanes:
    """Return runs on `paths` (of arms, with one K and one T) with the streams of `generators`."""
    worlds = [new_world(path) for path in paths]
    ends = np.cumsum([len(world) for world in worlds])
    K, L = paths[0].mean.shape[1], len(paths)
    rows = np.zeros((3, L), dtype=np.int64)
    rows[SEGMENT, 1:] = ends[:-1]
    rows[DATA_SEGMENT], rows[LAST] = rows[SEGMENT], ends - 1
    world, now, arms = np.concatenate(worlds), zeros((SCRATCH + 3, L)), zeros((5, K, L))
    lanes = Lanes(world, rows, zeros((5, L)), now, arms, new_streams(generators))
    for lane in range(L):
        enter(lanes, lane)
        take_newest(lanes, lane)
    return lanes


def ledgers(lanes: Lanes, ledger: np.record) -> Iterator[np.record]:
    """Yield the ledger of each lane, as it would be had its run been played alone."""
    for lane in range(lanes.now.shape[1]):
        alone = new_ledger()
        for name in LEDGER.names or ():
            alone[name] = ledger[name]
        for row, name in enumerate(SUMMED):
            alone[name] = lanes.sums[row, lane]
        yield alone


# --------------------------------------------------------------------------- segments


@leaf
def enter(lanes, lane):
    """Copy what the lane's segment is, from its row of `world`."""
    now, arms = lanes.now, lanes.arms
    K = arms.shape[1]
    row = lanes.rows[SEGMENT, lane]
    here = lanes.world[row]
    best = int(here[BEST])
    now[FROM, lane] = here[START]
    now[UNTIL, lane] = lanes.world[row + 1, START]
    now[TOP, lane] = here[MEANS + best]
    now[TOP_SLOPE, lane] = here[slope_of(K, best)]
    for k in range(K):
        arms[MEAN, k, lane] = here[MEANS + k]
        arms[SLOPE, k, lane] = here[slope_of(K, k)]


@leaf
def take_newest(lanes, lane):
    """Make the lane's segment the newest one in S."""
    arms = lanes.arms
    lanes.rows[DATA_SEGMENT, lane] = lanes.rows[SEGMENT, lane]
    for k in range(arms.shape[1]):
        arms[DATA_MEAN, k, lane] = arms[MEAN, k, lane]
        arms[DATA_SLOPE, k, lane] = arms[SLOPE, k, lane]


@leaf
def locate(lanes, lane, t):
    """Move the lane on to the segment of round t."""
    row = lanes.rows[SEGMENT, lane]
    while row < lanes.rows[LAST, lane] - 1 and t >= lanes.world[row + 1, START]:
        row += 1
    if row != lanes.rows[SEGMENT, lane]:
        lanes.rows[SEGMENT, lane] = row
        enter(lanes, lane)


@leaf
def fold(lanes, lane):
    """Add the rounds of the newest segment to the sums; the lane's segment becomes the newest."""
    now, arms = lanes.now, lanes.arms
    for k in range(arms.shape[1]):
        arms[SUMS, k, lane] += now[NEWEST_COUNT, lane] * arms[DATA_MEAN, k, lane]
        arms[SUMS, k, lane] += now[NEWEST_OFFSETS, lane] * arms[DATA_SLOPE, k, lane]
    now[NEWEST_COUNT, lane] = 0.0
    now[NEWEST_OFFSETS, lane] = 0.0
    take_newest(lanes, lane)


@leaf
def forget(lanes):
    """Empty the sets of data in use."""
    lanes.arms[SUMS] = 0.0
    for row in range(COUNT, NEWEST_OFFSETS + 1):
        lanes.now[row] = 0.0


# --------------------------------------------------------------------------- rounds


@leaf
def query(lanes, ledger, t, arm, reward):
    """Play `arm` [L] in round t and write the rewards to `reward` [L]. The round joins the data."""
    sums, now, arms, rows, streams = lanes.sums, lanes.now, lanes.arms, lanes.rows, lanes.streams
    if t != ledger.next:
        ledger.faults += 1
    ledger.next = t + 1
    ledger.queries += 1
    turn(ledger, t, 1)
    K, L = arms.shape[1], now.shape[1]
    until, moved = now[UNTIL], 0
    for lane in range(L):
        moved += 1 if t >= until[lane] else 0
        moved += 1 if rows[DATA_SEGMENT, lane] != rows[SEGMENT, lane] else 0
    if moved > 0:
        for lane in range(L):
            locate(lanes, lane, t)
            if rows[DATA_SEGMENT, lane] != rows[SEGMENT, lane]:
                fold(lanes, lane)
    since, top = now[SCRATCH], now[SCRATCH + 1]
    for lane in range(L):
        since[lane] = t - now[FROM, lane]
        top[lane] = now[TOP, lane] + now[TOP_SLOPE, lane] * since[lane]
    for lane in range(L):
        now[COUNT, lane] += 1.0
        now[NEWEST_COUNT, lane] += 1.0
        now[NEWEST_OFFSETS, lane] += since[lane]
    for lane in range(L):
        k = np.uint64(arm[lane])  # Unsigned: numba then need not check for negative indices.
        if k >= np.uint64(K):
            ledger.wrong += 1
            k = np.uint64(0)
        mean = arms[MEAN, k, lane] + arms[SLOPE, k, lane] * since[lane]
        sums[QUERY, lane] += top[lane] - mean
        reward[lane] = 1.0 if uniform(streams, lane) < mean else 0.0


@inlined
def idle(lanes, ledger, start, stop, weights):
    """Play rounds start..stop-1 without observing, as `confee.world.game.idle` does in each lane.

    `weights` has shape [K, L].
    """
    if stop > start:
        idle_streak(lanes, ledger, start, stop, weights)


@leaf
def idle_streak(lanes, ledger, start, stop, weights):
    """Play `idle` rounds, at least one. Loops that write to few arrays can be vectorised."""
    stop = begin_idle(lanes.world, ledger, start, stop)
    now, arms = lanes.now, lanes.arms
    K, L = arms.shape[1], now.shape[1]
    total, most_negative, proxy = now[SCRATCH], now[SCRATCH + 1], now[SCRATCH + 2]
    if not valid(weights, K, total, most_negative):
        ledger.wrong += 1
        return
    newest, offsets, until, count = now[NEWEST_COUNT], now[NEWEST_OFFSETS], now[UNTIL], now[COUNT]
    proxy[:] = 0.0
    for k in range(K):
        folded, mean, slope = arms[SUMS, k], arms[DATA_MEAN, k], arms[DATA_SLOPE, k]
        for i in range(L):
            sum_k = folded[i] + (newest[i] * mean[i] + offsets[i] * slope[i])
            proxy[i] = larger(sum_k, proxy[i])
    outside = 0
    for i in range(L):
        proxy[i] /= count[i]
    for i in range(L):
        outside += 1 if stop > until[i] else 0
    if outside == 0:
        idle_inside(lanes, start, stop, weights)
    else:
        for lane in range(L):
            idle_across(lanes, lane, start, stop, weights)


@leaf
def valid(weights, K, total, most_negative):
    """Return whether `weights` are valid for K arms; fill `total` [L] with their sums."""
    if weights.shape[0] != K:
        return False
    total[:], most_negative[:] = 0.0, 0.0
    for k in range(K):
        weight = weights[k]
        for i in range(total.shape[0]):
            total[i] += weight[i]
            most_negative[i] = larger(-weight[i], most_negative[i])
    invalid = 0
    for i in range(total.shape[0]):
        invalid += 0 if most_negative[i] <= 0.0 and 0.0 < total[i] < np.inf else 1
    return invalid == 0


@leaf
def idle_inside(lanes, start, stop, weights):
    """Play an idle streak that lies in one segment in every lane."""
    sums, now, arms = lanes.sums, lanes.now, lanes.arms
    L = now.shape[1]
    total, regret, drift = now[SCRATCH], now[SCRATCH + 1], now[SCRATCH + 2]
    first, best, best_slope = now[FROM], now[TOP], now[TOP_SLOPE]
    rounds, middle = stop - start, 0.5 * (start + stop - 1)
    regret[:] = 0.0
    for k in range(arms.shape[1]):
        weight, mean, slope = weights[k], arms[MEAN, k], arms[SLOPE, k]
        for i in range(L):
            since = middle - first[i]
            top = best[i] + best_slope[i] * since
            regret[i] += weight[i] * (top - (mean[i] + slope[i] * since))
    for i in range(L):
        regret[i] = rounds * (regret[i] / total[i])
    add(sums[IDLE], regret)
    if not now[COUNT, 0] > 0.0:  # the same in all lanes
        add(sums[NO_DATA], regret)
        return
    for i in range(L):  # `drift` holds the proxy P until here.
        top = best[i] + best_slope[i] * (middle - first[i])
        drift[i] = rounds * (top - drift[i])
    add(sums[DRIFT], drift)
    for i in range(L):
        regret[i] -= drift[i]
    add(sums[ERROR], regret)


@inlined
def add(total, more):
    """Add `more` [L] to `total` [L]."""
    for i in range(total.shape[0]):
        total[i] += more[i]


@leaf
def idle_across(lanes, i, start, stop, weights):
    """Play an idle streak of lane i, segment by segment."""
    sums, now, arms = lanes.sums, lanes.now, lanes.arms
    total, proxy = now[SCRATCH, i], now[SCRATCH + 2, i]
    while start < stop:
        locate(lanes, i, start)
        end = min(stop, int(now[UNTIL, i]))
        rounds = end - start
        since = 0.5 * (start + end - 1) - now[FROM, i]
        top = now[TOP, i] + now[TOP_SLOPE, i] * since
        gap = 0.0
        for k in range(arms.shape[1]):
            gap += weights[k, i] * (top - (arms[MEAN, k, i] + arms[SLOPE, k, i] * since))
        regret = rounds * (gap / total)
        sums[IDLE, i] += regret
        if now[COUNT, i] > 0.0:
            drift = rounds * (top - proxy)
            sums[DRIFT, i] += drift
            sums[ERROR, i] += regret - drift
        else:
            sums[NO_DATA, i] += regret
        start = end
