"""Control: uniform play in contextual bandits."""

from __future__ import annotations

from confee.policies import uniform
from confee.world.settings import CONTEXTUAL

POLICY = uniform.where(CONTEXTUAL, __name__)
