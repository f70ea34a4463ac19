"""Policies, one file each: a module of this package with a `POLICY` is registered."""

from __future__ import annotations

import importlib
import pkgutil

from confee.errors import ConfeeError
from confee.policies.base import Policy


def _registered() -> dict[str, Policy]:
    modules = sorted(m.name for m in pkgutil.iter_modules(__path__))
    found = (importlib.import_module(f"{__name__}.{name}") for name in modules)
    return {m.POLICY.id: m.POLICY for m in found if hasattr(m, "POLICY")}


POLICIES: dict[str, Policy] = _registered()


def policy(name: str) -> Policy:
    """The policy of that id. Raises ConfeeError if there is none."""
    if name not in POLICIES:
        raise ConfeeError(f"policy={name}: unknown; known: {', '.join(sorted(POLICIES))}")
    return POLICIES[name]
