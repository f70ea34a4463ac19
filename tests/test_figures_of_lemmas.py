"""Pictures of single lemmas and claims: what they show of frames made by hand, and say."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import test_rendering as shared
from confee import proofs, theory
from confee.rendering import caption, figure, files, looks, numbers
from confee.rendering.figures import block, detection, lower_bound, pace, replay, runs
from confee.workflow.pictures import Data
from confee.workflow.run import Run

NAMES = ("idle_runs", "query_runs", "detection", "lower_bound", "replay")
SET = "rexp3b(pool=set)"


def schedules(hits=(0, 0, 3, 300, 1000)) -> pd.DataFrame:
    """A thousand draws of each of the last five blocks; so many have a run over T/sqrt(B)."""
    rows = []
    for T in (10**5, 10**7):
        for beta in (0.8, 0.9, 1.0):
            B = proofs.power_budget(T, beta)
            b, (last, _) = theory.slot_length(T, B), theory.last_block(T, B)
            for order, over in zip(range(last - 4, last + 1), hits, strict=True):
                length = proofs.run_length(T, B) * 2.0 ** (order - last)
                rows += [
                    {"T": T, "B": B, "exponent": beta, "order": order, "b": b, "quota": 1,
                     "rounds": b * 2**order, "rates": rates, "drawn": 1000,
                     **{f"{kind}_mean": 2 * length for kind in ("idle", "query")},
                     **{f"{kind}_max": 4 * length for kind in ("idle", "query")},
                     **{f"{kind}_over_0.5": over for kind in ("idle", "query")}}
                    for rates in ("paper", "alone")
                ]  # fmt: skip
    return pd.DataFrame(rows)


def on_hard(points: pd.DataFrame, ratio: float = 5.0) -> pd.DataFrame:
    """Runs of each cell on the bound's own instance, the oracle's without regret."""
    cells = points[["label", "policy", "K", "T", "B", "V"]].drop_duplicates()
    rows = []
    for cell in cells.to_dict("records"):
        bound = theory.lower_bound(*(cell[name] for name in "KTBV"))
        level = 0.0 if cell["label"] == "oracle" else ratio
        rows += [
            {**cell, "adversary": "hard", "adversary.c": 1.0, "seed": seed,
             "regret": level * bound * (1 + 0.01 * seed)}
            for seed in range(-1, 4)
        ]  # fmt: skip
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def data() -> SimpleNamespace:
    """As in the other tests of pictures; the set of arms has three times the multiset's regret."""
    made = shared.experiment()
    worst, one = made.worst, Data({"choose": 4})
    key = ["K", "T", "B", "V"]
    multiset = worst[worst["label"] == "rexp3b"].set_index(key)["regret"]
    here = worst["label"] == SET
    tripled = [3 * multiset[cell] for cell in worst.loc[here, key].itertuples(index=False)]
    worst.loc[here, "regret"] = tripled
    worst["se"] = 0.02 * worst["regret"]
    extra = {"schedules": schedules(), "thresholds": one.thresholds, "first": one.first,
             "regret": on_hard(made.points)}  # fmt: skip
    return SimpleNamespace(**{**vars(made), **extra})


@pytest.mark.parametrize("name", [name for name in NAMES if name != "query_runs"])
def test_nothing_is_clipped_or_overlaps(data, name):
    shared.test_nothing_is_clipped_and_no_tick_labels_overlap(data, name)


def test_equal_data_give_equal_bytes(data, tmp_path):
    for copy in ("a", "b"):
        files.save(figure("lower_bound", data), tmp_path / copy / "it.pdf", {})
    first, second = ((tmp_path / copy / "it.pdf").read_bytes() for copy in ("a", "b"))
    assert first == second


@pytest.mark.parametrize("name", NAMES)
def test_captions_are_whole(data, name):
    said = caption(name, data)
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


# ------------------------------------------------------------------ long runs


def test_long_runs_are_counted_against_the_lemma(data):
    fig = figure("idle_runs", data)
    assert [ax.get_title() for ax in fig.axes[:3]] == ["$B = T^{0.8}$", "$B = T^{0.9}$", "$B = T$"]
    T = 10**7
    lemma = math.exp(-0.5 * T**0.75 / math.sqrt(T))
    dotted = [line.get_ydata()[0] for line in fig.axes[5].lines if len(line.get_xdata()) == 2]
    assert any(y == pytest.approx(lemma) for y in dotted)
    means = fig.axes[2].lines
    assert any(max(line.get_ydata()) == pytest.approx(2) for line in means)
    said = runs.finding(data.schedules)
    assert said.startswith("At $B = T$, $T$ = $10^{7}$, 100% [99%, 100%] of 1000 draws of the last")
    assert f"the lemma allows {numbers.number(float(f'{lemma:.2g}'))}. It" in said
    assert "from so many blocks before the last on back: 2 ($B = T^{0.8}$)" in said


def test_query_runs_are_claimed_for_small_budgets_alone(data):
    titles = [ax.get_title() for ax in figure("query_runs", data).axes]
    assert titles[:2] == ["$B = T^{0.8}$", "$B = T^{0.9}$"]
    assert "run of query rounds" in runs.finding(data.schedules, "query")


