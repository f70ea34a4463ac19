"""How many jobs this machine can run at once: `python -m confee.workflow.machine` tells make."""

from __future__ import annotations

import math
import os
from contextlib import suppress
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")
MEMINFO = Path("/proc/meminfo")
A_JOB = 400 * 2**20
"""Bytes of memory that a job takes: of those of `paper` the largest takes 340 MB."""


def jobs(cgroups: Path = CGROUPS, meminfo: Path = MEMINFO) -> int:
    """One on each core, but no more than there is memory for."""
    return max(1, min(cores(cgroups), int(min(memory(cgroups, meminfo), 2**60) // A_JOB)))


def memory(cgroups: Path = CGROUPS, meminfo: Path = MEMINFO) -> float:
    """Bytes that programs can take now: of the machine, and of the tightest control group; infinite
    where neither is told."""
    free = math.inf
    with suppress(OSError, ValueError, StopIteration):
        lines = meminfo.read_text(encoding="utf-8").splitlines()
        said = next(line for line in lines if line.startswith("MemAvailable:"))
        free = int(said.split()[1]) * 1024
    for folder in _groups(cgroups, "memory"):
        for most, used in (
            ("memory.max", "memory.current"),
            ("memory.limit_in_bytes", "memory.usage_in_bytes"),
        ):
            with suppress(OSError, ValueError):  # "max" is no number: no limit
                limit, now = (
                    int((folder / name).read_text(encoding="utf-8")) for name in (most, used)
                )
                free = min(free, max(limit - now, 0))
    return free


def cores(cgroups: Path = CGROUPS) -> int:
    """Cores that the scheduler grants (affinity), but no more than a container's quota, rounded up.

    A machine's own number would start 64 jobs in a container that is given two of its cores.
    """
    affine = getattr(os, "sched_getaffinity", None)
    granted = len(affine(0)) if affine else os.cpu_count() or 1
    return max(1, math.ceil(min(granted, _quota(cgroups))))


def _quota(cgroups: Path) -> float:
    """CPU seconds a second that the tightest control group allows (cgroup v2, or v1); infinite
    without one."""
    allowed = math.inf
    for folder in _groups(cgroups, "cpu"):
        with suppress(OSError, ValueError, ZeroDivisionError):
            most, period = (folder / "cpu.max").read_text(encoding="utf-8").split()
            allowed = min(allowed, int(most) / int(period))  # "max" is no number: no quota
        with suppress(OSError, ValueError, ZeroDivisionError):
            most = (folder / "cpu.cfs_quota_us").read_text(encoding="utf-8")
            if int(most) > 0:  # -1: no quota
                period = (folder / "cpu.cfs_period_us").read_text(encoding="utf-8")
                allowed = min(allowed, int(most) / int(period))
    return allowed


def _groups(cgroups: Path, what: str) -> set[Path]:
    """The folders of this process's control groups of cpu or memory, up to the root."""
    found = {cgroups, cgroups / what}
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
            _, kind, inside = line.split(":", 2)
            if kind and what not in kind.split(","):
                continue
            base = cgroups / kind if kind else cgroups
            path = base / inside.lstrip("/")
            found |= {path, *(p for p in path.parents if p.is_relative_to(cgroups))}
    return found


if __name__ == "__main__":
    print(jobs())
