"""Control: plays every arm alike and never queries. Its worst case does not depend on B."""

from __future__ import annotations

from confee.core.jit import njit, over
from confee.policies.base import UNIFORM, Policy
from confee.policies.growth import Growth
from confee.policies.look import SOLID, Look
from confee.world.game import anything, idle, new_memories
from confee.world.settings import Setting


@njit
def play(world, ledger, known, T, B, rng):
    """Play the whole horizon without a query."""
    idle(world, ledger, new_memories(1, world)[0], 1, T + 1, anything(world), rng)


def where(setting: Setting, module: str) -> Policy:
    """The policy of `module` that plays uniformly in another setting."""
    return Policy(
        id=module.rpartition(".")[2],
        name=f"uniform, {setting.id}",
        summary=f"control: plays a uniformly random {setting.decision} in every round, no queries",
        kernel=over(play, module, **setting.calls),
        known=(),
        role=UNIFORM,
        setting=setting.id,
        growth=Growth(claimed="uniform"),
    )


POLICY = Policy(
    id="uniform",
    name="uniform",
    summary="control: plays a uniformly random arm in every round, no queries",
    kernel=play,
    known=(),
    role=UNIFORM,
    look=Look("#777777", "h", SOLID, place=25),
    growth=Growth(claimed="uniform"),
)
