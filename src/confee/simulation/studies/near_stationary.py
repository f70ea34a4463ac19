"""One UCB1 instance that sees every round, in a world that nearly stands still (lemma on UCB1).

At each round t with V_[1,t] <= rho(t) (the lemma's premise) two inequalities are looked at:

1. f~_t >= min_{tau <= t} f*_tau - V_[1,t];
2. mean over tau <= t of (f~_tau - R_tau) <= c rho(t) + V_[1,t].

f~ is the index of the arm chosen, cut at 1, and 1 while that arm is unplayed.
"""

from __future__ import annotations

import math

import numpy as np

from confee.core.canonical import stream
from confee.core.jit import njit
from confee.paper import theory
from confee.policies.change_tests import rho
from confee.policies.ucb import choose, new_ucb, update
from confee.simulation.studies.base import Rows, Study
from confee.world.game import BEST, MEANS, START, mean_at, new_world, slope_of
from confee.world.path import Path

WORLDS = ("equal", "better", "fall", "drop", "overtaken", "exchange")


def run(
    K: int, T: int, world: str, level: float, gap: float, exploration: float, runs: int
) -> Rows:
    """One row a run: how far each inequality was from being broken at its worst round.

    exploration: the index is mean + sqrt(exploration ln tau / plays); UCB1 has 2, no bonus 0.
    `short`: the largest (min f* - V - f~) / rho(t) over rounds with f~ < 1 (at 1 it can't break);
    over 0 the first inequality is broken. `needed`: the largest (mean of (f~ - R) - V) / rho(t);
    over c the second is broken. `short_at`, `needed_at`: those rounds. `final`: the second at T.
    """
    about = {"K": K, "T": T, "world": world, "level": level, "gap": gap, "exploration": exploration}
    rows = new_world(path(K, T, world, level, gap))
    found = []
    for i in range(runs):
        rng = stream("study", "near_stationary", about, i)
        short, short_at, needed, needed_at, final, rounds = watch(rows, K, T, exploration, rng)
        found.append(
            {**about, "run": i, "short": short, "short_at": short_at, "needed": needed}
            | {"needed_at": needed_at, "final": final, "rounds": rounds}
        )
    return found


STUDY = Study(
    "near_stationary",
    run,
    {"K": 2, "T": 16, "world": "equal", "level": 0.5, "gap": 0.0, "exploration": 2.0, "runs": 1},
)


def path(K: int, T: int, world: str, level: float, gap: float) -> Path:
    """A path that spends at most rho(T), so that the lemma's premise holds at every round.

    equal: all arms at `level`. better: one at `level` + `gap`. The others move by all of rho(T).
    fall: all arms at once, evenly over 1..T. drop: all at once, after T / e, which biases the means
    most: (s / t) ln(t / s) of the drop at t after a drop at s. overtaken: the better arm, after
    T / e. exchange: it falls from `level` as another arm rises to it, so that min f* stays.
    """
    spend = theory.rho(T, K)
    after = max(2, math.ceil(T / math.e))
    start, mean = np.ones(1), np.full((1, K), level)
    slope = np.zeros((1, K))
    if world in ("better", "overtaken"):
        mean[0, 0] += gap
    if world == "fall":
        slope[:] = -spend / max(T - 1, 1)
    elif world in ("drop", "overtaken", "exchange"):
        start, mean = np.array([1, after]), np.repeat(mean, 2, axis=0)
        moved = slice(None) if world == "drop" else 0
        mean[1, moved] -= spend
        if world == "exchange":
            mean[0, 1:] -= spend
        slope = np.zeros((2, K))
    path = Path(np.append(start, T + 1).astype(np.int64), mean, slope)
    return path.checked(T, spend)


@njit
def watch(world, K, T, exploration, rng):
    """Plays UCB1 on `world` and looks at both inequalities after every round (see `run`)."""
    ucb = new_ucb(K)
    segment, best = 0, int(world[0, BEST])
    spent, worst_best, total = 0.0, 1.0, 0.0
    short, needed, final = -math.inf, -math.inf, math.nan
    short_at = needed_at = rounds = 0
    for t in range(1, T + 1):
        if t >= world[segment + 1, START]:
            last = t - 1 - world[segment, START]
            segment += 1
            best = int(world[segment, BEST])
            jump = 0.0
            for k in range(K):
                before = mean_at(world[segment - 1], K, k, last)
                jump = max(jump, abs(world[segment, MEANS + k] - before))
            spent += jump
        elif t > 1:
            steepest = 0.0
            for k in range(K):
                steepest = max(steepest, abs(world[segment, slope_of(K, k)]))
            spent += steepest
        since = t - world[segment, START]
        top = mean_at(world[segment], K, best, since)
        worst_best = min(worst_best, top)

        arm, value = choose(ucb, t - 1, exploration, rng)
        mean = mean_at(world[segment], K, arm, since)
        reward = 1.0 if rng.random() < mean else 0.0
        update(ucb, arm, reward)
        total += value - reward

        allowed = rho(t, K)
        if spent > allowed * (1 + 1e-9):
            continue
        rounds += 1
        if value < 1.0:
            distance = (worst_best - spent - value) / allowed
            if distance > short:
                short, short_at = distance, t
        final = (total / t - spent) / allowed
        if final > needed:
            needed, needed_at = final, t
    return short, short_at, needed, needed_at, final, rounds
