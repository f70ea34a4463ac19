"""Rankings on frames with known answers; what the shootout plays; its pictures and tables."""

from __future__ import annotations

import itertools
import json
import math
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from confee.config import experiments
from confee.core.errors import ConfeeError
from confee.evidence.ranking import MARGIN, PAIRS, compare, heat, played, questions, ranking
from confee.paper import theory
from confee.policies import POLICIES
from confee.rendering import FIGURES, looks, numbers
from confee.rendering.figures.ranking import BEST, BLIND, OTHER
from confee.rendering.figures.shootout import order, ratios
from confee.rendering.tables import to_latex, to_markdown
from confee.simulation.needs import RANKED
from confee.simulation.plan import plan
from confee.workflow.jobs import do_job, job_file
from confee.workflow.pictures import draw
from confee.workflow.planning import Workflow
from confee.workflow.results import collect, measure, runs
from confee.world.adversaries import ADVERSARIES
from support.shown import MOST, caption, figure, table, words

TOLD = {
    "ucb1": ("T", "B"),
    "rexp3b": ("T", "B", "V"),
    "m_ucb": ("T", "B", "S"),
    "random_restart": ("T", "B", "S"),
    "oracle": ("path",),
}
CLAIMS_OWN = {
    "informed_even",
    "hyque_blind",
    "hyque_discarding",
    "sw_ucb_copied",
    "sw_ucb_misled",
    "sw_ucb_overtold",
    "ucb1_restarted",
}
"""Policies that are controls of single claims, no rivals."""

PRIOR_FREE = {"dal_ucb1", "meta", "adswitch", "armswitch", "lepski_ucb", "hyque_leader"}
"""Policies that `priorfree` compares, and `shootout` does not."""

T, BUDGETS, SEEDS = 10_000, (251, 10_000), 6
STRENGTHS = {"switching": (0.1, 0.3), "packed": (0.1, 0.3), "hard": (0.1,), "drift": (0.5,)}


KINDS = looks.kinds_ordered(
    kind
    for one in ADVERSARIES.values()
    if one.setting == "arms"
    for kind in one.variants or [one.id]
)


def runs_of(levels, seeds=SEEDS, spread=0.3, own=0.0, seed=0):
    """(regret.parquet, points.csv): log regret = that of the label + of the adversary + of the path
    (`spread`, the same for all labels) + of the run (`own`)."""
    rng = np.random.default_rng(seed)
    rows, places = [], []
    for B, V, K in itertools.product(BUDGETS, (0.0, 2.0), (2, 10)):
        axis = "shootout" if V else "shootout_still"
        strengths = STRENGTHS if V else {"stationary": (0.1, 0.3)}
        unit = theory.rate(K, T, B, V) if V else T * math.sqrt(K / B)
        for label in levels:
            policy = label.partition("(")[0]
            cell = {"label": label, "policy": policy, "K": K, "T": T, "B": B, "V": V}
            places.append({**cell, "axis": axis, "point": float(T), "phase": 0})
        for (adversary, gaps), s in itertools.product(strengths.items(), range(seeds)):
            for gap in gaps:
                path = spread * rng.standard_normal()
                for label, level in levels.items():
                    extra = level(adversary) if callable(level) else level
                    log = math.log(unit) + gap + extra + path + own * rng.standard_normal()
                    rows.append(
                        {
                            "policy": label.partition("(")[0],
                            "label": label,
                            "K": K,
                            "T": T,
                            "B": B,
                            "V": V,
                            "adversary": adversary,
                            "seed": s,
                            "regret": math.exp(log),
                            "restarts": 3 if label == "random_restart" else 0,
                            "adversary.gap": gap,
                            "adversary.target": "rexp3b" if adversary == "packed" else None,
                            "adversary.adaptive": 1.0 if adversary == "hard" else math.nan,
                        }
                    )
    return pd.DataFrame(rows), pd.DataFrame(places)


LEVELS = {
    "ucb1": 0.0,
    "rexp3b": -0.5,
    "m_ucb": 0.4,
    "oracle": -30.0,
    "random_restart": 0.1,
    "ucb1(plan=front)": 0.2,
}


