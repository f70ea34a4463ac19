"""How long a run will take, by what earlier jobs took here: for `snakemake -n`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from confee.workflow import costs, machine
from confee.workflow.costs import Part
from confee.workflow.jobs import compiled

if TYPE_CHECKING:
    from confee.simulation.cells import Cell
    from confee.simulation.needs import Study
    from confee.simulation.plan import Unit
    from confee.workflow.planning import Workflow

# Where nothing was timed yet: CPU seconds on a core of a laptop.
A_RUN = 2.5e-3
"""A run, beside its queries: its path, its random stream, its row."""
A_LOAD = 0.4
"""Reading the kernels of a policy, before a process first plays it."""
A_TURN = 0.15
"""How many runs of a second turn of fresh seeds are needed."""
FEWER = 0.3
"""And of each further one, over those of the one before."""
A_JOB = 0.8
"""The start of a job: its imports, and reading its kernels."""
A_KERNEL = 5.0
A_STAGE = 7.0
SNAKEMAKE = 5.0
"""The start of Snakemake itself."""
A_REMOTE_JOB = 8.0
"""What a job on another machine costs beside: Snakemake is started there, twice."""

PRIOR = 0.01
"""So many records of a policy are outweighed by what is usual of others."""
ORDER = ("kernels", "calibrate", "simulate", "regret", "slopes", "", "album", "report")
"""Rules that wait for each other; all others are in the place of the empty one."""
PLAYED = {"calibrate", "simulate"}
AWAY = {"kernels", *PLAYED}
"""What runs on other machines where there are some; see `localrules` of the Snakefile."""


class Asked(NamedTuple):
    """A job that Snakemake would run: its rule, and the value of its wildcard if it has one."""

    rule: str
    name: str = ""


class Rate(NamedTuple):
    """What a run of a policy takes, and each round that it queries."""

    run: float
    round: float

    def of(self, part: Part, runs: float) -> float:
        return runs * (self.run + self.round * part.rounds)


USUAL = Rate(A_RUN, costs.CPU_PER_ROUND)


class Costs:
    """What earlier jobs took, as far as records say."""

    def __init__(self) -> None:
        self.records = costs.read()
        warm: dict[str, list[Part]] = {}
        cold: dict[str, list[Part]] = {}  # the first of its kind in a job: it loads the kernels
        for record in self.records.values():
            seen: set[str] = set()
            for part in record.parts:
                if part.runs and part.cpu > 0:
                    kind = warm if part.what in seen else cold
                    kind.setdefault(part.what, []).append(part)
                    seen.add(part.what)
        self.rates = {what: fit(parts, USUAL) for what, parts in warm.items()}
        loads = [part.cpu - self.seconds(part, part.runs) for what in warm for part in cold[what]]
        self.load = max(median(loads), 0.0) if loads else A_LOAD
        for what in cold.keys() - warm.keys():
            less = [
                replace(part, cpu=max(part.cpu - self.load, part.cpu / 10)) for part in cold[what]
            ]
            self.rates[what] = fit(less, self.usual)

    @cached_property
    def usual(self) -> Rate:
        """Of a policy that no record tells of."""
        known = [rate for what, rate in self.rates.items() if not what.startswith("study ")]
        return Rate(*map(median, zip(*known, strict=True))) if known else USUAL

    def seconds(self, part: Part, runs: float) -> float:
        rate = self.rates.get(part.what) or (
            USUAL if part.what.startswith("study ") else self.usual
        )
        return rate.of(part, runs)

    @cached_property
    def shares(self) -> dict[int, float]:
        """Turn -> how many of its runs were needed."""
        most: dict[int, list[int]] = {}
        for record in self.records.values():
            for part in record.parts:
                total = most.setdefault(part.turn, [0, 0])
                total[0] += part.runs
                total[1] += part.most
        return {turn: runs / total for turn, (runs, total) in most.items()}

    def share(self, turn: int) -> float:
        """How many runs of a turn are needed, about: of one that no record tells of, by the one
        before it."""
        if turn < 2 or turn in self.shares:
            return self.shares.get(turn, A_TURN) if turn else 1.0
        return self.share(turn - 1) * FEWER

    @cached_property
    def start(self) -> float:
        """What of a job's time is not in its parts."""
        left = [
            record.cpu - sum(part.cpu for part in record.parts)
            for record in self.records.values()
            if record.parts
        ]
        return median(left) if left else A_JOB

    def stage(self, name: str, experiment: str) -> float:
        """The time of a stage: of this experiment's last, or the median of others'."""
        own = self.records.get(f"{experiment}.{name}")
        others = [x.cpu for other, x in self.records.items() if other.endswith(f".{name}")]
        return own.cpu if own else median(others or [A_STAGE])

    def kernel(self, name: str) -> float:
        """The time to compile a policy's or a study's kernels: its last, or the median."""
        own = self.records.get(f"{costs.KERNELS}.{name}")
        others = [
            x.cpu for other, x in self.records.items() if other.startswith(f"{costs.KERNELS}.")
        ]
        return own.cpu if own else median(others or [A_KERNEL])


