"""Chances of long idle and query streaks in a complete block of BaQue, exact and between bounds.

A *streak* consists of consecutive rounds of one kind. A block of order n has 2^n slots of b
rounds (Algorithm 1). Order n always starts; each place of order m < n starts independently with
chance `rate(m)`, by default 2^{(m-n)/2}. A slot belongs to the finest started instance over it. An
instance with A slots of its own queries in its first A active rounds and is idle in the others.

All computations rest on two facts. Every started span begins with a query, so the idle streaks
inside it do not depend on earlier rounds. For b >= 2 every started span ends with an idle round, so
the query streaks inside it do not depend on later rounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from confee.core.jit import njit
from confee.paper import proofs, theory

Rate = Callable[[int], float]
"""The start chance of a place of order m < n."""

KINDS = ("idle", "query")
RATES = ("paper", "proof", "alone")
"""Names of start chances: 2^{(m-n)/2} (`paper`), the printed proof's 2^{(m-M)/2} in every block
(`proof`), and 0 below order n (`alone`)."""


def start_rates(rates: str, n: int, length: float) -> Rate:
    """Return the start chances that one of `RATES` names, in a block of order n.

    The proof's chances are for streaks of `length` rounds: M = floor(log2(length)).
    """
    if rates == "paper":
        return partial(proofs.start_rate, n)
    if rates == "proof":
        return partial(proofs.proof_rate, max(math.floor(math.log2(length)), 0))
    return lambda m: 0.0


# ------------------------------------------------------------------ exact chances


def idle_streak_exact(n: int, b: int, length: float, rate: Rate | None = None) -> float:
    """Return P(the longest idle streak has more than `length` rounds), exactly.

    Parameters
    ----------
    n : order of the block; time grows like 4^n * length, so n <= 11 takes seconds.
    b : rounds in a slot, at least 2.
    length : rounds, at least 0.
    rate : start chance by order; None for 2^{(m-n)/2}.

    Notes
    -----
    G_m(s) is the chance that the span of a started instance of order m has no longer streak and
    ends with s idle rounds. `_idle_spans` computes it from the finer orders. The result is exact up
    to rounding errors of about 1e-13.
    """
    return _exact("idle", n, b, length, rate)


def query_streak_exact(n: int, b: int, length: float, rate: Rate | None = None) -> float:
    """Return P(the longest query streak has more than `length` rounds), exactly.

    The parameters are those of `idle_streak_exact`. H_m(q) is the chance that the span of a started
    instance of order m has no longer streak and begins with q query rounds (see `_query_spans`).
    """
    return _exact("query", n, b, length, rate)


def _exact(kind: str, n: int, b: int, length: float, rate: Rate | None) -> float:
    if b < 2:
        raise ValueError(f"b={b}: must be at least 2")
    if length >= b * 2**n:
        return 0.0
    spans = _idle_spans if kind == "idle" else _query_spans
    kept = spans(n, b, math.floor(length), _chances(n, rate))
    return float(min(max(1.0 - kept[n].sum(), 0.0), 1.0))


def _chances(n: int, rate: Rate | None) -> np.ndarray:
    """Return the start chances of orders 0..n-1."""
    rate = rate or partial(proofs.start_rate, n)
    return np.array([rate(m) for m in range(n)], dtype=np.float64)


@njit
def _next_event(t, m, p, events):
    """Fill `events` with the chances of the events at slot t in a span of order m.

    events[j], j < m, is the chance that a child of order j starts at t and no coarser one. Return
    the chance that the slot is the instance's own. Coarser places over t that began before t have
    not started.
    """
    top = m - 1
    if t > 0:
        top = 0
        while t >> top & 1 == 0:
            top += 1
        top = min(top, m - 1)
    none = 1.0
    events[:] = 0.0
    for j in range(top, -1, -1):
        events[j] = none * p[j]
        none *= 1.0 - p[j]
    return none


@njit
def _idle_spans(n, b, most, p):
    """Return G [n+1, most+1]: chances of no streak over `most` and s idle rounds at the end.

    A span of order m is walked slot by slot. `batch[t, u]`: at slot t, u own slots are used and the
    query batch goes on. `over[v, s]`: the batch is over, v own slots remain, s idle rounds just
    passed. The batch's length is the number A of own slots, known only at the end: each A branches
    off in the own slot in which its batch ends, with v = A - u - 1, and must reach v = 0.
    """
    G = np.zeros((n + 1, most + 1))
    for m in range(n + 1):
        size = 1 << m
        own = np.zeros(size + 1)
        events = np.zeros((size + 1, max(m, 1)))
        for t in range(size):
            own[t] = _next_event(t, m, p, events[t])
        widest = (size - 1) // b + 1  # A batch goes on after at most this many own slots.
        batch = np.zeros((size + 1, widest + 1))
        mass = np.zeros((size + 1, size + 1))
        over = np.zeros((size + 1, most + 1))
        after = np.zeros((size + 1, most + 1))
        batch[0, 0] = 1.0
        for t in range(1, size + 1):
            left = size - t
            after[:, :] = 0.0
            for v in range(left + 1):  # An own slot whose rounds are all idle.
                for s in range(most + 1 - b):
                    after[v, s + b] = own[t - 1] * over[v + 1, s]
            for u in range(widest):  # An own slot whose first rounds are queries.
                chance = own[t - 1] * batch[t - 1, u]
                if chance > 0.0:
                    batch[t, u + 1] += chance
                    for r in range(1, b + 1):
                        v = u * b + r - u - 1
                        if v <= left and b - r <= most:
                            after[v, b - r] += chance
            j = 0
            while j < m and t & ((1 << j) - 1) == 0:  # A child ends here.
                first = t - (1 << j)
                started = events[first, j]
                if started > 0.0:
                    passed = started * G[j].sum()
                    for u in range(widest + 1):
                        batch[t, u] += passed * batch[first, u]
                    for v in range(left + 1):
                        chance = started * mass[first, v]
                        if chance > 0.0:
                            after[v] += chance * G[j]
                    if left == 0:
                        G[m] += started * batch[first, 0] * G[j]  # The instance has no own slot.
                j += 1
            for v in range(left + 1):
                mass[t, v] = after[v].sum()
            over, after = after, over
        G[m] += over[0]
    return G


@njit
def _query_spans(n, b, most, p):
    """Return H [n+1, most+1]: chances of no streak over `most` and q query rounds at the start.

    Backwards over the slots of a span of order m, values are chances to see no longer streak from
    slot t on. `over[t, v]`: the batch is over, v own slots remain, the last round was idle.
    `batch[t, u]`: u own slots are used, the batch goes on, a child has just ended. `now[u, k]`: the
    same after k own slots in a row, that is k b queries. A batch that ends with its slot leaves a
    streak to a child that starts next (`_continued`).
    """
    H = np.zeros((n + 1, most + 1))
    reach = np.zeros((n + 1, most + 2))  # reach[j, s]: an order-j child after s queries passes
    slots = most // b
    for m in range(n + 1):
        size = 1 << m
        own = np.zeros(size + 1)
        events = np.zeros((size + 1, max(m, 1)))
        for t in range(size):
            own[t] = _next_event(t, m, p, events[t])
        widest = (size - 1) // b + 1
        over = np.zeros((size + 1, size + 2))
        batch = np.zeros((size + 1, widest + 2))
        now = np.zeros((widest + 2, slots + 2))
        then = np.zeros((widest + 2, slots + 2))
        sums = np.zeros(size + 3)
        over[size, 0] = 1.0
        batch[size, 0] = 1.0  # The instance has no own slot.
        now[0, 0] = 1.0
        for t in range(size - 1, -1, -1):
            now, then = then, now
            now[:, :] = 0.0
            sums[0] = 0.0
            for v in range(size + 2):
                sums[v + 1] = sums[v] + over[t + 1, v]
            for v in range(size - t + 1):
                value = own[t] * over[t + 1, v - 1] if v > 0 else 0.0
                for j in range(m):
                    if events[t, j] > 0.0:
                        value += events[t, j] * reach[j, 0] * over[t + (1 << j), v]
                over[t, v] = value
            for u in range(min(widest, t + 1)):
                for k in range(min(slots, u) + 1):
                    more = min(b - 1, most - k * b)  # The most queries of the batch in this slot.
                    first = min(u * b - u, size + 2)
                    value = sums[min(first + more, size + 2)] - sums[first]
                    if (k + 1) * b <= most:
                        value += then[u + 1, k + 1]
                        value += _continued(t + 1, u + 1, k + 1, m, b, own, events, reach, over)
                    value *= own[t]
                    for j in range(m):
                        if events[t, j] > 0.0:
                            value += events[t, j] * reach[j, k * b] * batch[t + (1 << j), u]
                    now[u, k] = value
                batch[t, u] = now[u, 0]
        pure = 1.0  # The chance that all slots before t are the instance's own.
        for t in range(size):
            if t * b > most:
                break
            for j in range(m):
                if events[t, j] > 0.0 and t <= widest:
                    value = pure * events[t, j] * batch[t + (1 << j), t]
                    for q in range(1, most - t * b + 1):
                        H[m, t * b + q] += value * H[j, q]
            pure *= own[t]
            for r in range(1, min(b - 1, most - t * b) + 1):
                v = t * b + r - t - 1
                if v <= size:
                    H[m, t * b + r] += pure * over[t + 1, v]
            v, begun = (b - 1) * (t + 1), (t + 1) * b  # The batch ends with slot t.
            if begun <= most and v <= size - t - 1:
                H[m, begun] += pure * own[t + 1] * over[t + 2, v - 1]
                for j in range(m):
                    if events[t + 1, j] > 0.0:
                        value = pure * events[t + 1, j] * over[t + 1 + (1 << j), v]
                        for q in range(1, most - begun + 1):
                            H[m, begun + q] += value * H[j, q]
        for s in range(most + 1):
            reach[m, s] = H[m, : most - s + 1].sum()
    return H


@njit
def _continued(t, u, k, m, b, own, events, reach, over):
    """Return the value at slot t after k own slots in a row, if the batch ended with the u-th."""
    v = (b - 1) * u
    if v > over.shape[0] - 1 - t:
        return 0.0
    value = own[t] * over[t + 1, v - 1]
    for j in range(m):
        if events[t, j] > 0.0:
            value += events[t, j] * reach[j, k * b] * over[t + (1 << j), v]
    return value


# ------------------------------------------------------------------ upper bounds


def idle_streak_upper(n: int, b: int, length: float, rate: Rate | None = None) -> float:
    """Return an upper bound of P(the longest idle streak has more than `length` rounds).

    Notes
    -----
    A slot in which an instance begins starts with a query. So an idle streak lies between two such
    slots i < i' (or the block's end), and has at most (i' - i) b - 1 rounds. For more than `length`
    the w = ceil((L + 1)/b) - 1 slots after i, L = floor(length) + 1, hold no beginning. Union over
    i: the chance that an instance begins in slot i times the chance that none begins in the next w
    slots, at least floor(w/2^m) of them places of order m. A block that T cuts has fewer slots, and
    its instances begin with a query as well, so the bound covers it too.
    """
    rate = rate or partial(proofs.start_rate, n)
    w = -(-(math.floor(length) + 2) // b) - 1
    if w >= 2**n:
        return 0.0
    none = 0.0
    for m in range(n):
        if w >> m:
            none += (w >> m) * _log_not(rate(m))
    if none == -math.inf:
        return 0.0
    begun, quiet = 1.0, 0.0  # Slot 0, then slots whose number is an odd multiple of 2^j.
    for j in range(n):
        quiet += _log_not(rate(j))
        begun += 2.0 ** (n - j - 1) * -math.expm1(quiet)
    return min(math.exp(min(none + math.log(begun), 0.0)), 1.0)


def query_streak_upper(n: int, b: int, length: float, rate: Rate | None = None) -> float:
    """Return an upper bound of P(the longest query streak has more than `length` rounds).

    Notes
    -----
    A query streak begins with a slot i in which an instance begins, or resumes because a started
    span has just ended. The streak fills slots i, ..., i + w - 1, w = floor((L + 1)/b), L =
    floor(length), and no started span ends in them, since each ends with an idle round. Union over
    i: the chance that a span ends before i, or that a span longer than w slots begins with i, times
    the chance of no started span among the w slots. They hold floor(w/2^m) places of order m if i
    is a multiple of 2^m, else at least floor((w + 1)/2^m) - 1.
    """
    rate = rate or partial(proofs.start_rate, n)
    if length >= b * 2**n:
        return 0.0
    w = (math.floor(length) + 1) // b
    log_not = [_log_not(rate(m)) for m in range(n)] + [-math.inf]
    total = 0.0
    for z in range(n + 1):  # Slots that are an odd multiple of 2^z, then slot 0.
        quiet = 0.0
        for m in range(n + 1):
            count = w >> m if m <= z else max(((w + 1) >> m) - 1, 0)
            if count:
                quiet += count * log_not[m]
        if z == n:
            total += math.exp(quiet)
        else:
            ends = -math.expm1(sum(log_not[: z + 1]))
            begins = -math.expm1(sum(log_not[m] for m in range(z + 1) if 2**m > w))
            total += 2.0 ** (n - z - 1) * (ends + begins) * math.exp(quiet)
    return min(total, 1.0)


# ------------------------------------------------------------------ lower bounds

CELLS = 10
"""A started span is cut into at most 2^CELLS cells."""


def idle_streak_lower(n: int, b: int, length: float, rate: Rate | None = None) -> float:
    """Return a lower bound of P(the longest idle streak has more than `length` rounds).

    Notes
    -----
    Y_m is an upper bound of the chance that the span of a started instance of order m has no such
    streak, and 1 - Y_n is returned. Y_m is the smallest of these bounds:

    (a) 1 - P(no finer start over the first f slots), f = floor((L + 2^m - 1)/b) + 1, where
        L = floor(length) + 1. The instance then has f b active rounds in a row from its start, at
        most 2^m of them are queries, and they come first.
    (b) Cut the span into cells of 2^k slots. A cell is *uncovered* if no instance of order k..m-1
        has started over it; the others lie in spans of started children, to which Y_k..Y_{m-1}
        apply. All these parts are independent. Let N be the number of uncovered cells: its law,
        weighted with the chance that no child has a long streak, is a polynomial that doubles from
        order to order (`_cells`). In an uncovered cell a *window*, w = ceil(L/b) slots in a row,
        belongs to the instance with chance `free`; on average a share `covered` of the cell's slots
        does not. The instance has at most N 2^k slots. So once it has had N 2^k/b slots, the batch
        is over, and a window in a later cell is a long streak. The first N' uncovered cells hold
        that many unless more than theta = 1 - N/(b N') of their slots are covered, which has chance
        at most exp(-N' KL(theta, covered)) by Hoeffding's inequality for independent shares. Given
        N, the chance of no long streak is therefore at most this bound plus (1 - free)^{N - N'}, at
        the best N'.
    """
    w = -(-(math.floor(length) + 1) // b)
    return _lower(n, b, math.floor(length) + 1, w, rate, _idle_misses, head=True)


def query_streak_lower(n: int, b: int, length: float, rate: Rate | None = None) -> float:
    """Return a lower bound of P(the longest query streak has more than `length` rounds).

    Notes
    -----
    The bound is that of (b) in `idle_streak_lower`, with windows in the query batch. The batch has
    as many rounds as the instance has slots: at least (1 - theta) N 2^k, except with chance
    exp(-N KL(theta, covered)). So floor((1 - theta) N/b) uncovered cells pass before it is over,
    and a window in one of them is a long query streak.
    """
    w = -(-(math.floor(length) + 1) // b)
    return _lower(n, b, math.floor(length) + 1, w, rate, _query_misses, head=False)


Misses = Callable[[np.ndarray, int, float, float], np.ndarray]


def _lower(
    n: int, b: int, longer: int, w: int, rate: Rate | None, misses: Misses, head: bool
) -> float:
    p = _chances(n, rate)
    least = max((w - 1).bit_length(), 0)  # The order of the smallest cells that hold a window.
    if least >= n:
        return 0.0 if not head else 1.0 - _headless(n, b, longer, p)
    windows = _windows(w, least, p)
    none = [1.0] * (n + 1)
    cells: dict[int, np.ndarray] = {}
    for m in range(n + 1):
        if head:
            none[m] = _headless(m, b, longer, p)
        for k, law in cells.items():
            if m - k <= CELLS:
                both = _squared(law)
                free, covered = windows[k]
                missed = misses(np.arange(len(both)), b, free, covered)
                none[m] = min(none[m], float(both @ missed) + ROUNDING)
        if m == n:
            break
        for k in [k for k in cells if m - k >= CELLS]:
            del cells[k]
        for k, law in cells.items():
            cells[k] = (1 - p[m]) * _squared(law)
            cells[k][0] += p[m] * none[m]
        if m >= least:
            cells[m] = np.array([p[m] * none[m], 1 - p[m]])
    return max(1.0 - none[n], 0.0)


def _squared(law: np.ndarray) -> np.ndarray:
    """Return the law of two independent halves: the product of their polynomials."""
    return np.convolve(law, law)


def _headless(m: int, b: int, longer: int, p: np.ndarray) -> float:
    """Return the chance that a finer start is over the first slots: (a) of `idle_streak_lower`."""
    f = -(-(longer + 2**m) // b)
    if f > 2**m:
        return 1.0
    quiet = sum(-(-f // 2**i) * _log_not(p[i]) for i in range(m))
    return -math.expm1(quiet)


def _windows(w: int, least: int, p: np.ndarray) -> dict[int, tuple[float, float]]:
    """Return, by order k, (free, covered) of an uncovered cell; see `idle_streak_lower`.

    A window is sought among whole *units* of 2^(least - 5) slots. `law[a, c]` is the chance that a
    place has no window, and a free units at its start and c at its end. Places of more than 2^7
    units are searched half by half.
    """
    e = max(least - 5, 0)
    units = -(-w // 2**e)
    unit = math.exp(sum(2 ** (e - i) * _log_not(p[i]) for i in range(e)))
    law = np.diag([1 - unit, unit if units > 1 else 0.0])
    missed, cells = law.sum(), {}
    for k in range(e, len(p)):
        if k > e and len(law) <= 2**7:
            law = _joined(law, units)
            missed = law.sum()
        elif k > e:
            missed = missed * missed
        if k >= least:
            cells[k] = 1 - missed, -math.expm1(sum(_log_not(p[i]) for i in range(k)))
        law = (1 - p[k]) * law
        law[0, 0] += p[k]
        missed = p[k] + (1 - p[k]) * missed
    return cells


def _joined(law: np.ndarray, units: int) -> np.ndarray:
    """Return the law of two adjacent independent places, without those that have a window."""
    size = len(law) - 1
    index = np.arange(size + 1)
    apart = (index[:, None] + index < units).astype(np.float64)  # No window spans both places.
    full, law = law[size, size], law.copy()
    law[size, size] = 0.0
    both = np.zeros((2 * size + 1, 2 * size + 1))
    both[: size + 1, : size + 1] = law @ apart @ law
    short = (size + index < units).astype(np.float64)
    both[size:, : size + 1] += full * short[:, None] * law
    both[: size + 1, size:] += full * short * law
    if 2 * size < units:
        both[2 * size, 2 * size] = full * full
    return both


SHARES = np.geomspace(1e-3, 1, 60)
"""Values tried for the free parameter of a bound. Each of them gives a valid bound."""


def _idle_misses(cells: np.ndarray, b: int, free: float, covered: float) -> np.ndarray:
    """Return bounds of P(no window after the batch), by the number of uncovered cells."""
    N = cells[:, None].astype(np.float64)
    first = np.ceil(N * (1 / b + (1 - 1 / b) * SHARES))
    theta = 1 - N / (b * np.maximum(first, 1))
    missed = _tail(first, theta, covered) + _none_of(N - first, free)
    return np.minimum(missed.min(axis=1), 1.0)


def _query_misses(cells: np.ndarray, b: int, free: float, covered: float) -> np.ndarray:
    """Return bounds of P(no window before the batch is over), by the number of uncovered cells."""
    N = cells[:, None].astype(np.float64)
    theta = covered + (1 - covered) * SHARES
    first = np.floor((1 - theta) * N / b)
    missed = _tail(N, theta, covered) + _none_of(first, free)
    return np.minimum(missed.min(axis=1), 1.0)


def _tail(count: np.ndarray, theta: np.ndarray, mean: float) -> np.ndarray:
    """Return Hoeffding's exp(-count KL(theta, mean)) where theta > mean, else 1."""
    inside = np.clip(theta, 1e-300, 1.0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        divergence = inside * np.log(inside / mean) if mean > 0 else np.full_like(inside, np.inf)
        rest = np.where(theta < 1, (1 - inside) * np.log((1 - inside) / (1 - mean)), 0.0)
        tail = np.exp(-count * (divergence + rest))
    return np.where((theta > mean) & (count > 0), tail, 1.0)


def _none_of(count: np.ndarray, chance: float) -> np.ndarray:
    """Return (1 - chance)^count."""
    if chance >= 1:
        return np.where(count > 0, 0.0, 1.0)
    return np.exp(count * math.log1p(-chance))


def _log_not(chance: float) -> float:
    """Return ln(1 - chance)."""
    return -math.inf if chance >= 1 else math.log1p(-chance)


# ------------------------------------------------------------------ as functions of T and B

WORK = 2**29
"""A chance is computed exactly if 4^n * length is at most this, which takes about a second."""


ROUNDING = 1e-12
"""A bound on the rounding error of an exact chance."""


class Chance(NamedTuple):
    """A probability between certified bounds, equal where it was computed exactly."""

    low: float
    high: float

    @property
    def exact(self) -> bool:
        return self.low == self.high


@lru_cache(maxsize=4096)
def streak_chance(
    kind: str,
    T: int,
    B: int,
    factor: float = 1.0,
    alpha: float = 0.5,
    order: int | None = None,
    rates: str = "paper",
    work: float = WORK,
) -> Chance:
    """Return P(the longest streak of a complete block has more than factor T B^-alpha rounds).

    Parameters
    ----------
    kind : `idle` or `query`.
    order : the block's; None for the largest that is complete at T.
    rates : one of `RATES`.
    work : largest 4^n * length to compute it exactly; 0 for bounds alone.
    """
    b = theory.slot_length(T, B)
    n = proofs.largest_order(T, B) if order is None else order
    length = factor * proofs.run_length(T, B, alpha)
    rate = start_rates(rates, n, proofs.run_length(T, B, alpha))
    if length >= b * 2**n:
        return Chance(0.0, 0.0)
    if 4.0**n * (length + 1) <= work:
        exact = (idle_streak_exact if kind == "idle" else query_streak_exact)(n, b, length, rate)
        if exact < 1000 * ROUNDING:
            return Chance(max(exact - ROUNDING, 0.0), exact + ROUNDING)
        return Chance(exact, exact)
    if kind == "idle":
        low, high = idle_streak_lower(n, b, length, rate), idle_streak_upper(n, b, length, rate)
    else:
        low, high = query_streak_lower(n, b, length, rate), query_streak_upper(n, b, length, rate)
    return Chance(min(low, high), high)