@pytest.fixture(scope="module")
def made():
    regret, points = runs_of(LEVELS, own=0.02)
    runs = played(regret, points, SEEDS)
    tables = (ranking(runs, TOLD), questions(runs), heat(runs, TOLD))
    return SimpleNamespace(**dict(zip(("ranking", "questions", "heat"), tables, strict=True)))


# ------------------------------------------------------------------ comparisons


def test_the_order_and_the_ratios_are_those_that_were_put_in(made):
    table = made.ranking
    assert "oracle" not in set(table["label"])
    for (situation, _, by), some in table.groupby(["situation", "budget", "by"]):
        labels = [n for n in LEVELS if n != "oracle"]
        if situation == "unknown":
            labels = ["ucb1", "ucb1(plan=front)"]
        expected = sorted(labels, key=LEVELS.get)
        assert list(some["label"]) == expected, by
        ratios = [math.exp(LEVELS[n] - LEVELS[expected[0]]) for n in expected]
        assert np.allclose(some["ratio"], ratios, rtol=0.05)
        assert (some["low"] <= some["ratio"] + 1e-12).all()
        assert list(some["best"]) == [True] + [False] * (len(expected) - 1)
    assert set(table["V"]) == {"2", "0"}
    assert dict(zip(table["policy"], table["told"], strict=True)) == {
        "ucb1": "nothing",
        "rexp3b": "V",
        "m_ucb": "S",
        "random_restart": "S",
    }


def test_levels_are_normalised_regret_with_kinds_weighing_alike():
    """Two strengths of `switching` weigh as much as one of `drift`."""
    regret, points = runs_of({"ucb1": lambda a: 1.0 if a == "drift" else 0.0}, spread=0.0)
    table = ranking(played(regret, points, SEEDS), TOLD).set_index(["situation", "budget", "by"])
    kinds = [0.2, 0.2, 0.1, 1.5]  # mean of gap + level over switching, packed, hard and drift
    mean = table.loc[("unknown", 1.0, "mean")]
    assert mean["level"] == pytest.approx(math.exp(np.mean(kinds)))
    worst = table.loc[("unknown", 1.0, "worst")]
    assert worst["level"] == pytest.approx(math.exp(1.5))
    assert worst["adversary"] == "drift"
    assert table.loc[("zero", 1.0, "worst"), "level"] == pytest.approx(math.exp(0.3))


def test_an_adaptive_adversary_is_none_of_the_worst():
    regret, points = runs_of({"ucb1": lambda a: 5.0 if a == "hard" else 0.0}, spread=0.0)
    runs = played(regret, points, SEEDS)
    assert "hard(adaptive)" in set(runs["kind"])
    table = ranking(runs, TOLD)
    assert "hard(adaptive)" not in set(table["adversary"])
    shown = heat(runs, TOLD).set_index(["kind", "budget"])["norm"]
    assert shown["hard(adaptive)", 1.0] == pytest.approx(math.exp(5.1))
    assert shown["packed(rexp3b)", 1.0] == pytest.approx(math.exp(0.3))


def test_pairing_takes_out_what_the_paths_share():
    rng = np.random.default_rng(1)
    paths, own = rng.standard_normal((8, 1)), 0.05 * rng.standard_normal((8, 2))
    paired = compare(pd.DataFrame(paths + own + [0, 0.1], columns=["a", "b"]))
    apart = rng.standard_normal((8, 1)) * [1, 0] + paths * [0, 1]
    unpaired = compare(pd.DataFrame(apart + own + [0, 0.1], columns=["a", "b"]))
    wide = [np.log(t["high"] / t["low"]).max() for t in (paired, unpaired)]
    assert wide[0] < wide[1] / 5


