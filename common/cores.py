"""Cores that this process may use, which are fewer than those of the machine in most containers."""

import os
from collections.abc import Iterator
from functools import cache
from math import ceil
from pathlib import Path, PurePosixPath

_CGROUPS = Path("/sys/fs/cgroup")
_OWN_GROUPS = Path("/proc/self/cgroup")


@cache
def count_cores(cgroups: Path = _CGROUPS, own_groups: Path = _OWN_GROUPS) -> int:
    """Return the cores by CPU affinity and by the limits of CPU time of the control groups.

    A limit of one core and a half counts as two. The result is at least 1, and the same for the
    life of the process.
    """
    limits = [ceil(limit) for limit in _read_limits(cgroups, own_groups)]
    return max(1, min([len(os.sched_getaffinity(0)), *limits]))


def _read_limits(cgroups: Path, own_groups: Path) -> Iterator[float]:
    """Yield the limits of the own control group and of those around it, in cores.

    See cgroups(7): lines of /proc/self/cgroup are number, controllers and path. The number of
    version 2 is 0. A container sees its own group as the outermost one, under any path.
    """
    try:
        lines = own_groups.read_text().splitlines()
    except OSError:
        return  # no control groups
    for line in lines:
        _number, controllers, path = line.split(":", 2)
        group = PurePosixPath("/", path)
        for each in (group, *group.parents):
            if not controllers:
                yield from _read_limit(cgroups.joinpath(*each.parts[1:]) / "cpu.max")
            elif "cpu" in controllers.split(","):
                folder = cgroups.joinpath("cpu", *each.parts[1:])
                yield from _read_limit(folder / "cpu.cfs_quota_us", folder / "cpu.cfs_period_us")


def _read_limit(*files: Path) -> Iterator[float]:
    """Yield quota divided by period; nothing without a limit, which is `max` or -1."""
    try:
        quota, period = " ".join(file.read_text() for file in files).split()
        limit = int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return
    if limit > 0:
        yield limit
