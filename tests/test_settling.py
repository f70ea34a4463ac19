"""Exponents step by step along a ray, and from which budget on they stand still.

`python tests/test_settling.py` prints a table of docs/reports/rules-on-known-curves.md.
"""

from __future__ import annotations

import math
import re
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from confee.evidence import slopes
from confee.evidence.settling import settling
from confee.evidence.slopes import STEP
from confee.paper import theory
from confee.simulation.grid import Ray

PAGE = Path(__file__).parents[1] / "docs/reports/rules-on-known-curves.md"
RAY = "B_at_V4"
BUDGETS = 32_000.0 * 2.0 ** np.arange(11)
RATE = theory.EXPONENTS["rate"]["B"]


def along(exponents, se=0.01, seeds=16, policy="hyque", doublings=11, phases=2, **columns):
    """(worst, points) of one policy on a ray along B with T = 10 B, V = 4.

    `exponents`: of R/T in B, one for each factor of 8; the last goes on. `se`: relative standard
    error of each cell, which is not added to the regret.
    """
    budgets = [32_000 * 2**k for k in range(doublings)]
    places = Ray([4], budgets, [4], [10], phases).places(RAY)
    rows = [
        {
            "label": policy,
            "policy": policy,
            "axis": RAY,
            "variable": "B",
            "point": p.point,
            "phase": p.phase,
            **p.size._asdict(),
        }
        for p in places
    ]
    points = pd.DataFrame(rows)
    ends = np.concatenate([[0], np.cumsum(exponents)])
    place = np.log(points["B"] / budgets[0]) / math.log(STEP)
    first, last = exponents[0], exponents[-1]
    known = [-first, *ends, ends[-1] + 3 * last]
    regret = (
        0.2 * points["T"] * STEP ** np.interp(place, [-1, *range(len(ends)), len(ends) + 2], known)
    )
    flags = {
        "saturated": False,
        "edge": False,
        "ceiling": False,
        "short_batch": False,
        "at_limit": False,
        "in_range": True,
    }
    worst = points[["label", "policy", "K", "T", "B", "V"]].assign(
        regret=regret, se=se * regret, seeds=seeds, **flags
    )
    return worst.assign(**columns), points


def steps(exponents, **how):
    return slopes(*along(exponents, **how))


# ------------------------------------------------------------------ the frame


def test_steps_have_the_exponents_that_the_curve_has_there():
    truth = [-0.1, -0.27, -0.3]
    rows = steps(truth, doublings=10, se=1e-6).query("part == 'step'").set_index("start")
    assert rows.index.tolist() == BUDGETS[:7].tolist()
    assert (rows["stop"] / rows.index).tolist() == [8.0] * 7
    # Around a bend the two phases of a point lie on both sides of it.
    whole = rows.loc[BUDGETS[[0, 3, 6]], "exponent"]
    assert whole.tolist() == pytest.approx(truth, abs=0.01)
    between = rows.loc[BUDGETS[[1, 2]], "exponent"]
    assert between.tolist() == pytest.approx([-0.1 * 2 / 3 - 0.09, -0.1 / 3 - 0.18], abs=0.01)
    assert rows["rate"].tolist() == pytest.approx([RATE] * 7, abs=1e-4)
    assert rows["theory"].tolist() == rows["rate"].tolist()
    assert (rows["axis"] == RAY).all()
    assert not rows["short"].any()


def test_a_step_lacks_an_exponent_where_one_of_its_points_enters_no_fit():
    worst, points = along([-0.2], doublings=8)
    worst["saturated"] = worst["B"] < 1.2 * BUDGETS[1]
    rows = slopes(worst, points).query("part == 'step'").set_index("start")
    assert rows["exponent"].isna().tolist() == [True, True, False, False, False]
    assert rows["left_out"].iloc[0] == "saturated: B=3.2e+04, B=6.4e+04"
    half = worst.assign(saturated=worst["B"] < BUDGETS[0])  # one of its two phases
    kept = slopes(half, points).query("part == 'step'").set_index("start")
    assert kept["exponent"].tolist() == pytest.approx([-0.2] * 5, abs=1e-3)
    assert kept["se"].iloc[0] == pytest.approx(math.sqrt(2) * kept["se"].iloc[-1], rel=0.01)


def test_rays_along_other_variables_have_no_steps():
    worst, points = along([-0.2], doublings=5)
    assert len(slopes(worst, points).query("part == 'step'")) == 2
    assert slopes(worst, points.assign(variable="T")).query("part == 'step'").empty