@pytest.mark.parametrize(("true", "correlation"), [(0.2, 0.0), (0.2, 0.9), (1.0, 0.5)])
def test_the_interval_of_a_ratio_covers(true, correlation):
    """5 % misses: 1.9 to 8.1 % of 600 draws are within 3.5 standard errors."""
    rng = np.random.default_rng(2)
    hit, draws = 0, 600
    for _ in range(draws):
        common = rng.standard_normal((8, 1)) * math.sqrt(correlation)
        values = common + rng.standard_normal((8, 2)) * math.sqrt(1 - correlation)
        scores = pd.DataFrame(0.05 * values + [0, true], columns=["a", "b"])
        row = compare(scores).set_index("label").loc["b"]
        hit += row["low"] <= math.exp(true) <= row["high"]
    assert 0.019 < 1 - hit / draws < 0.081


def test_the_truly_best_is_in_the_set_of_the_best():
    """With ten equals, each is left out in at most 5 % of draws, though one of them always wins."""
    rng = np.random.default_rng(3)
    draws = [compare(pd.DataFrame(rng.standard_normal((8, 10)))) for _ in range(300)]
    left_out = np.array([~draw.sort_values("label")["best"].to_numpy() for draw in draws])
    assert left_out[:, 0].mean() < 0.05 + 3 * math.sqrt(0.05 * 0.95 / 300)
    clear = pd.DataFrame(0.01 * rng.standard_normal((8, 3)) + [0, 0.02, math.log(MARGIN) + 0.2])
    assert list(compare(clear).sort_values("label")["best"]) == [True, True, False]


def test_one_seed_excludes_nothing_and_regret_under_one_round_is_one():
    table = compare(pd.DataFrame([[0.0, 3.0]], columns=["a", "b"]))
    assert table["best"].all()
    assert table["low"].isna().all()
    regret, points = runs_of({"ucb1": 0.0, "rexp3b": 0.0})
    regret.loc[regret["label"] == "ucb1", "regret"] = 0.0
    regret.loc[regret["label"] == "rexp3b", "regret"] = 1.0
    table = ranking(played(regret, points, SEEDS), TOLD)
    assert np.allclose(table["ratio"], 1)


def test_a_label_that_misses_a_setting_is_not_compared():
    regret, points = runs_of({"ucb1": 0.0, "rexp3b": 0.0})
    gone = (regret["label"] == "rexp3b") & (regret["K"] == 10) & (regret["B"] == T)
    table = ranking(played(regret[~gone], points, SEEDS), TOLD)
    assert set(table.loc[table["budget"] == 1, "label"]) == {"ucb1"}
    assert set(table.loc[table["budget"] == 0.6, "label"]) == {"ucb1", "rexp3b"}


def test_questions_are_paired_ratios_with_counts_of_restarts(made):
    table = made.questions
    pair = table[(table["question"] == "restarts") & (table["V"] == "moving")]
    assert set(zip(pair["label"], pair["versus"], strict=True)) == {
        p for p in PAIRS if set(p) <= set(LEVELS)
    }
    expected = [LEVELS[a] - LEVELS[b] for a, b in zip(pair["label"], pair["versus"], strict=True)]
    assert np.allclose(pair["ratio"], np.exp(expected), rtol=0.03)
    assert set(pair["restarts"]) == {3}
    assert set(pair["restarts_versus"]) == {0}
    plan = table[table["question"] == "plan"]
    assert np.allclose(plan["ratio"], math.exp(0.2), rtol=0.02)
    assert set(plan["versus"]) == {"ucb1"}
    regret, points = runs_of({"ucb1": lambda a: 0.7 if a == "packed" else 0.0}, spread=0.0)
    pattern = questions(played(regret, points, SEEDS))
    assert set(pattern["versus"]) == {"packed(rexp3b)"}
    assert np.allclose(pattern["ratio"], math.exp(0.7))  # at equal gaps
    assert set(pattern["settings"]) == {2}


# ------------------------------------------------------------------ what is played


@pytest.fixture(scope="module")
def run():
    return Workflow({"overrides": "experiment=shootout"})


