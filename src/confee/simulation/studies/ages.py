"""How old the play frequencies are that idle rounds use, from drawn blocks without a bandit.

An idle round plays the frequencies of its active instance. Their age is the round minus the mean
round of that instance's queries so far. `baque` queries on schedule only; `hyque` also on demand,
for which all blocks from round 1 on are played, without restart. In a block that T cuts, quotas
count the rounds up to T, as the policies do (`quota: horizon`).

Staleness: let every query see the arm that is best then, and let that arm change for good (never
back to one that was best before) at given fractions of the block. An idle round after a change is
stale by the share of its instance's queries so far that were made before the latest change; query
rounds, and rounds before the first change, are not stale. So rounds * stale * gap is the regret of
a policy that learns perfectly and at once from what its instance has queried.

Two controls face the same changes, exactly. `outdated` counts the rounds whose instance began
before the latest change: a share that does not depend on B. `windowed` is the staleness of a policy
that spreads its queries evenly and plays the frequencies of the latest few: it falls as the window
does.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from confee.core.canonical import canonical, stream
from confee.core.jit import njit
from confee.paper import proofs, theory
from confee.policies.blocks import arrange, draw_instances, limit_quotas
from confee.policies.hyque import demand
from confee.simulation.studies.base import Rows, Study

BINS = 400
"""Of the ages of an order over the block length, for their quantiles."""

QUANTILES = (0.1, 0.5, 0.9)
POLICIES = ("baque", "hyque")
NEVER = 1 << 62


def run(
    T: int,
    B: int,
    order: int,
    draws: int,
    paths: Sequence[Sequence[float]] = ((0.5,),),
    policy: str = "baque",
    windows: Sequence[int] = (),
) -> Rows:
    """Return rows of kind `age`, one for each order of the active instance, and of kind `stale`.

    Parameters
    ----------
    T, B
        Rounds and queries.
    order
        Of the block, which is cut at T.
    draws
        How many schedules are drawn.
    paths
        For each path the increasing fractions of the block at which the best arm changes.
    policy
        `baque` or `hyque`.
    windows
        For each path the queries in the window of `windowed`; none: no such column.

    `expected` is the share of idle rounds of baque in a complete block.
    """
    parameters = {
        "T": T,
        "B": B,
        "order": order,
        "draws": draws,
        "paths": [list(path) for path in paths],
        "policy": policy,
        "windows": list(windows),
    }
    rng = stream("study", "ages", parameters)
    b = theory.slot_length(T, B)
    full = b * 2**order
    rounds = min(full, T - b * (2**order - 1))
    changes = np.full((len(paths), max(len(path) for path in paths) + 1), NEVER)
    for i, path in enumerate(paths):
        changes[i, : len(path)] = [math.floor(f * full) for f in path]
    on_demand = {"baque": False, "hyque": True}[policy]
    idle, ages, bins, stale = play_blocks(order, b, rounds, T, B, on_demand, changes, draws, rng)

    shared = {name: parameters[name] for name in ("T", "B", "policy", "order")}
    shared |= {"b": b, "rounds": rounds, "complete": int(rounds == full), "drawn": draws}
    rows = []
    for m in range(order + 1):
        rows.append(
            shared
            | {"kind": "age", "m": m, "j": order - m, "full": full}
            | _age(idle[:, m] / rounds, ages[:, m], bins[m], rounds, full)
            | {"expected": proofs.active_share(order, m) * (1 - 1 / b)}
        )
    for i, (path, share) in enumerate(zip(paths, (stale / rounds).T, strict=True)):
        row = shared | {
            "kind": "stale",
            "changes": json.dumps(canonical(list(path))),
            "stale": float(share.mean()),
            "stale_se": _error(share),
            "outdated": proofs.outdated_share(order, path),
        }
        if windows:
            length = windows[i] * T / B / full
            row["windowed"] = (1 - B / T) * windowed_share(length, path)
        rows.append(row)
    return rows


STUDY = Study("ages", run, {"T": 64, "B": 16, "order": 2, "draws": 1})


def windowed_share(length: float, changes: Sequence[float]) -> float:
    """Return the mean share of a sliding window's queries that precede the latest change.

    Parameters
    ----------
    length
        Of the window, whose queries are spread evenly, over the length of the block.
    changes
        Increasing fractions of the block at which the best arm changes.

    After a change the share falls evenly from 1 to 0 while the window moves past it; d rounds
    after it, at most `length`, their sum is d - d^2 / (2 length).
    """
    gaps = [min(then - f, length) for f, then in pairwise([*changes, 1.0])]
    return sum(gap - gap**2 / (2 * length) for gap in gaps)


def _age(share, ages, bins, rounds, full) -> dict[str, float | None]:
    """Share of the block's rounds, and the ages there: mean in rounds, over the block length."""
    row: dict[str, float | None] = {"share": float(share.mean()), "share_se": _error(share)}
    total = bins.sum()
    if total == 0:
        return row | {"age_rounds": None, "age": None} | {f"age_{q}": None for q in QUANTILES}
    mean = float(ages.sum() / (share.sum() * rounds))
    below = np.concatenate(([0.0], np.cumsum(bins) / total))
    edges = np.linspace(0.0, 1.0, BINS + 1)
    found = np.interp(QUANTILES, below, edges)
    quantiles = {f"age_{q}": float(age) for q, age in zip(QUANTILES, found, strict=True)}
    return row | {"age_rounds": mean, "age": mean / full} | quantiles


