"""The random instances of a block: of BaQue (Algorithm 1, lines 1-9; the paper's figure of a block)
and of MASTER (Wei and Luo 2021, Algorithm 1), from which BaQue's derive.

A block of order n has 2^n slots. Instance (m, s), with s a multiple of 2^m, spans the slots s to
s + 2^m - 1. A slot belongs to the shortest started instance that spans it. Two spans are nested or
disjoint, so a block is a short list of pieces: about 2^{n/2} of them for 2^n slots.
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
    """Return 2^{(m - n)/2} for m = 0..n, the chances that BaQue starts an instance (line 4)."""
    chances = np.empty(n + 1)
    for m in range(n + 1):
        chances[m] = 2.0 ** (0.5 * (m - n))
    return chances


@njit
def ratios(n, known):
    """Return rho(2^n) / rho(2^m) for m = 0..n, the chances that MASTER starts an instance."""
    chances = np.empty(n + 1)
    for m in range(n + 1):
        chances[m] = rho(1 << n, known) / rho(1 << m, known)
    return chances


@njit
def draw_instances(n, rng):
    """Draw BaQue's instances of a block of order n, as `draw_started` returns them."""
    return draw_started(square_roots(n), rng)


@njit
def draw_started(chances, rng):
    """Start each instance (m, s) of a block with probability chances[m], independently.

    The instances that do not start are skipped by geometric draws, so they cost nothing.

    Returns
    -------
    orders, starts
        m and s of the started instances, sorted by start and then from long to short: an outer
        span comes before the inner ones.
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
                skipped = math.log(1.0 - rng.random()) / math.log1p(-chance)
                if skipped >= slots - s - 1:
                    break
                s += 1 + int(skipped)
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
    """Divide a block into pieces, in each of which one instance is active.

    Parameters
    ----------
    orders, starts
        The started instances, as `draw_started` returns them.

    Returns
    -------
    pieces
        [P, 3], in order of time: first slot, slot after the last, active instance.
    quotas
        The number of active slots of each instance. In a complete block that is its number of
        baseline queries ("Query batch": floor(|S| / b)); see `limit_quotas` for one that T cuts.
    closing
        The instances in the order in which their spans end.
    """
    count = orders.shape[0]
    pieces = np.empty((2 * count, 3), dtype=np.int64)
    quotas = np.zeros(count, dtype=np.int64)
    closing = np.empty(count, dtype=np.int64)
    stack = np.empty(64, dtype=np.int64)
    depth = filled = closed = slot = 0
    for i in range(count + 1):
        reached = starts[i] if i < count else np.int64(1) << 62
        while depth > 0:
            inner = stack[depth - 1]
            end = starts[inner] + (np.int64(1) << orders[inner])
            until = min(end, reached)
            if slot < until:
                piece = pieces[filled]
                piece[FIRST], piece[END], piece[INSTANCE] = slot, until, inner
                quotas[inner] += until - slot
                filled += 1
                slot = until
            if end > reached:
                break
            closing[closed] = inner
            closed += 1
            depth -= 1
        if i < count:
            stack[depth] = i
            depth += 1
    return pieces[:filled], quotas, closing


@njit
def limit_quotas(pieces, quotas, b, rounds):
    """Lower the quotas of a block that ends after `rounds` rounds, in place.

    An instance keeps max(1, floor(|S| / b)) queries, where S is its active rounds before the cut,
    and none if S is empty. A complete block keeps the quotas that `arrange` gave it.

    Parameters
    ----------
    pieces, quotas
        As `arrange` returns them.
    b
        The slot length, in rounds.
    rounds
        The number of rounds from the start of the block to T.
    """
    last = pieces.shape[0] - 1
    if pieces[last, END] * b <= rounds:
        return
    quotas[:] = 0  # First count active rounds, then divide by b.
    for p in range(last + 1):
        start = pieces[p, FIRST] * b
        if start >= rounds:
            break
        quotas[pieces[p, INSTANCE]] += min(pieces[p, END] * b, rounds) - start
    for i in range(quotas.shape[0]):
        if quotas[i] > 0:
            quotas[i] = max(1, quotas[i] // b)
