"""What a dry run says of the time, from records made by hand."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from confee.simulation.cells import cell, opponent
from confee.simulation.needs import Study
from confee.simulation.plan import CHOOSE, ESTIMATE, Seeds, Unit
from confee.workflow import costs, estimate
from confee.workflow.costs import Part
from confee.workflow.estimate import Asked, line, spoken, total

SIZES = {"K": 2, "T": 10_000, "B": 1000, "V": 2}
SEEDS = Seeds(choose=4, worst=1, estimate=8, most=32, error=0.1)


def unit(policy="uniform", stage=CHOOSE, turn=0, **sizes):
    sizes = SIZES | sizes
    against = tuple(opponent({"name": "switching", "gap": gap}, **sizes) for gap in (0.1, 0.2))
    first, count = SEEDS.window(stage, turn)
    return Unit(cell({"name": policy}, **sizes), against, stage, turn, first, count, SEEDS)


def run(*work, kernels=(), **more):
    """An experiment of one job a piece of work, and what Snakemake would run of it."""
    named = {f"job{i}": [one] for i, one in enumerate(work)}
    made = SimpleNamespace(name="mine", work=named | more, kernels=set(kernels))
    return made, [Asked("simulate", name) for name in made.work]


def record(name, *ones, per_work=1e-6, start=2.0, runs=None):
    """The record of a job, each part of which took `per_work` seconds a unit of work."""
    parts = []
    for one in ones:
        part = Part.of(one)
        part.runs = part.most if runs is None else runs
        part.cpu = per_work * part.work * part.runs / part.most
        parts.append(part)
    costs.keep(name, parts, start + sum(part.cpu for part in parts))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def seconds(made, asked, cores=1, every_turn=False):
    return total(made, estimate.Costs(), asked, cores, every_turn) - estimate.SNAKEMAKE


def test_work_is_counted_in_runs_and_queries():
    part = Part.of(unit())
    assert (part.what, part.K, part.B, part.most) == ("uniform", 2, 1000, 8)  # 2 paths, 4 seeds
    assert Part.of(unit(B=9000)).work > 1.5 * part.work
    fresh = Part.of(unit(stage=ESTIMATE, turn=2))
    assert (fresh.turn, fresh.most) == (2, 16)  # the worst of two
    assert Part.of(Study("ages", {}, 7.0)).work == 7


def test_a_job_takes_what_such_jobs_took():
    record("a", unit(), unit(B=4000), per_work=1e-4)
    made, asked = run(unit(B=2000))
    assert seconds(made, asked) == pytest.approx(2 + 1e-4 * Part.of(unit(B=2000)).work)
    record("a", unit(), unit(B=4000), per_work=3e-4)
    assert seconds(made, asked) == pytest.approx(2 + 3e-4 * Part.of(unit(B=2000)).work)


def test_sizes_alike_count_and_outliers_do_not():
    for i in range(estimate.NEAREST):
        record(f"small{i}", unit(B=100), per_work=1e-4)
        record(f"large{i}", unit(B=8000), per_work=9e-4 if i else 1.0)
    made, asked = run(unit(B=9000))
    assert seconds(made, asked) == pytest.approx(2 + 9e-4 * Part.of(unit(B=9000)).work, rel=0.3)


def test_a_policy_without_a_record_is_the_median_of_the_others():
    for policy, rate in (("uniform", 1e-4), ("hyque", 2e-4), ("rexp3b", 9e-4)):
        record(policy, unit(policy), per_work=rate)
    made, asked = run(unit("sw_ucb"))
    assert seconds(made, asked) == pytest.approx(2 + 2e-4 * Part.of(unit("sw_ucb")).work)
    made, asked = run(unit("sw_ucb"), unit("hyque"))
    assert line(made, asked, 1).endswith("(by 3 jobs timed here; rough for sw_ucb)")


def test_turns_count_as_often_as_they_were_needed():
    record("a", unit(stage=ESTIMATE, turn=1), per_work=1e-3, runs=2)  # of 8
    made, asked = run(unit(stage=ESTIMATE, turn=1))
    all_of_it = 1e-3 * Part.of(unit(stage=ESTIMATE, turn=1)).work
    assert seconds(made, asked) == pytest.approx(2 + all_of_it / 4)
    assert seconds(made, asked, every_turn=True) == pytest.approx(2 + all_of_it)
    said = line(made, asked, 1)
    assert f"at most {spoken(all_of_it + 2 + estimate.SNAKEMAKE)}" in said


def test_cores_share_the_jobs_but_none_is_cut():
    record("a", unit(), per_work=1e-3)
    one = 2 + 1e-3 * Part.of(unit()).work
    made, asked = run(*[unit(V=V) for V in (1, 2, 3, 4)])
    assert seconds(made, asked, 1) == pytest.approx(4 * one)
    assert seconds(made, asked, 2) == pytest.approx(2 * one)
    assert seconds(made, asked, 64) == pytest.approx(one)


def test_stages_follow_each_other_and_take_what_they_took():
    costs.keep("mine.regret", cpu=10)
    costs.keep("mine.slopes", cpu=20)
    costs.keep("other.claims", cpu=30)
    made, _ = run()
    asked = [Asked("regret"), Asked("slopes"), Asked("claims")]
    assert seconds(made, asked, 8) == pytest.approx(60)
    assert seconds(made, [Asked("figure", "block")]) == pytest.approx(estimate.A_STAGE)
    assert "rough for block" in line(made, [*asked, Asked("figure", "block")], 1)


def test_kernels_are_counted_if_they_are_not_compiled(monkeypatch):
    costs.keep("kernels.hyque", cpu=12)
    costs.keep("kernels.uniform", cpu=2)
    record("a", unit())
    made, _ = run(kernels=["hyque", "uniform"])
    mark = SimpleNamespace(exists=lambda: False)
    monkeypatch.setattr(estimate, "compiled", lambda name: mark)
    assert seconds(made, [Asked("kernels")]) == pytest.approx(2 + 14)
    mark.exists = lambda: True
    assert seconds(made, [Asked("kernels")]) == pytest.approx(2)


def test_without_a_record_it_says_so():
    made, asked = run(unit(), Study("ages", {}, 50.0))
    assert line(made, asked, 2).startswith("about 58 s on 2 free cores (rough: nothing")


def test_damaged_records_are_passed_over():
    record("a", unit())
    for name, text in (
        ("b", "{"),
        ("c", '{"cpu": 1}'),
        ("d", json.dumps({"cpu": 1, "parts": [3]})),
    ):
        (costs.FOLDER / f"{name}.json").write_text(text)
    assert list(costs.read()) == ["a"]


@pytest.mark.parametrize(
    ("time", "said"),
    [(0.4, "0.4 s"), (42.3, "42 s"), (100, "1.7 min"), (2520, "42 min"), (9000, "2.5 h"),
     (180_000, "50 h"), (560_000, "160 h")],
)  # fmt: skip
def test_two_digits_are_said(time, said):
    assert spoken(time) == said
