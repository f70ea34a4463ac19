"""The query rounds of one run."""

from __future__ import annotations

import types
from typing import Any

import numpy as np

from confee.core.canonical import stream
from confee.simulation.cells import Cell, Opponent
from confee.simulation.play import draw_path, knowledge, path_key
from confee.world.game import new_ledger
from confee.world.settings import SETTINGS


def query_rounds(cell: Cell, against: Opponent, seed: int, options: Any = None) -> np.ndarray:
    """Return the rounds in which a run queries, increasing.

    The policy's kernel runs as plain Python with a `query` that notes the round. That takes some 50
    microseconds per query, so it is for small budgets.
    """
    _, T, B, V = cell.size
    options = cell.options if options is None else options
    kernel = getattr(cell.spec.kernel, "py_func", cell.spec.kernel)
    rounds: list[int] = []
    compiled = kernel.__globals__["query"]

    def query(world, ledger, data, t, arm, rng):
        rounds.append(t)
        return compiled(world, ledger, data, t, arm, rng)

    noting = types.FunctionType(kernel.__code__, {**kernel.__globals__, "query": query})
    path = draw_path(against, cell.size, seed)
    rng = stream("trace", cell.key, path_key(against, cell.size, seed))
    known = knowledge(cell, against, path)
    world = SETTINGS[cell.spec.setting].game.new_world(path)
    arguments = cell.spec.kernel_arguments(known, T, B, V, path.pieces, options)
    noting(world, new_ledger(), known, T, B, *arguments, rng)
    return np.array(rounds, dtype=np.int64)
