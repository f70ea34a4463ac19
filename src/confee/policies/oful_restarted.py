"""OFUL paced and restarted at random, at the rate that balances noise and drift; told V."""

from __future__ import annotations

from confee.policies import planned
from confee.policies.oful import OFUL

POLICY = planned.restarted(OFUL, __name__)
