"""Pictures of single lemmas and claims: what they show of frames made by hand, and say."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from confee.paper import proofs, theory
from confee.rendering import files
from confee.rendering.figures import block, detection, lower_bound, pace, replay, streaks
from confee.rendering.figures.panels import named
from confee.simulation.studies.schedules import ALPHAS
from confee.workflow.planning import Workflow
from support import pictures
from support.shown import MOST, caption, figure, words

NAMES = ("streaks", "detection", "lower_bound", "replay")
SET = "rexp3b(pool=set)"


def schedules(share: float = 0.5) -> pd.DataFrame:
    """A thousand draws of the last two complete blocks; that share has a streak of each length."""
    rows = []
    for T in (10**4, 10**6, 10**8):
        for beta in (0.8, 0.9):
            B = proofs.power_budget(T, beta)
            top, b = proofs.largest_order(T, B), theory.slot_length(T, B)
            over = {
                f"{kind}_over_{alpha}": int(1000 * share)
                for kind in ("idle", "query")
                for alpha in ALPHAS
            }
            rows += [
                {
                    "T": T,
                    "B": B,
                    "exponent": beta,
                    "order": order,
                    "b": b,
                    "quota": 1,
                    "rounds": b * 2**order,
                    "rates": rates,
                    "drawn": 1000,
                    **over,
                }
                for order in (top - 1, top)
                for rates in ("paper", "alone")
            ]
    return pd.DataFrame(rows)


def on_hard(points: pd.DataFrame, ratio: float = 5.0) -> pd.DataFrame:
    """Runs of each cell on the bound's own instance, the oracle's without regret."""
    cells = points[["label", "policy", "K", "T", "B", "V"]].drop_duplicates()
    rows = []
    for cell in cells.to_dict("records"):
        bound = theory.lower_bound(*(cell[name] for name in "KTBV"))
        level = 0.0 if cell["label"] == "oracle" else ratio
        rows += [
            {
                **cell,
                "adversary": "hard",
                "adversary.c": 1.0,
                "seed": seed,
                "regret": level * bound * (1 + 0.01 * seed),
            }
            for seed in range(-1, 4)
        ]
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def data() -> SimpleNamespace:
    """As in the other tests of pictures; the set of arms has three times the multiset's regret."""
    made = pictures.experiment()
    worst = made.worst
    key = ["K", "T", "B", "V"]
    multiset = worst[worst["label"] == "rexp3b"].set_index(key)["regret"]
    here = worst["label"] == SET
    tripled = [3 * multiset[cell] for cell in worst.loc[here, key].itertuples(index=False)]
    worst.loc[here, "regret"] = tripled
    worst["se"] = 0.02 * worst["regret"]
    extra = {
        "schedules": schedules(),
        "thresholds": detection.thresholds_drawn(),
        "first": detection.first_horizons(),
        "regret": on_hard(made.points),
    }
    return SimpleNamespace(**{**vars(made), **extra})


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_clipped_or_overlaps(data, name):
    pictures.check_texts(figure(name, data))


def test_equal_data_give_equal_bytes(data, tmp_path):
    for copy in ("a", "b"):
        files.save(figure("lower_bound", data), tmp_path / copy / "it.pdf", {})
    first, second = ((tmp_path / copy / "it.pdf").read_bytes() for copy in ("a", "b"))
    assert first == second


@pytest.mark.parametrize("name", NAMES)
def test_captions_are_whole_and_short(data, name):
    said = caption(name, data)
    assert words(said) <= MOST
    assert said.count("$") % 2 == 0
    assert "nan" not in said


@pytest.mark.parametrize("name", NAMES)
def test_missing_and_thin_data_are_drawn_and_said(data, name):
    for cut in (0, 1):
        frames = {
            key: value[:cut]
            for key, value in vars(data).items()
            if isinstance(value, pd.DataFrame) and key not in ("thresholds", "first")
        }
        odd = SimpleNamespace(**{**vars(data), **frames})
        figure(name, odd).draw_without_rendering()
        assert "nan" not in caption(name, odd)


# ------------------------------------------------------------------ long streaks


