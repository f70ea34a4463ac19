"""The assumption on ALG, looked at for GLM-UCB: logistic bandits."""

from __future__ import annotations

from confee.policies.glm_ucb import GLM_UCB
from confee.simulation.studies import assumption

STUDY = assumption.over(GLM_UCB, __name__)
