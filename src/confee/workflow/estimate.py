"""How long a workflow will take, estimated from what earlier jobs took: for `snakemake -n`."""

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
    from confee.simulation.needs import Draws
    from confee.simulation.plan import Unit
    from confee.workflow.planning import Workflow

# CPU seconds on a core of a laptop, used where nothing has been timed yet.
RUN_SECONDS = 2.5e-3
"""A run without its queries: its path, its random stream, its row."""
LOAD_SECONDS = 0.4
"""Loading the kernels of a policy."""
TURN_SHARE = 0.15
"""Share of the runs of a second turn of fresh seeds that are needed."""
TURN_DECAY = 0.3
"""That share in each further turn, relative to the turn before."""
JOB_SECONDS = 0.8
"""The start of a job: its imports."""
KERNEL_SECONDS = 5.0
STAGE_SECONDS = 7.0
SNAKEMAKE_SECONDS = 5.0
"""The start of Snakemake."""
REMOTE_SECONDS = 8.0
"""Extra time of a job on another machine, where Snakemake is started twice."""

PRIOR = 0.01
"""Weight of the usual rate, in records."""
ORDER = ("kernels", "calibrate", "simulate", "regret", "slopes", "", "album", "report")
"""Rules that wait for each other; the empty name stands for all others."""
PLAYING = {"calibrate", "simulate"}
REMOTE = {"kernels", *PLAYING}
"""Rules that run on other machines where there are some; see `localrules` in the Snakefile."""


class Pending(NamedTuple):
    """A job that Snakemake would run: its rule, and the value of its wildcard or ""."""

    rule: str
    name: str = ""


class Rate(NamedTuple):
    """CPU seconds of a run, and of each weighted round that it queries."""

    run: float
    round: float

    def of(self, part: Part, runs: float) -> float:
        return runs * (self.run + self.round * part.rounds)


USUAL = Rate(RUN_SECONDS, costs.CPU_PER_ROUND)


class Costs:
    """Rates by the records of earlier jobs."""

    def __init__(self) -> None:
        self.records = costs.read()
        warm: dict[str, list[Part]] = {}
        cold: dict[str, list[Part]] = {}  # the first of its kind in a job, which loads the kernels
        for record in self.records.values():
            seen: set[str] = set()
            for part in record.parts:
                if part.runs and part.cpu > 0:
                    kind = warm if part.what in seen else cold
                    kind.setdefault(part.what, []).append(part)
                    seen.add(part.what)
        self.rates = {what: fit(parts, USUAL) for what, parts in warm.items()}
        loads = [part.cpu - self.seconds(part, part.runs) for what in warm for part in cold[what]]
        self.load = max(median(loads), 0.0) if loads else LOAD_SECONDS
        for what in cold.keys() - warm.keys():
            less = [
                replace(part, cpu=max(part.cpu - self.load, part.cpu / 10)) for part in cold[what]
            ]
            self.rates[what] = fit(less, self.usual)

    @cached_property
    def usual(self) -> Rate:
        """The rate of a policy without records."""
        known = [rate for what, rate in self.rates.items() if not what.startswith("study ")]
        return Rate(*map(median, zip(*known, strict=True))) if known else USUAL

    def seconds(self, part: Part, runs: float) -> float:
        rate = self.rates.get(part.what) or (
            USUAL if part.what.startswith("study ") else self.usual
        )
        return rate.of(part, runs)

    @cached_property
    def shares(self) -> dict[int, float]:
        """Turn -> the share of its runs that were needed."""
        most: dict[int, list[int]] = {}
        for record in self.records.values():
            for part in record.parts:
                total = most.setdefault(part.turn, [0, 0])
                total[0] += part.runs
                total[1] += part.most
        return {turn: runs / total for turn, (runs, total) in most.items()}

    def share(self, turn: int) -> float:
        """The share of a turn's runs that are needed, extrapolated from the turn before it if no
        record has the turn."""
        if turn < 2 or turn in self.shares:
            return self.shares.get(turn, TURN_SHARE) if turn else 1.0
        return self.share(turn - 1) * TURN_DECAY

    @cached_property
    def start(self) -> float:
        """The CPU seconds of a job besides its parts."""
        left = [
            record.cpu - sum(part.cpu for part in record.parts)
            for record in self.records.values()
            if record.parts
        ]
        return median(left) if left else JOB_SECONDS

    def stage(self, name: str, experiment: str) -> float:
        """The CPU seconds of a stage: the experiment's last, or the median of others'."""
        own = self.records.get(f"{experiment}.{name}")
        others = [x.cpu for other, x in self.records.items() if other.endswith(f".{name}")]
        return own.cpu if own else median(others or [STAGE_SECONDS])

    def kernel(self, name: str) -> float:
        """The CPU seconds to compile a policy's or a study's kernels: its last, or the median."""
        own = self.records.get(f"{costs.KERNELS}.{name}")
        others = [
            x.cpu for other, x in self.records.items() if other.startswith(f"{costs.KERNELS}.")
        ]
        return own.cpu if own else median(others or [KERNEL_SECONDS])


