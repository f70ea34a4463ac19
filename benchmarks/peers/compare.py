"""Speed and regret beside other simulators, on the same problems: writes docs/reports/peers.md.

    python benchmarks/peers/compare.py                # all of them, some seven minutes of CPU
    python benchmarks/peers/compare.py river pymab    # these only, printed and not written

Peers are installed into environments of their own, in the user's cache folder; the page says what
can't be. Each is used as its users do (`loops.py`), confee by its kernels: all rounds queried, one
run at a time, one process. Both problems have one arm at 0.8 and all others at 0.5; in one of them
the good arm changes four times. Constants are the same everywhere. Regret tells whether a fast
policy is still that policy: the page lists means that differ by more than three standard errors.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import platform
import shutil
import statistics
import subprocess
import sys
import textwrap
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from confee.core import jit, startup
from confee.paper import theory
from confee.policies import policy
from confee.simulation.files import write_text
from confee.world.game import new_ledger, new_world, settle
from confee.world.path import Path as MeanPath

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "reports" / "peers.md"

T, LONG = 10_000, 1_000_000
"""Rounds of a run whose regret is compared, and of one of confee's that is timed."""
ARMS, WINDOW, SECONDS, MOST = (2, 10, 100), 500, 2.0, 20
OURS = 200
"""Runs of confee, for its mean regret."""
APART = 3.0
"""Standard errors between two means from which the page lists them."""

PEERS = {
    "pymab": "requirements.txt",
    "river": "requirements.txt",
    "smpybandits": "requirements-smpybandits.txt",
    "mabwiser": "requirements.txt",
}
POLICIES = {"ucb1": "UCB1", "sw_ucb": "SW-UCB", "d_ucb": "D-UCB", "exp3": "Exp3"}
PROBLEMS = {"stationary": 1, "four changes": 5}

WHY = {
    ("smpybandits", "d_ucb"): (
        "has another index: it rounds discounted plays down to whole numbers, and discounts those "
        "of an arm only when the arm is played again"
    )
}
"""(simulator, policy) -> why its regret differs, where that is known."""


class Runs(NamedTuple):
    """What a peer's runs of a case gave; `why` there are none, else."""

    regrets: Sequence[float] = ()
    T: int = 0
    rate: float = 0.0
    why: str = ""


