"""Play cells: each run is a row."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from confee.core import jit, schema
from confee.core.canonical import canonical, digest, stream
from confee.core.errors import ConfeeError
from confee.core.size import Size
from confee.policies.examine import examine
from confee.simulation.cells import Cell, Opponent
from confee.world.game import check, new_ledger, played_path, settle
from confee.world.lanes import ledgers, new_lanes
from confee.world.path import Environment, known
from confee.world.settings import SETTINGS

Row = dict[str, Any]


@dataclass(frozen=True)
class Accounting:
    """How regret is accounted; it changes nothing that is played.

    Parameters
    ----------
    idle
        Idle rounds count by their expectation, or `sampled`: the same mean with a larger variance,
        at a cost of O(T).
    proxy
        P of the decomposition is the largest of the arms' means, or `literal`, of the observed
        rewards, as the paper prints it; that is biased upward.
    """

    idle: str = schema.choice("expected", "expected", "sampled")
    proxy: str = schema.choice("means", "means", "literal")


USUAL = Accounting()


def path_key(against: Opponent, size: Size, seed: int) -> list[Any]:
    """Return what a path depends on: the same for every policy and every budget."""
    return ["path", *against.key, size.K, size.T, canonical(size.V), seed]


def draw_path(against: Opponent, size: Size, seed: int) -> Environment:
    """Return the path of `seed`; it does not depend on B.

    Raises ConfeeError if it does not tile the rounds 1..T or spends more than V.
    """
    rng = stream(*path_key(against, size, seed))
    path = against.spec.draw(dict(against.resolved), size.K, size.T, size.V, rng)
    try:
        return path.checked(size.T, size.V)
    except ConfeeError as error:
        raise ConfeeError(f"adversary={against.adversary}: {error}") from None


def knowledge(cell: Cell, against: Opponent, path: Environment) -> Any:
    """Return what the cell's policy knows of the game. Raises ConfeeError if `path` is of a
    setting that the policy does not play."""
    try:
        return known(path, cell.spec.setting)
    except ConfeeError as error:
        raise ConfeeError(f"policy={cell.policy}, adversary={against.adversary}: {error}") from None


@dataclass(frozen=True)
class _Run:
    """A run that is about to be played: what its kernel is given besides world and ledger."""

    against: Opponent
    seed: int
    path: Environment
    rng: np.random.Generator
    coins: int
    game: Any
    arguments: tuple


def play(
    cell: Cell, against: Opponent, seed: int, options: Any = None, accounting: Accounting = USUAL
) -> Row:
    """Play one run and return its row: what was recorded, and all that identifies the run.

    `options` are the cell's own by default; those of a calibrated policy hold its scale.
    """
    options = cell.options if options is None else options
    run = _run(cell, against, seed, options, accounting)
    return _alone(cell, run, options, accounting)


def _run(cell: Cell, against: Opponent, seed: int, options: Any, accounting: Accounting) -> _Run:
    _, T, B, V = cell.size
    path = draw_path(against, cell.size, seed)
    if accounting != USUAL and not path.parts:
        raise ConfeeError(
            f"adversary={against.adversary}: idle and proxy must be {USUAL.idle} and {USUAL.proxy} "
            "where rules are played"
        )
    key = [cell.policy, dataclasses.asdict(options), path_key(against, cell.size, seed), B]
    game = knowledge(cell, against, path)
    arguments = cell.spec.kernel_arguments(game, T, B, V, path.pieces, options)
    coins = int(digest(["proxy", *key]), 16)
    return _Run(against, seed, path, stream("policy", *key), coins, game, arguments)


def _alone(cell: Cell, run: _Run, options: Any, accounting: Accounting) -> Row:
    """Play a run by itself."""
    sampled, literal = accounting.idle == "sampled", accounting.proxy == "literal"
    ledger = new_ledger(sampled, literal, run.coins, run.path.adaptive)
    world = SETTINGS[cell.spec.setting].game.new_world(run.path)
    _examine(cell, run.path, run.game, options)
    cell.spec.kernel(world, ledger, run.game, cell.size.T, cell.size.B, *run.arguments, run.rng)
    check(ledger, run.path, cell.policy, cell.size.B)
    path = run.path
    if path.adaptive:
        path = played_path(world, cell.policy).checked(cell.size.T, cell.size.V)
    return _row(cell, run, path, ledger, options)


def _row(cell: Cell, run: _Run, path: Environment, ledger: np.record, options: Any) -> Row:
    row: Row = {"policy": cell.policy, "label": cell.label, **cell.size._asdict()}
    row["V"] = float(cell.size.V)
    row |= {"adversary": run.against.adversary, "seed": run.seed}
    row |= settle(ledger, path)
    parameters, chosen = run.against.parameters, dataclasses.asdict(options)
    row |= {f"adversary.{name}": _flat(value) for name, value in parameters.items()}
    row |= {f"policy.{name}": _flat(value) for name, value in chosen.items()}
    return row


def _examine(cell: Cell, path: Environment, known: Any, options: Any) -> None:
    """Raise ConfeeError if the policy's base algorithm breaks its contract. Each policy is examined
    once in a process."""
    alg = cell.spec.algorithm
    if alg is None or cell.policy in _EXAMINED:
        return
    world = alg.setting.game.new_world(path)
    try:
        examine(alg, world, known, alg.constants(known, cell.size.T, options), cell.size.T)
    except ConfeeError as error:
        raise ConfeeError(f"policy={cell.policy}, {error}") from None
    _EXAMINED.add(cell.policy)


_EXAMINED: set[str] = set()


# --------------------------------------------------------------------------- many runs

LANES = 64
"""The most runs that are played together: their state still fits in a core's own cache."""
FEWEST = 8
"""The fewest runs that are played together: fewer are faster one by one."""
CROWDED = 10**7
"""The most numbers in the paths of runs that are played together: 80 MB."""


