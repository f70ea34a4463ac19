"""HyQue over FALCON: contextual bandits (extension section)."""

from __future__ import annotations

from confee.policies import hyque
from confee.policies.falcon import FALCON

POLICY = hyque.over(FALCON, __name__)
