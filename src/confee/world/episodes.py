"""One play of a path of episodes: what a queried episode shows, and idle runs in closed form.

The accounts are those of `confee.world.game`, with rules in the place of arms. Idle rounds play the
rule of a past query round, drawn uniformly, so what they lose is the mean of those rules' losses.

Rules are not arms, but what a rule gains is linear in how often it takes each action in each state,

    value = sum_{s,a} n(s, a) r(s, a) / H,    n(s, a) = E #{steps of an episode in s that take a},

and n depends on the moves alone. So a memory sums n over its query rounds, for each of the distinct
moves that are still to come, and the values of all its rules in any segment, rewards changed or
not, are one product: a rule costs O(H S^2) for each of the moves when it comes, and an idle run
O(S A) a segment, whatever was played before. Both are exact.
"""

from __future__ import annotations

import numpy as np

from confee.core.jit import inlined, leaf, njit
from confee.world.game import START, go_blind, locate, turn
from confee.world.mdp import Episodes

# A world row is a segment: its first round, the value of the best rule, the number of its moves
# among the distinct ones, the chances of the first state, mean rewards [S, A], chances of the next
# state [S, A, S] if there is a next one. Row i < M also says of moves number i in which segments
# they are first and last. The row after the last segment starts at T + 1 and holds H, S, A and M.
TOP, MOVES, SINCE, UNTIL, FIRST = 1, 2, 3, 4, 5

# What is remembered: of how many queries, how many of them by the last rule; the last episode as
# (state, action, reward) for each step; the value of the last rule, and in which segment; the sum
# of those of the rules before, and in which segment; room to work in [2, S]; the last rule: the
# action it takes for sure, or -1, [H, S], and all its chances, [H, S, A]; its n for each of the
# moves, [M, S, A]; the sums of the n of the rules before.
COUNT, FRESH, SEEN = 0, 1, 2


def new_world(path: Episodes) -> np.ndarray:
    """`path` as kernels read it."""
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
    world[-1, 1:5] = (*path.shape, len(since))
    return world


