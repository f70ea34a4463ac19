"""`glr_ucb` whose idle rounds play the arm of the largest index, where it plays by frequency.

Its rules and constants are those of `glr_ucb` with global restarts (Besson, Kaufmann, Maillard,
Seznec 2022); idle rounds are the only difference, which `idle=frequency` takes back. The kernel is
`dal_ucb1`'s, with forced plays that base and detectors learn from, cycles counted from the first
query and the threshold ln(3 n^{3/2} / delta).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from confee.core import schema
from confee.policies import dal_ucb1
from confee.policies.base import Policy
from confee.policies.idling import LeaderOptions
from confee.policies.look import SOLID, Look
from confee.policies.paper_rate import paper_rate
from confee.policies.queries import schedule_kind


@dataclass(frozen=True)
class Options(LeaderOptions):
    """As `glr_ucb`'s."""

    exploration: float = schema.real(
        2.0, above=0, about="index: mean + sqrt(exploration ln(plays in use) / plays)"
    )
    forced: str = schema.choice(
        "growing", "growing", "constant", about="alpha sqrt(restarts + 1), or constant: alpha"
    )
    alpha_scale: float = schema.real(
        1.0, above=0, high=1e6, about="times alpha = sqrt(K ln B / B), the share of forced queries"
    )
    delta_scale: float = schema.real(
        1.0, above=0, high=1e6, about="times delta = 1 / sqrt(B), the tests' level"
    )
    ratio: float = schema.real(
        1.25, above=1, high=1000, about="of the grid of splits that are tested"
    )


def arguments(known, options):
    K, B = known.K, known.B
    constants = dal_ucb1.Constants(
        leads=options.by_leader,
        exploration=float(options.exploration),
        constant=3.0,
        delta=min(1.0, options.delta_scale / math.sqrt(B)),
        alpha=min(1.0, options.alpha_scale * math.sqrt(K * math.log(B) / B)),
        growing=options.forced == "growing",
        pooled=True,
        from_restart=False,
        ratio=float(options.ratio),
    )
    return schedule_kind(options), constants


POLICY = Policy(
    id="glr_ucb_leader",
    name="GLR-UCB, leader",
    summary="GLR-UCB whose idle rounds play the leading arm",
    kernel=dal_ucb1.play,
    options=Options,
    arguments=arguments,
    rate=paper_rate("conjectured: its theorem is for changes far apart"),
    look=Look("#9F8D07", (3, 0, 0), SOLID, place=31),
)
