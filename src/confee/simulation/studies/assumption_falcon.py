"""The assumption on ALG, looked at for FALCON: contextual bandits."""

from __future__ import annotations

from confee.policies.falcon import FALCON
from confee.simulation.studies import assumption

STUDY = assumption.over(FALCON, __name__)
