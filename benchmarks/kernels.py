"""Measure the time of kernels per queried round, as ratios to C, to UCB1 and at larger T.

    python benchmarks/kernels.py             # against plain C (needs a compiler), UCB1, larger T
    python benchmarks/kernels.py hyque_oful  # these policies alone, against UCB1

Read the ratios: nanoseconds depend on the machine. Each ratio is the median of several turns in
which both sides are timed in alternation, in process time. HyQue is compared with the C loop of
UCB1 at as many queries. That loop has neither schedule nor pacing nor change tests. Policies of
other settings than arms play against the usual adversary of their setting, and UCB1 plays on a path
of its own with as many arms.
"""

from __future__ import annotations

import argparse
import ctypes
import math
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from confee.core.size import Size
from confee.paper import theory
from confee.policies import POLICIES, policy
from confee.policies.base import CONTROL
from confee.simulation.calibrate import calibrated
from confee.simulation.cells import Cell, cell, opponent
from confee.simulation.play import LANES, draw_path
from confee.world.adversaries import ADVERSARIES, usual
from confee.world.game import new_ledger
from confee.world.lanes import new_lanes
from confee.world.path import Environment, known
from confee.world.path import Path as MeanPath
from confee.world.settings import SETTINGS

TURNS = 7
V = 4

IN_C = {"ucb1": "ucb1", "rexp3b": "rexp3b", "hyque": "ucb1"}
"""Policy -> the loop in C that it is held against."""


