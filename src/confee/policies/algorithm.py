"""What a base algorithm is: ALG of the paper's extension section.

A base algorithm learns from its own observations and knows of no budget, block or idle round. The
policies that play it (`hyque`, `scheduled`) decide when to query and know nothing of the setting.
Their kernels call these functions by name (`confee.core.jit.over`). All are compiled by
`confee.core.jit.njit`.

    new_instances(count, known, constants)
                                   array of `count` rows; a row is the memory of one instance
    begin(instance, known, constants)
                                   forget everything; called before an instance is used
    act(instance, tau, known, constants, rng)
                                   (decision, f~) after tau observations; f~ in [0, 1]
    learn(instance, known, constants, data, decision, reward)
                                   take in an observation; `data` holds what else was observed
    replayed(instance, data)       what idle rounds play: past decisions of the instance at random
    rho(t, known)                  average error after t observations, see below
    chances(n, known)              array [n + 1]: the probability rho(2^n) / rho(2^m) that a block
                                   of order n starts an instance of order m = 0..n, from
                                   `over(blocks.ratios, __name__, rho=rho)`

`constants` are the algorithm's own: a number or an array. `known`, the decision and what is
replayed depend on the setting (`confee.world.settings`):

    setting                    known                    decision          replayed
    arms                       K                        arm               weights [K]
    linear, logistic           features [K, d]          arm               weights [K]
    contextual                 regressors [F, S, A]     rule [1, S, A]    `data`
    episodic                   (H, S, A)                rule [H, S, A]    `data`

Where decisions are rules, data[SEEN:] is the last episode (`confee.world.episodes`): state, action
and reward of each step. The reward that `learn` is given is the mean over the steps.

Assumption on ALG (extension section, after Wei and Luo 2021): while V_[1,t] <= rho(t),

    f~_t >= min over tau <= t of f*_tau - V_[1,t],
    mean over tau <= t of (f~_tau - R_tau) <= rho(t) + V_[1,t],

where rho(t) >= 1/sqrt(t) does not increase, C(t) = t rho(t) does not decrease, and f*_t is the
value of the best decision in round t. Both inequalities hold up to constants by which rho may be
scaled (their Appendix I).
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
"""Function -> its parameters, in order."""


@dataclass(frozen=True)
class Algorithm:
    """A base algorithm.

    Parameters
    ----------
    id, name
        For messages, and for figures.
    setting
        The setting it plays, one of `confee.world.settings`.
    new_instances, begin, act, learn, replayed, rho, chances
        Its compiled functions, see above.
    constants
        `constants(known, T, options)`: what its functions are given by that name. T is the horizon
        in rounds, for confidence levels.
    error
        `error(known)`: the c in C(t) = c sqrt(t), without logarithms.
    stretch
        `stretch(options)`: the factor of rho and `error` if they depend on an option.
    options
        A dataclass of `confee.core.schema` fields.
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
        for name, parameters in CALLED.items():
            plain = python_function(getattr(self, name))
            if plain is None:
                raise self.mistake(f"{name} must be a function under @njit (confee.core.jit)")
            if len(inspect.signature(plain).parameters) != parameters.count(",") + 1:
                raise self.mistake(f"{name} must take ({parameters})")
        for name in ("constants", "error"):
            if not callable(getattr(self, name)):
                raise self.mistake(f"{name} must be a function")
        if not dataclasses.is_dataclass(self.options):
            raise self.mistake("options must be a dataclass")

    @property
    def calls(self) -> dict[str, Callable[..., Any]]:
        """The functions that a kernel is compiled over, by name: its own and the setting's."""
        return {name: getattr(self, name) for name in CALLED} | self.setting.calls

    def with_options(self, outer: type) -> type:
        """The options of a policy that plays it: the policy's `outer` options and its own."""
        own, others = ({f.name for f in dataclasses.fields(cls)} for cls in (self.options, outer))
        if shared := sorted(own & others):
            raise self.mistake(f"option {shared[0]} is an option of what plays it; rename it")
        return dataclasses.make_dataclass("Options", [], bases=(outer, self.options), frozen=True)

    def mistake(self, message: str) -> ConfeeError:
        """The error to raise where the algorithm breaks the interface."""
        return ConfeeError(f"algorithm={self.id}: {message}")
