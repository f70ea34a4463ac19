"""What the pictures of the sweeps, the parts of regret and the adversaries show and say."""

from __future__ import annotations

import math
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from confee.paper import theory
from confee.rendering import cells, numbers, style
from confee.rendering.figures import (
    axes,
    curves,
    decades,
    decomposition,
    horizon,
    landscape,
    panels,
)
from confee.rendering.figures.panels import named
from support.pictures import ODD_DATA, check_texts, experiment
from support.shown import MOST, caption, figure, words

MINUS = "\N{MINUS SIGN}"
SETTINGS = {"uniform": "linear", "new": "episodic"}


@pytest.fixture(scope="module")
def few() -> SimpleNamespace:
    return experiment(("hyque", "rexp3b", "new", "uniform", "oracle"))


def texts(ax) -> list[str]:
    return [text.get_text() for text in ax.texts]


def changed(data: SimpleNamespace, **frames) -> SimpleNamespace:
    return SimpleNamespace(**{**vars(data), **frames})


# ------------------------------------------------------------------ regret against an axis


def test_the_finding_has_the_exponents_and_the_rates(few):
    said = axes.finding(few.worst, few.points, "B", few.slopes)
    law = f"$R/T$ falls as $B^{{-0.33}}$ [{MINUS}0.35, {MINUS}0.31] (rate: at most {MINUS}0.33)"
    assert said.startswith(f"HyQue's {law}; Rexp3B's {law}.")
    mine = few.slopes["label"].isin(["hyque", "uniform"])
    off = few.slopes.assign(
        high=few.slopes["high"].mask(mine, -0.34), short=few.slopes["label"] == "hyque"
    )
    said = axes.finding(few.worst, few.points, "B", off)
    assert f"{MINUS}0.34] by a short fit (rate: at most {MINUS}0.33)" in said


def test_without_a_fit_it_says_from_what_to_what(few):
    said = axes.finding(few.worst, few.points, "V", few.slopes[:0])
    rows = curves.averaged(few.worst, few.points, "V").curves
    ends = rows[rows["label"] == "hyque"].sort_values("x")["y"].iloc[[0, -1]]
    assert said.startswith(
        f"HyQue's $R/T$ is {ends.iloc[0]:.2g} at $V$ = 0.5, {ends.iloc[1]:.2g} at 40: too few"
    )
    nothing = axes.finding(few.worst[:0], few.points, "V", few.slopes)
    assert nothing == "No cell was played on the axis of $V$."


@pytest.mark.parametrize(
    ("left_out", "shown", "said"),
    [
        ("grid edge: B=4e+03; saturated: B=1e+03, B=2e+03 (2 of 8 phases)", *["saturated"] * 2),
        ("at ceiling: B=1e+03, B=2e+03, B=3e+03; saturated: B=4e+03", "at ceiling", "at ceiling"),
        ("batch under 4 queries: B=1e+03", "short batches", "batch under 4 queries"),
        ("", "no fit", ""),
        (math.nan, "no fit", ""),
    ],
)
def test_why_there_is_no_fit_is_what_leaves_out_most_points(few, left_out, shown, said):
    slopes = few.slopes[(few.slopes["axis"] == "B") & (few.slopes["part"] == "upper")]
    mine = slopes["label"] == "hyque"
    slopes = slopes.assign(
        exponent=slopes["exponent"].mask(mine),
        points=np.where(mine, 1, 5),
        left_out=[left_out if one else "" for one in mine],
    )
    written = texts(axes.draw(few.worst, few.points, "B", slopes).axes[0])
    assert written.count(shown) == 1
    finding = axes.finding(few.worst, few.points, "B", slopes)
    why = f" (most of the others: {said})" if said else ""
    assert f": too few of its points enter a fit{why}" in finding


