"""FALCON (Simchi-Levi and Xu 2020, Algorithm 1) over a finite class F of regressors.

Epochs end after tau_m = 2^m observations of the instance. Epoch m fits a regressor to the
tau = tau_{m-1} observations before it by least squares and in context x plays

    f^ = argmin over f in F of sum (f(x_s, a_s) - r_s)^2,        a^ = argmax_a f^(x, a),
    p(a) = 1 / (K + gamma_m (f^(x, a^) - f^(x, a))),  the rest on a^  (inverse gap weighting),
    gamma_m = gamma sqrt(K tau / ln(|F| tau / delta)),        gamma_1 = 1,    delta = 1/T.

As base algorithm (Wei and Luo 2021, Algorithm 13 and Appendix I.7), it has in each epoch

    f~ = mean over s <= tau of max_a f^(x_s, a) + optimism sqrt(K ln(|F| tau / delta) / tau),

cut to [0, 1], and 1 in the first epoch. Theirs takes the mean over the unknown distribution of
contexts, and fits in every round. C(t) = sqrt(K t ln|F|), here rho(t) = sqrt(K ln(|F| (1 + t)) /
t).

The factor `gamma` is 1 in Wei and Luo, whose assumption this is to meet, and 1/30 in FALCON's own
theorem. With 1/30, in ten thousand observations of four actions, one of them 1/2 better than the
others, it has nine tenths of the regret of uniform play.

Wei and Luo also name ILTCB, which needs no regressors but at each update a distribution over
policies under as many constraints as there are policies, from all past contexts and importance
weights. Here an epoch ends with one pass over the class, O(|F| S K), and an observation is O(1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from confee.core import schema
from confee.core.jit import inlined, leaf, njit, over
from confee.policies import blocks, scheduled
from confee.policies.algorithm import Algorithm
from confee.world.episodes import step
from confee.world.settings import CONTEXTUAL

# Rows of an instance: plays and rewards of each (context, action), and the rule; in the last row
# the number of observations at which the epoch ends, and f~.
PLAYS, REWARDS, RULE, EPOCH = range(4)
END, VALUE = range(2)
LOG_CHANCE, GAMMA, OPTIMISM = range(3)


@njit
def new_instances(count, known, constants):
    _, S, K = known.shape
    return np.zeros((count, EPOCH + 1, max(S * K, VALUE + 1)))


@leaf
def begin(instance, known, constants):
    instance[:] = 0.0


@njit
def act(instance, tau, known, constants, rng):
    """The rule of the epoch and its f~."""
    if tau >= instance[EPOCH, END]:
        begin_epoch(instance, tau, known, constants, rng)
    _, S, K = known.shape
    return instance[RULE][: S * K].reshape((1, S, K)), instance[EPOCH, VALUE]


@njit
def begin_epoch(instance, tau, known, constants, rng):
    """The rule and f~ after `tau` observations."""
    N, S, K = known.shape
    if tau > 0:
        regressor = least_squares(instance, tau, known, rng)
        width = math.sqrt(K * (math.log(float(N) * tau) + constants[LOG_CHANCE]) / tau)
        gamma, value = constants[GAMMA] * K / width, constants[OPTIMISM] * width
    else:
        regressor = rng.integers(0, N)
        gamma, value = 1.0, 1.0
    for x in range(S):
        cell = x * K
        top = weigh(known[regressor, x], gamma, instance[RULE][cell : cell + K], rng)
        value += top * instance[PLAYS, cell : cell + K].sum() / max(tau, 1)
    instance[EPOCH, VALUE] = min(1.0, value)
    instance[EPOCH, END] = max(2, 2 * tau)


@leaf
def least_squares(instance, tau, known, rng):
    """The regressor with the least sum of plays f^2 - 2 rewards f; ties are broken at random.

    Sums that differ only by rounding are ties, so that the order of actions decides nothing.
    """
    N, S, K = known.shape
    slack = 1e-12 * (1 + tau)
    best, least, ties = 0, np.inf, 0
    for i in range(N):
        loss = 0.0
        for x in range(S):
            for a in range(K):
                f, cell = known[i, x, a], x * K + a
                loss += f * (instance[PLAYS, cell] * f - 2.0 * instance[REWARDS, cell])
        if loss < least - slack:
            best, least, ties = i, loss, 1
        elif loss <= least + slack:
            ties += 1
            if rng.random() * ties < 1.0:
                best = i
    return best


@leaf
def weigh(means, gamma, chances, rng):
    """Set the probabilities of K actions by inverse gap weighting; return the largest mean."""
    K = means.shape[0]
    best, ties = 0, 0
    for a in range(K):
        if means[a] > means[best] or ties == 0:
            best, ties = a, 1
        elif means[a] == means[best]:
            ties += 1
            if rng.random() * ties < 1.0:
                best = a
    rest = 1.0
    for a in range(K):
        if a != best:
            chances[a] = 1.0 / (K + gamma * (means[best] - means[a]))
            rest -= chances[a]
    chances[best] = rest
    return means[best]


@inlined
def learn(instance, known, constants, data, rule, reward):
    """Add an observation; `data` holds the context and the action drawn."""
    context, action, _ = step(data, 0)
    cell = context * known.shape[2] + action
    instance[PLAYS, cell] += 1.0
    instance[REWARDS, cell] += reward


@njit
def replayed(instance, data):
    """The rules of the instance's past rounds, which `data` holds."""
    return data


@leaf
def rho(t, known):
    """sqrt(K ln(|F| (1 + t)) / t)."""
    N, _, K = known.shape
    return math.sqrt(K * math.log(N * (1.0 + t)) / t)


def error(known) -> float:
    """sqrt(K ln|F|), of two regressors at least."""
    N, _, K = known.shape
    return math.sqrt(K * math.log(max(N, 2)))


@dataclass(frozen=True)
class Options:
    """The options of FALCON: the factors of the weighting's gamma and of the width in f~."""

    gamma: float = schema.real(
        1.0,
        above=0,
        high=1e6,
        about="multiplies the learning rate sqrt(K tau / ln(|F| tau T)); FALCON's theorem has 1/30",
    )
    optimism: float = schema.real(
        1.0, low=0, high=1e6, about="multiplies sqrt(K ln(|F| tau T) / tau) in the optimistic value"
    )


def constants(known, T, options):
    return np.array([math.log(T), options.gamma, options.optimism])


FALCON = Algorithm(
    id="falcon",
    name="FALCON",
    setting=CONTEXTUAL,
    new_instances=new_instances,
    begin=begin,
    act=act,
    learn=learn,
    replayed=replayed,
    rho=rho,
    chances=over(blocks.ratios, __name__, rho=rho),
    constants=constants,
    error=error,
    options=Options,
)

POLICY = scheduled.paced(FALCON, __name__)
