"""What `confee clean` takes for unneeded, and that it removes nothing else."""

import io
import os
import sys
from pathlib import Path

import pytest

from confee.core import jit
from confee.core.errors import ConfeeError
from confee.simulation import files
from confee.workflow import cleaning, cli, runlock
from confee.workflow.jobs import RESULTS
from confee.workflow.planning import Workflow

SMALL = "experiment=tiny grid.T=[1e3] centre.T=1e3 ~policies.oracle"
NAME = "0123456789abcdef"
UNNEEDED = [
    f"results/cells/hyque/{NAME}.parquet",
    f"results/studies/ages/{NAME}.parquet",
    f"results/calibration/{NAME}.json",
    f"results/jobs/{NAME}.json",
    f"results/jobs/{NAME}.due",
    f"results/jobs/{NAME}.done",
    f"results/jobs/plan-{NAME}.json",
    f"results/jobs/told-{NAME}.json",
    f"results/jobs/hyque-kernels-{NAME}.compiled",
    "results/jobs/none.compiled",
    f"results/logs/simulate/{NAME}.log",
    f"results/logs/calibrate/{NAME}.log",
    "results/cells/hyque/.part-a1b2c3_d.parquet",
    "results/tiny/.part-a1b2c3_d.csv",
    "figures/tiny/.part-a1b2c3_d.pdf",
    "results/logs/costs/.part-a1b2c3_d.json",
]
FOREIGN = [
    "results/jobs/my_slurm_job.sh",
    "results/logs/x/y.log",
    "results/logs/simulate/mine.log",
    "results/cells/hyque/notes.parquet",
    f"results/cells/{NAME}.parquet",
    f"results/cells/hyque/more/{NAME}.parquet",
    f"results/cells/hyque/{NAME}.parquet.bak",
    "results/calibration/mine.json",
    "results/jobs/plan-of-mine.json",
    "results/mine/data.csv",
    f"results/mine/{NAME}.parquet",
    "results/.part-time.txt",
    "figures/tiny/.part-time.pdf",
    f"figures/{NAME}.parquet",
    "results/logs/costs/tiny.json",
]
"""Of somebody else, or confee's own that stay."""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setattr(jit, "prune", list)
    return folder


def make(names):
    for name in names:
        files.write_text(name, "")


def finished(overrides=SMALL):
    """A run of which all cells are there, and that finished."""
    run = Workflow({"overrides": overrides})
    cleaning.begin(run.name, run.plan_text)
    cleaning.finish(run.name, run.plan_text)
    make(cells(run))
    return run


def cells(run):
    return [RESULTS / unit.file for unit in run.plan.everything]


def unneeded():
    return sorted(file.as_posix() for some in cleaning.unneeded().values() for file in some)


def everything(folder=Path()):
    return sorted(file.as_posix() for file in folder.rglob("*"))


def clean(capsys, *words):
    cli.main(["clean", *words])
    return capsys.readouterr().out


def test_a_run_that_does_not_finish_gives_up_no_cell_and_keeps_its_own():
    """A target that does not exist, Ctrl-C, a failing job: prepared, and perhaps played in part."""
    first = finished()
    begun = [Workflow({"overrides": f"{SMALL} seeds.choose={n}"}) for n in (3, 4)]
    for run in begun:
        run.prepare()
        make(cells(run)[:5])
    played = {file for run in begun for file in cells(run)[:5]}
    assert not played & {*cells(first)}
    assert "cells" not in cleaning.unneeded()
    cleaning.settle(first.name, first.plan_text)  # given again, with nothing to be done
    assert "cells" not in cleaning.unneeded()
    cleaning.finish(first.name, begun[0].plan_text)
    gone = {*cells(first), *played} - {*cells(begun[0])}
    assert {*cleaning.unneeded()["cells"]} == gone
    assert [file.name for file in (RESULTS / "tiny").iterdir()] == ["plan.json"]


def test_what_was_played_by_a_first_run_that_never_finished_is_kept():
    run = Workflow({"overrides": SMALL})
    run.prepare()
    make(cells(run)[:5])
    assert "cells" not in cleaning.unneeded()
    assert not (RESULTS / "tiny" / "plan.json").exists()
    plan = next((RESULTS / "tiny").glob("begun/*"))
    plan.write_text(plan.read_text().replace("0", "1", 1))
    with pytest.raises(ConfeeError, match="damaged"):
        cleaning.unneeded()


def test_a_finished_run_given_again_begins_nothing_and_a_dry_run_neither():
    run = finished()
    run.prepare()
    Workflow({"overrides": f"{SMALL} seeds.choose=3"}).prepare(dry=True)
    assert [file.name for file in (RESULTS / "tiny").iterdir()] == ["plan.json"]


def test_all_that_a_run_writes_for_its_jobs_is_known():
    Workflow({"overrides": SMALL}).prepare()
    assert unneeded() == sorted(file.as_posix() for file in (RESULTS / "jobs").iterdir())


def test_only_what_confee_named_is_removed(capsys):
    run = finished()
    make(FOREIGN)
    before = everything()
    make(UNNEEDED)
    assert unneeded() == sorted(UNNEEDED)
    clean(capsys, "--yes")
    assert not cleaning.unneeded()
    assert {*everything()} >= {*before}
    assert not any(Path(name).exists() for name in UNNEEDED)
    assert all(file.exists() for file in cells(run))