def library(folder: str) -> ctypes.CDLL:
    """Compile rules.c with -O3 -march=native, and load it."""
    compiler = next((c for c in ("cc", "gcc", "clang") if shutil.which(c)), None)
    if compiler is None:
        sys.exit("benchmarks: no C compiler; install one, for example with: apt install gcc")
    source, target = Path(__file__).with_name("rules.c"), Path(folder) / "rules.so"
    flags = ["-O3", "-march=native", "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, source, "-o", target, "-lm"], check=True)
    loaded = ctypes.CDLL(str(target))
    loaded.ucb1.restype = loaded.rexp3b.restype = ctypes.c_double
    return loaded


def case(name: str, K: int, T: int, B: int) -> tuple[Cell, Environment]:
    """Return a policy's cell and a path of its setting."""
    played = cell({"name": name}, Size(K, T, B, V))
    if played.spec.setting == "arms":
        return played, arms(K, T)
    return played, draw_path(
        opponent({"name": usual(played.spec.setting)}, played.size), played.size, 0
    )


def arms(K: int, T: int, segments: int = 64) -> MeanPath:
    """Return equal segments with one good arm each, at 0.6 against 0.5."""
    rng = np.random.default_rng(0)
    mean = np.full((segments, K), 0.5)
    mean[np.arange(segments), rng.integers(0, K, segments)] = 0.6
    return MeanPath.steps(1 + np.arange(segments) * (T // segments), mean, T)


def timed(play: Callable, *arguments) -> float:
    """Return the process time of a call, in seconds."""
    before = time.process_time()
    play(*arguments)
    return time.process_time() - before


def kernel_time(played: Cell, path: Environment) -> float:
    """Return the seconds of one run of the policy's kernel."""
    (_, T, B, V), spec = played.size, played.spec
    game = known(path, spec.setting)
    own = spec.kernel_arguments(game, T, B, V, path.pieces, calibrated(played, 1.0))
    world = SETTINGS[spec.setting].game.new_world(path)
    return timed(spec.kernel, world, new_ledger(), game, T, B, *own, np.random.default_rng(1))


def lanes_time(played: Cell, path: MeanPath) -> float:
    """Return the seconds per run of LANES runs played together; NaN if the policy has no lanes."""
    (K, T, B, V), spec = played.size, played.spec
    if spec.lanes is None:
        return math.nan
    own = spec.kernel_arguments(K, T, B, V, path.pieces, played.options)
    lanes = new_lanes([path] * LANES, [np.random.default_rng(seed) for seed in range(LANES)])
    return timed(spec.lanes, lanes, new_ledger(), K, T, B, *own) / LANES


def c_time(c: ctypes.CDLL, rule: str, played: Cell, path: MeanPath) -> float:
    """Return the seconds of one run of a C loop."""
    K, T, B, V = played.size
    arrays = (
        path.start.astype(np.int64),
        np.ascontiguousarray(path.mean),
        path.best.astype(np.int32),
    )
    pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in arrays]
    more: list[ctypes._SimpleCData] = []
    if rule == "rexp3b":
        batch, queries = theory.rexp3b_batch(K, T, B, V)
        gamma = theory.exp3_rate(K, queries)
        more = [ctypes.c_int64(batch), ctypes.c_int64(queries), ctypes.c_double(gamma)]
    return timed(getattr(c, rule), K, ctypes.c_int64(T), ctypes.c_int64(B), *pointers, *more)


def ratio(ours: Callable[[], float], theirs: Callable[[], float]) -> float:
    """Return the median of ours / theirs over turns, after a first one that compiles."""
    turns = [ours() / theirs() for _ in range(TURNS + 1)]
    return statistics.median(turns[1:])


def against_c(c: ctypes.CDLL) -> None:
    """Print the time of a plain C loop over that of the kernel, and of a run in lanes."""
    print(f"{'policy':18}{'K':>4}{'T/B':>5}{'C / kernel':>12}{'C / lanes':>12}")
    for name, rule in IN_C.items():
        for K in (2, 10, 32):
            for spacing in (1, 10):
                played, path = case(name, K, spacing * 100_000, 100_000)

                def in_c(rule=rule, case=(played, path)) -> float:
                    return c_time(c, rule, *case)

                single = ratio(in_c, lambda case=(played, path): kernel_time(*case))
                lanes = ratio(in_c, lambda case=(played, path): lanes_time(*case))
                print(f"{name:18}{K:4}{spacing:5}{single:12.2f}{lanes:12.2f}")


def learning(named: list[str]) -> list[str]:
    """Return those of `named`, or of all policies, that are no controls and have paths to play."""
    return [
        id
        for id, spec in POLICIES.items()
        if spec.role != CONTROL
        and usual(spec.setting) in ADVERSARIES
        and (id in named or not named)
    ]


def queries(name: str, in_arms: int) -> int:
    """Return the budget: a tenth of `in_arms` in other settings, where rounds cost more."""
    return in_arms if policy(name).setting == "arms" else in_arms // 10


def against_ucb1(named: list[str]) -> None:
    """Print the time of a kernel over UCB1's at K = 10, for every policy that learns."""
    print(f"\n{'policy, K = 10':22}{'setting':12}{'T/B':>5}{'kernel / UCB1':>15}")
    for name in learning(named):
        B = queries(name, 500_000)
        for spacing in (1, 10):
            mine, ucb1 = case(name, 10, spacing * B, B), case("ucb1", 10, spacing * B, B)
            both = ratio(lambda mine=mine: kernel_time(*mine), lambda ucb1=ucb1: kernel_time(*ucb1))
            print(f"{name:22}{policy(name).setting:12}{spacing:5}{both:15.2f}")


def against_T() -> None:
    """Print how the time grows with T at fixed B, K and number of segments."""
    print(f"\n{'policy':22}{'time at T = 1e9 over 1e7, K = 4':>35}")
    for name in learning([]):
        long, short = (case(name, 4, T, queries(name, 10**6)) for T in (10**9, 10**7))
        grown = ratio(lambda long=long: kernel_time(*long), lambda short=short: kernel_time(*short))
        print(f"{name:22}{grown:35.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("policies", nargs="*", help="time these against UCB1, and nothing else")
    named = parser.parse_args().policies
    for name in named:
        if name not in POLICIES:
            sys.exit(f"benchmarks: policy={name}: unknown")
    if not named:
        with tempfile.TemporaryDirectory() as folder:
            against_c(library(folder))
    against_ucb1(named)
    if not named:
        against_T()


if __name__ == "__main__":
    main()