def distinct(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(where each distinct row is first, which of them each row is)."""
    found: dict[bytes, int] = {}
    number = [found.setdefault(row.tobytes(), len(found)) for row in np.ascontiguousarray(rows)]
    return np.unique(number, return_index=True)[1], np.array(number)


@inlined
def sizes(world):
    """H, S, A, M."""
    last = world.shape[0] - 1
    return int(world[last, 1]), int(world[last, 2]), int(world[last, 3]), int(world[last, 4])


@inlined
def places(H, S, A):
    """Where in a memory the value of the last rule is, its actions, chances and n."""
    value = SEEN + 3 * H
    actions = value + 4 + 2 * S
    chances = actions + H * S
    return value, actions, chances, chances + H * S * A


@njit
def new_memories(count, world):
    """Room for `count` memories."""
    H, S, A, M = sizes(world)
    _, _, _, counts = places(H, S, A)
    return np.zeros((count, counts + 2 * M * S * A))


@njit
def anything(world):
    """A memory of the uniform rule."""
    memory = new_memories(1, world)[0]
    H, S, A, _ = sizes(world)
    adopt(memory, np.full((H, S, A), 1.0 / A))
    turn_to(world, memory, 0)
    memory[COUNT] = memory[FRESH] = 1.0
    return memory


@njit
def same(data, chances, rule):
    """Whether the last rule remembered is `rule`."""
    flat = rule.ravel()
    last = data[chances : chances + flat.shape[0]]
    apart = 0  # summed in whole numbers, several at once: half the time
    for i in range(flat.shape[0]):
        apart += last[i] != flat[i]
    return apart == 0


@njit
def adopt(data, rule):
    """Makes `rule` the last one: in how many steps and states, of those where it is another than
    before, it has no chances that sum to 1."""
    H, S, A = rule.shape
    _, actions, chances, _ = places(H, S, A)
    wrong = 0
    for h in range(H):
        for s in range(S):
            here = chances + (h * S + s) * A
            action = int(data[actions + h * S + s])
            if action >= 0 and data[here + action] == rule[h, s, action] == 1.0:
                continue  # it takes the same one for sure
            action, total, least = -1, 0.0, 0.0
            for a in range(A):
                chance = rule[h, s, a]
                data[here + a] = chance
                total += chance
                least = min(least, chance)
                if chance == 1.0:
                    action = a
            data[actions + h * S + s] = action
            if least < 0.0 or not abs(total - 1.0) < 1e-9:
                wrong += 1
    return wrong


@leaf
def turn_to(world, data, segment):
    """The last rule is a new one: its n under all moves from `segment` on."""
    H, S, A, M = sizes(world)
    value, _, _, counts = places(H, S, A)
    for m in range(M):
        if world[m, UNTIL] >= segment:
            place = counts + m * S * A
            for i in range(place, place + S * A):
                data[i + M * S * A] += data[FRESH] * data[i]
            count_actions(world, int(world[m, SINCE]), data, place)
    data[FRESH] = 0.0
    data[value + 1] = data[value + 3] = -1.0  # known in no segment


@leaf
def count_actions(world, segment, data, counts):
    """n of the last rule under the moves of a segment, to data[counts:]."""
    H, S, A, _ = sizes(world)
    value, actions, chances, _ = places(H, S, A)
    move = FIRST + S + S * A
    row = world[segment]  # views of it all: half the time of one array with places
    here, after = data[value + 4 : value + 4 + S], data[value + 4 + S : value + 4 + 2 * S]
    n = data[counts : counts + S * A]
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
            action = int(data[actions + h * S + s])
            if action >= 0:
                n[s * A + action] += reached
                if h < H - 1:
                    to = move + (s * A + action) * S
                    for x in range(S):
                        after[x] += reached * row[to + x]
            else:
                for a in range(A):
                    chance = reached * data[chances + (h * S + s) * A + a]
                    n[s * A + a] += chance
                    if h < H - 1:
                        to = move + (s * A + a) * S
                        for x in range(S):
                            after[x] += chance * row[to + x]
        here, after = after, here


@leaf
def gain(world, segment, data, counts, known):
    """sum n(s, a) r(s, a) / H in a segment, n at data[counts:]; kept at data[known:]."""
    if data[known + 1] != segment:
        H, S, A, _ = sizes(world)
        n = data[counts : counts + S * A]
        mean = world[segment, FIRST + S : FIRST + S + S * A]
        total = 0.0
        for i in range(S * A):
            total += n[i] * mean[i]
        data[known], data[known + 1] = total / H, segment
    return data[known]


@inlined
def query(world, ledger, data, t, rule, rng):
    """Plays round t by `rule` and looks: the mean reward of an episode's steps. Joins `data`."""
    if t != ledger.next:
        ledger.faults += 1
    ledger.next = t + 1
    segment = locate(world, ledger, t)
    H, S, A = rule.shape
    value, actions, chances, counts = places(H, S, A)
    if not same(data, chances, rule):
        ledger.wrong += adopt(data, rule)
        turn_to(world, data, segment)
    place = counts + int(world[segment, MOVES]) * S * A
    ledger.regret_query += world[segment, TOP] - gain(world, segment, data, place, value)
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
        action = int(data[actions + h * S + state])
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
    """One of `count` things, whose chances are chances[place:]; no number is drawn if it is
    certain."""
    left = 2.0  # not drawn yet
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
    """Plays rounds start..stop-1 blind, each by the rule of a query round that `replayed`
    remembers, drawn uniformly: adds the exact expectation. Cost: O(S A) a segment crossed."""
    if stop > start:
        run_blind(world, ledger, start, stop, replayed)


@leaf
def run_blind(world, ledger, start, stop, replayed):
    """`idle` of at least one round."""
    stop = go_blind(world, ledger, start, stop)
    if not replayed[COUNT] > 0.0:
        ledger.wrong += 1
        return
    H, S, A, M = sizes(world)
    value, _, _, counts = places(H, S, A)
    while start < stop:
        segment = locate(world, ledger, start)
        end = min(stop, int(world[segment + 1, START]))
        place = counts + int(world[segment, MOVES]) * S * A
        total = gain(world, segment, replayed, place + M * S * A, value + 2)
        total += replayed[FRESH] * gain(world, segment, replayed, place, value)
        ledger.regret_idle += (end - start) * (world[segment, TOP] - total / replayed[COUNT])
        start = end
