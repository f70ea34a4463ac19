"""What a setting is: the game that a policy is made for, as the functions that a kernel calls.

    query(world, ledger, data, t, decision, rng)             plays round t and looks: R in [0, 1]
    idle(world, ledger, data, start, stop, replayed, rng)    plays rounds start..stop-1 blind
    new_memories(count, world)                               array whose row i is a `data`
    anything(world)                                          `replayed` of who knows nothing

`data` remembers query rounds and what the last one showed; what is in it is the game's affair.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from confee.world import episodes, game


@dataclass(frozen=True)
class Setting:
    """A setting. `decision`: what is decided for a round, in a word."""

    id: str
    decision: str
    game: Any

    @property
    def calls(self) -> dict[str, Callable[..., Any]]:
        """What a kernel is compiled over, by name."""
        return {name: getattr(self.game, name) for name in CALLED}


CALLED = ("query", "idle", "new_memories", "anything")

ARMS = Setting("arms", "arm", game)
LINEAR = Setting("linear", "arm", game)
LOGISTIC = Setting("logistic", "arm", game)
CONTEXTUAL = Setting("contextual", "rule", episodes)
EPISODIC = Setting("episodic", "rule", episodes)

SETTINGS = {one.id: one for one in (ARMS, LINEAR, LOGISTIC, CONTEXTUAL, EPISODIC)}