def test_links_are_left_alone_and_so_is_what_they_lead_to(here, capsys):
    finished()
    away = here.parent / "away"
    make([away / f"{NAME}.parquet", away / f"hyque/{NAME}.parquet"])
    Path(f"results/cells/hyque/{NAME}.parquet").symlink_to(away / f"{NAME}.parquet")
    Path("results/cells/linked").symlink_to(away)
    Path("results/studies").symlink_to(away)
    Path("figures").symlink_to(away)
    before = everything(here), everything(away)
    assert clean(capsys, "--yes")
    assert (everything(here), everything(away)) == before
    Path("results").rename(here.parent / "moved")
    Path("results").symlink_to(here.parent / "moved")
    make([f"results/jobs/{NAME}.json"])
    with pytest.raises(ConfeeError, match="symbolic link"):
        cleaning.unneeded()


def test_the_cells_of_an_experiment_whose_folder_is_a_link_are_kept(here):
    finished()
    Path("results/tiny").rename(here.parent / "tiny")
    Path("results/tiny").symlink_to(here.parent / "tiny")
    assert not cleaning.unneeded()


@pytest.mark.parametrize(
    "left",
    [
        [],
        *(
            [f"results/tiny/{name}"]
            for name in ("regret.parquet", "config.yaml", "made/block.json", "claims.json")
        ),
    ],
)
@pytest.mark.parametrize("others", [False, True])
def test_nothing_is_removed_where_a_plan_is_lost(left, others):
    if others and left:
        finished(f"{SMALL} name=other")
    make([*UNNEEDED, *left])
    before = everything()
    with pytest.raises(ConfeeError, match=r"has no .*plan\.json"):
        cleaning.remove(map(Path, UNNEEDED))
    assert everything() == before


@pytest.mark.parametrize("name", ["results/tiny/plan.json", f"results/tiny/begun/{NAME}.json"])
@pytest.mark.parametrize(
    "change",
    [lambda text: text.replace("0", "1", 1), lambda text: "", lambda text: files.sealed({})],
)
def test_nothing_is_removed_by_a_damaged_plan(name, change):
    """One flipped digit in it would make it take cells that are needed for ones that are not."""
    run = finished()
    make(UNNEEDED)
    files.write_text(name, change(run.plan_text))
    before = everything()
    with pytest.raises(ConfeeError, match=rf"{name}: damaged"):
        cleaning.unneeded()
    assert everything() == before


def test_in_a_folder_of_somebody_else_nothing_is_removed(here, capsys):
    make(FOREIGN)
    before = everything()
    clean(capsys, "--yes")
    assert everything() == before


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("answer", "words", "removed"),
    [
        ("y\n", [], True),
        ("YES\n", [], True),
        ("n\n", [], False),
        ("\n", [], False),
        ("", [], False),
        ("n\n", ["--yes"], True),
    ],
)
def test_someone_at_a_terminal_is_asked(monkeypatch, answer, words, removed):
    finished()
    make(UNNEEDED)
    said = Terminal()
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    monkeypatch.setattr(sys, "stdout", said)
    if removed:
        cli.main(["clean", *words])
    else:
        with pytest.raises(SystemExit):
            cli.main(["clean", *words])
    assert UNNEEDED[0] in said.getvalue()
    assert Path(UNNEEDED[0]).exists() != removed


def test_elsewhere_it_shows_what_it_would_remove_and_how(capsys):
    finished()
    assert clean(capsys)  # nothing to remove needs no answer
    make(UNNEEDED)
    before = everything()
    with pytest.raises(SystemExit) as stop:
        cli.main(["clean"])
    assert "--yes" in stop.value.code
    assert UNNEEDED[0] in capsys.readouterr().out
    assert everything() == before


def test_what_is_needed_by_the_time_of_the_answer_stays():
    run = finished()
    made = cells(run)
    Path("results/tiny/plan.json").unlink()
    finished(f"{SMALL} name=other seeds.choose=3")
    shown = cleaning.unneeded()["cells"]
    assert {*made} >= {*shown} > set()
    cleaning.begin(run.name, run.plan_text)
    assert cleaning.remove(shown) == []


def test_a_link_in_place_of_the_lock_file_is_named_and_its_target_stays(here, monkeypatch):
    monkeypatch.setattr(runlock, "_held", None)
    monkeypatch.setenv(runlock.MINE, "")
    target = here / "notes.txt"
    target.write_text("mine")
    runlock.LOCK.parent.mkdir()
    runlock.LOCK.symlink_to(target)
    for call in (runlock.hold, runlock.alive, runlock.work):
        with pytest.raises(ConfeeError, match=r"confee\.lock: .*symbolic link"):
            call()
    assert target.read_text() == "mine"


def test_links_in_place_of_snakemakes_folders_lead_a_run_nowhere(here, monkeypatch):
    monkeypatch.setattr(runlock, "_held", None)
    monkeypatch.setenv(runlock.MINE, "")
    away = here / "away"
    make([away / "a.txt", away / "b" / "c.txt"])
    before = everything(away)
    runlock.LOCK.parent.mkdir()
    (runlock.LEFT[1]).mkdir()
    for link in (runlock.LEFT[0], runlock.LEFT[1] / "x", runlock.RECORDS):
        os.symlink(away, link)
    runlock.hold()
    assert everything(away) == before
    assert not (runlock.LEFT[1] / "x").is_symlink()
