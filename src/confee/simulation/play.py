"""Plays cells: one row a run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from confee import schema
from confee.canonical import canonical, digest, stream
from confee.errors import ConfeeError
from confee.policies.examine import examine
from confee.simulation.cells import Cell, Opponent
from confee.world.game import check, new_ledger, played_path, settle
from confee.world.path import Environment, known
from confee.world.settings import SETTINGS

Row = dict[str, Any]


@dataclass(frozen=True)
class Accounting:
    """How a run is accounted, which changes no play of it.

    idle: the expectation of an idle run, or its plays `sampled`: same mean, larger variance, and a
    cost of O(T). proxy: the P of the decomposition over means, or `literal`, over rewards as the
    paper prints it (biased upward).
    """

    idle: str = schema.choice("expected", "expected", "sampled")
    proxy: str = schema.choice("means", "means", "literal")


USUAL = Accounting()


def path_key(against: Opponent, K: int, T: int, V: float, seed: int) -> list[Any]:
    """What a path depends on: the same for every policy and budget."""
    return ["path", *against.key, K, T, canonical(V), seed]


def draw_path(against: Opponent, K: int, T: int, V: float, seed: int) -> Environment:
    """The path of `seed`, checked: it tiles 1..T, stays in [0, 1] and spends at most V."""
    rng = stream(*path_key(against, K, T, V, seed))
    path = against.spec.draw(dict(against.resolved), K, T, V, rng)
    try:
        return path.checked(T, V)
    except ConfeeError as error:
        raise ConfeeError(f"adversary={against.adversary}: {error}") from None


def game_of(cell: Cell, against: Opponent, path: Environment) -> tuple[np.ndarray, Any]:
    """(world, known): `path` as the cell's kernel reads it, and what its policy knows of it.
    Raises ConfeeError if it is of another setting."""
    setting = cell.spec.setting
    try:
        told = known(path, setting)
    except ConfeeError as error:
        raise ConfeeError(f"policy={cell.policy}, adversary={against.adversary}: {error}") from None
    return SETTINGS[setting].game.new_world(path), told


def play(
    cell: Cell,
    against: Opponent,
    seed: int,
    options: Any = None,
    accounting: Accounting = USUAL,
) -> Row:
    """One run: the recorded quantities and all that identifies it.

    `options` are the cell's own unless found in between (a calibrated scale).
    """
    options = cell.options if options is None else options
    K, T, B, V = cell.K, cell.T, cell.B, cell.V
    path = draw_path(against, K, T, V, seed)
    chosen = dataclasses.asdict(options)
    key = [cell.policy, chosen, path_key(against, K, T, V, seed), B]
    rng = stream("policy", *key)
    coins = int(digest(["proxy", *key]), 16)
    sampled, literal = accounting.idle == "sampled", accounting.proxy == "literal"
    if accounting != USUAL and not path.parts:
        raise ConfeeError(
            f"adversary={against.adversary}: idle and proxy must be {USUAL.idle} and {USUAL.proxy} "
            "where rules are played"
        )
    ledger = new_ledger(sampled, literal, coins, path.adaptive)
    world, told = game_of(cell, against, path)
    arguments = cell.spec.kernel_arguments(told, T, B, V, path.pieces, options)
    _examine(cell, path, told, options)
    cell.spec.kernel(world, ledger, told, T, B, *arguments, rng)
    check(ledger, path, cell.policy, B)
    if path.adaptive:
        path = played_path(world, cell.policy).checked(T, V)
    row: Row = {"policy": cell.policy, "label": cell.label, "K": K, "T": T, "B": B, "V": float(V)}
    row |= {"adversary": against.adversary, "seed": seed}
    row |= settle(ledger, path)
    row |= {f"adversary.{name}": _flat(value) for name, value in against.parameters.items()}
    row |= {f"policy.{name}": _flat(value) for name, value in chosen.items()}
    return row


def _examine(cell: Cell, path: Environment, told: Any, options: Any) -> None:
    """Once in a process and policy: raises ConfeeError if its base algorithm is none."""
    alg = cell.spec.algorithm
    if alg is None or cell.policy in _EXAMINED:
        return
    world = alg.setting.game.new_world(path)
    try:
        examine(alg, world, told, alg.constants(told, cell.T, options), cell.T)
    except ConfeeError as error:
        raise ConfeeError(f"policy={cell.policy}, {error}") from None
    _EXAMINED.add(cell.policy)


_EXAMINED: set[str] = set()


def play_all(
    cell: Cell,
    opponents: Iterable[Opponent],
    seeds: Iterable[int],
    options: Any = None,
    accounting: Accounting = USUAL,
    tick: Callable[[], None] = lambda: None,
) -> list[Row]:
    """Every opponent with every seed, in this order; `tick` is called after each run."""
    rows = []
    seeds = list(seeds)
    for against in opponents:
        for seed in seeds:
            rows.append(play(cell, against, seed, options, accounting))
            tick()
    return rows


def _flat(value: Any) -> float | str:
    """A parameter as a column holds it: a number or a word."""
    return value if isinstance(value, str) else float(value)
