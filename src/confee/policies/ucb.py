"""UCB1's index (Auer, Cesa-Bianchi, Fischer 2002), and UCB1 as the base algorithm of HyQue.

An instance is an array [5, K]. As base algorithm, UCB1's instances start with the printed
probabilities 2^{(m - n)/2}, not with the ratios of its rho.
"""

from __future__ import annotations

import math

import numpy as np

from confee.core.jit import inlined, larger, leaf, njit
from confee.policies.algorithm import Algorithm
from confee.policies.blocks import square_roots
from confee.policies.change_tests import rho
from confee.world.settings import ARMS

# Rows: plays, sum of rewards, their mean, 1 / sqrt(plays), and the arms in order of first play.
PLAYS, REWARDS, MEAN, WIDTH, ORDER = range(5)


@njit
def new_ucb(K):
    """An instance without observations."""
    ucb = np.zeros((5, K))
    reset(ucb)
    return ucb


@leaf
def reset(ucb):
    """Forget everything."""
    for k in range(ucb.shape[1]):
        ucb[PLAYS, k] = 0.0
        ucb[REWARDS, k] = 0.0
        ucb[ORDER, k] = k


@inlined
def choose(ucb, tau, exploration, rng):
    """(arm, optimistic value) of the largest mean + sqrt(exploration ln tau / plays).

    `tau` is the number of the instance's observations; UCB1 has exploration 2. Unplayed arms come
    first, in random order, with value 1. Ties are broken at random. The value is at most 1.
    """
    if tau < ucb.shape[1]:
        return first(ucb, tau, rng), 1.0
    return lead(ucb, math.sqrt(exploration * math.log(tau)), rng)


@leaf
def first(ucb, tau, rng):
    """Draw an arm that was not played in the first `tau` observations, which were one per arm."""
    pick = among(tau, ucb.shape[1], rng)
    arm = ucb[ORDER, pick]
    ucb[ORDER, pick] = ucb[ORDER, tau]
    ucb[ORDER, tau] = arm
    return int(arm)


@njit
def among(low, high, rng):
    """Draw an integer in low..high-1. (rng.integers makes an array, which a leaf may not.)"""
    return rng.integers(low, high)


@inlined
def lead(ucb, root, rng):
    """(arm, optimistic value) by the largest mean + root / sqrt(plays): see `choose`."""
    top = largest(ucb, root)
    arm, ties = 0, 0
    for k in range(ucb.shape[1]):
        if ucb[MEAN, k] + root * ucb[WIDTH, k] == top:
            arm, ties = k, ties + 1
    if ties > 1:
        arm = tied(ucb, root, top, among(0, ties, rng))
    return arm, top if top < 1.0 else 1.0


@inlined
def largest(ucb, root):
    """The largest index."""
    top = -1.0
    for k in range(ucb.shape[1]):
        top = larger(top, ucb[MEAN, k] + root * ucb[WIDTH, k])
    return top


@leaf
def tied(ucb, root, top, pick):
    """Number `pick`, from 0, of the arms whose index is `top`."""
    for k in range(ucb.shape[1]):
        if ucb[MEAN, k] + root * ucb[WIDTH, k] == top:
            if pick == 0:
                return k
            pick -= 1
    return 0


@inlined
def update(ucb, arm, reward):
    """Add an observation: `reward` from `arm`."""
    plays = ucb[PLAYS, arm] + 1.0
    ucb[PLAYS, arm] = plays
    ucb[REWARDS, arm] += reward
    ucb[MEAN, arm] = ucb[REWARDS, arm] / plays
    ucb[WIDTH, arm] = 1.0 / math.sqrt(plays)


# --------------------------------------------------------------------------- as ALG


@njit
def new_instances(count, known, constants):
    """An array for `count` instances."""
    return np.zeros((count, 5, known))


@inlined
def begin(instance, known, constants):
    reset(instance)


@inlined
def act(instance, tau, known, constants, rng):
    return choose(instance, tau, constants, rng)


@inlined
def learn(instance, known, constants, data, arm, reward):
    update(instance, arm, reward)


@njit
def replayed(instance, data):
    """Arms by the frequency of its plays."""
    return instance[PLAYS]


@njit
def chances(n, known):
    return square_roots(n)


UCB1 = Algorithm(
    id="ucb1",
    name="UCB1",
    setting=ARMS,
    new_instances=new_instances,
    begin=begin,
    act=act,
    learn=learn,
    replayed=replayed,
    rho=rho,
    chances=chances,
    constants=lambda known, T, options: 2.0,
    error=math.sqrt,
)