def cases() -> list[dict[str, Any]]:
    """The cases, as `loops.py` reads them."""
    return [
        {
            "policy": name,
            "K": K,
            "T": T,
            "problem": problem,
            "window": WINDOW,
            "gamma": theory.exp3_rate(K, T),
            "seconds": SECONDS,
            "most": MOST,
            "starts": [1 + j * T // segments for j in range(segments)],
            "means": [
                [0.8 if k == (7 * j + 1) % K else 0.5 for k in range(K)] for j in range(segments)
            ],
        }
        for problem, segments in PROBLEMS.items()
        for name in POLICIES
        for K in ARMS
    ]


# ----------------------------------------------------------------------- confee


def ours(case: dict[str, Any], rounds: int, seed: int) -> tuple[float, float]:
    """(regret, CPU seconds) of one run of the kernel, its world and its ledger."""
    spec, K = policy(case["policy"]), case["K"]
    scale = WINDOW / theory.window(K, rounds, 1)
    more = {
        "sw_ucb": {"window_scale": scale},
        "d_ucb": {"memory_scale": scale},
        "exp3": {"gamma": case["gamma"]},
        "ucb1": {},
    }[case["policy"]]
    starts = [1 + (start - 1) * rounds // T for start in case["starts"]]
    path = MeanPath.steps(np.array(starts), np.array(case["means"]), rounds)
    arguments = spec.kernel_arguments(K, rounds, rounds, 1, len(starts), spec.options(**more))
    rng = np.random.default_rng(seed)
    before = time.process_time()
    world, ledger = new_world(path), new_ledger()
    spec.kernel(world, ledger, K, rounds, rounds, *arguments, rng)
    regret = settle(ledger, path)["regret"]
    return float(regret), time.process_time() - before


def our_rate(case: dict[str, Any]) -> float:
    """Rounds a CPU second, the median of five runs of LONG rounds; the first may compile."""
    spent = [ours(case, LONG, seed)[1] for seed in range(6)][1:]
    return LONG / statistics.median(spent)


# ----------------------------------------------------------------------- peers


def environment(requirements: str) -> Path:
    """The interpreter of an environment with these packages, made on first use.

    Raises CalledProcessError if pip can't install them.
    """
    listed = (HERE / requirements).read_bytes()
    name = hashlib.sha256(listed + sys.version.encode()).hexdigest()[:12]
    folder = (
        Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "confee-peers" / name
    )
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        command = [python, "-m", "pip", "install", "-q", "--no-deps", "-r", HERE / requirements]
        subprocess.run(command, check=True, stderr=subprocess.PIPE, text=True)
        (folder / "ready").touch()
    return python


def theirs(peer: str, asked: list[dict[str, Any]]) -> list[Runs]:
    """A peer's runs of all cases."""
    try:
        python = environment(PEERS[peer])
        done = subprocess.run(
            [python, "-W", "ignore", HERE / "loops.py", peer],
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "MPLBACKEND": "agg", "OPENBLAS_NUM_THREADS": "1"},
        )
    except subprocess.CalledProcessError as error:
        why = (error.stderr or str(error)).strip().splitlines()[-1]
        return [Runs(why=f"does not run: {why}")] * len(asked)
    return [Runs(**one) for one in json.loads(done.stdout.splitlines()[-1])]


# ----------------------------------------------------------------------- the page


def mean_of(regrets: Sequence[float]) -> tuple[float, float]:
    """(mean, standard error)."""
    return statistics.fmean(regrets), statistics.stdev(regrets) / math.sqrt(len(regrets))


def rounded(number: float) -> str:
    """To two digits, in full."""
    return f"{float(f'{number:.2g}'):,.10g}"


def speed_table(
    peers: dict[str, list[Runs]], asked: list[dict[str, Any]], rates: list[float]
) -> str:
    lines = [
        f"| problem | policy | K | confee | {' | '.join(peers)} |",
        "|---" * (4 + len(peers)) + "|",
    ]
    for i, case in enumerate(asked):
        shown = [
            f"{case['problem']} | {POLICIES[case['policy']]} | {case['K']} | {rounded(rates[i])}"
        ]
        for runs in (found[i] for found in peers.values()):
            if runs.regrets:
                shown.append(f"{rounded(runs.rate)} (**{rounded(rates[i] / runs.rate)}**)")
            else:
                shown.append("–")
        lines.append(f"| {' | '.join(shown)} |")
    return "\n".join(lines)


def regret_table(
    peers: dict[str, list[Runs]], asked: list[dict[str, Any]]
) -> tuple[int, list[str], str]:
    """Return the number of mean regrets compared, the rows of those that differ, and reasons."""
    pairs, rows, reasons = 0, [], {}
    for peer, found in peers.items():
        for case, runs in zip(asked, found, strict=True):
            if not runs.regrets:
                continue
            pairs += 1
            mine, error = mean_of([ours(case, runs.T, seed)[0] for seed in range(OURS)])
            other, its = mean_of(runs.regrets)
            if abs(mine - other) <= APART * math.hypot(error, its):
                continue
            name = case["policy"]
            cells = [peer, POLICIES[name], case["problem"], f"{case['K']}", f"{runs.T:,}"]
            cells += [f"{other:.0f} ± {its:.1f}", f"{mine:.0f} ± {error:.1f}"]
            rows.append(f"| {' | '.join(cells)} |")
            if (peer, name) in WHY:
                reasons[peer, name] = f"{POLICIES[name]} of {peer} {WHY[peer, name]}."
    return pairs, rows, " ".join(reasons.values())


def processor() -> str:
    """The CPU's model."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(": ")[1] for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def page(peers: dict[str, list[Runs]], asked: list[dict[str, Any]], rates: list[float]) -> str:
    pairs, rows, reasons = regret_table(peers, asked)
    pinned = {
        line.split("==")[0].lower(): line.strip()
        for file in set(PEERS.values())
        for line in (HERE / file).read_text().splitlines()
        if "==" in line
    }
    broken = [
        f"{peer}: {why}."
        for peer, found in peers.items()
        for why in sorted({runs.why for runs in found} - {"", "none"})
    ]
    failures = [f"Simulators that did not run: {' '.join(broken)}"] if broken else []
    machine = f"{processor()}, {time.strftime('%Y-%m-%d')}, Python {platform.python_version()}"
    text = PAGE_TEXT.format(
        machine=machine,
        versions=", ".join(pinned[peer] for peer in peers),
        speed=speed_table(peers, asked, rates),
        pairs=pairs,
        same=pairs - len(rows),
        rows="\n".join(rows),
        notes="\n\n".join([f"{reasons} {CHANCE}".strip(), *failures]),
        T=T,
        LONG=LONG,
        WINDOW=WINDOW,
        MOST=MOST,
        OURS=OURS,
        APART=APART,
    )
    return wrapped(text)


def wrapped(text: str) -> str:
    """Wrap the paragraphs of a page at 100 columns; headings and tables stay as they are."""
    blocks = [
        block if block[0] in "#|" else textwrap.fill(block, 100, break_on_hyphens=False)
        for block in text.strip().split("\n\n")
    ]
    return "\n\n".join(blocks) + "\n"


CHANCE = "Where no reason is given, none is known; among so many pairs one may differ by chance."

PAGE_TEXT = """# How fast is confee, and do other simulators get the same regret?

`python benchmarks/peers/compare.py` generated this page on {machine}, with
{versions}.
Each simulator runs in one process and queries all rounds (B = T).

In both problems one arm has mean 0.8 and all others 0.5; with changes, another arm becomes the good
one after each fifth of the rounds. All simulators use the same constants: UCB1's index is
mean + sqrt(2 ln t / n), that of SW-UCB mean + sqrt(0.5 ln min(t, {WINDOW}) / n), and that of D-UCB,
with gamma = 1 - 1/{WINDOW}, mean + sqrt(2 ln n(gamma) / n). Exp3 uses the gamma of Auer et al. for
T = {T:,}.

## Rounds per CPU second, and confee's speed relative to each (bold)

confee's compiled kernels are timed on runs of {LONG:,} rounds. A call of `simulate` takes about
0.2 CPU s more, so for one seed of 10,000 rounds it is slower than pymab or river. pymab runs in
Rust if the problem is stationary; the changes given here pass through Python. The others run in a
Python loop, as their users write it. Clock rates change speeds by a third or more, so read only the
order of magnitude. A dash means that the simulator has no such policy.

{speed}

## Is the regret the same?

In {same} of {pairs} pairs the mean regret is within {APART:.0f} standard errors of confee's. A pair
is a simulator with one policy, problem and K. Means are over up to {MOST} runs of the simulator, of
{T:,} rounds (2,000 where that would take too long, which is few for K = 100), and {OURS} runs of
confee. These differ (mean ± standard error):

| simulator | policy | problem | K | rounds | its regret | confee's |
|---|---|---|---|---|---|---|
{rows}

{notes}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("peers", nargs="*", help=f"of {', '.join(PEERS)} (default: all)")
    chosen = parser.parse_args()
    if unknown := sorted(set(chosen.peers) - set(PEERS)):
        sys.exit(f"benchmarks: peers={unknown[0]}: must be among {', '.join(PEERS)}")
    startup.collect_rarely()
    jit.prepare()
    asked = cases()
    peers = {peer: theirs(peer, asked) for peer in chosen.peers or PEERS}
    text = page(peers, asked, [our_rate(case) for case in asked])
    if chosen.peers:
        print(text)
    else:
        write_text(PAGE, text)


if __name__ == "__main__":
    main()