def test_all_policies_meet_all_adversaries(run):
    units = run.plan.units
    moving = [u for u in units if u.cell.size.V > 0]
    policies = {u.cell.policy for u in moving}
    registered = {p.id for p in POLICIES.values() if p.setting == "arms"}
    assert policies == registered - CLAIMS_OWN - PRIOR_FREE
    met = {o.adversary for u in units for o in u.opponents}
    assert met == {a.id for a in ADVERSARIES.values() if a.setting == "arms"}
    plans = {u.cell.label for u in moving if "(plan=" in u.cell.label}
    assert {"ucb1(plan=front)", "sw_ucb(plan=batched)", "ucb1(plan=bernoulli)"} <= plans


def test_all_runs_are_paired(run):
    """The same opponents and seeds for all policies at a setting; moving where V > 0, else not."""
    met = {}
    for u in run.plan.units:
        met.setdefault(u.cell.size, set()).add((u.opponents, u.pass_, u.first, u.count))
    assert all(len(some) == 1 for some in met.values())
    for (*_, V), ((opponents, stage, *_),) in met.items():
        assert stage == "choose"
        assert ({o.adversary for o in opponents} == {"stationary"}) == (V == 0)
    assert len(met) == 18


def test_names_and_looks_are_there_for_all_that_is_drawn(run):
    labels = {u.cell.label for u in run.plan.units}
    assert {label for label in labels if "(" not in label} <= {
        p.id for p in POLICIES.values() if p.look
    }
    kinds = {o.adversary for u in run.plan.units for o in u.opponents}
    assert kinds <= {a.id for a in ADVERSARIES.values() if a.name}


def test_it_costs_minutes(run):
    """Queried rounds over all units: 13 billion take some minutes on 2 cores."""
    cost = sum(u.cost for u in run.plan.everything)
    assert 1e9 < cost < 1.4e10
    assert run.pictures == ["shootout", "ranking"]
    assert run.tables == ["ledger", "which_policy", "questions"]
    names = ("worst", "slopes", "ranking", "questions", "heat")
    assert run.measured == [f"results/shootout/{name}.csv" for name in names]
    assert set(RANKED) == set(FIGURES["shootout"].maps) == set(run.experiment.grid.maps)


def test_a_setting_meets_what_any_map_on_it_names():
    maps = (
        "+maps.a={policies:[hyque],family:[switching],K:2,T:1e3,beta:1,V:[1,2]} "
        "+maps.b={policies:[hyque,uniform],family:[hard],K:2,T:1e3,beta:1,V:2}"
    )
    e = experiments.experiment("experiment=tiny ~grid.T " + maps)
    units = plan(e.entrants, e.family, e.grid, e.seeds).units
    met = {(u.cell.policy, u.cell.size.V): {o.adversary for o in u.opponents} for u in units}
    assert met["hyque", 1] == {"switching"}
    assert met["hyque", 2] == met["uniform", 2] == {"switching", "hard"}
    with pytest.raises(ConfeeError, match=r"maps\.a\.family=who: must be among switching, hard"):
        Workflow({"overrides": "experiment=tiny " + maps.replace("[switching]", "[who]")})


def test_experiments_without_a_ranking_have_none_of_its_files():
    run = Workflow({"overrides": "experiment=tiny"})
    assert run.tables == ["table1", "ledger"]
    assert run.measured == ["results/tiny/worst.csv", "results/tiny/slopes.csv"]


SMALL = (
    "experiment=shootout toy=true seeds.choose=2 claims=[hyque-budget] "
    "figures=[shootout,ranking] +maps.shootout.policies=[ucb1,sw_ucb,oracle] "
    "+maps.shootout_still.policies=[ucb1,sw_ucb,oracle] maps.shootout_plans.policies=[ucb1_front] "
    "maps.shootout_plans_still.policies=[ucb1_front] "
) + " ".join(f"maps.{one}.T=2e3 maps.{one}.K=2 maps.{one}.beta=0.8" for one in RANKED)


