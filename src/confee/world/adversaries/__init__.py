"""Adversaries, one file each. A module with an `ADVERSARY` is registered by being there."""

from __future__ import annotations

import importlib
import pkgutil

from confee.errors import ConfeeError
from confee.world.adversaries.base import Adversary


def _registered() -> dict[str, Adversary]:
    modules = sorted(m.name for m in pkgutil.iter_modules(__path__))
    found = (importlib.import_module(f"{__name__}.{name}") for name in modules)
    return {m.ADVERSARY.id: m.ADVERSARY for m in found if hasattr(m, "ADVERSARY")}


ADVERSARIES: dict[str, Adversary] = _registered()


def adversary(name: str) -> Adversary:
    """The adversary of that id. Raises ConfeeError if there is none."""
    if name not in ADVERSARIES:
        known = ", ".join(sorted(ADVERSARIES))
        raise ConfeeError(f"adversary={name}: unknown; known: {known}")
    return ADVERSARIES[name]
