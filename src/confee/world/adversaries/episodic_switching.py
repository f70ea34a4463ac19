"""Episodic decision problems: the good action of each state jumps in equal batches, as V pays.

    moves = rewards      The good action pays low + gap and the others low. The next state is
                         uniform, whatever the action. The best rule has value low + gap; with one
                         state and one step this is `switching`.
    moves = transitions  States are a chain 0..S-1, and state s pays s / (S - 1), whatever the
                         action. The good action leads one state up with chance low + gap and the
                         others with low; otherwise they lead one down. At the ends the state stays.
                         So an action shows its worth only in later rewards. Two states are a pair
                         similar to that of the lower bound of Jaksch, Ortner and Auer (2010).

low = 1/2, or 1 - gap if that is less. Episodes begin in state 0. In each batch every state gets
another good action, drawn independently. A change costs a maximum over states, gap for rewards and
2 H gap for transitions (see `Episodes.variation`), so V pays for 1 + floor(V / cost) batches. K is
the number of actions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confee.core import schema
from confee.core.errors import ConfeeError
from confee.world.adversaries.base import (
    Adversary,
    batches,
    below_ceiling,
    equal_starts,
    room,
    wandering_arm,
)
from confee.world.mdp import Episodes

CEILING = 1.0


@dataclass(frozen=True)
class Options:
    """`gap`: the lead of the good action. `moves`: in what. `H`, `S`: steps and states."""

    gap: float = schema.real(0.25, above=0, high=CEILING, about="lead of the good action over 1/2")
    moves: str = schema.choice(
        "rewards",
        "rewards",
        "transitions",
        about="whether the good action leads in its rewards, or in its chance to move up",
    )
    H: int = schema.whole(3, low=1, high=100, about="steps per episode")
    S: int = schema.whole(3, low=1, high=100, about="number of states")


def resolve(options, size):
    gap = below_ceiling("adversary.gap", options.gap, CEILING)
    if options.moves == "transitions":
        for name in ("H", "S"):
            if getattr(options, name) < 2:
                raise ConfeeError(
                    f"adversary.{name}={getattr(options, name)}: must be a whole number in "
                    "[2, 100] where moves=transitions"
                )
    return {"gap": gap, "moves": options.moves, "H": options.H, "S": options.S}


def draw(resolved, K, T, V, rng):
    """Draw the good action of each state in each batch."""
    gap, H, S = resolved["gap"], resolved["H"], resolved["S"]
    climbs = resolved["moves"] == "transitions"
    m = batches(T, V, 2 * H * gap if climbs else gap)
    room(m, S * K * (S if climbs else 1))
    good = np.stack([wandering_arm(m, K, rng) for _ in range(S)], axis=1)
    # The chance of each action to be paid, or to lead up.
    chance = min(0.5, 1 - gap) + gap * (good[:, :, None] == np.arange(K))
    if not climbs:
        return Episodes.episodic(equal_starts(T, m), chance, np.full((S, K, S), 1 / S), H, T)
    here = np.arange(S)
    move = np.zeros((m, S, K, S))
    move[:, here, :, np.minimum(here + 1, S - 1)] += chance.swapaxes(0, 1)
    move[:, here, :, np.maximum(here - 1, 0)] += 1 - chance.swapaxes(0, 1)
    paid = np.broadcast_to(here[:, None] / (S - 1), (S, K))
    return Episodes.episodic(equal_starts(T, m), paid, move, H, T)


ADVERSARY = Adversary(
    id="episodic_switching",
    name="episodic switching",
    summary="episodic MDPs: good actions change at equal intervals",
    options=Options,
    resolve=resolve,
    draw=draw,
    ceiling=CEILING,
    steady=False,
    setting="episodic",
)