def test_the_horizon_shows_regret_over_the_rate_along_rays_with_idle_rounds(few):
    """In `few` regret over the rate grows as B^0.1 at T = 10 B; at V = 16 it is saturated."""
    check_texts(figure("horizon", few))
    fig = figure("horizon", few)
    titles = [ax.get_title(loc="left") for ax in fig.axes if ax.get_title(loc="left")]
    assert titles == [f"$K = 4$, $V = {V}$, $T = 10\\,B$" for V in (4, 16)]
    first, second = fig.axes
    flat = [line for line in first.lines if line.get_linestyle() == "--"]
    assert [line.get_ydata()[0] for line in flat] == pytest.approx([1.0])
    marks = [line.get_ydata() for line in first.lines if line.get_marker() == "o"]
    assert marks[0][[0, -1]] == pytest.approx([1.0, 100**0.1])
    hollow = [line for line in second.lines if line.get_markerfacecolor() == "white"]
    assert len(hollow) == 2
    said = horizon.finding(few.worst, few.points)
    assert said.startswith("At $K = 4$, $V = ")
    assert "from 1.0 to 1.6 for HyQue" in said


def test_one_panel_names_its_lines_beside_their_exponents(few):
    fig = horizon.draw(few.worst, few.points[few.points["V"] == 4])
    check_texts(fig)
    (ax,) = fig.axes
    written = texts(ax)
    assert {"HyQue", "Rexp3B, knows $V$"} <= set(written)
    assert written.count("0.10 [0.09, 0.11]") == 2
    names = [text for text in ax.texts if text.get_text() in ("HyQue", "Rexp3B, knows $V$")]
    assert {text.get_fontweight() for text in names} == {"bold"}


def test_the_horizon_leaves_out_rays_without_idle_rounds_and_without_changes(few):
    full = few.points.assign(T=few.points["B"])
    still = few.points.assign(V=0.0)
    for points in (full, still, few.points[:0], few.points.drop(columns="variable")):
        assert horizon.finding(few.worst, points) == horizon.NOTHING
        horizon.draw(few.worst, points).draw_without_rendering()


def test_a_setting_has_a_panel_of_its_own_and_only_arms_a_rate_along_K(few):
    alone = figure("regret-B", few)
    setting = few.points["label"].map(SETTINGS).fillna("arms")
    mixed = changed(few, points=few.points.assign(setting=setting))
    mixed.worst = mixed.worst.assign(eligible=True)  # what is saturated is not drawn
    fig = figure("regret-B", mixed)
    titles = [ax.get_title(loc="left") for ax in fig.axes]
    assert titles == ["arms", "linear bandits", "episodic MDPs"]
    assert [ax.get_title(loc="left") for ax in alone.axes] == [""]
    table = curves.averaged(mixed.worst, mixed.points, "K").curves
    there = table.groupby("setting")["guide"].agg(lambda v: v.notna().all())
    assert there["arms"]
    assert not there.drop("arms").any()
    check_texts(figure("regret-B", mixed))
    check_texts(figure("regret-K", mixed))


def test_names_stand_in_the_order_of_the_curves_ends(few):
    (ax,) = figure("regret-B", few).axes
    table = curves.averaged(few.worst, few.points, "B").curves
    table = table[table["eligible"]].assign(y=table["y"] / table["guide"])
    last = table.sort_values("x").groupby("label")["y"].last().sort_values(ascending=False)
    names = [named(label) for label in last.index]
    places = {text.get_text(): text.get_window_extent().y0 for text in ax.texts}
    assert sorted(names, key=lambda name: -places[name]) == names


@pytest.mark.parametrize("count", [1, 2, 7])
def test_names_keep_their_distance(count):
    sizes = [0.15] * count
    wanted = sorted(np.random.default_rng(count).normal(0.5, 0.1, count), reverse=True)
    places = panels.spread(wanted, sizes, 1.2)
    assert max(places) <= 1.2 - 0.075 + 1e-6
    assert min(places) >= 0.075 - 1e-6
    assert all(a - b >= 0.15 - 1e-6 for a, b in pairwise(places))


# ------------------------------------------------------------------ step by step


def of_steps(*curves, ray="far", rate=-1 / 3):
    """Rows of `slopes` from (label, exponents, standard error), steps that touch each other."""
    rows = [
        (label, e, e - 2 * se, e + 2 * se, se, 1e5 * 8.0**i, 1e5 * 8.0 ** (i + 1))
        for label, exponents, se in curves
        for i, e in enumerate(exponents)
    ]
    columns = ["label", "exponent", "low", "high", "se", "start", "stop"]
    return pd.DataFrame(rows, columns=columns).assign(axis=ray, part="step", df=60.0, rate=rate)


