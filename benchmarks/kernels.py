"""Speed as ratios within one run: kernels against plain C and UCB1, and cost against T at fixed B.

    python benchmarks/kernels.py             # nanoseconds a queried round; needs a C compiler
    python benchmarks/kernels.py hyque_oful  # of these policies only, against UCB1; needs none
    python benchmarks/kernels.py --runs      # also the time of `smoke` and `paper` from nothing

Times are process time, the median of several turns taken in alternation. A ratio over 1 means that
the kernel is faster than the C loop. `lanes` is a query's time where 64 runs are played together.
HyQue's column is the C loop of UCB1 at the same number of queries: the rule it runs inside, without
schedule, pacing and tests. Policies of other settings than arms meet their setting's usual
adversary, UCB1 its own path of as many arms.
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
from pathlib import Path

import numpy as np

from confee.core.size import Size
from confee.paper import theory
from confee.policies import POLICIES
from confee.simulation.calibrate import calibrated
from confee.simulation.cells import cell, opponent
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
    """rules.c, compiled on the spot with -O3 -march=native."""
    compiler = next((c for c in ("cc", "gcc", "clang") if shutil.which(c)), None)
    if compiler is None:
        sys.exit("benchmarks: no C compiler; install one, for example with: apt install gcc")
    source, target = Path(__file__).with_name("rules.c"), Path(folder) / "rules.so"
    flags = ["-O3", "-march=native", "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, source, "-o", target, "-lm"], check=True)
    made = ctypes.CDLL(str(target))
    made.ucb1.restype = made.rexp3b.restype = ctypes.c_double
    return made


def a_path(policy: str, K: int, T: int, B: int) -> Environment:
    """A path of the policy's setting."""
    setting = POLICIES[policy].setting
    if setting == "arms":
        return arms(K, T)
    return draw_path(
        opponent({"name": usual(setting)}, Size(K=K, T=T, B=B, V=V)), Size(K, T, T, V), 0
    )


