"""How many cores are granted here."""

from __future__ import annotations

import os

import pytest

from confee.workflow import machine

AFFINE = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def test_without_a_quota_it_is_the_affinity(tmp_path):
    assert machine.cores(tmp_path) == AFFINE


@pytest.mark.parametrize(
    ("said", "cores"),
    [
        ("max 100000", 64),
        ("200000 100000", 2),
        ("150000 100000", 2),
        ("10000 100000", 1),
        ("6400000 100000", 64),
        ("9900000 100000", 64),
        ("", 64),
        ("nonsense", 64),
        ("1 0", 64),
    ],
)
def test_a_containers_quota_limits_it(tmp_path, monkeypatch, said, cores):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(64)), raising=False)
    (tmp_path / "cpu.max").write_text(said + "\n")
    assert machine.cores(tmp_path) == cores


@pytest.mark.parametrize(("quota", "cores"), [("-1", 64), ("250000", 3)])
def test_the_first_version_of_control_groups_is_read_too(tmp_path, monkeypatch, quota, cores):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(64)), raising=False)
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text(quota)
    (tmp_path / "cpu" / "cpu.cfs_period_us").write_text("100000")
    assert machine.cores(tmp_path) == cores


@pytest.mark.parametrize(
    ("limit", "used", "jobs"),
    [
        ("max", 0, 20),
        (str(2 * 2**30), 0, 5),
        (str(2 * 2**30), 2**30, 2),
        (str(2**30), 2**31, 1),
        ("nonsense", 0, 20),
    ],
)
def test_as_many_jobs_as_there_is_memory_for(tmp_path, monkeypatch, limit, used, jobs):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(64)), raising=False)
    (tmp_path / "memory.max").write_text(limit)
    (tmp_path / "memory.current").write_text(str(used))
    (tmp_path / "meminfo").write_text(f"MemTotal: 1 kB\nMemAvailable: {20 * 400 * 1024} kB\n")
    assert machine.jobs(tmp_path, tmp_path / "meminfo") == jobs
    assert machine.jobs(tmp_path / "none", tmp_path / "none") == 64