@pytest.fixture
def steps() -> SimpleNamespace:
    table = of_steps(
        ("hyque", [-0.25, -0.21, -0.17, -0.13], 0.01),
        ("rexp3b", [-0.333] * 4, 0.004),
        ("new", [-0.3] * 4, 0.0),
        ("sw_ucb", [-0.3, -0.4], 0.05),
        ("other", [-0.1], 0.01),
    )
    B = np.array([10**5, 10**8])
    ray = {"axis": "far", "variable": "B", "K": 4, "T": 10 * B, "B": B, "V": 16.0}
    points = pd.concat(pd.DataFrame({"label": x, **ray}) for x in set(table["label"]))
    T = np.array([10**5, 10**9])
    axis = {"label": "hyque", "axis": "T", "K": 4, "T": T, "B": np.ceil(T**0.8), "V": 4.0}
    return SimpleNamespace(slopes=table, points=pd.concat([points, pd.DataFrame(axis)]))


def test_steps_say_where_exponents_settle(steps):
    said = decades.finding(steps.slopes, steps.points)
    assert words(caption("decades", steps)) <= MOST
    assert f"from {MINUS}0.25 to {MINUS}0.13 at $K = 4$, $V = 16$, $T = 10\\,B$" in said
    assert decades.WORDS["moving"] in said
    others = steps.points[steps.points["label"] != "hyque"]
    said = decades.finding(steps.slopes, others)
    assert said.startswith(f"Rexp3B's exponent is {MINUS}0.333 [{MINUS}0.3")
    assert "from $B$ = $10^{5}$" in said
    short = steps.slopes["label"].isin(["hyque", "other"])  # on a ray of one step
    apart = steps.slopes.assign(axis=np.where(short, "near", "far"))
    apart = apart[~short | (apart["start"] < 2e5)]
    assert decades.finding(apart, steps.points).endswith(": HyQue.")


def test_limits_of_steps_are_widened_where_exponents_scatter(steps):
    noisy = steps.slopes["label"] == "rexp3b"
    noise = noisy * 0.02 * (-1.0) ** np.arange(len(noisy))
    moved = {name: steps.slopes[name] + noise for name in ("exponent", "low", "high")}
    shown, found = decades.steps(steps.slopes.assign(**moved), steps.points)
    wide = found.set_index("label")["drift_widened"]["rexp3b"]
    assert wide > 1.5
    mine = shown[shown["label"] == "rexp3b"]
    half = (mine["high"] - mine["low"]) / 2
    assert half.tolist() == pytest.approx([2 * 0.004 * wide] * 4)
    ideal = shown[shown["label"] == "new"]
    assert (ideal["high"] - ideal["low"]).tolist() == pytest.approx([0.0] * 4)


def test_uniform_play_is_shown_as_a_control(steps):
    table = pd.concat([steps.slopes, of_steps(("uniform", [0.0] * 4, 0.0))])
    points = pd.concat([steps.points, steps.points.assign(label="uniform")])
    shown, found = decades.steps(table, points)
    assert "uniform" in set(shown["label"])
    assert (
        found.set_index("label").loc["uniform", ["exponent", "low", "high"]].abs() <= 1e-3
    ).all()


def test_steps_have_a_point_each_and_a_row_for_each_policy(steps):
    check_texts(figure("decades", steps))
    ax, _, side = figure("decades", steps).axes
    said = [text.get_text() for text in side.texts]
    assert said[:3] == ["HyQue", decades.WORDS["moving"], "Rexp3B"]
    assert said[3].startswith(f"from $B$ = $10^{{5}}$: {MINUS}0.333 [")
    assert said[said.index("SW-UCB") + 1] == decades.WORDS["open"]
    assert said[said.index("other") + 1] == "too few points"
    shown = [line for line in ax.lines if line.get_marker() not in ("None", "_", "")]
    assert sum(len(line.get_xdata()) for line in shown) == len(steps.slopes)
    dashed = next(line for line in ax.lines if line.get_color() == style.INK)
    assert dashed.get_ydata() == pytest.approx(np.full(6, -1 / 3))


