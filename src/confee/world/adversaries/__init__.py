"""Adversaries, one file each.

A module with an `ADVERSARY` is registered by being there, and imported when it is looked up.
"""

from __future__ import annotations

from confee.core.errors import ConfeeError
from confee.core.plugins import Registry, hint
from confee.world.adversaries.base import Adversary

ADVERSARIES = Registry(__name__, __path__, "ADVERSARY", Adversary)


def usual(setting: str) -> str:
    """Return the id of the usual adversary of `setting`."""
    return "switching" if setting == "arms" else f"{setting}_switching"


def adversary(name: str) -> Adversary:
    """Return the adversary with this id; raise ConfeeError if there is none."""
    if name not in ADVERSARIES:
        known = ", ".join(sorted(ADVERSARIES))
        raise ConfeeError(f"adversary={name}: unknown; known: {known}{hint()}")
    return ADVERSARIES[name]
