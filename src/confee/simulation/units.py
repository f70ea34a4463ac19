"""Units of work: seeds of one cell, each a file, and the jobs that group them.

A unit's file is named after a hash of its canonical parameters and of the code that makes it. Jobs
are groups of missing units, so how units are grouped can change neither a number nor what is played
again.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from confee.core.errors import ConfeeError
from confee.core.size import Size
from confee.core.sources import code_hash
from confee.simulation.cells import Cell, Opponent, cell
from confee.simulation.play import USUAL, Accounting

CHOOSE, ESTIMATE = "choose", "estimate"
"""The passes over a cell: the first chooses the worst adversaries, the second estimates them."""

MAKING = ("confee.simulation.play", "confee.simulation.turns", "confee.simulation.files")
"""Modules that make and write the rows of every unit, whatever its policy and adversaries."""
AROUND = ("confee.workflow.jobs", "confee.simulation.calibrate")
"""Modules that call those. Their imports are left out: they also serve other kinds of unit."""


@dataclass(frozen=True)
class Seeds:
    """How many seeds a cell is played on.

    `choose` seeds play every opponent. The `worst` few of these then get `estimate` fresh seeds,
    doubled turn after turn up to `most`, while the standard error of log R against the leading
    opponent is over `error`.
    """

    choose: int
    worst: int
    estimate: int
    most: int
    error: float

    def window(self, pass_: str, turn: int) -> tuple[int, int]:
        """Return (first seed, number of seeds) of a turn of a pass."""
        if pass_ == CHOOSE:
            return 0, self.choose
        before = self.estimate * 2 ** (turn - 1) if turn else 0
        after = min(self.most, max(self.estimate, 2 * before))
        return self.choose + before, after - before

    def units(self, shard: int) -> int:
        """Return how many units a cell has in shards of so many seeds (0: all)."""
        counts = [self.window(*turn)[1] for turn in self.passes]
        return sum(math.ceil(count / (shard or count)) for count in counts if count)

    @property
    def passes(self) -> list[tuple[str, int]]:
        """All (pass, turn), in the order in which they are played."""
        turns = 0
        if self.estimate:
            turns = 1 + max(0, math.ceil(math.log2(self.most / self.estimate)))
        return [(CHOOSE, 0), *((ESTIMATE, turn) for turn in range(turns))]


@dataclass(frozen=True)
class Unit:
    """Seeds first .. first + count - 1 of a cell, all of one turn of a pass."""

    cell: Cell
    opponents: tuple[Opponent, ...]
    pass_: str
    turn: int
    first: int
    count: int
    seeds: Seeds
    accounting: Accounting = USUAL

    @cached_property
    def key(self) -> dict[str, Any]:
        """All that the unit's rows depend on, canonical."""
        modules = [f"confee.policies.{self.cell.policy}", *MAKING]
        modules += [f"confee.world.adversaries.{o.adversary}" for o in self.opponents]
        if self.cell.spec.calibrated:
            modules.append("confee.simulation.calibrate")
        key: dict[str, Any] = {
            "cell": self.cell.key,
            "opponents": [o.key for o in self.opponents],
            "stage": self.pass_,
            "seeds": [self.first, self.count],
            "accounting": asdict(self.accounting),
            "code": code_hash(modules, AROUND),
        }
        if self.pass_ == ESTIMATE:  # The choosing pass decides which opponents are played.
            key |= {"choose": self.seeds.choose, "worst": self.seeds.worst}
        if self.turn:  # The turns before decide whether this one is played at all.
            key |= {"estimate": self.seeds.estimate, "error": self.seeds.error}
        return key

    @cached_property
    def file(self) -> Path:
        """The unit's file, relative to the results folder."""
        # All parts are canonical, so this equals `digest(self.key)`, which takes ten times as long.
        text = json.dumps(self.key, sort_keys=True, separators=(",", ":"))
        name = hashlib.sha256(text.encode()).hexdigest()[:16]
        return Path("cells") / self.cell.policy / f"{name}.parquet"

    @property
    def whole(self) -> Unit:
        """The unit of all seeds of this turn: this one, if seeds are not cut into shards."""
        first, count = self.seeds.window(self.pass_, self.turn)
        if (first, count) == (self.first, self.count):
            return self
        return replace(self, first=first, count=count)

    @property
    def game(self) -> tuple:
        """What the units of a cell share, whatever their pass and seeds."""
        return self.cell, self.opponents, self.accounting

    @property
    def runs(self) -> int:
        """About how many runs it plays: most cells need two turns of fresh seeds, few a third."""
        opponents = self.seeds.worst if self.pass_ == ESTIMATE else len(self.opponents)
        chance = 1 if self.turn < 2 else 0.2
        return math.ceil(chance * self.count * min(opponents, len(self.opponents)))

    @property
    def cost(self) -> float:
        """About how many rounds it queries, arms counted: its time is proportional to that."""
        share = 1e-3 if self.cell.spec.looks_at_nothing else 1
        return self.runs * (1e3 + share * self.cell.size.B * (1 + self.cell.size.K / 20))

    def describe(self) -> dict[str, Any]:
        """Return the unit as a job file holds it; `unit` reads it back."""
        return {
            "cell": self.cell.key,
            "opponents": [[o.adversary, dict(o.resolved)] for o in self.opponents],
            "stage": self.pass_,
            "turn": self.turn,
            "first": self.first,
            "count": self.count,
            "seeds": asdict(self.seeds),
            "accounting": asdict(self.accounting),
            "file": self.file.as_posix(),
        }


