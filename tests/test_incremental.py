"""Incremental equals from scratch: after an edit of any module a run gives what it would give in an
empty folder. What differs is a missing part of a key.

`CONFEE_EVERY_MODULE=1` edits every module in turn, which takes hours; without it one of each layer.
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from confee.core import sources
from confee.rendering import FIGURES
from confee.workflow.keys import PICTURES
from confee.workflow.planning import Workflow

ROOT = Path(__file__).parents[1]
SMALL = (
    "experiment=tiny phases=1 grid.T=[500,805] centre.T=500 ~rays.B_at_V2 seeds.estimate=2 "
    "~policies.hyque_calibrated ~plays.hyque_calibrated seeds.most=4 "
    "claims=[hyque-budget,rexp3b-budget] figures=[regret-T,pace]"
)
COMPARED = (
    "regret.parquet",
    "asked.parquet",
    "points.csv",
    "worst.csv",
    "slopes.csv",
    "claims.json",
    "claims.md",
)
LAYERS = (
    "paper/theory",
    "world/adversaries/switching",
    "policies/hyque",
    "simulation/turns",
    "simulation/plan",
    "evidence/worst",
    "claims/rexp3b_budget",
    "rendering/figures/curves",
    "workflow/jobs",
    "workflow/results",
    "workflow/pictures",
)


def modules():
    if not os.environ.get("CONFEE_EVERY_MODULE"):
        return LAYERS
    files = (
        file.relative_to(sources.PACKAGE).with_suffix("") for file in sources.PACKAGE.rglob("*.py")
    )
    return sorted(file.as_posix() for file in files)


def edits(text: str) -> list[str]:
    """The text with one number or one comparison changed, of each function but for its default
    values and its docstring."""
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.encode()))
    raw = text.encode()
    found = []
    for function in ast.walk(ast.parse(text)):
        if not isinstance(function, ast.FunctionDef):
            continue
        for node in (one for statement in function.body for one in ast.walk(statement)):
            match node:
                case ast.Constant(value=bool() | str() | None):
                    continue
                case ast.Constant(value=int() | float() as value):
                    there, new = node, str(value + 1)
                case ast.Compare(ops=[ast.Lt() | ast.Gt()], left=left, comparators=[right]):
                    there, new = node, f"({ast.unparse(left)} == {ast.unparse(right)})"
                case _:
                    continue
            first = starts[there.lineno - 1] + there.col_offset
            last = starts[there.end_lineno - 1] + there.end_col_offset
            found.append((raw[:first] + new.encode() + raw[last:]).decode())
    return found


class Folder:
    def __init__(self, place: Path, source: Path) -> None:
        self.place, self.source = place, source
        place.mkdir(exist_ok=True)
        for name in ("Snakefile", "workflow", "profiles"):
            if not (place / name).exists():
                (place / name).symlink_to(ROOT / name)

    def run(self) -> dict[str, bytes] | None:
        """What a run leaves; nothing if it fails."""
        env = {**os.environ, "PYTHONPATH": str(self.source), "CONFEE_CONF": str(ROOT / "conf")}
        words = [
            sys.executable,
            "-m",
            "snakemake",
            "--cores",
            "2",
            "--config",
            f"overrides={SMALL}",
        ]
        done = subprocess.run(words, cwd=self.place, env=env, capture_output=True, check=False)
        if done.returncode:
            return None
        results, figures = (self.place / name / "tiny.claims" for name in ("results", "figures"))
        files = [*(results / name for name in COMPARED), *figures.glob("*.svg")]
        return {file.name: file.read_bytes() for file in files}


@pytest.fixture(scope="module")
def before(tmp_path_factory):
    place = tmp_path_factory.mktemp("before")
    shutil.copytree(ROOT / "src", place / "src", ignore=shutil.ignore_patterns("__pycache__"))
    folder = Folder(place / "run", place / "src")
    assert folder.run()
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("module", modules())
def test_after_an_edit_a_run_gives_what_it_gives_from_scratch(before, tmp_path, module):
    source = tmp_path / "src"
    shutil.copytree(before.source, source, ignore=shutil.ignore_patterns("__pycache__"))
    file = source / f"confee/{module}.py"
    possible = edits(file.read_text(encoding="utf-8"))
    if not possible:
        pytest.skip("nothing to edit")
    file.write_text(possible[zlib.crc32(module.encode()) % len(possible)], encoding="utf-8")
    shutil.copytree(before.place, tmp_path / "run", symlinks=True)
    incremental = Folder(tmp_path / "run", source).run()
    scratch = Folder(tmp_path / "scratch", source).run()
    assert (incremental is None) == (scratch is None)
    if scratch:
        differs = [name for name in scratch if scratch[name] != incremental.get(name)]
        assert not differs


# --------------------------------------------------------------------------- by construction


def test_every_module_is_in_the_key_of_what_stands_above_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = Workflow({"overrides": "experiment=tiny"})
    everything = set(sources.package())
    above = {"regret": ("claims", "paper.checked", "rendering"), "claims": ("rendering",)}
    for stage, of in run.stages.sources.items():
        apart = {m for m in everything if m.startswith(tuple(f"{one}." for one in of["apart"]))}
        if stage in ("regret", "slopes", "claims"):
            names = above["claims" if stage == "claims" else "regret"]
            assert of["apart"] == [f"confee.{name}" for name in names]
        elif stage in ("report", "album"):
            assert not apart
        else:
            assert of["apart"] == PICTURES
            assert any(name.startswith(tuple(PICTURES)) for name in of["also"])


LOADED = """
import json, sys
from confee.workflow import cli
try:
    cli.main(json.loads(sys.argv[1]))