def play_all(
    cell: Cell,
    opponents: Iterable[Opponent],
    seeds: Iterable[int],
    options: Any = None,
    accounting: Accounting = USUAL,
    tick: Callable[[], None] = lambda: None,
) -> list[Row]:
    """Play every opponent on every seed and return the rows in this order.

    `tick` is called after each run. Parameters as for `play`.
    """
    options = cell.options if options is None else options
    seeds, rows = list(seeds), []
    runs = (_run(cell, met, seed, options, accounting) for met in opponents for seed in seeds)
    together = _in_step(cell, options, accounting)
    for batch in _batches(runs, together):
        if len(batch) < FEWEST:
            rows += [_alone(cell, run, options, accounting) for run in batch]
        else:
            rows += _together(cell, batch, options)
        for _ in batch:
            tick()
    return rows


def _in_step(cell: Cell, options: Any, accounting: Accounting) -> bool:
    """Whether runs of the cell can be lanes of one play; `confee.world.streams` needs numba."""
    compiled = not jit.disabled()
    usual = accounting == USUAL and getattr(options, "in_step", True)
    return compiled and usual and cell.spec.lanes is not None


def _batches(runs: Iterable[_Run], together: bool) -> Iterator[list[_Run]]:
    """Group consecutive runs that can be played together: with equal arguments, on paths that
    fit."""
    batch: list[_Run] = []
    size = 0
    for run in runs:
        path = run.path
        alone = not together or path.adaptive
        more = 0 if alone else path.mean.size  # type: ignore[attr-defined]
        full = len(batch) == LANES or size + more > CROWDED
        if batch and (alone or full or run.arguments != batch[0].arguments):
            yield batch
            batch, size = [], 0
        batch.append(run)
        size += more
        if alone:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _together(cell: Cell, batch: list[_Run], options: Any) -> list[Row]:
    """Play runs as lanes of one play, with the same rows as one by one."""
    lanes, shared = new_lanes([r.path for r in batch], [r.rng for r in batch]), new_ledger()
    cell.spec.lanes(lanes, shared, batch[0].game, cell.size.T, cell.size.B, *batch[0].arguments)  # type: ignore[misc]
    rows = []
    for run, ledger in zip(batch, ledgers(lanes, shared), strict=True):
        check(ledger, run.path, cell.policy, cell.size.B)
        rows.append(_row(cell, run, run.path, ledger, options))
    return rows


def _flat(value: Any) -> float | str:
    """Return a parameter as its column holds it: a number or a word."""
    return value if isinstance(value, str) else float(value)
