"""Control: uniform play in episodic decision problems."""

from __future__ import annotations

from confee.policies import uniform
from confee.world.settings import EPISODIC

POLICY = uniform.where(EPISODIC, __name__)
