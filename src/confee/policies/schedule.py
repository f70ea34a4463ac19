"""The random schedule of one block: BaQue's (Algorithm 1, lines 1-9; the paper's block figure), and
MASTER's, from which it descends.

A block of order n has 2^n slots. Instance (m, s), s a multiple of 2^m, spans slots s to
s + 2^m - 1; a slot belongs to the finest started instance over it. Spans are nested or apart, so a
block is a short list of pieces: some 2^{n/2} of them, against 2^n slots.
"""

from __future__ import annotations

import math

import numpy as np

from confee.core.jit import njit
from confee.policies.change_tests import rho

# Columns of a block's pieces: the first slot, the slot after the last, the active instance.
FIRST, END, INSTANCE = range(3)


@njit
def square_roots(n):
    """2^{(m - n)/2} for m = 0..n: the chances with which BaQue starts instances (line 4)."""
    chances = np.empty(n + 1)
    for m in range(n + 1):
        chances[m] = 2.0 ** (0.5 * (m - n))
    return chances


@njit
def ratios(n, known):
    """rho(2^n) / rho(2^m) for m = 0..n: the chances with which MASTER does (its Algorithm 1)."""
    chances = np.empty(n + 1)
    for m in range(n + 1):
        chances[m] = rho(1 << n, known) / rho(1 << m, known)
    return chances


@njit
def draw_instances(n, rng):
    """BaQue's instances of a block of order n, see `draw_started`."""
    return draw_started(square_roots(n), rng)


@njit
def draw_started(chances, rng):
    """Starts each instance (m, s) of a block with probability chances[m], independently.

    Returns (orders, starts) sorted by start, the coarser first: the outer span before the inner.
    Skips over the instances that do not start, so the cost is that of those that do.
    """
    n = chances.shape[0] - 1
    size = 64
    keys = np.empty(size, dtype=np.int64)
    count = 0
    for m in range(n, -1, -1):
        chance = chances[m]
        slots = 1 << (n - m)
        s = -1
        while True:
            if chance < 1.0:
                skip = math.log(1.0 - rng.random()) / math.log1p(-chance)
                if skip >= slots - s - 1:
                    break
                s += 1 + int(skip)
            else:
                s += 1
            if s >= slots:
                break
            if count == size:
                keys = np.concatenate((keys, np.empty(size, dtype=np.int64)))
                size *= 2
            keys[count] = (s << m) * 64 + (63 - m)
            count += 1
    keys = np.sort(keys[:count])
    return 63 - keys % 64, keys // 64


@njit
def arrange(orders, starts):
    """The pieces of a block whose started instances are given as `draw_instances` returns them.

    Returns (pieces, quotas, closing): pieces [P, 3] are (first slot, end slot, instance) in order
    of time; quotas[i] counts the active slots of instance i, which is its number of baseline
    queries in a complete block ("Query batch": floor(|S| / b) for a union of whole slots; see
    `limit_quotas` for a block that T cuts); closing lists instances as their spans end.
    """
    count = orders.shape[0]
    pieces = np.empty((2 * count, 3), dtype=np.int64)
    quotas = np.zeros(count, dtype=np.int64)
    closing = np.empty(count, dtype=np.int64)
    stack = np.empty(64, dtype=np.int64)
    depth = made = closed = slot = 0
    for i in range(count + 1):
        reached = starts[i] if i < count else np.int64(1) << 62
        while depth > 0:
            inner = stack[depth - 1]
            end = starts[inner] + (np.int64(1) << orders[inner])
            until = min(end, reached)
            if slot < until:
                pieces[made, FIRST], pieces[made, END], pieces[made, INSTANCE] = slot, until, inner
                quotas[inner] += until - slot
                made += 1
                slot = until
            if end > reached:
                break
            closing[closed] = inner
            closed += 1
            depth -= 1
        if i < count:
            stack[depth] = i
            depth += 1
    return pieces[:made], quotas, closing


@njit
def limit_quotas(pieces, quotas, b, rounds):
    """Lower the quotas of a block that is cut after `rounds` rounds, in place.

    Instance i keeps max(1, floor(|S| / b)) queries, where S is its active rounds before the cut,
    and none if S is empty. A complete block keeps the quotas that `arrange` gave it.

    pieces, quotas: as `arrange` returns them. b: slot length.
    """
    last = pieces.shape[0] - 1
    if pieces[last, END] * b <= rounds:
        return
    quotas[:] = 0  # active rounds first
    for p in range(last + 1):
        start = pieces[p, FIRST] * b
        if start >= rounds:
            break
        quotas[pieces[p, INSTANCE]] += min(pieces[p, END] * b, rounds) - start
    for i in range(quotas.shape[0]):
        if quotas[i] > 0:
            quotas[i] = max(1, quotas[i] // b)
