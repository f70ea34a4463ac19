"""The game of one run on a path of episodes: what a queried episode shows, and idle rounds exactly.

The ledger is that of `confee.world.game`, with rules in place of arms. Idle rounds play the rule of
a past query round, drawn uniformly, so their expected loss is the mean loss of those rules.

The value of a rule is linear in how often it takes each action in each state,

    value = sum_{s,a} n(s, a) r(s, a) / H,    n(s, a) = E #{steps of an episode in s that take a},

and n depends on the transitions alone. So a memory sums n over its query rounds, once for each of
the distinct transitions still to come. The values of all its rules in any segment, whatever the
rewards there, are then one product. A new rule costs O(H S^2) for each of the transitions, and an
idle streak O(S A) per segment crossed, whatever was played before. Both are exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from confee.core.jit import inlined, leaf, njit
from confee.world.game import START, begin_idle, locate, turn
from confee.world.mdp import Episodes

# Columns of `world`, whose row s is segment s of the path: its first round (START), the value of
# the best rule, and the number of its transitions among the distinct ones. Row m also holds the
# first and the last segment with transitions number m. From FIRST on lie the chances of the first
# state, [S], mean rewards, [S, A], and if H > 1 the chances of the next state, [S, A, S].
TOP, MOVES, SINCE, UNTIL, FIRST = 1, 2, 3, 4, 5

# Columns of the row after the last segment, which starts at T + 1; M is the number of distinct
# transitions.
STEPS, STATES, ACTIONS, DISTINCT = 1, 2, 3, 4

# First entries of a memory: its query rounds, and those of them that played the last rule; then the
# state, action and reward of each step of the last episode. `places` says where the rest lies.
COUNT, FRESH, SEEN = 0, 1, 2


class Places(NamedTuple):
    """Positions in a memory. The past rules are all but the last one."""

    value: int  # the value of the last rule, and the segment it is for
    past_value: int  # the sum of values of the past rules, and the segment it is for
    scratch: int  # [2, S]
    actions: int  # the action that the last rule takes for sure, or -1, [H, S]
    chances: int  # all chances of the last rule, [H, S, A]
    n: int  # n of the last rule for each of the transitions, [M, S, A]; then their past sums


def new_world(path: Episodes) -> np.ndarray:
    """Return `path` as kernels read it."""
    N, S, A = path.reward.shape
    moves = path.move.reshape(N, -1) if path.H > 1 else np.zeros((N, 0))
    since, number = distinct(moves)
    world = np.zeros((N + 1, FIRST + S + S * A + moves.shape[1]))
    world[:, START] = path.start
    world[:-1, TOP] = path.top
    world[:-1, MOVES] = number
    world[: len(since), SINCE] = since
    world[number, UNTIL] = np.arange(N)
    world[:-1, FIRST : FIRST + S] = path.first
    world[:-1, FIRST + S : FIRST + S + S * A] = path.reward.reshape(N, -1)
    world[:-1, FIRST + S + S * A :] = moves
    world[-1, STEPS : DISTINCT + 1] = (*path.shape, len(since))
    return world


def distinct(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where each distinct row occurs first, and for each row its number among them."""
    numbers: dict[bytes, int] = {}
    number = [numbers.setdefault(row.tobytes(), len(numbers)) for row in np.ascontiguousarray(rows)]
    return np.unique(number, return_index=True)[1], np.array(number)


@inlined
def sizes(world):
    """Return H, S, A and M."""
    last = world[world.shape[0] - 1]
    return int(last[STEPS]), int(last[STATES]), int(last[ACTIONS]), int(last[DISTINCT])


@inlined
def places(H, S, A):
    """Return the positions in a memory."""
    value = SEEN + 3 * H
    actions = value + 4 + 2 * S
    chances = actions + H * S
    return Places(value, value + 2, value + 4, actions, chances, chances + H * S * A)


@inlined
def step(data, h):
    """Return state, action and reward in step h of the last episode that `data` remembers."""
    place = SEEN + 3 * h
    return int(data[place]), int(data[place + 1]), data[place + 2]


@njit
def new_memories(count, world):
    """Return `count` empty memories, one a row."""
    H, S, A, M = sizes(world)
    return np.zeros((count, places(H, S, A).n + 2 * M * S * A))


@njit
def anything(world):
    """Return a memory of one query round by the uniform rule."""
    memory = new_memories(1, world)[0]
    H, S, A, _ = sizes(world)
    adopt(memory, np.full((H, S, A), 1.0 / A))
    turn_to(world, memory, 0)
    memory[COUNT] = memory[FRESH] = 1.0
    return memory


@njit
def same(data, chances, rule):
    """Return whether the last rule remembered is `rule`."""
    flat = rule.ravel()
    last = data[chances : chances + flat.shape[0]]
    apart = 0  # A sum of whole numbers is vectorised: half the time of an early exit.
    for i in range(flat.shape[0]):
        apart += last[i] != flat[i]
    return apart == 0


@njit
def adopt(data, rule):
    """Make `rule` the last one; return the number of its rows that are no chances.

    Rows that are those of the rule before are not looked at again.
    """
    H, S, A = rule.shape
    at = places(H, S, A)
    wrong = 0
    for h in range(H):
        for s in range(S):
            here = at.chances + (h * S + s) * A
            action = int(data[at.actions + h * S + s])
            if action >= 0 and data[here + action] == rule[h, s, action] == 1.0:
                continue  # The rule takes the same action for sure as before.
            action, total, least = -1, 0.0, 0.0
            for a in range(A):
                chance = rule[h, s, a]
                data[here + a] = chance
                total += chance
                least = min(least, chance)
                if chance == 1.0:
                    action = a
            data[at.actions + h * S + s] = action
            if least < 0.0 or not abs(total - 1.0) < 1e-9:
                wrong += 1
    return wrong


