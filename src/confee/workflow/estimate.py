"""How long a run will take, by what earlier jobs took here: for `snakemake -n`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from confee.workflow import costs
from confee.workflow.costs import Part
from confee.workflow.jobs import compiled

if TYPE_CHECKING:
    from confee.workflow.run import Run

# Where nothing was timed yet: CPU seconds on one core of a laptop.
A_ROUND = 2e-7
"""A queried round, of any policy; many a policy is three times as fast, or as slow."""
STUDIED = 1.0
"""A study, over what it says that it takes."""
A_TURN = 0.15
"""How many runs of a second turn of fresh seeds are needed; of each further one fewer still."""
A_JOB = 3.0
"""The start of a job: its imports, and reading its kernels."""
A_KERNEL = 5.0
A_STAGE = 7.0
SNAKEMAKE = 5.0
"""The start of Snakemake itself."""

NEAREST = 15
"""A policy's rounds cost what they cost in so many units of the sizes most alike."""
ORDER = (("kernels",), ("calibrate",), ("simulate",), ("regret",), ("slopes",))
"""Rules that wait for each other; all others come after them."""
PLAYED = {"calibrate", "simulate"}


class Asked(NamedTuple):
    """A job that Snakemake would run: its rule, and the value of its wildcard if it has one."""

    rule: str
    name: str = ""


class Costs:
    """What earlier jobs took, as far as records say."""

    def __init__(self) -> None:
        self.records = costs.read()
        self.by: dict[str, list[Part]] = {}
        self._rates: dict[tuple[str, int, int], float] = {}
        for part in self._parts():
            if part.runs:
                self.by.setdefault(part.what, []).append(_needed(part))

    def _parts(self) -> Iterable[Part]:
        return (part for _, parts in self.records.values() for part in parts)

    @cached_property
    def shares(self) -> dict[int, float]:
        """Turn -> how many of its runs were needed."""
        most: dict[int, list[int]] = {}
        for part in self._parts():
            total = most.setdefault(part.turn, [0, 0])
            total[0] += part.runs
            total[1] += part.most
        return {turn: runs / total for turn, (runs, total) in most.items()}

    def share(self, turn: int) -> float:
        """How many runs of a turn are needed, about."""
        if turn in self.shares or not turn:
            return self.shares.get(turn, 1.0)
        before = [self.shares[t] for t in self.shares if 0 < t < turn]
        return min(before) if before else A_TURN * 0.3 ** (turn - 1)

    @cached_property
    def start(self) -> float:
        """What of a job's time is not in its parts."""
        left = [cpu - sum(self.seconds(_needed(part)) for part in parts if part.runs)
                for cpu, parts in self.records.values() if parts]  # fmt: skip
        return max(median(left), 0.0) if left else A_JOB

    def seconds(self, part: Part) -> float:
        """The time of a part, all its runs needed."""
        known = self.by.get(part.what)
        if known:
            size = part.what, part.K, part.B
            if size not in self._rates:
                nearest = sorted(known, key=lambda other: _distance(part, other))[:NEAREST]
                self._rates[size] = median(other.cpu / other.work for other in nearest)
            return part.work * self._rates[size]
        if part.what.startswith("study "):
            return part.work * STUDIED
        return part.work * self._any_round

    @cached_property
    def _any_round(self) -> float:
        """A queried round of a policy that no record tells of: the median over the others."""
        each = [median(part.cpu / part.work for part in parts)
                for what, parts in self.by.items() if not what.startswith("study ")]  # fmt: skip
        return median(each) if each else A_ROUND

    def stage(self, name: str, experiment: str) -> float:
        """The time of a stage: of this experiment's last, or the median of others'."""
        own = self.records.get(f"{experiment}.{name}")
        others = [cpu for other, (cpu, _) in self.records.items() if other.endswith(f".{name}")]
        return own[0] if own else median(others or [A_STAGE])

    def kernel(self, name: str) -> float:
        """The time to compile a policy's or a study's kernels: its last, or the median."""
        own = self.records.get(f"{costs.KERNELS}.{name}")
        all_of_them = [cpu for other, (cpu, _) in self.records.items()
                       if other.startswith(f"{costs.KERNELS}.")]  # fmt: skip
        return own[0] if own else median(all_of_them or [A_KERNEL])


def line(run: Run, asked: Sequence[Asked], cores: int) -> str:
    """How long the jobs take on so many cores, at most how long, and what that rests on."""
    known = Costs()
    about = total(run, known, asked, cores, every_turn=False)
    most = total(run, known, asked, cores, every_turn=True)
    said = f"about {spoken(about)} on {cores} free core{'s' * (cores != 1)}"
    if spoken(most) != spoken(about):
        said += f"; at most {spoken(most)}, if all turns of seeds are needed"
    return f"{said} ({_rests_on(run, known, asked)})"


def total(
    run: Run, known: Costs, asked: Sequence[Asked], cores: int, every_turn: bool = False
) -> float:
    """Seconds until all is made, stage after stage; `every_turn`: as if each were needed."""
    stages = [[job for job in asked if job.rule in rules] for rules in ORDER]
    stages.append([job for job in asked if not any(job.rule in rules for rules in ORDER)])
    times = [[_time(run, known, job, every_turn) for job in jobs] for jobs in stages]
    return SNAKEMAKE + sum(max(sum(some) / cores, *some) for some in times if some)


def _time(run: Run, known: Costs, job: Asked, every_turn: bool) -> float:
    if job.rule == "kernels":
        lacking = [kernel for kernel in run.kernels if not compiled(kernel).exists()]
        return known.start + sum(known.kernel(kernel) for kernel in lacking)
    if job.rule not in PLAYED:
        return known.stage(job.name or job.rule, run.name)
    parts = [Part.of(one) for one in run.work.get(job.name, ())]
    return known.start + sum(
        known.seconds(part) * (1.0 if every_turn else known.share(part.turn)) for part in parts
    )


def _rests_on(run: Run, known: Costs, asked: Sequence[Asked]) -> str:
    wanted = {Part.of(one).what for job in asked for one in run.work.get(job.name, ())}
    wanted |= {job.name or job.rule for job in asked if job.rule not in (*PLAYED, costs.KERNELS)}
    new = sorted(wanted - known.by.keys() - {name.rpartition(".")[2] for name in known.records})
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


def _needed(part: Part) -> Part:
    """The part as if it had been planned with the runs that it was played with."""
    return replace(part, work=part.work * part.runs / part.most, most=part.runs)


def _distance(one: Part, other: Part) -> float:
    """How unlike two sizes are, in factors of two."""
    return sum(
        abs(math.log2(max(a, 1) / max(b, 1))) for a, b in ((one.K, other.K), (one.B, other.B))
    )
