"""The assumption on ALG, looked at for OFUL: linear bandits."""

from __future__ import annotations

from confee.policies.oful import OFUL
from confee.simulation.studies import assumption

STUDY = assumption.over(OFUL, __name__)
