"""What a setting is: the game that a policy is made for, as the functions that a kernel calls.

    query(world, ledger, data, t, decision, rng)             plays round t and looks: R in [0, 1]
    idle(world, ledger, data, start, stop, replayed, rng)    plays rounds start..stop-1 blind
    new_memories(count, world)                               array whose row i is a `data`
    anything(world)                                          `replayed` of who knows nothing

`data` remembers query rounds and what the last one showed; what is in it is the game's affair.

What a policy knows of the world from the start (`known`), and what a query shows:

    arms          K                                 the reward of the arm
    linear,       features [K, d], rows x_k         the same
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
    """A setting. `decision`: what is decided for a round, in a word. `known`: what a policy of it
    knows of the world from the start, in words. `others`: settings whose paths it can play too."""

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
        """What a kernel is compiled over, by name."""
        return {name: getattr(self.game, name) for name in CALLED}


CALLED = ("query", "idle", "new_memories", "anything")

ARMS = Setting("arms", "arm", game, "K", ("linear", "logistic"))
LINEAR = Setting("linear", "arm", game, "features [K, d]")
LOGISTIC = Setting("logistic", "arm", game, "features [K, d]")
CONTEXTUAL = Setting("contextual", "rule", episodes, "regressors [F, contexts, A]")
EPISODIC = Setting("episodic", "rule", episodes, "sizes (H, S, A)")

SETTINGS = {one.id: one for one in (ARMS, LINEAR, LOGISTIC, CONTEXTUAL, EPISODIC)}
