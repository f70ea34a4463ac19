"""How many cores this process may use: `python -m confee.workflow.machine` prints it for make."""

from __future__ import annotations

import math
import os
from contextlib import suppress
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")


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
    for folder in _groups(cgroups):
        with suppress(OSError, ValueError, ZeroDivisionError):
            most, period = (folder / "cpu.max").read_text(encoding="utf-8").split()
            allowed = min(allowed, int(most) / int(period))  # "max" is no number: no quota
        with suppress(OSError, ValueError, ZeroDivisionError):
            most = (folder / "cpu.cfs_quota_us").read_text(encoding="utf-8")
            if int(most) > 0:  # -1: no quota
                period = (folder / "cpu.cfs_period_us").read_text(encoding="utf-8")
                allowed = min(allowed, int(most) / int(period))
    return allowed


def _groups(cgroups: Path) -> set[Path]:
    """The folders of this process's control groups, up to the root: each of them limits."""
    found = {cgroups, cgroups / "cpu"}
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
            _, kind, inside = line.split(":", 2)
            if kind and "cpu" not in kind.split(","):
                continue
            base = cgroups / kind if kind else cgroups
            path = base / inside.lstrip("/")
            found |= {path, *(p for p in path.parents if p.is_relative_to(cgroups))}
    return found


if __name__ == "__main__":
    print(cores())
