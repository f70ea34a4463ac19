"""What a base algorithm is: ALG of the paper's extension section.

It learns from its own observations, and knows of no budget, block or idle round. Whoever plays it
(`hyque`, `planned`) knows when to look, and nothing of the setting. They meet in these functions,
compiled by `confee.core.jit.njit`, which kernels call by name (`confee.core.jit.over`):

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
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from confee.core.errors import ConfeeError
from confee.core.jit import python_function
from confee.policies.base import NoOptions
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
            plain = python_function(getattr(self, name))
            if plain is None:
                raise self.mistake(f"{name} must be a function under @njit (confee.core.jit)")
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