def estimator(workflow: Workflow, resources: Any) -> Callable[[Sequence[tuple[str, str]]], str]:
    """A function that says how long jobs (rule, wildcard) take with Snakemake's `resources`."""

    def estimate(jobs: Sequence[tuple[str, str]]) -> str:
        at_once = resources.nodes or min(resources.cores, machine.cores())
        return line(workflow, [Pending(*job) for job in jobs], at_once)

    return estimate


def line(workflow: Workflow, asked: Sequence[Pending], cores: int) -> str:
    """How long jobs take on so many cores, how long at most, and what the estimate rests on."""
    known = Costs()
    about = total(workflow, known, asked, cores, every_turn=False)
    most = total(workflow, known, asked, cores, every_turn=True)
    text = f"about {spoken(about)} on {cores} free core{'s' * (cores != 1)}"
    if most > 1.1 * about:
        text += f"; at most {spoken(most)}, if every cell needs all its seeds"
    return f"{text} ({_rests_on(workflow, known, asked)})"


def total(
    workflow: Workflow, known: Costs, asked: Sequence[Pending], cores: int, every_turn: bool = False
) -> float:
    """Seconds until all jobs are done, rule after rule; with `every_turn`, as if each turn of seeds
    were needed."""
    stages: dict[str, list[Pending]] = {rule: [] for rule in ORDER}
    for job in asked:
        stages[job.rule if job.rule in ORDER else ""].append(job)
    seconds = SNAKEMAKE_SECONDS
    for rule, jobs in stages.items():
        away = workflow.remote and rule in REMOTE
        times = [_time(workflow, known, job, every_turn) + REMOTE_SECONDS * away for job in jobs]
        at_once = min(cores, machine.cores()) if workflow.remote and not away else cores
        seconds += max(sum(times) / at_once, *times) if times else 0
    return seconds


def _time(workflow: Workflow, known: Costs, job: Pending, every_turn: bool) -> float:
    if job.rule == "kernels":
        lacking = [kernel for kernel in workflow.kernels if not compiled(kernel).exists()]
        return known.start + sum(known.kernel(kernel) for kernel in lacking)
    if job.rule not in PLAYING:
        return known.stage(job.name or job.rule, workflow.name)
    parts = [Part.of(work) for work in _work(workflow, job)]
    played = sum(
        known.seconds(part, part.most * (1.0 if every_turn else known.share(part.turn)))
        for part in parts
    )
    return known.start + known.load * len({part.what for part in parts}) + played


def _work(workflow: Workflow, job: Pending) -> Sequence[Unit | Draws | Cell]:
    """What a job makes."""
    cut = workflow.jobs.get(job.name)
    return cut.work if cut else ()


def _rests_on(workflow: Workflow, known: Costs, asked: Sequence[Pending]) -> str:
    wanted = {Part.of(work).what for job in asked for work in _work(workflow, job)}
    wanted |= {job.name or job.rule for job in asked if job.rule not in (*PLAYING, costs.KERNELS)}
    new = sorted(wanted - known.rates.keys() - {name.rpartition(".")[2] for name in known.records})
    if len(new) == len(wanted):
        return "rough: no such job was timed here yet"
    text = f"from {len(known.records)} jobs timed here"
    if new:
        text += f"; rough for {', '.join(new[:3])}"
        text += f" and {len(new) - 3} more" if len(new) > 3 else ""
    return text


def spoken(seconds: float) -> str:
    """A time with two digits: 40 s, 12 min, 3.5 h."""
    for unit, size in (("s", 1), ("min", 60), ("h", 3600)):
        if seconds < 90 * size or unit == "h":
            count = seconds / size
            digits = 1 - math.floor(math.log10(max(count, 1)))
            return f"{round(count, digits):g} {unit}"
    raise AssertionError


def fit(parts: Sequence[Part], usual: Rate) -> Rate:
    """The rate with the least squares of relative errors; neither time is negative.

    The usual rate, scaled to these parts, counts as PRIOR records. Relative errors give little
    weight to a record that other programs slowed down.
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