def test_without_long_rays_the_picture_says_so(steps):
    for nothing in (steps.slopes.assign(part="ray"), of_steps(("hyque", [-0.3], 0.01))):
        assert decades.finding(nothing, steps.points) == decades.NOTHING
        said = [text.get_text() for text in decades.draw(nothing, steps.points).texts]
        assert said == [decades.NOTHING]


# ------------------------------------------------------------------ the parts


def parts_of(data: SimpleNamespace) -> pd.DataFrame:
    return decomposition.parts(data.regret, data.worst, data.points, data.choose)


def with_budgets(data: SimpleNamespace) -> SimpleNamespace:
    """Runs at the cells of the sweep of B too, where query rounds cost half of the regret."""
    rows = data.worst.merge(data.points.loc[data.points["axis"] == "B", [*decomposition.CELL]])
    rows = rows.drop_duplicates(decomposition.CELL)
    rows = pd.concat([rows.assign(seed=seed) for seed in range(data.choose, data.choose + 2)])
    rows = rows.assign(
        regret_query=0.5 * rows["regret"],
        regret_error=0.4 * rows["regret"],
        regret_drift=0.1 * rows["regret"],
        regret_no_data=0.0,
    ).rename(columns={"gap": "adversary.gap"})
    there = set(cells.centre(data.points)["B"])
    return changed(data, regret=pd.concat([data.regret, rows[~rows["B"].isin(there)]]))


def test_parts_are_shown_at_the_centre_and_at_other_budgets(few):
    assert list(decomposition.budgets(few.points)) == [150_000, 63_096, 500_000]
    data = with_budgets(few)
    table = parts_of(data).set_index(["budget", "label"])
    for label, level in (("rexp3b", 1.5), ("hyque", None)):
        here = table.loc[(150_000, label)]
        np.testing.assert_allclose(
            here[["regret_query", "regret_error", "regret_drift"]],
            here["sum"] * np.array([0.2, 0.9, -0.1]),
            rtol=1e-9,
        )
        assert level is None or here["sum"] == pytest.approx(level, rel=0.1)
    assert table.loc[(500_000, "rexp3b"), "regret_query"] == pytest.approx(0.75)
    fig = figure("decomposition", data)
    assert [ax.get_title() for ax in fig.axes[1:]] == [
        f"$B$ = {numbers.number(b)}" for b in (63096, 150_000, 500_000)
    ]
    assert fig.axes[2].get_xlim()[0] == pytest.approx(-0.1 / 1.2)  # the negative part
    assert fig.axes[3].get_xlim()[0] == 0
    assert "oracle" not in [text.get_text() for text in fig.axes[0].get_yticklabels()]


def test_the_finding_names_the_largest_part(few):
    data = with_budgets(few)
    said = decomposition.finding(data.regret, data.worst, data.points, data.choose)
    assert "$B$ = $1.5{\\times}10^{5}$" in said
    assert f"{decomposition.NAMES['regret_error']} for HyQue (75 %) and Rexp3B (75 %)" in said
    swapped = data.regret.rename(
        columns={"regret_error": "regret_query", "regret_query": "regret_error"}
    )
    other = decomposition.finding(swapped, data.worst, data.points, data.choose)
    assert f"{decomposition.NAMES['regret_query']} for HyQue (75 %)" in other
    empty = decomposition.finding(data.regret[:0], data.worst, data.points, data.choose)
    assert empty == decomposition.NOTHING