def test_a_small_one_from_plan_to_pictures(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = Workflow({"overrides": SMALL})
    run.prepare()
    for name in run.jobs:
        do_job(job_file(name))
    plan = json.loads(run.plan_text)
    collect(plan)
    assert [str(file) for file in measure(plan)] == run.measured
    table = pd.read_csv(run.measured[2])
    labels = {"ucb1", "sw_ucb", "ucb1(plan=front)"}
    assert set(table.loc[table["situation"] == "known", "label"]) == labels
    assert set(table.loc[table["situation"] == "unknown", "label"]) == labels - {"sw_ucb"}
    regret = runs(plan)
    for (K, B, V), cell in regret.groupby(["K", "B", "V"]):
        counts = cell.groupby("label").size()
        assert counts.nunique() == 1, (K, B, V)
        # The same path draws the same variation, whoever plays it: but where it adapts.
        fixed = cell[(cell["adversary"] != "hard") & (cell["seed"] == 0)]
        which = ["adversary", "adversary.gap", "adversary.size", "adversary.target"]
        by = fixed.groupby(which, dropna=False)
        assert (by["variation"].nunique() <= 1).all()
    for name, kinds in (("shootout", ("png",)), ("ranking", ("png",)), ("which_policy", ("md",))):
        for file in draw(plan, name, [f"{name}.{kind}" for kind in kinds]):
            assert file.stat().st_size > 500
    assert "UCB1" in Path("which_policy.md").read_text()


# ------------------------------------------------------------------ pictures and tables


@pytest.mark.parametrize("name", ["shootout", "ranking"])
def test_nothing_is_clipped_and_no_panel_is_empty(made, name):
    fig = figure(name, made)
    fig.draw_without_rendering()
    inside = fig.bbox.padded(1)
    for ax in fig.axes:
        assert ax.lines
        for line, low, high in ((ax.xaxis, "x0", "x1"), (ax.yaxis, "y0", "y1")):
            start, stop = sorted(line.get_view_interval())
            ticks = [tick for tick in line.get_major_ticks() if start <= tick.get_loc() <= stop]
            labels = [label for tick in ticks for label in (tick.label1, tick.label2)]
            boxes = [
                label.get_window_extent()
                for label in labels
                if label.get_visible() and label.get_text()
            ]
            boxes.sort(key=lambda box: getattr(box, low))
            assert all(getattr(a, high) <= getattr(b, low) + 1 for a, b in pairwise(boxes))
            for box in [*boxes, *(text.get_window_extent() for text in ax.texts)]:
                assert inside.contains(*box.min)
                assert inside.contains(*box.max)


def test_the_heat_map_shows_ratios_and_the_least_of_each_row(made):
    ax = figure("shootout", made).axes[0]
    shown = ratios(made.heat[made.heat["budget"] == made.heat["budget"].min()])
    labels = [label for label in order(ratios(made.heat)) if "(" not in label]
    values = shown[shown["told"] != "path"].pivot(index="kind", columns="label", values="ratio")
    values = values.reindex(index=looks.kinds_ordered(values.index), columns=labels)
    np.testing.assert_allclose(
        np.ma.filled(ax.collections[0].get_array(), np.nan), values.to_numpy(), rtol=1e-12
    )
    least = shown[shown["told"] != "path"].groupby("kind")["norm"].min()
    texts = [text.get_text() for text in ax.texts]
    assert texts[: len(least)] == [numbers.two(least[kind]) for kind in values.index]
    names = [text.get_text() for text in ax.get_xticklabels()]
    assert "UCB1 (front)" not in names  # it has options of its own, and is the least nowhere
    better = made.heat.assign(
        norm=made.heat["norm"].mask(made.heat["label"] == "ucb1(plan=front)", 1e-4)
    )
    names = [
        text.get_text()
        for text in figure("shootout", SimpleNamespace(heat=better)).axes[0].get_xticklabels()
    ]
    assert "UCB1 (front)" in names


def test_columns_are_grouped_by_what_a_policy_is_told(made):
    assert order(ratios(made.heat)) == [
        "ucb1",
        "ucb1(plan=front)",
        "random_restart",
        "m_ucb",
        "rexp3b",
        "oracle",
    ]


def test_which_policy_names_the_winner_and_marks_what_it_is_told(made):
    sheet = table("which_policy", made)
    assert list(sheet.columns)[2:] == ["$B = T^{0.6}$", "$B = T$"]
    rows = sheet.set_index(["Variation $V_T$", "Least regret"])["$B = T$"]
    assert len(rows) == 6
    known = rows["known, above 0", "mean over adversaries"]
    assert known.startswith("Rexp3B (V) [")
    assert "then UCB1, 6" in known
    unknown = rows["unknown, above 0", "worst adversary"]
    assert unknown.startswith("UCB1 [")
    assert "(V)" not in unknown
    assert "(S)" not in unknown
    assert f"against known {math.exp(0.5):.1f}" in unknown
    said = caption("which_policy", made)
    for text in (to_markdown(sheet), to_latex(sheet, said)):
        assert "Rexp3B" in text


def test_questions_are_a_table_of_intervals(made):
    sheet = table("questions", made)
    rows = sheet[sheet["Question"].str.startswith("restarts")]
    assert set(rows["Restarts"]) == {"3.0 : 0"}
    assert set(rows["Question"]) == {"restarts", "restarts, stationary"}
    cell = sheet["$B = T$"].iloc[0]
    assert cell.count("[") == cell.count("]") == 1
    asked = set(sheet.loc[sheet["Question"] == "changes placed otherwise", "Regret of"])
    assert asked == {"Rexp3B, packed for Rexp3B"}


def test_nothing_played_is_drawn_and_written_too(made):
    none = SimpleNamespace(**{k: v[:0] for k, v in vars(made).items()})
    for name in ("shootout", "ranking"):
        figure(name, none).draw_without_rendering()
    for name in ("which_policy", "questions"):
        table(name, none)
    for name in ("shootout", "ranking", "which_policy", "questions"):
        assert caption(name, none).startswith("No ")


def crowd(labels: int) -> pd.DataFrame:
    """The frame of a heat map of so many policies, all kinds and three budgets."""
    rows = []
    for i, kind, budget in itertools.product(range(labels), KINDS, (0.6, 0.8, 1.0)):
        told = ("nothing", "S", "V", "path")[4 * i // labels]
        norm = 0.1 * (1 + (7 * i + len(kind)) % 23) * (0.001 if told == "path" else 1)
        rows.append(
            {
                "label": f"policy_{i}_with_a_long_name",
                "told": told,
                "budget": budget,
                "kind": kind,
                "still": kind == "stationary",
                "norm": norm,
            }
        )
    return pd.DataFrame(rows)


@pytest.mark.parametrize("labels", [1, 34])
def test_the_heat_map_fits_a_page_and_its_names_do_not_meet(labels):
    fig = figure("shootout", SimpleNamespace(heat=crowd(labels)))
    assert fig.get_size_inches()[1] <= 8.5
    fig.draw_without_rendering()
    for ax in fig.axes:
        boxes = [text.get_window_extent() for text in ax.get_yticklabels()]
        assert len(boxes) == len(KINDS)
        for above, below in pairwise(sorted(boxes, key=lambda box: -box.y0)):
            assert below.y1 <= above.y0 + 2
    boxes = [text.get_window_extent() for text in fig.axes[0].get_xticklabels()]
    assert len(boxes) == labels
    for left, right in pairwise(boxes):
        assert left.x1 <= right.x0 + 2


def test_the_least_of_a_row_is_framed_where_policies_differ(made):
    heat = made.heat[made.heat["budget"] == 1]
    kinds = heat["kind"].nunique()

    def frames(heat):
        ax = figure("shootout", SimpleNamespace(heat=heat)).axes[0]
        return sorted(
            (isinstance(patch.get_linestyle(), str), patch.get_x())
            for patch in ax.patches
            if not patch.get_fill()
        )

    names = [label for label in order(ratios(heat)) if "(" not in label]
    solid, dotted = (True, float(names.index("rexp3b"))), (False, float(names.index("ucb1")))
    assert frames(heat) == [dotted] * kinds + [solid] * kinds
    assert frames(heat.assign(norm=np.where(heat["norm"] > 1e-6, 1.0, heat["norm"]))) == []
    alone = heat[heat["label"].isin(["ucb1", "oracle"])]
    assert frames(alone) == []  # the oracle's regret is no rival's


def test_the_heat_maps_finding_counts_who_has_the_least(made):
    said = caption("shootout", made)
    assert words(said) <= MOST
    assert "Rexp3B" in said
    assert "1.00" in said
    heat = made.heat.copy()
    mine = (heat["label"] == "ucb1") & ~heat["still"] & (heat["budget"] == 1)
    heat.loc[mine, "norm"] /= 100
    said = caption("shootout", SimpleNamespace(heat=heat))
    assert "Rexp3B at $B = T^{0.6}$ and UCB1 at $B = T$" in said
    others = heat["label"].isin(["ucb1", "random_restart"])
    alike = caption("shootout", SimpleNamespace(heat=made.heat[others]))
    assert "within 1.1" in alike


def test_the_rankings_finding_names_the_set_of_the_best(made):
    said = caption("ranking", made)
    assert words(said) <= MOST
    assert "UCB1" in said
    still = made.ranking[made.ranking["situation"] != "unknown"]
    said = caption("ranking", SimpleNamespace(ranking=still))
    assert "Rexp3B" in said
    assert "1.00" in said
    wider = still.assign(best=still["best"] | (still["label"] == "m_ucb"))
    assert "Rexp3B or M-UCB" in caption("ranking", SimpleNamespace(ranking=wider))


def test_the_ranking_colours_who_may_be_the_best(made):
    fig = figure("ranking", made)
    assert [ax.get_title() for ax in fig.axes] == [
        f"{budget}\n{world}"
        for world in ("changing", "stationary")
        for budget in ("$B = T^{0.6}$", "$B = T$")
    ]
    names = [text.get_text() for text in fig.axes[0].get_yticklabels()]
    assert "UCB1 (front)" not in names
    for ax in fig.axes:
        points = [
            (line.get_color(), names[round(line.get_ydata()[0])])
            for line in ax.lines
            if line.get_marker() == "o" and line.get_color() != OTHER
        ]
        blind = [] if "stationary" in ax.get_title() else [(BLIND, "UCB1")] * 2
        assert sorted(points) == sorted([(BEST, "Rexp3B")] * 2 + blind)  # by the mean and the worst


def test_the_tables_findings_are_numbers_of_their_frames(made):
    said = caption("which_policy", made)
    row = made.ranking.set_index(["situation", "budget", "by", "label"]).loc[
        ("known", 1.0, "worst", "ucb1")
    ]
    assert numbers.factor(row["ratio"]) in said
    assert "UCB1" in said
    assert words(said) <= MOST
    said = caption("questions", made)
    assert "random restart" in said
    assert words(said) <= MOST
    mine = made.questions.query("question == 'pattern' and label == 'rexp3b'")["ratio"]
    assert f"{mine.min():.2f} to {mine.max():.2f} for Rexp3B" in said
    fewer = made.questions[made.questions["question"] != "restarts"]
    assert (
        "UCB1" not in caption("questions", SimpleNamespace(questions=fewer)).split("Geometric")[0]
    )


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex")
def test_the_tables_compile_on_as_many_pages_as_they_take(made, tmp_path):
    """Cells that begin with a bracket, and more rows than a page has."""
    sheet = table("questions", made)
    many = pd.concat([sheet] * 30).sort_values("Question", ignore_index=True)
    many.attrs = sheet.attrs
    text = to_latex(many, r"A caption with 5\% of it.", "tab:many")
    text += to_latex(table("which_policy", made))
    assert text.count("known, above 0") == 2  # of each group of two rows once
    text += to_latex(pd.DataFrame({"a": ["a long word and [0.2] in brackets"]}))
    (tmp_path / "doc.tex").write_text(
        r"\documentclass{article}\usepackage[textwidth=5.5in,textheight=9in]{geometry}"
        r"\usepackage{booktabs}\begin{document}" + text + r"\end{document}"
    )
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "doc.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout
    assert "Float too large" not in done.stdout
