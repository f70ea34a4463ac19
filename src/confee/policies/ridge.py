"""Ridge regression of rewards on the features of a fixed set of arms, an observation at a time.

Arm k has features x_k in R^d. After observations (x_s, r_s)

    V = lambda I + sum x_s x_s',    theta^ = V^{-1} sum r_s x_s,

and an index needs of arm k its mean <x_k, theta^> and its squared width ||x_k||^2_{V^{-1}}.
The Sherman-Morrison formula updates them in O(d^2 + K d) when an observation is added or removed,
without inverting a matrix. Rounding errors accumulate: in the width of an arm played often they
grow as the square root of the observations times the condition of V. After a million observations
that follow the leader the relative error is 2e-8 with lambda = 1 and 6e-5 with lambda = 1e-6. So
every `REFRESH` observations everything is recomputed from the plays and rewards of arms, which are
integers; the relative error is then 3e-11 in both cases.

Sums are taken in the same order on every machine.
"""

from __future__ import annotations

import math

import numpy as np

from confee.core.jit import leaf, njit

# Rows: plays, sum of rewards, mean and squared width of each arm; ln(det V / det lambda I) and the
# observations since everything was recomputed; V^{-1} x of the last observation, and its product
# with each arm's features; then d rows of V^{-1}; then d rows of features, an arm in each column.
PLAYS, REWARDS, MEAN, SQUARE, SCALARS, TOWARDS, ALONG, INVERSE = range(8)
LOG_DET, SINCE = range(2)
REFRESH = 1024
CANCELS = 0.1
"""Everything is recomputed when an observation is removed that carried nearly all the weight in its
direction, because the update would cancel digits."""
TIE = 1e-9
"""Indices that differ by less are ties: arms with equal observations differ by rounding."""


@njit
def new_ridges(count, known):
    """Room for `count` regressions on arms of features `known` [K, d]; each is to `forget`."""
    K, d = known.shape
    ridges = np.zeros((count, INVERSE + 2 * d, max(K, d)))
    for i in range(d):
        ridges[:, INVERSE + d + i, :K] = known[:, i]
    return ridges


@leaf
def forget(ridge, known, penalty):
    """Reset to no observations; `penalty` is lambda."""
    K, d = known.shape
    ridge[: INVERSE + d] = 0.0
    for i in range(d):
        ridge[INVERSE + i, i] = 1.0 / penalty
    for k in range(K):
        for i in range(d):
            ridge[SQUARE, k] += known[k, i] * known[k, i] / penalty


@leaf
def observe(ridge, known, penalty, arm, reward, sign):
    """Add an observation (sign 1.0) or remove it (sign -1.0)."""
    K, d = known.shape
    ridge[PLAYS, arm] += sign
    ridge[REWARDS, arm] += sign * reward
    ridge[SCALARS, SINCE] += 1.0
    step = 1.0 + sign * ridge[SQUARE, arm]
    if ridge[SCALARS, SINCE] >= REFRESH or step < CANCELS:
        find(ridge, known, penalty)
        return
    ridge[SCALARS, LOG_DET] += math.log(step)
    gain = sign / step
    surprise = gain * (reward - ridge[MEAN, arm])
    inverse, features = ridge[INVERSE : INVERSE + d], ridge[INVERSE + d :]
    towards, along = ridge[TOWARDS], ridge[ALONG]
    times(known[arm], inverse, d, towards)
    times(towards, features, K, along)
    for i in range(d):
        for j in range(d):
            inverse[i, j] -= gain * (towards[i] * towards[j])  # stays symmetric to the last digit
    for k in range(K):
        ridge[MEAN, k] += surprise * along[k]
        ridge[SQUARE, k] -= gain * along[k] * along[k]


@njit
def find(ridge, known, penalty):
    """Recompute everything from plays and rewards, by inverting V."""
    K, d = known.shape
    V, rewarded, theta = penalty * np.eye(d), np.zeros(d), np.zeros(d)
    for k in range(K):
        for i in range(d):
            rewarded[i] += ridge[REWARDS, k] * known[k, i]
            for j in range(d):
                V[i, j] += ridge[PLAYS, k] * (known[k, i] * known[k, j])
    ridge[SCALARS, LOG_DET] = invert(V, np.zeros((d, d))) - d * math.log(penalty)
    ridge[SCALARS, SINCE] = 0.0
    ridge[INVERSE : INVERSE + d, :d] = V
    features = ridge[INVERSE + d :]
    times(rewarded, V, d, theta)
    times(theta, features, K, ridge[MEAN])
    squares(V, features, K, ridge[SQUARE])


@leaf
def times(vector, matrix, columns, product):
    """product = vector' matrix, of as many columns."""
    product[:columns] = 0.0
    for i in range(matrix.shape[0]):
        factor = vector[i]
        for k in range(columns):
            product[k] += factor * matrix[i, k]


@leaf
def squares(matrix, features, columns, found):
    """found[k] = x' matrix x, x column k of `features`, `matrix` a symmetric one."""
    found[:columns] = 0.0
    for i in range(features.shape[0]):
        for j in range(i + 1):
            factor = matrix[i, j] if i == j else 2.0 * matrix[i, j]
            for k in range(columns):
                found[k] += factor * (features[i, k] * features[j, k])


@leaf
def invert(matrix, room):
    """Inverts a symmetric positive definite `matrix` [d, d] in its place; returns its ln det.

    By Cholesky, matrix = L L', whose rows make those of L^{-1}; room [d, d] to work in.
    """
    d = matrix.shape[0]
    log_det = 0.0
    for p in range(d):  # the upper half becomes L'
        log_det += math.log(matrix[p, p])
        scale = 1.0 / math.sqrt(matrix[p, p])
        for j in range(p, d):
            matrix[p, j] *= scale
        for i in range(p + 1, d):
            factor = matrix[p, i]
            for j in range(i, d):
                matrix[i, j] -= factor * matrix[p, j]
    for i in range(d):  # room becomes L^{-1}
        room[i, :i] = 0.0
        room[i, i] = 1.0
        for h in range(i):
            factor = matrix[h, i]
            for j in range(h + 1):
                room[i, j] -= factor * room[h, j]
        for j in range(i + 1):
            room[i, j] /= matrix[i, i]
    matrix[:] = 0.0
    for h in range(d):  # L'^{-1} L^{-1}
        for i in range(h + 1):
            factor = room[h, i]
            for j in range(h + 1):
                matrix[i, j] += factor * room[h, j]
    return log_det


@leaf
def lead(ridge, K, root, rng):
    """(arm, index) of the largest mean + root * width; ties are broken at random."""
    arm, top, ties = 0, -np.inf, 0
    for k in range(K):
        index = ridge[MEAN, k] + root * math.sqrt(max(ridge[SQUARE, k], 0.0))
        if index > top + TIE:
            arm, top, ties = k, index, 1
        elif index >= top - TIE:
            ties += 1
            if rng.random() * ties < 1.0:
                arm = k
    return arm, top
