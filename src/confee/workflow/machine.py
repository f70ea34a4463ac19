"""How many jobs this machine can run at once; `python -m confee.workflow.machine` prints it."""

from __future__ import annotations

import math
import os
from contextlib import suppress
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")
MEMINFO = Path("/proc/meminfo")
JOB_BYTES = 400 * 2**20
"""Bytes of memory of a job; the largest job of `paper` takes 340 MB."""


def jobs(cgroups: Path = CGROUPS, meminfo: Path = MEMINFO) -> int:
    """One job per core, but no more than fit into memory."""
    return max(1, min(cores(cgroups), int(min(memory(cgroups, meminfo), 2**60) // JOB_BYTES)))


def memory(cgroups: Path = CGROUPS, meminfo: Path = MEMINFO) -> float:
    """Bytes of memory available on the machine and in the tightest control group; infinite if both
    are unknown."""
    free = math.inf
    with suppress(OSError, ValueError, StopIteration):
        lines = meminfo.read_text(encoding="utf-8").splitlines()
        line = next(line for line in lines if line.startswith("MemAvailable:"))
        free = int(line.split()[1]) * 1024
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
    """Cores of this process's affinity, but no more than a container's quota, rounded up.

    The machine's core count would start 64 jobs in a container that may use two cores.
    """
    affine = getattr(os, "sched_getaffinity", None)
    granted = len(affine(0)) if affine else os.cpu_count() or 1
    return max(1, math.ceil(min(granted, _quota(cgroups))))


def _quota(cgroups: Path) -> float:
    """Cores that the tightest control group allows (cgroup v2 or v1); infinite without a quota."""
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
    """The folders of this process's control groups for `cpu` or `memory`, up to the root."""
    folders = {cgroups, cgroups / what}
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
            _, kind, inside = line.split(":", 2)
            if kind and what not in kind.split(","):
                continue
            base = cgroups / kind if kind else cgroups
            path = base / inside.lstrip("/")
            folders |= {path, *(p for p in path.parents if p.is_relative_to(cgroups))}
    return folders


if __name__ == "__main__":
    print(jobs())
