"""What a base algorithm is: ALG of the paper's extension section.

It learns from its own observations, and knows of no budget, block or idle round. Whoever plays it
(`hyque`, `planned`) knows when to look, and nothing of the setting. They meet in these functions,
compiled by `confee.jit.njit`, which kernels call by name (`confee.jit.over`):

    new_instances(count, known, constants)    array whose row i is an `instance`: all it remembers
    begin(instance, known, constants)         it forgets everything; called before it is used
    act(instance, tau, known, constants, rng)
                                              (decision, f~) after tau observations; f~ in [0, 1]
    learn(instance, known, constants, data, decision, reward)
                                              one observation; `data` holds what else was seen
    replayed(instance, data)                  what idle rounds play: its past decisions at random
    rho(t, known)                             average error after t observations, see below
    chances(n, known)                         array [n + 1]: the chances with which a block of order
                                              n starts instances of order m, rho(2^n) / rho(2^m);
                                              `over(schedule.ratios, __name__, rho=rho)`

`constants` are the algorithm's own: a number, or an array. The rest is the setting's
(`confee.world.settings`):

    setting                    known                    decision          replayed
    arms                       K                        arm               weights [K]
    linear, logistic           features [K, d]          arm               weights [K]
    contextual                 regressors [F, S, A]     rule [1, S, A]    `data`
    episodic                   (H, S, A)                rule [H, S, A]    `data`

Where rules are played, the last episode is data[SEEN:] (`confee.world.episodes`): state, action and
reward of each step; the reward that `learn` is given is their mean.

Assumption on ALG (extension section, after Wei and Luo 2021): while V_[1,t] <= rho(t),

    f~_t >= min over tau <= t of f*_tau - V_[1,t],
    mean over tau <= t of (f~_tau - R_tau) <= rho(t) + V_[1,t],

with rho(t) >= 1/sqrt(t) not increasing and C(t) = t rho(t) not decreasing; f*_t is the value of the
best decision in round t. Both up to constants, which rho may be scaled by (their Appendix I).
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from confee import schema
from confee.errors import ConfeeError
from confee.jit import is_numbas, reason
from confee.policies.base import NoOptions
from confee.world.game import new_ledger
from confee.world.settings import Setting

CALLED = {
    "new_instances": "count, known, constants",
    "begin": "instance, known, constants",
    "act": "instance, tau, known, constants, rng",
    "learn": "instance, known, constants, data, decision, reward",
    "replayed": "instance, data",
    "rho": "t, known",
    "chances": "n, known",
}
"""Function -> what it takes, in this order."""


@dataclass(frozen=True)
class Algorithm:
    """A base algorithm; `constants(known, T, options)` gives what its functions get by that name.

    T is the horizon in rounds, for confidence levels. `error(known)`: c, where C(t) is about
    c sqrt(t), logarithms left out. `stretch(options)`: times rho and error, where options say
    something of the world that they depend on.
    """

    id: str
    name: str
    setting: Setting
    new_instances: Callable[..., Any]
    begin: Callable[..., Any]
    act: Callable[..., Any]
    learn: Callable[..., Any]
    replayed: Callable[..., Any]
    rho: Callable[..., Any]
    chances: Callable[..., Any]
    constants: Callable[..., Any]
    error: Callable[..., float]
    stretch: Callable[..., float] = lambda options: 1.0
    options: type = NoOptions

    def __post_init__(self) -> None:
        if not isinstance(self.setting, Setting):
            raise self.mistake("setting must be one of confee.world.settings")
        for name, takes in CALLED.items():
            plain = getattr(getattr(self, name), "py_func", None)
            if plain is None:
                raise self.mistake(f"{name} must be a function under @njit (confee.jit)")
            if len(inspect.signature(plain).parameters) != takes.count(",") + 1:
                raise self.mistake(f"{name} must take ({takes})")
        for name in ("constants", "error"):
            if not callable(getattr(self, name)):
                raise self.mistake(f"{name} must be a function")
        if not dataclasses.is_dataclass(self.options):
            raise self.mistake("options must be a dataclass")

    @property
    def calls(self) -> dict[str, Callable[..., Any]]:
        """What a kernel is compiled over: its functions and the setting's, by name."""
        return {name: getattr(self, name) for name in CALLED} | self.setting.calls

    def with_options(self, of: type) -> type:
        """The options of a policy that plays it: its own, and those of what plays it."""
        own, others = ({f.name for f in dataclasses.fields(one)} for one in (self.options, of))
        if taken := sorted(own & others):
            raise self.mistake(f"option {taken[0]} is an option of what plays it; rename it")
        return dataclasses.make_dataclass("Options", [], bases=(of, self.options), frozen=True)

    def mistake(self, said: str) -> ConfeeError:
        return ConfeeError(f"algorithm={self.id}: {said}")


