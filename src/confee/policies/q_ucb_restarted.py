"""Q-UCB paced and restarted at random, at the rate that balances noise and drift; V is given."""

from __future__ import annotations

from confee.policies import scheduled
from confee.policies.q_ucb import Q_UCB

POLICY = scheduled.restarted(Q_UCB, __name__)
