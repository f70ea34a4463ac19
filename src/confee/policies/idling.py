"""What idle rounds play under a query schedule: the leading arm, or arms by frequency."""

from __future__ import annotations

from dataclasses import dataclass

from confee.core import schema
from confee.core.jit import leaf
from confee.policies.queries import ScheduleOptions

LEADER, FREQUENCY = "leader", "frequency"
ABOUT = "idle rounds play the leading arm, or arms by the frequency of their plays in use"


@dataclass(frozen=True)
class LeaderOptions(ScheduleOptions):
    """idle: what idle rounds play; the leading arm if not said otherwise."""

    idle: str = schema.choice(LEADER, LEADER, FREQUENCY, about=ABOUT)

    @property
    def by_leader(self) -> bool:
        """Whether idle rounds play the leading arm."""
        return self.idle == LEADER


@dataclass(frozen=True)
class FrequencyOptions(LeaderOptions):
    """idle: what idle rounds play. The sources know no idle rounds, so the default is frequency,
    as for the bench's other policies of the literature."""

    idle: str = schema.choice(FREQUENCY, LEADER, FREQUENCY, about=ABOUT)


@leaf
def only(weights, arm):
    """All weight on one arm."""
    for k in range(weights.shape[0]):
        weights[k] = 0.0
    weights[arm] = 1.0


@leaf
def best_mean(plays, rewards, eligible, rng):
    """The eligible arm of the largest mean reward, those without plays first, ties at random."""
    arm, top, ties = 0, -1.0, 0
    for k in range(plays.shape[0]):
        if eligible[k]:
            mean = rewards[k] / plays[k] if plays[k] > 0.0 else 2.0
            if mean > top:
                arm, top, ties = k, mean, 1
            elif mean == top:
                ties += 1
                if rng.random() * ties < 1.0:
                    arm = k
    return arm


@leaf
def fill(weights, leads, age, plays, rewards, eligible, rng):
    """Fill the weights of an idle streak, `age` queries into an episode: of the eligible arm of
    the largest mean alone, or the frequencies of the plays; all arms alike before the first."""
    if leads and age > 0:
        only(weights, best_mean(plays, rewards, eligible, rng))
    else:
        for k in range(weights.shape[0]):
            weights[k] = plays[k] if age > 0 else 1.0
