"""Check what the functions of a base algorithm return, before it is played.

A kernel compiled over functions that return something else would fail with numba's message, or
play on with wrong results.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from confee.core import schema
from confee.core.jit import is_numbas, python_function, reason
from confee.policies.algorithm import Algorithm
from confee.world.episodes import sizes
from confee.world.game import new_ledger


def observe(
    alg: Algorithm, world: np.ndarray, known: Any, constants: Any, rounds: int, seed: int
) -> Iterator[tuple[Any, float, float]]:
    """Play one instance that queries each of the first `rounds` rounds of `world`.

    Yields
    ------
    decision, value, reward
        What `act` returned (the decision and f~), and the reward.

    Raises
    ------
    ConfeeError
        If a function fails or returns something that the interface does not allow; the message
        names the function.
    """
    rng = np.random.default_rng(seed)
    memories, query = alg.setting.calls["new_memories"](1, world), alg.setting.calls["query"]
    anything = alg.setting.calls["anything"](world)
    ledger = new_ledger()
    instances = _called(alg, "new_instances", 2, known, constants)
    _must(
        alg,
        "new_instances",
        isinstance(instances, np.ndarray) and instances.ndim > 1 and len(instances) == 2,
        "an array with `count` rows, each an array",
        instances,
    )
    instance, data = instances[1], memories[0]
    _called(alg, "begin", instance, known, constants)
    for tau in range(rounds):
        acted = _called(alg, "act", instance, tau, known, constants, rng)
        pair = isinstance(acted, tuple) and len(acted) == 2
        _must(alg, "act", pair, "a pair (decision, f~)", acted)
        decision, value = acted
        if alg.setting.decision == "arm":
            K = len(anything)
            is_arm = isinstance(decision, int) and 0 <= decision < K
            _must(alg, "act", is_arm, f"the arm as a whole number in [0, {K - 1}]", decision)
        else:
            shape = python_function(sizes)(world)[:3]
            is_rule = isinstance(decision, np.ndarray) and decision.shape == shape
            is_rule = is_rule and decision.min() >= 0 and np.allclose(decision.sum(axis=2), 1)
            what = f"the rule as an array [H, S, A] = {list(shape)} of chances that sum to 1"
            _must(alg, "act", is_rule, what, decision)
        is_value = isinstance(value, int | float) and 0 <= value <= 1
        _must(alg, "act", is_value, "f~ as a number in [0, 1]", value)
        reward = query(world, ledger, data, tau + 1, decision, rng)
        _called(alg, "learn", instance, known, constants, data, decision, reward)
        yield decision, value, reward
    replayed = _called(alg, "replayed", instance, data)
    right = isinstance(replayed, np.ndarray) and replayed.shape == anything.shape
    _must(alg, "replayed", right, f"an array of shape {anything.shape}", replayed)


def examine(alg: Algorithm, world: np.ndarray, known: Any, constants: Any, T: int) -> None:
    """Check a few observations of `world`, and rho and chances up to 2^20 observations.

    Raises
    ------
    ConfeeError
        If a function fails or returns something that the interface does not allow; the message
        names the function.
    """
    before = np.inf
    for t in (1 << order for order in range(21)):
        error = _called(alg, "rho", t, known)
        is_error = isinstance(error, int | float) and 0 < error < np.inf
        _must(alg, "rho", is_error, f"a number over 0, also at t={t}", error)
        fair = t == 1 or before / 2 * (1 - 1e-12) <= error <= before * (1 + 1e-12)
        _must(alg, "rho", fair, f"at t={t} from half to all of its {before:.6g} at half t", error)
        before = error
    for n in (0, 20):
        chances = _called(alg, "chances", n, known)
        right = isinstance(chances, np.ndarray) and chances.shape == (n + 1,) and chances[n] == 1
        right = right and chances.min() > 0 and chances.max() <= 1
        _must(alg, "chances", right, f"{n + 1} chances in (0, 1] at n={n}, the last one 1", chances)
    for _ in observe(alg, world, known, constants, min(8, T), 0):
        pass


def _called(alg: Algorithm, name: str, *arguments: Any) -> Any:
    try:
        return getattr(alg, name)(*arguments)
    except Exception as error:
        place = "" if is_numbas(error) else f"{_place(alg, name)}: "
        raise alg.mistake(f"{name}: {place}{reason(error)}") from None


def _must(alg: Algorithm, name: str, right: bool, what: str, returned: Any) -> None:
    if not right:
        shown = schema.show(returned)
        raise alg.mistake(f"{_place(alg, name)}: {name} must return {what}; it gave {shown}")


def _place(alg: Algorithm, name: str) -> str:
    code = python_function(getattr(alg, name)).__code__
    return f"{code.co_filename}: line {code.co_firstlineno}"
