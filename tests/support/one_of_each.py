"""A pair of policy and adversary for every policy, and for options that take other branches."""

from __future__ import annotations

from confee.policies import POLICIES
from confee.world.settings import SETTINGS

# Beside every policy with its defaults: options and adversaries that take other branches.
OTHERS = [
    ({"name": "hyque", "scale": 0.0002}, {"name": "switching", "gap": 0.5}),
    ({"name": "hyque", "buffer": "appendix"}, {"name": "packed"}),
    ({"name": "hyque", "quota": "block"}, {"name": "packed"}),
    ({"name": "rexp3b", "pool": "set"}, {"name": "packed", "target": "rexp3b"}),
    ({"name": "sw_ucb", "window_scale": 0.2}, {"name": "switching_centred", "jitter": True}),
    ({"name": "uniform"}, {"name": "hard", "c": 3}),
    ({"name": "ucb1"}, {"name": "single_jump", "time": "last_block"}),
    ({"name": "ucb1"}, {"name": "stationary"}),
    ({"name": "ucb1"}, {"name": "switching_random"}),
    ({"name": "ucb1"}, {"name": "fall"}),
    ({"name": "ucb1"}, {"name": "rise"}),
    ({"name": "ucb1"}, {"name": "blink"}),
    ({"name": "ucb1"}, {"name": "drift"}),
    ({"name": "ucb1"}, {"name": "sinusoid"}),
    ({"name": "ucb1"}, {"name": "random_walk"}),
    ({"name": "ucb1"}, {"name": "trace"}),
    ({"name": "ucb1"}, {"name": "hard", "c": 3, "adaptive": True}),
    ({"name": "glr_ucb", "restart": "local"}, {"name": "switching", "gap": 0.5}),
    ({"name": "cusum_ucb", "M": 30}, {"name": "switching", "gap": 0.5}),
    ({"name": "m_ucb", "window": 100}, {"name": "switching", "gap": 0.5}),
    ({"name": "oful"}, {"name": "linear_rotation"}),
    ({"name": "sw_linucb", "ridge": 0.01, "window_scale": 0.05}, {"name": "linear_rotation"}),
]


USUAL = {one: {"name": "switching" if one == "arms" else f"{one}_switching"} for one in SETTINGS}
"""Setting -> the adversary that a policy of it meets here."""


CASES = [({"name": p.id}, USUAL[p.setting]) for _, p in sorted(POLICIES.items())] + OTHERS


def label(case):
    return " ".join("-".join(map(str, conf.values())) for conf in case)
