"""Units of work: seeds of one cell, each a file, and the jobs that group them.

A unit's file is named after a hash of its canonical parameters and of the code that makes it. Jobs
are groups of missing units, so how units are grouped can change neither a number nor what is played
again.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
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

MAKING = ("confee.simulation.play", "confee.simulation.turns", "confee.simulation.files")
"""What makes and writes the rows of every unit, whatever policies and adversaries they are of."""
AROUND = ("confee.workflow.jobs", "confee.simulation.calibrate")
"""What calls it: of these the modules alone, as they import what other units are made by."""


@dataclass(frozen=True)
class Seeds:
    """Where seeds are spent: `choose` on every opponent, then on the `worst` few of them.

    Those get `estimate` fresh seeds, and as many again as they had, round after round, up to
    `most`, as long as the standard error of log R against the leading one is over `error`.
    """

    choose: int
    worst: int
    estimate: int
    most: int
    error: float

    def window(self, stage: str, turn: int) -> tuple[int, int]:
        """(first seed, number of seeds) of a stage; turn 0, 1, ... of the estimate."""
        if stage == CHOOSE:
            return 0, self.choose
        had = self.estimate * 2 ** (turn - 1) if turn else 0
        upto = min(self.most, max(self.estimate, 2 * had))
        return self.choose + had, upto - had

    def units(self, shard: int) -> int:
        """How many units a cell has in shards of so many seeds (0: all)."""
        counts = [self.window(*stage)[1] for stage in self.stages]
        return sum(math.ceil(count / (shard or count)) for count in counts if count)

    @property
    def turns(self) -> int:
        """How many rounds of fresh seeds there may be."""
        if not self.estimate:
            return 0
        return 1 + max(0, math.ceil(math.log2(self.most / self.estimate)))

    @property
    def stages(self) -> list[tuple[str, int]]:
        """(stage, turn), in order."""
        return [(CHOOSE, 0), *((ESTIMATE, turn) for turn in range(self.turns))]


@dataclass(frozen=True)
class Unit:
    """Seeds first .. first + count - 1 of one stage (and turn of it) of a cell."""

    cell: Cell
    opponents: tuple[Opponent, ...]
    stage: str
    turn: int
    first: int
    count: int
    seeds: Seeds
    accounting: Accounting = USUAL

    @cached_property
    def key(self) -> dict[str, Any]:
        """All that the unit's rows depend on."""
        modules = [f"confee.policies.{self.cell.policy}", *MAKING]
        modules += [f"confee.world.adversaries.{o.adversary}" for o in self.opponents]
        if self.cell.spec.calibrated:
            modules.append("confee.simulation.calibrate")
        key: dict[str, Any] = {
            "cell": self.cell.key,
            "opponents": [o.key for o in self.opponents],
            "stage": self.stage,
            "seeds": [self.first, self.count],
            "accounting": asdict(self.accounting),
            "code": code_hash(modules, AROUND),
        }
        if self.stage == ESTIMATE:  # which opponents it plays is decided by the choose stage
            key |= {"choose": self.seeds.choose, "worst": self.seeds.worst}
        if self.turn:  # whether it plays at all is decided by the turns before
            key |= {"estimate": self.seeds.estimate, "error": self.seeds.error}
        return key

    @cached_property
    def file(self) -> Path:
        """Relative to the results folder."""
        # All parts are canonical: this is `digest(self.key)`, which would take ten times as long.
        text = json.dumps(self.key, sort_keys=True, separators=(",", ":"))
        name = hashlib.sha256(text.encode()).hexdigest()[:16]
        return Path("cells") / self.cell.policy / f"{name}.parquet"

    @property
    def whole(self) -> Unit:
        """All seeds of the unit's turn: the same however they are cut into shards."""
        first, count = self.seeds.window(self.stage, self.turn)
        if (first, count) == (self.first, self.count):
            return self
        return replace(self, first=first, count=count)

    @property
    def game(self) -> tuple:
        """What the units of a cell share, whatever their stage and seeds."""
        return self.cell, self.opponents, self.accounting

    @property
    def runs(self) -> int:
        """Runs it plays, about: most cells need a second turn of fresh seeds, few a third."""
        opponents = self.seeds.worst if self.stage == ESTIMATE else len(self.opponents)
        chance = 1 if self.turn < 2 else 0.2
        return math.ceil(chance * self.count * min(opponents, len(self.opponents)))

    @property
    def cost(self) -> float:
        """Queried rounds, about: what its time is proportional to."""
        share = 1e-3 if self.cell.spec.looks_at_nothing else 1
        return self.runs * (1e3 + share * self.cell.size.B * (1 + self.cell.size.K / 20))

    def describe(self) -> dict[str, Any]:
        """What a job file says of it; `unit` reads it back."""
        return {
            "cell": self.cell.key,
            "opponents": [[o.adversary, dict(o.resolved)] for o in self.opponents],
            "stage": self.stage,
            "turn": self.turn,
            "first": self.first,
            "count": self.count,
            "seeds": asdict(self.seeds),
            "accounting": asdict(self.accounting),
            "file": self.file.as_posix(),
        }


