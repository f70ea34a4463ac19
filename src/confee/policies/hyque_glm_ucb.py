"""HyQue over GLM-UCB: logistic bandits (extension section)."""

from __future__ import annotations

from confee.policies import hyque
from confee.policies.glm_ucb import GLM_UCB

POLICY = hyque.over(GLM_UCB, __name__)
