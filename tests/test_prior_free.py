"""The claim on policies that know K, T and B alone, its search for hard paths, and excursions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from confee.claims import ledger, prior_free
from confee.claims.judging.finding import CONSISTENT, FAILS, HOLDS, UNDECIDED, VACUOUS
from confee.claims.judging.ratios import at_most, together
from confee.core.canonical import stream
from confee.core.size import Size
from confee.evidence import Evidence
from confee.paper import theory
from confee.simulation import cells
from confee.simulation.play import play_all
from confee.simulation.studies import hardest_paths
from confee.world.adversaries import adversary

# ------------------------------------------------------------------ the claim

BUDGETS = [32_000, 64_000, 128_000, 256_000, 512_000, 1_024_000]
LEVELS = {"lookout": 0.65, "hyque": 3.0, "sw_ucb_leader": 0.7, "sw_ucb": 0.9, "uniform": 6.0}
GROWTH = {"random_restart": 0.13, "hyque": 0.15, "uniform": 1 / 3}


def evidence(levels, stills=None, noise=0.01):
    """Evidence of a ray in B at V = 16, where regret over the rate is levels[label] (B/B_0)^x."""
    rows, points = [], []
    rng = np.random.default_rng(5)
    for label, level in {**levels, "random_restart": 1.5}.items():
        for B in BUDGETS:
            size = Size(4, 10 * B, B, 16.0)
            ratio = level * (B / BUDGETS[0]) ** GROWTH.get(label, 0.0)
            regret = ratio * theory.rate(*size) * np.exp(noise * rng.standard_normal())
            cell = {"policy": label, "label": label, **size._asdict()}
            flags = {"edge": False, "ceiling": False, "at_limit": False, "saturated": False}
            flags |= {"in_range": True, "short_batch": False, "eligible": True, "scale": np.nan}
            rows.append(
                {**cell, "adversary": "switching", "gap": 0.1, "strength": 1.0, "regret": regret}
                | {"se": noise * regret, "seeds": 16, "naive": regret, "split": True, **flags}
            )
            points.append(
                {**cell, "axis": "B_at_V16", "variable": "B", "point": float(B), "phase": 0}
            )
        for B in BUDGETS:  # Where nothing changes, a tenth of the regret.
            size = Size(4, 10 * B, B, 0.0)
            regret = 0.1 * rows[-1]["regret"] * B / BUDGETS[-1]
            rows.append({**rows[-1], **size._asdict(), "regret": regret, "se": 0.01 * regret})
            points.append({**points[-1], **size._asdict(), "point": float(B)})
    asked = pd.DataFrame(stills or [])
    empty = pd.DataFrame()
    return Evidence(
        empty, pd.DataFrame(rows), empty, pd.DataFrame(points), asked=asked if len(asked) else None
    )


def still(label, level):
    """Runs at V = 0 whose regret is worst at the gap 0.02."""
    size = Size(4, 1_280_000, 128_000, 0)
    rng = np.random.default_rng(len(label))
    return [
        {"ask": prior_free.STILL, "label": label, **size._asdict(), "adversary.gap": gap}
        | {"seed": seed, "regret": level * shape * (1 + 0.02 * rng.standard_normal())}
        for gap, shape in ((0.01, 0.5), (0.02, 1.0), (0.1, 0.4))
        for seed in range(8)
    ]


def steps(finding):
    return {step.step.split(" at ")[0]: step.outcome for step in finding.steps}


def judged(levels, **more):
    return {f.id.removeprefix("prior-free/"): f for f in prior_free.judge(evidence(levels, **more))}


def test_a_policy_within_the_constant_is_consistent_and_the_negative_control_fails():
    findings = judged(LEVELS)
    assert findings["lookout"].as_printed == CONSISTENT
    assert findings["hyque"].as_printed == FAILS
    assert {c.what: c.as_expected for c in findings["lookout"].controls} == {
        "hyque": True,
        "sw_ucb_leader": True,
    }


def test_a_constant_above_one_fails_and_one_at_the_limit_is_undecided():
    assert judged(LEVELS | {"lookout": 1.2})["lookout"].as_printed == FAILS
    assert judged(LEVELS | {"lookout": 1.0})["lookout"].as_printed == UNDECIDED


def test_controls_that_come_out_wrong_leave_no_verdict():
    assert judged(LEVELS | {"hyque": 0.5})["lookout"].as_printed == VACUOUS
    assert judged(LEVELS | {"sw_ucb_leader": 1.3})["lookout"].as_printed == UNDECIDED


def test_a_finding_belongs_to_its_claim():
    assert ledger.claim_of("prior-free/lookout") == "prior-free"
    assert ledger.claim_of("hyque-rate/theory") == "hyque-rate/theory"


def test_a_cell_fails_only_where_the_positive_control_holds():
    B = [1e4, 2e4, 4e4]
    sizes = pd.DataFrame({"K": 4, "T": 1e5, "B": B, "V": 1.0})
    policy = sizes.assign(low=[0.4, 1.1, 0.9], high=[0.6, 1.3, 1.1])
    good = sizes.assign(low=0.5, high=[0.7, 0.8, 1.2])
    bad = sizes.assign(low=0.5, high=[0.7, 1.2, 0.8])

    def judge(policy, control):
        outcomes = [*prior_free.in_each_cell(policy, control)]
        return together(outcomes), outcomes

    assert judge(policy, good) == (FAILS, ["holds", FAILS, UNDECIDED])
    assert judge(policy, bad) == (UNDECIDED, ["holds", UNDECIDED, UNDECIDED])
    assert judge(policy, good.iloc[:0])[0] == UNDECIDED
    assert judge(policy[:1], bad)[0] == "holds"


def test_a_policy_that_loses_to_ucb1_where_nothing_changes_fails():
    twin = still("ucb1_leader(exploration=0.5)", 100.0)
    good = judged(LEVELS, stills=[*still("lookout", 110.0), *twin])["lookout"]
    bad = judged(LEVELS, stills=[*still("lookout", 160.0), *twin])["lookout"]
    assert good.as_printed == CONSISTENT
    assert bad.as_printed == FAILS
    assert steps(bad)["V = 0"] == FAILS
    gaps = pd.DataFrame(bad.numbers["still"])
    assert gaps["ratio"].between(1.5, 1.7).all()
    assert list(gaps["gap"]) == [0.01, 0.02, 0.1]


def test_a_search_that_finds_a_harder_path_decides():
    rows = pd.DataFrame(
        [
            {"policy": "lookout", "K": 4, "T": 640_000, "B": 64_000, "V": 4.0, "start": "all"}
            | {"rank": rank, "adversary": "switching", "parameters": "gap=0.1", "tried": 10}
            | {"regret": regret, "se": 0.01, "seeds": 16}
            for rank, regret in enumerate((0.6, 1.2))
        ]
    )
    shown = evidence(LEVELS)
    found = Evidence(
        *(getattr(shown, name) for name in ("regret", "worst", "slopes", "points")),
        studies={"hardest_paths": rows},
    )
    lookout = next(f for f in prior_free.judge(found) if f.id == "prior-free/lookout")
    assert lookout.as_printed == FAILS
    assert lookout.numbers["searches"][0]["ratio"] == pytest.approx(1.2)


def test_parts_compare_each_change_at_its_own_worst_adversary():
    size = Size(4, 1_280_000, 128_000, 4)
    rng = np.random.default_rng(2)
    labels = ["lookout", *(cells.label_of({"name": "lookout", **o}) for o in VARIANTS.values())]
    factor = {"lookout(checks=none)": {"blink": 3.0}, "lookout(idle=frequency)": {"fall": 1.5}}
    level = {"switching": 1.0, "fall": 0.9, "blink": 0.6}
    runs = pd.DataFrame(
        [
            {"label": label, **size._asdict(), "adversary": name, "seed": seed}
            | {"regret": factor.get(label, {}).get(name, 1.0) * value * rng.normal(1, 0.01)}
            for label in labels
            for name, value in level.items()
            for seed in range(16)
        ]
    )
    rows = {row["change"]: row for row in prior_free.parts(runs, "lookout")}
    assert rows["no looks"]["ratio"] == pytest.approx(1.8, abs=0.05)
    assert rows["no looks"]["most_ratio"] == pytest.approx(3.0, abs=0.1)
    assert rows["no looks"]["most_against"] == "blink"
    assert rows["idle rounds by frequency"]["ratio"] == pytest.approx(1.35, abs=0.05)
    assert rows["no restarts"]["low"] < 1 < rows["no restarts"]["high"]


VARIANTS = prior_free.VARIANTS["lookout"]


def test_needs_resolve_to_cells_and_opponents():
    needs = prior_free.needs(False)
    for ask in needs.asks:
        cells.cell(ask.policy, ask.size)
        assert cells.family(ask.against, ask.size)
    assert {draws.name for draws in needs.studies} == {"hardest_paths"}


# ------------------------------------------------------------------ the search


def test_the_search_finds_the_worst_path_of_uniform_play():
    """Uniform play loses the lead of the best arm times 1 - 1/K, whatever the path."""
    rows = hardest_paths.run({"name": "uniform"}, 2, 1000, 200, 4.0, "all", False, 4)
    best = max(row["regret"] for row in rows)
    assert rows[0]["adversary"] == "switching_centred"
    assert best == pytest.approx(0.5 / theory.critical_gap(2, 200, 4.0), rel=0.03)


def test_the_search_depends_on_its_parameters_alone():
    cell = ({"name": "ucb1"}, 2, 400, 100, 2.0, "excursions", True, 2)
    assert hardest_paths.run(*cell) == hardest_paths.run(*cell)


@pytest.mark.parametrize("name", hardest_paths.SPACE)
def test_every_place_of_the_cube_is_a_path(name):
    size = Size(3, 2000, 500, 3.0)
    sides = len(hardest_paths.SPACE[name])
    for corner in (0.0, 0.3, 1.0):
        candidate = hardest_paths.Candidate(name, (corner,) * sides)
        options = hardest_paths._options(candidate, size)
        against = cells.opponent({"name": name, **options}, size)
        path = against.spec.draw(dict(against.resolved), size.K, size.T, size.V, stream("x"))
        path.checked(size.T, size.V)


# ------------------------------------------------------------------ excursions


def means(path, T):
    rounds = np.arange(1, T + 1)
    segment = np.searchsorted(path.start[:-1], rounds, side="right") - 1
    return path.mean[segment] + path.slope[segment] * (rounds - path.start[segment])[:, None]


def drawn(K=3, T=1200, V=4.0, **options):
    spec = adversary("excursions")
    resolved = spec.resolve(spec.options(**options), Size(K, T, T, V))
    return means(spec.draw(resolved, K, T, V, stream("path")).checked(T, V), T)


def test_excursions_rise_above_a_steady_leader():
    path = drawn(size=0.4, above=0.25, duty=0.5)
    assert path.min() == pytest.approx(0.3)
    assert path.max() == pytest.approx(0.7)
    leader = int(path[0].argmax())
    assert np.ptp(path[:, leader]) == 0
    assert path[0, leader] == pytest.approx(0.6)
    up = (path.argmax(axis=1) != leader).mean()
    assert up == pytest.approx(0.5, abs=0.01)
    assert np.abs(np.diff(path, axis=0)).max(axis=1).sum() == pytest.approx(4.0)


def test_excursions_climb_and_keep_to_their_span():
    path = drawn(size=0.5, above=0.5, duty=0.6, climb=1.0, span=0.25)
    leader = int(path[0].argmax())
    assert (path[:900].argmax(axis=1) == leader).all()
    assert (np.abs(np.diff(path, axis=0)).max(axis=1) > 0).mean() == pytest.approx(0.15, abs=0.01)


@pytest.mark.parametrize("V", [0.0, 0.3, 0.5, 0.9, 1.0])
def test_excursions_spend_what_v_pays_for(V):
    path = drawn(V=V, size=0.5, duty=0.4, climb=0.5)
    spent = np.abs(np.diff(path, axis=0)).max(axis=1).sum()
    assert spent == pytest.approx(0.5 * int(V / 0.5))


def test_at_rest_holds_only_with_enough_seeds():
    runs = pd.DataFrame(
        [row for row in still("lookout", 120.0) + still("x", 100.0) if row["seed"] < 2]
    )
    table = prior_free.at_rest(runs, "lookout", "x")
    assert (table["high"] > prior_free.AT_REST).any()
    assert at_most(table.assign(low=0.0), prior_free.AT_REST) == UNDECIDED
    assert at_most(table.assign(low=0.0, high=1.0), prior_free.AT_REST) == HOLDS


def test_rises_are_shown_at_the_worst_height():
    rows = [
        {"label": "lookout", **Size(4, 640_000, 64_000, 4)._asdict(), "adversary.size": height}
        | {"regret": factor * theory.rate(4, 640_000, 64_000, 4)}
        for height, factor in ((0.2, 0.3), (0.2, 0.5), (0.6, 0.2), (0.6, 0.2))
    ]
    (row,) = prior_free.rises(pd.DataFrame(rows))
    assert row["size"] == 0.2
    assert row["ratio"] == pytest.approx(0.4)
    assert row["se"] == pytest.approx(0.1)


# ------------------------------------------------------------------ flicker


@pytest.mark.parametrize(("V", "spent"), [(0.04, 0.0), (0.05, 0.05), (0.14, 0.05), (0.25, 0.25)])
def test_flicker_spends_what_v_pays_for_and_never_moves_the_best_arm(V, spent):
    spec = adversary("flicker")
    resolved = spec.resolve(spec.options(dip=0.05, times=4), Size(3, 1000, 100, V))
    path = means(spec.draw(resolved, 3, 1000, V, stream("path")).checked(1000, V), 1000)
    assert np.abs(np.diff(path, axis=0)).max(axis=1).sum() == pytest.approx(spent)
    assert len(set(path.argmax(axis=1))) == 1
    ordered = np.sort(path, axis=1)
    assert (ordered[:, -1] - ordered[:, -2]) == pytest.approx(0.2)


def test_flicker_hurts_tests_for_rewards_0_and_1_and_no_test_for_variance_a_quarter():
    """The lesson of the path that broke a first version of Lookout: B = 3.2e4, K = 10, V = 1/4."""
    size = Size(10, 32_000, 32_000, 0.25)
    dip = 0.45 * theory.critical_gap(size.K, size.B, size.V)
    against = cells.opponent({"name": "flicker", "dip": dip, "times": 9}, size)
    regret = {}
    for test in ("gaussian", "bernoulli"):
        cell = cells.cell({"name": "lookout", "test": test}, size)
        rows = play_all(cell, [against], range(6))
        regret[test] = np.mean([row["regret"] for row in rows]) / theory.rate(*size)
    assert regret["gaussian"] < 0.6
    assert regret["bernoulli"] > 1.0
