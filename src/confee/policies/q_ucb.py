"""Q-UCB (Jin, Allen-Zhu, Bubeck, Jordan 2018, Algorithm 1): Q-learning with a Hoeffding bonus.

For each step h = 1..H, state s and action a, Q_h(s, a) starts at H, and V_{H+1} = 0. An episode
takes the action of the largest Q_h(s, .), gets r in {0, 1} and s', and then, if this was visit t of
(h, s, a),

    Q_h(s, a) <- (1 - alpha_t) Q_h(s, a) + alpha_t (r + V_{h+1}(s') + b_t),
    V_h(s) <- min(H, max_a Q_h(s, a)),
    alpha_t = (H + 1) / (H + t),   b_t = bonus sqrt(H^3 iota / t),   iota = ln(S A T H / delta),

with delta = 1/T and T episodes of H steps; f~ = V_1(s_1) / H before the episode, s_1 = 0 (Wei and
Luo 2021, Appendix I.4, divided by H as values lie in [0, 1]). As published, Q starts at H for every
step, where H - h + 1 would do, and Q_h is not cut after a visit, so an action once tried is taken
until its Q is below H.

bonus = 1 is the theory: r + V_{h+1}(s') lies in a range of H, the squares of the weights that
alpha gives t visits sum to at most 2H/t, so by Azuma's inequality Q_h >= Q*_h fails for a visit
with probability at most exp(-iota). Jin et al. have an absolute constant there. The bonus suits
longer horizons: against `episodic_switching` with H = S = K = 3, T = 1e6 and V = 4, HyQue with
bonus 1 has 0.98 to 1.04 times the regret of uniform play at all B <= 1e5. With 0.05 the ratio is
0.45 to 0.63 at B = 1e5, and f~ was never below f* in 1.6 million stationary episodes; with 0.02 it
was below f* in a fifth of them.

As base algorithm: C(t) = sqrt(H^3 S A t) + H^2 S A up to logarithms (Wei and Luo 2021, Section 2.1,
over H); here rho(t) = sqrt(H^3 S A ln(1 + t) / t) + H^2 S A / t.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from confee.core import schema
from confee.core.jit import leaf, njit, over
from confee.policies import blocks, scheduled
from confee.policies.algorithm import Algorithm
from confee.world.episodes import step
from confee.world.settings import EPISODIC

# Parts of an instance, each [H, S, A]: Q; visits; the greedy rule; V at [h, s, 0]; at [h, 0, 0] one
# more than the state in which actions are tied at step h, or 0.
Q, VISITS, RULE, VALUE, TIED = range(5)


@njit
def new_instances(count, known, constants):
    H, S, A = known
    return np.zeros((count, 5, H, S, A))


@leaf
def begin(instance, known, constants):
    H = known[0]
    instance[:] = 0.0
    instance[Q] = H
    instance[VALUE] = H


@njit
def act(instance, tau, known, constants, rng):
    """The greedy rule, ties at random once the values of a state change, and f~."""
    H, S, A = known
    for h in range(H):
        if tau == 0:
            for s in range(S):
                decide(instance, h, s, A, rng)
        elif instance[TIED, h, 0, 0] > 0.0:
            decide(instance, h, int(instance[TIED, h, 0, 0]) - 1, A, rng)
            instance[TIED, h, 0, 0] = 0.0
    return instance[RULE], instance[VALUE, 0, 0, 0] / H


@leaf
def decide(instance, h, s, A, rng):
    """A random one of the best actions in state s at step h."""
    action, top, ties = 0, -np.inf, 0
    for a in range(A):
        instance[RULE, h, s, a] = 0.0
        if instance[Q, h, s, a] > top:
            action, top, ties = a, instance[Q, h, s, a], 1
        elif instance[Q, h, s, a] == top:
            ties += 1
            if rng.random() * ties < 1.0:
                action = a
    instance[RULE, h, s, action] = 1.0


@leaf
def learn(instance, known, constants, data, rule, reward):
    """One episode. Steps in order, so V_{h+1} is what it was before the episode."""
    H, _, A = known
    for h in range(H):
        s, a, target = step(data, h)
        if h < H - 1:
            target += instance[VALUE, h + 1, step(data, h + 1)[0], 0]
        t = instance[VISITS, h, s, a] + 1.0
        instance[VISITS, h, s, a] = t
        alpha = (H + 1.0) / (H + t)
        target += constants / math.sqrt(t)
        instance[Q, h, s, a] = (1.0 - alpha) * instance[Q, h, s, a] + alpha * target

        # The rule's row changes here unless actions are tied, which is left to the next `act`.
        best, top, ties = 0, -np.inf, 0
        for b in range(A):
            if instance[Q, h, s, b] > top:
                best, top, ties = b, instance[Q, h, s, b], 1
            elif instance[Q, h, s, b] == top:
                ties += 1
        instance[VALUE, h, s, 0] = min(float(H), top)
        if ties > 1:
            instance[TIED, h, 0, 0] = s + 1.0
        elif best != a:
            instance[RULE, h, s, a] = 0.0
            instance[RULE, h, s, best] = 1.0


@njit
def replayed(instance, data):
    """Rules of its past episodes, each as often as it was played."""
    return data


@leaf
def rho(t, known):
    """sqrt(H^3 S A ln(1 + t) / t) + H^2 S A / t."""
    H, S, A = known
    return math.sqrt(H**3 * S * A * math.log(1.0 + t) / t) + H**2 * S * A / t


@dataclass(frozen=True)
class Options:
    """The option of Q-UCB: the factor of the theory's bonus."""

    bonus: float = schema.real(
        1.0,
        low=0,
        high=1e6,
        about="multiplies the exploration bonus; with 0.05 the policy learns at B <= 1e5",
    )


def constants(known, T, options):
    """b_1; the bonus of visit t is b_1 / sqrt(t)."""
    H, S, A = known
    return options.bonus * math.sqrt(H**3 * math.log(S * A * T**2 * H))


Q_UCB = Algorithm(
    id="q_ucb",
    name="Q-UCB",
    setting=EPISODIC,
    new_instances=new_instances,
    begin=begin,
    act=act,
    learn=learn,
    replayed=replayed,
    rho=rho,
    chances=over(blocks.ratios, __name__, rho=rho),
    constants=constants,
    error=lambda known: math.sqrt(known[0] ** 3 * known[1] * known[2]),
    options=Options,
)

POLICY = scheduled.paced(Q_UCB, __name__)