def teller(workflow: Workflow, resources: Any) -> Callable[[Sequence[tuple[str, str]]], str]:
    """Tells how long jobs (rule, wildcard) take with Snakemake's `resources`."""

    def said(jobs: Sequence[tuple[str, str]]) -> str:
        at_once = resources.nodes or min(resources.cores, machine.cores())
        return line(workflow, [Asked(*job) for job in jobs], at_once)

    return said


def line(workflow: Workflow, asked: Sequence[Asked], cores: int) -> str:
    """How long the jobs take on so many cores, at most how long, and what that rests on."""
    known = Costs()
    about = total(workflow, known, asked, cores, every_turn=False)
    most = total(workflow, known, asked, cores, every_turn=True)
    said = f"about {spoken(about)} on {cores} free core{'s' * (cores != 1)}"
    if most > 1.1 * about:
        said += f"; at most {spoken(most)}, if all turns of seeds are needed"
    return f"{said} ({_rests_on(workflow, known, asked)})"


def total(
    workflow: Workflow, known: Costs, asked: Sequence[Asked], cores: int, every_turn: bool = False
) -> float:
    """Seconds until all is made, stage after stage; `every_turn`: as if each were needed."""
    stages: dict[str, list[Asked]] = {rule: [] for rule in ORDER}
    for job in asked:
        stages[job.rule if job.rule in ORDER else ""].append(job)
    seconds = SNAKEMAKE
    for rule, jobs in stages.items():
        away = workflow.remote and rule in AWAY
        times = [_time(workflow, known, job, every_turn) + A_REMOTE_JOB * away for job in jobs]
        at_once = min(cores, machine.cores()) if workflow.remote and not away else cores
        seconds += max(sum(times) / at_once, *times) if times else 0
    return seconds


def _time(workflow: Workflow, known: Costs, job: Asked, every_turn: bool) -> float:
    if job.rule == "kernels":
        lacking = [kernel for kernel in workflow.kernels if not compiled(kernel).exists()]
        return known.start + sum(known.kernel(kernel) for kernel in lacking)
    if job.rule not in PLAYED:
        return known.stage(job.name or job.rule, workflow.name)
    parts = [Part.of(work) for work in _work(workflow, job)]
    played = sum(
        known.seconds(part, part.most * (1.0 if every_turn else known.share(part.turn)))
        for part in parts
    )
    return known.start + known.load * len({part.what for part in parts}) + played


def _work(workflow: Workflow, job: Asked) -> Sequence[Unit | Study | Cell]:
    """What a job makes."""
    cut = workflow.jobs.get(job.name)
    return cut.work if cut else ()


def _rests_on(workflow: Workflow, known: Costs, asked: Sequence[Asked]) -> str:
    wanted = {Part.of(work).what for job in asked for work in _work(workflow, job)}
    wanted |= {job.name or job.rule for job in asked if job.rule not in (*PLAYED, costs.KERNELS)}
    new = sorted(wanted - known.rates.keys() - {name.rpartition(".")[2] for name in known.records})
    if len(new) == len(wanted):
        return "rough: nothing of it was timed here yet"
    said = f"by {len(known.records)} jobs timed here"
    if new:
        said += f"; rough for {', '.join(new[:3])}"
        said += f" and {len(new) - 3} more" if len(new) > 3 else ""
    return said


def spoken(seconds: float) -> str:
    """Two digits are enough of an estimate: 40 s, 12 min, 3.5 h."""
    for unit, size in (("s", 1), ("min", 60), ("h", 3600)):
        if seconds < 90 * size or unit == "h":
            count = seconds / size
            digits = 1 - math.floor(math.log10(max(count, 1)))
            return f"{round(count, digits):g} {unit}"
    raise AssertionError


def fit(parts: Sequence[Part], usual: Rate) -> Rate:
    """The rate whose errors, relative to what was measured, have the least squares.

    What is usual, times how much slower these parts are, counts as PRIOR records. Neither time can
    be negative; a record that something else slowed down weighs the less the slower it was.
    """
    slower = median(part.cpu / usual.of(part, part.runs) for part in parts)
    run, round = usual.run * slower, usual.round * slower
    xx = yy = x1 = y1 = PRIOR
    xy = 0.0
    for part in parts:
        x, y = part.runs * run / part.cpu, part.runs * part.rounds * round / part.cpu
        xx, xy, yy, x1, y1 = xx + x * x, xy + x * y, yy + y * y, x1 + x, y1 + y
    det = xx * yy - xy * xy
    a, b = (x1 * yy - y1 * xy) / det, (y1 * xx - x1 * xy) / det
    if a < 0:
        a, b = 0.0, y1 / yy
    elif b < 0:
        a, b = x1 / xx, 0.0
    return Rate(a * run, b * round)
