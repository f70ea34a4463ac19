"""OFUL (Abbasi-Yadkori, Pal, Szepesvari 2011, Figure 1, Theorem 2) for a fixed set of arms.

Arm k has features x_k in R^d. After observations (x_s, r_s) of the instance

    V = lambda I + sum x_s x_s',    theta^ = V^{-1} sum r_s x_s,
    index_k = <x_k, theta^> + sqrt(beta) ||x_k||_{V^{-1}},
    sqrt(beta) = radius (R sqrt(ln(det V / det lambda I) + 2 ln(1/delta)) + sqrt(lambda) S);

f~ is the largest index, cut to [0, 1]. R = 1/2 as rewards lie in [0, 1], S = 1 bounds theta, delta
= 1/T. As base algorithm: C(t) = d sqrt(t) up to logarithms (Wei and Luo 2021, Section 2.2), here
rho(t) = d sqrt(ln(1 + t) / t). Their proof has twice a constant radius in place of beta, to absorb
drift; this is the published radius of OFUL.

An observation costs O(d^2 + K d), see `ridge`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from confee.core import schema
from confee.core.jit import leaf, njit, over
from confee.policies import blocks, scheduled
from confee.policies.algorithm import Algorithm
from confee.policies.ridge import LOG_DET, PLAYS, SCALARS, forget, lead, new_ridges, observe
from confee.world.settings import LINEAR

R, S = 0.5, 1.0
"""Rewards in [0, 1] are R-sub-Gaussian; ||theta|| <= S."""
RIDGE, RADIUS, LOG_CHANCE = range(3)


@njit
def new_instances(count, known, constants):
    return new_ridges(count, known)


@leaf
def begin(instance, known, constants):
    forget(instance, known, constants[RIDGE])


@leaf
def act(instance, tau, known, constants, rng):
    """The arm of the largest index, ties at random, and that index as f~."""
    spread = math.sqrt(instance[SCALARS, LOG_DET] + 2.0 * constants[LOG_CHANCE])
    root = constants[RADIUS] * (R * spread + math.sqrt(constants[RIDGE]) * S)
    arm, top = lead(instance, known.shape[0], root, rng)
    return arm, min(1.0, max(0.0, top))


@leaf
def learn(instance, known, constants, data, arm, reward):
    observe(instance, known, constants[RIDGE], arm, reward, 1.0)


@njit
def replayed(instance, data):
    """Arms by the frequency of its plays."""
    return instance[PLAYS, : data.shape[0] - 4]


@leaf
def rho(t, known):
    """d sqrt(ln(1 + t) / t)."""
    return known.shape[1] * math.sqrt(math.log(1.0 + t) / t)


@dataclass(frozen=True)
class Options:
    """The options of OFUL: lambda, and the factor of the radius; 1 is the theory."""

    ridge: float = schema.real(1.0, low=1e-4, high=1e6, about="ridge penalty lambda")
    radius: float = schema.real(
        1.0, low=0, high=1e6, about="multiplies the radius of the confidence ellipsoid"
    )


def constants(known, T, options):
    return np.array([options.ridge, options.radius, math.log(T)])


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
    chances=over(blocks.ratios, __name__, rho=rho),
    constants=constants,
    error=lambda known: known.shape[1],
    options=Options,
)

POLICY = scheduled.paced(OFUL, __name__)
