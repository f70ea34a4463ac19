"""Runs one peer's policies as its users do. Python of the peer's own environment; no confee here.

    python loops.py <peer> < cases.json > runs.json

A case: {"policy", "K", "T", "window", "gamma", "starts", "means", "seconds", "most"}; segment j of
the problem begins in round starts[j] and has the means means[j]. The answer has for each case the
regret (sum over rounds of the best mean minus the mean played) of each run, the rounds of a run and
the rounds a CPU second, without setting up; or why it can't be played.
"""

from __future__ import annotations

import json
import random
import sys
import time
from bisect import bisect
from collections.abc import Callable
from typing import Any

SHORT = 2_000
"""Rounds of a run where T of them would take too long."""
FEWEST, PATIENCE = 8, 4
"""Runs of a case, at least; short ones if they would take more than so many times its seconds."""

Case = dict[str, Any]
Step = tuple[Callable[[], int], Callable[[int, float], Any]]


# ------------------------------------------------------- policies, as a loop calls them


def river(case: Case, seed: int) -> Step:
    from river import bandit

    made = {
        "ucb1": lambda: bandit.UCB(delta=1, seed=seed),
        "exp3": lambda: bandit.Exp3(gamma=case["gamma"], seed=seed),
    }[case["policy"]]()
    arms = list(range(case["K"]))
    return lambda: made.pull(arms), made.update


def smpybandits(case: Case, seed: int) -> Step:
    import numpy as np
    from SMPyBandits import Policies

    np.random.seed(seed)
    K, window = case["K"], case["window"]
    made = {
        "ucb1": lambda: Policies.UCB(K),
        "sw_ucb": lambda: Policies.SWUCB(K, tau=window, alpha=0.5),
        "d_ucb": lambda: Policies.DiscountedUCB(K, alpha=4, gamma=1 - 1 / window),
        "exp3": lambda: Policies.Exp3(K, gamma=case["gamma"]),
    }[case["policy"]]()
    made.startGame()
    return made.choice, made.getReward


def mabwiser(case: Case, seed: int) -> Step:
    from mabwiser.mab import MAB, LearningPolicy

    policy = {"ucb1": LearningPolicy.UCB1(alpha=1)}[case["policy"]]
    made = MAB(list(range(case["K"])), policy, seed=seed)
    unseen = list(range(case["K"]))  # it predicts once it has seen rewards, so each arm is played

    def choose() -> int:
        return unseen.pop() if unseen else made.predict()

    return choose, lambda arm, reward: made.partial_fit([arm], [reward])


def looped(make: Callable[[Case, int], Step]) -> Callable[[Case, int, int], tuple[list, float]]:
    """What plays runs of a policy that is asked for an arm and told its reward."""

    def play(case: Case, T: int, runs: int, first: int = 0) -> tuple[list[float], float]:
        regrets, spent = [], 0.0
        starts = [1 + (start - 1) * T // case["T"] for start in case["starts"]]
        for seed in range(first, first + runs):
            choose, learn = make(case, seed)
            draw, regret = random.Random(f"rewards {seed}").random, 0.0
            before = time.process_time()
            for start, stop, means in zip(starts, [*starts[1:], T + 1], case["means"], strict=True):
                best = max(means)
                for _ in range(start, stop):
                    arm = choose()
                    learn(arm, 1.0 if draw() < means[arm] else 0.0)
                    regret += best - means[arm]
            spent += time.process_time() - before
            regrets.append(regret)
        return regrets, spent

    return play


# ------------------------------------------------------- pymab, which has the loop itself


def pymab(case: Case, T: int, runs: int, first: int = 0) -> tuple[list[float], float]:
    """An `Experiment`: in Rust where all of it is pymab's own, else in Python."""
    import numpy as np
    import pymab as lib
    from pymab import policies

    K, window = case["K"], case["window"]
    made = {
        "ucb1": lambda: policies.UCBPolicy(n_arms=K, c=2),
        "sw_ucb": lambda: policies.SlidingWindowUCBPolicy(n_arms=K, c=0.5, window_size=window),
        "d_ucb": lambda: policies.DiscountedUCBPolicy(
            n_arms=K, c=2, discount_factor=1 - 1 / window
        ),
        "exp3": lambda: policies.EXP3Policy(n_arms=K, gamma=case["gamma"]),
    }[case["policy"]]()
    starts = [(start - 1) * T // case["T"] for start in case["starts"]]
    means = np.array(case["means"])

    class Segments(lib.StationaryDynamics):
        """Its own changes are drawn; ours are given, so this part is in Python."""

        def apply(self, current, *, step, rng):
            return means[bisect(starts, step) - 1]

    world = lib.BanditEnvironment(
        means=means[0],
        reward_model=lib.BernoulliReward(),
        dynamics=lib.StationaryDynamics() if len(starts) == 1 else Segments(),
    )
    config = lib.ExperimentConfig(horizon=T, n_replicates=runs, seed=first)
    before = time.process_time()
    found = lib.Experiment(environment=world, policies={"it": made}, config=config).run()
    spent = time.process_time() - before
    played = np.asarray(found.expected_rewards).reshape(runs, T)
    best = np.asarray(found.arm_means).max(axis=-1).reshape(runs, T)
    return (best - played).sum(axis=1).tolist(), spent


PLAYS = {
    "pymab": pymab,
    "river": looped(river),
    "smpybandits": looped(smpybandits),
    "mabwiser": looped(mabwiser),
}


def answer(play: Callable[..., tuple[list[float], float]], case: Case) -> dict[str, Any]:
    """Runs of a case: as many as fit in its seconds, FEWEST to `most`."""
    try:
        T, most = case["T"], case["most"]
        play(case, 200, 1)
        _, spent = play(case, 1000, 1)
        if spent / 1000 * T * FEWEST > PATIENCE * case["seconds"]:
            T = SHORT
        runs = max(FEWEST, min(most, int(case["seconds"] / (spent / 1000 * T))))
        regrets, spent = play(case, T, runs)
    except KeyError as error:
        if error.args[0] == case["policy"]:
            return {"why": "none"}
        raise
    return {"regrets": regrets, "T": T, "rate": T * runs / spent}


def main() -> None:
    play = PLAYS[sys.argv[1]]
    print(json.dumps([answer(play, case) for case in json.load(sys.stdin)]))


if __name__ == "__main__":
    main()
