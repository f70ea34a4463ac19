"""Drawn blocks of BaQue without a bandit: longest runs, and the query density where one is cut.

The schedule alone decides which rounds are queries: an instance queries in its first `quota` active
rounds, and is idle in the others (Algorithm 1; no on-demand queries). A run lies in one block. In a
block that T cuts, quotas count the rounds up to T, as the policies do (`quota: horizon`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from confee.core.canonical import stream
from confee.core.jit import njit
from confee.paper import proofs, theory
from confee.policies.blocks import arrange, draw_started, limit_quotas, square_roots
from confee.simulation.studies.base import Rows, Study

ALPHAS = (0.25, 0.5, 0.75)
"""Runs over T B^{-alpha} rounds are counted for these."""

RATES = ("paper", "proof", "alone")
"""Start rates: 2^{(m-n)/2}; the proof's 2^{(m-M)/2}, whatever n; order n and nothing else."""

IDLE, QUERY, CUT_BELOW, CUT_ABOVE, QUERIES = range(5)


def run(
    T: int,
    B: int,
    exponent: float,
    draws: int,
    work: int,
    rates: str = "paper",
    quota: int = 1,
    low: int = 0,
    high: int = 62,
    chances: Sequence[Sequence[float]] | None = None,
) -> Rows:
    """One row a block order, for those that begin by round T and lie in low..high.

    exponent: a label, B is about T^exponent. draws: blocks drawn of an order, fewer where they
    start more than `work` instances together. quota: queries of an instance per active slot.
    chances: of another base algorithm, that of order m in a block of order n at [n][m]; `rates` is
    its label then.
    """
    parameters = {
        "T": T,
        "B": B,
        "exponent": exponent,
        "draws": draws,
        "work": work,
        "rates": rates,
        "quota": quota,
        "low": low,
        "high": high,
    }
    own = {} if chances is None else {"chances": [list(some) for some in chances]}
    rng = stream("study", "schedules", parameters | own)
    last, _ = theory.last_block(T, B)
    rows = []
    for n in range(low, min(high, last) + 1):
        if chances is None:
            tile, keep = _reading(n, T, B, rates)
            starts = square_roots(tile)
        else:
            tile, keep, starts = n, 1.0, np.array(chances[n], dtype=np.float64)
        how = tile, keep, starts, quota
        rows.append(parameters | _order(n, T, B, draws, work, how, rng))
    return rows


STUDY = Study("schedules", run, {"T": 64, "B": 16, "exponent": 0.7, "draws": 1, "work": 100})


