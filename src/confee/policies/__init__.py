"""Policies, one file each. A module with a `POLICY` is registered, and imported when needed."""

from __future__ import annotations

from confee.core.errors import ConfeeError
from confee.core.plugins import Registry, hint
from confee.policies.base import Policy

POLICIES = Registry(__name__, __path__, "POLICY", Policy)


def policy(name: str) -> Policy:
    """Return the policy with the id `name`. Raises ConfeeError if there is none."""
    if name not in POLICIES:
        known = ", ".join(sorted(POLICIES))
        raise ConfeeError(f"policy={name}: unknown; known: {known}{hint()}")
    return POLICIES[name]
