"""HyQue over Q-UCB: tabular episodic decision problems (extension section)."""

from __future__ import annotations

from confee.policies import hyque
from confee.policies.q_ucb import Q_UCB

POLICY = hyque.over(Q_UCB, __name__)