def _order(n, T, B, draws, work, how, rng) -> dict[str, Any]:
    """Draws blocks of order n: counts of long runs, and of phases outside [B/2T, B/T)."""
    tile, keep, starts, quota = how
    b = theory.slot_length(T, B)
    full = b * 2**n
    rounds = min(full, T - b * (2**n - 1))
    count = max(1, min(draws, work // _instances(n, tile, keep, starts)))
    found, densities = draw_blocks(n, b, rounds, T, B, tile, keep, starts, quota, count, rng)
    idle, queries = found[:, IDLE], found[:, QUERY]
    row: dict[str, Any] = {
        "order": n,
        "b": b,
        "rounds": rounds,
        "complete": int(rounds == full),
        "drawn": count,
        "idle_mean": float(idle.mean()),
        "idle_max": int(idle.max()),
        "query_mean": float(queries.mean()),
        "query_max": int(queries.max()),
    }
    for alpha in ALPHAS:
        length = proofs.run_length(T, B, alpha)
        row[f"idle_over_{alpha}"] = int((idle > length).sum())
        row[f"query_over_{alpha}"] = int((queries > length).sum())
    asked, played = found[:, QUERIES] + quota * (2**n - 1), b * (2**n - 1) + rounds
    return row | {
        "cut_below": int(found[:, CUT_BELOW].sum()),
        "cut_above": int(found[:, CUT_ABOVE].sum()),
        "cut_least": float(densities[:, 0].min()),
        "cut_most": float(densities[:, 1].max()),
        "end_below": int((2 * T * asked < B * played).sum()),
        "end_above": int((T * asked >= B * played).sum()),
        "end_off": int((asked * b != quota * played).sum()),
    }


def _reading(n: int, T: int, B: int, rates: str) -> tuple[int, float]:
    """(order of the tiles, chance to keep an instance below them) that give the rates.

    Where order M <= n starts for sure, the block is tiles of order M; where M > n, thinning by
    2^{(n-M)/2} makes 2^{(m-n)/2} into 2^{(m-M)/2}.
    """
    if rates == "proof":
        M = proofs.proof_order(T, B)
        return min(n, M), proofs.start_rate(M, min(n, M))
    return n, {"paper": 1.0, "alone": 0.0}[rates]


def _instances(n: int, tile: int, keep: float, starts: np.ndarray) -> int:
    """About how many instances a block starts."""
    finer = sum(float(starts[m]) * 2 ** (tile - m) for m in range(tile))
    return math.ceil(2 ** (n - tile) * (1 + (keep > 0) * finer))


@njit
def draw_blocks(n, b, rounds, T, B, tile, keep, starts, quota, draws, rng):
    """Draws `draws` blocks of order n, cut after `rounds` rounds. starts: chances in a tile.

    Returns [draws, 5] of IDLE and QUERY (longest runs), CUT_BELOW and CUT_ABOVE (whether a phase
    that ends right after some query of this block has a density below B/2T, or not below B/T),
    QUERIES; and [draws, 2] of the least and largest such density over B/T. A phase is blocks
    0 .. n-1 and this one.
    """
    found = np.zeros((draws, 5), dtype=np.int64)
    densities = np.empty((draws, 2))
    for i in range(draws):
        densities[i] = scan(n, b, rounds, T, B, tile, keep, starts, quota, rng, found[i])
    return found, densities


@njit
def scan(n, b, rounds, T, B, tile, keep, starts, quota, rng, found):
    """Draws one block into `found`; returns the least and largest density of a cut, over B/T.

    Inside a query batch the density rises, so its first and its last query are the extremes.
    """
    before = quota * ((1 << n) - 1)  # queries and rounds of the phase's complete blocks
    earlier = b * ((1 << n) - 1)
    least, most = np.inf, -np.inf
    t = used = idle = query = 0  # rounds and queries of this block, and the runs that reach t
    for first in range(0, 1 << n, 1 << tile):
        if first * b >= rounds:
            break
        pieces, left = draw_tile(tile, keep, starts, rng)
        limit_quotas(pieces, left, b, rounds - first * b)
        left *= quota
        for p in range(pieces.shape[0]):
            stop = min((first + pieces[p, 1]) * b, rounds)
            batch = min(left[pieces[p, 2]], stop - t)
            if batch > 0:
                left[pieces[p, 2]] -= batch
                for made in (1, batch):
                    asked, played = before + used + made, earlier + t + made
                    if n > 0:  # no restart in block 0
                        least = min(least, asked / played)
                        most = max(most, asked / played)
                        if 2 * T * asked < B * played:
                            found[CUT_BELOW] = 1
                        if T * asked >= B * played:
                            found[CUT_ABOVE] = 1
                idle = 0
                query += batch
                found[QUERY] = max(found[QUERY], query)
                used += batch
                t += batch
            if t < stop:
                query = 0
                idle += stop - t
                found[IDLE] = max(found[IDLE], idle)
                t = stop
            if t == rounds:
                break
    found[QUERIES] = used
    return least * T / B, most * T / B


@njit
def draw_tile(n, keep, chances, rng):
    """(pieces, quotas) of a block of order n whose instances below order n are kept by chance."""
    if keep == 0.0:
        orders, starts = np.full(1, n), np.zeros(1, dtype=np.int64)
    else:
        orders, starts = draw_started(chances, rng)
    if 0.0 < keep < 1.0:
        kept = np.ones(orders.shape[0], dtype=np.bool_)
        for i in range(1, orders.shape[0]):
            kept[i] = rng.random() < keep
        orders, starts = orders[kept], starts[kept]
    pieces, quotas, _ = arrange(orders, starts)
    return pieces, quotas
