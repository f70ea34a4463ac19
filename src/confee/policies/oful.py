"""OFUL (Abbasi-Yadkori, Pal, Szepesvari 2011, Figure 1, Theorem 2) for a fixed set of arms.

Arm k has features x_k in R^d. After observations (x_s, r_s) of the instance

    V = lambda I + sum x_s x_s',    theta^ = V^{-1} sum r_s x_s,
    index_k = <x_k, theta^> + sqrt(beta) ||x_k||_{V^{-1}},
    sqrt(beta) = radius (R sqrt(ln(det V / det lambda I) + 2 ln(1/delta)) + sqrt(lambda) S);

f~ is the largest index, cut to [0, 1]. R = 1/2 as rewards lie in [0, 1], S = 1 bounds theta, delta
= 1/T. As base algorithm: C(t) = d sqrt(t) up to logarithms (Wei and Luo 2021, Section 2.2), here
rho(t) = d sqrt(ln(1 + t) / t). Their proof has twice a constant radius in the place of beta, so
that it absorbs drift; this is the radius of OFUL as published.

An observation is a step of recursive least squares on what the index needs, mean and width of each
arm: O(d^2 + K d), no matrix is inverted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from confee import schema
from confee.jit import njit, over
from confee.policies import planned, schedule
from confee.policies.algorithm import Algorithm
from confee.world.settings import LINEAR

# Rows of an instance: plays, <x_k, theta^> and ||x_k||^2_{V^-1} of each arm; ln(det V / det lambda
# I) in the first place of its row; V^{-1} x of the last observation; then V^{-1}.
PLAYS, MEAN, SQUARE, LOG_DET, TOWARDS, INVERSE = range(6)
RIDGE, NOISE, NORM, LOG_CHANCE, RADIUS = range(5)


@njit
def new_instances(count, known, constants):
    K, d = known.shape
    return np.zeros((count, INVERSE + d, max(K, d)))


@njit
def begin(instance, known, constants):
    K, d = known.shape
    instance[:] = 0.0
    for i in range(d):
        instance[INVERSE + i, i] = 1.0 / constants[RIDGE]
    for k in range(K):
        instance[SQUARE, k] = known[k] @ known[k] / constants[RIDGE]


@njit
def act(instance, tau, known, constants, rng):
    """The arm of the largest index, ties at random, and that index as f~."""
    spread = constants[NOISE] * math.sqrt(instance[LOG_DET, 0] + 2.0 * constants[LOG_CHANCE])
    root = constants[RADIUS] * (spread + math.sqrt(constants[RIDGE]) * constants[NORM])
    arm, top, ties = 0, -np.inf, 0
    for k in range(known.shape[0]):
        index = instance[MEAN, k] + root * math.sqrt(max(instance[SQUARE, k], 0.0))
        if index > top:
            arm, top, ties = k, index, 1
        elif index == top:
            ties += 1
            if rng.random() * ties < 1.0:
                arm = k
    return arm, min(1.0, max(0.0, top))


@njit
def learn(instance, known, constants, data, arm, reward):
    """One observation, by the Sherman-Morrison formula."""
    K, d = known.shape
    inverse = instance[INVERSE:, :d]
    instance[PLAYS, arm] += 1.0
    instance[LOG_DET, 0] += math.log1p(instance[SQUARE, arm])
    gain = 1.0 / (1.0 + instance[SQUARE, arm])
    surprise = gain * (reward - instance[MEAN, arm])
    towards = instance[TOWARDS]
    for i in range(d):
        towards[i] = 0.0
        for j in range(d):
            towards[i] += inverse[i, j] * known[arm, j]
    for i in range(d):
        for j in range(d):
            inverse[i, j] -= gain * towards[i] * towards[j]
    for k in range(K):
        along = 0.0
        for i in range(d):
            along += known[k, i] * towards[i]
        instance[MEAN, k] += surprise * along
        instance[SQUARE, k] -= gain * along * along


@njit
def replayed(instance, data):
    """Arms by the frequency of its plays."""
    return instance[PLAYS, : data.shape[0] - 4]


@njit
def rho(t, known):
    """d sqrt(ln(1 + t) / t)."""
    return known.shape[1] * math.sqrt(math.log(1.0 + t) / t)


@dataclass(frozen=True)
class Options:
    """ridge: lambda. radius: times the radius of the confidence ellipsoid; 1 is the theory."""

    ridge: float = schema.real(1.0, above=0, high=1e6)
    radius: float = schema.real(1.0, low=0, high=1e6)


def constants(known, T, options):
    return np.array([options.ridge, 0.5, 1.0, math.log(T), options.radius])


OFUL = Algorithm(
    id="oful",
    name="OFUL",
    setting=LINEAR,
    new_instances=new_instances,
    begin=begin,
    act=act,
    learn=learn,
    replayed=replayed,
    rho=rho,
    chances=over(schedule.ratios, __name__, rho=rho),
    constants=constants,
    error=lambda known: known.shape[1],
    options=Options,
)

POLICY = planned.paced(OFUL, __name__)
