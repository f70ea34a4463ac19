"""Control: plays every arm alike and never looks. Its worst case does not depend on B."""

from __future__ import annotations

from confee.core.jit import njit, over
from confee.policies.base import Policy
from confee.world.game import anything, idle, new_memories
from confee.world.settings import Setting


@njit
def play(world, ledger, known, T, B, rng):
    """One idle run over the whole horizon."""
    idle(world, ledger, new_memories(1, world)[0], 1, T + 1, anything(world), rng)


def where(setting: Setting, module: str) -> Policy:
    """Uniform play in another setting, the policy of `module`."""
    return Policy(
        id=module.rpartition(".")[2],
        summary=f"control: every {setting.decision} alike, no queries",
        kernel=over(play, module, **setting.calls),
        told=(),
        control=True,
        setting=setting.id,
    )


POLICY = Policy(
    id="uniform", summary="control: all arms alike, no queries", kernel=play, told=(), control=True
)
