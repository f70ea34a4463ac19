"""The rule for exponents on real runs: policies with a proved rate never fail, and the negative
controls do."""

from __future__ import annotations

from functools import cache

import pandas as pd
import pytest

from confee.claims import rexp3b_rate, table_rows
from confee.claims.judging.exponents import Claimed, root_logs
from confee.claims.judging.lines import asks, curves
from confee.claims.judging.rates import IDEAL, IDEAL_ARMS, judge, ray_checks
from confee.evidence.curve import budget_log, curve
from confee.simulation.grid import Ray
from support.asked import played

pytestmark = pytest.mark.slow

STILL = ("still",)
BUDGETS = [8000 * 2**k for k in range(6)]
FULL = [8192 * 2**k for k in range(6)]
VARIATIONS = [1, 2, 4, 8, 16, 32, 64]
ARMS = [2, 3, 4, 6, 8, 12, 16, 24]

RAYS = {
    "V": Ray([4], [256_000], VARIATIONS, [8], still=STILL),
    "B, V=4": Ray([4], BUDGETS, [4], [8], still=STILL),
    "B, V=16": Ray([4], BUDGETS, [16], [8], still=STILL),
    "B=T, V=4": Ray([4], FULL, [4], [1], still=STILL),
    "B=T, V=16": Ray([4], FULL, [16], [1], still=STILL),
    "K, B=3e4": Ray(ARMS, [32_000], [4], [8], still=STILL),
    "K, B=1.3e5": Ray(ARMS, [128_000], [4], [8], still=STILL),
    "T": Ray([4], [256_000], [4], [8, 12, 20]),
}
"""Like those of the experiment `paper`, but at budgets up to 2.6e5."""

SEEDS = 6

PROVED = {
    "sw_ucb": (Claimed(logs=budget_log), tuple(RAYS)),
    "ucb1_restarted": (Claimed(logs=budget_log), tuple(RAYS)),
    "rexp3b": (rexp3b_rate.CLAIMED, tuple(name for name in RAYS if name[:3] != "B=T")),
    "rexp3": (rexp3b_rate.CLAIMED, ("B=T, V=4", "B=T, V=16")),
}
"""Policy -> what its theorem says, and along which rays. It has a factor (ln B)^{1/3} for
`ucb1_restarted`, less than the sqrt(ln B) that is forgiven."""

BROKEN = {
    "random_restart": ("B, V=4", "B, V=16", "B=T, V=4", "B=T, V=16"),
    "uniform": ("B, V=4", "B, V=16", "B=T, V=4", "B=T, V=16"),
    "sw_ucb_misled": ("V to 16",),
    "sw_ucb_copied": ("K, B=3e4",),
    "sw_ucb_overtold": ("T",),
}
"""Policy that breaks the rate -> along which rays."""

OTHERS = {"V to 16": Ray([4], [256_000], VARIATIONS[:5], [8], still=STILL)}
"""Above V = 16 a window for V = 1/K is saturated."""


def against(K, T, B, V):
    """Fewer opponents than Table 1 has, at fewer strengths."""
    if V == 0:
        return {"stationary": {"name": "stationary", "strength": [2, 4, 8]}}
    return {
        "switching": {"name": "switching", "strength": [1, 2, "ceiling"]},
        "centred": {"name": "switching_centred", "strength": [4, "ceiling"]},
        "packed": {"name": "packed", "strength": ["ceiling"]},
        "fall": {"name": "fall", "strength": [1.4, 2.8, "ceiling"]},
        "rise": {"name": "rise", "strength": [1.4, 2.8, "ceiling"]},
    }


@cache
def tables():
    """(worst, points) of all policies on their rays."""
    wanted = {policy: rays for policy, (_, rays) in PROVED.items()} | BROKEN
    all_rays = RAYS | OTHERS
    frames = []
    for policy, rays in wanted.items():
        seeds = {policy: 2 if policy == "uniform" else SEEDS}
        rays = tuple(all_rays) if policy == "uniform" else rays
        frames.append(played(asks({name: all_rays[name] for name in rays}, "x", seeds, against)))
    return curves(pd.concat(frames, ignore_index=True), all_rays)


def group(ray):
    """The rays that are judged together with one."""
    return [name for name in RAYS if name[0] == "K"] if ray[0] == "K" else [ray]


def checked(policy, ray, claimed, free=False):
    """The check of a policy along a ray, before controls."""
    partner = ""
    if ray[0] == "K":
        partner = IDEAL_ARMS if policy == IDEAL else IDEAL
    rays = [ray] if free else group(ray)
    found = [curve(*tables(), policy, name, partner) for name in rays]
    return judge([one for one in found if one is not None], claimed, free)


@pytest.mark.parametrize(
    ("policy", "ray"),
    [(p, ray) for p, (_, rays) in PROVED.items() for ray in rays if ray != "K, B=1.3e5"],
)
def test_a_policy_with_a_proved_rate_never_fails(policy, ray):
    """Along K both budgets are judged together."""
    claimed = PROVED[policy][0]
    check = checked(policy, ray, claimed)
    assert check.verdict != "fails", (check.text, check.why)
    assert check.points >= 3


@pytest.mark.parametrize(
    ("policy", "ray"), [(p, ray) for p, rays in BROKEN.items() for ray in rays]
)
def test_a_policy_that_breaks_the_rate_fails(policy, ray):
    check = checked(policy, ray, Claimed(logs=budget_log), free=True)
    assert check.verdict == "fails", (check.text, check.why)


@pytest.mark.parametrize("policy", PROVED)
def test_with_controls_a_policy_with_a_proved_rate_never_fails(policy):
    claimed, rays = PROVED[policy]
    for check in ray_checks(*tables(), policy, claimed, rays=rays):
        assert check.verdict != "fails", (check.text, check.why)


def test_ucb1_keeps_the_stationary_rate_where_nothing_changes():
    rays = {"B": Ray([4], [3200 * 2**k for k in range(6)], [0], [10])}
    seeds = {"ucb1": 64, "uniform": 2}
    worst, points = curves(played(asks(rays, "x", seeds, table_rows.against)), rays)
    claimed = Claimed("stationary", logs=root_logs, lower="stationary")
    (check,) = ray_checks(worst, points, "ucb1", claimed, table_rows.STILL_CONTROLS)
    assert check.controls["negative"]["verdict"] == "fails"
    own = judge([curve(worst, points, "ucb1", "B")], claimed)
    assert own.verdict != "fails", (own.text, own.why)