@pytest.mark.parametrize("phases", [1, 2])
def test_intervals_of_steps_cover(phases):
    rng, covered, widths = np.random.default_rng(1), [], []
    for _ in range(12):
        worst, points = along([-0.2], se=0.03, doublings=8, phases=phases)
        noise = np.exp(0.03 * rng.standard_normal(len(worst)))
        worst[["regret", "se"]] = worst[["regret", "se"]].mul(noise, axis=0)
        rows = slopes(worst, points).query("part == 'step'")
        covered += ((rows["low"] <= -0.2) & (rows["high"] >= -0.2)).tolist()
        widths += (rows["high"] - rows["low"]).tolist()
    assert len(covered) == 60
    assert sum(covered) >= 54
    assert np.median(widths) < 0.1 / math.sqrt(phases)


def test_one_phase_and_one_seed_tell_nothing():
    rows = steps([-0.2], se=math.nan, seeds=1, phases=1).query("part == 'step'")
    assert rows["exponent"].notna().all()
    assert rows["low"].isna().all()
    (found,) = settling(rows).itertuples()
    assert found.outcome == "open"


# ------------------------------------------------------------------ the rule

SETTLING = {
    "on the rate all along": ([RATE], 0.02, "settled", 0, RATE),
    "later": ([-0.1, RATE], 0.005, "settled", 3, RATE),
    "at a floor from a step on": ([-0.25, 0.0], 0.005, "settled", 3, 0.0),
    "still on the way to a floor": ([-0.25, -0.17, -0.09, -0.01], 0.01, "moving", 0, None),
    "too few seeds to tell": ([-0.27], 0.3, "open", 0, None),
}


@pytest.mark.parametrize("name", SETTLING)
def test_where_exponents_settle(name):
    truth, se, outcome, first, at = SETTLING[name]
    (found,) = settling(steps(truth, se=se, seeds=64, policy="rexp3b")).itertuples()
    assert (found.outcome, found.start) == (outcome, BUDGETS[first])
    assert found.stop == BUDGETS[-1]
    if at is not None:
        assert found.low <= at <= found.high
        assert found.high - found.low < 0.05
        assert (found.low <= found.rate <= found.high) == (at == RATE)


def test_uniform_play_settles_at_nothing_from_the_start():
    """The negative control: its regret grows as T, whatever the budget."""
    table = steps([0], policy="uniform", se=0.0, saturated=True, ceiling=True)
    (found,) = settling(table).itertuples()
    assert (found.outcome, found.start, round(found.exponent, 9)) == ("settled", BUDGETS[0], 0)
    assert not found.low <= found.rate <= found.high


def test_less_than_two_whole_steps_settle_nothing_and_a_gap_ends_the_chain():
    assert settling(steps([-0.2], doublings=6)).empty
    assert len(settling(steps([-0.2], doublings=7))) == 1
    worst, points = along([-0.2], policy="rexp3b")
    worst["saturated"] = worst["B"] < 1.2 * BUDGETS[0]
    (found,) = settling(slopes(worst, points)).itertuples()
    assert (found.start, found.stop, found.steps) == (BUDGETS[1], BUDGETS[-1], 7)
    fitted = steps([-0.25])
    fitted.loc[fitted["stop"] == BUDGETS[-1], "exponent"] = np.nan
    assert settling(fitted).empty  # the rule is about the largest budget


def test_errors_are_widened_by_their_own_scatter_and_never_narrowed():
    table = steps([-0.25], se=0.01, seeds=64)
    (calm,) = settling(table).itertuples()
    assert (calm.widened, calm.drift_widened) == (1, 1)
    mine = (table["part"] == "step").to_numpy()
    uneven = table["exponent"].to_numpy() + np.where(mine, 0.02 * (-1) ** np.arange(len(table)), 0)
    (wide,) = settling(table.assign(exponent=uneven)).itertuples()
    (narrow,) = settling(table.assign(exponent=uneven), widen=False).itertuples()
    assert wide.drift_widened > 1.5
    assert narrow.drift_widened == 1
    assert wide.drift == pytest.approx(narrow.drift)
    halves = [one.drift_high - one.drift_low for one in (wide, narrow)]
    assert halves[0] == pytest.approx(wide.drift_widened * halves[1])


def test_q_is_that_of_generalised_least_squares():
    """Against statsmodels, with the errors of steps that share a point correlated."""
    import statsmodels.api as sm

    from confee.evidence import settling as rule

    part = steps([-0.2, -0.25, -0.3], se=0.02).query("part == 'step'")
    part = part.assign(exponent=part["exponent"] + 0.02 * np.sin(np.arange(len(part)) ** 2))
    places = np.log(part["start"] / part["start"].min()) / math.log(8)
    covariance = rule._covariance(part)
    errors = part["se"].to_numpy()
    assert np.diag(covariance) == pytest.approx(errors**2)
    shared = covariance[0, 3] / (errors[0] * errors[3])
    assert shared == pytest.approx(-0.5)
    assert covariance[0, 1] == covariance[0, 4] == 0
    for known in (np.ones((len(part), 1)), sm.add_constant(places.to_numpy())):
        fit = sm.GLS(part["exponent"].to_numpy(), known, covariance).fit()
        q = fit.resid @ np.linalg.inv(covariance) @ fit.resid
        assert rule._scatter(part, known) == pytest.approx(q)


