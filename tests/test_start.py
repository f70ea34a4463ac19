"""What a job imports: what it plays, and no more."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from confee.core import sources
from confee.core.size import Size
from confee.simulation import files
from confee.simulation.cells import cell, opponent
from confee.simulation.units import CHOOSE, Seeds, Unit

SIZES = {"K": 2, "T": 64, "B": 16, "V": 1}

STARTED = """
import json, sys
from confee.workflow.cli import main
from confee.simulation import play

found = {}
def check(*arguments, checked=play.check):
    found.setdefault("first", sorted(sys.modules))  # its first run was played a moment ago
    return checked(*arguments)
play.check = check
main(["do", "job.json"])
found["last"] = sorted(sys.modules)

from confee.policies import POLICIES
from confee.simulation.units import unit
from confee.world.adversaries import ADVERSARIES
said = json.load(open("job.json"))["units"][0]
files = [unit(said).file.as_posix()]
found["policies"], found["adversaries"] = list(POLICIES), list(ADVERSARIES)
found["listing imports"] = len(set(sys.modules) - set(found["last"]))
assert all(one.id for one in (*POLICIES.values(), *ADVERSARIES.values()))
found["files"] = [*files, unit(said).file.as_posix()]
print(json.dumps(found))
"""


def test_a_job_imports_what_it_plays(tmp_path):
    """And it has the same name, however much else is imported."""
    one, met = (
        cell({"name": "rexp3b"}, Size(**SIZES)),
        opponent({"name": "switching"}, Size(**SIZES)),
    )
    unit = Unit(one, (met,), CHOOSE, 0, 0, 1, Seeds(1, 1, 0, 0, 0.03))
    job = {"kind": "play", "units": [unit.describe() | {"after": []}]}
    (tmp_path / "job.json").write_text(files.sealed(job))
    env = {k: v for k, v in os.environ.items() if k != "CONFEE_EXTRA"}
    done = subprocess.run(
        [sys.executable, "-c", STARTED], cwd=tmp_path, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    first = set(found["first"])
    assert "confee.policies.rexp3b" in first
    assert not first & {
        "hydra",
        "matplotlib",
        "omegaconf",
        "pandas",
        "pyarrow",
        "scipy",
        "statsmodels",
    }
    assert not set(found["last"]) & {"hydra", "matplotlib", "pandas", "scipy"}
    for kind, package, used in (
        ("policies", "confee.policies", "rexp3b"),
        ("adversaries", "confee.world.adversaries", "switching"),
    ):
        there = [id for id in found[kind] if f"{package}.{id}" in first]
        assert there == [used]
        assert len(found[kind]) > 10
    assert found["listing imports"] == 0
    assert found["files"] == [unit.file.as_posix()] * 2
    assert (tmp_path / "results" / unit.file).exists()


def test_the_benchmark_of_starts_runs():
    """It makes a job as the workflow does; what it measures is no test."""
    program = Path(__file__).parents[1] / "benchmarks/startup.py"
    done = subprocess.run(
        [sys.executable, program, "--starts", "1"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n| ") == 10


BLAS = """
import numpy as np
from confee.core import jit
jit.prepare()
kernel = jit.njit(lambda x: (np.dot(x, x), np.cov(x)[0, 1]))
x = np.array([[1.0, 2.0], [3.0, 5.0]])
dot, cov = kernel(x)
assert (dot == x @ x).all() and cov == np.cov(x)[0, 1], (dot, cov)
"""


@pytest.mark.slow
def test_a_kernel_may_still_do_linear_algebra(tmp_path):
    done = subprocess.run([sys.executable, "-c", BLAS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def parsed(module):
    """The modules of confee that a module imports, as Python's own parser finds them."""
    names = set()
    for node in ast.walk(ast.parse(sources.source_file(module).read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            parts = {f"{node.module}.{alias.name}" for alias in node.names}
            modules = {part for part in parts if sources.source_file(part)}
            names |= modules if modules == parts else modules | {node.module}
    return {name for name in names if sources.source_file(name)}


def test_the_pattern_finds_the_imports_that_a_parser_does():
    """Of every module. If it finds more in one's docstring, word that otherwise."""
    for file in sorted(sources.PACKAGE.rglob("*.py")):
        parts = file.relative_to(sources.PACKAGE.parent).with_suffix("").parts
        module = ".".join(parts).removesuffix(".__init__")
        if module != "confee":
            assert sources.imports(module) == parsed(module), module


def test_imports_are_found_however_they_are_written(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "source_file", lambda name: known.get(name))
    monkeypatch.setattr(sources, "PACKAGE", tmp_path)  # modules outside it are parsed
    text = """
import os, confee.a as first
if True: from confee.b import (
    c,  # one (of two)
    d as e,
)
x = 1; import confee.f
from confee.g \\
    import h, \\
    i
def late():
    from confee import j
    import confee.k  # , confee.l
from confee.m import n as o, p; y = 2
"""
    known = {
        f"confee.{name}": tmp_path / "m.py"
        for name in ("a", "b.c", "b.d", "f", "g", "g.h", "j", "k", "l", "m", "me")
    }
    known["confee.me"].write_text(text)
    sources.imports.cache_clear()
    wanted = {"a", "b.c", "b.d", "f", "g", "g.h", "j", "k", "m"}
    assert (
        sources.imports("confee.me") == {f"confee.{name}" for name in wanted} == parsed("confee.me")
    )
    sources.imports.cache_clear()
