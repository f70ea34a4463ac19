"""What the figures of levels, regimes, the floor and the extensions say, on frames made by hand."""

from __future__ import annotations

import json
import math
import re

import pandas as pd
import pytest

from confee.paper import theory
from confee.rendering import numbers
from confee.rendering.figures import extensions, floor, levels, regimes
from confee.rendering.figures.extensions import PAIRS, ROLES
from support.shown import MOST, words

K = 4


def cells(axis: str, sizes, regret, saturated=lambda label, T, V: False, se=0.02):
    """(worst, points) of two labels at (T, B, V) of `sizes`; `regret(label, T, B, V)` over the
    rate."""
    worst, points = [], []
    for label in ("hyque", "sw_ucb"):
        for T, B, V in sizes:
            cell = {"label": label, "K": K, "T": T, "B": B, "V": V}
            amount = regret(label, T, B, V) * theory.rate(K, T, B, V)
            worst.append(
                {
                    **cell,
                    "regret": amount,
                    "se": se * amount,
                    "seeds": 8,
                    "saturated": saturated(label, T, V),
                    "eligible": True,
                }
            )
            point = B if axis.startswith(levels.RAYS) else T
            points.append({**cell, "axis": axis, "point": point, "phase": 0})
    return pd.DataFrame(worst), pd.DataFrame(points)


RAY = "floor_V1"
BUDGETS = [(10 * B, B, V) for B in (10**5, 10**6, 10**7) for V in (1.0, 16.0)]


def growing(label, T, B, V):
    """HyQue's constant doubles per factor of 10 in B at V = 16."""
    return 2 ** math.log10(B / 1e5) if label == "hyque" and V > 1 else 3.0


# ------------------------------------------------------------------ levels


def test_levels_name_the_steepest_line():
    frames = cells(RAY, BUDGETS, growing)
    spread = math.exp(math.sqrt(2) * numbers.t_quantile(7) * 0.02)
    steep, flat = (
        numbers.factor(f, f / spread, f * spread).replace(" ", "-fold ", 1) for f in (4, 1)
    )
    said = levels.finding(*frames)
    for label, fold, V in (("HyQue", steep, 16), ("SW-UCB", flat, 16)):
        assert f"{label}'s {fold} at $V = {V}$ (from $B = 10^{{5}}$ to $10^{{7}}$)" in said


def test_saturated_points_count_in_no_factor():
    frames = cells(RAY, BUDGETS, growing, lambda label, T, V: T == 10**6 and V > 1)
    assert "at $V = 16$ (from $B = 10^{6}$ to $10^{7}$)" in levels.finding(*frames)
    frames = cells(RAY, BUDGETS, growing, lambda label, T, V: T < 10**8)
    assert levels.finding(*frames).startswith("No line has two budgets")
    assert levels.finding(*cells("other", BUDGETS, growing)).startswith("No line has two")
    levels.draw(*cells(RAY, BUDGETS[:1], growing, se=math.nan)).draw_without_rendering()
    assert "[" not in levels.finding(*cells(RAY, BUDGETS, growing, se=math.nan))


# ------------------------------------------------------------------ regimes

PLANE = [
    (10**6, round(10 ** (6 * beta)), 10 ** (6 * beta * nu))
    for beta in (0.6, 0.8, 0.9, 1.0)
    for nu in (0.0, 0.2, 0.45)
]


def uneven(label, T, B, V):
    """2 for HyQue inside the theorem's range, but 5 at B = T; outside 50. SW-UCB has 1."""
    if label == "sw_ucb":
        return 1.0
    inside = theory.theorem_range(K, T, B, V)
    return (5.0 if B == T else 2.0) if inside else 50.0


def test_regimes_give_the_span_inside_the_theorems_range():
    said = regimes.finding(*cells("regimes", PLANE, uneven))
    spans = re.findall(r"\d\.\d+", said.partition("factor")[2])
    assert spans == ["2.5", "2.0", "5.0", "1.00", "1.0"]
    fig = regimes.draw(*cells("regimes", PLANE, uneven))
    titles = [ax.get_title(loc="left") for ax in fig.axes[:2]]
    assert [re.findall(r"\d\.\d", title) for title in titles] == [["2.0", "5.0"], ["1.0"]]
    assert "normalised regret" in fig.axes[2].get_ylabel()  # the colour bar


def test_saturated_cells_are_not_in_the_span():
    most = cells("regimes", PLANE, uneven, lambda label, T, V: label == "hyque" and V > 1)
    said = regimes.finding(*most)
    assert "(2.0 to 5.0)" in said
    every = cells("regimes", PLANE, uneven, lambda label, T, V: True, se=math.nan)
    assert regimes.finding(*every).startswith("No cell within the range")
    regimes.draw(*every).draw_without_rendering()
    assert regimes.finding(*cells("other", PLANE, uneven)).startswith("No cell within")


# ------------------------------------------------------------------ the floor