def test_rare_long_runs_break_nothing():
    said = runs.finding(schedules(hits=(0, 0, 0, 0, 0)))
    assert said.startswith("In none of the")
    assert runs.finding(schedules()[:0]).startswith("No block")


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
    assert min(line.get_xdata()[0] for line in marks) == first[1.0].min()


def test_detection_says_what_was_run(data):
    said = detection.finding(data.thresholds, data.first, data.points)
    assert "before $T$ = $5.2{\\times}10^{10}$ at $B = T$ ($K = 2$)" in said
    assert "can fire in 0 of its" in said
    one = data.points[data.points["label"] == "hyque"][:1].assign(K=2, T=10**11, B=10**11)
    assert "can fire in 1 of its 1" in detection.finding(data.thresholds, data.first, one)
    none = data.points[data.points["label"] == "rexp3b"]
    assert "HyQue as printed is not among" in detection.finding(data.thresholds, data.first, none)
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
    assert "the nearest worst case is HyQue's, " in said
    low = data.worst["label"] == "hyque"
    few = int((table["kind"].eq("worst") & table["label"].eq("hyque")).sum())
    cut = data.worst.assign(regret=data.worst["regret"].mask(low, 0.0), se=0.0)
    said = lower_bound.finding(cut, *frames)
    assert said.startswith(f"{few} of {len(table)} points of 5 policies are below the lower bound;")
    legend = [text for text, _ in shared.legend_of(lower_bound.draw(cut, *frames))]
    assert "HyQue: regret 0, not drawn" in legend


def test_rows_are_sorted_by_the_least_worst_case(data):
    fig = lower_bound.draw(data.worst, data.regret, data.points, data.choose)
    table = lower_bound.ratios(data.worst, data.regret, data.points, data.choose)
    least = table[table["kind"] == "worst"].groupby("label")["ratio"].min().sort_values()
    shown = [text.get_text() for text in fig.axes[0].get_yticklabels()]
    assert shown == [looks.display(label) for label in least.index]
    dotted = [line for line in fig.axes[0].lines if list(line.get_xdata()) == [1, 1]]
    assert len(dotted) == 1


# ------------------------------------------------------------------ replaying


def test_the_set_is_compared_with_the_multiset(data):
    said = replay.finding(data.worst, data.points)
    assert said.startswith("Replaying the set of arms queried, as printed, costs 3 [2.8")
    assert said.count("3 [2.8") == 2
    line = figure("replay", data).axes[0].lines[-1]
    cells = data.points[(data.points["axis"] == "T") & (data.points["label"] == SET)]
    bounds = [proofs.rexp3b_bound(c.K, c.T, c.B, c.V) / c.T for c in cells.itertuples()]
    first = pd.Series(bounds).groupby(cells["point"].to_numpy()).apply(lambda b: b.prod() ** 0.5)
    assert list(line.get_ydata()) == pytest.approx(list(first))
    huge = data.worst.assign(regret=data.worst["regret"].mask(data.worst["label"] == SET, 1e9))
    huge = huge.assign(se=0.01 * huge["regret"])
    said = replay.finding(huge, data.points)
    assert said.endswith("at 6 of 6 points (query rounds: 0 of 6 points).")


def test_along_B_the_set_is_compared_on_the_longest_ray_too(data):
    sweep = data.points["axis"].eq("B")
    rays = data.points.assign(axis=data.points["axis"].mask(sweep, "B_at_V4"),
                              variable=np.where(sweep, "B", ""))  # fmt: skip
    short = rays[sweep & rays["point"].rank(method="dense").le(2)].assign(axis="B_short")
    assert replay.finding(data.worst, pd.concat([rays, short])) == replay.finding(
        data.worst, data.points
    )
    alone = rays[~(sweep & rays["label"].eq(SET))]
    assert len(replay.draw(data.worst, alone).axes) == 1


def test_only_cells_played_with_both_are_compared(data):
    alone = data.points[data.points["label"] != SET]
    assert replay.finding(data.worst, alone).startswith("No cell")
    only_T = data.points[(data.points["label"] != SET) | (data.points["axis"] == "T")]
    assert len(replay.draw(data.worst, only_T[only_T["axis"] == "T"]).axes) == 1


def test_a_figure_that_compares_two_policies_needs_both():
    tiny = Run({"overrides": "experiment=tiny figures=[]"})
    assert "replay" not in tiny.pictures
    assert "replay" in Run({"overrides": "experiment=smoke figures=[]"}).pictures


# ------------------------------------------------------------------ the block and the pace


def test_the_block_counts_its_instances_and_queries(data):
    said = block.finding(data.pieces, 3, 2)
    assert said == (
        "A block of order $n = 3$ with $b = 2$: 6 instances share its 16 rounds, one of them is "
        "active in each of these, and they make 8 queries, 0.5 a round ($1/b$ is 0.5)."
    )
    assert "is active in 15 of these" in block.finding(data.pieces.drop(index=1), 3, 2)


def test_the_pace_says_how_far_it_runs_ahead_and_behind(data):
    trace = pd.DataFrame({"t": [1, 2, 3, 90], "queries": [1, 2, 3, 4]})
    said = pace.finding(trace, [1, 9], 100, 4)
    assert "HyQue makes 4 of its $B$ = 4 queries in 2 blocks" in said
    assert "at most 3 ahead of an even pace and at most 1 behind" in said
    assert pace.finding(trace[:0], [1], 100, 4) == "No query was made."
