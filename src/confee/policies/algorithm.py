"""What a base algorithm is: ALG of the paper's extension section, and the game it is made for.

A base algorithm knows its own observations and nothing of budgets, horizons cut into blocks, or
idle rounds. What plays it (`hyque`, `planned`) knows when to look and nothing of the setting. Both
meet in the functions below, which a kernel calls by these names (see `confee.jit.over`).

    new_instances(count, known, constants)    array whose row i is an instance, for `begin`
    begin(instance, known, constants)         it forgets everything
    act(instance, tau, known, constants, rng)
                                              (decision, f~) after tau observations; f~ in [0, 1]
    learn(instance, known, constants, data, decision, reward)
                                              one observation; `data` holds what else was seen
    replayed(instance, data)                  what idle rounds play: its past decisions at random
    rho(t, known)                             average error after t observations, see below
    chances(n, known)                         rho(2^n) / rho(2^m) for m = 0..n

`known` is what every learner knows of the world: K arms, features [K, d], and so on. `constants`
are the algorithm's own. A decision is the setting's: an arm, or a rule [H, S, A].

Assumption on ALG (extension section, after Wei and Luo 2021): while V_[1,t] <= rho(t),

    f~_t >= min over tau <= t of f*_tau - V_[1,t],
    mean over tau <= t of (f~_tau - R_tau) <= rho(t) + V_[1,t],

with rho(t) >= 1/sqrt(t) not increasing and C(t) = t rho(t) not decreasing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from confee.policies.base import NoOptions
from confee.world.settings import Setting


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

    @property
    def calls(self) -> dict[str, Callable[..., Any]]:
        """What a kernel is compiled over: its functions and the setting's, by name."""
        return {name: getattr(self, name) for name in CALLED} | self.setting.calls

    def with_options(self, of: type) -> type:
        """The options of a policy that plays it: its own, and those of what plays it."""
        return dataclasses.make_dataclass("Options", [], bases=(of, self.options), frozen=True)


CALLED = ("new_instances", "begin", "act", "learn", "replayed", "rho", "chances")