# --------------------------------------------------------------------------- on its own


def observe(
    alg: Algorithm, world: np.ndarray, known: Any, constants: Any, rounds: int, seed: int
) -> Iterator[tuple[Any, float, float]]:
    """An instance that looks in each of the first `rounds` rounds of `world`: (decision, f~, R).

    Raises ConfeeError, naming the function, where one fails or returns what none of its kind may.
    """
    rng = np.random.default_rng(seed)
    memories, query = alg.setting.calls["new_memories"](1, world), alg.setting.calls["query"]
    anything = alg.setting.calls["anything"](world)
    ledger = new_ledger()
    instances = _called(alg, "new_instances", 2, known, constants)
    _must(
        alg, "new_instances", isinstance(instances, np.ndarray) and instances.ndim > 1
        and len(instances) == 2, "an array with `count` rows, each an array", instances,
    )  # fmt: skip
    instance, data = instances[1], memories[0]
    _called(alg, "begin", instance, known, constants)
    for tau in range(rounds):
        acted = _called(alg, "act", instance, tau, known, constants, rng)
        pair = isinstance(acted, tuple) and len(acted) == 2
        _must(alg, "act", pair, "a pair (decision, f~)", acted)
        decision, value = acted
        if alg.setting.decision == "arm":
            _must(alg, "act", isinstance(decision, int), "the arm as a whole number", decision)
        else:
            is_rule = isinstance(decision, np.ndarray) and decision.ndim == 3
            _must(alg, "act", is_rule, "the rule as an array [H, S, A]", decision)
        is_value = isinstance(value, int | float) and 0 <= value <= 1
        _must(alg, "act", is_value, "f~ as a number in [0, 1]", value)
        reward = query(world, ledger, data, tau + 1, decision, rng)
        _called(alg, "learn", instance, known, constants, data, decision, reward)
        yield decision, value, reward
    again = _called(alg, "replayed", instance, data)
    right = isinstance(again, np.ndarray) and again.shape == anything.shape
    _must(alg, "replayed", right, f"an array of shape {anything.shape}", again)


def examine(alg: Algorithm, world: np.ndarray, known: Any, constants: Any, T: int) -> None:
    """Raises ConfeeError, naming the function, unless a few observations of `world`, and the errors
    after up to 2^20 of them, are what such may be."""
    before = np.inf
    for t in (1 << order for order in range(21)):
        found = _called(alg, "rho", t, known)
        is_error = isinstance(found, int | float) and 0 < found < np.inf
        _must(alg, "rho", is_error, f"a number over 0, also at t={t}", found)
        fair = t == 1 or before / 2 * (1 - 1e-12) <= found <= before * (1 + 1e-12)
        _must(alg, "rho", fair, f"at t={t} from half to all of its {before:.6g} at half t", found)
        before = found
    for n in (0, 20):
        found = _called(alg, "chances", n, known)
        right = isinstance(found, np.ndarray) and found.shape == (n + 1,) and found[n] == 1
        right = right and found.min() > 0 and found.max() <= 1
        _must(alg, "chances", right, f"{n + 1} chances in (0, 1] at n={n}, the last one 1", found)
    for _ in observe(alg, world, known, constants, min(8, T), 0):
        pass


def _called(alg: Algorithm, name: str, *arguments: Any) -> Any:
    try:
        return getattr(alg, name)(*arguments)
    except Exception as error:
        place = "" if is_numbas(error) else f"{_place(alg, name)}: "
        raise alg.mistake(f"{name}: {place}{reason(error)}") from None


def _must(alg: Algorithm, name: str, right: bool, what: str, found: Any) -> None:
    if not right:
        shown = schema.show(found)
        raise alg.mistake(f"{_place(alg, name)}: {name} must return {what}; it gave {shown}")


def _place(alg: Algorithm, name: str) -> str:
    code = getattr(alg, name).py_func.__code__
    return f"{code.co_filename}: line {code.co_firstlineno}"
