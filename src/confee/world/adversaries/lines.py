"""Piecewise linear paths: knots in whole rounds, segments split where the best arm changes."""

from __future__ import annotations

import numpy as np

from confee.world.path import Path


def spent(means: np.ndarray) -> float:
    """Return the variation of a path through knots `means` [S, K], the sum of max_k |step|."""
    return float(np.abs(np.diff(means, axis=0)).max(axis=1).sum())


def on_rounds(times: np.ndarray, T: int) -> np.ndarray:
    """Return the rounds of knots at `times`, increasing in [0, 1]: 1 + time (T - 1), rounded, [S].

    A round holds one knot, so a knot moves to the next free round if need be. Needs S <= T.
    """
    rounds = 1 + np.rint(np.asarray(times) * (T - 1)).astype(np.int64)
    order = np.arange(len(rounds))
    rounds = np.maximum.accumulate(rounds - order) + order
    return np.minimum(rounds, T - order[::-1])


def through(times: np.ndarray, means: np.ndarray, T: int) -> Path:
    """Return the path through knots `means` [S, K] at `times` [S], from 0 up; the last is round T.

    Knots lie in whole rounds and means are linear in between, so the variation is `spent(means)`
    exactly: rounding moves knots in time and keeps their means. More than T knots do not fit; then
    the first T are taken, one a round, and the rest of the budget is not spent.
    """
    if len(means) > T:
        times, means = np.linspace(0, 1, T), means[:T]
    if len(means) == 1:
        return Path.steps(np.ones(1), means, T)
    return split(on_rounds(times / times[-1], T), means)


def split(rounds: np.ndarray, means: np.ndarray) -> Path:
    """Return the path through `means` [S, K] in `rounds` [S], from 1 to T, linear in between.

    A segment has one best arm. Where two lines cross between two rounds, the next segment starts
    with the first round in which the other arm is better. It lies on the same lines, so the split
    changes no mean.
    """
    length = np.diff(rounds)
    slope = np.diff(means, axis=0) / length[:, None]
    stop = length.copy()
    stop[-1] += 1  # The round of the last knot belongs to the last piece.
    piece, at = np.arange(len(length)), np.zeros(len(length), dtype=np.int64)
    pieces, offsets = [], []
    while len(piece):
        pieces.append(piece)
        offsets.append(at)
        ahead = _first_better(means[piece] + slope[piece] * at[:, None], slope[piece])
        at = at + np.minimum(ahead, stop[piece]).astype(np.int64)
        left = at < stop[piece]
        piece, at = piece[left], at[left]
    piece, at = np.concatenate(pieces), np.concatenate(offsets)
    order = np.lexsort((at, piece))
    piece, at = piece[order], at[order]
    start = np.append(rounds[piece] + at, rounds[-1] + 1)
    return Path(start, means[piece] + slope[piece] * at[:, None], slope[piece])


def _first_better(here: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """Return the number of rounds until another arm is best, [P]; `here`, `slope` are [P, K].

    Of tied arms the one with the largest slope is best, as it is in the next round.
    """
    rows = np.arange(len(here))
    top = here.max(axis=1)
    best = np.where(here == top[:, None], slope, -np.inf).argmax(axis=1)
    closing = slope - slope[rows, best][:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        meets = np.where(closing > 0, (top[:, None] - here) / closing, np.inf)
    return np.floor(meets.min(axis=1)) + 1


def whole_and_rest(amount: float) -> tuple[int, float]:
    """Split `amount` into a whole number and a rest in [0, 1), up to a rounding error of 1e-12."""
    whole = int(amount * (1 + 1e-12))
    return whole, max(0.0, amount - whole)
