"""What a dry run says of the time, from records made by hand."""

from __future__ import annotations

import dataclasses
import json
from types import SimpleNamespace

import pytest

from confee.core.size import Size
from confee.simulation.cells import cell, opponent
from confee.simulation.needs import Draws
from confee.simulation.units import CHOOSE, ESTIMATE, Seeds, Unit
from confee.workflow import costs, estimate
from confee.workflow.costs import Part
from confee.workflow.estimate import Pending, line, spoken, total

SIZES = {"K": 2, "T": 10_000, "B": 1000, "V": 2}
SEEDS = Seeds(choose=4, worst=1, estimate=8, most=256, error=0.1)


def unit(policy="ucb1", stage=CHOOSE, turn=0, **sizes):
    sizes = SIZES | sizes
    against = tuple(
        opponent({"name": "switching", "gap": gap}, Size(**sizes)) for gap in (0.1, 0.2)
    )
    first, count = SEEDS.window(stage, turn)
    return Unit(cell({"name": policy}, Size(**sizes)), against, stage, turn, first, count, SEEDS)


def run_of(*work, kernels=(), **more):
    """An experiment of one job a piece of work, and what Snakemake would run of it."""
    pieces = {f"job{i}": [piece] for i, piece in enumerate(work)} | more
    jobs = {name: SimpleNamespace(work=work) for name, work in pieces.items()}
    made = SimpleNamespace(name="mine", jobs=jobs, kernels=set(kernels), remote=False)
    return made, [Pending("simulate", name) for name in jobs]


def record(name, *ones, run=1e-3, round=1e-6, start=2.0, load=0.0, needed=1.0):
    """The record of a job: each run of a part took `run` seconds and each of its rounds `round`,
    and loading the kernels of each policy `load`."""
    parts = []
    for one in ones:
        part = Part.of(one)
        part.runs = int(part.most * needed)
        part.cpu = part.runs * (run + round * part.rounds)
        part.cpu += load if part.what not in {other.what for other in parts} else 0
        parts.append(part)
    costs.keep(name, parts, start + sum(part.cpu for part in parts))


def takes(one, run=1e-3, round=1e-6):
    part = Part.of(one)
    return part.most * (run + round * part.rounds)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def seconds(made, asked, cores=1, every_turn=False):
    return total(made, estimate.Costs(), asked, cores, every_turn) - estimate.SNAKEMAKE_SECONDS


def test_work_is_counted_in_runs_and_queries():
    part = Part.of(unit())
    assert (part.what, part.rounds, part.most) == ("ucb1", 1100, 8)  # 2 paths, 4 seeds
    assert Part.of(unit(K=4)).rounds == 1200
    assert Part.of(unit("uniform")).rounds == pytest.approx(110)
    fresh = Part.of(unit(stage=ESTIMATE, turn=2))
    assert (fresh.turn, fresh.most) == (2, 16)  # the worst of two
    assert Part.of(Draws("ages", {}, 7.0)).rounds * costs.CPU_PER_ROUND == pytest.approx(7)
    assert Part.of(unit("hyque_calibrated").cell).most == 300


SWEEP = [unit(B=B) for B in (100, 200, 400, 800, 1600, 3200, 6400) for _ in range(20)]


@pytest.mark.parametrize(
    ("run", "round"), [(1e-3, 1e-6), (4e-3, 2e-8), (0, 3e-7), (2e-3, 0), (1, 1e-3)]
)
def test_a_job_takes_what_runs_and_rounds_took(run, round):
    record("a", *SWEEP, run=run, round=round)
    one = unit(B=9000)
    made, asked = run_of(one)
    assert seconds(made, asked) == pytest.approx(2 + takes(one, run, round), rel=0.1)


def test_loading_kernels_and_what_slows_a_record_down_do_not_count_as_rounds():
    record("a", *SWEEP, load=30.0)
    slow = [unit(B=800), unit(B=800)]
    record("b", *slow, run=5, round=5)
    one = unit(B=9000)
    part = Part.of(one)
    known = estimate.Costs()
    assert known.seconds(part, part.most) == pytest.approx(takes(one), rel=0.1)


def test_what_was_only_timed_as_the_first_of_a_job_is_less_the_usual_load():
    record("a", *SWEEP, load=3.0)
    once = unit("hyque", B=9000)
    record("b", once, round=1e-5, load=3.0)
    part = Part.of(once)
    assert estimate.Costs().seconds(part, part.most) == pytest.approx(
        takes(once, round=1e-5), rel=0.2
    )


def test_a_policy_without_a_record_is_the_median_of_the_others():
    for policy, round in (("ucb1", 1e-6), ("hyque", 2e-6), ("rexp3b", 9e-6)):
        record(policy, *(unit(policy, B=B) for B in range(100, 9000, 100)), round=round)
    part = Part.of(unit("sw_ucb", B=9000))
    assert estimate.Costs().seconds(part, 8) == pytest.approx(
        takes(unit(B=9000), round=2e-6), rel=0.1
    )
    made, asked = run_of(unit("sw_ucb"), unit("hyque"))
    assert line(made, asked, 1).endswith("(from 3 jobs timed here; rough for sw_ucb)")


