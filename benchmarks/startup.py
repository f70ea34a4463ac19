"""Measure the CPU time of each step of a job before its first round, over that of importing numba.

    python benchmarks/startup.py                                    # rexp3b, median of 11 starts
    python benchmarks/startup.py --starts 21 hyque_oful

Every second process takes the steps of `confee do <job>` one by one; the others run `confee do`
itself. The first two starts, which compile kernels and bytecode, are not counted. BLAS has one
thread, as in a job of Snakemake.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from confee.core.size import Size
from confee.policies import policy
from confee.simulation.cells import cell, opponent
from confee.simulation.files import sealed
from confee.simulation.units import CHOOSE, Seeds, Unit
from confee.world.adversaries import usual

SIZE = Size(K=2, T=64, B=16, V=1)
UNIT = "numba"
FIRST, WHOLE = "all before the first round", "the whole job, of one short run"

STEPS = """
import json, time
took = {}

def done(step):
    took[step] = time.process_time() - sum(took.values())

done("Python itself")
from confee.core import startup
from confee.workflow import cli
startup.collect_rarely()
done("the command line")
import numpy
done("numpy")
from confee.core import jit
done("numba")
from confee.workflow import jobs
done("the game, cells, files")
from confee.simulation.units import unit
one = unit(json.load(open("job.json"))["units"][0])
one.file, [met.spec for met in one.opponents]
done("the policy, its adversary, hashes of their sources")
jit.prepare()
from numba.core.registry import cpu_target
cpu_target.target_context.refresh()
done("numba at its first call: types, functions, memory")
jobs.play_all(one.cell, one.opponents, [0], jobs.calibrated(one.cell, 1.0))
done("the kernel from the cache, and one run of 16 rounds")
print(json.dumps(took))
"""

JOB = f"""
import json, time
from confee.core import startup
from confee.workflow import cli
startup.collect_rarely()
from confee.simulation import play
took = {{}}

def check(*arguments, checked=play.check):
    took.setdefault("{FIRST}", time.process_time())
    return checked(*arguments)

play.check = check
cli.main(["do", "job.json"])
took["{WHOLE}"] = time.process_time()
print(json.dumps(took))
"""


def job(name: str) -> dict:
    """Return a job of one unit of a policy: one run of 64 rounds, with 16 queries."""
    against = opponent({"name": usual(policy(name).setting)}, SIZE)
    seeds = Seeds(choose=1, worst=1, estimate=0, most=0, error=0.03)
    unit = Unit(cell({"name": name}, SIZE), (against,), CHOOSE, 0, 0, 1, seeds)
    return {"kind": "play", "units": [unit.describe() | {"after": []}]}


def start(program: str, what: dict) -> dict[str, float]:
    """Return the CPU seconds of each step of a new process in an empty folder."""
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    env["OPENBLAS_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "job.json").write_text(sealed(what))
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, cwd=folder, env=env, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("policy", nargs="?", default="rexp3b")
    parser.add_argument("--starts", type=int, default=11, help="of each kind (default: 11)")
    chosen = parser.parse_args()
    what = job(chosen.policy)
    turns = [start(STEPS, what) | start(JOB, what) for _ in range(chosen.starts + 1)][1:]
    print("| step | of numba's import |\n|---|---|")
    for step in turns[0]:
        print(f"| {step} | {statistics.median(turn[step] / turn[UNIT] for turn in turns):.2f} |")


if __name__ == "__main__":
    main()
