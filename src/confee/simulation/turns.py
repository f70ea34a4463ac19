"""Which opponents a cell meets: all on the choosing seeds, the worst few on fresh ones."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Sequence
from typing import Any

from confee.core.canonical import dumps
from confee.simulation.cells import Opponent
from confee.simulation.play import Row


def still_to_meet(
    opponents: Sequence[Opponent],
    earlier: Sequence[Row],
    *,
    turn: int,
    choose: int,
    worst: int,
    error: float,
) -> list[Opponent]:
    """Return the opponents of a turn of fresh seeds, given the runs so far.

    They are the `worst` few on the seeds below `choose`; none if the turns before were enough.
    """
    if turn and enough([row for row in earlier if row["seed"] >= choose], error):
        return []
    return worst_opponents(opponents, [row for row in earlier if row["seed"] < choose], worst)


def decisive(runs: Any) -> Any:
    """Return the columns of an arrow table of runs that decide on opponents and turns."""
    # A unit that played nothing has none of them.
    wanted = re.compile(r"seed|regret|adversary\b.*")
    return runs.select([name for name in runs.column_names if wanted.fullmatch(name)])


def worst_opponents(
    opponents: Sequence[Opponent], choosing: Sequence[Row], count: int
) -> list[Opponent]:
    """Return the `count` opponents with the most regret on the choosing seeds, in their order."""
    sums = dict.fromkeys((dumps(o.key) for o in opponents), 0.0)
    for row in choosing:
        sums[_opponent_of(row)] += row["regret"]
    ranked = sorted(opponents, key=lambda o: -sums[dumps(o.key)])
    keep = {dumps(o.key) for o in ranked[:count]}
    return [o for o in opponents if dumps(o.key) in keep]


def enough(fresh: Sequence[Row], most: float) -> bool:
    """Return whether the fresh seeds so far suffice: the standard error of the leading opponent's
    mean regret is at most `most` times that mean. That holds at once where there is no regret."""
    regrets: dict[str, list[float]] = {}
    for row in fresh:
        regrets.setdefault(_opponent_of(row), []).append(row["regret"])
    leading = max(regrets.values(), key=statistics.fmean)
    if len(leading) < 2:
        return False
    error = statistics.stdev(leading) / math.sqrt(len(leading))
    return error <= most * statistics.fmean(leading)


def _opponent_of(row: Row) -> str:
    prefix = "adversary."
    parameters = {
        name.removeprefix(prefix): value
        for name, value in row.items()
        if name.startswith(prefix) and value is not None
    }
    return dumps([row["adversary"], parameters])