def test_the_interval_of_a_sum_is_of_the_seeds_alone():
    """Phases that differ widen nothing; a cell with one seed has no interval."""
    cell = {
        "label": "a",
        "K": 4,
        "B": 10_000,
        "V": 1.0,
        "regret_query": 0.0,
        "regret_error": 0.0,
        "regret_drift": 0.0,
        "regret_no_data": 0.0,
    }
    rows = [
        {**cell, "T": T, "regret": level * theory.rate(4, T, 10_000, 1.0)}
        for T, levels in ((20_000, (1, 2)), (30_000, (5, 6)))
        for level in levels
    ]
    table = decomposition._averaged(pd.DataFrame(rows))
    assert table["sum"].item() == pytest.approx(3.5)
    assert table["half"].item() == pytest.approx(numbers.t_quantile(2) * math.sqrt(0.25 * 2) / 2)
    assert decomposition._averaged(pd.DataFrame(rows[:3]))["half"].isna().all()


# ------------------------------------------------------------------ the landscape


def test_the_landscape_says_who_hurts_whom_at_which_strength(few):
    said = landscape.finding(few.regret, few.worst, few.points, few.choose)
    assert '"equal changes" at strength 2 hurts HyQue and Rexp3B' in said
    assert "50 % and 50 %" in said
    mine = (few.regret["label"] == "rexp3b") & (few.regret["adversary"] == "single_jump")
    louder = few.regret.assign(regret=few.regret["regret"].mask(mine, 4 * few.regret["regret"]))
    other = landscape.finding(louder, few.worst, few.points, few.choose)
    assert '"equal changes" at strength 2 hurts HyQue' in other
    assert '"single jump" hurts Rexp3B' in other
    assert landscape.finding(few.regret[:0], few.worst, few.points, few.choose) == landscape.NOTHING


def test_a_star_stands_at_what_was_chosen_and_shares_fill_the_map(few):
    fig = figure("landscape", few)
    ax = fig.axes[0]
    stars = [
        (line.get_xdata()[0], line.get_ydata()[0]) for line in ax.lines if line.get_marker() == "*"
    ]
    assert stars == [(x, 2) for x in range(4)]
    shares = np.vstack([np.asarray(mesh.get_array()) for mesh in ax.collections[:1]])
    np.testing.assert_allclose(shares, np.tile([[0.25], [0.5], [1], [0.5]], 4), rtol=1e-9)
    said = [text.get_text() for text in ax.texts]
    assert said[1:3] == ["equal changes", "single jump"]
    assert sum("\N{PLUS-MINUS SIGN}" in text for text in said) == 4
    assert "oracle" not in [text.get_text() for text in ax.get_xticklabels()]


def test_kinds_without_a_strength_and_forms_have_rows_of_their_own(few):
    jump = few.regret["adversary"] == "single_jump"
    regret = few.regret.assign(
        **{
            "adversary": few.regret["adversary"].mask(jump, "packed"),
            "adversary.target": np.where(
                jump, np.where(few.regret["seed"] % 2, "hyque", "rexp3b"), None
            ),
        }
    )
    still = few.regret[jump & (few.regret["adversary.gap"] < 0.1)].assign(
        **{"adversary": "random_walk", "adversary.gap": math.nan}
    )
    data = changed(few, regret=pd.concat([regret, still]))
    texts = [text.get_text() for text in figure("landscape", data).axes[0].texts]
    assert texts[1:5] == ["equal changes", "packed for HyQue", "packed for Rexp3B", "random walk"]


# ------------------------------------------------------------------ many, and none


@pytest.fixture(scope="module")
def crowd() -> SimpleNamespace:
    return experiment(("hyque", *(f"other_policy_{i}" for i in range(29))))


@pytest.mark.parametrize("name", ["regret-T", "landscape", "decomposition"])
def test_thirty_policies_are_drawn_without_a_clash(crowd, name):
    check_texts(figure(name, crowd))


@pytest.mark.parametrize("name", ["regret-B", "horizon", "landscape", "decomposition"])
def test_each_has_a_caption_on_odd_data(few, name):
    for case in ("one seed", "no regret", "no rows", "stationary"):
        odd = changed(few, **ODD_DATA[case](few))
        said = caption(name, odd)
        assert said.count("$") % 2 == 0
        assert "nan" not in said
        assert len(said) > 100


def test_a_legend_in_columns_is_as_wide_as_it_is_drawn():
    assert style._legend_width(["a" * 30] * 4, 3) == pytest.approx(3 * (30 * 0.052 + 0.58))
