"""Control: queries every round until B is spent (the lower bound section: "concentrated")."""

from __future__ import annotations

from confee.core.jit import njit
from confee.policies.base import CONTROL, Policy
from confee.policies.look import LONG, Look
from confee.policies.ucb import PLAYS, choose, new_ucb, update
from confee.world.game import idle, new_data, query


@njit
def play(world, ledger, K, T, B, rng):
    """Play UCB1 in rounds 1..B; each later round replays a query round drawn uniformly.

    The policy asks for a query in every later round, too; these are counted as denied.
    """
    ucb = new_ucb(K)
    data = new_data(K)
    for tau in range(B):
        arm, _ = choose(ucb, tau, 2.0, rng)
        reward = query(world, ledger, data, tau + 1, arm, rng)
        update(ucb, arm, reward)
    ledger.denied += T - B
    idle(world, ledger, data, B + 1, T + 1, ucb[PLAYS], rng)


POLICY = Policy(
    id="greedy_spend",
    name="greedy spend",
    summary="control: UCB1 that queries the first B rounds and none after them",
    kernel=play,
    role=CONTROL,
    look=Look("#CDBB55", "<", LONG, place=22),
)