finally:
    print(json.dumps([name for name in sys.modules if name.startswith("confee")]))
"""


@pytest.mark.slow
def test_no_process_of_a_stage_loads_what_its_key_leaves_out(before):
    """Nor one that plays: beside the policies and adversaries of its job, what is listed here."""
    jobs = before.place / "results/jobs"
    plan = max(jobs.glob("plan-*.json"), key=lambda file: file.stat().st_mtime)
    said = json.loads(plan.read_text(encoding="utf-8"))
    env = {**os.environ, "PYTHONPATH": str(before.source)}

    def loaded(*words):
        done = subprocess.run(
            [sys.executable, "-c", LOADED, json.dumps(words)],
            cwd=before.place,
            env=env,
            capture_output=True,
            text=True,
            check=True,
        )
        return set(json.loads(done.stdout.splitlines()[-1]))

    key = "0" * 16
    figures = before.place / "figures/tiny.claims"
    calls = {stage: [f"make-{stage}", str(plan), key] for stage in ("regret", "slopes", "claims")}
    for name in said["pictures"]:
        kinds = ("pdf", "png", "svg", "txt") if name in FIGURES else ("csv", "md", "tex", "txt")
        calls[name] = [
            "make-picture",
            str(plan),
            key,
            name,
            *(str(figures / f"{name}.{kind}") for kind in kinds),
        ]
    for stage, words in calls.items():
        of = said["sources"][stage]
        left_out = {
            m for m in sources.package() if m.startswith(tuple(f"{a}." for a in of["apart"]))
        }
        left_out -= set().union(*(sources.closure(m) for m in of["also"]))
        assert not loaded(*words) & left_out, stage

    shutil.rmtree(before.place / "results/cells")
    around = {
        "bytecode",
        "cli",
        "grid",
        "startup",
        "needs",
        "plan",
        "runlock",
        "costs",
        "handoff",
        "studies",
        "simulation",
        "workflow",
        "world",
        "confee",
    }
    for job in sorted(jobs.glob("*.json")):
        units = json.loads(job.read_text(encoding="utf-8"))
        if units.get("kind") != "play":
            continue
        known = {"confee.workflow.jobs", "confee.simulation.calibrate"}
        for unit in units["units"]:
            starts = [
                f"confee.policies.{unit['cell']['policy']}",
                "confee.simulation.turns",
                "confee.simulation.play",
                "confee.simulation.files",
                *(f"confee.world.adversaries.{m}" for m, _ in unit["opponents"]),
            ]
            known |= set().union(*map(sources.closure, starts))
        more = loaded("do", str(job)) - known
        assert {name.rpartition(".")[2] for name in more} <= around