def _error(values: np.ndarray) -> float | None:
    """The standard error of the mean; None for a single draw."""
    return float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else None


@njit
def play_blocks(order, b, rounds, T, B, on_demand, changes, draws, rng):
    """Plays `draws` blocks of order n, cut after `rounds` rounds, each from round 1 if on demand.

    changes [paths, changes + 1]: rounds of the block, from 0, at which the best arm changes; the
    last is NEVER. Returns [draws, n + 1] idle rounds and the sum of their ages by order of the
    active instance, [n + 1, BINS] rounds by age over the block length, and [draws, paths] stale
    rounds.
    """
    idle = np.zeros((draws, order + 1))
    ages = np.zeros((draws, order + 1))
    bins = np.zeros((order + 1, BINS))
    stale = np.zeros((draws, changes.shape[0]))
    for i in range(draws):
        used = 0
        if on_demand:
            for n in range(order):
                used = block(
                    n,
                    b,
                    b << n,
                    T,
                    B,
                    used,
                    True,
                    changes[:0],
                    idle[i],
                    ages[i],
                    bins,
                    stale[i],
                    False,
                    rng,
                )
        block(
            order,
            b,
            rounds,
            T,
            B,
            used,
            on_demand,
            changes,
            idle[i],
            ages[i],
            bins,
            stale[i],
            True,
            rng,
        )
    return idle, ages, bins, stale


@njit
def block(n, b, rounds, T, B, used, on_demand, changes, idle, ages, bins, stale, noted, rng):
    """Plays one block, with `used` queries made before it; returns the queries made after it."""
    orders, starts = draw_instances(n, rng)
    pieces, left, _ = arrange(orders, starts)
    limit_quotas(pieces, left, b, rounds)
    asked = np.zeros(orders.shape[0])  # queries of each instance, and the sum of their rounds
    summed = np.zeros(orders.shape[0])
    # Of each path: changes so far, and for each instance its queries since the latest change that
    # it has seen, and which one that is.
    passed = np.zeros(changes.shape[0], dtype=np.int64)
    since = np.zeros((orders.shape[0], changes.shape[0]))
    latest = np.zeros((orders.shape[0], changes.shape[0]), dtype=np.int64)
    first = b * ((1 << n) - 1) + 1
    width = min(T / math.sqrt(B), 2.0**n)
    t = 0
    for p in range(pieces.shape[0]):
        i = pieces[p, 2]
        stop = min(pieces[p, 1] * b, rounds)
        batch = min(min(left[i], stop - t), B - used)
        left[i] -= min(left[i], stop - t)
        while t < stop:
            if batch == 0:
                until = stop
                if on_demand and used < B:
                    until = demand(first + t, first + stop, used, T, B, width, False) - first
                if noted and asked[i] > 0 and until > t:
                    m = orders[i]
                    mean = summed[i] / asked[i]
                    idle[m] += until - t
                    ages[m] += (until - t) * (0.5 * (t + until - 1) - mean)
                    spread(bins[m], (t - mean) / (b << n), (until - mean) / (b << n), until - t)
                    for path in range(changes.shape[0]):
                        stale[path] += outdate(
                            t, until, changes[path], passed, path, asked[i], since[i], latest[i]
                        )
                t = until
                if t == stop:
                    break
                batch = 1
            asked[i] += batch
            summed[i] += batch * (t + 0.5 * (batch - 1))
            for path in range(changes.shape[0]):
                k = passed[path]
                while changes[path, k] < t + batch:
                    k += 1
                passed[path] = k
                if k > 0:
                    if latest[i, path] != k:
                        since[i, path] = 0
                        latest[i, path] = k
                    since[i, path] += t + batch - max(t, changes[path, k - 1])
            used += batch
            t += batch
            batch = 0
        if t == rounds:
            break
    return used


@njit
def outdate(t, until, changes, passed, path, asked, since, latest):
    """Stale rounds in the idle rounds [t, until) of an instance, on one path; see `block`."""
    k, stale = passed[path], 0.0
    while t < until:
        while changes[k] <= t:
            k += 1
        stop = min(until, changes[k])
        if k > 0:
            fresh = since[path] if latest[path] == k else 0.0
            stale += (stop - t) * (asked - fresh) / asked
        t = stop
    passed[path] = k
    return stale


@njit
def spread(bins, low, high, weight):
    """Adds `weight`, evenly spread over [low, high) of [0, 1], to equal bins."""
    size = bins.shape[0]
    low, high = low * size, high * size
    for k in range(max(int(low), 0), min(int(high), size - 1) + 1):
        bins[k] += weight * max(min(high, k + 1.0) - max(low, float(k)), 0.0) / (high - low)
