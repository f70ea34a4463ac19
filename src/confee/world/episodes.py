"""One play of a path of episodes: what a queried episode shows, and idle runs in closed form.

The accounts are those of `confee.world.game`, with rules in the place of arms. Idle rounds play the
rule of a past query round, drawn uniformly, so what they lose is the mean of those rules' losses.
Rules are not arms: their values are found by dynamic programming, in every segment to come and
whenever the rule changes, so that an idle run costs O(1) a segment whatever was played before.
"""

from __future__ import annotations

import numpy as np

from confee.jit import inlined, njit
from confee.world.game import START, locate, turn
from confee.world.mdp import Episodes

# A world row is a segment: its first round, the value of the best rule and of the uniform one, the
# chances of the first state, mean rewards [S, A], chances of the next state [S, A, S]. The row
# after the last segment starts at T + 1 and holds H, S and A.
TOP, ANY, FIRST = 1, 2, 3

# What is remembered: of how many queries, how many of them by the last rule; the last episode as
# (state, action, reward) for each step; the value of the last rule in each segment; the sum of the
# values of the rules before; the last rule.
COUNT, FRESH, SEEN = 0, 1, 2


def new_world(path: Episodes) -> np.ndarray:
    """`path` as kernels read it."""
    N, S, A = path.reward.shape
    world = np.zeros((N + 1, FIRST + S + S * A + S * A * S))
    world[:, START] = path.start
    world[:-1, TOP], world[:-1, ANY] = path.top, path.any
    world[:-1, FIRST : FIRST + S] = path.first
    world[:-1, FIRST + S : FIRST + S + S * A] = path.reward.reshape(N, -1)
    world[:-1, FIRST + S + S * A :] = path.move.reshape(N, -1)
    world[-1, 1:4] = path.shape
    return world


@njit
def new_memories(count, world):
    """Room for `count` memories."""
    segments = world.shape[0] - 1
    H, S, A = world[segments, 1], world[segments, 2], world[segments, 3]
    return np.zeros((count, SEEN + int(3 * H + H * S * A) + 2 * segments))


@njit
def anything(world):
    """A memory of the uniform rule."""
    memory = new_memories(1, world)[0]
    segments = world.shape[0] - 1
    sums = SEEN + 3 * int(world[segments, 1]) + segments
    memory[COUNT] = 1.0
    memory[sums : sums + segments] = world[:segments, ANY]
    return memory


@njit
def value(world, segment, rule, to_go):
    """The value of `rule` [H, S, A] in a segment; to_go [2, S] is room to work in."""
    H, S, A = rule.shape
    reward = FIRST + S
    move = reward + S * A
    now, after = to_go[0], to_go[1]
    after[:] = 0.0
    for h in range(H - 1, -1, -1):
        for s in range(S):
            total = 0.0
            for a in range(A):
                chance = rule[h, s, a]
                if chance > 0.0:
                    paid = world[segment, reward + s * A + a]
                    if h < H - 1:
                        row = move + (s * A + a) * S
                        for x in range(S):
                            paid += world[segment, row + x] * after[x]
                    total += chance * paid
            now[s] = total
        now, after = after, now
    total = 0.0
    for s in range(S):
        total += world[segment, FIRST + s] * after[s]
    return total / H


@njit
def same(data, place, rule):
    """Whether the last rule remembered is `rule`."""
    flat = rule.ravel()
    last = data[place : place + flat.shape[0]]
    apart = 0  # summed in whole numbers, several at once: half the time
    for i in range(flat.shape[0]):
        apart += last[i] != flat[i]
    return apart == 0


@njit
def turn_to(world, ledger, data, segment, rule):
    """`rule` is another one than before: its values, from `segment` on."""
    segments = world.shape[0] - 1
    H, S, A = rule.shape
    current = SEEN + 3 * H
    sums = current + segments
    to_go = np.empty((2, S))
    for i in range(segment, segments):
        data[sums + i] += data[FRESH] * data[current + i]
        data[current + i] = value(world, i, rule, to_go)
    data[FRESH] = 0.0
    data[sums + segments : sums + segments + H * S * A] = rule.ravel()
    for h in range(H):
        for s in range(S):
            total, least = 0.0, 0.0
            for a in range(A):
                total += rule[h, s, a]
                least = min(least, rule[h, s, a])
            if least < 0.0 or not abs(total - 1.0) < 1e-9:
                ledger.wrong += 1


@njit
def query(world, ledger, data, t, rule, rng):
    """Plays round t by `rule` and looks: the mean reward of an episode's steps. Joins `data`."""
    if t != ledger.next:
        ledger.faults += 1
    ledger.next = t + 1
    segment = locate(world, ledger, t)
    segments = world.shape[0] - 1
    H, S, A = rule.shape
    current = SEEN + 3 * H
    if not same(data, current + 2 * segments, rule):
        turn_to(world, ledger, data, segment, rule)
    data[COUNT] += 1.0
    data[FRESH] += 1.0
    ledger.regret_query += world[segment, TOP] - data[current + segment]
    ledger.queries += 1
    turn(ledger, t, 1)

    reward = FIRST + S
    move = reward + S * A
    state = draw(world[segment], FIRST, S, rng)
    total = 0.0
    for h in range(H):
        action = draw(rule[h, state], 0, A, rng)
        paid = 1.0 if rng.random() < world[segment, reward + state * A + action] else 0.0
        data[SEEN + 3 * h] = state
        data[SEEN + 3 * h + 1] = action
        data[SEEN + 3 * h + 2] = paid
        total += paid
        if h < H - 1:
            state = draw(world[segment], move + (state * A + action) * S, S, rng)
    return total / H


@njit
def draw(chances, place, count, rng):
    """One of `count` things, whose chances are chances[place:]."""
    left = rng.random()
    for i in range(count - 1):
        left -= chances[place + i]
        if left < 0.0:
            return i
    return count - 1


@inlined
def idle(world, ledger, data, start, stop, replayed, rng):
    """Plays rounds start..stop-1 blind, each by the rule of a query round that `replayed`
    remembers, drawn uniformly: adds the exact expectation. Cost: O(1) a segment crossed."""
    if stop > start:
        run_blind(world, ledger, start, stop, replayed)


@njit
def run_blind(world, ledger, start, stop, replayed):
    """`idle` of at least one round."""
    segments = world.shape[0] - 1
    last = int(world[segments, START])
    if start != ledger.next or stop > last:
        ledger.faults += 1
    stop = min(stop, last)
    ledger.next = stop
    turn(ledger, start, 0)
    if not replayed[COUNT] > 0.0:
        ledger.wrong += 1
        return
    current = SEEN + 3 * int(world[segments, 1])
    sums = current + segments
    while start < stop:
        segment = locate(world, ledger, start)
        end = min(stop, int(world[segment + 1, START]))
        total = replayed[sums + segment] + replayed[FRESH] * replayed[current + segment]
        ledger.regret_idle += (end - start) * (world[segment, TOP] - total / replayed[COUNT])
        start = end
