"""The assumption on ALG, looked at for Q-UCB: episodic decision problems."""

from __future__ import annotations

from confee.policies.q_ucb import Q_UCB
from confee.simulation.studies import assumption

STUDY = assumption.over(Q_UCB, __name__)
