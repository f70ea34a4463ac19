"""GLM-UCB paced and restarted at random, at the rate that balances noise and drift; V is given."""

from __future__ import annotations

from confee.policies import scheduled
from confee.policies.glm_ucb import GLM_UCB

POLICY = scheduled.restarted(GLM_UCB, __name__)