def test_probabilities_of_long_streaks_are_drawn_beside_the_papers_bound(data):
    fig = figure("streaks", data)
    assert [ax.get_title() for ax in fig.axes] == ["idle streaks", "query streaks"]
    for ax, kind in zip(fig.axes, streaks.KINDS, strict=True):
        table = streaks.curves(kind)
        assert (table["low"] <= table["high"]).all()
        for T in streaks.HORIZONS:
            part = table[table["T"] == T]
            assert part["low"].iloc[0] > 0.99
            assert part["high"].iloc[-1] < 0.01
            shown = [line for line in ax.lines if list(line.get_ydata())[1:] == list(part["low"])]
            assert list(shown[0].get_xdata()) == [streaks.LIMITS[0], *part["factor"]]
        medians = [part.loc[part["low"] >= 0.5, "factor"].max() for _, part in table.groupby("T")]
        assert medians == sorted(medians)
        mine = [line for line in ax.lines if line.get_color() == streaks.COLOURS[0]]
        bound = next(line for line in mine if line.get_linestyle() not in ("-", "None"))
        B = proofs.power_budget(10**4, 0.9)
        at_one = np.interp(1, bound.get_xdata(), bound.get_ydata())
        assert at_one == pytest.approx(math.exp(-0.5 * proofs.run_exponent(10**4, B)), rel=0.01)
        used = next(line for line in mine if line.get_marker() == "v")
        assert used.get_xdata() == pytest.approx([B ** (-1 / 6)])
        drawn = next(line for line in mine if line.get_marker() == "o")
        assert list(drawn.get_ydata()) == pytest.approx([0.5] * len(drawn.get_xdata()))


def test_only_the_curves_blocks_are_compared_with_draws():
    rows = streaks.drawn(schedules(), "idle")
    assert sorted(rows["T"].unique()) == [10**4, 10**8]
    assert len(rows) == 2 * len(ALPHAS)
    assert set(rows["p"]) == {0.5}
    for row in rows.itertuples():
        assert math.log(row.factor, row.B) == pytest.approx(
            0.5 - min(ALPHAS, key=lambda alpha: abs(row.B ** (0.5 - alpha) - row.factor))
        )
    assert streaks.drawn(schedules()[:0], "idle").empty
    texts = [text for text, _ in pictures.legend_of(streaks.draw(schedules()[:0]))]
    assert "simulated blocks" not in texts


# ------------------------------------------------------------------ change tests


def test_the_first_horizons_are_where_thresholds_pass_one(data):
    first = data.first.set_index(["exponent", "K", "test"])["T"]
    assert first[1.0, 2, "mean"] == proofs.first_horizons(2, 1.0)["mean, whole budget"]
    for (exponent, K), mine in data.thresholds[data.thresholds["test"] == "mean"].groupby(
        ["exponent", "K"]
    ):
        below = mine.loc[mine["threshold"] < 1, "T"]
        above = mine.loc[mine["threshold"] >= 1, "T"]
        assert above.max() < first[exponent, K, "mean"] <= below.min()
    marks = [line for line in figure("detection", data).axes[0].lines if len(line.get_xdata()) == 1]
    assert [line.get_xdata()[0] for line in marks] == [first[1.0].min()]


def test_detection_says_what_was_run(data):
    said = detection.finding(data.thresholds, data.first, data.points)
    assert "$T$ = $5.2{\\times}10^{10}$ at $B = T$" in said
    assert "0 of" in said
    one = data.points[data.points["label"] == "hyque"][:1].assign(K=2, T=10**11, B=10**11)
    assert "1 of 1" in detection.finding(data.thresholds, data.first, one)
    none = data.points[data.points["label"] == "rexp3b"]
    assert " of " in detection.finding(data.thresholds, data.first, none)
    assert len(detection.draw(data.thresholds, data.first, none).axes[0].patches) == 1


# ------------------------------------------------------------------ the lower bound


def test_nobody_is_below_the_bound_unless_someone_is(data):
    frames = (data.regret, data.points, data.choose)
    table = lower_bound.ratios(data.worst, *frames)
    assert "oracle" not in set(table["label"])
    hard = table[table["kind"] == "hard"]
    assert set(hard["ratio"].round(6)) == {5 * (1 + 0.01 * 1)}  # seeds -1 .. 3, all below `choose`
    mine = table[(table["kind"] == "worst") & (table["label"] == "rexp3b") & (table["K"] == 5)]
    assert list(mine["ratio"]) == pytest.approx([1.5 / theory.LOWER_BOUND_CONSTANT] * len(mine))
    said = lower_bound.finding(data.worst, *frames)
    assert said.startswith(f"None of {len(table)} points of 5 policies is below the lower bound; ")
    assert "HyQue" in said
    low = data.worst["label"] == "hyque"
    few = int((table["kind"].eq("worst") & table["label"].eq("hyque")).sum())
    cut = data.worst.assign(regret=data.worst["regret"].mask(low, 0.0), se=0.0)
    said = lower_bound.finding(cut, *frames)
    assert said.startswith(f"{few} of {len(table)} points of 5 policies are below the lower bound;")
    assert said.endswith("without regret, of HyQue.")
    rows = lower_bound.draw(cut, *frames).axes[0].get_yticklabels()
    assert len([row for row in rows if row.get_text()]) == 5


