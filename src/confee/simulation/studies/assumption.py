"""The assumption on ALG, measured: one instance that sees every round of a world that nearly stands
still. Each base algorithm has a study, `assumption_<alg>`, made by `over`.

At each round t with V_[1,t] <= rho(t) (the premise) two inequalities are looked at:

1. f~_t >= min_{tau <= t} f*_tau - V_[1,t];
2. mean over tau <= t of (f~_tau - R_tau) <= c rho(t) + V_[1,t].

rho is the algorithm's own, V what paths of its setting measure. (Wei and Luo multiply V by the
norms of their proofs, d sqrt(ln T) for OFUL; the premise then allows less, and the inequalities
more.) `near_stationary` asks the same of UCB1, in worlds that drift in every round.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from confee.core import jit, schema
from confee.core.canonical import stream
from confee.core.jit import njit
from confee.policies.algorithm import Algorithm
from confee.policies.ucb import act, begin, learn, new_instances, rho
from confee.simulation.studies.base import Rows, Study
from confee.world.adversaries.linear_switching import features_of
from confee.world.game import new_ledger, new_memories, query
from confee.world.mdp import Episodes
from confee.world.path import Environment, Path, known
from confee.world.structured import Structured, directions

WORLDS = ("equal", "better", "fall", "drop", "overtaken", "exchange")

STEPS = 32
"""A fall goes down so many steps, evenly over time."""

RIVAL = 0.2
"""What regressors that are not true say of their good actions, over the level."""


ROUNDING = 1e-12
"""By how much f~ may be short of what it must be without being so: sums of rewards are rounded."""


class Piece(NamedTuple):
    """From round `start` on all decisions are worth `level`, but the good one, worth `gap` more.

    Which decision number `good` is, the setting says: an arm, a map from contexts or states to
    actions; what is like it is worth some of the gap, too.
    """

    start: int
    level: float
    gap: float = 0.0
    good: int = 0


def over(alg: Algorithm, module: str) -> Study:
    """Return the study of `alg` that is declared in `module`, where its kernel is cached."""
    kernel: Callable[..., tuple] = jit.over(watch, module, **alg.calls)

    def run(
        T: int,
        world: str,
        level: float,
        gap: float,
        runs: int,
        sizes: Mapping[str, int],
        options: Mapping[str, float],
        variant: str,
    ) -> Rows:
        """One row a run: how far each inequality was from being broken at its worst round.

        sizes: see BUILDERS. options: of the algorithm; variant: a label for them.
        `short`: the largest (min f* - V - f~) / rho(t) over rounds with f~ < 1 (at 1 it can't
        break); over 0 the first inequality is broken. `needed`: the largest (mean of (f~ - R) -
        V) / rho(t); over c the second is broken. `short_at`, `needed_at`: those rounds. `final`:
        the second at the last of the `rounds` that were looked at.
        """
        about = {**sizes, "T": T, "world": world, "level": level, "gap": gap, "variant": variant}
        path, spent = nearly_still(alg, T, world, level, gap, sizes)
        told = known(path, alg.setting.id)
        constants = alg.constants(told, T, schema.build(alg.options, dict(options), "options"))
        rows = alg.setting.game.new_world(path)
        tops = best_values(path)
        found = []
        for i in range(runs):
            rng = stream("study", "assumption", alg.id, about, dict(options), i)
            row = kernel(rows, new_ledger(), told, constants, tops, spent, T, rng)
            found.append({**about, "run": i, **dict(zip(RECORDED, row, strict=True))})
        return found

    return Study(module.rpartition(".")[2], run, smallest(alg))


def best_values(path: Environment) -> np.ndarray:
    """f* in each segment."""
    return path.top if isinstance(path, Episodes) else path.mean.max(axis=1)  # type: ignore[attr-defined]


RECORDED = ("short", "short_at", "needed", "needed_at", "final", "rounds")


def smallest(alg: Algorithm) -> dict[str, Any]:
    """Parameters that compile the kernels of a study in no time."""
    sizes = {
        "arms": {"K": 2},
        "linear": {"K": 2, "d": 2},
        "logistic": {"K": 2, "d": 2},
        "contextual": {"K": 2, "contexts": 2, "maps": 2},
        "episodic": {"K": 2, "states": 2, "H": 2},
    }[alg.setting.id]
    return {
        "T": 16,
        "world": "equal",
        "level": 0.5,
        "gap": 0.0,
        "runs": 1,
        "sizes": sizes,
        "options": {},
        "variant": "theory",
    }


# --------------------------------------------------------------------------- worlds


def nearly_still(
    alg: Algorithm, T: int, world: str, level: float, gap: float, sizes: Mapping[str, int]
) -> tuple[Environment, np.ndarray]:
    """(path, V up to each of its segments): it spends at most rho(T), so that the premise holds in
    every round.

    equal: all decisions at `level`. better: one at `level` + `gap`. The others move by as much as
    rho(T) pays for. fall: all at once, in equal steps over 1..T. drop: all at once, after T / e,
    which biases means most. overtaken: the better decision falls, after T / e. exchange: the better
    one falls then as another rises, so that f* stays.
    """
    build = BUILDERS[alg.setting.id]

    def made(size: float) -> Environment:
        return build(pieces(world, level, gap, size, T), T, **sizes)

    size = 0.0
    if world not in ("equal", "better"):
        limit = alg.rho(T, known(made(0.0), alg.setting.id))
        size = _largest(lambda x: made(x).variation() <= limit, level if gap == 0 else gap + level)
    path = made(size)
    told = pieces(world, level, gap, size, T)
    spent = [build(told[: i + 1], T, **sizes).variation() for i in range(len(told))]
    return path.checked(T, spent[-1]), np.array(spent)


def pieces(world: str, level: float, gap: float, size: float, T: int) -> list[Piece]:
    """The pieces of a world that moves by `size`, see `nearly_still`."""
    after = max(2, math.ceil(T / math.e))
    if world == "fall":
        steps = min(STEPS, T - 1)
        return [Piece(1 + i * T // (steps + 1), level - size * i / steps) for i in range(steps + 1)]
    equal, better = Piece(1, level), Piece(1, level, gap)
    other = Piece(1, level - size, size)
    return {
        "equal": [equal],
        "better": [better],
        "drop": [equal, Piece(after, level - size)],
        "overtaken": [better, Piece(after, level, gap - size)],
        "exchange": [other, other._replace(start=after, good=1)],
    }[world]


def _largest(allowed: Callable[[float], bool], upto: float) -> float:
    """The largest number in [0, upto] that is allowed, if all smaller ones are."""
    low, high = 0.0, upto
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if allowed(middle) else (low, middle)
    return low


def arms(pieces: Sequence[Piece], T: int, K: int) -> Path:
    """K arms."""
    mean = np.array([one.level + one.gap * (np.arange(K) == one.good) for one in pieces])
    return Path.steps(np.array([one.start for one in pieces]), mean, T)


def linear(pieces: Sequence[Piece], T: int, K: int, d: int) -> Structured:
    """x_k = (1, u_k) / sqrt 2, as in `linear_switching`: mean level + gap <u_k, u_good>."""
    towards, features = _features(K, d)
    theta = [np.append(one.level, one.gap * towards[one.good]) for one in pieces]
    start = np.array([one.start for one in pieces])
    return Structured.of(start, np.array(theta) * math.sqrt(2), features, T)


def logistic(pieces: Sequence[Piece], T: int, K: int, d: int) -> Structured:
    """The same features; the mean of arm k has the log odds of `level`, and <u_k, u_good> times
    those that `level` + `gap` has more."""
    towards, features = _features(K, d)
    theta = []
    for one in pieces:
        base = odds(one.level)
        theta.append(np.append(base, (odds(one.level + one.gap) - base) * towards[one.good]))
    start = np.array([one.start for one in pieces])
    return Structured.of(start, np.array(theta) * math.sqrt(2), features, T, "logistic")


def odds(mean: float) -> float:
    """The logarithm of the odds."""
    return math.log(mean / (1 - mean))


def _features(K: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """(directions u_k [K, d - 1], features [K, d])."""
    towards = directions(K, d - 1, stream("study", "assumption", "features", K, d))
    return towards, features_of(towards)


def contextual(pieces: Sequence[Piece], T: int, K: int, contexts: int, maps: int) -> Episodes:
    """The good actions are those of a map, contexts are alike. The class of regressors holds what
    is true at some time, and every map's good actions at RIVAL over the level."""
    good = _good(maps, contexts, K, "maps")
    reward = np.array([one.level + one.gap * good[one.good] for one in pieces])
    rivals = np.minimum(pieces[0].level + RIVAL * good, 1.0)
    regressors = np.unique(np.concatenate([reward, rivals]), axis=0)
    start = np.array([one.start for one in pieces])
    return Episodes.contexts(start, np.full(contexts, 1 / contexts), reward, regressors, T)


