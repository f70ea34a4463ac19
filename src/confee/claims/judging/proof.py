"""Proofs as lists of steps, each an inequality or an identity checked on numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from confee.claims.judging.finding import FAILS, HOLDS, Step

TOLERANCE = 1e-12
"""Relative: machine precision over a few dozen operations."""

ANY_HORIZON = "any horizon (arithmetic, no runs)"

Sides = tuple[Any, Any]
"""Positive numbers or arrays: the side that must not be larger, and the other side."""


@dataclass(frozen=True)
class Line:
    """`sides()` claims left <= right everywhere, or left = right if `equal`."""

    name: str
    place: str
    sides: Callable[[], Sides]
    note: str = ""
    equal: bool = False


def judge_step(step: Line) -> Step:
    """The outcome of a line; its number is left / right where that is worst."""
    left, right = (np.asarray(side, dtype=float) for side in step.sides())
    ratio = left / right
    off = np.abs(ratio - 1) if step.equal else ratio - 1
    worst = np.argmax(off)
    wrong = not off.flat[worst] <= TOLERANCE
    return Step(
        step=step.name,
        outcome=FAILS if wrong else HOLDS,
        number=float(ratio.flat[worst]),
        note="; ".join(filter(None, [step.place, step.note])),
    )


def judge_proof(steps: Sequence[Line]) -> tuple[str, tuple[Step, ...]]:
    """`holds` if every step does, else `fails`, with the steps."""
    rows = tuple(judge_step(step) for step in steps)
    return FAILS if failing(rows) else HOLDS, rows


def failing(rows: Sequence[Step]) -> list[str]:
    """Names of the steps that fail."""
    return [row.step for row in rows if row.outcome == FAILS]