@leaf
def turn_to(world, data, segment):
    """Replace n of the last rule, now a past one, by that of the new one from `segment` on."""
    H, S, A, M = sizes(world)
    at = places(H, S, A)
    for m in range(M):
        if world[m, UNTIL] >= segment:
            first = at.n + m * S * A
            for i in range(first, first + S * A):
                data[i + M * S * A] += data[FRESH] * data[i]
            count_actions(world, int(world[m, SINCE]), data, first)
    data[FRESH] = 0.0
    data[at.value + 1] = data[at.past_value + 1] = -1.0  # known in no segment


@leaf
def count_actions(world, segment, data, first):
    """Write n of the last rule, under the transitions of `segment`, to data[first:]."""
    H, S, A, _ = sizes(world)
    at = places(H, S, A)
    move = FIRST + S + S * A
    row = world[segment]  # Views take half the time of positions in one array.
    here = data[at.scratch : at.scratch + S]
    after = data[at.scratch + S : at.scratch + 2 * S]
    n = data[first : first + S * A]
    n[:] = 0.0
    for s in range(S):
        here[s] = row[FIRST + s]
    for h in range(H):
        for x in range(S):
            after[x] = 0.0
        for s in range(S):
            reached = here[s]
            if reached == 0.0:
                continue
            action = int(data[at.actions + h * S + s])
            if action >= 0:
                n[s * A + action] += reached
                if h < H - 1:
                    to = move + (s * A + action) * S
                    for x in range(S):
                        after[x] += reached * row[to + x]
            else:
                for a in range(A):
                    chance = reached * data[at.chances + (h * S + s) * A + a]
                    n[s * A + a] += chance
                    if h < H - 1:
                        to = move + (s * A + a) * S
                        for x in range(S):
                            after[x] += chance * row[to + x]
        here, after = after, here


@leaf
def gain(world, segment, data, first, kept):
    """Return sum n(s, a) r(s, a) / H in `segment`, for n at data[first:].

    The result is kept at data[kept:], with its segment.
    """
    if data[kept + 1] != segment:
        H, S, A, _ = sizes(world)
        n = data[first : first + S * A]
        mean = world[segment, FIRST + S : FIRST + S + S * A]
        total = 0.0
        for i in range(S * A):
            total += n[i] * mean[i]
        data[kept], data[kept + 1] = total / H, segment
    return data[kept]


@inlined
def query(world, ledger, data, t, rule, rng):
    """Play round t by `rule` and return the mean reward of its steps. The round joins `data`."""
    if t != ledger.next:
        ledger.faults += 1
    ledger.next = t + 1
    segment = locate(world, ledger, t)
    H, S, A = rule.shape
    at = places(H, S, A)
    if not same(data, at.chances, rule):
        ledger.wrong += adopt(data, rule)
        turn_to(world, data, segment)
    first = at.n + int(world[segment, MOVES]) * S * A
    ledger.regret_query += world[segment, TOP] - gain(world, segment, data, first, at.value)
    data[COUNT] += 1.0
    data[FRESH] += 1.0
    ledger.queries += 1
    turn(ledger, t, 1)

    reward = FIRST + S
    move = reward + S * A
    row = world[segment]
    state = draw(row, FIRST, S, rng)
    total = 0.0
    for h in range(H):
        action = int(data[at.actions + h * S + state])
        if action < 0:
            action = draw(rule[h, state], 0, A, rng)
        paid = 1.0 if rng.random() < row[reward + state * A + action] else 0.0
        data[SEEN + 3 * h] = state
        data[SEEN + 3 * h + 1] = action
        data[SEEN + 3 * h + 2] = paid
        total += paid
        if h < H - 1:
            state = draw(row, move + (state * A + action) * S, S, rng)
    return total / H


@leaf
def draw(chances, place, count, rng):
    """Return one of 0..count-1, whose chances are chances[place:].

    No random number is drawn if one of them is certain.
    """
    left = 2.0  # A number over 1: none is drawn yet.
    for i in range(count - 1):
        chance = chances[place + i]
        if chance > 0.0:
            if chance == 1.0:
                return i
            if left == 2.0:
                left = rng.random()
            left -= chance
            if left < 0.0:
                return i
    return count - 1


@inlined
def idle(world, ledger, data, start, stop, replayed, rng):
    """Play rounds start..stop-1 without observing, and add their exact expected regret.

    Each round plays the rule of a query round that `replayed` remembers, drawn uniformly. Cost:
    O(S A) per segment crossed.
    """
    if stop > start:
        idle_streak(world, ledger, start, stop, replayed)


@leaf
def idle_streak(world, ledger, start, stop, replayed):
    """Play `idle` rounds, at least one."""
    stop = begin_idle(world, ledger, start, stop)
    if not replayed[COUNT] > 0.0:
        ledger.wrong += 1
        return
    H, S, A, M = sizes(world)
    at = places(H, S, A)
    while start < stop:
        segment = locate(world, ledger, start)
        end = min(stop, int(world[segment + 1, START]))
        first = at.n + int(world[segment, MOVES]) * S * A
        total = gain(world, segment, replayed, first + M * S * A, at.past_value)
        total += replayed[FRESH] * gain(world, segment, replayed, first, at.value)
        ledger.regret_idle += (end - start) * (world[segment, TOP] - total / replayed[COUNT])
        start = end