def unit(said: Mapping[str, Any]) -> Unit:
    """The unit that `describe` described. Raises ConfeeError if this code names it otherwise."""
    key = dict(said["cell"])
    conf = {"name": key["policy"], **key["options"]}
    one = Unit(
        cell=cell(conf, Size(*(key[name] for name in Size._fields))),
        opponents=tuple(Opponent(a, tuple(sorted(p.items()))) for a, p in said["opponents"]),
        stage=said["stage"],
        turn=said["turn"],
        first=said["first"],
        count=said["count"],
        seeds=Seeds(**said["seeds"]),
        accounting=Accounting(**said["accounting"]),
    )
    if one.file.as_posix() != said["file"]:
        raise ConfeeError(f"{said['file']}: planned with other sources; run snakemake again")
    return one


def units(one: Cell, against: Sequence[Opponent], seeds: Seeds, shard: int, how: Accounting):
    """The units of a cell: all opponents on the choosing seeds, then the worst on fresh ones."""
    for stage, turn in seeds.stages:
        first, count = seeds.window(stage, turn)
        step = shard or count
        for start in range(first, first + count, step):
            size = min(step, first + count - start)
            yield Unit(one, tuple(against), stage, turn, start, size, seeds, how)


def groups(missing: Sequence[Unit], cells_per_job: float, cost_per_job: float) -> list[list[Unit]]:
    """Units in jobs: whole cells while they fit, at most `cells_per_job` cells and about
    `cost_per_job` queried rounds. The costliest come first, so that none ends the run alone.

    A job is of one policy but for its ends: what is left of one is filled up with the next. Within
    a cell the order is choose before estimate; if shards split a cell over jobs, the jobs of each
    stage are apart (see `waits`).
    """
    whole = all(u.whole is u for u in missing)
    bundles: dict[Any, list[Unit]] = {}
    for u in missing:
        bundles.setdefault(((), u.cell) if whole else ((u.stage, u.turn), u.file), []).append(u)
    by: dict[Any, list[list[Unit]]] = {}
    for (stage, _), bundle in bundles.items():
        by.setdefault(stage, []).append(bundle)
    made: list[list[Unit]] = []
    for batch in by.values():
        batch.sort(key=lambda b: (b[0].cell.policy, -sum(u.cost for u in b)))
        current: list[Unit] = []
        count, cost = 0, 0.0
        for bundle in batch:
            price = sum(u.cost for u in bundle)
            if current and (count >= cells_per_job or cost + price > cost_per_job):
                made.append(current)
                current, count, cost = [], 0, 0.0
            current = current + bundle
            count, cost = count + 1, cost + price
        if current:
            made.append(current)
    made.sort(key=lambda group: -sum(u.cost for u in group))
    return made
