"""A folder in which Snakemake runs the package under test."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from support import fresh

ROOT = Path(__file__).parents[2]


SMALL = (
    "experiment=tiny grid.T=[1e3] centre.T=1e3 ~policies.oracle claims=[lower-bound/measured] "
    "figures=[block,regret-T]"
)


RESULTS = ("regret.parquet", "config.yaml", "points.csv", "worst.csv", "slopes.csv", "claims.json")


class Project:
    """A checkout without sources: the package is the one under test."""

    def __init__(self, folder):
        self.folder = folder
        self.results = folder / "results" / "tiny.claims"

    @classmethod
    def fresh(cls, folder):
        for name in ("Snakefile", "workflow", "profiles"):
            source = ROOT / name
            folder.mkdir(exist_ok=True)
            copy = shutil.copytree if source.is_dir() else shutil.copy
            copy(source, folder / name)
        return cls(folder)

    def words(self, *options, overrides=SMALL):
        return ["-m", "snakemake", *options, "--config", f"overrides={overrides}"]

    def env(self, **more):
        return {**os.environ, "CONFEE_CONF": str(ROOT / "conf"), **more}

    def start(self, *options, overrides=SMALL, **env):
        return subprocess.Popen(
            [sys.executable, *self.words(*options, overrides=overrides)],
            cwd=self.folder,
            env=self.env(**env),
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def run(self, *options, fails=False, timeout=300, **how):
        process = self.start(*(options or ("--cores", "2")), **how)
        said, _ = process.communicate(timeout=timeout)
        return self.ended(process.returncode, said, fails)

    def look(self, *options, fails=False, **how):
        """The same of a process that begins sooner, for what plays nothing."""
        done = fresh.python(
            *self.words(*options, **how), cwd=self.folder, env=self.env(), merged=True
        )
        return self.ended(done.returncode, done.stdout, fails)

    @staticmethod
    def ended(code, said, fails):
        assert (code != 0) == fails, said
        assert "Traceback" not in said
        return said

    def dry(self, *targets, **how):
        """Rule -> how many jobs a run would have."""
        said = self.look("-n", "--cores", "2", *targets, **how)
        self.looked = said
        rows = [line.split() for line in said.splitlines()]
        return {
            row[0]: int(row[1])
            for row in rows
            if len(row) > 1 and row[1].isdigit() and row[0] != "total"
        }

    def bytes(self):
        return {name: (self.results / name).read_bytes() for name in RESULTS}

    def cells(self):
        return {
            f.relative_to(self.folder): f.stat().st_mtime_ns
            for f in self.folder.glob("results/cells/*/[!.]*.parquet")
        }

    def wait_for_a_cell(self):
        self.wait(self.cells)

    @staticmethod
    def wait(until):
        deadline = time.monotonic() + 120
        while not until():
            assert time.monotonic() < deadline
            time.sleep(0.02)

    def clean(self):
        done = fresh.python("-m", "confee", "clean", "--yes", cwd=self.folder, env=self.env())
        assert done.returncode == 0, done.stderr
