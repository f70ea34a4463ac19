"""GLM-UCB (Filippi, Cappe, Garivier, Szepesvari 2010) for a logistic model and a fixed set of arms.

Arm k has features x_k in R^d, ||x_k|| <= 1, and mean mu(<x_k, theta>), mu(z) = 1 / (1 + exp(-z)),
||theta|| <= S. There mu' is at most k_mu = 1/4 and at least c_mu = mu'(S). After observations
(x_s, r_s) of the instance

    V = lambda I + sum x_s x_s',
    theta^ = argmax over ||theta|| <= S of  log likelihood - (lambda c_mu / 2) ||theta||^2,
    index_k = mu(<x_k, theta^>) + k_mu sqrt(beta) ||x_k||_{V^{-1}},
    sqrt(beta) = radius (R / c_mu sqrt(ln(det V / det lambda I) + 2 ln(1/delta)) + sqrt(lambda) S);

f~ is the largest index, cut to [0, 1]. R = 1/2 as rewards lie in [0, 1], delta = 1/T.

The radius: on the ball the loss L = (lambda c_mu / 2) ||theta||^2 - log likelihood has a
Hessian of c_mu V at least, and theta^ is least there, so <grad L(theta^), theta - theta^> >= 0 and
c_mu ||theta^ - theta||_V <= ||grad L(theta)||_{V^{-1}}, in which grad L(theta) = lambda c_mu theta
- sum noise_s x_s: what remains is the bound behind OFUL (Abbasi-Yadkori, Pal, Szepesvari 2011,
Theorem 1). Filippi et al. have a coarser bound of the noise, and estimate without a ball and then
project onto it, which costs a factor 2; Wei and Luo (2021, Algorithm 9) have both, and another 2
that absorbs drift: 20 times this radius at the sizes below. UCB-GLM (Li, Lu, Zhou 2017) starts with
rounds of random play. The radius of Faury et al. (2020) grows as 1 / sqrt(c_mu), but in a norm of
matrices that change with theta^.

The radius is wide: with K = 10, d = 4, T = 10^6 and a best mean of 3/4, f~ stays at 1 for some 4000
queries (d = 8: 10^4; best mean 0.9: 1.5 10^4), although indices before the cut already separate the
arms. With `radius` 0.1 it stays there for some 20 queries.

As base algorithm: C(t) = (k_mu / c_mu) d sqrt(t) up to logarithms (Wei and Luo 2021, Section 2.2).

An observation is a rank-one step for V^{-1}, then Newton's method on plays and sums of rewards,
from the estimate before: O(K d^2 + d^3) a step, in most cases one or two of them (see `fit`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from confee.core import schema
from confee.core.jit import leaf, njit, over
from confee.policies import blocks, scheduled
from confee.policies.algorithm import Algorithm
from confee.policies.ridge import MEAN, PLAYS, REWARDS, SQUARE, lead
from confee.world.settings import LOGISTIC

# Rows of an instance: as in `ridge` plays, sum of rewards, mean at theta^ and squared width;
# ln(det V / det lambda I) in the first place of its row; theta^; three rows to work in; then
# V^{-1}, the Hessian and its Cholesky factor, d rows each.
LOG_DET, THETA, TOWARDS, GOAL, NEXT, MATRICES = range(4, 10)
RIDGE, NORM, FLATTEST, LOG_CHANCE, RADIUS = range(5)

NOISE = 0.5  # R
STEEPEST = 0.25  # k_mu
WHOLE = 0.5  # the length up to which a Newton step is taken whole
ACCURACY = 1e-3  # the length of a Newton step after which no other is made
NORM_USUAL = 2.2  # S: means from 0.1 to 0.9
AT_MOST = 100  # Newton steps; some ten are needed from anywhere, so this is for rounding alone


@leaf
def logistic(z):
    return 1.0 / (1.0 + math.exp(-z))


@njit
def new_instances(count, known, constants):
    K, d = known.shape
    return np.zeros((count, MATRICES + 3 * d, max(K, d)))


@leaf
def begin(instance, known, constants):
    K, d = known.shape
    instance[:] = 0.0
    instance[MEAN] = 0.5
    for i in range(d):
        instance[MATRICES + i, i] = 1.0 / constants[RIDGE]
    for k in range(K):
        for i in range(d):
            instance[SQUARE, k] += known[k, i] * known[k, i] / constants[RIDGE]


@leaf
def act(instance, tau, known, constants, rng):
    """The arm of the largest index, ties at random, and that index as f~."""
    spread = NOISE * math.sqrt(instance[LOG_DET, 0] + 2.0 * constants[LOG_CHANCE])
    bias = math.sqrt(constants[RIDGE]) * constants[NORM]
    root = STEEPEST * constants[RADIUS] * (spread / constants[FLATTEST] + bias)
    arm, top = lead(instance, known.shape[0], root, rng)
    return arm, min(1.0, max(0.0, top))


@leaf
def learn(instance, known, constants, data, arm, reward):
    """One observation."""
    instance[PLAYS, arm] += 1.0
    instance[REWARDS, arm] += reward
    join(instance, known, arm)
    fit(instance, known, constants)


@leaf
def join(instance, known, arm):
    """V gains x x' for the arm's x: V^{-1}, its determinant and widths, by Sherman and Morrison."""
    K, d = known.shape
    instance[LOG_DET, 0] += math.log1p(instance[SQUARE, arm])
    gain = 1.0 / (1.0 + instance[SQUARE, arm])
    towards = instance[TOWARDS]
    for i in range(d):
        towards[i] = 0.0
        for j in range(d):
            towards[i] += instance[MATRICES + i, j] * known[arm, j]
    for i in range(d):
        for j in range(d):
            instance[MATRICES + i, j] -= gain * towards[i] * towards[j]
    for k in range(K):
        along = 0.0
        for i in range(d):
            along += known[k, i] * towards[i]
        instance[SQUARE, k] -= gain * along * along


@leaf
def fit(instance, known, constants):
    """theta^ by Newton's method, from where it was; and the means of arms.

    As |mu''| <= mu' and ||x|| <= 1, a step of length s changes the Hessian by a factor of e^s at
    most: taken whole it lowers the loss for s <= 1/2, cut to length ln(1 + s) always (Sun and
    Tran-Dinh 2019), and what it leaves is of order s^2 / 2. So steps end with one under 1e-3, and
    theta^ is exact to some 1e-6.
    """
    K, d = known.shape
    for _ in range(AT_MOST):
        expand(instance, known, constants)
        least_in_ball(instance, d, constants[NORM])
        length = 0.0
        for i in range(d):
            length += (instance[NEXT, i] - instance[THETA, i]) ** 2
        length = math.sqrt(length)
        share = math.log1p(length) / length if length > WHOLE else 1.0
        for i in range(d):
            instance[THETA, i] += share * (instance[NEXT, i] - instance[THETA, i])
        for k in range(K):
            along = 0.0
            for i in range(d):
                along += known[k, i] * instance[THETA, i]
            instance[MEAN, k] = logistic(along)
        if length < ACCURACY:
            break


@leaf
def expand(instance, known, constants):
    """The loss about theta^ to second order, x'Hx / 2 - <goal, x>: its H, and its goal.

    gradient = lambda c_mu theta^ - sum_k (rewards_k - plays_k mean_k) x_k,
    H = lambda c_mu I + sum_k plays_k mean_k (1 - mean_k) x_k x_k',    goal = H theta^ - gradient.
    """
    K, d = known.shape
    hessian = MATRICES + d
    penalty = constants[RIDGE] * constants[FLATTEST]
    goal = instance[GOAL]
    for i in range(d):
        goal[i] = 0.0
        for j in range(i):
            instance[hessian + i, j] = 0.0
        instance[hessian + i, i] = penalty
    for k in range(K):
        plays, mean = instance[PLAYS, k], instance[MEAN, k]
        if plays > 0.0:
            missed = instance[REWARDS, k] - plays * mean
            weight = plays * mean * (1.0 - mean)
            for i in range(d):
                goal[i] += missed * known[k, i]
                weighted = weight * known[k, i]
                for j in range(i + 1):
                    instance[hessian + i, j] += weighted * known[k, j]
    # H theta^ less the penalty's part of the gradient; only the lower half of H is there.
    for i in range(d):
        goal[i] -= penalty * instance[THETA, i]
        for j in range(d):
            entry = instance[hessian + max(i, j), min(i, j)]
            goal[i] += entry * instance[THETA, j]


@leaf
def least_in_ball(instance, d, S):
    """The x with ||x|| <= S at which x'Hx / 2 - <goal, x> is least.

    (H + nu I) x = goal with nu = 0, or the nu at which ||x|| = S: by Newton's method on 1 / ||x||,
    which comes from below (More, Sorensen 1983).
    """
    nu = 0.0
    for _ in range(AT_MOST):
        factorise(instance, d, nu)
        size = solve(instance, d)
        if not size > S * (1.0 + 1e-8):
            break
        nu += (size / S - 1.0) * size**2 / whitened(instance, d)


@leaf
def factorise(instance, d, nu):
    """F F' = H + nu I, F lower triangular (Cholesky); on its diagonal stand reciprocals."""
    hessian, factor = MATRICES + d, MATRICES + 2 * d
    for i in range(d):
        for j in range(i + 1):
            entry = instance[hessian + i, j]
            for m in range(j):
                entry -= instance[factor + i, m] * instance[factor + j, m]
            if i == j:
                instance[factor + i, i] = 1.0 / math.sqrt(entry + nu)
            else:
                instance[factor + i, j] = entry * instance[factor + j, j]


