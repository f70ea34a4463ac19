"""FALCON paced and restarted at random, at the rate that balances noise and drift; told V."""

from __future__ import annotations

from confee.policies import planned
from confee.policies.falcon import FALCON

POLICY = planned.restarted(FALCON, __name__)
