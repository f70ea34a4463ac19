"""Proofs as lists of steps, each an inequality or an identity checked on numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from confee.claims.judging.finding import (
    FAILS,
    HOLDS,
    Step,
)

TOLERANCE = 1e-12
"""Relative: machine precision over a few dozen operations."""

ANY_HORIZON = "any horizon (arithmetic, no runs)"

Sides = tuple[Any, Any]
"""Numbers or arrays, positive: the side that must not be larger, and the other one."""


@dataclass(frozen=True)
class Line:
    """`sides()` claims left <= right everywhere, or left = right if `equal`.

    `mend`: what repairs it, if it is wrong.
    """

    name: str
    place: str
    sides: Callable[[], Sides]
    note: str = ""
    mend: str = ""
    equal: bool = False


def judge_step(step: Line) -> Step:
    """{"step", "outcome", "number", "note"}; the number is left / right where that is worst."""
    left, right = (np.asarray(side, dtype=float) for side in step.sides())
    ratio = left / right
    off = np.abs(ratio - 1) if step.equal else ratio - 1
    worst = np.argmax(off)
    wrong = not off.flat[worst] <= TOLERANCE
    notes = [step.place, step.note, f"mended by: {step.mend}" if wrong and step.mend else ""]
    return Step(
        step=step.name,
        outcome=FAILS if wrong else HOLDS,
        number=float(ratio.flat[worst]),
        note="; ".join(filter(None, notes)),
    )


def judge_proof(steps: Sequence[Line]) -> tuple[str, tuple[Step, ...]]:
    """`holds` if every step does, else `fails`, with the steps."""
    rows = tuple(judge_step(step) for step in steps)
    return FAILS if failing(rows) else HOLDS, rows


def failing(rows: Sequence[Step]) -> list[str]:
    """Names of the steps that fail."""
    return [row.step for row in rows if row.outcome == FAILS]