@leaf
def solve(instance, d):
    """x of F F' x = goal; returns ||x||."""
    factor = MATRICES + 2 * d
    x, work = instance[NEXT], instance[TOWARDS]
    solve_lower(instance, d, instance[GOAL], work)
    square = 0.0
    for i in range(d - 1, -1, -1):
        entry = work[i]
        for m in range(i + 1, d):
            entry -= instance[factor + m, i] * x[m]
        x[i] = entry * instance[factor + i, i]
        square += x[i] ** 2
    return math.sqrt(square)


@leaf
def whitened(instance, d):
    """<x, (F F')^{-1} x>."""
    work = instance[TOWARDS]
    solve_lower(instance, d, instance[NEXT], work)
    total = 0.0
    for i in range(d):
        total += work[i] ** 2
    return total


@leaf
def solve_lower(instance, d, vector, solution):
    """Solve F solution = vector."""
    factor = MATRICES + 2 * d
    for i in range(d):
        entry = vector[i]
        for m in range(i):
            entry -= instance[factor + i, m] * solution[m]
        solution[i] = entry * instance[factor + i, i]


@njit
def replayed(instance, data):
    """Arms by the frequency of its plays."""
    return instance[PLAYS, : data.shape[0] - 4]


def unevenness(norm: float) -> float:
    """k_mu / c_mu for ||theta|| <= norm: mu'(z) is 1 / (2 cosh(z/2))^2."""
    return math.cosh(norm / 2) ** 2


