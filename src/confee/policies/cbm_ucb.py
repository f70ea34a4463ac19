"""CBM-UCB (Efroni, Merlis, Saha, Mannor 2021): query if the confidence interval is wide.

The policy plays UCB1 on the clock of rounds: the arm with the largest mean + w, where
w = sqrt(2 ln t / n) and n counts the arm's queries. Round t is a query if and only if

    w > threshold sqrt(2 K ln t / B(t)),

where B(t) queries are available by round t. Idle rounds play the same arm without feedback. The
paper's budget may be any non-decreasing B(t), revealed over time and chosen by an adversary; regret
is of order sum_t sqrt(K / B(t)), up to logarithms. Here B(t) = ceil(t B / T), the queries of the
schedule `paced`, so that this sum is 2 T sqrt(K / B): the stationary row of the
constrained-feedback paper's Table 1. `available: upfront` is B(t) = B.

The logarithm on both sides cancels: a round is a query if n < B(t) / (K threshold^2), so no arm
takes more than its share of B(t) and one query. Threshold 1 is the largest share that keeps within
B(t) + K queries; without the logarithm an arm would take ln t times as many. (The rule follows the
paper's abstract: query where the interval is wider than the inverse root of the budget available.
Other constants correspond to another `threshold`.) Queries beyond B are denied, round by round.

The policy is given T and B. Cost: O(K) per query, and a bisection whenever the growth of ln t
changes the leading arm between queries, at most K - 1 times in a row.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from confee.core import schema
from confee.core.jit import leaf, njit
from confee.policies.base import Policy
from confee.policies.growth import Growth
from confee.policies.look import LONG, Look
from confee.policies.queries import share
from confee.policies.ucb import MEAN, PLAYS, WIDTH, new_ucb, update
from confee.world.game import idle, new_data, query


@njit
def play(world, ledger, K, T, B, paced, threshold, rng):
    """Play the leading arm in idle rounds until a query is due or another arm leads."""
    ucb = new_ucb(K)
    leaders = np.zeros(K)  # 1 for the arms of the largest index
    data = new_data(K)
    t = 1
    while t <= T:
        lead(ucb, t, leaders)
        due = due_round(ucb, leaders, T, B, paced, threshold)
        if due <= t and ledger.queries < B:
            arm = pick(leaders, rng)
            reward = query(world, ledger, data, t, arm, rng)
            update(ucb, arm, reward)
            t += 1
            continue
        if ledger.queries < B:
            stop = change_of_lead(ucb, t, min(due, T + 1), leaders)
        else:
            stop = change_of_lead(ucb, t, T + 1, leaders)
            ledger.denied += max(0, stop - max(due, t))
        idle(world, ledger, data, t, stop, leaders, rng)
        t = stop


@leaf
def lead(ucb, t, leaders):
    """Mark the arm with the largest index in round t, or several with equal counts and indices.

    Of arms with equal indices and different counts the one with fewer queries leads: its index
    grows faster, so it leads in the next round.
    """
    root = math.sqrt(2.0 * math.log(t))
    top, least = -1.0, np.inf
    for k in range(leaders.shape[0]):
        value = index(ucb, k, root)
        if value > top or (value == top and ucb[PLAYS, k] < least):
            top, least = value, ucb[PLAYS, k]
    for k in range(leaders.shape[0]):
        alike = ucb[PLAYS, k] == least and index(ucb, k, root) == top
        leaders[k] = 1.0 if alike else 0.0


@leaf
def index(ucb, k, root):
    """Mean + root / sqrt(n); infinite for an arm without a query."""
    return np.inf if ucb[PLAYS, k] == 0.0 else ucb[MEAN, k] + root * ucb[WIDTH, k]


@njit
def pick(leaders, rng):
    """Draw one of the leaders."""
    left = 0
    for k in range(leaders.shape[0]):
        left += int(leaders[k])
    left = rng.integers(0, left) if left > 1 else 0
    for k in range(leaders.shape[0]):
        if leaders[k] > 0.0:
            if left == 0:
                return k
            left -= 1
    return -1


@leaf
def due_round(ucb, leaders, T, B, paced, threshold):
    """The first round t with B(t) > K threshold^2 n, where n counts the queries of a leader."""
    n = ucb[PLAYS, leaders.argmax()]
    used = leaders.shape[0] * (threshold * threshold) * n
    if used >= B:
        return T + 1
    # B(t) = ceil(t B / T) is an integer, so it exceeds `used` once it exceeds floor(used).
    return 1 + share(T, int(used), B) if paced else 1


@leaf
def change_of_lead(ucb, t, stop, leaders):
    """The first round in t+1..stop-1 with other leaders than in t; `stop` if there is none.

    The indices are linear in sqrt(2 ln t), so an arm that leads in two rounds leads in between.
    """
    if stop - 1 <= t or leads_still(ucb, stop - 1, leaders):
        return stop
    low, high = t, stop - 1
    while high - low > 1:
        middle = low + (high - low) // 2
        if leads_still(ucb, middle, leaders):
            low = middle
        else:
            high = middle
    return high


@leaf
def leads_still(ucb, t, leaders):
    """Whether no other arm has a larger index than the leaders in round t."""
    root = math.sqrt(2.0 * math.log(t))
    best, other = -1.0, -1.0
    for k in range(leaders.shape[0]):
        if leaders[k] > 0.0:
            best = max(best, index(ucb, k, root))
        else:
            other = max(other, index(ucb, k, root))
    return other < best


@dataclass(frozen=True)
class Options:
    """The options of CBM-UCB: B(t), and the factor of the threshold."""

    available: str = schema.choice(
        "paced",
        "paced",
        "upfront",
        about="B(t), the queries available by round t: t B / T if paced, B if upfront",
    )
    threshold: float = schema.real(
        1.0,
        above=0,
        about="a round is a query if the confidence width exceeds this times sqrt(2 K ln t / B(t))",
    )


def arguments(known, options):
    return options.available == "paced", float(options.threshold)


POLICY = Policy(
    id="cbm_ucb",
    name="CBM-UCB",
    summary="CBM-UCB: UCB1 that queries only where its confidence interval is wide",
    kernel=play,
    options=Options,
    arguments=arguments,
    look=Look("#25D8D0", "8", LONG, place=13),
    growth=Growth(claimed="stationary"),
)
