"""OFUL paced and restarted at random, at the rate that balances noise and drift; V is given."""

from __future__ import annotations

from confee.policies import scheduled
from confee.policies.oful import OFUL

POLICY = scheduled.restarted(OFUL, __name__)