UNEVENNESS = unevenness(NORM_USUAL)


@leaf
def rho(t, known):
    """(k_mu / c_mu) d sqrt(ln(1 + t) / t), at the usual S; for others see `GLM_UCB.stretch`."""
    return UNEVENNESS * known.shape[1] * math.sqrt(math.log(1.0 + t) / t)


@dataclass(frozen=True)
class Options:
    """ridge: lambda. norm: S. radius: times the radius of the confidence ellipsoid; 1 is the
    theory."""

    ridge: float = schema.real(1.0, low=0.01, high=1e6, about="ridge penalty lambda")
    norm: float = schema.real(
        NORM_USUAL, low=0.01, high=5, about="S, the bound on the norm of theta"
    )
    radius: float = schema.real(
        1.0, low=0, high=1e6, about="multiplies the radius of the confidence ellipsoid"
    )


def constants(known, T, options):
    flattest = STEEPEST / unevenness(options.norm)
    return np.array([options.ridge, options.norm, flattest, math.log(T), options.radius])


GLM_UCB = Algorithm(
    id="glm_ucb",
    name="GLM-UCB",
    setting=LOGISTIC,
    new_instances=new_instances,
    begin=begin,
    act=act,
    learn=learn,
    replayed=replayed,
    rho=rho,
    chances=over(blocks.ratios, __name__, rho=rho),
    constants=constants,
    error=lambda known: UNEVENNESS * known.shape[1],
    stretch=lambda options: unevenness(options.norm) / UNEVENNESS,
    options=Options,
)

POLICY = scheduled.paced(GLM_UCB, __name__)