# ------------------------------------------------------------------ how often the rule is right

BEND = "0.15 lower in the first step, then one number"

TRUTHS = {
    "one number": lambda place: np.zeros(len(place)),
    "up by 0.03 per step": lambda place: 0.03 * place,
    "up by 0.06 per step": lambda place: 0.06 * place,
    BEND: lambda place: np.where(place < 1, -0.15, 0.0),
}
"""Exponents against the place on the ray, in steps from the smallest budget on."""

SETTLED_FROM = {"one number": 0, BEND: 3}
"""The point of the ray from which on a law has one exponent; no entry if there is none."""

SCATTER = {
    "as stated": (1, True),
    "twice as far": (2, True),
    "twice as far, not widened": (2, False),
}
"""How far points scatter in units of their errors, and whether the rule widens."""

CURVES, ERROR = 200, 0.02


@cache
def rule_study(truth: str, scatter: str) -> tuple[float, float, float]:
    """Shares of curves that are settled from the right budget on, from a wrong one, and moving.

    A curve has 11 points along a ray like those of docs/horizon.md, known to 2 %. Steps overlap,
    so a doubling to either side of the right budget counts as right.
    """
    wide, widen = SCATTER[scatter]
    fine = np.linspace(0, 10 / 3, 1001)
    law = np.concatenate([[0], np.cumsum(TRUTHS[truth]((fine[1:] + fine[:-1]) / 2) - 0.3)])
    curve = np.interp(np.arange(11) / 3, fine, law * (fine[1] - fine[0]) * math.log(STEP))
    rng = np.random.default_rng([len(truth), wide])
    curves = curve + wide * ERROR * rng.standard_normal((CURVES, 11))
    rows = pd.DataFrame(
        {
            "label": np.repeat(np.arange(CURVES), 8),
            "part": "step",
            "axis": RAY,
            "start": np.tile(BUDGETS[:8], CURVES),
            "stop": np.tile(BUDGETS[3:], CURVES),
            "exponent": ((curves[:, 3:] - curves[:, :-3]) / math.log(STEP)).ravel(),
            "se": ERROR * math.sqrt(2) / math.log(STEP),
            "df": 120.0,
            "rate": RATE,
        }
    )
    found = settling(rows, widen)
    settled = found["outcome"] == "settled"
    right = settled & False
    if truth in SETTLED_FROM:
        away = np.log2(found["start"] / BUDGETS[SETTLED_FROM[truth]])
        right = settled & (abs(away) < 1.5)
    return right.mean(), (settled & ~right).mean(), (found["outcome"] == "moving").mean()


def study_table() -> str:
    """The table on settling, in percent of curves."""
    lines = [f"| true exponents | {' | '.join(SCATTER)} |", "|---|---|---|---|"]
    for truth in TRUTHS:
        shares = [rule_study(truth, scatter) for scatter in SCATTER]
        cells = [" / ".join(f"{100 * s:.0f}" for s in share) for share in shares]
        lines.append(f"| {truth} | {' | '.join(cells)} |")
    return "\n".join(lines)


def test_a_true_constant_seldom_moves_and_a_drift_seldom_settles():
    right, wrong, moving = rule_study("one number", "as stated")
    assert right > 0.9
    assert wrong + moving < 0.05
    assert rule_study("up by 0.06 per step", "as stated")[2] > 0.9
    right, wrong, _ = rule_study(BEND, "as stated")
    assert right > 0.4
    assert wrong < 0.02


def test_widening_keeps_a_constant_from_moving_where_errors_are_too_small():
    assert rule_study("one number", "twice as far")[2] < 0.05
    assert rule_study("one number", "twice as far, not widened")[2] > 0.1
    assert rule_study("up by 0.06 per step", "twice as far")[2] > 0.8


def test_the_page_shows_how_often_the_rule_is_right():
    """Within 2 of 100: a curve at the edge of a rule may fall on either side on another machine."""
    rows = re.findall(r"^\| (.+?) \| (\d+ / .+?) \| (.+?) \| (.+?) \|$", PAGE.read_text(), re.M)
    shown = {name: " / ".join(cells) for name, *cells in rows}
    assert set(shown) == set(TRUTHS)
    for name, text in shown.items():
        found = [100 * share for scatter in SCATTER for share in rule_study(name, scatter)]
        assert [float(number) for number in text.split(" / ")] == pytest.approx(found, abs=2)


if __name__ == "__main__":
    print(study_table())