def test_rows_are_sorted_by_the_least_worst_case(data):
    fig = lower_bound.draw(data.worst, data.regret, data.points, data.choose)
    table = lower_bound.ratios(data.worst, data.regret, data.points, data.choose)
    least = table[table["kind"] == "worst"].groupby("label")["ratio"].min().sort_values()
    shown = [text.get_text() for text in fig.axes[0].get_yticklabels()]
    assert shown == [named(label) for label in least.index]
    dotted = [line for line in fig.axes[0].lines if list(line.get_xdata()) == [1, 1]]
    assert len(dotted) == 1


# ------------------------------------------------------------------ replaying


def test_the_set_is_compared_with_the_multiset(data):
    said = replay.finding(data.worst, data.points)
    assert said.count("3 [2.8") == 1
    line = figure("replay", data).axes[0].lines[-1]
    cells = data.points[(data.points["axis"] == "B") & (data.points["label"] == SET)]
    bounds = [proofs.rexp3b_bound(c.K, c.T, c.B, c.V) / c.T for c in cells.itertuples()]
    first = pd.Series(bounds).groupby(cells["point"].to_numpy()).apply(lambda b: b.prod() ** 0.5)
    assert list(line.get_ydata()) == pytest.approx(list(first))
    assert "0 of 3 points (corrected: 0 of 3)" in said
    huge = data.worst.assign(regret=data.worst["regret"].mask(data.worst["label"] == SET, 1e9))
    huge = huge.assign(se=0.01 * huge["regret"])
    said = replay.finding(huge, data.points)
    assert "3 of 3 points (corrected: 0 of 3)" in said


def test_along_B_the_set_is_compared_on_the_longest_ray_too(data):
    sweep = data.points["axis"].eq("B")
    rays = data.points.assign(
        axis=data.points["axis"].mask(sweep, "B_at_V4"), variable=np.where(sweep, "B", "")
    )
    short = rays[sweep & rays["point"].rank(method="dense").le(2)].assign(axis="B_short")
    assert replay.finding(data.worst, pd.concat([rays, short])) == replay.finding(
        data.worst, data.points
    )
    alone = rays[~(sweep & rays["label"].eq(SET))]
    assert replay.draw(data.worst, alone).axes[0].get_xlabel() == "horizon $T$"


def test_only_cells_played_with_both_are_compared(data):
    alone = data.points[data.points["label"] != SET]
    assert replay.finding(data.worst, alone) == replay.NOTHING
    only_T = data.points[(data.points["label"] != SET) | (data.points["axis"] == "T")]
    ax = replay.draw(data.worst, only_T[only_T["axis"] == "T"]).axes[0]
    assert ax.get_xlabel() == "horizon $T$"


def test_a_figure_that_compares_two_policies_needs_both():
    tiny = Workflow({"overrides": "experiment=tiny figures=[]"})
    assert "replay" not in tiny.pictures
    assert "replay" in Workflow({"overrides": "experiment=smoke figures=[]"}).pictures


# ------------------------------------------------------------------ the block and the pace


def test_the_block_counts_its_instances_and_queries(data):
    said = block.finding(data.pieces, 3, 2)
    for part in ("6 instances", "each of", "16 rounds", "8 rounds are queries", "0.5 per round"):
        assert part in said
    assert "active in 15 of" in block.finding(data.pieces.drop(index=1), 3, 2)


def test_the_pace_says_how_far_it_runs_ahead_and_behind(data):
    trace = pd.DataFrame({"t": [1, 2, 3, 90], "queries": [1, 2, 3, 4]})
    said = pace.finding(trace, [1, 9], 100, 4)
    assert "HyQue makes 4 of its $B$ = 4 queries" in said
    assert "3 ahead of an even pace and 1 behind" in said
    assert pace.finding(trace[:0], [1], 100, 4) == "No query was made."