def test_turns_count_as_often_as_they_were_needed():
    record("a", *SWEEP, *(unit(stage=ESTIMATE, turn=1) for _ in range(9)), needed=0.25, round=4e-5)
    second, fourth = (unit(stage=ESTIMATE, turn=turn, B=9000) for turn in (1, 3))
    made, asked = run_of(second)
    assert seconds(made, asked) == pytest.approx(2 + takes(second, round=4e-5) / 4, rel=0.1)
    assert seconds(made, asked, every_turn=True) == pytest.approx(
        2 + takes(second, round=4e-5), rel=0.1
    )
    known = estimate.Costs()
    assert known.share(3) == pytest.approx(0.25 * 0.3**2)
    assert seconds(*run_of(fourth)) == pytest.approx(
        2 + takes(fourth, round=4e-5) * known.share(3), rel=0.1
    )
    assert "at most " in line(made, asked, 1)
    assert "at most " not in line(*run_of(unit(B=9000)), 1)


def test_cores_share_the_jobs_but_none_is_cut():
    record("a", *SWEEP)
    work = [unit(V=V) for V in (1, 2, 3, 4)]
    one = seconds(*run_of(work[0]))
    made, asked = run_of(*work)
    assert seconds(made, asked, 1) == pytest.approx(4 * one)
    assert seconds(made, asked, 2) == pytest.approx(2 * one)
    assert seconds(made, asked, 64) == pytest.approx(one)


def test_stages_follow_each_other_and_take_what_they_took():
    costs.keep("mine.regret", cpu=10)
    costs.keep("mine.slopes", cpu=20)
    costs.keep("other.claims", cpu=30)
    made, _ = run_of()
    asked = [Pending("regret"), Pending("slopes"), Pending("claims")]
    assert seconds(made, asked, 8) == pytest.approx(60)
    costs.keep("mine.block", cpu=30)
    costs.keep("mine.report", cpu=5)
    drawn = [*asked, Pending("figure", "block"), Pending("report")]
    assert seconds(made, drawn, 8) == pytest.approx(65)  # the figure beside the claims
    assert seconds(made, drawn, 1) == pytest.approx(95)
    assert seconds(made, [Pending("figure", "pace")]) == pytest.approx(estimate.STAGE_SECONDS)
    assert "rough for pace" in line(made, [*asked, Pending("figure", "pace")], 1)


def test_kernels_are_counted_if_they_are_not_compiled(monkeypatch):
    costs.keep("kernels.hyque", cpu=12)
    costs.keep("kernels.uniform", cpu=2)
    record("a", *SWEEP)
    made, _ = run_of(kernels=["hyque", "uniform"])
    mark = SimpleNamespace(exists=lambda: False)
    monkeypatch.setattr(estimate, "compiled", lambda name: mark)
    both = seconds(made, [Pending("kernels")])
    mark.exists = lambda: True
    assert both - seconds(made, [Pending("kernels")]) == pytest.approx(14)


def test_without_a_record_it_says_so():
    made, asked = run_of(unit(), Draws("ages", {}, 50.0))
    assert line(made, asked, 2).startswith("about 56 s on 2 free cores (rough: no such job")


def test_on_a_cluster_played_jobs_start_elsewhere_and_stages_share_these_cores(monkeypatch):
    monkeypatch.setattr(estimate.machine, "cores", lambda: 2)
    record("mine.pace", start=6)
    made, asked = run_of(unit(), unit())
    pictures = [Pending("figure", "pace")] * 4
    here = seconds(made, asked, 100), seconds(made, pictures, 2)
    made.remote = True
    assert seconds(made, asked, 100) == pytest.approx(here[0] + estimate.REMOTE_SECONDS)
    assert seconds(made, pictures, 100) == pytest.approx(here[1])


PART = dataclasses.asdict(Part("hyque", 1000.0))


def test_damaged_records_are_passed_over():
    record("a", unit())
    for name, text in (
        ("b", "{"),
        ("c", '{"cpu": 1}'),
        ("d", json.dumps({"cpu": 1, "parts": [3]})),
        ("e", json.dumps({"cpu": 5, "parts": [PART | {"most": 0}]})),
        ("f", json.dumps({"cpu": 5, "parts": [PART | {"what": ["x"]}]})),
        ("g", json.dumps({"cpu": 5, "parts": [PART | {"cpu": "1"}]})),
    ):
        (costs.FOLDER / f"{name}.json").write_text(text)
    assert list(costs.read()) == ["a"]


@pytest.mark.parametrize(
    ("time", "said"),
    [
        (0.4, "0.4 s"),
        (42.3, "42 s"),
        (100, "1.7 min"),
        (2520, "42 min"),
        (9000, "2.5 h"),
        (180_000, "50 h"),
        (560_000, "160 h"),
    ],
)
def test_two_digits_are_said(time, said):
    assert spoken(time) == said
