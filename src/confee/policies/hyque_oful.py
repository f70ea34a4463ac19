"""HyQue over OFUL: linear bandits (extension section)."""

from __future__ import annotations

from confee.policies import hyque
from confee.policies.oful import OFUL

POLICY = hyque.over(OFUL, __name__)