def unit(description: Mapping[str, Any]) -> Unit:
    """Return the unit of a description. Raises ConfeeError if this code gives its file another
    name: then the job was planned with other sources."""
    key = dict(description["cell"])
    conf = {"name": key["policy"], **key["options"]}
    described = Unit(
        cell=cell(conf, Size(*(key[name] for name in Size._fields))),
        opponents=tuple(Opponent(a, tuple(sorted(p.items()))) for a, p in description["opponents"]),
        pass_=description["stage"],
        turn=description["turn"],
        first=description["first"],
        count=description["count"],
        seeds=Seeds(**description["seeds"]),
        accounting=Accounting(**description["accounting"]),
    )
    file = description["file"]
    if described.file.as_posix() != file:
        raise ConfeeError(f"{file}: planned with other code; run snakemake again")
    return described


def units_of(
    cell: Cell, opponents: Sequence[Opponent], seeds: Seeds, shard: int, accounting: Accounting
) -> Iterator[Unit]:
    """Yield the units of a cell, in the order of their passes and turns, at most `shard` seeds
    each (0: all)."""
    for pass_, turn in seeds.passes:
        first, count = seeds.window(pass_, turn)
        step = shard or count
        for start in range(first, first + count, step):
            part = min(step, first + count - start)
            yield Unit(cell, tuple(opponents), pass_, turn, start, part, seeds, accounting)


def groups(missing: Sequence[Unit], cells_per_job: float, cost_per_job: float) -> list[list[Unit]]:
    """Group missing units into jobs, the costliest first, so that none ends the workflow alone.

    A job holds whole cells, at most `cells_per_job` of them and about `cost_per_job` queried
    rounds. It is of one policy, but its end is filled up with the next policy. If shards split
    cells over jobs, no job holds units of two passes or turns, since the later one waits for the
    files of the earlier one.
    """
    whole = all(u.whole is u for u in missing)
    bundles: dict[Any, list[Unit]] = {}
    for u in missing:
        bundles.setdefault(((), u.cell) if whole else ((u.pass_, u.turn), u.file), []).append(u)
    batches: dict[Any, list[list[Unit]]] = {}
    for (turn, _), bundle in bundles.items():
        batches.setdefault(turn, []).append(bundle)
    jobs: list[list[Unit]] = []
    for batch in batches.values():
        batch.sort(key=lambda bundle: (bundle[0].cell.policy, -_cost(bundle)))
        job: list[Unit] = []
        count, cost = 0, 0.0
        for bundle in batch:
            price = _cost(bundle)
            if job and (count >= cells_per_job or cost + price > cost_per_job):
                jobs.append(job)
                job, count, cost = [], 0, 0.0
            job = job + bundle
            count, cost = count + 1, cost + price
        if job:
            jobs.append(job)
    jobs.sort(key=lambda job: -_cost(job))
    return jobs


def _cost(bundle: Sequence[Unit]) -> float:
    return sum(u.cost for u in bundle)