def arms(K: int, T: int, segments: int = 64) -> MeanPath:
    """Equal segments with one good arm, at .6 against .5."""
    rng = np.random.default_rng(0)
    mean = np.full((segments, K), 0.5)
    mean[np.arange(segments), rng.integers(0, K, segments)] = 0.6
    return MeanPath.steps(1 + np.arange(segments) * (T // segments), mean, T)


def kernel_time(policy: str, path: Environment, K: int, T: int, B: int) -> float:
    """Seconds of one run of a kernel."""
    one = cell({"name": policy}, Size(K=K, T=T, B=B, V=V))
    told = known(path, one.spec.setting)
    arguments = one.spec.kernel_arguments(told, T, B, V, path.pieces, calibrated(one, 1.0))
    world = SETTINGS[one.spec.setting].game.new_world(path)
    ledger, rng = new_ledger(), np.random.default_rng(1)
    since = time.process_time()
    one.spec.kernel(world, ledger, told, T, B, *arguments, rng)
    return time.process_time() - since


def lanes_time(policy: str, path: MeanPath, K: int, T: int, B: int) -> float:
    """Seconds a run of `LANES` runs played together; NaN if the policy has no lanes."""
    one = cell({"name": policy}, Size(K=K, T=T, B=B, V=V))
    if one.spec.lanes is None:
        return math.nan
    arguments = one.spec.kernel_arguments(K, T, B, V, path.pieces, one.options)
    lanes = new_lanes([path] * LANES, [np.random.default_rng(seed) for seed in range(LANES)])
    ledger = new_ledger()
    since = time.process_time()
    one.spec.lanes(lanes, ledger, K, T, B, *arguments)
    return (time.process_time() - since) / LANES


def c_time(c: ctypes.CDLL, rule: str, path: MeanPath, K: int, T: int, B: int) -> float:
    """Seconds of one run of a C loop."""
    start = path.start.astype(np.int64)
    mean, best = np.ascontiguousarray(path.mean), path.best.astype(np.int32)
    pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (start, mean, best)]
    more: list[ctypes._SimpleCData] = []
    if rule == "rexp3b":
        batch, queries = theory.rexp3b_batch(K, T, B, V)
        gamma = theory.exp3_rate(K, queries)
        more = [ctypes.c_int64(batch), ctypes.c_int64(queries), ctypes.c_double(gamma)]
    since = time.process_time()
    getattr(c, rule)(K, ctypes.c_int64(T), ctypes.c_int64(B), *pointers, *more)
    return time.process_time() - since


def against_c(c: ctypes.CDLL) -> None:
    """A table: nanoseconds a queried round, and C's time over ours."""
    print(
        f"{'policy':18}{'K':>4}{'T/B':>5}{'ns a query':>12}{'C':>8}{'C / ours':>10}"
        f"{'lanes':>8}{'C / lanes':>11}"
    )
    for policy, rule in IN_C.items():
        for K in (2, 10, 32):
            for spacing in (1, 10):
                B = 100_000
                T = spacing * B
                path = arms(K, T)
                for one in (kernel_time, lanes_time):
                    one(policy, path, K, T, B)
                turns = [
                    (
                        kernel_time(policy, path, K, T, B),
                        c_time(c, rule, path, K, T, B),
                        lanes_time(policy, path, K, T, B),
                    )
                    for _ in range(TURNS)
                ]
                ours, theirs, lanes = (
                    statistics.median(each) / B * 1e9 for each in zip(*turns, strict=True)
                )
                single = statistics.median(b / a for a, b, _ in turns)
                together = statistics.median(b / a for _, b, a in turns)
                print(
                    f"{policy:18}{K:4}{spacing:5}{ours:12.1f}{theirs:8.1f}{single:10.2f}"
                    f"{lanes:8.1f}{together:11.2f}"
                )


def learning(policies: list[str]) -> list[str]:
    """Those of `policies`, or of all, that are no controls and have paths to play."""
    return [
        one.id
        for one in POLICIES.values()
        if not one.control
        and usual(one.setting) in ADVERSARIES
        and (one.id in policies or not policies)
    ]


def queries(policy: str, arms: int) -> int:
    """How many queries a run has: a tenth of those with arms where rounds cost more."""
    return arms if POLICIES[policy].setting == "arms" else arms // 10


def against_ucb1(policies: list[str]) -> None:
    """Nanoseconds a queried round over UCB1's, at K = 10: every policy that learns."""
    K = 10
    print(
        f"\n{'policy, K = 10':18}{'setting':12}{'T/B':>5}{'ns a query':>12}{'UCB1':>8}"
        f"{'ours / UCB1':>13}"
    )
    for policy in learning(policies):
        if policy == "ucb1":
            continue
        setting = POLICIES[policy].setting
        B = queries(policy, 500_000)
        for spacing in (1, 10):
            T = spacing * B
            paths = [(one, a_path(one, K, T, B)) for one in (policy, "ucb1")]
            for one, path in paths:
                kernel_time(one, path, K, T, B)
            pairs = [[kernel_time(one, path, K, T, B) for one, path in paths] for _ in range(TURNS)]
            ours, theirs = (statistics.median(p) / B * 1e9 for p in zip(*pairs, strict=True))
            ratio = statistics.median(a / b for a, b in pairs)
            print(f"{policy:18}{setting:12}{spacing:5}{ours:12.1f}{theirs:8.1f}{ratio:13.2f}")


def against_T() -> None:
    """Cost at fixed B, K and number of segments: T = 10^9 over T = 10^7."""
    print(f"\n{'policy':18}{'time at T = 1e9 over 1e7, K = 4':>35}")
    for policy in learning([]):
        B = queries(policy, 10**6)
        paths = {T: a_path(policy, 4, T, B) for T in (10**9, 10**7)}
        ratios = []
        for _ in range(TURNS):
            times = [kernel_time(policy, path, 4, T, B) for T, path in paths.items()]
            ratios.append(times[0] / times[1])
        print(f"{policy:18}{statistics.median(ratios):35.2f}")


def whole_runs() -> None:
    """`smoke` and `paper` from an empty results folder, in a copy of this checkout."""
    root = Path(__file__).resolve().parents[1]
    for experiment in ("smoke", "paper"):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("Snakefile", "conf", "workflow", "profiles"):
                (Path(folder) / name).symlink_to(root / name)
            command = [sys.executable, "-m", "snakemake", "--cores", "2", "--config"]
            since = time.monotonic()
            subprocess.run([*command, f"overrides=experiment={experiment}"], cwd=folder, check=True)
            print(f"{experiment}: {(time.monotonic() - since) / 60:.1f} minutes on 2 cores")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("policies", nargs="*", help="time these against UCB1, and nothing else")
    parser.add_argument("--runs", action="store_true", help="also time `smoke` and `paper`")
    chosen = parser.parse_args()
    for name in chosen.policies:
        if name not in POLICIES:
            sys.exit(f"benchmarks: policy={name}: unknown")
    if not chosen.policies:
        with tempfile.TemporaryDirectory() as folder:
            against_c(library(folder))
    against_ucb1(chosen.policies)
    if not chosen.policies:
        against_T()
    if chosen.runs:
        whole_runs()


if __name__ == "__main__":
    main()
