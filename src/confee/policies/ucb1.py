"""UCB1 under an even query plan (Auer, Cesa-Bianchi, Fischer 2002)."""

from __future__ import annotations

from dataclasses import dataclass

from confee import schema
from confee.jit import njit
from confee.policies.base import Policy
from confee.policies.plans import paced
from confee.policies.ucb import PLAYS, choose, new_ucb, update
from confee.world.game import idle, new_data, query


@njit
def play(world, ledger, K, T, B, exploration, rng):
    """A query every T/B rounds; in between, arms by the frequency of all plays so far."""
    ucb = new_ucb(K)
    plays = ucb[PLAYS]
    data = new_data(K)
    t, carry = 1, 0
    for tau in range(B):
        arm, _ = choose(ucb, tau, exploration, rng)
        reward = query(world, ledger, data, t, arm, rng)
        update(ucb, arm, reward)
        after = t + 1
        t, carry = paced(t, carry, T, B)
        if t > after:
            idle(world, ledger, data, after, t, plays, rng)


@dataclass(frozen=True)
class Options:
    plan: str = schema.choice("paced", "paced")
    exploration: float = schema.real(2.0, above=0)


POLICY = Policy(
    id="ucb1",
    summary="UCB1, a query every T/B rounds",
    kernel=play,
    options=Options,
    arguments=lambda K, T, B, V, options: (float(options.exploration),),
)
