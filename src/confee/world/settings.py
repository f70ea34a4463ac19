"""A setting is the game that a policy is made for, given by the functions that kernels call.

    query(world, ledger, data, t, decision, rng)             play round t and return R in [0, 1]
    idle(world, ledger, data, start, stop, replayed, rng)    play rounds start..stop-1 unobserved
    new_memories(count, world)                               an array; each row is a `data`
    anything(world)                                          `replayed` before there are data

`data` remembers query rounds and what the last one showed; only the game reads it.

What a policy knows of the world from the start (`known`), and what a query shows:

    arms          K                                 the reward of the arm
    linear,       features [K, d], rows x_k         the reward of the arm
    logistic
    contextual    regressors [F, contexts, A]       the context, the action, its reward
    episodic      (H, S, A)                         each step's state, action and reward
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from confee.world import episodes, game


@dataclass(frozen=True)
class Setting:
    """A setting.

    Parameters
    ----------
    decision
        What a policy decides in a round, in one word.
    game
        The module with the functions that kernels call.
    known
        What a policy knows of the world from the start, in words.
    others
        Further settings whose paths policies of this one can play.
    """

    id: str
    decision: str
    game: Any
    known: str
    others: tuple[str, ...] = ()

    @property
    def plays(self) -> tuple[str, ...]:
        """Settings whose paths a policy of this one can play, its own first."""
        return (self.id, *self.others)

    @property
    def calls(self) -> dict[str, Callable[..., Any]]:
        """The functions that a kernel is compiled over, by name."""
        return {name: getattr(self.game, name) for name in CALLED}


CALLED = ("query", "idle", "new_memories", "anything")

ARMS = Setting("arms", "arm", game, "K", ("linear", "logistic"))
LINEAR = Setting("linear", "arm", game, "features [K, d]")
LOGISTIC = Setting("logistic", "arm", game, "features [K, d]")
CONTEXTUAL = Setting("contextual", "rule", episodes, "regressors [F, contexts, A]")
EPISODIC = Setting("episodic", "rule", episodes, "sizes (H, S, A)")

SETTINGS = {setting.id: setting for setting in (ARMS, LINEAR, LOGISTIC, CONTEXTUAL, EPISODIC)}
