"""Every query schedule of HyQue at a small size, by exhaustive enumeration.

Without restarts, rewards do not influence when HyQue queries. The rounds at which it queries depend
only on which instances start, so a small size has finitely many schedules. This module plays all of
them, in whole numbers, independently of the kernels in `confee.policies`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from math import ceil, floor

import numpy as np


@dataclass(frozen=True)
class Rules:
    """The rules of HyQue that mutants change.

    Parameters
    ----------
    slot : Fraction
        The slot length is the ceiling of `slot` times T / B; Algorithm 1 has 2.
    round_down : bool
        Round the slot length down instead of up.
    quota : str
        Active rounds that count towards a quota: "horizon" (rounds up to T) or "block".
    least : int
        Least quota of an instance with an active round; Algorithm 1 has 1.
    buffer : tuple of int
        Numerator and denominator of a factor on the on-demand buffer.
    """

    slot: Fraction = Fraction(2)
    round_down: bool = False
    quota: str = "horizon"
    least: int = 1
    buffer: tuple[int, int] = (1, 1)


AS_PRINTED = Rules()


@dataclass
class Outcome:
    """Extreme counts over all schedules of one size (T, B).

    Attributes
    ----------
    b : int
        Slot length.
    queries, conversions, baseline : int
        Largest number of each over all schedules.
    least_baseline : int
        Smallest number of baseline queries.
    plain : int
        Largest number of queries of a schedule without conversions, -1 if there is none.
    remaining : dict
        Round t of a conversion -> most baseline queries after t.
    schedules : int
        Number of schedules played; schedules that share the query rounds of a block count once.
    """

    b: int
    queries: int = 0
    conversions: int = 0
    baseline: int = 0
    least_baseline: int = 1 << 60
    plain: int = -1
    remaining: dict[int, int] = field(default_factory=dict)
    schedules: int = 0


def _subtree(order: int, start: int, outer: int) -> set[tuple[int, ...]]:
    """Return owners of 2^order slots from `start` on; `outer` owns slots without a finer owner."""
    patterns: set[tuple[int, ...]] = set()
    own = (order << 8) + start
    for owner in (outer, own):
        if order == 0:
            patterns.add((owner,))
            continue
        half = 1 << (order - 1)
        left = _subtree(order - 1, start, owner)
        right = _subtree(order - 1, start + half, owner)
        patterns |= {a + c for a in left for c in right}
    return patterns


@cache
def owners(order: int) -> np.ndarray:
    """Return who owns each slot of a block, for all sets of instances that may start.

    Returns
    -------
    ndarray of int, shape (patterns, 2^order)
        Column s holds the first slot that the owner of slot s owns, which names the owner.

    Raises
    ------
    ValueError
        If the order is above 3, because there are too many sets.
    """
    if order > 3:
        raise ValueError(f"a block of order {order} has too many schedules to play them all")
    half = 1 << order >> 1
    top = order << 8
    if order == 0:
        return np.zeros((1, 1), dtype=np.int64)
    rows = {a + c for a in _subtree(order - 1, 0, top) for c in _subtree(order - 1, half, top)}
    named = {tuple(row.index(owner) for owner in row) for row in rows}
    return np.array(sorted(named), dtype=np.int64)


def slot_length(T: int, B: int, rules: Rules = AS_PRINTED) -> int:
    """Return the slot length b = ceil(2T/B), as changed by `rules`."""
    length = rules.slot * T / B
    return floor(length) if rules.round_down else ceil(length)


def quotas(owner: np.ndarray, b: int, rounds: int, rules: Rules = AS_PRINTED) -> np.ndarray:
    """Return the quota of each owner in a block of which `rounds` rounds lie in [T].

    Returns
    -------
    ndarray of int, shape (patterns, slots)
        Entry s is the quota of the owner that is named s, 0 if there is none.
    """
    patterns, slots = owner.shape
    lengths = np.clip(rounds - b * np.arange(slots), 0, b)
    if rules.quota == "block":
        lengths = np.full(slots, b)
    active = np.zeros((patterns, slots), dtype=np.int64)
    for s in range(slots):
        np.add.at(active, (np.arange(patterns), owner[:, s]), lengths[s])
    return np.where(active > 0, np.maximum(rules.least, active // b), 0)


def behind(t: int, used: np.ndarray, T: int, B: int, n: int, rules: Rules) -> np.ndarray:
    """Return whether B' < tB/T - min{T / sqrt(B), 2^n, T - t}, decided in whole numbers."""
    up, down = rules.buffer
    lag = (t * B - used * T) * down  # (tB/T - B') times T and the buffer's denominator
    root = (lag > 0) & (lag * lag * B > (up * T * T) ** 2)
    return root | (lag > up * T * 2**n) | (lag > up * T * (T - t))


def play(T: int, B: int, rules: Rules = AS_PRINTED) -> Outcome:
    """Play every schedule of HyQue at T rounds and B queries, without restarts or a hard cap."""
    b = slot_length(T, B, rules)
    out = Outcome(b)
    used = np.zeros(1, dtype=np.int64)  # distinct numbers of queries when a block begins
    converted = np.zeros(1, dtype=bool)  # whether there was a conversion before
    before = t = n = 0
    waiting: list[tuple[int, int]] = []  # (round of a conversion, baseline left in its block)
    complete: list[int] = []  # baseline queries of the blocks so far
    while t < T:
        owner = owners(n)
        rounds = min(b << n, T - t)
        quota = quotas(owner, b, rounds, rules)
        total = quota.sum(axis=1)
        left = np.repeat(quota, len(used), axis=0)
        owner = np.repeat(owner, len(used), axis=0)
        had = np.tile(converted, len(total))
        now = np.tile(used, len(total))
        done = np.zeros(len(now), dtype=np.int64)
        rows = np.arange(len(now))
        here: dict[int, int] = {}
        for r in range(rounds):
            t += 1
            active = owner[:, r // b]
            scheduled = left[rows, active] > 0
            left[rows, active] -= scheduled
            turned = ~scheduled & behind(t, now, T, B, n, rules)
            now += scheduled | turned
            done += scheduled
            if turned.any():
                had |= turned
                here[t] = int((left.sum(axis=1))[turned].max())
        # Quotas of a block are spent within it, except by mutants that count rounds past T.
        waiting = [(round_, rest + int(total.max())) for round_, rest in waiting]
        waiting += list(here.items())
        complete.append(int(done.max()))
        out.schedules += len(total)
        before += int(done.min())
        states = np.unique(np.stack([now, had]), axis=1)
        if t >= T:
            earlier = sum(complete[:-1])
            out.queries = int(now.max())
            out.conversions = int((now - done).max()) - earlier
            out.baseline = earlier + int(done.max())
            out.least_baseline = before
            if not had.all():
                out.plain = int(now[~had].max())
            for round_, rest in waiting:
                out.remaining[round_] = max(out.remaining.get(round_, 0), rest)
        used, converted = states[0], states[1].astype(bool)
        n += 1
    return out