def episodic(pieces: Sequence[Piece], T: int, K: int, states: int, H: int) -> Episodes:
    """The good actions are those of a map from states, whatever the step; chances of the next state
    are drawn once, uniformly (Dirichlet)."""
    good = _good(2, states, K, "states")
    rng = stream("study", "assumption", "moves", K, states)
    move = rng.dirichlet(np.ones(states), (states, K))
    start = np.array([one.start for one in pieces])
    reward = np.array([one.level + one.gap * good[one.good] for one in pieces])
    return Episodes.episodic(start, reward, move, H, T)


def _good(count: int, states: int, K: int, name: str) -> np.ndarray:
    """Whether an action is the good one, of `count` maps: [count, states, K]. The second one
    differs from the first in every state."""
    chosen = stream("study", "assumption", name, count, states, K).integers(0, K, (count, states))
    chosen[1] = (chosen[0] + 1) % K
    return (chosen[:, :, None] == np.arange(K)).astype(float)


BUILDERS: dict[str, Callable[..., Any]] = {
    "arms": arms,
    "linear": linear,
    "logistic": logistic,
    "contextual": contextual,
    "episodic": episodic,
}
"""Setting -> `build(pieces, T, **sizes)`; what the sizes are, its further arguments say."""


# --------------------------------------------------------------------------- the two inequalities


@njit
def watch(world, ledger, known, constants, tops, spent, T, rng):
    """Plays ALG in every round and looks at both inequalities after each (see `run`).

    tops, spent: f* in each segment, and V up to its first round.
    """
    instance = new_instances(1, known, constants)[0]
    begin(instance, known, constants)
    data = new_memories(1, world)[0]
    segment, least, total = 0, 1.0, 0.0
    short, needed, final = -math.inf, -math.inf, math.nan
    short_at = needed_at = rounds = 0
    for t in range(1, T + 1):
        if t >= world[segment + 1, 0]:
            segment += 1
        least = min(least, tops[segment])
        decision, value = act(instance, t - 1, known, constants, rng)
        reward = query(world, ledger, data, t, decision, rng)
        learn(instance, known, constants, data, decision, reward)
        total += value - reward

        allowed = rho(t, known)
        if spent[segment] > allowed * (1 + 1e-9):
            continue
        rounds += 1
        if value < 1.0:
            distance = (least - spent[segment] - value - ROUNDING) / allowed
            if distance > short:
                short, short_at = distance, t
        final = (total / t - spent[segment]) / allowed
        if final > needed:
            needed, needed_at = final, t
    return short, short_at, needed, needed_at, final, rounds