def floor_frames(stale=0.16, regret=0.1, budgets=(10**5, 10**8), seeds=4):
    """HyQue's R/T is 3 * `regret`, then `regret`; its floor is a quarter of `stale`."""
    ages, runs = [], []
    for place, B in enumerate(budgets):
        size = {"T": 10 * B, "B": B}
        for j in range(3):
            ages.append({"kind": "age", **size, "j": j, "share": 0.3, "age": 0.2})
        for changes in ([0.1], [0.1, 0.5]):
            ages.append(
                {
                    "kind": "stale",
                    **size,
                    "changes": json.dumps(changes),
                    "windowed": 0.1,
                    "stale": stale * len(changes) / 2,
                    "stale_se": 0.001,
                }
            )
        for label, level in (("hyque", 1), ("sw_ucb", 0.5)):
            mean = level * (regret if place == len(budgets) - 1 else 3 * regret)
            runs += [
                {
                    "label": label,
                    "K": 8,
                    **size,
                    "V": 1.0,
                    "regret": mean * 10 * B,
                    "adversary.gap": 0.5,
                    "seed": seed,
                }
                for seed in range(seeds)
            ]
    return pd.DataFrame(ages), pd.DataFrame(runs)


def test_the_floor_is_a_share_of_regret_at_the_largest_budget():
    said = floor.finding(*floor_frames())
    for part in ("2 changes of 0.5", "0.040 per round at $B = 10^{8}$", "40 %", "1.00 times"):
        assert part in said
    assert "10-fold" in said  # the rate, from B = 1e5 to 1e8
    assert "0.020 per round" in floor.finding(*floor_frames(stale=0.08))
    assert "20 %" in floor.finding(*floor_frames(regret=0.2))


def test_captions_have_at_most_60_words():
    said = {
        floor: floor.finding(*floor_frames()),
        levels: levels.finding(*cells(RAY, BUDGETS, growing)),
        extensions: extensions.finding(*setting_frames()),
    }
    for module, finding in said.items():
        assert words(f"{finding} {module.FIGURE.reading}") <= MOST


def test_the_floor_at_one_budget_with_one_seed():
    frames = floor_frames(budgets=(10**6,), seeds=1)
    assert floor.finding(*frames).endswith("40 % of its regret.")
    floor.draw(*frames).draw_without_rendering()
    ages, runs = floor_frames()
    nothing = "No schedules and runs for the floor were drawn."
    assert floor.finding(ages, runs[:0]) == nothing
    assert floor.finding(ages, runs[runs["label"] != "hyque"]) == nothing
    floor.draw(ages, runs[runs["label"] != "hyque"]).draw_without_rendering()


# ------------------------------------------------------------------ extensions


def setting_frames(settings=("linear", "episodic"), roles=tuple(ROLES), budgets=(10**4, 8 * 10**4)):
    """HyQue's R/T is 4 times the restarted algorithm's, with the smaller bonus 3 times; HyQue's
    halves where the budget is 8 times as large, as at the rate."""
    level = {"hyque": 0.4, "narrow hyque": 0.3, "uniform": 0.5}
    worst, points = [], []
    for setting in settings:
        for role in roles:
            for B in budgets:
                label = f"{role}/{setting}"
                cell = {
                    "setting": setting,
                    "label": label,
                    "K": 4,
                    "T": 3 * 10**5,
                    "B": B,
                    "V": 2.0,
                }
                y = level.get(role, 0.1) * (B / 10**4) ** (-1 / 3)
                worst.append(
                    {
                        **cell,
                        "role": role,
                        "regret": y * 3e5,
                        "se": 0.0,
                        "seeds": 8,
                        "eligible": role != "uniform",
                    }
                )
                points.append({**cell, "axis": "B", "point": float(B)})
    return pd.DataFrame(worst), pd.DataFrame(points)


def test_extensions_compare_hyque_with_the_restarted_algorithm():
    said = extensions.finding(*setting_frames())
    assert "4.0 [4.0, 4.0] times" in said
    assert "smaller bonus 3.0 [3.0, 3.0] times" in said
    worst, points = setting_frames()
    worst.loc[(worst["role"] == "hyque") & (worst["setting"] == "linear"), "regret"] *= 2
    assert "4.0 [4.0, 4.0] to 8.0 [8.0, 8.0] times" in extensions.finding(worst, points)


def test_cells_without_variation_are_no_points_of_an_extension():
    worst, points = setting_frames()
    still = {"V": 0.0, "B": 80_000}
    more = [
        pd.concat([frame, frame[frame["B"] == still["B"]].assign(**still, **other)])
        for frame, other in ((worst, {"regret": 1.0}), (points, {}))
    ]
    assert extensions.finding(*more) == extensions.finding(worst, points)


@pytest.mark.parametrize("roles", [("uniform",), ("hyque",), ("restarted", "paced")])
def test_extensions_without_a_pair_say_so(roles):
    frames = setting_frames(roles=roles, budgets=(10**4,))
    assert extensions.finding(*frames).startswith("No setting has HyQue beside")
    extensions.draw(*frames).draw_without_rendering()


def test_roles_look_unlike_each_other():
    found = [(look.color, str(look.marker)) for look, _ in ROLES.values()]
    assert len(set(found)) == len({marker for _, marker in found}) == len(ROLES)
    assert {role for pair in PAIRS for role in pair[:2]} <= set(ROLES)
